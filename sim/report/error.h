/* An error as JSON: what --json prints when there is no report. */
#ifndef TILESIM_REPORT_ERROR_H
#define TILESIM_REPORT_ERROR_H

#include "base/error.h"
#include "base/text.h"
#include "report/json.h"

/* {"schema": "tilesim.<command>", "version", "error": {"kind", "message", "exit_code", "source", "line",
 * "column", "excerpt", "cycle"}, "errors": [the same of this and of those behind it], "more_errors": bool}:
 * `source` and what follows are null where the error has no location, no cycle. */
void ts_report_error_json(const ts_error *err, const char *command, ts_text *out);

/* The same of this error alone, as the value of "error" or of another key. */
void ts_report_error_key(ts_json *json, const char *key, const ts_error *err);

#endif
