/* When writes that come are little, and what those count for that are passed over. */
#include "chip/passed.h"

#include "tests/support/hbm2.h"
#include "tests/support/test.h"

/* 256 bytes a cycle. */
static const ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ, NULL, NULL};
enum { WINDOW = 1024, HALF = WINDOW * 256 / 2, SAMPLES = 16 };

static ts_dma_chunk chunk(int64_t bytes, int64_t cycle) { return (ts_dma_chunk){bytes, cycle, false, false}; }

static void note(passed *p, const ts_hbm *hbm, bool alone, const ts_dma_chunk *chunk) {
    ts_hbm_stats now;
    ts_hbm_read_stats(hbm, &now);
    if (passed_samples(p)) passed_simulate(p, &now, alone, chunk);
}

/* So many chunks of 512 bytes alone, 100 cycles apart, are written at once. */
static void simulate(ts_hbm *hbm, ts_hbm_stream *stream, passed *p, int count, int64_t *cycle) {
    for (int i = 0; i < count; i++, *cycle += 100) {
        ts_dma_chunk now = chunk(512, *cycle);
        note(p, hbm, true, &now);
        for (int k = 0; k < 16; k++) ts_hbm_stream_offer(stream, *cycle * 64 + 32 * k, 32, true, *cycle);
    }
}

typedef struct {
    ts_arena *arena;
    ts_hbm *hbm;
    ts_hbm_stream *stream;
    passed p;
    int64_t cycle;
} fixture;

static void begin(fixture *f) {
    *f = (fixture){.arena = ts_arena_new()};
    f->hbm = ts_hbm_new(NULL, f->arena, &hbm2);
    f->stream = ts_hbm_stream_new(f->arena, f->hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
}

/* The first sample ends with the second chunk. */
TEST(samples_come_first) {
    fixture f;
    begin(&f);
    for (int i = 0; i <= SAMPLES; i++) {
        ts_dma_chunk next = chunk(1, f.cycle);
        assert_int_equal(passed_may(&f.p, &machine, &next), false);
        simulate(f.hbm, f.stream, &f.p, 1, &f.cycle);
    }
    ts_dma_chunk next = chunk(1, f.cycle);
    assert_true(passed_may(&f.p, &machine, &next));
    ts_arena_free(f.arena);
}

/* One that is not alone begins no sample, and ends none. */
TEST(others_are_no_samples) {
    fixture f;
    begin(&f);
    for (int i = 0; i < 3 * SAMPLES; i++, f.cycle += 100) {
        ts_dma_chunk next = chunk(512, f.cycle);
        note(&f.p, f.hbm, i % 2 == 0, &next);
        assert_false(passed_may(&f.p, &machine, &next));
    }
    assert_int_equal(f.p.samples, 0);
    ts_arena_free(f.arena);
}

TEST(half_of_the_peak_is_not_little) {
    static const struct {
        int64_t bytes[3], cycles[3];
        bool may[3];
    } rows[] = {
        {{HALF, 1, 1}, {0, 1, WINDOW}, {true, false, true}},
        {{HALF + 1, 1, 1}, {0, WINDOW - 1, WINDOW}, {false, false, true}},
        {{HALF / 2, HALF / 2, HALF}, {0, WINDOW - 1, WINDOW}, {true, true, true}},
        {{HALF, HALF, 1}, {0, WINDOW, 2 * WINDOW - 1}, {true, true, false}},
    };
    fixture f;
    begin(&f);
    simulate(f.hbm, f.stream, &f.p, SAMPLES + 1, &f.cycle);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        f.cycle += 10 * WINDOW;
        for (int k = 0; k < 3; k++) {
            ts_dma_chunk next = chunk(rows[i].bytes[k], f.cycle + rows[i].cycles[k]);
            assert_int_equal(passed_may(&f.p, &machine, &next), rows[i].may[k]);
        }
    }
    ts_arena_free(f.arena);
}

/* Of n bytes the n / 512th part of what a sample had; time without requests is not of it. */
TEST(it_counts_for_the_average) {
    fixture f;
    begin(&f);
    simulate(f.hbm, f.stream, &f.p, SAMPLES + 1, &f.cycle);
    ts_hbm_stats stats = {.end_cycle = 1000000};
    passed_count(&f.p, &machine, &stats);
    assert_int_equal(stats.writes, 0);
    assert_int_equal(f.p.simulated.cycles, SAMPLES * 100);
    assert_int_equal(f.p.simulated.bytes, SAMPLES * 512);
    int64_t since = f.p.cycle;
    for (int i = 1; i <= 10; i++) {
        ts_dma_chunk next = chunk(1024, since + 100 * i);
        passed_over(&f.p, &next);
    }
    passed_count(&f.p, &machine, &stats);
    assert_int_equal(stats.writes, 20 * 16);
    assert_int_equal(stats.reads, 0);
    assert_int_equal(stats.refreshes, 0);
    assert_true(stats.activations > 0 && stats.open_cycles > 0);
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) assert_int_equal(stats.limiter_cycles[i], 0);
    ts_hbm_stats more = {.end_cycle = 1000000};
    ts_dma_chunk late = chunk(1024, f.p.cycle + 100 * WINDOW);
    passed_over(&f.p, &late);
    passed_count(&f.p, &machine, &more);
    assert_int_equal(more.writes, 22 * 16);
    assert_in_range(more.open_cycles * 1000, stats.open_cycles * 2000, stats.open_cycles * 2030);
    ts_arena_free(f.arena);
}

/* No rows are open for longer than the run. */
TEST(rows_are_open_no_longer_than_there_is_time) {
    passed p = {
        .cycle = 50, .stats = {.open_cycles = 1000000}, .simulated = {512, 100}, .passed = {512, 100}};
    ts_hbm_stats stats = {.end_cycle = 7};
    passed_count(&p, &machine, &stats);
    assert_int_equal(stats.open_cycles, 50 * 8 * 2);
    stats = (ts_hbm_stats){.end_cycle = 90};
    passed_count(&p, &machine, &stats);
    assert_int_equal(stats.open_cycles, 90 * 8 * 2);
    p.passed = (passed_amount){51200, 0};
    stats = (ts_hbm_stats){.end_cycle = 90};
    passed_count(&p, &machine, &stats);
    assert_int_equal(stats.open_cycles, 0);
}
