/* A study from its beginning to its table, with processes of this host. */
#ifndef TILESIM_SWEEP_ANSWERS_H
#define TILESIM_SWEEP_ANSWERS_H

#include "sweep/sweep.h"
#include "sweep/table.h"

typedef struct {
    ts_sweep_crew_request crew; /* with the study */
    const char *database;       /* NULL: none is kept */
    bool retry;
    void (*progress)(void *self, int64_t done, int64_t of, int64_t answered); /* as of ts_sweep_request */
    void *self;
} ts_sweep_answers_request;

typedef struct {
    ts_sweep_table table;
    ts_sweep_result result;
} ts_sweep_answers;

bool ts_sweep_answer_all(ts_error *err, ts_arena *arena, const ts_sweep_answers_request *request,
                         ts_sweep_answers *answers);

#endif
