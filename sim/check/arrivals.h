/* What other devices of a mesh write into this one: bytes that came and were not waited for, and bytes that
 * are written while this device may still use them.
 *
 * A device knows of each other one up to which of its cycles all was done before something that came from
 * there, or from a third one that knew it (vector clocks: Lamport 1978, Mattern 1988), and that it waited for
 * or saw in a semaphore: what merely was there in time proves nothing. A write is in order when its sender
 * knew, when it started, of the last use of those bytes here. */
#ifndef TILESIM_CHECK_ARRIVALS_H
#define TILESIM_CHECK_ARRIVALS_H

#include "check/access.h"
#include "check/findings.h"
#include "check/in_flight.h"

typedef struct {
    ts_arena *arena;
    const ts_code *code;
    ts_findings *findings;
    ts_space *const *spaces; /* of the core */
    int64_t device, device_count;
} ts_arrivals_setup;

typedef struct ts_arrivals ts_arrivals;
/* Of one core. Only tensors that a remote transfer of the program writes are looked at. */
ts_arrivals *ts_arrivals_new(const ts_arrivals_setup *setup);
void ts_arrivals_free(ts_arrivals *a); /* NULL is fine, here and below */

void ts_arrivals_access(ts_arrivals *a, const ts_access *access);
/* A transfer of this core starts, and is done. */
void ts_arrivals_start(ts_arrivals *a, const ts_in_flight *t);
void ts_arrivals_done(ts_arrivals *a, const ts_in_flight *t);

typedef struct {
    const ts_transfer *what; /* NULL: a signal */
    const ts_plan *plan;     /* of a transfer */
    int64_t source, cycle;   /* the sender */
    int semaphore;
    int64_t by;           /* what it grows by */
    const int64_t *known; /* what it knew when it started, [device_count] */
} ts_arrival;
void ts_arrivals_come(ts_arrivals *a, const ts_arrival *arrival);
/* So much was taken from a semaphore: of what came to it first. Of all of which a part is taken this device
 * knows what its sender knew; what a transfer wrote is waited for when the whole is. */
void ts_arrivals_wait(ts_arrivals *a, const ts_instruction *wait, int semaphore, int64_t count,
                      int64_t cycle);
/* A semaphore was read: of all that came to it this device knows what its sender knew, but has waited for
 * none. */
void ts_arrivals_look(ts_arrivals *a, int semaphore);

/* This core and another of the device have come to a barrier: it knows what the other does. */
void ts_arrivals_meet(ts_arrivals *a, const ts_arrivals *other);

/* What this device knows at a cycle, [device_count]. */
const int64_t *ts_arrivals_known(ts_arrivals *a, int64_t cycle);

#endif
