/* What the commands that run a program share: their options, timelines, the debugger and its breakpoints. */
#ifndef TILESIM_CLI_RUN_REQUEST_H
#define TILESIM_CLI_RUN_REQUEST_H

#include "options.h"
#include "run/run.h"
#include "report/timeline.h"
#include "run/session.h"

/* Rows of an option table, first in both. */
#define CLI_RUN_OPTIONS                                                                                      \
    CLI_MACHINE_OPTION, CLI_SET_OPTION, {"define", 'D', "NAME=VALUE", "sets a .param of the program"},       \
        {"input", 'i', "TENSOR=FILE", "the values of an input: .npy, .npz:NAME, .safetensors:NAME, .bin"},   \
        {"convert", '\0', NULL, "let inputs of another type be rounded to the tensor's"}, CLI_MEMORY_OPTION, \
    {                                                                                                        \
        "max-cycles", '\0', "N",                                                                             \
            "a program that runs longer has failed; default 10,000,000,000, and fewer in a loop without "    \
            "a DMA"                                                                                          \
    }

bool cli_run_request(ts_error *err, const cli_line *line, ts_run_request *request);
/* Behind it: the options of a mesh, if there are any. */
bool cli_run_mesh(ts_error *err, const cli_line *line, ts_run_request *request);

/* Commands from standard input until it ends; with `breaks`, after going to the first of those lines. Returns
 * the exit code. */
int cli_debug(const cli_line *line, const ts_run_request *request, const char *const *breaks,
              int break_count);

/* ---- --trace and --trace-text of tilesim run ---- */

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

/* ---- Breakpoints of the debugger: LINE, FILE:LINE or a macro, and perhaps "if s1 == 4" ---- */

enum { CLI_BREAKPOINTS = 64 };

typedef struct {
    ts_session *session;
    ts_arena *arena; /* for names of files */
    ts_breakpoint items[CLI_BREAKPOINTS];
    int count;
} cli_breakpoints;

/* One that is there already is not added again. */
bool cli_breakpoints_add(ts_error *err, cli_breakpoints *b, const char *text);
/* Numbers as they are listed, from 1 on. */
void cli_breakpoints_remove(cli_breakpoints *b, int number);
void cli_breakpoints_list(const cli_breakpoints *b, ts_text *out);

#endif
