/* The steady state of a walk: when windows of blocks take the same time again and again. Private to the layer. */
#ifndef SIM_DMA_STEADY_H
#define SIM_DMA_STEADY_H

#include "tilesim/dma/walk.h"
#include "tilesim/memory/hbm.h"

/* Windows of at least STEADY_BLOCKS blocks. The last three sums over STEADY_SUM windows must agree within one part in
 * STEADY_AGREE: several windows, because rows, banks and write drains make single ones differ. Windows double when they do
 * not; with every second doubling the sums may differ by as much again. */
enum { STEADY_BLOCKS = 16, STEADY_SUM = 8, STEADY_WINDOWS = 3 * STEADY_SUM, STEADY_AGREE = 200 };

/* What has happened so far, at the end of a window. */
typedef struct {
    int64_t tick, parts;
    ts_walk_totals totals;
    ts_hbm_stats hbm;
} steady_sample;

typedef struct {
    int64_t next, window; /* of the box being watched: its next block, blocks of a window; window 0: none */
    int64_t boundary;     /* the block at which the current window ends */
    int count, doublings;
    steady_sample samples[STEADY_WINDOWS + 1]; /* the latest last */
} steady_state;

typedef struct {
    int64_t blocks;
    steady_sample gained;
} steady_skip;

/* To be asked before every block: does a window end here? */
bool steady_is_boundary(steady_state *steady, const ts_walk *walk);
/* Takes the sample; true when blocks can be left out, and what they amount to. */
bool steady_look(steady_state *steady, const ts_walk *walk, const steady_sample *now, steady_skip *skip);

/* Adds stats * times / of, but for the largest latency and the last cycle. */
void steady_add_stats(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t times, int64_t of);

#endif
