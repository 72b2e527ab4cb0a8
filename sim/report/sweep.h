/* A study's table: as text, CSV and JSON. */
#ifndef TILESIM_REPORT_SWEEP_H
#define TILESIM_REPORT_SWEEP_H

#include "base/text.h"
#include "sweep/sweep.h"
#include "sweep/diff.h"
#include "sweep/sensitivity.h"
#include "sweep/tune.h"

typedef struct {
    const ts_sweep_table *table;
    const ts_sweep_result *result; /* what was done to get it */
    const char *study, *database;  /* names of files */
    int rows;                      /* as text at most */
    const int *ranked_by;          /* columns of --pareto or --tune, which text shows first */
    int ranked_by_count;
} ts_sweep_view;

void ts_report_sweep(const ts_sweep_view *view, ts_text *out);
void ts_report_sweep_csv(const ts_sweep_view *view, ts_text *out);
void ts_report_sweep_json(const ts_sweep_view *view, ts_text *out);

/* What --tune, --sensitivity and --diff found. */
void ts_report_tuned(const ts_sweep_view *view, const ts_sweep_tuned *tuned, ts_text *out);
void ts_report_tuned_json(const ts_sweep_view *view, const ts_sweep_tuned *tuned, ts_text *out);

typedef struct {
    const ts_sweep_view *view;
    const ts_sweep_changes *changes;
    const ts_sweep_elasticity *list;
    const char *column;
} ts_sweep_sensitivity_view;
void ts_report_sensitivity(const ts_sweep_sensitivity_view *view, ts_text *out);
void ts_report_sensitivity_json(const ts_sweep_sensitivity_view *view, ts_text *out);

typedef struct {
    const ts_sweep_diff *diff;
    const char *before, *after; /* files */
    int rows;
} ts_sweep_diff_view;
/* "cycles 1.2500x what it was; 0 no longer ok"; no point has them: that */
void ts_report_sweep_worst(const ts_sweep_diff *diff, ts_text *out);
void ts_report_sweep_diff(const ts_sweep_diff_view *view, ts_text *out);
void ts_report_sweep_diff_json(const ts_sweep_diff_view *view, ts_text *out);

#endif
