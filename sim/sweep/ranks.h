/* Processes that MPI started, on one host or many: rank 0 hands points out and writes, the others answer.
 *
 * MPI itself is in a file of its own (ranks_mpi.c), which is loaded where mpirun started this process: a
 * build without MPI has none, and all other uses do not load it. */
#ifndef TILESIM_SWEEP_RANKS_H
#define TILESIM_SWEEP_RANKS_H

#include "sweep/crew.h"

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
