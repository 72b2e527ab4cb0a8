/* Prices that studies share. */
#include "study/prices.h"

ts_prices *ts_prices_new(ts_arena *arena) {
    ts_prices *prices = TS_NEW(arena, ts_prices);
    *prices = (ts_prices){ts_dma_prices_new(arena), ts_timed_runs_new(arena)};
    return prices;
}

void ts_prices_set_interrupt(ts_prices *prices, ts_interrupt *interrupt) {
    ts_dma_prices_set_interrupt(prices->transfers, interrupt);
    ts_timed_runs_set_interrupt(prices->runs, interrupt);
}
