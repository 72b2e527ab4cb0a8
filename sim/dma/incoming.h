/* Private to the layer: the writes of what comes over links (ts_dma_expect), in the order in which they are
 * offered. */
#ifndef TILESIM_DMA_INCOMING_H
#define TILESIM_DMA_INCOMING_H

#include "dma/dma.h"

typedef struct {
    const ts_dma_config *config;
    ts_hbm *hbm;
    int64_t core_khz, tick_khz;
} incoming_memory;

/* All that comes to one engine's memory. */
typedef struct incoming_set incoming_set;
incoming_set *incoming_set_new(ts_arena *arena, const incoming_memory *memory);
void incoming_set_free(incoming_set *set); /* NULL is fine */

ts_dma_incoming *incoming_expect(incoming_set *set, const ts_plan *plan, void *owner);
void incoming_feed(incoming_set *set, ts_dma_incoming *incoming, const ts_dma_chunk *chunk);
/* The cycle at which writes are to be offered next, and that at which something has come that was not taken
 * off; INT64_MAX: none. */
int64_t incoming_next(const incoming_set *set);
int64_t incoming_done(const incoming_set *set);
void incoming_offer(incoming_set *set); /* those of incoming_next */
void incoming_complete(incoming_set *set, ts_dma_result *result);

#endif
