/* Chips that wait for each other. */
#ifndef TILESIM_POD_DEADLOCK_H
#define TILESIM_POD_DEADLOCK_H

#include "state.h"

/* No chip can do anything, and not all have halted: who waits for whom. False. */
bool pod_deadlock(ts_error *err, const ts_pod *pod);

#endif
