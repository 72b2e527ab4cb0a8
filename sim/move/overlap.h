/* Private to the layer. */
#ifndef TILESIM_MOVE_OVERLAP_H
#define TILESIM_MOVE_OVERLAP_H

#include "layout/plan.h"

/* True only when no byte is touched by both sides, which share a memory: every side keeps to stripes of some
 * period, and those of the two do not meet. Not all that are apart are found. */
bool dma_sides_are_apart(const ts_plan *plan);

#endif
