/* A part of the channels for all of them: what each gets of the requests, simulated or not. */
#include "hbm_subset.h"

#include <string.h>

/* Bursts of each channel, and one part in so many. */
enum { ROUND_OF_CHANNEL = 64, SPARE_EXCESS = 128, TOLERANCE = 64 };

int ts_hbm_sampling_factor(const ts_hbm_config *config, int least) {
    int share = 1, all = config->stacks * config->channels;
    int even =
        (config->stacks & (config->stacks - 1)) == 0 ? all : config->channels; /* not stacks in turns */
    while (even % (2 * share) == 0 && all / (2 * share) >= least) share *= 2;
    return share;
}

void hbm_subset_init(ts_hbm *hbm, ts_arena *arena) {
    hbm->round_of = TS_NEW_ARRAY(arena, int32_t, hbm->channel_count);
    hbm->accesses_of = TS_NEW_ARRAY(arena, int32_t, hbm->channel_count);
    hbm->simulated_pairs = TS_NEW_ARRAY(arena, uint64_t, hbm->share);
    hbm->round_bursts = ROUND_OF_CHANNEL * hbm->channel_count;
    hbm->tolerance = TOLERANCE;
}

void hbm_subset_clear(ts_hbm *hbm) {
    hbm->offered[DRAM_READ] = hbm->offered[DRAM_WRITE] = hbm->excess = 0;
    hbm->busiest = hbm->busiest_simulated = 0;
    ts_hbm_subset_restart(hbm);
}

void ts_hbm_subset_restart(ts_hbm *hbm) {
    memset(hbm->round_of, 0, sizeof hbm->round_of[0] * (size_t)hbm->channel_count);
    memset(hbm->accesses_of, 0, sizeof hbm->accesses_of[0] * (size_t)hbm->channel_count);
    hbm->round = 0;
}

/* ---- Accesses of a size. ---- */

/* Those of the round so far, to each channel: the pairs of an access lie in channels that differ from its
 * first one's alike. */
static void spread_accesses(ts_hbm *hbm) {
    int pairs = hbm->access_bytes >> hbm->map->offset_bits >> 1;
    for (int c = 0; c < hbm->channel_count; c++) {
        for (int pair = 0; hbm->accesses_of[c] > 0 && pair < pairs; pair++)
            hbm->round_of[c ^ hbm_location_channel(hbm->map->table[0][2 * pair])] += 2 * hbm->accesses_of[c];
        hbm->accesses_of[c] = 0;
    }
}

/* Do so many aligned bursts differ from the first one's location alike, wherever they are? */
static bool is_linear(const ts_address_map *map, int64_t bursts) {
    return map->turns == 0 || bursts <= (int64_t)1 << map->turn_shift;
}

bool hbm_subset_take_bytes(ts_hbm *hbm, int32_t bytes) {
    const ts_address_map *map = hbm->map;
    int64_t bursts = (int64_t)bytes >> map->offset_bits;
    bool is_power = bursts << map->offset_bits == bytes && (bursts & (bursts - 1)) == 0;
    if (bursts < 2 || bursts > HBM_PART_PAIRS * 2 || !is_power || !is_linear(map, bursts) || !hbm->has_pairs)
        return false;
    if (hbm->share == 1 || hbm->access_bytes == bytes) return true;
    spread_accesses(hbm);
    hbm->access_bytes = bytes;
    memset(hbm->simulated_pairs, 0, sizeof hbm->simulated_pairs[0] * (size_t)hbm->share);
    for (int pair = 0; pair < bursts / 2; pair++) {
        int channel = hbm_location_channel(map->table[0][2 * pair]);
        hbm->simulated_pairs[channel & (hbm->share - 1)] |= (uint64_t)1 << pair;
    }
    return true;
}

/* In each round of bursts, the simulated channels should get their share, and the busiest of them as many as
 * the busiest of all. */
void hbm_subset_end_round(ts_hbm *hbm) {
    int32_t simulated = 0, busiest = 0, busiest_simulated = 0;
    spread_accesses(hbm);
    for (int i = 0; i < hbm->channel_count; i++) {
        busiest = max32(busiest, hbm->round_of[i]);
        if (i % hbm->share != 0) continue;
        busiest_simulated = max32(busiest_simulated, hbm->round_of[i]);
        simulated += hbm->round_of[i];
    }
    int32_t excess = simulated * hbm->share - hbm->round;
    hbm->excess += excess < 0 ? -excess : excess;
    hbm->busiest += busiest;
    hbm->busiest_simulated += busiest_simulated;
    ts_hbm_subset_restart(hbm);
}

/* ---- What that says. ---- */

bool ts_hbm_subset_is_fair(const ts_hbm *hbm) {
    int64_t all = hbm->offered[DRAM_READ] + hbm->offered[DRAM_WRITE];
    int64_t least = hbm->busiest_simulated + hbm->channel_count * ROUND_OF_CHANNEL / hbm->tolerance;
    return hbm->excess <= all / 8 + (int64_t)SPARE_EXCESS * hbm->channel_count &&
           hbm->busiest <= least + hbm->busiest_simulated / hbm->tolerance;
}

void ts_hbm_subset_tolerate(ts_hbm *hbm, int parts) {
    hbm->tolerance = parts;
    hbm->round_bursts = 2 * (hbm->config.read_entries + hbm->config.write_entries) * hbm->channel_count;
}

bool ts_hbm_subset_is_balanced_so_far(const ts_hbm *hbm) {
    return hbm->share > 1 && hbm->excess == 0 && hbm->busiest == hbm->busiest_simulated;
}

static bool is_balanced(const ts_address_map *map, int share, int64_t bytes) {
    int64_t bursts = bytes >> map->offset_bits, simulated = 0;
    if (!is_linear(map, bursts)) return false;
    for (int64_t i = 0; i < bursts; i++)
        simulated += (hbm_location_channel(ts_address_map_pack(map, (uint64_t)i)) & (share - 1)) == 0;
    return simulated * share == bursts;
}

int ts_hbm_balanced_share(const ts_hbm_config *config, int share, int64_t bytes) {
    ts_arena *scratch = ts_arena_new();
    const ts_source text = {"address map", config->address_map, strlen(config->address_map)};
    const ts_address_map *map = ts_address_map_new(NULL, scratch, config, &text);
    while (map && share > 1 && !is_balanced(map, share, bytes)) share /= 2;
    ts_arena_free(scratch);
    return share;
}

/* What the simulated channels did, for all of them; bursts are counted, those that make the difference as row
 * hits. */
void hbm_subset_extend(const ts_hbm *hbm, ts_hbm_stats *out) {
    const ts_hbm_stats simulated = *out;
    ts_members_add(out, &simulated, ts_hbm_stats_members, hbm->share - 1, 1);
    out->row_hits += hbm->offered[DRAM_READ] + hbm->offered[DRAM_WRITE] - out->reads - out->writes;
    out->reads = hbm->offered[DRAM_READ];
    out->writes = hbm->offered[DRAM_WRITE];
}
