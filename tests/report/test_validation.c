/* Measurements beside models as text, JSON and a page, and what a calibration found: of made-up rows. */
#include "report/validation.h"

#include <string.h>

#include "tests/support/group.h"
#include "tests/support/written.h"

static const ts_work_group groups[] = {
    {.name = "copies",
     .meaning = "bytes moved",
     .model = "a transfer",
     .median = 30,
     .high = 60,
     .miss = "no"},
    {.name = "products",
     .meaning = "matrices",
     .model = "a program",
     .median = 1,
     .high = 20,
     .miss = "far off"},
    {.name = "others", .meaning = "what is left", .model = "none"},
    {.name = "missing", .meaning = "never seen", .model = "none", .median = 1, .high = 2}};
enum { COPIES, PRODUCTS, OTHERS, MISSING, GROUPS };

static const ts_measured_row ids[] = {{.id = "a<b", .chip = "v5e"}, {.id = "c", .chip = "v5e"},
                                      {.id = "d", .chip = "v4"},    {.id = "e", .chip = "v4"},
                                      {.id = "f", .chip = "v6e"},   {.id = "g", .chip = "v7x"}};
enum { ROWS = 6 };

static ts_validated_row rows[ROWS];
static ts_validated_group sums[GROUPS];
static ts_validation v;

/* Two rows with the same reason, one with another that is left out. */
static void begin(void) {
    const ts_validated_row all[ROWS] = {
        {.row = &ids[0],
         .work = {.group = &groups[COPIES], .machine = "tpu-v5e", .measured_us = 10},
         .simulated_us = 12.5,
         .roofline_us = 8,
         .estimated = true},
        {.row = &ids[1],
         .work = {.group = &groups[COPIES], .machine = "tpu-v5e", .measured_us = 0.5},
         .simulated_us = 0.25,
         .roofline_us = 1},
        {.row = &ids[2], .work = {.group = &groups[PRODUCTS], .machine = "tpu-v4"}, .reason = "no time"},
        {.row = &ids[3],
         .work = {.group = &groups[PRODUCTS], .machine = "tpu-v4", .measured_us = 2},
         .simulated_us = 3,
         .roofline_us = 1},
        {.row = &ids[4], .work.measured_us = 7, .reason = "no time"},
        {.row = &ids[5], .work.measured_us = 9, .is_left_out = true, .reason = "another chip"}};
    const ts_validated_group each[GROUPS] = {
        {&groups[COPIES], 2, 2, {25, 50, 50}, {60.04, 100, 100}, &rows[0], 1},
        {&groups[PRODUCTS], 2, 1, {1, 100, 100}, {75, 100, 100}, &rows[3], 3},
        {&groups[OTHERS], 1, 1, {0, 0.5, 0.5}, {20, 30, 40}, NULL, 0},
        {&groups[MISSING], 1, 0, {100, 100, 100}, {100, 100, 100}, NULL, 0}};
    memcpy(rows, all, sizeof rows);
    memcpy(sums, each, sizeof sums);
    v = (ts_validation){NULL, rows, ROWS, sums, GROUPS};
}

static const char *markdown(bool with_rows) {
    ts_text out = ts_text_begin(arena);
    ts_report_validation_markdown(&v, with_rows, &out);
    return strstr(out.bytes, "| group");
}

TEST(the_section) {
    begin();
    assert_string_equal(
        markdown(true),
        "| group | rows | modelled | median | 90th | worst | goal | roofline: median | 90th | its median "
        "|\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        "| copies | 2 | 2 | 25.0 | 50.0 | 50.0 | 30 / 60 | 60.0 | 100.0 | 2.4 x ours |\n"
        "| products | 2 | 1 | 1.0 | 100.0 | 100.0 | 1 / 20 | 75.0 | 100.0 | 75.0 x ours |\n"
        "| others | 1 | 1 | 0.0 | 0.5 | 0.5 | - | 20.0 | 30.0 | - |\n"
        "\n"
        "- **copies**: bytes moved; a transfer. Worst: `a<b`, 10 us measured, ~12.5 us simulated. 1 pair "
        "is in the wrong order.\n"
        "- **products**: matrices; a program. Worst: `e`, 2 us measured, 3 us simulated. 3 pairs are in "
        "the wrong order. Missed: far off.\n"
        "- **others**: what is left; none.\n"
        "\n"
        "Not modelled, by reason:\n"
        "\n"
        "| rows | the first | reason |\n"
        "|---:|---|---|\n"
        "| 2 | `d` | no time |\n"
        "\n"
        "| row | group | measured us | simulated us | error | roofline us |\n"
        "|---|---|---:|---:|---:|---:|\n"
        "| a<b | copies | 10 | ~12.5 | +25.0 % | 8 |\n"
        "| c | copies | 0.5 | 0.25 | -50.0 % | 1 |\n"
        "| e | products | 2 | 3 | +50.0 % | 1 |\n");
    v.row_count = 2; /* all are modelled */
    v.group_count = 1;
    assert_string_equal(
        markdown(false),
        "| group | rows | modelled | median | 90th | worst | goal | roofline: median | 90th | its median "
        "|\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        "| copies | 2 | 2 | 25.0 | 50.0 | 50.0 | 30 / 60 | 60.0 | 100.0 | 2.4 x ours |\n"
        "\n"
        "- **copies**: bytes moved; a transfer. Worst: `a<b`, 10 us measured, ~12.5 us simulated. 1 pair "
        "is in the wrong order.\n");
}

TEST(for_people) {
    begin();
    ts_text out = ts_text_begin(arena);
    v.group_count = 1;
    ts_report_validation(&v, false, &out);
    assert_string_equal(
        out.bytes,
        "errors     |simulated / measured - 1|, per cent; a row that is not modelled counts as 100\n"
        "times      ~ sampled or extended; --exact simulates every access\n"
        "\n"
        "group   rows  modelled  median  90th  worst     goal  roofline:   90th  its median\n"
        "                                                         median\n"
        "copies     2         2    25.0  50.0   50.0  30 / 60       60.0  100.0  2.4 x ours\n"
        "\n"
        "- copies: bytes moved; a transfer. Worst: a<b, 10 us measured, ~12.5 us simulated. 1 pair is in "
        "the\n"
        "    wrong order.\n"
        "\n"
        "Not modelled, by reason:\n"
        "\n"
        "rows  the    reason\n"
        "      first\n"
        "   2  d      no time\n");
}

TEST(as_json) {
    begin();
    ts_text out = ts_text_begin(arena);
    ts_report_validation_json(&v, &out);
    assert_string_equal(
        json_value(arena, out.bytes, "groups"),
        "[{\"group\":\"copies\",\"rows\":2,\"modelled\":2,\"simulated\":{\"median_percent\":25,"
        "\"p90_percent\":50,\"worst_percent\":50},\"roofline\":{\"median_percent\":60.04,"
        "\"p90_percent\":100,\"worst_percent\":100},\"goal_median_percent\":30,\"goal_p90_percent\":60,"
        "\"goal_met\":true,\"pairs_out_of_order\":1,\"worst\":\"a<b\"},{\"group\":\"products\","
        "\"rows\":2,\"modelled\":1,\"simulated\":{\"median_percent\":1,\"p90_percent\":100,"
        "\"worst_percent\":100},\"roofline\":{\"median_percent\":75,\"p90_percent\":100,"
        "\"worst_percent\":100},\"goal_median_percent\":1,\"goal_p90_percent\":20,\"goal_met\":false,"
        "\"pairs_out_of_order\":3,\"worst\":\"e\"},{\"group\":\"others\",\"rows\":1,\"modelled\":1,"
        "\"simulated\":{\"median_percent\":0,\"p90_percent\":0.5,\"worst_percent\":0.5},"
        "\"roofline\":{\"median_percent\":20,\"p90_percent\":30,\"worst_percent\":40},"
        "\"pairs_out_of_order\":0,\"worst\":null},{\"group\":\"missing\",\"rows\":1,\"modelled\":0,"
        "\"simulated\":{\"median_percent\":100,\"p90_percent\":100,\"worst_percent\":100},"
        "\"roofline\":{\"median_percent\":100,\"p90_percent\":100,\"worst_percent\":100},"
        "\"goal_median_percent\":1,\"goal_p90_percent\":2,\"goal_met\":false,\"pairs_out_of_order\":0,"
        "\"worst\":null}]");
    assert_string_equal(
        json_value(arena, out.bytes, "rows"),
        "[{\"id\":\"a<b\",\"group\":\"copies\",\"machine\":\"tpu-v5e\",\"measured_us\":10,"
        "\"simulated_us\":12.5,\"estimated\":true,\"roofline_us\":8,\"error_percent\":25},{\"id\":\"c\","
        "\"group\":\"copies\",\"machine\":\"tpu-v5e\",\"measured_us\":0.5,\"simulated_us\":0.25,"
        "\"estimated\":false,\"roofline_us\":1,\"error_percent\":-50},{\"id\":\"d\","
        "\"group\":\"products\",\"machine\":\"tpu-v4\",\"measured_us\":null,\"simulated_us\":null,"
        "\"roofline_us\":null,\"reason\":\"no time\"},{\"id\":\"e\",\"group\":\"products\","
        "\"machine\":\"tpu-v4\",\"measured_us\":2,\"simulated_us\":3,\"estimated\":false,"
        "\"roofline_us\":1,\"error_percent\":50},{\"id\":\"f\",\"group\":null,\"machine\":null,"
        "\"measured_us\":7,\"simulated_us\":null,\"roofline_us\":null,\"reason\":\"no time\"},"
        "{\"id\":\"g\",\"group\":null,\"machine\":null,\"measured_us\":9,\"simulated_us\":null,"
        "\"roofline_us\":null,\"reason\":\"another chip\"}]");
}

static const char *page_part_of(const char *beginning, const char *end) {
    ts_text out = ts_text_begin(arena);
    ts_report_validation_html(&v, "made up", &out);
    const char *from = strstr(out.bytes, beginning);
    assert_non_null(from);
    const char *to = strstr(from, end);
    assert_non_null(to);
    return ts_arena_copy_text(arena, from, (size_t)(to - from));
}

TEST(as_a_page) {
    begin();
    assert_string_equal(page_part_of("<dt>measurements modelled", "</dl>"),
                        "<dt>measurements modelled</dt><dd>4 of 5</dd></div>\n"
                        "<div><dt>goals met</dt><dd>1 of 2</dd></div>\n");
    assert_string_equal(
        page_part_of("<h2>Groups", "<h2>Measurements"),
        "<h2>Groups</h2>\n"
        "<p class=\"soft\">Errors are |simulated / measured - 1|. The roofline is what the published "
        "peaks alone say.</p>\n"
        "<div class=\"scroll\" tabindex=\"0\">\n"
        "<table class=\"sorts\">\n"
        "<thead><tr><th scope=\"col\"><button type=\"button\">group</button></th><th scope=\"col\" "
        "class=\"number\"><button type=\"button\">rows</button></th><th scope=\"col\" "
        "class=\"number\"><button type=\"button\">modelled</button></th><th scope=\"col\" "
        "class=\"number\"><button type=\"button\">median %</button></th><th scope=\"col\" "
        "class=\"number\"><button type=\"button\">90th %</button></th><th scope=\"col\" "
        "class=\"number\"><button type=\"button\">worst %</button></th><th scope=\"col\"><button "
        "type=\"button\">goal</button></th><th scope=\"col\" class=\"number\"><button "
        "type=\"button\">roofline: median %</button></th></tr></thead>\n"
        "<tbody>\n"
        "<tr><td>copies</td><td class=\"number\" data-value=\"2\">2</td><td class=\"number\" "
        "data-value=\"2\">2</td><td class=\"number\" data-value=\"25\">25.0</td><td class=\"number\" "
        "data-value=\"50\">50.0</td><td class=\"number\" data-value=\"50\">50.0</td><td>30 / 60, "
        "met</td><td class=\"number\" data-value=\"60.039999999999999\">60.0</td></tr>\n"
        "<tr><td>products</td><td class=\"number\" data-value=\"2\">2</td><td class=\"number\" "
        "data-value=\"1\">1</td><td class=\"number\" data-value=\"1\">1.0</td><td class=\"number\" "
        "data-value=\"100\">100.0</td><td class=\"number\" data-value=\"100\">100.0</td><td>1 / 20, "
        "missed</td><td class=\"number\" data-value=\"75\">75.0</td></tr>\n"
        "<tr><td>others</td><td class=\"number\" data-value=\"1\">1</td><td class=\"number\" "
        "data-value=\"1\">1</td><td class=\"number\" data-value=\"0\">0.0</td><td class=\"number\" "
        "data-value=\"0.5\">0.5</td><td class=\"number\" data-value=\"0.5\">0.5</td><td>none</td><td "
        "class=\"number\" data-value=\"20\">20.0</td></tr>\n"
        "</tbody>\n"
        "</table>\n"
        "</div>\n"
        "</section>\n"
        "<section>\n");
    assert_string_equal(
        page_part_of("<h2>Measurements", "</section>"),
        "<h2>Measurements</h2>\n"
        "<div class=\"scroll\" tabindex=\"0\">\n"
        "<table class=\"sorts\">\n"
        "<thead><tr><th scope=\"col\"><button type=\"button\">measurement</button></th><th "
        "scope=\"col\"><button type=\"button\">machine</button></th><th scope=\"col\" "
        "class=\"number\"><button type=\"button\">measured us</button></th><th scope=\"col\" "
        "class=\"number\"><button type=\"button\">simulated us</button></th><th scope=\"col\" "
        "class=\"number\"><button type=\"button\">error %</button></th></tr></thead>\n"
        "<tbody>\n"
        "<tr><td><code>a&lt;b</code></td><td>v5e</td><td class=\"number\" "
        "data-value=\"10\">10.000</td><td class=\"number\" data-value=\"12.5\">~12.500</td><td "
        "class=\"number\" data-value=\"25\">+25.0</td></tr>\n"
        "<tr><td><code>c</code></td><td>v5e</td><td class=\"number\" data-value=\"0.5\">0.500</td><td "
        "class=\"number\" data-value=\"0.25\">0.250</td><td class=\"number\" "
        "data-value=\"50\">-50.0</td></tr>\n"
        "<tr><td><code>d</code></td><td>v4</td><td class=\"number\" data-value=\"0\">-</td><td "
        "class=\"number\" data-value=\"0\">not modelled: no time</td><td class=\"number\" "
        "data-value=\"100\">-</td></tr>\n"
        "<tr><td><code>e</code></td><td>v4</td><td class=\"number\" data-value=\"2\">2.000</td><td "
        "class=\"number\" data-value=\"3\">3.000</td><td class=\"number\" "
        "data-value=\"50\">+50.0</td></tr>\n"
        "<tr><td><code>f</code></td><td>v6e</td><td class=\"number\" data-value=\"7\">7.000</td><td "
        "class=\"number\" data-value=\"0\">not modelled: no time</td><td class=\"number\" "
        "data-value=\"100\">-</td></tr>\n"
        "</tbody>\n"
        "</table>\n"
        "</div>\n"
        "<p>And 1 of other chips, which are left out.</p>\n");
    v.row_count = 5; /* none is left out */
    assert_null(strstr(page_part_of("<h2>Measurements", "</section>"), "left out"));
}

/* The second row is worse after it than before, the third is not modelled. */
TEST(what_a_calibration_found) {
    static const ts_field clock = {.path = "clock", .kind = TS_FIELD_CLOCK};
    begin();
    ts_validated_row after[ROWS];
    memcpy(after, rows, sizeof rows);
    after[0].estimated = false;
    after[0].simulated_us = 10;
    after[1].simulated_us = 2;
    after[3].simulated_us = 1;
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    const ts_calibration c = {.fields = {{"clock", &clock, 1000000, 1500000, 0.75, NULL, false},
                                         {"other", &clock, 1000000, 1000000, 0, "no row moves", false},
                                         {"last", &clock, 1000000, 16000000, 0.5, NULL, true}},
                              .field_count = 3,
                              .before = machine,
                              .after = machine,
                              .first = {NULL, rows, 4, NULL, 0},
                              .last = {NULL, after, 4, NULL, 0},
                              .rows = 3};
    ts_text out = ts_text_begin(arena);
    ts_report_calibration(&c, &out);
    assert_string_equal(
        strstr(out.bytes, "rows  "),
        "rows       3 of 4\n"
        "times      ~ sampled or extended; --exact simulates every access\n"
        "\n"
        "figure                       before          after   a per cent of it moves the rows by\n"
        "clock                         1 GHz        1.5 GHz   0.750 %\n"
        "other                         1 GHz     not fitted   no row moves\n"
        "last                          1 GHz         16 GHz   0.500 %; a fit goes no further: begin "
        "nearer, with --set\n"
        "\n"
        "error, per cent              before          after\n"
        "median                         50.0           50.0\n"
        "90th percentile                50.0          300.0\n"
        "worst                          50.0          300.0\n"
        "\n"
        "row                                       measured us       before        after\n"
        "a<b                                                10      +25.0 %       +0.0 %\n"
        "c                                                 0.5      -50.0 %     +300.0 %\n"
        "e                                                   2      +50.0 %      -50.0 %\n");
    out = ts_text_begin(arena);
    ts_report_calibration_json(&c, &out);
    assert_string_equal(json_value(arena, out.bytes, "rows_used"), "3");
    assert_string_equal(json_value(arena, out.bytes, "estimated"), "true");
    assert_string_equal(
        json_value(arena, out.bytes, "figures"),
        "[{\"figure\":\"clock\",\"unit\":\"kHz\",\"before\":1000000,\"after\":1500000,\"left_out\":null,"
        "\"at_bound\":false},{\"figure\":\"other\",\"unit\":\"kHz\",\"before\":1000000,\"after\":1000000,"
        "\"left_out\":\"no row moves\",\"at_bound\":false},{\"figure\":\"last\",\"unit\":\"kHz\","
        "\"before\":1000000,\"after\":16000000,\"left_out\":null,\"at_bound\":true}]");
    assert_string_equal(json_value(arena, out.bytes, "before"),
                        "{\"median_percent\":50,\"p90_percent\":50,\"worst_percent\":50}");
    assert_string_equal(json_value(arena, out.bytes, "after"),
                        "{\"median_percent\":50,\"p90_percent\":300,\"worst_percent\":300}");
    assert_string_equal(
        json_value(arena, out.bytes, "rows"),
        "[{\"id\":\"a<b\",\"measured_us\":10,\"before_us\":12.5,\"after_us\":10},{\"id\":\"c\","
        "\"measured_us\":0.5,\"before_us\":0.25,\"after_us\":2},{\"id\":\"e\",\"measured_us\":2,"
        "\"before_us\":3,\"after_us\":1}]");
}

int main(void) { return run_all_tests(begin_group, end_group); }
