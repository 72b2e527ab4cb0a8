/* Splitting the time of a priced transfer. Private to the layer. */
#ifndef TILESIM_DMA_BREAKDOWN_PRIVATE_H
#define TILESIM_DMA_BREAKDOWN_PRIVATE_H

#include "dma/price.h"

/* The time of all bytes through the engine at the rate of a kind. */
int64_t breakdown_engine_cycles(const ts_dma_machine *machine, const ts_dma_transfer *transfer,
                                ts_dma_kind kind);

/* Sets cost->components, which add up to cost->cycles, and cost->limiter. The rule, in this order, each part
 * out of what is left:
 *
 * - fixed: issue, further descriptors, completion;
 * - what a copy of the moved bytes needs at least: the HBM's pins at their peak or the engine at its copy
 *   rate, whichever is slower; split into useful, padding and waste by bytes, the last hidden by an engine
 *   that takes longer than the pins;
 * - reordering: what the engine needs for this kind at its rate beyond that; conflicts: what partitions add
 * to it;
 * - the rest by what the HBM measured its pseudo channels to wait for (hbm_limiters.def), in proportion.
 * Waits for requests that the engine or the fixed cost explains do not count. */
void ts_dma_break_down(const ts_dma_machine *machine, const ts_dma_transfer *transfer, ts_dma_cost *cost);

#endif
