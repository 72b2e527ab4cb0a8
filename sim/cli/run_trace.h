/* --trace and --trace-text of tilesim run. */
#ifndef TILESIM_CLI_RUN_TRACE_H
#define TILESIM_CLI_RUN_TRACE_H

#include "options.h"
#include "report/timeline.h"
#include "run/run.h"

/* Rows of the option table. */
#define CLI_TRACE_OPTIONS                                                                                    \
    {"trace", '\0', "FILE",                                                                                  \
     "a timeline for ui.perfetto.dev: bundles, units, stalls, DMA, HBM; 1 cycle is written as 1 ns"},        \
        {"from", '\0', "CYCLE", "the first cycle of the timeline; default 0"},                               \
        {"until", '\0', "CYCLE", "one past its last; default the end of the run"}, {                         \
        "trace-text", '\0', NULL, "every bundle, stall and transfer as a line, before the report"            \
    }

typedef struct {
    bool is_open;
    ts_timeline timeline;
    ts_chrome_trace file;
    ts_page_trace page; /* with --html */
} cli_trace;

/* Before the run, whose result `result` will be: where it is asked for, the request gets a timeline, or who
 * prints events as they come. Both must stay where they are. */
bool cli_trace_open(ts_error *err, const cli_line *line, ts_run_request *request, const ts_run_result *result,
                    cli_trace *trace);
/* After it, with its error; a program that broke a rule of the machine has a timeline up to there. */
bool cli_trace_close(ts_error *err, const cli_line *line, const ts_error *of_run, cli_trace *trace);

#endif
