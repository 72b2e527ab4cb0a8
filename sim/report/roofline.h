/* Private to reports: where a run stands under its machine's roofline, as text and as the object "roofline". */
#ifndef TILESIM_REPORT_ROOFLINE_PRIVATE_H
#define TILESIM_REPORT_ROOFLINE_PRIVATE_H

#include "report/json.h"
#include "run/run.h"

void report_roofline(const ts_run_result *result, ts_text *out);
void report_roofline_json(const ts_roofline *roofline, ts_json *json);

#endif
