/* The ring of a trace. */
#include "probe/trace.h"

#include <assert.h>

void ts_trace_init(ts_trace *trace, ts_arena *arena, int64_t capacity) {
    assert(capacity > 0);
    *trace = (ts_trace){.events = TS_NEW_ARRAY(arena, ts_trace_event, capacity), .capacity = capacity};
}

void ts_trace_add(ts_trace *trace, const ts_trace_event *event) {
    trace->events[trace->added++ % trace->capacity] = *event;
}

int64_t ts_trace_count(const ts_trace *trace) {
    return trace->added < trace->capacity ? trace->added : trace->capacity;
}

const ts_trace_event *ts_trace_get(const ts_trace *trace, int64_t number) {
    assert(number >= 0 && number < ts_trace_count(trace));
    int64_t oldest = trace->added - ts_trace_count(trace);
    return &trace->events[(oldest + number) % trace->capacity];
}
