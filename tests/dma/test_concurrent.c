/* Several transfers at once: when each starts and ends, and what they add up to. */
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"

enum { MOST = 8, ROW_BYTES = 512, READS = 1, WRITES = 2 };

typedef struct {
    int rows; /* of 128 words; 0: no more */
    int ends; /* those in HBM */
} one;

static ts_dma_transfer transfer_of(ts_arena *arena, const one *what, int64_t at) {
    static const char text[] = "f32[8192,128]{1,0}";
    static const int64_t begin[2] = {0, 0};
    const int64_t sizes[2] = {what->rows, 128};
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *shape = ts_shape_parse(NULL, arena, &source);
    ts_plan_side src = {shape, begin, NULL, at * 8}, dst = {shape, begin, NULL, (at + (64 << 20)) * 8};
    return (ts_dma_transfer){.plan = ts_plan_new(NULL, arena, &src, &dst, 2, sizes),
                             .src.in_hbm = what->ends & READS,
                             .dst.in_hbm = what->ends & WRITES,
                             .tag = 77};
}

typedef struct {
    ts_arena *arena;
    ts_dma_transfer transfers[MOST];
    ts_dma_result results[MOST];
    int count;
    ts_dma_mix mix;
    ts_error err;
    bool good;
} outcome;

static outcome run(const ts_dma_config *dma, const one *what, bool exact) {
    const ts_dma_machine machine = {dma, &hbm2, HBM2_KHZ, NULL, NULL};
    outcome o = {.arena = ts_arena_new()};
    for (; o.count < MOST && what[o.count].rows > 0; o.count++)
        o.transfers[o.count] = transfer_of(o.arena, &what[o.count], (int64_t)o.count * (4 << 20));
    const ts_dma_mix_request request = {&machine, o.transfers, o.count, exact};
    o.good = ts_dma_price_concurrent(&o.err, o.arena, &request, o.results, &o.mix);
    return o;
}

TEST(one_alone_is_as_its_price) {
    static const int ends[] = {READS, WRITES, READS | WRITES, 0};
    for (int i = 0; i < 4; i++) {
        const one what[MOST] = {{64, ends[i]}};
        outcome o = run(&plain_dma, what, true);
        assert_true(o.good);
        const ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ, NULL, NULL};
        const ts_dma_transfer *t = &o.transfers[0];
        const ts_dma_price_request request = {&machine, t->plan, t->src, t->dst, true};
        ts_dma_cost cost;
        assert_true(ts_dma_price(&o.err, o.arena, &request, &cost));
        assert_int_equal(o.mix.cycles, cost.cycles);
        assert_int_equal(o.mix.engine_cycles, cost.engine_cycles);
        assert_int_equal(o.mix.memory_cycles, cost.memory_cycles);
        assert_int_equal(o.results[0].completed_cycle, cost.transfer.completed_cycle);
        assert_false(o.mix.estimated);
        ts_arena_free(o.arena);
    }
}

/* Bytes in HBM alone; all of them are on the pins, since no access meets another. */
TEST(they_add_up) {
    static const one what[MOST] = {{16, READS}, {8, WRITES}, {4, READS | WRITES}, {2, 0}};
    outcome o = run(&plain_dma, what, true);
    assert_true(o.good);
    assert_int_equal(o.mix.moved_bytes, (16 + 8 + 2 * 4) * ROW_BYTES);
    assert_int_equal(o.mix.pin_bytes, o.mix.moved_bytes);
    assert_int_equal(o.mix.memory_cycles, o.mix.moved_bytes / HBM2_BYTES_PER_NS);
    assert_int_equal(o.mix.hbm.reads * hbm2.burst_bytes, (16 + 4) * ROW_BYTES);
    assert_int_equal(o.mix.hbm.writes * hbm2.burst_bytes, (8 + 4) * ROW_BYTES);
    int64_t engine = 0, last = 0;
    for (int i = 0; i < o.count; i++) {
        assert_int_equal(o.results[i].useful_bytes, what[i].rows * ROW_BYTES);
        assert_int_equal(o.results[i].tag, i);
        assert_int_equal(o.results[i].issued_cycle, 0);
        engine += o.results[i].engine_cycles;
        last = o.results[i].completed_cycle > last ? o.results[i].completed_cycle : last;
    }
    assert_int_equal(o.mix.engine_cycles, engine);
    assert_int_equal(o.mix.cycles, last);
    ts_arena_free(o.arena);
}

/* Of n descriptors the next starts when the first of those is complete. */
TEST(others_start_as_some_end) {
    static const one what[MOST] = {{64, READS}, {8, READS}, {32, READS}, {1, READS}, {2, READS}};
    for (int descriptors = 1; descriptors <= 3; descriptors++) {
        ts_dma_config dma = plain_dma;
        dma.descriptors = descriptors;
        dma.queues = descriptors;
        outcome o = run(&dma, what, true);
        assert_true(o.good);
        for (int i = 0; i < o.count; i++) {
            int64_t issued = o.results[i].issued_cycle;
            int before = 0, at_it = 0;
            for (int k = 0; k < i; k++) {
                before += o.results[k].completed_cycle <= issued;
                at_it += o.results[k].completed_cycle == issued;
            }
            assert_int_equal(before, i < descriptors ? 0 : i - descriptors + 1);
            assert_int_equal(at_it, i >= descriptors);
        }
        ts_arena_free(o.arena);
    }
}

/* Where each access reaches all of them alike. */
TEST(a_part_of_the_channels_stands_for_all) {
    static const one what[MOST] = {{8192, READS}, {8192, WRITES}};
    ts_dma_config dma = plain_dma;
    dma.access_bytes = 1024;
    outcome every = run(&dma, what, true), some = run(&dma, what, false);
    assert_true(every.good && some.good);
    assert_true(some.mix.estimated && !every.mix.estimated);
    assert_in_range(some.mix.cycles * 100, every.mix.cycles * 97, every.mix.cycles * 103);
    assert_int_equal(some.mix.moved_bytes, every.mix.moved_bytes);
    assert_int_equal(some.mix.hbm.reads, every.mix.hbm.reads);
    ts_arena_free(every.arena);
    ts_arena_free(some.arena);
}

TEST(what_the_engine_cannot_do_is_refused) {
    static const one what[MOST] = {{8, READS}};
    ts_dma_config dma = plain_dma;
    memset(dma.bytes_per_cycle, 0, sizeof dma.bytes_per_cycle);
    outcome o = run(&dma, what, true);
    assert_false(o.good);
    assert_int_equal(o.err.kind, TS_ERROR_UNMODELLED);
    assert_string_equal(o.err.message, "the DMA engine of this machine cannot do a copy");
    ts_arena_free(o.arena);
}

static int at_once(void *context) { return context == NULL; }

/* Whether prices are kept or not, of one transfer and of several. */
TEST(prices_can_be_stopped) {
    for (int kept = 0; kept < 2; kept++) {
        outcome o = run(&plain_dma, (one[MOST]){{64, READS}}, true);
        ts_interrupt interrupt = {.what = "the price", .stopped = at_once};
        const ts_dma_machine machine = {&plain_dma, &hbm2, HBM2_KHZ, kept ? ts_dma_prices_new(o.arena) : NULL,
                                        &interrupt};
        const ts_dma_transfer *t = &o.transfers[0];
        const ts_dma_price_request request = {&machine, t->plan, t->src, t->dst, true};
        const ts_dma_mix_request all = {&machine, t, 1, true};
        ts_dma_cost cost;
        assert_false(ts_dma_price(&o.err, o.arena, &request, &cost));
        assert_string_equal(o.err.message, "the price is stopped");
        o.err = (ts_error){0};
        assert_false(ts_dma_price_concurrent(&o.err, o.arena, &all, o.results, &o.mix));
        assert_string_equal(o.err.message, "the price is stopped");
        ts_arena_free(o.arena);
    }
}
