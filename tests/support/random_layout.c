/* Random layouts for property tests. */
#include "tests/support/cmocka.h"
#include "tests/support/random_layout.h"

uint32_t random_below(uint64_t *seed, uint32_t n) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % n;
}

bool next_index(int rank, const int64_t *sizes, int64_t *index) {
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < sizes[i]) return true;
        index[i] = 0;
    }
    return false;
}

static void shuffle(uint64_t *seed, ts_layout_builder *b) {
    int order[TS_LAYOUT_MAX_DIMS];
    for (int i = 0; i < b->count; i++) order[i] = i;
    for (int i = b->count - 1; i > 0; i--) {
        int j = (int)random_below(seed, (uint32_t)i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    ts_layout_reorder(b, order);
}

/* A tile of the last `count` current dims, as XLA applies one. */
static void add_tile(uint64_t *seed, ts_layout_builder *b, int count) {
    int order[TS_LAYOUT_MAX_DIMS];
    while (count > b->count) ts_layout_insert(b, 0);
    int first = b->count - count;
    for (int i = 0; i < count; i++) ts_layout_tile(b, first + 2 * i, 1 + random_below(seed, 6));
    for (int i = 0; i < first; i++) order[i] = i;
    for (int i = 0; i < count; i++) {
        order[first + i] = first + 2 * i;
        order[first + count + i] = first + 2 * i + 1;
    }
    ts_layout_reorder(b, order);
}

const ts_layout *random_layout(uint64_t *seed, ts_arena *arena, int rank, const int64_t *dims) {
    ts_error err = {0};
    ts_layout_builder b;
    ts_layout_begin(&b, &err, arena, rank, dims);
    if (random_below(seed, 2)) shuffle(seed, &b);
    for (uint32_t tiles = random_below(seed, 4); tiles > 0 && b.count < 12; tiles--) {
        if (b.count >= 2 && random_below(seed, 4) == 0)
            ts_layout_merge(&b, (int)random_below(seed, (uint32_t)b.count - 1));
        add_tile(seed, &b, 1 + (int)random_below(seed, 3));
    }
    const ts_layout *layout = ts_layout_finish_row_major(&b);
    assert_non_null(layout);
    return layout;
}
