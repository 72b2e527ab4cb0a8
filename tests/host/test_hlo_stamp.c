/* What logs, terminals and web pages put around text: what is left of a line without it. */
#include <stdio.h>
#include <string.h>

#include "host/hlo_reader_private.h"
#include "tests/support/test.h"

static const char *behind(const char *line) { return hlo_skip_stamp(line, line + strlen(line)); }

TEST(stamps_are_skipped) {
    static const char *const stamps[] = {
        "I0320 03:59:34.720000     855 a-b/hlo.cc:12]",
        "E0000 00:00:1742212345.1 855 hlo.cc:7]",
        "2020-05-04 09:05:40.721128: E    1578 a/b.cc:76]",
        "(EngineCore pid=106339) ERROR 06-03 07:41:11 [core.py:1184]",
        "(raylet, ip=10.0.0.5)",
        "ERROR:root:",
        "2025-03-20 03:59:34,123 - jax - ERROR -",
        "2025/03/20 03:59:34+01:00 INFO:",
        "[2025-03-20 03:59:34,123] [ERROR]",
        "[03:59:34] [main-1]",
        "2025-03-20T03:59:34.123456789Z stderr F",
        "2025-03-20T03:59:34Z stdout P",
        "03:59:34 DEBUG",
        "[rank0]:",
        "[0]:",
        "worker-1  |",
        "F0320 03:59:34 h:1]",
    };
    static const char *const lines[] = {"", " x", "  1 {file_name_id=1}", "   3. Size: 8.0K",
                                        " E = f32[] copy(%p)"};
    char text[128];
    for (size_t i = 0; i < sizeof stamps / sizeof stamps[0]; i++)
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
            snprintf(text, sizeof text, "%s%s", stamps[i], lines[k]);
            assert_string_equal(behind(text), lines[k]);
        }
    assert_string_equal(behind("03:59:34 a:] x"), " a:] x");
    assert_string_equal(behind("03:59:34 12] x"), " 12] x");
    assert_string_equal(behind("03:59:34 [0:2] x"), " [0:2] x");
    assert_string_equal(behind("03:59:34 [4] x"), " [4] x");
    assert_string_equal(behind("03:59:34 [a b] x"), " [a b] x");
    assert_string_equal(behind("03:59:34 stderr X x"), " stderr X x");
    assert_string_equal(behind("ERROR:root:x"), "x");
    assert_string_equal(behind("ERROR:r:x"), "x");
    assert_string_equal(behind("[rank0]:x"), "x");
    assert_string_equal(behind("W0320 03:59:34.7 1 h:1]x"), "x");
    assert_string_equal(behind("E   x"), "x");
    assert_string_equal(behind("E "), "");
}

/* A line may end anywhere, whatever is behind it. */
TEST_WITH_ARENA(no_line_is_read_beyond) {
    static const char *const lines[] = {
        "I0320 03:59:34.72 855 a/hlo.cc:12] x",
        "2020-05-04T09:05:40.7Z stderr F x",
        "(a pid=1) ERROR:root:x",
        "2025-03-20 03:59:34,1 - jax - ERROR - x",
        "[03:59:34+01:00] [main-1] x",
        "[rank0]: ERROR x",
        "worker-1  | 03:59:34 12 E x",
        "E   x",
        "\x1b[31mx\xc2\xa0\ty",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        for (size_t n = 0; n < strlen(lines[i]); n++) {
            const char *alone = ts_arena_copy_text(arena, lines[i], n);
            assert_int_equal(hlo_skip_stamp(lines[i], lines[i] + n) - lines[i], behind(alone) - alone);
            assert_int_equal(hlo_may_begin_stamp(lines[i], lines[i] + n),
                             hlo_may_begin_stamp(alone, alone + n));
            ts_text out = ts_text_begin(arena), own = ts_text_begin(arena);
            hlo_add_plain(&out, lines[i], lines[i] + n);
            hlo_add_plain(&own, alone, alone + n);
            assert_int_equal(out.length, own.length);
            assert_true(out.length <= n);
        }
}

TEST(other_lines_are_whole) {
    static const char *const lines[] = {
        "%a = f32[8] copy(%p)",
        "}",
        "E x",
        "ERROR x",
        "ERROR: x",
        "ERROR::x",
        "12 x",
        "2025-03-20 x",
        "2025-03-20T 03:59:34 x",
        "12:30 x",
        "12:30: x",
        "12:30:40x",
        "a-b - c - x",
        "jax - ERROR - x",
        "[a] x",
        "[0:2] x",
        "[2] x",
        "(pid) x",
        "(pid=1",
        "(a=\"pid=1\") x",
        "h:1] x",
        "stderr F x",
        "I0320 x",
        "I0320 h:1x",
        "a| x",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_string_equal(behind(lines[i]), lines[i]);
}

TEST_WITH_ARENA(lines_are_plain) {
    static const struct {
        const char *text, *plain;
    } rows[] = {
        {"\x1b[1;31ma\x1b[0m b", "a b"},
        {"a\tb\xc2\xa0"
         "c",
         "a b c"},
        {"\xc2\xb5s\t", "\xc2\xb5s "},
        {"a\x1b", "a"},
        {"a\x1b[", "a"},
        {"a\x1b[3", "a"},
        {"\x1b(a", "(a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text out = ts_text_begin(arena);
        size_t length = strlen(rows[i].text);
        assert_true(hlo_has_marks(rows[i].text, length));
        hlo_add_plain(&out, rows[i].text, rows[i].text + length);
        assert_string_equal(out.bytes, rows[i].plain);
    }
    assert_false(hlo_has_marks("a \xe2\x88\x9e", 5));
}

TEST_WITH_ARENA(strings_have_lines) {
    static const struct {
        const char *text, *lines; /* NULL: it is none */
    } rows[] = {
        {"\"a\\nb\"", "a\nb\""},
        {"'a\\nb'", "a\nb'"},
        {"a\\nb", "a\nb"},
        {"[\"x\", \"a\\\"\\\\n\\tc\\n\"]", "a\"\\n c\n\"]"},
        {"{\"x\": \"\\u003e\\u00d7\\u2192\\u07ff\\u0800\\u007f\\u0080\\n\"",
         ">\xc3\x97\xe2\x86\x92\xdf\xbf\xe0\xa0\x80\x7f\xc2\x80\n\""},
        {"a\\n\\u12", "a\nu12"},
        {"a\\n\\u12g4", "a\nu12g4"},
        {"a\\n\\", "a\n\\"},
        {"b=\"a\\nb\"", NULL},
        {"b=\"c\" \\n", "b=\"c\" \n"},
        {"a\\\\nb", NULL},
        {"a\\", NULL},
        {"ab", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *at = rows[i].text, *end = at + strlen(at);
        ts_text out = ts_text_begin(arena);
        assert_int_equal(hlo_has_escapes(at, end), rows[i].lines != NULL);
        if (!rows[i].lines) continue;
        hlo_add_unescaped(&out, at, end);
        assert_string_equal(out.bytes, rows[i].lines);
    }
    assert_false(hlo_has_escapes("a\\n", "a\\n" + 2));
}
