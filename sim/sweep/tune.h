/* The best points of a large grid without asking all of them: successive halving. All are asked at the least
 * value of one parameter, which makes them cheap; the best part at the next; and so on. */
#ifndef TILESIM_SWEEP_TUNE_H
#define TILESIM_SWEEP_TUNE_H

#include "sweep/sweep.h"
#include "sweep/table.h"

typedef struct {
    const ts_sweep_request *sweep; /* without points */
    const char *least;             /* column: what is sought is its least */
    const char *budget; /* parameter of `vary`, whose values come in the order in which they are tried */
    int keep;           /* one in so many goes on: 2 or more */
} ts_sweep_tune_request;

/* At one value of the budget. */
typedef struct {
    const char *value;
    int64_t tried, kept; /* of the last: those with a result */
} ts_sweep_rung;

typedef struct {
    const ts_sweep_rung *rungs;
    int rung_count;
    int64_t candidates;     /* points at one value of the budget */
    ts_sweep_table table;   /* tried at the last value and ok, the best first; where none is, all */
    ts_sweep_result result; /* of all rungs */
} ts_sweep_tuned;

bool ts_sweep_tune(ts_error *err, ts_arena *arena, const ts_sweep_tune_request *request,
                   ts_sweep_tuned *tuned);

#endif
