/* XLA's tiled layouts by literally padding, reshaping and transposing arrays of indices. */
#include "tests/support/xla_oracle.h"

#include <assert.h>
#include <string.h>

enum { MAX_RANK = 64 };

/* A row-major array of logical indices, -1 where there is padding. */
typedef struct {
    ts_arena *arena;
    int rank;
    int64_t dims[MAX_RANK];
    int64_t limit;
    int64_t *values;
} array;

static int64_t count_of(const array *a) {
    int64_t count = 1;
    for (int i = 0; i < a->rank; i++) count *= a->dims[i];
    return count;
}

/* Steps to the next index in row-major order; false behind the last one. */
static bool step(const array *a, int64_t *index) {
    for (int i = a->rank - 1; i >= 0; i--) {
        if (++index[i] < a->dims[i]) return true;
        index[i] = 0;
    }
    return false;
}

static int64_t *at(const array *a, const int64_t *index) {
    int64_t position = 0;
    for (int i = 0; i < a->rank; i++) position = position * a->dims[i] + index[i];
    return &a->values[position];
}

/* New dim i is old dim order[i]. */
static void transpose(array *a, const int *order) {
    array result = *a;
    int64_t from[MAX_RANK] = {0}, to[MAX_RANK];
    int64_t count = count_of(a);
    result.values = TS_NEW_ARRAY(a->arena, int64_t, count);
    for (int i = 0; i < a->rank; i++) result.dims[i] = a->dims[order[i]];
    for (bool more = count > 0; more; more = step(a, from)) {
        for (int i = 0; i < a->rank; i++) to[i] = from[order[i]];
        *at(&result, to) = *at(a, from);
    }
    *a = result;
}

/* Makes dim `dim` longer; false if the array becomes larger than the limit. */
static bool pad(array *a, int dim, int64_t extent) {
    array result = *a;
    int64_t index[MAX_RANK] = {0};
    int64_t count = count_of(a);
    if (extent == a->dims[dim]) return true;
    if (count > 0 && extent > a->limit / (count / a->dims[dim])) return false;
    result.dims[dim] = extent;
    result.values = TS_NEW_ARRAY(a->arena, int64_t, count_of(&result));
    for (int64_t i = 0; i < count_of(&result); i++) result.values[i] = -1;
    for (bool more = count > 0; more; more = step(a, index)) *at(&result, index) = *at(a, index);
    *a = result;
    return true;
}

/* One dim becomes two, or two become one: row-major values stay where they are. */
static void split(array *a, int dim, int64_t inner) {
    assert(a->rank < MAX_RANK && a->dims[dim] % inner == 0);
    memmove(&a->dims[dim + 1], &a->dims[dim], (size_t)(a->rank - dim) * sizeof a->dims[0]);
    a->dims[dim] = a->dims[dim + 1] / inner;
    a->dims[dim + 1] = inner;
    a->rank++;
}

static void merge(array *a, int dim) {
    a->dims[dim] *= a->dims[dim + 1];
    memmove(&a->dims[dim + 1], &a->dims[dim + 2], (size_t)(a->rank - dim - 2) * sizeof a->dims[0]);
    a->rank--;
}

static void prepend_one(array *a) {
    assert(a->rank < MAX_RANK);
    memmove(&a->dims[1], &a->dims[0], (size_t)a->rank * sizeof a->dims[0]);
    a->dims[0] = 1;
    a->rank++;
}

static int64_t multiple_from(int64_t extent, int64_t tile) {
    int64_t multiple = 0;
    while (multiple < extent) multiple += tile;
    return multiple;
}

/* Combines at each '*', from the most major one on; leaves the sizes of the tile that remain. */
static int combine(array *a, const xla_oracle_tile *tile, int64_t *sizes) {
    int rank = 0, first = a->rank - tile->rank;
    for (int i = 0; i < tile->rank; i++)
        if (tile->dims[i] == XLA_ORACLE_COMBINE)
            merge(a, first + rank);
        else
            sizes[rank++] = tile->dims[i];
    return rank;
}

static bool apply_tile(array *a, const xla_oracle_tile *tile) {
    int64_t sizes[MAX_RANK];
    int order[MAX_RANK];
    if (tile->rank > 0 && tile->dims[tile->rank - 1] == XLA_ORACLE_COMBINE) return false;
    while (a->rank < tile->rank) prepend_one(a);
    int rank = combine(a, tile, sizes), first = a->rank - rank;
    for (int i = 0; i < rank; i++)
        if (!pad(a, first + i, multiple_from(a->dims[first + i], sizes[i]))) return false;
    for (int i = 0; i < rank; i++) split(a, first + 2 * i, sizes[i]);
    for (int i = 0; i < first; i++) order[i] = i;
    for (int i = 0; i < rank; i++) {
        order[first + i] = first + 2 * i;
        order[first + rank + i] = first + 2 * i + 1;
    }
    transpose(a, order);
    return true;
}

static void read_back(const array *a, xla_oracle *out) {
    out->slot_count = count_of(a);
    out->element = a->values;
    for (int64_t slot = 0; slot < out->slot_count; slot++)
        if (a->values[slot] >= 0) out->offset[a->values[slot]] = slot;
}

bool xla_oracle_make(ts_arena *arena, int rank, const int64_t *dims, const int *minor_to_major,
                     int tile_count, const xla_oracle_tile *tiles, int64_t limit, xla_oracle *out) {
    array a = {.arena = arena, .rank = rank, .limit = limit};
    int major_to_minor[MAX_RANK];
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        a.dims[i] = dims[i];
        major_to_minor[i] = minor_to_major[rank - 1 - i];
        if (dims[i] > 0 && count > limit / dims[i]) return false;
        count *= dims[i];
    }
    a.values = TS_NEW_ARRAY(arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) a.values[i] = i;
    transpose(&a, major_to_minor);
    for (int i = 0; i < tile_count; i++)
        if (!apply_tile(&a, &tiles[i])) return false;
    *out = (xla_oracle){.element_count = count, .offset = TS_NEW_ARRAY(arena, int64_t, count)};
    read_back(&a, out);
    return true;
}
