/* Several transfers at once: the engine and the HBM of dma.h, from rest until all are done. */
#include <assert.h>

#include "dma/price.h"

static int64_t bytes_moved(const ts_dma_transfer *transfers, const ts_dma_result *results, int count) {
    int64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += (transfers[i].src.in_hbm ? results[i].src_bytes : 0) +
                 (transfers[i].dst.in_hbm ? results[i].dst_bytes : 0);
    return bytes;
}

static void complete(ts_dma *dma, ts_dma_result *results) {
    ts_dma_result result;
    ts_dma_next(dma, INT64_MAX);
    bool done = ts_dma_complete(NULL, dma, &result);
    assert(done);
    results[result.tag] = result;
}

/* What the engine does not hold yet starts as others end. */
static bool start_all(ts_error *err, ts_dma *dma, const ts_dma_mix_request *r, ts_dma_result *results) {
    int64_t now = 0;
    for (int i = 0; i < r->count; i++) {
        ts_dma_transfer transfer = r->transfers[i];
        transfer.tag = i;
        transfer.src.space = transfer.dst.space = NULL;
        if (!ts_dma_can_start(dma)) {
            now = ts_dma_next(dma, INT64_MAX);
            complete(dma, results);
        }
        if (!ts_dma_start(err, dma, &transfer, now)) return false;
    }
    return true;
}

/* Simulates them on a part of the channels; *share is what to try next, 0 when it stands for all. */
static bool run(ts_error *err, ts_arena *scratch, const ts_dma_mix_request *r, int *share,
                ts_dma_result *results, ts_dma_mix *mix) {
    const ts_dma_machine *m = r->machine;
    ts_hbm *hbm = ts_dma_new_subset(err, scratch, m, share);
    if (!hbm) return false;
    ts_dma *dma = ts_dma_new(scratch, m->dma, hbm, m->core_khz, ts_hbm_tick_khz(m->hbm));
    ts_dma_set_interrupt(dma, m->interrupt);
    bool good = start_all(err, dma, r, results);
    while (good && ts_dma_under_way(dma) > 0) complete(dma, results);
    ts_dma_free(dma);
    if (!good) return false;
    ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &mix->hbm);
    mix->estimated = *share > 1;
    int fair = ts_hbm_subset_fair_share(hbm);
    *share = fair == *share ? 0 : fair;
    if (ts_interrupt_is_heard(m->interrupt)) return ts_interrupt_error(err, m->interrupt);
    return ts_hbm_check(err, hbm);
}

bool ts_dma_price_concurrent(ts_error *err, ts_arena *scratch, const ts_dma_mix_request *request,
                             ts_dma_result *results, ts_dma_mix *mix) {
    *mix = (ts_dma_mix){0};
    for (int share = request->exact ? 1 : ts_dma_first_sampling_factor(request->machine); share > 0;)
        if (!run(err, scratch, request, &share, results, mix)) return false;
    for (int i = 0; i < request->count; i++) {
        if (results[i].completed_cycle > mix->cycles) mix->cycles = results[i].completed_cycle;
        mix->engine_cycles += results[i].engine_cycles;
    }
    mix->moved_bytes = bytes_moved(request->transfers, results, request->count);
    mix->pin_bytes = ts_hbm_on_pins(&mix->hbm, mix->moved_bytes);
    mix->memory_cycles = ts_dma_peak_cycles(request->machine, mix->pin_bytes);
    return true;
}
