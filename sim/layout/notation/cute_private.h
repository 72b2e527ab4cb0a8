/* What the CuTe files share. */
#ifndef TILESIM_LAYOUT_NOTATION_CUTE_PRIVATE_H
#define TILESIM_LAYOUT_NOTATION_CUTE_PRIVATE_H

#include "layout/notation/cute.h"

/* Why a layout's numbers do not fit in int64; NULL when they do. Every layout that leaves these files
 * fits. */
const char *ts_cute_misfit(const ts_cute *layout);

/* Reports a misfit of a result. */
bool ts_cute_finish(ts_error *err, const ts_cute *layout);

/* Compact strides for extents, leftmost fastest, from *current on, which becomes the next free stride. */
bool ts_cute_compact(ts_arena *arena, const ts_cute *shape, int64_t *current, ts_cute *out);

/* Mode i; an integer is its own mode 0. */
static inline const ts_cute *ts_cute_mode(const ts_cute *layout, int i) {
    return layout->rank ? &layout->modes[i] : layout;
}

int ts_cute_leaf_count(const ts_cute *layout);
ts_cute ts_cute_leaf(int64_t extent, int64_t stride);
ts_cute ts_cute_pair(ts_arena *arena, const ts_cute *first, const ts_cute *second);

/* A o B for a layout B. */
bool ts_cute_compose_layout(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute *b, ts_cute *out);

#endif
