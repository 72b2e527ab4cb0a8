/* Plans against the layouts they join: every element once, from where it is to where it belongs. */

#include "tests/support/random_layout.h"
#include "layout/plan.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

enum { RANDOM_PLANS = 4000, SRC_BITS = 32, DST_BITS = 16, SRC_BASE = 128, DST_BASE = 64 };

typedef struct {
    int rank;
    int64_t sizes[8], src_begin[8], dst_begin[8], src_dims[8], dst_dims[8];
} transfer;

static transfer random_transfer(uint64_t *seed) {
    transfer t = {.rank = (int)random_below(seed, 5)};
    for (int i = 0; i < t.rank; i++) {
        t.sizes[i] = 1 + random_below(seed, 9);
        t.src_begin[i] = random_below(seed, 2) ? 0 : random_below(seed, 4);
        t.dst_begin[i] = random_below(seed, 2) ? 0 : random_below(seed, 4);
        t.src_dims[i] = t.sizes[i] + t.src_begin[i] + (random_below(seed, 2) ? 0 : random_below(seed, 4));
        t.dst_dims[i] = t.sizes[i] + t.dst_begin[i] + (random_below(seed, 2) ? 0 : random_below(seed, 4));
    }
    return t;
}

/* Fills from[destination offset] with the source offset of every element that the boxes move. */
static void run_boxes(const ts_plan *plan, int64_t *from, int64_t count) {
    int64_t moved = 0;
    ts_plan shifted = *plan;
    ts_plan_shift(&shifted, 1 << 10, 1 << 20);
    ts_plan_shift(&shifted, -3, 5);
    for (int64_t i = 0; i < count; i++) from[i] = -1;
    for (int64_t n = 0; n < plan->box_count; n++) {
        ts_plan_box box, other;
        int64_t sizes[TS_PLAN_MAX_LOOPS], at[TS_PLAN_MAX_LOOPS] = {0}, elements = 0;
        ts_plan_get_box(plan, n, &box);
        ts_plan_get_box(&shifted, n, &other);
        assert_true(other.src_bits == box.src_bits + 1021 && other.dst_bits == box.dst_bits + (1 << 20) + 5);
        for (int i = 0; i < box.loop_count; i++) sizes[i] = box.loops[i].extent;
        do {
            int64_t src = box.src_bits - SRC_BASE, dst = box.dst_bits - DST_BASE;
            for (int i = 0; i < box.loop_count; i++) {
                src += at[i] * box.loops[i].src_bits;
                dst += at[i] * box.loops[i].dst_bits;
            }
            assert_true(src % SRC_BITS == 0 && dst % DST_BITS == 0 && dst >= 0 && dst / DST_BITS < count);
            assert_int_equal(from[dst / DST_BITS], -1);
            from[dst / DST_BITS] = src / SRC_BITS;
            elements++;
        } while (next_index(box.loop_count, sizes, at));
        assert_int_equal(elements, box.elements);
        moved += elements;
    }
    assert_int_equal(moved, plan->moved_elements);
}

static void check_elements(const transfer *t, const ts_shape *src, const ts_shape *dst, const int64_t *from) {
    int64_t index[8] = {0}, here[8], there[8], s, d;
    do {
        for (int i = 0; i < t->rank; i++) {
            here[i] = index[i] + t->src_begin[i];
            there[i] = index[i] + t->dst_begin[i];
        }
        ts_layout_forward(src->layout, here, &s);
        ts_layout_forward(dst->layout, there, &d);
        assert_int_equal(from[d], s);
    } while (next_index(t->rank, t->sizes, index));
}

TEST_WITH_ARENA(random_plans_move_every_element) {
    uint64_t seed = 20260101;
    int gathers = 0, with_padding = 0;
    for (int n = 0; n < RANDOM_PLANS; n++) {
        ts_arena_reset(arena);
        ts_error err = {0};
        transfer t = random_transfer(&seed);
        ts_shape src = {.dtype = TS_DTYPE_F32, .element_bits = SRC_BITS},
                 dst = {.dtype = TS_DTYPE_BF16, .element_bits = DST_BITS};
        src.layout = random_layout(&seed, arena, t.rank, t.src_dims);
        dst.layout = random_layout(&seed, arena, t.rank, t.dst_dims);
        ts_plan_side from = {&src, t.src_begin, NULL, SRC_BASE}, to = {&dst, t.dst_begin, NULL, DST_BASE};
        const ts_plan *plan = ts_plan_new(&err, arena, &from, &to, t.rank, t.sizes);
        assert_non_null(plan);
        int64_t count = ts_layout_padded_count(dst.layout), *origin = TS_NEW_ARRAY(arena, int64_t, count);
        run_boxes(plan, origin, count);
        check_elements(&t, &src, &dst, origin);
        gathers += plan->gathers;
        with_padding += plan->moved_elements != plan->elements;
    }
    print_message("seed 20260101: %d plans, %d gather, %d carry padding\n", RANDOM_PLANS, gathers,
                  with_padding);
    assert_int_equal(gathers, 1025); /* one more would be right as well, but slow */
    assert_int_equal(with_padding, 8);
}

/* ---- Known plans ---- */

static const ts_shape *tiled(ts_arena *arena, ts_dtype dtype, int bits, int rank, const int64_t *dims,
                             int tile_rows, int tile_columns) {
    ts_error err = {0};
    ts_layout_builder b;
    ts_layout_begin(&b, &err, arena, rank, dims);
    if (tile_rows > 0) {
        ts_layout_tile(&b, 0, tile_rows);
        ts_layout_tile(&b, 2, tile_columns);
        ts_layout_reorder(&b, (int[]){0, 2, 1, 3});
    }
    ts_shape *shape = TS_NEW(arena, ts_shape);
    *shape = (ts_shape){.dtype = dtype, .element_bits = bits, .layout = ts_layout_finish_row_major(&b)};
    assert_non_null(shape->layout);
    return shape;
}

TEST_WITH_ARENA(large_aligned_tensor_is_one_box_of_four_loops) {
    ts_error err = {0};
    int64_t dims[2] = {32768, 32768};
    ts_plan_side src = {tiled(arena, TS_DTYPE_F32, 32, 2, dims, 0, 0), NULL, NULL, 0};
    ts_plan_side dst = {tiled(arena, TS_DTYPE_F32, 32, 2, dims, 8, 128), NULL, NULL, 0};
    const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 2, dims);
    assert_int_equal(plan->box_count, 1);
    ts_plan_box box;
    ts_plan_get_box(plan, 0, &box);
    const ts_plan_loop expected[4] = {{4096, 8LL * 32768 * 32, 8LL * 32768 * 32},
                                      {256, 128 * 32, 1024 * 32},
                                      {8, 32768 * 32, 128 * 32},
                                      {128, 32, 32}};
    assert_int_equal(box.loop_count, 4);
    assert_memory_equal(box.loops, expected, sizeof expected);
}

TEST_WITH_ARENA(ragged_tensor_is_four_boxes) {
    ts_error err = {0};
    int64_t dims[2] = {8191, 8101};
    ts_plan_side src = {tiled(arena, TS_DTYPE_F32, 32, 2, dims, 0, 0), NULL, NULL, 0};
    ts_plan_side dst = {tiled(arena, TS_DTYPE_F32, 32, 2, dims, 8, 128), NULL, NULL, 0};
    const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 2, dims);
    assert_int_equal(plan->box_count, 4);
    assert_int_equal(plan->moved_elements, plan->elements);
}

TEST_WITH_ARENA(same_tiles_on_both_sides_copy_straight_with_their_padding) {
    ts_error err = {0};
    int64_t dims[2] = {13, 200};
    const ts_shape *shape = tiled(arena, TS_DTYPE_F32, 32, 2, dims, 8, 128);
    ts_plan_side src = {shape, NULL, NULL, 0}, dst = {shape, NULL, NULL, 1 << 20};
    const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 2, dims);
    ts_plan_box box;
    assert_int_equal(plan->box_count, 1);
    ts_plan_get_box(plan, 0, &box);
    assert_int_equal(box.loop_count, 1);
    assert_int_equal(box.elements, 16 * 256);
    assert_int_equal(plan->elements, 13 * 200);
    plan = ts_plan_of_elements(&err, arena, &src, &dst, 2, dims); /* or without */
    int64_t moved = 0;
    for (int64_t i = 0; i < plan->box_count; i++) {
        ts_plan_get_box(plan, i, &box);
        moved += box.elements;
    }
    assert_true(moved == 13 * 200 && plan->elements == moved && plan->moved_elements == moved);
}

TEST_WITH_ARENA(slice_outside_is_refused) {
    ts_error err = {0};
    int64_t dims[2] = {16, 16}, begin[2] = {9, 0}, sizes[2] = {8, 16};
    const ts_shape *shape = tiled(arena, TS_DTYPE_F32, 32, 2, dims, 8, 128);
    ts_plan_side src = {shape, begin, NULL, 0}, dst = {shape, NULL, NULL, 1 << 20};
    assert_null(ts_plan_new(&err, arena, &src, &dst, 2, sizes));
    assert_string_equal(err.message,
                        "the slice begins at 9 and has size 8 in dimension 0, expected it within 0 to 16");
}

TEST_WITH_ARENA(overlapping_destination_is_refused_with_both_indices) {
    ts_error err = {0};
    int64_t dims[2] = {4, 4};
    ts_layout_builder b;
    ts_layout_begin(&b, &err, arena, 2, dims);
    ts_shape folded = {.dtype = TS_DTYPE_F32, .element_bits = 32};
    folded.layout =
        ts_layout_finish(&b, (ts_iter[]){{4, 2, 0}, {4, 1, 0}}, 1, (ts_axis[]){{"m", 0}}, 0, NULL);
    ts_plan_side src = {tiled(arena, TS_DTYPE_F32, 32, 2, dims, 0, 0), NULL, NULL, 0},
                 dst = {&folded, NULL, NULL, 0};
    assert_null(ts_plan_new(&err, arena, &src, &dst, 2, dims));
    assert_string_equal(err.message, "the destination puts (0,2) and (1,0) in one place");
}

TEST_WITH_ARENA(replicas_of_the_destination_are_loops_of_source_stride_0) {
    ts_error err = {0};
    int64_t dims[1] = {4};
    ts_layout_builder b;
    ts_layout_begin(&b, &err, arena, 1, dims);
    ts_shape copies = {.dtype = TS_DTYPE_F32, .element_bits = 32};
    copies.layout =
        ts_layout_finish(&b, (ts_iter[]){{4, 1, 0}}, 1, (ts_axis[]){{"m", 3}}, 1, (ts_iter[]){{2, 8, 0}});
    ts_plan_side src = {tiled(arena, TS_DTYPE_F32, 32, 1, dims, 0, 0), NULL, NULL, 0},
                 dst = {&copies, NULL, NULL, 0};
    const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 1, dims);
    ts_plan_box box;
    ts_plan_get_box(plan, 0, &box);
    assert_int_equal(plan->elements, 8);
    assert_int_equal(box.dst_bits, 96);
    const ts_plan_loop expected[2] = {{2, 0, 256}, {4, 32, 32}};
    assert_int_equal(box.loop_count, 2);
    assert_memory_equal(box.loops, expected, sizeof expected);
}

TEST_WITH_ARENA(nothing_is_no_box) {
    ts_error err = {0};
    int64_t dims[2] = {0, 16};
    ts_plan_side side = {tiled(arena, TS_DTYPE_F32, 32, 2, dims, 0, 0), NULL, NULL, 0};
    const ts_plan *plan = ts_plan_new(&err, arena, &side, &side, 2, dims);
    assert_int_equal(plan->elements, 0);
    assert_int_equal(plan->moved_elements, 0);
    assert_int_equal(plan->box_count, 0);
}

/* Of a source that is no sum of digits, or its slice: a box an element, with the loops of the replicas. */
TEST_WITH_ARENA(gathers_write_every_replica) {
    ts_error err = {0};
    int64_t dims[1] = {16};
    ts_plan_side src = {parse_shape(arena, "f32[16] Sw<1,0,2> o 0 o 16:1"), NULL, NULL, 0},
                 dst = {parse_shape(arena, "f32[16] S[(16):(1@m)] + R[(2,3):(16@m,32@m)]"), NULL, NULL, 64};
    const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 1, dims);
    assert_true(plan->gathers);
    assert_int_equal(plan->box_count, 16);
    assert_int_equal(plan->moved_elements, 96);
    ts_plan_box box;
    ts_plan_get_box(plan, 5, &box);
    assert_int_equal(box.src_bits, 32 * (5 ^ 1));
    assert_int_equal(box.dst_bits, 64 + 32 * 5);
    const ts_plan_loop expected[1] = {{6, 0, 16 * 32}};
    assert_int_equal(box.loop_count, 1);
    assert_memory_equal(box.loops, expected, sizeof expected);
    src = (ts_plan_side){parse_shape(arena, "f32[32] Sw<1,0,2> o 0 o 32:1"), (int64_t[]){4}, NULL, 0};
    plan = ts_plan_new(&err, arena, &src, &dst, 1, dims);
    for (int i = 0; i < 16; i++) {
        int from = 4 + i;
        ts_plan_get_box(plan, i, &box);
        assert_int_equal(box.src_bits, 32 * (from ^ (from >> 2 & 1)));
    }
}

/* Of a map that is a function: what is moved lies where the whole has it. */
TEST_WITH_ARENA(functions_are_sliced) {
    ts_error err = {0};
    int64_t dims[2] = {3, 2};
    ts_plan_side src = {parse_shape(arena, "f32[8,4] lambda i, j: [i * i + 64 * j]"), (int64_t[]){4, 1}, NULL,
                        0},
                 dst = {tiled(arena, TS_DTYPE_F32, 32, 2, dims, 0, 0), NULL, NULL, 0};
    const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 2, dims);
    assert_true(plan->gathers);
    for (int n = 0; n < 6; n++) {
        int i = 4 + n / 2, j = 1 + n % 2;
        ts_plan_box box;
        ts_plan_get_box(plan, n, &box);
        assert_int_equal(box.src_bits, 32 * (i * i + 64 * j));
        assert_int_equal(box.dst_bits, 32 * n);
    }
}

#define HALF (INT64_C(1) << 62)
/* Axes and the base add up, whatever their signs. */
TEST_WITH_ARENA(addresses_of_more_than_63_bits_are_refused) {
    static const struct {
        const char *shape;
        int64_t base_bits, axis_bits[2];
        bool fits;
    } rows[] = {{"f32[2] S[(2):(1@m)]", 0, {HALF}, true},
                {"f32[2] S[(2):(1@m)]", HALF, {HALF}, false},
                {"f32[2] S[(2):(1@m)]", HALF - 1, {HALF}, true},
                {"f32[2] S[(2):(1@m)]", -HALF, {HALF}, false},
                {"f32[2] S[(2):(2@m)]", 0, {HALF}, false},
                {"f32[2] S[(2):(-1@m)]", 0, {HALF}, true},
                {"f32[2] S[(2):(-2@m)]", 0, {HALF}, false},
                {"f32[2] S[(2):(-2@m)] + 1@m", 0, {HALF}, true},
                {"f32[2] S[(2):(-3@m)] + 1@m", 0, {HALF}, false},
                {"f32[2,2] S[(2,2):(1@m,1@n)]", 0, {HALF, 1}, true},
                {"f32[2,2] S[(2,2):(2@m,1@n)]", 0, {HALF, 1}, false},
                {"f32[2,2] S[(2,2):(1@m,1@n)]", 0, {HALF, HALF}, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        const ts_shape *far = parse_shape(arena, rows[i].shape);
        const ts_layout *layout = far->layout;
        ts_plan_side near = {tiled(arena, TS_DTYPE_F32, 32, layout->rank, layout->dims, 0, 0), NULL, NULL, 0},
                     side = {far, NULL, rows[i].axis_bits, rows[i].base_bits};
        for (int way = 0; way < 2; way++) {
            const ts_plan *plan = ts_plan_new(&err, arena, way == 0 ? &side : &near, way == 0 ? &near : &side,
                                              layout->rank, layout->dims);
            if ((plan != NULL) != rows[i].fits) fail_msg("row %zu, way %d: %s", i, way, err.message);
            if (!plan) assert_string_equal(err.message, "the layout's addresses do not fit in 64 bits");
        }
    }
}
