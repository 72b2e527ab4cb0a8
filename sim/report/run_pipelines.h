/* Private to reports: the loops of a program whose iterations overlap, as text and as the array
 * "pipelines". */
#ifndef TILESIM_REPORT_RUN_PIPELINES_H
#define TILESIM_REPORT_RUN_PIPELINES_H

#include "program/program.h"
#include "report/json.h"

/* Nothing where there are none. */
void report_run_pipelines(const ts_program *program, ts_text *out);
void report_run_pipelines_json(const ts_program *program, ts_json *json);

#endif
