/* Events of a timeline made by hand, one of each kind, for tests of what is drawn of them. */
#ifndef TESTS_SUPPORT_SMALL_TIMELINE_H
#define TESTS_SUPPORT_SMALL_TIMELINE_H

#include "run/timeline.h"

/* Line 4 is transfer 0, xb <- x, line 7 bundle 2, of a vector load and a scalar addition, in region 0. */
extern const char small_program[];

enum {
    SMALL_BUNDLES,
    SMALL_TRANSFERS,
    SMALL_QUEUE, /* a counter of one series */
    SMALL_BUS,
    SMALL_RATE, /* of two, in bytes */
    SMALL_REGIONS,
    SMALL_TRACKS
};

/* Of "core 0" and "HBM", on a machine "m" of 2 GHz. */
ts_timeline small_timeline(ts_arena *arena);

#endif
