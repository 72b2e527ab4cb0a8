/* Leaving blocks of a walk out: their time is taken from places where it was measured. Private to the layer.
 */
#ifndef TILESIM_DMA_SAMPLER_H
#define TILESIM_DMA_SAMPLER_H

#include "dma/walk.h"
#include "machine/dma_config.h"
#include "dram/hbm.h"

/* The time of elements is measured in windows: one at the start of a box, for its size, then others spread
 * over the rest, until the standard error of their rates is one part in SAMPLER_ERROR of the mean; what no
 * window held is left out and charged at their mean.
 *
 * A window is as many blocks as are accepted from one refresh to the next, if the memory holds fewer accesses
 * that wait. Acceptances come in bursts (write drains), so what was served counts: the rate is the time of
 * the window, times the accesses accepted in it over those served. It is taken in time outside refreshes, and
 * refreshes are then charged in proportion.
 *
 * The queues of the memory settle slowly: reads and writes that share it drift against each other until they
 * have found their pace, and stay at it when blocks are left out. So where the engine does not set it, the
 * first window begins when SAMPLER_SETTLED times what the memory holds has been accessed by the transfer.
 *
 * Where channels do not all get the same, or where SAMPLER_MOST windows do not agree, windows are whole turns
 * of the inner loops. Where the mean is then known to one part in SAMPLER_ROUGHLY, or there would be
 * SAMPLER_MANY windows, it is taken; else the walk is rejected: this box has to be walked from its start. A rest
 * of less than SAMPLER_WORTH windows is walked. */
enum {
    SAMPLER_ERROR = 400,
    SAMPLER_ROUGHLY = 200,
    SAMPLER_LEAST = 6, /* windows, unless the engine sets the pace */
    SAMPLER_MOST = 16,
    SAMPLER_BLOCKS = 8, /* of a window, at least; of turns: */
    SAMPLER_TURN = 64,
    SAMPLER_WORTH = 16,
    SAMPLER_MANY = 100,
    SAMPLER_SETTLED = 128,
    SAMPLER_ALIGNED = 64 /* of the block where a window begins, if it has so many */
};

/* Between two refreshes lies an interval, and the memory stands still for `stall` after each; 0: never. */
typedef struct {
    int64_t interval, stall; /* ticks */
    int64_t lines;           /* that may wait at it, or for it */
    uint64_t walked;         /* bits: boxes of which nothing is left out; the last, of all from 63 on */
} sampler_memory;

/* What has happened so far. */
typedef struct {
    int64_t tick, parts;
    int64_t behind; /* ticks: how far the memory is behind the engine, and has not been taken to catch up */
    ts_walk_totals totals;
    ts_hbm_stats hbm;
    ts_hbm_progress progress;
} sampler_sample;

typedef enum { SAMPLER_WARMS, SAMPLER_MEASURES, SAMPLER_RESTS } sampler_phase;

typedef struct {
    sampler_memory memory; /* interval 0: nothing is ever left out */
    double engine_ticks_per_part;
    int64_t box; /* that is being watched; -1: none */
    sampler_phase phase;
    int64_t from, from_line; /* the window opens at this tick, when so many lines have been accessed */
    int64_t length;          /* of a window, about, in blocks; 0: not yet known */
    bool is_settled;         /* enough for the first window */
    int64_t turn;            /* no window is shorter, in blocks */
    sampler_sample open;
    int64_t open_block, open_line;
    int windows, most;    /* measured, without the first; how many there may be */
    bool is_engine_bound; /* the engine set the pace in all of them */
    double sum, squares;  /* of their rates, in ticks an element */
    int64_t base;         /* the block after the first window */
    int64_t stretch,
        walked; /* the block where the walk has gone on, and the elements walked before, from base on */
    sampler_sample measured; /* by the windows, in all */
    int64_t measured_elements;
    bool owes;         /* blocks are left out that are not charged yet */
    uint64_t rejected; /* bits: boxes that are to be walked from the start */
} sampler;

typedef struct {
    int64_t to;            /* the block to go on with */
    sampler_sample gained; /* what the blocks left out amount to, once it is known */
    int64_t caught_up;     /* ticks that the memory took less for them than the engine, which was ahead */
} sampler_skip;

sampler_memory sampler_memory_of(const ts_hbm_config *hbm, const ts_dma_config *dma, uint64_t walked);
/* The boxes that are rejected, with the present one while it owes. */
uint64_t sampler_rejected(const sampler *sampler);

/* To be told of blocks walked until `tick`, now and then. True when a window opens or closes here: then
 * sampler_look takes the sample, and is true itself when the walk is to go on elsewhere. */
bool sampler_note(sampler *sampler, const ts_walk *walk, int64_t tick);
bool sampler_look(sampler *sampler, const ts_walk *walk, const sampler_sample *now, bool is_even,
                  sampler_skip *skip);

/* Adds b * times / of to a, but for the largest latency and the last cycle. */
void sampler_add_stats(ts_hbm_stats *sum, const ts_hbm_stats *stats, int64_t times, int64_t of);

#endif
