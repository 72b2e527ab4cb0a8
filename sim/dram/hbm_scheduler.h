/* Stepping one channel from one cycle at which something can happen to the next. Included by files that
 * compile it for one instruction set each; everything is static, and all of them do the same.
 *
 * The controller is that of Ramulator 2.1 (CMU-SAFARI/ramulator2, c5b1c3a), in its order: a cycle lets a
 * refresh fall due, then issues one column command, then one row command. Column: the oldest ready burst
 * whose row was opened for it; else, while no refresh waits, the oldest ready request to an open row, of the
 * reads or of the writes. Row: the refresh that waits (or, with closed pages, the PRE); else the oldest ready
 * request that needs an ACT, or a PRE that closes no row for which a burst is active and none that an older
 * request of its queue hits. What was offered at cycle a is seen from a + 1 on. */
#ifndef TILESIM_DRAM_HBM_SCHEDULER_H
#define TILESIM_DRAM_HBM_SCHEDULER_H

#include "hbm_commands.h"

/* ---- Refresh, and rows that are to be closed. ---- */

static bool any_active(hbm_channel *ch, int first, int count) {
    for (int i = 0; i < ch->active_count; i++)
        if (active_at(ch, i)->bank >= first && active_at(ch, i)->bank < first + count) return true;
    return false;
}

static bool any_waits(const hbm_channel *ch, int first, int count) {
    for (int bank = first; bank < first + count; bank++)
        for (int direction = 0; direction < 2; direction++)
            if (!is_end(&ch->queue[direction], ch->queue[direction].hit[bank]) ||
                !is_end(&ch->queue[direction], ch->queue[direction].miss[bank]))
                return true;
    return false;
}

static void wait_for(hbm_channel *ch, ts_dram_command command, int bank) {
    assert(ch->waiting_count < 2 * DRAM_MAX_BANKS);
    ch->waiting[ch->waiting_count].command = (int16_t)command;
    ch->waiting[ch->waiting_count++].bank = (int16_t)bank;
}

/* Each pseudo channel is to be refreshed, or the next bank of the channel (HBM2), or of each pseudo channel
 * (HBM3: those of a stack id are a set, which begins again when its last refresh is over). */
static void refresh_due(const ts_hbm *hbm, hbm_channel *ch, int32_t now) {
    const ts_hbm_timing *t = &hbm->config.timing;
    const dram_spec *s = hbm->spec;
    bool all = hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK;
    bool in_sets = !all && hbm->refresh_pcs == s->pcs;
    int bank = all ? 0 : ch->refresh_head, sid = bank / s->banks_of_sid;
    if (ch->waiting_count > DRAM_MAX_BANKS - s->pcs) { /* more than can be done: later */
        ch->refresh_at = now + 1;
        return;
    }
    if (in_sets && bank % s->banks_of_sid == 0 && ch->refresh_again[sid] > now) {
        ch->refresh_at = ch->refresh_again[sid];
        return;
    }
    for (int pc = 0; pc < hbm->refresh_pcs; pc++)
        wait_for(ch, all ? TS_DRAM_REFA : TS_DRAM_REFB, pc * s->banks_of_pc + bank);
    if (in_sets && (bank + 1) % s->banks_of_sid == 0)
        ch->refresh_again[sid] = now + s->pcs - 1 + t->t_rfc_pb * hbm->config.ticks_per_ck;
    ch->refresh_head = (bank + 1) % (s->banks / hbm->refresh_pcs);
    ch->refresh_at += hbm->refresh_ticks;
}

/* Closed page: the rows that have had enough columns, and can be closed. */
static void pages_due(const ts_hbm *hbm, hbm_channel *ch, int32_t t) {
    ch->page_at = FAR;
    for (int bank = 0; bank < hbm->spec->banks; bank++) {
        int32_t at = max32(ch->dram.row_time[bank], ch->row_bus_free);
        if (ch->page_count[bank] < hbm->config.page_accesses || ch->page_waits[bank]) continue;
        if (at <= t) {
            wait_for(ch, TS_DRAM_PRE, bank);
            ch->page_waits[bank] = true;
        } else {
            ch->page_at = min32(ch->page_at, at);
        }
    }
}

static void issue_waiting(const ts_hbm *hbm, hbm_channel *ch, ts_dram_command command, int bank, int32_t t) {
    const dram_spec *s = hbm->spec;
    int first = bank / s->banks_of_pc * s->banks_of_pc;
    hbm_take_row_bus(ch, __builtin_ctz((unsigned)command), t);
    hbm_tell_row(hbm, ch, __builtin_ctz((unsigned)command), bank, t);
    if (command == TS_DRAM_PRE) {
        if (ch->dram.open_row[bank] == DRAM_CLOSED) /* closed meanwhile */
            dram_count_open(&ch->dram, bank / s->banks_of_pc, t);
        dram_pre(&ch->dram, bank, t, s->banks_of_pc);
    } else {
        dram_rare(&ch->dram, command, bank, t);
    }
    for (int i = first; command == TS_DRAM_PREA && i < first + s->banks_of_pc; i++) after_close(hbm, ch, i);
    if (command == TS_DRAM_PRE) after_close(hbm, ch, bank);
    ch->stats.precharges += command == TS_DRAM_PRE || command == TS_DRAM_PREA;
    if (command == TS_DRAM_REFA || command == TS_DRAM_REFB) {
        bool waits = any_waits(ch, first, s->banks_of_pc) || any_active(ch, first, s->banks_of_pc);
        hbm_attribute_refresh(hbm, ch, bank, t, command == TS_DRAM_REFA ? s->refa_to_act : 0, waits);
        ch->stats.refreshes++;
    }
}

/* The row slot while something waits: closes what is open, then refreshes. True when the slot was used; else
 * *bound is lowered to when it can be. */
static bool waiting_step(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *bound) {
    const dram_spec *s = hbm->spec;
    ts_dram_command wanted = (ts_dram_command)ch->waiting[0].command, command = wanted;
    int bank = ch->waiting[0].bank, count = wanted == TS_DRAM_REFA ? s->banks_of_pc : 1;
    bool is_open =
        count > 1 ? ch->dram.open_banks[bank / s->banks_of_pc] != 0 : ch->dram.open_row[bank] != DRAM_CLOSED;
    if (is_open) command = wanted == TS_DRAM_REFA ? TS_DRAM_PREA : TS_DRAM_PRE;
    if (is_open && any_active(ch, bank, count)) return false; /* it is served first */
    int32_t at = (int32_t)dram_earliest(&ch->dram, command, bank).cycle;
    if (s->ticks_per_ck == 2 && (command == TS_DRAM_REFA || command == TS_DRAM_REFB)) at = max32(at, t) | 1;
    if (at > t) {
        *bound = min32(*bound, at);
        return false;
    }
    issue_waiting(hbm, ch, command, bank, t);
    if (command != wanted) return true;
    ch->waiting_count--;
    for (int i = 0; i < ch->waiting_count; i++) ch->waiting[i] = ch->waiting[i + 1];
    return true;
}

/* ---- One cycle. ---- */

/* Whether the other direction is to be served; evaluated before each pick. */
ALWAYS static inline bool turns(const ts_hbm *hbm, const hbm_channel *ch) {
    const int *reads = &ch->queue[DRAM_READ].count, *writes = &ch->queue[DRAM_WRITE].count;
    if (ch->is_writing) return __builtin_expect(*writes < hbm->write_low && *reads != 0, 0);
    return __builtin_expect(*reads == 0 || *writes > hbm->write_high, 0);
}

/* The column slot, for hits of one direction; returns the bank that was served, or -1. */
ALWAYS static inline int hit_step(const ts_hbm *hbm, hbm_channel *ch, int direction, int32_t t,
                                  const shape sh) {
    hbm_queue *q = &ch->queue[direction];
    int groups = sh.banks / sh.banks_of_group;
    if (q->column_bound > t) return -1;
    int32_t key = pick_key(q->group_key, ch->dram.column_time[direction], t, groups);
    if (__builtin_expect(key == KEY_NONE, 0)) {
        q->column_bound = first_time(q->group_key, ch->dram.column_time[direction], groups);
        return -1;
    }
    int bank = q->slots[key_slot(key)].bank;
    issue_hit(hbm, ch, direction, key_slot(key), t, sh);
    return bank;
}

/* What is not there in most cycles: a refresh falls due, rows become ready for hits. */
static __attribute__((noinline)) void special_due(const ts_hbm *hbm, hbm_channel *ch, int32_t t) {
    if (t >= ch->refresh_at) refresh_due(hbm, ch, t);
    if (t >= ch->page_at) pages_due(hbm, ch, t);
    if (t >= ch->opening_at) open_due(hbm, ch, t);
    ch->special_at = ch->waiting_count != 0 ? 0 : min32(min32(ch->refresh_at, ch->page_at), ch->opening_at);
}

/* No row command of the queue that is served can be issued before. */
ALWAYS static inline int32_t row_first(const hbm_channel *ch) {
    return max32(ch->queue[ch->is_writing].row_bound, ch->row_bus_free);
}

/* The oldest request whose row command can be issued, as a key. */
ALWAYS static inline int32_t pick_row(const hbm_channel *ch, int32_t t, const shape sh) {
    const int32_t *key = ch->queue[ch->is_writing].row_key;
    const ts_dram *d = &ch->dram;
    if (sh.half && !(t & 1)) return pick_open(key, d->open_row, d->row_time, t, sh.banks);
    return pick_key(key, d->row_time, t, sh.banks);
}

/* The row slot. */
ALWAYS static inline void row_step(const ts_hbm *hbm, hbm_channel *ch, int32_t key, int32_t t,
                                   const shape sh) {
    int direction = ch->is_writing;
    hbm_queue *q = &ch->queue[direction];
    if (__builtin_expect(key != KEY_NONE, 1)) {
        uint16_t slot = key_slot(key);
        ch->calm_until = 0;
        if (ch->dram.open_row[q->slots[slot].bank] == DRAM_CLOSED)
            issue_act(hbm, ch, direction, slot, t, sh);
        else
            issue_pre(hbm, ch, direction, slot, t, sh);
        if (!sh.half) return;
    } /* of half CKs, nearly always some pass before the next */
    q->row_bound = first_time(q->row_key, ch->dram.row_time, sh.banks);
}

/* Steps as functions of their own, for one shape: most of what calls them is small, and stays so. */
typedef struct {
    int32_t (*full)(const ts_hbm *hbm, hbm_channel *ch, int32_t t);
    int32_t (*waiting)(const ts_hbm *hbm, hbm_channel *ch, int32_t t);
    void (*row)(const ts_hbm *hbm, hbm_channel *ch, int32_t key, int32_t t);
} steps;

/* A cycle while a refresh waits: of columns, only active bursts are served. */
ALWAYS static inline int32_t waiting_cycle(const ts_hbm *hbm, hbm_channel *ch, int32_t t, const shape sh) {
    int32_t row = FAR;
    int index = column_edge(t, sh) == t && t >= ch->active_at ? pick_active(ch, t, sh) : -1;
    if (index >= 0) issue_active(hbm, ch, index, t, sh);
    if (waiting_step(hbm, ch, t, &row) || index >= 0) return t + 1;
    row = min32(row, column_edge(max32(ch->active_at, t + 1), sh));
    return min32(max32(min32(row, ch->page_at), t + 1), min32(ch->refresh_at, ch->opening_at));
}

/* The column slot; returns the bank that was served, or -1. */
ALWAYS static inline int column_step(const ts_hbm *hbm, hbm_channel *ch, int32_t t, const shape sh) {
    int index = t >= ch->active_at ? pick_active(ch, t, sh) : -1, bank = -1;
    if (index >= 0) {
        bank = active_at(ch, index)->bank;
        issue_active(hbm, ch, index, t, sh);
    } else if (ch->is_writing) {
        bank = hit_step(hbm, ch, DRAM_WRITE, t, sh);
    } else {
        bank = hit_step(hbm, ch, DRAM_READ, t, sh);
    }
    return bank;
}

/* The cycle `t` of a channel, whatever there is to do; returns the next at which something can happen. The
 * row command is picked first, as the two do not wait for each other then: the column command changes what
 * its own bank can do, and the direction that is served. */
ALWAYS static inline int32_t full_step(const ts_hbm *hbm, hbm_channel *ch, int32_t t, const steps by,
                                       const shape sh) {
    ch->calm_until = 0;
    if (__builtin_expect(t >= ch->special_at, 0)) {
        special_due(hbm, ch, t);
        if (ch->waiting_count != 0) return by.waiting(hbm, ch, t);
    }
    if (turns(hbm, ch)) ch->is_writing = !ch->is_writing;
    bool is_writing = ch->is_writing, is_due = row_first(ch) <= t;
    int32_t key = is_due ? pick_row(ch, t, sh) : KEY_NONE;
    int bank = column_edge(t, sh) == t ? column_step(hbm, ch, t, sh) : -1;
    bool is_stale =
        bank >= 0 && (sh.closed_page || ch->dram.row_time[bank] <= t ||
                      (key != KEY_NONE && ch->queue[is_writing].slots[key_slot(key)].bank == bank));
    if (__builtin_expect(is_stale || ch->is_writing != is_writing, 0)) {
        is_due = row_first(ch) <= t;
        key = pick_row(ch, t, sh);
    }
    if (is_due) by.row(hbm, ch, key, t);
    if (turns(hbm, ch)) return t + 1; /* if what arrives meanwhile lets it */
    int32_t row = row_first(ch), column = min32(ch->queue[ch->is_writing].column_bound, ch->active_at);
    ch->calm_until = min32(min32(ch->special_at, ch->active_at), row);
    return max32(min32(min32(column_edge(max32(column, t + 1), sh), row), ch->special_at), t + 1);
}

/* The same. A calm cycle, with a hit of the direction that is served and nothing else, is done here, the rest
 * by `by`. */
ALWAYS static inline int32_t step(const ts_hbm *hbm, hbm_channel *ch, int32_t t, const steps by,
                                  const shape sh) {
    bool is_writing = ch->is_writing;
    if (__builtin_expect(t >= ch->calm_until, 0)) return by.full(hbm, ch, t);
    if (sh.half && !(t & 1)) return t + 1;
    if ((is_writing ? hit_step(hbm, ch, DRAM_WRITE, t, sh) : hit_step(hbm, ch, DRAM_READ, t, sh)) < 0) {
        int32_t next = max32(min32(ch->queue[is_writing].column_bound, ch->calm_until), t + 1);
        return next;
    }
    ch->calm_until = min32(ch->calm_until, row_first(ch));
    if (__builtin_expect(t < ch->calm_until, 1)) return min32(ch->calm_until, column_edge(t + 1, sh));
    if (row_first(ch) <= t) by.row(hbm, ch, pick_row(ch, t, sh), t);
    return t + 1;
}

/* ---- Offers. ---- */

/* Ages start again from 0, in order. */
static void lower_ages(const ts_hbm *hbm, hbm_queue *q) {
    int32_t least = q->age;
    for (int b = 0; b < hbm->spec->banks; b++)
        if (!is_end(q, first_of(q, b))) least = min32(least, q->slots[first_of(q, b)].key >> KEY_SLOT_BITS);
    q->age -= least;
    least <<= KEY_SLOT_BITS;
    for (int b = 0; b < hbm->spec->banks; b++) {
        for (uint16_t s = first_of(q, b); !is_end(q, s); s = q->links[s].next) q->slots[s].key -= least;
        q->hit_key[b] -= q->hit_key[b] == KEY_NONE ? 0 : least;
        q->row_key[b] -= q->row_key[b] == KEY_NONE ? 0 : least;
    }
    for (int g = 0; g < hbm->spec->groups; g++) q->group_key[g] -= q->group_key[g] == KEY_NONE ? 0 : least;
}

/* More bursts in a queue: whether that turns the direction is seen when it is looked at. */
ALWAYS static inline void count_bursts(const ts_hbm *hbm, hbm_channel *ch, int direction, int bursts) {
    int32_t count = ch->queue[direction].count += bursts;
    if (direction == DRAM_WRITE) {
        if (!ch->is_writing && count > hbm->write_high) ch->calm_until = 0;
    } else if (ch->is_writing && ch->queue[DRAM_WRITE].count < hbm->write_low) {
        ch->calm_until = 0;
    }
}

ALWAYS static inline void append_slot(hbm_channel *ch, int direction, int bank, uint16_t slot, int32_t at,
                                      const shape sh) {
    hbm_queue *q = &ch->queue[direction];
    hbm_link *link = &q->links[slot], *end = &q->links[end_of(q, bank)];
    link->next = end_of(q, bank);
    link->previous = end->previous;
    q->links[link->previous].next = slot;
    end->previous = slot;
    if (link->row == ch->dram.open_row[bank]) {
        if (!is_end(q, q->hit[bank])) return;
        set_hit(ch, direction, bank, slot, at, group_shift(sh));
        if (is_end(q, q->miss[bank])) return;
    } else {
        if (!is_end(q, q->miss[bank])) return;
        q->miss[bank] = slot;
        if (ch->dram.open_row[bank] == DRAM_CLOSED) {
            lane_set(q->row_key, bank, q->slots[slot].key);
            bound_row(q, ch->dram.row_time[bank]);
            return;
        }
    }
    set_row_key(ch, q, bank, sh);
}

/* A stream that offers bursts, their channel, and how that is stepped. */
typedef struct {
    ts_hbm *hbm;
    ts_hbm_stream *st;
    hbm_channel *ch;
    steps by;
    shape sh;
} target;

/* The second burst of a request. */
ALWAYS static inline void join(const target o, int direction, const hbm_segment *segment, int32_t at) {
    hbm_queue *q = &o.ch->queue[direction];
    hbm_slot *s = &q->slots[q->newest];
    if (direction == DRAM_WRITE) o.ch->filter[filter_index(segment->location ^ o.hbm->pair)]++;
    s->end = 2;
    s->arrival[1] = at;
    if (o.st->in_flight > 0) q->tickets[2 * q->newest + 1] = segment->ticket[1];
    q->newest = NO_SLOT;
}

ALWAYS static inline void enqueue(const target o, int direction, uint64_t location, int32_t ticket,
                                  int32_t at) {
    hbm_channel *ch = o.ch;
    hbm_queue *q = &ch->queue[direction];
    int bank = ts_address_bank(location);
    if (direction == DRAM_WRITE) ch->filter[filter_index(location)]++;
    if (__builtin_expect(q->age >= MAX_AGE, 0)) lower_ages(o.hbm, q);
    uint16_t slot = q->free;
    hbm_slot *s = &q->slots[slot];
    q->free = q->links[slot].next;
    q->links[slot].row = ts_address_row(location);
    s->location = location;
    s->key = q->age++ << KEY_SLOT_BITS | slot;
    s->arrival[0] = at;
    s->bank = (uint8_t)bank;
    s->stream = (uint8_t)o.st->index;
    s->at = 0;
    s->end = 1;
    s->counted = 0;
    if (o.st->in_flight > 0) q->tickets[2 * slot] = ticket;
    q->newest = slot;
    append_slot(ch, direction, bank, slot, at, o.sh);
    ch->calm_until = min32(ch->calm_until, row_first(ch));
}

static bool find_write(const ts_hbm *hbm, const hbm_channel *ch, uint64_t location) {
    const hbm_queue *q = &ch->queue[DRAM_WRITE];
    for (uint16_t s = first_of(q, ts_address_bank(location)); !is_end(q, s); s = q->links[s].next) {
        uint64_t differ = location ^ q->slots[s].location;
        if (differ != 0 && differ != hbm->pair) continue;
        int burst = differ != 0;
        if (burst >= q->slots[s].at && burst < q->slots[s].end) return true;
    }
    return false;
}

/* Whether a write of the burst is queued (not: active). */
ALWAYS static inline bool is_write_queued(const ts_hbm *hbm, const hbm_channel *ch, uint64_t location) {
    return __builtin_expect(ch->filter[filter_index(location)] != 0, 0) && find_write(hbm, ch, location);
}

/* A read of a burst whose write is queued is answered in the next cycle; a write of one is merged into it. */
static void answer_from_queue(const ts_hbm *hbm, hbm_channel *ch, int stream, int direction, int32_t ticket,
                              int32_t at) {
    ch->queue[direction].newest = NO_SLOT;
    if (direction == DRAM_READ) {
        ch->stats.forwarded++;
        finish_read(hbm, ch, stream, &ticket, at, at + 1);
    } else {
        ch->stats.coalesced++;
        finish(hbm, ch, stream, &ticket, at);
    }
}

/* Is something queued that a burst is answered from? */
ALWAYS static inline bool is_answered(const target o, uint64_t location) {
    return o.ch->queue[DRAM_WRITE].count != 0 && is_write_queued(o.hbm, o.ch, location);
}

/* The channel has bursts more since `at`. */
ALWAYS static inline void look_after(const target o, int32_t at) {
    int32_t next = at + 1 < o.ch->calm_until ? column_edge(at + 1, o.sh) : at + 1;
    o.ch->next = min32(o.ch->next, next);
}

/* Offers a burst after all that wait at its channel, which has been stepped to `at`; returns when it was
 * accepted. */
ALWAYS static inline int32_t offer(const target o, const hbm_segment *segment, int half, int32_t at,
                                   int direction) {
    hbm_channel *ch = o.ch;
    hbm_queue *q = &ch->queue[direction];
    uint64_t location = segment->location ^ (half ? o.hbm->pair : 0);
    if (is_answered(o, location)) {
        answer_from_queue(o.hbm, ch, o.st->index, direction, segment->ticket[half], at);
        return at;
    }
    while (q->count >= q->entries) {
        at = ch->next;
        ch->next = step(o.hbm, ch, at, o.by, o.sh);
    }
    count_bursts(o.hbm, ch, direction, 1);
    if (half && q->newest != NO_SLOT)
        join(o, direction, segment, at);
    else
        enqueue(o, direction, location, segment->ticket[half], at);
    look_after(o, at);
    return at;
}

/* The same for both bursts of a pair, when nothing can happen between them; false when something can. */
ALWAYS static inline bool offer_pair(const target o, hbm_segment *segment, int32_t at, int direction) {
    const hbm_queue *q = &o.ch->queue[direction];
    if (q->count + 2 > q->entries || !segment->is_pair || segment->at[1] > at) return false;
    if (is_answered(o, segment->location) || is_answered(o, segment->location ^ o.hbm->pair)) return false;
    count_bursts(o.hbm, o.ch, direction, 2);
    enqueue(o, direction, segment->location, segment->ticket[0], at);
    join(o, direction, segment, at);
    look_after(o, at);
    segment->at[0] = segment->at[1] = at;
    return true;
}

ALWAYS static inline void offer_segment(const target o, hbm_segment *segment, int direction) {
    int32_t at = o.ch->last_accept;
    for (int half = 0; half <= segment->is_pair; half++) {
        at = max32(at, segment->at[half]);
        while (o.ch->next <= at) o.ch->next = step(o.hbm, o.ch, o.ch->next, o.by, o.sh);
        if (half == 0 && offer_pair(o, segment, at, direction)) break;
        segment->at[half] = at = offer(o, segment, half, at, direction);
    }
    o.ch->last_accept = at;
}

ALWAYS static inline void run(const target o, hbm_segment *const *segments, int count) {
    for (int i = 0; i < count; i++) {
        hbm_segment *p = segments[i];
        __builtin_prefetch(segments[i + 1 < count ? i + 1 : i]);
        o.ch->accepted[p->is_write] += 1 + p->is_pair;
        if (p->is_write)
            offer_segment(o, p, DRAM_WRITE);
        else
            offer_segment(o, p, DRAM_READ);
    }
}

#endif
