/* Private to reports: where a run stands under its machine's roofline, as text and as the object
 * "roofline". */
#ifndef TILESIM_REPORT_ROOFLINE_PRIVATE_H
#define TILESIM_REPORT_ROOFLINE_PRIVATE_H

#include "report/json.h"
#include "run/run.h"

void report_roofline(const ts_run_result *result, ts_text *out);
void report_roofline_json(const ts_run_result *result, ts_json *json);

/* "55.51 T", "0.000 " before a unit: four digits. */
const char *report_scaled(char text[32], double value);
/* What is counted: of integers, no floating-point operations. */
const char *report_operations(const ts_roofline *r);
/* Both axes logarithmic: the machine's roofs, and where the run is under them. Colours are the page's. Needs
 * operations. */
void report_roofline_svg(const ts_machine *machine, const ts_roofline *r, ts_text *out);

#endif
