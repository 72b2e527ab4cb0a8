/* The per bank scheduler against a second one that scans all its queues in every cycle and looks up each rule:
 * when bursts are accepted, and what came of them. Random machines and requests, each instruction set. */
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/rounds.h"
#include "machine/address_map.h"
#include "dram/hbm_simulators.h"
#include "tests/support/cmocka.h"

enum { BANKS = 64, BURSTS = 700 };

typedef struct {
    int64_t burst, row, arrival, merged, merged_arrivals, first_merged;
    int bank;
    bool is_write;
} item;

typedef struct {
    int count;
    item list[BURSTS];
} items;

typedef struct {
    const ts_hbm_config *c;
    ts_dram device;
    items waiting[2], commands[BANKS]; /* by age */
    int served[BANKS], banks, draining, last, refresh_head;
    int64_t refresh_at, refresh_ticks, read_latency, end;
    bool is_refreshing, is_awaited, is_stuck;
    item served_now; /* by the cycle's column command; of no burst */
    ts_hbm_stats stats;
} model;

static uint64_t random_state;
static int64_t below(int64_t n) {
    random_state += 0x9E3779B97F4A7C15u;
    uint64_t z = (random_state ^ (random_state >> 30)) * 0xBF58476D1CE4E5B9u;
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)n);
}
static int32_t among(int32_t from, int32_t to) { return (int32_t)(from + below(to - from + 1)); }

/* ---- The model. ---- */

/* Row commands have a bus of their own, and one cycle has one. */
static bool is_ready(const model *m, int command, int bank, int64_t t) {
    const dram_spec *s = m->device.spec;
    int count = command < DRAM_ACT ? s->wait_count[command] : s->bus_first[command];
    for (int i = 0; i < count; i++) {
        int32_t last = dram_latest(&m->device, &s->waits[command][i], bank);
        if (last != DRAM_NEVER && last + s->waits[command][i].ticks > t) return false;
    }
    return true;
}

static item *find(items *q, int64_t burst, bool is_write) {
    for (int i = 0; i < q->count; i++)
        if (q->list[i].burst == burst && q->list[i].is_write == is_write) return &q->list[i];
    return NULL;
}

static item *find_pending(model *m, int64_t burst, bool is_write) {
    item *found = find(&m->waiting[is_write], burst, is_write);
    for (int b = 0; b < m->banks && !found; b++) found = find(&m->commands[b], burst, is_write);
    return found;
}

static void add(items *q, const item *e) { q->list[q->count++] = *e; }
static item take(items *q, int at) {
    item e = q->list[at];
    memmove(&q->list[at], &q->list[at + 1], (size_t)(--q->count - at) * sizeof e);
    return e;
}

static int all_commands(const model *m) {
    int sum = 0;
    for (int b = 0; b < m->banks; b++) sum += m->commands[b].count;
    return sum;
}

static bool is_to_drain(const model *m) {
    int writes = m->waiting[1].count, least = (m->c->write_entries * m->c->write_low_percent + 99) / 100;
    if (m->is_awaited && m->waiting[0].count == 0) least = 0;
    return writes >= m->c->write_entries || (all_commands(m) == 0 && writes > least);
}

static int first_to_move(const model *m, bool is_write) {
    const items *q = &m->waiting[is_write];
    for (int i = 0; i < q->count; i++)
        if (m->commands[q->list[i].bank].count < m->c->bank_entries) return i;
    return -1;
}

static void move(model *m) {
    if (m->draining == 0 && is_to_drain(m)) m->draining = m->waiting[1].count;
    bool is_write = m->draining > 0;
    int at = first_to_move(m, is_write);
    if (at < 0) return;
    if (is_write && find_pending(m, m->waiting[1].list[at].burst, false)) {
        m->draining = 0;
        if (all_commands(m) > 0 || !is_to_drain(m)) return;
        m->is_stuck = true;
        is_write = false;
        at = first_to_move(m, false);
    }
    m->draining -= is_write;
    item e = take(&m->waiting[is_write], at);
    add(&m->commands[e.bank], &e);
}

static void precharge(model *m, int bank, int64_t t) {
    dram_pre(&m->device, bank, (int32_t)t, m->banks);
    m->stats.precharges++;
}

static void refresh(model *m, int64_t t) {
    bool all = m->c->refresh == TS_HBM_REFRESH_ALL_BANK, is_open = false;
    int first = all ? 0 : m->refresh_head, count = all ? m->banks : 1;
    for (int b = first; b < first + count; b++) {
        if (m->device.open_row[b] < 0) continue;
        is_open = true;
        if (is_ready(m, DRAM_PRE, b, t)) {
            precharge(m, b, t);
            return;
        }
    }
    ts_dram_command command = all ? TS_DRAM_REFA : TS_DRAM_REFB;
    if (is_open || dram_earliest(&m->device, command, first).cycle > t) return;
    dram_rare(&m->device, command, first, (int32_t)t);
    m->refresh_head = (first + 1) % m->banks;
    m->is_refreshing = false;
    m->stats.refreshes++;
}

static void done(model *m, int64_t arrival, bool is_write, int64_t end) {
    m->end = end > m->end ? end : m->end;
    if (is_write) return;
    m->stats.read_latency_sum += end - arrival;
    if (end - arrival > m->stats.read_latency_max) m->stats.read_latency_max = end - arrival;
}

static void column(model *m, int bank, int at, int64_t t) {
    item e = take(&m->commands[bank], at);
    int64_t end = t + (e.is_write ? 0 : m->read_latency);
    m->stats.row_misses += m->served[bank]++ == 0;
    if (m->c->page == TS_HBM_PAGE_CLOSED && m->served[bank] >= m->c->page_accesses) {
        dram_rare(&m->device, e.is_write ? TS_DRAM_WRA : TS_DRAM_RDA, bank, (int32_t)t);
        m->stats.precharges++;
    } else {
        dram_column(&m->device, e.is_write, bank, bank / m->c->banks, (int32_t)t, m->banks / m->c->banks);
    }
    done(m, e.arrival, e.is_write, end);
    if (e.merged > 0) {
        m->stats.read_latency_sum += e.merged * end - e.merged_arrivals;
        if (end - e.first_merged > m->stats.read_latency_max)
            m->stats.read_latency_max = end - e.first_merged;
    }
    m->served_now = e;
}

/* The command of a bank that can be issued, or -1. */
static int ready_command(const model *m, int bank, int64_t t, bool *is_column) {
    const items *q = &m->commands[bank];
    int64_t row = m->device.open_row[bank];
    bool has_hits = false;
    for (int i = 0; i < q->count; i++) has_hits |= q->list[i].row == row;
    *is_column = false;
    if (q->count > 0 && q->list[0].row != row) {
        if (row < 0 && is_ready(m, DRAM_ACT, bank, t)) return 0;
        bool may_close = !has_hits || m->served[bank] >= m->c->row_hit_limit;
        if (row >= 0 && may_close && is_ready(m, DRAM_PRE, bank, t)) return 0;
    }
    *is_column = true;
    for (int i = 0; i < q->count; i++)
        if (q->list[i].row == row && is_ready(m, q->list[i].is_write, bank, t)) return i;
    return -1;
}

/* One command, and one of the other kind. */
static void issue_two(model *m, int64_t t) {
    for (int i = 0, was_column = 0; i < 2; i++) {
        int bank = m->last, at = -1, tried = 0;
        bool is_column = false;
        for (; at < 0 && tried < m->banks; tried++) {
            bank = (bank + 1) % m->banks;
            at = ready_command(m, bank, t, &is_column);
        }
        if (at < 0) return;
        m->last = bank;
        if (i == 1 && is_column == was_column) return;
        was_column = is_column;
        if (is_column) {
            column(m, bank, at, t);
        } else if (m->device.open_row[bank] >= 0) {
            precharge(m, bank, t);
        } else {
            dram_act(&m->device, bank, (int32_t)m->commands[bank].list[0].row, (int32_t)t, m->banks,
                     m->c->banks);
            m->served[bank] = 0;
            m->stats.activations++;
        }
    }
}

static void tick(model *m, int64_t t) {
    m->served_now.burst = -1;
    if (m->c->ticks_per_ck == 2 && t % 2 == 0) return;
    move(m);
    if (t >= m->refresh_at) {
        m->is_refreshing = true;
        m->refresh_at += m->refresh_ticks;
    }
    if (m->is_refreshing)
        refresh(m, t);
    else
        issue_two(m, t);
}

static bool is_pending(model *m, const item *e, bool is_write) {
    return find_pending(m, e->burst, is_write) ||
           (m->served_now.burst == e->burst && m->served_now.is_write == is_write);
}

/* A burst offered from some cycle on, at `t`: false when there is no room. */
static bool accept(model *m, item e, int64_t t) {
    if (m->waiting[e.is_write].count >= (e.is_write ? m->c->write_entries : m->c->read_entries)) return false;
    item *read = find_pending(m, e.burst, false);
    e.arrival = t;
    if (is_pending(m, &e, true)) {
        *(e.is_write ? &m->stats.coalesced : &m->stats.forwarded) += 1;
        done(m, t, e.is_write, e.is_write ? t : t + 1);
    } else if (!e.is_write && is_pending(m, &e, false)) {
        m->stats.forwarded++;
        if (!read) done(m, t, false, t + m->read_latency);
        if (read && read->merged++ == 0) read->first_merged = t;
        if (read) read->merged_arrivals += t;
    } else {
        add(&m->waiting[e.is_write], &e);
    }
    return true;
}

/* ---- Requests of some bursts each. ---- */

typedef struct {
    int64_t burst, earliest;
    int bursts;
    bool is_write;
} request;

static int make_requests(request *r, int64_t places) {
    int count = 0, bursts = 0, writes = below(3) ? among(0, 100) : 100 * among(0, 1);
    int64_t late = 0, hot = below(2) ? places : 64;
    while (bursts < BURSTS - 4) {
        int64_t at = below(hot), stride = below(3) ? 1 : below(places) + 1, length = among(1, 60);
        late += below(6) == 0 ? below(400) : 0;
        for (int64_t i = 0; i < length && bursts < BURSTS - 4; i++) {
            r[count] = (request){(at + i * stride) % (places - 4), late, among(1, 4), below(100) < writes};
            bursts += r[count++].bursts;
            late += below(8) == 0 ? below(12) : 0;
        }
    }
    return count;
}

/* Runs the model; accepted[i]: when the last burst of a request was. */
static void run_model(model *m, const ts_address_map *map, const request *r, int count, int64_t *accepted) {
    int at = 0, burst = 0;
    for (int64_t t = 0;
         at < count || all_commands(m) + m->waiting[0].count + m->waiting[1].count > 0 || t <= m->end; t++) {
        if (t > 4000000) fail_msg("the model does not end");
        m->is_awaited = at == count;
        tick(m, t);
        while (at < count && r[at].earliest <= t) {
            int64_t number = r[at].burst + burst;
            ts_address_location place = ts_address_map_unpack(ts_address_map_pack(map, (uint64_t)number));
            item e = {.burst = number, .row = place.row, .bank = place.bank, .is_write = r[at].is_write};
            if (!accept(m, e, t)) break;
            accepted[at] = t;
            burst = (burst + 1) % r[at].bursts;
            at += burst == 0;
        }
    }
}

/* ---- Random machines. ---- */

static void random_config(ts_hbm_config *c) {
    static const char *const maps[] = {"A", "B", "H", "robaracoch", "rorabgbachco"};
    bool usual = below(3) == 0;
    *c = hbm2;
    c->scheduler = TS_HBM_SCHEDULER_PER_BANK;
    c->channels = c->pseudo_channels = c->act_ticks = 1;
    c->rows = 1 << among(2, 8);
    c->row_bytes = 32 << among(3, 6);
    c->refresh = (ts_hbm_refresh)below(3);
    c->timing.t_refi = among(400, 4000);
    c->timing.t_refi_pb = among(150, 400);
    c->timing.t_rfc_pb = among(20, 160);
    c->timing.t_ppd = among(0, 3);
    c->timing.t_rtp = among(0, 6);
    c->timing.t_faw = among(10, 40);
    c->read_entries = among(1, 48);
    c->write_entries = among(1, 48);
    c->write_low_percent = among(1, 100);
    c->write_high_percent = 100;
    c->bank_entries = below(2) ? 8 : among(1, 9);
    c->row_hit_limit = among(0, 6);
    c->address_map = maps[below(5)];
    if (usual) return;
    c->ticks_per_ck = among(1, 2);
    c->sids = 1 << below(2);
    c->bank_groups = 1 << below(4);
    c->banks = 1 << among(1, 2);
    c->bank_entries = below(2) ? among(9, 34) : c->bank_entries;
    c->page = below(2) ? TS_HBM_PAGE_OPEN : TS_HBM_PAGE_CLOSED;
    c->page_accesses = among(1, 6);
    c->timing.t_ccd_r = among(0, 4);
}

static model *new_model(ts_arena *arena, const ts_hbm *hbm, const ts_hbm_config *c) {
    model *m = TS_NEW(arena, model);
    m->c = c;
    m->banks = c->sids * c->bank_groups * c->banks;
    m->refresh_at = m->refresh_ticks = hbm->refresh_ticks;
    m->read_latency = (c->timing.t_cl + c->timing.n_bl) * c->ticks_per_ck;
    dram_clear(&m->device, hbm->spec);
    return m;
}

static void compare_stats(int seed, const ts_hbm_stats *is, const model *m, bool was_stuck, int64_t end) {
    const ts_hbm_stats *expected = &m->stats;
    const struct {
        const char *what;
        int64_t is, expected;
    } rows[] = {{"end", end, m->end},
                {"activations", is->activations, expected->activations},
                {"precharges", is->precharges, expected->precharges},
                {"refreshes", is->refreshes, expected->refreshes},
                {"row misses", is->row_misses, expected->row_misses},
                {"forwarded", is->forwarded, expected->forwarded},
                {"coalesced", is->coalesced, expected->coalesced},
                {"latency", is->read_latency_sum, expected->read_latency_sum},
                {"longest latency", is->read_latency_max, expected->read_latency_max},
                {"stuck", was_stuck, m->is_stuck}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].is != rows[i].expected)
            fail_msg("seed %d: %s is %lld, expected %lld", seed, rows[i].what, (long long)rows[i].is,
                     (long long)rows[i].expected);
}

static void compare(int seed) {
    static request requests[BURSTS];
    static int64_t accepted[BURSTS];
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_hbm_config c;
    ts_hbm_stats stats;
    random_state = (uint64_t)seed;
    random_config(&c);
    ts_source text = {"map", c.address_map, strlen(c.address_map)};
    ts_address_map *map = ts_address_map_new(&err, arena, &c, &text);
    ts_hbm *hbm = ts_hbm_new(&err, arena, &c);
    if (!hbm || !map) fail_msg("seed %d: %s", seed, err.message);
    model *m = new_model(arena, hbm, &c);
    int count = make_requests(requests, (int64_t)m->banks * c.rows * c.row_bytes / c.burst_bytes);
    run_model(m, map, requests, count, accepted);
    hbm_simulator base = hbm_banks_simulator_base(hbm);
    if (below(3) == 0) {
        hbm->simulate = base.simulate;
        hbm->run = base.run;
    }
    ts_hbm_stream *stream = ts_hbm_stream_new(arena, hbm, TS_HBM_UNLIMITED, TS_HBM_UNLIMITED);
    for (int i = 0; i < count; i++) {
        const request *r = &requests[i];
        int64_t at = ts_hbm_stream_offer(stream, r->burst * c.burst_bytes, r->bursts * c.burst_bytes,
                                         r->is_write, r->earliest);
        if (at != accepted[i])
            fail_msg("seed %d: request %d was accepted at %lld, expected %lld", seed, i, (long long)at,
                     (long long)accepted[i]);
    }
    int64_t end = ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &stats);
    compare_stats(seed, &stats, m, !ts_hbm_check(NULL, hbm), end);
    ts_arena_free(arena);
}

TEST(agrees_on_random_machines) {
    for (int seed = 1, last = rounds(400, 30); seed <= last; seed++) compare(seed);
}
