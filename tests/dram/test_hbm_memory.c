/* HBM allocates nothing once it is made: not from the arena, not from the heap; and a second run after a
 * reset is the first again. */
#include <malloc.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "dram/hbm.h"

enum { REQUESTS = 20000, BLOCK = 500 };

static void offer(ts_hbm_stream *stream, uint64_t *state) {
    ts_hbm_request block[BLOCK];
    for (int i = 0; i < REQUESTS; i += BLOCK) {
        for (int k = 0; k < BLOCK; k++) {
            *state = *state * 6364136223846793005u + 1442695040888963407u;
            int64_t address = *state >> 62 ? (i + k) * 64 : (int64_t)(*state >> 40) * 64;
            block[k] = (ts_hbm_request){.address = address, .is_write = *state >> 33 & 1};
        }
        ts_hbm_stream_offer_all(stream, block, BLOCK, 64);
    }
}

static int64_t run(ts_hbm *hbm, ts_hbm_stream *plain, ts_hbm_stream *limited) {
    uint64_t state = 1;
    ts_hbm_stats stats;
    offer(plain, &state);
    ts_hbm_stream_start(limited, ts_hbm_drain(hbm));
    offer(limited, &state);
    ts_hbm_settle(hbm, ts_hbm_stream_next(limited, 1 << 24));
    int64_t end = ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &stats);
    assert_int_equal(stats.reads + stats.writes, 4 * REQUESTS);
    return end;
}

static void allocates_nothing(ts_hbm_scheduler scheduler, ts_hbm_page page, ts_hbm_refresh refresh) {
    ts_hbm_config config = hbm2;
    ts_error err = {0};
    config.scheduler = scheduler;
    config.page = page;
    config.refresh = refresh;
    config.timing.t_refi_pb = 244;
    ts_arena *arena = ts_arena_new();
    ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
    assert_non_null(hbm);
    ts_hbm_stream *plain = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    ts_hbm_stream *limited = ts_hbm_stream_new(arena, hbm, 65536, 65536);
    const char *before = ts_arena_alloc(arena, 1, 1);
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    size_t heap = mallinfo2().uordblks;
    int64_t end = run(hbm, plain, limited);
    assert_int_equal(mallinfo2().uordblks, heap);
    assert_in_range((const char *)ts_arena_alloc(arena, 1, 1) - before, 1, 16);
#else
    int64_t end = run(hbm, plain, limited);
    (void)before;
#endif
    ts_hbm_reset(hbm);
    assert_int_equal(run(hbm, plain, limited), end);
    ts_arena_free(arena);
}

TEST(every_controller) {
    for (int scheduler = TS_HBM_SCHEDULER_ROW_HIT; scheduler <= TS_HBM_SCHEDULER_PER_BANK; scheduler++) {
        for (int page = TS_HBM_PAGE_OPEN; page <= TS_HBM_PAGE_CLOSED; page++)
            for (int refresh = TS_HBM_REFRESH_NONE; refresh <= TS_HBM_REFRESH_PER_BANK; refresh++)
                allocates_nothing((ts_hbm_scheduler)scheduler, (ts_hbm_page)page, (ts_hbm_refresh)refresh);
    }
}

TEST(what_is_below_0_comes_out_of_the_waits_for_requests) {
    ts_hbm_stats stats = {0};
    int64_t *cycles = stats.limiter_cycles;
    cycles[TS_HBM_LIMITER_DATA] = 7;
    cycles[TS_HBM_LIMITER_REQUESTS] = 100;
    cycles[TS_HBM_LIMITER_REFRESH] = -30;
    cycles[TS_HBM_LIMITER_IDLE] = -2;
    ts_hbm_stats_balance(&stats);
    assert_int_equal(cycles[TS_HBM_LIMITER_DATA], 7);
    assert_int_equal(cycles[TS_HBM_LIMITER_REQUESTS], 68);
    assert_int_equal(cycles[TS_HBM_LIMITER_REFRESH] | cycles[TS_HBM_LIMITER_IDLE], 0);
    cycles[TS_HBM_LIMITER_LATENCY] = -69;
    ts_hbm_stats_balance(&stats);
    assert_int_equal(cycles[TS_HBM_LIMITER_REQUESTS] | cycles[TS_HBM_LIMITER_LATENCY], 0);
}

TEST(hits_below_0_come_out_of_the_misses) {
    ts_hbm_stats stats = {.row_hits = -3, .row_misses = 10, .row_conflicts = 5};
    ts_hbm_stats_balance(&stats);
    assert_int_equal(stats.row_hits, 0);
    assert_int_equal(stats.row_misses, 7);
    ts_hbm_stats_balance(&stats);
    assert_int_equal(stats.row_misses, 7);
    assert_int_equal(stats.row_conflicts, 5);
}

/* All but the longest latency, which is the longer one. */
TEST(counts_are_added_so_often) {
    for (int64_t longest = 6; longest <= 8; longest++) {
        ts_hbm_stats sum = {.reads = 10, .read_latency_max = 7};
        const ts_hbm_stats more = {.reads = 3, .read_latency_max = longest};
        ts_hbm_stats_add(&sum, &more, 2);
        assert_int_equal(sum.reads, 16);
        assert_int_equal(sum.read_latency_max, longest > 7 ? longest : 7);
    }
}
