/* HBM: streams offer requests, channels accept them; only the channel that a request goes to is stepped, to
 * the cycle at which it is accepted. That is exact as channels share nothing else, and as a burst's earliest
 * cycle follows from acceptances before it in its stream. */
#include "tilesim/memory/hbm.h"

#include <string.h>

#include "hbm_banks.h"
#include "hbm_channel.h"
#include "hbm_leaders.h"
#include "hbm_part.h"
#include "hbm_walkers.h"
#include "tilesim/base/number.h"

/* ---- Making and clearing. ---- */

static void queue_clear(hbm_queue *q) {
    q->count = 0;
    q->age = 0;
    q->newest = NO_SLOT;
    q->free = 0;
    for (int i = 0; i < q->entries; i++) q->slots[i].next = (uint16_t)(i + 1 < q->entries ? i + 1 : NO_SLOT);
    for (int i = 0; i < DRAM_MAX_BANKS; i++) {
        q->hit_key[i] = q->row_key[i] = KEY_NONE;
        q->hit[i] = q->miss[i] = NO_SLOT;
        q->slots[q->entries + i].next = q->slots[q->entries + i].previous = (uint16_t)(q->entries + i);
    }
    for (int i = 0; i < DRAM_MAX_GROUPS; i++) {
        q->group_key[i] = KEY_NONE;
        q->group_hits[i] = 0;
    }
    q->column_bound = q->row_bound = 0;
}

static void queue_init(hbm_queue *q, ts_arena *arena, int entries) {
    q->entries = entries;
    q->slots = TS_NEW_ARRAY(arena, hbm_slot, entries + DRAM_MAX_BANKS);
    q->tickets = TS_NEW_ARRAY(arena, int32_t, 2 * entries);
}

static void channel_clear(ts_hbm *hbm, hbm_channel *ch) {
    const ts_hbm_timing *t = &hbm->config.timing;
    hbm_queue read = ch->queue[DRAM_READ], write = ch->queue[DRAM_WRITE];
    struct hbm_banks *banks = ch->banks;
    *ch = (hbm_channel){.next = 1,
                        .banks = banks,
                        .active_at = FAR,
                        .opening_at = FAR,
                        .page_at = FAR,
                        .queue = {read, write}};
    dram_clear(&ch->dram, hbm->spec);
    queue_clear(&ch->queue[0]);
    queue_clear(&ch->queue[1]);
    ch->refresh_at = hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK ? t->t_refi * hbm->config.ticks_per_ck
                     : hbm->config.refresh == TS_HBM_REFRESH_PER_BANK
                         ? t->t_refi_pb * hbm->config.ticks_per_ck
                         : FAR;
    ch->special_at = ch->refresh_at;
    memset(ch->last_direction, 2, sizeof ch->last_direction);
    if (banks) hbm_banks_clear(hbm, ch);
}

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
            check(err, c->bank_entries >= 1 && c->bank_entries <= 4096, "bank_entries", c->bank_entries,
                  "1 to 4096")) &&
           check(err, c->write_high_percent >= c->write_low_percent && c->write_high_percent <= 100,
                 "write_high", c->write_high_percent, "write_low to 100 percent") &&
           check(err, c->write_low_percent >= 1, "write_low", c->write_low_percent, "1 percent or more") &&
           check(err, c->write_entries >= 1 && c->write_entries <= 4096, "write_entries", c->write_entries,
                 "1 to 4096");
}

static bool has_avx2(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

ts_hbm *ts_hbm_new(ts_error *err, ts_arena *arena, const ts_hbm_config *config) {
    return ts_hbm_new_part(err, arena, config, 1);
}

ts_hbm *ts_hbm_new_part(ts_error *err, ts_arena *arena, const ts_hbm_config *config, int share) {
    ts_source map = {"address map", config->address_map, strlen(config->address_map)};
    if (!check_config(err, config)) return NULL;
    ts_hbm *hbm = TS_NEW(arena, ts_hbm);
    hbm->config = *config;
    hbm->share = share;
    hbm->map = ts_address_map_new(err, arena, config, &map);
    if (!hbm->map) return NULL;
    if (config->scheduler == TS_HBM_SCHEDULER_PER_BANK) { /* pseudo channels share nothing */
        hbm->config.channels *= config->pseudo_channels;
        hbm->config.pseudo_channels = 1;
    }
    hbm->pair = hbm->map->table[0][1];
    hbm->has_pairs = hbm->map->table[0][1] >> TS_ADDRESS_COLUMN_BITS == 0 &&
                     (hbm->map->turns == 0 || hbm->map->turn_shift > 0);
    hbm->spec = dram_spec_new(arena, &hbm->config);
    hbm->channel_count = hbm->config.stacks * hbm->config.channels;
    hbm->channels = TS_NEW_ARRAY(arena, hbm_channel, hbm->channel_count);
    hbm->write_high = config->write_entries * config->write_high_percent / 100;
    hbm->write_low = (int32_t)ts_ceil_div((int64_t)config->write_entries * config->write_low_percent, 100);
    hbm->read_latency = (config->timing.t_cl + config->timing.n_bl) * config->ticks_per_ck;
    hbm->burst_ticks = config->timing.n_bl * config->ticks_per_ck;
    hbm_walker walker = has_avx2() ? hbm_walker_avx2(hbm) : hbm_walker_base(hbm);
    hbm->walk = config->scheduler == TS_HBM_SCHEDULER_PER_BANK ? hbm_banks_walk : walker.walk;
    hbm->run = config->scheduler == TS_HBM_SCHEDULER_PER_BANK ? hbm_banks_run : walker.run;
    hbm_part_init(hbm, arena);
    hbm->block_first = TS_NEW_ARRAY(arena, int32_t, hbm->channel_count + 2);
    hbm->walked = TS_NEW_ARRAY(arena, hbm_channel *, hbm->channel_count);
    for (int i = 0; i < hbm->channel_count; i += hbm->share) {
        queue_init(&hbm->channels[i].queue[DRAM_READ], arena, config->read_entries);
        queue_init(&hbm->channels[i].queue[DRAM_WRITE], arena, config->write_entries);
        if (config->scheduler == TS_HBM_SCHEDULER_PER_BANK) hbm_banks_init(hbm, arena, &hbm->channels[i]);
    }
    ts_hbm_reset(hbm);
    return hbm;
}

/* A channel that follows another from the beginning is not touched: its state comes from its leader's. */
static void clear_all(ts_hbm *hbm) {
    bool together = !hbm->is_limited && hbm->config.scheduler != TS_HBM_SCHEDULER_PER_BANK;
    for (int i = 0; i < (together ? 1 : hbm->channel_count); i += hbm->share)
        channel_clear(hbm, &hbm->channels[i]);
    hbm_lead_all(hbm, together);
}

void ts_hbm_reset(ts_hbm *hbm) {
    hbm->base = hbm->end_cycle = 0;
    hbm->is_awaited = false;
    hbm_part_clear(hbm);
    hbm->gap_at = 0;
    for (int i = 0; i < hbm->stream_count; i++) hbm->streams[i]->end_cycle = hbm->streams[i]->end = -1;
    clear_all(hbm);
    for (int i = 0; i < hbm->stream_count; i++) ts_hbm_stream_start(hbm->streams[i], 0);
}

/* ---- Local cycles: int32 after hbm->base, which moves up now and then. ---- */

static void lower(int32_t *value, int64_t shift) {
    if (*value < FAR) *value = *value < DRAM_NEVER + shift ? DRAM_NEVER : (int32_t)(*value - shift);
}

static void queue_rebase(hbm_queue *q, int32_t shift) {
    for (int i = 0; i < q->entries; i++) {
        lower(&q->slots[i].arrival[0], shift);
        lower(&q->slots[i].arrival[1], shift);
    }
    lower(&q->column_bound, shift);
    lower(&q->row_bound, shift);
}

static void channel_rebase(ts_hbm *hbm, hbm_channel *ch, int32_t shift) {
    if (ch->banks) hbm_banks_rebase(hbm, ch, shift);
    dram_rebase(&ch->dram, shift);
    queue_rebase(&ch->queue[0], shift);
    queue_rebase(&ch->queue[1], shift);
    for (int i = 0; i < DRAM_MAX_BANKS; i++) {
        lower(&ch->active[i].arrival, shift);
        lower(&ch->active[i].opened, shift);
    }
    for (int pc = 0; pc < DRAM_MAX_PCS; pc++) {
        lower(&ch->bus_until[pc], shift);
        lower(&ch->refresh_until[pc], shift);
    }
    for (int i = 0; i < ch->opening_count; i++) lower(&ch->opening[i].at, shift);
    lower(&ch->opening_at, shift);
    lower(&ch->active_at, shift);
    lower(&ch->page_at, shift);
    for (int sid = 0; sid < DRAM_MAX_SIDS; sid++) lower(&ch->refresh_again[sid], shift);
    lower(&ch->special_at, shift);
    lower(&ch->calm_until, shift);
    lower(&ch->next, shift);
    lower(&ch->last_accept, shift);
    lower(&ch->row_bus_free, shift);
    lower(&ch->refresh_at, shift);
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* The last thing of a stream that was done. */
static int64_t stream_end(const ts_hbm_stream *st) {
    return st->end < 0 ? st->end_cycle : later(st->end_cycle, st->hbm->base + st->end);
}

/* The same of all since reset, as far as it is known. */
static int64_t end_cycle(const ts_hbm *hbm) {
    int64_t end = hbm->end_cycle;
    for (int i = 0; i < hbm->stream_count; i++) end = later(end, stream_end(hbm->streams[i]));
    return end;
}

static void stream_rebase(ts_hbm_stream *st, int64_t shift) {
    for (int32_t i = 0; i < st->window; i++) lower(&st->accepted[i], shift);
    for (int32_t i = 0; i < st->in_flight; i++) {
        if (st->done[i] >= -1) /* the rest are channels */
            st->done[i] = (int32_t)later(st->done[i] - shift, -1);
    }
    lower(&st->latest, shift);
    lower(&st->latest_done, shift);
    lower(&st->start, shift);
    st->end_cycle = stream_end(st);
    st->end = -1;
}

/* The base moves up by `shift`, and channels stay as they are: what streams know is that much longer ago. */
static void move_base(ts_hbm *hbm, int64_t shift) {
    for (int i = 0; i < hbm->stream_count; i++) stream_rebase(hbm->streams[i], shift);
    hbm->base += shift;
    hbm->gap_at = 0;
}

/* A channel that stands far behind has nothing to do but refresh. */
static void rebase(ts_hbm *hbm) {
    const int32_t shift = REBASE_AT / 2; /* even: odd ticks, where half CKs have edges, stay odd */
    for (int i = 0; i < hbm->walked_count; i++) {
        hbm->walk(hbm, hbm->walked[i], shift);
        channel_rebase(hbm, hbm->walked[i], shift);
    }
    move_base(hbm, shift);
}

/* ---- Gaps: nothing is queued, and each round of refreshes is like the one before. ---- */

/* Ticks after which the same banks are refreshed again. */
static int64_t refresh_round(const ts_hbm *hbm) {
    const ts_hbm_config *c = &hbm->config;
    if (c->refresh == TS_HBM_REFRESH_ALL_BANK) return (int64_t)c->timing.t_refi * c->ticks_per_ck;
    return c->refresh == TS_HBM_REFRESH_NONE
               ? c->ticks_per_ck
               : (int64_t)c->timing.t_refi_pb * c->ticks_per_ck * hbm->spec->banks_of_pc;
}

static int64_t longest_rule(const ts_hbm *hbm) {
    int64_t longest = 0;
    for (int i = 0; i < hbm->spec->rule_count; i++) longest = later(longest, hbm->spec->rules[i].cycles + 2);
    return longest * hbm->config.ticks_per_ck;
}

static bool is_idle(const ts_hbm *hbm, const hbm_channel *ch) {
    int open = 0, queued = ch->queue[0].count + ch->queue[1].count + ch->active_count;
    for (int pc = 0; pc < hbm->spec->pcs; pc++) open += ch->dram.open_banks[pc];
    return (ch->banks ? hbm_banks_rest(hbm, ch) : queued == 0) &&
           ch->waiting_count + ch->opening_count == 0 && ch->page_at == FAR &&
           (open == 0 || hbm->config.refresh == TS_HBM_REFRESH_NONE);
}

/* No channel has been stepped to, and no stream accepted, this local cycle or a later one. */
static int32_t untouched_from(const ts_hbm *hbm) {
    int32_t from = 0;
    for (int i = 0; i < hbm->stream_count; i++)
        from = max32(from, max32(hbm->streams[i]->latest, hbm->streams[i]->end) + 1);
    for (int i = 0; i < hbm->walked_count; i++)
        from = hbm->walked[i]->next < FAR ? max32(from, hbm->walked[i]->next) : from;
    return from;
}

/* Walks all channels to `until`, and says whether a round from here ends as it begins. */
static bool walk_round(ts_hbm *hbm, int32_t until, int32_t round) {
    bool same = true;
    for (int i = 0; i < hbm->walked_count; i++) {
        hbm_channel *ch = hbm->walked[i];
        hbm->walk(hbm, ch, until - round);
        int32_t refresh_at = ch->refresh_at, head = ch->refresh_head;
        same &= is_idle(hbm, ch);
        hbm->walk(hbm, ch, until);
        same &= is_idle(hbm, ch) && ch->refresh_head == head &&
                (refresh_at == FAR || ch->refresh_at == refresh_at + round);
    }
    return same;
}

/* Walks one more round, and counts it `times` more. */
static void repeat_round(ts_hbm *hbm, hbm_channel *ch, int32_t until, int64_t times) {
    ts_hbm_stats before = ch->stats;
    const int64_t *old = (const int64_t *)&before;
    int64_t *value = (int64_t *)&ch->stats;
    hbm->walk(hbm, ch, until);
    for (size_t i = 0; i < sizeof before / sizeof *old; i++) value[i] += times * (value[i] - old[i]);
    for (int pc = 0; pc < hbm->spec->pcs && hbm->config.refresh == TS_HBM_REFRESH_NONE; pc++)
        ch->passed[pc] += times * refresh_round(hbm);
}

/* Nothing is offered before `cycle`: three rounds after the last thing done nothing counts that went before,
 * and those that follow are all the same. So channels stay where they are then, and time goes on. */
static void pass_gap(ts_hbm *hbm, int64_t cycle) {
    const int64_t round = refresh_round(hbm), from = untouched_from(hbm) + 4 * round + longest_rule(hbm),
                  times = (cycle - hbm->base - from) / round - 2;
    hbm->gap_at = from + 8 * round < REBASE_AT ? (int32_t)(from + 8 * round) : REBASE_AT;
    if (times <= 0 || from + round >= REBASE_AT || !walk_round(hbm, (int32_t)from, (int32_t)round)) return;
    for (int i = 0; i < hbm->walked_count; i++)
        repeat_round(hbm, hbm->walked[i], (int32_t)(from + round), times);
    move_base(hbm, times * round);
}

static int32_t to_local(ts_hbm *hbm, int64_t cycle) {
    if (__builtin_expect(cycle - hbm->base >= hbm->gap_at, 0)) pass_gap(hbm, cycle);
    while (__builtin_expect(cycle - hbm->base >= REBASE_AT, 0)) rebase(hbm);
    return cycle < hbm->base ? 0 : (int32_t)(cycle - hbm->base);
}

/* ---- Streams. ---- */

ts_hbm_stream *ts_hbm_stream_new(ts_arena *arena, ts_hbm *hbm, int64_t lookahead_bytes,
                                 int64_t in_flight_bytes) {
    ts_hbm_stream *st = TS_NEW(arena, ts_hbm_stream);
    int32_t burst = hbm->config.burst_bytes;
    assert(hbm->stream_count < (int)(sizeof hbm->streams / sizeof hbm->streams[0]));
    assert(lookahead_bytes / burst < INT32_MAX && in_flight_bytes / burst < INT32_MAX);
    st->hbm = hbm;
    st->index = hbm->stream_count;
    hbm->streams[hbm->stream_count++] = st;
    st->window = lookahead_bytes < 0 ? -1 : (int32_t)(lookahead_bytes / burst / hbm->share);
    st->in_flight = in_flight_bytes < 0 ? -1 : (int32_t)ts_ceil_div(in_flight_bytes, burst * hbm->share);
    st->in_flight += st->in_flight == 0;
    st->window += st->window == 0 && lookahead_bytes >= burst;
    if (st->window > 0) st->accepted = TS_NEW_ARRAY(arena, int32_t, st->window);
    if (st->in_flight > 0) st->done = TS_NEW_ARRAY(arena, int32_t, st->in_flight);
    if (st->in_flight > 0 && !hbm->is_limited) {
        hbm->is_limited = true;
        clear_all(hbm);
    }
    ts_hbm_stream_start(st, 0);
    return st;
}

void ts_hbm_stream_start(ts_hbm_stream *st, int64_t cycle) {
    st->hbm->end_cycle = end_cycle(st->hbm);
    st->start = to_local(st->hbm, cycle);
    st->offer_at = st->accept_at = st->done_at = 0;
    st->latest = 0;
    st->latest_done = st->end = -1;
    st->end_cycle = -1;
    st->unfinished = 0;
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
        hbm_channel *ch = &st->hbm->channels[st->hbm->channels[-2 - *oldest].leader];
        if (ch->next > limit) return false;
        ch->last_accept = max32(ch->last_accept, ch->next); /* an offer of another stream comes after it */
        st->hbm->walk(st->hbm, ch, ch->next);
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

/* ---- Offers. ---- */

static inline int32_t next_in_ring(const ts_hbm_stream *st, int32_t at) {
    return at + 1 >= st->window ? 0 : at + 1;
}

/* Adds a piece that is offered from `from` on, or when the acceptances of earlier blocks let it. */
static void add_piece(ts_hbm *hbm, ts_hbm_stream *st, uint64_t place, bool is_write, bool is_pair,
                      int32_t from) {
    hbm_piece *p = &hbm->block.pieces[hbm->block.count++];
    *p = (hbm_piece){.place = place & ~HBM_CHANNEL_BITS,
                     .at = {from, from},
                     .channel = (uint16_t)hbm_place_channel(place),
                     .is_write = is_write,
                     .is_pair = is_pair};
    hbm->block_first[hbm_place_channel(place) + 2]++;
    hbm->block.bursts += 1 + is_pair;
    for (int half = 0; half <= is_pair; half++) {
        if (st->window > 0) {
            p->at[half] = max32(from, st->accepted[st->offer_at] + 1);
            st->offer_at = next_in_ring(st, st->offer_at);
        }
        if (st->in_flight > 0)
            p->at[half] = max32(p->at[half], hbm_take_ticket(st, hbm_place_channel(place), &p->ticket[half]));
    }
}

/* The same for the requests from `r` on, as long as each is a pair, and the stream does nothing but look
 * ahead. */
static const ts_hbm_request *add_pairs(ts_hbm *hbm, ts_hbm_stream *st, const ts_hbm_request *r,
                                       const ts_hbm_request *end, int most) {
    const int shift = hbm->map->offset_bits, count = hbm->block.count;
    const int64_t inside = ((int64_t)2 << shift) - 1;
    hbm_piece *p = &hbm->block.pieces[count];
    const int32_t *accepted = st->accepted + st->offer_at, *last = st->accepted + st->window;
    if (end - r > most) end = r + most;
    for (; r < end && !(r->address & inside) && r->earliest - hbm->base < hbm->gap_at; r++, p++) {
        int64_t burst = r->address >> shift;
        int32_t from = r->earliest - hbm->base > st->start ? (int32_t)(r->earliest - hbm->base) : st->start;
        uint64_t place = ts_address_map_pack(hbm->map, (uint64_t)burst);
        p->place = place & ~HBM_CHANNEL_BITS;
        p->channel = (uint16_t)hbm_place_channel(place);
        p->at[0] = max32(from, *accepted + 1);
        if (++accepted >= last) accepted = st->accepted;
        p->at[1] = max32(from, *accepted + 1);
        if (++accepted >= last) accepted = st->accepted;
        p->is_write = r->is_write;
        p->is_pair = true;
        hbm->block_first[p->channel + 2]++;
    }
    st->offer_at = (int32_t)(accepted - st->accepted);
    hbm->block.count = (int)(p - hbm->block.pieces);
    hbm->block.bursts += 2 * (hbm->block.count - count);
    return r;
}

static void note_accepted(ts_hbm_stream *st, const hbm_block *b) {
    int32_t latest = st->latest, unused;
    int32_t *first = st->window > 0 ? st->accepted : &unused,
            *last = first + (st->window > 0 ? st->window : 1);
    int32_t *accepted = first + st->accept_at;
    for (const hbm_piece *p = b->pieces, *end = p + b->count; p < end; p++) {
        *accepted = latest = max32(latest, p->at[0]);
        if (++accepted == last) accepted = first;
        if (!p->is_pair) continue;
        *accepted = latest = max32(latest, p->at[1]);
        if (++accepted == last) accepted = first;
    }
    st->latest = latest;
    st->accept_at = (int32_t)(accepted - first);
}

/* Offers what was added; returns when the last of it was accepted. */
static int32_t offer_block(ts_hbm *hbm, ts_hbm_stream *st) {
    hbm_block *b = &hbm->block;
    int32_t *first = hbm->block_first;
    hbm_piece *last = &b->pieces[b->count - 1];
    for (int c = 0; c < hbm->channel_count; c++) first[c + 2] += first[c + 1];
    for (hbm_piece *p = b->pieces; p <= last; p++) b->order[first[p->channel + 1]++] = p;
    st->unfinished += b->bursts;
    hbm_regroup(hbm);
    for (int i = 0; i < hbm->walked_count; i++) {
        int c = hbm->walked[i]->leader, count = first[c + 1] - first[c];
        if (count > 0) hbm->run(hbm, st, hbm->walked[i], b->order + first[c], count);
    }
    hbm_follow(hbm);
    note_accepted(st, b);
    memset(first, 0, sizeof first[0] * (size_t)(hbm->channel_count + 2));
    b->count = b->bursts = 0;
    return last->at[last->is_pair];
}

static int64_t offer_filled(ts_hbm *hbm, ts_hbm_stream *st) {
    int64_t at = hbm->base + offer_block(hbm, st);
    while (st->latest >= REBASE_AT) rebase(hbm);
    return at;
}

/* A block has at most so many bursts: no acceptance in it may matter to another of it. Followers stay with
 * their leaders for longer when their last acceptance is compared with what follows more often. */
static int block_limit(const ts_hbm *hbm, const ts_hbm_stream *st) {
    int most = hbm->walked_count * hbm->share < hbm->channel_count ? BLOCK / 2 : BLOCK;
    if (st->window == 0) return 1;
    return st->window < 0 || st->window > most ? most : st->window;
}

/* Adds an aligned access of the size taken (hbm_part_take_bytes); returns when the last burst was accepted.
 */
static int64_t add_access(ts_hbm *hbm, ts_hbm_stream *st, const ts_hbm_request *r, int limit,
                          int64_t accepted) {
    uint64_t first = ts_address_map_pack(hbm->map, (uint64_t)(r->address >> hbm->map->offset_bits));
    uint64_t pairs = hbm_part_count_access(hbm, hbm_place_channel(first), r->is_write);
    int64_t earliest = r->earliest - hbm->base;
    for (; pairs != 0; pairs &= pairs - 1) {
        uint64_t place = first ^ hbm->map->table[0][2 * __builtin_ctzll(pairs)];
        add_piece(hbm, st, place, r->is_write, true, earliest > st->start ? (int32_t)earliest : st->start);
        if (hbm->block.bursts + 1 >= limit) accepted = offer_filled(hbm, st);
    }
    return accepted;
}

int64_t ts_hbm_stream_offer_all(ts_hbm_stream *st, const ts_hbm_request *requests, int count, int32_t bytes) {
    ts_hbm *hbm = st->hbm;
    hbm_block *b = &hbm->block;
    const ts_hbm_request *end = requests + count;
    const int shift = hbm->map->offset_bits, limit = block_limit(hbm, st);
    const bool pairs = hbm->has_pairs && limit > 1;
    const bool is_plain =
        pairs && st->window > 0 && st->in_flight <= 0 && hbm->share == 1 && bytes == 2 << shift;
    const bool is_part = pairs && st->window != 0 && st->in_flight <= 0 && hbm_part_take_bytes(hbm, bytes);
    int64_t accepted = ts_hbm_stream_latest(st);
    for (const ts_hbm_request *r = requests; r < end; r++) {
        if (is_plain && (r = add_pairs(hbm, st, r, end, (limit - b->bursts) / 2)) == end) break;
        if (b->bursts + pairs >= limit) accepted = offer_filled(hbm, st);
        if (r->earliest - hbm->base >= hbm->gap_at) { /* local cycles may be about to change */
            accepted = b->count > 0 ? offer_filled(hbm, st) : accepted;
            to_local(hbm, r->earliest);
        }
        if (is_part && (r->address & (bytes - 1)) == 0) {
            accepted = add_access(hbm, st, r, limit, accepted);
            continue;
        }
        for (int64_t burst = r->address >> shift, last = (r->address + bytes - 1) >> shift; burst <= last;) {
            bool is_pair = pairs && !(burst & 1) && burst < last;
            uint64_t place = ts_address_map_pack(hbm->map, (uint64_t)burst);
            if (hbm_place_channel(place) & (hbm->share - 1)) {
                hbm_part_count(hbm, hbm_place_channel(place), r->is_write, 1 + is_pair);
                burst += 1 + is_pair;
                continue;
            }
            if (st->in_flight > 0 && !hbm_is_done_known(st, 0)) {
                int32_t ignored = 0;
                accepted = b->count > 0 ? offer_filled(hbm, st) : accepted;
                hbm_wait_for_done(st, &ignored, FAR);
            }
            is_pair = is_pair && (st->in_flight < 0 || hbm_is_done_known(st, 1));
            int32_t least = st->window == 0 ? max32(st->start, st->latest) : st->start;
            if (r->earliest - hbm->base > least) least = (int32_t)(r->earliest - hbm->base);
            if (hbm->share > 1) hbm_part_count(hbm, hbm_place_channel(place), r->is_write, 1 + is_pair);
            add_piece(hbm, st, place, r->is_write, is_pair, least);
            burst += 1 + is_pair;
            if (b->bursts + pairs >= limit) accepted = offer_filled(hbm, st);
        }
    }
    return b->count > 0 ? offer_filled(hbm, st) : accepted;
}

int64_t ts_hbm_stream_offer(ts_hbm_stream *st, int64_t address, int32_t bytes, bool is_write,
                            int64_t earliest) {
    ts_hbm_request request = {address, earliest, is_write};
    return ts_hbm_stream_offer_all(st, &request, 1, bytes);
}

int64_t ts_hbm_stream_latest(const ts_hbm_stream *st) { return st->hbm->base + st->latest; }

int64_t ts_hbm_stream_done(const ts_hbm_stream *st) {
    int64_t end = stream_end(st);
    return st->unfinished ? -1 : end < 0 ? st->hbm->base - 1 : end;
}

void ts_hbm_settle(ts_hbm *hbm, int64_t cycle) {
    int32_t local = to_local(hbm, cycle);
    await(hbm);
    for (int i = 0; i < hbm->walked_count; i++) hbm->walk(hbm, hbm->walked[i], local);
}

int64_t ts_hbm_drain(ts_hbm *hbm) {
    await(hbm);
    for (int i = 0; i < hbm->walked_count; i++) {
        hbm_channel *ch = hbm->walked[i];
        while (ch->queue[0].count + ch->queue[1].count + ch->active_count > 0) hbm->walk(hbm, ch, ch->next);
    }
    return end_cycle(hbm);
}

static int64_t accepted_of(const hbm_channel *ch) {
    return ch->accepted[0] + ch->accepted[1] - ch->stats.forwarded - ch->stats.coalesced;
}

static int64_t served_of(const hbm_channel *ch) {
    return accepted_of(ch) - ch->queue[0].count - ch->queue[1].count - ch->active_count;
}

/* A channel is stepped to its own last acceptance only: from there on it is taken to serve what it holds at
 * the rate of its data bus. */
ts_hbm_progress ts_hbm_read_progress(const ts_hbm *hbm) {
    ts_hbm_progress sum = {0};
    int32_t latest = 0;
    for (int i = 0; i < hbm->stream_count; i++) latest = max32(latest, hbm->streams[i]->latest + 1);
    for (int i = 0; i < hbm->channel_count; i += hbm->share) {
        const hbm_channel *ch = &hbm->channels[hbm->channels[i].leader];
        int64_t accepted = accepted_of(ch), served = served_of(ch),
                more = (latest - ch->next) / hbm->burst_ticks;
        if (more > 0) served = accepted - served < more ? accepted : served + more;
        sum.accepted += accepted;
        sum.served += served;
    }
    sum.cycle = hbm->base + latest;
    return sum;
}

static void add_channel(const ts_hbm *hbm, const hbm_channel *ch, ts_hbm_stats *out) {
    const ts_hbm_stats *s = &ch->stats;
    int64_t served = served_of(ch);
#define STAT(name) out->name += s->name;
#include "hbm_stats.def"
#undef STAT
    out->reads += ch->accepted[DRAM_READ];
    out->writes += ch->accepted[DRAM_WRITE];
    out->row_hits += served - s->row_misses - s->row_conflicts;
    if (s->read_latency_max > out->read_latency_max) out->read_latency_max = s->read_latency_max;
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) out->limiter_cycles[i] += s->limiter_cycles[i];
    out->limiter_cycles[TS_HBM_LIMITER_DATA] += served * hbm->burst_ticks;
    hbm_blame_rest(hbm, ch, (int32_t)(out->end_cycle - hbm->base), out->limiter_cycles);
}

void ts_hbm_read_stats(const ts_hbm *hbm, ts_hbm_stats *out) {
    *out = (ts_hbm_stats){.end_cycle = end_cycle(hbm)};
    for (int i = 0; i < hbm->channel_count; i += hbm->share)
        add_channel(hbm, &hbm->channels[hbm->channels[i].leader], out);
    if (hbm->share > 1) hbm_part_extend(hbm, out);
}

int ts_hbm_pseudo_channels(const ts_hbm *hbm) { return hbm->channel_count * hbm->spec->pcs; }

/* ---- Limiters. ---- */

static const struct {
    const char *name, *meaning;
} limiters[TS_HBM_LIMITER_COUNT] = {
#define LIMITER(id, name, meaning) {name, meaning},
#include "tilesim/memory/hbm_limiters.def"
#undef LIMITER
};

const char *ts_hbm_limiter_name(ts_hbm_limiter limiter) { return limiters[limiter].name; }
const char *ts_hbm_limiter_meaning(ts_hbm_limiter limiter) { return limiters[limiter].meaning; }
