/* A squeezed layout is the same map with fewer indices. */
#include "tests/support/cmocka.h"
#include "tests/support/random_layout.h"

enum { RANK = 4 };

/* The index without the dims of 1. */
static void squeeze_index(const int64_t *dims, const int64_t *index, int64_t *squeezed) {
    for (int i = 0; i < RANK; i++)
        if (dims[i] != 1) *squeezed++ = index[i];
}

static void check_layout(uint64_t *seed, ts_arena *arena) {
    ts_error err = {0};
    int64_t dims[RANK], index[RANK] = {0}, squeezed_index[RANK] = {0}, begin[RANK] = {0}, sizes[RANK], a, b;
    for (int i = 0; i < RANK; i++) dims[i] = 1 + random_below(seed, 5);
    const ts_layout *whole = random_layout(seed, arena, RANK, dims);
    int expected_rank = 0;
    for (int i = 0; i < RANK; i++) {
        sizes[i] = random_below(seed, 2) ? 1 : dims[i];
        begin[i] = sizes[i] == 1 ? random_below(seed, (uint32_t)dims[i]) : 0;
        expected_rank += sizes[i] != 1;
    }
    const ts_layout *slice = ts_layout_slice(&err, arena, whole, begin, sizes);
    const ts_layout *squeezed = ts_layout_squeeze(&err, arena, slice);
    assert_non_null(squeezed);
    assert_int_equal(squeezed->rank, expected_rank);
    do {
        squeeze_index(sizes, index, squeezed_index);
        ts_layout_forward(slice, index, &a);
        ts_layout_forward(squeezed, squeezed_index, &b);
        assert_int_equal(a, b);
    } while (next_index(RANK, sizes, index));
}

TEST(test_squeeze) {
    uint64_t seed = 3;
    for (int i = 0; i < 2000; i++) {
        ts_arena *arena = ts_arena_new();
        check_layout(&seed, arena);
        ts_arena_free(arena);
    }
}
