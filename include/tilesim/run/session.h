/* A run that stops where one likes, to look at it: what a debugger is made of. */
#ifndef TILESIM_RUN_SESSION_H
#define TILESIM_RUN_SESSION_H

#include "tilesim/run/run.h"

typedef struct ts_session ts_session;

/* Everything up to cycle 0. `request` and its machine must outlive the session. */
ts_session *ts_session_open(ts_error *err, ts_arena *arena, const ts_run_request *request);
void ts_session_close(ts_session *session); /* its memories; NULL is fine */

const ts_program *ts_session_program(const ts_session *session);
ts_chip *ts_session_chip(ts_session *session);

/* The core whose bundles, registers and memories of its own are looked at: 0 at first. */
int ts_session_followed(const ts_session *session);
void ts_session_follow(ts_session *session, int core);

/* Where it stands: the bundle that issues next, and since it could have issued, for what it has stalled. */
typedef struct {
    int64_t cycle;
    int bundle; /* -1: the core has come to its end */
    bool waits; /* for a semaphore or the DMA engine, now */
    int stall;  /* why the last bundle stalled; -1: it did not */
    int64_t stall_cycles;
} ts_session_state;
void ts_session_look(const ts_session *session, ts_session_state *state);

/* Stops before a bundle with an instruction of that line issues; file: as the program's path ends, NULL: the
 * program itself. */
typedef struct {
    const char *file;
    int line;
} ts_breakpoint;
/* Does any bundle come from there? */
bool ts_session_has_line(const ts_session *session, const ts_breakpoint *at);

typedef enum { TS_STOP_STEPPED, TS_STOP_BREAK, TS_STOP_CYCLE, TS_STOP_END } ts_stop;
/* Until `bundles` more have issued, or before a breakpoint, or until cycle `until`, or the end, whichever is
 * first. */
bool ts_session_go(ts_error *err, ts_session *session, int64_t bundles, int64_t until,
                   const ts_breakpoint *breakpoints, int count, ts_stop *stop);

/* A box of a tensor as it is in memory now: what has not arrived yet is not there. */
bool ts_session_fetch(ts_error *err, ts_arena *arena, ts_session *session, int tensor, const int64_t *begin,
                      const int64_t *sizes, ts_host_array *array);

#endif
