/* What follows from a plan: how many descriptors it takes, and at which rate. */
#include "dma/transfer.h"

#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"

static const ts_plan *plan_of(ts_arena *arena, const char *src, const char *dst, const int64_t *sizes) {
    ts_source sources[] = {{"src", src, strlen(src)}, {"dst", dst, strlen(dst)}};
    const ts_shape *from = ts_shape_parse(NULL, arena, &sources[0]),
                   *to = ts_shape_parse(NULL, arena, &sources[1]);
    assert_non_null(from);
    assert_non_null(to);
    ts_plan_side a = {from, NULL, NULL, 0}, b = {to, NULL, NULL, 1 << 20};
    const ts_layout *layout = from->layout;
    return ts_plan_new(NULL, arena, &a, &b, layout->rank, sizes ? sizes : layout->dims);
}

/* One for each turn of the loops that a descriptor does not hold: the shortest of those over whole words, of equal ones the
 * outermost. */
TEST(loops_beyond_those_held_take_descriptors) {
    static const struct {
        const char *src, *dst;
        int64_t counts[4]; /* of 4, 3, 2 and 1 loops held */
    } rows[] = {
        {"f32[2,3,5,7] (2,3,5,7):(105,35,7,1)", "f32[2,3,5,7] (2,3,5,7):(2000,400,50,2)", {1, 2, 6, 30}},
        {"f32[7,5,3,2] (7,5,3,2):(30,6,2,1)", "f32[7,5,3,2] (7,5,3,2):(2000,200,20,1)", {1, 2, 6, 30}},
        {"f32[3,5,2,7] (3,5,2,7):(70,14,7,1)", "f32[3,5,2,7] (3,5,2,7):(2000,200,20,1)", {1, 2, 6, 30}},
        {"bf16[7,5,3,2] (7,5,3,2):(30,6,2,1)", "bf16[7,5,3,2] (7,5,3,2):(2000,200,20,1)", {1, 3, 15, 105}},
        {"bf16[8,2] (8,2):(2,1)", "bf16[8,2] (8,2):(1,8)", {1, 1, 1, 2}},
        {"bf16[2,8] (2,8):(8,1)", "bf16[2,8] (2,8):(8,1)", {1, 1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = plan_of(arena, rows[i].src, rows[i].dst, NULL);
        for (int k = 0; k < 4; k++) {
            int64_t found = transfer_count_descriptors(plan, 4 - k);
            if (found != rows[i].counts[k]) fail_msg("row %zu, %d held: %d", i, 4 - k, (int)found);
        }
        ts_arena_free(arena);
    }
}

/* Each box has its own. */
TEST_WITH_ARENA(boxes_take_descriptors) {
    const ts_plan *plan = plan_of(arena, "f32[12,200]{1,0:T(8,128)}", "f32[12,200]{1,0}", NULL);
    assert_true(plan->box_count > 1);
    assert_int_equal(transfer_count_descriptors(plan, 4), plan->box_count);
    assert_true(transfer_count_descriptors(plan, 1) > plan->box_count);
}

/* The engine's for the kind, that at which it reads HBM, or that of the partitions that each side reaches. */
TEST(the_slowest_is_the_rate) {
    static const int64_t sizes[2] = {8, 64};
    static const struct {
        int32_t read, each;
        bool in_hbm;
        int64_t src_bits, dst_bits; /* of a partition; a row has 4096 */
        int64_t rate;
    } rows[] = {
        {0, 0, false, 4096, 4096, 1024}, {0, 16, false, 0, 0, 1024},       {0, 16, false, 4096, 0, 8 * 16},
        {0, 16, false, 0, 4096, 8 * 16}, {0, 16, false, 4097, 0, 16},      {0, 16, false, 4096, 8192, 16},
        {0, 1, false, 4096, 0, 8},       {0, 200, false, 4096, 0, 1024},   {0, 16, false, 32, 0, 1024},
        {100, 0, true, 0, 0, 100},       {100, 0, false, 0, 0, 1024},      {2000, 0, true, 0, 0, 1024},
        {100, 16, true, 4096, 0, 100},   {200, 16, true, 0, 4096, 8 * 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_dma_config dma = plain_dma;
        dma.read_bytes_per_cycle = rows[i].read;
        dma.partition_bytes_per_cycle = rows[i].each;
        ts_dma_transfer what = {.plan = plan_of(arena, "f32[8,128]{1,0}", "f32[8,128]{1,0}", sizes)};
        what.src = (ts_dma_end){.in_hbm = rows[i].in_hbm, .partition_bits = rows[i].src_bits};
        what.dst.partition_bits = rows[i].dst_bits;
        int64_t found = transfer_rate(&dma, &what, TS_DMA_COPY);
        if (found != rows[i].rate) fail_msg("row %zu: %d", i, (int)found);
        ts_arena_free(arena);
    }
}

/* What has no rate of its own is done element by element. */
TEST_WITH_ARENA(kinds_without_a_rate_are_gathers) {
    static const struct {
        int32_t retile, gather;
        ts_dma_kind done;
        bool good;
    } rows[] = {{8, 4, TS_DMA_RETILE, true},
                {1, 4, TS_DMA_RETILE, true},
                {0, 4, TS_DMA_GATHER, true},
                {0, 1, TS_DMA_GATHER, true},
                {0, 0, TS_DMA_GATHER, false}};
    const ts_plan *plan = plan_of(arena, "f32[64,512]{1,0}", "f32[64,512]{1,0:T(8,128)}", NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_error err = {0};
        ts_dma_config dma = plain_dma;
        dma.bytes_per_cycle[TS_DMA_RETILE] = rows[i].retile;
        dma.bytes_per_cycle[TS_DMA_GATHER] = rows[i].gather;
        assert_int_equal(ts_dma_kind_done(&dma, plan), rows[i].done);
        assert_int_equal(ts_dma_check_kind(&err, &dma, plan), rows[i].good);
        if (!rows[i].good)
            assert_string_equal(err.message, "the DMA engine of this machine cannot do a retile");
    }
}
