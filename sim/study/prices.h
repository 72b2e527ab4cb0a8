/* What studies have priced, so that nothing is simulated or run twice. */
#ifndef TILESIM_STUDY_PRICES_H
#define TILESIM_STUDY_PRICES_H

#include "dma/price.h"
#include "study/timed.h"

/* Kept by the figures of the machine and of what was asked. */
typedef struct {
    ts_dma_prices *transfers;
    ts_timed_runs *runs; /* of programs of the core; with the texts that are part of a price */
    ts_interrupt *interrupt;
} ts_prices;
ts_prices *ts_prices_new(ts_arena *arena);
/* Asked while they are made, by one thread: heard, a price is an error. */
void ts_prices_set_interrupt(ts_prices *prices, ts_interrupt *interrupt);
/* To price transfers on, of which they are kept; what makes their runs asks the same interrupt. */
ts_dma_machine ts_prices_machine(const ts_prices *prices, const ts_machine *machine);

#endif
