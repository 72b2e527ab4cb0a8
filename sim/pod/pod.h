/* A pod: the chips of a mesh, all of which run one program, and the links between them.
 *
 * What a chip does reaches a neighbour no sooner than a hop later, so all chips are stepped through windows
 * of one hop, each for itself and on any thread, and what crosses is handed over between windows
 * (conservative synchronisation: Nicol, "The cost of conservative synchronization in parallel discrete event
 * simulations", 1993). Of a program that sends nothing windows are longer. Events of a chip go in the order of
 * time, source and sequence: the number of threads does not show. */
#ifndef TILESIM_POD_POD_H
#define TILESIM_POD_POD_H

#include "chip/remote.h"
#include "mesh/mesh.h"

enum { TS_POD_MAX_THREADS = 256 };

/* Bytes of a message on a link of the mesh. */
typedef struct {
    const ts_chip_message *message;
    int64_t link, bytes, begin_ps, end_ps;
} ts_pod_chunk;

/* Told by the thread that steps the chip; of a link, and of a destination, in order of time. */
typedef struct {
    void *self;
    void (*carried)(void *self, const ts_pod_chunk *chunk);
    /* Before the chip has it. */
    void (*arrived)(void *self, const ts_chip_message *message, int64_t cycle);
} ts_pod_observer;

typedef struct {
    const ts_mesh *mesh;
    const ts_code *code;
    const ts_chip_config *config;             /* of every chip, but for links and findings */
    const ts_chip_observer *const *observers; /* [device]; NULL: none */
    const ts_pod_observer *observer;          /* of what is between them; NULL: none */
    ts_findings **findings;                   /* [device] */
    int64_t max_cycles;
    int threads; /* 0 and 1: the caller alone */
} ts_pod_request;

typedef struct ts_pod ts_pod;

/* Refused: links without latency, and what ts_chip_new
 * refuses. What is pointed to must outlive it. */
ts_pod *ts_pod_new(ts_error *err, ts_arena *arena, const ts_pod_request *request);
void ts_pod_free(ts_pod *pod); /* NULL is fine */
ts_chip *ts_pod_chip(ts_pod *pod, int64_t device);

/* Until every chip has halted and nothing is under way. An error says which device it is of; of several that
 * of the lowest cycle, then device. */
bool ts_pod_run(ts_error *err, ts_pod *pod);

/* The same in steps, by the caller alone: the first cycle in which something may happen (INT64_MAX: nothing
 * any more), all that happens before a cycle, and the end, when nothing is to come. */
int64_t ts_pod_next(const ts_pod *pod);
bool ts_pod_advance(ts_error *err, ts_pod *pod, int64_t cycle);
bool ts_pod_end(ts_error *err, ts_pod *pod);

typedef struct {
    int64_t bytes, busy_ps;
} ts_pod_link;
ts_pod_link ts_pod_link_of(const ts_pod *pod, int64_t link); /* as a mesh numbers them */

#endif
