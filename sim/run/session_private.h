/* Private to sessions: bytes that are watched, and where a session stands, on one device or on all of a mesh. */
#ifndef TILESIM_RUN_SESSION_PRIVATE_H
#define TILESIM_RUN_SESSION_PRIVATE_H

#include "layout/plan.h"
#include "memory/space.h"
#include "pod/pod.h"
#include "run/session.h"

#include "run_parts.h"

/* ---- Bytes that are watched ---- */

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

/* ---- A session ---- */

/* How far a core is. */
typedef struct {
    int64_t issued, last_cycle; /* of what was told last */
    int stall;                  /* of the bundle that issues next; -1: none */
    int64_t stall_cycles;
} pace;

typedef struct {
    ts_session *session;
    int64_t number;
    ts_chip_observer observer; /* ours; it tells the request's */
    int core;                  /* that events come from */
    pace paces[TS_CHIP_CORES];
    int64_t told;  /* bundles that had issued when it was last told to be at a breakpoint; -1: never */
    bool at_break; /* that was when the session stopped */
} session_device;

struct ts_session {
    const ts_run_request *request;
    run_parts parts;                    /* chip: of the device that is shown */
    const ts_program_location *entries; /* of each frame of the program: its first instruction */
    ts_pod *pod;                        /* of a mesh; NULL: one device */
    session_device *devices;            /* of the mesh, or one */
    session_device *at;                 /* that is looked at */
    int followed;                       /* the session stands where this core does */
    int64_t cycle;                      /* before which all devices of a mesh are */
    int64_t events;
    bool ended;
    watch watches[TS_WATCHES];
    int watch_count; /* those with an arena */
    bool was_hit;
    int64_t hit_device;
    ts_watch_hit hit;
};

/* session_breakpoints.c: of the device and the core that are looked at. */
const ts_program_location *session_find_entries(ts_arena *arena, const ts_program *program);
bool session_at_breakpoint(const ts_session *s, const ts_breakpoint *breakpoints, int count);

/* session_mesh.c: as ts_session_open and ts_session_go. */
bool session_open_mesh(ts_error *err, ts_arena *arena, ts_session *s);
bool session_go_on_mesh(ts_error *err, ts_session *s, const ts_session_goal *goal, ts_stop *stop);

#endif
