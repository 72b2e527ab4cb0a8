/* Tables of studies: columns and cells as text, all of it as CSV, as JSON and in a page; what --tune says. */
#include "report/sweep.h"

#include <limits.h>

#include "tests/support/cells.h"
#include "tests/support/group.h"
#include "tests/support/small_table.h"
#include "tests/support/written.h"

static ts_sweep_table *table;
static ts_sweep_result result;
static ts_sweep_view view;

static void begin(int parameters, const char *text) {
    table = small_table(arena, parameters, text);
    result = (ts_sweep_result){.points = 1200, .there = 1000, .answered = 200};
    view = (ts_sweep_view){
        .table = table, .result = &result, .study = "s.yaml", .database = "d.db", .rows = INT_MAX};
}

static const char *text_of(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_sweep(&view, &out);
    return out.bytes;
}

/* What is behind the head. */
static const char *rows_of(void) { return strstr(text_of(), "\n\n") + 2; }

#define HEAD "study      s.yaml: a title\ndatabase   d.db\npoints     1,200: 1,000 were there, 200 answered"

TEST(heads_count_points) {
    begin(1, "n|status\n1|ok\n");
    assert_holds(text_of(), HEAD "\n\nn\n1\n");
    result.left_out = 1;
    result.by_status[TS_SWEEP_OK] = 7;
    result.by_status[TS_SWEEP_FAILED] = 1;
    assert_holds(text_of(), HEAD "; 1 left out by conditions; 1 of them: failed\n\n");
    result.left_out = 0;
    result.by_status[TS_SWEEP_FAILED] = 0;
    result.by_status[TS_SWEEP_TIMEOUT] = 1000;
    assert_holds(text_of(), HEAD "; 1,000 of them: timeout\n\n");
}

/* Numbers to the right; cycles of a sample are marked; nothing follows the last cell. */
TEST(cells_in_columns) {
    begin(2, "n|kind|status|cycles|microseconds|estimated\n"
             "8|a\tb|ok|12345|1.5|1\n"
             "1000000|abc|ok|7||0\n");
    assert_string_equal(rows_of(), "        n  kind  microseconds   cycles\n"
                                   "        8  a b            1.5  ~12,345\n"
                                   "1,000,000  abc              -        7\n");
    table->estimated_column = -1;
    assert_holds(rows_of(), "  12,345\n");
    view.rows = 1;
    assert_string_equal(rows_of(), "n  kind  microseconds  cycles\n"
                                   "8  a b            1.5  12,345\n"
                                   "and 1 more: --rows N, --all, --csv FILE\n");
    view.rows = 2;
    assert_true(ts_text_ends(rows_of(), "7\n"));
    begin(1, "n|kind|status\n0.1234567|x|ok\n");
    assert_string_equal(rows_of(), "       n\n0.123457\n");
    begin(2, "kind|k|status\nx||ok\n|x|ok\n");
    assert_string_equal(rows_of(), "kind  k\nx     -\n-     x\n");
}

#define FORTY "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"

/* A cell has 42 characters, a line 100; what a reader looks for comes before the rest. */
TEST(columns_that_fit) {
    begin(3, "one|two|three|status\n" FORTY "ee|" FORTY "eee|n|ok\n");
    assert_string_equal(rows_of(),
                        "one                                         two                               "
                        "          three\n" FORTY "ee  " FORTY "..  n\n");
    begin(3, "one|two|three7890|other|status\n" FORTY "ee|" FORTY "ee|n|y|ok\n");
    assert_holds(rows_of(), "  three7890\n"); /* 44 + 44 + 11 = 99 */
    begin(3, "one|two|three78901|other|status\n" FORTY "ee|" FORTY "ee|n|y|ok\n");
    assert_holds(rows_of(), "  three78901\n");
    begin(3, "one|two|three789012|four|status\n" FORTY "ee|" FORTY "ee|n|y|ok\n");
    assert_null(strstr(rows_of(), "three"));
    begin(1, "n|status|other|hbm_bytes|cycles|logical_bytes|microseconds|d|e\n1|ok|2|3|4|5|6|7|8\n");
    assert_string_equal(rows_of(), "n  microseconds  cycles  logical_bytes  hbm_bytes\n"
                                   "1             6       4              5          3\n");
    static const int ranked[] = {2, 4};
    view.ranked_by = ranked;
    view.ranked_by_count = 2;
    ((ts_sweep_study *)table->study)->derived_count = 2;
    assert_string_equal(rows_of(), "n  other  cycles  d  e  microseconds  logical_bytes  hbm_bytes\n"
                                   "1      2       4  7  8             6              5          3\n");
    begin(
        26,
        "status|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z\nok|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|"
        "1|1|1|1|1|1\n");
    assert_holds(rows_of(), "  w  x\n"); /* 24 of them */
}

TEST(errors_once_each) {
    begin(1, "n|status|error\n1|ok|\n2|error|why\n3|crash|so\n4|error|why\n");
    assert_string_equal(rows_of(),
                        "n  status  error\n1  ok      -\n2  error   why\n3  crash   so\n4  error   why\n"
                        "\nerror of 2: why\nerror of 1: so\n");
    begin(1, "n|status|error\n1|error|a\n1|error|b\n1|error|c\n1|error|d\n1|error|e\n1|error|f\n1|error|d\n");
    assert_holds(rows_of(), "\n\nerror of 1: a\nerror of 1: b\nerror of 1: c\nerror of 2: d\n"
                            "and other errors of 2: --csv FILE\n");
}

TEST(as_csv) {
    ts_text out = ts_text_begin(arena);
    begin(1, "n,m|status|say|r\n1|ok|a \"b\", c|0.5\n-2|ok|plain|\n3|ok|\"|1\n4|ok|a\rb|1\n");
    ts_report_sweep_csv(&view, &out);
    assert_string_equal(out.bytes,
                        "\"n,m\",status,say,r\n1,ok,\"a \"\"b\"\", c\",0.5\n-2,ok,plain,\n3,ok,\"\"\"\",1\n"
                        "4,ok,\"a\rb\",1\n");
}

TEST(as_json) {
    static const char *const rows[][2] = {
        {"schema", "\"tilesim.sweep\""},
        {"study", "\"s.yaml\""},
        {"title", "\"a title\""},
        {"database", "\"d.db\""},
        {"points", "1200"},
        {"there", "1000"},
        {"answered", "200"},
        {"left_out", "3"},
        {"parameters", "[\"n\"]"},
        {"statuses", "{\"ok\":5,\"failed\":0,\"error\":0,\"crash\":0,\"timeout\":2}"},
        {"rows", "[{\"n\":1,\"status\":\"ok\",\"r\":0.5},{\"n\":null,\"status\":\"error\",\"r\":null}]"},
    };
    begin(1, "n|status|r\n1|ok|0.5\n|error|\n");
    result.left_out = 3;
    result.by_status[TS_SWEEP_OK] = 5;
    result.by_status[TS_SWEEP_TIMEOUT] = 2;
    ts_text out = ts_text_begin(arena);
    ts_report_sweep_json(&view, &out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(json_value(arena, out.bytes, rows[i][0]), rows[i][1]);
}

TEST(what_was_tuned) {
    static const ts_sweep_rung rungs[] = {{"64", 2000, 1000}, {"128", 1000, 900}};
    ts_sweep_tuned tuned = {.rungs = rungs, .rung_count = 2, .candidates = 3000};
    ts_text out = ts_text_begin(arena), json = ts_text_begin(arena);
    begin(1, "n|status|error\n1|error|why\n");
    ts_report_tuned(&view, &tuned, &out);
    assert_string_equal(out.bytes, HEAD "\n\n"
                                        "at 64       2,000 tried, the best 1,000 go on\n"
                                        "at 128      1,000 tried, 900 of them with a result\n"
                                        "not tried at 128: 2,000 of 3,000\n\n"
                                        "n  status  error\n1  error   why\n\nerror of 1: why\n");
    ts_report_tuned_json(&view, &tuned, &json);
    assert_string_equal(json_value(arena, json.bytes, "schema"), "\"tilesim.sweep.tune\"");
    assert_string_equal(json_value(arena, json.bytes, "candidates"), "3000");
    assert_string_equal(json_value(arena, json.bytes, "rungs"),
                        "[{\"value\":\"64\",\"tried\":2000,\"kept\":1000},{\"value\":\"128\",\"tried\":1000,"
                        "\"kept\":900}]");
    tuned.rung_count = 1;
    ts_text_clear(&out);
    ts_report_tuned(&view, &tuned, &out);
    assert_holds(out.bytes, "answered\n\nat 64       2,000 tried, 1,000 of them with a result\n"
                            "not tried at 64: 1,000 of 3,000\n");
    tuned.rung_count = 0;
    ts_text_clear(&out);
    ts_report_tuned(&view, &tuned, &out);
    assert_holds(out.bytes, HEAD "\n\nn  status");
}

/* ---- In a page ---- */

static const char *page_of(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_sweep_html(&view, NULL, &out);
    return strstr(out.bytes, "<h1>");
}

TEST(in_a_page) {
    begin(1, "n|kind|cycles|microseconds|estimated\n8|a|12345|0.1234567|1\n|b|7||0\n");
    assert_holds(page_of(), "<h1>a title</h1>\n<p><code>s.yaml</code></p>");
    assert_holds(page_of(),
                 "<div><dt>points</dt><dd>1,200</dd></div>\n<div><dt>answered now</dt><dd>200</dd></div>\n"
                 "<div><dt>not ok</dt><dd>1,200</dd></div>\n");
    const char *at = strstr(page_of(), "<p class=\"soft\">");
    assert_holds(cells_of(arena, at), "Every figure is of one point."
                                      "+n|+kind|+cycles|+microseconds|+estimated|\n"
                                      "8|a|~12,345|0.123457|1|\n|b|7||0|\n");
    assert_holds(at, "<th scope=\"col\" class=\"number\"><button type=\"button\">n<");
    assert_holds(at, "<th scope=\"col\"><button type=\"button\">kind<");
    result.by_status[TS_SWEEP_OK] = 1199;
    assert_holds(page_of(), "<dd>1</dd></div>\n</dl>");
    result.by_status[TS_SWEEP_OK] = 1200;
    assert_null(strstr(page_of(), "not ok"));
    assert_null(strstr(page_of(), "<h2>Picture</h2>"));
    ts_text out = ts_text_begin(arena);
    ts_report_sweep_html(&view, &(ts_sweep_plot){0, 2, -1}, &out);
    assert_holds(out.bytes, "<h2>Picture</h2>\n<figure>\n<svg ");
}

TEST(a_page_has_five_thousand_rows) {
    begin(1, "n\n1\n");
    table->cells = TS_NEW_ARRAY(arena, ts_sweep_value, 5001);
    for (int count = 5000; count <= 5001; count++) {
        int rows = 0;
        table->row_count = count;
        for (const char *at = page_of(); (at = strstr(at, "</tr>\n")) != NULL; at++) rows++;
        assert_int_equal(rows, 5000);
        assert_holds(page_of(), count > 5000 ? "The first of them." : "Every figure is of one point.");
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
