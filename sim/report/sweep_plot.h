/* A picture of a study: one column against another, a line for each value of a third. */
#ifndef TILESIM_REPORT_SWEEP_PLOT_H
#define TILESIM_REPORT_SWEEP_PLOT_H

#include "report/sweep.h"

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

#endif
