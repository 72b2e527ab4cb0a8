/* Studies, and the runs of a grid and of block sizes: tables as text, CSV, JSON and pages. */
#ifndef TILESIM_REPORT_SWEEP_H
#define TILESIM_REPORT_SWEEP_H

#include "base/text.h"
#include "sweep/answers.h"
#include "sweep/runs.h"
#include "sweep/sweep.h"

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

/* A picture of a study: one column against another, a line for each value of a third. */
typedef struct {
    int x, y, by; /* columns; by -1: one line */
} ts_sweep_plot;

/* "x=NAME,y=NAME,by=NAME"; `by` may be left out. */
bool ts_sweep_plot_parse(ts_error *err, const ts_sweep_table *table, const char *text, ts_sweep_plot *plot);
/* An axis along which numbers differ much is logarithmic; lines go through the mean of what has one x. In
 * colours of light and of dark pages. */
void ts_report_sweep_svg(const ts_sweep_table *table, const ts_sweep_plot *plot, ts_text *out);
/* A page: what was done, the picture (plot NULL: none) and the table. */
void ts_report_sweep_html(const ts_sweep_view *view, const ts_sweep_plot *plot, ts_text *out);

/* A table of the runs of a grid. */
void ts_report_grid(const ts_sweep_runs_request *request, const ts_sweep_row *rows, ts_text *out);
void ts_report_grid_json(const ts_sweep_runs_request *request, const ts_sweep_row *rows, ts_text *out);

/* Of a row with a time, `~` before them where not every access was simulated. */
const char *report_row_cycles(const ts_sweep_row *row, ts_arena *arena);
/* A column's, of an axis: at least so much. */
int report_axis_width(const ts_grid_axis *axis, int least);

/* A line that says how many end while transfers are under way; none where no row does. */
void report_unfinished(const ts_sweep_row *rows, int64_t count, ts_text *out);

/* The ranking of a program's block sizes. */
typedef struct {
    const ts_sweep_runs_request *request;
    const ts_sweep_blocks *blocks;
    int rows; /* as text at most, of each part */
} ts_blocks_view;

void ts_report_blocks(const ts_blocks_view *view, ts_text *out);
void ts_report_blocks_json(const ts_blocks_view *view, ts_text *out);

#endif
