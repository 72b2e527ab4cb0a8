/* The table of counters. */
#include "tilesim/probe/counter.h"

static const ts_counter_info counters[] = {
#define COUNTER(id, name, unit, meaning) {name, unit, meaning},
#include "tilesim/probe/counters.def"
};

const ts_counter_info *ts_counter_get(ts_counter counter) { return &counters[counter]; }
