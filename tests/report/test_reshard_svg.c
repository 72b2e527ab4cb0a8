/* Bytes over the links of a torus: where chips and arrows stand, and how thick these are. */
#include "report/reshard.h"

#include <string.h>

#include "tests/support/frame.h"
#include "tests/support/group.h"
#include "tests/support/written.h"

static ts_reshard_report report;

/* Without loads; on what chips there are. */
static void begin(const char *machine, const char *axes) {
    ts_error err = {0};
    ts_mesh_request request = {.machine = ts_machine_load(&err, arena, machine),
                               .axes = {"mesh", axes, strlen(axes)}};
    report = (ts_reshard_report){.machine = request.machine};
    if (!ts_mesh_read(&err, arena, &request, &report.mesh)) fail_msg("%s", err.message);
    report.plan.count = 2;
    report.plan.ps = 1234567;
    for (int i = 0; i < 2; i++)
        report.plan.prices[i].loads = TS_NEW_ARRAY(arena, int64_t, ts_mesh_link_count(&report.mesh));
}

static void load(int collective, int64_t link, int64_t bytes) {
    ((int64_t *)report.plan.prices[collective].loads)[link] = bytes;
}

static const char *picture(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_reshard_svg(&report, &out);
    assert_readable(out.bytes);
    return out.bytes;
}

#define LINK(x, y, dx, dy, colour, width, opacity, dash, title)                                              \
    "<path d=\"M" #x " " #y "l" #dx " " #dy "\" stroke=\"" colour "\" stroke-width=\"" width                 \
    "\" stroke-opacity=\"" opacity "\" marker-end=\"url(#tip)\"" dash "><title>" title "</title></path>\n"
#define IDLE(x, y, dx, dy, title) LINK(x, y, dx, dy, "#999", "1.0", "0.35", "", title ": 0 B")
#define CHIP(x, y, text_x, text_y, number)                                                                   \
    "<rect class=\"edge\" x=\"" #x "\" y=\"" #y                                                              \
    "\" width=\"26\" height=\"26\" rx=\"4\" fill=\"hsl(210,50%,88%)\"/>"                                     \
    "<text x=\"" #text_x "\" y=\"" #text_y                                                                   \
    "\" class=\"cell\" text-anchor=\"middle\" font-size=\"10\">" #number "</text>\n"

/* Chips are 64 pixels apart; an arrow begins at the edge of its chip and ends before that of the next. The two ways stand
 * beside each other. */
TEST(a_plane) {
    begin("tpu-v5e", "2x3");
    load(0, 2, 1024), load(0, 6, 256), load(1, 6, 256);
    const char *svg = picture();
    assert_holds(svg, "width=\"460\" height=\"254\"");
    assert_holds(svg, ">Bytes over each link, 1.23 us</text>\n");
    assert_holds(svg,
                 ">the thicker the more; the busiest has 1.0 KiB; what leaves a plane is short</text>\n" IDLE(
                     75, 115, 0, 36, "(0,0) -&gt; (1,0)")
                     LINK(85, 99, 36, 0, "hsl(12,80%,50%)", "3.5", "1.00", "", "(0,0) -&gt; (0,1): 1.0 KiB")
                         IDLE(139, 115, 0, 36, "(0,1) -&gt; (1,1)")
                             LINK(149, 99, 36, 0, "hsl(12,80%,50%)", "2.2", "0.62", "",
                                  "(0,1) -&gt; (0,2): 512 B") IDLE(123, 105, -36, 0, "(0,1) -&gt; (0,0)"));
    assert_holds(svg, IDLE(69, 153, 0, -36, "(1,0) -&gt; (0,0)"));
    assert_int_equal(count_parts(svg, "<path d=\"M"),
                     14 + 1); /* and the tip; of lines the ends lead nowhere */
    assert_holds(svg, "</path>\n" CHIP(59, 89, 72, 106, 0) CHIP(123, 89, 136, 106, 1));
    assert_holds(svg, CHIP(187, 153, 200, 170, 5) "</svg>");
}

TEST(failed_links_are_dashed) {
    begin("tpu-v5e", "2x3");
    bool *failed = TS_NEW_ARRAY(arena, bool, ts_mesh_link_count(&report.mesh));
    failed[2] = true;
    report.mesh.failed = failed;
    const char *svg = picture();
    assert_holds(svg, LINK(85, 99, 36, 0, "#999", "1.0", "0.35", " stroke-dasharray=\"2 3\"",
                           "(0,0) -&gt; (0,1): 0 B, failed"));
    assert_int_equal(count_parts(svg, "<path d=\"M"), 15);
}

/* What leads round a ring goes out of the picture. */
TEST(rings) {
    begin("tpu-v5e", "2x3");
    report.mesh.ring[1] = true;
    const char *svg = picture();
    assert_holds(svg, IDLE(213, 99, 12, 0, "(0,2) -&gt; (0,0)"));
    assert_holds(svg, IDLE(59, 105, -12, 0, "(0,0) -&gt; (0,2)"));
    assert_int_equal(count_parts(svg, "<path d=\"M"), 19);
}

/* Planes stand beside each other, in as many lines as make it square; links between them lead aslant. */
TEST(planes) {
    begin("tpu-v4", "2x2x2");
    const char *svg = picture();
    assert_holds(svg, "width=\"460\" height=\"254\"");
    assert_holds(svg, IDLE(85, 89, 9, -9, "(0,0,0) -&gt; (1,0,0)"));
    assert_holds(svg, IDLE(243, 115, -9, 9, "(1,0,0) -&gt; (0,0,0)"));
    assert_holds(svg, CHIP(243, 89, 256, 106, 4));
    begin("tpu-v4", "5x2x2");
    svg = picture();
    assert_holds(svg, "width=\"592\" height=\"438\""); /* 40 + 3 * 184, 70 + 2 * 184 */
    assert_holds(svg, CHIP(59, 273, 72, 290, 12));
    begin("tpu-v5e", "4");
    svg = picture();
    assert_holds(svg, "width=\"460\" height=\"190\"");
    assert_holds(svg, CHIP(251, 89, 264, 106, 3));
}

TEST(at_most_512_chips) {
    begin("tpu-v5p", "8x8x8");
    assert_int_equal(count_parts(picture(), "class=\"edge\" x"), 512);
    begin("tpu-v5p", "8x8x12");
    load(0, 0, 7);
    assert_holds(picture(), "width=\"460\" height=\"70\"");
    assert_holds(picture(), ">the busiest has 7 B; too many chips to draw</text>\n</svg>");
}

int main(void) { return run_all_tests(begin_group, end_group); }
