/* Shapes of transfers: what tells those apart that take different times. */
#ifndef TILESIM_CHIP_SHAPES_H
#define TILESIM_CHIP_SHAPES_H

#include "dma/price.h"

/* Transfers between two layouts whose plans differ in nothing but whole accesses of HBM. */
typedef struct shape {
    struct shape *next;
    uint64_t hash[2];
} shape;

enum { SHAPE_BUCKETS = 1 << 10 };

/* Those that a chip has seen. */
typedef struct {
    ts_arena *arena;
    const ts_dma_config *dma;
    int64_t serial; /* of the last shape that is like no other */
    shape *buckets[SHAPE_BUCKETS];
} shapes;

/* `layouts` tells pairs of layouts apart. */
const shape *shapes_find(shapes *all, const ts_dma_transfer *what, int layouts);
/* What tells the starts of all chips apart, but for where in its memory each begins. */
void shapes_hash_start(shapes *all, const ts_dma_transfer *what, int layouts, uint64_t *hash);

#endif
