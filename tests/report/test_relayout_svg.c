/* Pictures of relayouts: what each sublane of both sides holds, in the colours of the source's vregs. */
#include "report/relayout.h"

#include <string.h>

#include "tests/support/cells.h"
#include "tests/support/frame.h"
#include "tests/support/group.h"
#include "tests/support/relayouts.h"
#include "tests/support/shapes.h"
#include "tests/support/written.h"

static ts_relayout_price price;

/* Of two dims. */
static const char *drawn(const int64_t *dims, const char *from, const char *to, int64_t sources,
                         int64_t results) {
    ts_error err = {0};
    ts_text out = ts_text_begin(arena);
    price = (ts_relayout_price){
        .request = {.from = parse_vpad(arena, from), .to = parse_vpad(arena, to), .rank = 2, .dims = dims},
        .plan = {.sources = sources, .results = results}};
    if (!ts_report_relayout_svg(&err, &price, &out)) fail_msg("%s", err.message);
    assert_readable(out.bytes);
    return out.bytes;
}

#define RUN(x, y, width, height, fill)                                                                       \
    "<rect x=\"" #x "\" y=\"" y "\" width=\"" #width "\" height=\"" height "\" fill=\"" fill "\"/>\n"
#define HSL(hue, light) "hsl(" #hue ",60%," #light "%)"
#define PADDING         "url(#padding)"
#define EDGE(x, y)                                                                                           \
    "<rect class=\"edge\" x=\"" #x "\" y=\"" #y "\" width=\"256\" height=\"64\" fill=\"none\"/>\n"
#define NAME(x, y, text)                                                                                     \
    "<text x=\"" #x "\" y=\"" #y "\" text-anchor=\"start\" font-size=\"12\">" text "</text>\n"

static const char *const tiled = "32,{0,0},(8,128)";

/* 2 x 2 vregs, each of one colour: 67 degrees from one to the next. */
TEST(vregs_below_each_other) {
    const char *svg = drawn((int64_t[]){16, 256}, tiled, tiled, 4, 4);
    assert_holds(svg, "width=\"600\" height=\"446\"");
    assert_holds(svg, ">from, 4 vregs</text>\n" RUN(16, "62.0", 256, "8.0", HSL(210, 72))
                          RUN(16, "70.0", 256, "8.0", HSL(210, 72)));
    assert_holds(svg, RUN(16, "118.0", 256, "8.0", HSL(210, 72)) EDGE(16, 62) NAME(
                          16, 57, "vreg 0, first element (0,0)") RUN(16, "154.0", 256, "8.0", HSL(277, 72)));
    assert_holds(svg, NAME(16, 149, "vreg 1, first element (0,128)"));
    assert_holds(svg, RUN(328, "338.0", 256, "8.0", HSL(51, 72)));
    assert_holds(svg, EDGE(328, 338) NAME(328, 333, "vreg 3, first element (8,128)") "</svg>");
}

/* 5 rows of 60 elements, and where they lie from row 2, lane 64 on. */
TEST(padding_and_offsets) {
    const char *svg = drawn((int64_t[]){5, 60}, tiled, "32,{2,64},(8,128)", 1, 1);
    assert_holds(svg, ">from, 1 vreg</text>\n" RUN(16, "62.0", 120, "8.0", HSL(210, 72))
                          RUN(136, "62.0", 136, "8.0", PADDING));
    assert_holds(svg, RUN(136, "94.0", 136, "8.0", PADDING) RUN(16, "102.0", 256, "8.0", PADDING));
    assert_holds(svg, ">to, 1 vreg</text>\n" RUN(328, "62.0", 256, "8.0", PADDING)
                          RUN(328, "70.0", 256, "8.0", PADDING) RUN(328, "78.0", 128, "8.0", PADDING)
                              RUN(456, "78.0", 120, "8.0", HSL(210, 72)) RUN(576, "78.0", 8, "8.0", PADDING));
    assert_holds(svg, NAME(328, 57, "vreg 0, first element (0,0)"));
    svg = drawn((int64_t[]){8, 127}, tiled, "32,{0,1},(8,128)", 1, 1);
    assert_holds(svg, RUN(328, "62.0", 2, "8.0", PADDING) RUN(330, "62.0", 254, "8.0", HSL(210, 72)));
}

/* A sublane of 16-bit elements has two rows. What is replicated is one element everywhere. */
TEST(packed_and_replicated) {
    const char *svg = drawn((int64_t[]){16, 128}, "16,{0,0},(16,128)", "16,{0,0},(16,128)", 1, 1);
    assert_holds(svg, RUN(16, "62.0", 256, "4.0", HSL(210, 72)) RUN(16, "66.0", 256, "4.0", HSL(210, 72)));
    assert_holds(svg, RUN(16, "122.0", 256, "4.0", HSL(210, 72)) EDGE(16, 62));
    svg = drawn((int64_t[]){8, 128}, tiled, "32,{*,0},(8,128)", 2, 1);
    assert_holds(svg, "height=\"262\""); /* of the side that has more: 44 + 2 * 92 + 34 */
    svg = drawn((int64_t[]){16, 128}, "32,{*,0},(8,128)", tiled, 1, 2);
    assert_holds(svg, "height=\"262\"");
    assert_holds(svg, RUN(16, "118.0", 256, "8.0", HSL(210, 72)) EDGE(16, 62)
                          NAME(16, 57, "vreg 0, first element (0,0)"));
    assert_holds(svg, RUN(328, "210.0", 256, "8.0", HSL(210, 72)) EDGE(328, 154)
                          NAME(328, 149, "vreg 1, first element (8,0)"));
}

TEST(six_of_a_side) {
    const char *svg = drawn((int64_t[]){48, 128}, tiled, tiled, 6, 6);
    assert_holds(svg, "height=\"630\""); /* 44 + 6 * 92 + 34 */
    assert_holds(svg, RUN(16, "522.0", 256, "8.0", HSL(185, 66)));
    assert_null(strstr(svg, " more<"));
    svg = drawn((int64_t[]){56, 128}, tiled, tiled, 7, 7);
    assert_holds(svg, "height=\"630\"");
    assert_holds(
        svg,
        "<text x=\"16\" y=\"608\" class=\"soft\" text-anchor=\"start\" font-size=\"12\">and 1 more</text>\n");
}

/* What comes from afar has a colour, too: light goes round every 15 vregs. Vreg 1 of the result is row 0 of 8 to 15. */
TEST(from_vregs_that_are_not_shown) {
    const char *svg = drawn((int64_t[]){8, 2048}, tiled, "32,{0,0},(1,128)", 16, 16);
    assert_holds(svg, RUN(328, "202.0", 256, "8.0", HSL(68, 60)) RUN(328, "210.0", 256, "8.0", HSL(135, 72))
                          EDGE(328, 154));
}

TEST(what_cannot_be_drawn) {
    static const char *const one_dim = "32,{0,0},(8,128),-2";
    const ts_vpad ends[] = {parse_vpad(arena, tiled), parse_vpad(arena, one_dim)};
    ts_relayout_price_request asked = {.from = parse_shape(arena, "f32[8]"),
                                       .to = parse_shape(arena, "f32[8]")};
    for (int i = 0; i < 2; i++) {
        ts_error err = {0}, of_page = {0};
        ts_text out = ts_text_begin(arena);
        price = (ts_relayout_price){
            .request = {.from = ends[i], .to = ends[1 - i], .rank = 1, .dims = (int64_t[]){8}}};
        assert_false(ts_report_relayout_svg(&err, &price, &out));
        assert_string_equal(err.message, "an array of 1 dims needs implicit ones, -1 or -2");
        assert_false(ts_report_relayout_html(&of_page, &asked, &price, &out));
        assert_string_equal(of_page.message, err.message);
    }
}

TEST(a_page) {
    static const char text[] = "f32[16,256] vpad<\"32,{0,0},(8,128)\">";
    ts_error err = {0};
    ts_text out = ts_text_begin(arena);
    drawn((int64_t[]){16, 256}, tiled, tiled, 4, 4);
    ts_relayout_price_request request = {.machine = ts_machine_load(&err, arena, "tpu-v5e"),
                                         .from = parse_shape(arena, text),
                                         .to = parse_shape(arena, text)};
    price.plan.op_count = 12;
    price.plan.kept_count = 8;
    price.plan.counts[TS_RELAYOUT_ROTATE] = 5;
    price.plan.counts[TS_RELAYOUT_ADD] = 7;
    price.plan.steps = ts_text_begin(arena);
    ts_text_add(&price.plan.steps, "rows <rotated>");
    price.cycles = 34;
    assert_true(ts_report_relayout_html(&err, &request, &price, &out));
    assert_holds(out.bytes, "<div><dt>vregs</dt><dd>4 to 4</dd></div>\n<div><dt>ops</dt><dd>12</dd></div>\n"
                            "<div><dt>ops when those that are the same are merged</dt><dd>8</dd></div>\n"
                            "<div><dt>cycles more than to load and store the vregs</dt><dd>34</dd></div>\n");
    const char *at = strstr(out.bytes, "<h2>Ops</h2>"), *end = strstr(at, "</section>");
    assert_string_equal(cells_of(arena, ts_text_format(arena, "%.*s", (int)(end - at), at)),
                        ts_text_format(arena, "Opsrows &lt;rotated&gt;+op|+count|\n%s|7|\ntpu.rotate|5|\n",
                                       ts_relayout_op_name(TS_RELAYOUT_ADD)));
    price.unpriced = "no <program>";
    ts_text_clear(&out);
    assert_true(ts_report_relayout_html(&err, &request, &price, &out));
    assert_holds(out.bytes, "vregs</dt><dd>no &lt;program&gt;</dd>");
}

int main(void) { return run_all_tests(begin_group, end_group); }
