/* What a relayout costs: its ops, and the cycles that they add to a kernel that loads the vregs and stores
 * them. */
#ifndef TILESIM_STUDY_RELAYOUT_H
#define TILESIM_STUDY_RELAYOUT_H

#include "layout/shape.h"
#include "machine/machine.h"
#include "mosaic/relayout.h"

typedef struct {
    const ts_machine *machine;
    const ts_shape *from, *to; /* values in vregs, of one type and the same dims */
} ts_relayout_price_request;

typedef struct {
    ts_relayout_request request;
    ts_relayout plan;
    int64_t cycles;       /* with the ops, less those without; 0: they hide behind these */
    int64_t without;      /* of the loads and stores, and the DMAs around them */
    const char *unpriced; /* why there are no cycles; NULL: there are */
} ts_relayout_price;

bool ts_relayout_price_find(ts_error *err, ts_arena *arena, const ts_relayout_price_request *request,
                            ts_relayout_price *out);

#endif
