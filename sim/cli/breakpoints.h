/* Breakpoints of the debugger: LINE, FILE:LINE or a macro, and perhaps "if s1 == 4". */
#ifndef TILESIM_CLI_BREAKPOINTS_H
#define TILESIM_CLI_BREAKPOINTS_H

#include "run/session.h"

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
