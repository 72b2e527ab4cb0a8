/* Private to the layer. */
#ifndef SIM_DMA_OVERLAP_H
#define SIM_DMA_OVERLAP_H

#include "tilesim/layout/plan.h"

/* True only when no byte is touched by both sides, which share a memory: every side keeps to stripes of some
 * period, and those of the two do not meet. Not all that are apart are found. */
bool dma_sides_are_apart(const ts_plan *plan);

#endif
