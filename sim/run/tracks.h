/* Private to the recorder: the tracks of a machine that runs a program. */
#ifndef TILESIM_RUN_TRACKS_H
#define TILESIM_RUN_TRACKS_H

#include "run/timeline.h"

/* Of a core; units as ts_core_use_of counts them, semaphores behind them. */
enum { TRACK_REGIONS, TRACK_BUNDLES, TRACK_STALLS, TRACK_UNITS };

typedef struct {
    int cores, units, of_core; /* of_core: tracks of each core, which come first */
    int queues, queue_first, outstanding;
    int buses, bus_first, bandwidth;
    int links, link_first, arrivals; /* of a device on a mesh; else 0 */
} track_map;

/* Fills the table of the timeline: of a device of its mesh, or of one alone. */
void tracks_make(ts_arena *arena, ts_timeline *timeline, int64_t device, track_map *out);

#endif
