/* A trace: the last events of a run, in a ring of fixed size. */
#ifndef TILESIM_PROBE_TRACE_H
#define TILESIM_PROBE_TRACE_H

#include <stdint.h>

#include "base/arena.h"

/* Something that began at cycle `begin` and took `cycles`. What kind and id mean is the business of who adds.
 */
typedef struct {
    int64_t begin, cycles;
    int64_t value;
    int32_t kind, id;
    int32_t unit; /* of several that are alike, whose it is */
} ts_trace_event;

typedef struct {
    ts_trace_event *events;
    int64_t capacity;
    int64_t added; /* also those that the ring has dropped */
} ts_trace;

void ts_trace_init(ts_trace *trace, ts_arena *arena, int64_t capacity); /* capacity > 0 */
void ts_trace_add(ts_trace *trace, const ts_trace_event *event);
int64_t ts_trace_count(const ts_trace *trace); /* that are kept: the last ones */
/* Number 0 is the oldest that is kept. */
const ts_trace_event *ts_trace_get(const ts_trace *trace, int64_t number);

#endif
