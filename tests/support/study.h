/* A study answered by a crew in this process, with rows that the test makes. */
#ifndef TESTS_SUPPORT_STUDY_H
#define TESTS_SUPPORT_STUDY_H

#include "sweep/sweep.h"

enum { STUDY_AHEAD = 3, STUDY_MEMBERS = 2, STUDY_QUEUE = 16, STUDY_ORDER = 200 };
extern const ts_error study_why; /* of rows that are not ok: "why" */

/* Answers what was asked last first, as members may. */
typedef struct {
    ts_arena *arena;
    const ts_sweep_study *study;
    double (*time)(const ts_sweep_point *point); /* NAN: an error; negative: a crash */
    int64_t points[STUDY_QUEUE];
    int members[STUDY_QUEUE];
    int count, most, asked;
    int64_t order[STUDY_ORDER]; /* of the first that were asked */
    int64_t alone;              /* nothing may go behind this point; -1: none */
    int queue;                  /* that the last point went behind */
    bool counts;                /* each has cycles as well: ten times the time */
    enum { HONEST, HANDS_NOTHING, ANSWERS_NOTHING, ANSWERS_ANOTHER, ANSWERS_NONE, ANSWERS_HALF } fault;
} fake_crew;

typedef struct {
    ts_arena *arena;
    ts_error err;
    const ts_sweep_study *study;
    ts_sweep_store *store;
    fake_crew crew_self;
    ts_sweep_crew crew;
    ts_sweep_request request;
    ts_sweep_result result;
} study_fixture;

/* `database` as of ts_sweep_store_open. */
void study_begin(study_fixture *f, const char *text, const char *database,
                 double (*time)(const ts_sweep_point *));
void study_go(study_fixture *f);
void study_end(study_fixture *f);
void study_expect(const study_fixture *f, int64_t points, int64_t there, int64_t answered);

/* A row of this key and these parameters, as JSON; `time` 0: without one. */
void study_put(ts_sweep_store *store, const char *key, const char *parameters, ts_sweep_status status,
               double time);
void study_put_of(ts_sweep_store *store, const char *version, const char *key, const char *parameters,
                  ts_sweep_status status, double time);

/* NAN: none. */
double study_number(const ts_sweep_point *point, const char *name);

#endif
