/* Transfers that the program has not waited for, and accesses that do not wait for them. */
#ifndef TILESIM_CHECK_RACES_H
#define TILESIM_CHECK_RACES_H

#include "check/access.h"
#include "check/in_flight.h"
#include "check/left.h"
#include "check/reach.h"

typedef struct ts_races ts_races;

/* Of one core and its semaphores; hbm and cmem are those of all cores. */
ts_races *ts_races_new(ts_arena *arena, const ts_code *code, ts_findings *findings,
                       const ts_semaphore_account *accounts, const ts_space *hbm, const ts_space *cmem);
void ts_races_free(ts_races *races);

/* A transfer is issued, and known until the program has waited for it: until as much was taken from its
 * semaphore as all transfers under way may have added. A transfer that signals nobody is never waited for. */
void ts_races_start(ts_races *races, ts_in_flight *transfer);
/* Races of a transfer with those of another core: that it has not waited for, or not since the last barrier.
 * Its own core's are part of ts_races_start. */
void ts_races_compare_cores(ts_races *other, const ts_in_flight *started);
/* Called for each core once all have reached the barrier. */
void ts_races_pass_barrier(ts_races *races);
/* What a transfer that was started touches. */
void ts_races_reach(const ts_in_flight *transfer, const ts_reach **src, const ts_reach **dst);
void ts_races_complete(ts_races *races, const ts_in_flight *transfer);
/* The program added to a semaphore, or took from it. Returns the transfers that were waited for by that,
 * linked by `next`: nobody asks for them any more. */
ts_in_flight *ts_races_change(ts_races *races, int semaphore);
void ts_races_access(ts_races *races, const ts_access *access);

#endif
