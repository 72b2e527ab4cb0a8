/* A table of the runs of a grid. */
#ifndef TILESIM_REPORT_GRID_H
#define TILESIM_REPORT_GRID_H

#include "base/text.h"
#include "study/grid.h"

void ts_report_grid(const ts_grid_request *request, const ts_grid_run *runs, ts_text *out);
void ts_report_grid_json(const ts_grid_request *request, const ts_grid_run *runs, ts_text *out);

/* A text that ends the line which begins at `begin`: what is too long for that ends at a word. */
void report_add_cut(ts_text *out, size_t begin, const char *text);

#endif
