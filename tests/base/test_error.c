/* Errors: the exact text, the place, the cuts. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static const char program[] = "first\n    vadd.f3 v0, v1\r\n\tx\n";
static const ts_source source = {"a.tsim", program, sizeof program - 1};

TEST(places) {
    static const struct {
        size_t offset;
        const char *text;
    } rows[] = {
        {0, "a.tsim:1:1: error: wrong\nfirst\n^\n"},
        {4, "a.tsim:1:5: error: wrong\nfirst\n    ^\n"},
        {5, "a.tsim:1:6: error: wrong\nfirst\n     ^\n"}, /* at the newline */
        {6, "a.tsim:2:1: error: wrong\n    vadd.f3 v0, v1\n^\n"},
        {10, "a.tsim:2:5: error: wrong\n    vadd.f3 v0, v1\n    ^\n"},
        {24, "a.tsim:2:19: error: wrong\n    vadd.f3 v0, v1\n                  ^\n"},
        {25, "a.tsim:2:20: error: wrong\n    vadd.f3 v0, v1\n                  ^\n"}, /* CR is not shown */
        {27, "a.tsim:3:2: error: wrong\n x\n ^\n"}, /* a tab is one column */
        {29, "a.tsim:4:1: error: wrong\n\n^\n"},    /* behind the last newline */
        {1000, "a.tsim:4:1: error: wrong\n\n^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        assert_false(ts_error_at(&err, TS_ERROR_INPUT, &source, rows[i].offset, "%s", "wrong"));
        assert_error(&err, TS_ERROR_INPUT, rows[i].text);
    }
}

TEST(marks) {
    static const struct {
        int line, column;
        const char *text;
    } rows[] = {
        {2, 5, "a.tsim:2:5: error: wrong\n    vadd.f3 v0, v1\n    ^\n"},
        {1, 99, "a.tsim:1:6: error: wrong\nfirst\n     ^\n"}, /* a column behind the line */
        {99, 1, "a.tsim:4:1: error: wrong\n\n^\n"},           /* a line behind the text */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        assert_false(ts_error_mark(&err, TS_ERROR_INPUT, &source, rows[i].line, rows[i].column, "wrong"));
        assert_error(&err, TS_ERROR_INPUT, rows[i].text);
    }
}

TEST(empty_text) {
    const ts_source nothing = {"-D N", "", 0};
    ts_error err = {0};
    ts_error_at(&err, TS_ERROR_INPUT, &nothing, 3, "wrong");
    assert_error(&err, TS_ERROR_INPUT, "-D N:1:1: error: wrong\n\n^\n");
}

TEST(kinds_and_exit_codes) {
    static const struct {
        ts_error_kind kind;
        int64_t cycle;
        int exit_code;
        const char *text;
    } rows[] = {
        {TS_ERROR_INPUT, -1, 1, "error: why\n"},
        {TS_ERROR_IO, -1, 1, "error: why\n"},
        {TS_ERROR_USAGE, -1, 2, "error: why\n"},
        {TS_ERROR_FAULT, -1, 3, "fault: why\n"},
        {TS_ERROR_FAULT, 1234, 3, "fault at cycle 1234: why\n"},
        {TS_ERROR_UNMODELLED, -1, 4, "not modelled: why\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        assert_false(ts_error_set(&err, rows[i].kind, "why"));
        assert_int_equal(err.cycle, -1);
        err.cycle = rows[i].cycle;
        assert_error(&err, rows[i].kind, rows[i].text);
        assert_int_equal(ts_error_exit_code(&err), rows[i].exit_code);
    }
    ts_error none = {0};
    assert_int_equal(ts_error_exit_code(&none), 0);
}

TEST(first_error_is_kept) {
    ts_error err = {0};
    ts_error_set(&err, TS_ERROR_IO, "first");
    assert_false(ts_error_set(&err, TS_ERROR_INPUT, "second"));
    assert_false(ts_error_at(&err, TS_ERROR_INPUT, &source, 0, "third"));
    assert_false(ts_error_mark(&err, TS_ERROR_INPUT, &source, 1, 1, "fourth"));
    assert_error(&err, TS_ERROR_IO, "error: first\n");
    ts_error_clear(&err);
    ts_error_set(&err, TS_ERROR_INPUT, "fifth");
    assert_error(&err, TS_ERROR_INPUT, "error: fifth\n");
    assert_false(ts_error_set(NULL, TS_ERROR_INPUT, "nobody asks"));
    assert_false(ts_error_at(NULL, TS_ERROR_INPUT, &source, 0, "nobody asks"));
    assert_false(ts_error_mark(NULL, TS_ERROR_INPUT, &source, 1, 1, "nobody asks"));
}

TEST(hints) {
    ts_error err = {0};
    ts_error_set(&err, TS_ERROR_INPUT, "unknown mnemonic 'vadd.f3'");
    assert_false(ts_error_hint(&err, NULL));
    assert_false(ts_error_hint(&err, "vadd.f32"));
    assert_error(&err, TS_ERROR_INPUT, "error: unknown mnemonic 'vadd.f3'; did you mean 'vadd.f32'?\n");
    assert_false(ts_error_hint(NULL, "x"));
}

TEST(owners) {
    ts_error err = {0};
    char expected[TS_ERROR_TEXT_BYTES + 16];
    ts_error_set(&err, TS_ERROR_FAULT, "it ends");
    assert_false(ts_error_whose(&err, "core", 1));
    assert_false(ts_error_whose(&err, "device", 12));
    assert_error(&err, TS_ERROR_FAULT, "fault: device 12: core 1: it ends\n");
    assert_false(ts_error_whose(NULL, "core", 1));
    ts_error_clear(&err);
    ts_error_set(&err, TS_ERROR_FAULT, "%0*d", TS_ERROR_TEXT_BYTES - 1, 7);
    snprintf(expected, sizeof expected, "core 1: %s", err.message);
    assert_false(ts_error_whose(&err, "core", 1));
    assert_int_equal(strlen(err.message), TS_ERROR_TEXT_BYTES - 1);
    assert_memory_equal(err.message, expected, TS_ERROR_TEXT_BYTES - 16);
}

TEST(places_in_messages) {
    ts_error err = {0};
    ts_source text = {"p.tsim", "one\ntwo\n", 8};
    assert_false(ts_error_where(NULL));
    ts_error_set(&err, TS_ERROR_INPUT, "it ends");
    assert_false(ts_error_where(&err));
    assert_string_equal(err.message, "it ends");
    ts_error_clear(&err);
    ts_error_at(&err, TS_ERROR_INPUT, &text, 5, "found '%s'", "w");
    assert_false(ts_error_where(&err));
    assert_string_equal(err.message, "found 'w', at p.tsim:2:2");
}

/* Lines of '0' to '9' repeated, so that an excerpt shows where it was cut. */
TEST(long_lines) {
    char line[1000];
    for (size_t i = 0; i < sizeof line; i++) line[i] = (char)('0' + i % 10);
    static const struct {
        size_t length, offset, start, end; /* the part [start, end) is shown */
    } rows[] = {
        {153, 152, 0, 153}, /* the longest line that is shown whole */
        {154, 0, 0, 153},   {154, 153, 1, 154},    {1000, 0, 0, 153},      {1000, 60, 0, 153},
        {1000, 61, 1, 154}, {1000, 500, 440, 593}, {1000, 999, 847, 1000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t start = rows[i].start, end = rows[i].end;
        const ts_source text = {"x", line, rows[i].length};
        ts_error err = {0};
        char expected[TS_ERROR_LINE_BYTES];
        ts_error_at(&err, TS_ERROR_INPUT, &text, rows[i].offset, "wrong");
        snprintf(expected, sizeof expected, "%s%.*s%s", start ? "..." : "", (int)(end - start), line + start,
                 end < rows[i].length ? "..." : "");
        assert_string_equal(err.excerpt, expected);
        assert_int_equal(err.excerpt[err.caret], line[rows[i].offset]);
        assert_int_equal(err.caret, rows[i].offset - start + (start ? 3 : 0));
        assert_int_equal(err.column, rows[i].offset + 1);
    }
}

/* The same of a second line: what comes before it is no part of the excerpt. */
TEST(long_lines_behind_others) {
    enum { FIRST = 200, LENGTH = 500 };
    static const struct {
        size_t offset, start, end;
    } rows[] = {{0, 0, 153}, {60, 0, 153}, {61, 1, 154}, {499, 347, 500}};
    char text[FIRST + LENGTH + 1];
    memset(text, 'x', FIRST);
    text[FIRST - 1] = text[FIRST + LENGTH] = '\n';
    for (size_t i = 0; i < LENGTH; i++) text[FIRST + i] = (char)('0' + i % 10);
    const ts_source two = {"x", text, sizeof text};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        char expected[TS_ERROR_LINE_BYTES];
        ts_error_at(&err, TS_ERROR_INPUT, &two, FIRST + rows[i].offset, "wrong");
        snprintf(expected, sizeof expected, "%s%.*s%s", rows[i].start ? "..." : "",
                 (int)(rows[i].end - rows[i].start), text + FIRST + rows[i].start,
                 rows[i].end < LENGTH ? "..." : "");
        assert_string_equal(err.excerpt, expected);
        assert_int_equal(err.line, 2);
        assert_int_equal(err.column, rows[i].offset + 1);
        assert_int_equal(err.excerpt[err.caret], text[FIRST + rows[i].offset]);
    }
}

/* A line of two-byte characters is cut between them. */
TEST(characters_are_not_cut) {
    char text[600];
    for (size_t i = 0; i < sizeof text; i += 2) memcpy(text + i, "\xc3\xa9", 2);
    const ts_source line = {"x", text, sizeof text};
    for (size_t offset = 0; offset < sizeof text; offset += 2) {
        ts_error err = {0};
        ts_error_at(&err, TS_ERROR_INPUT, &line, offset, "wrong");
        const char *shown = err.excerpt + (strncmp(err.excerpt, "...", 3) == 0 ? 3 : 0);
        size_t bytes = strcspn(shown, ".");
        assert_int_equal(bytes % 2, 0);
        assert_in_range(bytes, 150, 153);
        for (size_t i = 0; i < bytes; i += 2) assert_memory_equal(shown + i, "\xc3\xa9", 2);
        assert_int_equal((err.excerpt + err.caret - shown) % 2, 0);
        assert_true(shown + bytes > err.excerpt + err.caret);
    }
}

/* What the system refused is no answer to whether something can be: it is kept, whatever was said of it. */
TEST(what_the_system_refused) {
    ts_error none = {0}, io = {0}, input = {0}, kept = {0};
    ts_error_set(&io, TS_ERROR_IO, "no memory");
    ts_error_set(&input, TS_ERROR_INPUT, "wrong");
    assert_false(ts_error_keep_system(&kept, &none));
    assert_false(ts_error_keep_system(&kept, &input));
    assert_int_equal(kept.kind, TS_ERROR_NONE);
    assert_true(ts_error_keep_system(NULL, &io));
    assert_true(ts_error_keep_system(&kept, &io));
    assert_error(&kept, TS_ERROR_IO, "error: no memory\n");
    assert_true(ts_error_keep_system(&input, &io)); /* the first error stays */
    assert_error(&input, TS_ERROR_INPUT, "error: wrong\n");
}

TEST(bytes_that_do_not_print) {
    const char text[] = "a\x01\0b\x7f \xc3\xa9\xe2\x82\xac z";
    const ts_source bytes = {"x\n\x7f", text, sizeof text - 1};
    ts_error err = {0};
    ts_error_at(&err, TS_ERROR_INPUT, &bytes, 12, "found '%s'", "\x1b[2J\n\x7f");
    /* A character of several bytes is one column wide. */
    assert_error(&err, TS_ERROR_INPUT,
                 "x?\?:1:13: error: found '?[2J?\?'\na??b? \xc3\xa9\xe2\x82\xac z\n         ^\n");
}

TEST(long_messages) {
    char text[2000], name[600];
    memset(text, 'm', sizeof text);
    memset(name, 'n', sizeof name);
    text[sizeof text - 1] = name[sizeof name - 1] = '\0';
    memcpy(text + TS_ERROR_TEXT_BYTES - 5, "\xc3\xa9", 2); /* must not be cut in two */
    const ts_source named = {name, "y", 1};
    ts_error err = {0};
    ts_error_at(&err, TS_ERROR_INPUT, &named, 0, "%s", text);
    assert_int_equal(strlen(err.message), TS_ERROR_TEXT_BYTES - 2);
    assert_string_equal(err.message + TS_ERROR_TEXT_BYTES - 7, "mm...");
    assert_int_equal(strlen(err.name), TS_ERROR_NAME_BYTES - 1);
    assert_string_equal(err.name + TS_ERROR_NAME_BYTES - 6, "nn...");
    ts_error_hint(&err, "y");
    assert_int_equal(strlen(err.message), TS_ERROR_TEXT_BYTES - 1);
}

/* A name that just fits is whole; one more byte, and it is cut. */
TEST(names_that_just_fit) {
    char name[TS_ERROR_NAME_BYTES + 1];
    for (size_t length = TS_ERROR_NAME_BYTES - 1; length <= TS_ERROR_NAME_BYTES; length++) {
        memset(name, 'n', sizeof name);
        name[length] = '\0';
        const ts_source named = {name, "y", 1};
        ts_error err = {0};
        ts_error_at(&err, TS_ERROR_INPUT, &named, 0, "wrong");
        assert_int_equal(strlen(err.name), TS_ERROR_NAME_BYTES - 1);
        assert_string_equal(err.name + TS_ERROR_NAME_BYTES - 4, length < TS_ERROR_NAME_BYTES ? "nnn" : "...");
    }
}

TEST(format_into_little_room) {
    ts_error err = {0};
    char out[8];
    ts_error_set(&err, TS_ERROR_INPUT, "four");
    assert_int_equal(ts_error_format(&err, out, sizeof out), strlen("error: four\n"));
    assert_string_equal(out, "error: ");
    assert_int_equal(ts_error_format(&err, NULL, 0), strlen("error: four\n"));
}
