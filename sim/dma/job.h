/* A kernel that a box has been matched with, and the loops around it. */
#ifndef TILESIM_DMA_JOB_H
#define TILESIM_DMA_JOB_H

#include "mover.h"

enum { TS_SCRATCH_BYTES = 8192 };

/* A kernel and the loops around it; the last of these go into the kernel. */
typedef struct {
    const ts_mover *m;
    ts_tile_function *tile_function; /* NULL: a run */
    ts_tile tile;
    int64_t run_elements, run_bytes;
    int outer_count;
    ts_plan_loop outer[TS_PLAN_MAX_LOOPS + 2];
    ts_kernel_loop inner[TS_TILE_LOOPS];
    /* Elements that change: their lines are made in a scratch first, and narrow ones are stored from another.
     */
    bool fills, joins;
    const ts_tile_kernels *kernels;
    ts_narrow narrow;
    int64_t line_bits[TS_TILE_LINES];
} ts_job;

/* From these places on: those of the first element. */
void ts_job_run(ts_job *job, int64_t src_bits, int64_t dst_bits);

static inline int ts_mover_width(const ts_mover_side *side) {
    return side->element_bits < 8 ? 8 : side->element_bits;
}
/* Elements of whole bytes, which a kernel converts. */
static inline bool ts_mover_converts(const ts_mover *m) {
    return m->convert && m->src.element_bits >= 8 && m->dst.element_bits >= 8;
}

#endif
