/* Runs of the programs of the core that do what the DMA engine cannot. Private to the folder. */
#ifndef TILESIM_STUDY_CORE_RUN_H
#define TILESIM_STUDY_CORE_RUN_H

#include "study/matrices.h"
#include "study/timed.h"

enum { CORE_RUN_MOST_ROWS = 512 }; /* of a block of a program that takes rows */

/* What a run says, and what grows with its size. */
typedef struct {
    int64_t cycles, read_bytes, written_bytes, waste_bytes, padding_bytes, transfers;
    int64_t stalls[TS_STALL_COUNT]; /* of all cores */
    ts_hbm_stats hbm;
    int cores;    /* does not grow */
    bool is_over; /* `cycles` is over the limit, and nothing else is known */
} core_measures;

/* Runs the program on its matrices: whole where they are few, or where it is exact; else some of its blocks
 * or rows, and the rest is taken to go on as they do. What is surely over the limit (cycles; 0: none) is not
 * run to its end. */
bool core_run(ts_error *err, ts_timed_program *program, const ts_matrices *matrices, int64_t limit,
              core_measures *out);

/* Adds what the plan's shapes have of padding beyond that of the matrices. */
void core_run_add_padding(const ts_plan *plan, const ts_matrices *matrices, core_measures *measures);

#endif
