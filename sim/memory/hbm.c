/* HBM: streams offer requests, channels accept them; only the channel that a request goes to is stepped, to the
 * cycle at which it is accepted. That is exact as channels share nothing else, and as a burst's earliest cycle
 * follows from acceptances before it in its stream. */
#include "tilesim/memory/hbm.h"

#include <string.h>

#include "hbm_channel.h"
#include "hbm_walkers.h"
#include "tilesim/base/number.h"

/* ---- Making and clearing. ---- */

static void queue_clear(hbm_queue *q, int banks) {
    q->count = 0;
    q->age = 0;
    q->newest = NO_SLOT;
    q->free = 0;
    for (int i = 0; i < q->entries; i++)
        q->slots[i].next = (uint16_t)(i + 1 < q->entries ? i + 1 : NO_SLOT);
    for (int i = 0; i < banks; i++) {
        q->hit_key[i] = q->row_key[i] = KEY_NONE;
        q->hit[i] = q->miss[i] = q->first[i] = q->last[i] = NO_SLOT;
    }
    q->column_bound = q->row_bound = 0;
}

static void queue_init(hbm_queue *q, ts_arena *arena, int entries, int banks) {
    q->entries = entries;
    q->slots = TS_NEW_ARRAY(arena, hbm_slot, entries);
    q->hit_key = TS_NEW_ARRAY(arena, int32_t, banks);
    q->row_key = TS_NEW_ARRAY(arena, int32_t, banks);
    q->hit = TS_NEW_ARRAY(arena, uint16_t, banks);
    q->miss = TS_NEW_ARRAY(arena, uint16_t, banks);
    q->first = TS_NEW_ARRAY(arena, uint16_t, banks);
    q->last = TS_NEW_ARRAY(arena, uint16_t, banks);
}

static void channel_clear(const ts_hbm *hbm, hbm_channel *ch) {
    const ts_hbm_timing *t = &hbm->config.timing;
    dram_clear(&ch->dram);
    queue_clear(&ch->queue[0], hbm->spec->banks);
    queue_clear(&ch->queue[1], hbm->spec->banks);
    ch->active_count = 0;
    ch->is_writing = false;
    ch->next = 1;
    ch->last_accept = ch->row_bus_free = 0;
    ch->refresh_waiting = ch->refresh_head = 0;
    ch->refresh_at = hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK ? t->t_refi * hbm->config.ticks_per_ck
                     : hbm->config.refresh == TS_HBM_REFRESH_PER_BANK ? t->t_refi_pb * hbm->config.ticks_per_ck
                                                                      : FAR;
    memset(ch->active_of, 0, (size_t)hbm->spec->banks);
    memset(ch->filter, 0, sizeof ch->filter[0] << FILTER_BITS);
    memset(ch->page_count, 0, sizeof ch->page_count[0] * (size_t)hbm->spec->banks);
    memset(ch->last_direction, 2, sizeof ch->last_direction);
    memset(&ch->stats, 0, sizeof ch->stats);
}

static void channel_init(const ts_hbm *hbm, hbm_channel *ch, ts_arena *arena) {
    int banks = hbm->spec->banks;
    dram_init(&ch->dram, arena, hbm->spec);
    queue_init(&ch->queue[0], arena, hbm->config.read_entries, banks);
    queue_init(&ch->queue[1], arena, hbm->config.write_entries, banks);
    ch->active = TS_NEW_ARRAY(arena, hbm_active, banks);
    ch->active_of = TS_NEW_ARRAY(arena, uint8_t, banks);
    ch->filter = TS_NEW_ARRAY(arena, uint16_t, 1 << FILTER_BITS);
    ch->page_count = TS_NEW_ARRAY(arena, int32_t, banks);
}

static bool check(ts_error *err, bool ok, const char *what, int64_t value, const char *expected) {
    return ok || ts_error_set(err, TS_ERROR_INPUT, "hbm: %s is %lld, expected %s", what, (long long)value, expected);
}

static bool check_config(ts_error *err, const ts_hbm_config *c) {
    int64_t banks = (int64_t)c->pseudo_channels * c->sids * c->bank_groups * c->banks;
    if (c->scheduler == TS_HBM_SCHEDULER_PER_BANK)
        return ts_error_set(err, TS_ERROR_UNMODELLED, "hbm: the per bank scheduler is not modelled");
    if (c->page == TS_HBM_PAGE_CLOSED)
        return ts_error_set(err, TS_ERROR_UNMODELLED, "hbm: closed pages are not modelled");
    return check(err, banks >= 1 && banks <= DRAM_MAX_BANKS, "banks of a channel", banks, "1 to 512") &&
           check(err, c->pseudo_channels >= 1 && c->pseudo_channels <= DRAM_MAX_PCS, "pseudo_channels",
                 c->pseudo_channels, "1 to 8") &&
           check(err, c->ticks_per_ck == 1 || c->ticks_per_ck == 2, "ticks_per_ck", c->ticks_per_ck, "1 or 2") &&
           check(err, c->read_entries >= 1 && c->read_entries <= 4096, "read_entries", c->read_entries, "1 to 4096") &&
           check(err, c->write_entries >= 1 && c->write_entries <= 4096, "write_entries", c->write_entries,
                 "1 to 4096");
}

ts_hbm *ts_hbm_new(ts_error *err, ts_arena *arena, const ts_hbm_config *config) {
    ts_source map = {"address map", config->address_map, strlen(config->address_map)};
    if (!check_config(err, config))
        return NULL;
    ts_hbm *hbm = TS_NEW(arena, ts_hbm);
    hbm->config = *config;
    hbm->map = ts_address_map_new(err, arena, config, &map);
    if (!hbm->map)
        return NULL;
    hbm->spec = dram_spec_new(arena, config);
    hbm->channel_count = config->stacks * config->channels;
    hbm->channels = TS_NEW_ARRAY(arena, hbm_channel, hbm->channel_count);
    hbm->write_high = config->write_entries * config->write_high_percent / 100;
    hbm->write_low = (int32_t)ts_ceil_div((int64_t)config->write_entries * config->write_low_percent, 100);
    hbm->read_latency = (config->timing.t_cl + config->timing.n_bl) * config->ticks_per_ck;
    hbm_walker walker = hbm_walker_base(hbm->spec->banks, hbm->spec->banks_of_pc, config->ticks_per_ck == 2);
    hbm->walk = walker.walk;
    hbm->offer = walker.offer;
    for (int i = 0; i < hbm->channel_count; i++)
        channel_init(hbm, &hbm->channels[i], arena);
    ts_hbm_reset(hbm);
    return hbm;
}

void ts_hbm_reset(ts_hbm *hbm) {
    hbm->base = 0;
    for (int i = 0; i < hbm->channel_count; i++)
        channel_clear(hbm, &hbm->channels[i]);
    for (int i = 0; i < hbm->stream_count; i++)
        ts_hbm_stream_start(hbm->streams[i], 0);
}

/* ---- Local cycles: int32 after hbm->base, which moves up now and then. ---- */

static void lower(int32_t *value, int32_t shift) {
    if (*value < FAR)
        *value = *value < DRAM_NEVER + shift ? DRAM_NEVER : *value - shift;
}

static void queue_rebase(hbm_queue *q, int32_t shift) {
    for (int i = 0; i < q->entries; i++) {
        lower(&q->slots[i].arrival[0], shift);
        lower(&q->slots[i].arrival[1], shift);
    }
    lower(&q->column_bound, shift);
    lower(&q->row_bound, shift);
}

static void channel_rebase(hbm_channel *ch, int32_t shift) {
    dram_rebase(&ch->dram, shift);
    queue_rebase(&ch->queue[0], shift);
    queue_rebase(&ch->queue[1], shift);
    for (int i = 0; i < ch->active_count; i++)
        lower(&ch->active[i].arrival, shift);
    lower(&ch->next, shift);
    lower(&ch->last_accept, shift);
    lower(&ch->row_bus_free, shift);
    lower(&ch->refresh_at, shift);
    ch->stats.end_cycle -= shift;
}

static void stream_rebase(ts_hbm_stream *st, int32_t shift) {
    for (int32_t i = 0; i < st->window; i++)
        lower(&st->accepted[i], shift);
    for (int32_t i = 0; i < st->in_flight; i++) {
        if (st->done[i] >= 0) /* the rest are channels */
            st->done[i] = dram_max(st->done[i] - shift, 0);
    }
    lower(&st->latest, shift);
    lower(&st->latest_done, shift);
    lower(&st->start, shift);
    lower(&st->end, shift);
}

static void rebase(ts_hbm *hbm) {
    int32_t least = INT32_MAX;
    for (int i = 0; i < hbm->channel_count; i++)
        least = hbm->channels[i].next < least ? hbm->channels[i].next : least;
    if (least < REBASE_AT / 2) /* a channel stands far behind: it has nothing to do but refresh */
        for (int i = 0; i < hbm->channel_count; i++)
            hbm->walk(hbm, &hbm->channels[i], least = REBASE_AT / 2);
    for (int i = 0; i < hbm->channel_count; i++)
        channel_rebase(&hbm->channels[i], least);
    for (int i = 0; i < hbm->stream_count; i++)
        stream_rebase(hbm->streams[i], least);
    hbm->base += least;
}

static int32_t to_local(ts_hbm *hbm, int64_t cycle) {
    while (cycle - hbm->base >= REBASE_AT) {
        for (int i = 0; i < hbm->channel_count; i++)
            hbm->walk(hbm, &hbm->channels[i], REBASE_AT / 2);
        rebase(hbm);
    }
    return cycle < hbm->base ? 0 : (int32_t)(cycle - hbm->base);
}

/* ---- Streams. ---- */

ts_hbm_stream *ts_hbm_stream_new(ts_arena *arena, ts_hbm *hbm, int64_t lookahead_bytes, int64_t in_flight_bytes) {
    ts_hbm_stream *st = TS_NEW(arena, ts_hbm_stream);
    int32_t burst = hbm->config.burst_bytes;
    assert(hbm->stream_count < (int)(sizeof hbm->streams / sizeof hbm->streams[0]));
    assert(lookahead_bytes / burst < INT32_MAX && in_flight_bytes / burst < INT32_MAX);
    st->hbm = hbm;
    st->index = hbm->stream_count;
    hbm->streams[hbm->stream_count++] = st;
    st->window = lookahead_bytes < 0 ? -1 : (int32_t)(lookahead_bytes / burst);
    st->in_flight = in_flight_bytes < 0 ? -1 : (int32_t)ts_ceil_div(in_flight_bytes, burst);
    st->in_flight += st->in_flight == 0;
    if (st->window > 0)
        st->accepted = TS_NEW_ARRAY(arena, int32_t, st->window);
    if (st->in_flight > 0)
        st->done = TS_NEW_ARRAY(arena, int32_t, st->in_flight);
    ts_hbm_stream_start(st, 0);
    return st;
}

void ts_hbm_stream_start(ts_hbm_stream *st, int64_t cycle) {
    st->start = to_local(st->hbm, cycle);
    st->window_at = st->done_at = 0;
    st->latest = st->latest_done = st->end = 0;
    st->unfinished = 0;
    for (int32_t i = 0; i < st->window; i++)
        st->accepted[i] = -1;
    for (int32_t i = 0; i < st->in_flight; i++)
        st->done[i] = 0;
}

/* Local; the next burst may be offered from it on, as far as acceptances say. */
static inline int32_t stream_earliest(const ts_hbm_stream *st) {
    if (st->window > 0)
        return dram_max(st->start, st->accepted[st->window_at] + 1);
    return st->window == 0 ? dram_max(st->start, st->latest) : st->start;
}

/* Raises *earliest by the burst that must be done first; steps its channel while it is not, up to `limit`. False
 * when that is not far enough. */
static bool wait_for_done(ts_hbm_stream *st, int32_t *earliest, int32_t limit) {
    int32_t *oldest = &st->done[st->done_at];
    while (*oldest < 0) {
        hbm_channel *ch = &st->hbm->channels[~*oldest];
        if (ch->next > limit)
            return false;
        st->hbm->walk(st->hbm, ch, ch->next);
    }
    *earliest = dram_max(*earliest, dram_max(st->latest_done, *oldest) + 1);
    return true;
}

int64_t ts_hbm_stream_next(ts_hbm_stream *st, int64_t limit) {
    int32_t earliest = stream_earliest(st);
    int64_t local_limit = limit - st->hbm->base;
    if (local_limit > FAR - 1)
        local_limit = FAR - 1;
    if (st->in_flight > 0 && !wait_for_done(st, &earliest, local_limit < 0 ? 0 : (int32_t)local_limit))
        return limit + 1;
    return st->hbm->base + earliest;
}

/* ---- Offers. ---- */

static int32_t offer_burst(ts_hbm_stream *st, int64_t burst, int direction, int32_t earliest) {
    ts_hbm *hbm = st->hbm;
    int32_t at;
    earliest = dram_max(earliest, stream_earliest(st));
    if (st->in_flight > 0)
        wait_for_done(st, &earliest, FAR);
    at = hbm->offer(hbm, st, burst, direction, earliest);
    st->latest = dram_max(st->latest, at);
    if (st->window > 0) {
        st->accepted[st->window_at] = st->latest;
        st->window_at = st->window_at + 1 == st->window ? 0 : st->window_at + 1;
    }
    return at;
}

int64_t ts_hbm_stream_offer(ts_hbm_stream *st, int64_t address, int32_t bytes, bool is_write, int64_t earliest) {
    ts_hbm *hbm = st->hbm;
    int shift = hbm->map->offset_bits;
    int64_t last = (address + bytes - 1) >> shift;
    int32_t from = to_local(hbm, earliest), at = 0;
    if (st->latest >= REBASE_AT)
        rebase(hbm);
    for (int64_t burst = address >> shift; burst <= last; burst++)
        at = offer_burst(st, burst, is_write, from);
    return hbm->base + at;
}

int64_t ts_hbm_stream_done(const ts_hbm_stream *st) { return st->unfinished ? -1 : st->hbm->base + st->end; }

void ts_hbm_settle(ts_hbm *hbm, int64_t cycle) {
    int32_t local = to_local(hbm, cycle);
    for (int i = 0; i < hbm->channel_count; i++)
        hbm->walk(hbm, &hbm->channels[i], local);
}

int64_t ts_hbm_drain(ts_hbm *hbm) {
    int64_t end = hbm->end_cycle;
    for (int i = 0; i < hbm->channel_count; i++) {
        hbm_channel *ch = &hbm->channels[i];
        while (ch->queue[0].count + ch->queue[1].count + ch->active_count > 0)
            hbm->walk(hbm, ch, ch->next);
        if (ch->stats.reads + ch->stats.writes > 0 && hbm->base + ch->stats.end_cycle > end)
            end = hbm->base + ch->stats.end_cycle;
    }
    return end;
}

void ts_hbm_read_stats(const ts_hbm *hbm, ts_hbm_stats *out) {
    *out = (ts_hbm_stats){0};
    for (int i = 0; i < hbm->channel_count; i++) {
        const ts_hbm_stats *s = &hbm->channels[i].stats;
#define STAT(name) out->name += s->name;
#include "hbm_stats.def"
#undef STAT
        if (s->read_latency_max > out->read_latency_max)
            out->read_latency_max = s->read_latency_max;
        if (s->reads + s->writes > 0 && hbm->base + s->end_cycle > out->end_cycle)
            out->end_cycle = hbm->base + s->end_cycle;
    }
}
