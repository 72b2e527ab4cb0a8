/* The ranking of a program's block sizes, as text and as JSON. */
#ifndef TILESIM_REPORT_SWEEP_BLOCKS_H
#define TILESIM_REPORT_SWEEP_BLOCKS_H

#include "sweep/runs.h"

typedef struct {
    const ts_sweep_runs_request *request;
    const ts_sweep_blocks *blocks;
    int rows; /* as text at most, of each part */
} ts_blocks_view;

void ts_report_blocks(const ts_blocks_view *view, ts_text *out);
void ts_report_blocks_json(const ts_blocks_view *view, ts_text *out);

#endif
