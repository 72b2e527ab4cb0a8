/* A table of the runs of a grid. */
#ifndef TILESIM_REPORT_SWEEP_GRID_H
#define TILESIM_REPORT_SWEEP_GRID_H

#include "sweep/runs.h"

void ts_report_grid(const ts_sweep_runs_request *request, const ts_sweep_row *rows, ts_text *out);
void ts_report_grid_json(const ts_sweep_runs_request *request, const ts_sweep_row *rows, ts_text *out);

/* A column's, of an axis: at least so much. */
int report_axis_width(const ts_grid_axis *axis, int least);
/* A text that ends the line which begins at `begin`: what is too long for that ends at a word. */
void report_add_cut(ts_text *out, size_t begin, const char *text);

#endif
