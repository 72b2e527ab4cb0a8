/* Figures at half and at twice what they are on the machine of a point: each machine is read once for all
 * points. */
#ifndef TILESIM_SWEEP_MOVES_H
#define TILESIM_SWEEP_MOVES_H

#include "sweep/case.h"

/* A case's machine, with what is changed of it: "tpu-v4 with hbm.clock=1 GHz". */
const char *ts_sweep_machine_text(ts_arena *arena, const ts_sweep_case *asked);

ts_sweep_moves *ts_sweep_moves_new(ts_arena *arena);
/* True: no case before had the same machine, with the same changed of it. */
bool ts_sweep_moves_add(ts_sweep_moves *moves, const ts_sweep_case *asked);
/* Of "hbm.clock*2": "hbm.clock=3.2 GHz". One that the machine does not have, or not as much of, is
 * "hbm.clock=*2", which it refuses. */
const char *ts_sweep_moves_set(ts_sweep_moves *moves, const ts_sweep_case *asked, const char *change);

#endif
