/* The per bank scheduler: reads of a burst that is to be read anyway are done with it, as many as there are;
 * and it says where it stands still. */
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "dram/hbm.h"

enum { BURST = 32, READS = 5000 };

typedef struct {
    ts_arena *arena;
    ts_hbm *hbm;
    ts_hbm_stream *plain, *limited;
} fixture;

static int set_up(void **state) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    ts_hbm_config config = hbm2;
    config.scheduler = TS_HBM_SCHEDULER_PER_BANK;
    config.refresh = TS_HBM_REFRESH_NONE;
    f->arena = arena;
    f->hbm = ts_hbm_new(NULL, arena, &config);
    assert_non_null(f->hbm);
    f->plain = ts_hbm_stream_new(arena, f->hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
    f->limited = ts_hbm_stream_new(arena, f->hbm, TS_HBM_UNLIMITED, READS * BURST);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    ts_arena_free(((fixture *)*state)->arena);
    return 0;
}

static int64_t one_read(fixture *f) {
    ts_hbm_reset(f->hbm);
    ts_hbm_stream_offer(f->plain, 0, BURST, false, 0);
    return ts_hbm_drain(f->hbm);
}

TEST_WITH(many_reads_of_a_burst, set_up, tear_down) {
    fixture *f = *state;
    ts_hbm_stats stats;
    int64_t end = one_read(f);
    ts_hbm_reset(f->hbm);
    for (int i = 0; i < READS; i++) {
        ts_hbm_stream *stream = i % 2 ? f->limited : f->plain;
        assert_int_equal(ts_hbm_stream_offer(stream, 0, BURST, false, i / 1000), i / 1000);
    }
    assert_int_equal(ts_hbm_drain(f->hbm), end);
    assert_int_equal(ts_hbm_stream_done(f->plain), end);
    assert_int_equal(ts_hbm_stream_done(f->limited), end);
    ts_hbm_read_stats(f->hbm, &stats);
    assert_int_equal(stats.reads, READS);
    assert_int_equal(stats.forwarded, READS - 1);
    assert_int_equal(stats.read_latency_sum, READS * end - 1000 * (0 + 1 + 2 + 3 + 4));
    assert_int_equal(stats.read_latency_max, end);
}

/* Of reads that a reset cuts off, nothing is left for those that come after. */
TEST_WITH(a_reset_forgets_reads_of_a_burst, set_up, tear_down) {
    enum { BURSTS = 800 };
    fixture *f = *state;
    ts_hbm_stats fresh, after;
    for (int times = 0; times < 3; times++) {
        ts_hbm_reset(f->hbm);
        for (int i = 0; i < BURSTS * times; i++)
            ts_hbm_stream_offer(f->plain, i % BURSTS * BURST, BURST, false, 0);
        ts_hbm_reset(f->hbm);
        for (int i = 0; i < 2 * BURSTS; i++)
            ts_hbm_stream_offer(f->plain, i % BURSTS * BURST, BURST, false, 0);
        ts_hbm_drain(f->hbm);
        ts_hbm_read_stats(f->hbm, times == 0 ? &fresh : &after);
        if (times > 0) assert_memory_equal(&after, &fresh, sizeof fresh);
    }
}

/* Up to the cycle of the column command, the burst is pending; then it is another one. */
TEST_WITH(requests_in_the_cycle_of_a_column_command, set_up, tear_down) {
    fixture *f = *state;
    ts_hbm_stats stats;
    const int64_t end = one_read(f), column = end - hbm2.timing.t_cl - hbm2.timing.n_bl;
    for (int64_t t = 1; t <= column + 3; t++) {
        ts_hbm_reset(f->hbm);
        ts_hbm_stream_offer(f->plain, 0, BURST, false, 0);
        ts_hbm_stream_offer(f->plain, 0, BURST, false, t);
        int64_t both = ts_hbm_drain(f->hbm);
        ts_hbm_read_stats(f->hbm, &stats);
        assert_int_equal(stats.forwarded, t <= column);
        if (t <= column) assert_int_equal(both, end);
        if (t > column) assert_true(both > end);
    }
}

TEST_WITH(it_says_where_it_stands_still, set_up, tear_down) {
    fixture *f = *state;
    ts_error err = {0};
    one_read(f);
    assert_true(ts_hbm_check(&err, f->hbm));
    ts_hbm_reset(f->hbm);
    ts_hbm_stream_offer(f->plain, 0, BURST, false, 7);
    for (int64_t i = 0; i < 4000; i++) ts_hbm_stream_offer(f->plain, i * BURST, BURST, true, 7);
    assert_true(ts_hbm_drain(f->hbm) > 7);
    assert_false(ts_hbm_check(&err, f->hbm));
    assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
    assert_non_null(strstr(err.message, "from cycle 8 of HBM on"));
    ts_hbm_reset(f->hbm);
    assert_true(ts_hbm_check(&err, f->hbm));
}
