/* The bill: its parts add up, stand for what they are called, and are alike with and without skipping; runs
 * against counting them one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/support/hbm2.h"
#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"

enum { SEED = 4096 };

static const ts_shape *shape(ts_arena *arena, const char *type, int64_t rows, int64_t columns,
                             const char *layout) {
    char text[96];
    ts_error err = {0};
    snprintf(text, sizeof text, "%s[%d,%d]%s", type, (int)rows, (int)columns, layout);
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *parsed = ts_shape_parse(&err, arena, &source);
    assert_non_null(parsed);
    return parsed;
}

static const ts_plan *plan_of(ts_arena *arena, const ts_shape *src, const ts_shape *dst) {
    ts_error err = {0};
    ts_plan_side a = {src, NULL, NULL, 0}, b = {dst, NULL, NULL, ts_round_up(src->storage_bytes, 4096) * 8};
    const ts_plan *plan = ts_plan_new(&err, arena, &a, &b, src->layout->rank, src->layout->dims);
    assert_non_null(plan);
    return plan;
}

static ts_dma_cost price(ts_arena *arena, const ts_dma_config *dma, const ts_hbm_config *hbm,
                         const ts_plan *plan, bool src_in_hbm, bool dst_in_hbm, bool exact) {
    ts_error err = {0};
    ts_dma_machine machine = {dma, hbm, HBM2_KHZ, NULL, NULL};
    ts_dma_cost cost;
    assert_true(ts_dma_price(
        &err, arena,
        &(ts_dma_price_request){&machine, plan, {.in_hbm = src_in_hbm}, {.in_hbm = dst_in_hbm}, exact},
        &cost));
    return cost;
}

static void check_sum(const ts_dma_cost *cost) {
    int64_t sum = 0;
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++) {
        assert_true(cost->components[i] >= 0);
        sum += cost->components[i];
    }
    assert_int_equal(sum, cost->cycles);
}

/* ---- Sums ---- */

static const char *const layouts[] = {
    "{1,0}",          "{1,0:T(8,128)}", "{0,1:T(8,128)}",      "{0,1}",
    "{1,0:T(4,128)}", "{1,0:T(2,128)}", "{1,0:T(8,128)(2,1)}", "{1,0:T(16,128)(2,1)}"};
static const char *const types[] = {"f32", "bf16", "s8"};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0], TYPES = sizeof types / sizeof types[0], PAIRS = 60 };

TEST(parts_add_up) {
    uint64_t seed = SEED;
    int skipped = 0;
    for (int i = 0, most = cases(PAIRS, 6); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        bool large = i % 6 == 5;
        int64_t rows = large ? 1400 + random_below(&seed, 600) : 1 + random_below(&seed, 200);
        int64_t columns = large ? 1400 + random_below(&seed, 600) : 1 + random_below(&seed, 400);
        const ts_shape *src = shape(arena, types[random_below(&seed, TYPES)], rows, columns,
                                    layouts[random_below(&seed, LAYOUTS)]);
        const ts_shape *dst = shape(arena, types[random_below(&seed, TYPES)], rows, columns,
                                    layouts[random_below(&seed, LAYOUTS)]);
        const ts_plan *plan = plan_of(arena, src, dst);
        bool from = random_below(&seed, 4) > 0, to = random_below(&seed, 2);
        ts_dma_cost quick = price(arena, &plain_dma, &hbm2, plan, from, to, false),
                    exact = price(arena, &plain_dma, &hbm2, plan, from, to, true);
        check_sum(&quick);
        check_sum(&exact);
        assert_true(exact.components[TS_DMA_COMPONENT_FIXED] >= exact.fixed_cycles);
        for (int p = 0; p < TS_DMA_COMPONENT_COUNT; p++)
            assert_true(llabs(quick.components[p] - exact.components[p]) <= exact.cycles / 10 + 310);
        skipped += quick.estimated;
        ts_arena_free(arena);
    }
    assert_true(skipped >= cases(2, 1));
}

/* ---- What they stand for ---- */

/* Without HBM everything is the engine's: 4 MiB at 64 bytes a cycle to copy, and what the kind takes more. */
TEST_WITH_ARENA(engine_alone) {
    ts_dma_config dma = plain_dma;
    dma.bytes_per_cycle[TS_DMA_COPY] = 64;
    dma.bytes_per_cycle[TS_DMA_RETILE] = 32;
    const ts_shape *rows = shape(arena, "f32", 1024, 1024, "{1,0}"),
                   *tiles = shape(arena, "f32", 1024, 1024, "{1,0:T(8,128)}");
    ts_dma_cost copy = price(arena, &dma, &hbm2, plan_of(arena, rows, rows), false, false, true);
    ts_dma_cost retile = price(arena, &dma, &hbm2, plan_of(arena, rows, tiles), false, false, true);
    assert_int_equal(copy.components[TS_DMA_COMPONENT_USEFUL], 65536);
    assert_int_equal(copy.components[TS_DMA_COMPONENT_FIXED], copy.cycles - 65536);
    assert_int_equal(retile.components[TS_DMA_COMPONENT_USEFUL], 65536);
    assert_int_equal(retile.components[TS_DMA_COMPONENT_REORDER], 65536);
    assert_string_equal(retile.limiter, "retile rate of the DMA engine");
    /* a ragged copy: padding travels */
    const ts_shape *ragged = shape(arena, "f32", 1024, 64, "{1,0:T(8,128)}");
    ts_dma_cost padded = price(arena, &dma, &hbm2, plan_of(arena, ragged, ragged), false, false, true);
    assert_int_equal(padded.components[TS_DMA_COMPONENT_USEFUL], 4096);
    assert_int_equal(padded.components[TS_DMA_COMPONENT_PADDING], 4096);
}

/* The pins of the HBM move useful bytes, padding and waste alike. */
TEST_WITH_ARENA(bytes_split_the_peak) {
    const ts_shape *ragged = shape(arena, "f32", 1024, 64, "{1,0:T(8,128)}"),
                   *whole = shape(arena, "f32", 1024, 64, "{1,0}");
    ts_dma_cost padded = price(arena, &plain_dma, &hbm2, plan_of(arena, ragged, ragged), true, true, true);
    assert_int_equal(padded.transfer.padding_bytes, padded.transfer.useful_bytes * 2);
    assert_in_range(
        padded.components[TS_DMA_COMPONENT_PADDING] - padded.components[TS_DMA_COMPONENT_USEFUL] + 1, 0, 2);
    assert_int_equal(padded.components[TS_DMA_COMPONENT_USEFUL] + padded.components[TS_DMA_COMPONENT_PADDING],
                     padded.memory_cycles);
    ts_dma_config coarse = plain_dma;
    coarse.access_bytes = 1024; /* rows of tiles that are 256 bytes of every 512 */
    ts_dma_cost wasted = price(arena, &coarse, &hbm2, plan_of(arena, ragged, whole), true, false, true);
    assert_int_equal(wasted.components[TS_DMA_COMPONENT_PADDING], 0);
    assert_in_range(
        wasted.components[TS_DMA_COMPONENT_WASTE] - wasted.components[TS_DMA_COMPONENT_USEFUL] + 1, 0, 2);
}

/* Where the engine is slow at a kind, what a copy needs are the bytes that are asked for; waste hides behind the rest. */
TEST_WITH_ARENA(waste_hides_behind_the_engine) {
    const ts_shape *ragged = shape(arena, "f32", 1024, 64, "{1,0:T(8,128)}"),
                   *turned = shape(arena, "f32", 1024, 64, "{0,1}");
    ts_dma_config slow = plain_dma;
    slow.access_bytes = 1024;
    slow.bytes_per_cycle[TS_DMA_TRANSPOSE] = 16;
    ts_dma_cost cost = price(arena, &slow, &hbm2, plan_of(arena, ragged, turned), true, false, true);
    const int64_t bytes = 1024 * 64 * 4, peak = bytes / HBM2_BYTES_PER_NS;
    assert_int_equal(cost.engine_cycles, bytes / 16);
    assert_true(cost.transfer.waste_bytes > 0 && cost.memory_cycles > peak);
    assert_int_equal(cost.components[TS_DMA_COMPONENT_USEFUL], peak);
    assert_int_equal(cost.components[TS_DMA_COMPONENT_WASTE], 0);
    assert_int_equal(cost.components[TS_DMA_COMPONENT_REORDER], cost.engine_cycles - peak);
}

/* Those beyond the first, where they take more than half of the fixed cost. */
TEST(descriptors_limit_it) {
    static const struct {
        int loop_dims;
        int64_t rows, descriptor_ps;
        const char *limiter;
    } rows[] = {{4, 64, 10000, "fixed cost of a transfer"},
                {1, 64, 10000, "number of descriptors"},
                {1, 64, 1000, "fixed cost of a transfer"},
                {1, 31, 10000, "fixed cost of a transfer"}, /* 30 of 600 */
                {1, 32, 10000, "number of descriptors"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_dma_config dma = plain_dma;
        dma.loop_dims = rows[i].loop_dims;
        dma.descriptor_ps = rows[i].descriptor_ps;
        const ts_shape *from = shape(arena, "f32", rows[i].rows, 100, "{1,0:T(8,128)}"),
                       *to = shape(arena, "f32", rows[i].rows, 100, "{1,0}");
        ts_dma_cost cost = price(arena, &dma, &hbm2, plan_of(arena, from, to), true, false, true);
        if (strcmp(cost.limiter, rows[i].limiter) != 0)
            fail_msg("row %zu: %s, of %d descriptors, %d", i, cost.limiter, (int)cost.transfer.descriptors,
                     (int)cost.fixed_cycles);
        ts_arena_free(arena);
    }
}

/* ---- A program of the core ---- */

/* In 16 buses' ticks, which are cycles. */
TEST(parts_of_a_program) {
    enum { U = TS_DMA_COMPONENT_USEFUL };
    static const struct {
        int64_t cycles, core, src, dst, padding, waste;
        int64_t data, requests, refresh, idle;
        int64_t parts
            [TS_DMA_COMPONENT_COUNT]; /* useful, padding, waste, rows, conflicts, refresh, reordering, fixed */
        const char *limiter;
    } rows[] = {
        /* A tenth is padding, a twentieth waste, at 256 bytes a cycle; two ends of 300 cycles; the HBM is at work for 1900. */
        {10000,
         5000,
         256000,
         128000,
         38400,
         19200,
         1500,
         8000,
         400,
         0,
         {1275, 150, 75, 0, 342, 58, 7500, 600},
         "core"},
        {10000,
         5000,
         256000,
         128000,
         38400,
         19200,
         1500,
         0,
         400,
         0,
         {1275, 150, 75, 0, 0, 400, 7500, 600},
         "core"},
        {10000, 5000, 384000, 0, 0, 0, 1500, 8000, 400, 0, {1500, 0, 0, 0, 348, 52, 7800, 300}, "core"},
        {10000, 5000, 0, 384000, 0, 0, 1500, 8000, 400, 0, {1500, 0, 0, 0, 348, 52, 7800, 300}, "core"},
        {2500,
         1000,
         256000,
         128000,
         0,
         0,
         1500,
         500,
         400,
         100,
         {1500, 0, 0, 0, 0, 400, 0, 600},
         "HBM bandwidth"},
        /* What the core and the fixed cost do not explain of idle time. */
        {6000,
         1000,
         256000,
         128000,
         0,
         0,
         1500,
         3000,
         3000,
         0,
         {1500, 0, 0, 0, 954, 2046, 900, 600},
         "HBM refresh"},
        {6000,
         1000,
         256000,
         128000,
         0,
         0,
         1500,
         1000,
         3000,
         2000,
         {1500, 0, 0, 0, 954, 2046, 900, 600},
         "HBM refresh"},
        {700, 100, 1024, 512, 0, 0, 6, 0, 0, 0, {6, 0, 0, 0, 0, 0, 94, 600}, "fixed cost of a transfer"},
        /* Never less than the bytes at the peak. */
        {1000, 100, 256000, 128000, 0, 0, 1500, 0, 0, 0, {900, 0, 0, 0, 0, 0, 0, 600}, "HBM bandwidth"},
        {1000, 100, 256, 0, 200, 100, 900, 0, 0, 0, {0, 0, 1, 0, 0, 0, 0, 999}, "fixed cost of a transfer"},
    };
    const ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ, NULL, NULL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_dma_cost cost = {.cycles = rows[i].cycles,
                            .transfer = {.src_bytes = rows[i].src,
                                         .dst_bytes = rows[i].dst,
                                         .padding_bytes = rows[i].padding,
                                         .waste_bytes = rows[i].waste}};
        cost.hbm.limiter_cycles[TS_HBM_LIMITER_DATA] = 16 * rows[i].data;
        cost.hbm.limiter_cycles[TS_HBM_LIMITER_REQUESTS] = 16 * rows[i].requests;
        cost.hbm.limiter_cycles[TS_HBM_LIMITER_REFRESH] = 16 * rows[i].refresh;
        cost.hbm.limiter_cycles[TS_HBM_LIMITER_IDLE] = 16 * rows[i].idle;
        cost.components[U] = 77;
        ts_dma_break_down_program(&machine, rows[i].core, "core", &cost);
        for (int k = 0; k < TS_DMA_COMPONENT_COUNT; k++)
            if (cost.components[k] != rows[i].parts[k])
                fail_msg("row %zu: %s %d", i, ts_dma_component_key((ts_dma_component)k),
                         (int)cost.components[k]);
        assert_string_equal(cost.limiter, rows[i].limiter);
    }
}

/* Without a cost the time of its part goes: not to the cycle, as others hide behind it, but most of it. */
static void check_saving(int64_t part, int64_t before, int64_t after, int least_percent, int most_percent) {
    assert_true(part * 20 > before); /* else the check says little */
    assert_in_range((before - after) * 100 / part, least_percent, most_percent);
}

TEST_WITH_ARENA(parts_are_what_could_be_saved) {
    const ts_shape *rows = shape(arena, "f32", 512, 512, "{1,0}"),
                   *turned = shape(arena, "f32", 512, 512, "{0,1}");
    const ts_plan *copy = plan_of(arena, rows, rows), *turn = plan_of(arena, rows, turned);
    ts_hbm_config few_banks = hbm2, quick_rows, calm = hbm2;
    few_banks.bank_groups = few_banks.banks = 1;
    quick_rows = few_banks;
    ts_dma_cost before = price(arena, &plain_dma, &few_banks, copy, true, true, true), after;
    ts_hbm_timing *t = &quick_rows.timing;
    t->t_rcd_rd = t->t_rcd_wr = t->t_rp = t->t_ras = t->t_rc = t->t_rrd_s = t->t_rrd_l = t->t_faw = t->t_wr =
        t->t_rtp = 1;
    after = price(arena, &plain_dma, &quick_rows, copy, true, true, true);
    check_saving(before.components[TS_DMA_COMPONENT_ROWS], before.cycles, after.cycles, 50, 150);
    assert_true(after.components[TS_DMA_COMPONENT_ROWS] * 3 < before.components[TS_DMA_COMPONENT_ROWS]);
    quick_rows = few_banks;
    t->t_rcd_rd = t->t_rcd_wr = 80; /* and what is added to a cost, its part gets */
    after = price(arena, &plain_dma, &quick_rows, copy, true, true, true);
    check_saving(after.components[TS_DMA_COMPONENT_ROWS] - before.components[TS_DMA_COMPONENT_ROWS],
                 after.cycles, before.cycles, 70, 130);
    quick_rows = hbm2;
    before = price(arena, &plain_dma, &hbm2, copy, true, true, true);
    t->t_wtr_s = t->t_wtr_l = t->t_rtw = 300;
    after = price(arena, &plain_dma, &quick_rows, copy, true, true, true);
    check_saving(after.components[TS_DMA_COMPONENT_CONFLICTS] - before.components[TS_DMA_COMPONENT_CONFLICTS],
                 after.cycles, before.cycles, 70, 130);
    calm.refresh = TS_HBM_REFRESH_NONE;
    before = price(arena, &plain_dma, &hbm2, copy, true, true, true);
    after = price(arena, &plain_dma, &calm, copy, true, true, true);
    check_saving(before.components[TS_DMA_COMPONENT_REFRESH], before.cycles, after.cycles, 60, 140);
    assert_int_equal(after.components[TS_DMA_COMPONENT_REFRESH], 0);
    ts_dma_config slow = plain_dma;
    slow.bytes_per_cycle[TS_DMA_TRANSPOSE] = 2;
    before = price(arena, &slow, &hbm2, turn, true, false, true);
    after = price(arena, &plain_dma, &hbm2, turn, true, false, true);
    check_saving(before.components[TS_DMA_COMPONENT_REORDER], before.cycles, after.cycles, 80, 110);
    assert_string_equal(before.limiter, "transpose rate of the DMA engine");
}

/* ---- Runs ---- */

typedef struct {
    int64_t src, dst;
} place;

static int by_src(const void *a, const void *b) {
    return ((const place *)a)->src < ((const place *)b)->src
               ? -1
               : ((const place *)a)->src > ((const place *)b)->src;
}

static int by_dst(const void *a, const void *b) {
    return ((const place *)a)->dst < ((const place *)b)->dst
               ? -1
               : ((const place *)a)->dst > ((const place *)b)->dst;
}

/* Runs of one box, an element at a time. */
static int64_t count_one_by_one(ts_arena *arena, const ts_plan_box *box, ts_dma_runs_of which, int src_bits,
                                int dst_bits) {
    place *places = TS_NEW_ARRAY(arena, place, box->elements);
    for (int64_t i = 0; i < box->elements; i++) {
        places[i] = (place){box->src_bits, box->dst_bits};
        int64_t left = i;
        for (int j = 0; j < box->loop_count; left /= box->loops[j++].extent) {
            places[i].src += left % box->loops[j].extent * box->loops[j].src_bits;
            places[i].dst += left % box->loops[j].extent * box->loops[j].dst_bits;
        }
    }
    qsort(places, (size_t)box->elements, sizeof *places, which == TS_DMA_RUNS_DST ? by_dst : by_src);
    int64_t runs = 1;
    for (int64_t i = 1; i < box->elements; i++) {
        bool src = places[i].src == places[i - 1].src + src_bits,
             dst = places[i].dst == places[i - 1].dst + dst_bits;
        runs += which == TS_DMA_RUNS_SRC ? !src : which == TS_DMA_RUNS_DST ? !dst : !(src && dst);
    }
    return runs;
}

enum { ROUNDS = 40 };

TEST(runs_are_those_counted_one_by_one) {
    uint64_t seed = SEED + 1;
    int alike = 0, most = cases(ROUNDS, 12);
    for (int i = 0; i < most; i++) {
        ts_arena *arena = ts_arena_new();
        int64_t rows = 1 + random_below(&seed, 40), columns = 1 + random_below(&seed, 300);
        const ts_shape *src = shape(arena, types[random_below(&seed, TYPES)], rows, columns,
                                    layouts[random_below(&seed, LAYOUTS)]);
        const ts_shape *dst = shape(arena, types[random_below(&seed, TYPES)], rows, columns,
                                    layouts[random_below(&seed, LAYOUTS)]);
        const ts_plan *plan = plan_of(arena, src, dst);
        for (int which = TS_DMA_RUNS_BOTH; which <= TS_DMA_RUNS_DST; which++) {
            int64_t expected = 0, total = 0;
            ts_dma_runs runs;
            for (int64_t n = 0; n < plan->box_count; n++) {
                ts_plan_box box;
                ts_plan_get_box(plan, n, &box);
                expected += count_one_by_one(arena, &box, (ts_dma_runs_of)which, src->element_bits,
                                             dst->element_bits);
            }
            ts_dma_count_runs(plan, (ts_dma_runs_of)which, &runs);
            for (int class = 0; class < TS_DMA_RUN_CLASSES; class ++) {
                total += runs.count[class];
                assert_true(runs.count[class] == 0 || (runs.shortest_bits[class] >> class == 1 &&
                                                       runs.longest_bits[class] >> class == 1));
            }
            /* a run that the next turn of an outer loop happens to go on with counts as two */
            if (which == TS_DMA_RUNS_BOTH)
                assert_true(runs.total >= expected), alike += runs.total == expected;
            else
                assert_int_equal(runs.total, expected);
            assert_int_equal(total, runs.total);
        }
        ts_arena_free(arena);
    }
    assert_true(alike >= most / 2);
}

TEST_WITH_ARENA(runs_of_a_tile) {
    const ts_plan *plan =
        plan_of(arena, shape(arena, "f32", 8, 165, "{1,0}"), shape(arena, "f32", 8, 165, "{1,0:T(8,128)}"));
    ts_dma_runs runs;
    ts_dma_count_runs(plan, TS_DMA_RUNS_BOTH, &runs);
    assert_int_equal(runs.count[12], 8); /* 128 elements of 32 bits: 2^12 */
    assert_int_equal(runs.shortest_bits[12], 4096);
    assert_int_equal(runs.count[10], 8); /* 37 of them: 1184 bits */
    assert_int_equal(runs.longest_bits[10], 1184);
    assert_int_equal(runs.total, 16);
}
