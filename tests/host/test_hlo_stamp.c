/* What logs, terminals and web pages put around text: what is left of a line without it. */
#include <stdio.h>
#include <string.h>

#include "host/hlo_private.h"
#include "tests/support/cmocka.h"

static const char *behind(const char *line) { return hlo_skip_stamp(line, line + strlen(line)); }

static void stamps_are_skipped(void **state) {
    (void)state;
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
    assert_string_equal(behind("ERROR:root:x"), "x");
    assert_string_equal(behind("[rank0]:x"), "x");
    assert_string_equal(behind("W0320 03:59:34.7 1 h:1]x"), "x");
    assert_string_equal(behind("E   x"), "x");
    assert_string_equal(behind("E "), "");
}

static void other_lines_are_whole(void **state) {
    (void)state;
    static const char *const lines[] = {
        "%a = f32[8] copy(%p)",
        "}",
        "E x",
        "ERROR x",
        "ERROR: x",
        "12 x",
        "2025-03-20 x",
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

static void lines_are_plain(void **state) {
    (void)state;
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
    ts_arena *arena = ts_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text out = ts_text_begin(arena);
        size_t length = strlen(rows[i].text);
        assert_true(hlo_has_marks(rows[i].text, length));
        hlo_add_plain(&out, rows[i].text, rows[i].text + length);
        assert_string_equal(out.bytes, rows[i].plain);
    }
    assert_false(hlo_has_marks("a \xe2\x88\x9e", 5));
    ts_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_are_skipped),
        cmocka_unit_test(other_lines_are_whole),
        cmocka_unit_test(lines_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
