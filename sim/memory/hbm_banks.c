/* The per bank scheduler: a controller that moves one burst a cycle from its read queue, or its write buffer,
 * to a queue of commands for each bank, and visits the banks in turn for the first command that is ready.
 *
 * It follows DRAMsim3 (umd-memsys/DRAMsim3, 2981759: controller.cc, command_queue.cc): writes are drained
 * when their buffer is full, or holds more than write_low and no command waits; a precharge waits for hits in
 * its queue, up to a limit; a column command and another one can be issued in one cycle; while a refresh
 * waits, nothing else is. Each pseudo channel has a controller and command buses of its own. Not as there:
 * once somebody waits for what is done, an idle channel drains the writes that stay below write_low. */
#include "hbm_banks.h"

#include <string.h>

typedef struct {
    uint64_t burst; /* its place */
    int32_t row, arrival, ticket;
    uint8_t bank, stream, is_write;
} entry;

typedef struct {
    int count;
    entry *entries;
} list;

enum { MERGED = 64 };
struct hbm_banks {
    list waiting[2]; /* read queue, write buffer */
    list *of;        /* by bank: its commands */
    int commands;    /* in all of them */
    list merged;     /* reads of bursts that are to be read anyway: they are done together */
    int draining;    /* writes still to be moved before reads are again */
    int last;        /* the bank visited last */
    int32_t stepped; /* the last cycle in which something could happen */
    uint16_t *hits;  /* columns since the row was opened */
};

static void take(list *l, int at) {
    l->count--;
    memmove(l->entries + at, l->entries + at + 1, (size_t)(l->count - at) * sizeof(entry));
}

/* ---- Moving bursts to the banks. ---- */

static bool is_to_drain(const ts_hbm *hbm, const struct hbm_banks *b) {
    int reads = b->waiting[DRAM_READ].count, writes = b->waiting[DRAM_WRITE].count;
    int least = hbm->is_awaited && reads == 0 ? 0 : hbm->write_low;
    return writes >= hbm->config.write_entries || (b->commands == 0 && writes > least);
}

static void set_draining(const ts_hbm *hbm, struct hbm_banks *b) {
    if (b->draining == 0 && is_to_drain(hbm, b)) b->draining = b->waiting[DRAM_WRITE].count;
}

bool hbm_banks_rest(const ts_hbm *hbm, const hbm_channel *ch) {
    const struct hbm_banks *b = ch->banks;
    return b->commands == 0 && b->draining == 0 && b->waiting[DRAM_READ].count == 0 && !is_to_drain(hbm, b);
}

static bool holds(const list *l, uint64_t burst, bool is_write) {
    for (int i = 0; i < l->count; i++) {
        if (l->entries[i].burst == burst && l->entries[i].is_write == is_write) return true;
    }
    return false;
}

/* Whether a read, or a write, of the burst is yet to be served. */
static bool is_pending(const struct hbm_banks *b, uint64_t burst, int bank, bool is_write) {
    return holds(&b->of[bank], burst, is_write) || holds(&b->waiting[is_write], burst, is_write);
}

/* The oldest burst whose bank has room. */
static bool move_one(const ts_hbm *hbm, struct hbm_banks *b) {
    set_draining(hbm, b);
    list *from = &b->waiting[b->draining > 0 ? DRAM_WRITE : DRAM_READ];
    for (int i = 0; i < from->count; i++) {
        entry e = from->entries[i];
        list *to = &b->of[e.bank];
        if (to->count >= hbm->config.bank_entries) continue;
        if (e.is_write && is_pending(b, e.burst, e.bank, false)) {
            b->draining = 0; /* the read goes first */
            return true;
        }
        b->draining -= e.is_write;
        to->entries[to->count++] = e;
        b->commands++;
        take(from, i);
        return true;
    }
    return false;
}

/* ---- Picking commands. ---- */

typedef struct {
    ts_dram_command command; /* 0: none */
    int bank, index;
} pick;

static bool has_earlier_read(const list *l, int index) {
    for (int i = 0; i < index; i++) {
        if (!l->entries[i].is_write && l->entries[i].burst == l->entries[index].burst) return true;
    }
    return false;
}

static bool may_close(const ts_hbm *hbm, const hbm_channel *ch, int bank) {
    const list *l = &ch->banks->of[bank];
    for (int i = 0; i < l->count; i++) {
        if (l->entries[i].row == ch->dram.open_row[bank])
            return ch->banks->hits[bank] >= hbm->config.row_hit_limit;
    }
    return true;
}

/* The first command of a bank's queue that is ready at `t`; *next is lowered to when one that is not will be.
 */
static pick pick_in_bank(const ts_hbm *hbm, const hbm_channel *ch, int bank, int32_t t, int32_t *next) {
    const ts_dram *d = &ch->dram;
    const list *l = &ch->banks->of[bank];
    for (int i = 0; i < l->count; i++) {
        const entry *e = &l->entries[i];
        int32_t at = max32(d->column_time[e->is_write][bank >> hbm->spec->group_shift],
                           d->opened_time[e->is_write][bank]);
        ts_dram_command command = e->is_write ? TS_DRAM_WR : TS_DRAM_RD;
        if (d->open_row[bank] == DRAM_CLOSED) {
            command = TS_DRAM_ACT;
            at = d->act_time[bank];
        } else if (d->open_row[bank] != e->row) {
            command = TS_DRAM_PRE;
            at = d->row_time[bank];
        }
        if (command == TS_DRAM_PRE && (i > 0 || !may_close(hbm, ch, bank))) continue;
        if (command == TS_DRAM_WR && has_earlier_read(l, i)) continue;
        if (at <= t) return (pick){command, bank, i};
        *next = min32(*next, at);
    }
    return (pick){0};
}

static pick pick_next(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *next) {
    int banks = hbm->spec->banks, last = ch->banks->last;
    for (int i = 1; i <= banks; i++) {
        pick p = pick_in_bank(hbm, ch, (last + i) % banks, t, next);
        if (p.command == 0) continue;
        ch->banks->last = p.bank;
        return p;
    }
    return (pick){0};
}

/* ---- Commands. ---- */

static void finish(const ts_hbm *hbm, hbm_channel *ch, const entry *e, int32_t t) {
    ts_hbm_stream *st = hbm->streams[e->stream];
    int32_t end = e->is_write ? t : t + hbm->read_latency;
    if (!e->is_write) {
        ch->stats.read_latency_sum += end - e->arrival;
        if (end - e->arrival > ch->stats.read_latency_max) ch->stats.read_latency_max = end - e->arrival;
    }
    st->unfinished--;
    st->end = max32(st->end, end);
    if (st->in_flight > 0) st->done[e->ticket] = end;
}

static void issue_column(const ts_hbm *hbm, hbm_channel *ch, pick p, int32_t t) {
    struct hbm_banks *b = ch->banks;
    entry e = b->of[p.bank].entries[p.index];
    if (ch->bus_until[0] != t)
        hbm_blame_column(hbm, ch, e.is_write, p.bank, e.arrival, b->hits[p.bank] == 0, t);
    ch->bus_until[0] = t + hbm->burst_ticks;
    ch->stats.row_misses += b->hits[p.bank] == 0;
    if (b->hits[p.bank] < UINT16_MAX) b->hits[p.bank]++;
    if (hbm->config.page == TS_HBM_PAGE_CLOSED && b->hits[p.bank] >= hbm->config.page_accesses) {
        dram_rare(&ch->dram, e.is_write ? TS_DRAM_WRA : TS_DRAM_RDA, p.bank, t);
        ch->stats.precharges++;
    } else {
        dram_column(&ch->dram, e.is_write, p.bank, p.bank >> hbm->spec->group_shift, t, hbm->spec->groups);
    }
    take(&b->of[p.bank], p.index);
    b->commands--;
    ch->queue[e.is_write].count--;
    finish(hbm, ch, &e, t);
    for (int i = b->merged.count - 1; i >= 0 && !e.is_write; i--) {
        if (b->merged.entries[i].burst != e.burst) continue;
        finish(hbm, ch, &b->merged.entries[i], t);
        take(&b->merged, i);
    }
}

static void issue(const ts_hbm *hbm, hbm_channel *ch, pick p, int32_t t) {
    const entry *e = &ch->banks->of[p.bank].entries[p.index];
    if (p.command == TS_DRAM_ACT) {
        ch->act_cause[p.bank] = (uint8_t)hbm_act_cause(hbm, ch, p.bank, e->arrival, t);
        dram_act(&ch->dram, p.bank, e->row, t, hbm->spec->banks_of_pc);
        ch->banks->hits[p.bank] = 0;
        ch->stats.activations++;
    } else if (p.command == TS_DRAM_PRE) {
        ch->pre_cause[p.bank] = (uint8_t)hbm_pre_cause(hbm, ch, p.bank, e->arrival, t);
        dram_pre(&ch->dram, p.bank, t, hbm->spec->banks_of_pc);
        ch->stats.precharges++;
    } else {
        issue_column(hbm, ch, p, t);
    }
}

static bool is_column(pick p) { return p.command == TS_DRAM_RD || p.command == TS_DRAM_WR; }

/* One command, and one of the other kind. */
static bool issue_two(const ts_hbm *hbm, hbm_channel *ch, int32_t t, int32_t *next) {
    pick first = pick_next(hbm, ch, t, next);
    if (first.command == 0) return false;
    issue(hbm, ch, first, t);
    pick second = pick_next(hbm, ch, t, next);
    if (second.command != 0 && is_column(second) != is_column(first)) issue(hbm, ch, second, t);
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
    hbm_blame_refresh(hbm, ch, first, t, all ? hbm->spec->refa_to_act : 0);
    ch->refresh_head = (first + 1) % hbm->spec->banks;
    ch->waiting_count = 0;
    ch->stats.refreshes++;
    return true;
}

static int32_t step(const ts_hbm *hbm, hbm_channel *ch, int32_t t) {
    const ts_hbm_timing *timing = &hbm->config.timing;
    const int32_t half = hbm->config.ticks_per_ck - 1; /* whole CKs are at odd ticks */
    int32_t next = FAR;
    if (half && !(t & 1)) return t + 1;
    bool busy = move_one(hbm, ch->banks);
    ch->banks->stepped = t;
    if (t >= ch->refresh_at) {
        ch->waiting_count = 1;
        ch->refresh_at +=
            hbm->config.ticks_per_ck *
            (hbm->config.refresh == TS_HBM_REFRESH_ALL_BANK ? timing->t_refi : timing->t_refi_pb);
    }
    busy |= ch->waiting_count ? refresh_one(hbm, ch, t, &next) : issue_two(hbm, ch, t, &next);
    return busy ? t + 1 : min32(max32(next, t + 1), ch->refresh_at) | half;
}

/* ---- What the rest of the memory calls. ---- */

void hbm_banks_walk(ts_hbm *hbm, hbm_channel *ch, int32_t until) {
    while (ch->next <= until) ch->next = step(hbm, ch, ch->next);
}

void hbm_banks_await(ts_hbm *hbm) {
    hbm->is_awaited = true;
    for (int i = 0; i < hbm->channel_count; i++) {
        hbm_channel *ch = &hbm->channels[i];
        if (ch->banks) ch->next = min32(ch->next, max32(ch->banks->stepped, ch->last_accept) + 1);
    }
}

static void offer(ts_hbm *hbm, hbm_channel *ch, entry e, int32_t *earliest) {
    list *l = &ch->banks->waiting[e.is_write];
    int32_t at = max32(*earliest, ch->last_accept);
    int room = e.is_write ? hbm->config.write_entries : hbm->config.read_entries;
    hbm_banks_walk(hbm, ch, at);
    ch->accepted[e.is_write]++;
    while (l->count >= room || ch->banks->merged.count >= MERGED) hbm_banks_walk(hbm, ch, at = ch->next);
    e.arrival = at;
    if (is_pending(ch->banks, e.burst, e.bank, true)) {
        *(e.is_write ? &ch->stats.coalesced : &ch->stats.forwarded) += 1;
        finish(hbm, ch, &e, at + 1 - (e.is_write ? 1 : hbm->read_latency));
    } else if (!e.is_write && is_pending(ch->banks, e.burst, e.bank, false)) {
        ch->stats.forwarded++;
        ch->banks->merged.entries[ch->banks->merged.count++] = e;
    } else {
        l->entries[l->count++] = e;
        ch->queue[e.is_write].count++;
        ch->next = min32(ch->next, at + 1);
    }
    *earliest = ch->last_accept = at;
}

void hbm_banks_run(ts_hbm *hbm, ts_hbm_stream *st, hbm_channel *ch, hbm_piece *const *pieces, int count) {
    for (int i = 0; i < count; i++) {
        hbm_piece *p = pieces[i];
        ts_address_place place = ts_address_map_unpack(p->place);
        for (int half = 0; half <= p->is_pair; half++) {
            entry e = {.burst = p->place ^ (half ? hbm->pair : 0),
                       .row = (int32_t)place.row,
                       .ticket = p->ticket[half],
                       .bank = (uint8_t)place.bank,
                       .stream = (uint8_t)st->index,
                       .is_write = p->is_write};
            offer(hbm, ch, e, &p->at[half]);
        }
    }
}

void hbm_banks_init(ts_hbm *hbm, ts_arena *arena, hbm_channel *ch) {
    struct hbm_banks *b = ch->banks = TS_NEW(arena, struct hbm_banks);
    b->waiting[DRAM_READ].entries = TS_NEW_ARRAY(arena, entry, hbm->config.read_entries);
    b->waiting[DRAM_WRITE].entries = TS_NEW_ARRAY(arena, entry, hbm->config.write_entries);
    b->merged.entries = TS_NEW_ARRAY(arena, entry, MERGED);
    b->of = TS_NEW_ARRAY(arena, list, hbm->spec->banks);
    for (int i = 0; i < hbm->spec->banks; i++)
        b->of[i].entries = TS_NEW_ARRAY(arena, entry, hbm->config.bank_entries);
    b->hits = TS_NEW_ARRAY(arena, uint16_t, hbm->spec->banks);
}

void hbm_banks_clear(ts_hbm *hbm, hbm_channel *ch) {
    struct hbm_banks *b = ch->banks;
    b->waiting[0].count = b->waiting[1].count = b->merged.count = b->commands = b->draining = b->last =
        b->stepped = 0;
    for (int i = 0; i < hbm->spec->banks; i++) b->of[i].count = b->hits[i] = 0;
}

static void lower_arrivals(list *l, int32_t shift) {
    for (int i = 0; i < l->count; i++)
        l->entries[i].arrival = max32(l->entries[i].arrival - shift, DRAM_NEVER);
}

void hbm_banks_rebase(ts_hbm *hbm, hbm_channel *ch, int32_t shift) {
    struct hbm_banks *b = ch->banks;
    b->stepped = max32(b->stepped - shift, 0);
    lower_arrivals(&b->waiting[DRAM_READ], shift);
    lower_arrivals(&b->waiting[DRAM_WRITE], shift);
    lower_arrivals(&b->merged, shift);
    for (int bank = 0; bank < hbm->spec->banks; bank++) lower_arrivals(&b->of[bank], shift);
}
