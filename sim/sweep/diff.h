/* Two databases of one study: what became of a column, point by point. */
#ifndef TILESIM_SWEEP_DIFF_H
#define TILESIM_SWEEP_DIFF_H

#include "sweep/store.h"

/* A point that both have, and whose column or status differs. */
typedef struct {
    const char *parameters, *question, *machine;
    ts_sweep_status before_status, after_status;
    double before, after; /* NAN: it has none */
    double ratio;         /* after / before; 0: not known, or less than any; INFINITY: it was 0 */
} ts_sweep_change;

typedef struct {
    const char *column;
    int64_t both, only_before, only_after; /* points */
    int64_t measured;                      /* points of `both` that have the column on both sides */
    int64_t older;                         /* rows left out */
    int64_t change_count;
    const ts_sweep_change *changes; /* that got worse first: no longer ok, then by their ratio */
    double worst;                   /* largest ratio; 1: nothing is larger; INFINITY: something was 0 */
    int64_t broken;                 /* were ok, and are no longer */
} ts_sweep_diff;

/* column: number of a result; less is better. Points are the same when their parameters, their question and
 * their machine's name are. Of several rows of a point, as of several versions or of a program that changed,
 * that of the last version counts, and of those one that the other database lacks. */
bool ts_sweep_compare(ts_error *err, ts_arena *arena, ts_sweep_store *before, ts_sweep_store *after,
                      int column, ts_sweep_diff *diff);

#endif
