/* The engine's time: fixed costs to the cycle, streams near the memory's peak, transfers that share,
 * refusals. */
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/support/hbm2.h"

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_dma_config dma;
} fixture;

static int set_up(void **state) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    *f = (fixture){.arena = arena, .dma = plain_dma};
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    ts_arena_free(((fixture *)*state)->arena);
    return 0;
}

static const ts_shape *shape(fixture *f, const char *text) {
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *parsed = ts_shape_parse(&f->err, f->arena, &source);
    assert_non_null(parsed);
    return parsed;
}

/* A slice of both from `begin`, with these sizes; NULL: all. */
static const ts_plan *plan_of(fixture *f, const char *src, const char *dst, int64_t dst_at,
                              const int64_t *begin, const int64_t *sizes) {
    const ts_shape *from = shape(f, src), *to = shape(f, dst);
    ts_plan_side a = {from, begin, NULL, 0}, b = {to, begin, NULL, dst_at * 8};
    const ts_plan *plan =
        ts_plan_new(&f->err, f->arena, &a, &b, from->layout->rank, sizes ? sizes : from->layout->dims);
    assert_non_null(plan);
    return plan;
}

static ts_dma_cost price(fixture *f, const ts_plan *plan, bool src_in_hbm, bool dst_in_hbm) {
    ts_dma_machine machine = {&f->dma, &hbm2, HBM2_KHZ, NULL, NULL};
    ts_dma_cost cost;
    assert_true(ts_dma_price(
        &f->err, f->arena,
        &(ts_dma_price_request){&machine, plan, {.in_hbm = src_in_hbm}, {.in_hbm = dst_in_hbm}, true},
        &cost));
    return cost;
}

/* 36: one 64-byte read of a closed bank in Ramulator 2.1's HBM2 (ACT at 1, RD at 16, RD at 20, 16 to the last
 * data). */
TEST_WITH(one_line_costs_issue_memory_completion, set_up, tear_down) {
    fixture *f = *state;
    const ts_plan *plan = plan_of(f, "f32[16]{0}", "f32[16]{0}", 4096, NULL, NULL);
    assert_int_equal(price(f, plan, true, false).cycles, 100 + 36 + 200);
    assert_int_equal(price(f, plan, false, false).cycles, 100 + 1 + 200);
}

TEST_WITH(every_fixed_cost_counts_to_the_cycle, set_up, tear_down) {
    fixture *f = *state;
    const ts_plan *plan =
        plan_of(f, "bf16[64,256]{1,0}", "bf16[64,256]{1,0:T(8,128)(2,1)}", 1 << 20, NULL, NULL);
    ts_dma_cost base = price(f, plan, true, false);
    assert_int_equal(base.transfer.descriptors,
                     2); /* loops of 8, 2, 4, 128 and 2: the 2 that steps over words */
    assert_int_equal(base.fixed_cycles, 100 + 10 + 200);
    const ts_plan *threes =
        plan_of(f, "bf16[24,384]{1,0}", "bf16[24,384]{1,0:T(8,128)(2,1)}", 1 << 20, NULL, NULL);
    assert_int_equal(price(f, threes, true, false).transfer.descriptors,
                     3); /* loops of 3, 3, 4, 128 and 2: the shortest that steps over words */
    f->dma.issue_ps += 1000;
    assert_int_equal(price(f, plan, true, false).cycles, base.cycles + 1);
    f->dma.completion_ps += 1000;
    assert_int_equal(price(f, plan, true, false).cycles, base.cycles + 2);
    f->dma.descriptor_ps += 1000;
    assert_int_equal(price(f, plan, true, false).cycles, base.cycles + 3);
}

TEST_WITH(engine_rate_limits_a_fast_memory, set_up, tear_down) {
    fixture *f = *state;
    const ts_plan *plan = plan_of(f, "f32[1024,1024]{1,0}", "f32[1024,1024]{1,0:T(8,128)}", 0, NULL, NULL);
    f->dma.bytes_per_cycle[TS_DMA_RETILE] = 64;
    ts_dma_cost cost = price(f, plan, true, false);
    assert_in_range(cost.cycles, 65536 + 300, 65536 + 400);
    assert_string_equal(cost.limiter, "retile rate of the DMA engine");
    assert_int_equal(price(f, plan, false, false).cycles, 65536 + 300);
}

/* 64 KiB to 8 partitions that take 2 bytes a cycle each. */
TEST_WITH(partitions_limit_the_rate, set_up, tear_down) {
    fixture *f = *state;
    const ts_plan *plan = plan_of(f, "f32[64,256]{1,0}", "f32[64,256]{1,0:T(8,128)}", 0, NULL, NULL);
    ts_dma_machine machine = {&f->dma, &hbm2, HBM2_KHZ, NULL, NULL};
    ts_dma_end src = {.in_hbm = false}, dst = {.partition_bits = 8 * 256 * 32};
    ts_dma_cost cost;
    f->dma.partition_bytes_per_cycle = 2;
    assert_true(
        ts_dma_price(&f->err, f->arena, &(ts_dma_price_request){&machine, plan, src, dst, true}, &cost));
    assert_int_equal(cost.cycles, 100 + 65536 / 16 + 200);
}

/* What leaves the HBM is limited, what enters it is not; a slower kind counts instead. */
TEST_WITH(reads_have_a_rate_of_their_own, set_up, tear_down) {
    fixture *f = *state;
    const ts_plan *copy = plan_of(f, "f32[64,256]{1,0}", "f32[64,256]{1,0}", 0, NULL, NULL);
    const ts_plan *retile = plan_of(f, "f32[64,256]{1,0}", "f32[64,256]{1,0:T(8,128)}", 0, NULL, NULL);
    f->dma.bytes_per_cycle[TS_DMA_COPY] = 1024;
    f->dma.bytes_per_cycle[TS_DMA_RETILE] = 2;
    int64_t writes = price(f, copy, false, true).cycles;
    f->dma.read_bytes_per_cycle = 8;
    ts_dma_cost read = price(f, copy, true, false), slower = price(f, retile, true, false);
    assert_int_equal(read.engine_cycles, 65536 / 8);
    assert_in_range(read.cycles, 65536 / 8 + 300, 65536 / 8 + 400);
    assert_string_equal(read.limiter, "rate at which the DMA engine reads HBM");
    assert_int_equal(price(f, copy, false, true).cycles, writes);
    assert_int_equal(slower.engine_cycles, 65536 / 2);
    assert_string_equal(slower.limiter, "retile rate of the DMA engine");
    f->dma.read_bytes_per_cycle = 1024;
    assert_int_equal(price(f, copy, true, false).engine_cycles, 65536 / 1024);
}

/* Two transfers of 64 KiB at once, a block of each in turns: how long each keeps the engine busy. */
static void run_both(fixture *f, ts_dma_transfer a, ts_dma_transfer b, int64_t busy[2]) {
    a.plan = b.plan = plan_of(f, "f32[64,256]{1,0}", "f32[64,256]{1,0}", 0, NULL, NULL);
    b.tag = 1;
    ts_hbm *hbm = ts_hbm_new(&f->err, f->arena, &hbm2);
    ts_dma *dma = ts_dma_new(f->arena, &f->dma, hbm, HBM2_KHZ, HBM2_KHZ);
    assert_true(ts_dma_start(&f->err, dma, &a, 0) && ts_dma_start(&f->err, dma, &b, 0));
    for (int i = 0; i < 2; i++) {
        ts_dma_result result;
        ts_dma_next(dma, INT64_MAX);
        assert_true(ts_dma_complete(&f->err, dma, &result));
        busy[result.tag] = result.engine_cycles;
    }
    ts_dma_free(dma);
}

/* A limit while one reads the HBM and another writes it, not for two that move the same way, nor beside one that
 * does not touch the HBM, nor where the transfer is slower anyway. */
TEST_WITH(reads_beside_writes_have_a_rate_of_their_own, set_up, tear_down) {
    fixture *f = *state;
    ts_dma_transfer read = {.src.in_hbm = true}, write = {.dst.in_hbm = true}, local = {.src.in_hbm = false},
                    copy = {.src.in_hbm = true, .dst.in_hbm = true};
    int64_t free_run = 65536 / 16, limited = 65536 / 4;
    struct {
        ts_dma_transfer a, b;
        int32_t mixed;
        bool meet;
    } rows[] = {{read, write, 4, true},   {write, read, 4, true},  {read, copy, 4, true},
                {copy, read, 4, true},    {copy, write, 4, true},  {read, read, 4, false},
                {write, write, 4, false}, {read, local, 4, false}, {local, write, 4, false},
                {local, copy, 4, false},  {read, write, 0, false}, {write, read, 16, false},
                {write, read, 17, false}};
    f->dma.arbitration = TS_DMA_ROUND_ROBIN;
    f->dma.bytes_per_cycle[TS_DMA_COPY] = 16;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t busy[2];
        f->dma.mixed_bytes_per_cycle = rows[i].mixed;
        run_both(f, rows[i].a, rows[i].b, busy);
        for (int k = 0; k < 2; k++) assert_int_equal(busy[k], rows[i].meet ? limited : free_run);
    }
    int64_t busy[2];
    f->dma.mixed_bytes_per_cycle = 4;
    f->dma.queues = 1; /* the other waits for a queue */
    run_both(f, read, write, busy);
    assert_int_equal(busy[0], free_run);
    assert_int_equal(busy[1], free_run);
    f->dma.queues = 4;
    f->dma.arbitration = TS_DMA_IN_ORDER; /* the older has made its requests when the other begins */
    run_both(f, read, write, busy);
    assert_int_equal(busy[0], limited);
    assert_int_equal(busy[1], free_run);
    const ts_plan *alone = plan_of(f, "f32[64,256]{1,0}", "f32[64,256]{1,0}", 1 << 20, NULL, NULL);
    assert_int_equal(price(f, alone, true, true).engine_cycles, free_run);
}

/* 0.92 of the peak: what Ramulator 2.1 and DRAMsim3 give streams and tile reads; refresh is the rest. */
TEST_WITH(streams_run_near_the_peak, set_up, tear_down) {
    fixture *f = *state;
    const char *const destinations[] = {"f32[2048,1024]{1,0}", "f32[2048,1024]{1,0:T(8,128)}"};
    for (size_t i = 0; i < 2; i++) {
        ts_dma_cost cost =
            price(f, plan_of(f, "f32[2048,1024]{1,0}", destinations[i], 0, NULL, NULL), true, false);
        assert_int_equal(cost.transfer.src_bytes, 8 << 20);
        assert_in_range(cost.cycles, (8 << 20) / HBM2_BYTES_PER_NS / 0.93,
                        (8 << 20) / HBM2_BYTES_PER_NS / 0.90);
        assert_string_equal(cost.limiter, "HBM bandwidth");
    }
}

/* What is not known to be complete by a cycle is so when its last data, which come then at the earliest, are told of. */
TEST_WITH(nothing_ends_before_its_cost_has_passed, set_up, tear_down) {
    fixture *f = *state;
    ts_hbm *hbm = ts_hbm_new(&f->err, f->arena, &hbm2);
    ts_dma *dma = ts_dma_new(f->arena, &f->dma, hbm, HBM2_KHZ, HBM2_KHZ);
    const ts_plan *plan = plan_of(f, "f32[64,512]{1,0}", "f32[64,512]{1,0}", 1 << 20, NULL, NULL);
    assert_int_equal(ts_dma_quiet_until(dma, 10), INT64_MAX);
    assert_true(ts_dma_start(&f->err, dma, &(ts_dma_transfer){.plan = plan, .src.in_hbm = true}, 0));
    for (int64_t limit = 50; limit <= 250; limit += 100) {
        assert_int_equal(ts_dma_next(dma, limit), INT64_MAX);
        assert_int_equal(ts_dma_quiet_until(dma, limit), limit - 1 + 200);
    }
    int64_t done = ts_dma_next(dma, INT64_MAX);
    assert_int_equal(ts_dma_next(dma, done - 1), INT64_MAX);
    assert_int_equal(ts_dma_quiet_until(dma, done - 1), done);
    ts_dma_free(dma);
}

/* Words in their order are a copy, whatever is left out between them; halves of words are not. */
TEST_WITH(kinds_of_slices, set_up, tear_down) {
    fixture *f = *state;
    static const struct {
        const char *src, *dst;
        int64_t begin[2], sizes[2];
        ts_dma_kind kind;
    } rows[] = {
        {"f32[64,512]{1,0}", "f32[64,512]{1,0}", {0, 0}, {64, 512}, TS_DMA_COPY},
        {"f32[64,512]{1,0}", "f32[64,512]{1,0:T(8,128)}", {0, 0}, {64, 512}, TS_DMA_RETILE},
        {"f32[64,512]{1,0:T(8,128)}", "f32[64,512]{1,0:T(8,128)}", {8, 128}, {16, 256}, TS_DMA_COPY},
        {"f32[64,512]{1,0:T(8,128)}", "f32[64,512]{1,0:T(8,128)}", {3, 130}, {16, 256}, TS_DMA_COPY},
        {"f32[64,512]{1,0}", "f32[64,512]{1,0}", {3, 5}, {16, 7}, TS_DMA_COPY},
        {"f32[64,512]{1,0}", "f32[64,512]{0,1}", {0, 0}, {64, 512}, TS_DMA_TRANSPOSE},
        {"bf16[64,512]{1,0:T(8,128)(2,1)}",
         "bf16[64,512]{1,0:T(8,128)(2,1)}",
         {8, 128},
         {16, 256},
         TS_DMA_COPY},
        {"bf16[64,512]{1,0}", "bf16[64,512]{1,0}", {0, 5}, {16, 6}, TS_DMA_RETILE},
        {"bf16[64,512]{1,0}", "bf16[64,512]{1,0}", {0, 6}, {16, 7}, TS_DMA_RETILE},
        {"bf16[64,512]{1,0}", "bf16[64,512]{1,0}", {0, 6}, {16, 8}, TS_DMA_COPY},
        {"bf16[64,511]{1,0}", "bf16[64,511]{1,0}", {0, 6}, {16, 8}, TS_DMA_RETILE}, /* every other row */
        {"f32[64,511]{1,0}", "f32[64,511]{1,0}", {0, 5}, {16, 7}, TS_DMA_COPY},
        {"f32[64,512]{1,0}", "f32[64,512]{0,1}", {0, 0}, {64, 1}, TS_DMA_TRANSPOSE},
        {"f32[64,512]{1,0}", "f32[64,512]{0,1}", {0, 0}, {1, 512}, TS_DMA_TRANSPOSE},
        {"bf16[64,512]{1,0}", "bf16[64,512]{1,0:T(8,128)(2,1)}", {0, 0}, {64, 512}, TS_DMA_INTERLEAVE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_plan *plan = plan_of(f, rows[i].src, rows[i].dst, 1 << 20, rows[i].begin, rows[i].sizes);
        assert_string_equal(ts_dma_kind_text(ts_dma_classify(plan)), ts_dma_kind_text(rows[i].kind));
    }
}

TEST_WITH(bytes_are_accounted, set_up, tear_down) {
    fixture *f = *state;
    const char *src = "f32[13,100]{1,0}", *dst = "f32[13,100]{1,0:T(8,128)}";
    ts_dma_cost cost = price(f, plan_of(f, src, dst, 1 << 20, NULL, NULL), true, true);
    assert_int_equal(cost.transfer.useful_bytes, 13 * 100 * 4);
    assert_int_equal(cost.transfer.src_bytes, 82 * 64);     /* 5200 bytes in a row */
    assert_int_equal(cost.transfer.dst_bytes, 13 * 7 * 64); /* 400 of 512 bytes of each row: 7 lines */
    assert_int_equal(cost.transfer.padding_bytes, 0);
    assert_int_equal(cost.transfer.waste_bytes, 82 * 64 + 13 * 7 * 64 - 2 * 5200);
    ts_dma_cost tiled = price(f, plan_of(f, dst, dst, 1 << 20, NULL, NULL), true, true);
    assert_int_equal(tiled.transfer.padding_bytes, 2 * (16 * 128 - 1300) * 4);
    assert_int_equal(tiled.transfer.src_bytes, 16 * 128 * 4);
}

TEST_WITH(half_words_beside_valid_rows_are_read_first, set_up, tear_down) {
    fixture *f = *state;
    const char *dst = "bf16[16,128]{1,0:T(8,128)(2,1)}", *src = "bf16[16,128]{1,0}";
    const int64_t aligned[2] = {2, 0}, odd[2] = {1, 0}, two[2] = {2, 128}, one[2] = {1, 128},
                  all[2] = {16, 128};
    assert_int_equal(price(f, plan_of(f, src, dst, 1 << 20, aligned, two), true, true).transfer.rmw_lines, 0);
    ts_dma_cost read_first = price(f, plan_of(f, src, dst, 1 << 20, odd, one), true, true);
    assert_int_equal(read_first.transfer.rmw_lines, 8);
    assert_int_equal(read_first.hbm.reads * hbm2.burst_bytes, read_first.transfer.src_bytes + 8 * 64);
    assert_int_equal(read_first.hbm.writes * hbm2.burst_bytes, 8 * 64);
    assert_int_equal(price(f, plan_of(f, src, dst, 1 << 20, NULL, all), true, true).transfer.rmw_lines, 0);
    /* the last row of an odd number shares its words with padding only */
    const char *ragged = "bf16[15,128]{1,0:T(8,128)(2,1)}";
    assert_int_equal(
        price(f, plan_of(f, "bf16[15,128]{1,0}", ragged, 1 << 20, NULL, NULL), true, true).transfer.rmw_lines,
        0);
}

TEST_WITH(transfers_share_the_memory, set_up, tear_down) {
    fixture *f = *state;
    ts_dma_result result[2];
    const ts_plan *plan = plan_of(f, "f32[1024,1024]{1,0}", "f32[1024,1024]{1,0:T(8,128)}", 0, NULL, NULL);
    const ts_plan *other = plan_of(f, "f32[1024,1024]{1,0}", "f32[1024,1024]{1,0}", 0, NULL, NULL);
    int64_t alone = price(f, plan, true, false).cycles;
    ts_hbm *hbm = ts_hbm_new(&f->err, f->arena, &hbm2);
    ts_dma *dma = ts_dma_new(f->arena, &f->dma, hbm, HBM2_KHZ, HBM2_KHZ);
    ts_dma_transfer a = {.plan = plan, .src.in_hbm = true, .tag = 1},
                    b = {.plan = other, .src.in_hbm = true, .tag = 2};
    assert_true(ts_dma_start(&f->err, dma, &a, 0));
    assert_true(ts_dma_start(&f->err, dma, &b, 0));
    assert_int_equal(ts_dma_next(dma, 1000), INT64_MAX);
    for (int i = 0; i < 2; i++) {
        int64_t cycle = ts_dma_next(dma, INT64_MAX);
        assert_true(ts_dma_complete(&f->err, dma, &result[i]));
        assert_int_equal(result[i].completed_cycle, cycle);
    }
    int64_t other_alone = price(f, other, true, false).cycles;
    print_message("together %lld cycles, one after the other %lld\n", (long long)result[1].completed_cycle,
                  (long long)(alone + other_alone));
    assert_in_range(result[1].completed_cycle, (alone + other_alone) * 95 / 100,
                    (alone + other_alone) * 115 / 100);
    assert_true(result[0].completed_cycle > alone * 3 / 2);
    assert_true(result[1].completed_cycle >= result[0].completed_cycle);
    assert_true(result[1].completed_cycle >= 2 * (4 << 20) / HBM2_BYTES_PER_NS);
    assert_int_equal(ts_dma_under_way(dma), 0);
    ts_dma_free(dma);
}

/* A transfer of 4 MiB, and 2000 cycles later one of 16 KiB: when both are done. */
static void run_beside(fixture *f, int arbitration, int priority_of_large, int64_t rate, int64_t done[2]) {
    const ts_plan *large = plan_of(f, "f32[1024,1024]{1,0}", "f32[1024,1024]{1,0}", 0, NULL, NULL),
                  *small = plan_of(f, "f32[4,1024]{1,0}", "f32[4,1024]{1,0}", 0, NULL, NULL);
    f->dma.arbitration = arbitration;
    f->dma.bytes_per_cycle[TS_DMA_COPY] = (int32_t)rate;
    ts_hbm *hbm = ts_hbm_new(&f->err, f->arena, &hbm2);
    ts_dma *dma = ts_dma_new(f->arena, &f->dma, hbm, HBM2_KHZ, HBM2_KHZ);
    ts_dma_transfer a = {.plan = large, .src.in_hbm = true, .tag = 0, .priority = priority_of_large},
                    b = {.plan = small, .src.in_hbm = true, .tag = 1};
    assert_true(ts_dma_start(&f->err, dma, &a, 0));
    assert_int_equal(ts_dma_next(dma, 2000), INT64_MAX);
    assert_true(ts_dma_start(&f->err, dma, &b, 2000));
    for (int i = 0; i < 2; i++) {
        ts_dma_result result;
        ts_dma_next(dma, INT64_MAX);
        assert_true(ts_dma_complete(&f->err, dma, &result));
        done[result.tag] = result.completed_cycle;
    }
    ts_dma_free(dma);
}

/* Which of the two goes on is the machine's policy; together they never take less than the memory, or the
 * engine, needs. */
TEST_WITH(policies_arbitrate, set_up, tear_down) {
    fixture *f = *state;
    enum { FAST = 4096, SLOW = 128 }; /* the memory is the narrow part, or the engine */
    int64_t alone =
        price(f, plan_of(f, "f32[4,1024]{1,0}", "f32[4,1024]{1,0}", 0, NULL, NULL), true, false).cycles;
    int64_t bytes = (4 << 20) + (16 << 10);
    const struct {
        int arbitration, priority_of_large;
        int64_t rate, most,
            least; /* of the small one, in times that it takes alone; less: it waits for the large one */
    } rows[] = {
        {TS_DMA_FIRST_READY, 0, FAST, 5, 2}, {TS_DMA_FIRST_READY, 0, SLOW, 0, 0},
        {TS_DMA_ROUND_ROBIN, 0, FAST, 5, 2}, {TS_DMA_ROUND_ROBIN, 0, SLOW, 3, 1},
        {TS_DMA_IN_ORDER, 0, FAST, 0, 0},    {TS_DMA_IN_ORDER, 0, SLOW, 0, 0},
        {TS_DMA_BY_PRIORITY, 0, FAST, 5, 2}, {TS_DMA_BY_PRIORITY, 1, FAST, 5, 1},
        {TS_DMA_BY_PRIORITY, 1, SLOW, 2, 1}, {TS_DMA_IN_ORDER, 1, FAST, 0, 0},
        {TS_DMA_FIRST_READY, 1, SLOW, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t done[2], last;
        run_beside(f, rows[i].arbitration, rows[i].priority_of_large, rows[i].rate, done);
        last = done[0] > done[1] ? done[0] : done[1];
        print_message("%zu: large %lld, small %lld after %lld, alone %lld\n", i, (long long)done[0],
                      (long long)done[1], (long long)(done[1] - 2000), (long long)alone);
        assert_true(last >= bytes / HBM2_BYTES_PER_NS && last >= bytes / rows[i].rate);
        if (rows[i].most == 0) {
            assert_true(done[1] > done[0] - 1000);
            continue;
        }
        assert_in_range(done[1] - 2000, rows[i].least * alone, rows[i].most * alone);
        assert_true(done[0] > 2 * done[1]);
    }
}

/* One that does not touch the memory does not begin before those that hold it have made their requests, though
 * nothing else would keep it: none ends before it was told to. */
TEST_WITH(what_is_held_does_not_begin_in_the_past, set_up, tear_down) {
    fixture *f = *state;
    static const int policies[] = {TS_DMA_IN_ORDER, TS_DMA_BY_PRIORITY};
    const ts_plan *large = plan_of(f, "f32[256,1024]{1,0}", "f32[256,1024]{1,0}", 0, NULL, NULL),
                  *small = plan_of(f, "f32[4,1024]{1,0}", "f32[4,1024]{1,0}", 0, NULL, NULL);
    f->dma.bytes_per_cycle[TS_DMA_COPY] = 4096;
    f->dma.in_flight_bytes = 4096;
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        f->dma.arbitration = policies[i];
        ts_hbm *hbm = ts_hbm_new(&f->err, f->arena, &hbm2);
        ts_dma *dma = ts_dma_new(f->arena, &f->dma, hbm, HBM2_KHZ, HBM2_KHZ);
        ts_dma_transfer a = {.plan = large, .src.in_hbm = true, .tag = 0},
                        b = {.plan = small, .tag = 1, .priority = 1};
        assert_true(ts_dma_start(&f->err, dma, &a, 0) && ts_dma_start(&f->err, dma, &b, 0));
        int64_t done = INT64_MAX, least = 0;
        for (int64_t limit = 0; done == INT64_MAX; limit += 100) {
            done = ts_dma_next(dma, limit);
            assert_true(done >= least);
            least = ts_dma_quiet_until(dma, limit);
        }
        assert_in_range(done, (1 << 20) / HBM2_BYTES_PER_NS, 1 << 20);
        ts_dma_free(dma);
    }
}

TEST_WITH(later_transfers_wait_for_a_queue, set_up, tear_down) {
    fixture *f = *state;
    f->dma.queues = 1;
    ts_dma *dma = ts_dma_new(f->arena, &f->dma, NULL, HBM2_KHZ, HBM2_KHZ);
    const ts_plan *plan = plan_of(f, "f32[1024]{0}", "f32[1024]{0}", 4096, NULL, NULL);
    ts_dma_transfer t = {.plan = plan};
    ts_dma_result result;
    for (int i = 0; i < 3; i++) assert_true(ts_dma_start(&f->err, dma, &t, 5));
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(ts_dma_next(dma, INT64_MAX), 5 + i * (100 + 4 + 200));
        assert_true(ts_dma_complete(&f->err, dma, &result));
    }
    assert_int_equal(ts_dma_next(dma, INT64_MAX), INT64_MAX);
    ts_dma_free(dma);
}

TEST_WITH(an_engine_that_cannot_transpose_says_so, set_up, tear_down) {
    fixture *f = *state;
    f->dma.bytes_per_cycle[TS_DMA_TRANSPOSE] = 0;
    f->dma.bytes_per_cycle[TS_DMA_GATHER] = 8;
    ts_dma_machine machine = {&f->dma, &hbm2, HBM2_KHZ, NULL, NULL};
    ts_dma_cost cost;
    const ts_plan *plan = plan_of(f, "f32[64,64]{1,0}", "f32[64,64]{0,1}", 1 << 20, NULL, NULL);
    assert_true(
        ts_dma_price(&f->err, f->arena, &(ts_dma_price_request){&machine, plan, {0}, {0}, true}, &cost));
    assert_int_equal(cost.transfer.kind, TS_DMA_GATHER); /* element by element */
    assert_int_equal(cost.engine_cycles, 64 * 64 * 4 / 8);
    f->dma.bytes_per_cycle[TS_DMA_GATHER] = 0;
    assert_false(ts_dma_price(
        &f->err, f->arena, &(ts_dma_price_request){&machine, plan, {.in_hbm = true}, {.in_hbm = true}, true},
        &cost));
    assert_int_equal(f->err.kind, TS_ERROR_UNMODELLED);
    assert_string_equal(f->err.message, "the DMA engine of this machine cannot do a transpose");
}

TEST_WITH(kinds_are_told_apart, set_up, tear_down) {
    fixture *f = *state;
    const struct {
        const char *src, *dst;
        ts_dma_kind kind;
    } rows[] = {
        {"f32[64,256]{1,0}", "f32[64,256]{1,0}", TS_DMA_COPY},
        {"f32[64,256]{1,0:T(8,128)}", "f32[64,256]{1,0:T(8,128)}", TS_DMA_COPY},
        {"f32[64,256]{1,0}", "f32[64,256]{1,0:T(8,128)}", TS_DMA_RETILE},
        {"f32[13,100]{1,0}", "f32[13,100]{1,0:T(8,128)}", TS_DMA_COPY}, /* rows, 512 bytes apart */
        {"f32[13,200]{1,0}", "f32[13,200]{1,0:T(8,128)}", TS_DMA_RETILE},
        {"bf16[64,256]{1,0}", "bf16[64,256]{1,0:T(8,128)(2,1)}", TS_DMA_INTERLEAVE},
        {"s8[64,256]{1,0:T(8,128)(4,1)}", "s8[64,256]{1,0}", TS_DMA_INTERLEAVE},
        {"f32[64,256]{1,0}", "f32[64,256]{0,1}", TS_DMA_TRANSPOSE},
        {"bf16[64,256]{1,0}", "bf16[64,256]{0,1}", TS_DMA_TRANSPOSE},
        /* Rows from the last to the first. */
        {"f32[8,128] S[(8,128):(-128,1)] + 896", "f32[8,128]{1,0}", TS_DMA_RETILE},
        {"f32[8,128]{1,0}", "f32[8,128] S[(8,128):(-128,1)] + 896", TS_DMA_RETILE},
        {"f32[8,128] S[(8,128):(1,-8)] + 1016", "f32[8,128]{1,0}", TS_DMA_TRANSPOSE},
        /* Words whose neighbours change, whatever they hold. */
        {"bf16[64,256]{1,0}", "bf16[64,256]{0,1:T(8,128)(2,1)}", TS_DMA_TRANSPOSE},
        {"bf16[64,256]{0,1:T(8,128)(2,1)}", "bf16[64,256]{1,0:T(16,128)(2,1)}", TS_DMA_TRANSPOSE},
        {"bf16[64,256]{1,0:T(8,128)(2,1)}", "bf16[64,256]{1,0:T(16,128)(2,1)}", TS_DMA_RETILE},
        {"f32[64,256]{1,0}", "bf16[64,256]{1,0}", TS_DMA_CONVERT},
        /* Whether integers have a sign changes no bit, as far as they fill their elements. */
        {"u8[64,256]{1,0}", "s8[64,256]{1,0}", TS_DMA_COPY},
        {"s32[64,256]{1,0}", "u32[64,256]{0,1}", TS_DMA_TRANSPOSE},
        {"u8[64,256]{1,0}", "s16[64,256]{1,0}", TS_DMA_CONVERT},
        {"f32[64,256]{1,0}", "s32[64,256]{1,0}", TS_DMA_CONVERT},
        {"s4[64,256]{1,0:E(8)}", "u4[64,256]{1,0:E(8)}", TS_DMA_CONVERT},
        {"pred[64,256]{1,0}", "u8[64,256]{1,0}", TS_DMA_CONVERT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(ts_dma_classify(plan_of(f, rows[i].src, rows[i].dst, 1 << 20, NULL, NULL)),
                         rows[i].kind);
    }
}
