/* What the engine keeps of its transfers; for engine.c and engine_blocks.c. */
#ifndef TILESIM_DMA_ENGINE_STATE_H
#define TILESIM_DMA_ENGINE_STATE_H

#include "incoming.h"
#include "sampler.h"
#include "base/clock.h"
#include "dma/dma.h"

typedef struct transfer {
    struct transfer *next;
    ts_dma_transfer what;
    ts_dma_result result;
    ts_arena *arena; /* of the traversal */
    ts_traversal *traversal;
    ts_hbm_stream *stream; /* NULL: the HBM is not touched */
    const ts_traversal_access *accesses;
    int access_count, access_at;
    bool started, offered; /* offered: every access has been */
    int64_t ready_cycle;   /* of the block being offered */
    int64_t acted_cycle;   /* the latest in which it did anything */
    int64_t done_cycle;    /* -1 while not known */
    int64_t rate;          /* bytes a cycle through the engine */
    int64_t block_number;  /* its latest block's, of all blocks begun */
    int64_t engine_parts;  /* its blocks kept the engine busy */
    int64_t skipped_ticks; /* of the blocks that were left out; they come on top of what the HBM has seen */
    int64_t skipped_quiet; /* the same, outside refreshes */
    sampler sampler;
    bool has_joined; /* its boxes, once */
} transfer;

enum { REQUESTS = 256 };  /* offered together */
enum { PARTS = 1 << 16 }; /* of a cycle: a block does not end on a whole one */

struct ts_dma {
    ts_arena *arena;
    const ts_dma_config *config;
    ts_hbm *hbm;
    incoming_set *incoming; /* NULL: nothing has come yet */
    int64_t core_khz, tick_khz;
    transfer *first; /* in order of issue */
    transfer *free;
    int under_way;
    int64_t port_busy; /* until which the engine is busy with blocks already begun, in 1/PARTS of a cycle */
    int64_t settled_tick;
    int64_t block_number;            /* blocks begun */
    sampler sampler;                 /* of a new transfer */
    int64_t limit_ticks, over_ticks; /* ts_dma_set_limit; 0: none */
    ts_interrupt *interrupt;
    bool any_skipped;
    ts_hbm_stats skipped;              /* of the blocks that were left out */
    ts_hbm_request requests[REQUESTS]; /* gathered while a transfer is alone */
    int request_count;
};

static inline int64_t to_tick(const ts_dma *dma, int64_t cycle) {
    return ts_clock_convert(cycle, dma->core_khz, dma->tick_khz);
}
static inline int64_t to_cycle(const ts_dma *dma, int64_t tick) {
    return ts_clock_convert(tick, dma->tick_khz, dma->core_khz);
}

static inline bool touches_hbm(const transfer *t) { return t->what.src.in_hbm || t->what.dst.in_hbm; }

void engine_settle(ts_dma *dma, int64_t tick);     /* lets the memory run up to it */
void engine_begin_block(ts_dma *dma, transfer *t); /* the next one, or everything is offered */
/* The only transfer, and nobody can start another before it ends: access by access without looking around. */
void engine_run_alone(ts_dma *dma, transfer *t);

#endif
