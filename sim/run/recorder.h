/* Private to a run: what chips tell becomes the events of a timeline. */
#ifndef TILESIM_RUN_RECORDER_H
#define TILESIM_RUN_RECORDER_H

#include "dram/hbm.h"
#include "pod/pod.h"
#include "run/run.h"

/* ---- The tracks of a machine that runs a program (tracks.c) ---- */

/* Of a core; units as ts_core_use_of counts them, semaphores behind them. */
enum { TRACK_REGIONS, TRACK_BUNDLES, TRACK_STALLS, TRACK_UNITS };

typedef struct {
    int cores, units, of_core; /* of_core: tracks of each core, which come first */
    int queues, queue_first, outstanding;
    int buses, bus_first, bandwidth;
    int links, link_first, arrivals; /* of a device on a mesh; else 0 */
} track_map;

/* Fills the table of the timeline: of a device of its mesh, or of one alone. */
void tracks_make(ts_arena *arena, ts_timeline *timeline, int64_t device, track_map *out);

/* ---- What is drawn of each track, and what is summed up (rows.c) ---- */

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

/* ---- The data buses of HBM, and the rate of all of them together (buses.c) ---- */

enum { BUSES_BIN = 256, BUSES_BINS = 4096 }; /* cycles; bins that are open at once, as channels run ahead */

/* Bursts of a bus that follow each other, with less than a cycle between them. */
typedef struct {
    int64_t begin, end; /* cycles; both 0: there are none */
    int64_t bursts[2];  /* by direction */
} bus_interval;

/* Bytes by direction. */
typedef struct {
    int64_t bytes[2];
} bus_bin;

typedef struct {
    row_set *rows;
    const track_map *tracks;
    int64_t core_khz, tick_khz;
    int burst_ticks, burst_bytes;
    bus_interval *open; /* by bus */
    bus_bin *bins;      /* ring */
    int64_t first;      /* the oldest of them */
    int64_t held;       /* bytes in all of them */
    int64_t since;      /* the first cycle that is not drawn yet; -1: none */
    bus_bin rest;       /* what is in them */
    bool is_zero;       /* the counter shows 0 */
} buses;

void buses_init(buses *b, ts_arena *arena, row_set *rows, const track_map *tracks);
void buses_burst(buses *b, const ts_hbm_burst *burst);
void buses_end(buses *b);

/* ---- A chip (recorder.c) ---- */

typedef struct recorder recorder;

recorder *recorder_new(ts_arena *arena, ts_timeline *timeline);
const ts_chip_observer *recorder_observer(const recorder *r);
/* Before the chip runs: what it will run, and its device of the timeline's mesh, if it has one. */
void recorder_begin(recorder *r, const ts_machine *machine, const ts_program *program, int64_t device);
void recorder_end(recorder *r, const ts_chip *chip); /* also of a run that failed */

/* Of a device: what goes out over one of its links; what comes. True: its arrival is drawn, in cycle *at. */
void recorder_carried(recorder *r, const ts_pod_chunk *chunk);
bool recorder_arrived(recorder *r, const ts_chip_message *message, int64_t cycle, int64_t *at);
int64_t recorder_cycle(const recorder *r, int64_t ps);
bool recorder_draws(recorder *r, int64_t cycle);
const track_map *recorder_tracks(const recorder *r);

/* ---- A mesh: one timeline of all its devices, a process each (mesh_recorder.c) ---- */

typedef struct mesh_recorder mesh_recorder;

/* Of the timeline of the request. It is not to be told by two threads at once. */
mesh_recorder *mesh_recorder_new(ts_arena *arena, const ts_run_request *request, const ts_program *program);
/* The observers of the devices, and of the links between them. */
const ts_chip_observer *const *mesh_recorder_observers(const mesh_recorder *m);
const ts_pod_observer *mesh_recorder_observer(const mesh_recorder *m);
void mesh_recorder_end(mesh_recorder *m, ts_pod *pod); /* also of a run that failed */

#endif
