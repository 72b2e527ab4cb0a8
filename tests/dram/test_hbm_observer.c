/* An observer is told of every burst that is served, once, on its own data bus and in order; one of commands, of every
 * command, with the row that it is for: what is open when follows from them. */
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "dram/hbm.h"

enum { BUSES = 16, REQUESTS = 4000, BURST = 32, BANKS = 16 };

typedef struct {
    int64_t told[2], last[BUSES], base;
    int burst_ticks, share;
} watcher;

typedef struct {
    int64_t counts[TS_DRAM_COMMANDS], last[BUSES], open_since[BUSES], open_cycles;
    int32_t rows[BUSES][BANKS]; /* -1: closed */
    int open[BUSES];
} command_watcher;

static void close_row(command_watcher *w, int bus, int bank, int64_t tick) {
    if (w->rows[bus][bank] >= 0 && --w->open[bus] == 0) w->open_cycles += tick - w->open_since[bus];
    w->rows[bus][bank] = -1;
}

static void watch_commands(void *self, const ts_hbm_command *c) {
    command_watcher *w = self;
    const unsigned columns = TS_DRAM_RD | TS_DRAM_WR | TS_DRAM_RDA | TS_DRAM_WRA;
    bool is_column = (c->command & columns) != 0, closes_all = c->command == TS_DRAM_PREA;
    assert_in_range(c->bus, 0, BUSES - 1);
    assert_in_range(c->bank, 0, BANKS - 1);
    assert_true(c->tick >= w->last[c->bus]);
    w->last[c->bus] = c->tick;
    w->counts[__builtin_ctz(c->command)]++;
    assert_int_equal(c->column >= 0, is_column);
    assert_int_equal(c->row >= 0, is_column || c->command == TS_DRAM_ACT);
    if (is_column) assert_int_equal(c->row, w->rows[c->bus][c->bank]);
    if (c->command == TS_DRAM_ACT) {
        assert_int_equal(w->rows[c->bus][c->bank], -1);
        w->rows[c->bus][c->bank] = c->row;
        if (w->open[c->bus]++ == 0) w->open_since[c->bus] = c->tick;
    }
    if (c->command & (TS_DRAM_PRE | TS_DRAM_RDA | TS_DRAM_WRA)) close_row(w, c->bus, c->bank, c->tick);
    for (int bank = 0; closes_all && bank < BANKS; bank++) close_row(w, c->bus, bank, c->tick);
}

/* What the commands say of the statistics. */
static void check_commands(command_watcher *w, const ts_hbm_stats *stats, int share) {
    const int64_t *n = w->counts;
    for (int bus = 0; bus < BUSES; bus++)
        w->open_cycles += w->open[bus] > 0 ? stats->end_cycle - w->open_since[bus] : 0;
    assert_int_equal(w->open_cycles * share, stats->open_cycles);
    assert_int_equal(n[2] * share, stats->activations);
    assert_int_equal((n[3] + n[4] + n[5] + n[6]) * share, stats->precharges);
    assert_int_equal((n[7] + n[8]) * share, stats->refreshes);
    if (share > 1) return;
    assert_int_equal(n[0] + n[4], stats->reads - stats->forwarded);
    assert_int_equal(n[1] + n[5], stats->writes - stats->coalesced);
}

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
    ts_hbm_simulate_all(hbm);
    ts_hbm_observe(hbm, watch, &w);
    command_watcher commands = {0};
    memset(commands.rows, -1, sizeof commands.rows);
    ts_hbm_observe_commands(hbm, watch_commands, &commands);
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
    check_commands(&commands, &stats, share);
    ts_hbm_observe_commands(hbm, NULL, NULL);
    ts_hbm_observe(hbm, NULL, NULL);
    offer(stream, end);
    ts_hbm_drain(hbm);
    assert_int_equal(w.told[0] + w.told[1], told);
    ts_arena_free(arena);
}

TEST(test_controllers) {
    for (int scheduler = TS_HBM_SCHEDULER_ROW_HIT; scheduler <= TS_HBM_SCHEDULER_PER_BANK; scheduler++) {
        for (int page = TS_HBM_PAGE_OPEN; page <= TS_HBM_PAGE_CLOSED; page++) {
            ts_hbm_config config = hbm2;
            config.scheduler = (ts_hbm_scheduler)scheduler;
            config.page = (ts_hbm_page)page;
            check(&config, 1, 0);
        }
    }
}

TEST(test_subset) {
    check(&hbm2, 1, (INT64_C(1) << 28) + 5); /* the base has moved */
    check(&hbm2, 2, 0);
    check(&hbm2, 4, 5000);
}

/* A request takes each burst that it touches, by a byte or more. */
TEST_WITH_ARENA(requests_take_the_bursts_that_they_touch) {
    static const struct {
        int64_t address;
        int32_t bytes;
        int64_t bursts;
    } rows[] = {{0, 1, 1},
                {0, BURST, 1},
                {0, BURST + 1, 2},
                {0, 2 * BURST, 2},
                {BURST - 1, 1, 1},
                {BURST - 1, 2, 2},
                {1, BURST, 2},
                {BURST, BURST, 1},
                {5 * BURST, 97, 4},
                {BURST / 2, BURST, 2},
                {BURST - 1, BURST + 2, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_hbm *hbm = ts_hbm_new(NULL, arena, &hbm2);
        ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, 65536, TS_HBM_UNLIMITED);
        ts_hbm_stats stats;
        ts_hbm_stream_offer(stream, rows[i].address, rows[i].bytes, i % 2 == 1, 0);
        ts_hbm_drain(hbm);
        ts_hbm_read_stats(hbm, &stats);
        if (stats.reads + stats.writes != rows[i].bursts)
            fail_msg("%d bytes at %d: %d bursts", (int)rows[i].bytes, (int)rows[i].address,
                     (int)(stats.reads + stats.writes));
    }
}
