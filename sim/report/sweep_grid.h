/* A table of the runs of a grid. */
#ifndef TILESIM_REPORT_SWEEP_GRID_H
#define TILESIM_REPORT_SWEEP_GRID_H

#include "sweep/runs.h"

void ts_report_grid(const ts_sweep_runs_request *request, const ts_sweep_row *rows, ts_text *out);
void ts_report_grid_json(const ts_sweep_runs_request *request, const ts_sweep_row *rows, ts_text *out);

/* Of a row with a time, `~` before them where not every access was simulated. */
const char *report_row_cycles(const ts_sweep_row *row, ts_arena *arena);
/* A column's, of an axis: at least so much. */
int report_axis_width(const ts_grid_axis *axis, int least);

/* A line that says how many end while transfers are under way; none where no row does. */
void report_unfinished(const ts_sweep_row *rows, int64_t count, ts_text *out);

#endif
