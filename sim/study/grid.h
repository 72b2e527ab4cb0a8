/* A grid of parameters: names with one value or a list of them, and a program run with every combination. */
#ifndef TILESIM_STUDY_GRID_H
#define TILESIM_STUDY_GRID_H

#include "run/run.h"

typedef struct {
    const char *name;
    const char **values;
    int count;
} ts_grid_axis;

typedef struct {
    ts_grid_axis *axes; /* those of one value too */
    int axis_count;
    int64_t point_count;
} ts_grid;

enum { TS_GRID_POINTS = 100000 };

/* Of defines "NAME=1,2,3": commas outside of brackets part the values. An error where a value is empty, or for
 * more than TS_GRID_POINTS points. */
bool ts_grid_parse(ts_error *err, ts_arena *arena, const ts_define *defines, int count, ts_grid *grid);
/* The values of "1,2,3" behind those that the axis has. False: one is empty. */
bool ts_grid_split(ts_arena *arena, const char *text, ts_grid_axis *axis);
/* The defines of a point, [grid->axis_count]: the last axis varies fastest. */
void ts_grid_point(const ts_grid *grid, int64_t point, ts_define *defines);

/* What a run with the defines of a point came to. */
typedef struct {
    ts_error err;   /* none: it ran */
    bool passed;    /* as in ts_run_result */
    bool estimated; /* as in ts_chip_counters */
    int64_t cycles;
    double microseconds;
    double hbm_peak_percent;
    const char *most; /* what most cycles went to, and their share */
    double most_percent;
} ts_grid_run;

void ts_grid_note(const ts_machine *machine, const ts_run_result *result, ts_grid_run *run);

typedef struct {
    ts_run_request run; /* without defines */
    const ts_grid *grid;
    void (*progress)(void *self, int64_t done, int64_t of); /* or NULL */
    void *self;
} ts_grid_request;

/* One run a point, [grid->point_count]. A run that fails does not end the others. */
const ts_grid_run *ts_grid_go(ts_arena *arena, const ts_grid_request *request);

#endif
