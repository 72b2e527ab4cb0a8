/* Going round a loop of a program without time (forward.c): for who samples the time of long runs. */
#ifndef TILESIM_CORE_FORWARD_H
#define TILESIM_CORE_FORWARD_H

#include "core/core.h"

/* At the head of the loop whose branch back at bundle `end` was just taken: the core is as it was afterwards.
 * How many iterations from here on are alike, each to the one `*period` before; looks at `bundles` bundles at
 * most, and `*in_vain` at so many iterations behind those. Where it says n, n iterations can be gone round.
 * 0: none. */
int64_t ts_core_forward_count(ts_core *core, int end, int64_t bundles, int64_t *period, int64_t *in_vain);
/* Goes round so many times, whole periods, in no time: `done` iterations after ts_core_forward_count looked
 * at this loop. */
void ts_core_forward_go(ts_core *core, int end, int64_t done, int64_t iterations);
/* The loop's first bundle. */
int ts_core_forward_head(const ts_core *core, int end);

/* From here on cycles, stalls and bundles count for others. */
void ts_core_forward_mark(ts_core *core);
/* For how many of its cycles since then it waited for semaphores or the DMA engine. */
int64_t ts_core_forward_waited(const ts_core *core, int64_t *cycles);
/* Adds what came since then so many times more; returns how many bundles, each of which takes a cycle at
 * least. */
int64_t ts_core_forward_repeat(ts_core *core, int64_t times);
/* The time of that passes, wherever the core is now, also where it has halted: so many cycles, of its bundles
 * at least. It stalled for what that is more or less than its own. */
void ts_core_forward_move(ts_core *core, int64_t by);

#endif
