/* The transfers of a chip: a core starts one, it takes VMEM ports while it is under way, and completes. */
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "layout/plan.h"
#include "state.h"

/* ---- Transfers ---- */

/* Whether the transfer moves bytes: without values, only SMEM is kept exact. */
static bool has_values(const ts_chip *chip, const ts_transfer *what) {
    return !chip->config->time_only || chip->code->tensors[what->destination.tensor].space == TS_SPACE_SMEM;
}

static ts_space *space_of(const chip_core *by, const ts_slice *slice) {
    return by->spaces[by->chip->code->tensors[slice->tensor].space];
}

static ts_dma_end end_of(const chip_core *by, const ts_transfer *what, const ts_slice *slice) {
    const ts_chip *chip = by->chip;
    ts_space_kind kind = chip->code->tensors[slice->tensor].space;
    ts_space *space = by->spaces[kind];
    return (ts_dma_end){has_values(chip, what) ? space : NULL, kind == TS_SPACE_HBM,
                        ts_space_partition_bits(space)};
}

/* Without values, nothing that the program computes may come into SMEM. */
static bool source_is_known(ts_error *err, const ts_chip *chip, const ts_transfer *what) {
    const ts_tensor *source = &chip->code->tensors[what->source.tensor];
    if (!chip->config->time_only || !has_values(chip, what)) return true;
    bool known = source->space == TS_SPACE_HBM || source->space == TS_SPACE_SMEM;
    for (int i = 0; i < chip->code->transfer_count; i++) {
        bool written = chip->code->transfers[i].destination.tensor == what->source.tensor;
        known = known && !(written && source->space == TS_SPACE_HBM);
    }
    return known ||
           ts_error_set(err, TS_ERROR_UNMODELLED,
                        "'%s' is unknown when only time is modelled, and SMEM needs it", source->name);
}

static bool transfer_fault(ts_error *err, int64_t cycle, const ts_transfer *what) {
    return chip_fault_at(err, cycle, what->source_text, what->line, what->column);
}

/* Whether this slice is not within its tensor; the error then says of which. */
static bool is_outside(ts_error *err, const ts_chip *chip, const ts_slice *slice, const int64_t *begin) {
    const ts_tensor *tensor = &chip->code->tensors[slice->tensor];
    ts_arena *arena = traffic_arena(chip->traffic);
    if (ts_layout_slice(NULL, arena, tensor->shape->layout, begin, slice->size)) return false;
    ts_error cause = *err;
    ts_error_clear(err);
    ts_error_set(err, cause.kind, "%s of '%s'", cause.message, tensor->name);
    return true;
}

static const ts_plan *plan_of(ts_error *err, ts_chip *chip, const ts_transfer *what,
                              const ts_core_start *start) {
    ts_plan_side src = chip_side(chip, &what->source, start->source_begin),
                 dst = chip_side(chip, &what->destination, start->destination_begin);
    if (!source_is_known(err, chip, what)) return NULL;
    const ts_plan *plan = chip_plan(err, traffic_arena(chip->traffic), what, &src, &dst);
    if (!plan && err && !is_outside(err, chip, &what->source, start->source_begin))
        is_outside(err, chip, &what->destination, start->destination_begin);
    return plan;
}

/* What was in the buffer is gone, in the shadow too. */
static void renew_buffer(const chip_core *by, const ts_core_start *start) {
    const ts_transfer *what = &by->chip->code->transfers[start->transfer];
    const ts_tensor *tensor = &by->chip->code->tensors[what->destination.tensor];
    ts_space *space = space_of(by, &what->destination);
    if (!what->renews || !space->shadow) return;
    int64_t bits = tensor->bytes / what->renews * 8;
    int64_t buffer = start->destination_begin[0] * what->renews / tensor->shape->layout->dims[0];
    ts_space_mark_poison(space, tensor->base_bytes * 8 + buffer * bits, bits);
}

/* The record of a transfer that starts, but for its plan. */
static ts_in_flight *open_record(const chip_core *by, const ts_core_start *start) {
    ts_chip *chip = by->chip;
    const ts_transfer *what = &chip->code->transfers[start->transfer];
    const ts_dma_machine *memory = &chip->config->memory;
    ts_in_flight *t = chip_take_record(chip);
    *t = (ts_in_flight){.what = what,
                        .number = chip->started++,
                        .transfer = start->transfer,
                        .core = (int)(by - chip->cores),
                        .semaphore = start->semaphore,
                        .receive = what->remote ? start->receive : -1,
                        .src = space_of(by, &what->source),
                        .dst = chip_leaves(chip, what) ? NULL : space_of(by, &what->destination),
                        .issued_cycle = start->cycle,
                        .done_cycle = -1,
                        .begun_cycle =
                            start->cycle + ts_clock_cycles(memory->dma->issue_ps, memory->core_khz)};
    return t;
}

/* The engine's descriptor of a transfer, without its plan. */
static ts_dma_transfer engine_part(const chip_core *by, const ts_in_flight *t) {
    const ts_transfer *what = t->what;
    ts_dma_transfer moved = {.src = end_of(by, what, &what->source),
                             .dst = end_of(by, what, &what->destination),
                             .tag = t->number,
                             .priority = what->priority};
    if (chip_leaves(by->chip, what)) { /* the engine reads; the bytes go with the message */
        moved.src.space = NULL;
        moved.dst = (ts_dma_end){0};
    }
    return moved;
}

bool chip_dma_start(ts_error *err, void *self, const ts_core_start *start) {
    chip_core *by = self;
    ts_chip *chip = by->chip;
    ts_in_flight *t = open_record(by, start);
    const ts_transfer *what = t->what;
    renew_buffer(by, start);
    ts_dma_transfer moved = engine_part(by, t);
    moved.plan = plan_of(err, chip, what, start);
    int layouts = what->source.tensor * chip->code->tensor_count + what->destination.tensor;
    if (!moved.plan || !traffic_start(err, chip->traffic, &moved, layouts, start->cycle)) {
        chip_give_back(chip, t);
        return transfer_fault(err, start->cycle, what);
    }
    const ts_dma_machine *memory = &chip->config->memory;
    t->plan = moved.plan;
    t->vreg_cycles = ts_ceil_div(
        TS_VREG_BYTES, ts_dma_rate(memory->dma, moved.src, ts_dma_kind_done(memory->dma, moved.plan)));
    chip_put_in_flight(chip, t);
    if (chip_leaves(chip, what)) chip_send(chip, t, start, has_values(chip, what));
    return true;
}

/* ---- Ports of VMEM ---- */

static bool in_vmem(const ts_chip *chip, const ts_slice *slice) {
    return chip->code->tensors[slice->tensor].space == TS_SPACE_VMEM;
}

/* Whether a transfer goes through a VMEM port at `cycle`: a vreg's bytes at a time, at the engine's rate,
 * from its issue cost on until it is complete. */
static bool takes_port(const ts_in_flight *t, int64_t cycle) {
    return cycle >= t->begun_cycle && t->done_cycle < 0 && (cycle - t->begun_cycle) % t->vreg_cycles == 0;
}

/* The engine works at one transfer at a time: only the oldest of this core's that touch VMEM takes a port. */
int64_t chip_vmem_take(void *self, int64_t cycle, int loads, int stores) {
    const chip_core *by = self;
    const ts_chip *chip = by->chip;
    const int *slots = chip->config->core.limits.slots;
    for (const ts_in_flight *t = chip->active; t; t = t->younger) {
        bool reads = in_vmem(chip, &t->what->source), writes = t->dst && in_vmem(chip, &t->what->destination);
        if (&chip->cores[t->core] != by || !(reads || writes)) continue;
        bool full = (reads && loads == slots[TS_SLOT_VLD]) || (writes && stores == slots[TS_SLOT_VST]);
        return full && takes_port(t, cycle) ? cycle + 1 : cycle;
    }
    return cycle;
}

bool chip_dma_ready(void *self) { return traffic_can_start(((chip_core *)self)->chip->traffic); }

static int64_t bytes_in(const ts_chip *chip, const ts_dma_result *r, const ts_transfer *what,
                        ts_space_kind space) {
    const ts_tensor *tensors = chip->code->tensors;
    bool arrives = tensors[what->destination.tensor].space == space && !chip_leaves(chip, what);
    return (tensors[what->source.tensor].space == space ? r->src_bytes : 0) + (arrives ? r->dst_bytes : 0);
}

static const ts_member counted[] = {
    TS_MEMBER(ts_chip_counters, transfers),
    TS_MEMBER(ts_chip_counters, useful_bytes),
    TS_MEMBER(ts_chip_counters, src_bytes),
    TS_MEMBER(ts_chip_counters, dst_bytes),
    TS_MEMBER(ts_chip_counters, padding_bytes),
    TS_MEMBER(ts_chip_counters, waste_bytes),
    TS_MEMBER(ts_chip_counters, rmw_lines),
    TS_MEMBER(ts_chip_counters, hbm_read_bytes),
    TS_MEMBER(ts_chip_counters, hbm_written_bytes),
    TS_MEMBER(ts_chip_counters, transfer_cycles),
    TS_MEMBER(ts_chip_counters, least_transfer_cycles),
    {0, 0},
};
static const ts_member counted_of[] = {
    TS_MEMBER(ts_chip_transfers, times),
    TS_MEMBER(ts_chip_transfers, moved_bytes),
    TS_MEMBER(ts_chip_transfers, hbm_bytes),
    TS_MEMBER(ts_chip_transfers, vmem_bytes),
    {0, 0},
};

static ts_chip_counters count_result(const ts_chip *chip, const ts_dma_result *r, const ts_transfer *what) {
    const ts_tensor *tensors = chip->code->tensors;
    ts_chip_counters c = {.transfers = 1,
                          .useful_bytes = r->useful_bytes,
                          .src_bytes = r->src_bytes,
                          .dst_bytes = r->dst_bytes,
                          .padding_bytes = r->padding_bytes,
                          .waste_bytes = r->waste_bytes,
                          .rmw_lines = r->rmw_lines,
                          .transfer_cycles = r->completed_cycle - r->issued_cycle};
    if (tensors[what->source.tensor].space == TS_SPACE_HBM) c.hbm_read_bytes = r->src_bytes;
    bool leaves = chip_leaves(chip, what);
    if (tensors[what->destination.tensor].space == TS_SPACE_HBM && !leaves)
        c.hbm_written_bytes = r->dst_bytes;
    c.least_transfer_cycles =
        ts_dma_least_cycles(&chip->config->memory, r, c.hbm_read_bytes + c.hbm_written_bytes);
    return c;
}

static bool is_marked(const chip_counts *m, int64_t number) { return number >= m->number && number < m->end; }

static void add_result(ts_chip *chip, const ts_dma_result *r, const ts_in_flight *t) {
    const ts_transfer *what = t->what;
    ts_chip_counters one = count_result(chip, r, what);
    chip_counts *m = &chip->marked[t->core];
    int64_t which = what - chip->code->transfers, times = is_marked(m, t->number) ? 1 + m->times : 1;
    ts_chip_transfers of = {.times = 1,
                            .moved_bytes = r->src_bytes + r->dst_bytes,
                            .hbm_bytes = one.hbm_read_bytes + one.hbm_written_bytes,
                            .vmem_bytes = bytes_in(chip, r, what, TS_SPACE_VMEM)};
    ts_members_add(&chip->counters, &one, counted, times, 1);
    ts_members_add(&chip->transfers[which], &of, counted_of, times, 1);
    if (!is_marked(m, t->number)) return;
    ts_members_add(&m->all, &one, counted, 1, 1);
    ts_members_add(&m->of[which], &of, counted_of, 1, 1);
}

void chip_mark(ts_chip *chip, int core) {
    chip_counts *m = &chip->marked[core];
    size_t count = (size_t)chip->code->transfer_count;
    ts_chip_transfers *of = m->of ? m->of : TS_NEW_ARRAY(chip->arena, ts_chip_transfers, count);
    memset(of, 0, count * sizeof *of);
    *m = (chip_counts){.of = of, .number = chip->started, .end = INT64_MAX};
}

void chip_repeat(ts_chip *chip, int core, int64_t times) {
    chip_counts *m = &chip->marked[core];
    m->end = chip->started;
    m->times = times;
    ts_members_add(&chip->counters, &m->all, counted, times, 1);
    for (int i = 0; i < chip->code->transfer_count; i++)
        ts_members_add(&chip->transfers[i], &m->of[i], counted_of, times, 1);
}

bool chip_counts_for_others(const ts_chip *chip) {
    bool counts = false;
    for (const ts_in_flight *t = chip->active; t; t = t->younger) {
        const chip_counts *m = &chip->marked[t->core];
        counts = counts || (m->times > 0 && is_marked(m, t->number));
    }
    return counts;
}

/* ---- The end ---- */

static void tell_done(ts_chip *chip, const ts_in_flight *t, const ts_dma_result *result) {
    const ts_chip_observer *o = chip->observer;
    if (o && o->moved && t->dst) o->moved(o->self, t);
    if (o && o->transferred) o->transferred(o->self, t, result);
}

bool chip_complete(ts_error *err, ts_chip *chip, int64_t cycle) {
    ts_dma_result result;
    bool moved = traffic_complete(err, chip->traffic, &result);
    chip->quiet_until = 0;
    if (result.incoming) return chip_arrive(err, chip, &result) && moved;
    ts_in_flight *t = chip->active;
    while (t->number != result.tag) t = t->younger;
    const ts_transfer *what = t->what;
    add_result(chip, &result, t);
    t->done_cycle = cycle;
    tell_done(chip, t, &result);
    chip->counters.elapsed_cycles = cycle;
    if (traffic_under_way(chip->traffic) == 0) {
        chip->counters.dma_busy_cycles += cycle - chip->busy_since;
        chip->busy_since = -1;
    }
    if (t->message)
        moved = chip_read(err, chip, t, cycle) && moved;
    else
        chip_settle(chip, t, cycle);
    return moved || transfer_fault(err, cycle, what);
}
