/* What a run is made of: the memory that it needs, files that it may write, and its counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/run.h"
#include "run/run_parts.h"
#include "tests/support/test.h"
#include "tests/support/temporary.h"

enum { TILE = 4096, NPY_HEADER = 128 };

static const ts_machine *machine;
static ts_mesh pair;
static char folder[TEMPORARY_PATH];

static ts_run_request request_of(ts_arena *arena, const char *text, const ts_mesh *mesh) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"a.tsim", text, strlen(text)};
    ts_target target;
    ts_run_target(machine, &target);
    target.mesh = mesh;
    ts_error err = {0};
    const ts_program *program = ts_program_parse(&err, arena, source, &target, NULL, 0);
    if (!program) fail_msg("line %d: %s", err.line, err.message);
    return (ts_run_request){
        .program = "a.tsim", .built = program, .machine = machine, .max_cycles = INT64_MAX, .mesh = mesh};
}

static const char *path_of(ts_arena *arena, const char *name) {
    ts_text path = ts_text_begin(arena);
    ts_text_add(&path, "%s/%s", folder, name);
    return path.bytes;
}

/* ---- Memory ---- */

static bool fits(ts_arena *arena, const ts_run_request *request, int64_t bytes) {
    ts_run_request limited = *request;
    ts_run_result result;
    ts_error err = {0};
    limited.max_memory_bytes = bytes;
    bool good = ts_run(&err, arena, &limited, &result);
    if (!good && !strstr(err.message, "memory")) fail_msg("%s", err.message);
    return good;
}

/* It runs in so many bytes, and in none less. */
static void assert_needs(const char *text, const ts_run_request *options, int64_t bytes) {
    ts_arena *arena = ts_arena_new();
    ts_run_request request = request_of(arena, text, options->mesh);
    request.check = options->check;
    request.convert = options->convert;
    request.outputs = options->outputs;
    request.output_count = options->output_count;
    request.inputs = options->inputs;
    request.input_count = options->input_count;
    assert_true(fits(arena, &request, bytes));
    assert_false(fits(arena, &request, bytes - 1));
    request.output_count = 0; /* they are refused of time only */
    request.time_only = true;
    assert_true(fits(arena, &request, 1));
    ts_arena_free(arena);
}

static const char copied[] = ".tensor x hbm s32[8,128]{1,0:T(8,128)} in iota\n"
                             ".tensor y hbm s32[9,128]{1,0:T(8,128)} out\n"
                             ".tensor v vmem s32[8,128]{1,0:T(8,128)}\n.sem s\n"
                             " dma v <- x, s\n wait s\n dma y[0:8, :] <- v, s\n wait s\n"
                             " dma y[8:9, :] <- v[0:1, :], s\n wait s\n";

/* Tensors with their padding; under --check as much again for what is known of them; on each device. */
TEST(tensors_take_memory) {
    enum { ALL = TILE + 2 * TILE + TILE };
    assert_needs(copied, &(ts_run_request){.check = false}, ALL);
    assert_needs(copied, &(ts_run_request){.check = true}, 2 * ALL);
    assert_needs(copied, &(ts_run_request){.mesh = &pair}, 2 * ALL);
    assert_needs(copied, &(ts_run_request){.mesh = &pair, .check = true}, 4 * ALL);
}

/* HBM that only the program uses counts if a transfer reaches it. */
TEST(scratch_counts_if_it_is_reached) {
    static const char *const transfers[] = {" sadd s1, s1, 1\n", " dma a <- x, s\n wait s\n",
                                            " dma a <- x, s\n wait s\n dma v <- a, s\n wait s\n",
                                            " dma v <- b, s\n wait s\n"};
    static const int reached[] = {0, 1, 1, 1};
    for (int i = 0; i < 4; i++) {
        char text[512];
        snprintf(
            text, sizeof text,
            ".tensor x hbm s32[8,128]{1,0:T(8,128)} in iota\n.tensor a hbm s32[8,128]{1,0:T(8,128)}\n"
            ".tensor b hbm s32[8,128]{1,0:T(8,128)}\n.tensor v vmem s32[8,128]{1,0:T(8,128)}\n.sem s\n%s",
            transfers[i]);
        assert_needs(text, &(ts_run_request){.check = false}, (2 + reached[i]) * TILE);
    }
}

/* What is saved, without its padding; what a file holds, and the same once more where it may be converted. */
TEST_WITH_ARENA(arrays_take_memory) {
    enum { ALL = TILE + 2 * TILE + TILE, VALUES = 256 * 128 * 4 };
    static const char wide[] = ".tensor x hbm f64[256,128] inout iota\n sadd s1, s1, 1\n",
                      narrow[] = ".tensor x hbm s32[256,128] inout iota\n sadd s1, s1, 1\n";
    const ts_define y = {"y", path_of(arena, "y.npy")}, same = {"x", path_of(arena, "same.npy")},
                    other = {"x", path_of(arena, "other.npy")};
    assert_needs(copied, &(ts_run_request){.outputs = &y, .output_count = 1}, ALL + 9 * 128 * 4);
    const ts_define saved[] = {same, other};
    const char *const texts[] = {narrow, wide};
    for (int i = 0; i < 2; i++) {
        ts_run_request request = request_of(arena, texts[i], NULL);
        ts_run_result result;
        request.outputs = &saved[i];
        request.output_count = 1;
        assert_true(ts_run(NULL, arena, &request, &result) && ts_run_save(NULL, arena, &request, &result));
    }
    static const char whole[] = ".tensor x hbm s32[256,128] inout\n sadd s1, s1, 1\n";
    assert_needs(whole, &(ts_run_request){.inputs = &same, .input_count = 1}, 2 * VALUES);
    assert_needs(whole, &(ts_run_request){.inputs = &same, .input_count = 1, .convert = true}, 3 * VALUES);
    assert_needs(whole, &(ts_run_request){.inputs = &other, .input_count = 1, .convert = true},
                 VALUES + 2 * VALUES + NPY_HEADER + VALUES);
    remove(same.value);
    remove(other.value);
}

/* ---- Outputs ---- */

TEST_WITH_ARENA(inputs_are_not_written_over) {
    ts_text text = ts_text_begin(arena), want = ts_text_begin(arena);
    ts_text_add(&text,
                ".tensor y hbm s32[8] out\n.tensor z hbm s32[8] inout zeros\n"
                ".tensor x hbm s32[8] in file(\"%s\")\n sadd s1, s1, 1\n",
                path_of(arena, "in.npy"));
    ts_run_request request = request_of(arena, text.bytes, NULL);
    const ts_define outputs[] = {{"z", path_of(arena, "out.npy")}, {"y", path_of(arena, "in.npy")}};
    ts_error err = {0};
    ts_run_result result;
    request.outputs = outputs;
    request.output_count = 2;
    assert_false(ts_run(&err, arena, &request, &result));
    ts_text_add(&want, "-o y would be written over '%s', an input of x", path_of(arena, "in.npy"));
    assert_string_equal(err.message, want.bytes);
    assert_int_equal(err.kind, TS_ERROR_USAGE);
}

/* ---- What is counted ---- */

TEST_WITH_ARENA(operations_are_counted) {
    ts_run_request request = request_of(arena,
                                        ".tensor x hbm s32[8,128]{1,0:T(8,128)} in iota\n"
                                        ".tensor v vmem s32[8,128]{1,0:T(8,128)}\n.sem s\n"
                                        " dma v <- x, s\n wait s\n"
                                        " { vadd.f32 v1, v0, v0 ; vadd.f32 v2, v0, v0 ; sadd s1, s1, 1 }\n"
                                        " dma x <- v, s\n wait s\n",
                                        NULL);
    ts_run_result result;
    assert_true(ts_run(NULL, arena, &request, &result));
    const int64_t *v = result.counters.values;
    assert_int_equal(v[TS_COUNTER_VPU_FLOPS], 2 * 8 * 128);
    assert_int_equal(v[TS_COUNTER_MXU_FLOPS], 0);
    assert_int_equal(v[TS_COUNTER_TRANSFERS], 2);
    assert_int_equal(v[TS_COUNTER_USEFUL_BYTES], 2 * TILE);
    assert_int_equal(v[TS_COUNTER_MOVED_BYTES], 4 * TILE);
    assert_int_equal(v[TS_COUNTER_HBM_READ_BYTES], TILE);
    assert_int_equal(v[TS_COUNTER_HBM_WRITTEN_BYTES], TILE);
    assert_int_equal(v[TS_COUNTER_PADDING_BYTES] + v[TS_COUNTER_WASTE_BYTES] + v[TS_COUNTER_RMW_ACCESSES], 0);
    assert_int_equal(v[TS_COUNTER_INSTRUCTIONS], v[TS_COUNTER_BUNDLES] + 2);
    assert_true(v[TS_COUNTER_TRANSFER_CYCLES] >= v[TS_COUNTER_LEAST_TRANSFER_CYCLES]);
    assert_in_range(v[TS_COUNTER_DMA_BUSY_CYCLES], 1, v[TS_COUNTER_CYCLES]);
    int64_t bursts =
        v[TS_COUNTER_HBM_ROW_HITS] + v[TS_COUNTER_HBM_ROW_MISSES] + v[TS_COUNTER_HBM_ROW_CONFLICTS];
    assert_int_equal(bursts * machine->hbm.burst_bytes, 2 * TILE);
}

TEST(cores_are_counted) {
    ts_chip_counters c = {.core_count = 2};
    ts_counters counted = {{0}};
    for (int core = 0; core < 3; core++) { /* of which the third is none */
        const int64_t times = core == 0 ? 1 : core == 1 ? 10 : 1000;
        c.cores[core].bundles = times;
        for (int i = 0; i < TS_SLOT_COUNT; i++) c.cores[core].instructions[i] = times;
        c.cores[core].flops[TS_MXU_BF16] = 2 * times;
        c.cores[core].flops[TS_FLOPS_VPU_F32] = 3 * times;
    }
    run_count(&c, &counted);
    assert_int_equal(counted.values[TS_COUNTER_BUNDLES], 11);
    assert_int_equal(counted.values[TS_COUNTER_INSTRUCTIONS], 11 * TS_SLOT_COUNT);
    assert_int_equal(counted.values[TS_COUNTER_MXU_FLOPS], 22);
    assert_int_equal(counted.values[TS_COUNTER_VPU_FLOPS], 33);
}

/* A multiply and an add for each product. */
TEST_WITH_ARENA(products_are_counted) {
    static const ts_define sizes[] = {{"M", "512"}, {"N", "512"}, {"K", "512"}};
    const ts_run_request request = {.program = "programs/matmul.tsim",
                                    .machine = machine,
                                    .defines = sizes,
                                    .define_count = 3,
                                    .time_only = true,
                                    .max_cycles = INT64_MAX};
    ts_error err = {0};
    ts_run_result result;
    if (!ts_run(&err, arena, &request, &result)) fail_msg("%s", err.message);
    assert_int_equal(result.counters.values[TS_COUNTER_MXU_FLOPS], 2 * 512 * 512 * 512);
}

/* What the assembler knows of a machine. */
TEST(spaces_are_those_of_the_machine) {
    ts_target target;
    ts_run_target(machine, &target);
    assert_int_equal(target.space_bytes[TS_SPACE_HBM], INT64_C(16) << 30);
    assert_int_equal(target.space_bytes[TS_SPACE_VMEM], 128 << 20);
    assert_int_equal(target.space_bytes[TS_SPACE_CMEM], 0);
    assert_int_equal(target.cores, 1);
    assert_string_equal(target.machine, "tpu-v5e");
}

static int set_up(void **state) {
    ts_arena *arena = ts_arena_new();
    *state = arena;
    machine = ts_machine_load(NULL, arena, "tpu-v5e");
    ts_mesh_request mesh = {.machine = machine, .axes = {"mesh", "2", 1}};
    return machine && ts_mesh_read(NULL, arena, &mesh, &pair) &&
                   mkdtemp(temporary_path(folder, "tilesim-XXXXXX"))
               ? 0
               : -1;
}

static int tear_down(void **state) {
    rmdir(folder);
    ts_arena_free(*state);
    return 0;
}

int main(void) { return run_all_tests(set_up, tear_down); }
