/* An observer is told of every burst that is served, once, on its own data bus and in order. */
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "dram/hbm.h"

enum { BUSES = 16, REQUESTS = 4000, BURST = 32 };

typedef struct {
    int64_t told[2], last[BUSES], base;
    int burst_ticks, share;
} watcher;

static void watch(void *self, const ts_hbm_burst *burst) {
    watcher *w = self;
    assert_in_range(burst->bus, 0, BUSES - 1);
    assert_int_equal(burst->share, w->share);
    assert_true(burst->tick >= w->last[burst->bus] + w->burst_ticks);
    w->last[burst->bus] = burst->tick;
    w->told[burst->is_write]++;
}

/* Requests of a seed: where, and two of three reads. */
static void offer(ts_hbm_stream *stream, int64_t from) {
    uint64_t seed = 7;
    for (int i = 0; i < REQUESTS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        ts_hbm_stream_offer(stream, (int64_t)(seed >> 40 & 0x3ffff) * BURST, BURST, seed >> 33 & 1, from + i);
    }
}

static void check(const ts_hbm_config *config, int share, int64_t from) {
    ts_arena *arena = ts_arena_new();
    watcher w = {.burst_ticks = ts_hbm_burst_ticks(config), .share = share};
    for (int i = 0; i < BUSES; i++) w.last[i] = -w.burst_ticks;
    ts_hbm *hbm = ts_hbm_new_subset(NULL, arena, config, share);
    ts_hbm_walk_all(hbm);
    ts_hbm_observe(hbm, watch, &w);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 1 << 16, TS_HBM_UNLIMITED);
    ts_hbm_stream_start(stream, from);
    offer(stream, from);
    int64_t end = ts_hbm_drain(hbm);
    ts_hbm_stats stats;
    ts_hbm_read_stats(hbm, &stats);
    int64_t told = w.told[0] + w.told[1];
    assert_true(told > 0 && w.told[0] > 0 && w.told[1] > 0);
    if (share == 1) assert_int_equal(told, stats.row_hits + stats.row_misses + stats.row_conflicts);
    int64_t ticks = told * w.burst_ticks;
    for (int i = 0; i < BUSES; i++) { /* of the last write, what is behind the end is not counted */
        int64_t over = w.last[i] + w.burst_ticks - end;
        assert_true((w.last[i] >= from) == (i / 2 % share == 0));
        assert_true(w.last[i] <= end);
        ticks -= over > 0 ? over : 0;
    }
    assert_int_equal(ticks * share, stats.limiter_cycles[TS_HBM_LIMITER_DATA]);
    ts_hbm_observe(hbm, NULL, NULL);
    offer(stream, end);
    ts_hbm_drain(hbm);
    assert_int_equal(w.told[0] + w.told[1], told);
    ts_arena_free(arena);
}

static void test_controllers(void **state) {
    (void)state;
    for (int scheduler = TS_HBM_SCHEDULER_ROW_HIT; scheduler <= TS_HBM_SCHEDULER_PER_BANK; scheduler++) {
        for (int page = TS_HBM_PAGE_OPEN; page <= TS_HBM_PAGE_CLOSED; page++) {
            ts_hbm_config config = hbm2;
            config.scheduler = (ts_hbm_scheduler)scheduler;
            config.page = (ts_hbm_page)page;
            check(&config, 1, 0);
        }
    }
}

static void test_subset(void **state) {
    (void)state;
    check(&hbm2, 1, (INT64_C(1) << 28) + 5); /* the base has moved */
    check(&hbm2, 2, 0);
    check(&hbm2, 4, 5000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_controllers), cmocka_unit_test(test_subset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
