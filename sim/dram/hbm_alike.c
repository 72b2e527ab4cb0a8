/* Memories that do the same: when one no longer knows what was before, and requests that differ only in which
 * bank, row or channel is which.
 *
 * A refresh closes all rows. The one that falls due first after all is done may begin late, as rows are open;
 * the next finds them closed and begins when it falls due, as in a memory that did nothing. No rule is as
 * long as the time between the two, so from then on nothing is left of what was before but counts, and the
 * direction of the data buses, which only turnarounds ask for.
 *
 * Rules relate banks by whether they are in one group, stack id or pseudo channel, and requests are served by
 * age: both stay as they are when all banks of a pseudo channel are renamed by XOR. Rows are compared with
 * each other alone, channels know nothing of each other. Pseudo channels are refreshed in the order of their
 * numbers, and are not renamed; nor are columns. */
#include "dram/hbm_alike.h"

#include <string.h>

#include "base/hash.h"
#include "hbm_time.h"

bool ts_hbm_may_be_alike(const ts_hbm_config *c) {
    enum { RULES = 4 }; /* the longest rule fits so often between two refreshes */
    int32_t longest = 0;
    ts_arena *scratch = ts_arena_new();
    ts_dram_rules rules = ts_dram_rules_of(scratch, c);
    for (int i = 0; i < rules.count; i++) longest = max32(longest, rules.rows[i].cycles);
    ts_arena_free(scratch);
    return c->refresh == TS_HBM_REFRESH_ALL_BANK && c->page == TS_HBM_PAGE_OPEN &&
           c->scheduler == TS_HBM_SCHEDULER_ROW_HIT && RULES * longest < c->timing.t_refi;
}

int64_t ts_hbm_rest_cycle(const ts_hbm *hbm) {
    int64_t end = hbm_end_cycle(hbm), unfinished = 0;
    for (int i = 0; i < hbm->stream_count; i++) unfinished += hbm->streams[i]->unfinished;
    if (unfinished > 0) return INT64_MAX;
    return (end / hbm->refresh_ticks + 2) * hbm->refresh_ticks + hbm->spec->refa_to_act;
}

int ts_hbm_direction(const ts_hbm *hbm) {
    int direction = hbm->simulated[0]->last_direction[0];
    for (int i = 0; i < hbm->simulated_count; i++)
        for (int pc = 0; pc < hbm->spec->pcs; pc++)
            if (hbm->simulated[i]->last_direction[pc] != direction) return -1;
    return direction;
}

void ts_hbm_set_direction(ts_hbm *hbm, int direction) {
    for (int i = 0; i < hbm->simulated_count; i++)
        memset(hbm->simulated[i]->last_direction, direction, sizeof hbm->simulated[i]->last_direction);
}

void ts_hbm_count_beyond(ts_hbm *hbm, ts_hbm *idle, int64_t cycle, ts_hbm_stats *out) {
    ts_hbm_stats none;
    ts_hbm_settle(hbm, cycle);
    ts_hbm_settle(idle, cycle);
    ts_hbm_read_stats_to(hbm, cycle, out);
    ts_hbm_read_stats_to(idle, cycle, &none);
    ts_members_add(out, &none, ts_hbm_stats_members, -1, 1);
    out->end_cycle = hbm_end_cycle(hbm);
}

/* ---- Requests ---- */

/* The bits of a location that may be renamed. Stacks that take turns have none. */
static uint64_t renamed_bits(const ts_hbm *hbm) {
    uint64_t columns = ((uint64_t)1 << TS_ADDRESS_COLUMN_BITS) - 1;
    uint64_t pcs = (uint64_t)(hbm->spec->pcs - 1) << hbm->spec->pc_shift << TS_ADDRESS_COLUMN_BITS;
    return hbm->map->turns == 0 ? ~(columns | pcs) : 0;
}

static void trace_burst(const ts_hbm *hbm, ts_hbm_trace *trace, uint64_t location, uint64_t what) {
    if (!trace->begun) trace->shift = location & renamed_bits(hbm);
    trace->begun = true;
    ts_hash_add(trace->hash, location ^ trace->shift);
    ts_hash_add(trace->hash, what);
}

enum { LINEAR = 256 }; /* bursts of the first table of a map */

void ts_hbm_trace_access(const ts_hbm *hbm, ts_hbm_trace *trace, int64_t address, int32_t bytes,
                         bool is_write) {
    int64_t first = address >> hbm->map->offset_bits, last = (address + bytes - 1) >> hbm->map->offset_bits;
    int step = hbm->has_pairs && !(first & 1) ? 2 : 1; /* a pair is in one row */
    ts_hash_add(trace->hash, (uint64_t)(last - first));
    bool is_linear = hbm->map->turns == 0 && first / LINEAR == last / LINEAR;
    uint64_t block = ts_address_map_pack(hbm->map, (uint64_t)(first & -LINEAR));
    for (int64_t burst = first; burst <= last; burst += step) {
        uint64_t location = is_linear ? block ^ hbm->map->table[0][burst % LINEAR]
                                      : ts_address_map_pack(hbm->map, (uint64_t)burst);
        bool is_pair = step == 2 && burst < last;
        if ((ts_address_channel(location) & (hbm->share - 1)) == 0)
            trace_burst(hbm, trace, location, (uint64_t)(2 * is_pair + is_write));
    }
}

void ts_hbm_stream_shift(ts_hbm_stream *st, uint64_t shift) { st->shift = shift; }
