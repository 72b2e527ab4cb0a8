/* A trace: events on their way from a run to who draws or keeps them. */
#ifndef TILESIM_PROBE_TRACE_H
#define TILESIM_PROBE_TRACE_H

#include <stdint.h>

#include "base/arena.h"

/* Something that began at cycle `begin` and took `cycles`. What the rest means is the business of who
 * adds. */
typedef struct {
    int64_t begin, cycles;
    int64_t value[4];
    int32_t kind, track, id, part;
} ts_trace_event;

/* Told of events in the order in which they were added. */
typedef void ts_trace_taker(void *self, const ts_trace_event *events, int64_t count);

typedef struct {
    ts_trace_event *events;
    int64_t capacity, count; /* of those not yet taken */
    int64_t added;           /* in all */
    ts_trace_taker *take;
    void *self;
} ts_trace;

/* `take` gets `capacity` (> 0) events at a time. */
void ts_trace_init(ts_trace *trace, ts_arena *arena, int64_t capacity, ts_trace_taker *take, void *self);
void ts_trace_add(ts_trace *trace, const ts_trace_event *event);
void ts_trace_flush(ts_trace *trace); /* the last of them, fewer */

#endif
