/* Transfer shapes: two transfers have one shape if they make the same accesses up to a shift by whole
 * accesses, so that they take the same time from the same state. */
#ifndef TILESIM_CHIP_SHAPES_H
#define TILESIM_CHIP_SHAPES_H

#include "dma/price.h"

/* One such class, known by the hash of its plan. */
typedef struct shape {
    struct shape *next;
    uint64_t hash[2];
} shape;

enum { SHAPE_BUCKETS = 1 << 10 };

/* Those that a chip has seen. */
typedef struct {
    ts_arena *arena;
    const ts_dma_config *dma;
    int64_t serial; /* number of the last new shape */
    shape *buckets[SHAPE_BUCKETS];
} shapes;

/* The shape of a transfer, made anew if it is the first. layouts: a number for the pair of layouts. */
const shape *shapes_find(shapes *all, const ts_dma_transfer *what, int layouts);
/* Hashes what chips that start this transfer must have in common, except the address at which each begins. */
void shapes_hash_start(shapes *all, const ts_dma_transfer *what, int layouts, uint64_t *hash);

#endif
