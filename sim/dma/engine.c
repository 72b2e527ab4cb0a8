/* The engine: queued transfers offer their plans' accesses to the HBM and complete in time. */
#include <assert.h>
#include <string.h>

#include "incoming.h"
#include "sampler.h"
#include "transfer.h"
#include "base/clock.h"
#include "base/members.h"
#include "base/number.h"
#include "dma/dma.h"

typedef struct transfer {
    struct transfer *next;
    ts_dma_transfer what;
    ts_dma_result result;
    ts_arena *arena; /* of the traversal */
    ts_traversal *traversal;
    ts_hbm_stream *stream; /* NULL: the HBM is not touched */
    const ts_traversal_access *accesses;
    int access_count, access_at;
    bool started, offered; /* offered: every access has been */
    int64_t ready_cycle;   /* of the block being offered */
    int64_t done_cycle;    /* -1 while not known */
    int64_t rate;          /* bytes a cycle through the engine */
    int64_t block_number;  /* when its latest block began */
    int64_t engine_parts;  /* its blocks kept the engine busy */
    int64_t caught_up;     /* ticks of the engine's lead that blocks left out have used up */
    int64_t skipped_ticks; /* of the blocks that were left out; they come on top of what the HBM has seen */
    int64_t skipped_quiet; /* the same, outside refreshes */
    sampler sampler;
    bool has_joined;
} transfer;

enum { REQUESTS = 256 };  /* offered together */
enum { PARTS = 1 << 16 }; /* of a cycle: a block does not end on a whole one */

struct ts_dma {
    ts_arena *arena;
    const ts_dma_config *config;
    ts_hbm *hbm;
    incoming_set *incoming; /* NULL: nothing has come yet */
    int64_t core_khz, tick_khz;
    transfer *first; /* in order of issue */
    transfer *free;
    int under_way;
    int64_t port_busy; /* until which the engine is busy with blocks already begun, in 1/PARTS of a cycle */
    int64_t settled_tick;
    int64_t block_number; /* blocks begun */
    sampler sampler;      /* of a new transfer */
    bool any_skipped;
    ts_hbm_stats skipped;              /* of the blocks that were left out */
    ts_hbm_request requests[REQUESTS]; /* gathered while a transfer is alone */
    int request_count;
};

enum { SETTLE_TICKS = 16 }; /* how far the HBM runs between two looks at what is done */

static int64_t to_tick(const ts_dma *dma, int64_t cycle) {
    return ts_clock_convert(cycle, dma->core_khz, dma->tick_khz);
}
static int64_t to_cycle(const ts_dma *dma, int64_t tick) {
    return ts_clock_convert(tick, dma->tick_khz, dma->core_khz);
}

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

void ts_dma_add_skipped(const ts_dma *dma, ts_hbm_stats *stats, bool *any) {
    ts_members_add(stats, &dma->skipped, ts_hbm_stats_members, 1, 1);
    *any = dma->any_skipped;
}

bool ts_dma_can_start(const ts_dma *dma) { return dma->under_way < dma->config->descriptors; }
int ts_dma_under_way(const ts_dma *dma) { return dma->under_way; }

/* ---- Who goes first ---- */

typedef struct {
    bool
        is_round_robin; /* of several that can go on at once, the one that has waited longest; else the oldest */
    bool holds_younger, holds_less_urgent; /* until it has made all its requests */
} policy;

static const policy policies[] = {
    [TS_DMA_FIRST_READY] = {0},
    [TS_DMA_ROUND_ROBIN] = {.is_round_robin = true},
    [TS_DMA_IN_ORDER] = {.holds_younger = true},
    [TS_DMA_BY_PRIORITY] = {.holds_less_urgent = true},
};

/* Does a transfer that has requests to make by `cycle` go before t? */
static bool is_held(const ts_dma *dma, const transfer *t, int64_t cycle) {
    const policy *by = &policies[dma->config->arbitration];
    bool younger = false;
    if (!by->holds_younger && !by->holds_less_urgent) return false;
    for (const transfer *u = dma->first; u; u = u->next) {
        if (u == t) younger = true;
        bool before =
            (by->holds_younger && !younger) || (by->holds_less_urgent && u->what.priority < t->what.priority);
        if (before && u != t && u->started && !u->offered && u->ready_cycle <= cycle) return true;
    }
    return false;
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

static void settle(ts_dma *dma, int64_t tick) {
    if (tick <= dma->settled_tick || !dma->hbm) return;
    dma->settled_tick = tick;
    ts_hbm_settle(dma->hbm, tick);
}

static transfer *take_record(ts_dma *dma) {
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
    if (dma->under_way == 0) settle(dma, to_tick(dma, cycle));
    transfer *t = take_record(dma);
    bool hbm = what->src.in_hbm || what->dst.in_hbm;
    assert(!hbm || dma->hbm);
    if (hbm && !t->stream) {
        int64_t in_flight = dma->config->in_flight_bytes;
        t->stream = ts_hbm_stream_new(dma->arena, dma->hbm, dma->config->lookahead_bytes,
                                      in_flight > 0 ? in_flight : TS_HBM_UNLIMITED);
    }
    t->what = *what;
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
        if (t->what.src.in_hbm || t->what.dst.in_hbm) start_stream(dma, t);
    }
}

static bool touches_hbm(const transfer *t) { return t->what.src.in_hbm || t->what.dst.in_hbm; }

/* Does another transfer that makes requests move the other way, out of the HBM or into it? */
static bool meets_traffic(const ts_dma *dma, const transfer *t) {
    for (const transfer *u = dma->first; u; u = u->next) {
        bool active = u != t && u->started && !u->offered;
        if (active &&
            ((t->what.src.in_hbm && u->what.dst.in_hbm) || (t->what.dst.in_hbm && u->what.src.in_hbm)))
            return true;
    }
    return false;
}

static int64_t rate_now(const ts_dma *dma, const transfer *t) {
    int64_t mixed = dma->config->mixed_bytes_per_cycle;
    return mixed > 0 && mixed < t->rate && meets_traffic(dma, t) ? mixed : t->rate;
}

/* The engine is busy with one block at a time, for as long as its rate says. */
static void begin_block(ts_dma *dma, transfer *t) {
    int64_t elements;
    if (!ts_traversal_next(t->traversal, &t->accesses, &t->access_count, &elements)) {
        t->offered = true;
        return;
    }
    t->access_at = 0;
    t->block_number = ++dma->block_number;
    int bits = t->what.plan->src.shape->element_bits, dst_bits = t->what.plan->dst.shape->element_bits;
    int64_t bytes = ts_ceil_div(elements * (bits > dst_bits ? bits : dst_bits), 8);
    int64_t parts = ts_ceil_div(bytes * PARTS, rate_now(dma, t));
    int64_t start = ts_max(t->ready_cycle * PARTS, dma->port_busy);
    t->ready_cycle = start / PARTS;
    dma->port_busy = start + parts;
    t->engine_parts += parts;
}

/* When the transfer can act next, in core cycles; INT64_MAX when it only waits for the memory. The memory is
 * run up to `tick` for it; what is not known by then comes after it. */
static int64_t next_action(const ts_dma *dma, const transfer *t, int64_t tick) {
    if (!t->started || t->offered) return INT64_MAX;
    if (t->access_at == t->access_count) return ts_max(t->ready_cycle, dma->port_busy / PARTS);
    return ts_max(t->ready_cycle, to_cycle(dma, ts_hbm_stream_next(t->stream, tick)));
}

static void act(ts_dma *dma, transfer *t) {
    if (t->access_at == t->access_count) {
        begin_block(dma, t);
        return;
    }
    const ts_traversal_access *access = &t->accesses[t->access_at++];
    ts_hbm_stream_offer(t->stream, access->address, dma->config->access_bytes, access->is_write,
                        to_tick(dma, t->ready_cycle));
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
        bool block_number = is_round_robin && best && when == *cycle && t->block_number < best->block_number;
        if ((when < *cycle || block_number) && !is_held(dma, t, when)) {
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
    int64_t last = to_tick(dma, data < limit ? data : limit), step = dma->settled_tick + SETTLE_TICKS;
    if (dma->settled_tick >= last || !dma->hbm || !waits_for_end(dma)) return false;
    settle(dma, step < last ? step : last);
    return true;
}

/* Offers what has been gathered. */
static void flush(ts_dma *dma, transfer *t) {
    if (dma->request_count > 0)
        ts_hbm_stream_offer_all(t->stream, dma->requests, dma->request_count, dma->config->access_bytes);
    dma->request_count = 0;
}

static void add_skipped(ts_dma *dma, transfer *t, const sampler_skip *skip) {
    dma->any_skipped = true;
    t->skipped_ticks += skip->gained.tick;
    t->skipped_quiet += skip->quiet;
    t->caught_up += skip->caught_up;
    t->engine_parts += skip->gained.parts;
    ts_members_add(&dma->skipped, &skip->gained.hbm, ts_hbm_stats_members, 1, 1);
}

/* How far the memory is behind the engine, in ticks. */
static int64_t behind(const ts_dma *dma, const transfer *t, int64_t tick) {
    return tick - to_tick(dma, dma->port_busy / PARTS) - t->caught_up;
}

static int64_t latest_tick(const ts_dma *dma, const transfer *t) {
    return touches_hbm(t) ? ts_hbm_stream_latest(t->stream) : to_tick(dma, dma->port_busy / PARTS);
}

/* What a box that the traversal has left owes. */
static void leave_box(ts_dma *dma, transfer *t, int64_t box) {
    sampler_skip skip;
    if (!sampler_leave(&t->sampler, box, behind(dma, t, latest_tick(dma, t)), &skip)) return;
    add_skipped(dma, t, &skip);
    ts_traversal_add_totals(t->traversal, &skip.gained.totals);
}

/* Where boxes are many, a window in each of them is more than all of them together need. */
static void join_boxes(transfer *t) {
    const ts_plan *plan = t->what.plan;
    const ts_traversal_totals *totals = ts_traversal_get_totals(t->traversal);
    bool is_many = !plan->gathers && plan->box_count > SAMPLER_BOXES && plan->box_count < SAMPLER_MOST_BOXES;
    if (!is_many || t->has_joined || totals->src_lines + totals->dst_lines < t->sampler.memory.lines) return;
    t->has_joined = true;
    ts_traversal_join_boxes(t->traversal);
}

/* Between two blocks: leaves the next ones out if their time is known by now. False: the simulated channels do
 * not stand for the rest, and the traversal is in vain. */
static bool skip_blocks(ts_dma *dma, transfer *t) {
    int64_t tick = latest_tick(dma, t), next, count;
    sampler_skip skip;
    bool is_even = true;
    if (dma->hbm && !ts_hbm_subset_is_fair(dma->hbm)) return false;
    join_boxes(t);
    leave_box(dma, t, ts_traversal_position(t->traversal, &next, &count));
    if (!sampler_note(&t->sampler, t->traversal, tick)) return true;
    sampler_sample now = {.tick = tick,
                          .parts = t->engine_parts,
                          .behind = behind(dma, t, tick),
                          .totals = *ts_traversal_get_totals(t->traversal)};
    if (dma->hbm) {
        ts_hbm_read_stats(dma->hbm, &now.hbm);
        now.progress = ts_hbm_read_progress(dma->hbm);
        is_even = ts_hbm_subset_is_balanced_so_far(dma->hbm);
    }
    if (!sampler_look(&t->sampler, t->traversal, &now, is_even, &skip)) return true;
    if (dma->hbm) ts_hbm_subset_restart(dma->hbm);
    ts_traversal_seek(t->traversal, skip.to);
    if (skip.in_vain) ts_traversal_split_boxes(t->traversal);
    ts_traversal_add_totals(t->traversal, &skip.gained.totals);
    add_skipped(dma, t, &skip);
    return true;
}

static void gather_block(ts_dma *dma, transfer *t) {
    int64_t earliest = to_tick(dma, t->ready_cycle);
    for (; t->access_at < t->access_count; t->access_at++) {
        const ts_traversal_access *access = &t->accesses[t->access_at];
        dma->requests[dma->request_count++] = (ts_hbm_request){access->address, earliest, access->is_write};
        if (dma->request_count == REQUESTS) flush(dma, t);
    }
}

/* The only transfer, and nobody can start another before it ends: access by access without looking around. */
static void run_alone(ts_dma *dma, transfer *t) {
    for (;;) {
        gather_block(dma, t);
        if (dma->sampler.memory.interval > 0 &&
            (dma->request_count >= REQUESTS / 2 || t->access_count == 0 || t->access_count >= REQUESTS / 2)) {
            flush(dma, t);
            if (!skip_blocks(dma, t)) {
                t->offered = true;
                break;
            }
        }
        begin_block(dma, t);
        if (t->offered) break;
    }
    flush(dma, t);
    if (touches_hbm(t)) settle(dma, ts_hbm_stream_latest(t->stream));
    leave_box(dma, t, -1);
}

/* The next completion of its own transfers, as ts_dma_next. */
static int64_t next_own(ts_dma *dma, int64_t limit) {
    fill_queues(dma, 0);
    bool alone = limit == INT64_MAX && dma->under_way == 1 && !dma->first->offered;
    if (alone) run_alone(dma, dma->first);
    for (;;) {
        int64_t cycle;
        transfer *done = earliest_done(dma), *t = next_to_act(dma, limit, &cycle);
        if (done && done->done_cycle <= cycle) {
            if (settle_before(dma, done->done_cycle, limit)) continue;
            return done->done_cycle <= limit ? done->done_cycle : INT64_MAX;
        }
        if (t && cycle <= limit) {
            if (waits_for_end(dma)) settle(dma, to_tick(dma, cycle));
            act(dma, t);
            continue;
        }
        int64_t last = limit == INT64_MAX ? INT64_MAX : to_tick(dma, limit);
        if (!dma->first || dma->settled_tick >= last) return INT64_MAX;
        int64_t step = dma->settled_tick + SETTLE_TICKS;
        if (t && to_tick(dma, cycle) < step) step = ts_max(to_tick(dma, cycle), dma->settled_tick + 1);
        settle(dma, step < last ? step : last);
    }
}

/* Neither goes ahead of the other: what comes is offered when transfers have made their requests of that cycle. */
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
        least = end < least ? end : least;
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
