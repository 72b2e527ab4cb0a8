/* Where a run stands under its machine's roofline, in words and as JSON. */
#include "report/run_private.h"

#include <math.h>
#include <string.h>

#include "tests/support/group.h"
#include "tests/support/written.h"

static ts_mesh mesh;
static ts_run_mesh on_mesh = {.mesh = &mesh};

/* Of 1,000 cycles. */
static ts_run_result memory_bound(void) {
    return (ts_run_result){.roofline = {.unit = TS_FLOPS_VPU,
                                        .kinds = 1u << TS_FLOPS_VPU_F32 | 1u << TS_FLOPS_VPU_BF16,
                                        .flops = 1234567,
                                        .rate = 2e12,
                                        .peak = 4e12,
                                        .pin_bytes = 4096,
                                        .hbm_rate = 4e11,
                                        .hbm_peak = 6e11,
                                        .intensity = 5,
                                        .ridge = 10,
                                        .roof = 3e12,
                                        .busy = {[TS_SLOT_VALU] = 0.5,
                                                 [TS_SLOT_MXU] = 0.1,
                                                 [TS_SLOT_VLD] = 0.4,
                                                 [TS_UNIT_ISSUE] = 0.30000049,
                                                 [TS_UNIT_HBM] = 0.8},
                                        .bound = TS_BOUND_MEMORY,
                                        .busiest = TS_UNIT_HBM,
                                        .least_cycles = 1800,
                                        .link = -1}};
}

static ts_run_result waiting(void) {
    ts_run_result r = {.roofline = {.busy = {[TS_UNIT_ISSUE] = 0.25},
                                    .bound = TS_BOUND_LATENCY,
                                    .busiest = TS_UNIT_ISSUE,
                                    .least_cycles = 25,
                                    .link = -1},
                       .chip.core_count = 2};
    r.chip.cores[0] = (ts_core_counters){.cycles = 100, .bundles = 25};
    r.chip.cores[1] = (ts_core_counters){.cycles = 60, .bundles = 25};
    r.chip.cores[0].stalls[TS_STALL_SEMAPHORE] = 75;
    r.chip.cores[1].stalls[TS_STALL_SEMAPHORE] = 5;
    return r;
}

/* Of integers, on the first link of a mesh. */
static ts_run_result sending(void) {
    return (ts_run_result){
        .mesh = &on_mesh,
        .roofline = {.unit = TS_FLOPS_MXU,
                     .kinds = 1u << TS_MXU_INT8,
                     .flops = 1000,
                     .rate = 999.94,
                     .peak = 2000,
                     .intensity = 1500,
                     .ridge = 240,
                     .roof = 2000,
                     .busy = {[TS_SLOT_SCALAR] = 0.4, [TS_SLOT_VALU] = 0.2, [TS_SLOT_MXU] = 0.5},
                     .bound = TS_BOUND_LINK,
                     .busiest = TS_SLOT_MXU,
                     .least_cycles = 800,
                     .link = 0,
                     .link_busy = 0.8}};
}

static const char *text_of(const ts_run_result *result) {
    ts_text out = ts_text_begin(arena);
    report_roofline(result, &out);
    return out.bytes;
}

static const char *json_of(const ts_run_result *result) {
    ts_text out = ts_text_begin(arena);
    ts_json json;
    ts_json_begin(&json, &out, "test");
    report_roofline_json(result, &json);
    ts_json_end(&json);
    return json_value(arena, out.bytes, "roofline");
}

TEST(in_words) {
    ts_run_result r = memory_bound();
    assert_string_equal(
        text_of(&r),
        "roofline   vpu f32 bf16: 1,234,567 FLOP = 2.000 TFLOP/s, 50.0 % of the peak of 4.000 TFLOP/s\n"
        "           5 FLOP a byte of HBM, below the ridge at 10.0: at most 3.000 TFLOP/s, 66.7 % reached\n"
        "bound by   memory: hbm is busy 80.0 % of the time, valu 50.0 %, vld 40.0 %, mxu 10.0 %\n"
        "           1,800 cycles at least; the run took 1.25 times that\n");
    r.roofline.unit = TS_FLOPS_MXU;
    r.roofline.kinds = 1u << TS_MXU_F32;
    r.roofline.intensity = (double)INFINITY;
    r.roofline.busy[TS_UNIT_HBM] = 0;
    r.roofline.busiest = TS_UNIT_HBM; /* nothing is busy */
    assert_string_equal(
        text_of(&r),
        "roofline   mxu f32: 1,234,567 FLOP = 2.000 TFLOP/s, 50.0 % of the peak of 4.000 TFLOP/s\n"
        "           no bytes of HBM: the peak is the roof\n");
    r = waiting();
    assert_string_equal(text_of(&r),
                        "roofline   no floating-point operations, and none of the matrix units\n"
                        "bound by   latency: issue is busy 25.0 % of the time\n"
                        "           25 cycles at least; the run took 4.00 times that\n"
                        "           50.0 % of the time: waiting for a DMA, or another semaphore\n");
    r = sending();
    assert_string_equal(
        text_of(&r),
        "roofline   mxu int8: 1,000 OP = 999.9 OP/s, 50.0 % of the peak of 2.000 kOP/s\n"
        "           1500 OP a byte of HBM, above the ridge at 240.0: at most 2.000 kOP/s, 50.0 % reached\n"
        "bound by   ici link (0) -> (1), busy 80.0 % of the time\n"
        "           mxu is busy 50.0 % of the time, scalar 40.0 %, valu 20.0 %\n"
        "           800 cycles at least; the run took 1.25 times that\n");
    memset(r.roofline.busy, 0, sizeof r.roofline.busy); /* but the link */
    assert_string_equal(
        text_of(&r),
        "roofline   mxu int8: 1,000 OP = 999.9 OP/s, 50.0 % of the peak of 2.000 kOP/s\n"
        "           1500 OP a byte of HBM, above the ridge at 240.0: at most 2.000 kOP/s, 50.0 % reached\n"
        "bound by   ici link (0) -> (1), busy 80.0 % of the time\n"
        "           mxu is busy 0.0 % of the time\n"
        "           800 cycles at least; the run took 1.25 times that\n");
}

TEST(as_json) {
    ts_run_result r = memory_bound();
    assert_string_equal(
        json_of(&r),
        "{\"unit\":\"vpu\",\"types\":[\"f32\",\"bf16\"],\"flops\":1234567,"
        "\"flops_per_s\":2000000000000,\"peak_flops_per_s\":4000000000000,\"peak_percent\":50,"
        "\"hbm_pin_bytes\":4096,\"hbm_bytes_per_s\":400000000000,"
        "\"peak_hbm_bytes_per_s\":600000000000,\"intensity\":5,\"ridge\":10,"
        "\"roof_flops_per_s\":3000000000000,\"busy_percent\":{\"scalar\":0,\"valu\":50,"
        "\"vld\":40,\"vst\":0,\"eup\":0,\"xlu\":0,\"mxu\":10,\"misc\":0,\"issue\":30,\"hbm\":80},"
        "\"bound\":\"memory\",\"bound_unit\":\"hbm\",\"least_cycles\":1800}");
    r = sending();
    r.roofline.kinds |= 1u << TS_MXU_F32;
    assert_string_equal(json_of(&r),
                        "{\"unit\":\"mxu\",\"types\":[\"f32\",\"int8\"],\"flops\":1000,\"flops_per_s\":1000,"
                        "\"peak_flops_per_s\":2000,\"peak_percent\":49.997,\"hbm_pin_bytes\":0,"
                        "\"hbm_bytes_per_s\":0,\"peak_hbm_bytes_per_s\":0,\"intensity\":1500,\"ridge\":240,"
                        "\"roof_flops_per_s\":2000,\"busy_percent\":{\"scalar\":40,\"valu\":20,\"vld\":0,"
                        "\"vst\":0,\"eup\":0,\"xlu\":0,\"mxu\":50,\"misc\":0,\"issue\":0,\"hbm\":0},"
                        "\"bound\":\"ici\",\"bound_unit\":\"ici\",\"bound_link\":\"(0) -> (1)\","
                        "\"bound_link_busy_percent\":80,\"least_cycles\":800}");
    r = waiting();
    assert_string_equal(
        json_of(&r),
        "{\"unit\":null,\"types\":[],\"flops\":0,\"flops_per_s\":0,\"peak_flops_per_s\":0,"
        "\"peak_percent\":0,\"hbm_pin_bytes\":0,\"hbm_bytes_per_s\":0,\"peak_hbm_bytes_per_s\":0,"
        "\"intensity\":0,\"ridge\":0,\"roof_flops_per_s\":0,\"busy_percent\":{\"scalar\":0,"
        "\"valu\":0,\"vld\":0,\"vst\":0,\"eup\":0,\"xlu\":0,\"mxu\":0,\"misc\":0,\"issue\":25,"
        "\"hbm\":0},\"bound\":\"latency\",\"bound_unit\":\"issue\",\"least_cycles\":25}");
}

TEST(four_digits) {
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0.000 "},      {9.9994, "9.999 "}, {9.9995, "10.00 "},  {99.994, "99.99 "},
                {99.995, "100.0 "}, {999.94, "999.9 "}, {999.95, "1.000 k"}, {55.51e12, "55.51 T"},
                {2e18, "2.000 E"},  {3e21, "3000.0 E"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(report_scaled(arena, rows[i].value), rows[i].text);
}

TEST(integers_have_no_floating_point) {
    ts_roofline r = {.unit = TS_FLOPS_MXU, .kinds = 1u << TS_MXU_INT8 | 1u << TS_MXU_INT4};
    assert_string_equal(report_operations(&r), "OP");
    r.kinds |= 1u << TS_MXU_BF16;
    assert_string_equal(report_operations(&r), "FLOP");
    r = (ts_roofline){.unit = TS_FLOPS_VPU, .kinds = 1u << TS_MXU_INT8};
    assert_string_equal(report_operations(&r), "FLOP");
}

static const char *svg_of(const ts_run_result *result) {
    ts_error err = {0};
    ts_text out = ts_text_begin(arena);
    report_roofline_svg(ts_machine_load(&err, arena, "tpu-v5e"), &result->roofline, &out);
    return out.bytes;
}

/* A decade takes (640 - 70 - 30) / 2 pixels along x, (368 - 16 - 52) / 4 along y. Of the peaks of a v5e, that
 * of the VPU is in the picture. */
TEST(as_a_picture) {
    ts_run_result r = memory_bound();
    r.roofline.rate = 2e9;
    r.roofline.peak = 2e12;
    r.roofline.roof = 1e12;
    assert_string_equal(
        svg_of(&r),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" width=\"640\" height=\"368\" "
        "viewBox=\"0 0 640 368\" role=\"img\" aria-label=\"Roofline: 2.000 GFLOP/s, of 1.000 TFLOP/s "
        "that the roof allows\">\n"
        "<path class=\"grid\" d=\"M70.0 16V316\"/><text x=\"70.0\" y=\"340\" "
        "text-anchor=\"middle\">1</text>\n"
        "<path class=\"grid\" d=\"M340.0 16V316\"/><text x=\"340.0\" y=\"340\" "
        "text-anchor=\"middle\">10</text>\n"
        "<path class=\"grid\" d=\"M610.0 16V316\"/><text x=\"610.0\" y=\"340\" "
        "text-anchor=\"middle\">100</text>\n"
        "<path class=\"grid\" d=\"M70 316.0H610\"/><text x=\"63\" y=\"320.0\" text-anchor=\"end\">1 "
        "G</text>\n"
        "<path class=\"grid\" d=\"M70 241.0H610\"/><text x=\"63\" y=\"245.0\" text-anchor=\"end\">10 "
        "G</text>\n"
        "<path class=\"grid\" d=\"M70 166.0H610\"/><text x=\"63\" y=\"170.0\" text-anchor=\"end\">100 "
        "G</text>\n"
        "<path class=\"grid\" d=\"M70 91.0H610\"/><text x=\"63\" y=\"95.0\" text-anchor=\"end\">1 "
        "T</text>\n"
        "<path class=\"grid\" d=\"M70 16.0H610\"/><text x=\"63\" y=\"20.0\" text-anchor=\"end\">10 "
        "T</text>\n"
        "<text x=\"355\" y=\"360\" text-anchor=\"middle\">FLOP a byte of HBM</text>\n"
        "<text class=\"axis\" transform=\"rotate(-90)\" x=\"-166\" y=\"14\" "
        "text-anchor=\"middle\">FLOP/s</text>\n"
        "<path class=\"other\" d=\"M342.8 31.9H610\"/><text class=\"other\" x=\"610\" y=\"26.9\" "
        "text-anchor=\"end\">vpu f32: 6.144 TFLOP/s</text>\n"
        "<path class=\"roof\" d=\"M70.0 107.6L340.0 68.4\"/><text class=\"roof\" "
        "transform=\"translate(200.0 81.0) rotate(-8.3)\" text-anchor=\"middle\">HBM: 600.0 GB/s</text>\n"
        "<path class=\"roof\" d=\"M211.2 68.4H610\"/><text class=\"roof\" x=\"610\" y=\"63.4\" "
        "text-anchor=\"end\">vpu peak of its types: 2.000 TFLOP/s</text>\n"
        "<path class=\"room\" d=\"M258.7 293.4V91.0\"/><circle class=\"point\" cx=\"258.7\" cy=\"293.4\" "
        "r=\"6\"/><text class=\"point\" x=\"269.7\" y=\"298.4\" text-anchor=\"start\">2.000 GFLOP/s, 0.2 "
        "% of the roof</text>\n"
        "</svg>\n");
}

/* Its text is to the right where there is room. */
TEST(the_side_of_a_text) {
    static const double intensities[] = {9.9, 10.1};
    static const char *const texts[] = {"text-anchor=\"start\">2.000 TFLOP/s",
                                        "text-anchor=\"end\">2.000 TFLOP/s"};
    for (int i = 0; i < 2; i++) {
        ts_run_result r = memory_bound();
        r.roofline.intensity = intensities[i];
        assert_holds(svg_of(&r), texts[i]);
    }
}

/* Without bytes of HBM at the right end, its text below and to the left. */
TEST(a_point_without_bytes) {
    ts_run_result r = sending();
    r.roofline.hbm_peak = 8;
    r.roofline.intensity = (double)INFINITY;
    assert_string_equal(
        strstr(svg_of(&r), "<path class=\"grid\" d=\"M70 "),
        "<path class=\"grid\" d=\"M70 316.0H610\"/><text x=\"63\" y=\"320.0\" text-anchor=\"end\">100  "
        "</text>\n"
        "<path class=\"grid\" d=\"M70 166.0H610\"/><text x=\"63\" y=\"170.0\" text-anchor=\"end\">1 "
        "k</text>\n"
        "<path class=\"grid\" d=\"M70 16.0H610\"/><text x=\"63\" y=\"20.0\" text-anchor=\"end\">10 "
        "k</text>\n"
        "<text x=\"355\" y=\"360\" text-anchor=\"middle\">OP a byte of HBM</text>\n"
        "<text class=\"axis\" transform=\"rotate(-90)\" x=\"-166\" y=\"14\" "
        "text-anchor=\"middle\">OP/s</text>\n"
        "<path class=\"roof\" d=\"M96.2 316.0L442.7 120.8\"/><text class=\"roof\" "
        "transform=\"translate(264.4 211.4) rotate(-29.4)\" text-anchor=\"middle\">HBM: 8.000 "
        "B/s</text>\n"
        "<path class=\"roof\" d=\"M447.4 120.8H610\"/><text class=\"roof\" x=\"610\" y=\"115.8\" "
        "text-anchor=\"end\">mxu int8: 2.000 kOP/s</text>\n"
        "<path class=\"room\" d=\"M610.0 166.0V120.8\"/><circle class=\"point\" cx=\"610.0\" "
        "cy=\"166.0\" r=\"6\"/><text class=\"point\" x=\"610.0\" y=\"189.0\" text-anchor=\"end\">999.9 "
        "OP/s, 50.0 % of the roof</text>\n"
        "</svg>\n");
}

static int begin(void **state) {
    begin_group(state);
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5p");
    const ts_mesh_request request = {.machine = machine, .axes = {"mesh", "4", 1}};
    return machine && ts_mesh_read(&err, arena, &request, &mesh) ? 0 : -1;
}

int main(void) { return run_all_tests(begin, end_group); }
