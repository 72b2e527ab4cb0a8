/* What comes over links: written as it comes, beside the engine. 256 bytes a cycle of HBM; a block has 4,096 bytes. */
#include "tests/support/hbm2.h"
#include "tests/support/test.h"

enum { BLOCK = 4096 };

typedef struct {
    ts_arena *arena;
    ts_error err;
    ts_dma_config config;
    ts_hbm *hbm;
    ts_dma *dma;
} fixture;

static int set_up(void **state) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    *f = (fixture){.arena = arena, .config = plain_dma};
    f->hbm = ts_hbm_new(&f->err, arena, &hbm2);
    f->dma = ts_dma_new(arena, &f->config, f->hbm, HBM2_KHZ, HBM2_KHZ);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    ts_dma_free(f->dma);
    ts_arena_free(f->arena);
    return 0;
}

/* Whole rows of 1,024 words, four bytes each: a row is a block. */
static const ts_plan *plan_of(fixture *f, const char *text, int64_t at_bytes) {
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *shape = ts_shape_parse(&f->err, f->arena, &source);
    assert_non_null(shape);
    ts_plan_side src = {shape, NULL, NULL, 0}, dst = {shape, NULL, NULL, at_bytes * 8};
    const ts_plan *plan =
        ts_plan_new(&f->err, f->arena, &src, &dst, shape->layout->rank, shape->layout->dims);
    assert_non_null(plan);
    return plan;
}

static void feed(fixture *f, ts_dma_incoming *in, int64_t bytes, int64_t cycle, bool last) {
    ts_dma_feed(f->dma, in, &(ts_dma_chunk){bytes, cycle, last, false});
}

static int64_t writes(const fixture *f) {
    ts_hbm_stats stats;
    ts_hbm_read_stats(f->hbm, &stats);
    return stats.writes;
}

static ts_dma_result complete(fixture *f, int64_t least, int64_t most) {
    ts_dma_result result;
    int64_t cycle = ts_dma_next(f->dma, INT64_MAX);
    assert_in_range(cycle, least, most);
    assert_true(ts_dma_complete(&f->err, f->dma, &result));
    assert_int_equal(result.completed_cycle, cycle);
    return result;
}

/* A cycle before its bytes are there nothing is written. A block is written when all of it has come. */
TEST_WITH(a_block_is_written_when_it_is_there, set_up, tear_down) {
    fixture *f = *state;
    int owner;
    ts_dma_incoming *in = ts_dma_expect(f->dma, plan_of(f, "f32[3,1024]{1,0}", 0), &owner);
    assert_int_equal(ts_dma_next(f->dma, 100), INT64_MAX);
    assert_int_equal(ts_dma_quiet_until(f->dma, 100), INT64_MAX);
    feed(f, in, BLOCK - 1, 200, false);
    assert_int_equal(ts_dma_quiet_until(f->dma, 100), INT64_MAX);
    feed(f, in, 1 + BLOCK, 300, false);
    assert_int_equal(ts_dma_quiet_until(f->dma, 100), 300);
    assert_int_equal(ts_dma_next(f->dma, 299), INT64_MAX);
    assert_int_equal(writes(f), 0);
    assert_int_equal(ts_dma_next(f->dma, 300), INT64_MAX);
    assert_int_equal(writes(f), 2 * BLOCK / 32);
    feed(f, in, 1, 1000, true);
    ts_dma_result result = complete(f, 1000, 1032);
    assert_int_equal(writes(f), 3 * BLOCK / 32);
    assert_ptr_equal(result.incoming, &owner);
    assert_int_equal(result.dst_bytes, 3 * BLOCK);
    assert_int_equal(result.rmw_lines, 0);
    assert_int_equal(ts_dma_next(f->dma, INT64_MAX), INT64_MAX);
}

/* A block of one access, which comes before the end is told of. */
TEST_WITH(a_single_access_is_written, set_up, tear_down) {
    fixture *f = *state;
    f->config.access_bytes = 64;
    ts_dma_incoming *in = ts_dma_expect(f->dma, plan_of(f, "f32[1040]{0}", 0), f);
    feed(f, in, BLOCK, 100, false);
    feed(f, in, 64, 200, false);
    assert_int_equal(ts_dma_next(f->dma, 199), INT64_MAX);
    assert_int_equal(writes(f), BLOCK / 32);
    assert_int_equal(ts_dma_next(f->dma, 200), INT64_MAX);
    assert_int_equal(writes(f), (BLOCK + 64) / 32);
    feed(f, in, 0, 300, true);
    assert_int_equal(complete(f, 300, 300).dst_bytes, BLOCK + 64);
}

/* In the order of cycles, of equal ones in that of feeding; what has come later is not complete before. */
TEST_WITH(they_go_in_the_order_of_cycles, set_up, tear_down) {
    fixture *f = *state;
    int owners[3];
    static const int64_t cycles[2][3] = {{300, 200, 300}, {200, 200, 100}};
    static const int order[2][3] = {{1, 0, 2}, {2, 0, 1}};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            const ts_plan *plan = plan_of(f, "f32[1024]{0}", i * BLOCK);
            feed(f, ts_dma_expect(f->dma, plan, &owners[i]), BLOCK, 1000 * round + cycles[round][i], true);
        }
        for (int i = 0; i < 3; i++) {
            int64_t due = 1000 * round + cycles[round][order[round][i]];
            assert_ptr_equal(complete(f, due, due + 64).incoming, &owners[order[round][i]]);
        }
    }
}

/* What has come by the end of a transfer, but is written later, is complete behind it. */
TEST_WITH(an_end_goes_before_what_is_written_later, set_up, tear_down) {
    void *other;
    set_up(&other);
    int64_t own = 0;
    fixture *both[] = {other, *state};
    for (int i = 0; i < 2; i++) {
        fixture *f = both[i];
        const ts_dma_transfer what = {.plan = plan_of(f, "f32[1024]{0}", 1 << 20), .src.in_hbm = true};
        assert_true(ts_dma_start(&f->err, f->dma, &what, 0));
        if (i == 0) {
            own = ts_dma_next(f->dma, INT64_MAX);
            continue;
        }
        const ts_plan *plan = plan_of(f, "f32[64,1024]{1,0}", 0);
        feed(f, ts_dma_expect(f->dma, plan, f), 64 * BLOCK, own - 5, true);
        assert_null(complete(f, own, own).incoming);
        assert_ptr_equal(complete(f, own + 1, own + 2000).incoming, f);
    }
    tear_down(&other);
}

/* What is passed over counts its bytes, but writes nothing, and is complete as it comes. */
TEST_WITH(what_is_passed_over_is_not_written, set_up, tear_down) {
    fixture *f = *state;
    ts_dma_incoming *in = ts_dma_expect(f->dma, plan_of(f, "f32[2,1024]{1,0}", 0), f);
    ts_dma_feed(f->dma, in, &(ts_dma_chunk){.bytes = BLOCK, .cycle = 50, .passed = true});
    assert_int_equal(ts_dma_quiet_until(f->dma, 0), INT64_MAX);
    ts_dma_feed(f->dma, in, &(ts_dma_chunk){.bytes = BLOCK, .cycle = 70, .last = true, .passed = true});
    assert_int_equal(complete(f, 70, 70).dst_bytes, 2 * BLOCK);
    assert_int_equal(writes(f), 0);
}

/* Half of each packed pair: the other half is read first. */
TEST_WITH(half_words_are_read_first, set_up, tear_down) {
    fixture *f = *state;
    const char *text = "bf16[16,128]{1,0:T(8,128)(2,1)}";
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *shape = ts_shape_parse(&f->err, f->arena, &source);
    static const int64_t begin[2] = {1, 0}, sizes[2] = {1, 128};
    ts_plan_side side = {shape, begin, NULL, 0};
    const ts_plan *plan = ts_plan_new(&f->err, f->arena, &side, &side, 2, sizes);
    assert_non_null(plan);
    f->config.write_granule_bits = 32;
    feed(f, ts_dma_expect(f->dma, plan, f), 256, 10, true);
    assert_int_equal(complete(f, 10, 100).rmw_lines, 512 / f->config.access_bytes);
    ts_hbm_stats stats;
    ts_hbm_read_stats(f->hbm, &stats);
    assert_int_equal(stats.reads, 512 / 32);
    assert_int_equal(stats.writes, 512 / 32);
}

/* 1 MiB at once takes the memory 4,096 cycles; what has not been accepted holds up what comes next. */
TEST_WITH(no_more_is_accepted_than_the_memory_takes, set_up, tear_down) {
    fixture *f = *state;
    int big, small;
    feed(f, ts_dma_expect(f->dma, plan_of(f, "f32[256,1024]{1,0}", 0), &big), 256 * BLOCK, 100, true);
    feed(f, ts_dma_expect(f->dma, plan_of(f, "f32[1024]{0}", 1 << 21), &small), BLOCK, 200, true);
    assert_ptr_equal(complete(f, 4000, 5000).incoming, &big);
    assert_ptr_equal(complete(f, 4000, 5200).incoming, &small);
}

/* A transfer of 256 KiB beside so many bytes that come, a block every 32 cycles: half of what the memory takes. */
static int64_t time_of_read(fixture *f, bool beside, int64_t *arrived) {
    ts_dma_transfer read = {.plan = plan_of(f, "f32[64,1024]{1,0}", 0), .src.in_hbm = true};
    ts_dma_incoming *in = ts_dma_expect(f->dma, plan_of(f, "f32[128,1024]{1,0}", 1 << 24), f);
    assert_true(ts_dma_start(&f->err, f->dma, &read, 0));
    for (int i = 0; i < 128 && beside; i++) feed(f, in, BLOCK, 100 + 32 * i, i == 127);
    int64_t done = 0;
    for (int i = 0; i < (beside ? 2 : 1); i++) {
        ts_dma_result result = complete(f, 0, 20000);
        *(result.incoming ? arrived : &done) = result.completed_cycle;
    }
    return done;
}

TEST_WITH(both_share_the_channels, set_up, tear_down) {
    fixture *f = *state;
    int64_t arrived = 0, alone = time_of_read(f, false, NULL);
    tear_down(state);
    set_up(state);
    f = *state;
    int64_t beside = time_of_read(f, true, &arrived);
    assert_in_range(alone, 1024 + 300, 1024 + 500);
    assert_in_range(beside, alone + 300, 2 * alone + 1000);
    assert_in_range(arrived, 100 + 32 * 127, 100 + 32 * 127 + 200);
}

/* It takes neither a descriptor nor a queue, and its end is told among those of transfers, in order. */
TEST_WITH(it_is_none_of_the_engines_transfers, set_up, tear_down) {
    fixture *f = *state;
    f->config.queues = f->config.descriptors = 1;
    ts_dma_incoming *in = ts_dma_expect(f->dma, plan_of(f, "f32[2,1024]{1,0}", 1 << 20), f);
    feed(f, in, BLOCK, 10, false);
    assert_int_equal(ts_dma_under_way(f->dma), 0);
    assert_true(ts_dma_can_start(f->dma));
    ts_dma_transfer copy = {.plan = plan_of(f, "f32[1024]{0}", 1 << 21), .tag = 7};
    assert_true(ts_dma_start(&f->err, f->dma, &copy, 20));
    ts_dma_result result = complete(f, 20 + 300, 20 + 400);
    assert_null(result.incoming);
    assert_int_equal(result.tag, 7);
    assert_true(ts_dma_start(&f->err, f->dma, &copy, 1000));
    feed(f, in, BLOCK, 1100, true);
    assert_ptr_equal(complete(f, 1100, 1132).incoming, f);
    assert_int_equal(complete(f, 1000 + 300, 1000 + 400).tag, 7);
}

/* Clocks of their own: a cycle of the core is two ticks and a half. */
TEST_WITH(clocks_are_crossed, set_up, tear_down) {
    fixture *f = *state;
    ts_dma_free(f->dma);
    f->dma = ts_dma_new(f->arena, &f->config, f->hbm, HBM2_KHZ * 2 / 5, HBM2_KHZ);
    feed(f, ts_dma_expect(f->dma, plan_of(f, "f32[256,1024]{1,0}", 0), f), 256 * BLOCK, 1000, true);
    complete(f, 1000 + 4000 * 2 / 5, 1000 + 5000 * 2 / 5);
}
