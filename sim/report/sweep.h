/* A study's table: as text, CSV and JSON. */
#ifndef TILESIM_REPORT_SWEEP_H
#define TILESIM_REPORT_SWEEP_H

#include "base/text.h"
#include "sweep/sweep.h"
#include "sweep/table.h"

typedef struct {
    const ts_sweep_table *table;
    const ts_sweep_result *result; /* what was done to get it */
    const char *study, *database;  /* names of files */
    int rows;                      /* as text at most */
} ts_sweep_view;

void ts_report_sweep(const ts_sweep_view *view, ts_text *out);
void ts_report_sweep_csv(const ts_sweep_view *view, ts_text *out);
void ts_report_sweep_json(const ts_sweep_view *view, ts_text *out);

#endif
