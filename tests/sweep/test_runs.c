/* A program run at each point of a grid, in processes of this host: each run is the run alone; block sizes ranked. */
#include "sweep/runs.h"

#include "tests/support/test.h"

static const char add[] = "programs/add.tsim";

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_grid grid;
    ts_sweep_runs_request request;
} fixture;

static void begin(fixture *f, const char *program, const char *machine, const ts_define *defines, int count) {
    *f = (fixture){.arena = ts_arena_new()};
    f->request = (ts_sweep_runs_request){.run = {.program = program,
                                                 .machine = ts_machine_load(&f->err, f->arena, machine),
                                                 .max_cycles = 10000000},
                                         .grid = &f->grid,
                                         .workers = 2};
    if (!ts_grid_parse(&f->err, f->arena, "-D", defines, count, &f->grid)) fail_msg("%s", f->err.message);
}

static const ts_sweep_row *go(fixture *f) {
    const ts_sweep_row *rows = ts_sweep_runs(&f->err, f->arena, &f->request);
    if (!rows) fail_msg("%s", f->err.message);
    return rows;
}

/* The same program, run by itself with the defines of a point. */
static void expect_run(const fixture *f, int64_t point, const ts_sweep_row *found) {
    ts_error err = {0};
    ts_run_request alone = f->request.run;
    ts_run_result result;
    ts_define defines[4];
    ts_grid_point(&f->grid, point, defines);
    alone.defines = defines;
    alone.define_count = f->grid.axis_count;
    if (!ts_run(&err, f->arena, &alone, &result)) fail_msg("%s", err.message);
    const int64_t *v = result.counters.values;
    int64_t all = 0, most = 0;
    const char *what = "a bundle issued";
    for (int core = 0; core < result.chip.core_count; core++) {
        all += result.chip.cores[core].cycles;
        most += result.chip.cores[core].bundles;
    }
    for (int stall = TS_STALL_COUNT - 1; stall >= 0; stall--) {
        int64_t cycles = 0;
        for (int core = 0; core < result.chip.core_count; core++)
            cycles += result.chip.cores[core].stalls[stall];
        if (cycles > most) most = cycles, what = ts_stall_get(stall)->meaning;
    }
    assert_null(found->err);
    for (int i = 0; i < TS_COUNTER_COUNT; i++) assert_int_equal(found->values[i].integer, v[i]);
    assert_int_equal(found->status, result.passed ? TS_SWEEP_OK : TS_SWEEP_FAILED);
    assert_string_equal(found->values[TS_SWEEP_LIMITER_COLUMN].text, what);
    assert_int_equal(found->values[TS_SWEEP_ESTIMATED_COLUMN].integer, result.chip.estimated);
    assert_float_equal((float)ts_sweep_real(found, TS_SWEEP_LIMITER_PERCENT_COLUMN),
                       100 * (float)most / (float)all, 1e-4);
    assert_true(ts_sweep_real(found, TS_SWEEP_MICROSECONDS_COLUMN) > 0);
}

static void told(void *self, int64_t done, int64_t of, int64_t answered) {
    assert_int_equal(of, 3);
    assert_true(done >= answered && answered >= *(int64_t *)self);
    *(int64_t *)self = answered;
}

TEST(runs) {
    fixture f;
    int64_t answered = 0;
    const ts_define defines[] = {{"BLOCK", "16,oops,64"}, {"ROWS", "64"}, {"COLS", "128"}};
    begin(&f, add, "tpu-v5e", defines, 3);
    f.request.progress = told;
    f.request.self = &answered;
    const ts_sweep_row *rows = go(&f);
    assert_int_equal(answered, 3);
    assert_int_equal(rows[1].status, TS_SWEEP_ERROR);
    assert_string_equal(rows[1].err->message, "unknown name 'oops', expected a number or a parameter");
    assert_string_equal(rows[1].err->name, "parameter BLOCK");
    assert_int_equal(rows[1].err->line, 1);
    for (int i = 0; i < 3; i += 2) {
        double us = ts_sweep_real(&rows[i], TS_SWEEP_MICROSECONDS_COLUMN);
        expect_run(&f, i, &rows[i]);
        assert_float_equal((float)us, (float)rows[i].values[TS_COUNTER_CYCLES].integer / 1500, 1e-4);
        /* 64 rows of 128 bf16 in and out, at 819.2 GB/s */
        assert_float_equal((float)ts_sweep_real(&rows[i], TS_SWEEP_HBM_PEAK_PERCENT_COLUMN),
                           100 * 2 * 16384 / (float)us / 819200, 1e-3);
    }
    ts_arena_free(f.arena);
}

/* Programs whose cycles go elsewhere, on one core and on two, on a machine that is not the default. */
TEST(what_most_cycles_went_to) {
    static const struct {
        const char *program, *name, *values;
    } rows[] = {{"programs/gelu.tsim", "ROWS", "512"},
                {"programs/cores.tsim", "ROWS", "64,512"},
                {"programs/cumsum.tsim", "ROWS", "64"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        const ts_define define = {rows[i].name, rows[i].values};
        begin(&f, rows[i].program, "tpu-v4", &define, 1);
        const ts_sweep_row *found = go(&f);
        for (int64_t point = 0; point < f.grid.point_count; point++) expect_run(&f, point, &found[point]);
        ts_arena_free(f.arena);
    }
}

TEST(no_workers) {
    fixture f;
    const ts_define define = {"ROWS", "8"};
    begin(&f, add, "tpu-v5e", &define, 1);
    f.request.workers = 0;
    assert_null(ts_sweep_runs(&f.err, f.arena, &f.request));
    assert_string_equal(f.err.message, "0 workers, expected 1 to 256");
    ts_arena_free(f.arena);
}

/* ---- Block sizes ---- */

static void expect_points(const ts_sweep_blocks *blocks, ts_sweep_class class, int64_t a, int64_t b) {
    const int64_t *points = blocks->points[class];
    assert_int_equal(blocks->counts[class], (a >= 0) + (b >= 0));
    if (a >= 0) assert_int_equal(points[0], a);
    if (b >= 0) assert_int_equal(points[1], b);
}

TEST(ranked) {
    fixture f;
    ts_sweep_blocks blocks;
    const char *const sets[] = {"memories.vmem.capacity=192 KiB", "dma.queues=4"};
    const ts_define defines[] = {{"ROWS", "256"}, {"COLS", "max(128, 256)"}},
                    sizes[] = {{"BLOCK", "16,64,128,256,24"}};
    begin(&f, add, "tpu-v5e", sizes, 1);
    f.request.run.machine = ts_machine_load_with(&f.err, f.arena, "tpu-v5e", "set", sets, 2);
    f.request.run.defines = defines;
    f.request.run.define_count = 2;
    f.request.run.time_only = true;
    if (!ts_sweep_rank_blocks(&f.err, f.arena, &f.request, &blocks)) fail_msg("%s", f.err.message);
    bool small_is_fast =
        blocks.rows[0].values[TS_COUNTER_CYCLES].integer <= blocks.rows[1].values[TS_COUNTER_CYCLES].integer;
    expect_points(&blocks, TS_SWEEP_TIMED, small_is_fast ? 0 : 1, small_is_fast ? 1 : 0);
    expect_points(&blocks, TS_SWEEP_MISFIT, 2, 3);
    expect_points(&blocks, TS_SWEEP_UNTIMED, 4, -1);
    ts_arena_free(f.arena);
}

/* The same twice, where nothing has a time, and of files that are not all there. */
TEST(in_the_order_of_points) {
    static const struct {
        const char *program, *values;
        int64_t timed[2], untimed[2];
    } rows[] = {{"programs/add.tsim", "16,0x10", {0, 1}, {-1, -1}},
                {"programs/add.tsim", "3,5", {-1, -1}, {0, 1}},
                {"programs/$BLOCK.tsim", "nothing,add", {1, -1}, {0, -1}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        ts_sweep_blocks blocks;
        const ts_define sizes = {"BLOCK", rows[i].values};
        begin(&f, rows[i].program, "tpu-v5e", &sizes, 1);
        f.request.run.time_only = true;
        if (!ts_sweep_rank_blocks(&f.err, f.arena, &f.request, &blocks)) fail_msg("%s", f.err.message);
        expect_points(&blocks, TS_SWEEP_TIMED, rows[i].timed[0], rows[i].timed[1]);
        expect_points(&blocks, TS_SWEEP_MISFIT, -1, -1);
        expect_points(&blocks, TS_SWEEP_UNTIMED, rows[i].untimed[0], rows[i].untimed[1]);
        ts_arena_free(f.arena);
    }
}

TEST(refused) {
    static const struct {
        ts_define sizes[2], define;
        const char *program, *message;
    } rows[] = {
        {{{"a.b", "1"}, {"B", "1"}}, {"C", "1"}, add, "--block 'a.b': expected a name of letters and digits"},
        {{{"B", "1"}, {"9", "1"}}, {"C", "1"}, add, "--block '9': expected a name of letters and digits"},
        {{{"", "1"}, {"B", "1"}}, {"C", "1"}, add, "--block '': expected a name of letters and digits"},
        {{{"A_9z", "1"}, {"C", "1"}}, {"C", "1"}, add, "--block C: it has a value already"},
        {{{"C", "1"}, {"A", "1"}}, {"C", "1"}, add, "--block C: it has a value already"},
        {{{"A", "1"}, {"B", "1"}}, {"C", "1"}, "a.$D.mlir", "unknown parameter 'D'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        ts_sweep_blocks blocks;
        begin(&f, rows[i].program, "tpu-v5e", rows[i].sizes, 2);
        f.request.run.defines = &rows[i].define;
        f.request.run.define_count = 1;
        assert_false(ts_sweep_rank_blocks(&f.err, f.arena, &f.request, &blocks));
        assert_string_equal(f.err.message, rows[i].message);
        ts_arena_free(f.arena);
    }
}
