/* Does a part of the channels stand for all? */
#include "hbm_subset.h"

/* Have channels, from the first request on, waited for others for so long that even the busiest of all would have? Then
 * it does not set the pace. */
static bool is_idle(const ts_hbm *hbm) {
    enum { BUSY = 74 }; /* per cent of the time, at most */
    ts_hbm_stats stats;
    int64_t all = 0, before = hbm->begun * ts_hbm_bus_count(&hbm->config);
    ts_hbm_read_stats(hbm, &stats);
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) all += stats.limiter_cycles[i];
    int64_t busy = all - stats.limiter_cycles[TS_HBM_LIMITER_REQUESTS];
    return hbm_load_ratio(&hbm->load) * (double)busy * 100 <= (double)(all - before) * BUSY;
}

bool ts_hbm_subset_is_fair_so_far(ts_hbm *hbm) {
    hbm_load *load = &hbm->load;
    if (hbm->share == 1 || hbm_load_is_fair_so_far(load) || hbm_load_has_grace(load)) return true;
    load->was_stopped = !is_idle(hbm);
    return !load->was_stopped;
}

int ts_hbm_subset_fair_share(const ts_hbm *hbm) {
    int share = hbm->share == 1 ? 1 : hbm_load_fair_share(&hbm->load);
    return share < hbm->share && !hbm->load.was_stopped && is_idle(hbm) ? hbm->share : share;
}
