/* An audit as text, CSV, JSON, a picture and a page. */
#ifndef TILESIM_REPORT_AUDIT_H
#define TILESIM_REPORT_AUDIT_H

#include "base/text.h"
#include "audit/audit.h"

typedef struct {
    const char *input; /* how the text is called */
    int rows;          /* of each table; INT_MAX: all */
} ts_audit_view;

void ts_report_audit(const ts_audit_result *result, const ts_audit_view *view, ts_text *out);
void ts_report_audit_json(const ts_audit_result *result, const ts_audit_view *view, ts_text *out);
/* A row a buffer, then a row a move. */
void ts_report_audit_csv(const ts_audit_result *result, const ts_audit_view *view, ts_text *out);
/* Bars of padding, by shape, and of time, by move. */
void ts_report_audit_svg(const ts_audit_result *result, const ts_audit_view *view, ts_text *out);
void ts_report_audit_html(const ts_audit_result *result, const ts_audit_view *view, ts_text *out);

/* "64.0K" */
static inline const char *ts_report_audit_bytes(ts_arena *arena, int64_t bytes) {
    char *text = ts_arena_alloc(arena, 16, 1);
    ts_audit_print_bytes(text, bytes);
    return text;
}
/* What pads a shape: "dim 2 (minor) 3 to 128", "elements of 32 bits". */
const char *ts_report_audit_cause(ts_arena *arena, const ts_audit_shape *shape);
/* Where it comes from in the user's program: "a.py:3 in f: jit(f)/transpose"; "" where that is not
 * known. */
const char *ts_report_audit_source(ts_arena *arena, const ts_audit_result *result,
                                   const ts_audit_source *source);
const ts_audit_source *ts_report_audit_source_of(const ts_audit_result *result,
                                                 const ts_audit_finding *finding);
/* "saves at most 1.250 us, 4.00M" */
const char *ts_report_audit_saving(ts_arena *arena, const ts_audit_result *result,
                                   const ts_audit_finding *finding);
const char *ts_report_audit_changes(ts_arena *arena, unsigned changes);
/* Of a move: "order, by programs/transpose.tsim"; then what is to be known of its runs: ", in a branch". */
const char *ts_report_audit_what(ts_arena *arena, const ts_audit_group *group);
const char *ts_report_audit_runs(const ts_audit_move *move);
/* Lines below the buffers, and those of all moves. */
void ts_report_audit_sum_notes(const ts_audit_result *result, ts_text *out);
void ts_report_audit_move_sums(const ts_audit_result *result, ts_text *out);
/* "~" before the time of all moves, where it is estimated; else "". */
static inline const char *ts_report_audit_about(const ts_audit_result *result) {
    return ts_audit_is_estimated(result) ? "~" : "";
}
/* The source's shape; NULL: it is not known, or that of the part that is shown. */
const char *ts_report_audit_from(const ts_audit_result *r, const ts_audit_move *move);
/* Of sums: a memory by its number, the last is all others; TS_AUDIT_SPACES: all of them. */
const char *ts_report_audit_space(int space);

#endif
