/* The buffer of a trace. */
#include "probe/trace.h"

#include <assert.h>

void ts_trace_init(ts_trace *trace, ts_arena *arena, int64_t capacity, ts_trace_taker *take, void *self) {
    assert(capacity > 0);
    *trace = (ts_trace){.events = TS_NEW_ARRAY(arena, ts_trace_event, capacity),
                        .capacity = capacity,
                        .take = take,
                        .self = self};
}

void ts_trace_add(ts_trace *trace, const ts_trace_event *event) {
    trace->events[trace->count++] = *event;
    trace->added++;
    if (trace->count == trace->capacity) ts_trace_flush(trace);
}

void ts_trace_flush(ts_trace *trace) {
    if (trace->count > 0) trace->take(trace->self, trace->events, trace->count);
    trace->count = 0;
}
