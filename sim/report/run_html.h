/* Private to reports: parts of the page of a run, each its sections. */
#ifndef TILESIM_REPORT_RUN_HTML_H
#define TILESIM_REPORT_RUN_HTML_H

#include "page.h"
#include "report/timeline.h"
#include "run/run.h"

/* Of a result with a profile. */
void report_lines_section(const ts_run_result *result, page *p);
void report_loops_section(const ts_run_result *result, page *p);
void report_timeline_section(const ts_page_trace *trace, page *p);
void report_transfers_section(const ts_page_trace *trace, page *p);

#endif
