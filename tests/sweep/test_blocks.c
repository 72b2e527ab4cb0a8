/* Block sizes ranked by runs of a program, in processes of this host; what cannot be a request. */
#include "sweep/blocks.h"

#include <string.h>

#include "run/run.h"
#include "tests/support/test.h"

static const char add[] = "programs/add.tsim";

static int64_t cycles_alone(ts_arena *arena, const char *block) {
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    const ts_define defines[] = {{"ROWS", "256"}, {"COLS", "max(128, 256)"}, {"BLOCK", block}};
    ts_run_request request = {.program = add,
                              .machine = machine,
                              .defines = defines,
                              .define_count = 3,
                              .time_only = true,
                              .max_cycles = TS_RUN_MOST_CYCLES};
    ts_run_result result;
    if (!machine || !ts_run(&err, arena, &request, &result)) fail_msg("%s", err.message);
    return result.counters.values[TS_COUNTER_CYCLES];
}

static int64_t cell(const ts_sweep_table *table, int64_t row, const char *name) {
    return ts_sweep_table_cell(table, row, ts_sweep_table_find(NULL, table, "", name))->integer;
}

static void ranked(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_blocks blocks;
    const char *const sets[] = {"memories.vmem.capacity=192 KiB", "dma.queues=4"};
    const ts_define defines[] = {{"ROWS", "256"}, {"COLS", "max(128, 256)"}},
                    sizes[] = {{"BLOCK", "16,64,128,256,24"}};
    ts_sweep_blocks_request request = {.program = add,
                                       .machine = "tpu-v5e",
                                       .sets = sets,
                                       .set_count = 2,
                                       .defines = defines,
                                       .define_count = 2,
                                       .blocks = sizes,
                                       .block_count = 1,
                                       .workers = 2};
    if (!ts_sweep_rank_blocks(&err, arena, &request, &blocks)) fail_msg("%s", err.message);
    assert_int_equal(blocks.fast.row_count, 2);
    assert_int_equal(blocks.misfits.row_count, 2);
    assert_int_equal(blocks.failed.row_count, 1);
    assert_true(cell(&blocks.fast, 0, "cycles") <= cell(&blocks.fast, 1, "cycles"));
    for (int i = 0; i < 2; i++) {
        int64_t block = cell(&blocks.fast, i, "BLOCK");
        assert_int_equal(cell(&blocks.fast, i, "cycles"), cycles_alone(arena, block == 16 ? "16" : "64"));
        assert_int_equal(cell(&blocks.misfits, i, "BLOCK"), i == 0 ? 128 : 256);
    }
    assert_int_equal(cell(&blocks.failed, 0, "BLOCK"), 24);
    ts_arena_free(arena);
}

/* Where nothing has a time. */
static void none(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_sweep_blocks blocks;
    const ts_define sizes[] = {{"BLOCK", "3,5"}};
    ts_sweep_blocks_request request = {
        .program = add, .machine = "tpu-v5e", .blocks = sizes, .block_count = 1, .workers = 1};
    if (!ts_sweep_rank_blocks(&err, arena, &request, &blocks)) fail_msg("%s", err.message);
    assert_int_equal(blocks.fast.row_count, 0);
    assert_int_equal(blocks.misfits.row_count, 0);
    assert_int_equal(blocks.failed.row_count, 2);
    ts_arena_free(arena);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        ts_define sizes[2], define;
        const char *message;
    } rows[] = {
        {{{"a.b", "1"}, {"B", "1"}}, {"C", "1"}, "--block 'a.b': expected a name of letters and digits"},
        {{{"9", "1"}, {"B", "1"}}, {"C", "1"}, "--block '9': expected a name of letters and digits"},
        {{{"", "1"}, {"B", "1"}}, {"C", "1"}, "--block '': expected a name of letters and digits"},
        {{{"A_9z", "1"}, {"A_9z", "1"}}, {"C", "1"}, "--block A_9z: it has a value already"},
        {{{"A", "1"}, {"C", "1"}}, {"C", "1"}, "--block C: it has a value already"},
        {{{"C", "1"}, {"A", "1"}}, {"C", "1"}, "--block C: it has a value already"},
        {{{"A", "1,,2"}, {"B", "1"}}, {"C", "1"}, "expected values such as 1,2,3"},
        {{{"cycles", "1"}, {"B", "1"}}, {"C", "1"}, "'cycles' is the name of a result, expected another"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_sweep_blocks blocks;
        const ts_sweep_blocks_request request = {.program = add,
                                                 .machine = "tpu-v5e",
                                                 .defines = &rows[i].define,
                                                 .define_count = 1,
                                                 .blocks = rows[i].sizes,
                                                 .block_count = 2,
                                                 .workers = 1};
        assert_false(ts_sweep_rank_blocks(&err, arena, &request, &blocks));
        assert_string_equal(err.message, rows[i].message);
        ts_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranked),
        cmocka_unit_test(none),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
