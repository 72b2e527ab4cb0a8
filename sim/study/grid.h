/* A grid of parameters: names with one value or a list of them, in every combination. */
#ifndef TILESIM_STUDY_GRID_H
#define TILESIM_STUDY_GRID_H

#include "program/program.h"

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

/* Of defines "NAME=1,2,3": commas outside of brackets part the values, each of which counts once. An error,
 * of that option of the command line, where a value is empty, or for more than TS_GRID_POINTS points. */
bool ts_grid_parse(ts_error *err, ts_arena *arena, const char *option, const ts_define *defines, int count,
                   ts_grid *grid);
/* The values of "1,2,3" behind those that the axis has. False: one is empty. */
bool ts_grid_split(ts_arena *arena, const char *text, ts_grid_axis *axis);
/* The defines of a point, [grid->axis_count]: the last axis varies fastest. */
void ts_grid_point(const ts_grid *grid, int64_t point, ts_define *defines);

#endif
