/* A part of the channels for all of them. Private. */
#ifndef TILESIM_DRAM_HBM_SUBSET_H
#define TILESIM_DRAM_HBM_SUBSET_H

#include "hbm_channel.h"

enum { HBM_PART_PAIRS = 64 }; /* of an access that is counted as one, at most */

void hbm_subset_init(ts_hbm *hbm, ts_arena *arena);
void hbm_subset_clear(ts_hbm *hbm);
/* Do the pairs of aligned accesses of so many bytes differ from the first one alike? Then each is counted as
 * one, until the next call. */
bool hbm_subset_take_bytes(ts_hbm *hbm, int32_t bytes);
void hbm_subset_end_round(ts_hbm *hbm);
/* What the simulated channels did, for all of them. */
void hbm_subset_extend(const ts_hbm *hbm, ts_hbm_stats *out);

enum { HBM_CHANNEL_SHIFT = TS_ADDRESS_COLUMN_BITS + TS_ADDRESS_BANK_BITS };
static const uint64_t HBM_CHANNEL_BITS = (((uint64_t)1 << TS_ADDRESS_CHANNEL_BITS) - 1) << HBM_CHANNEL_SHIFT;
static inline int hbm_location_channel(uint64_t location) {
    return (int)((location & HBM_CHANNEL_BITS) >> HBM_CHANNEL_SHIFT);
}

static inline void hbm_subset_count(ts_hbm *hbm, int channel, bool is_write, int bursts) {
    hbm->offered[is_write] += bursts;
    hbm->round += bursts;
    hbm->round_of[channel] += bursts;
    if (hbm->round >= hbm->round_bursts) hbm_subset_end_round(hbm);
}

/* An access of the size taken whose first burst is in a channel: which of its pairs are in simulated ones, as
 * bits. */
static inline uint64_t hbm_subset_count_access(ts_hbm *hbm, int channel, bool is_write) {
    int32_t bursts = hbm->access_bytes >> hbm->map->offset_bits;
    hbm->offered[is_write] += bursts;
    hbm->round += bursts;
    hbm->accesses_of[channel]++;
    if (hbm->round >= hbm->round_bursts) hbm_subset_end_round(hbm);
    return hbm->simulated_pairs[channel & (hbm->share - 1)];
}

#endif
