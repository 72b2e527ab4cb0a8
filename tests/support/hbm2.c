/* A memory and an engine for tests; the timing is that of Ramulator 2.1's HBM2 preset. */
#include "hbm2.h"

const ts_hbm_config hbm2 = {
    .stacks = 1,
    .channels = 8,
    .pseudo_channels = 2,
    .sids = 1,
    .bank_groups = 4,
    .banks = 4,
    .rows = 32768,
    .row_bytes = 1024,
    .burst_bytes = 32,
    .clock_khz = HBM2_KHZ,
    .ticks_per_ck = 1,
    .act_ticks = 2,
    .row_ticks = 1,
    .column_ticks = 1,
    .timing = {.n_bl = 2,
               .t_cl = 14,
               .t_cwl = 5,
               .t_rcd_rd = 14,
               .t_rcd_wr = 12,
               .t_rp = 14,
               .t_ras = 34,
               .t_rc = 48,
               .t_wr = 16,
               .t_rtp = 5,
               .t_ccd_s = 2,
               .t_ccd_l = 4,
               .t_rrd_s = 4,
               .t_rrd_l = 4,
               .t_faw = 15,
               .t_wtr_s = 6,
               .t_wtr_l = 8,
               .t_rtw = 13,
               .t_rfc = 260,
               .t_rfc_pb = 160,
               .t_refi = 3900},
    .scheduler = TS_HBM_SCHEDULER_ROW_HIT,
    .page = TS_HBM_PAGE_OPEN,
    .page_accesses = 4,
    .read_entries = 64,
    .write_entries = 64,
    .write_high_percent = 80,
    .write_low_percent = 20,
    .bank_entries = 8,
    .row_hit_limit = 4,
    .refresh = TS_HBM_REFRESH_ALL_BANK,
    .address_map = "A",
};

const ts_dma_config plain_dma = {
    .queues = 4,
    .descriptors = 16,
    .loop_dims = 4,
    .issue_ps = 100000,
    .descriptor_ps = 10000,
    .completion_ps = 200000,
    .lookahead_bytes = 65536,
    .access_bytes = 64,
    .write_granule_bits = 32,
    .bytes_per_cycle = {1024, 1024, 1024, 1024, 1024, 64},
};

void put_waits_together(ts_hbm_stats *stats) {
    int64_t *ticks = stats->limiter_cycles;
    static const ts_hbm_limiter waits[] = {TS_HBM_LIMITER_DATA, TS_HBM_LIMITER_LATENCY,
                                           TS_HBM_LIMITER_REFRESH, TS_HBM_LIMITER_IDLE};
    for (int i = 0; i < 4; i++) {
        ticks[TS_HBM_LIMITER_REQUESTS] += ticks[waits[i]];
        ticks[waits[i]] = 0;
    }
}
