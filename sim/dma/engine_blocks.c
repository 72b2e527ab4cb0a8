/* The blocks of transfers: each keeps the engine busy, and those whose time is known by now are left out. */
#include "engine_state.h"

#include "base/members.h"
#include "base/number.h"

void engine_settle(ts_dma *dma, int64_t tick) {
    if (tick <= dma->settled_tick || !dma->hbm) return;
    dma->settled_tick = tick;
    ts_hbm_settle(dma->hbm, tick);
}

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

/* Asked once in so many blocks, which take milliseconds: at each, the clock would take 6 % of a price. */
static bool is_interrupted(const ts_dma *dma) {
    enum { BLOCKS = 64 };
    return dma->block_number % BLOCKS == 0 && ts_interrupt_is_heard(dma->interrupt);
}

/* The engine is busy with one block at a time, for as long as its rate says. */
void engine_begin_block(ts_dma *dma, transfer *t) {
    int64_t elements;
    if (is_interrupted(dma) || !ts_traversal_next(t->traversal, &t->accesses, &t->access_count, &elements)) {
        t->offered = true;
        return;
    }
    t->access_at = 0;
    t->block_number = ++dma->block_number;
    int64_t bytes = ts_plan_wide_bytes(t->what.plan, elements),
            parts = ts_ceil_div(bytes * PARTS, rate_now(dma, t));
    int64_t start = ts_max(t->ready_cycle * PARTS, dma->port_busy);
    t->ready_cycle = start / PARTS;
    dma->port_busy = start + parts;
    t->engine_parts += parts;
}

/* ---- Of a transfer that is alone ---- */

/* Offers what has been gathered. */
static void flush(ts_dma *dma, transfer *t) {
    if (dma->request_count > 0)
        ts_hbm_stream_offer_all(t->stream, dma->requests, dma->request_count, dma->config->access_bytes);
    dma->request_count = 0;
}

/* The time that is left out passes for the memory; the engine's may be shorter or longer. What it is ahead by
 * then, the memory is behind in the blocks that follow. */
static void add_skipped(ts_dma *dma, transfer *t, const sampler_skip *skip) {
    dma->any_skipped = true;
    t->skipped_ticks += skip->gained.tick;
    t->skipped_quiet += skip->quiet;
    dma->port_busy += (int64_t)((double)skip->caught_up / t->sampler.engine_ticks_per_part);
    t->ready_cycle = ts_min(t->ready_cycle, dma->port_busy / PARTS);
    t->engine_parts += skip->gained.parts;
    ts_members_add(&dma->skipped, &skip->gained.hbm, ts_hbm_stats_members, 1, 1);
}

/* How far the memory is behind the engine, in ticks. */
static int64_t behind(const ts_dma *dma, int64_t tick) { return tick - to_tick(dma, dma->port_busy / PARTS); }

static int64_t latest_tick(const ts_dma *dma, const transfer *t) {
    return touches_hbm(t) ? ts_hbm_stream_latest(t->stream) : to_tick(dma, dma->port_busy / PARTS);
}

/* What a box that the traversal has left owes. */
static void leave_box(ts_dma *dma, transfer *t, int64_t box) {
    sampler_skip skip;
    if (!sampler_leave(&t->sampler, box, behind(dma, latest_tick(dma, t)), &skip)) return;
    add_skipped(dma, t, &skip);
    ts_traversal_add_totals(t->traversal, &skip.gained.totals);
}

/* With many boxes, one window over all of them needs less simulation than a window in each. */
static void join_boxes(transfer *t) {
    const ts_plan *plan = t->what.plan;
    const ts_traversal_totals *totals = ts_traversal_get_totals(t->traversal);
    bool is_many = !plan->gathers && plan->box_count > SAMPLER_BOXES && plan->box_count < SAMPLER_MOST_BOXES;
    if (!is_many || t->has_joined || totals->src_lines + totals->dst_lines < t->sampler.memory.lines) return;
    t->has_joined = true;
    ts_traversal_join_boxes(t->traversal);
}

/* Ticks that the transfer takes at least by the windows of the box that is measured: less OVER_SURE standard
 * errors, and the work of other boxes at OVER_OTHERS per cent of its time; 0: these do not agree. */
static int64_t least_ticks(const transfer *t) {
    enum { OVER_WINDOWS = 6, OVER_ERROR = 64, OVER_SURE = 3, OVER_OTHERS = 75 };
    const sampler_box *b = &t->sampler.box;
    int64_t next, count;
    if (b->is_joined || b->ticks.count < OVER_WINDOWS || !ts_ratio_is_known(&b->ticks, OVER_ERROR, 1))
        return 0;
    ts_traversal_position(t->traversal, &next, &count);
    int64_t own = ts_traversal_before(t->traversal, count).work,
            others = ts_traversal_work_elsewhere(t->traversal, SAMPLER_BOXES) * OVER_OTHERS / 100;
    return (int64_t)(ts_ratio_get(&b->ticks) * (double)(own + others) * (1 - (double)OVER_SURE / OVER_ERROR));
}

/* Is that longer than its limit? */
static bool is_over(ts_dma *dma, int64_t least) {
    if (dma->limit_ticks > 0 && least > dma->limit_ticks) dma->over_ticks = least;
    return dma->over_ticks > 0;
}

/* Between two blocks: leaves the next ones out if their time is known by now. False: the simulated channels
 * do not stand for the rest, or it is over its limit, and the traversal is in vain. */
static bool skip_blocks(ts_dma *dma, transfer *t) {
    int64_t tick = latest_tick(dma, t), next, count;
    sampler_skip skip;
    bool is_even = true;
    if (dma->hbm && !ts_hbm_subset_is_fair_so_far(dma->hbm)) return false;
    if (is_over(dma, tick + t->skipped_ticks)) return false;
    join_boxes(t);
    leave_box(dma, t, ts_traversal_position(t->traversal, &next, &count));
    if (!sampler_note(&t->sampler, t->traversal, tick)) return true;
    sampler_sample now = {.tick = tick,
                          .parts = t->engine_parts,
                          .behind = behind(dma, tick),
                          .totals = *ts_traversal_get_totals(t->traversal)};
    if (dma->hbm) {
        ts_hbm_read_stats(dma->hbm, &now.hbm);
        now.progress = ts_hbm_read_progress(dma->hbm);
        is_even = ts_hbm_subset_is_even(dma->hbm);
    }
    if (!sampler_look(&t->sampler, t->traversal, &now, is_even, &skip)) return true;
    if (dma->limit_ticks > 0 && is_over(dma, least_ticks(t))) return false;
    if (dma->hbm) ts_hbm_subset_jump(dma->hbm);
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

void engine_run_alone(ts_dma *dma, transfer *t) {
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
        engine_begin_block(dma, t);
        if (t->offered) break;
    }
    flush(dma, t);
    if (touches_hbm(t)) engine_settle(dma, ts_hbm_stream_latest(t->stream));
    leave_box(dma, t, -1);
}
