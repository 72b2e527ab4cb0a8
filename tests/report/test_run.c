/* What a run did, line by line: counts are replaced by round ones. */
#include "report/run.h"

#include <string.h>

#include "report/run_private.h"
#include "tests/support/group.h"
#include "tests/support/run_text.h"
#include "tests/support/written.h"

static const char program[] = ".param  A = 3\n.param  B = 1.5\n"
                              ".tensor x  hbm  f32[8,130]{1,0:T(8,128)} in iota\n"
                              ".tensor y  hbm  f32[8,130]{1,0:T(8,128)} out\n"
                              ".tensor xb vmem f32[8,130]{1,0:T(8,128)}\n"
                              ".sem ready\n"
                              ".check y == x\n"
                              ".check y ~= x + 1 abs=0.5\n"
                              ".check y ~= x * 2\n"
                              ".report most = max(y)\n"
                              "        dma  xb <- x, ready\n"
                              "        wait ready\n"
                              "        dma  y <- xb, ready\n"
                              "        wait ready\n";

static run_of_text r;
static ts_machine machine;
static ts_run_request request;

static int begin_run(void **state) {
    begin_group(state);
    r = run_text("tpu-v5e", program, false);
    machine = *ts_machine_load(NULL, arena, "tpu-v5e");
    machine.chip.sustained_khz = 1000000;
    machine.hash = 1;
    return 0;
}

static int end_run(void **state) {
    ts_arena_free(r.arena);
    return end_group(state);
}

/* Of two cores, in a cycle of a nanosecond. */
static void begin(void) {
    ts_run_result *result = &r.result;
    request = (ts_run_request){.program = "a.tsim", .machine = &machine};
    memset(&result->counters, 0, sizeof result->counters);
    memset(&result->chip, 0, sizeof result->chip);
    memset(&result->energy, 0, sizeof result->energy);
    result->roofline = (ts_roofline){.hbm_rate = 1.25e11, .hbm_bytes = 10, .pin_bytes = 10, .link = -1};
    result->profile = NULL;
    int64_t *v = result->counters.values;
    v[TS_COUNTER_CYCLES] = 2000;
    v[TS_COUNTER_TRANSFERS] = 4;
    v[TS_COUNTER_DMA_BUSY_CYCLES] = 500;
    v[TS_COUNTER_TRANSFER_CYCLES] = 300;
    v[TS_COUNTER_LEAST_TRANSFER_CYCLES] = 200;
    v[TS_COUNTER_USEFUL_BYTES] = 4000;
    v[TS_COUNTER_MOVED_BYTES] = 10000;
    v[TS_COUNTER_PADDING_BYTES] = 1500;
    v[TS_COUNTER_WASTE_BYTES] = 500;
    v[TS_COUNTER_HBM_READ_BYTES] = 6000;
    v[TS_COUNTER_HBM_WRITTEN_BYTES] = 2000;
    v[TS_COUNTER_HBM_ROW_HITS] = 60;
    v[TS_COUNTER_HBM_ROW_MISSES] = 30;
    v[TS_COUNTER_HBM_ROW_CONFLICTS] = 10;
    result->chip.core_count = 2;
    result->chip.elapsed_cycles = v[TS_COUNTER_CYCLES];
    for (int i = 0; i < 2; i++) {
        ts_core_counters *core = &result->chip.cores[i];
        *core = (ts_core_counters){.cycles = 2000, .bundles = 500 * (i + 1)};
        core->stalls[0] = 100;
        core->stalls[TS_STALL_SEMAPHORE] = 2000 - 500 * (i + 1) - 100;
        core->instructions[TS_SLOT_SCALAR] = 300;
        core->instructions[TS_SLOT_VALU] = 100 * i;
    }
}

static const char *text_of(const char *beginning) {
    ts_text out = ts_text_begin(arena);
    ts_report_run(&request, &r.result, &out);
    return section_of(arena, out.bytes, beginning);
}

TEST(in_words) {
    begin();
    assert_string_equal(
        text_of("program"),
        "program    a.tsim A=3 B=1.5\n"
        "tensors    x      hbm           8,192 bytes  49.2 % padding  f32[8,130]{1,0:T(8,128)}\n"
        "                  from iota\n"
        "           y      hbm           8,192 bytes  49.2 % padding  f32[8,130]{1,0:T(8,128)}\n"
        "           xb     vmem          8,192 bytes  49.2 % padding  f32[8,130]{1,0:T(8,128)}\n"
        "check      y == x\n"
        "           passed: 1,040 elements, error at most 0 ulp\n"
        "check      y ~= x + 1 abs=0.5\n"
        "           FAILED: 1,040 of 1,040 elements are wrong, error at most 1 absolute\n"
        "           [0,0] got 0, expected 1, error 1 = 8.389e+06 ulp\n"
        "           [0,1] got 1, expected 2, error 1 = 4.194e+06 ulp\n"
        "           [0,2] got 2, expected 3, error 1 = 4.194e+06 ulp\n"
        "           [0,3] got 3, expected 4, error 1 = 2.097e+06 ulp\n"
        "           [0,4] got 4, expected 5, error 1 = 2.097e+06 ulp\n"
        "check      y ~= x * 2\n"
        "           FAILED: 1,039 of 1,040 elements are wrong, error at most 8.38e+06 ulp\n"
        "           [0,1] got 1, expected 2, error 1 = 4.194e+06 ulp\n"
        "           [0,2] got 2, expected 4, error 2 = 4.194e+06 ulp\n"
        "           [0,3] got 3, expected 6, error 3 = 6.291e+06 ulp\n"
        "           [0,4] got 4, expected 8, error 4 = 4.194e+06 ulp\n"
        "           [0,5] got 5, expected 10, error 5 = 5.243e+06 ulp\n"
        "most       1039 = max(y)\n"
        "cycles     2,000 = 2.000 us at 1 GHz\n");
    assert_string_equal(text_of("core 0"),
                        "core 0\n"
                        "           cycles   share  unit    where they went\n"
                        "              500  25.0 %  core    a bundle issued\n"
                        "              100   5.0 %  scalar  not ready: scalar arithmetic\n"
                        "            1,400  70.0 %  dma     waiting for a DMA, or another semaphore\n"
                        "            2,000 100.0 %          total\n");
    assert_string_equal(text_of("core 1"),
                        "core 1\n"
                        "           cycles   share  unit    where they went\n"
                        "            1,000  50.0 %  core    a bundle issued\n"
                        "              100   5.0 %  scalar  not ready: scalar arithmetic\n"
                        "              900  45.0 %  dma     waiting for a DMA, or another semaphore\n"
                        "            2,000 100.0 %          total\n");
    assert_string_equal(
        text_of("slots used"),
        "slots used scalar 7.5 %, valu 0.6 %\n"
        "           of 2 scalar, 4 valu a cycle, in 4,000 cycles\n"
        "DMA        4 transfers, under way in 25.0 % of the cycles\n"
        "           each took 1.50 times what it takes alone at the peak of HBM and engine, on average\n"
        "bytes      4,000 useful (2.0 GB/s), 10,000 moved at both ends\n"
        "           of them 15.0 % padding, 5.0 % not asked for\n"
        "HBM        6,000 bytes read, 2,000 written: 125.0 GB/s, 0.0 % of the peak; 60.0 % row hits\n"
        "energy     HBM 0.000 uJ, 0.000 W\n"
        "           operations not stated\n"
        "roofline   no floating-point operations, and none of the matrix units\n");
}

/* However long its name: what no line has room for is on one of its own. */
TEST(each_parameter_has_its_value) {
    begin();
    const ts_program *whole = r.result.program;
    ts_program renamed = *whole;
    const char *name = ts_text_format(arena, "%0150d", 0);
    renamed.params =
        (ts_param[]){{.name = name, .integer = 3}, {.name = "B", .is_float = true, .number = 1.5}};
    r.result.program = &renamed;
    const char *text = text_of("program");
    r.result.program = whole;
    const char *expected =
        ts_text_format(arena, "program    a.tsim\n           %s=3\n           B=1.5\n", name);
    assert_memory_equal(text, expected, strlen(expected));
}

TEST(what_is_rare) {
    begin();
    r.result.chip.estimated = true;
    r.result.chip.core_count = 1;
    r.result.chip.cores[0].instructions[TS_SLOT_MISC] = 2;
    r.result.roofline.pin_bytes = 4;
    r.result.counters.values[TS_COUNTER_RECALLED_TRANSFERS] = 3;
    r.result.counters.values[TS_COUNTER_LEAST_TRANSFER_CYCLES] = 0;
    request.check = true;
    assert_string_equal(text_of("sanitizer"), "sanitizer  clean: undefined values, races and semaphores\n"
                                              "cycles     ~2,000 = 2.000 us at 1 GHz\n");
    assert_string_equal(
        text_of("slots used"),
        "slots used scalar 7.5 %, misc 0.1 %\n"
        "           of 2 scalar, 1 misc a cycle, in 2,000 cycles\n"
        "DMA        4 transfers, under way in 25.0 % of the cycles\n"
        "           of them 3 recalled from like ones, not simulated (--exact simulates them all)\n"
        "bytes      4,000 useful (2.0 GB/s), 10,000 moved at both ends\n"
        "           of them 15.0 % padding, 5.0 % not asked for\n"
        "HBM        6,000 bytes read, 2,000 written: 125.0 GB/s, 0.0 % of the peak; 60.0 % row hits\n"
        "           6 bytes of them are answered by its queues, without the pins\n"
        "energy     HBM 0.000 uJ, 0.000 W\n"
        "           operations not stated\n"
        "roofline   no floating-point operations, and none of the matrix units\n");
    r.result.chip.cores[0].instructions[TS_SLOT_MISC] = 1;
    assert_holds(text_of("slots used"),
                 "slots used scalar 7.5 %, misc 0.1 %\n           of 2 scalar, 1 misc a");
    r.result.chip.cores[0].instructions[TS_SLOT_MISC] = 2;
    request.time_only = true;
    assert_holds(text_of("values"), "values     not computed and not checked (--time-only)\ncheck");
    assert_holds(text_of("sanitizer"),
                 "sanitizer  clean: addresses, waits and semaphores (values are not computed)\n");
    r.result.counters.values[TS_COUNTER_TRANSFERS] = 0;
    assert_string_equal(text_of("slots used"),
                        "slots used scalar 7.5 %, misc 0.1 %\n"
                        "           of 2 scalar, 1 misc a cycle, in 2,000 cycles\n"
                        "energy     HBM 0.000 uJ, 0.000 W\n"
                        "           operations not stated\n"
                        "roofline   no floating-point operations, and none of the matrix units\n");
}

/* A word that no line has room for stays behind the label. */
TEST(a_check_without_blanks) {
    begin();
    const ts_program *whole = r.result.program;
    ts_program renamed = *whole;
    const char *name = ts_text_format(arena, "%0150d", 0);
    const ts_source source = {"a.tsim", name, strlen(name)};
    const ts_program_check checks[] = {{&source, 0, source.length, 1}, whole->checks[1], whole->checks[2]};
    renamed.checks = checks;
    r.result.program = &renamed;
    const char *text = text_of("check ");
    r.result.program = whole;
    assert_holds(text, ts_text_format(arena, "check      %s\n           passed", name));
}

TEST(as_json) {
    begin();
    ts_text out = ts_text_begin(arena);
    ts_report_run_json(&request, &r.result, &out);
    assert_string_equal(json_value(arena, out.bytes, "params"), "{\"A\":3,\"B\":1.5}");
    assert_string_equal(json_value(arena, out.bytes, "cycles"), "2000");
    assert_string_equal(json_value(arena, out.bytes, "gb_per_s"), "2");
    assert_string_equal(json_value(arena, out.bytes, "stalls"),
                        "{\"wait_scalar\":200,\"semaphore_low\":2300}");
    assert_string_equal(json_value(arena, out.bytes, "cores"),
                        "[{\"cycles\":2000,\"bundles\":500,\"stalls\":{\"wait_scalar\":100,"
                        "\"semaphore_low\":1400}},{\"cycles\":2000,\"bundles\":1000,"
                        "\"stalls\":{\"wait_scalar\":100,\"semaphore_low\":900}}]");
    assert_string_equal(
        json_value(arena, out.bytes, "checks"),
        "[{\"check\":\"y == x\",\"line\":7,\"passed\":true,\"elements\":1040,\"failed\":0,"
        "\"max_ulp\":0,\"max_abs\":0,\"mismatches\":[]},{\"check\":\"y ~= x + 1 abs=0.5\","
        "\"line\":8,\"passed\":false,\"elements\":1040,\"failed\":1040,\"max_ulp\":8388608,"
        "\"max_abs\":1,\"mismatches\":[{\"index\":[0,0],\"got\":0,\"expected\":1,\"error\":1,"
        "\"ulp\":8388608},{\"index\":[0,1],\"got\":1,\"expected\":2,\"error\":1,\"ulp\":4194304},"
        "{\"index\":[0,2],\"got\":2,\"expected\":3,\"error\":1,\"ulp\":4194304},{\"index\":[0,3],"
        "\"got\":3,\"expected\":4,\"error\":1,\"ulp\":2097152},{\"index\":[0,4],\"got\":4,"
        "\"expected\":5,\"error\":1,\"ulp\":2097152}]},{\"check\":\"y ~= x * 2\",\"line\":9,"
        "\"passed\":false,\"elements\":1040,\"failed\":1039,\"max_ulp\":8380416,\"max_abs\":1039,"
        "\"mismatches\":[{\"index\":[0,1],\"got\":1,\"expected\":2,\"error\":1,\"ulp\":4194304},"
        "{\"index\":[0,2],\"got\":2,\"expected\":4,\"error\":2,\"ulp\":4194304},{\"index\":[0,3],"
        "\"got\":3,\"expected\":6,\"error\":3,\"ulp\":6291456},{\"index\":[0,4],\"got\":4,"
        "\"expected\":8,\"error\":4,\"ulp\":4194304},{\"index\":[0,5],\"got\":5,\"expected\":10,"
        "\"error\":5,\"ulp\":5242880}]}]");
    assert_string_equal(json_value(arena, out.bytes, "reports"), "{\"most\":1039}");
    assert_string_equal(json_value(arena, out.bytes, "tensors"),
                        "[{\"name\":\"x\",\"role\":\"in\",\"space\":\"hbm\","
                        "\"shape\":\"f32[8,130]{1,0:T(8,128)}\",\"base_bytes\":0,\"bytes\":8192,"
                        "\"padding_percent\":49.2188,\"expansion\":1.969231,\"unpadded_bytes\":4160,"
                        "\"origin\":\"iota\"},{\"name\":\"y\",\"role\":\"out\",\"space\":\"hbm\","
                        "\"shape\":\"f32[8,130]{1,0:T(8,128)}\",\"base_bytes\":8192,\"bytes\":8192,"
                        "\"padding_percent\":49.2188,\"expansion\":1.969231,\"unpadded_bytes\":4160,"
                        "\"origin\":null},{\"name\":\"xb\",\"role\":\"scratch\",\"space\":\"vmem\","
                        "\"shape\":\"f32[8,130]{1,0:T(8,128)}\",\"base_bytes\":0,\"bytes\":8192,"
                        "\"padding_percent\":49.2188,\"expansion\":1.969231,\"unpadded_bytes\":4160,"
                        "\"origin\":null}]");
}

/* The first that a latency is of, or what the core waited for. */
TEST(the_unit_of_a_stall) {
    static const struct {
        int stall;
        const char *unit;
    } rows[] = {{TS_STALL_WAIT + TS_LATENCY_SCALAR, "scalar"},
                {TS_STALL_BUSY + TS_LATENCY_SCALAR, "scalar"},
                {TS_STALL_WAIT + TS_LATENCY_EUP, "eup"},
                {TS_STALL_BUSY + TS_LATENCY_EUP, "eup"},
                {TS_STALL_SEMAPHORE, "dma"},
                {TS_STALL_DMA_QUEUE, "dma"},
                {TS_STALL_VMEM_PORT, "vmem"},
                {TS_STALL_VMEM_BANK, "vmem"},
                {TS_STALL_BARRIER, "core"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(ts_report_stall_unit(rows[i].stall), rows[i].unit);
}

static const char *failure_of(int check) {
    ts_error err = {0};
    char text[TS_ERROR_TEXT_BYTES];
    if (!ts_report_failed_check(&r.result, check, &err)) return "";
    ts_error_format(&err, text, sizeof text);
    return ts_arena_copy_text(arena, text, strlen(text));
}

TEST(failed_checks_are_errors) {
    assert_string_equal(failure_of(0), "");
    assert_string_equal(
        failure_of(1),
        "a.tsim:8:8: fault: check failed: 1040 of 1040 elements; at [0,0] found 0, expected 1 (8.389e+06 "
        "ulp)\n"
        ".check y ~= x + 1 abs=0.5\n"
        "       ^\n");
    assert_string_equal(
        failure_of(2),
        "a.tsim:9:8: fault: check failed: 1039 of 1040 elements; at [7,113] found 1023, expected 2046 "
        "(8.38e+06 ulp)\n"
        ".check y ~= x * 2\n"
        "       ^\n");
}

TEST(one_element_is_wrong) {
    begin();
    ts_check_result checks[3];
    const ts_check_result *whole = r.result.checks;
    memcpy(checks, whole, sizeof checks);
    checks[1].failed = checks[1].count = 1;
    checks[1].mismatch_count = 0;
    r.result.checks = checks;
    const char *text = text_of("check      y ~= x + 1");
    r.result.checks = whole;
    assert_holds(text, "\n           FAILED: 1 of 1 element is wrong, error at most 1 absolute\ncheck ");
}

/* Eight are shown. */
TEST(loops_that_overlap) {
    static const ts_source source = {"a.tsim", "", 0};
    ts_program_pipeline loops[10];
    ts_program whole = {.pipelines = loops, .pipeline_count = 8};
    for (int i = 0; i < 10; i++) loops[i] = (ts_program_pipeline){&source, 100 + i, 2, 3, 40 + i, 30, 50};
    ts_text out = ts_text_begin(arena);
    report_run_pipelines(&whole, &out);
    assert_int_equal(count_parts(out.bytes, "\n"), 8);
    out = ts_text_begin(arena);
    whole.pipeline_count = 10;
    whole.includes = true;
    report_run_pipelines(&whole, &out);
    assert_string_equal(
        out.bytes,
        "pipelines  a.tsim:100: 2 iterations in 40 cycles, 6 under way; slot bound 30, critical path 50\n"
        "           a.tsim:101: 2 iterations in 41 cycles, 6 under way; slot bound 30, critical path 50\n"
        "           a.tsim:102: 2 iterations in 42 cycles, 6 under way; slot bound 30, critical path 50\n"
        "           a.tsim:103: 2 iterations in 43 cycles, 6 under way; slot bound 30, critical path 50\n"
        "           a.tsim:104: 2 iterations in 44 cycles, 6 under way; slot bound 30, critical path 50\n"
        "           a.tsim:105: 2 iterations in 45 cycles, 6 under way; slot bound 30, critical path 50\n"
        "           a.tsim:106: 2 iterations in 46 cycles, 6 under way; slot bound 30, critical path 50\n"
        "           a.tsim:107: 2 iterations in 47 cycles, 6 under way; slot bound 30, critical path 50\n"
        "           2 others\n");
    out = ts_text_begin(arena);
    whole.pipeline_count = 2;
    ts_json json;
    ts_json_begin(&json, &out, "test");
    report_run_pipelines_json(&whole, &json);
    ts_json_end(&json);
    assert_string_equal(
        json_value(arena, out.bytes, "pipelines"),
        "[{\"file\":\"a.tsim\",\"line\":100,\"iterations\":2,\"stages\":3,\"cycles\":40,"
        "\"slot_bound\":30,\"critical_path\":50},{\"file\":\"a.tsim\",\"line\":101,\"iterations\":2,"
        "\"stages\":3,\"cycles\":41,\"slot_bound\":30,\"critical_path\":50}]");
}

int main(void) { return run_all_tests(begin_run, end_run); }
