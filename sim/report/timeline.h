/* Timelines drawn as Chrome's trace events in JSON, which ui.perfetto.dev and chrome://tracing open. A cycle
 * is written as a nanosecond: what these tools keep is whole nanoseconds, and a cycle is mostly shorter. */
#ifndef TILESIM_REPORT_TIMELINE_H
#define TILESIM_REPORT_TIMELINE_H

#include "base/file.h"
#include "run/timeline.h"

typedef struct {
    ts_timeline *timeline;
    ts_file_writer *file;
    ts_text text; /* not yet written */
    ts_error err; /* of the first write that failed */
    bool *used;   /* by track; NULL: no event has come */
    int64_t arrows, events;
} ts_chrome_trace;

/* `timeline` then gives its events to `trace`, which must stay where it is; they go to the file as they
 * come. */
bool ts_chrome_trace_open(ts_error *err, ts_arena *arena, const char *path, ts_timeline *timeline,
                          ts_chrome_trace *trace);
/* When the run has ended: what the tracks are called, and what was left out. */
bool ts_chrome_trace_close(ts_error *err, ts_chrome_trace *trace);
void ts_chrome_trace_abandon(ts_chrome_trace *trace); /* there will be no file */

/* The same events, kept for a page (report/run.h). */
typedef struct {
    ts_timeline *timeline;
    ts_arena *arena;
    ts_trace_event *events;
    int64_t count;
    int64_t end;             /* the first cycle whose events had no room; -1: none */
    ts_trace_taker *forward; /* who else takes them; NULL: nobody */
    void *self;
} ts_page_trace;
/* Events that a timeline of nothing but a page draws before there is sampling. */
enum { TS_PAGE_EVENTS = 20000 };
/* Behind ts_chrome_trace_open, where both are made. `trace` must stay where it is. */
void ts_page_trace_open(ts_arena *arena, ts_timeline *timeline, ts_page_trace *trace);

/* What web/page/timeline.js draws: {"from": 0, "to": 9, "notes": "..", "tracks": [{"number": 0, "row": {..}},
 * ..], "arrows": [..], "what": [[name, place, colour], ..]}. */
void ts_report_page_trace_json(const ts_page_trace *trace, ts_text *out);

/* What a timeline leaves out, as lines for people: "" when it is all there. */
void ts_report_timeline_notes(const ts_timeline *timeline, ts_text *out);

#endif
