/* Prices that are not known yet. Private to the layer. */
#ifndef TILESIM_DMA_PRICES_H
#define TILESIM_DMA_PRICES_H

#include "dma/price.h"

/* As ts_dma_price_within, by simulating. */
bool prices_simulate(ts_error *err, ts_arena *scratch, const ts_dma_price_request *request, int64_t limit,
                     ts_dma_cost *cost);

#endif
