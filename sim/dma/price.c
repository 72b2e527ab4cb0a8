/* The price of one transfer: the engine itself, run once from rest. */
#include "tilesim/dma/price.h"

#include <assert.h>

#include "tilesim/base/clock.h"
#include "tilesim/base/number.h"

static int64_t tick_khz(const ts_hbm_config *hbm) { return hbm->clock_khz * hbm->ticks_per_ck; }

/* Core cycles that all channels together need for so many bytes when every data slot is used. */
static int64_t peak_cycles(const ts_dma_machine *m, int64_t bytes) {
    int64_t units = (int64_t)m->hbm->stacks * m->hbm->channels * m->hbm->pseudo_channels * m->hbm->burst_bytes;
    __int128 cycles = (__int128)bytes * m->hbm->timing.n_bl * m->core_khz;
    __int128 per = (__int128)units * m->hbm->clock_khz;
    return (int64_t)((cycles + per - 1) / per);
}

static const char *name_limiter(const ts_dma_cost *cost) {
    int64_t data = cost->cycles - cost->fixed_cycles;
    if (cost->fixed_cycles >= data) return "fixed cost of a transfer";
    if (cost->engine_cycles + data / 50 >= data) return "rate of the DMA engine";
    if (cost->memory_cycles + data / 5 >= data) return "HBM bandwidth";
    return "HBM row changes, bank conflicts and turnarounds";
}

static int64_t fixed_cycles(const ts_dma_machine *m, const ts_dma_result *transfer) {
    int64_t further = transfer->descriptors > 1 ? transfer->descriptors - 1 : 0;
    int64_t ps = m->dma->issue_ps + m->dma->completion_ps + further * m->dma->descriptor_ps;
    return ts_clock_cycles(ps, m->core_khz);
}

bool ts_dma_price(ts_error *err, ts_arena *scratch, const ts_dma_machine *machine, const ts_plan *plan, bool src_in_hbm,
                  bool dst_in_hbm, ts_dma_cost *cost) {
    *cost = (ts_dma_cost){0};
    ts_hbm *hbm = ts_hbm_new(err, scratch, machine->hbm);
    if (!hbm) return false;
    ts_dma *dma = ts_dma_new(scratch, machine->dma, hbm, machine->core_khz, tick_khz(machine->hbm));
    ts_dma_transfer transfer = {.plan = plan, .src.in_hbm = src_in_hbm, .dst.in_hbm = dst_in_hbm};
    if (!ts_dma_start(err, dma, &transfer, 0)) return false;
    int64_t cycle = ts_dma_next(dma, INT64_MAX);
    assert(cycle != INT64_MAX);
    bool complete = ts_dma_complete(err, dma, &cost->transfer);
    assert(complete);
    ts_hbm_read_stats(hbm, &cost->hbm);
    cost->cycles = cycle;
    cost->fixed_cycles = fixed_cycles(machine, &cost->transfer);
    cost->engine_cycles = cost->transfer.engine_cycles;
    cost->memory_cycles = peak_cycles(machine, (src_in_hbm ? cost->transfer.src_bytes : 0) +
                                                   (dst_in_hbm ? cost->transfer.dst_bytes : 0));
    cost->limiter = name_limiter(cost);
    return true;
}
