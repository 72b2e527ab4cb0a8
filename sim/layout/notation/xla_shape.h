/* Private: from the fields of XLA's notation to a shape with its layout and sizes. */
#ifndef TILESIM_LAYOUT_NOTATION_XLA_SHAPE_H
#define TILESIM_LAYOUT_NOTATION_XLA_SHAPE_H

#include "layout/notation/xla.h"

/* An array (or token, opaque) of valid fields, which the shape keeps; a minor_to_major that was not written
 * is filled in. NULL when a size does not fit. */
const ts_shape *ts_xla_new_shape(ts_error *err, ts_arena *arena, ts_dtype dtype, ts_xla_layout *fields);
/* One tile of the last dims; leading dims of 1 are put in while it has more extents than there are dims. */
void ts_xla_apply_tile(ts_layout_builder *b, const ts_xla_tile *tile);
/* A tuple; `members` is kept. */
const ts_shape *ts_xla_new_tuple(ts_error *err, ts_arena *arena, int count, const ts_shape *const *members);

#endif
