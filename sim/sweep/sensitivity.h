/* Which figures of the machine a study's results hang on. */
#ifndef TILESIM_SWEEP_SENSITIVITY_H
#define TILESIM_SWEEP_SENSITIVITY_H

#include "sweep/table.h"

/* A figure that is moved: at half and at twice what it is, as far as a point's machine can be so. */
typedef struct {
    const char *field, *value; /* value: of the first machine that can change it */
    int halved, doubled;       /* values of the axis "change"; 0: none */
} ts_sweep_moved;

typedef struct {
    const ts_sweep_study *study; /* each point without a change, and with each */
    const ts_sweep_moved *fields;
    int count;
} ts_sweep_changes;

/* All figures of the machines of all points. That of the first must be one: where it is not, its error is
 * this one's. */
bool ts_sweep_changes_make(ts_error *err, ts_arena *arena, const ts_sweep_study *study,
                           ts_sweep_changes *changes);

typedef struct {
    const ts_sweep_moved *moved;
    double elasticity;      /* d ln(column) / d ln(figure) between half and twice: 1: as much in per cent */
    double halved, doubled; /* what the column is then, times what it was: the geometric mean; 0: not known */
} ts_sweep_elasticity;

/* Of a table of such a study: [changes->count], the largest first. */
const ts_sweep_elasticity *ts_sweep_elasticities(ts_arena *arena, const ts_sweep_changes *changes,
                                                 const ts_sweep_table *table, int column);

#endif
