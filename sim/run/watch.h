/* Private to sessions: bytes that are watched. */
#ifndef TILESIM_RUN_WATCH_H
#define TILESIM_RUN_WATCH_H

#include "layout/plan.h"
#include "memory/space.h"

enum { WATCH_BYTES = 1 << 28 };

typedef struct {
    ts_arena *arena; /* NULL: there is no such watch */
    const ts_space *space;
    ts_space_kind kind;
    int64_t first, end; /* bytes */
    uint64_t *bytes;    /* a bit each, from `first` on */
} watch;

/* Nothing is watched yet. Refused: over WATCH_BYTES from first to end. */
bool watch_new(ts_error *err, watch *w, const ts_space *space, int64_t first, int64_t end);
void watch_free(watch *w);
void watch_add(watch *w, int64_t first, int64_t end);
bool watch_meets(const watch *w, const ts_space *space, int64_t first, int64_t end);

/* Told of the bytes of each run of neighbours on one side of a plan; false: enough. */
typedef bool watch_run(void *self, int64_t first, int64_t end);
bool watch_visit_runs(const ts_plan *plan, ts_side side, watch_run *run, void *self);

#endif
