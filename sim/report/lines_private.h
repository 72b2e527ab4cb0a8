/* Private to reports: the program by line with its cycles, row by row, for those who draw it. */
#ifndef TILESIM_REPORT_LINES_PRIVATE_H
#define TILESIM_REPORT_LINES_PRIVATE_H

#include "run/run.h"

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
/* How many of the loops have any heat. */
int report_hot_loops(const ts_profile *profile);
#endif
