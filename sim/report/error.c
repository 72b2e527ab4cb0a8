/* An error as JSON. */
#include "report/error.h"

static const char *const kinds[] = {
    [TS_ERROR_NONE] = "none",       [TS_ERROR_INPUT] = "input", [TS_ERROR_IO] = "io",
    [TS_ERROR_USAGE] = "usage",     [TS_ERROR_FAULT] = "fault", [TS_ERROR_UNMODELLED] = "unmodelled",
    [TS_ERROR_WARNING] = "warning", [TS_ERROR_NOTE] = "note",   [TS_ERROR_CAPACITY] = "input",
};

void ts_report_error_key(ts_json *json, const char *key, const ts_error *err) {
    bool located = err->line > 0;
    ts_json_object(json, key);
    ts_json_text(json, "kind", kinds[err->kind]);
    ts_json_text(json, "message", err->message);
    ts_json_int(json, "exit_code", ts_error_exit_code(err));
    ts_json_text(json, "source", located ? err->name : NULL);
    ts_json_count(json, "line", located ? err->line : -1);
    ts_json_count(json, "column", located ? err->column : -1);
    ts_json_text(json, "excerpt", located ? err->excerpt : NULL);
    ts_json_count(json, "cycle", err->kind == TS_ERROR_FAULT ? err->cycle : -1);
    ts_json_close(json);
}

void ts_report_error_json(const ts_error *err, const char *command, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, command);
    ts_report_error_key(&json, "error", err);
    ts_json_array(&json, "errors");
    for (const ts_error *at = err; at; at = at->next) ts_report_error_key(&json, NULL, at);
    ts_json_close(&json);
    ts_json_bool(&json, "more_errors", err->more);
    ts_json_end(&json);
}
