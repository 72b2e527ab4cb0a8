/* What a price is not below, and prices with a limit; what is read and written at least. */

#include <stdlib.h>

#include "base/number.h"
#include "machine/machine.h"
#include "tests/support/test.h"
#include "tests/support/hbm2.h"
#include "tests/support/random_transfer.h"
#include "tests/support/rounds.h"
#include "tests/support/shapes.h"

/* ---- With a limit ---- */

typedef struct {
    const char *src, *dst;
    int sure_percent; /* of its price: it is over that by its windows or what has passed, and not by its bound */
} limited;

static const ts_dma_end hbm = {.in_hbm = true}, vmem = {.in_hbm = false};

static ts_dma_cost within(ts_arena *arena, const ts_dma_machine *machine, const random_transfer *t,
                          int64_t limit) {
    ts_dma_cost cost;
    ts_dma_price_request request = {machine, t->plan, hbm, hbm, false};
    assert_true(ts_dma_price_within(NULL, arena, &request, limit, &cost));
    if (cost.is_over) assert_in_range(cost.cycles, limit + 1, INT64_MAX);
    if (cost.is_over) assert_int_equal(cost.transfer.kind, ts_dma_kind_done(machine->dma, t->plan));
    return cost;
}

static void check_limits(const ts_machine *tpu, const limited *of) {
    ts_arena *arena = ts_arena_new();
    ts_dma_machine fresh = ts_dma_machine_of(tpu, NULL), keeps = fresh;
    random_transfer t = random_transfer_of(arena, of->src, of->dst);
    keeps.prices = ts_dma_prices_new(arena);
    ts_dma_cost whole = within(arena, &fresh, &t, 0), cost;
    int64_t sure = whole.cycles * of->sure_percent / 100;
    assert_false(whole.is_over);
    cost = within(arena, &fresh, &t, 1); /* by its bound, without a run */
    assert_true(cost.is_over);
    assert_int_equal(cost.cycles,
                     ts_dma_price_bound(&(ts_dma_price_request){&fresh, t.plan, hbm, hbm, false}));
    cost = within(arena, &fresh, &t, whole.cycles);
    assert_memory_equal(&cost, &whole, sizeof whole);
    if (sure > 0) {
        cost = within(arena, &keeps, &t, sure);
        assert_true(cost.is_over && cost.cycles <= whole.cycles);
        assert_int_equal(within(arena, &keeps, &t, sure / 2).cycles, cost.cycles);
        assert_int_equal(within(arena, &keeps, &t, cost.cycles - 1).cycles, cost.cycles);
    }
    cost = within(arena, &keeps, &t, whole.cycles);
    assert_memory_equal(&cost, &whole, sizeof whole);
    cost = within(arena, &keeps, &t, 1); /* it is known by now */
    assert_memory_equal(&cost, &whole, sizeof whole);
    ts_arena_free(arena);
}

TEST_WITH_ARENA(what_is_over_a_limit_is_not_priced) {
    static const limited rows[] = {
        {"bf16[32,4096,1000]{2,1,0}", "bf16[32,4096,1000]{2,1,0:T(8,128)(2,1)}", 88}, /* two boxes */
        {"bf16[8,4096,1000]{2,1,0}", "bf16[8,4096,1000]{2,1,0:T(8,128)(2,1)}",
         84}, /* few windows: what has passed */
        {"f32[32768,32768]{1,0}", "f32[32768,32768]{1,0}", 92},
        {"f32[1024,640]{1,0}", "f32[1024,640]{1,0:T(8,128)}", 0}, /* small: without windows */
        {"f32[9000,1000]{1,0}", "f32[9000,1000]{1,0:T(3,5)}", 0}, /* boxes taken as one */
    };
    const ts_machine *tpu = ts_machine_load(NULL, arena, "tpu-v5e");
    for (int i = 0, most = cases(sizeof rows / sizeof rows[0], 1); i < most; i++) check_limits(tpu, &rows[i]);
}

/* ---- Floors ---- */

/* At 1 GHz this memory moves 256 bytes a cycle, and this engine 1024; the fixed cost is 300 cycles, and 10 for each
 * descriptor but the first. */
TEST(least_is_the_slower_of_two) {
    static const struct {
        int64_t descriptors, engine_cycles, bytes, least;
    } rows[] = {
        {1, 0, 256, 301},        {0, 0, 257, 302},        {1, 700, 256000, 1300},
        {4, 1000, 256000, 1330}, {2, 1001, 256000, 1311}, {0, 0, 0, 300},
    };
    ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ, NULL, NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_dma_result what = {.descriptors = rows[i].descriptors, .engine_cycles = rows[i].engine_cycles};
        assert_int_equal(ts_dma_least_cycles(&machine, &what, rows[i].bytes), rows[i].least);
    }
    /* Of the last burst what is longer than tRCD may come later: 8 of 100 cycles. */
    ts_hbm_config slow = hbm2;
    ts_dma_result what = {.descriptors = 1};
    machine.hbm = &slow;
    slow.timing.n_bl = 20;
    assert_int_equal(ts_dma_least_cycles(&machine, &what, 2560), 392);
    slow.timing.n_bl = 10;
    assert_int_equal(ts_dma_least_cycles(&machine, &what, 2560), 350);
}

/* What lies at several places is written to each and read once; what is read again and again lies there once. */
TEST_WITH_ARENA(every_element_is_moved_once) {
    static const struct {
        const char *src, *dst;
        int64_t read, written;
    } rows[] = {
        {"f32[64,256]{1,0}", "bf16[64,256]{1,0:T(8,128)(2,1)}", 64 * 256 * 4, 64 * 256 * 2},
        {"f32[64,250]{1,0:T(8,128)}", "f32[64,250]{1,0}", 64 * 250 * 4, 64 * 250 * 4}, /* without padding */
        {"u4[64,256]{1,0:T(8,128)(8,1)E(4)}", "f32[64,256]{1,0}", 64 * 256 / 2, 64 * 256 * 4},
        {"u8[64,256] (64,256):(0,1)", "u8[64,256]{1,0}", 256, 64 * 256},
        {"u8[64,256]{1,0}", "u8[64,256] S[(64,256):(256,1)] + R[3:16384]", 64 * 256, 3 * 64 * 256},
    };
    ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ, NULL, NULL};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        random_transfer t = random_transfer_of(arena, rows[i].src, rows[i].dst);
        assert_non_null(t.plan);
        const ts_dma_end ends[] = {vmem, hbm};
        for (int k = 0; k < 4; k++) {
            ts_dma_price_request request = {&machine, t.plan, ends[k & 1], ends[k >> 1], false};
            assert_int_equal(ts_dma_least_bytes(&request),
                             (k & 1 ? rows[i].read : 0) + (k >> 1 ? rows[i].written : 0));
        }
    }
}

/* Where blocks are left out, too: the engine is busy for all of them, and the fixed cost comes on top. */
TEST(no_price_is_less_than_its_bound) {
    static const struct {
        const char *machine, *src, *dst;
    } rows[] = {
        {"hbm2-reference", "pred[14818255]{0:T(4,128)}", "pred[14818255]{0:T(4,128)(4,1)}"},
        {"tpu-v4", "s16[37442744]{0:T(8,128)(2,1)}", "s16[37442744]{0:T(8,128)}"},
        {"tpu-v7x", "pred[10732544]{0:T(3,5)(4,1)}", "s32[10732544]{0:T(8,128)}"},
    };
    for (int i = 0, most = cases(sizeof rows / sizeof rows[0], 1); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_machine *of = ts_machine_load(NULL, arena, rows[i].machine);
        random_transfer t = random_transfer_of(arena, rows[i].src, rows[i].dst);
        assert_true(of && t.plan);
        ts_dma_machine machine = ts_dma_machine_of(of, NULL);
        ts_dma_price_request request = {&machine, t.plan, hbm, hbm, false};
        ts_dma_cost cost;
        assert_true(ts_dma_price(NULL, arena, &request, &cost));
        assert_true(cost.estimated);
        assert_in_range(cost.cycles, ts_dma_price_bound(&request), INT64_MAX);
        ts_arena_free(arena);
    }
}

/* A write is done at its command, be its burst ever so long; and where tRTW is shorter than a burst, writes begin while the
 * one before is on the pins. */
TEST(long_bursts_have_a_price) {
    ts_hbm_config slow = hbm2;
    ts_dma_machine machine = {&plain_dma, &slow, HBM2_KHZ, NULL, NULL};
    for (int i = 0; i < 16; i++) {
        ts_arena *arena = ts_arena_new();
        random_transfer t = random_transfer_of(arena, "f32[64,200]{1,0}", "f32[64,200]{1,0}");
        ts_dma_price_request request = {&machine, t.plan, i & 1 ? hbm : vmem, hbm, false};
        ts_dma_cost cost;
        slow.timing.n_bl = 8 << i / 2;
        int64_t bursts = 64 * 200 * 4 / slow.burst_bytes * (i & 1 ? 2 : 1),
                units = (int64_t)slow.stacks * slow.channels * slow.pseudo_channels;
        assert_true(ts_dma_price(NULL, arena, &request, &cost));
        assert_in_range(cost.cycles, ts_dma_price_bound(&request), INT64_MAX);
        assert_in_range(cost.cycles, (ts_ceil_div(bursts, units) - 1) * slow.timing.n_bl, INT64_MAX);
        ts_arena_free(arena);
    }
}

/* The bus moves so many bytes, then waits as long for the engine, but for rows and refreshes; all that pseudo channels do
 * adds up to the time between issue and completion, of 300 cycles. */
static void check_limiters(const ts_dma_cost *cost, int64_t bytes) {
    const int64_t *ticks = cost->hbm.limiter_cycles, bus = bytes / hbm2.burst_bytes * hbm2.timing.n_bl,
                  units = (int64_t)hbm2.stacks * hbm2.channels * hbm2.pseudo_channels;
    int64_t sum = 0;
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) sum += ticks[i];
    assert_in_range(ticks[TS_HBM_LIMITER_DATA], bus - bus / 100, bus + bus / 100);
    assert_in_range(ticks[TS_HBM_LIMITER_REQUESTS], bus / 2, bus);
    assert_in_range(sum / units, cost->cycles * 95 / 100 - 300, cost->cycles * 101 / 100);
}

/* Of 2 MiB accessed in HBM every access is simulated, whatever lies in VMEM; of much more not. */
TEST(small_transfers_are_simulated_whole) {
    static const char *const shapes[] = {"u8[2097152]{0}", "u8[16777216]{0}"};
    ts_dma_config dma = plain_dma;
    ts_dma_machine machine = {&dma, &hbm2, HBM2_KHZ, NULL, NULL};
    dma.bytes_per_cycle[TS_DMA_COPY] = HBM2_BYTES_PER_NS / 2; /* so that the HBM waits as long as it works */
    for (int i = 0; i < 4; i++) {
        ts_arena *arena = ts_arena_new();
        random_transfer t = random_transfer_of(arena, shapes[i / 2], shapes[i / 2]);
        ts_dma_price_request request = {&machine, t.plan, i & 1 ? hbm : vmem, i & 1 ? vmem : hbm, false};
        ts_dma_cost cost;
        assert_true(ts_dma_price(NULL, arena, &request, &cost));
        assert_int_equal(cost.estimated, i / 2);
        check_limiters(&cost, (int64_t)(2 << 20) * (i / 2 ? 8 : 1));
        ts_arena_free(arena);
    }
}

/* Where data in flight is limited four channels at least are simulated, and a quarter of all; else one may stand for
 * 128. Shares are powers of two that divide the channels, of a stack where stacks are not taken in turns, and leave
 * each part its part of the lookahead and 2,048 bursts in flight; all are simulated where less than 128 bursts a
 * channel are ahead. */
TEST(channels_that_stand_for_all) {
    enum { KIB = 1024, LARGE = 256 * KIB, BURST = 32 };
    static const struct {
        int stacks, channels, entries;
        int64_t lookahead_bytes, in_flight_bytes;
        int share;
    } rows[] = {
        {1, 8, 64, LARGE, 0, 8},          {1, 8, 64, LARGE, LARGE, 2},     {1, 16, 64, LARGE, LARGE, 4},
        {4, 32, 64, LARGE, LARGE, 4},     {4, 32, 64, LARGE, 0, 128},      {8, 32, 128, LARGE, 0, 128},
        {3, 16, 64, LARGE, 0, 16},        {1, 12, 64, LARGE, 0, 4},        {1, 4, 64, LARGE, LARGE, 1},
        {1, 16, 64, LARGE, LARGE - 1, 2}, {1, 16, 64, LARGE, 64 * KIB, 1}, {1, 8, 128, 0, 0, 8},
        {1, 8, 128, BURST - 1, 0, 8},     {1, 8, 128, BURST, 0, 1},        {1, 8, 128, 2 * BURST, 0, 2},
        {1, 8, 128, 3 * BURST, 0, 1},     {1, 8, 128, 4 * BURST, 0, 4},    {1, 8, 128, 257 * BURST, 0, 8},
        {1, 8, 128, 260 * BURST, 0, 8},   {1, 8, 128, 261 * BURST, 0, 4},  {1, 8, 127, 0, 0, 1},
        {1, 8, 127, 7 * BURST, 0, 1},     {1, 8, 127, 8 * BURST, 0, 8},    {2, 8, 1, 127 * 16 * BURST, 0, 16},
        {2, 8, 1, 126 * 16 * BURST, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_hbm_config memory = hbm2;
        ts_dma_config dma = plain_dma;
        memory.stacks = rows[i].stacks, memory.channels = rows[i].channels;
        memory.read_entries = rows[i].entries, memory.write_entries = rows[i].entries + 1;
        dma.lookahead_bytes = rows[i].lookahead_bytes;
        dma.in_flight_bytes = rows[i].in_flight_bytes;
        ts_dma_machine machine = {&dma, &memory, HBM2_KHZ, NULL, NULL};
        assert_int_equal(ts_dma_first_sampling_factor(&machine), rows[i].share);
    }
}

/* Channels that wait for each other, as few bursts are looked ahead to or wait in queues, are all simulated. */
TEST(coupled_channels_are_not_sampled) {
    static const struct {
        int entries;
        int64_t lookahead_bytes;
    } rows[] = {{64, 96}, {64, 256}, {2, 0}, {64, 1024}, {8, 4096}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_hbm_config memory = hbm2;
        ts_dma_config dma = plain_dma;
        memory.read_entries = memory.write_entries = rows[i].entries;
        dma.lookahead_bytes = rows[i].lookahead_bytes;
        ts_dma_machine machine = {&dma, &memory, HBM2_KHZ, NULL, NULL};
        random_transfer t = random_transfer_of(arena, "f32[1024,1024]{1,0}", "f32[1024,1024]{1,0:T(8,128)}");
        ts_dma_price_request request = {&machine, t.plan, hbm, hbm, false}, all = request;
        all.exact = true;
        ts_dma_cost quick, exact;
        assert_true(ts_dma_price(NULL, arena, &request, &quick) && ts_dma_price(NULL, arena, &all, &exact));
        if (llabs(quick.cycles - exact.cycles) * 100 > exact.cycles * 3)
            fail_msg("row %d: %lld cycles, exactly %lld", (int)i, (long long)quick.cycles,
                     (long long)exact.cycles);
        ts_arena_free(arena);
    }
}
