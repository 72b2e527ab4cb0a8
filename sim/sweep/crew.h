/* Those who answer points: processes of this host, or of others. */
#ifndef TILESIM_SWEEP_CREW_H
#define TILESIM_SWEEP_CREW_H

#include "sweep/study.h"

/* The answer of a member to the oldest of its points: a packed row (ts_sweep_row_unpack). */
typedef struct {
    int member;
    int64_t index;
    const char *bytes; /* until the next wait */
    size_t length;
} ts_sweep_reply;

typedef struct {
    void *self;
    int size;  /* members */
    int ahead; /* points that a member takes before it has answered the first */
    /* A point of the study to member 0 to size - 1, which has less than `ahead`. */
    bool (*hand)(ts_error *err, void *self, int member, int64_t index);
    /* Until one has answered, crashed or taken too long; `reply` says so. Only while there is a point out. */
    bool (*wait)(ts_error *err, void *self, ts_sweep_reply *reply);
    void (*dismiss)(void *self); /* what is out is lost; once, and also after an error */
} ts_sweep_crew;

enum { TS_SWEEP_WORKERS = 256 };
typedef struct {
    const ts_sweep_study *study;
    int workers;            /* 1 to TS_SWEEP_WORKERS */
    double timeout_seconds; /* of a point; 0: none */
    /* Before each wait for an answer, and when a signal has come: not 0 ends the wait with an error. NULL:
     * none. */
    int (*stopped)(void *context);
    void *context;
} ts_sweep_crew_request;

/* Processes of this host, made when they are needed: a worker that crashes or takes too long costs its point
 * alone. The request and its study stay as they are until `dismiss`. False: workers is out of its range
 * (TS_ERROR_USAGE). What is done after this, and before `dismiss`, must not need that there is one process:
 * no exit handlers run. */
bool ts_sweep_processes(ts_error *err, ts_arena *arena, const ts_sweep_crew_request *request,
                        ts_sweep_crew *crew);

/* ---- Processes that MPI started, on one host or many ---- */

/* Rank 0 hands points out and writes, the others answer. MPI itself is in a file of its own (ranks_mpi.c), which
 * is loaded where mpirun started this process: a build without MPI has none, and all other uses do not load
 * it. */
typedef struct {
    int rank, size;
    bool (*send)(int to, const void *bytes, size_t length);
    /* From anyone; the bytes stay until the next. */
    bool (*receive)(int *from, const void **bytes, size_t *length);
    void (*finish)(bool good); /* not good: all others end too */
} ts_sweep_ranks;

/* What ranks_mpi.c exports, by this name: begins, and fills `ranks`. */
#define TS_SWEEP_RANKS_BEGIN "tilesim_ranks_begin"
typedef bool (*ts_sweep_ranks_begin)(ts_sweep_ranks *ranks);

/* How many processes did mpirun, or srun, start with this one, by the environment? 1: this is alone. */
int ts_sweep_ranks_started(char *(*variable)(const char *name));
/* Loads what speaks MPI, which is beside the program or in ../lib. */
bool ts_sweep_ranks_load(ts_error *err, ts_arena *arena, int started, ts_sweep_ranks *ranks);

/* Of rank 0: its members are the other ranks. */
void ts_sweep_ranks_crew(ts_arena *arena, const ts_sweep_ranks *ranks, ts_sweep_crew *crew);
/* Of the others: answers what rank 0 hands out until it dismisses them; each has a worker process of its
 * own. */
bool ts_sweep_ranks_serve(ts_error *err, ts_arena *arena, const ts_sweep_ranks *ranks,
                          const ts_sweep_crew_request *request);

#endif
