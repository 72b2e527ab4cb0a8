/* The host's clocks, for bars, rates and time limits: no simulated result depends on them. */
#ifndef TILESIM_BASE_HOST_CLOCK_H
#define TILESIM_BASE_HOST_CLOCK_H

#include <time.h>

static inline double ts_host_seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
