/* A program run with each combination of values of its parameters, by the engine of studies; ranked by
 * time. */
#ifndef TILESIM_SWEEP_RUNS_H
#define TILESIM_SWEEP_RUNS_H

#include "sweep/sweep.h"

typedef struct {
    ts_run_request run;  /* with the defines that do not vary */
    const ts_grid *grid; /* of the others */
    int workers;         /* 1 to TS_SWEEP_WORKERS */
    void (*progress)(void *self, int64_t done, int64_t of, int64_t answered); /* NULL: none */
    void *self;
} ts_sweep_runs_request;

/* Rows of the points of the grid, in the arena; NULL: an error of the whole (no worker starts). A run that
 * fails is a row with its error. */
const ts_sweep_row *ts_sweep_runs(ts_error *err, ts_arena *arena, const ts_sweep_runs_request *request);

/* Those with a time; those whose tensors do not fit; those with another error. */
typedef enum { TS_SWEEP_TIMED, TS_SWEEP_MISFIT, TS_SWEEP_UNTIMED, TS_SWEEP_CLASSES } ts_sweep_class;
/* Points of each class in a list, those with a time by it. */
typedef struct {
    const ts_sweep_row *rows; /* of all points */
    const int64_t *points[TS_SWEEP_CLASSES];
    int64_t counts[TS_SWEEP_CLASSES];
} ts_sweep_blocks;

/* Of --block. $NAME in the program's path is a value; there are no defines then. */
bool ts_sweep_rank_blocks(ts_error *err, ts_arena *arena, const ts_sweep_runs_request *request,
                          ts_sweep_blocks *blocks);

#endif
