/* Workloads as programs: each beside the program that its model names, with parameters that are worked out by
 * hand, and beside other workloads that must take as long. */
#include <math.h>
#include <string.h>

#include "tests/support/rounds.h"
#include "tests/support/test.h"
#include "study/timed.h"
#include "validate/predict_private.h"

static ts_arena *arena;
static ts_predictor by;
static ts_work_group device_group = {.name = "device"}, wall_group = {.name = "wall", .wall = true};

static int set_up(void **state) {
    arena = ts_arena_new();
    by = (ts_predictor){.arena = arena, .runs = ts_timed_runs_new(arena)};
    return 0;
}

static int tear_down(void **state) {
    ts_arena_free(arena);
    return 0;
}

static const ts_machine *load(const char *name, const char *set) {
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load_with(&err, arena, name, "--set", &set, set != NULL);
    if (!machine) fail_msg("%s", err.message);
    return machine;
}

static double predict(const ts_machine *machine, ts_workload work) {
    ts_error err = {0};
    double us = 0;
    if (!work.group) work.group = &device_group;
    if (!ts_workload_predict(&err, &by, &work, machine, &us)) fail_msg("%s", err.message);
    return us;
}

typedef struct {
    const char *name;
    int64_t value;
} define;

/* Microseconds of a program with these parameters, the last of which is `size`. */
static double run(const ts_machine *machine, const char *program, bool exact, const define *defines,
                  int64_t size) {
    ts_error err = {0};
    ts_timed_program k = {
        .arena = arena, .runs = by.runs, .machine = machine, .program = program, .exact = exact};
    for (; defines->name; defines++)
        ts_timed_define(&k, defines->name, defines[1].name ? defines->value : size);
    const ts_timed_run *done = ts_timed_run_get(&err, &k);
    if (!done) fail_msg("%s", err.message);
    return ts_machine_microseconds(machine, done->chip.cycles);
}
#define RUN(machine, program, size, ...)                                                                     \
    run(machine, "tilesim:/" program, false, (const define[]){__VA_ARGS__, {NULL, 0}}, size)
#define RUN_EXACT(machine, program, size, ...)                                                               \
    run(machine, "tilesim:/" program, true, (const define[]){__VA_ARGS__, {NULL, 0}}, size)

/* Times are of whole cycles, and of a line between two of them. */
static void assert_times(double found, double expected) {
    if (fabs(found - expected) > 0.001) fail_msg("found %.4f us, expected %.4f us", found, expected);
}

/* ---- Rooflines ---- */

/* v5e: 2 x 4 x 128^2 x 1.5 GHz of operations, a launch of 0.6 us, a dispatch of 104 us. */
TEST(rooflines) {
    const ts_machine *v5e = load("tpu-v5e", NULL), *v7x = load("tpu-v7x", NULL);
    const double byte = 1e6 / (double)ts_machine_hbm_rate(v5e), operation = 1e6 / 196.608e12;
    const struct {
        ts_workload work;
        double us;
    } rows[] = {
        {{.kind = TS_WORK_COPY, .rank = 1, .dims = {1 << 20}}, (2 << 20) * byte},
        {{.kind = TS_WORK_COPY, .rank = 2, .dims = {512, 1024}}, 2 * 512 * 1024 * byte}, /* of f16 */
        {{.kind = TS_WORK_ELEMENTWISE, .rank = 2, .dims = {512, 1024}, .inputs = 2},
         3 * 2 * 512 * 1024 * byte},
        {{.kind = TS_WORK_PASSES, .read_bytes = 3000000, .written_bytes = 1000000}, 4e6 * byte},
        /* q, k, v and the output of bf16; two products of 2 operations, half of them where it is causal */
        {{.kind = TS_WORK_ATTENTION, .batch = 2, .heads = 3, .length = 64, .depth = 16},
         4 * 2 * 2 * 3 * 64 * 16 * byte},
        {{.kind = TS_WORK_ATTENTION, .batch = 2, .heads = 3, .length = 8192, .depth = 128},
         4.0 * 2 * 3 * 8192 * 8192 * 128 * operation},
        {{.kind = TS_WORK_ATTENTION, .batch = 2, .heads = 3, .length = 8192, .depth = 128, .causal = true},
         2.0 * 2 * 3 * 8192 * 8192 * 128 * operation},
        {{.kind = TS_WORK_MATMUL,
          .count = 2,
          .products = {{.m = 4096, .n = 4096, .k = 4096, .weights = 1, .in_bytes = 2, .out_bytes = 2},
                       {.m = 4096, .n = 2048, .k = 4096, .weights = 1, .in_bytes = 2, .out_bytes = 2}}},
         2.0 * 4096 * 4096 * (4096 + 2048) * operation},
        {{.kind = TS_WORK_MATMUL,
          .count = 1,
          .products = {{.m = 8,
                        .n = 64,
                        .k = 4096,
                        .weights = 4,
                        .in_bytes = 2,
                        .out_bytes = 4,
                        .extra_reads = 0.5}}},
         (2 * (8 * 4096 + 4096 * 64 * 4) + 4 * 8 * 64 * 1.5) * byte},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_workload work = rows[i].work;
        work.group = &device_group;
        assert_times(ts_workload_roofline(&work, v5e), rows[i].us);
        work.launched = true;
        assert_times(ts_workload_roofline(&work, v5e), rows[i].us + 0.6);
        work.group = &wall_group;
        assert_times(ts_workload_roofline(&work, v5e), rows[i].us + 0.6 + 104);
    }
    /* a device of v7x has half of the chip's HBM and units */
    ts_workload work = {.kind = TS_WORK_PASSES, .read_bytes = 1 << 30, .group = &device_group};
    assert_times(ts_workload_roofline(&work, v7x), 0x1p30 * 2e6 / (double)ts_machine_hbm_rate(v7x));
    ts_workload product = {.kind = TS_WORK_MATMUL,
                           .count = 1,
                           .products = {{.m = 4096, .n = 4096, .k = 4096}},
                           .group = &device_group};
    assert_times(ts_workload_roofline(&product, v7x), 0x1p37 * 1e6 / (2306.867e12 / 2));
    /* of a link: 50,000 bytes a microsecond */
    ts_workload sent = {.kind = TS_WORK_COLLECTIVE, .bytes = 150000};
    assert_times(ts_workload_roofline(&sent, v5e), 3);
}

/* ---- Machines ---- */

/* At half the clock the engine moves twice as many bytes a cycle; 10 / 3 and 11 / 3 cycles round to the nearest. */
TEST(random_data_slow_the_clock) {
    ts_machine machine = *load("tpu-v5e", NULL);
    machine.chip.sustained_khz = machine.chip.matrix_khz = 1000000;
    assert_ptr_equal(predict_under_load(arena, &machine), &machine);
    machine.chip.matrix_khz = 1000001;
    assert_ptr_equal(predict_under_load(arena, &machine), &machine);
    machine.chip.sustained_khz = 1500000;
    machine.chip.matrix_khz = 450000;
    machine.dma.read_bytes_per_cycle = 1;  /* 3.33 */
    machine.dma.mixed_bytes_per_cycle = 2; /* 6.67 */
    for (int i = 0; i < TS_DMA_KIND_COUNT; i++) machine.dma.bytes_per_cycle[i] = 3 * (i + 1);
    const ts_machine *loaded = predict_under_load(arena, &machine);
    assert_int_equal(loaded->chip.sustained_khz, 450000);
    assert_int_equal(loaded->dma.read_bytes_per_cycle, 3);
    assert_int_equal(loaded->dma.mixed_bytes_per_cycle, 7);
    for (int i = 0; i < TS_DMA_KIND_COUNT; i++)
        assert_int_equal(loaded->dma.bytes_per_cycle[i], 10 * (i + 1));
    assert_int_equal(machine.chip.sustained_khz, 1500000); /* it is another machine */
}

/* ---- Passes and copies ---- */

enum { MIB = 1 << 20 };

/* A pass over rows of so many columns of f32, in blocks of 64; above 48 of them, those of 24 and 48 say what. */
static double pass(const ts_machine *m, int64_t rows, int64_t columns, bool writes) {
    double part[3];
    const int64_t sizes[] = {24 * 64, 48 * 64, rows};
    bool whole = rows <= sizes[1];
    for (int i = whole ? 2 : 0; i < (whole ? 3 : 2); i++)
        part[i] = RUN(m, "pass.tsim", sizes[i], {"COLS", columns}, {"BLOCK", 64}, {"IN", 1}, {"OUT", writes},
                      {"ROWS", 0});
    double launch = 0.6;
    return launch +
           (whole ? part[2] : part[0] + (part[1] - part[0]) * (double)(rows - sizes[0]) / (double)sizes[0]);
}

static double passes(const ts_machine *m, int64_t read, int64_t written) {
    return predict(m, (ts_workload){.kind = TS_WORK_PASSES, .read_bytes = read, .written_bytes = written});
}

TEST(passes_over_memory) {
    const ts_machine *m = load("tpu-v5e", NULL);
    assert_times(passes(m, MIB, MIB), pass(m, 64, 4096, true)); /* a block of 64 rows of 4096 columns */
    assert_times(passes(m, MIB, 0), pass(m, 64, 4096, false));
    assert_times(passes(m, MIB / 2, 0), pass(m, 64, 2048, false)); /* as wide as it must be */
    /* three blocks, each of a third: 3414 columns, in tiles of 128; 190 rows of them, in blocks of 64 */
    assert_times(passes(m, 5 * MIB / 2, 0), pass(m, 192, 3456, false));
    assert_times(passes(m, 48 * MIB, 0), pass(m, 48 * 64, 4096, false));
    assert_times(passes(m, 100 * MIB, 0), pass(m, 100 * 64, 4096, false));
    /* 48.5 MiB: of more than 48 blocks all are full */
    assert_times(passes(m, 97 * MIB / 2, 0), pass(m, 49 * 64, 4096, false));
    /* what is read beyond what is written: as many bytes a pass, up to eight times; then one pass */
    assert_times(passes(m, 3 * MIB, MIB), pass(m, 64, 4096, true) + 2 * pass(m, 64, 4096, false));
    assert_times(passes(m, 7 * MIB / 2, MIB),
                 pass(m, 64, 4096, true) + 2 * pass(m, 64, 4096, false) + pass(m, 64, 2048, false));
    assert_times(passes(m, 9 * MIB, MIB), pass(m, 64, 4096, true) + pass(m, 8 * 64, 4096, false));
    assert_times(passes(m, 8 * MIB, MIB), pass(m, 64, 4096, true) + 7 * pass(m, 64, 4096, false));
    /* what is written beyond what is read takes as long as if half of it were read */
    assert_times(passes(m, MIB, 3 * MIB), pass(m, 2 * 64, 4096, true));
    /* a result of at most a 1024th of the rest is no pass */
    assert_times(passes(m, MIB + 1024, 1024), pass(m, 64, 4096, false));
    assert_times(passes(m, MIB, 1024), pass(m, 64, 128, true) + pass(m, 64, 4096, false));
}

/* Rows of 4096 words, in blocks of 256; above 12 of them, those of 6 and 12 say what. */
static double copy_rows(const ts_machine *m, int64_t rows, int64_t block) {
    return RUN_EXACT(m, "copy.tsim", rows, {"TILED", 0}, {"COLS", 4096}, {"BLOCK", block}, {"ROWS", 0});
}

static double copy(const ts_machine *m, int64_t bytes) {
    return predict(m, (ts_workload){.kind = TS_WORK_COPY, .rank = 1, .dims = {bytes}});
}

TEST(copies_inside_hbm) {
    const ts_machine *m = load("tpu-v5e", NULL);
    assert_times(copy(m, 16384), copy_rows(m, 1, 1) + 0.6);
    assert_times(copy(m, 16385), copy_rows(m, 2, 2) + 0.6);
    assert_times(copy(m, 4 * MIB), copy_rows(m, 256, 256) + 0.6);
    assert_times(copy(m, 12 * MIB), copy_rows(m, 768, 256) + 0.6);
    double few = copy_rows(m, 6 * 256, 256), many = copy_rows(m, 12 * 256, 256);
    assert_times(copy(m, 96 * MIB), few + 3 * (many - few) + 0.6); /* 24 blocks */
    assert_times(
        predict(m, (ts_workload){.kind = TS_WORK_COPY, .rank = 1, .dims = {16384}, .group = &wall_group}),
        copy_rows(m, 1, 1) + 0.6 + 104);
}

static double copy_out(const ts_machine *m, int rank, int64_t a, int64_t b, int64_t c) {
    return predict(m, (ts_workload){.kind = TS_WORK_COPY, .rank = rank, .dims = {a, b, c}});
}

/* A matrix of rows, whatever the major dims are. v4's engine issues a copy in 0.40 us and completes it in 0.17; it moves
 * 973 bytes a cycle of 1.05 GHz, and HBM takes some 0.1 us to begin. */
TEST(copies_to_cmem) {
    const ts_machine *m = load("tpu-v4", NULL);
    double one = copy_out(m, 2, 512, 1024, 0), two = copy_out(m, 2, 1024, 1024, 0),
           moved = MIB / (973 * 1050.0);
    assert_times(copy_out(m, 3, 16, 32, 1024), one);
    assert_true(one > 0.57 + moved && one < 0.7 + moved);
    assert_true(fabs(two - one - moved) < 0.02 * moved);
    const ts_workload launched = {.kind = TS_WORK_COPY, .rank = 2, .dims = {512, 1024}, .launched = true};
    assert_times(predict(m, launched), one + 0.24);
    /* out of an HBM of half the clock, 614.4 GB/s less refreshes, 0.26 of 3.9 us, and turns */
    const ts_machine *slow = load("tpu-v4", "hbm.clock=600 MHz");
    double more = copy_out(slow, 2, 4096, 4096, 0) - copy_out(slow, 2, 2048, 4096, 0),
           bus = 16 * MIB / 614400.0;
    assert_true(more > bus && more < 1.12 * bus);
}

/* ---- Element-wise operations ---- */

static double half(const ts_machine *m, int64_t vregs, int64_t block, int inputs, int64_t rows) {
    return RUN(m, "half.tsim", rows, {"VREGS", vregs}, {"BLOCK", block}, {"IN", inputs}, {"ROWS", 0}) + 0.24;
}

static double elementwise(const ts_machine *m, int inputs, int rank, int64_t a, int64_t b, int64_t c) {
    return predict(
        m, (ts_workload){.kind = TS_WORK_ELEMENTWISE, .inputs = inputs, .rank = rank, .dims = {a, b, c}});
}

TEST(elementwise_operations) {
    const ts_machine *m = load("tpu-v4", NULL);
    /* rows of 128 in the layout that pads least, in vregs of 16 of them, four at a time where there are */
    assert_times(elementwise(m, 1, 1, 300, 0, 0), half(m, 1, 16, 1, 16));  /* 2 x 256 values: 4 rows */
    assert_times(elementwise(m, 1, 1, 2049, 0, 0), half(m, 2, 32, 1, 32)); /* 9 x 2 rows */
    assert_times(elementwise(m, 1, 2, 64, 128, 0), half(m, 4, 64, 1, 64));
    assert_times(elementwise(m, 1, 2, 128, 64, 0), half(m, 4, 64, 1, 64));   /* by columns */
    assert_times(elementwise(m, 1, 2, 40, 130, 0), half(m, 4, 128, 1, 128)); /* 2 x 40 rows, 1 x 136 else */
    assert_times(elementwise(m, 1, 2, 2, 640, 0), half(m, 1, 16, 1, 16));    /* 5 tiles of 2 rows */
    assert_times(elementwise(m, 1, 2, 3, 640, 0), half(m, 2, 32, 1, 32));    /* 5 of 4 */
    assert_times(elementwise(m, 1, 2, 5, 640, 0), half(m, 3, 48, 1, 48));    /* 5 of 8 */
    assert_times(elementwise(m, 1, 3, 2, 3, 640), half(m, 2, 32, 1, 32));    /* 3 x 5 x 2; 2 x 5 x 4 else */
    assert_times(elementwise(m, 2, 2, 512, 128, 0), half(m, 4, 512, 2, 512));
    assert_times(elementwise(m, 2, 2, 2048, 128, 0), half(m, 4, 1024, 2, 2048)); /* blocks of 1024 */
    double few = half(m, 4, 1024, 1, 8 * 1024), many = half(m, 4, 1024, 1, 16 * 1024);
    assert_times(elementwise(m, 1, 2, 16 * 1024, 128, 0), many);
    assert_times(elementwise(m, 1, 2, 32 * 1024, 128, 0), few + 3 * (many - few));
    /* of more than two inputs each takes what the second does */
    double one = half(m, 4, 512, 1, 512), two = half(m, 4, 512, 2, 512);
    assert_true(two > one);
    assert_times(elementwise(m, 3, 2, 512, 128, 0), 2 * two - one);
    assert_times(elementwise(m, 4, 2, 512, 128, 0), 3 * two - 2 * one);
}

/* ---- Attention ---- */

static double heads(const ts_machine *m, int64_t length, int64_t depth, int causal, int64_t rows,
                    int64_t count) {
    return RUN(m, "flash_attention.tsim", count, {"SEQ", length}, {"D", depth}, {"CAUSAL", causal},
               {"QROWS", rows}, {"HEADS", 0});
}

/* v5e: results of the matrix units fill mxu.result_vregs x 8 rows. */
TEST(attention) {
    const ts_machine *m = load("tpu-v5e", NULL);
    int64_t rows = m->core.mxu.result_vregs * 8;
    ts_workload w = {.kind = TS_WORK_ATTENTION, .batch = 1, .heads = 2, .length = 500, .depth = 64};
    assert_true(rows < 500 && rows > 40);
    double one = heads(m, 500, 64, 0, rows, 1), two = heads(m, 500, 64, 0, rows, 2);
    assert_times(predict(m, w), two + 0.6);
    w.batch = 3; /* 6 heads in all */
    assert_times(predict(m, w), one + 5 * (two - one) + 0.6);
    w = (ts_workload){
        .kind = TS_WORK_ATTENTION, .batch = 1, .heads = 1, .length = 40, .depth = 128, .causal = true};
    assert_times(predict(m, w), heads(m, 40, 128, 1, 48, 1) + 0.6); /* in tiles of 16 rows */
}

/* ---- Products ---- */

static ts_workload product(int64_t m, int64_t n, int64_t k) {
    return (ts_workload){.kind = TS_WORK_MATMUL,
                         .count = 1,
                         .products = {{.m = m, .n = n, .k = k, .weights = 1, .in_bytes = 2, .out_bytes = 2}}};
}

static ts_workload in_blocks(ts_workload w, int64_t m, int64_t n, int64_t k) {
    w.block[0] = m;
    w.block[1] = n;
    w.block[2] = k;
    return w;
}

static double blocks(const ts_machine *m, const int64_t *extents, const int64_t *block, int tanh, int out,
                     int64_t n) {
    return RUN(m, "matmul.tsim", n, {"M", extents[0]}, {"K", extents[1]}, {"BM", block[0]}, {"BN", block[1]},
               {"BK", block[2]}, {"TANH", tanh}, {"OUT", out}, {"N", 0});
}

/* Blocks of whole passes of v5e's four units of 128: 256 x 512 x 128. Blocks lie side by side in N; of those above
 * twice as many as say what, the rest is on the line. */
TEST(stated_blocks) {
    const ts_machine *m = load("tpu-v5e", NULL);
    const int64_t e[] = {256, 1024}, b[] = {256, 512, 256};
    double one = blocks(m, e, b, 0, 2, 512), two = blocks(m, e, b, 0, 2, 1024);
    assert_times(predict(m, in_blocks(product(256, 1024, 1024), 256, 512, 256)), two + 0.6);
    /* 1024 x 1024 in blocks of 256 rows: one row of two blocks, and two */
    const int64_t e2[] = {512, 1024};
    double rows = blocks(m, e2, b, 0, 2, 1024);
    assert_times(predict(m, in_blocks(product(1024, 1024, 1024), 256, 512, 256)),
                 two + 3 * (rows - two) + 0.6);
    /* of fewer rows than a pass has: in blocks of 384, a row of two of them and two rows */
    const int64_t low[] = {384, 1024}, low2[] = {768, 1024}, tall[] = {384, 512, 256};
    double row = blocks(m, low, tall, 0, 2, 1024), both = blocks(m, low2, tall, 0, 2, 1024);
    assert_times(predict(m, in_blocks(product(1152, 1024, 1024), 128, 512, 256)),
                 row + 2 * (both - row) + 0.6);
    /* a row of 17 blocks is too long: all side by side */
    assert_times(predict(m, in_blocks(product(512, 17 * 512, 1024), 256, 512, 256)),
                 one + 33 * (two - one) + 0.6);
    /* a result of four bytes, and one that is reduced */
    ts_workload w = in_blocks(product(256, 512, 1024), 256, 512, 256);
    w.products[0].out_bytes = 4;
    assert_times(predict(m, w), blocks(m, e, b, 0, 4, 512) + 0.6);
    w.products[0].out_bytes = 0;
    assert_times(predict(m, w), one + 0.6);
    /* functions of the result; of a part of the products: its share */
    double with = blocks(m, e, b, 1, 2, 512);
    w.products[0].transcendentals = 1;
    assert_times(predict(m, w), with + 0.6);
    w.products[0].transcendentals = 0.25;
    assert_times(predict(m, w), one + 0.25 * (with - one) + 0.6);
    /* with few steps along K stores decide: 4 blocks and 8 say what */
    const int64_t f[] = {256, 512};
    double four = blocks(m, f, b, 0, 2, 4 * 512), eight = blocks(m, f, b, 0, 2, 8 * 512);
    assert_times(predict(m, in_blocks(product(256, 8 * 512, 512), 256, 512, 256)), eight + 0.6);
    assert_times(predict(m, in_blocks(product(256, 16 * 512, 512), 256, 512, 256)),
                 four + 3 * (eight - four) + 0.6);
}

/* Blocks that are no whole passes are those of blocks.tsim, of a product in whole blocks. */
TEST(small_blocks) {
    const ts_machine *m = load("tpu-v5e", NULL);
    double one =
        RUN(m, "blocks.tsim", 256, {"M", 128}, {"K", 512}, {"BM", 128}, {"BN", 256}, {"BK", 128}, {"N", 0});
    assert_times(predict(m, in_blocks(product(128, 256, 512), 128, 256, 128)), one + 0.6);
    assert_times(predict(m, in_blocks(product(120, 250, 500), 120, 250, 120)), one + 0.6);
    assert_times(predict(m, in_blocks(product(100, 200, 400), 128, 256, 128)), one + 0.6);
    assert_times(predict(m, in_blocks(product(128, 256, 512), 128, 256, 1)), one + 0.6);
}

/* A size that is not stated leaves all to the compiler; 256 rows are in a block of 384, so that tiles are latched beside
 * them. */
TEST(blocks_that_are_not_all_stated) {
    const ts_machine *m = load("tpu-v5e", NULL), *v6e = load("tpu-v6e", NULL);
    static const int64_t stated[][3] = {{0, 512, 256}, {256, 0, 256}, {256, 512, 0}};
    const int64_t e[] = {256, 512}, b[] = {384, 512, 512};
    double chosen = blocks(m, e, b, 0, 2, 256) + 0.6;
    assert_times(predict(m, product(256, 256, 512)), chosen);
    for (int i = 0; i < 3; i++) {
        const int64_t *s = stated[i];
        assert_times(predict(m, in_blocks(product(256, 256, 512), s[0], s[1], s[2])), chosen);
    }
    /* what fits into one pass of wide units, of 256 columns and 512 of K, is one block */
    const int64_t whole[] = {256, 512}, pass[] = {256, 256, 512};
    assert_times(predict(v6e, product(256, 256, 512)),
                 blocks(v6e, whole, pass, 0, 2, 256) + (double)v6e->chip.launch_ps / 1e6);
    /* they latch few rows as weights, and many columns pass them */
    assert_times(predict(v6e, product(64, 512, 128)), predict(v6e, product(512, 64, 128)));
}

/* Of 1700 in steps of 512 along K the last is padded up to 2048; in steps of 256, in which 1792 will do, up to less. */
TEST(steps_that_pad_less) {
    const ts_machine *m = load("tpu-v5e", NULL);
    const int64_t e[] = {384, 1700}, b[] = {384, 512, 256};
    assert_times(predict(m, product(384, 512, 1700)), blocks(m, e, b, 0, 2, 512) + 0.6);
}

/* The best of some blocks m x n x k of a product of 1024^3, which runs whole. */
static double best_of(const ts_machine *m, const int64_t (*tried)[3], int count) {
    double best = 0;
    for (int i = 0; i < count; i++) {
        double us = blocks(m, (const int64_t[]){1024, 1024}, tried[i], 0, 2, 1024);
        if (i == 0 || us < best) best = us;
    }
    return best + (double)m->chip.launch_ps / 1e6;
}

/* A compiler takes large blocks or half of their columns, in steps along K of one size or of two: of v5e those of 1024 x
 * 1024 x 512, with less than 64 MiB of VMEM of 512 rows; of v6e, whose units are wider, of 2048 x 2048 x 1024, as far as
 * there is so much. */
TEST(the_best_of_some_blocks) {
    if (cases(1, 0) == 0) skip();
    static const int64_t large[][3] = {{1024, 1024, 512},
                                       {1024, 512, 512},
                                       {1024, 1024, 1024},
                                       {1024, 512, 1024}},
                         low[][3] = {{512, 1024, 512}, {512, 512, 512}, {512, 1024, 1024}, {512, 512, 1024}},
                         wide[][3] = {{1024, 1024, 1024}, {1024, 512, 1024}};
    const ts_machine *v5e = load("tpu-v5e", NULL), *v6e = load("tpu-v6e", NULL),
                     *half = load("tpu-v5e", "memories.vmem.capacity=64 MiB"),
                     *less = load("tpu-v5e", "memories.vmem.capacity=63 MiB");
    ts_workload square = product(1024, 1024, 1024);
    assert_times(predict(v5e, square), best_of(v5e, large, 4));
    assert_times(predict(half, square), best_of(half, large, 4));
    assert_times(predict(less, square), best_of(less, low, 4));
    double fast = best_of(v6e, wide, 2);
    assert_times(predict(v6e, square), fast);
    /* of random data at the clock of the matrix units */
    square.random = true;
    assert_times(predict(v6e, square), best_of(predict_under_load(arena, v6e), wide, 2));
    assert_true(predict(v6e, square) > fast + 0.1);
    /* wider units need larger blocks than a row states */
    assert_times(predict(v6e, in_blocks(product(1024, 1024, 1024), 256, 256, 512)), fast);
}

/* Of more than 2^34 products in steps as they are, or in one along K, which is faster here: of one row of blocks and of two,
 * on the line. Of 2^34 in steps of up to twice K. */
TEST(large_products) {
    if (cases(1, 0) == 0) skip();
    const ts_machine *m = load("tpu-v5e", NULL);
    const int64_t e[][2] = {{1024, 1040}, {2048, 1040}, {1024, 16384}}, whole[] = {1024, 1024, 1152},
                  half[] = {1024, 512, 1024};
    double row = blocks(m, e[0], whole, 0, 2, 4096), rows = blocks(m, e[1], whole, 0, 2, 4096);
    assert_times(predict(m, product(4096, 4096, 1040)), row + 3 * (rows - row) + 0.6);
    assert_times(predict(m, product(1024, 1024, 16384)), blocks(m, e[2], half, 0, 2, 1024) + 0.6);
}

/* What the rows of blocks have in memory is what they take: with other strides this one took 6 % less. */
TEST(near_the_whole) {
    if (cases(1, 0) == 0) skip();
    const ts_machine *m = load("tpu-v6e", NULL);
    ts_workload work = product(16384, 6144, 2048);
    double quick = predict(m, work);
    assert_true(by.estimated);
    by.exact = true;
    by.estimated = false;
    double whole = predict(m, work);
    assert_false(by.estimated);
    by.exact = false;
    if (fabs(quick / whole - 1) > 0.01) fail_msg("%.3f us, all of it %.3f us", quick, whole);
}

/* Fewer rows than a pass of 256 has are one, unless there is but one pass of 512 columns and 128 of K. */
TEST(few_rows) {
    const ts_machine *m = load("tpu-v5e", NULL);
    static const struct {
        int64_t n, k, block_rows;
    } rows[] = {{512, 128, 128}, {512, 256, 256}, {1024, 128, 256}, {512, 1024, 256}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t n = rows[i].n, k = rows[i].k, step = k < 256 ? k : 256;
        const int64_t e[] = {128, k}, b[] = {rows[i].block_rows, n, step};
        assert_times(predict(m, in_blocks(product(128, n, k), 128, n, step)), blocks(m, e, b, 0, 2, n) + 0.6);
    }
}

/* What a row does not state, a compiler chooses: no block of one's own is faster than the best by much, and no row
 * is too small. */
TEST(free_blocks) {
    if (cases(1, 0) == 0) skip();
    const ts_machine *m = load("tpu-v5e", NULL);
    static const int64_t tried[][3] = {{512, 1024, 512}, {512, 512, 512}, {1024, 512, 1024}, {256, 512, 256}};
    double best = predict(m, product(1024, 1024, 1024));
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        double other =
            predict(m, in_blocks(product(1024, 1024, 1024), tried[i][0], tried[i][1], tried[i][2]));
        assert_true(best < 1.02 * other);
    }
    /* up to 1024 rows are the weights, where that is faster, but not matrices of their own */
    ts_workload own = product(1024, 1280, 512);
    double transposed = predict(m, product(1280, 1024, 512));
    assert_times(predict(m, own), transposed);
    own.products[0].weights = 2;
    assert_true(predict(m, own) > transposed + 0.1);
    assert_true(predict(m, product(1280, 2304, 256)) > predict(m, product(2304, 1280, 256)) + 0.1);
}

/* Products in a row; the cores of a device share the rows, or the columns where those are more. */
TEST(shares_of_products) {
    ts_error err = {0};
    const ts_machine *m = load("tpu-v5e", NULL), *v4 = load("tpu-v4", NULL),
                     *core = ts_machine_part(&err, arena, v4, 2);
    ts_workload two = product(256, 512, 1024), a = product(256, 512, 1024), b = product(512, 512, 512);
    two.count = 2;
    two.products[1] = b.products[0];
    assert_times(predict(m, two), predict(m, a) + predict(m, b));
    assert_non_null(core);
    assert_int_equal(core->chip.tensor_cores, 1);
    assert_times(predict(v4, product(1024, 512, 512)), predict(core, product(512, 512, 512)));
    assert_times(predict(v4, product(1023, 512, 512)), predict(core, product(512, 512, 512)));
    assert_times(predict(v4, product(512, 1024, 512)), predict(core, product(512, 512, 512)));
    /* matrices of their own are of the rows, too, and blocks that are stated */
    ts_workload many = product(512, 1024, 512), few = product(256, 1024, 512);
    many.products[0].weights = few.products[0].weights = 2;
    assert_times(predict(v4, many), predict(core, few));
    assert_times(predict(v4, in_blocks(product(512, 1024, 512), 256, 512, 256)),
                 predict(core, in_blocks(product(256, 1024, 512), 256, 512, 256)));
}

/* Products that the program does not show are passes over what they move, at least. */
TEST(operands_of_products) {
    const ts_machine *m = load("tpu-v5e", NULL);
    ts_workload thin = product(16, 4096, 4096), wide = product(17, 4096, 4096);
    /* (16 x 4096 + 4096 x 4096) x 2 bytes are read, 16 x 4096 x 2 written */
    double moved = passes(m, 2 * 4112 * 4096, 2 * 16 * 4096);
    assert_times(predict(m, thin), moved);
    assert_times(predict(m, product(4096, 16, 4096)), moved);
    assert_true(fabs(predict(m, wide) - moved) > 0.01);
    /* of f32 twice as many bytes, which take longer than the units */
    ts_workload f32 = product(128, 4096, 4096);
    f32.products[0].in_bytes = 4;
    assert_times(predict(m, f32), passes(m, 4 * (128 + 4096) * 4096, 2 * 128 * 4096));
    /* and four matrices that each take a quarter of the rows */
    ts_workload many = product(128, 4096, 4096);
    many.products[0].weights = 4;
    assert_times(predict(m, many), passes(m, 2 * (128 + 4 * 4096) * 4096, 2 * 128 * 4096));
    /* where the units take longer, they say what */
    ts_workload large = product(4096, 4096, 4096);
    double plain = predict(m, large);
    large.products[0].in_bytes = 4;
    assert_times(predict(m, large), plain);
}

/* ---- Collectives ---- */

/* v5e: 45,000 bytes a microsecond and link each way, a launch of 3.8 us, 1 us a hop; without flits, by hand. */
TEST(collectives) {
    const ts_machine *v5e = load("tpu-v5e", "ici.flit=1 B"), *v7x = load("tpu-v7x", "ici.flit=1 B");
    const ts_workload permute = {.kind = TS_WORK_COLLECTIVE,
                                 .collective = TS_COLLECTIVE_PERMUTE,
                                 .bytes = 45000 * 100,
                                 .members = 2,
                                 .chip_dims = 1,
                                 .chips = {2}};
    assert_times(predict(v5e, permute), 3.8 + 1 + 100);
    /* 16 chips in a ring, both ways at once: each gets 15 shards over two links; 15 hops of the longer way round */
    ts_workload gather = {.kind = TS_WORK_COLLECTIVE,
                          .collective = TS_COLLECTIVE_ALL_GATHER,
                          .bytes = 16 * 45000 * 20,
                          .members = 16,
                          .chip_dims = 1,
                          .chips = {16}};
    assert_times(predict(v5e, gather), 3.8 + 15 + 15 * 20 / 2.0);
    /* and back: an all-reduce is two of them */
    gather.collective = TS_COLLECTIVE_ALL_REDUCE;
    assert_times(predict(v5e, gather), 3.8 + 30 + 15 * 20);
    /* chips of two devices, of which each has a link to itself: 90,000 bytes a microsecond, 1.65 us a hop */
    const ts_workload pairs = {.kind = TS_WORK_COLLECTIVE,
                               .collective = TS_COLLECTIVE_PERMUTE,
                               .bytes = 90000 * 100,
                               .members = 2,
                               .chip_dims = 1,
                               .chips = {2}};
    assert_times(predict(v7x, pairs), 9.9 + 1.65 + 100);
    /* all-gathers of four of the eight devices of 2 x 2 chips: each device gets three shards. Two share the chip's links,
     * of which two are to each neighbour */
    gather = (ts_workload){.kind = TS_WORK_COLLECTIVE,
                           .collective = TS_COLLECTIVE_ALL_GATHER,
                           .bytes = 4 * 90000 * 20,
                           .members = 4,
                           .chip_dims = 2,
                           .chips = {2, 2}};
    assert_times(predict(v7x, gather), 9.9 + 1.65 * 2 + 2 * 3 * 20 / 2.0);
    gather.chip_dims = 1;
    gather.chips[0] = 8;
    gather.members = 3;
    ts_error err = {0};
    double us;
    gather.group = &device_group;
    assert_false(ts_workload_predict(&err, &by, &gather, v5e, &us));
    assert_string_equal(err.message, "its groups do not divide its devices");
    gather.chips[0] = 100000;
    err = (ts_error){0};
    assert_false(ts_workload_predict(&err, &by, &gather, v5e, &us));
    assert_string_equal(err.message, "found extent 100000, expected 1 to 65536");
}

/* What a model's programs refuse is its error: here of a machine whose VMEM is too small for any block. */
TEST(what_does_not_fit) {
    const ts_machine *m = load("tpu-v5e", "memories.vmem.capacity=64 KiB");
    const ts_workload works[] = {
        {.kind = TS_WORK_PASSES, .read_bytes = MIB, .written_bytes = MIB, .group = &device_group},
        {.kind = TS_WORK_PASSES, .read_bytes = MIB, .group = &device_group},
        {.kind = TS_WORK_COPY, .rank = 1, .dims = {16 * MIB}, .group = &device_group},
        {.kind = TS_WORK_ATTENTION,
         .batch = 1,
         .heads = 1,
         .length = 512,
         .depth = 128,
         .group = &device_group},
        {.kind = TS_WORK_ELEMENTWISE, .inputs = 4, .rank = 2, .dims = {4096, 128}, .group = &device_group},
        {.kind = TS_WORK_MATMUL,
         .count = 1,
         .products = {{.m = 512, .n = 512, .k = 512, .weights = 1, .in_bytes = 2, .out_bytes = 2}},
         .group = &device_group},
    };
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        ts_error err = {0};
        double us;
        if (ts_workload_predict(&err, &by, &works[i], m, &us)) fail_msg("row %zu: %f us", i, us);
        assert_non_null(strstr(err.message, "vmem"));
    }
}

TEST(without_a_model) {
    ts_error err = {0};
    double us;
    const ts_workload norm = {.kind = TS_WORK_LAYERNORM, .group = &device_group};
    assert_false(ts_workload_predict(&err, &by, &norm, load("tpu-v5e", NULL), &us));
    assert_error(&err, TS_ERROR_UNMODELLED, "not modelled: there is no program for it yet\n");
    err = (ts_error){0};
    const ts_workload product = {
        .kind = TS_WORK_MATMUL,
        .count = 1,
        .block = {128, 128, 128},
        .products = {{.m = 512, .n = 512, .k = 512, .weights = 1, .in_bytes = 2, .out_bytes = 2}},
        .group = &device_group};
    assert_false(ts_workload_predict(&err, &by, &product, load("tpu-v5e", "mxu.units=0"), &us));
    assert_error(&err, TS_ERROR_UNMODELLED, "not modelled: the machine has no matrix unit\n");
}

int main(void) { return run_all_tests(set_up, tear_down); }
