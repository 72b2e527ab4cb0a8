/* Text: the buffer, the cursor with its exact errors, the nearest name. */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "base/json_quote.h"
#include "base/text.h"

TEST_WITH_ARENA(buffer) {
    ts_text text = ts_text_begin(arena);
    assert_string_equal(text.bytes, "");
    char expected[4000] = "";
    for (int i = 0; i < 300; i++) {
        ts_text_add(&text, "%d,", i);
        ts_text_add_bytes(&text, "ab!", 2);
        ts_text_add_char(&text, ';');
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%d,ab;", i);
        assert_string_equal(text.bytes, expected);
        assert_int_equal(text.length, strlen(expected));
    }
    ts_text_clear(&text);
    assert_string_equal(text.bytes, "");
    ts_text_add(&text, "%1000d", 5); /* more than twice the room at once */
    assert_int_equal(text.length, 1000);
    ts_text_add_bytes(&text, NULL, 0);
    assert_int_equal(text.length, 1000);
}

/* Every length around a power of two, where the room is just enough or just not. */
TEST_WITH_ARENA(buffer_edges) {
    for (int length = 60; length < 70; length++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, "%*d", length, 1);
        assert_int_equal(strlen(text.bytes), length);
        ts_text_add_char(&text, 'x');
        assert_int_equal(strlen(text.bytes), length + 1);
    }
}

TEST(nearest) {
    static const char *const names[] = {"layout", "convert",  "run",       "dma",
                                        "choose", "vadd.f32", "vadd.bf16", ""};
    static const struct {
        const char *word, *name;
    } rows[] = {
        {"layuot", "layout"},  /* a swap is one step */
        {"layot", "layout"},   /* a letter missing */
        {"layoutt", "layout"}, /* one too many */
        {"lxyout", "layout"},  /* one wrong */
        {"lxyxut", "layout"},  /* two steps at length 6 */
        {"lxyxxt", NULL},      /* three are too many */
        {"rn", "run"},         /* one step at length 2 */
        {"rnu", "run"},
        {"nur", NULL},
        {"rnns", "run"}, /* two steps at length 4 */
        {"vadd.f3", "vadd.f32"},
        {"vadd.bf1", "vadd.bf16"},
        {"x", NULL}, /* nothing in common is never near */
        {"", NULL},
        {"conversion", NULL},
        {"dma", "dma"},
        {"Dma", "dma"},
        {"a-word-of-more-than-sixty-four-bytes-is-near-to-nothing-whatever-it-is", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *found =
            ts_text_nearest(rows[i].word, names, sizeof names / sizeof names[0], sizeof names[0]);
        if (!rows[i].name) assert_null(found);
        if (rows[i].name) assert_non_null(found);
        if (rows[i].name) assert_string_equal(found, rows[i].name);
    }
}

TEST(nearest_edges) {
    char longest[65] = "", longer[66] = "";
    memset(longest, 'a', 64);
    memset(longer, 'a', 65);
    const char *const names[] = {"y", "xy", longest, longer};
    assert_string_equal(ts_text_nearest("x", names, 4, sizeof names[0]), "xy"); /* 'y' shares nothing */
    assert_ptr_equal(ts_text_nearest(longest, names, 4, sizeof names[0]), longest);
    assert_null(ts_text_nearest(longer, names, 4, sizeof names[0]));
}

/* Equally near: what begins most alike, then the first. */
TEST(nearest_of_equals) {
    static const char *const names[] = {"tpu-v2", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v3"};
    assert_string_equal(ts_text_nearest("tpu-v5", names, 4, sizeof names[0]), "tpu-v5e");
    assert_string_equal(ts_text_nearest("tpu-v9", names, 4, sizeof names[0]), "tpu-v2");
    assert_null(ts_text_nearest("tpu-v9", names, 5, sizeof names[0])); /* v2, v4 and v3 */
    assert_string_equal(ts_text_nearest("tpu-v22", names, 5, sizeof names[0]), "tpu-v2");
    assert_string_equal(ts_text_nearest("tpu-4", names, 4, sizeof names[0]), "tpu-v4");
    assert_string_equal(ts_text_nearest("tpu_v4", names, 4, sizeof names[0]), "tpu-v4");
}

TEST(nearest_in_a_table) {
    static const struct {
        int key;
        const char *name;
    } table[] = {{1, "bank"}, {2, NULL}, {3, "burst"}, {4, "burnt"}};
    assert_string_equal(ts_text_nearest("bust", &table[0].name, 4, sizeof table[0]), "burst");
    assert_string_equal(ts_text_nearest("bursnt", &table[0].name, 4, sizeof table[0]), "burst");
    assert_null(ts_text_nearest("bank", &table[0].name, 0, sizeof table[0]));
}

static ts_source text_source(const char *text) { return (ts_source){"layout", text, strlen(text)}; }

TEST(cursor) {
    const ts_source source = text_source("  f32_x [ -12,\t7]\r\n T(2) end");
    ts_cursor at = {&source, 0, 0};
    ts_span name;
    int64_t value;
    ts_error err = {0};
    assert_true(ts_cursor_name(&at, &name));
    assert_true(ts_span_is(name, "f32_x"));
    assert_int_equal(at.token, 2);
    assert_false(ts_cursor_name(&at, &name));
    assert_int_equal(ts_cursor_peek(&at), '[');
    assert_true(ts_cursor_expect(&err, &at, "["));
    assert_true(ts_cursor_integer(&err, &at, "a size", &value));
    assert_int_equal(value, -12);
    assert_int_equal(at.token, 10);
    assert_true(ts_cursor_take(&at, ","));
    assert_true(ts_cursor_integer(&err, &at, "a size", &value));
    assert_int_equal(value, 7);
    assert_false(ts_cursor_take(&at, "]]"));
    assert_true(ts_cursor_take(&at, "]"));
    assert_true(ts_cursor_take(&at, "T("));
    assert_false(ts_cursor_at_end(&at));
    assert_true(ts_cursor_take(&at, "2)"));
    assert_true(ts_cursor_take(&at, "end"));
    assert_true(ts_cursor_at_end(&at));
    assert_int_equal(ts_cursor_peek(&at), -1);
    assert_false(ts_cursor_take(&at, "x"));
    assert_false(ts_cursor_name(&at, &name));
    assert_int_equal(err.kind, TS_ERROR_NONE);
}

/* The text need not end in NUL, and a high byte is no end. */
TEST(cursor_stays_inside) {
    ts_arena *arena = ts_arena_new();
    const ts_source source = {"x", memcpy(ts_arena_alloc(arena, 2, 1), "12", 2), 2};
    ts_cursor at = {&source, 0, 0};
    int64_t value = 0;
    assert_false(ts_cursor_take(&at, "123"));
    assert_true(ts_cursor_integer(NULL, &at, "a number", &value));
    assert_int_equal(value, 12);
    assert_true(ts_cursor_at_end(&at));
    ts_arena_free(arena);
    const ts_source high = {"x", "\xff", 1};
    at = (ts_cursor){&high, 0, 0};
    assert_int_equal(ts_cursor_peek(&at), 0xff);
}

TEST(cursor_expectations) {
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"", "layout:1:1: error: found the end, expected '['\n\n^\n"},
        {"f32  ", "layout:1:1: error: found 'f32', expected '['\nf32  \n^\n"},
        {"\n  ]", "layout:2:3: error: found ']', expected '['\n  ]\n  ^\n"},
        {" -12x", "layout:1:2: error: found '-12', expected '['\n -12x\n ^\n"},
        {"-", "layout:1:1: error: found '-', expected '['\n-\n^\n"},
        {"\x07", "layout:1:1: error: found the byte 0x07, expected '['\n?\n^\n"},
        {"\x7f", "layout:1:1: error: found the byte 0x7f, expected '['\n?\n^\n"},
        {"\xc3\xa9", "layout:1:1: error: found the byte 0xc3, expected '['\n\xc3\xa9\n^\n"},
        {"abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz",
         "layout:1:1: error: found 'abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdef...', "
         "expected '['\n"
         "abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz\n^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_source source = text_source(rows[i].text);
        ts_cursor at = {&source, 0, 0};
        ts_error err = {0};
        assert_false(ts_cursor_expect(&err, &at, "["));
        assert_error(&err, TS_ERROR_INPUT, rows[i].error);
    }
}

TEST(integers) {
    static const struct {
        const char *text;
        int64_t value;
        const char *error;
    } rows[] = {
        {"0", 0, NULL},
        {"-0", 0, NULL},
        {"007", 7, NULL},
        {"9223372036854775807", INT64_MAX, NULL},
        {"-9223372036854775808", INT64_MIN, NULL},
        {"9223372036854775808", 0,
         "layout:1:1: error: 9223372036854775808 does not fit in 64 bits\n9223372036854775808\n^\n"},
        {"-9223372036854775809", 0,
         "layout:1:1: error: -9223372036854775809 does not fit in 64 bits\n-9223372036854775809\n^\n"},
        {" 0000000000111111111122222222223333333333444444444455555555556", 0,
         "layout:1:2: error: 000000000011111111112222222222333333333344444444445555555555... does not fit in "
         "64 bits\n"
         " 0000000000111111111122222222223333333333444444444455555555556\n ^\n"},
        {"x1", 0, "layout:1:1: error: found 'x1', expected a size\nx1\n^\n"},
        {"+1", 0, "layout:1:1: error: found '+', expected a size\n+1\n^\n"},
        {"- 1", 0, "layout:1:1: error: found '-', expected a size\n- 1\n^\n"},
        {"", 0, "layout:1:1: error: found the end, expected a size\n\n^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_source source = text_source(rows[i].text);
        ts_cursor at = {&source, 0, 0};
        ts_error err = {0};
        int64_t value = 99;
        assert_int_equal(ts_cursor_integer(&err, &at, "a size", &value), rows[i].error == NULL);
        if (rows[i].error) assert_error(&err, TS_ERROR_INPUT, rows[i].error);
        if (!rows[i].error) assert_int_equal(value, rows[i].value);
    }
}

TEST(command_line_integers) {
    static const struct {
        const char *text;
        int64_t value;
        const char *error;
    } rows[] = {
        {"42", 42, NULL},
        {"-9223372036854775808", INT64_MIN, NULL},
        {"", 0, "--jobs:1:1: error: found nothing, expected an integer\n\n^\n"},
        {"12x", 0, "--jobs:1:3: error: found '12x', expected an integer\n12x\n  ^\n"},
        {" 12", 0, "--jobs:1:1: error: found ' 12', expected an integer\n 12\n^\n"},
        {"+1", 0, "--jobs:1:1: error: found '+1', expected an integer\n+1\n^\n"},
        {"1e3", 0, "--jobs:1:2: error: found '1e3', expected an integer\n1e3\n ^\n"},
        {"9223372036854775808", 0,
         "--jobs:1:1: error: 9223372036854775808 does not fit in 64 bits\n9223372036854775808\n^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        int64_t value = 99;
        assert_int_equal(ts_text_to_int(&err, "--jobs", rows[i].text, &value), rows[i].error == NULL);
        if (rows[i].error) assert_error(&err, TS_ERROR_USAGE, rows[i].error);
        if (!rows[i].error) assert_int_equal(value, rows[i].value);
    }
}

TEST_WITH_ARENA(grouped_digits) {
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {-999, "-999"},
        {-1000, "-1,000"},
        {1234567, "1,234,567"},
        {100000, "100,000"},
        {INT64_MAX, "9,223,372,036,854,775,807"},
        {INT64_MIN, "-9,223,372,036,854,775,808"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[32];
        assert_string_equal(ts_text_group_digits(out, rows[i].value), rows[i].text);
        assert_string_equal(ts_text_grouped(arena, rows[i].value), rows[i].text);
    }
}

TEST_WITH_ARENA(counts_with_their_nouns) {
    static const struct {
        int64_t count;
        const char *noun, *text;
    } rows[] = {
        {0, "byte", "0 bytes"},
        {1, "byte", "1 byte"},
        {2, "byte", "2 bytes"},
        {-1, "byte", "-1 bytes"},
        {1234, "miss", "1,234 misses"},
        {1, "miss", "1 miss"},
        {2, "box", "2 boxes"},
        {2, "refresh", "2 refreshes"},
        {2, "match", "2 matches"},
        {2, "depth", "2 depths"},
        {1, "more shape", "1 more shape"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(ts_text_counted(arena, rows[i].count, rows[i].noun), rows[i].text);
}

TEST_WITH_ARENA(formatted) {
    assert_string_equal(ts_text_format(arena, "%s=%d", "a", 5), "a=5");
    assert_int_equal(strlen(ts_text_format(arena, "%200d%s", 5, "b")),
                     201); /* more than a text begins with */
}

static void assert_wrapped(ts_arena *arena, const char *from, size_t columns, const char *to) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "%s", from);
    ts_text_wrap(&text, columns);
    assert_string_equal(text.bytes, to);
}

TEST_WITH_ARENA(wrapped_lines) {
    static const char *const rows[][2] = {
        {"", ""},
        {"\n\n", "\n\n"},
        {"a bc", "a bc"},
        {"ab cd ef gh\nx\n", "ab cd ef\n    gh\nx\n"},
        {"  ab cd  ef gh ij kl", "  ab cd\n      ef\n      gh\n      ij\n      kl"},
        {"abcdefghijkl mn\n", "abcdefghijkl\n    mn\n"},
        {"abcdefghijkl\n", "abcdefghijkl\n"},
        {"abcdefgh   \n", "abcdefgh   \n"},
        {"     abcd ef\n", "     abcd ef\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_wrapped(arena, rows[i][0], 8, rows[i][1]);
}

TEST_WITH_ARENA(lines_with_labels_are_wrapped_behind_them) {
    static const char *const rows[][2] = {
        {"ab   cd ef gh ij kl", "ab   cd ef gh\n         ij kl"},
        {"ab cd   ef gh ij kl", "ab cd   ef gh\n    ij kl"},    /* one space: no label */
        {"abcdefghijklmnop  q r", "abcdefghijklmnop\n    q r"}, /* nor is a long word */
        {"  ab   cd ef gh ij", "  ab   cd ef\n      gh ij"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_wrapped(arena, rows[i][0], 14, rows[i][1]);
}

TEST_WITH_ARENA(choices) {
    static const char *const words[] = {"a", "bc", "d", "e"};
    static const char *const expected[] = {"", "a", "a or bc", "a, bc or d", "a, bc, d or e"};
    for (int count = 0; count < 5; count++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add_choices(&text, words, count);
        assert_string_equal(text.bytes, expected[count]);
    }
}

TEST_WITH_ARENA(utf8) {
    static const struct {
        const char *bytes;
        size_t length;
    } rows[] = {
        {"", 0},
        {"a", 1},
        {"\x01", 1},
        {"\x7f", 1},
        {"\x80", 0},
        {"\xbf", 0},
        {"\xc0\x80", 0},
        {"\xc1\xbf", 0},
        {"\xc2\x80", 2},
        {"\xc2\x7f", 0},
        {"\xc2", 0},
        {"\xdf\xbf", 2},
        {"\xdf\xc0", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xe0\xa0\x80", 3},
        {"\xe1\x80\x80", 3},
        {"\xe1\x80", 0},
        {"\xe1\x80\x7f", 0},
        {"\xec\xbf\xbf", 3},
        {"\xed\x9f\xbf", 3},
        {"\xed\xa0\x80", 0},
        {"\xee\x80\x80", 3},
        {"\xef\xbf\xbf", 3},
        {"\xef\xbf\xc0", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xf0\x90\x80\x80", 4},
        {"\xf1\x80\x80\x80", 4},
        {"\xf1\x80\x80", 0},
        {"\xf3\xbf\xbf\xbf", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena);
        assert_int_equal(ts_text_utf8_bytes(rows[i].bytes), rows[i].length);
        if (!*rows[i].bytes) continue;
        size_t passed = (size_t)(ts_text_add_character(&text, rows[i].bytes) - rows[i].bytes);
        assert_int_equal(passed, rows[i].length ? rows[i].length : 1);
        assert_string_equal(text.bytes, rows[i].length ? rows[i].bytes : "\xef\xbf\xbd");
    }
}

TEST_WITH_ARENA(cut) {
    static const struct {
        const char *text;
        int characters, most;
        const char *cut;
    } rows[] = {
        {"", 0, 2, ""},
        {"abcd", 4, 4, "abcd"},
        {"abcde", 5, 4, "ab.."},
        {"abc", 3, 2, ".."},
        {"a\xc3\xa4\xe2\x82\xac", 3, 3, "a\xc3\xa4\xe2\x82\xac"},
        {"a\xc3\xa4\xe2\x82\xac.", 4, 3, "a.."},
        {"\xc3\xa4\xff\xf0\x90\x80\x80.", 4, 3, "\xc3\xa4.."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(ts_text_characters(rows[i].text), rows[i].characters);
        assert_string_equal(ts_text_cut(arena, rows[i].text, rows[i].most), rows[i].cut);
    }
}

/* Names without control bytes are themselves, others a copy. */
TEST_WITH_ARENA(names_in_one_line) {
    static const char kept[] = "a ~\xc3\xa4\x80.tsim", broken[] = "\x1f a\nb\x7f\xc3\xa4\x01";
    assert_ptr_equal(ts_text_one_line(arena, kept), kept);
    assert_string_equal(ts_text_one_line(arena, broken), "? a?b?\xc3\xa4?");
    assert_string_equal(ts_text_one_line(arena, ""), "");
}

/* Behind so many bytes of the line. */
TEST_WITH_ARENA(ended_lines) {
    static const char words[] = "aaaaaaaaa bbbbbbbbb ccccccccc";
    static const struct {
        int used;
        const char *end;
    } rows[] = {
        {0, "aaaaaaaaa bbbbbbbbb ccccccccc\n"},
        {71, "aaaaaaaaa bbbbbbbbb ccccccccc\n"},
        {72, "aaaaaaaaa bbbbbbbbb ..\n"},
        {78, "aaaaaaaaa bbbbbbbbb ..\n"},
        {79, "aaaaaaaaa ..\n"},
        {95, "aaaaaaaaa ..\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, "before\n%*s", rows[i].used, "");
        size_t used = text.length;
        ts_text_end_line(&text, strlen("before\n"), words);
        assert_string_equal(text.bytes + used, rows[i].end);
    }
}

TEST_WITH_ARENA(escaped) {
    const char *text = ts_text_escaped(arena, "<a b=\"c\"> & \xc3\xa4\xff\x01\x1f\t\n\r \x7f");
    assert_string_equal(text, "&lt;a b=&quot;c&quot;&gt; &amp; \xc3\xa4\xef\xbf\xbd??\t\n\r \x7f");
}

TEST_WITH_ARENA(json_quotes) {
    static const struct {
        const char *text, *quoted;
    } rows[] = {
        {"", "\"\""},
        {" a.b/~", "\" a.b/~\""},
        {"\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f.", "\"\\u0001\\u001f\\u007f.\""},
        {"\xc3\xa4\xff.", "\"\xc3\xa4\xef\xbf\xbd.\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_json_quote(&text, rows[i].text);
        assert_string_equal(text.bytes, rows[i].quoted);
    }
}
