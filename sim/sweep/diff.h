/* Two databases of one study: what became of a column, point by point. */
#ifndef TILESIM_SWEEP_DIFF_H
#define TILESIM_SWEEP_DIFF_H

#include "sweep/store.h"

/* A point that both have, and whose column or status differs. */
typedef struct {
    const char *parameters, *question, *machine;
    ts_sweep_status before_status, after_status;
    double before, after; /* 0: it has none */
    double ratio;         /* after / before; 0: not known */
} ts_sweep_change;

typedef struct {
    const char *column;
    int64_t both, only_before, only_after;
    int64_t change_count;
    const ts_sweep_change *changes; /* that got worse first: no longer ok, then by their ratio */
    double worst;                   /* largest ratio; 1: nothing is larger */
    int64_t broken;                 /* were ok, and are no longer */
} ts_sweep_diff;

/* column: a result by its name; less is better. Points are the same when their parameters, their question and their
 * machine's name are; a database with results of several versions has the last of them here. */
bool ts_sweep_compare(ts_error *err, ts_arena *arena, ts_sweep_store *before, ts_sweep_store *after,
                      int column, ts_sweep_diff *diff);

#endif
