/* Moving the bytes of a plan. */
#ifndef TILESIM_DMA_MOVE_H
#define TILESIM_DMA_MOVE_H

#include "tilesim/layout/plan.h"
#include "tilesim/memory/space.h"

/* Moves every element, converting where the types differ (layout/convert.h has the rules). Padding that both sides share
 * travels; other bits of the destination keep what they held. The poison of a source element goes with it.
 * Refused before anything moves: types with no conversion, addresses outside a space, two sides that overlap. */
bool ts_dma_move(ts_error *err, const ts_plan *plan, ts_space *src, ts_space *dst);

/* The checks alone. */
bool ts_dma_check(ts_error *err, const ts_plan *plan, const ts_space *src, const ts_space *dst);

#endif
