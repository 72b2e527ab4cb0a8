/* The table of counters. */
#include "probe/counter.h"

static const ts_counter_info counters[] = {
#define COUNTER(id, name, unit, meaning) {name, unit, meaning},
#include "probe/counters.def"
};

const ts_counter_info *ts_counter_get(ts_counter counter) { return &counters[counter]; }
