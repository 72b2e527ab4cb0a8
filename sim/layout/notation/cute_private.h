/* What the CuTe files share. */
#ifndef TILESIM_LAYOUT_NOTATION_CUTE_PRIVATE_H
#define TILESIM_LAYOUT_NOTATION_CUTE_PRIVATE_H

#include "layout/notation/axe.h"
#include "layout/notation/cute.h"

/* Why a layout's numbers do not fit in int64; NULL when they do. Every layout that leaves these files
 * fits. */
const char *ts_cute_misfit(const ts_cute *layout);

/* Reports a misfit of a result. */
bool ts_cute_finish(ts_error *err, const ts_cute *layout);

/* Compact strides for extents, from *current on, which becomes the next free stride. */
typedef enum { TS_CUTE_LEFTMOST, TS_CUTE_RIGHTMOST } ts_cute_fastest;
bool ts_cute_compact(ts_arena *arena, const ts_cute *shape, ts_cute_fastest fastest, int64_t *current,
                     ts_cute *out);

/* Mode i; an integer is its own mode 0. */
static inline const ts_cute *ts_cute_mode(const ts_cute *layout, int i) {
    return layout->rank ? &layout->modes[i] : layout;
}

int ts_cute_leaf_count(const ts_cute *layout);
ts_cute ts_cute_leaf(int64_t extent, int64_t stride);
/* A tuple whose modes, which it returns, are still to be filled. */
ts_cute *ts_cute_tuple(ts_arena *arena, int rank, ts_cute *out);
ts_cute ts_cute_pair(ts_arena *arena, const ts_cute *first, const ts_cute *second);

/* A o B for a layout B. */
bool ts_cute_compose_layout(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute *b, ts_cute *out);

/* ---- By way of Axe: leaves of a mode reversed, as Axe's last iter is fastest ---- */

/* The same offsets for the same coordinates, one dim a mode. */
bool ts_cute_to_axe(ts_error *err, ts_arena *arena, const ts_cute_map *map, ts_axe *out);
/* Back, over the dims (whose product is the size): each becomes a mode. Refused: what CuTe does not have
 * (replicas, axes, an offset without a swizzle) and iters that straddle dims. */
bool ts_cute_from_axe(ts_error *err, ts_arena *arena, const ts_axe *axe, int rank, const int64_t *dims,
                      ts_cute_map *out);

#endif
