/* Private to reports: what events of a timeline are called. */
#ifndef TILESIM_REPORT_TIMELINE_PRIVATE_H
#define TILESIM_REPORT_TIMELINE_PRIVATE_H

#include "run/timeline.h"

/* "y <- yb" */
void report_transfer_name(const ts_program *program, int transfer, ts_text *out);
/* "vadd.f32 ; vst", "y <- x", "signal ready[0]", "read, write", a region's; not of stalls and of sums. */
void report_event_name(const ts_program *program, const ts_trace_event *event, ts_text *out);
/* The line that it is of, and its text; 0: none. */
int report_event_line(const ts_program *program, const ts_trace_event *event, const ts_source **source);
/* Of a counter that is a rate, in 10^7 bytes a second. */
int64_t report_event_rate(const ts_timeline *timeline, const ts_trace_event *event, int series);

#endif
