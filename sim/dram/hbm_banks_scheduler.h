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

/* ---- What a bank could do. ---- */

/* Its first command needs the row command that may be issued: a PRE waits for hits, up to a limit. A closed
 * bank has no hits, and no command has its row. */
static inline void set_row(const ts_hbm *hbm, hbm_channel *ch, int bank) {
    struct hbm_banks *b = ch->banks;
    int32_t first = first_in(b, COMMANDS, bank);
    bool has_hits = (b->hits[DRAM_READ] | b->hits[DRAM_WRITE]) >> bank & 1;
    bool is_miss = (first < b->capacity) & (b->entries[first].row != ch->dram.open_row[bank]);
    bool is_wanted = is_miss & (!has_hits | (b->served[bank] >= hbm->config.row_hit_limit));
    put_bit(&b->row, bank, is_wanted);
    b->row_at = min32(b->row_at, is_wanted ? ch->dram.row_time[bank] : FAR);
}

/* When a hit can be served. */
static inline int32_t hit_time(const hbm_channel *ch, int direction, int bank, const shape sh) {
    return max32(ch->dram.column_time[direction][bank >> group_shift(sh)],
                 ch->dram.opened_time[direction][bank]);
}

ALWAYS static inline void set_hit(hbm_channel *ch, int direction, int bank, int32_t slot, const shape sh) {
    struct hbm_banks *b = ch->banks;
    b->first_hit[direction][bank] = slot;
    put_bit(&b->hits[direction], bank, true);
    b->hit_at[direction] = min32(b->hit_at[direction], hit_time(ch, direction, bank, sh));
}

/* The first command of a direction to the open row, from `slot` on. */
ALWAYS static inline void find_hit(hbm_channel *ch, int direction, int bank, int32_t slot, const shape sh) {
    struct hbm_banks *b = ch->banks;
    int32_t row = ch->dram.open_row[bank];
    if (b->held[direction][bank] == 0) slot = b->capacity;
    while (slot < b->capacity && (b->entries[slot].is_write != direction || b->entries[slot].row != row))
        slot = b->entries[slot].next;
    if (slot < b->capacity)
        set_hit(ch, direction, bank, slot, sh);
    else
        put_bit(&b->hits[direction], bank, false);
}

ALWAYS static inline void after_opening(const ts_hbm *hbm, hbm_channel *ch, int bank, const shape sh) {
    for (int direction = 0; direction < 2; direction++)
        find_hit(ch, direction, bank, first_in(ch->banks, COMMANDS, bank), sh);
    ch->banks->served[bank] = 0;
    set_row(hbm, ch, bank);
}

static void after_closing(const ts_hbm *hbm, hbm_channel *ch, int bank) {
    for (int direction = 0; direction < 2; direction++) put_bit(&ch->banks->hits[direction], bank, false);
    set_row(hbm, ch, bank);
}

/* ---- Moving bursts to the banks. ---- */

static bool is_to_drain(const ts_hbm *hbm, const struct hbm_banks *b) {
    int reads = b->waiting[DRAM_READ], writes = b->waiting[DRAM_WRITE];
    int least = hbm->is_awaited && reads == 0 ? 0 : hbm->write_low;
    return writes >= hbm->config.write_entries || (b->commands == 0 && writes > least);
}

/* The oldest waiting burst whose bank has room, or NONE. */
static int32_t oldest(const struct hbm_banks *b, int direction) {
    int32_t best = NONE;
    for (uint64_t banks = b->waits[direction] & b->room; banks != 0; banks &= banks - 1) {
        int32_t slot = first_in(b, direction, __builtin_ctzll(banks));
        if (best == NONE || (int32_t)(b->entries[slot].age - b->entries[best].age) < 0) best = slot;
    }
    return best;
}

ALWAYS static inline void move(const ts_hbm *hbm, hbm_channel *ch, int32_t slot, const shape sh) {
    struct hbm_banks *b = ch->banks;
    entry *e = &b->entries[slot];
    int bank = e->bank, direction = e->is_write;
    remove_from_list(b, e);
    b->waiting[direction]--;
    put_bit(&b->waits[direction], bank, first_in(b, direction, bank) < b->capacity);
    append(b, COMMANDS, slot);
    b->commands++;
    b->held[direction][bank]++;
    if (b->held[DRAM_READ][bank] + b->held[DRAM_WRITE][bank] >= hbm->config.bank_entries)
        put_bit(&b->room, bank, false);
    if (e->row == ch->dram.open_row[bank] && !(b->hits[direction] & bit_of(bank)))
        set_hit(ch, direction, bank, slot, sh);
    set_row(hbm, ch, bank);
}

/* Nothing moves any more: writes are to be drained, so no read is moved, and the oldest write waits for one.
 */
static bool is_stuck(ts_hbm *hbm, const hbm_channel *ch, int32_t t) {
    const struct hbm_banks *b = ch->banks;
    if (b->commands > 0 || !is_to_drain(hbm, b)) return false;
    if (hbm->stuck_at < 0) hbm->stuck_at = hbm->base + t;
    return true;
}

/* One burst; true when something was done. */
ALWAYS static inline bool move_one(ts_hbm *hbm, hbm_channel *ch, int32_t t, const shape sh) {
    struct hbm_banks *b = ch->banks;
    if (b->draining == 0 && b->waiting[DRAM_WRITE] != 0 && is_to_drain(hbm, b))
        b->draining = b->waiting[DRAM_WRITE];
    bool is_write = b->draining > 0;
    int32_t slot = oldest(b, is_write);
    if (slot == NONE) return false;
    if (is_write && find(b, b->entries[slot].burst, false) != NONE) { /* the read goes first */
        b->draining = 0;
        if (!is_stuck(hbm, ch, t)) return true;
        is_write = false;
        slot = oldest(b, is_write);
    }
    b->draining -= is_write;
    move(hbm, ch, slot, sh);
    return true;
}

/* ---- Picking commands. ---- */

typedef struct {
    int bank; /* -1: none */
    int32_t slot;
    bool is_column;
} pick;

/* Banks with a hit of the direction that can be served. */
ALWAYS static inline uint64_t due_hits(hbm_channel *ch, int direction, int32_t t, const shape sh) {
    struct hbm_banks *b = ch->banks;
    if (b->hit_at[direction] > t) return 0;
    const group_lanes groups = {ch->dram.column_time[direction], group_shift(sh)};
    return due_of_both(groups, ch->dram.opened_time[direction], b->hits[direction], t, sh.banks,
                       &b->hit_at[direction]);
}

/* Banks whose ACT or PRE can be issued. */
ALWAYS static inline uint64_t due_rows(hbm_channel *ch, int32_t t, const shape sh) {
    struct hbm_banks *b = ch->banks;
    if (b->row_at > t) return 0;
    return due_of(ch->dram.row_time, b->row, t, sh.banks, &b->row_at);
}

/* The first command that is ready, of the first bank after the one visited last that has one. */
ALWAYS static inline pick pick_next(hbm_channel *ch, int32_t t, const shape sh) {
    struct hbm_banks *b = ch->banks;
    uint64_t rows = due_rows(ch, t, sh);
    uint64_t hits[2] = {due_hits(ch, DRAM_READ, t, sh), due_hits(ch, DRAM_WRITE, t, sh)};
    uint64_t all = rows | hits[0] | hits[1], after = all & ~(bit_of(b->last) * 2 - 1);
    if (all == 0) return (pick){.bank = -1};
    int bank = b->last = __builtin_ctzll(after ? after : all);
    if (rows & bit_of(bank)) return (pick){bank, first_in(b, COMMANDS, bank), false};
    int direction = (hits[DRAM_READ] & bit_of(bank)) == 0;
    if (!direction && hits[DRAM_WRITE] & bit_of(bank))
        direction = (int32_t)(b->entries[b->first_hit[DRAM_WRITE][bank]].age -
                              b->entries[b->first_hit[DRAM_READ][bank]].age) < 0;
    return (pick){bank, b->first_hit[direction][bank], true};
}

/* ---- Commands. ---- */

static void count_latency(hbm_channel *ch, int64_t sum, int32_t longest) {
    ch->stats.read_latency_sum += sum;
    if (longest > ch->stats.read_latency_max) ch->stats.read_latency_max = longest;
}

static void finish(const ts_hbm *hbm, hbm_channel *ch, const entry *e, int32_t end) {
    ts_hbm_stream *st = hbm->streams[e->stream];
    if (!e->is_write) count_latency(ch, end - e->arrival, end - e->arrival);
    st->unfinished--;
    st->end = max32(st->end, end);
    if (st->in_flight > 0) st->done[e->ticket] = end;
}

static hbm_merged *merged_of(const ts_hbm *hbm, const hbm_channel *ch, const ts_hbm_stream *st,
                             int32_t slot) {
    return &st->merged[(ch - hbm->channels) * ch->banks->capacity + slot];
}

/* A read of a burst that is to be read anyway: they are done together. */
static void merge(const ts_hbm *hbm, hbm_channel *ch, int32_t slot, const entry *e) {
    ts_hbm_stream *st = hbm->streams[e->stream];
    hbm_merged *m = merged_of(hbm, ch, st, slot);
    ch->banks->entries[slot].is_merged = true;
    if (m->count++ == 0) m->first = e->arrival;
    m->arrivals += e->arrival;
    if (st->in_flight > 0) {
        st->merged_next[e->ticket] = m->ticket;
        m->ticket = e->ticket;
    }
}

static void finish_merged(const ts_hbm *hbm, hbm_channel *ch, int32_t slot, int32_t end) {
    for (int i = 0; i < hbm->stream_count; i++) {
        ts_hbm_stream *st = hbm->streams[i];
        hbm_merged *m = merged_of(hbm, ch, st, slot);
        if (m->count == 0) continue;
        count_latency(ch, m->count * end - m->arrivals, end - m->first);
        st->unfinished -= m->count;
        st->end = max32(st->end, end);
        for (int32_t ticket = m->ticket; st->in_flight > 0 && m->count > 0; m->count--) {
            st->done[ticket] = end;
            ticket = st->merged_next[ticket];
        }
        *m = (hbm_merged){0};
    }
}

/* What comes in the cycle of a column command comes before it: the burst is still pending then. */
static bool is_just_served(const struct hbm_banks *b, uint64_t burst, bool is_write, int32_t at) {
    return b->column_at == at && b->column_burst == burst && b->column_is_write == is_write;
}

/* A served command leaves its bank's queue. */
static void leave(const ts_hbm *hbm, hbm_channel *ch, int32_t slot, int32_t end) {
    struct hbm_banks *b = ch->banks;
    entry *e = &b->entries[slot];
    int bank = e->bank;
    remove_from_list(b, e);
    b->commands--;
    b->held[e->is_write][bank]--;
    b->room |= bit_of(bank);
    ch->queue[e->is_write].count--;
    finish(hbm, ch, e, end);
    if (e->is_merged) finish_merged(hbm, ch, slot, end);
    free_entry(b, slot);
}

ALWAYS static inline void issue_column(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t slot, int32_t t,
                                       const shape sh) {
    struct hbm_banks *b = ch->banks;
    const entry *e = &b->entries[slot];
    int direction = e->is_write;
    int32_t next = e->next;
    hbm_column column = {
        .direction = direction, .bank = bank, .arrival = e->arrival, .is_active = b->served[bank] == 0};
    if (ch->bus_until[0] != t) hbm_attribute_column(hbm, ch, &column, t);
    ch->bus_until[0] = t + hbm->burst_ticks;
    ch->stats.row_misses += b->served[bank] == 0;
    if (b->served[bank] < UINT16_MAX) b->served[bank]++;
    bool closes = sh.closed_page && b->served[bank] >= hbm->config.page_accesses;
    if (__builtin_expect(hbm->is_observed, 0))
        hbm_tell(hbm, ch, closes ? DRAM_RDA + direction : direction, bank, e->burst, t);
    if (closes)
        dram_rare(&ch->dram, direction ? TS_DRAM_WRA : TS_DRAM_RDA, bank, t);
    else
        dram_column(&ch->dram, direction, bank, bank >> group_shift(sh), t, sh.banks / sh.banks_of_group);
    ch->stats.precharges += closes;
    b->column_burst = e->burst;
    b->column_is_write = e->is_write;
    b->column_at = t;
    leave(hbm, ch, slot, direction ? t : t + hbm->read_latency);
    if (closes) {
        after_closing(hbm, ch, bank);
    } else {
        find_hit(ch, direction, bank, next, sh);
        set_row(hbm, ch, bank);
    }
}

ALWAYS static inline void issue_act(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t slot, int32_t t,
                                    const shape sh) {
    const entry *e = &ch->banks->entries[slot];
    hbm_keep_cause(ch, DRAM_ACT, bank, e->arrival, t);
    dram_act(&ch->dram, bank, e->row, t, sh.banks_of_pc, sh.banks_of_group);
    hbm_tell_row(hbm, ch, DRAM_ACT, bank, t);
    after_opening(hbm, ch, bank, sh);
    ch->stats.activations++;
}

ALWAYS static inline void issue_pre(const ts_hbm *hbm, hbm_channel *ch, int bank, int32_t slot, int32_t t,
                                    const shape sh) {
    hbm_keep_cause(ch, DRAM_PRE, bank, ch->banks->entries[slot].arrival, t);
    dram_pre(&ch->dram, bank, t, sh.banks_of_pc);
    hbm_tell_row(hbm, ch, DRAM_PRE, bank, t);
    after_closing(hbm, ch, bank);
    ch->stats.precharges++;
}

ALWAYS static inline void issue(const ts_hbm *hbm, hbm_channel *ch, pick p, int32_t t, const shape sh) {
    if (p.is_column)
        issue_column(hbm, ch, p.bank, p.slot, t, sh);
    else if (ch->dram.open_row[p.bank] == DRAM_CLOSED)
        issue_act(hbm, ch, p.bank, p.slot, t, sh);
    else
        issue_pre(hbm, ch, p.bank, p.slot, t, sh);
}

/* One command, and one of the other kind. False: *next is when there will be one. */
ALWAYS static inline bool issue_two(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *next,
                                    const shape sh) {
    bool was_column = false;
    for (int i = 0; i < 2; i++) {
        pick p = pick_next(ch, t, sh);
        *next = min32(ch->banks->row_at, min32(ch->banks->hit_at[0], ch->banks->hit_at[1]));
        if (p.bank < 0 || (i == 1 && p.is_column == was_column)) return i == 1;
        was_column = p.is_column;
        issue(hbm, ch, p, t, sh);
    }
    return true;
}

/* Closes the rows one by one, then refreshes them all (or one bank, in turn). */
static bool refresh_one(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *next) {
    bool all = hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK;
    int first = all ? 0 : ch->refresh_head, count = all ? hbm->spec->banks : 1, open = 0;
    for (int bank = first; bank < first + count; bank++) {
        if (ch->dram.open_row[bank] == DRAM_CLOSED) continue;
        open++;
        if (ch->dram.row_time[bank] <= t) {
            dram_pre(&ch->dram, bank, t, hbm->spec->banks_of_pc);
            hbm_tell_row(hbm, ch, DRAM_PRE, bank, t);
            after_closing(hbm, ch, bank);
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
    hbm_attribute_refresh(hbm, ch, first, t, all ? hbm->spec->refa_to_act : 0);
    ch->refresh_head = (first + 1) % hbm->spec->banks;
    ch->waiting_count = 0;
    ch->stats.refreshes++;
    return true;
}

ALWAYS static inline int32_t step(ts_hbm *hbm, hbm_channel *ch, int32_t t, const shape sh) {
    const int32_t half = sh.half; /* whole CKs are at odd ticks */
    int32_t next = FAR;
    if (half && !(t & 1)) return t + 1;
    bool busy = move_one(hbm, ch, t, sh);
    ch->banks->stepped = t;
    if (t >= ch->refresh_at) {
        ch->waiting_count = 1;
        ch->refresh_at += hbm->refresh_ticks;
    }
    busy |= ch->waiting_count ? refresh_one(hbm, ch, t, &next) : issue_two(hbm, ch, t, &next, sh);
    return busy ? t + 1 : min32(max32(next, t + 1), ch->refresh_at) | half;
}

/* ---- Simulation, and offers. ---- */

typedef void simulate_to(ts_hbm *hbm, hbm_channel *ch, int32_t until);

static void enter(hbm_channel *ch, const entry *e) {
    struct hbm_banks *b = ch->banks;
    append(b, e->is_write, make_entry(b, e));
    b->waiting[e->is_write]++;
    put_bit(&b->waits[e->is_write], e->bank, true);
    ch->queue[e->is_write].count++;
    ch->next = min32(ch->next, e->arrival + 1);
}

ALWAYS static inline void offer(ts_hbm *hbm, hbm_channel *ch, entry e, int32_t *earliest,
                                simulate_to *simulate) {
    struct hbm_banks *b = ch->banks;
    int32_t at = max32(*earliest, ch->last_accept), pending;
    int room = e.is_write ? hbm->config.write_entries : hbm->config.read_entries;
    if (ch->next <= at) simulate(hbm, ch, at);
    ch->accepted[e.is_write]++;
    while (b->waiting[e.is_write] >= room) simulate(hbm, ch, at = ch->next);
    e.arrival = at;
    if (find(b, e.burst, true) != NONE || is_just_served(b, e.burst, true, at)) {
        *(e.is_write ? &ch->stats.coalesced : &ch->stats.forwarded) += 1;
        finish(hbm, ch, &e, e.is_write ? at : at + 1);
    } else if (!e.is_write && (pending = find(b, e.burst, false)) != NONE) {
        ch->stats.forwarded++;
        merge(hbm, ch, pending, &e);
    } else if (!e.is_write && is_just_served(b, e.burst, false, at)) {
        ch->stats.forwarded++;
        finish(hbm, ch, &e, at + hbm->read_latency);
    } else {
        enter(ch, &e);
    }
    *earliest = ch->last_accept = at;
}

ALWAYS static inline void run(ts_hbm *hbm, ts_hbm_stream *st, hbm_channel *ch, hbm_segment *const *segments,
                              int count, simulate_to *simulate) {
    for (int i = 0; i < count; i++) {
        hbm_segment *p = segments[i];
        ts_address_location location = ts_address_map_unpack(p->location);
        for (int half = 0; half <= p->is_pair; half++) {
            entry e = {.burst = p->location ^ (half ? hbm->pair : 0),
                       .row = (int32_t)location.row,
                       .ticket = p->ticket[half],
                       .bank = (uint8_t)location.bank,
                       .stream = (uint8_t)st->index,
                       .is_write = p->is_write};
            offer(hbm, ch, e, &p->at[half], simulate);
        }
    }
}

/* The simulators, as in hbm_simulators.h. */
#define BANKS_SIMULATOR(name, ...)                                                                           \
    static void name##_simulate(ts_hbm *hbm, hbm_channel *ch, int32_t until) {                               \
        while (ch->next <= until) ch->next = step(hbm, ch, ch->next, (shape){__VA_ARGS__});                  \
    }                                                                                                        \
    static void name##_run(ts_hbm *hbm, ts_hbm_stream *st, hbm_channel *ch, hbm_segment *const *segments,    \
                           int count) {                                                                      \
        run(hbm, st, ch, segments, count, name##_simulate);                                                  \
    }

#define BANKS_SIMULATORS(name)                                                                               \
    BANKS_SIMULATOR(name##_hbm2, 16, 16, 4, false, false, false)                                             \
    BANKS_SIMULATOR(name##_any, hbm->spec->banks, hbm->spec->banks_of_pc, hbm->spec->banks_of_group,         \
                    hbm->spec->ticks_per_ck == 2, hbm->config.page == TS_HBM_PAGE_CLOSED, false)             \
    hbm_simulator hbm_banks_simulator_##name(const ts_hbm *hbm) {                                            \
        if (hbm->config.page == TS_HBM_PAGE_OPEN && FITS(hbm->spec, 16, 16, 4, 1))                           \
            return (hbm_simulator){name##_hbm2_simulate, name##_hbm2_run};                                   \
        return (hbm_simulator){name##_any_simulate, name##_any_run};                                         \
    }

#endif
