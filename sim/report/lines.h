/* Cycles by line of the program, beside its text. */
#ifndef TILESIM_REPORT_LINES_H
#define TILESIM_REPORT_LINES_H

#include "report/json.h"
#include "run/run.h"

/* Of a result with a profile: the hottest loops, then the program as it is put together, with macros where
 * they are called. `colour`: with escape sequences of terminals. */
void ts_report_lines(const ts_run_result *result, bool colour, ts_text *out);
/* The arrays "loops", "frames" and "lines". */
void ts_report_lines_json(const ts_run_result *result, ts_json *json);

#endif
