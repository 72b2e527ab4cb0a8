/* Where a program stands and what it holds, for people who step through it. */
#ifndef TILESIM_REPORT_DEBUG_H
#define TILESIM_REPORT_DEBUG_H

#include "run/session.h"

/* Whose events are told. */
typedef struct {
    const ts_program *program;
    bool estimated; /* so far, not every access of every channel was simulated */
} ts_event_source;

/* One line an event: the cycle, the line of the program, what happened. */
void ts_report_issued(const ts_event_source *of, int bundle, int64_t cycle, ts_text *out);
void ts_report_stalled(const ts_event_source *of, int bundle, int64_t first_cycle, int64_t cycles, int stall,
                       ts_text *out);
void ts_report_transferred(const ts_event_source *of, int transfer, const ts_dma_result *result,
                           ts_text *out);
/* A transfer of another device, as its bytes are there. */
void ts_report_came(const ts_event_source *of, const ts_in_flight *transfer, ts_text *out);

/* The bundle that issues next, and why it has not. */
void ts_report_where(const ts_session *session, ts_text *out);
/* `count` semaphores from number `first` on. */
void ts_report_semaphores(ts_session *session, int first, int count, ts_text *out);
void ts_report_param(const ts_param *param, ts_text *out);
/* The devices of a mesh that came to a breakpoint. */
void ts_report_broken(const ts_session *session, int64_t devices, ts_text *out);
/* Who wrote to a watch, if the session stands behind that; and all watches. */
void ts_report_hit(const ts_session *session, ts_text *out);
void ts_report_watches(const ts_session *session, ts_text *out);
void ts_report_transfers(ts_session *session, ts_text *out);
/* The lines of the program around the next bundle. */
void ts_report_source(const ts_session *session, int around, ts_text *out);

typedef enum { TS_VIEW_F32, TS_VIEW_I32, TS_VIEW_HEX, TS_VIEW_BF16 } ts_register_view;
/* "f32", "i32", "hex", "bf16"; false when it is none. */
bool ts_register_view_find(const char *text, ts_register_view *view);
/* whole: every word of a vreg or vmask, else six lanes of each sublane with the least and the largest of
 * all. */
void ts_report_register(ts_session *session, ts_register reg, ts_register_view view, bool whole,
                        ts_text *out);
/* Scalar registers that are not 0. */
void ts_report_scalars(ts_session *session, ts_text *out);
/* At most 8 values a line and 16 lines; what is left out is counted. */
void ts_report_box(const char *name, const ts_host_array *array, const int64_t *begin, ts_text *out);

#endif
