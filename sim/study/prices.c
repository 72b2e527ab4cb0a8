/* Prices that studies share. */
#include "study/prices.h"

ts_prices *ts_prices_new(ts_arena *arena) {
    ts_prices *prices = TS_NEW(arena, ts_prices);
    *prices = (ts_prices){ts_dma_prices_new(arena), ts_timed_runs_new(arena), NULL};
    return prices;
}

void ts_prices_set_interrupt(ts_prices *prices, ts_interrupt *interrupt) {
    prices->interrupt = interrupt;
    ts_timed_runs_set_interrupt(prices->runs, interrupt);
}

ts_dma_machine ts_prices_machine(const ts_prices *prices, const ts_machine *machine) {
    ts_dma_machine priced = ts_dma_machine_of(machine, prices->transfers);
    priced.interrupt = prices->interrupt;
    return priced;
}
