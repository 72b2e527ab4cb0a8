/* Where the time of a transfer goes: what the engine and the HBM measured, as parts that add up. */
#include "breakdown_private.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/number.h"
#include "dma/breakdown.h"

static const struct {
    const char *key, *label;
} components[TS_DMA_COMPONENT_COUNT] = {
#define COMPONENT(id, key, label, meaning) {key, label},
#include "dma/cost_components.def"
#undef COMPONENT
};

const char *ts_dma_component_key(ts_dma_component component) { return components[component].key; }
const char *ts_dma_component_label(ts_dma_component component) { return components[component].label; }

/* Which part a wait of the HBM belongs to; DATA is counted by bytes. */
static const ts_dma_component part_of_limiter[TS_HBM_LIMITER_COUNT] = {
#define LIMITER(id, name, part, meaning) TS_DMA_COMPONENT_##part,
#include "dram/hbm_limiters.def"
#undef LIMITER
};

int64_t ts_dma_peak_cycles(const ts_dma_machine *m, int64_t bytes) {
    int64_t units = ts_hbm_bus_count(m->hbm) * m->hbm->burst_bytes;
    __int128 cycles = (__int128)bytes * m->hbm->timing.n_bl * m->core_khz;
    __int128 per = (__int128)units * m->hbm->clock_khz;
    return (int64_t)((cycles + per - 1) / per);
}

_Static_assert((int)TS_DMA_LIMIT_BANDWIDTH == TS_DMA_COMPONENT_USEFUL &&
                   (int)TS_DMA_LIMIT_ENGINE == TS_DMA_COMPONENT_REORDER,
               "limits begin in the order of the components");

static int64_t at_most(int64_t value, int64_t most) { return value < 0 ? 0 : value < most ? value : most; }

static int64_t take(int64_t *left, int64_t wanted) {
    int64_t taken = at_most(wanted, *left);
    *left -= taken;
    return taken;
}

/* Adds `cycles` to the components by weight; the roundings even out, so that all of it is given away. */
static void share(ts_dma_cost *cost, int64_t cycles, const int64_t weights[TS_DMA_COMPONENT_COUNT]) {
    __int128 total = 0, so_far = 0;
    int64_t given = 0;
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++) total += weights[i];
    if (total == 0) cost->components[TS_DMA_COMPONENT_FIXED] += cycles;
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT && total > 0; i++) {
        so_far += weights[i];
        int64_t until = (int64_t)(cycles * so_far / total);
        cost->components[i] += until - given;
        given = until;
    }
}

int64_t breakdown_engine_cycles(const ts_dma_machine *m, const ts_dma_transfer *what, ts_dma_kind kind) {
    int64_t bytes = ts_plan_wide_bytes(what->plan, what->plan->moved_elements);
    return ts_ceil_div(bytes, ts_dma_rate(m->dma, what->src, kind));
}

typedef enum { OF_BOTH_ENDS, OF_HBM } byte_count;

/* The bytes that cross the HBM's pins, or all that pass the engine, by what they are. */
static void weigh_bytes(const ts_dma_transfer *what, const ts_dma_result *r, byte_count which,
                        int64_t weights[TS_DMA_COMPONENT_COUNT]) {
    const ts_plan *plan = what->plan;
    int64_t replicas = ts_layout_replica_total(plan->dst_layout);
    int64_t bits[2] = {plan->src.shape->element_bits, plan->dst.shape->element_bits};
    int64_t moved[2] = {plan->moved_elements / replicas, plan->moved_elements},
            valid[2] = {plan->elements / replicas, plan->elements};
    for (int i = 0; i < 2; i++) {
        if (which == OF_HBM && !(i ? what->dst.in_hbm : what->src.in_hbm)) continue;
        int64_t asked = ts_ceil_div(moved[i] * bits[i], 8), useful = ts_ceil_div(valid[i] * bits[i], 8);
        weights[TS_DMA_COMPONENT_USEFUL] += useful;
        weights[TS_DMA_COMPONENT_PADDING] += asked - useful;
        if (which == OF_HBM) weights[TS_DMA_COMPONENT_WASTE] += (i ? r->dst_bytes : r->src_bytes) - asked;
    }
}

/* What the pins need: not the bursts that queues answer. */
static int64_t pin_cycles(const ts_dma_cost *cost) { return ts_hbm_on_pins(&cost->hbm, cost->memory_cycles); }

/* Waste that queues answer is on no pin. */
static void take_off_answered(const ts_dma_cost *cost, int64_t weights[TS_DMA_COMPONENT_COUNT]) {
    int64_t moved = weights[TS_DMA_COMPONENT_USEFUL] + weights[TS_DMA_COMPONENT_PADDING] +
                    weights[TS_DMA_COMPONENT_WASTE],
            answered = moved - ts_hbm_on_pins(&cost->hbm, moved);
    weights[TS_DMA_COMPONENT_WASTE] = ts_max(weights[TS_DMA_COMPONENT_WASTE] - answered, 0);
}

/* Where the engine takes longer than the pins, waste hides behind it. */
static bool is_engine_bound(const ts_dma_cost *cost) { return cost->engine_cycles >= pin_cycles(cost); }

/* What a straight copy needs, split by what its bytes are. Returns its cycles. */
static int64_t charge_copy(const ts_dma_machine *m, const ts_dma_transfer *what, int64_t *left,
                           ts_dma_cost *cost) {
    int64_t weights[TS_DMA_COMPONENT_COUNT] = {0}, pins = pin_cycles(cost);
    ts_dma_kind kind = m->dma->bytes_per_cycle[TS_DMA_COPY] ? TS_DMA_COPY : cost->transfer.kind;
    int64_t engine = breakdown_engine_cycles(m, what, kind);
    weigh_bytes(what, &cost->transfer, OF_HBM, weights);
    take_off_answered(cost, weights);
    if (is_engine_bound(cost) && pins > 0) {
        __int128 asked = weights[TS_DMA_COMPONENT_USEFUL] + weights[TS_DMA_COMPONENT_PADDING];
        pins = (int64_t)(pins * asked / (asked + weights[TS_DMA_COMPONENT_WASTE]));
        weights[TS_DMA_COMPONENT_WASTE] = 0;
    }
    if (engine > pins) {
        memset(weights, 0, sizeof weights);
        weigh_bytes(what, &cost->transfer, OF_BOTH_ENDS, weights);
    }
    int64_t cycles = ts_max(engine, pins);
    share(cost, take(left, cycles), weights);
    return cycles;
}

/* Ticks of all buses, in a millisecond. */
static __int128 bus_khz(const ts_dma_machine *m) {
    return (__int128)ts_hbm_tick_khz(m->hbm) * ts_hbm_bus_count(m->hbm);
}

/* Charges the cycles that are left to what held the HBM's commands back, in proportion to its counters. Of
 * the time that it had nothing to do, only what the engine's own cycles (the fixed ones and engine_cycles) do
 * not explain. */
static void charge_waits(const ts_dma_machine *m, int64_t engine_cycles, int64_t left, ts_dma_cost *cost) {
    int64_t weights[TS_DMA_COMPONENT_COUNT] = {0};
    __int128 explained = (cost->fixed_cycles + engine_cycles) * bus_khz(m) / m->core_khz;
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) {
        int64_t ticks = cost->hbm.limiter_cycles[i];
        if (i == TS_HBM_LIMITER_DATA) continue;
        if (i == TS_HBM_LIMITER_REQUESTS || i == TS_HBM_LIMITER_IDLE) {
            int64_t hidden = explained < ticks ? (int64_t)explained : ticks;
            ticks -= hidden;
            explained -= hidden;
        }
        weights[part_of_limiter[i]] += ticks > 0 ? ticks : 0;
    }
    share(cost, left, weights);
}

/* ---- What limits it ---- */

static const char *const kind_limits[TS_DMA_KIND_COUNT] = {
    [TS_DMA_COPY] = "rate of the DMA engine",
    [TS_DMA_RETILE] = "retile rate of the DMA engine",
    [TS_DMA_INTERLEAVE] = "interleave rate of the DMA engine",
    [TS_DMA_TRANSPOSE] = "transpose rate of the DMA engine",
    [TS_DMA_CONVERT] = "convert rate of the DMA engine",
    [TS_DMA_GATHER] = "gather rate of the DMA engine",
};

static const char *const limits[TS_DMA_LIMIT_COUNT] = {
    [TS_DMA_LIMIT_BANDWIDTH] = "HBM bandwidth",
    [TS_DMA_LIMIT_PADDING] = "HBM bandwidth, taken by padding",
    [TS_DMA_LIMIT_WASTE] = "HBM bandwidth, taken by burst waste",
    [TS_DMA_LIMIT_ROWS] = "HBM row misses",
    [TS_DMA_LIMIT_CONFLICTS] = "HBM bank and bus conflicts",
    [TS_DMA_LIMIT_REFRESH] = "HBM refresh",
    [TS_DMA_LIMIT_READS] = "rate at which the DMA engine reads HBM",
    [TS_DMA_LIMIT_PARTITIONS] = "rate of the partitions",
    [TS_DMA_LIMIT_DESCRIPTORS] = "number of descriptors",
    [TS_DMA_LIMIT_FIXED] = "fixed cost of a transfer",
};

ts_dma_component ts_dma_largest_component(const int64_t cycles[TS_DMA_COMPONENT_COUNT]) {
    int most = 0;
    for (int i = 1; i < TS_DMA_COMPONENT_COUNT; i++) most = cycles[i] > cycles[most] ? i : most;
    return (ts_dma_component)most;
}

/* What the largest part waits for; partition_cycles: of the conflicts, those of the memory's partitions. */
static ts_dma_limit find_limit(const ts_dma_machine *m, const ts_dma_cost *cost, int64_t partition_cycles) {
    int64_t further = ts_max(cost->transfer.descriptors - 1, 0);
    ts_dma_component largest = ts_dma_largest_component(cost->components);
    bool many = ts_clock_cycles(m->dma->descriptor_ps * further, m->core_khz) > cost->fixed_cycles / 2;
    switch (largest) {
    case TS_DMA_COMPONENT_USEFUL:
    case TS_DMA_COMPONENT_PADDING:
        return is_engine_bound(cost) ? TS_DMA_LIMIT_ENGINE : (ts_dma_limit)largest;
    case TS_DMA_COMPONENT_CONFLICTS:
        return partition_cycles > cost->components[largest] / 2 ? TS_DMA_LIMIT_PARTITIONS
                                                                : TS_DMA_LIMIT_CONFLICTS;
    case TS_DMA_COMPONENT_FIXED:
        return many ? TS_DMA_LIMIT_DESCRIPTORS : TS_DMA_LIMIT_FIXED;
    default:
        return (ts_dma_limit)largest;
    }
}

/* Whether the engine would be faster, if it did not read HBM. */
static bool is_read_bound(const ts_dma_machine *m, const ts_dma_transfer *what, ts_dma_kind kind) {
    return ts_dma_rate(m->dma, what->src, kind) < m->dma->bytes_per_cycle[kind];
}

void ts_dma_break_down(const ts_dma_machine *m, const ts_dma_transfer *what, ts_dma_cost *cost) {
    int64_t left = cost->cycles, sum = 0, before;
    int64_t kind = breakdown_engine_cycles(m, what, cost->transfer.kind);
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++) cost->components[i] = 0;
    cost->components[TS_DMA_COMPONENT_FIXED] = take(&left, cost->fixed_cycles);
    int64_t copy = charge_copy(m, what, &left, cost);
    before = left;
    cost->components[TS_DMA_COMPONENT_REORDER] = take(&left, kind - copy);
    int64_t partitions = take(&left, cost->engine_cycles - ts_max(kind, copy));
    cost->components[TS_DMA_COMPONENT_CONFLICTS] += partitions;
    charge_waits(m, before - left, left, cost);
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++) sum += cost->components[i];
    assert(sum == cost->cycles);
    cost->limit = find_limit(m, cost, partitions);
    if (cost->limit == TS_DMA_LIMIT_ENGINE && is_read_bound(m, what, cost->transfer.kind))
        cost->limit = TS_DMA_LIMIT_READS;
    cost->limiter =
        cost->limit == TS_DMA_LIMIT_ENGINE ? kind_limits[cost->transfer.kind] : limits[cost->limit];
}

/* ---- A program of the core ---- */

/* How long the HBM, on the average of its channels, had nothing to do: the core or a fixed cost kept it
 * waiting, or came behind its last access, up to which its time is counted. */
static int64_t starved_cycles(const ts_dma_machine *m, const ts_dma_cost *cost) {
    __int128 busy = 0;
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++)
        if (i != TS_HBM_LIMITER_REQUESTS && i != TS_HBM_LIMITER_IDLE) busy += cost->hbm.limiter_cycles[i];
    return cost->cycles - (int64_t)(busy * m->core_khz / bus_khz(m));
}

/* What a copy needs is the HBM's; while it has nothing to do, the core reorders; of the rest it says why. */
void ts_dma_break_down_program(const ts_dma_machine *m, int64_t core_cycles, const char *core_limiter,
                               ts_dma_cost *cost) {
    const ts_dma_result *r = &cost->transfer;
    int64_t moved = r->src_bytes + r->dst_bytes, weights[TS_DMA_COMPONENT_COUNT] = {0};
    for (int i = 0; i < TS_DMA_COMPONENT_COUNT; i++) cost->components[i] = 0;
    cost->memory_cycles = ts_dma_peak_cycles(m, moved);
    cost->cycles = ts_max(cost->cycles, pin_cycles(cost)); /* of a part of its blocks, extended */
    int64_t left = cost->cycles;
    cost->engine_cycles = core_cycles;
    /* The first load, and the last store: nothing works beside them. */
    cost->fixed_cycles = ((r->src_bytes > 0) + (r->dst_bytes > 0)) *
                         ts_clock_cycles(m->dma->issue_ps + m->dma->completion_ps, m->core_khz);
    cost->components[TS_DMA_COMPONENT_FIXED] = take(&left, cost->fixed_cycles);
    weights[TS_DMA_COMPONENT_PADDING] = r->padding_bytes;
    weights[TS_DMA_COMPONENT_WASTE] = r->waste_bytes;
    weights[TS_DMA_COMPONENT_USEFUL] = ts_max(moved - r->padding_bytes - r->waste_bytes, 0);
    take_off_answered(cost, weights);
    share(cost, take(&left, pin_cycles(cost)), weights);
    cost->components[TS_DMA_COMPONENT_REORDER] = take(&left, starved_cycles(m, cost) - cost->fixed_cycles);
    charge_waits(m, core_cycles, left, cost);
    ts_dma_component most = ts_dma_largest_component(cost->components);
    cost->limit = most == TS_DMA_COMPONENT_REORDER ? TS_DMA_LIMIT_CORE
                  : most == TS_DMA_COMPONENT_FIXED ? TS_DMA_LIMIT_FIXED
                                                   : (ts_dma_limit)most;
    cost->limiter = cost->limit == TS_DMA_LIMIT_CORE ? core_limiter : limits[cost->limit];
}
