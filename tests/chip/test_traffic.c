/* Transfers that are recalled, as those of a twin that simulates them all. */
#include <string.h>

#include "tests/support/test.h"
#include "tests/support/traffic_side.h"

enum { INTERVAL = 3900, PERIOD = 5 * INTERVAL };

/* One that recalls as soon as it has simulated a busy period, and one that never does. */
typedef struct {
    side recalls, simulates;
} twins;

static twins open_twins(void) { return (twins){side_open(TRAFFIC_SIMULATED_BYTES), side_open(1)}; }

static void close_twins(twins *t) {
    side_close(&t->recalls);
    side_close(&t->simulates);
}

/* The same results of both, and the same accesses; returns how many transfers were recalled. */
static int64_t same_period(twins *t, const start *starts, int64_t from) {
    ts_dma_result found[STARTS] = {{0}}, expected[STARTS] = {{0}};
    int64_t before = side_recalled(&t->recalls);
    int count = side_run(&t->recalls, starts, from, found);
    assert_int_equal(count, side_run(&t->simulates, starts, from, expected));
    for (int i = 0; i < count; i++)
        if (memcmp(&found[i], &expected[i], sizeof found[i]) != 0)
            fail_msg("transfer %d from %lld on: tag %lld issued %lld started %lld complete %lld, expected "
                     "%lld %lld %lld %lld",
                     i, (long long)from, (long long)found[i].tag, (long long)found[i].issued_cycle,
                     (long long)found[i].started_cycle, (long long)found[i].completed_cycle,
                     (long long)expected[i].tag, (long long)expected[i].issued_cycle,
                     (long long)expected[i].started_cycle, (long long)expected[i].completed_cycle);
    ts_hbm_stats a = side_stats(&t->recalls), b = side_stats(&t->simulates);
    assert_int_equal(a.reads, b.reads);
    assert_int_equal(a.writes, b.writes);
    assert_int_equal(side_recalled(&t->simulates), 0);
    return side_recalled(&t->recalls) - before;
}

#define NONE                                                                                                 \
    { 0, 0, false }

static const start usual[STARTS] = {{0, 16, false}, {40, 8, true}, {90, 4, false}};

/* The first is simulated, the second recorded. */
TEST(what_comes_again_is_recalled) {
    static const start rows[][STARTS] = {
        {{0, 16, false}, NONE, NONE},
        {{0, 8, true}, NONE, NONE},
        {{0, 16, false}, {40, 8, true}, {90, 4, false}},
        {{0, 64, false}, {1, 1, false}, {2, 64, true}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        twins t = open_twins();
        int starts = 0;
        while (starts < STARTS && rows[i][starts].rows > 0) starts++;
        for (int k = 0; k < 5; k++)
            assert_int_equal(same_period(&t, rows[i], k * PERIOD), k < 2 ? 0 : starts);
        close_twins(&t);
    }
}

/* What the core does otherwise is simulated from there on, and recalled when it comes once more. */
TEST(what_goes_on_otherwise_is_simulated) {
    static const start rows[][STARTS] = {
        {{0, 16, false}, {41, 8, true}, {90, 4, false}}, /* another cycle */
        {{0, 16, false}, {40, 9, true}, {90, 4, false}}, /* another shape */
        {{0, 16, false}, NONE, NONE},                    /* one that does not come */
        {{0, 16, false}, {40, 8, true}, NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        twins t = open_twins();
        for (int k = 0; k < 3; k++) same_period(&t, usual, k * PERIOD);
        assert_int_equal(same_period(&t, rows[i], 3 * PERIOD), 0);
        assert_true(same_period(&t, rows[i], 4 * PERIOD) > 0);
        assert_int_equal(same_period(&t, usual, 5 * PERIOD), STARTS);
        close_twins(&t);
    }
}

/* One that starts behind the first's end: the end was recalled, the rest is simulated. */
TEST(starts_behind_an_end_are_simulated) {
    enum { BETWEEN = 700 };
    static const start two[STARTS] = {{0, 16, false}, {1, 64, true}, NONE},
                       three[STARTS] = {{0, 16, false}, {1, 64, true}, {BETWEEN, 4, false}};
    twins t = open_twins();
    ts_dma_result ends[STARTS];
    for (int k = 0; k < 3; k++) same_period(&t, two, k * PERIOD);
    int64_t recalled = same_period(&t, three, 3 * PERIOD);
    assert_int_equal(side_run(&t.simulates, two, 4 * PERIOD, ends), 2);
    assert_int_equal(recalled, 1);
    assert_in_range(BETWEEN, ends[0].completed_cycle - 4 * PERIOD, ends[1].completed_cycle - 4 * PERIOD);
    close_twins(&t);
}

/* ---- The engine's limits, and cycles that are passed over ---- */

TEST(descriptors_are_counted) {
    side s = side_open(1);
    for (int i = 0; i < plain_dma.descriptors; i++) {
        assert_true(traffic_can_start(s.t));
        assert_int_equal(traffic_under_way(s.t), i);
        side_begin(&s, &usual[0], 0);
    }
    assert_false(traffic_can_start(s.t));
    assert_true(traffic_next(s.t, INT64_MAX) < INT64_MAX);
    side_complete(&s);
    assert_true(traffic_can_start(s.t));
    side_close(&s);
}

TEST(plans_have_arenas_that_are_used_again) {
    side s = side_open(1);
    ts_arena *first = traffic_arena(s.t);
    assert_ptr_equal(traffic_arena(s.t), first);
    side_begin(&s, &usual[0], 0);
    ts_arena *second = traffic_arena(s.t);
    assert_ptr_not_equal(second, first);
    side_begin(&s, &usual[1], 0);
    for (int i = 0; i < 2; i++) {
        assert_true(traffic_next(s.t, INT64_MAX) < INT64_MAX);
        side_complete(&s);
    }
    const ts_arena *again[2] = {traffic_arena(s.t)};
    side_begin(&s, &usual[0], PERIOD);
    again[1] = traffic_arena(s.t);
    assert_true((again[0] == first && again[1] == second) || (again[0] == second && again[1] == first));
    side_close(&s);
}

/* A kind that the engine cannot do is refused, and nothing is under way. */
TEST(what_the_engine_cannot_do_is_told) {
    static const ts_dma_config none = {.queues = 1, .descriptors = 1, .loop_dims = 4, .access_bytes = 64};
    const ts_dma_machine weak = {&none, &hbm2, HBM2_KHZ, NULL, NULL};
    ts_error err = {0};
    side s = {.arena = ts_arena_new()};
    s.t = traffic_new(s.arena, &weak, false);
    ts_dma_transfer what = {.plan = side_plan(traffic_arena(s.t), &usual[0]), .src.in_hbm = true};
    assert_false(traffic_start(&err, s.t, &what, 0, 0));
    assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
    assert_int_equal(traffic_under_way(s.t), 0);
    side_close(&s);
}

/* Of refreshes of all banks, every 3.9 us; in it each of 16 pseudo channels moves 32 bytes in 2 ns. */
TEST(the_interval_of_refreshes_is_in_core_cycles) {
    static const struct {
        ts_hbm_refresh refresh;
        int ticks_per_ck;
        int64_t core_khz, interval, bytes;
    } rows[] = {{TS_HBM_REFRESH_ALL_BANK, 1, HBM2_KHZ, INTERVAL, INTERVAL / 2 * 32 * 16},
                {TS_HBM_REFRESH_ALL_BANK, 2, HBM2_KHZ, INTERVAL, INTERVAL / 2 * 32 * 16},
                {TS_HBM_REFRESH_ALL_BANK, 1, HBM2_KHZ / 2, INTERVAL / 2, INTERVAL / 2 * 32 * 16},
                {TS_HBM_REFRESH_NONE, 1, HBM2_KHZ, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_hbm_config hbm = hbm2;
        hbm.refresh = rows[i].refresh;
        hbm.ticks_per_ck = rows[i].ticks_per_ck;
        const ts_dma_machine other = {&plain_dma, &hbm, rows[i].core_khz, NULL, NULL};
        traffic *t = traffic_new(arena, &other, false);
        assert_int_equal(t->interval, rows[i].interval);
        assert_int_equal(t->interval_bytes, rows[i].bytes);
        traffic_free(t);
        ts_arena_free(arena);
    }
}

/* ---- Counting for more ---- */

TEST(what_is_repeated_counts_so_often) {
    enum { TIMES = 3, SKIPPED = TIMES * PERIOD };
    static const int64_t reads = (16 + 4) * ROW / BURST, writes = 8 * ROW / BURST;
    twins t = open_twins();
    ts_dma_result found[STARTS], expected[STARTS];
    for (int k = 0; k < 3; k++) same_period(&t, usual, k * PERIOD);
    traffic_mark(t.recalls.t);
    traffic_mark(t.simulates.t);
    same_period(&t, usual, 3 * PERIOD);
    traffic_repeat(t.recalls.t, TIMES, SKIPPED);
    assert_int_equal(side_stats(&t.recalls).reads, (4 + TIMES) * reads);
    assert_int_equal(side_stats(&t.recalls).writes, (4 + TIMES) * writes);
    assert_int_equal(side_recalled(&t.recalls), (2 + TIMES) * STARTS);
    side_run(&t.simulates, usual, 4 * PERIOD, expected);
    side_run(&t.recalls, usual, 4 * PERIOD + SKIPPED, found);
    for (int i = 0; i < STARTS; i++) {
        assert_int_equal(found[i].issued_cycle, expected[i].issued_cycle + SKIPPED);
        assert_int_equal(found[i].started_cycle, expected[i].started_cycle + SKIPPED);
        assert_int_equal(found[i].completed_cycle, expected[i].completed_cycle + SKIPPED);
    }
    close_twins(&t);
}

/* Also what is under way, whether its end is known or not. */
TEST(what_is_under_way_is_repeated_later) {
    for (int known = 0; known < 2; known++) {
        side s = side_open(1), plain = side_open(1);
        side_begin(&s, &usual[0], 7);
        side_begin(&plain, &usual[0], 7);
        if (known) assert_true(traffic_next(s.t, INT64_MAX) < INT64_MAX);
        traffic_mark(s.t);
        traffic_repeat(s.t, 1, 1000);
        int64_t done = traffic_next(plain.t, INT64_MAX);
        assert_int_equal(traffic_next(s.t, done + 999), INT64_MAX);
        assert_int_equal(traffic_next(s.t, done + 1000), done + 1000);
        ts_dma_result found = side_complete(&s), expected = side_complete(&plain);
        assert_int_equal(found.issued_cycle, 1007);
        assert_int_equal(found.started_cycle, expected.started_cycle + 1000);
        side_close(&s);
        side_close(&plain);
    }
}

TEST(what_is_exact_is_no_estimate) {
    side s = {.arena = ts_arena_new()};
    s.t = traffic_new(s.arena, &side_machine, true);
    traffic_share(s.t, TRAFFIC_SIMULATED_BYTES, NULL);
    ts_dma_result results[STARTS];
    for (int k = 0; k < 3; k++) side_run(&s, usual, k * PERIOD, results);
    assert_int_equal(side_recalled(&s), 0);
    assert_false(traffic_is_estimated(s.t));
    traffic_mark(s.t);
    traffic_repeat(s.t, 0, 1);
    assert_true(traffic_is_estimated(s.t));
    side_close(&s);
    s = side_open(1);
    traffic_set_channel_share(s.t, 2); /* every other channel */
    assert_false(traffic_is_estimated(s.t));
    side_run(&s, usual, 0, results);
    assert_true(traffic_is_estimated(s.t));
    side_close(&s);
}

/* ---- What comes over links ---- */

static int64_t expect_rows(side *s, const start *what) {
    ts_error err = {0};
    ts_arena *arena = s->arena;
    int64_t incoming = -1;
    traffic_arrival comes = {.plan = side_plan(s->arena, what), .arena = &arena, .owner = s};
    assert_true(traffic_expect(&err, s->t, &comes, &incoming));
    return incoming;
}

static void feed_rows(side *s, int64_t incoming, const start *what, int64_t cycle) {
    traffic_feed(s->t, incoming, (ts_dma_chunk){(int64_t)what->rows * ROW, cycle, true, false});
}

/* Alone, and before or behind the end of a transfer. */
TEST(arrivals_end_in_their_order) {
    static const start eight = {0, 8, true};
    side plain = side_open(1);
    side_begin(&plain, &usual[0], 0);
    int64_t own = traffic_next(plain.t, INT64_MAX);
    side_close(&plain);
    for (int k = 0; k < 3; k++) {
        side s = side_open(1);
        int64_t incoming = expect_rows(&s, &eight), cycle = k == 2 ? own + 100 : 10;
        if (k > 0) side_begin(&s, &usual[0], 0);
        if (k == 0) assert_int_equal(traffic_next(s.t, 9), INT64_MAX);
        if (k == 2) {
            assert_int_equal(traffic_next(s.t, own + 50), own);
            assert_null(side_complete(&s).incoming);
        }
        feed_rows(&s, incoming, &eight, cycle);
        int64_t done = traffic_next(s.t, INT64_MAX);
        assert_in_range(done, cycle, cycle + 200);
        assert_int_equal(traffic_quiet_until(s.t, INT64_MAX), done);
        ts_dma_result result = side_complete(&s);
        assert_ptr_equal(result.incoming, &s);
        assert_int_equal(result.completed_cycle, done);
        if (k == 1) {
            assert_in_range(traffic_next(s.t, INT64_MAX), own, own + 100);
            assert_null(side_complete(&s).incoming);
        }
        assert_int_equal(traffic_next(s.t, INT64_MAX), INT64_MAX);
        assert_int_equal(traffic_quiet_until(s.t, INT64_MAX), INT64_MAX);
        assert_int_equal(side_stats(&s).writes, 8 * ROW / BURST);
        side_close(&s);
    }
}

/* Their writes are recalled with the busy period. */
TEST(arrivals_do_not_end_what_is_recalled) {
    static const start eight = {0, 8, true};
    side s = side_open(TRAFFIC_SIMULATED_BYTES);
    int64_t ends[5], came[5];
    for (int k = 0; k < 5; k++) {
        int64_t incoming = expect_rows(&s, &eight), from = k * PERIOD;
        side_begin(&s, &usual[0], from);
        feed_rows(&s, incoming, &eight, from + 10);
        for (int i = 0; i < 2; i++) {
            int64_t done = traffic_next(s.t, INT64_MAX);
            ts_dma_result result = side_complete(&s);
            assert_int_equal(result.completed_cycle, done);
            assert_int_equal(result.incoming != NULL, i == 0);
            *(i == 0 ? &came[k] : &ends[k]) = done - from;
        }
        assert_int_equal(side_recalled(&s), k < 2 ? 0 : k - 1);
        assert_int_equal(ends[k], ends[k < 2 ? k : 1]);
        assert_in_range(came[k], 10, 210);
    }
    assert_int_equal(side_stats(&s).writes, 5 * 8 * ROW / BURST);
    feed_rows(&s, expect_rows(&s, &eight), &eight, 5 * PERIOD); /* alone, behind them */
    assert_in_range(traffic_next(s.t, INT64_MAX), 5 * PERIOD, 5 * PERIOD + 200);
    assert_ptr_equal(side_complete(&s).incoming, &s);
    side_close(&s);
}

/* In a recalled busy period whose second transfer always started before the first ended: what ends by then is what came, also in
 * the very cycle of that start. */
TEST(arrivals_end_before_an_end_is_known) {
    static const start one = {0, 1, true};
    int in_that_cycle = 0;
    for (int at = 0; at <= usual[1].at; at++) {
        side s = side_open(TRAFFIC_SIMULATED_BYTES);
        ts_dma_result results[STARTS];
        int64_t from = 3 * PERIOD, second = from + usual[1].at;
        for (int k = 0; k < 3; k++) side_run(&s, usual, k * PERIOD, results);
        side_begin(&s, &usual[0], from);
        feed_rows(&s, expect_rows(&s, &one), &one, from + at);
        int64_t done = traffic_next(s.t, second);
        if (done != INT64_MAX) {
            ts_dma_result result = side_complete(&s);
            assert_ptr_equal(result.incoming, &s);
            assert_int_equal(result.completed_cycle, done);
            in_that_cycle += done == second;
        }
        side_close(&s);
    }
    assert_true(in_that_cycle > 0);
}

/* Little that comes alone is passed over once there are samples of it, and counts as if it were written; not if all is
 * simulated, or before so many bytes are. */
TEST(little_that_comes_is_passed_over) {
    enum { ARRIVALS = 40, SAMPLES = 16 };
    static const start one = {0, 1, true};
    for (int k = 0; k < 3; k++) {
        side s = {.arena = ts_arena_new()};
        s.t = traffic_new(s.arena, &side_machine, k == 1);
        traffic_share(s.t, k == 2 ? 1 : TRAFFIC_SIMULATED_BYTES, NULL);
        for (int i = 0; i < ARRIVALS; i++) {
            int64_t cycle = (int64_t)i * 1000;
            feed_rows(&s, expect_rows(&s, &one), &one, cycle);
            assert_in_range(traffic_next(s.t, INT64_MAX), cycle, cycle + 200);
            assert_ptr_equal(side_complete(&s).incoming, &s);
        }
        assert_int_equal(side_stats(&s).writes, ARRIVALS * ROW / BURST);
        assert_int_equal(traffic_is_estimated(s.t), k == 0);
        if (k == 0) assert_in_range(s.t->simulated_bytes, SAMPLES * ROW, (SAMPLES + 2) * ROW);
        if (k > 0) assert_int_equal(s.t->simulated_bytes, ARRIVALS * ROW);
        side_close(&s);
    }
}
