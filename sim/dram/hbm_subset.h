/* A part of the channels for all of them. Private. */
#ifndef TILESIM_DRAM_HBM_SUBSET_H
#define TILESIM_DRAM_HBM_SUBSET_H

#include "hbm_channel.h"

void hbm_subset_init(ts_hbm *hbm, ts_arena *arena);
void hbm_subset_clear(ts_hbm *hbm);
/* Bursts to all channels; lookahead: 0 in order, -1 unlimited; in flight: -1 unlimited. */
void hbm_subset_add_stream(ts_arena *arena, ts_hbm_stream *st, int64_t lookahead, int64_t in_flight);
/* Do the pairs of aligned requests of so many bytes differ from the first one's alike? Then these are added as
 * accesses, until the next call, and where not all channels are simulated, in groups as the first ones are. */
bool hbm_subset_take(ts_hbm *hbm, const ts_hbm_request *requests, int count, int32_t bytes);
/* Half as many in a group: what follows is none. */
void hbm_subset_halve_group(ts_hbm *hbm);
/* What the simulated channels did, for all of them. */
void hbm_subset_extend(const ts_hbm *hbm, ts_hbm_stats *out);

static inline void hbm_subset_count(ts_hbm *hbm, ts_hbm_stream *st, uint64_t location, bool is_write,
                                    int bursts) {
    hbm->offered[is_write] += bursts;
    hbm_load_add(&hbm->load, st->load, location, bursts);
}

/* A group, from its first burst on: which of its pairs are in simulated channels, as bits. */
static inline uint64_t hbm_subset_count_group(ts_hbm *hbm, ts_hbm_stream *st, uint64_t location,
                                              bool is_write) {
    hbm->offered[is_write] += 2 * hbm->group.pairs;
    hbm_load_add_access(&hbm->load, st->load, location);
    return hbm->group.simulated[ts_address_channel(location) & (hbm->share - 1)];
}

#endif
