/* A study done: the points that its database lacks are answered and written, in any order. Of those that are
 * next in the study, what is expected to take longest is asked first: the end does not wait for a long
 * one. */
#ifndef TILESIM_SWEEP_SWEEP_H
#define TILESIM_SWEEP_SWEEP_H

#include "sweep/crew.h"
#include "sweep/store.h"

typedef struct {
    const ts_sweep_study *study;
    ts_sweep_store *store; /* opened for writing; NULL: rows go into `rows`, [points of the study] */
    ts_sweep_row *rows;    /* their texts into the arena */
    const ts_sweep_crew *crew;
    const int64_t *points; /* those alone, `point_count`; NULL: all of the study */
    int64_t point_count;
    ts_sweep_shard shard; /* of them */
    bool retry;           /* crashes and timeouts that are there are tried again */
    void (*progress)(void *self, int64_t done, int64_t of, int64_t answered); /* NULL: none */
    void *self;
} ts_sweep_request;

typedef struct {
    int64_t points;   /* that count, of this shard */
    int64_t left_out; /* by conditions */
    int64_t there;    /* were in the database already */
    int64_t answered;
    int64_t by_status[TS_SWEEP_STATUSES]; /* of all points that count */
} ts_sweep_result;

/* The crew stays, for more points. False where an expression of the study is wrong (TS_ERROR_INPUT, with its
 * location), the database cannot be written or the crew fails (TS_ERROR_IO); what is in the database then
 * stays. */
bool ts_sweep(ts_error *err, ts_arena *arena, const ts_sweep_request *request, ts_sweep_result *result);

#endif
