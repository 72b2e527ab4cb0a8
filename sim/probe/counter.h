/* The table of counters: one row says name, unit and meaning for every output. */
#ifndef TILESIM_PROBE_COUNTER_H
#define TILESIM_PROBE_COUNTER_H

#include <stdint.h>

typedef enum {
#define COUNTER(id, name, unit, meaning) TS_COUNTER_##id,
#include "probe/counters.def"
    TS_COUNTER_COUNT
} ts_counter;

typedef struct {
    const char *name, *unit, *meaning;
} ts_counter_info;
const ts_counter_info *ts_counter_get(ts_counter counter);

typedef struct {
    int64_t values[TS_COUNTER_COUNT];
} ts_counters;

#endif
