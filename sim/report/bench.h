/* How fast this host moves a tensor, as text and as JSON. */
#ifndef TILESIM_REPORT_BENCH_H
#define TILESIM_REPORT_BENCH_H

#include "base/text.h"
#include "study/bench.h"

typedef struct {
    ts_bench bench;
    const char *kernels; /* the name of the version */
    ts_bench_result result;
} ts_bench_report;

void ts_report_bench(const ts_bench_report *report, ts_text *out);
void ts_report_bench_json(const ts_bench_report *report, ts_text *out);

#endif
