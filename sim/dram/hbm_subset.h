/* A part of the channels for all of them. Private. */
#ifndef TILESIM_DRAM_HBM_SUBSET_H
#define TILESIM_DRAM_HBM_SUBSET_H

#include "hbm_channel.h"

enum { HBM_PART_PAIRS = 64 }; /* largest access, in pairs, that counts as one */

void hbm_subset_init(ts_hbm *hbm, ts_arena *arena);
void hbm_subset_clear(ts_hbm *hbm);
/* Bursts to all channels; lookahead: 0 in order, -1 unlimited; in flight: -1 unlimited. */
void hbm_subset_add_stream(ts_arena *arena, ts_hbm_stream *st, int64_t lookahead, int64_t in_flight);
/* Do the pairs of aligned accesses of so many bytes differ from the first one alike? Then each is counted as
 * one, until the next call. */
bool hbm_subset_take_bytes(ts_hbm *hbm, int32_t bytes);
/* What the simulated channels did, for all of them. */
void hbm_subset_extend(const ts_hbm *hbm, ts_hbm_stats *out);

static inline void hbm_subset_count(ts_hbm *hbm, ts_hbm_stream *st, uint64_t location, bool is_write,
                                    int bursts) {
    hbm->offered[is_write] += bursts;
    hbm_load_add(&hbm->load, st->load, location, bursts);
}

/* An access of the size taken, from its first burst on: which of its pairs are in simulated channels, as bits. */
static inline uint64_t hbm_subset_count_access(ts_hbm *hbm, ts_hbm_stream *st, uint64_t location,
                                               bool is_write) {
    hbm->offered[is_write] += hbm->access_bytes >> hbm->map->offset_bits;
    hbm_load_add_access(&hbm->load, st->load, location);
    return hbm->simulated_pairs[ts_address_channel(location) & (hbm->share - 1)];
}

#endif
