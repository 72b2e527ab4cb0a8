/* A run that stops where one likes, to look at it: what a debugger is made of. */
#ifndef TILESIM_RUN_SESSION_H
#define TILESIM_RUN_SESSION_H

#include "run/run.h"

typedef struct ts_session ts_session;

/* Everything up to cycle 0. `request` and its machine must outlive the session. */
ts_session *ts_session_open(ts_error *err, ts_arena *arena, const ts_run_request *request);
void ts_session_close(ts_session *session); /* its memories; NULL is fine */

const ts_program *ts_session_program(const ts_session *session);
ts_chip *ts_session_chip(ts_session *session);

/* On a mesh, the device that is looked at: 0 at first; where it stops at a breakpoint or a watch, one that is
 * there. -1: there is one device. In its run all devices go on together, and stop in the same cycle. */
int64_t ts_session_device(const ts_session *session);
void ts_session_look_at(ts_session *session, int64_t device);
/* Did it stop because this device came to a breakpoint? */
bool ts_session_is_at_breakpoint(const ts_session *session, int64_t device);

/* The core whose bundles, registers and memories of its own are looked at: 0 at first. */
int ts_session_followed(const ts_session *session);
void ts_session_follow(ts_session *session, int core);

/* Where it stands: the bundle that issues next, and since it could have issued, for what it has stalled. */
typedef struct {
    int64_t cycle;
    bool estimated; /* so far, not every access of every channel was simulated */
    int bundle; /* -1: the core has come to its end */
    bool waits; /* for a semaphore or the DMA engine, now */
    int stall;  /* why the last bundle stalled; -1: it did not */
    int64_t stall_cycles;
} ts_session_state;
void ts_session_look(const ts_session *session, ts_session_state *state);

/* What a name of the program stands for. */
typedef enum {
    TS_NAME_NONE,
    TS_NAME_REGISTER,
    TS_NAME_TENSOR,
    TS_NAME_PARAM,
    TS_NAME_SEMAPHORE
} ts_name_kind;
typedef struct {
    ts_name_kind kind;
    ts_operand_kind reg; /* of a register */
    int index;
    int count; /* of semaphores: "ready" are ready[0], ready[1] ... */
} ts_name;
/* v3 or an alias (where several have the name: the last before the bundle that issues next), a tensor, a
 * parameter, a semaphore ("ready" or "ready[1]"). */
ts_name ts_session_name(const ts_session *session, const char *text, size_t length);

/* LEFT OP RIGHT, each a number, a scalar register or a semaphore. */
typedef struct {
    ts_name_kind kind; /* NONE: the number */
    int64_t number;
    int index;
} ts_condition_side;
typedef enum { TS_TEST_NONE, TS_TEST_EQ, TS_TEST_NE, TS_TEST_LE, TS_TEST_GE, TS_TEST_LT, TS_TEST_GT } ts_test;
typedef struct {
    ts_test test; /* NONE: always */
    ts_condition_side left, right;
} ts_condition;

/* Stops before a bundle with an instruction of that line issues, or with the first of a macro or file that
 * the line uses, if the condition holds; file: as the program's path ends, NULL: the program itself. */
typedef struct {
    const char *file;
    int line;
    ts_condition condition;
} ts_breakpoint;
/* Does any bundle come from there? */
bool ts_session_has_line(const ts_session *session, const ts_breakpoint *at);

/* Bytes of a memory: whoever writes to one of them stops the run behind it. */
enum { TS_WATCHES = 16 };
/* For each dim of a tensor the first index and how many. */
typedef struct {
    int tensor;
    const int64_t *begin, *sizes;
} ts_session_box;
/* A box of a tensor, or bytes first .. end - 1 of a space, of the core that is followed. Refused: over
 * 256 MiB from the first to the last, or TS_WATCHES. Returns its number, -1: an error. */
int ts_session_watch_box(ts_error *err, ts_session *session, const ts_session_box *box);
int ts_session_watch_bytes(ts_error *err, ts_session *session, ts_space_kind space, int64_t first,
                           int64_t end);
bool ts_session_unwatch(ts_session *session, int number); /* false: there is none */
typedef struct {
    ts_space_kind space;
    int64_t first, end; /* bytes; of a slice not all between them are watched */
} ts_watch_range;
bool ts_session_watch(const ts_session *session, int number,
                      ts_watch_range *range); /* false: there is none */

/* Who wrote to a watch. */
typedef struct {
    int watch;                         /* its number */
    const ts_instruction *instruction; /* NULL: a transfer */
    int transfer;
    ts_space_kind space;
    int64_t first, end, cycle; /* bytes of one of its writes */
} ts_watch_hit;
/* NULL: the last stop was none of a watch. */
const ts_watch_hit *ts_session_hit(const ts_session *session);

typedef enum { TS_STOP_STEPPED, TS_STOP_BREAK, TS_STOP_WATCH, TS_STOP_CYCLE, TS_STOP_END } ts_stop;
/* Until `bundles` more have issued, or before a breakpoint, or behind a write to a watch, or until cycle
 * `until`, or the end, whichever is first. */
typedef struct {
    int64_t bundles, until;
    const ts_breakpoint *breakpoints;
    int breakpoint_count;
} ts_session_goal;
bool ts_session_go(ts_error *err, ts_session *session, const ts_session_goal *goal, ts_stop *stop);

/* A box of a tensor as it is in memory now: what has not arrived yet is not there. */
bool ts_session_fetch(ts_error *err, ts_arena *arena, ts_session *session, const ts_session_box *box,
                      ts_host_array *array);

#endif
