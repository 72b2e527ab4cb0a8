/* The functions of the algebras of layouts, and what an expression gives. */
#ifndef TILESIM_REPORT_ALGEBRA_H
#define TILESIM_REPORT_ALGEBRA_H

#include "base/text.h"
#include "layout/notation/algebra.h"
#include "report/json.h"

/* Usage, meaning and an example each, by system. */
void ts_report_algebra(ts_text *out);
void ts_report_algebra_markdown(ts_text *out);
/* The value, and what else its function found, a line each. */
void ts_report_value(const ts_value *value, ts_text *out);
void ts_report_value_json(const ts_value *value, ts_json *json);

#endif
