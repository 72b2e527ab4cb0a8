/* A run as rows of intervals, counters and arrows between rows, for whoever draws it: events (probe/trace.h)
 * and the table of their tracks. */
#ifndef TILESIM_RUN_TIMELINE_H
#define TILESIM_RUN_TIMELINE_H

#include "machine/machine.h"
#include "mesh/mesh.h"
#include "probe/trace.h"
#include "program/program.h"

/* Kinds of events. Those of a track come in order of time and do not overlap, but for regions, which lie in
 * each other. */
typedef enum {
    TS_TIMELINE_BUNDLE,      /* id: bundle */
    TS_TIMELINE_INSTRUCTION, /* id: bundle; part: which instruction of it */
    TS_TIMELINE_STALL,       /* id: stall (ts_stall_get); part: the bundle that waits */
    TS_TIMELINE_TRANSFER,    /* id: transfer; part: core; value: useful, moved bytes, cycles since issue */
    TS_TIMELINE_BUS,         /* of HBM: value: bursts read, written, ticks that they take */
    TS_TIMELINE_MESSAGE, /* on a link, or as it arrives: id: transfer, -1: a signal; part: the semaphore at
                                the other end; value: source, destination, bytes */
    TS_TIMELINE_REST,    /* what is not drawn one by one: value: how many; id: their stall, -1: none */
    TS_TIMELINE_ENTER,   /* no cycles: a region begins; id: region */
    TS_TIMELINE_LEAVE,   /* no cycles: the one that began last ends */
    TS_TIMELINE_COUNTER, /* value: of each series, from now on; of rates: bytes in `cycles` */
    /* From `begin` on `track` to cycle value[1] on track value[0], through value[3] on track value[2] (-1:
     * not drawn): from the start of a transfer (id; -1: a signal) to the wait that takes what it adds to its
     * semaphore. Between devices there are two: from its start to its arrival, and from there to the wait. */
    TS_TIMELINE_ARROW,
} ts_timeline_kind;

typedef struct {
    int process; /* of `processes` */
    const char *name;
    const char *series[2]; /* of a counter, the second may be NULL; else NULL */
    bool is_rate;          /* of a counter */
} ts_track;

/* Of `window` cycles each, all windows are drawn up to `events` events, then every second up to as many more,
 * every fourth, and so on. In the others the events of a row are summed up: TS_TIMELINE_REST. */
enum { TS_TIMELINE_WINDOW = 1024, TS_TIMELINE_EVENTS = 200000 /* as a rule */ };

typedef struct {
    /* Asked for: what begins in cycles from .. until - 1, cut at both. */
    ts_trace trace;
    int64_t from, until, events;
    /* Known before the first event. */
    const ts_program *program;
    const ts_machine *machine;
    const ts_mesh *mesh;          /* NULL: one device */
    const char *const *processes; /* cores, the DMA engine, HBM; on a mesh: devices */
    const ts_track *tracks;
    int process_count, track_count;
    /* Known after the last. */
    int64_t cycles;       /* of the run */
    int64_t sampled_from; /* the first cycle that was not drawn; -1: all were */
    int thinned;          /* one window of 2^thinned is drawn at the end */
    int share;            /* one of so many channels of HBM was simulated */
    int64_t recalled;     /* transfers that were not simulated: the rows of HBM do not have them */
} ts_timeline;

#endif
