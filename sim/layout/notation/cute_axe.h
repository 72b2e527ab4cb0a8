/* CuTe layouts in the common form, by way of Axe: leaves of a mode reversed, as Axe's last iter is
 * fastest. */
#ifndef TILESIM_LAYOUT_NOTATION_CUTE_AXE_H
#define TILESIM_LAYOUT_NOTATION_CUTE_AXE_H

#include "layout/notation/axe.h"
#include "layout/notation/cute.h"

/* The same offsets for the same coordinates, one dim a mode. */
bool ts_cute_to_axe(ts_error *err, ts_arena *arena, const ts_cute_map *map, ts_axe *out);
/* Back, over the dims (whose product is the size): each becomes a mode. Refused: what CuTe does not have
 * (replicas, axes, an offset without a swizzle) and iters that straddle dims. */
bool ts_cute_from_axe(ts_error *err, ts_arena *arena, const ts_axe *axe, int rank, const int64_t *dims,
                      ts_cute_map *out);

#endif
