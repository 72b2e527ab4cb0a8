/* HBM: its channels, the streams that offer requests to them (hbm_offer.c), and what came of it. */
#include "dram/hbm.h"

#include <string.h>

#include "hbm_banks.h"
#include "hbm_channel.h"
#include "hbm_representatives.h"
#include "hbm_subset.h"
#include "hbm_time.h"
#include "hbm_simulators.h"
#include "base/number.h"

/* ---- Making and clearing. ---- */

static bool check(ts_error *err, bool ok, const char *what, int64_t value, const char *expected) {
    return ok || ts_error_set(err, TS_ERROR_INPUT, "hbm: %s is %lld, expected %s", what, (long long)value,
                              expected);
}

static bool check_config(ts_error *err, const ts_hbm_config *c) {
    int64_t banks = (int64_t)c->pseudo_channels * c->sids * c->bank_groups * c->banks;
    return check(err, banks >= 1 && banks <= DRAM_MAX_BANKS, "banks of a channel", banks, "1 to 128") &&
           check(err, c->pseudo_channels >= 1 && c->pseudo_channels <= DRAM_MAX_PCS, "pseudo_channels",
                 c->pseudo_channels, "1 to 4") &&
           check(err, c->sids >= 1 && c->sids <= DRAM_MAX_SIDS, "sids", c->sids, "1 to 8") &&
           check(err, c->ticks_per_ck == 1 || c->ticks_per_ck == 2, "ticks_per_ck", c->ticks_per_ck,
                 "1 or 2") &&
           check(err, c->read_entries >= 1 && c->read_entries <= 4096, "read_entries", c->read_entries,
                 "1 to 4096") &&
           (c->page != TS_HBM_PAGE_CLOSED || check(err, c->page_accesses >= 1 && c->page_accesses <= 4096,
                                                   "page_accesses", c->page_accesses, "1 to 4096")) &&
           (c->scheduler != TS_HBM_SCHEDULER_PER_BANK ||
            (check(err, c->bank_entries >= 1 && c->bank_entries <= 4096, "bank_entries", c->bank_entries,
                   "1 to 4096") &&
             check(err, banks / c->pseudo_channels <= HBM_BANKS_MOST, "banks of a pseudo channel",
                   banks / c->pseudo_channels, "1 to 64, for the per_bank scheduler"))) &&
           check(err, c->write_high_percent >= c->write_low_percent && c->write_high_percent <= 100,
                 "write_high", c->write_high_percent, "write_low to 100 percent") &&
           check(err, c->write_low_percent >= 1, "write_low", c->write_low_percent, "1 percent or more") &&
           check(err, c->write_entries >= 1 && c->write_entries <= 4096, "write_entries", c->write_entries,
                 "1 to 4096");
}

static ts_address_map *new_map(ts_error *err, ts_arena *arena, const ts_hbm_config *config) {
    ts_source map = {"address map", config->address_map, strlen(config->address_map)};
    return check_config(err, config) ? ts_address_map_new(err, arena, config, &map) : NULL;
}

bool ts_hbm_check_config(ts_error *err, const ts_hbm_config *config) {
    ts_arena *scratch = ts_arena_new();
    bool ok = new_map(err, scratch, config) != NULL;
    ts_arena_free(scratch);
    return ok;
}

/* As Ramulator 2.1's controllers do: HBM3's refreshes a bank of each pseudo channel at a time, HBM2's one of
 * the channel, one pseudo channel's after the other's. */
static void set_refresh(ts_hbm *hbm) {
    const ts_hbm_config *c = &hbm->config;
    bool all = c->refresh == TS_HBM_REFRESH_ALL_BANK;
    hbm->refresh_pcs = all || c->ticks_per_ck == 2 ? c->pseudo_channels : 1;
    hbm->refresh_ticks =
        all ? c->timing.t_refi * c->ticks_per_ck
            : (int32_t)ts_ceil_div((int64_t)c->timing.t_refi_pb * c->ticks_per_ck * hbm->refresh_pcs,
                                   c->pseudo_channels);
    if (c->refresh == TS_HBM_REFRESH_NONE) hbm->refresh_ticks = FAR;
}

static hbm_simulator simulator_of(const ts_hbm *hbm) {
    bool banks = hbm->config.scheduler == TS_HBM_SCHEDULER_PER_BANK;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return banks ? hbm_banks_simulator_avx2(hbm) : hbm_simulator_avx2(hbm);
#endif
    return banks ? hbm_banks_simulator_base(hbm) : hbm_simulator_base(hbm);
}

static void make_channels(ts_hbm *hbm, ts_arena *arena) {
    const ts_hbm_config *c = &hbm->config;
    hbm->channel_count = c->stacks * c->channels;
    hbm->channels = TS_NEW_ARRAY(arena, hbm_channel *, ts_ceil_div(hbm->channel_count, hbm->share));
    hbm->representative = TS_NEW_ARRAY(arena, int32_t, hbm->channel_count);
    hbm->write_high = c->write_entries * c->write_high_percent / 100;
    hbm->write_low = (int32_t)ts_ceil_div((int64_t)c->write_entries * c->write_low_percent, 100);
    hbm->read_latency = (c->timing.t_cl + c->timing.n_bl) * c->ticks_per_ck;
    hbm_subset_init(hbm, arena);
    hbm->block_first = TS_NEW_ARRAY(arena, int32_t, hbm->channel_count + 2);
    hbm->simulated = TS_NEW_ARRAY(arena, hbm_channel *, hbm->channel_count);
    hbm->history = TS_NEW_ARRAY(arena, ts_hbm_stats, hbm->channel_count);
}

ts_hbm *ts_hbm_new(ts_error *err, ts_arena *arena, const ts_hbm_config *config) {
    return ts_hbm_new_subset(err, arena, config, 1);
}

ts_hbm *ts_hbm_new_subset(ts_error *err, ts_arena *arena, const ts_hbm_config *config, int share) {
    return ts_hbm_new_with_rules(err, arena, config, share, ts_dram_rules_of(arena, config));
}

ts_hbm *ts_hbm_new_with_rules(ts_error *err, ts_arena *arena, const ts_hbm_config *config, int share,
                              ts_dram_rules rules) {
    ts_address_map *map = new_map(err, arena, config);
    if (!map) return NULL;
    ts_hbm *hbm = TS_NEW(arena, ts_hbm);
    hbm->arena = arena;
    hbm->config = *config;
    hbm->share = share;
    hbm->map = map;
    if (config->scheduler == TS_HBM_SCHEDULER_PER_BANK) { /* pseudo channels share nothing */
        hbm->config.channels *= config->pseudo_channels;
        hbm->config.pseudo_channels = 1;
    }
    hbm->pair = map->table[0][1];
    hbm->has_pairs = hbm->pair >> TS_ADDRESS_COLUMN_BITS == 0 && (map->turns == 0 || map->turn_shift > 0);
    hbm->spec = dram_spec_new(err, arena, &hbm->config, rules);
    if (!hbm->spec) return NULL;
    set_refresh(hbm);
    hbm->burst_ticks = ts_hbm_burst_ticks(config);
    hbm_simulator simulator = simulator_of(hbm);
    hbm->simulate = simulator.simulate;
    hbm->run = simulator.run;
    make_channels(hbm, arena);
    ts_hbm_reset(hbm);
    return hbm;
}

/* A channel that follows another from the beginning has no state: when it is split off, it comes from its
 * representative's. */
static void clear_all(ts_hbm *hbm) {
    int begun = hbm_may_represent(hbm) ? 1 : hbm->channel_count;
    for (int i = 0; i < begun; i += hbm->share) hbm_clear_channel(hbm, hbm_begin_channel(hbm, i));
    hbm_represent_all(hbm);
}

void ts_hbm_reset(ts_hbm *hbm) {
    hbm->base = hbm->end_cycle = 0;
    hbm->stuck_at = hbm->stepped = -1;
    hbm->is_awaited = false;
    hbm_subset_clear(hbm);
    hbm->gap_at = 0;
    for (int i = 0; i < hbm->stream_count; i++)
        hbm->streams[i]->end_cycle = hbm->streams[i]->end = hbm->streams[i]->latest = -1;
    clear_all(hbm);
    for (int i = 0; i < hbm->stream_count; i++) ts_hbm_stream_start(hbm->streams[i], 0);
}

int ts_hbm_burst_ticks(const ts_hbm_config *config) { return config->timing.n_bl * config->ticks_per_ck; }

void ts_hbm_simulate_all(ts_hbm *hbm) {
    hbm->is_exact = true;
    ts_hbm_reset(hbm);
}

/* ---- Streams. ---- */

ts_hbm_stream *ts_hbm_stream_new(ts_arena *arena, ts_hbm *hbm, int64_t lookahead_bytes,
                                 int64_t in_flight_bytes) {
    ts_hbm_stream *st = TS_NEW(arena, ts_hbm_stream);
    int32_t burst = hbm->config.burst_bytes;
    assert(hbm->stream_count < (int)(sizeof hbm->streams / sizeof hbm->streams[0]));
    assert(lookahead_bytes / burst < INT32_MAX && in_flight_bytes / burst < INT32_MAX);
    st->hbm = hbm;
    st->end = -1;
    st->end_cycle = -1;
    st->index = hbm->stream_count;
    hbm->streams[hbm->stream_count++] = st;
    st->window = lookahead_bytes < 0 ? -1 : (int32_t)(lookahead_bytes / burst / hbm->share);
    st->in_flight = in_flight_bytes < 0 ? -1 : (int32_t)ts_ceil_div(in_flight_bytes, burst * hbm->share);
    st->in_flight += st->in_flight == 0;
    st->window += st->window == 0 && lookahead_bytes >= burst;
    hbm_subset_add_stream(arena, st, lookahead_bytes < 0 ? -1 : lookahead_bytes / burst,
                          in_flight_bytes < 0 ? -1 : in_flight_bytes / burst);
    if (st->window > 0) st->accepted = TS_NEW_ARRAY(arena, int32_t, st->window);
    if (st->in_flight > 0) st->done = TS_NEW_ARRAY(arena, int32_t, st->in_flight);
    if (hbm->config.scheduler == TS_HBM_SCHEDULER_PER_BANK) hbm_banks_add_stream(arena, st);
    if (st->in_flight > 0 && !hbm->is_limited) {
        hbm->is_limited = true;
        clear_all(hbm);
    }
    ts_hbm_stream_start(st, 0);
    return st;
}

void ts_hbm_stream_start(ts_hbm_stream *st, int64_t cycle) {
    st->hbm->end_cycle = hbm_end_cycle(st->hbm);
    st->start = hbm_to_local(st->hbm, cycle);
    st->hbm->stepped = max32(st->hbm->stepped, max32(st->latest, st->end));
    st->offer_at = st->accept_at = st->done_at = 0;
    st->latest = 0;
    st->latest_done = st->end = -1;
    st->end_cycle = -1;
    st->unfinished = 0;
    st->shift = 0;
    for (int32_t i = 0; i < st->window; i++) st->accepted[i] = -1;
    for (int32_t i = 0; i < st->in_flight; i++) st->done[i] = -1;
}

static void await(ts_hbm *hbm) {
    if (!hbm->is_awaited) hbm_banks_await(hbm);
}

bool hbm_wait_for_done(ts_hbm_stream *st, int32_t *earliest, int32_t limit) {
    await(st->hbm);
    int32_t *oldest = &st->done[st->done_at];
    while (*oldest < -1) {
        hbm_channel *ch = hbm_representative(st->hbm, -2 - *oldest);
        if (ch->next > limit) return false;
        ch->last_accept = max32(ch->last_accept, ch->next); /* an offer of another stream comes after it */
        st->hbm->simulate(st->hbm, ch, ch->next);
    }
    *earliest = max32(*earliest, max32(st->latest_done, *oldest) + 1);
    return true;
}

int64_t ts_hbm_stream_next(ts_hbm_stream *st, int64_t limit) {
    int32_t earliest = hbm_stream_earliest(st);
    int64_t local_limit = limit - st->hbm->base;
    if (local_limit > FAR - 1) local_limit = FAR - 1;
    if (st->in_flight > 0 && !hbm_wait_for_done(st, &earliest, local_limit < 0 ? 0 : (int32_t)local_limit))
        return limit + 1;
    return st->hbm->base + earliest;
}

/* ---- What came of it. ---- */

void ts_hbm_settle(ts_hbm *hbm, int64_t cycle) {
    await(hbm);
    int32_t local = hbm_to_local(hbm, cycle);
    for (int i = 0; i < hbm->simulated_count; i++) hbm->simulate(hbm, hbm->simulated[i], local);
}

/* Channels that were done earlier go on to be refreshed. That costs no time that anything waits for. */
static void refresh_to_end(ts_hbm *hbm) {
    for (int i = 0; i < hbm->simulated_count; i++)
        hbm->simulate(hbm, hbm->simulated[i], (int32_t)(hbm_end_cycle(hbm) - hbm->base));
}

/* Per bank scheduler: only from the last acceptance on can writes be drained because nothing follows. */
static void keep_writes_to_last_acceptance(ts_hbm *hbm) {
    int32_t latest = 0;
    for (int i = 0; i < hbm->stream_count; i++) latest = max32(latest, hbm->streams[i]->latest);
    for (int i = 0; i < hbm->simulated_count; i++) {
        hbm_channel *ch = hbm->simulated[i];
        if (!ch->banks || ch->queue[DRAM_WRITE].count == 0) continue;
        hbm->simulate(hbm, ch, latest);
        ch->last_accept = max32(ch->last_accept, latest);
    }
}

int64_t ts_hbm_drain(ts_hbm *hbm) {
    keep_writes_to_last_acceptance(hbm);
    await(hbm);
    for (int i = 0; i < hbm->simulated_count; i++) {
        hbm_channel *ch = hbm->simulated[i];
        while (hbm_held(ch) > 0) hbm->simulate(hbm, ch, ch->next);
    }
    refresh_to_end(hbm);
    return hbm_end_cycle(hbm);
}

bool ts_hbm_check(ts_error *err, const ts_hbm *hbm) {
    if (hbm->stuck_at < 0) return true;
    return ts_error_set(
        err, TS_ERROR_UNMODELLED,
        "hbm: the per_bank scheduler stands still for ever from cycle %lld of HBM on: writes "
        "are to be drained, the oldest of them waits for a read of the same burst, and no read "
        "is taken before them; expected requests, or another scheduler, that avoid that",
        (long long)hbm->stuck_at);
}

/* Bursts that were accepted into queues. */
static int64_t queued_of(const ts_hbm_stats *counts) {
    return counts->reads + counts->writes - counts->forwarded - counts->coalesced;
}

/* All that a channel has counted. */
static ts_hbm_stats counts_of(const ts_hbm *hbm, int channel) {
    ts_hbm_stats counts = hbm_counts_of(hbm_representative(hbm, channel));
    ts_members_add(&counts, &hbm->history[channel], ts_hbm_stats_members, 1, 1);
    return counts;
}

/* A channel is stepped to its own last acceptance only: from there on it is taken to serve what it holds at
 * the rate of its data bus. */
ts_hbm_progress ts_hbm_read_progress(const ts_hbm *hbm) {
    ts_hbm_progress sum = {0};
    int32_t latest = 0;
    for (int i = 0; i < hbm->stream_count; i++) latest = max32(latest, hbm->streams[i]->latest + 1);
    for (int i = 0; i < hbm->channel_count; i += hbm->share) {
        const hbm_channel *ch = hbm_representative(hbm, i);
        ts_hbm_stats counts = counts_of(hbm, i);
        int64_t accepted = queued_of(&counts), served = accepted - hbm_held(ch),
                more = (latest - ch->next) / hbm->burst_ticks;
        if (more > 0) served = accepted - served < more ? accepted : served + more;
        sum.accepted += accepted;
        sum.served += served;
    }
    sum.cycle = hbm->base + latest;
    return sum;
}

static void add_channel(const ts_hbm *hbm, int channel, ts_hbm_stats *out) {
    const hbm_channel *ch = hbm_representative(hbm, channel);
    ts_hbm_stats counts = counts_of(hbm, channel);
    int32_t end = (int32_t)(out->end_cycle - hbm->base);
    int64_t served = queued_of(&counts) - hbm_held(ch);
    counts.row_hits = served - counts.row_misses - counts.row_conflicts;
    counts.limiter_cycles[TS_HBM_LIMITER_DATA] += served * hbm->burst_ticks;
    for (int pc = 0; pc < hbm->spec->pcs; pc++) counts.open_cycles += ch->dram.open_banks[pc] > 0 ? end : 0;
    hbm_attribute_rest(hbm, ch, end, counts.limiter_cycles);
    ts_hbm_stats_add(out, &counts, 1);
}

void ts_hbm_read_stats(const ts_hbm *hbm, ts_hbm_stats *out) { ts_hbm_read_stats_to(hbm, 0, out); }

void ts_hbm_read_stats_to(const ts_hbm *hbm, int64_t end, ts_hbm_stats *out) {
    *out = (ts_hbm_stats){.end_cycle = ts_max(hbm_end_cycle(hbm), end)};
    for (int i = 0; i < hbm->channel_count; i += hbm->share) add_channel(hbm, i, out);
    if (hbm->share > 1) hbm_subset_extend(hbm, out);
}

void ts_hbm_stats_balance(ts_hbm_stats *stats) {
    int64_t *cycles = stats->limiter_cycles;
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) {
        if (cycles[i] >= 0 || i == TS_HBM_LIMITER_REQUESTS) continue;
        cycles[TS_HBM_LIMITER_REQUESTS] += cycles[i];
        cycles[i] = 0;
    }
    if (cycles[TS_HBM_LIMITER_REQUESTS] < 0) cycles[TS_HBM_LIMITER_REQUESTS] = 0;
    if (stats->row_hits < 0) {
        stats->row_misses += stats->row_hits;
        stats->row_hits = 0;
    }
}

/* ---- Limiters. ---- */

static const struct {
    const char *name, *meaning;
} limiters[TS_HBM_LIMITER_COUNT] = {
#define LIMITER(id, name, part, meaning) {name, meaning},
#include "dram/hbm_limiters.def"
#undef LIMITER
};

const char *ts_hbm_limiter_name(ts_hbm_limiter limiter) { return limiters[limiter].name; }
const char *ts_hbm_limiter_meaning(ts_hbm_limiter limiter) { return limiters[limiter].meaning; }
