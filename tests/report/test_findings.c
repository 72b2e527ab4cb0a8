/* Errors and findings of the sanitizer: as JSON, and as people read them. */
#include "report/error.h"

#include "report/run.h"
#include "tests/support/group.h"
#include "tests/support/written.h"

static const ts_source source = {"a.tsim", "nop\n  vst x, v0\n", 16};

#define NOWHERE "\"source\":null,\"line\":null,\"column\":null,\"excerpt\":null"

/* Where an error has no place, and no cycle, it says so; cycles are of faults alone. */
TEST(errors_as_json) {
    static const struct {
        ts_error_kind kind;
        int line;
        int64_t cycle;
        const char *text;
    } rows[] = {
        {TS_ERROR_INPUT, 0, 5, "\"input\",\"message\":\"why\",\"exit_code\":1," NOWHERE ",\"cycle\":null}"},
        {TS_ERROR_CAPACITY, 0, 5,
         "\"input\",\"message\":\"why\",\"exit_code\":1," NOWHERE ",\"cycle\":null}"},
        {TS_ERROR_IO, 0, 5, "\"io\",\"message\":\"why\",\"exit_code\":1," NOWHERE ",\"cycle\":null}"},
        {TS_ERROR_USAGE, 0, 5, "\"usage\",\"message\":\"why\",\"exit_code\":2," NOWHERE ",\"cycle\":null}"},
        {TS_ERROR_UNMODELLED, 0, 5,
         "\"unmodelled\",\"message\":\"why\",\"exit_code\":4," NOWHERE ",\"cycle\":null}"},
        {TS_ERROR_FAULT, 0, 5, "\"fault\",\"message\":\"why\",\"exit_code\":3," NOWHERE ",\"cycle\":5}"},
        {TS_ERROR_FAULT, 1, -1,
         "\"fault\",\"message\":\"why\",\"exit_code\":3,\"source\":\"a.tsim\",\"line\":1,"
         "\"column\":3,\"excerpt\":\"nop\",\"cycle\":null}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0}, behind = {0};
        ts_text out = ts_text_begin(arena);
        if (rows[i].line > 0)
            ts_error_mark(&err, rows[i].kind, &source, rows[i].line, 3, "why");
        else
            ts_error_set(&err, rows[i].kind, "why");
        err.cycle = rows[i].cycle;
        ts_error_set(&behind, TS_ERROR_INPUT, "and this");
        err.next = i == 0 ? &behind : NULL;
        err.more = i == 1;
        ts_report_error_json(&err, "run", &out);
        const char *expected = ts_text_format(arena, "{\"kind\":%s", rows[i].text);
        assert_string_equal(json_value(arena, out.bytes, "schema"), "\"tilesim.run\"");
        assert_string_equal(json_value(arena, out.bytes, "error"), expected);
        assert_string_equal(json_value(arena, out.bytes, "more_errors"), i == 1 ? "true" : "false");
        assert_string_equal(
            json_value(arena, out.bytes, "errors"),
            ts_text_format(arena,
                           i == 0
                               ? "[%s,{\"kind\":\"input\",\"message\":\"and this\",\"exit_code\":1," NOWHERE
                                 ",\"cycle\":null}]"
                               : "[%s]",
                           expected));
    }
}

static const ts_findings found = {
    .count = 3,
    .dropped = 2,
    .list = {{TS_FINDING_READ_RACE, {&source, 2, 3}, {&source, 1, 1}, 1234, 1500, true, -2000, "a", "b"},
             {TS_FINDING_READ_RACE, {&source, 2, 3}, {0}, 7, 1, true, 1, "c", NULL},
             {TS_FINDING_OVERWRITTEN, {0}, {&source, 1, 2}, 9, 2, false, 5, "d", NULL}}};

#define PLACE(line, column) "{\"file\":\"a.tsim\",\"line\":" #line ",\"column\":" #column "}"

/* What warns and what is wrong stand apart. Nobody asked: all of them warn. */
TEST(findings_as_json) {
    static const char races[] = "{\"kind\":\"read_race\",\"message\":\"a\",\"where\":" PLACE(
        2, 3) ",\"other\":" PLACE(1, 1) ",\"cycle\":1234,\"times\":1500,\"margin_cycles\":-2000},"
                                        "{\"kind\":\"read_race\",\"message\":\"c\",\"where\":" PLACE(
                                            2, 3) ",\"cycle\":7,\"times\":1,\"margin_cycles\":1}",
                      left[] = "{\"kind\":\"input_overwritten\",\"message\":\"d\",\"other\":" PLACE(
                          1, 2) ",\"cycle\":9,\"times\":2}";
    for (int all = 0; all < 2; all++) {
        ts_findings f = found;
        ts_text out = ts_text_begin(arena);
        ts_json json;
        f.all_warn = all;
        ts_json_begin(&json, &out, "run");
        ts_report_warnings_json(&f, &json);
        ts_report_findings_json(&f, &json);
        ts_json_end(&json);
        assert_string_equal(json_value(arena, out.bytes, "warnings"),
                            all ? ts_text_format(arena, "[%s,%s]", races, left)
                                : ts_text_format(arena, "[%s]", left));
        assert_string_equal(json_value(arena, out.bytes, "findings"),
                            all ? "[]" : ts_text_format(arena, "[%s]", races));
    }
}

TEST(findings_as_text) {
    ts_text out = ts_text_begin(arena);
    ts_report_findings(&found, &out);
    assert_string_equal(
        out.bytes, "a.tsim:2:3: fault at cycle 1234: a; it was lost by 2,000 cycles; 1,500 times in all "
                   "[read_race]\n  vst x, v0\n  ^\n"
                   "a.tsim:1:1: note: b\nnop\n^\n"
                   "a.tsim:2:3: fault at cycle 7: c; it was won by 1 cycle [read_race]\n  vst x, v0\n  ^\n"
                   "warning at cycle 9: d; 2 times in all [input_overwritten]\n"
                   "a.tsim:1:2: note: see here\nnop\n ^\n"
                   "and 2 more\n");
}

int main(void) { return run_all_tests(begin_group, end_group); }
