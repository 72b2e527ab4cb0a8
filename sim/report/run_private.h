/* Private to reports: the parts of those of a run, as text, as keys and as sections of its page. */
#ifndef TILESIM_REPORT_RUN_PRIVATE_H
#define TILESIM_REPORT_RUN_PRIVATE_H

#include "base/text.h"
#include "page.h"
#include "program/program.h"
#include "report/json.h"
#include "report/timeline.h"
#include "run/run.h"
#include "run/timeline.h"

/* ---- Devices and links of a mesh ---- */

void report_run_mesh(const ts_run_request *request, const ts_run_mesh *mesh, ts_text *out);
/* The object "mesh". */
void report_run_mesh_json(const ts_run_request *request, const ts_run_mesh *mesh, ts_json *json);

/* ---- Loops whose iterations overlap: lines, and the array "pipelines" ---- */

/* Nothing where there are none. */
void report_run_pipelines(const ts_program *program, ts_text *out);
void report_run_pipelines_json(const ts_program *program, ts_json *json);

/* ---- Where it stands under its machine's roofline: lines, the object "roofline", a plot ---- */

void report_roofline(const ts_run_result *result, ts_text *out);
void report_roofline_json(const ts_run_result *result, ts_json *json);

/* "55.51 T", "0.000 " before a unit: four digits. */
const char *report_scaled(ts_arena *arena, double value);
/* What is counted: of integers, no floating-point operations. */
const char *report_operations(const ts_roofline *r);
/* Both axes logarithmic: the machine's roofs, and where the run is under them. Colours are the page's. Needs
 * operations. */
void report_roofline_svg(const ts_machine *machine, const ts_roofline *r, ts_text *out);

/* ---- A program's text by line, and the program by line with its cycles ---- */

typedef struct report_source report_source;

report_source *report_source_new(ts_arena *arena, const ts_source *source);
int report_source_count(const report_source *source); /* lines */
/* Line 1 .. the last, without indentation, alignment and comments; "" for any other. */
const char *report_source_line(ts_arena *arena, const report_source *source, int line);

enum { REPORT_LOOPS = 10, REPORT_REASONS = 3 };

typedef struct {
    const ts_line_counts *counts; /* NULL: the line has no instructions */
    const char *text, *note;      /* what is said behind the text */
    int line, depth;              /* line 0: a note in place of lines that are not shown */
    char mark;                    /* '+': a sum of what is below, '>': of what is not shown, ' ': its own */
} report_line;
typedef void report_line_taker(void *self, const report_line *line);

/* The program as it is put together, with macros where they are called. Needs a profile, and a program of
 * text. */
void report_lines_walk(const ts_run_result *result, ts_arena *arena, report_line_taker *take, void *self);
/* What it waited for longest, the longest first; returns how many. */
int report_line_reasons(const ts_profile *profile, const ts_line_counts *counts, int reasons[REPORT_REASONS]);
/* Of what its first line says; "": it is of no text. */
const char *report_loop_text(ts_arena *arena, const ts_profile_loop *loop);
/* How many of the loops have any heat. */
int report_hot_loops(const ts_profile *profile);

/* ---- What events of a timeline are called ---- */

/* "y <- yb" */
void report_transfer_name(const ts_program *program, int transfer, ts_text *out);
/* "vadd.f32 ; vst", "y <- x", "signal ready[0]", "read, write", a region's; not of stalls and of sums. */
void report_event_name(const ts_program *program, const ts_trace_event *event, ts_text *out);
/* The line that it is of, and its text; 0: none. */
int report_event_line(const ts_program *program, const ts_trace_event *event, const ts_source **source);
/* Of a counter that is a rate, in 10^7 bytes a second. */
int64_t report_event_rate(const ts_timeline *timeline, const ts_trace_event *event, int series);

/* ---- Sections of the page, of a result with a profile ---- */

void report_lines_section(const ts_run_result *result, page *p);
void report_loops_section(const ts_run_result *result, page *p);
void report_timeline_section(const ts_page_trace *trace, page *p);
void report_transfers_section(const ts_page_trace *trace, page *p);

#endif
