/* Stepping one channel from one cycle at which something can happen to the next. Included by files that compile it
 * for one instruction set each; everything is static, and all of them do the same.
 *
 * The controller is that of Ramulator 2.1 (CMU-SAFARI/ramulator2, c5b1c3a), in its order: a cycle lets a refresh
 * fall due, then issues one column command, then one row command.
 *   Column: the oldest ready burst whose row was opened for it; else, while no refresh waits, the oldest ready
 *     request to an open row, of the reads or of the writes.
 *   Row: the waiting refresh; else the oldest ready request that needs an ACT, or a PRE that closes no row for
 *     which a burst is active and none that an older request of its queue hits.
 * What was offered at cycle a is seen from a + 1 on. */
#ifndef SIM_MEMORY_HBM_WALK_H
#define SIM_MEMORY_HBM_WALK_H

#include "hbm_channel.h"

static inline int32_t slot_arrival(const hbm_slot *s) { return s->arrival[s->left & 1 ? 0 : 1]; }
static inline int32_t min32(int32_t a, int32_t b) { return a < b ? a : b; }
static inline int key_bank(int32_t key) { return key & ((1 << KEY_BANK_BITS) - 1); }

/* ---- What a bank offers: its oldest hit, and what it would need a row command for. ---- */

static inline void set_row_key(const ts_hbm *hbm, hbm_channel *ch, hbm_queue *q, int bank) {
    uint16_t miss = q->miss[bank], hit = q->hit[bank];
    bool is_open = ch->dram.open_row[bank] != DRAM_CLOSED;
    q->row_key[bank] = KEY_NONE;
    if (miss == NO_SLOT)
        return;
    if (is_open && ch->active_of[bank] != 0)
        return;
    if (is_open && hit != NO_SLOT && hbm->config.scheduler == TS_HBM_SCHEDULER_ROW_HIT &&
        slot_arrival(&q->slots[hit]) <= slot_arrival(&q->slots[miss]))
        return;
    q->row_key[bank] = q->slots[miss].key;
    q->row_bound = min32(q->row_bound, ch->dram.time[is_open ? DRAM_PRE : DRAM_ACT][bank]);
}

static inline void set_hit(hbm_channel *ch, int direction, int bank, uint16_t slot) {
    hbm_queue *q = &ch->queue[direction];
    q->hit[bank] = slot;
    q->hit_key[bank] = slot == NO_SLOT ? KEY_NONE : q->slots[slot].key;
    if (slot != NO_SLOT)
        q->column_bound = min32(q->column_bound, ch->dram.time[direction][bank]);
}

/* The row of a bank has changed: looks through its requests again. */
static void reopen(const ts_hbm *hbm, hbm_channel *ch, int bank) {
    int32_t row = ch->dram.open_row[bank];
    for (int direction = 0; direction < 2; direction++) {
        hbm_queue *q = &ch->queue[direction];
        uint16_t hit = NO_SLOT, miss = NO_SLOT;
        for (uint16_t s = q->first[bank]; s != NO_SLOT && (hit == NO_SLOT || miss == NO_SLOT); s = q->slots[s].next) {
            uint16_t *which = q->slots[s].row == row ? &hit : &miss;
            *which = *which == NO_SLOT ? s : *which;
        }
        q->miss[bank] = miss;
        set_hit(ch, direction, bank, hit);
        set_row_key(hbm, ch, q, bank);
    }
}

/* ---- Taking bursts out of the queues. ---- */

static inline unsigned filter_place(int64_t burst) {
    return (unsigned)((uint64_t)burst * 0x9E3779B97F4A7C15u >> (64 - FILTER_BITS));
}

static inline void unlink_slot(hbm_queue *q, int bank, uint16_t slot) {
    hbm_slot *s = &q->slots[slot];
    *(s->previous == NO_SLOT ? &q->first[bank] : &q->slots[s->previous].next) = s->next;
    *(s->next == NO_SLOT ? &q->last[bank] : &q->slots[s->next].previous) = s->previous;
    if (q->newest == slot)
        q->newest = NO_SLOT;
    s->next = q->free;
    q->free = slot;
}

/* Burst `i` of a request leaves its queue. Its bank's hit and miss are set by the caller. */
static inline void take_burst(hbm_channel *ch, int direction, int bank, uint16_t slot, int i) {
    hbm_queue *q = &ch->queue[direction];
    hbm_slot *s = &q->slots[slot];
    q->count--;
    s->left = (uint8_t)(s->left & ~(1 << i));
    if (direction == DRAM_WRITE)
        ch->filter[filter_place(s->burst + i)]--;
    if (s->left == 0)
        unlink_slot(q, bank, slot);
}

static inline void finish(const ts_hbm *hbm, hbm_channel *ch, int stream, int32_t ticket, int32_t cycle) {
    ts_hbm_stream *st = hbm->streams[stream];
    st->unfinished--;
    st->end = dram_max(st->end, cycle);
    if (st->in_flight >= 0)
        st->done[ticket] = cycle;
    ch->stats.end_cycle = ch->stats.end_cycle < cycle ? cycle : ch->stats.end_cycle;
}

static inline void finish_read(const ts_hbm *hbm, hbm_channel *ch, int stream, int32_t ticket, int32_t arrival,
                               int32_t cycle) {
    int32_t latency = cycle - arrival;
    ch->stats.read_latency_sum += latency;
    ch->stats.read_latency_max = ch->stats.read_latency_max < latency ? latency : ch->stats.read_latency_max;
    finish(hbm, ch, stream, ticket, cycle);
}

static inline void serve(const ts_hbm *hbm, hbm_channel *ch, int direction, int bank, int stream, int32_t ticket,
                         int32_t arrival, int32_t t, int banks_of_pc) {
    uint8_t *last = &ch->last_direction[bank / banks_of_pc];
    if (*last != direction) {
        ch->stats.read_to_write += *last == DRAM_READ;
        ch->stats.write_to_read += *last == DRAM_WRITE;
        *last = (uint8_t)direction;
    }
    dram_column(&ch->dram, direction, bank, t, banks_of_pc);
    if (direction == DRAM_READ)
        finish_read(hbm, ch, stream, ticket, arrival, t + hbm->read_latency);
    else
        finish(hbm, ch, stream, ticket, t);
}

/* ---- Commands. ---- */

static inline void issue_hit(const ts_hbm *hbm, hbm_channel *ch, int direction, int bank, int32_t t, int banks_of_pc) {
    hbm_queue *q = &ch->queue[direction];
    uint16_t slot = q->hit[bank];
    hbm_slot *s = &q->slots[slot];
    int i = s->left & 1 ? 0 : 1;
    ch->stats.row_hits += !(s->counted >> i & 1);
    serve(hbm, ch, direction, bank, s->stream, s->ticket[i], s->arrival[i], t, banks_of_pc);
    uint16_t next = s->next;
    int32_t row = s->row;
    take_burst(ch, direction, bank, slot, i);
    if (s->left == 0) {
        while (next != NO_SLOT && q->slots[next].row != row)
            next = q->slots[next].next;
        set_hit(ch, direction, bank, next);
    }
    if (q->miss[bank] != NO_SLOT)
        set_row_key(hbm, ch, q, bank);
}

/* The oldest ready active burst, or -1; *bound is lowered to when one can be ready. */
static inline int pick_active(const hbm_channel *ch, int32_t t, int32_t *bound) {
    int best = -1;
    for (int i = 0; i < ch->active_count; i++) {
        const hbm_active *a = &ch->active[i];
        int32_t at = ch->dram.time[a->direction][a->bank];
        if (at > t)
            *bound = min32(*bound, at);
        else if (best < 0 || a->arrival < ch->active[best].arrival)
            best = i;
    }
    return best;
}

static inline void issue_active(const ts_hbm *hbm, hbm_channel *ch, int index, int32_t t, int banks_of_pc) {
    hbm_active a = ch->active[index];
    ch->active_count--;
    for (int i = index; i < ch->active_count; i++)
        ch->active[i] = ch->active[i + 1];
    serve(hbm, ch, a.direction, a.bank, a.stream, a.ticket, a.arrival, t, banks_of_pc);
    if (--ch->active_of[a.bank] == 0) {
        set_row_key(hbm, ch, &ch->queue[0], a.bank);
        set_row_key(hbm, ch, &ch->queue[1], a.bank);
    }
}

static void issue_act(const ts_hbm *hbm, hbm_channel *ch, int direction, int bank, int32_t t, int banks_of_pc) {
    hbm_queue *q = &ch->queue[direction];
    uint16_t slot = q->miss[bank];
    hbm_slot *s = &q->slots[slot];
    int i = s->left & 1 ? 0 : 1;
    ch->stats.row_misses += !(s->counted >> i & 1);
    ch->stats.activations++;
    ch->active[ch->active_count++] =
        (hbm_active){s->arrival[i], s->ticket[i], (uint16_t)bank, s->stream, (uint8_t)direction};
    ch->active_of[bank]++;
    ch->row_bus_free = t + hbm->config.act_ticks;
    dram_act(&ch->dram, bank, s->row, t, banks_of_pc);
    take_burst(ch, direction, bank, slot, i);
    reopen(hbm, ch, bank);
}

static void issue_pre(const ts_hbm *hbm, hbm_channel *ch, int direction, int bank, int32_t t, int banks_of_pc) {
    hbm_slot *s = &ch->queue[direction].slots[ch->queue[direction].miss[bank]];
    int i = s->left & 1 ? 0 : 1;
    ch->stats.row_conflicts += !(s->counted >> i & 1);
    s->counted = (uint8_t)(s->counted | 1 << i);
    ch->stats.precharges++;
    ch->row_bus_free = t + hbm->config.row_ticks;
    dram_pre(&ch->dram, bank, t, banks_of_pc);
    reopen(hbm, ch, bank);
}

/* ---- Refresh. ---- */

static bool any_active(const hbm_channel *ch, int first, int count) {
    for (int i = 0; i < ch->active_count; i++) {
        if (ch->active[i].bank >= first && ch->active[i].bank < first + count)
            return true;
    }
    return false;
}

static void refresh_due(const ts_hbm *hbm, hbm_channel *ch) {
    const ts_hbm_timing *t = &hbm->config.timing;
    ch->refresh_waiting += hbm->spec->pcs;
    ch->refresh_at += hbm->config.ticks_per_ck * (hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK ? t->t_refi
                                                                                                 : t->t_refi_pb);
}

static void refresh_issue(const ts_hbm *hbm, hbm_channel *ch, ts_dram_command command, int bank, int32_t t) {
    const dram_spec *s = hbm->spec;
    int first = bank / s->banks_of_pc * s->banks_of_pc;
    ch->row_bus_free = t + hbm->config.row_ticks;
    if (command == TS_DRAM_PRE) {
        dram_pre(&ch->dram, bank, t, s->banks_of_pc);
        reopen(hbm, ch, bank);
    } else {
        dram_rare(&ch->dram, command, bank, t);
    }
    for (int i = first; command == TS_DRAM_PREA && i < first + s->banks_of_pc; i++)
        reopen(hbm, ch, i);
    ch->stats.precharges += command == TS_DRAM_PRE || command == TS_DRAM_PREA;
    if (command == TS_DRAM_REFA || command == TS_DRAM_REFB) {
        ch->stats.refreshes++;
        ch->refresh_waiting--;
        ch->refresh_head = (ch->refresh_head + 1) % s->banks;
    }
}

/* The row slot while a refresh waits: closes what is open, then refreshes. True when a command was issued; else
 * *bound is lowered to when one can be. */
static bool refresh_step(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *bound) {
    const dram_spec *s = hbm->spec;
    bool all = hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK;
    int bank = ch->refresh_head % s->pcs * s->banks_of_pc + (all ? 0 : ch->refresh_head / s->pcs);
    bool is_open = all ? ch->dram.open_banks[bank / s->banks_of_pc] != 0 : ch->dram.open_row[bank] != DRAM_CLOSED;
    ts_dram_command command = is_open ? (all ? TS_DRAM_PREA : TS_DRAM_PRE) : all ? TS_DRAM_REFA : TS_DRAM_REFB;
    int32_t at = (int32_t)dram_earliest(&ch->dram, command, bank).cycle;
    if (is_open && any_active(ch, bank, all ? s->banks_of_pc : 1))
        return false; /* it is served first */
    if (!is_open && s->ticks_per_ck == 2)
        at |= 1;
    if (at <= t && (is_open || s->ticks_per_ck == 1 || (t & 1))) {
        refresh_issue(hbm, ch, command, bank, t);
        return true;
    }
    *bound = min32(*bound, dram_max(at, t + 1));
    return false;
}

/* ---- One cycle. ---- */

static inline void set_mode(const ts_hbm *hbm, hbm_channel *ch) {
    int reads = ch->queue[DRAM_READ].count, writes = ch->queue[DRAM_WRITE].count;
    if (!ch->is_writing)
        ch->is_writing = writes > hbm->write_high || reads == 0;
    else
        ch->is_writing = !(writes < hbm->write_low && reads != 0);
}

/* The lowest key of the banks whose time has come; else the time when the first one's comes, in *bound. */
static inline int32_t pick_hit(const int32_t *key, const int32_t *time, int32_t t, int banks, int32_t *bound) {
    int32_t best = KEY_NONE, first = FAR;
    for (int i = 0; i < banks; i++) {
        best = min32(best, time[i] <= t ? key[i] : KEY_NONE);
        first = min32(first, key[i] != KEY_NONE ? time[i] : FAR);
    }
    *bound = first;
    return best;
}

static inline int32_t pick_row(const ts_dram *d, const int32_t *key, int32_t t, int banks, bool half, int32_t *bound) {
    int32_t best = KEY_NONE, first = FAR, act_t = half && !(t & 1) ? -1 : t;
    for (int i = 0; i < banks; i++) {
        bool closed = d->open_row[i] == DRAM_CLOSED;
        int32_t at = closed ? d->time[DRAM_ACT][i] : d->time[DRAM_PRE][i];
        best = min32(best, at <= (closed ? act_t : t) ? key[i] : KEY_NONE);
        at = half && closed ? at | 1 : at;
        first = min32(first, key[i] != KEY_NONE ? at : FAR);
    }
    *bound = first;
    return best;
}

static inline bool column_step(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *bound, int banks,
                               int banks_of_pc) {
    int index = pick_active(ch, t, bound);
    if (index >= 0) {
        issue_active(hbm, ch, index, t, banks_of_pc);
        return true;
    }
    if (ch->refresh_waiting)
        return false;
    set_mode(hbm, ch);
    int direction = ch->is_writing;
    hbm_queue *q = &ch->queue[direction];
    if (q->column_bound <= t) {
        int32_t key = pick_hit(q->hit_key, ch->dram.time[direction], t, banks, &q->column_bound);
        if (key != KEY_NONE) {
            issue_hit(hbm, ch, direction, key_bank(key), t, banks_of_pc);
            return true;
        }
    }
    *bound = min32(*bound, q->column_bound);
    return false;
}

static inline bool row_step(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *bound, int banks, int banks_of_pc,
                            bool half) {
    if (ch->refresh_waiting)
        return refresh_step(hbm, ch, t, bound);
    set_mode(hbm, ch);
    int direction = ch->is_writing;
    hbm_queue *q = &ch->queue[direction];
    if (ch->row_bus_free <= t && q->row_bound <= t) {
        int32_t key = pick_row(&ch->dram, q->row_key, t, banks, half, &q->row_bound);
        if (key != KEY_NONE) {
            int bank = key_bank(key);
            (ch->dram.open_row[bank] == DRAM_CLOSED ? issue_act : issue_pre)(hbm, ch, direction, bank, t, banks_of_pc);
            return true;
        }
    }
    *bound = min32(*bound, dram_max(q->row_bound, ch->row_bus_free));
    return false;
}

/* The cycle `t` of a channel; returns the next at which something can happen. */
static inline int32_t step(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int banks, int banks_of_pc, bool half) {
    int32_t column = FAR, row = FAR;
    bool issued = false;
    if (t >= ch->refresh_at)
        refresh_due(hbm, ch);
    if (!half || (t & 1))
        issued = column_step(hbm, ch, t, &column, banks, banks_of_pc);
    else
        column = t + 1;
    issued |= row_step(hbm, ch, t, &row, banks, banks_of_pc, half);
    if (issued)
        return t + 1;
    if (half)
        column |= 1;
    return min32(min32(column, dram_max(row, t + 1)), ch->refresh_at);
}

/* ---- Offers. ---- */

/* Ages start again from 0, in order. */
static void lower_ages(hbm_queue *q, int banks) {
    int32_t least = q->age << KEY_BANK_BITS;
    for (int b = 0; b < banks; b++) {
        if (q->first[b] != NO_SLOT)
            least = min32(least, q->slots[q->first[b]].key - b);
    }
    q->age -= least >> KEY_BANK_BITS;
    for (int b = 0; b < banks; b++) {
        for (uint16_t s = q->first[b]; s != NO_SLOT; s = q->slots[s].next)
            q->slots[s].key -= least;
        q->hit_key[b] -= q->hit_key[b] == KEY_NONE ? 0 : least;
        q->row_key[b] -= q->row_key[b] == KEY_NONE ? 0 : least;
    }
}

static inline void append_slot(const ts_hbm *hbm, hbm_channel *ch, int direction, int bank, uint16_t slot) {
    hbm_queue *q = &ch->queue[direction];
    hbm_slot *s = &q->slots[slot];
    s->next = NO_SLOT;
    s->previous = q->last[bank];
    *(s->previous == NO_SLOT ? &q->first[bank] : &q->slots[s->previous].next) = slot;
    q->last[bank] = slot;
    if (s->row == ch->dram.open_row[bank]) {
        if (q->hit[bank] != NO_SLOT)
            return;
        set_hit(ch, direction, bank, slot);
    } else {
        if (q->miss[bank] != NO_SLOT)
            return;
        q->miss[bank] = slot;
    }
    set_row_key(hbm, ch, q, bank);
}

/* A burst that follows the newest one's first, and its row, joins it. */
static inline bool join_newest(hbm_queue *q, int stream, int64_t burst, int bank, int32_t row, int32_t ticket,
                               int32_t at) {
    hbm_slot *s = &q->slots[q->newest];
    if (q->newest == NO_SLOT || s->burst + 1 != burst || s->row != row || key_bank(s->key) != bank ||
        s->stream != stream)
        return false;
    s->left |= 2;
    s->arrival[1] = at;
    s->ticket[1] = ticket;
    q->newest = NO_SLOT;
    return true;
}

static inline void enqueue(const ts_hbm *hbm, hbm_channel *ch, int stream, int direction, int64_t burst, int bank,
                           int32_t row, int32_t ticket, int32_t at) {
    hbm_queue *q = &ch->queue[direction];
    q->count++;
    if (direction == DRAM_WRITE)
        ch->filter[filter_place(burst)]++;
    if (join_newest(q, stream, burst, bank, row, ticket, at))
        return;
    if (q->age >= MAX_AGE)
        lower_ages(q, hbm->spec->banks);
    uint16_t slot = q->free;
    hbm_slot *s = &q->slots[slot];
    q->free = s->next;
    s->burst = burst;
    s->row = row;
    s->key = q->age++ << KEY_BANK_BITS | bank;
    s->arrival[0] = at;
    s->ticket[0] = ticket;
    s->stream = (uint16_t)stream;
    s->left = 1;
    s->counted = 0;
    q->newest = slot;
    append_slot(hbm, ch, direction, bank, slot);
}

/* Whether a write of the burst is queued (not: active). */
static inline bool is_write_queued(const hbm_channel *ch, int64_t burst, int bank) {
    const hbm_queue *q = &ch->queue[DRAM_WRITE];
    if (ch->filter[filter_place(burst)] == 0)
        return false;
    for (uint16_t s = q->first[bank]; s != NO_SLOT; s = q->slots[s].next) {
        int64_t i = burst - q->slots[s].burst;
        if ((i == 0 || i == 1) && (q->slots[s].left >> i & 1))
            return true;
    }
    return false;
}

/* Offers a burst from `earliest` on, after all that wait at its channel; returns when it was accepted. A read of
 * a burst whose write is queued is answered in the next cycle; a write of one is merged into it. */
static inline int32_t offer(ts_hbm *hbm, ts_hbm_stream *st, int64_t burst, int direction, int32_t earliest,
                            int banks, int banks_of_pc, bool half) {
    uint64_t packed = ts_address_map_pack(hbm->map, (uint64_t)burst);
    int bank = (int)(packed >> TS_ADDRESS_COLUMN_BITS & ((1 << TS_ADDRESS_BANK_BITS) - 1));
    packed >>= TS_ADDRESS_COLUMN_BITS + TS_ADDRESS_BANK_BITS;
    hbm_channel *ch = &hbm->channels[packed & ((1 << TS_ADDRESS_CHANNEL_BITS) - 1)];
    int32_t row = (int32_t)(packed >> TS_ADDRESS_CHANNEL_BITS), at = dram_max(earliest, ch->last_accept), ticket = 0;
    hbm_queue *q = &ch->queue[direction];
    while (ch->next <= at)
        ch->next = step(hbm, ch, ch->next, banks, banks_of_pc, half);
    *(direction == DRAM_READ ? &ch->stats.reads : &ch->stats.writes) += 1;
    st->unfinished++;
    if (st->in_flight > 0) {
        ticket = st->done_at;
        st->latest_done = dram_max(st->latest_done, st->done[ticket]);
        st->done[ticket] = ~(int32_t)(ch - hbm->channels);
        st->done_at = ticket + 1 == st->in_flight ? 0 : ticket + 1;
    }
    if (is_write_queued(ch, burst, bank)) {
        ch->last_accept = at;
        if (direction == DRAM_READ) {
            ch->stats.forwarded++;
            finish_read(hbm, ch, st->index, ticket, at, at + 1);
        } else {
            ch->stats.coalesced++;
            finish(hbm, ch, st->index, ticket, at);
        }
        return at;
    }
    while (q->count >= q->entries)
        ch->next = step(hbm, ch, at = ch->next, banks, banks_of_pc, half);
    enqueue(hbm, ch, st->index, direction, burst, bank, row, ticket, at);
    ch->last_accept = at;
    ch->next = min32(ch->next, at + 1);
    return at;
}

#endif
