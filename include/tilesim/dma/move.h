/* Moving the bytes of a plan. */
#ifndef TILESIM_DMA_MOVE_H
#define TILESIM_DMA_MOVE_H

#include "tilesim/layout/plan.h"
#include "tilesim/memory/space.h"

/* Moves every element, converting where the types differ (layout/convert.h has the rules). Padding that both
 * sides share travels; other bits of the destination keep what they held. The poison of a source element goes
 * with it. Refused before anything moves: types with no conversion, addresses outside a space, two sides that
 * overlap. */
bool ts_dma_move(ts_error *err, const ts_plan *plan, ts_space *src, ts_space *dst);
/* The same by so many threads, with the same result. */
bool ts_dma_move_threads(ts_error *err, const ts_plan *plan, ts_space *src, ts_space *dst, int threads);

/* The same for the shadows alone, where `dst` has one: part of ts_dma_move. */
void ts_dma_move_shadow(const ts_plan *plan, const ts_space *src, ts_space *dst);
/* The first element in the order of the plan that the source holds undefined, as the bits where it lies and arrives. */
bool ts_dma_find_poison(const ts_plan *plan, const ts_space *src, int64_t *src_bit, int64_t *dst_bit);

/* The checks alone. */
bool ts_dma_check(ts_error *err, const ts_plan *plan, const ts_space *src, const ts_space *dst);

#endif
