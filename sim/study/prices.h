/* What studies have priced, so that nothing is simulated or run twice. */
#ifndef TILESIM_STUDY_PRICES_H
#define TILESIM_STUDY_PRICES_H

#include "dma/price.h"
#include "study/timed.h"

/* Kept by the figures of the machine and of what was asked. */
typedef struct {
    ts_dma_prices *transfers;
    ts_timed_runs *runs; /* of programs of the core; with the texts that are part of a price */
} ts_prices;
ts_prices *ts_prices_new(ts_arena *arena);
/* As ts_dma_prices_set_interrupt. */
void ts_prices_set_interrupt(ts_prices *prices, ts_interrupt *interrupt);

#endif
