/* The layout form: forward against backward, bulk against single, equality with witnesses, injectivity. */
#include <string.h>

#include "tests/support/test.h"
#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"
#include "tests/support/shapes.h"

enum { RANDOM_LAYOUTS = 4000, SANITIZED_LAYOUTS = 400 };

TEST_WITH_ARENA(backward_is_the_inverse_and_padding_has_none) {
    uint64_t seed = 7;
    for (int n = 0, most = rounds(RANDOM_LAYOUTS, SANITIZED_LAYOUTS) / 4; n < most; n++) {
        ts_arena_reset(arena);
        ts_error err = {0};
        int64_t dims[4], index[4] = {0}, offset, valid = 0;
        int rank = (int)random_below(&seed, 5);
        for (int i = 0; i < rank; i++) dims[i] = 1 + random_below(&seed, 8);
        const ts_layout *layout = random_layout(&seed, arena, rank, dims);
        ts_index_list found;
        do {
            ts_layout_forward(layout, index, &offset);
            assert_true(ts_layout_backward(&err, arena, layout, &offset, 4, &found));
            assert_int_equal(found.count, 1);
            if (rank) assert_memory_equal(found.indices, index, (size_t)rank * sizeof index[0]);
        } while (next_index(rank, dims, index));
        for (offset = 0; offset < ts_layout_padded_count(layout); offset++) {
            assert_true(ts_layout_backward(&err, arena, layout, &offset, 4, &found));
            valid += found.count;
        }
        assert_int_equal(valid, ts_layout_element_count(layout));
    }
}

TEST_WITH_ARENA(bulk_equals_single) {
    uint64_t seed = 11;
    for (int n = 0, most = rounds(RANDOM_LAYOUTS, SANITIZED_LAYOUTS); n < most; n++) {
        ts_arena_reset(arena);
        ts_error err = {0};
        int64_t dims[4], index[4] = {0}, offset, flat = 0;
        int rank = 1 + (int)random_below(&seed, 4);
        for (int i = 0; i < rank; i++) dims[i] = 1 + random_below(&seed, 30) / (uint32_t)rank;
        const ts_layout *layout = random_layout(&seed, arena, rank, dims);
        int64_t count = ts_layout_element_count(layout), first = random_below(&seed, (uint32_t)count);
        int64_t *offsets = TS_NEW_ARRAY(arena, int64_t, count);
        assert_true(ts_layout_forward_many(&err, arena, layout, first, count - first, offsets));
        do {
            ts_layout_forward(layout, index, &offset);
            if (flat >= first) assert_int_equal(offsets[flat - first], offset);
            flat++;
        } while (next_index(rank, dims, index));
    }
}

/* Splits by no power of two of indices, or by factors, that do not fit in 32 bits. */
TEST_WITH_ARENA(bulk_of_large_indices) {
    static const struct {
        int64_t factor, first;
    } rows[] = {
        {3, 0},
        {3, (INT64_C(1) << 32) - 2},
        {3, INT64_C(8999999996)},
        {INT64_C(4500000000), 7},
        {INT64_C(4500000000), INT64_C(4499999998)},
    };
    enum { COUNT = 4 };
    const int64_t dim = INT64_C(9000000000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_layout_builder b;
        int64_t factor = rows[i].factor, offsets[COUNT];
        ts_layout_begin(&b, &err, arena, 1, &dim);
        ts_layout_split(&b, 0, factor);
        ts_layout_reorder(&b, (const int[]){1, 0}); /* or the quotient does not matter */
        const ts_layout *layout = ts_layout_finish_row_major(&b);
        assert_non_null(layout);
        assert_true(ts_layout_forward_many(&err, arena, layout, rows[i].first, COUNT, offsets));
        for (int k = 0; k < COUNT; k++) {
            int64_t at = rows[i].first + k;
            assert_int_equal(offsets[k], at % factor * (dim / factor) + at / factor);
        }
    }
}

/* The normal form, evaluated by hand, is the same map. */
TEST_WITH_ARENA(normal_form_is_the_same_map) {
    uint64_t seed = 13;
    int normal = 0, most = rounds(RANDOM_LAYOUTS, SANITIZED_LAYOUTS);
    for (int n = 0; n < most; n++) {
        ts_arena_reset(arena);
        int64_t dims[4], index[4] = {0}, offset;
        int rank = 1 + (int)random_below(&seed, 4);
        for (int i = 0; i < rank; i++) dims[i] = 1 + random_below(&seed, 8);
        const ts_layout *layout = random_layout(&seed, arena, rank, dims);
        const ts_normal_form *form = ts_layout_normalise(arena, layout);
        if (!form) continue;
        normal++;
        do {
            int64_t sum = 0;
            for (int g = 0; g < form->group_count; g++) {
                const ts_iter_group *group = &form->groups[g];
                int64_t x = 0;
                for (int i = 0; i < group->dim_count; i++)
                    x = x * dims[group->dim + i] + index[group->dim + i];
                for (int i = group->iter_count - 1; i >= 0; i--) {
                    sum += x % group->iters[i].extent * group->iters[i].stride;
                    x /= group->iters[i].extent;
                }
            }
            ts_layout_forward(layout, index, &offset);
            assert_int_equal(sum, offset);
        } while (next_index(rank, dims, index));
    }
    print_message("seed 13: %d of %d layouts have a normal form\n", normal, most);
    assert_true(normal > most / 3);
}

static bool differ_by_enumeration(const ts_layout *a, const ts_layout *b) {
    int64_t index[4] = {0}, x, y;
    do {
        ts_layout_forward(a, index, &x);
        ts_layout_forward(b, index, &y);
        if (x != y) return true;
    } while (next_index(a->rank, a->dims, index));
    return false;
}

TEST_WITH_ARENA(equality_agrees_with_enumeration) {
    uint64_t seed = 17;
    int equal_pairs = 0, most = rounds(RANDOM_LAYOUTS, SANITIZED_LAYOUTS);
    for (int n = 0; n < most; n++) {
        ts_arena_reset(arena);
        ts_error err = {0};
        int64_t dims[3], x, y;
        int rank = 1 + (int)random_below(&seed, 3);
        for (int i = 0; i < rank; i++) dims[i] = 1 + random_below(&seed, 4);
        const ts_layout *a = random_layout(&seed, arena, rank, dims),
                        *b = random_layout(&seed, arena, rank, dims);
        ts_layout_comparison found;
        assert_true(ts_layout_compare(&err, arena, a, b, 100000, &found));
        assert_int_equal(found.equal, !differ_by_enumeration(a, b));
        equal_pairs += found.equal;
        if (found.equal) continue;
        ts_layout_forward(a, found.witness, &x);
        ts_layout_forward(b, found.witness, &y);
        assert_true(x != y);
    }
    assert_true(equal_pairs > most / 40);
}

static const ts_layout *strided(ts_arena *arena, int64_t rows, int64_t columns, int64_t row_stride,
                                int64_t stride) {
    ts_error err = {0};
    ts_layout_builder b;
    ts_layout_begin(&b, &err, arena, 2, (int64_t[]){rows, columns});
    return ts_layout_finish(&b, (ts_iter[]){{rows, row_stride, 0}, {columns, stride, 0}}, 1,
                            (ts_axis[]){{"m", 0}}, 0, NULL);
}

/* [rows, 100], where columns from 50 on lie `jump` behind the first, `copies` times at the same place. */
static const ts_layout *halved(ts_arena *arena, int64_t rows, int64_t jump, int64_t copies) {
    ts_error err = {0};
    ts_layout_builder b;
    ts_layout_begin(&b, &err, arena, 2, (int64_t[]){rows, 100});
    ts_layout_split(&b, 1, 50);
    return ts_layout_finish(&b, (ts_iter[]){{rows, 1000, 0}, {2, jump, 0}, {50, 1, 0}}, 1,
                            (ts_axis[]){{"m", 0}}, 1, (ts_iter[]){{copies, 0, 0}});
}

/* Each dim gets as many indices as the other. */
TEST(differences_are_looked_for_up_to_the_limit) {
    static const struct {
        int64_t rows, jump, copies, limit;
        const char *found;
    } rows[] = {
        {100, 50, 3, 600, "equal"},    {100, 50, 3, 599, "too many"}, {100, 51, 1, 200, "differs"},
        {100, 51, 1, 102, "differs"},  {100, 51, 1, 101, "too many"}, {1, 50, 3, 303, "equal"},
        {1, 50, 3, 302, "too many"},   {1, 51, 1, 102, "differs"},    {100, 51, 3, 306, "differs"},
        {100, 51, 3, 305, "too many"}, {100, 51, 3, 2, "too many"},   {0, 51, 1, 100, "equal"},
        {100, 50, 1, 1, "equal"}, /* one normal form: nothing is tried */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_layout_comparison found;
        const ts_layout *a = halved(arena, rows[i].rows, 50, 1),
                        *b = halved(arena, rows[i].rows, rows[i].jump, rows[i].copies);
        bool good = ts_layout_compare(&err, arena, a, b, rows[i].limit, &found);
        assert_string_equal(!good ? "too many" : found.equal ? "equal" : "differs", rows[i].found);
        assert_true(good || strstr(err.message, "comparing these layouts needs more than ") != NULL);
        if (good && !found.equal)
            assert_memory_equal(found.witness, ((int64_t[]){0, 50}), 2 * sizeof(int64_t));
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(overlap_is_found_with_two_indices) {
    const struct {
        int64_t row_stride, stride;
        bool injective;
        int64_t first[2], second[2];
    } rows[] = {
        {4, 1, true, {0}, {0}},        {1, 3, true, {0}, {0}},        {2, 1, false, {0, 2}, {1, 0}},
        {0, 1, false, {0, 0}, {1, 0}}, {3, 2, false, {0, 3}, {2, 0}}, {-4, 1, true, {0}, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_layout_injectivity found;
        const ts_layout *layout = strided(arena, 3, 4, rows[i].row_stride, rows[i].stride);
        assert_true(ts_layout_injective(&err, arena, layout, 1000, &found));
        assert_int_equal(found.injective, rows[i].injective);
        if (found.injective) continue;
        assert_memory_equal(found.first, rows[i].first, sizeof rows[i].first);
        assert_memory_equal(found.second, rows[i].second, sizeof rows[i].second);
    }
}

/* Of a map that is a function: few elements of a large slice, by blocks. */
TEST_WITH_ARENA(bulk_of_sliced_functions) {
    enum { COUNT = 200, FIRST = 100, SIZE = 64, ROW = 4, COLUMN = 3 };
    ts_error err = {0};
    int64_t offsets[COUNT];
    const ts_shape *whole = parse_shape(arena, "f32[80,70] lambda i, j: [i * i * 70 + j]");
    const ts_layout *slice =
        ts_layout_slice(&err, arena, whole->layout, (int64_t[]){ROW, COLUMN}, (int64_t[]){SIZE, SIZE});
    assert_true(ts_layout_forward_many(&err, arena, slice, FIRST, COUNT, offsets));
    for (int n = 0; n < COUNT; n++) {
        int i = ROW + (FIRST + n) / SIZE, j = COLUMN + (FIRST + n) % SIZE;
        assert_int_equal(offsets[n], i * i * 70 + j);
    }
}

/* Steps of digits and of replicas, with an offset. */
TEST_WITH_ARENA(coordinates_that_do_not_fit_are_refused) {
    static const struct {
        int64_t extent, stride, offset, copies, copies_stride;
        bool fits;
    } rows[] = {
        {2, INT64_MAX, 0, 1, 0, true},         {3, INT64_MAX, 0, 1, 0, false},
        {2, -INT64_MAX, 0, 1, 0, true},        {2, INT64_MIN, 0, 1, 0, false},
        {1, INT64_MIN, 0, 1, INT64_MIN, true}, {2, 1, INT64_MAX, 1, 0, false},
        {2, 1, INT64_MAX - 1, 1, 0, true},     {2, 1, -INT64_MAX, 1, 0, false},
        {2, 1, INT64_MIN, 1, 0, false},        {0, INT64_MAX, 5, 1, 0, true},
        {2, 1, 0, 2, INT64_MAX - 1, true},     {2, 1, 0, 2, INT64_MAX, false},
        {2, 1, 0, 3, INT64_MAX / 2, true},     {2, 1, 0, 3, INT64_MAX / 2 + 1, false},
        {2, 1, 0, 2, INT64_MIN, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_layout_builder b;
        ts_layout_begin(&b, &err, arena, 1, &rows[i].extent);
        const ts_layout *layout = ts_layout_finish(&b, (ts_iter[]){{rows[i].extent, rows[i].stride, 0}}, 1,
                                                   (ts_axis[]){{"m", rows[i].offset}}, 1,
                                                   (ts_iter[]){{rows[i].copies, rows[i].copies_stride, 0}});
        if ((layout != NULL) != rows[i].fits) fail_msg("row %zu: %s", i, err.message);
    }
}

TEST_WITH_ARENA(sizes_that_do_not_fit_are_refused) {
    const struct {
        int64_t dims[2], tile;
        const char *message;
    } rows[] = {
        {{INT64_MAX, 2}, 1, "the product of the dimensions does not fit in 64 bits"},
        {{INT64_MAX, 1}, 2, "the padded dimension does not fit in 64 bits"},
        {{INT64_C(1) << 62, 1}, 3, "the padded size of the layout does not fit in 64 bits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_layout_builder b;
        ts_layout_begin(&b, &err, arena, 2, rows[i].dims);
        ts_layout_tile(&b, 0, rows[i].tile);
        if (!b.failed) ts_layout_tile(&b, 2, 4);
        assert_null(ts_layout_finish_row_major(&b));
        assert_string_equal(err.message, rows[i].message);
    }
}
