/* A part of the channels stands for all: how the requests divide among simulated and other channels. */
#include "hbm_subset.h"

#include <string.h>

#include "base/number.h"

int ts_hbm_sampling_factor(const ts_hbm_config *config, int least) {
    int share = 1, all = config->stacks * config->channels;
    int even =
        (config->stacks & (config->stacks - 1)) == 0 ? all : config->channels; /* not stacks in turns */
    while (even % (2 * share) == 0 && all / (2 * share) >= least) share *= 2;
    return share;
}

void hbm_subset_init(ts_hbm *hbm, ts_arena *arena) {
    const ts_hbm_config *c = &hbm->config;
    if (hbm->share == 1) return;
    hbm->group.simulated = TS_NEW_ARRAY(arena, uint64_t, hbm->share);
    hbm->load = (hbm_load){.channels = hbm->channel_count,
                           .bank_bits = ts_log2_up(hbm->spec->banks),
                           .share = hbm->share,
                           .queue = (int)ts_min(c->read_entries, c->write_entries)};
    hbm_load_init(&hbm->load, arena);
}

static void open_streams(ts_hbm *hbm) {
    for (int i = 0; i < hbm->stream_count; i++) hbm_load_open(&hbm->load, hbm->streams[i]->load);
}

void hbm_subset_clear(ts_hbm *hbm) {
    hbm->offered[DRAM_READ] = hbm->offered[DRAM_WRITE] = 0;
    hbm->begun = -1;
    hbm->group.bytes = 0;
    hbm->group.count = 1;
    if (hbm->share == 1) return;
    hbm_load_clear(&hbm->load);
    open_streams(hbm);
}

/* What is in flight holds its place until it is served. */
void hbm_subset_add_stream(ts_arena *arena, ts_hbm_stream *st, int64_t lookahead, int64_t in_flight) {
    hbm_load *load = &st->hbm->load;
    if (st->hbm->share == 1) return;
    if (in_flight >= 0) load->queue = 0;
    if (in_flight >= 0 && (lookahead < 0 || in_flight < lookahead)) lookahead = in_flight;
    st->load = TS_NEW(arena, hbm_load_stream);
    st->load->lookahead = (int32_t)lookahead;
    hbm_load_open(load, st->load);
}

void ts_hbm_subset_expect(ts_hbm *hbm, ts_hbm_subset_length length) { hbm->load.length = length; }

void ts_hbm_subset_jump(ts_hbm *hbm) {
    if (hbm->share > 1) hbm_load_jump(&hbm->load);
}

/* ---- Accesses. ---- */

/* Do so many aligned bursts differ from the first one's location alike, wherever they are? */
static bool is_linear(const ts_address_map *map, int64_t bursts) {
    return map->turns == 0 || bursts <= (int64_t)1 << map->turn_shift;
}

/* Does a request differ from the first of its group by what the ones before it do, or by more of the same rows? */
static bool is_linear_request(const ts_hbm *hbm, const hbm_group *g, int number) {
    const int highest = 1 << ts_log2(number);
    const int64_t differ = g->differ[number], bursts = differ >> hbm->map->offset_bits;
    return (differ & (g->bytes - 1)) == 0 && is_linear(hbm->map, bursts + 1) &&
           ts_address_row(ts_address_map_pack(hbm->map, (uint64_t)bursts)) == 0 &&
           differ == (g->differ[highest] ^ g->differ[number - highest]);
}

/* The largest group that the first requests may be by their addresses; those that are none halve it. */
static int group_of(const ts_hbm *hbm, hbm_group *g, const ts_hbm_request *r, int count) {
    const int64_t most = ts_min(ts_min(HBM_GROUP, HBM_ACCESS_PAIRS / g->pairs), count);
    int i = 1;
    g->differ[0] = 0;
    for (; i < most; i++) {
        g->differ[i] = r[i].address ^ r->address;
        if (!is_linear_request(hbm, g, i)) break;
    }
    return 1 << ts_log2(i);
}

/* Of so many requests, whose pairs go by the address map. */
static void set_group(ts_hbm *hbm, int count) {
    hbm_group *g = &hbm->group;
    const ts_address_map *map = hbm->map;
    const int each = g->bytes >> map->offset_bits >> 1;
    g->count = count;
    g->pairs = count * each;
    for (int i = 0; i < g->pairs; i++)
        g->pair[i] = ts_address_map_pack(map, (uint64_t)g->differ[i / each] >> map->offset_bits) ^
                     map->table[0][2 * (i % each)];
    if (hbm->share == 1) return;
    memset(g->simulated, 0, sizeof g->simulated[0] * (size_t)hbm->share);
    for (int i = 0; i < g->pairs; i++)
        g->simulated[ts_address_channel(g->pair[i]) & (hbm->share - 1)] |= (uint64_t)1 << i;
}

static void regroup(ts_hbm *hbm, int count) {
    set_group(hbm, count);
    hbm_load_regroup(&hbm->load, hbm->group.pair, hbm->group.pairs);
    open_streams(hbm);
}

bool hbm_subset_take(ts_hbm *hbm, const ts_hbm_request *requests, int count, int32_t bytes) {
    hbm_group *g = &hbm->group;
    if (g->bytes == bytes) return true;
    int64_t bursts = (int64_t)bytes >> hbm->map->offset_bits;
    bool is_power = bursts << hbm->map->offset_bits == bytes && (bursts & (bursts - 1)) == 0;
    if (bursts < 2 || bursts > HBM_ACCESS_PAIRS * 2 || !is_power || !is_linear(hbm->map, bursts) ||
        !hbm->has_pairs)
        return false;
    g->bytes = bytes;
    set_group(hbm, 1);
    if (hbm->share == 1) return true;
    hbm_load_set_access(&hbm->load, g->pair, g->pairs);
    regroup(hbm, group_of(hbm, g, requests, count));
    return true;
}

void hbm_subset_halve_group(ts_hbm *hbm) { regroup(hbm, hbm->group.count / 2); }

/* ---- What that says. ---- */

bool ts_hbm_subset_is_even(const ts_hbm *hbm) { return hbm->share > 1 && hbm->load.is_even; }

static bool is_balanced(const ts_address_map *map, int share, int64_t bytes) {
    int64_t bursts = bytes >> map->offset_bits, simulated = 0;
    if (!is_linear(map, bursts)) return false;
    for (int64_t i = 0; i < bursts; i++)
        simulated += (ts_address_channel(ts_address_map_pack(map, (uint64_t)i)) & (share - 1)) == 0;
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
