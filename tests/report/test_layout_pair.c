/* Two layouts of one array side by side, and one by itself, as text, JSON and pages. */

#include <string.h>

#include "report/layout.h"
#include "report/transfer.h"
#include "tests/support/cells.h"
#include "tests/support/group.h"
#include "tests/support/shapes.h"
#include "tests/support/transfers.h"
#include "tests/support/written.h"

static const int64_t element[] = {2, 129};

static ts_layout_pair pair_of(const char *a, const char *b) {
    return (ts_layout_pair){.shapes = {parse_shape(arena, a), parse_shape(arena, b)}, .why = "why <not>"};
}

typedef void writer(ts_arena *arena, const ts_layout_pair *pair, ts_text *out);

static const char *written(writer *write, const ts_layout_pair *pair) {
    ts_text out = ts_text_begin(arena);
    write(arena, pair, &out);
    return out.bytes;
}

static const char *row(const char *label, const char *a, const char *b) {
    return ts_text_format(arena, "\n%-28s %32s %32s\n", label, a, b);
}

#define TILED    "f32[8,130]{1,0:T(8,128)}"
#define ROWS     "f32[8,130]{1,0}"
#define REPLICAS "f32[4,8] S[(4,8):(1@P,1@F)] + R[(2,3):(16@F,1@Q)] + 5@P"

/* 8 x 256 elements against 8 x 130. Element (2,129) is in the second tile, its row 2, its column 1. */
TEST(side_by_side) {
    ts_layout_pair pair = pair_of(TILED, ROWS);
    pair.index = element;
    const char *text = written(ts_report_layout_pair, &pair);
    assert_true(ts_text_starts(text, "A  " TILED "\nB  " ROWS "\n\n"));
    assert_holds(text, row("", "A", "B"));
    assert_holds(text, row("bytes", "8,192", "4,160"));
    assert_holds(text, row("", "8.0 KiB", "4.1 KiB"));
    assert_holds(text, row("of them padding", "49.2 %", "0.0 %"));
    assert_holds(text, row("times the data", "1.97x", "1.00x"));
    assert_holds(text, row("element (2,129) is at", "offset 1,281", "offset 389"));
    assert_true(ts_text_ends(text, "\n\nFrom A to B\ncannot be priced: why <not>\n"));
    pair.index = NULL;
    assert_null(strstr(written(ts_report_layout_pair, &pair), "element ("));
}

/* Where a side has some: six copies of 128 bytes. */
TEST(replicas) {
    static const char *const sides[2] = {REPLICAS, "f32[4,8]{1,0}"};
    for (int i = 0; i < 2; i++) {
        ts_layout_pair pair = pair_of(sides[i], sides[1 - i]);
        const char *text = written(ts_report_layout_pair, &pair),
                   *html = written(ts_report_layout_pair_html, &pair);
        assert_holds(text, row("of them replicas", i == 0 ? "24.7 %" : "0.0 %", i == 0 ? "0.0 %" : "24.7 %"));
        assert_holds(html, "hatched is padding, in dashes are replicas.</figcaption>");
    }
    ts_layout_pair none = pair_of(sides[1], sides[1]);
    assert_null(strstr(written(ts_report_layout_pair, &none), "replicas"));
    assert_null(strstr(written(ts_report_layout_pair_html, &none), "replicas"));
    ts_text out = ts_text_begin(arena);
    ts_report_shape_html(arena, parse_shape(arena, REPLICAS), &out);
    assert_holds(out.bytes, "<dt>replicas</dt><dd>24.7 %</dd>");
    out = ts_text_begin(arena);
    ts_report_shape_html(arena, parse_shape(arena, TILED), &out);
    assert_null(strstr(out.bytes, "<dt>replicas"));
}

/* In the largest unit of which there is one. */
TEST(units_of_sizes) {
    static const char *const rows[][3] = {
        {"f32[2,3]{1,0}", "24", "24 B"},
        {"f32[512,511]{1,0}", "1,046,528", "1022.0 KiB"},
        {"f32[512,512]{1,0}", "1,048,576", "1.0 MiB"},
        {"f32[32768,12288]{1,0}", "1,610,612,736", "1.5 GiB"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_layout_pair pair = pair_of(rows[i][0], rows[i][0]);
        const char *text = written(ts_report_layout_pair, &pair);
        assert_holds(text, row("bytes", rows[i][1], rows[i][1]));
        assert_holds(text, row("", rows[i][2], rows[i][2]));
    }
}

/* Of several axes each has its name; small arrays have pictures. */
TEST(several_axes) {
    ts_layout_pair pair = pair_of("f32[2,3] S[(2,3):(1@P,1@F)]", "f32[2,3]{1,0}");
    pair.index = (int64_t[]){1, 2};
    const char *text = written(ts_report_layout_pair, &pair);
    assert_holds(text, row("element (1,2) is at", "F 2, P 1", "offset 5"));
    assert_holds(text, "\n\nB\n");
    pair.shapes[0] = pair.shapes[1];
    assert_holds(written(ts_report_layout_pair, &pair), "\n\nA\n");
}

TEST(priced) {
    ts_error err = {0};
    ts_transfer_study study;
    ts_transfer_request request = parse_transfer(arena, ts_machine_load(&err, arena, "tpu-v5e"), TILED, ROWS);
    assert_true(ts_transfer_price(&err, arena, &request, &study));
    ts_layout_pair pair = pair_of(TILED, ROWS);
    pair.study = &study;
    pair.why = NULL;
    assert_holds(written(ts_report_layout_pair, &pair),
                 "\nFrom A to B\nsource        " TILED "  in hbm at byte 0\n");
    assert_holds(written(ts_report_layout_pair, &pair), "\nboxes (strides in bits");
    study.cost.cycles = 3000;
    study.cost.estimated = true;
    const char *json = written(ts_report_layout_pair_json, &pair);
    assert_holds(json_value(arena, json, "transfer"),
                 "\"cycles\":3000,\"microseconds\":2,\"estimated\":true,\"boxes\":2,"
                 "\"gathers\":false}");
    assert_string_equal(json_value(arena, json, "not_priced"), "null");
    assert_holds(written(ts_report_layout_pair_html, &pair), "<h2>The plan</h2>\n<pre ");
}

TEST(as_json) {
    ts_layout_pair pair = pair_of(TILED, ROWS);
    pair.index = element;
    const char *json = written(ts_report_layout_pair_json, &pair);
    assert_string_equal(json_value(arena, json, "index"), "[2,129]");
    assert_string_equal(json_value(arena, json, "transfer"), "null");
    assert_string_equal(json_value(arena, json, "not_priced"), "\"why <not>\"");
    assert_holds(json_value(arena, json, "a"), "\"storage_bytes\":8192,");
    assert_holds(json_value(arena, json, "a"), "1281");
    assert_holds(json_value(arena, json, "b"), "\"storage_bytes\":4160,");
    assert_holds(json_value(arena, json, "b"), "389");
}

/* ---- Pages ---- */

static const char *table(const char *html, int number) {
    const char *at = html;
    for (int i = 0; i <= number; i++) at = strstr(at + 1, "<table");
    return cells_of(arena, ts_text_format(arena, "%.*s", (int)(strstr(at, "</table>") - at), at));
}

TEST(a_page_of_two) {
    ts_layout_pair pair = pair_of(TILED, ROWS);
    const char *html = written(ts_report_layout_pair_html, &pair);
    assert_holds(html, "<h1>Two layouts</h1>\n<p><code>" TILED " and " ROWS "</code></p>");
    assert_string_equal(table(html, 0),
                        "+layout|+bytes|+padding|+|\n" TILED "|8,192|49.2 %||\n" ROWS "|4,160|0.0 %||\n");
    assert_holds(html, "<p>Cannot be priced: why &lt;not&gt;.</p>");
    assert_holds(html, "<h2>Pictures</h2>\n<figure>\n<figcaption>Cells of one tile");
    pair.index = element;
    assert_string_equal(table(written(ts_report_layout_pair_html, &pair), 0),
                        "+layout|+bytes|+padding|+element (2,129) is at|\n" TILED
                        "|8,192|49.2 %|offset 1,281|\n" ROWS "|4,160|0.0 %|offset 389|\n");
}

TEST(a_page_of_one) {
    ts_text out = ts_text_begin(arena);
    ts_report_shape_html(arena, parse_shape(arena, TILED), &out);
    assert_holds(out.bytes, "<h1>A layout</h1>\n<p><code>" TILED "</code></p>");
    assert_holds(out.bytes, "<div><dt>bytes of data</dt><dd>4,160</dd></div>\n"
                            "<div><dt>bytes with padding</dt><dd>8,192</dd></div>\n"
                            "<div><dt>padding</dt><dd>49.2 %</dd></div>\n"
                            "<div><dt>expansion</dt><dd>1.97x</dd></div>\n");
    assert_holds(out.bytes, "<h2>Picture</h2>");
    /* A tile of 1024 elements, rows of 128 in it; one tile of rows. */
    const char *digits = table(out.bytes, 0);
    assert_true(ts_text_starts(digits, "+digit|+extent|+stride|+axis|+value|\n0|1|2048|"));
    assert_holds(digits, "\n1|2|1024|");
    assert_holds(digits, "\n2|8|128|");
    assert_holds(digits, "\n3|128|1|");
}

/* ---- A transfer ---- */

static const char *transfer_page(const ts_transfer_study *study, const ts_transfer_others *others) {
    ts_text out = ts_text_begin(arena);
    ts_report_transfer_html(study, others, &out);
    return out.bytes;
}

TEST(a_page_of_a_transfer) {
    ts_error err = {0};
    ts_transfer_study study;
    ts_machine *machine = TS_NEW(arena, ts_machine);
    *machine = *ts_machine_load(&err, arena, "tpu-v5e");
    ts_transfer_request request = parse_transfer(arena, machine, TILED, ROWS);
    assert_true(ts_transfer_price(&err, arena, &request, &study));
    machine->chip.sustained_khz = 1000000;
    study.cost = (ts_dma_cost){.transfer = {.useful_bytes = 4160,
                                            .src_bytes = 8192,
                                            .dst_bytes = 1808,
                                            .padding_bytes = 1000,
                                            .waste_bytes = 250},
                               .cycles = 2000,
                               .memory_cycles = 500,
                               .limiter = "padding <x>"};
    study.cost.components[TS_DMA_COMPONENT_USEFUL] = 1500;
    study.cost.components[TS_DMA_COMPONENT_PADDING] = 500;
    const char *html = transfer_page(&study, NULL);
    assert_holds(html, "<h1>A transfer</h1>\n<p><code>" TILED " to " ROWS "</code><br>");
    assert_holds(html, "<div><dt>time</dt><dd>2.000 us</dd></div>\n<div><dt>cycles</dt><dd>2,000</dd></div>\n"
                       "<div><dt>useful data</dt><dd>2.1 GB/s</dd></div>\n"
                       "<div><dt>of the HBM's peak</dt><dd>25.0 %</dd></div>\n"
                       "<div><dt>of the bytes moved nobody needs</dt><dd>12.5 %</dd></div>\n"
                       "<div><dt>limited by</dt><dd>padding &lt;x&gt;</dd></div>\n");
    assert_holds(
        html,
        "<ul class=\"legend\">\n<li><i class=\"kind-1\"></i><span>useful transfer</span><b>1,500 &nbsp; "
        "75.0 %</b></li>\n<li><i class=\"kind-2\"></i><span>padding</span><b>500 &nbsp; 25.0 %</b></li>\n"
        "</ul>");
    assert_null(strstr(html, "<h2>Other layouts</h2>"));
    assert_null(strstr(html, "The engine cannot"));
    study.cost.estimated = true;
    study.by.program = "p.tsim";
    study.by.parameters = "-D A=1";
    ts_transfer_others others[2] = {
        {0}, {2, {{parse_shape(arena, ROWS), 1500, false}, {parse_shape(arena, TILED), 2500, true}}}};
    html = transfer_page(&study, others);
    assert_holds(html, "<dd>~2.000 us</dd></div>\n<div><dt>cycles</dt><dd>~2,000</dd>");
    assert_holds(html, "<p>The engine cannot do it: a program of the core does, p.tsim -D A=1.</p>");
    assert_string_equal(table(html, 0), "+layout|+cycles|+us|+against this|\n" ROWS
                                        "|1,500|1.500|-25.0 %|\n" TILED "|~2,500|2.500|+25.0 %|\n");
    assert_null(strstr(html, "of the source"));
    assert_holds(html, "of the destination</p>");
    study.cost.cycles = 0;
    study.cost.transfer = (ts_dma_result){0};
    html = transfer_page(&study, others);
    assert_holds(html, "nobody needs</dt><dd>0.0 %</dd>");
    assert_holds(table(html, 0), "|1,500|1.500|+149900.0 %|");
}

int main(void) { return run_all_tests(begin_group, end_group); }
