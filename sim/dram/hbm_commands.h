/* What a channel's banks offer, and the commands that serve them. Included by what compiles stepping for one
 * instruction set each (hbm_scheduler.h); everything is static. */
#ifndef TILESIM_DRAM_HBM_COMMANDS_H
#define TILESIM_DRAM_HBM_COMMANDS_H

#include "hbm_simulators.h"

ALWAYS static inline int32_t slot_arrival(const hbm_slot *s) { return s->arrival[s->at]; }
ALWAYS static inline uint16_t key_slot(int32_t key) { return (uint16_t)(key & (MAX_ENTRIES - 1)); }

/* The oldest request of a bank; the end of the bank's list when there is none. */
ALWAYS static inline uint16_t first_of(const hbm_queue *q, int bank) {
    return q->links[q->entries + bank].next;
}
ALWAYS static inline uint16_t end_of(const hbm_queue *q, int bank) { return (uint16_t)(q->entries + bank); }
ALWAYS static inline bool is_end(const hbm_queue *q, uint16_t slot) { return slot >= q->entries; }
ALWAYS static inline const hbm_slot *slot_or_end(const hbm_queue *q, uint16_t slot) {
    return &q->slots[min32(slot, q->entries)];
}

/* ---- What a bank offers: its oldest hit, and what it would need a row command for. ---- */

/* A row command of the queue may be possible from a cycle on. */
ALWAYS static inline void bound_row(hbm_queue *q, int32_t at) { q->row_bound = min32(q->row_bound, at); }

/* Something else may be possible from a cycle on. */
ALWAYS static inline void bound_special(hbm_channel *ch, int32_t at) {
    ch->special_at = min32(ch->special_at, at);
    ch->calm_until = min32(ch->calm_until, at);
}

/* While a burst of an open row is active, or an older hit waits, no PRE may be issued. */
ALWAYS static inline void set_row_key(hbm_channel *ch, hbm_queue *q, int bank, const shape sh) {
    const hbm_slot *hit = slot_or_end(q, q->hit[bank]), *miss = slot_or_end(q, q->miss[bank]);
    bool waits = sh.row_hit & (slot_arrival(hit) <= slot_arrival(miss));
    bool is_held = (ch->active_of[bank] != 0) | waits;
    int32_t key = is_held ? KEY_NONE : miss->key;
    lane_set(q->row_key, bank, key);
    bound_row(q, key == KEY_NONE ? FAR : ch->dram.row_time[bank]);
}

/* Hits that are to be served once their row is open, by when that is. */
static void push_opening(hbm_channel *ch, int direction, int bank) {
    int32_t at = ch->dram.opened_time[direction][bank];
    int i = ch->opening_count++;
    for (; i > 0 && ch->opening[i - 1].at > at; i--) ch->opening[i] = ch->opening[i - 1];
    ch->opening[i].at = at;
    ch->opening[i].bank = (int16_t)bank;
    ch->opening[i].direction = (int16_t)direction;
    ch->opening_at = ch->opening[0].at;
    bound_special(ch, at);
    assert(ch->opening_count < 2 * DRAM_MAX_BANKS);
}

static int32_t least_key(const int32_t *keys, unsigned banks) {
    int32_t least = KEY_NONE;
    for (; banks != 0; banks &= banks - 1) least = min32(least, keys[__builtin_ctz(banks)]);
    return least;
}

ALWAYS static inline void set_hit_key(hbm_channel *ch, int direction, int bank, int32_t key,
                                      int group_shift) {
    hbm_queue *q = &ch->queue[direction];
    int group = bank >> group_shift, first = group << group_shift;
    unsigned bit = 1u << (bank - first), hits = q->group_hits[group];
    q->hit_key[bank] = key;
    if (hits != bit || key == KEY_NONE) {
        hits = key == KEY_NONE ? hits & ~bit : hits | bit;
        q->group_hits[group] = (uint16_t)hits;
        key = least_key(q->hit_key + first, hits);
    }
    lane_set_soon(q->group_key, group, key);
    if (key != KEY_NONE) q->column_bound = min32(q->column_bound, ch->dram.column_time[direction][group]);
}

/* A hit counts from the cycle on at which its row is open; `now` is the last one stepped. */
ALWAYS static inline void set_hit(hbm_channel *ch, int direction, int bank, uint16_t slot, int32_t now,
                                  int group_shift) {
    hbm_queue *q = &ch->queue[direction];
    q->hit[bank] = slot;
    if (!is_end(q, slot) && ch->dram.opened_time[direction][bank] > now) {
        if (ch->active_of[bank] != 1 + direction) push_opening(ch, direction, bank);
    } else {
        set_hit_key(ch, direction, bank, slot_or_end(q, slot)->key, group_shift);
    }
}

/* The hits of rows that are open from now on. */
static void open_due(const ts_hbm *hbm, hbm_channel *ch, int32_t t) {
    int due = 0;
    for (; due < ch->opening_count && ch->opening[due].at <= t; due++) {
        int bank = ch->opening[due].bank, direction = ch->opening[due].direction;
        const hbm_queue *q = &ch->queue[direction];
        if (!is_end(q, q->hit[bank]) && ch->dram.opened_time[direction][bank] <= t)
            set_hit_key(ch, direction, bank, q->slots[q->hit[bank]].key, hbm->spec->group_shift);
    }
    ch->opening_count -= due;
    for (int i = 0; i < ch->opening_count; i++) ch->opening[i] = ch->opening[i + due];
    ch->opening_at = ch->opening_count > 0 ? ch->opening[0].at : FAR;
}

/* A bank was closed: all its requests are misses, and none is active. */
static void after_close(const ts_hbm *hbm, hbm_channel *ch, int bank) {
    ch->page_count[bank] = 0;
    ch->page_waits[bank] = false;
    for (int direction = 0; direction < 2; direction++) {
        hbm_queue *q = &ch->queue[direction];
        uint16_t first = first_of(q, bank);
        if (is_end(q, first)) continue;
        if (!is_end(q, q->hit[bank])) {
            q->hit[bank] = end_of(q, bank);
            set_hit_key(ch, direction, bank, KEY_NONE, hbm->spec->group_shift);
        }
        q->miss[bank] = first;
        lane_set_soon(q->row_key, bank, q->slots[first].key);
        bound_row(q, ch->dram.row_time[bank]);
    }
}

/* The oldest request to a row from `slot` on; the end of the list when there is none. */
ALWAYS static inline uint16_t next_hit(const hbm_queue *q, uint16_t slot, int32_t row) {
    while (!is_end(q, slot) && q->links[slot].row != row) slot = q->links[slot].next;
    return slot;
}

/* A row was opened, and a burst of it is active. */
ALWAYS static inline void after_act(hbm_channel *ch, int bank, int32_t row, int32_t now, const shape sh) {
    for (int direction = 0; direction < 2; direction++) {
        hbm_queue *q = &ch->queue[direction];
        uint16_t first = first_of(q, bank), hit, miss = first;
        if (is_end(q, q->miss[bank])) continue;
        hit = next_hit(q, first, row);
        while (q->links[miss].row == row) miss = q->links[miss].next; /* the end of the list has no row */
        q->miss[bank] = miss;
        lane_set_soon(q->row_key, bank, KEY_NONE);
        if (!is_end(q, hit)) set_hit(ch, direction, bank, hit, now, group_shift(sh));
    }
}

/* ---- Taking bursts out of the queues. ---- */

ALWAYS static inline unsigned filter_index(uint64_t location) {
    enum { IN_LINE = 31 }; /* columns beside each other share a cache line */
    uint64_t row = (location >> 5) * 0x9E3779B97F4A7C15u;
    return (unsigned)(row >> (64 - FILTER_BITS) ^ (location & IN_LINE));
}

ALWAYS static inline void unlink_slot(hbm_queue *q, uint16_t slot) {
    hbm_link *s = &q->links[slot];
    q->links[s->previous].next = s->next;
    q->links[s->next].previous = s->previous;
    if (__builtin_expect(q->newest == slot, 0)) q->newest = NO_SLOT;
    s->next = q->free;
    q->free = slot;
}

/* Burst `i` of a request leaves its queue. Its bank's hit and miss are set by the caller. */
ALWAYS static inline void take_burst(const ts_hbm *hbm, hbm_channel *ch, int direction, uint16_t slot,
                                     int i) {
    hbm_queue *q = &ch->queue[direction];
    hbm_slot *s = &q->slots[slot];
    q->count--;
    s->at = (uint8_t)(i + 1);
    if (direction == DRAM_WRITE) ch->filter[filter_index(s->location ^ (i ? hbm->pair : 0))]--;
    if (s->at == s->end) unlink_slot(q, slot);
}

ALWAYS static inline void finish(const ts_hbm *hbm, const hbm_channel *ch, int stream, const int32_t *ticket,
                                 int32_t cycle) {
    ts_hbm_stream *st = hbm->streams[stream];
    st->unfinished -= 1 + ch->represented;
    st->end = max32(st->end, cycle);
    if (__builtin_expect(st->in_flight > 0, 0)) st->done[*ticket] = cycle;
}

ALWAYS static inline void finish_read(const ts_hbm *hbm, hbm_channel *ch, int stream, const int32_t *ticket,
                                      int32_t arrival, int32_t cycle) {
    int32_t latency = cycle - arrival;
    ch->stats.read_latency_sum += latency;
    if (__builtin_expect(latency > ch->stats.read_latency_max, 0)) ch->stats.read_latency_max = latency;
    finish(hbm, ch, stream, ticket, cycle);
}

/* Closed page: the column command of a row that has had enough of them closes it. */
static bool page_closes(const ts_hbm *hbm, const hbm_channel *ch, int bank, bool is_active) {
    return ch->page_count[bank] >= hbm->config.page_accesses && (is_active || ch->active_of[bank] == 0);
}

/* Closed page: a column command; true when the row is closed by it. Else it may be closed as soon as it can
 * be. */
static bool page_column(const ts_hbm *hbm, hbm_channel *ch, int direction, int bank, bool is_active,
                        int32_t t) {
    if (page_closes(hbm, ch, bank, is_active)) {
        dram_rare(&ch->dram, direction == DRAM_READ ? TS_DRAM_RDA : TS_DRAM_WRA, bank, t);
        ch->stats.precharges++;
        ch->page_count[bank] = 0;
        ch->page_waits[bank] = false;
        return true;
    }
    dram_column(&ch->dram, direction, bank, bank >> hbm->spec->group_shift, t, hbm->spec->groups);
    if (++ch->page_count[bank] >= hbm->config.page_accesses && !ch->page_waits[bank]) {
        ch->page_at = min32(ch->page_at, ch->dram.row_time[bank]);
        bound_special(ch, ch->page_at);
    }
    return false;
}

/* Observers are told of a column command; `location`: of its burst. */
ALWAYS static inline void tell_column(const ts_hbm *hbm, const hbm_channel *ch, const hbm_column column,
                                      uint64_t location, int32_t t, const shape sh) {
    bool closes = sh.closed_page && page_closes(hbm, ch, column.bank, column.is_active);
    hbm_tell(hbm, ch, closes ? DRAM_RDA + column.direction : column.direction, column.bank, location, t);
}

/* True when the row is closed by it. */
ALWAYS static inline bool serve(const ts_hbm *hbm, hbm_channel *ch, const hbm_column column, int32_t t,
                                const shape sh) {
    int direction = column.direction, bank = column.bank;
    int32_t *until = &ch->bus_until[bank / sh.banks_of_pc];
    bool closed = false;
    if (__builtin_expect(*until != t, 0)) {
        const hbm_column copy = column; /* else all would be in memory, and not in registers, always */
        hbm_attribute_column(hbm, ch, &copy, t);
    }
    *until = t + hbm->burst_ticks;
    if (sh.closed_page)
        closed = page_column(hbm, ch, direction, bank, column.is_active, t);
    else
        dram_column(&ch->dram, direction, bank, bank / sh.banks_of_group, t, sh.banks / sh.banks_of_group);
    if (direction == DRAM_READ)
        finish_read(hbm, ch, column.stream, column.ticket, column.arrival, t + hbm->read_latency);
    else
        finish(hbm, ch, column.stream, column.ticket, t);
    return closed;
}

/* ---- Commands. ---- */

ALWAYS static inline uint64_t location_of(const ts_hbm *hbm, const hbm_slot *s, int i) {
    return s->location ^ (i ? hbm->pair : 0);
}

/* Serves a hit, and sees whether the other direction is next. */
ALWAYS static inline void issue_hit(const ts_hbm *hbm, hbm_channel *ch, int direction, uint16_t slot,
                                    int32_t t, const shape sh) {
    hbm_queue *q = &ch->queue[direction];
    hbm_slot *s = &q->slots[slot];
    int i = s->at, bank = s->bank;
    const hbm_link link = q->links[slot];
    hbm_column column = {direction, bank, s->stream, s->arrival[i], &q->tickets[2 * slot + i], false};
    if (__builtin_expect(hbm->is_observed, 0)) tell_column(hbm, ch, column, location_of(hbm, s, i), t, sh);
    bool closed = serve(hbm, ch, column, t, sh);
    take_burst(hbm, ch, direction, slot, i);
    if (closed) {
        set_hit(ch, direction, bank, end_of(q, bank), t, group_shift(sh));
        after_close(hbm, ch, bank);
    } else if (s->at == s->end) {
        set_hit(ch, direction, bank, next_hit(q, link.next, link.row), t, group_shift(sh));
    }
    if (!closed && __builtin_expect(!is_end(q, q->miss[bank]), 0)) set_row_key(ch, q, bank, sh);
    bool turns =
        direction == DRAM_READ ? q->count == 0 : q->count < hbm->write_low && ch->queue[DRAM_READ].count != 0;
    if (__builtin_expect(turns, 0)) {
        ch->is_writing = !direction;
        ch->calm_until = 0;
    }
}

/* The first tick from `t` on at which a column command can start. */
ALWAYS static inline int32_t column_edge(int32_t t, const shape sh) { return sh.half ? t | 1 : t; }

/* The active bursts, by when their rows are open. The first, which is the one most often served, leaves a
 * gap. */
ALWAYS static inline hbm_active *active_at(hbm_channel *ch, int i) {
    return &ch->active[ch->active_first + i];
}

/* Since when the burst is waited for; of two that arrived together, the row opened first goes first. */
ALWAYS static inline int64_t active_age(int32_t arrival, int32_t act) {
    return (int64_t)arrival * ((int64_t)1 << 32) + act;
}
ALWAYS static inline int32_t active_arrival(const hbm_active *a) { return (int32_t)(a->age >> 32); }
ALWAYS static inline int32_t active_ready(const hbm_channel *ch, const hbm_active *a) {
    return max32(a->opened, ch->dram.column_time[a->direction][a->group]);
}

/* The oldest ready active burst, or -1. Few rows are open at once with bursts yet to be served: the first two
 * are always looked at, those behind the last are never ready. */
ALWAYS static inline int pick_active(hbm_channel *ch, int32_t t, const shape sh) {
    const hbm_active *first = active_at(ch, 0), *second = active_at(ch, 1), *a;
    int32_t at[2] = {active_ready(ch, first), active_ready(ch, second)}, bound = min32(at[0], at[1]);
    int64_t oldest = at[0] <= t ? first->age : INT64_MAX;
    int best = at[0] <= t ? 0 : -1;
    bool is_second = (at[1] <= t) & (second->age < oldest);
    best = is_second ? 1 : best;
    oldest = is_second ? second->age : oldest;
    for (int i = 2; (a = active_at(ch, i))->opened <= t; i++) {
        bound = min32(bound, active_ready(ch, a));
        if (active_ready(ch, a) > t || a->age >= oldest) continue;
        best = i;
        oldest = a->age;
    }
    ch->active_at = column_edge(min32(bound, a->opened), sh);
    return best;
}

static __attribute__((noinline)) void close_active_gap(hbm_channel *ch) {
    memmove(ch->active, active_at(ch, 0), sizeof(hbm_active) * (size_t)(ch->active_count + ACTIVE_ENDS));
    ch->active_first = 0;
}

ALWAYS static inline void push_active(hbm_channel *ch, hbm_active a, const shape sh) {
    if (__builtin_expect(ch->active_first >= ACTIVE_GAP, 0)) close_active_gap(ch);
    int i = ch->active_count++;
    for (int end = 1; end <= ACTIVE_ENDS; end++) active_at(ch, i + end)->opened = FAR;
    for (; i > 0 && active_at(ch, i - 1)->opened > a.opened; i--) *active_at(ch, i) = *active_at(ch, i - 1);
    *active_at(ch, i) = a;
    ch->active_of[a.bank] = (uint8_t)(1 + a.direction);
    ch->active_at = min32(ch->active_at, column_edge(a.opened, sh));
}

/* The hits that came with it can follow it. */
ALWAYS static inline void remove_active(hbm_channel *ch, int index, int direction, int bank, const shape sh) {
    const hbm_queue *q = &ch->queue[direction];
    ch->active_count--;
    for (int i = index; i > 0; i--) *active_at(ch, i) = *active_at(ch, i - 1);
    ch->active_first++;
    ch->active_of[bank] = 0;
    if (!is_end(q, q->hit[bank]))
        set_hit_key(ch, direction, bank, q->slots[q->hit[bank]].key, group_shift(sh));
    for (int i = 0; i < 2; i++)
        if (ch->queue[i].count != 0) set_row_key(ch, &ch->queue[i], bank, sh);
}

ALWAYS static inline void issue_active(const ts_hbm *hbm, hbm_channel *ch, int index, int32_t t,
                                       const shape sh) {
    const hbm_active *a = active_at(ch, index);
    hbm_column column = {a->direction, a->bank, a->stream, active_arrival(a), &a->ticket, true};
    if (__builtin_expect(hbm->is_observed, 0)) tell_column(hbm, ch, column, a->column, t, sh);
    if (serve(hbm, ch, column, t, sh)) after_close(hbm, ch, column.bank);
    remove_active(ch, index, column.direction, column.bank, sh);
}

ALWAYS static inline void issue_act(const ts_hbm *hbm, hbm_channel *ch, int direction, uint16_t slot,
                                    int32_t t, const shape sh) {
    hbm_queue *q = &ch->queue[direction];
    hbm_slot *s = &q->slots[slot];
    int i = s->at, bank = s->bank;
    int32_t row = q->links[slot].row;
    ch->stats.row_misses += !(s->counted >> i & 1);
    ch->stats.activations++;
    hbm_keep_cause(ch, DRAM_ACT, bank, s->arrival[i], t);
    hbm_take_row_bus(ch, DRAM_ACT, t);
    dram_act(&ch->dram, bank, row, t, sh.banks_of_pc, sh.banks_of_group);
    hbm_tell_row(hbm, ch, DRAM_ACT, bank, t);
    push_active(ch,
                (hbm_active){active_age(s->arrival[i], t), ch->dram.opened_time[direction][bank],
                             q->tickets[2 * slot + i], s->bank, (uint8_t)(bank / sh.banks_of_group),
                             s->stream, (uint8_t)direction,
                             (uint16_t)ts_address_column(location_of(hbm, s, i))},
                sh);
    take_burst(hbm, ch, direction, slot, i);
    after_act(ch, bank, row, t, sh);
}

ALWAYS static inline void issue_pre(const ts_hbm *hbm, hbm_channel *ch, int direction, uint16_t slot,
                                    int32_t t, const shape sh) {
    hbm_slot *s = &ch->queue[direction].slots[slot];
    int i = s->at, bank = s->bank;
    ch->stats.row_conflicts += !(s->counted >> i & 1);
    s->counted = (uint8_t)(s->counted | 1 << i);
    ch->stats.precharges++;
    hbm_keep_cause(ch, DRAM_PRE, bank, s->arrival[i], t);
    hbm_take_row_bus(ch, DRAM_PRE, t);
    dram_pre(&ch->dram, bank, t, sh.banks_of_pc);
    hbm_tell_row(hbm, ch, DRAM_PRE, bank, t);
    after_close(hbm, ch, bank);
}

#endif
