/* The sanitizer's findings, shown as errors are: the line that broke the rule, and the one it has to do
 * with. */
#include "report/run.h"

static void add_error(ts_text *out, const ts_error *err) {
    enum { BYTES = 2048 };
    char text[BYTES];
    ts_error_format(err, text, sizeof text);
    ts_text_add(out, "%s", text);
}

static void add_location(ts_text *out, ts_error_kind kind, ts_location location, int64_t cycle,
                         const char *message) {
    ts_error err = {.cycle = cycle};
    if (location.line > 0)
        ts_error_mark(&err, kind, location.source, location.line, location.column, message);
    else
        ts_error_set(&err, kind, "%s", message);
    err.cycle = cycle;
    add_error(out, &err);
}

static void add_finding(ts_text *out, const ts_finding *f, ts_error_kind kind) {
    ts_text message = ts_text_begin(out->arena);
    ts_text_add(&message, "%s", f->text);
    if (f->has_margin) {
        int64_t size = f->margin_cycles < 0 ? -f->margin_cycles : f->margin_cycles;
        ts_text_add(&message, "; it %s by %s", f->margin_cycles < 0 ? "was lost" : "was won",
                    ts_text_counted(out->arena, size, "cycle"));
    }
    if (f->times > 1) ts_text_add(&message, "; %s in all", ts_text_counted(out->arena, f->times, "time"));
    ts_text_add(&message, " [%s]", ts_finding_get(f->kind)->text);
    add_location(out, kind, f->where, f->cycle, message.bytes);
    if (f->other.line > 0)
        add_location(out, TS_ERROR_NOTE, f->other, -1, f->other_text ? f->other_text : "see here");
}

void ts_report_findings(const ts_findings *findings, ts_text *out) {
    for (int i = 0; i < findings->count; i++) {
        const ts_finding *f = &findings->list[i];
        add_finding(out, f, ts_finding_warns(findings, f) ? TS_ERROR_WARNING : TS_ERROR_FAULT);
    }
    if (findings->dropped > 0) ts_text_add(out, "and %lld more\n", (long long)findings->dropped);
}

static void add_json_location(ts_json *json, const char *key, ts_location location) {
    if (location.line == 0) return;
    ts_json_object(json, key);
    ts_json_text(json, "file", location.source->name);
    ts_json_int(json, "line", location.line);
    ts_json_int(json, "column", location.column);
    ts_json_close(json);
}

typedef enum { WARNINGS, FINDINGS } role_of_findings;

static void add_json_findings(const ts_findings *findings, role_of_findings role, ts_json *json) {
    ts_json_array(json, role == WARNINGS ? "warnings" : "findings");
    for (int i = 0; i < findings->count; i++) {
        const ts_finding *f = &findings->list[i];
        if (ts_finding_warns(findings, f) != (role == WARNINGS)) continue;
        ts_json_object(json, NULL);
        ts_json_text(json, "kind", ts_finding_get(f->kind)->text);
        ts_json_text(json, "message", f->text);
        add_json_location(json, "where", f->where);
        add_json_location(json, "other", f->other);
        ts_json_int(json, "cycle", f->cycle);
        ts_json_int(json, "times", f->times);
        if (f->has_margin) ts_json_int(json, "margin_cycles", f->margin_cycles);
        ts_json_close(json);
    }
    ts_json_close(json);
}

void ts_report_warnings_json(const ts_findings *findings, ts_json *json) {
    add_json_findings(findings, WARNINGS, json);
}

void ts_report_findings_json(const ts_findings *findings, ts_json *json) {
    add_json_findings(findings, FINDINGS, json);
}
