/* A table of the runs of a grid. */
#ifndef TILESIM_REPORT_GRID_H
#define TILESIM_REPORT_GRID_H

#include "base/text.h"
#include "study/grid.h"

void ts_report_grid(const ts_grid_request *request, const ts_grid_run *runs, ts_text *out);
void ts_report_grid_json(const ts_grid_request *request, const ts_grid_run *runs, ts_text *out);

#endif
