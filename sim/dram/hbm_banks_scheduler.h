/* The per bank scheduler: a controller that moves one burst a cycle from its read queue, or its write buffer,
 * to a queue of commands for each bank, and visits the banks in turn for the first command that is ready.
 *
 * It follows DRAMsim3 (umd-memsys/DRAMsim3, 2981759: controller.cc, command_queue.cc): writes are drained
 * when their buffer is full, or holds more than write_low and no command waits; a write whose burst is yet to
 * be read ends the draining; a precharge waits for hits in its queue, up to a limit; a column command and
 * another one can be issued in one cycle; while a refresh waits, nothing else is. Each pseudo channel has a
 * controller and command buses of its own. Not as there: once somebody waits for what is done, an idle
 * channel drains the writes that stay below write_low; and where it would stop for ever (hbm->stuck_at),
 * reads go on.
 *
 * Included by files that compile it for one instruction set each; everything is static, and all of them do
 * the same. */
#ifndef TILESIM_DRAM_HBM_BANKS_SCHEDULER_H
#define TILESIM_DRAM_HBM_BANKS_SCHEDULER_H

#include "hbm_banks_queues.h"

/* What the compiler may know of a machine. */
typedef struct {
    int banks, banks_of_pc, banks_of_group;
    int pitch; /* of a bank's commands */
    bool half; /* HBM3: half CKs */
    bool closed_page;
} banks_shape;

ALWAYS static inline int shift_of(const banks_shape sh) { return __builtin_ctz((unsigned)sh.banks_of_group); }

/* A bank's commands, by age. */
ALWAYS static inline uint32_t *keys_of(const struct hbm_banks *b, int bank, const banks_shape sh) {
    return b->commands + 2 * bank * sh.pitch;
}
ALWAYS static inline int32_t *slots_of(const struct hbm_banks *b, int bank, const banks_shape sh) {
    return (int32_t *)b->commands + (2 * bank + 1) * sh.pitch;
}

/* ---- What a bank could do. ---- */

/* Its first command needs the row command that may be issued: a PRE waits for hits, up to a limit. A closed
 * bank has no hits, and no command has its row. */
ALWAYS static inline void set_row(const ts_hbm *hbm, hbm_channel *ch, int bank, const banks_shape sh) {
    struct hbm_banks *b = ch->banks;
    bool has_hits = (b->hits[DRAM_READ] | b->hits[DRAM_WRITE]) >> bank & 1;
    bool is_miss =
        (b->banks[bank].count > 0) & (*keys_of(b, bank, sh) >> 1 != (uint32_t)ch->dram.open_row[bank]);
    put_bit(&b->row, bank, is_miss & (!has_hits | (b->banks[bank].served >= hbm->config.row_hit_limit)));
}

ALWAYS static inline void after_closing(const ts_hbm *hbm, hbm_channel *ch, int bank, const banks_shape sh) {
    for (int direction = 0; direction < 2; direction++) ch->banks->hits[direction] &= ~bit_of(bank);
    set_row(hbm, ch, bank, sh);
}

/* ---- Moving bursts to the banks. ---- */

static inline bool is_to_drain(const ts_hbm *hbm, const struct hbm_banks *b) {
    int reads = b->waiting[DRAM_READ], writes = b->waiting[DRAM_WRITE];
    int least = hbm->is_awaited && reads == 0 ? 0 : hbm->write_low;
    return writes >= hbm->config.write_entries || (b->count == 0 && writes > least);
}

/* The oldest waiting burst whose bank has room, or NONE. */
static inline int32_t oldest(const struct hbm_banks *b, int direction) {
    uint64_t banks = b->waits[direction] & b->room;
    if (banks == 0) return NONE;
    int32_t best = first_in(b, direction, __builtin_ctzll(banks));
    while ((banks &= banks - 1) != 0) {
        int32_t slot = first_in(b, direction, __builtin_ctzll(banks));
        best = (int32_t)(b->entries[slot].age - b->entries[best].age) < 0 ? slot : best;
    }
    return best;
}

ALWAYS static inline void move(const ts_hbm *hbm, hbm_channel *ch, int32_t slot, const banks_shape sh) {
    struct hbm_banks *b = ch->banks;
    entry *e = &b->entries[slot];
    int bank = e->bank, direction = e->is_write, at = b->banks[bank].count++;
    int32_t row = ts_address_row(e->burst);
    if (direction == DRAM_WRITE) e->arrival = max32(e->arrival, b->rested_until); /* for the attribution */
    end_waiting(b, slot);
    keys_of(b, bank, sh)[at] = key_of(row, direction);
    slots_of(b, bank, sh)[at] = slot;
    b->count++;
    b->room ^= (uint64_t)(at + 1 >= hbm->config.bank_entries) << bank;
    uint64_t hit = (uint64_t)(row == ch->dram.open_row[bank]) << bank & ~b->hits[direction];
    b->hits[direction] |= hit;
    if ((hit != 0) | (at == 0)) set_row(hbm, ch, bank, sh);
}

/* Nothing moves any more: writes are to be drained, no read is moved, and the oldest write waits for one. */
static bool is_stuck(ts_hbm *hbm, const hbm_channel *ch, int32_t t) {
    const struct hbm_banks *b = ch->banks;
    if (b->count > 0 || !is_to_drain(hbm, b)) return false;
    if (hbm->stuck_at < 0) hbm->stuck_at = hbm->base + t;
    return true;
}

/* One burst; true when something was done. */
ALWAYS static inline bool move_one(ts_hbm *hbm, hbm_channel *ch, int32_t t, const banks_shape sh) {
    struct hbm_banks *b = ch->banks;
    if (b->draining == 0 && b->waiting[DRAM_WRITE] != 0 && is_to_drain(hbm, b)) {
        b->draining = b->waiting[DRAM_WRITE];
        if (b->count == 0) b->rested_until = t;
    }
    bool is_write = b->draining > 0;
    int32_t slot = oldest(b, is_write);
    if (slot == NONE) return false;
    if (is_write && find(b, b->entries[slot].burst, DRAM_READ) != NONE) { /* the read goes first */
        b->draining = 0;
        if (!is_stuck(hbm, ch, t)) return true;
        is_write = false;
        slot = oldest(b, is_write);
    }
    b->draining -= is_write;
    move(hbm, ch, slot, sh);
    return true;
}

/* ---- What is due. ---- */

typedef struct {
    uint64_t rows, hits[2]; /* banks whose ACT or PRE, and whose columns by direction, can be issued */
} due;

ALWAYS static inline uint64_t due_rows(const hbm_channel *ch, int32_t t, const banks_shape sh) {
    return reached(ch->dram.row_time, ch->banks->row, t, sh.banks);
}

ALWAYS static inline uint64_t due_hits(const hbm_channel *ch, int direction, int32_t t,
                                       const banks_shape sh) {
    uint64_t hits = ch->banks->hits[direction];
    if (hits == 0) return 0;
    return reached_both((group_lanes){ch->dram.column_time[direction], shift_of(sh)},
                        ch->dram.opened_time[direction], hits, t, sh.banks);
}

ALWAYS static inline due find_due(const hbm_channel *ch, int32_t t, const banks_shape sh) {
    return (due){due_rows(ch, t, sh), {due_hits(ch, DRAM_READ, t, sh), due_hits(ch, DRAM_WRITE, t, sh)}};
}

/* When a hit can be served. */
static inline int32_t hit_time(const hbm_channel *ch, int direction, int bank, const banks_shape sh) {
    return max32(ch->dram.column_time[direction][bank >> shift_of(sh)],
                 ch->dram.opened_time[direction][bank]);
}

/* Changes what is due by a row command of one bank: the others' hits are due as before. */
ALWAYS static inline void update_due(const hbm_channel *ch, int bank, int32_t t, due *d,
                                     const banks_shape sh) {
    d->rows = due_rows(ch, t, sh);
    for (int direction = 0; direction < 2; direction++) {
        uint64_t hit = (uint64_t)(hit_time(ch, direction, bank, sh) <= t) << bank;
        d->hits[direction] &= ~bit_of(bank);
        d->hits[direction] |= hit & ch->banks->hits[direction];
    }
}

ALWAYS static inline uint64_t all_of(const due *d) {
    return d->rows | d->hits[DRAM_READ] | d->hits[DRAM_WRITE];
}

/* The first bank of some after the one visited last. */
ALWAYS static inline int visit(struct hbm_banks *b, uint64_t banks) {
    int bank = __builtin_ctzll(banks & b->after ? banks & b->after : banks);
    b->after = ~bit_of(bank) & -bit_of(bank);
    return bank;
}

/* When the next command can be issued. */
ALWAYS static inline int32_t next_due(const hbm_channel *ch, const banks_shape sh) {
    const struct hbm_banks *b = ch->banks;
    least_time least = least_of(least_begin(), ch->dram.row_time, b->row, sh.banks);
    for (int direction = 0; direction < 2; direction++) {
        const group_lanes groups = {ch->dram.column_time[direction], shift_of(sh)};
        if (b->hits[direction] != 0)
            least =
                least_of_both(least, groups, ch->dram.opened_time[direction], b->hits[direction], sh.banks);
    }
    return least_end(least);
}

/* ---- Commands. ---- */

static void count_latency(hbm_channel *ch, int32_t latency) {
    ch->stats.read_latency_sum += latency;
    if (latency > ch->stats.read_latency_max) ch->stats.read_latency_max = latency;
}

/* A burst of a stream is done at `end`. */
ALWAYS static inline void finish(hbm_channel *ch, ts_hbm_stream *st, bool is_write, int32_t arrival,
                                 int32_t ticket, int32_t end) {
    if (!is_write) count_latency(ch, end - arrival);
    st->unfinished--;
    st->end = max32(st->end, end);
    if (st->in_flight > 0) st->done[ticket] = end;
}

static hbm_merged *merged_of(const ts_hbm *hbm, const hbm_channel *ch, const ts_hbm_stream *st,
                             int32_t slot) {
    return &st->merged[hbm_channel_index(hbm, ch->number) * ch->banks->capacity + slot];
}

static void finish_merged(const ts_hbm *hbm, hbm_channel *ch, int32_t slot, int32_t end) {
    for (int i = 0; i < hbm->stream_count; i++) {
        ts_hbm_stream *st = hbm->streams[i];
        hbm_merged *m = merged_of(hbm, ch, st, slot);
        if (m->count == 0) continue;
        ch->stats.read_latency_sum += m->count * end - m->arrivals; /* none longer than of the first */
        st->unfinished -= m->count;
        st->end = max32(st->end, end);
        for (int32_t ticket = m->ticket; st->in_flight > 0 && m->count > 0; m->count--) {
            st->done[ticket] = end;
            ticket = st->merged_next[ticket];
        }
        *m = (hbm_merged){0};
    }
}

/* A served command leaves its bank's queue. */
ALWAYS static inline void leave(const ts_hbm *hbm, hbm_channel *ch, int bank, int at, int32_t end,
                                const banks_shape sh) {
    struct hbm_banks *b = ch->banks;
    uint32_t *keys = keys_of(b, bank, sh), key = keys[at];
    int32_t *slots = slots_of(b, bank, sh), slot = slots[at];
    const entry *e = &b->entries[slot];
    int count = b->banks[bank].count--, direction = e->is_write;
    b->hits[direction] ^= (uint64_t)(find_key(keys, key, at + 1, count) >= count) << bank;
    move_up((int32_t *)keys, at, count);
    move_up(slots, at, count);
    b->count--;
    b->room |= bit_of(bank);
    ch->queue[direction].count--;
    finish(ch, hbm->streams[e->stream], direction, e->arrival, e->ticket, end);
    if (__builtin_expect(e->is_merged, 0)) finish_merged(hbm, ch, slot, end);
    free_entry(b, slot);
}

/* The first command to a bank's open row, of what is due; its place. */
ALWAYS static inline int first_hit(const hbm_channel *ch, int bank, const due *d, const banks_shape sh) {
    const struct hbm_banks *b = ch->banks;
    int count = b->banks[bank].count, is_write = !(d->hits[DRAM_READ] >> bank & 1);
    int32_t row = ch->dram.open_row[bank];
    int at = find_key(keys_of(b, bank, sh), key_of(row, is_write), 0, count);
    if (__builtin_expect(!(d->hits[DRAM_READ] & d->hits[DRAM_WRITE] & bit_of(bank)), 1)) return at;
    return min32(at, find_key(keys_of(b, bank, sh), key_of(row, DRAM_WRITE), 0, count));
}

/* True when it closes the row. */
ALWAYS static inline bool serve(const ts_hbm *hbm, hbm_channel *ch, const entry *e, int bank, int32_t t,
                                const banks_shape sh) {
    int direction = e->is_write;
    int32_t served = ch->banks->banks[bank].served;
    if (__builtin_expect(ch->bus_until[0] != t, 0)) {
        const hbm_column column = {
            .direction = direction, .bank = bank, .arrival = e->arrival, .is_active = served == 0};
        hbm_attribute_column(hbm, ch, &column, t);
    }
    ch->bus_until[0] = t + hbm->burst_ticks;
    ch->stats.row_misses += served == 0;
    ch->banks->banks[bank].served = served += served < UINT16_MAX;
    bool closes = sh.closed_page && served >= hbm->config.page_accesses;
    if (__builtin_expect(hbm->is_observed, 0))
        hbm_tell(hbm, ch, closes ? DRAM_RDA + direction : direction, bank, e->burst, t);
    if (closes)
        dram_rare(&ch->dram, direction ? TS_DRAM_WRA : TS_DRAM_RDA, bank, t);
    else
        dram_column(&ch->dram, direction, bank, bank >> shift_of(sh), t, sh.banks / sh.banks_of_group);
    ch->stats.precharges += closes;
    return closes;
}

ALWAYS static inline void issue_column(const ts_hbm *hbm, hbm_channel *ch, int bank, int at, int32_t t,
                                       const banks_shape sh) {
    struct hbm_banks *b = ch->banks;
    const entry *e = &b->entries[slots_of(b, bank, sh)[at]];
    bool closes = serve(hbm, ch, e, bank, t, sh);
    b->column_burst = e->burst;
    b->column_is_write = e->is_write;
    b->column_at = t;
    leave(hbm, ch, bank, at, e->is_write ? t : t + hbm->read_latency, sh);
    if (closes)
        after_closing(hbm, ch, bank, sh);
    else
        set_row(hbm, ch, bank, sh);
}

ALWAYS static inline void issue_act(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t t,
                                    const banks_shape sh) {
    struct hbm_banks *b = ch->banks;
    const entry *e = &b->entries[*slots_of(b, bank, sh)];
    const uint32_t *keys = keys_of(b, bank, sh);
    int count = b->banks[bank].count;
    int32_t row = ts_address_row(e->burst);
    hbm_keep_cause(ch, DRAM_ACT, bank, e->arrival, t);
    dram_act(&ch->dram, bank, row, t, sh.banks_of_pc, sh.banks_of_group);
    hbm_tell_row(hbm, ch, DRAM_ACT, bank, t);
    for (int direction = 0; direction < 2; direction++)
        b->hits[direction] |= (uint64_t)(find_key(keys, key_of(row, direction), 0, count) < count) << bank;
    b->banks[bank].served = 0;
    b->row &= ~bit_of(bank); /* the first is a hit */
    ch->stats.activations++;
}

ALWAYS static inline void issue_pre(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t t,
                                    const banks_shape sh) {
    const struct hbm_banks *b = ch->banks;
    hbm_keep_cause(ch, DRAM_PRE, bank, b->entries[*slots_of(b, bank, sh)].arrival, t);
    dram_pre(&ch->dram, bank, t, sh.banks_of_pc);
    hbm_tell_row(hbm, ch, DRAM_PRE, bank, t);
    after_closing(hbm, ch, bank, sh);
    ch->stats.precharges++;
}

ALWAYS static inline void issue_row(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t t,
                                    const banks_shape sh) {
    if (ch->dram.open_row[bank] == DRAM_CLOSED)
        issue_act(hbm, ch, bank, t, sh);
    else
        issue_pre(hbm, ch, bank, t, sh);
}

/* One command, and one of the other kind. A column command is not followed by another in its cycle. False:
 * nothing is due. */
ALWAYS static inline bool issue_two(const ts_hbm *hbm, hbm_channel *ch, int32_t t, const banks_shape sh) {
    struct hbm_banks *b = ch->banks;
    due d = find_due(ch, t, sh);
    if (all_of(&d) == 0) return false;
    int bank = visit(b, all_of(&d));
    if (d.rows >> bank & 1) {
        issue_row(hbm, ch, bank, t, sh);
        update_due(ch, bank, t, &d, sh);
        if (all_of(&d) == 0) return true;
        bank = visit(b, all_of(&d));
        if (!(d.rows >> bank & 1)) issue_column(hbm, ch, bank, first_hit(ch, bank, &d, sh), t, sh);
    } else {
        issue_column(hbm, ch, bank, first_hit(ch, bank, &d, sh), t, sh);
        uint64_t rows = due_rows(ch, t, sh);
        if (rows) issue_row(hbm, ch, visit(b, rows), t, sh);
    }
    return true;
}

/* Closes the rows one by one, then refreshes them all (or one bank, in turn). */
static bool refresh_one(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *next, const banks_shape sh) {
    bool all = hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK;
    int first = all ? 0 : ch->refresh_head, count = all ? hbm->spec->banks : 1, open = 0;
    for (int bank = first; bank < first + count; bank++) {
        if (ch->dram.open_row[bank] == DRAM_CLOSED) continue;
        open++;
        if (ch->dram.row_time[bank] <= t) {
            dram_pre(&ch->dram, bank, t, hbm->spec->banks_of_pc);
            hbm_tell_row(hbm, ch, DRAM_PRE, bank, t);
            after_closing(hbm, ch, bank, sh);
            ch->stats.precharges++;
            return true;
        }
        *next = min32(*next, ch->dram.row_time[bank]);
    }
    ts_dram_command command = all ? TS_DRAM_REFA : TS_DRAM_REFB;
    int32_t at = open ? FAR : (int32_t)dram_earliest(&ch->dram, command, first).cycle;
    *next = min32(*next, at);
    if (at > t) return false;
    dram_rare(&ch->dram, command, first, t);
    hbm_tell_row(hbm, ch, all ? DRAM_REFA : DRAM_REFB, first, t);
    hbm_attribute_refresh(hbm, ch, first, t, all ? hbm->spec->refa_to_act : 0, !hbm_banks_rest(hbm, ch));
    ch->refresh_head = (first + 1) % hbm->spec->banks;
    ch->waiting_count = 0;
    ch->stats.refreshes++;
    return true;
}

/* A cycle while a refresh waits. */
static int32_t refreshing(ts_hbm *hbm, hbm_channel *ch, int32_t t, bool busy, const banks_shape sh) {
    int32_t next = FAR;
    if (t >= ch->refresh_at) {
        ch->waiting_count = 1;
        ch->refresh_at += hbm->refresh_ticks;
    }
    busy |= refresh_one(hbm, ch, t, &next, sh);
    return busy ? t + 1 : min32(max32(next, t + 1), ch->refresh_at) | sh.half;
}

ALWAYS static inline int32_t step(ts_hbm *hbm, hbm_channel *ch, int32_t t, const banks_shape sh) {
    if (sh.half && !(t & 1)) return t + 1; /* whole CKs are at odd ticks */
    bool busy = move_one(hbm, ch, t, sh);
    ch->banks->stepped = t;
    if (__builtin_expect((t >= ch->refresh_at) | (ch->waiting_count != 0), 0))
        return refreshing(hbm, ch, t, busy, sh);
    if (issue_two(hbm, ch, t, sh) | busy) return t + 1;
    return min32(max32(next_due(ch, sh), t + 1), ch->refresh_at) | sh.half;
}

/* ---- Simulation, and offers. ---- */

/* Steps to `at`, and on until a queue of bursts has room; returns when it has. */
ALWAYS static inline int32_t step_to_room(ts_hbm *hbm, hbm_channel *ch, int direction, int32_t at,
                                          const banks_shape sh) {
    const int room = direction ? hbm->config.write_entries : hbm->config.read_entries;
    while (true) {
        int32_t t = ch->next;
        if (t > at) {
            if (ch->banks->waiting[direction] < room) return at;
            at = t;
        }
        ch->next = step(hbm, ch, t, sh);
    }
}

typedef struct {
    uint64_t burst;
    ts_hbm_stream *st;
    int32_t ticket, at; /* accepted */
    bool is_write;
} offered;

/* What comes in the cycle of a column command comes before it: the burst is still pending then. */
static inline bool is_just_served(const struct hbm_banks *b, uint64_t burst, int direction, int32_t at) {
    return b->column_burst == burst && b->column_at == at && b->column_is_write == direction;
}

/* A read of a burst that is to be read anyway: they are done together. */
static void merge(const ts_hbm *hbm, hbm_channel *ch, int32_t slot, const offered *o) {
    hbm_merged *m = merged_of(hbm, ch, o->st, slot);
    ch->banks->entries[slot].is_merged = true;
    m->count++;
    m->arrivals += o->at;
    if (o->st->in_flight > 0) {
        o->st->merged_next[o->ticket] = m->ticket;
        m->ticket = o->ticket;
    }
}

static inline void enter(hbm_channel *ch, const offered *o) {
    struct hbm_banks *b = ch->banks;
    int32_t slot = take_entry(b, o->burst);
    entry *e = &b->entries[slot]; /* member by member: copied, it would wait for what is just stored */
    e->arrival = o->at;
    e->ticket = o->ticket;
    e->bank = (uint8_t)ts_address_bank(o->burst);
    e->stream = (uint8_t)o->st->index;
    e->is_write = o->is_write;
    e->is_merged = false;
    begin_waiting(b, slot);
    ch->queue[o->is_write].count++;
    ch->next = min32(ch->next, o->at + 1);
}

static inline bool is_pending(struct hbm_banks *b, const offered *o, int direction) {
    return find(b, o->burst, direction) != NONE || is_just_served(b, o->burst, direction, o->at);
}

/* A write of what is to be written anyway, or a read of what is to be written or read. */
static __attribute__((noinline)) void join(const ts_hbm *hbm, hbm_channel *ch, const offered *o) {
    int32_t read = find(ch->banks, o->burst, DRAM_READ), end = o->at + hbm->read_latency;
    bool from_write = is_pending(ch->banks, o, DRAM_WRITE);
    *(o->is_write ? &ch->stats.coalesced : &ch->stats.forwarded) += 1;
    if (from_write) end = o->is_write ? o->at : o->at + 1;
    if (from_write || read == NONE)
        finish(ch, o->st, o->is_write, o->at, o->ticket, end);
    else
        merge(hbm, ch, read, o);
}

ALWAYS static inline void run(ts_hbm *hbm, ts_hbm_stream *st, hbm_channel *ch, hbm_segment *const *segments,
                              int count, const banks_shape sh) {
    for (int half = 0, i = 0; i < count; i += half == 0) {
        hbm_segment *p = segments[i];
        int32_t at = step_to_room(hbm, ch, p->is_write, max32(p->at[half], ch->last_accept), sh);
        const offered o = {p->location ^ (hbm->pair & -(uint64_t)half), st, p->ticket[half], at, p->is_write};
        ch->accepted[p->is_write]++;
        if (is_pending(ch->banks, &o, DRAM_WRITE) || (!o.is_write && is_pending(ch->banks, &o, DRAM_READ)))
            join(hbm, ch, &o);
        else
            enter(ch, &o);
        p->at[half] = ch->last_accept = at;
        half = p->is_pair & !half;
    }
}

#define BANKS_SIMULATOR(name, ...)                                                                           \
    static void name##_simulate(ts_hbm *hbm, hbm_channel *ch, int32_t until) {                               \
        while (ch->next <= until) ch->next = step(hbm, ch, ch->next, (banks_shape){__VA_ARGS__});            \
    }                                                                                                        \
    static void name##_run(ts_hbm *hbm, ts_hbm_stream *st, hbm_channel *ch, hbm_segment *const *segments,    \
                           int count) {                                                                      \
        run(hbm, st, ch, segments, count, (banks_shape){__VA_ARGS__});                                       \
    }

#define BANKS_SIMULATORS(name)                                                                               \
    BANKS_SIMULATOR(name##_hbm2, 16, 16, 4, 2 * LANES, false, false)                                         \
    BANKS_SIMULATOR(name##_any, hbm->spec->banks, hbm->spec->banks_of_pc, hbm->spec->banks_of_group,         \
                    ch->banks->pitch, hbm->spec->ticks_per_ck == 2, hbm->config.page == TS_HBM_PAGE_CLOSED)  \
    hbm_simulator hbm_banks_simulator_##name(const ts_hbm *hbm) {                                            \
        bool usual = hbm->config.page == TS_HBM_PAGE_OPEN && hbm->config.bank_entries <= LANES;              \
        if (usual && FITS(hbm->spec, 16, 16, 4, 1))                                                          \
            return (hbm_simulator){name##_hbm2_simulate, name##_hbm2_run};                                   \
        return (hbm_simulator){name##_any_simulate, name##_any_run};                                         \
    }

#endif
