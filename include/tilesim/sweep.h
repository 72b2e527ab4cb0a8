/* Studies: a question at every point of a grid, answered by processes, kept in a database. docs/sweep.md has
 * the form. */
#ifndef TILESIM_SWEEP_H
#define TILESIM_SWEEP_H

#include <stddef.h>

#include "tilesim/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_bytes;    /* sizeof(ts_study_request); what is zero is the default */
    const char *file;       /* a study: either the path of its YAML .. */
    const char *text;       /* .. or the YAML itself, whose files are in the current folder */
    const char *database;   /* what is in it is not asked again; NULL: nothing is kept */
    int workers;            /* processes; 0: one */
    double timeout_seconds; /* of a point; 0: none */
    int retry;              /* points of the database that crashed or took too long are tried again */
    /* Asked before each answer, and some times a second while none comes: not 0 ends the study with an error,
     * and what is in the database stays. NULL: none. */
    int (*stopped)(void *context);
    void *context;
} ts_study_request;

typedef struct ts_study ts_study;

/* Workers are made by fork(). NULL on an error. */
TS_API const ts_study *ts_study_answer(ts_error *err, ts_arena *arena, const ts_study_request *request);
TS_API int64_t ts_study_points(const ts_study *study);
TS_API int64_t ts_study_answered(const ts_study *study); /* of them, now: the others were there */
/* What `tilesim sweep` writes with --csv, and what it prints with --json. */
TS_API const char *ts_study_csv(ts_arena *arena, const ts_study *study);
TS_API const char *ts_study_json(ts_arena *arena, const ts_study *study);

#ifdef __cplusplus
}
#endif

#endif
