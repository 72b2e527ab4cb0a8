/* Gaps between requests: passed over in no time, they cost what they cost when they are walked cycle by
 * cycle. */
#include "tests/support/hbm2.h"
#include "tests/support/rounds.h"
#include "tests/support/test.h"
#include "base/number.h"
#include "dram/hbm.h"

enum { REQUESTS = 700 };

typedef struct {
    int64_t ends[3];
    int64_t accounted;
    ts_hbm_stats stats;
} outcome;

static void offer(ts_hbm_stream *stream, uint64_t *state, int64_t from) {
    ts_hbm_request block[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        block[i] = (ts_hbm_request){(int64_t)(*state >> 44) * 64, from + i / 4, *state >> 33 & 1};
    }
    ts_hbm_stream_offer_all(stream, block, REQUESTS, 64);
}

/* Requests, a gap, and requests; `step`: the memory is run up to that many cycles at a time. */
static outcome run(const ts_hbm_config *config, int64_t gap, int64_t step) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    outcome o = {0};
    ts_hbm *hbm = ts_hbm_new(&err, arena, config);
    assert_non_null(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    uint64_t state = 1;
    offer(stream, &state, 0);
    ts_hbm_settle(hbm, 100000); /* all is done */
    o.ends[0] = ts_hbm_stream_done(stream);
    for (int64_t t = 100000; t < gap; t += step) ts_hbm_settle(hbm, t);
    o.ends[1] = ts_hbm_stream_done(stream);
    offer(stream, &state, gap);
    o.ends[2] = ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &o.stats);
    ts_arena_free(arena);
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) o.accounted += o.stats.limiter_cycles[i];
    assert_int_equal(o.accounted, o.ends[2] * config->channels * config->pseudo_channels);
    return o;
}

static ts_hbm_config variant(int scheduler, int page, int refresh, int ticks) {
    ts_hbm_config config = hbm2;
    config.scheduler = (ts_hbm_scheduler)scheduler;
    config.page = (ts_hbm_page)page;
    config.page_accesses = 3;
    config.refresh = (ts_hbm_refresh)refresh;
    config.timing.t_refi_pb = 244;
    config.ticks_per_ck = ticks;
    config.write_low_percent = 1; /* the per bank scheduler leaves fewer than that in the queue */
    return config;
}

TEST(a_gap_is_passed_as_if_it_were_walked) {
    for (int i = 0; i < 3 * 2 * 3 * 2; i += stride(1, 5)) { /* one in 5 has every value of each */
        ts_hbm_config config = variant(i % 3, i / 3 % 2, i / 6 % 3, 1 + i / 18);
        outcome walked = run(&config, 250007, config.refresh == TS_HBM_REFRESH_NONE ? 5 : 777),
                passed = run(&config, 250007, INT64_C(1) << 40);
        assert_true(walked.ends[2] > 250007);
        assert_memory_equal(&passed, &walked, sizeof walked);
    }
}

/* Refreshes are simulated past the end; no time behind it is counted, nor taken from any other. */
TEST(what_is_settled_is_counted_up_to_the_end) {
    for (int i = 0; i < 3 * 2 * 3 * 2; i++) {
        ts_hbm_config config = variant(i % 3, i / 3 % 2, i / 6 % 3, 1 + i / 18);
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_hbm_stats stats;
        ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
        assert_non_null(hbm);
        uint64_t drawn = 1;
        offer(ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED), &drawn, 0);
        ts_hbm_settle(hbm, 250007);
        ts_hbm_read_stats(hbm, &stats);
        int64_t accounted = 0, buses = config.channels * config.pseudo_channels,
                burst = config.timing.n_bl * config.ticks_per_ck,
                data = (stats.reads + stats.writes - stats.forwarded - stats.coalesced) * burst;
        for (int k = 0; k < TS_HBM_LIMITER_COUNT; k++) {
            assert_true(stats.limiter_cycles[k] >= 0);
            accounted += stats.limiter_cycles[k];
        }
        assert_int_equal(accounted, stats.end_cycle * buses);
        assert_in_range(stats.limiter_cycles[TS_HBM_LIMITER_DATA], data - burst * buses, data);
        ts_arena_free(arena);
    }
}

TEST(a_long_gap_takes_no_time) {
    for (int i = 0; i < 2 * 3; i++) {
        const int64_t gap = i < 3 ? INT64_C(1000000000000) : 1000000000; /* so that it ends if it is walked */
        int refresh = i % 3;
        ts_hbm_config config = variant(i < 3 ? TS_HBM_SCHEDULER_ROW_HIT : TS_HBM_SCHEDULER_PER_BANK,
                                       TS_HBM_PAGE_OPEN, refresh, 1);
        outcome o = run(&config, gap, INT64_C(1) << 60);
        assert_int_equal(o.ends[1], o.ends[0]);
        assert_in_range(o.ends[2], gap, gap + 10000);
        bool in_turns = refresh == TS_HBM_REFRESH_PER_BANK && i < 3; /* one bank of a channel */
        int64_t pcs = config.channels * (in_turns ? 1 : config.pseudo_channels);
        int64_t every = refresh == TS_HBM_REFRESH_ALL_BANK ? config.timing.t_refi : config.timing.t_refi_pb;
        if (in_turns) every /= config.pseudo_channels;
        if (refresh == TS_HBM_REFRESH_NONE) continue;
        assert_in_range(o.stats.refreshes, gap / every * pcs, o.ends[2] / every * pcs);
    }
}

/* The per bank scheduler keeps writes until there are more of them: a gap is passed over all the same, and
 * what is offered after it is not done before. */
TEST(writes_stay_through_a_gap) {
    const int64_t gaps[] = {1000, 30000, INT64_C(1000000000000)};
    for (int i = 0; i < 3 * 2 * 3; i++) {
        const int64_t gap = gaps[i / 6];
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_hbm_stats stats;
        int64_t accounted = 0;
        ts_hbm_config config = variant(TS_HBM_SCHEDULER_PER_BANK, i / 3 % 2, i % 3, 1);
        config.write_low_percent = 20;
        ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
        assert_non_null(hbm);
        ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
        for (int k = 0; k < 4; k++) ts_hbm_stream_offer(stream, k * 0x4000, 64, true, 0);
        assert_int_equal(ts_hbm_stream_offer(stream, 1 << 20, 64, false, gap), gap);
        int64_t end = ts_hbm_drain(hbm);
        assert_in_range(end, gap + config.timing.t_rcd_rd + config.timing.t_cl, gap + 1000);
        ts_hbm_read_stats(hbm, &stats);
        for (int k = 0; k < TS_HBM_LIMITER_COUNT; k++) accounted += stats.limiter_cycles[k];
        assert_int_equal(accounted, end * config.channels * config.pseudo_channels);
        ts_arena_free(arena);
    }
}

/* Rows of one bank, which wait for each other, and another one of it behind a gap: when all is done. */
static int64_t end_of_rows(const ts_hbm_config *config, int rows, bool exact) {
    const int64_t gap = 5000;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm *hbm = ts_hbm_new(&err, arena, config);
    assert_non_null(hbm);
    if (exact) ts_hbm_simulate_all(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    for (int k = 1; k <= rows; k++) ts_hbm_stream_offer(stream, k << 18, 64, true, 0);
    assert_int_equal(ts_hbm_stream_offer(stream, 0, 64, true, gap), gap);
    int64_t end = ts_hbm_drain(hbm);
    ts_arena_free(arena);
    return end;
}

/* What is queued when a gap begins is done in it, and rules count from then, however long the longest is. */
TEST(a_gap_begins_when_all_is_done) {
    for (int i = 0; i < 3 * 2; i++) {
        ts_hbm_config config = variant(i % 3, i / 3, TS_HBM_REFRESH_NONE, 1);
        for (config.timing.t_rfc = 200; config.timing.t_rfc <= 260; config.timing.t_rfc += 6)
            assert_int_equal(end_of_rows(&config, 5, false), end_of_rows(&config, 5, true));
    }
}

/* A few requests to channels that are simulated, and by turns many to others, of which those know nothing: when the few
 * were accepted. */
static int64_t accepted_by_turns(const ts_hbm_config *config, bool exact) {
    enum { TURNS = 40, FEW = 4, MANY = 200, PACE = 2 };
    ts_hbm_request run[MANY];
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm *hbm = ts_hbm_new_subset(&err, arena, config, 2);
    assert_non_null(hbm);
    if (exact) ts_hbm_simulate_all(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    int64_t sum = 0, at = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        int count = turn % 2 ? MANY : FEW;
        for (int i = 0; i < count; i++, at += PACE)
            run[i] = (ts_hbm_request){i * 512 + turn % 2 * 64, at, false};
        int64_t accepted = ts_hbm_stream_offer_all(stream, run, count, 64);
        if (count == FEW) sum += accepted;
    }
    ts_arena_free(arena);
    return sum;
}

TEST(time_passes_for_channels_that_get_nothing) {
    for (int refresh = 0; refresh < 2; refresh++) {
        ts_hbm_config config = variant(TS_HBM_SCHEDULER_ROW_HIT, TS_HBM_PAGE_OPEN, refresh, 1);
        config.address_map = "off co:1 ch co pc bg ba ro"; /* lines are of channels by turns */
        assert_int_equal(accepted_by_turns(&config, false), accepted_by_turns(&config, true));
    }
}

/* When reads of rows of their own are done, of a stream that did the same before and was started again. Of channels
 * that are not refreshed nothing else says until when they were busy. */
static int64_t done_after_start(bool exact) {
    enum { READS = 400, LATER = 1000 };
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_config config = variant(TS_HBM_SCHEDULER_ROW_HIT, TS_HBM_PAGE_OPEN, TS_HBM_REFRESH_NONE, 1);
    ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
    assert_non_null(hbm);
    if (exact) ts_hbm_simulate_all(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    for (int i = 0; i < READS; i++) ts_hbm_stream_offer(stream, (int64_t)i << 20, 64, false, 0);
    int64_t at = ts_hbm_drain(hbm);
    ts_hbm_stream_start(stream, at);
    for (int i = 0; i < READS; i++) ts_hbm_stream_offer(stream, (int64_t)i << 20, 64, false, at + LATER);
    at = ts_hbm_drain(hbm);
    ts_arena_free(arena);
    return at;
}

TEST(a_stream_starts_again_before_a_gap) {
    assert_int_equal(done_after_start(false), done_after_start(true));
}

/* Each request is to a row of its own of one bank, so one follows the other after tRC; local cycles start
 * again many times, and with half CKs the edges of commands stay where they are. */
TEST_WITH_ARENA(local_cycles_start_again_at_an_edge) {
    const int64_t period = 2 * 50000007, row = 1 << 18;
    ts_error err = {0};
    ts_hbm_config config = variant(TS_HBM_SCHEDULER_ROW_HIT, TS_HBM_PAGE_OPEN, TS_HBM_REFRESH_NONE, 2);
    config.timing.t_rc = (int32_t)(period / 2);
    config.timing.t_rcd_rd = 7;
    ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
    assert_non_null(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 64, TS_HBM_UNLIMITED);
    int64_t first = 0;
    for (int64_t i = 0; i < 40; i++) {
        ts_hbm_stream_offer(stream, i * row, 64, false, i * period);
        int64_t end = ts_hbm_drain(hbm);
        if (i == 1) first = end; /* the first needs no PRE */
        if (i > 1) assert_int_equal(end, first + (i - 1) * period);
    }
}

/* Reads of rows of one bank, one every tRC: a read waits in the queue while local cycles start again. `times`: each is
 * asked for so often, and the per bank scheduler answers all at once. */
static void check_waiting(ts_hbm_scheduler scheduler, int times) {
    enum { ROWS = 40, ROW = 1 << 18 };
    const int64_t period = 50000007;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_stats stats;
    ts_hbm_config config = variant(scheduler, TS_HBM_PAGE_OPEN, TS_HBM_REFRESH_NONE, 1);
    config.timing.t_rc = (int32_t)period;
    config.read_entries = 8;
    config.bank_entries = 4;
    ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
    assert_non_null(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    int64_t accepted[2 * ROWS], sum = 0, most = 0;
    for (int64_t i = 0; i < ROWS * times; i++)
        accepted[i] = ts_hbm_stream_offer(stream, i / times * ROW, config.burst_bytes, false, 0);
    int64_t end = ts_hbm_drain(hbm);
    for (int64_t i = 0; i < ROWS * times; i++) {
        int64_t latency = end - (ROWS - 1 - i / times) * period - accepted[i];
        sum += latency;
        most = ts_max(most, latency);
    }
    ts_hbm_read_stats(hbm, &stats);
    assert_true(most > 6 * period);
    assert_int_equal(stats.read_latency_sum, sum);
    assert_int_equal(stats.read_latency_max, most);
    ts_arena_free(arena);
}

TEST(what_waits_goes_on_waiting) {
    check_waiting(TS_HBM_SCHEDULER_ROW_HIT, 1);
    check_waiting(TS_HBM_SCHEDULER_PER_BANK, 1);
    check_waiting(TS_HBM_SCHEDULER_PER_BANK, 2);
}

/* What random requests cost from a cycle on, and when all is done after it. */
static ts_hbm_stats cost_from(const ts_hbm_config *config, int64_t from, int64_t *took) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_stats stats;
    ts_hbm *hbm = ts_hbm_new(&err, arena, config);
    assert_non_null(hbm);
    ts_hbm_simulate_all(hbm); /* a gap that is passed over moves local cycles, too */
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 4096, 1 << 14);
    uint64_t state = 1;
    for (int i = 0; i < 3; i++) offer(stream, &state, from + i * 250);
    *took = ts_hbm_drain(hbm) - from;
    ts_hbm_read_stats(hbm, &stats);
    ts_arena_free(arena);
    stats.end_cycle = stats.refreshes = 0; /* what grows with the time before */
    stats.limiter_cycles[TS_HBM_LIMITER_IDLE] = stats.limiter_cycles[TS_HBM_LIMITER_REQUESTS] = 0;
    stats.limiter_cycles[TS_HBM_LIMITER_REFRESH] = 0;
    return stats;
}

/* Local cycles start again at 2^28, amid the requests: they cost what they cost a round of refreshes after the start. */
TEST(nothing_else_starts_again) {
    for (int i = 0; i < 3 * 2 * 2; i++) {
        ts_hbm_config config = variant(i % 3, i / 3 % 2, i / 6 * TS_HBM_REFRESH_PER_BANK, 1);
        int64_t took[2], before = (1 << 28) - 400, round = 1 << 25; /* 16 or 32 banks in turn */
        config.timing.t_refi_pb = 1 << 20;
        ts_hbm_stats stats[2] = {cost_from(&config, before % round, &took[0]),
                                 cost_from(&config, before, &took[1])};
        assert_int_equal(took[0], took[1]);
        assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
    }
}

/* Twelve bursts of a row: with closed pages, the per bank scheduler closes it with each third. */
TEST_WITH_ARENA(pages_close_after_so_many_accesses) {
    ts_error err = {0};
    ts_hbm_stats stats;
    ts_hbm_config config = variant(TS_HBM_SCHEDULER_PER_BANK, TS_HBM_PAGE_CLOSED, TS_HBM_REFRESH_NONE, 1);
    config.address_map = "off co ch pc bg ba ro";
    ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
    assert_non_null(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    ts_hbm_stream_offer(stream, 0, 12 * config.burst_bytes, false, 0);
    ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &stats);
    assert_int_equal(stats.activations, 4);
}

/* From the last read of a bus on data are awaited for tCL; then, until all is done, there is nothing to do. Writes are
 * done as they are sent. */
TEST(what_is_behind_the_last_burst) {
    enum { LATE = 10000, COLUMN = 32 * 64 };
    for (int is_write = 0; is_write < 2; is_write++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_hbm_stats stats;
        ts_hbm_config config = variant(TS_HBM_SCHEDULER_ROW_HIT, TS_HBM_PAGE_OPEN, TS_HBM_REFRESH_NONE, 1);
        int64_t buses = config.channels * config.pseudo_channels;
        ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
        assert_non_null(hbm);
        ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
        ts_hbm_stream_offer(stream, 0, COLUMN, is_write, 0);
        ts_hbm_stream_offer(stream, 0, config.burst_bytes, false, LATE);
        int64_t end = ts_hbm_drain(hbm);
        ts_hbm_read_stats(hbm, &stats);
        int64_t latency = stats.limiter_cycles[TS_HBM_LIMITER_LATENCY],
                idle = stats.limiter_cycles[TS_HBM_LIMITER_IDLE];
        assert_true(end > LATE);
        assert_int_equal(latency, (is_write ? 1 : buses) * config.timing.t_cl);
        assert_in_range(idle, (buses - 1) * (LATE - 1000), (buses - 1) * end);
        ts_arena_free(arena);
    }
}

/* One burst a channel that gets any, `every` so many cycles; the rest of the buses get nothing. */
static ts_hbm_stats stats_of_few(const ts_hbm_config *config, int64_t every, bool exact) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_stats stats;
    ts_hbm *hbm = ts_hbm_new(&err, arena, config);
    assert_non_null(hbm);
    if (exact) ts_hbm_simulate_all(hbm);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
    for (int i = 0; i < 4; i++) ts_hbm_stream_offer(stream, i % 3 * 64, 64, i % 2, i * every);
    ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &stats);
    ts_arena_free(arena);
    return stats;
}

/* What the time went to does not hang on how far channels were simulated, for a gap or as local cycles end. */
TEST(buses_that_get_nothing_are_idle) {
    const int64_t every[] = {100, 100000, 400000000};
    for (int i = 0; i < 3 * 3 * 3; i++) {
        if (i / 9 == 2 && i % 3 == TS_HBM_REFRESH_PER_BANK) continue; /* would be long */
        ts_hbm_config config = variant(i / 3 % 3, TS_HBM_PAGE_OPEN, i % 3, 1);
        config.address_map = "off co:1 pc ch co bg ba ro";
        ts_hbm_stats passed = stats_of_few(&config, every[i / 9], false),
                     walked = stats_of_few(&config, every[i / 9], true);
        assert_memory_equal(&passed, &walked, sizeof walked);
        int64_t buses = config.channels * config.pseudo_channels;
        assert_in_range(passed.limiter_cycles[TS_HBM_LIMITER_IDLE], (buses - 3) * passed.end_cycle,
                        buses * passed.end_cycle - 2 * every[i / 9]);
    }
}

/* A refresh holds back only what waits for it, not a bus that has nothing to do beside one that has. */
TEST(the_other_pseudo_channel_is_idle) {
    for (int i = 0; i < 3 * 2; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_hbm_stats stats;
        ts_hbm_config config = variant(i / 2, TS_HBM_PAGE_OPEN, TS_HBM_REFRESH_ALL_BANK + i % 2, 1);
        config.channels = 1;
        config.address_map = "off co bg ba ro pc";
        ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
        assert_non_null(hbm);
        ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
        ts_hbm_stream_offer(stream, 0, 1 << 20, false, 0);
        int64_t end = ts_hbm_drain(hbm);
        ts_hbm_read_stats(hbm, &stats);
        assert_in_range(stats.limiter_cycles[TS_HBM_LIMITER_IDLE], end, end + 100);
        assert_in_range(stats.limiter_cycles[TS_HBM_LIMITER_REFRESH], end / 50, end / 3);
        ts_arena_free(arena);
    }
}

/* Writes that stay until more of them, or nothing, are offered hold nothing back meanwhile: the bus has no requests. */
TEST(writes_that_stay_do_not_wait) {
    ts_hbm_stats stats[2];
    for (int i = 0; i < 3 * 2; i++) {
        ts_hbm_config config = variant(TS_HBM_SCHEDULER_PER_BANK, TS_HBM_PAGE_OPEN, i % 3, 1 + i / 3);
        config.channels = 1;
        config.write_low_percent = 20;
        for (int exact = 0; exact < 2; exact++) {
            ts_arena *arena = ts_arena_new();
            ts_error err = {0};
            ts_hbm *hbm = ts_hbm_new(&err, arena, &config);
            assert_non_null(hbm);
            if (exact) ts_hbm_simulate_all(hbm);
            ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
            for (int burst = 0; burst < 40; burst++)
                ts_hbm_stream_offer(stream, burst * 64, 64, true, burst / 10 * INT64_C(300000));
            ts_hbm_drain(hbm);
            ts_hbm_read_stats(hbm, &stats[exact]);
            ts_arena_free(arena);
        }
        assert_memory_equal(&stats[0], &stats[1], sizeof stats[0]);
        assert_in_range(stats[0].limiter_cycles[TS_HBM_LIMITER_SCHEDULING], 0, 200);
    }
}
