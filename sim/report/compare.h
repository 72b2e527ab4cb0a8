/* What changed between two reports. */
#ifndef TILESIM_REPORT_COMPARE_H
#define TILESIM_REPORT_COMPARE_H

#include "base/text.h"
#include "study/compare.h"

typedef struct {
    const char *before, *after; /* the files' names */
    int rows;                   /* of each section at most */
} ts_compare_view;

void ts_report_compare(const ts_comparison *result, const ts_compare_view *view, ts_text *out);
void ts_report_compare_json(const ts_comparison *result, const ts_compare_view *view, ts_text *out);
void ts_report_compare_html(const ts_comparison *result, const ts_compare_view *view, ts_text *out);

#endif
