/* Private to reports: what events of a timeline are called. */
#ifndef TILESIM_REPORT_TIMELINE_PRIVATE_H
#define TILESIM_REPORT_TIMELINE_PRIVATE_H

#include "run/timeline.h"

/* "vadd.f32 ; vst", and "y <- yb". */
void report_bundle_name(const ts_program *program, int bundle, ts_text *out);
void report_transfer_name(const ts_program *program, int transfer, ts_text *out);
/* "y <- x" or "signal ready[0]", of what goes from device to device. */
void report_message_name(const ts_program *program, const ts_trace_event *event, ts_text *out);
/* Of a counter that is a rate, in 10^7 bytes a second. */
int64_t report_event_rate(const ts_timeline *timeline, const ts_trace_event *event, int series);

#endif
