/* When the memory stands still, and what it holds. */
#include "sampler.h"

/* How long a refresh of all banks keeps a channel from moving data: the rows are closed (tRTP, tRP), the
 * refresh itself, and the first row is opened and read again (tRCD, tCL). In ticks. Those of single banks are
 * part of the rhythm. */
static int64_t stall_ticks(const ts_hbm_config *hbm) {
    const ts_hbm_timing *t = &hbm->timing;
    if (hbm->refresh != TS_HBM_REFRESH_ALL_BANK) return 0;
    return (int64_t)(t->t_rtp + t->t_rp + t->t_rfc + t->t_rcd_rd + t->t_cl) * hbm->ticks_per_ck;
}

/* Those of all channels' queues, and those that are looked ahead to. */
static int64_t waiting_lines(const ts_hbm_config *hbm, const ts_dma_config *dma) {
    int64_t entries = (int64_t)hbm->stacks * hbm->channels * (hbm->read_entries + hbm->write_entries);
    return (dma->lookahead_bytes + entries * hbm->burst_bytes) / dma->access_bytes;
}

sampler_memory sampler_memory_of(const ts_hbm_config *hbm, const ts_dma_config *dma) {
    return (sampler_memory){(int64_t)hbm->timing.t_refi * hbm->ticks_per_ck, stall_ticks(hbm),
                            waiting_lines(hbm, dma)};
}

int64_t sampler_quiet_ticks(const sampler_memory *m, int64_t tick) {
    int64_t after = tick % m->interval - m->stall;
    return tick / m->interval * (m->interval - m->stall) + (after > 0 ? after : 0);
}

int64_t sampler_add_quiet(const sampler_memory *m, int64_t tick, int64_t quiet) {
    if (quiet == 0) return tick;
    int64_t each = m->interval - m->stall, all = sampler_quiet_ticks(m, tick) + quiet;
    return all / each * m->interval + m->stall + all % each;
}

int64_t sampler_between_refreshes(const sampler_memory *m, int64_t tick) {
    int64_t phase = tick % m->interval, first = m->stall * 3 / 2;
    if (phase < first) return tick - phase + first;
    return phase <= m->interval * 11 / 16 ? tick : tick - phase + m->interval + first;
}
