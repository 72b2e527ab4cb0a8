/* The tiles of a shape as pictures need them. Private to the folder. */
#ifndef TILESIM_REPORT_LAYOUT_TILING_H
#define TILESIM_REPORT_LAYOUT_TILING_H

#include "layout/shape.h"

enum { TILING_MAX_RUN = 16 };

/* The tile sizes of each logical dim: of the first tile, and of the second where it divides the first; 0:
 * none. */
typedef struct {
    int64_t first[TS_LAYOUT_MAX_DIMS], second[TS_LAYOUT_MAX_DIMS];
    int64_t drawn[TS_LAYOUT_MAX_DIMS]; /* extents in the picture: rounded up to the first tile */
    int64_t run;                       /* elements on a line of the memory order */
} tiling;

void tiling_find(ts_arena *arena, const ts_shape *shape, tiling *t);

#endif
