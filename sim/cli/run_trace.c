/* What a run does, event by event: to a file, or as lines. */
#include "run_request.h"

#include <stdio.h>
#include <string.h>

#include "report/debug.h"

/* ---- The trace as text ---- */

typedef struct {
    const ts_run_result *result;
    const ts_chip *chip;
    int64_t device; /* of a mesh; -1: there is one */
    ts_text text;
} text_trace;

static ts_text *begin_line(text_trace *t) {
    if (t->device >= 0) ts_text_add(&t->text, "device %-4lld ", (long long)t->device);
    return &t->text;
}

static void write_out(text_trace *t) {
    cli_print(&t->text);
    ts_text_clear(&t->text);
}

static void on_opened(void *self, const ts_chip *chip) { ((text_trace *)self)->chip = chip; }

static ts_event_source source_of(const text_trace *t) {
    return (ts_event_source){t->result->program, ts_chip_is_estimated(t->chip)};
}

static void on_issued(void *self, int bundle, int64_t cycle) {
    text_trace *t = self;
    const ts_event_source of = source_of(t);
    ts_report_issued(&of, bundle, cycle, begin_line(t));
    write_out(t);
}

static void on_stalled(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall) {
    text_trace *t = self;
    const ts_event_source of = source_of(t);
    ts_report_stalled(&of, bundle, first_cycle, cycles, stall, begin_line(t));
    write_out(t);
}

static void on_transferred(void *self, const ts_in_flight *transfer, const ts_dma_result *result) {
    text_trace *t = self;
    const ts_event_source of = source_of(t);
    ts_report_transferred(&of, transfer->transfer, result, begin_line(t));
    write_out(t);
}

static void on_moved(void *self, const ts_in_flight *transfer) {
    text_trace *t = self;
    if (!transfer->message) return;
    const ts_event_source of = source_of(t);
    ts_report_came(&of, transfer, begin_line(t));
    write_out(t);
}

/* Cores run ahead of each other: a line says whose bundles and stalls come next. */
static void on_core(void *self, int core) {
    text_trace *t = self;
    if (t->result->program->code.cores > 1) {
        ts_text_add(begin_line(t), "core %d\n", core);
        write_out(t);
    }
}

static const ts_chip_observer *trace_device(const cli_line *line, const ts_run_result *result,
                                            int64_t device) {
    text_trace *t = TS_NEW(line->arena, text_trace);
    ts_chip_observer *observer = TS_NEW(line->arena, ts_chip_observer);
    t->result = result;
    t->device = device;
    t->text = ts_text_begin(line->arena);
    *observer = (ts_chip_observer){.self = t,
                                   .opened = on_opened,
                                   .issued = on_issued,
                                   .stalled = on_stalled,
                                   .transferred = on_transferred,
                                   .moved = on_moved,
                                   .core = on_core};
    return observer;
}

static void trace_as_text(const cli_line *line, ts_run_request *request, const ts_run_result *result) {
    if (!request->mesh) {
        request->observer = trace_device(line, result, -1);
        return;
    }
    int64_t devices = request->mesh->device_count;
    const ts_chip_observer **observers = TS_NEW_ARRAY(line->arena, const ts_chip_observer *, devices);
    for (int64_t i = 0; i < devices; i++) observers[i] = trace_device(line, result, i);
    request->observers = observers;
}

/* ---- The timeline ---- */

static bool read_range(ts_error *err, const cli_line *line, ts_timeline *timeline) {
    bool asked = cli_value(line, "from") || cli_value(line, "until");
    if (asked && !cli_value(line, "trace") && !cli_value(line, "html"))
        return ts_error_set(err, TS_ERROR_USAGE, "--from and --until are of a --trace or a page (--html)");
    *timeline = (ts_timeline){.until = INT64_MAX,
                              .events = cli_value(line, "trace") ? TS_TIMELINE_EVENTS : TS_PAGE_EVENTS};
    if (!cli_number(err, line, "from", 0, INT64_MAX, &timeline->from) ||
        !cli_number(err, line, "until", 0, INT64_MAX, &timeline->until))
        return false;
    return timeline->from < timeline->until ||
           ts_error_set(err, TS_ERROR_USAGE, "--until is %lld, expected more than --from, %lld",
                        (long long)timeline->until, (long long)timeline->from);
}

bool cli_trace_open(ts_error *err, const cli_line *line, ts_run_request *request, const ts_run_result *result,
                    cli_trace *trace) {
    const char *path = cli_value(line, "trace");
    bool is_text = cli_value(line, "trace-text") != NULL;
    if ((path || cli_value(line, "html")) && is_text)
        return ts_error_set(err, TS_ERROR_USAGE, "%s and --trace-text are one or the other",
                            path ? "--trace" : "--html");
    if (!read_range(err, line, &trace->timeline)) return false;
    if (is_text) trace_as_text(line, request, result);
    if (path || cli_value(line, "html")) request->timeline = &trace->timeline;
    trace->is_open = path && ts_chrome_trace_open(err, line->arena, path, &trace->timeline, &trace->file);
    if (path && !trace->is_open) return false;
    if (cli_value(line, "html")) ts_page_trace_open(line->arena, &trace->timeline, &trace->page);
    return true;
}

bool cli_trace_close(ts_error *err, const cli_line *line, const ts_error *of_run, cli_trace *trace) {
    if (!trace->is_open) return true;
    if (!trace->timeline.program || (of_run->kind != TS_ERROR_NONE && of_run->kind != TS_ERROR_FAULT)) {
        ts_chrome_trace_abandon(&trace->file);
        return true;
    }
    if (!ts_chrome_trace_close(err, &trace->file)) return false;
    ts_text notes = ts_text_begin(line->arena);
    ts_report_timeline_notes(&trace->timeline, &notes);
    for (const char *at = notes.bytes; *at; at += strcspn(at, "\n") + 1)
        fprintf(stderr, "tilesim: note: %s: %.*s\n", cli_value(line, "trace"), (int)strcspn(at, "\n"), at);
    return true;
}
