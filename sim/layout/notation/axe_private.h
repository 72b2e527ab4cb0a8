/* What the Axe files share. */
#ifndef TILESIM_LAYOUT_NOTATION_AXE_PRIVATE_H
#define TILESIM_LAYOUT_NOTATION_AXE_PRIVATE_H

#include <string.h>

#include "layout/notation/axe.h"

static inline bool ts_axe_same_axis(const char *a, const char *b) { return strcmp(a, b) == 0; }

/* The shards from number `at` on; a layout of one element may have none. */
static inline const ts_axe_iter *ts_axe_from(const ts_axe *axe, int at) {
    return axe->shards ? axe->shards + at : NULL;
}

/* A list of iters that grows. */
typedef struct {
    ts_arena *arena;
    ts_axe_iter *items;
    int count;
} ts_axe_list;
void ts_axe_list_add(ts_axe_list *list, ts_axe_iter iter);
void ts_axe_list_add_all(ts_axe_list *list, const ts_axe_iter *iters, int count);
/* The layout with other shards, and other replicas unless that is NULL. */
ts_axe ts_axe_with(const ts_axe *axe, const ts_axe_list *shards, const ts_axe_list *replicas);
/* Shards and, behind them, replicas. */
static inline const ts_axe_iter *ts_axe_iter_at(const ts_axe *axe, int i) {
    return i < axe->shard_count ? &axe->shards[i] : &axe->replicas[i - axe->shard_count];
}
bool ts_axe_same_iters(const ts_axe_iter *a, const ts_axe_iter *b, int count);

/* Adds to the offset of an axis, an array of `count` in order of names with room for one more; false on
 * overflow. */
bool ts_axe_add_offset(ts_axe_offset *offsets, int *count, const char *axis, int64_t value);
/* A copy of the offsets with room for `more`. */
ts_axe_offset *ts_axe_copy_offsets(ts_arena *arena, const ts_axe *axe, int more);

/* Why the numbers do not fit (see ts_axe); NULL when they do. */
const char *ts_axe_misfit(const ts_axe *axe);
/* Reports a misfit of a result. */
bool ts_axe_finish(ts_error *err, const ts_axe *axe);

/* "the product does not fit", for results. Returns false. */
bool ts_axe_overflow(ts_error *err);

/* The same iters and offsets, written alike. */
bool ts_axe_same(const ts_axe *a, const ts_axe *b);
bool ts_axe_same_swizzle(const ts_axe *a, const ts_axe *b);

/* The canonical form; of swizzled memory in its own order, one that has the shape's size. */
bool ts_axe_tile_of(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe_shape shape, ts_axe *out);

/* The product of dims; false (and an error) when it does not fit or a dim is below 1. */
bool ts_axe_shape_size(ts_error *err, ts_axe_shape shape, int64_t *size);

#endif
