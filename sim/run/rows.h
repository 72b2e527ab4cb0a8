/* Private to the recorder: what is drawn of each track, and what is summed up. */
#ifndef TILESIM_RUN_ROWS_H
#define TILESIM_RUN_ROWS_H

#include "run/timeline.h"

enum { ROWS_LEVELS = 48 };

/* Of what is not drawn. */
typedef struct {
    int64_t cycles, count;
} row_rest;

typedef struct {
    int64_t end;     /* of what was drawn last */
    int64_t since;   /* where what was not drawn since then begins; -1: there is none */
    int sorts;       /* that are told apart in it */
    row_rest *rests; /* by sort */
} row;

typedef struct {
    ts_timeline *timeline;
    row *rows;                  /* by track */
    int64_t first[ROWS_LEVELS]; /* the window from which on one of 2^level is drawn */
    int level;
    int64_t latest; /* window that was asked for */
} row_set;

void rows_init(row_set *r, ts_arena *arena, ts_timeline *timeline);
void rows_tell_apart(row_set *r, ts_arena *arena, int track, int sorts); /* 1 where it is not called */
/* Is what begins at that cycle drawn? Always the same answer. */
bool rows_draws(row_set *r, int64_t cycle);
/* An interval: of a track in order of time. True: it is drawn. */
bool rows_add(row_set *r, const ts_trace_event *event, int sort);
/* Adds an event without merging it with others. */
void rows_put(row_set *r, const ts_trace_event *event);
void rows_end(row_set *r);

#endif
