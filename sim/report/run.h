/* What a run did: where its values came from, its checks, and where the cycles went. */
#ifndef TILESIM_REPORT_RUN_H
#define TILESIM_REPORT_RUN_H

#include "report/json.h"
#include "report/timeline.h"
#include "run/run.h"

void ts_report_run(const ts_run_request *request, const ts_run_result *result, ts_text *out);
void ts_report_run_json(const ts_run_request *request, const ts_run_result *result, ts_text *out);
/* Of a result with a profile, with the timeline of the run, as a page. */
void ts_report_run_html(const ts_run_request *request, const ts_run_result *result,
                        const ts_page_trace *trace, ts_text *out);
/* Every finding with its lines, as errors are shown; and as the arrays "warnings" and "findings". */
void ts_report_findings(const ts_findings *findings, ts_text *out);
void ts_report_warnings_json(const ts_findings *findings, ts_json *json);
void ts_report_findings_json(const ts_findings *findings, ts_json *json);
/* Each failed check as an error of the program's text; false when there is none. */
bool ts_report_failed_check(const ts_run_result *result, int check, ts_error *err);

/* The unit that a stall waits for: a slot's name, "dma" or "vmem". */
const char *ts_report_stall_unit(int stall);

/* Of a result with a profile: the hottest loops, then the program as it is put together, with macros where
 * they are called. `colour`: with escape sequences of terminals. */
void ts_report_lines(const ts_run_result *result, bool colour, ts_text *out);
/* The arrays "loops", "frames" and "lines". */
void ts_report_lines_json(const ts_run_result *result, ts_json *json);

#endif
