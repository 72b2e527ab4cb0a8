/* Points of a grid of parameters, and runs at them. */
#include "study/grid.h"

#include <string.h>

#include "base/text.h"
#include "tests/support/test.h"

static void expect_points(const ts_define *defines, int count, const char *expected) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_grid grid;
    ts_define point[4];
    ts_text out;
    ts_text_init(&out, arena);
    if (!ts_grid_parse(&err, arena, defines, count, &grid)) fail_msg("%s", err.message);
    for (int64_t i = 0; i < grid.point_count; i++) {
        ts_grid_point(&grid, i, point);
        for (int k = 0; k < count; k++) ts_text_add(&out, "%s=%s ", point[k].name, point[k].value);
        ts_text_add(&out, "| ");
    }
    assert_string_equal(out.bytes, expected);
    ts_arena_free(arena);
}

static void points(void **state) {
    (void)state;
    const ts_define none[] = {{"A", "1"}, {"B", "max(1,[2,{3,4}]),5"}, {"C", "7,8,9"}};
    expect_points(none, 0, "| ");
    expect_points(none, 1, "A=1 | ");
    expect_points(none + 1, 1, "B=max(1,[2,{3,4}]) | B=5 | ");
    expect_points(none, 3,
                  "A=1 B=max(1,[2,{3,4}]) C=7 | A=1 B=max(1,[2,{3,4}]) C=8 | A=1 B=max(1,[2,{3,4}]) C=9 | "
                  "A=1 B=5 C=7 | A=1 B=5 C=8 | A=1 B=5 C=9 | ");
    const ts_define open[] = {{"A", "f(1,2"}, {"B", "1),2"}};
    expect_points(open, 1, "A=f(1,2 | ");
    expect_points(open + 1, 1, "B=1) | B=2 | ");
}

static void refuse(const ts_define *defines, int count, const char *message) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_grid grid;
    assert_false(ts_grid_parse(&err, arena, defines, count, &grid));
    assert_int_equal(err.kind, TS_ERROR_USAGE);
    assert_string_equal(err.message, message);
    ts_arena_free(arena);
}

static void refused(void **state) {
    (void)state;
    static char many[2 * TS_GRID_POINTS + 2];
    for (int i = 0; i <= TS_GRID_POINTS; i++) memcpy(many + 2 * i, "1,", 2);
    many[2 * TS_GRID_POINTS + 1] = '\0'; /* one value too many */
    const ts_define defines[] = {{"A", "1,2"}, {"B", ",2"}, {"C", "1,"}, {"A", "3"}, {"M", many}};
    refuse(defines, 2, "-D B=,2 has an empty value, expected such as B=1,2");
    refuse(defines + 2, 1, "-D C=1, has an empty value, expected such as C=1,2");
    const ts_define twice[] = {defines[0], defines[3]};
    refuse(twice, 2, "-D A is given twice");
    refuse(defines + 4, 1, "the values of -D make more than 100000 runs, expected fewer");
    many[2 * TS_GRID_POINTS - 1] = '\0';
    ts_arena *arena = ts_arena_new();
    ts_grid grid;
    assert_true(ts_grid_parse(NULL, arena, defines + 4, 1, &grid));
    assert_int_equal(grid.point_count, TS_GRID_POINTS);
    ts_arena_free(arena);
}

static void told(void *self, int64_t done, int64_t of) {
    assert_int_equal(of, 3);
    assert_int_equal(done, ++*(int64_t *)self);
}

/* The same program, run by itself with the defines of a point. */
static void expect_run(ts_arena *arena, const ts_grid_request *request, int64_t point,
                       const ts_grid_run *found) {
    ts_error err = {0};
    ts_run_request alone = request->run;
    ts_run_result result;
    ts_define defines[4];
    ts_grid_point(request->grid, point, defines);
    alone.defines = defines;
    alone.define_count = request->grid->axis_count;
    if (!ts_run(&err, arena, &alone, &result)) fail_msg("%s", err.message);
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
    assert_int_equal(found->err.kind, TS_ERROR_NONE);
    assert_int_equal(found->cycles, v[TS_COUNTER_CYCLES]);
    assert_int_equal(found->passed, result.passed);
    assert_string_equal(found->most, what);
    assert_float_equal((float)found->most_percent, 100 * (float)most / (float)all, 1e-4);
    assert_true(found->microseconds > 0);
}

static void runs(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_grid grid;
    int64_t count = 0;
    const ts_define defines[] = {{"BLOCK", "16,oops,64"}, {"ROWS", "64"}, {"COLS", "128"}};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    assert_true(ts_grid_parse(&err, arena, defines, 3, &grid));
    ts_grid_request request = {
        .run = {.program = "programs/add.tsim", .machine = machine, .max_cycles = 1000000},
        .grid = &grid,
        .progress = told,
        .self = &count};
    const ts_grid_run *run = ts_grid_go(arena, &request);
    assert_int_equal(count, 3);
    assert_string_equal(run[1].err.message, "unknown name 'oops'");
    assert_null(run[1].err.next);
    assert_false(run[1].passed);
    for (int i = 0; i < 3; i += 2) {
        expect_run(arena, &request, i, &run[i]);
        assert_float_equal((float)run[i].microseconds, (float)run[i].cycles / 1500, 1e-4);
        /* 64 rows of 128 bf16 in and out, at 819.2 GB/s */
        assert_float_equal((float)run[i].hbm_peak_percent,
                           100 * 2 * 16384 / (float)run[i].microseconds / 819200, 1e-3);
    }
    ts_arena_free(arena);
}

/* Programs whose cycles go elsewhere, on one core and on two, on a machine that is not the default. */
static void what_most_cycles_went_to(void **state) {
    (void)state;
    static const struct {
        const char *program, *name, *values;
    } rows[] = {{"programs/gelu.tsim", "ROWS", "512"},
                {"programs/cores.tsim", "ROWS", "64,512"},
                {"programs/cumsum.tsim", "ROWS", "64"}};
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_grid grid;
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v4");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ts_define define = {rows[i].name, rows[i].values};
        assert_true(ts_grid_parse(&err, arena, &define, 1, &grid));
        ts_grid_request request = {
            .run = {.program = rows[i].program, .machine = machine, .max_cycles = 10000000}, .grid = &grid};
        const ts_grid_run *run = ts_grid_go(arena, &request);
        for (int64_t point = 0; point < grid.point_count; point++)
            expect_run(arena, &request, point, &run[point]);
    }
    ts_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points),
        cmocka_unit_test(refused),
        cmocka_unit_test(runs),
        cmocka_unit_test(what_most_cycles_went_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
