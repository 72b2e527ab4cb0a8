/* Private to the recorder: the data buses of HBM, and the rate of all of them together. */
#ifndef TILESIM_RUN_BUSES_H
#define TILESIM_RUN_BUSES_H

#include "dram/hbm.h"
#include "rows.h"
#include "tracks.h"

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

#endif
