/* The page of a run: its facts, where cycles went, checks, tensors and their pictures. */
#include "report/run_private.h"

#include <string.h>

#include "core/core.h"
#include "report/run.h"
#include "tests/support/cells.h"
#include "tests/support/group.h"
#include "tests/support/run_text.h"
#include "tests/support/written.h"

static run_of_text r;
static ts_machine machine;
static ts_run_request request;
static ts_page_trace trace;

static const char text[] = ".tensor x  hbm  f32[8,130]{1,0:T(8,128)} in iota\n"
                           ".tensor y  hbm  f32[8,130]{1,0:T(8,128)} out\n"
                           ".tensor xb vmem f32[8,130]{1,0:T(8,128)}\n"
                           ".tensor n  smem s32[4]{0}\n"
                           ".sem ready\n"
                           ".check y == x\n"
                           ".check y ~= x + 1\n"
                           "        dma  xb <- x, ready\n"
                           "        wait ready\n"
                           "        dma  y <- xb, ready\n"
                           "        wait ready\n"
                           "        halt\n";

/* What the run came to is replaced: a cycle is a nanosecond. */
static int begin_run(void **state) {
    begin_group(state);
    r = run_text("tpu-v5e", text, false);
    machine = *ts_machine_load(NULL, arena, "tpu-v5e");
    machine.chip.sustained_khz = 1000000;
    return 0;
}

static int end_run(void **state) {
    ts_arena_free(r.arena);
    return end_group(state);
}

static ts_timeline timeline;

static void begin(void) {
    static const ts_define defines[] = {{"A", "1"}, {"B", "2"}};
    timeline = (ts_timeline){.program = r.program, .machine = &machine, .sampled_from = -1};
    trace = (ts_page_trace){.timeline = &timeline, .arena = arena, .end = -1};
    request =
        (ts_run_request){.program = "a<b.tsim", .machine = &machine, .defines = defines, .define_count = 2};
    ts_run_result *result = &r.result;
    result->counters.values[TS_COUNTER_CYCLES] = 2000;
    result->chip.estimated = false;
    result->chip.core_count = 1;
    result->chip.cores[0] = (ts_core_counters){.cycles = 100, .bundles = 25};
    result->chip.cores[0].stalls[TS_STALL_SEMAPHORE] = 25;
    result->chip.cores[0].stalls[TS_STALL_BARRIER] = 50;
    result->roofline = (ts_roofline){.unit = TS_FLOPS_VPU,
                                     .kinds = 1u << TS_FLOPS_VPU_F32,
                                     .flops = 5,
                                     .rate = 2.5e12,
                                     .peak = 1e13,
                                     .hbm_bytes = 10,
                                     .pin_bytes = 10,
                                     .hbm_rate = 1.25e11,
                                     .hbm_peak = 8e11,
                                     .intensity = .5,
                                     .ridge = 12.5,
                                     .roof = 4e11,
                                     .bound = TS_BOUND_MEMORY,
                                     .busiest = TS_UNIT_HBM,
                                     .least_cycles = 1500,
                                     .link = -1};
    result->roofline.busy[TS_UNIT_HBM] = .125;
    result->roofline.busy[TS_UNIT_ISSUE] = .5;
}

static const char *page_of(void) {
    ts_text out = ts_text_begin(arena);
    ts_report_run_html(&request, &r.result, &trace, &out);
    return strstr(out.bytes, "<h1>");
}

/* The text of a section: rows are lines, cells end in bars. */
static const char *section(const char *heading) {
    const char *at = strstr(page_of(), ts_text_format(arena, "<h2>%s</h2>", heading));
    if (!at) return "";
    return cells_of(arena, ts_text_format(arena, "%.*s", (int)(strstr(at, "</section>") - at), at));
}

TEST(facts) {
    begin();
    assert_holds(page_of(), "<h1>A run</h1>\n<p><code>a&lt;b.tsim A=1 B=2</code><br>");
    assert_holds(page_of(),
                 "<div><dt>time</dt><dd>2.000 us</dd></div>\n<div><dt>cycles</dt><dd>2,000</dd></div>\n"
                 "<div><dt>speed, of the peak</dt><dd>2.500 TFLOP/s, 25.0 %</dd></div>\n"
                 "<div><dt>HBM, of its peak</dt><dd>125.0 GB/s, 12.5 %</dd></div>\n"
                 "<div><dt>bound by</dt><dd>memory (hbm 12.5 % busy)</dd></div>\n"
                 "<div><dt>at least</dt><dd>1,500 cycles</dd></div>\n"
                 "<div><dt>checks</dt><dd>1 of 2 FAILED</dd></div>\n");
    r.result.chip.estimated = true;
    r.result.roofline.unit = TS_FLOPS_NONE;
    request.time_only = true;
    assert_holds(page_of(), "<dd>~2.000 us</dd></div>\n<div><dt>cycles</dt><dd>~2,000</dd></div>\n"
                            "<div><dt>HBM, of its");
    assert_holds(page_of(), "<dt>checks</dt><dd>not computed</dd>");
    request.time_only = false;
    const ts_check_result *checks = r.result.checks;
    ts_check_result passed[2] = {checks[0], checks[0]};
    r.result.checks = passed;
    assert_holds(page_of(), "<dt>checks</dt><dd>2 passed</dd>");
    passed[0] = checks[1];
    assert_holds(page_of(), "<dt>checks</dt><dd>1 of 2 FAILED</dd>");
    r.result.checks = checks;
}

/* Bundles first, then the longest stall. */
TEST(where_cycles_went) {
    begin();
    assert_holds(
        page_of(),
        "aria-label=\"Cycles of core 0 by reason\"><span class=\"kind-1\" style=\"width:25.0000%\" "
        "title=\"a bundle issued: 25\"></span><span class=\"kind-2\" style=\"width:50.0000%\" "
        "title=\"other cores have not come to the barrier: 50\"></span><span class=\"kind-3\" "
        "style=\"width:25.0000%\" title=\"waiting for a DMA, or another semaphore: 25\"></span></div>");
    assert_null(strstr(page_of(), "All cores together"));
    r.result.chip.core_count = 2;
    r.result.chip.cores[1] = (ts_core_counters){.cycles = 1000, .bundles = 400};
    r.result.chip.cores[1].stalls[TS_STALL_SEMAPHORE] = 600;
    assert_holds(
        page_of(),
        "<p>core 1: 1,000 cycles</p>\n<div class=\"bar\" role=\"img\" aria-label=\"Cycles of core 1 "
        "by reason\"><span class=\"kind-1\" style=\"width:40.0000%\" title=\"a bundle issued: 400\">"
        "</span><span class=\"kind-2\" style=\"width:60.0000%\" title=\"waiting for a DMA, or another "
        "semaphore: 600\"></span></div>\n<p>All cores together:</p>\n");
    assert_holds(
        page_of(),
        "<li><i class=\"kind-1\"></i><span>a bundle issued</span><b>425 &nbsp; 38.6 %</b></li>\n"
        "<li><i class=\"kind-2\"></i><span>waiting for a DMA, or another semaphore</span><b>625 &nbsp; "
        "56.8 %</b></li>\n");
}

TEST(units_that_were_busy) {
    begin();
    r.result.roofline.busy[0] = .25;
    assert_holds(section("Roofline"), "busy|\nscalar|25.0|\nissue|50.0|\nhbm|12.5|\n");
    assert_holds(page_of(), "<div class=\"beside\">\n<figure>\n<svg");
    assert_holds(page_of(), "style=\"--a:50.00%;--b:50.00%\">50.0</span>");
    r.result.roofline.unit = TS_FLOPS_NONE;
    assert_holds(page_of(), "<div class=\"beside\">\n<div class=\"scroll\"");
}

/* Of a 0 that should be 1 the error is 2^23 ulp. */
TEST(checks_and_findings) {
    begin();
    assert_string_equal(section("Checks"), "Checks+check|+elements|+wrong|+error at most|+in ulp|\n"
                                           "y == x|1,040|0|0|0|\n"
                                           "y ~= x + 1|1,040|1,040|1|8.389e+06|\n");
    assert_string_equal(section("Findings"), "");
    const ts_check_result *checks = r.result.checks;
    const ts_findings *findings = r.result.findings;
    ts_findings found = {.count = 1, .list = {{TS_FINDING_READ_RACE, {0}, {0}, 7, 1, true, 1, "so", NULL}}};
    r.result.checks = NULL;
    r.result.findings = &found;
    assert_string_equal(section("Checks"), "");
    assert_true(ts_text_starts(section("Findings"), "Findings"));
    r.result.checks = checks;
    r.result.findings = findings;
}

/* One picture of tensors that lie alike. */
TEST(tensors_and_their_pictures) {
    begin();
    assert_true(ts_text_starts(section("Tensors"),
                               "Tensors+tensor|+in|+bytes|+padding|+layout|+values from|\n"
                               "x|hbm|8,192|49.2 %|f32[8,130]{1,0:T(8,128)}|iota|\n"
                               "y|hbm|8,192|49.2 %|f32[8,130]{1,0:T(8,128)}||\n"
                               "xb|vmem|8,192|49.2 %|f32[8,130]{1,0:T(8,128)}||\n"
                               "n|smem|16|0.0 %|s32[4]{0}||\n"
                               "x, y, xb: f32[8,130]{1,0:T(8,128)}"));
    assert_holds(page_of(), "</details>\n<details>\n<summary>n: s32[4]{0}</summary>\n<figure>\n<svg");
    assert_null(strstr(page_of(), "left out here"));
    assert_null(strstr(page_of(), "<h2>Mesh</h2>"));
}

TEST(sixteen_pictures) {
    begin();
    const ts_program *program = r.result.program;
    for (int count = 1; count <= 18; count += count == 1 ? 15 : 1) {
        ts_text many = ts_text_begin(arena);
        for (int i = 1; i <= count; i++) ts_text_add(&many, ".tensor t%d hbm f32[%d]{0}\n", i, i);
        ts_text_add(&many, "halt\n");
        r.result.program = assemble_text(arena, &machine, many.bytes);
        r.result.tensors = TS_NEW_ARRAY(arena, ts_run_tensor, count);
        const char *html = page_of(), *at = html;
        int found = 0;
        for (; (at = strstr(at, "<summary>t")) != NULL; at++) found++;
        assert_int_equal(found, count < 16 ? count : 16);
        assert_int_equal(strstr(html, "<p>1 more picture is left out here: ") != NULL, count == 17);
        assert_int_equal(strstr(html, "<p>2 more pictures are left out here: ") != NULL, count == 18);
        assert_null(strstr(html, "<dt>checks</dt>"));
    }
    r.result.program = program;
}

/* A picture of some 550,000 bytes has room in a mebibyte, a second one has none, a small one behind it has. */
TEST(pictures_of_a_mebibyte) {
    begin();
    const ts_program *program = r.result.program;
    r.result.program = assemble_text(arena, &machine,
                                     ".tensor a hbm f32[60,60]{1,0}\n.tensor b hbm f32[60,61]{1,0}\n"
                                     ".tensor c hbm f32[2]{0}\nhalt\n");
    r.result.tensors = TS_NEW_ARRAY(arena, ts_run_tensor, 3);
    const char *html = page_of();
    assert_holds(html, "<summary>a: ");
    assert_null(strstr(html, "<summary>b: "));
    assert_holds(html, "<summary>c: ");
    assert_holds(html, "<p>1 more picture is left out here: ");
    r.result.program = program;
}

int main(void) { return run_all_tests(begin_run, end_run); }
