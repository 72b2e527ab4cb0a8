/* Offering requests to an HBM: a stream's bursts are made segments, and those of a block given to their
 * channels at once. Only the channel that a segment goes to is stepped, to the cycle at which it is accepted.
 * That is exact as channels share nothing else, and as a burst's earliest cycle follows from acceptances
 * before it in its stream. */
#include <string.h>

#include "hbm_representatives.h"
#include "hbm_subset.h"
#include "hbm_time.h"
#include "base/number.h"

static inline int32_t next_in_ring(const ts_hbm_stream *st, int32_t at) {
    return at + 1 >= st->window ? 0 : at + 1;
}

/* The local cycle from which a request is offered, as far as it and the start of its stream say. */
static inline int32_t offered_from(const ts_hbm_stream *st, const ts_hbm_request *r) {
    int64_t earliest = r->earliest - st->hbm->base;
    return earliest > st->start ? (int32_t)earliest : st->start;
}

/* Adds a segment that is offered from `from` on, or when the acceptances of earlier blocks let it. */
static void add_segment(ts_hbm *hbm, ts_hbm_stream *st, const ts_hbm_request *r, uint64_t location,
                        bool is_pair, int32_t from) {
    hbm_segment *p = &hbm->block.segments[hbm->block.count++];
    *p = (hbm_segment){.location = location & ~TS_ADDRESS_CHANNEL,
                       .at = {from, from},
                       .channel = (uint16_t)ts_address_channel(location),
                       .is_write = r->is_write,
                       .is_pair = is_pair};
    hbm->block_first[ts_address_channel(location) + 2]++;
    hbm->block.bursts += 1 + is_pair;
    for (int half = 0; half <= is_pair; half++) {
        if (st->window > 0) {
            p->at[half] = max32(from, st->accepted[st->offer_at] + 1);
            st->offer_at = next_in_ring(st, st->offer_at);
        }
        if (st->in_flight > 0)
            p->at[half] =
                max32(p->at[half], hbm_take_ticket(st, ts_address_channel(location), &p->ticket[half]));
    }
}

/* Where pairs are added of a stream that does nothing but look ahead, and the acceptances that they wait
 * for. */
typedef struct {
    hbm_segment *segment;
    const int32_t *accepted, *first, *end;
} pair_cursor;

static inline pair_cursor open_pairs(ts_hbm *hbm, const ts_hbm_stream *st) {
    static const int32_t long_ago = -1;
    hbm_segment *segment = &hbm->block.segments[hbm->block.count];
    if (st->window < 0) return (pair_cursor){segment, &long_ago, &long_ago, &long_ago + 1};
    return (pair_cursor){segment, st->accepted + st->offer_at, st->accepted, st->accepted + st->window};
}

static inline int32_t next_acceptance(pair_cursor *c) {
    int32_t at = *c->accepted;
    if (++c->accepted >= c->end) c->accepted = c->first;
    return at;
}

static inline void add_pair(ts_hbm *hbm, pair_cursor *c, uint64_t location, bool is_write, int32_t from) {
    hbm_segment *p = c->segment++;
    p->location = location & ~TS_ADDRESS_CHANNEL;
    p->channel = (uint16_t)ts_address_channel(location);
    p->at[0] = max32(from, next_acceptance(c) + 1);
    p->at[1] = max32(from, next_acceptance(c) + 1);
    p->is_write = is_write;
    p->is_pair = true;
    hbm->block_first[p->channel + 2]++;
}

static inline void close_pairs(ts_hbm *hbm, ts_hbm_stream *st, pair_cursor c) {
    int count = hbm->block.count;
    hbm->block.count = (int)(c.segment - hbm->block.segments);
    hbm->block.bursts += 2 * (hbm->block.count - count);
    st->offer_at = (int32_t)(c.accepted - c.first);
}

static void note_accepted(ts_hbm_stream *st, const hbm_block *b) {
    int32_t latest = st->latest, unused;
    int32_t *first = st->window > 0 ? st->accepted : &unused,
            *last = first + (st->window > 0 ? st->window : 1);
    int32_t *accepted = first + st->accept_at;
    for (const hbm_segment *p = b->segments, *end = p + b->count; p < end; p++) {
        *accepted = latest = max32(latest, p->at[0]);
        if (++accepted == last) accepted = first;
        if (!p->is_pair) continue;
        *accepted = latest = max32(latest, p->at[1]);
        if (++accepted == last) accepted = first;
    }
    st->latest = latest;
    st->accept_at = (int32_t)(accepted - first);
}

/* Each segment by itself: channels do not wait for each other. */
static void offer_few(ts_hbm *hbm, ts_hbm_stream *st) {
    hbm_block *b = &hbm->block;
    for (hbm_segment *p = b->segments, *end = p + b->count; p < end; p++) {
        hbm->block_first[p->channel + 2] = 0;
        hbm->run(hbm, st, hbm_channel_at(hbm, p->channel), &p, 1);
    }
}

/* Offers the segments channel by channel; one channel may stand for others. */
static void offer_many(ts_hbm *hbm, ts_hbm_stream *st) {
    hbm_block *b = &hbm->block;
    int32_t *first = hbm->block_first;
    for (int c = 0; c < hbm->channel_count; c++) first[c + 2] += first[c + 1];
    for (hbm_segment *p = b->segments, *end = p + b->count; p < end; p++)
        b->order[first[p->channel + 1]++] = p;
    hbm_regroup(hbm);
    for (int i = 0; i < hbm->simulated_count; i++) {
        int c = hbm->simulated[i]->number, count = first[c + 1] - first[c];
        if (count > 0) hbm->run(hbm, st, hbm->simulated[i], b->order + first[c], count);
    }
    hbm_copy_acceptances(hbm);
    hbm_rejoin(hbm);
    memset(first, 0, sizeof first[0] * (size_t)(hbm->channel_count + 2));
}

/* Offers what was added; returns when the last of it was accepted. */
static int32_t offer_block(ts_hbm *hbm, ts_hbm_stream *st) {
    enum { FEW = 16 };
    hbm_block *b = &hbm->block;
    const hbm_segment *last = &b->segments[b->count - 1];
    st->unfinished += b->bursts;
    bool all_simulated = hbm->simulated_count * hbm->share == hbm->channel_count;
    (all_simulated && b->count <= FEW ? offer_few : offer_many)(hbm, st);
    note_accepted(st, b);
    b->count = b->bursts = 0;
    return last->at[last->is_pair];
}

static int64_t offer_filled(ts_hbm *hbm, ts_hbm_stream *st) {
    int64_t at = hbm->base + offer_block(hbm, st);
    while (st->latest >= REBASE_AT) hbm_rebase(hbm);
    return at;
}

/* Bursts of a block at most. One that is offered only once another is accepted must not be in the same block,
 * so there are no more than the window. While a channel represents others, blocks are half as long: whether
 * they still do the same is looked at once a block, from the last acceptance on, and that is then nearer to
 * what follows. */
static int block_limit(const ts_hbm *hbm, const ts_hbm_stream *st) {
    int most = hbm->simulated_count * hbm->share < hbm->channel_count ? BLOCK / 2 : BLOCK;
    if (st->window == 0) return 1;
    return st->window < 0 || st->window > most ? most : st->window;
}

typedef struct {
    ts_hbm *hbm;
    ts_hbm_stream *st;
    int limit;            /* of bursts of a block */
    bool pairs;           /* two bursts of a row may go together */
    int32_t access_bytes; /* aligned requests of this size are added as accesses (hbm_subset_take); 0 */
    int64_t accepted;
} offering;

static void offer_if_full(offering *o) {
    if (o->hbm->block.bursts + o->pairs >= o->limit) o->accepted = offer_filled(o->hbm, o->st);
}

static void offer_rest(offering *o) {
    if (o->hbm->block.count > 0) o->accepted = offer_filled(o->hbm, o->st);
}

static inline bool is_after_gap(const ts_hbm *hbm, const ts_hbm_request *r) {
    return r->earliest - hbm->base >= hbm->gap_at;
}

/* Can it be added as an access? */
static inline bool is_access(const offering *o, const ts_hbm_request *r) {
    return (r->address & (o->access_bytes - 1)) == 0 && o->access_bytes > 0;
}

/* Adds accesses of a pair each from `r` on, up to another request or a gap or until the block is full; returns
 * what follows. All channels are simulated. */
static const ts_hbm_request *add_pairs(offering *o, const ts_hbm_request *r, const ts_hbm_request *end) {
    ts_hbm *hbm = o->hbm;
    ts_hbm_stream *st = o->st;
    const int shift = hbm->map->offset_bits, most = (o->limit - hbm->block.bursts) / 2;
    pair_cursor c = open_pairs(hbm, st);
    if (end - r > most) end = r + most;
    do {
        uint64_t location = ts_address_map_pack(hbm->map, (uint64_t)(r->address >> shift)) ^ st->shift;
        add_pair(hbm, &c, location, r->is_write, offered_from(st, r));
    } while (++r < end && is_access(o, r) && !is_after_gap(hbm, r));
    close_pairs(hbm, st, c);
    return r;
}

/* Are the requests from `r` on a group? */
static inline bool is_group(const hbm_group *g, const ts_hbm_request *r, const ts_hbm_request *end) {
    int64_t differ = 0;
    if (end - r < g->count) return false;
    for (int i = 1; i < g->count; i++)
        differ |= (r[i].address ^ r->address ^ g->differ[i]) | (r[i].earliest ^ r->earliest) |
                  (r[i].is_write ^ r->is_write);
    return differ == 0;
}

/* Which pairs of a group are in simulated channels, as bits; counted while not all channels are. */
static inline uint64_t simulated_pairs(const offering *o, uint64_t first, bool is_write) {
    if (o->hbm->share > 1) return hbm_subset_count_group(o->hbm, o->st, first, is_write);
    return UINT64_MAX >> (64 - o->hbm->group.pairs);
}

/* The same of any size and in any share of the channels, in groups; offers blocks when they are full. */
static const ts_hbm_request *add_accesses(offering *o, const ts_hbm_request *r, const ts_hbm_request *end) {
    ts_hbm *hbm = o->hbm;
    const hbm_group *g = &hbm->group;
    pair_cursor c = open_pairs(hbm, o->st);
    int room = (o->limit - hbm->block.bursts) / 2;
    do {
        while (!is_group(g, r, end)) hbm_subset_halve_group(hbm);
        uint64_t first = ts_address_map_pack(hbm->map, (uint64_t)(r->address >> hbm->map->offset_bits));
        uint64_t pairs = simulated_pairs(o, first, r->is_write);
        int32_t from = offered_from(o->st, r);
        for (first ^= o->st->shift; pairs != 0; pairs &= pairs - 1) {
            add_pair(hbm, &c, first ^ g->pair[__builtin_ctzll(pairs)], r->is_write, from);
            if (--room > 0) continue;
            close_pairs(hbm, o->st, c);
            offer_if_full(o);
            c = open_pairs(hbm, o->st);
            room = o->limit / 2;
            from = offered_from(o->st, r);
        }
    } while ((r += g->count) < end && is_access(o, r) && !is_after_gap(hbm, r));
    close_pairs(hbm, o->st, c);
    return r;
}

/* Waits for the burst to be done that leaves the ring of what is not yet; can two bursts follow at once? */
static bool wait_for_ring(offering *o) {
    int32_t ignored = 0;
    if (!hbm_is_done_known(o->st, 0)) {
        offer_rest(o);
        hbm_wait_for_done(o->st, &ignored, FAR);
    }
    return hbm_is_done_known(o->st, 1);
}

/* Adds a burst of a request, or the pair that begins with it, when its channel is simulated; returns the one
 * after. */
static inline int64_t add_burst(offering *o, const ts_hbm_request *r, int64_t burst, int64_t last) {
    ts_hbm *hbm = o->hbm;
    ts_hbm_stream *st = o->st;
    bool is_pair = o->pairs && !(burst & 1) && burst < last;
    uint64_t location = ts_address_map_pack(hbm->map, (uint64_t)burst) ^ st->shift;
    bool is_simulated = (ts_address_channel(location) & (hbm->share - 1)) == 0;
    if (is_simulated && st->in_flight > 0) is_pair &= wait_for_ring(o);
    if (hbm->share > 1) hbm_subset_count(hbm, st, location, r->is_write, 1 + is_pair);
    if (is_simulated) {
        int32_t from = offered_from(st, r);
        if (st->window == 0) from = max32(from, st->latest);
        add_segment(hbm, st, r, location, is_pair, from);
        offer_if_full(o);
    }
    return burst + 1 + is_pair;
}

/* A request that comes after a gap: local cycles may be about to change. */
static void pass_gap_to(offering *o, int64_t earliest) {
    offer_rest(o);
    hbm_to_local(o->hbm, earliest);
}

int64_t ts_hbm_stream_offer_all(ts_hbm_stream *st, const ts_hbm_request *requests, int count, int32_t bytes) {
    ts_hbm *hbm = st->hbm;
    const ts_hbm_request *end = requests + count;
    const int shift = hbm->map->offset_bits;
    offering o = {hbm, st, block_limit(hbm, st), .accepted = ts_hbm_stream_latest(st)};
    if (hbm->begun < 0 && count > 0) hbm->begun = requests->earliest;
    o.pairs = hbm->has_pairs && o.limit > 1;
    if (o.pairs && st->window != 0 && st->in_flight <= 0 && hbm_subset_take(hbm, requests, count, bytes))
        o.access_bytes = bytes;
    const bool is_plain = hbm->share == 1 && bytes == 2 << shift;
    for (const ts_hbm_request *r = requests; r < end;) {
        offer_if_full(&o);
        if (is_after_gap(hbm, r)) pass_gap_to(&o, r->earliest);
        if (is_access(&o, r)) {
            r = (is_plain ? add_pairs : add_accesses)(&o, r, end);
            continue;
        }
        const int64_t last = (r->address + bytes - 1) >> shift;
        while (hbm->group.count > 1) hbm_subset_halve_group(hbm);
        for (int64_t burst = r->address >> shift; burst <= last;) burst = add_burst(&o, r, burst, last);
        r++;
    }
    offer_rest(&o);
    return o.accepted;
}

int64_t ts_hbm_stream_offer(ts_hbm_stream *st, int64_t address, int32_t bytes, bool is_write,
                            int64_t earliest) {
    ts_hbm_request request = {address, earliest, is_write};
    return ts_hbm_stream_offer_all(st, &request, 1, bytes);
}

int64_t ts_hbm_stream_latest(const ts_hbm_stream *st) { return st->hbm->base + st->latest; }

int64_t ts_hbm_stream_done(const ts_hbm_stream *st) {
    int64_t end = hbm_stream_end(st);
    return st->unfinished ? -1 : end < 0 ? ts_max(st->hbm->base - 1, 0) : end;
}
