/* Which bytes a transfer touches, with a bit for each granule of 32 bytes. Finer would be of no use: 32 bytes
 * are one access of HBM, so neighbours within them race in the machine as well. */
#ifndef TILESIM_CHECK_REACH_H
#define TILESIM_CHECK_REACH_H

#include "layout/plan.h"
#include "memory/space.h"

enum { TS_GRANULE_BYTES = 32, TS_REACH_WORD = 64 };

typedef struct {
    const ts_space *space;
    int64_t first, end; /* granules, `first` a multiple of TS_REACH_WORD */
    uint64_t *touched;  /* NULL: nothing */
} ts_reach;

ts_reach ts_reach_find(ts_arena *arena, const ts_plan *plan, ts_side side, const ts_space *space);
/* Of granules first .. end - 1. */
bool ts_reach_touches(const ts_reach *r, int64_t first, int64_t end);
bool ts_reach_overlap(const ts_reach *a, const ts_reach *b);

#endif
