/* Prices that studies share. */
#include "study/prices.h"

ts_prices *ts_prices_new(ts_arena *arena) {
    ts_prices *prices = TS_NEW(arena, ts_prices);
    *prices = (ts_prices){arena, ts_dma_prices_new(arena), ts_timed_runs_new(arena)};
    return prices;
}

ts_prices ts_prices_of_thread(ts_arena *arena, const ts_prices *prices) {
    return (ts_prices){arena, prices->transfers, prices->runs};
}
