/* The engine: queued transfers offer their plans' accesses to the HBM and complete in time. */
#include <assert.h>

#include "engine_state.h"
#include "transfer.h"
#include "base/members.h"
#include "base/number.h"
#include "dma/dma.h"

enum { SETTLE_TICKS = 16 }; /* how far the HBM runs between two looks at what is done */

static int64_t ps_cycles(const ts_dma *dma, int64_t ps) { return ts_clock_cycles(ps, dma->core_khz); }

ts_dma *ts_dma_new(ts_arena *arena, const ts_dma_config *config, ts_hbm *hbm, int64_t core_khz,
                   int64_t hbm_tick_khz) {
    ts_dma *dma = TS_NEW(arena, ts_dma);
    *dma = (ts_dma){
        .arena = arena, .config = config, .hbm = hbm, .core_khz = core_khz, .tick_khz = hbm_tick_khz};
    return dma;
}

void ts_dma_free(ts_dma *dma) {
    for (transfer *t = dma ? dma->first : NULL; t; t = t->next) ts_arena_free(t->arena);
    for (transfer *t = dma ? dma->free : NULL; t; t = t->next) ts_arena_free(t->arena);
    if (dma) incoming_set_free(dma->incoming);
}

void ts_dma_reset(ts_dma *dma) {
    assert(dma->under_way == 0);
    dma->port_busy = dma->settled_tick = dma->block_number = 0;
    if (dma->hbm) ts_hbm_reset(dma->hbm);
}

void ts_dma_set_skipping(ts_dma *dma, const ts_hbm_config *hbm) {
    dma->sampler = (sampler){
        .memory = sampler_memory_of(hbm, dma->config),
        .engine_ticks_per_part = (double)dma->tick_khz / (double)dma->core_khz / PARTS,
        .box = {.number = -1},
    };
}

void ts_dma_set_limit(ts_dma *dma, int64_t limit) { dma->limit_ticks = to_tick(dma, limit); }
int64_t ts_dma_over_cycles(const ts_dma *dma) { return to_cycle(dma, dma->over_ticks); }

void ts_dma_set_interrupt(ts_dma *dma, ts_interrupt *interrupt) { dma->interrupt = interrupt; }

void ts_dma_add_skipped(const ts_dma *dma, ts_hbm_stats *stats, bool *any) {
    ts_members_add(stats, &dma->skipped, ts_hbm_stats_members, 1, 1);
    *any = dma->any_skipped;
}

bool ts_dma_can_start(const ts_dma *dma) { return dma->under_way < dma->config->descriptors; }
int ts_dma_under_way(const ts_dma *dma) { return dma->under_way; }

/* ---- Who goes first ---- */

typedef struct {
    bool is_round_robin; /* of several that can go on, the one that has waited longest; else the oldest */
    bool holds_younger, holds_less_urgent; /* until it has made all its requests */
} policy;

static const policy policies[] = {
    [TS_DMA_FIRST_READY] = {0},
    [TS_DMA_ROUND_ROBIN] = {.is_round_robin = true},
    [TS_DMA_IN_ORDER] = {.holds_younger = true},
    [TS_DMA_BY_PRIORITY] = {.holds_less_urgent = true},
};

/* Does u, issued before t or not, hold it while it has requests to make? */
static bool holds(const ts_dma *dma, const transfer *u, const transfer *t, bool u_is_older) {
    const policy *by = &policies[dma->config->arbitration];
    return (by->holds_younger && u_is_older) ||
           (by->holds_less_urgent && u->what.priority < t->what.priority);
}

/* Does a transfer that has requests to make by `cycle` go before t? */
static bool is_held(const ts_dma *dma, const transfer *t, int64_t cycle) {
    bool older = true;
    for (const transfer *u = dma->first; u; u = u->next) {
        if (u == t) older = false;
        if (u != t && u->started && !u->offered && u->ready_cycle <= cycle && holds(dma, u, t, older))
            return true;
    }
    return false;
}

/* It has made all its requests: those that it held begin now. */
static void let_go(ts_dma *dma, const transfer *t) {
    bool older = false;
    for (transfer *u = dma->first; u; u = u->next) {
        if (u == t) older = true;
        if (u != t && u->started && !u->offered && holds(dma, t, u, older))
            u->ready_cycle = ts_max(u->ready_cycle, t->acted_cycle);
    }
}

/* The transfer that gets a free queue, or NULL. */
static transfer *next_in_queue(const ts_dma *dma) {
    transfer *best = NULL;
    for (transfer *t = dma->first; t; t = t->next) {
        if (t->started) continue;
        if (!best ||
            (policies[dma->config->arbitration].holds_less_urgent && t->what.priority < best->what.priority))
            best = t;
    }
    return best;
}

/* ---- Starting ---- */

static transfer *take_transfer(ts_dma *dma) {
    transfer *t = dma->free;
    if (t)
        dma->free = t->next;
    else
        t = TS_NEW(dma->arena, transfer);
    ts_hbm_stream *stream = t->stream;
    ts_arena *arena = t->arena ? t->arena : ts_arena_new();
    ts_arena_reset(arena);
    *t = (transfer){.stream = stream, .arena = arena, .done_cycle = -1, .sampler = dma->sampler};
    return t;
}

static void append(ts_dma *dma, transfer *t) {
    transfer **end = &dma->first;
    while (*end) end = &(*end)->next;
    *end = t;
    dma->under_way++;
}

bool ts_dma_start(ts_error *err, ts_dma *dma, const ts_dma_transfer *what, int64_t cycle) {
    assert(ts_dma_can_start(dma));
    ts_dma_kind kind = ts_dma_kind_done(dma->config, what->plan);
    if (what->src.space && !ts_dma_check(err, what->plan, what->src.space, what->dst.space)) return false;
    if (!ts_dma_check_kind(err, dma->config, what->plan)) return false;
    if (dma->under_way == 0) engine_settle(dma, to_tick(dma, cycle));
    transfer *t = take_transfer(dma);
    t->what = *what;
    assert(!touches_hbm(t) || dma->hbm);
    if (touches_hbm(t) && !t->stream) {
        int64_t in_flight = dma->config->in_flight_bytes;
        t->stream = ts_hbm_stream_new(dma->arena, dma->hbm, dma->config->lookahead_bytes,
                                      in_flight > 0 ? in_flight : TS_HBM_UNLIMITED);
    }
    t->sampler.elements = what->plan->moved_elements;
    t->sampler.is_mixed = what->src.in_hbm && what->dst.in_hbm;
    t->rate = transfer_rate(dma->config, what, kind);
    t->traversal = transfer_traversal(t->arena, dma->config, what);
    t->result = (ts_dma_result){.tag = what->tag, .issued_cycle = cycle, .kind = kind};
    t->result.descriptors = transfer_count_descriptors(what->plan, dma->config->loop_dims);
    append(dma, t);
    return true;
}

/* ---- Working ---- */

static void start_stream(const ts_dma *dma, const transfer *t) {
    ts_hbm_stream_start(t->stream, ts_max(to_tick(dma, t->ready_cycle), dma->settled_tick));
    ts_hbm_stream_shift(t->stream, t->what.shift);
}

/* Lets waiting transfers into free queues. `cycle`: when the last queue became free. */
static void fill_queues(ts_dma *dma, int64_t cycle) {
    int busy = 0;
    for (const transfer *t = dma->first; t; t = t->next) busy += t->started;
    for (transfer *t; busy < dma->config->queues && (t = next_in_queue(dma)) != NULL; busy++) {
        t->started = true;
        t->result.started_cycle = ts_max(t->result.issued_cycle, cycle);
        t->ready_cycle = t->result.started_cycle + ps_cycles(dma, dma->config->issue_ps) +
                         ps_cycles(dma, dma->config->descriptor_ps * ts_max(t->result.descriptors - 1, 0));
        if (touches_hbm(t)) start_stream(dma, t);
    }
}

/* When the transfer can act next, in core cycles; INT64_MAX when it only waits for the memory. The memory is
 * run up to `tick` for it; what is not known by then comes after it. */
static int64_t next_action(const ts_dma *dma, const transfer *t, int64_t tick) {
    if (!t->started || t->offered) return INT64_MAX;
    if (t->access_at == t->access_count) return ts_max(t->ready_cycle, dma->port_busy / PARTS);
    return ts_max(t->ready_cycle, to_cycle(dma, ts_hbm_stream_next(t->stream, tick)));
}

static void offer(const ts_dma *dma, transfer *t) {
    const ts_traversal_access *access = &t->accesses[t->access_at++];
    ts_hbm_stream_offer(t->stream, access->address, dma->config->access_bytes, access->is_write,
                        to_tick(dma, t->ready_cycle));
}

/* All that it can do in this cycle, which is its turn: others can do no more by its accesses, unless data in
 * flight is limited. */
static void act(ts_dma *dma, transfer *t, int64_t cycle) {
    t->acted_cycle = ts_max(t->acted_cycle, cycle);
    if (t->access_at == t->access_count) {
        engine_begin_block(dma, t);
        if (t->offered) let_go(dma, t);
        return;
    }
    do {
        offer(dma, t);
    } while (dma->config->in_flight_bytes <= 0 && t->access_at < t->access_count &&
             next_action(dma, t, dma->settled_tick) == cycle);
}

/* Sets done_cycle when the last data is known. */
static void look_for_end(ts_dma *dma, transfer *t) {
    if (!t->offered || t->done_cycle >= 0) return;
    int64_t end = ts_max(t->ready_cycle, ts_ceil_div(dma->port_busy, PARTS));
    if (touches_hbm(t) && ts_traversal_get_totals(t->traversal)->blocks > 0) {
        int64_t tick = ts_hbm_stream_done(t->stream);
        if (tick < 0) return;
        end = ts_max(end, to_cycle(dma, tick));
    }
    if (t->skipped_quiet != 0)
        end = to_cycle(dma, sampler_add_quiet(&t->sampler.memory, to_tick(dma, end), t->skipped_quiet));
    end += to_cycle(dma, t->skipped_ticks);
    t->done_cycle = end + ps_cycles(dma, dma->config->completion_ps);
}

static transfer *earliest_done(ts_dma *dma) {
    transfer *best = NULL;
    for (transfer *t = dma->first; t; t = t->next) {
        look_for_end(dma, t);
        if (t->done_cycle >= 0 && (!best || t->done_cycle < best->done_cycle)) best = t;
    }
    return best;
}

static transfer *next_to_act_by(const ts_dma *dma, int64_t tick, int64_t *cycle) {
    transfer *best = NULL;
    bool is_round_robin = policies[dma->config->arbitration].is_round_robin;
    *cycle = INT64_MAX;
    for (transfer *t = dma->first; t; t = t->next) {
        int64_t when = next_action(dma, t, tick);
        bool waits_longer = is_round_robin && best && when == *cycle && t->block_number < best->block_number;
        if ((when < *cycle || waits_longer) && !is_held(dma, t, when)) {
            *cycle = when;
            best = t;
        }
    }
    return best;
}

/* One that waits for data may let the memory run, but not past what another can do, nor past `limit`. */
static transfer *next_to_act(const ts_dma *dma, int64_t limit, int64_t *cycle) {
    transfer *best = next_to_act_by(dma, dma->settled_tick, cycle);
    int64_t until = *cycle < limit ? *cycle : limit;
    if (dma->config->in_flight_bytes <= 0 || !dma->hbm) return best;
    return next_to_act_by(dma, until == INT64_MAX ? INT64_MAX : to_tick(dma, until), cycle);
}

/* Is some transfer only waiting for its last data? Then nobody may run ahead of the memory: its end may start
 * others. */
static bool waits_for_end(const ts_dma *dma) {
    for (const transfer *t = dma->first; t; t = t->next)
        if (t->offered && t->done_cycle < 0) return true;
    return false;
}

/* Lets the memory run a little, to `limit` at most, when another transfer may end before `end`. */
static bool settle_before(ts_dma *dma, int64_t end, int64_t limit) {
    int64_t data = ts_max(end - ps_cycles(dma, dma->config->completion_ps), 0);
    int64_t last = to_tick(dma, ts_min(data, limit)), step = dma->settled_tick + SETTLE_TICKS;
    if (dma->settled_tick >= last || !dma->hbm || !waits_for_end(dma)) return false;
    engine_settle(dma, ts_min(step, last));
    return true;
}

/* The next completion of its own transfers, as ts_dma_next. */
static int64_t next_own(ts_dma *dma, int64_t limit) {
    fill_queues(dma, 0);
    bool alone = limit == INT64_MAX && dma->under_way == 1 && !dma->first->offered;
    if (alone) engine_run_alone(dma, dma->first);
    for (;;) {
        int64_t cycle;
        transfer *done = earliest_done(dma), *t = next_to_act(dma, limit, &cycle);
        if (done && done->done_cycle <= cycle) {
            if (settle_before(dma, done->done_cycle, limit)) continue;
            return done->done_cycle <= limit ? done->done_cycle : INT64_MAX;
        }
        if (t && cycle <= limit) {
            if (waits_for_end(dma)) engine_settle(dma, to_tick(dma, cycle));
            act(dma, t, cycle);
            continue;
        }
        int64_t last = limit == INT64_MAX ? INT64_MAX : to_tick(dma, limit);
        if (!dma->first || dma->settled_tick >= last) return INT64_MAX;
        int64_t step = dma->settled_tick + SETTLE_TICKS;
        if (t && to_tick(dma, cycle) < step) step = ts_max(to_tick(dma, cycle), dma->settled_tick + 1);
        engine_settle(dma, ts_min(step, last));
    }
}

/* Neither goes ahead of the other: what comes is offered when transfers have made their requests of that
 * cycle. */
int64_t ts_dma_next(ts_dma *dma, int64_t limit) {
    if (!dma->incoming) return next_own(dma, limit);
    for (;;) {
        int64_t comes = incoming_next(dma->incoming), done = incoming_done(dma->incoming);
        int64_t first = ts_min(comes, done), own = next_own(dma, ts_min(limit, first));
        if (own != INT64_MAX || first > limit || first == INT64_MAX) return own;
        if (done <= comes) return done;
        incoming_offer(dma->incoming);
    }
}

/* What is not known by `limit` ends there at the earliest (less a cycle: clocks are crossed with a ceil). */
int64_t ts_dma_quiet_until(const ts_dma *dma, int64_t limit) {
    int64_t least = INT64_MAX, more = ps_cycles(dma, dma->config->completion_ps);
    if (dma->incoming) least = ts_min(incoming_next(dma->incoming), incoming_done(dma->incoming));
    int64_t unknown = limit > INT64_MAX - more ? INT64_MAX : limit - 1 + more;
    for (const transfer *t = dma->first; t; t = t->next) {
        int64_t end = t->done_cycle >= 0 ? t->done_cycle : unknown;
        least = ts_min(end, least);
    }
    return least;
}

/* ---- What comes over links ---- */

ts_dma_incoming *ts_dma_expect(ts_dma *dma, const ts_plan *plan, void *owner) {
    const incoming_memory memory = {dma->config, dma->hbm, dma->core_khz, dma->tick_khz};
    if (!dma->incoming) dma->incoming = incoming_set_new(dma->arena, &memory);
    return incoming_expect(dma->incoming, plan, owner);
}

void ts_dma_feed(ts_dma *dma, ts_dma_incoming *incoming, const ts_dma_chunk *chunk) {
    incoming_feed(dma->incoming, incoming, chunk);
}

/* ---- Completing ---- */

static void unlink_transfer(ts_dma *dma, transfer *t) {
    transfer **at = &dma->first;
    while (*at != t) at = &(*at)->next;
    *at = t->next;
    t->next = dma->free;
    dma->free = t;
    dma->under_way--;
}

bool ts_dma_complete(ts_error *err, ts_dma *dma, ts_dma_result *result) {
    transfer *t = earliest_done(dma);
    int64_t comes = dma->incoming ? incoming_done(dma->incoming) : INT64_MAX;
    if (comes != INT64_MAX && (!t || comes < t->done_cycle)) {
        incoming_complete(dma->incoming, result);
        return true;
    }
    assert(t);
    transfer_count_bytes(dma->config, &t->what, ts_traversal_get_totals(t->traversal), &t->result);
    t->result.completed_cycle = t->done_cycle;
    t->result.engine_cycles = ts_ceil_div(t->engine_parts, PARTS);
    *result = t->result;
    bool moved = !t->what.src.space || ts_dma_move(err, t->what.plan, t->what.src.space, t->what.dst.space);
    unlink_transfer(dma, t);
    fill_queues(dma, t->done_cycle);
    return moved;
}
