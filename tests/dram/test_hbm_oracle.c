/* HBM time against a second model of the same rules: every cycle ticked, every queue scanned, every rule
 * looked up in the list of all commands so far. Nothing of its timing or of its queues is shared. Random
 * machines, random requests. */
#include <stdio.h>
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/rounds.h"
#include "machine/address_map.h"
#include "dram/hbm.h"
#include "tests/support/cmocka.h"

enum { ACT, PRE, PREA, RD, WR, RDA, WRA, REFA, REFB, COMMANDS };
enum { MAX_ENTRIES = 256, MAX_BANKS = 128, KEPT = 4, BURSTS = 800, MAX_BURSTS = 1200, MAX_CHANNELS = 4 };

typedef struct {
    int64_t burst, arrival, row;
    int index, bank;
    bool is_write, counted;
} entry;

typedef struct {
    int count, size;
    entry *list;
} list;

/* A rule that no machine has, beside those of `looked_up`; commands as bits. */
typedef enum { SAME_PC, SAME_SID, OTHER_SID, SAME_GROUP, SAME_BANK, SAME_CHANNEL } relation;
typedef struct {
    int after, before;
    relation how;
    int cycles, window;
} extra_rule;
static extra_rule extra;

/* The last KEPT times of each command on each bank; all-bank commands are kept on the first bank of their pc.
 */
typedef struct {
    const ts_hbm_config *c;
    int64_t times[MAX_BANKS][COMMANDS][KEPT], row[MAX_BANKS], clock, refresh_at;
    int64_t known[COMMANDS][MAX_BANKS]; /* what `earliest` found, until a command is issued; else -1 */
    list reads, writes, active;
    struct {
        int command, bank;
    } waiting[4 * MAX_BANKS];
    int waiting_count, refresh_next;
    int64_t set_again[8];
    int columns[MAX_BANKS];
    bool page_waits[MAX_BANKS];
    bool is_writing;
    int64_t hits, misses, conflicts, forwarded, coalesced, latency_sum, latency_max, end;
    int64_t *done;
} model;

/* ---- The device. ---- */

static int bits_of(const ts_hbm_config *c) { return c->banks * c->bank_groups * c->sids; }
static int length(const ts_hbm_config *c, int command) {
    return command == ACT ? c->act_ticks : command >= RD && command <= WRA ? c->column_ticks : c->row_ticks;
}

static bool related(const ts_hbm_config *c, int a, int b, relation how) {
    int sid = c->banks * c->bank_groups, pc = sid * c->sids;
    switch (how) {
    case SAME_PC:
        return a / pc == b / pc;
    case SAME_SID:
        return a / sid == b / sid;
    case OTHER_SID:
        return a / pc == b / pc && a / sid != b / sid;
    case SAME_GROUP:
        return a / c->banks == b / c->banks;
    case SAME_CHANNEL:
        return true;
    default:
        return a == b;
    }
}

/* The first cycle at which `before` may follow the window-th last `after` in related banks. */
static int64_t follows(const model *m, int after, int before, int bank, relation how, int cycles,
                       int window) {
    const ts_hbm_config *c = m->c;
    int64_t latest[KEPT] = {-1, -1, -1, -1};
    if (cycles <= 0) return 0;
    for (int b = 0; b < bits_of(c) * c->pseudo_channels; b++) {
        for (int k = 0; related(c, b, bank, how) && k < KEPT; k++) {
            int64_t t = m->times[b][after][k];
            for (int i = 0; i < KEPT; i++) {
                if (t > latest[i]) {
                    int64_t swap = latest[i];
                    latest[i] = t;
                    t = swap;
                }
            }
        }
    }
    if (latest[window - 1] < 0) return 0;
    return latest[window - 1] + cycles * c->ticks_per_ck + length(c, after) - length(c, before);
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t looked_up(const model *m, int command, int bank) {
    const ts_hbm_config *c = m->c;
    const ts_hbm_timing *t = &c->timing;
    int write_end = t->t_cwl + t->n_bl;
    int64_t at = 0;
#define FOLLOWS(after, how, cycles) at = most(at, follows(m, after, command, bank, how, cycles, 1))
    for (int b = 0; command != RD && command != WR && b < MAX_BANKS; b++) {
        for (int other = 0; other < COMMANDS; other++)
            if ((other < RD || other > WRA) && m->times[b][other][0] >= 0)
                at = most(at, m->times[b][other][0] + length(c, other));
    }
    switch (command) {
    case RD:
    case WR:
        for (int after = command; after <= command + RDA - RD; after += RDA - RD) { /* and with a precharge */
            FOLLOWS(after, SAME_PC, t->n_bl);
            FOLLOWS(after, SAME_SID, t->t_ccd_s);
            FOLLOWS(after, SAME_GROUP, t->t_ccd_l);
        }
        FOLLOWS(ACT, SAME_BANK, command == RD ? t->t_rcd_rd : t->t_rcd_wr);
        if (command == RD) {
            FOLLOWS(RD, OTHER_SID, t->t_ccd_r);
            FOLLOWS(WR, SAME_PC, write_end + t->t_wtr_s);
            FOLLOWS(WR, SAME_GROUP, write_end + t->t_wtr_l);
            FOLLOWS(RDA, OTHER_SID, t->t_ccd_r);
            FOLLOWS(WRA, SAME_PC, write_end + t->t_wtr_s);
            FOLLOWS(WRA, SAME_GROUP, write_end + t->t_wtr_l);
        } else {
            FOLLOWS(RD, SAME_PC, t->t_rtw);
            FOLLOWS(RDA, SAME_PC, t->t_rtw);
        }
        break;
    case ACT:
        FOLLOWS(ACT, SAME_PC, t->t_rrd_s);
        FOLLOWS(ACT, SAME_GROUP, t->t_rrd_l);
        FOLLOWS(ACT, SAME_BANK, t->t_rc);
        at = most(at, follows(m, ACT, ACT, bank, SAME_PC, t->t_faw, 4));
        FOLLOWS(PRE, SAME_BANK, t->t_rp);
        FOLLOWS(PREA, SAME_PC, t->t_rp);
        FOLLOWS(REFA, SAME_PC, t->t_rfc);
        FOLLOWS(REFB, SAME_PC, t->t_rrefd);
        FOLLOWS(REFB, SAME_BANK, t->t_rfc_pb);
        FOLLOWS(RDA, SAME_BANK, t->t_rtp + t->t_rp);
        FOLLOWS(WRA, SAME_BANK, write_end + t->t_wr + t->t_rp);
        break;
    case PRE:
    case PREA:
        FOLLOWS(ACT, command == PRE ? SAME_BANK : SAME_PC, t->t_ras);
        FOLLOWS(RD, command == PRE ? SAME_BANK : SAME_PC, t->t_rtp);
        FOLLOWS(WR, command == PRE ? SAME_BANK : SAME_PC, write_end + t->t_wr);
        FOLLOWS(PRE, SAME_PC, t->t_ppd);
        FOLLOWS(PREA, SAME_PC, t->t_ppd);
        if (command == PREA) FOLLOWS(REFA, SAME_PC, t->t_rfc);
        break;
    case REFA:
        FOLLOWS(ACT, SAME_PC, t->t_rc);
        FOLLOWS(PRE, SAME_PC, t->t_rp);
        FOLLOWS(PREA, SAME_PC, t->t_rp);
        FOLLOWS(REFA, SAME_PC, t->t_rfc);
        FOLLOWS(RDA, SAME_PC, t->t_rtp + t->t_rp);
        FOLLOWS(WRA, SAME_PC, write_end + t->t_wr + t->t_rp);
        break;
    default:
        FOLLOWS(ACT, SAME_BANK, t->t_rc);
        FOLLOWS(ACT, SAME_PC, t->t_rrd_s);
        FOLLOWS(PRE, SAME_BANK, t->t_rp);
        FOLLOWS(PREA, SAME_PC, t->t_rp);
        FOLLOWS(REFB, SAME_PC, t->t_rrefd);
        FOLLOWS(REFB, SAME_BANK, t->t_rfc_pb);
        FOLLOWS(RDA, SAME_BANK, t->t_rtp + t->t_rp);
        FOLLOWS(WRA, SAME_BANK, write_end + t->t_wr + t->t_rp);
        break;
    }
#undef FOLLOWS
    for (int after = 0; after < COMMANDS && extra.before >> command & 1; after++)
        if (extra.after >> after & 1)
            at = most(at, follows(m, after, command, bank, extra.how, extra.cycles, extra.window));
    return at;
}

static int64_t earliest(model *m, int command, int bank) {
    if (m->known[command][bank] < 0) m->known[command][bank] = looked_up(m, command, bank);
    return m->known[command][bank];
}

static void issue(model *m, int command, int bank, int64_t row) {
    int pc = bits_of(m->c), first = bank / pc * pc;
    int noted = command == PREA || command == REFA ? first : bank;
    memmove(&m->times[noted][command][1], &m->times[noted][command][0], (KEPT - 1) * sizeof(int64_t));
    m->times[noted][command][0] = m->clock;
    memset(m->known, 0xff, sizeof m->known);
    if (command == ACT) m->row[bank] = row;
    for (int b = first; b < first + pc; b++) {
        if (command == PREA || (b == bank && (command == PRE || command == RDA || command == WRA))) {
            m->row[b] = -1;
            m->columns[b] = 0;
            m->page_waits[b] = false;
        }
    }
    m->columns[bank] += command == RD || command == WR;
}

/* ---- The controller. ---- */

static void take(list *l, int at) {
    memmove(&l->list[at], &l->list[at + 1], (size_t)(--l->count - at) * sizeof(entry));
}

static void finish(model *m, const entry *e) {
    int64_t read_ticks = (m->c->timing.t_cl + m->c->timing.n_bl) * m->c->ticks_per_ck;
    int64_t end = m->clock + (e->is_write ? 0 : read_ticks);
    m->done[e->index] = end;
    m->end = most(m->end, end);
    if (!e->is_write) {
        m->latency_sum += end - e->arrival;
        m->latency_max = most(m->latency_max, end - e->arrival);
    }
}

static int needs(const model *m, const entry *e) {
    if (m->row[e->bank] < 0) return ACT;
    return m->row[e->bank] == e->row ? (e->is_write ? WR : RD) : PRE;
}

static bool is_active(const model *m, int first, int count) {
    for (int i = 0; i < m->active.count; i++)
        if (m->active.list[i].bank >= first && m->active.list[i].bank < first + count) return true;
    return false;
}

static bool keeps_row(const model *m, const list *l, const entry *e) {
    for (int i = 0; i < l->count && m->c->scheduler == TS_HBM_SCHEDULER_ROW_HIT; i++) {
        const entry *other = &l->list[i];
        if (other->bank == e->bank && other->row == m->row[e->bank] && other->arrival <= e->arrival)
            return true;
    }
    return false;
}

/* The oldest entry whose next command is of the wanted kind and ready, or -1. */
static int pick(model *m, const list *l, bool column) {
    bool edge = m->c->ticks_per_ck == 1 || (m->clock & 1);
    int best = -1;
    for (int i = 0; i < l->count; i++) {
        const entry *e = &l->list[i];
        int command = needs(m, e);
        if ((command == RD || command == WR) != column || (!edge && command != PRE)) continue;
        if (command == PRE && (is_active(m, e->bank, 1) || keeps_row(m, l, e))) continue;
        if (earliest(m, command, e->bank) <= m->clock && (best < 0 || e->arrival < l->list[best].arrival))
            best = i;
    }
    return best;
}

static void count_row(model *m, entry *e) {
    if (!e->counted) {
        int command = needs(m, e);
        *(command == ACT ? &m->misses : command == PRE ? &m->conflicts : &m->hits) += 1;
    }
    e->counted = true;
}

static void set_mode(model *m) {
    const ts_hbm_config *c = m->c;
    if (!m->is_writing)
        m->is_writing =
            m->writes.count * 100 > c->write_high_percent * c->write_entries || m->reads.count == 0;
    else
        m->is_writing =
            !(m->writes.count * 100 < c->write_low_percent * c->write_entries && m->reads.count != 0);
}

static void column_slot(model *m) {
    list *l = &m->active;
    int at = pick(m, l, true);
    bool is_last = at >= 0; /* nothing else of its bank is active */
    if (at < 0 && m->waiting_count == 0) {
        set_mode(m);
        l = m->is_writing ? &m->writes : &m->reads;
        at = pick(m, l, true);
    }
    if (at < 0) return;
    entry e = l->list[at];
    int command = e.is_write ? WR : RD;
    count_row(m, &e);
    if (m->c->page == TS_HBM_PAGE_CLOSED && m->columns[e.bank] >= m->c->page_accesses &&
        (is_last || !is_active(m, e.bank, 1)))
        command += RDA - RD;
    issue(m, command, e.bank, 0);
    finish(m, &e);
    take(l, at);
}

static void wait_for(model *m, int command, int bank) {
    m->waiting[m->waiting_count].command = command;
    m->waiting[m->waiting_count++].bank = bank;
}

static void waiting_slot(model *m) {
    const ts_hbm_config *c = m->c;
    int wanted = m->waiting[0].command, command = wanted, bank = m->waiting[0].bank;
    int count = wanted == REFA ? bits_of(c) : 1;
    bool open = false, edge = c->ticks_per_ck == 1 || (m->clock & 1);
    for (int b = bank; b < bank + count; b++) open |= m->row[b] >= 0;
    if (open) command = wanted == REFA ? PREA : PRE;
    if (earliest(m, command, bank) > m->clock || (open && is_active(m, bank, count)) ||
        (command != PRE && command != PREA && !edge))
        return;
    issue(m, command, bank, 0);
    if (command == wanted)
        memmove(m->waiting, m->waiting + 1, (size_t)--m->waiting_count * sizeof m->waiting[0]);
}

/* HBM2: one bank of the channel at a time, so all of them in the time of those of one pseudo channel. */
static int64_t refresh_interval(const ts_hbm_config *c) {
    if (c->refresh == TS_HBM_REFRESH_ALL_BANK) return c->ticks_per_ck * c->timing.t_refi;
    if (c->ticks_per_ck == 2) return 2 * c->timing.t_refi_pb;
    return (c->timing.t_refi_pb + c->pseudo_channels - 1) / c->pseudo_channels;
}

static void one_bank_falls_due(model *m) {
    wait_for(m, REFB, m->refresh_next);
    m->refresh_next = (m->refresh_next + 1) % (bits_of(m->c) * m->c->pseudo_channels);
    m->refresh_at += refresh_interval(m->c);
}

static void refresh_falls_due(model *m) {
    const ts_hbm_config *c = m->c;
    if (c->refresh == TS_HBM_REFRESH_PER_BANK && c->ticks_per_ck == 1) {
        one_bank_falls_due(m);
        return;
    }
    int sid_banks = c->banks * c->bank_groups, bank = m->refresh_next;
    bool all = c->refresh == TS_HBM_REFRESH_ALL_BANK;
    if (!all && bank % sid_banks == 0 && m->clock < m->set_again[bank / sid_banks]) {
        m->refresh_at++;
        return;
    }
    for (int pc = 0; pc < c->pseudo_channels; pc++)
        wait_for(m, all ? REFA : REFB, pc * bits_of(c) + (all ? 0 : bank));
    if (!all && bank % sid_banks == sid_banks - 1)
        m->set_again[bank / sid_banks] =
            m->clock + c->pseudo_channels - 1 + c->timing.t_rfc_pb * c->ticks_per_ck;
    m->refresh_next = all ? 0 : (bank + 1) % bits_of(c);
    m->refresh_at += refresh_interval(c);
}

static void rows_fall_due(model *m) {
    for (int bank = 0; bank < bits_of(m->c) * m->c->pseudo_channels; bank++) {
        if (m->columns[bank] < m->c->page_accesses || m->page_waits[bank] ||
            earliest(m, PRE, bank) > m->clock)
            continue;
        wait_for(m, PRE, bank);
        m->page_waits[bank] = true;
    }
}

static void row_slot(model *m) {
    if (m->waiting_count > 0) {
        waiting_slot(m);
        return;
    }
    set_mode(m);
    list *l = m->is_writing ? &m->writes : &m->reads;
    int at = pick(m, l, false);
    if (at < 0) return;
    entry *e = &l->list[at];
    int command = needs(m, e);
    count_row(m, e);
    issue(m, command, e->bank, e->row);
    if (command == ACT) {
        m->active.list[m->active.count++] = *e;
        take(l, at);
    }
}

static void tick(model *m) {
    const ts_hbm_config *c = m->c;
    m->clock++;
    if (m->clock == m->refresh_at) refresh_falls_due(m);
    if (c->page == TS_HBM_PAGE_CLOSED) rows_fall_due(m);
    if (c->ticks_per_ck == 1 || (m->clock & 1)) column_slot(m);
    row_slot(m);
}

/* False when there is no room. */
static bool offer(model *m, const entry *e) {
    list *l = e->is_write ? &m->writes : &m->reads;
    for (int i = 0; i < m->writes.count; i++) {
        if (m->writes.list[i].burst != e->burst) continue;
        *(e->is_write ? &m->coalesced : &m->forwarded) += 1;
        m->done[e->index] = m->clock + !e->is_write;
        m->end = most(m->end, m->done[e->index]);
        m->latency_sum += !e->is_write;
        m->latency_max = most(m->latency_max, !e->is_write);
        return true;
    }
    if (l->count == l->size) return false;
    l->list[l->count] = *e;
    l->list[l->count].arrival = m->clock;
    l->count++;
    return true;
}

/* ---- Requests, and a front end that offers them. ---- */

typedef struct {
    ts_hbm_config config;
    int64_t lookahead, in_flight; /* bytes; -1 unlimited */
    int count;                    /* bursts */
    int64_t burst[MAX_BURSTS], earliest[MAX_BURSTS];
    bool is_write[MAX_BURSTS];
    char map[160];
} test_case;

static int64_t accepted[MAX_BURSTS], done[MAX_BURSTS];
static entry storage[MAX_CHANNELS][2 * MAX_ENTRIES + MAX_BANKS];
static model models[MAX_CHANNELS];

static bool may_offer(const test_case *t, int i, int oldest, int oldest_undone, int64_t clock) {
    int64_t window = t->lookahead / t->config.burst_bytes, flight = t->in_flight / t->config.burst_bytes;
    if (t->earliest[i] > clock) return false;
    if (t->in_flight >= 0 && i >= oldest_undone + (flight ? flight : 1)) return false;
    return t->lookahead < 0 || i < oldest + window || i == oldest;
}

static bool is_done(int i, int64_t clock) { return done[i] >= 0 && done[i] < clock; }

/* Offers all that may be at this cycle, channel by channel in order; `blocked`: channels that refused. */
static void offer_all(const test_case *t, const ts_address_location *places, int *oldest, int *oldest_undone,
                      int64_t clock) {
    bool blocked[MAX_CHANNELS] = {false};
    bool in_order = t->lookahead == 0;
    int first = *oldest, undone = *oldest_undone;
    for (int i = first; i < t->count && (in_order || may_offer(t, i, first, undone, clock)); i++) {
        int channel = places[i].channel;
        if (in_order && !may_offer(t, i, i, undone, clock)) break;
        if (accepted[i] >= 0 || blocked[channel]) continue;
        entry e = {t->burst[i], 0, places[i].row, i, places[i].bank, t->is_write[i], false};
        if (offer(&models[channel], &e)) {
            accepted[i] = clock;
        } else {
            blocked[channel] = true;
            if (in_order) break;
        }
    }
    while (*oldest < t->count && accepted[*oldest] >= 0) (*oldest)++;
}

static void run_model(const test_case *t, const ts_address_location *places) {
    int channels = t->config.channels, oldest = 0, oldest_undone = 0;
    bool busy = true;
    memset(models, 0, sizeof models);
    for (int i = 0; i < t->count; i++) accepted[i] = done[i] = -1;
    for (int i = 0; i < channels; i++) {
        model *m = &models[i];
        memset(m->times, 0xff, sizeof m->times);
        memset(m->known, 0xff, sizeof m->known);
        memset(m->row, 0xff, sizeof m->row);
        m->c = &t->config;
        m->done = done;
        m->refresh_at = t->config.refresh == TS_HBM_REFRESH_NONE ? -1 : refresh_interval(&t->config);
        m->reads = (list){0, t->config.read_entries, storage[i]};
        m->writes = (list){0, t->config.write_entries, storage[i] + MAX_ENTRIES};
        m->active = (list){0, MAX_BANKS, storage[i] + 2 * MAX_ENTRIES};
    }
    for (int64_t clock = 0; busy; clock++) {
        while (oldest_undone < t->count && is_done(oldest_undone, clock)) oldest_undone++;
        offer_all(t, places, &oldest, &oldest_undone, clock);
        busy = oldest < t->count;
        for (int i = 0; i < channels; i++) {
            tick(&models[i]);
            busy |= models[i].reads.count + models[i].writes.count + models[i].active.count > 0;
        }
        if (clock > 10000000) fail_msg("the model does not end");
    }
}

/* ---- Comparing. ---- */

static int commands_of(int set) {
    static const ts_dram_command by[COMMANDS] = {TS_DRAM_ACT, TS_DRAM_PRE,  TS_DRAM_PREA,
                                                 TS_DRAM_RD,  TS_DRAM_WR,   TS_DRAM_RDA,
                                                 TS_DRAM_WRA, TS_DRAM_REFA, TS_DRAM_REFB};
    int commands = 0;
    for (int i = 0; i < COMMANDS; i++) commands |= set >> i & 1 ? (int)by[i] : 0;
    return commands;
}

/* The default ones and `extra`. */
static ts_dram_rules rules_of(ts_arena *arena, const ts_hbm_config *config) {
    static const ts_dram_level levels[] = {TS_DRAM_PC,    TS_DRAM_SID,  TS_DRAM_OTHER_SID,
                                           TS_DRAM_GROUP, TS_DRAM_BANK, TS_DRAM_CHANNEL};
    ts_dram_rules given = ts_dram_rules_of(arena, config);
    ts_dram_rule *more = TS_NEW_ARRAY(arena, ts_dram_rule, given.count + 1);
    memcpy(more, given.rows, (size_t)given.count * sizeof *more);
    more[given.count] = (ts_dram_rule){.name = "extra",
                                       .level = levels[extra.how],
                                       .after = commands_of(extra.after),
                                       .before = commands_of(extra.before),
                                       .cycles = extra.cycles,
                                       .window = extra.window,
                                       .limiter = TS_HBM_LIMITER_LATENCY};
    return (ts_dram_rules){more, given.count + (extra.cycles > 0)};
}

static void compare(const test_case *t, int seed) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source text = {"map", t->map, strlen(t->map)};
    ts_address_map *map = ts_address_map_new(&err, arena, &t->config, &text);
    ts_hbm *hbm = ts_hbm_new_with_rules(&err, arena, &t->config, 1, rules_of(arena, &t->config));
    if (!hbm || !map) fail_msg("seed %d: %s", seed, err.message);
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, t->lookahead, t->in_flight);
    ts_address_location *places = TS_NEW_ARRAY(arena, ts_address_location, t->count);
    for (int i = 0; i < t->count; i++)
        places[i] = ts_address_map_unpack(ts_address_map_pack(map, (uint64_t)t->burst[i]));
    run_model(t, places);
    for (int i = 0; i < t->count; i++) {
        int32_t bytes = t->config.burst_bytes;
        int64_t at = ts_hbm_stream_offer(stream, t->burst[i] * bytes, bytes, t->is_write[i], t->earliest[i]);
        if (at != accepted[i])
            fail_msg("seed %d: burst %d was accepted at %lld, expected %lld", seed, i, (long long)at,
                     (long long)accepted[i]);
    }
    ts_hbm_stats s;
    model sum = {.end = ts_hbm_drain(hbm)};
    ts_hbm_read_stats(hbm, &s);
    int64_t end = 0, limiters = 0;
    for (int i = 0; i < t->config.channels; i++) {
        sum.hits += models[i].hits, sum.misses += models[i].misses, sum.conflicts += models[i].conflicts;
        sum.forwarded += models[i].forwarded, sum.coalesced += models[i].coalesced;
        sum.latency_sum += models[i].latency_sum;
        sum.latency_max = most(sum.latency_max, models[i].latency_max);
        end = most(end, models[i].end);
    }
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) {
        limiters += s.limiter_cycles[i];
        assert_true(s.limiter_cycles[i] >= 0);
    }
    const struct {
        const char *what;
        int64_t is, expected;
    } rows[] = {
        {"end", sum.end, end},
        {"row hits", s.row_hits, sum.hits},
        {"row misses", s.row_misses, sum.misses},
        {"row conflicts", s.row_conflicts, sum.conflicts},
        {"forwarded", s.forwarded, sum.forwarded},
        {"coalesced", s.coalesced, sum.coalesced},
        {"latency", s.read_latency_sum, sum.latency_sum},
        {"longest latency", s.read_latency_max, sum.latency_max},
        {"done", ts_hbm_stream_done(stream), end},
        {"limiters", limiters, end * t->config.channels * t->config.pseudo_channels},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].is != rows[i].expected)
            fail_msg("seed %d: %s is %lld, expected %lld", seed, rows[i].what, (long long)rows[i].is,
                     (long long)rows[i].expected);
    }
    ts_arena_free(arena);
}

/* ---- Random machines and requests. ---- */

static uint64_t random_state;
static int64_t below(int64_t n) {
    random_state += 0x9E3779B97F4A7C15u;
    uint64_t z = (random_state ^ (random_state >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)n);
}
static int32_t among(int32_t from, int32_t to) { return (int32_t)(from + below(to - from + 1)); }

static void random_timing(ts_hbm_timing *t) {
    int32_t *values[] = {&t->t_cl,    &t->t_cwl, &t->t_rcd_rd, &t->t_rcd_wr, &t->t_rp,
                         &t->t_ras,   &t->t_rc,  &t->t_wr,     &t->t_rtp,    &t->t_rrd_s,
                         &t->t_rrd_l, &t->t_faw, &t->t_wtr_s,  &t->t_wtr_l};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        *values[i] += among(0, 3) == 0 ? among(-*values[i] / 4, *values[i] / 2) : 0;
    t->t_ccd_l += among(0, 2);
    t->t_rtw = t->t_cl + t->n_bl + among(1, 4) - t->t_cwl;
    t->t_ppd = among(0, 3);
    t->t_rfc = among(40, 300);
    t->t_refi = among(600, 4000);
    t->t_rfc_pb = among(20, 160);
    t->t_refi_pb = among(150, 400);
}

static void random_config(test_case *t) {
    static const char *const maps[] = {"A", "B", "H", "robaracoch", "mop4clxor", "rorabgbachco"};
    ts_hbm_config *c = &t->config;
    *c = hbm2;
    c->channels = 1 << below(3);
    c->pseudo_channels = 1 << below(2);
    c->sids = 1 << below(2);
    c->bank_groups = 1 << below(3);
    c->banks = 1 << among(1, 3);
    c->rows = 1 << among(4, 10);
    c->row_bytes = 32 << among(3, 6);
    random_timing(&c->timing);
    if (below(3) == 0) {
        c->ticks_per_ck = 2;
        c->act_ticks = 3;
        c->column_ticks = 2;
        c->timing.t_ppd = among(1, 2);
        c->timing.t_ccd_r = among(2, 4);
    }
    c->read_entries = among(1, below(4) ? 64 : 200);
    c->write_entries = among(1, below(4) ? 64 : 200);
    c->write_high_percent = among(40, 95);
    c->write_low_percent = among(1, 35);
    c->scheduler = below(4) ? TS_HBM_SCHEDULER_ROW_HIT : TS_HBM_SCHEDULER_FRFCFS;
    c->refresh = (ts_hbm_refresh)below(3);
    c->page = below(3) ? TS_HBM_PAGE_OPEN : TS_HBM_PAGE_CLOSED;
    c->page_accesses = among(1, 6);
    snprintf(t->map, sizeof t->map, "%s", maps[below(6)]);
    c->address_map = t->map;
}

/* Runs, strides, hot sets and random places, in turns; some come late. */
static void random_requests(test_case *t) {
    const ts_hbm_config *c = &t->config;
    int64_t bursts = (int64_t)c->channels * c->pseudo_channels * c->sids * c->bank_groups * c->banks *
                     c->rows * c->row_bytes / c->burst_bytes,
            late = 0;
    int writes = among(0, 100), in_turns = (int)below(2);
    t->count = 0;
    while (t->count < BURSTS) {
        int64_t at = below(bursts), stride = below(3) ? 1 : (int64_t)1 << below(20),
                hot = below(4) ? bursts : 64;
        int length_ = among(1, 200), random = below(3) == 0;
        late += below(5) == 0 ? below(2000) : 0;
        bool write = below(100) < writes;
        for (int i = 0; i < length_; i++) {
            t->burst[t->count] = (random ? below(hot) : at + i * stride) % bursts;
            t->is_write[t->count] = in_turns ? write : below(100) < writes;
            t->earliest[t->count++] = late;
        }
    }
}

TEST(agrees_on_random_machines) {
    static test_case t;
    for (int seed = 1, last = rounds(3, 2); seed <= last; seed++) {
        random_state = (uint64_t)seed;
        random_config(&t);
        random_requests(&t);
        t.lookahead = below(4) == 0 ? -1 : below(4) == 0 ? 0 : 32 << below(10);
        t.in_flight = below(3) ? -1 : 32 << below(9);
        compare(&t, seed);
    }
}

/* Pseudo channels, stack ids, bank groups and banks that are few, or so many that they make the 128 banks of a
 * channel; under ASan every second. */
TEST(agrees_on_shapes_at_the_edges) {
    static const int8_t shapes[][4] = {{4, 2, 16, 1}, {1, 1, 1, 1},  {2, 4, 16, 1}, {4, 4, 1, 8},
                                       {4, 4, 4, 2},  {1, 1, 16, 1}, {1, 1, 8, 16}, {1, 4, 2, 16}};
    static test_case t;
    for (int i = 0, step = 8 / cases(8, 4); i < 8; i += step) {
        random_state = (uint64_t)(500 + i);
        random_config(&t);
        t.config.pseudo_channels = shapes[i][0];
        t.config.sids = shapes[i][1];
        t.config.bank_groups = shapes[i][2];
        t.config.banks = shapes[i][3];
        random_requests(&t);
        t.lookahead = 32 << below(10);
        t.in_flight = -1;
        compare(&t, 500 + i);
    }
}

#define ONE(command) (1 << (command))
enum {
    OF_BANK = 1 << SAME_BANK,
    OF_PC = 1 << SAME_PC,
    WHOLE_PC = OF_PC | 1 << SAME_CHANNEL,
    BETWEEN_GROUPS = WHOLE_PC | 1 << SAME_SID | 1 << OTHER_SID | 1 << SAME_GROUP,
    ANYWHERE = BETWEEN_GROUPS | OF_BANK,
    READS = ONE(RD) | ONE(RDA),
    WRITES = ONE(WR) | ONE(WRA),
};

/* The kinds of rules that the controller can keep to, by JEDEC's view of what acts on what: each with any of
 * its relations. */
static const struct {
    int after, before, relations, window;
} kinds[] = {
    {READS, READS, BETWEEN_GROUPS, 1},
    {WRITES, WRITES, BETWEEN_GROUPS, 1},
    {READS, WRITES, BETWEEN_GROUPS, 1},
    {WRITES, READS, BETWEEN_GROUPS, 1},
    {ONE(ACT), READS, OF_BANK, 1},
    {ONE(ACT), WRITES, OF_BANK, 1},
    {ONE(ACT), ONE(ACT), ANYWHERE, 1},
    {ONE(ACT), ONE(ACT), OF_PC, 4},
    {ONE(PRE), ONE(ACT), ANYWHERE, 1},
    {ONE(RDA), ONE(ACT), ANYWHERE, 1},
    {ONE(WRA), ONE(ACT), ANYWHERE, 1},
    {ONE(REFB), ONE(ACT), ANYWHERE, 1},
    {ONE(PREA), ONE(ACT), WHOLE_PC, 1},
    {ONE(REFA), ONE(ACT), WHOLE_PC, 1},
    {ONE(ACT), ONE(PRE), OF_BANK, 1},
    {ONE(RD), ONE(PRE), OF_BANK, 1},
    {ONE(WR), ONE(PRE), OF_BANK, 1},
    {ONE(PRE) | ONE(PREA), ONE(PRE), OF_PC, 1},
    {ONE(ACT) | READS | WRITES | ONE(PRE) | ONE(REFB), ONE(REFB), ANYWHERE, 1},
    {ONE(ACT) | READS | WRITES | ONE(PRE) | ONE(REFB), ONE(REFA) | ONE(PREA), WHOLE_PC, 1},
    {ONE(PREA) | ONE(REFA), ONE(REFA) | ONE(PREA) | ONE(REFB), WHOLE_PC, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* A machine with a rule more of each kind, in each relation; under ASan in one of five. */
TEST(agrees_with_any_rule_more) {
    static test_case t;
    int seed = 100;
    for (int i = 0, step = KINDS * 6 / cases(KINDS * 6, KINDS * 6 / 5); i < KINDS * 6; i += step) {
        relation how = (relation)(i % 6);
        if (!(kinds[i / 6].relations >> how & 1)) continue;
        random_state = (uint64_t)seed++;
        extra =
            (extra_rule){kinds[i / 6].after, kinds[i / 6].before, how, among(10, 150), kinds[i / 6].window};
        random_config(&t);
        random_requests(&t);
        t.count = 150;
        t.lookahead = 32 << below(10);
        t.in_flight = -1;
        t.config.sids = 2;
        t.config.pseudo_channels = 2;
        if (extra.after & (ONE(RDA) | ONE(WRA))) t.config.page = TS_HBM_PAGE_CLOSED;
        if (extra.before & ONE(REFB) || extra.after & ONE(REFB)) t.config.refresh = TS_HBM_REFRESH_PER_BANK;
        if (extra.after & (ONE(REFA) | ONE(PREA))) t.config.refresh = TS_HBM_REFRESH_ALL_BANK;
        compare(&t, seed);
    }
    extra = (extra_rule){0};
}
