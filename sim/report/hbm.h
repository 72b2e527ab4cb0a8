/* What a run of HBM requests took, as text and as JSON; and how near HBM time is to other simulators. */
#ifndef TILESIM_REPORT_HBM_H
#define TILESIM_REPORT_HBM_H

#include "base/text.h"
#include "study/hbm_run.h"

typedef struct {
    const ts_machine *machine;
    const char *what; /* the pattern, or the trace's path */
    int64_t lookahead_bytes;
    double host_seconds; /* of CPU time, measured by the caller */
    ts_hbm_run run;
} ts_hbm_report;

void ts_report_hbm(const ts_hbm_report *report, ts_text *out);
void ts_report_hbm_json(const ts_hbm_report *report, ts_text *out);
/* The named patterns, a line each. */
void ts_report_hbm_patterns(ts_text *out);
void ts_report_hbm_patterns_json(ts_text *out);

#endif
