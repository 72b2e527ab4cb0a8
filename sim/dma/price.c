/* The price of one transfer: the engine itself, run once from rest. */
#include "dma/price.h"

#include <assert.h>

#include "breakdown_private.h"
#include "prices.h"
#include "transfer.h"
#include "base/clock.h"
#include "base/number.h"

ts_dma_machine ts_dma_machine_of(const ts_machine *machine, ts_dma_prices *prices) {
    return (ts_dma_machine){&machine->dma, &machine->hbm, machine->chip.sustained_khz, prices, NULL};
}

/* Channels do the same to a regular stream as long as only what is accepted holds requests back, so that one
 * may stand for many. With a limit of what is in flight all wait for the data of the slowest: a quarter of
 * them behaves as all do within about 1 %, an eighth is up to 6 % off (transpositions on TPU v5p), and so are
 * less than four. */
enum { SIMULATED_CHANNELS = 4, MOST_SHARE = 4, MOST_FREE_SHARE = 128 };

/* A part of the channels has its part of a limit, in whole bursts: what is lost of the lookahead is less than
 * one in so many, and of what is in flight each channel of the part has so many. */
enum { LOOKAHEAD_PARTS = 64, LEAST_IN_FLIGHT = 2048 };

/* Channels wait for each other where their queues and what is looked ahead to hold fewer bursts a channel:
 * with 128 sampled times are within 1.6 % of all, with 64 up to 21 % off (TPU v5e, relayouts and copies). */
enum { LEAST_AHEAD = 128 };

static bool are_coupled(const ts_dma_machine *m) {
    const ts_hbm_config *h = m->hbm;
    int64_t lookahead = m->dma->lookahead_bytes / h->burst_bytes / (h->stacks * h->channels);
    return lookahead + ts_min(h->read_entries, h->write_entries) < LEAST_AHEAD;
}

int ts_dma_first_sampling_factor(const ts_dma_machine *m) {
    int64_t lookahead = m->dma->lookahead_bytes / m->hbm->burst_bytes,
            in_flight = m->dma->in_flight_bytes / m->hbm->burst_bytes;
    bool is_free = m->dma->in_flight_bytes <= 0;
    int share = ts_hbm_sampling_factor(m->hbm, is_free ? 1 : SIMULATED_CHANNELS),
        most = is_free ? MOST_FREE_SHARE : MOST_SHARE;
    if (are_coupled(m)) return 1;
    while (share > most) share /= 2;
    while (share > 1 && lookahead % share * LOOKAHEAD_PARTS > lookahead) share /= 2;
    while (share > 1 && !is_free && in_flight / share < LEAST_IN_FLIGHT) share /= 2;
    return share;
}

ts_hbm *ts_dma_new_subset(ts_error *err, ts_arena *arena, const ts_dma_machine *m, int *share) {
    *share = ts_hbm_balanced_share(m->hbm, *share, m->dma->access_bytes);
    return ts_hbm_new_subset(err, arena, m->hbm, *share);
}

static int64_t fixed_cycles(const ts_dma_machine *m, const ts_dma_result *transfer) {
    int64_t further = transfer->descriptors > 1 ? transfer->descriptors - 1 : 0;
    int64_t ps = m->dma->issue_ps + m->dma->completion_ps + further * m->dma->descriptor_ps;
    return ts_clock_cycles(ps, m->core_khz);
}

/* A write is done at its command, so that the last burst may still be on the pins. The first waited for its
 * row. */
static int64_t last_burst_cycles(const ts_dma_machine *m) {
    const ts_hbm_timing *t = &m->hbm->timing;
    int64_t ck = ts_max((int64_t)t->n_bl - t->t_rcd_wr, 0);
    return ts_ceil_div(ck * m->core_khz, m->hbm->clock_khz);
}

int64_t ts_dma_least_cycles(const ts_dma_machine *m, const ts_dma_result *transfer, int64_t hbm_bytes) {
    int64_t memory = ts_max(ts_dma_peak_cycles(m, hbm_bytes) - last_burst_cycles(m), 0);
    return fixed_cycles(m, transfer) + ts_max(transfer->engine_cycles, memory);
}

int64_t ts_dma_least_bytes(const ts_dma_price_request *r) {
    const ts_plan *plan = r->plan;
    const ts_shape *src = plan->src.shape, *dst = plan->dst.shape;
    int64_t read = plan->elements / ts_layout_replica_total(plan->dst_layout) * src->element_bits / 8,
            written = plan->elements * dst->element_bits / 8, held = ts_max(src->bytes, src->storage_bytes);
    return (r->src.in_hbm ? ts_min(read, held) : 0) + (r->dst.in_hbm ? written : 0);
}

int64_t ts_dma_price_bound(const ts_dma_price_request *r) {
    const ts_dma_config *dma = r->machine->dma;
    const ts_dma_transfer what = {.plan = r->plan, .src = r->src, .dst = r->dst};
    ts_dma_result least = {.descriptors = transfer_count_descriptors(r->plan, dma->loop_dims)};
    least.engine_cycles = breakdown_engine_cycles(r->machine, &what, ts_dma_kind_done(dma, r->plan));
    return ts_dma_least_cycles(r->machine, &least, ts_dma_least_bytes(r));
}

/* One refresh more or less, or a few accesses, are a per cent of a transfer that takes so many intervals
 * between refreshes at the HBM's peak: it is to end exactly when all channels do. In a long one what a
 * channel is ahead of others evens out. Of few channels each is too much of all; and half of them, where
 * fewer do not stand for all, are not much less work than all. */
enum { SHORT = 6, LONG = 14, MANY_CHANNELS = 16 };

static bool has_many_channels(const ts_dma_machine *m) {
    return m->hbm->stacks * m->hbm->channels >= MANY_CHANNELS;
}

/* What of the memory and of the plan is simulated. */
typedef struct {
    const ts_dma_machine *machine;
    const ts_dma_transfer *transfer;
    int share; /* of the channels, one in so many */
    bool is_short;
    bool is_even; /* that gets its share of every access: of a short one, unless the engine sets the pace */
    bool skips;   /* blocks are left out */
    ts_hbm_subset_length length;
    bool is_fair;  /* it stood for all; else one in `share` is to be tried */
    int64_t limit; /* cycles; 0: none */
} part;

ts_dma_cost ts_dma_cost_over(int64_t least_cycles, ts_dma_kind kind) {
    return (ts_dma_cost){.cycles = least_cycles, .transfer.kind = kind, .is_over = true};
}

/* Which share of the channels would have stood for all. */
static void judge_share(part *p, const ts_hbm *hbm) {
    int share = ts_hbm_subset_fair_share(hbm);
    p->is_fair = share == p->share;
    p->is_even = p->is_short && !p->is_fair;
    p->share = share == 2 && !p->is_fair && !has_many_channels(p->machine) ? 1 : share;
}

static bool run(ts_error *err, ts_arena *scratch, part *p, ts_dma_cost *cost) {
    const ts_dma_machine *machine = p->machine;
    ts_hbm *hbm = p->is_even ? ts_dma_new_subset(err, scratch, machine, &p->share)
                             : ts_hbm_new_subset(err, scratch, machine->hbm, p->share);
    if (!hbm) return false;
    ts_hbm_subset_expect(hbm, p->length);
    ts_dma *dma = ts_dma_new(scratch, machine->dma, hbm, machine->core_khz, ts_hbm_tick_khz(machine->hbm));
    if (p->skips) ts_dma_set_skipping(dma, machine->hbm);
    if (p->limit > 0) ts_dma_set_limit(dma, p->limit);
    ts_dma_set_interrupt(dma, machine->interrupt);
    if (!ts_dma_start(err, dma, p->transfer, 0)) return false;
    cost->cycles = ts_dma_next(dma, INT64_MAX);
    assert(cost->cycles != INT64_MAX);
    bool complete = ts_dma_complete(err, dma, &cost->transfer);
    assert(complete);
    ts_hbm_drain(hbm);
    ts_hbm_read_stats(hbm, &cost->hbm);
    ts_dma_add_skipped(dma, &cost->hbm, &cost->estimated);
    ts_hbm_stats_balance(&cost->hbm);
    cost->estimated = cost->estimated || p->share > 1;
    judge_share(p, hbm);
    int64_t over = ts_dma_over_cycles(dma);
    if (over > 0) *cost = ts_dma_cost_over(over, cost->transfer.kind);
    ts_dma_free(dma);
    if (ts_interrupt_is_heard(machine->interrupt)) return ts_interrupt_error(err, machine->interrupt);
    return ts_hbm_check(err, hbm);
}

/* Does the machine's tRTW let a write begin while the read before it is on the pins? */
static bool pins_overlap(const ts_hbm_timing *t) { return t->t_rtw + t->t_cwl < t->t_cl + t->n_bl; }

/* Neither the HBM's pins nor the engine are faster than their peaks, between issue and completion; what was
 * left out is a difference of counts, which may not say so either. Bursts that queues answer are not on the
 * pins. */
static void bound(const ts_dma_machine *machine, ts_dma_cost *cost) {
    const ts_hbm_stats *h = &cost->hbm;
    int64_t bursts = h->reads + h->writes - h->forwarded - h->coalesced,
            least = ts_dma_least_cycles(machine, &cost->transfer, bursts * machine->hbm->burst_bytes);
    assert(cost->estimated || cost->cycles >= least || pins_overlap(&machine->hbm->timing));
    if (cost->cycles < least) cost->cycles = least;
}

static void finish(const ts_dma_machine *machine, const ts_dma_transfer *transfer, ts_dma_cost *cost) {
    cost->fixed_cycles = fixed_cycles(machine, &cost->transfer);
    cost->engine_cycles = cost->transfer.engine_cycles;
    cost->memory_cycles =
        ts_dma_peak_cycles(machine, (transfer->src.in_hbm ? cost->transfer.src_bytes : 0) +
                                        (transfer->dst.in_hbm ? cost->transfer.dst_bytes : 0));
    bound(machine, cost);
}

/* Lines of the HBM that are accessed, or blocks without any; counted up to `most`. */
static int64_t count_lines(const ts_dma_config *dma, const ts_dma_transfer *transfer, int64_t most) {
    const ts_traversal_access *accesses;
    ts_arena *scratch = ts_arena_new();
    ts_traversal *traversal = transfer_traversal(scratch, dma, transfer);
    int64_t lines = 0, elements;
    for (int count; lines < most && ts_traversal_next(traversal, &accesses, &count, &elements);)
        lines += count > 0 ? count : 1;
    ts_arena_free(scratch);
    return lines;
}

/* At the HBM's peak, from one refresh to the next. */
static int64_t interval_lines(const ts_dma_machine *m) {
    const ts_hbm_config *hbm = m->hbm;
    int64_t bursts = (int64_t)hbm->timing.t_refi / hbm->timing.n_bl * ts_hbm_bus_count(hbm);
    return bursts * hbm->burst_bytes / m->dma->access_bytes;
}

/* Its elements fill so many lines of the HBM at least. */
static int64_t least_lines(const ts_dma_price_request *r) {
    const ts_plan *plan = r->plan;
    int64_t bits = (r->src.in_hbm ? plan->src.shape->element_bits : 0) +
                   (r->dst.in_hbm ? plan->dst.shape->element_bits : 0);
    return plan->moved_elements / 8 / r->machine->dma->access_bytes * bits;
}

/* Do channels that are ahead not wait for others, and are they many? */
static bool may_differ(const ts_dma_machine *m) {
    return m->dma->in_flight_bytes <= 0 && has_many_channels(m);
}

/* How many these are about, by some blocks of each box; of many boxes, counted up to `most`. */
static int64_t estimate_lines(const ts_dma_config *dma, const ts_dma_transfer *transfer, int64_t most) {
    enum { FEW_BOXES = 64 };
    ts_arena *scratch = ts_arena_new();
    int64_t work = ts_traversal_work_elsewhere(transfer_traversal(scratch, dma, transfer), FEW_BOXES);
    ts_arena_free(scratch);
    return work > 0 ? work / TS_TRAVERSAL_LINE_WORK : count_lines(dma, transfer, most);
}

/* Is a transfer of so many lines long by the engine's time, and is the engine likely to set its pace? */
static bool is_engine_bound(const ts_dma_price_request *r, const ts_dma_transfer *transfer, int64_t lines) {
    enum { SLOWER = 2 };
    int64_t engine =
                breakdown_engine_cycles(r->machine, transfer, ts_dma_kind_done(r->machine->dma, r->plan)),
            most = ts_max(SLOWER * lines, SHORT * interval_lines(r->machine));
    return engine > ts_dma_peak_cycles(r->machine, most * r->machine->dma->access_bytes);
}

/* Of little data many lines may be accessed, in part. */
static part part_of(const ts_dma_price_request *r, const ts_dma_transfer *transfer) {
    part p = {.machine = r->machine, .transfer = transfer, .share = 1};
    if (r->exact) return p;
    const ts_dma_config *dma = r->machine->dma;
    int64_t few = TS_DMA_PRICE_SIMULATED_BYTES / dma->access_bytes, interval = interval_lines(r->machine),
            held = SHORT * interval, many = LONG * interval, lines = count_lines(dma, transfer, few + 1);
    p.skips = lines > few;
    if (p.skips) lines = estimate_lines(dma, transfer, many + 1);
    p.is_short = lines <= held;
    p.is_even = p.is_short && !is_engine_bound(r, transfer, lines);
    if (lines > many && may_differ(r->machine))
        p.length = TS_HBM_SUBSET_LONG;
    else if (lines <= many && least_lines(r) <= held && p.is_even == p.is_short)
        p.length = TS_HBM_SUBSET_SHORT;
    if (p.skips) p.share = ts_dma_first_sampling_factor(r->machine);
    return p;
}

bool prices_simulate(ts_error *err, ts_arena *scratch, const ts_dma_price_request *r, int64_t limit,
                     ts_dma_cost *cost) {
    *cost = (ts_dma_cost){0};
    ts_dma_transfer transfer = {.plan = r->plan, .src = r->src, .dst = r->dst};
    transfer.src.space = transfer.dst.space = NULL;
    int64_t least = limit > 0 ? ts_dma_price_bound(r) : 0;
    if (least > limit) {
        *cost = ts_dma_cost_over(least, ts_dma_kind_done(r->machine->dma, r->plan));
        return true;
    }
    part p = part_of(r, &transfer);
    p.limit = limit;
    while (!p.is_fair && !cost->is_over)
        if (!run(err, scratch, &p, cost)) return false;
    if (cost->is_over) return true;
    finish(r->machine, &transfer, cost);
    ts_dma_break_down(r->machine, &transfer, cost);
    return true;
}
