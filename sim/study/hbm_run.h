/* Streams of requests run through a machine's HBM: patterns that reference figures exist for, and traces. */
#ifndef TILESIM_STUDY_HBM_RUN_H
#define TILESIM_STUDY_HBM_RUN_H

#include "base/file.h"
#include "machine/machine.h"
#include "dram/hbm.h"
#include "study/hbm_commands.h"

enum { TS_HBM_REQUEST_BYTES = 64, TS_HBM_NEST_LOOPS = 4, TS_HBM_NEST_LEGS = 2 };

/* A pattern: `legs` that run through the same loops (outermost first), each with its own strides. They take
 * turns: the inner loops, those from `leg_loop` on, run through for one leg, then for the next. */
typedef struct {
    const char *name, *meaning;
    int64_t extents[TS_HBM_NEST_LOOPS];
    int leg_loop, leg_count;
    struct {
        bool is_write;
        int64_t base, strides[TS_HBM_NEST_LOOPS]; /* bytes */
    } legs[TS_HBM_NEST_LEGS];
    int64_t random_lines; /* not 0: instead of the strides, one of so many lines, by splitmix64 */
    bool row_stride;      /* the first stride is instead that from a row of a bank to the next under map A */
} ts_hbm_pattern;

extern const ts_hbm_pattern ts_hbm_patterns[]; /* ends with name NULL */

/* Where requests come from. */
typedef struct ts_hbm_requests ts_hbm_requests;
/* `what` is the name of a pattern, or a trace file (it has '/' or '.', or is "-": standard input). */
ts_hbm_requests *ts_hbm_requests_open(ts_error *err, ts_arena *arena, const char *what,
                                      const ts_hbm_config *config);
/* The next ones, at most `most`, aligned to TS_HBM_REQUEST_BYTES; *count is 0 at the end. */
bool ts_hbm_requests_read(ts_error *err, ts_hbm_requests *requests, ts_hbm_request *out, int most,
                          int *count);
void ts_hbm_requests_close(ts_hbm_requests *requests);

typedef struct {
    int64_t requests, bytes;
    int64_t cycles; /* ticks of the HBM's clock, from the first offer to the last data or the last WR */
    ts_hbm_stats stats;
} ts_hbm_run;

typedef struct {
    const ts_hbm_config *config;
    ts_hbm_requests *requests;
    int64_t lookahead_bytes;   /* how far they run ahead of the oldest not yet accepted */
    bool exact;                /* ts_hbm_simulate_all */
    ts_hbm_commands *commands; /* NULL, or what keeps them; then exact */
} ts_hbm_run_request;

/* Offers all of them to the machine's HBM. */
bool ts_hbm_run_requests(ts_error *err, ts_arena *arena, const ts_hbm_run_request *request, ts_hbm_run *run);

#endif
