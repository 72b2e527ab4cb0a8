/* The roofline of a run. */
#include "run/roofline.h"

#include <math.h>

static const char *const bounds[] = {"latency", "memory", "compute", "ici"};
const char *ts_bound_text(ts_bound bound) { return bounds[bound]; }

const char *ts_unit_text(int unit) {
    return unit == TS_UNIT_HBM ? "hbm" : unit == TS_UNIT_ISSUE ? "issue" : ts_slot_get((ts_slot)unit)->text;
}

static const char *const flops_units[] = {NULL, "mxu", "vpu"};
const char *ts_flops_unit_text(ts_flops_unit unit) { return flops_units[unit]; }

const char *ts_flops_kind_text(int kind) {
    return kind == TS_FLOPS_VPU_F32    ? "f32"
           : kind == TS_FLOPS_VPU_BF16 ? "bf16"
                                       : ts_mxu_type_text((ts_mxu_type)kind);
}

static double peak_of(const ts_machine *machine, int kind) {
    int64_t khz = machine->chip.peak_khz;
    return (double)(kind < TS_MXU_TYPE_COUNT    ? ts_machine_peak_ops(machine, (ts_mxu_type)kind, khz)
                    : kind == TS_FLOPS_VPU_BF16 ? ts_machine_bf16_ops(machine, khz)
                                                : ts_machine_f32_ops(machine, khz));
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

/* Takes the unit's operations if they take longer at its peak than those found so far. */
static void find_flops(const ts_machine *machine, const ts_chip_counters *c, ts_flops_unit unit,
                       ts_roofline *r) {
    ts_roofline found = *r;
    double seconds = 0;
    found.unit = unit;
    found.kinds = 0;
    found.flops = 0;
    for (int kind = 0; kind < TS_FLOPS_COUNT; kind++) {
        int64_t flops = 0;
        for (int i = 0; i < c->core_count; i++) flops += c->cores[i].flops[kind];
        if (flops == 0 || (unit == TS_FLOPS_MXU) != (kind < TS_MXU_TYPE_COUNT)) continue;
        found.kinds |= 1u << kind;
        found.flops += flops;
        seconds += share((double)flops, peak_of(machine, kind));
    }
    found.peak = share((double)found.flops, seconds);
    if (seconds > share((double)r->flops, r->peak)) *r = found;
}

static double busy_share(const ts_machine *machine, const ts_chip_counters *c, int unit) {
    const ts_core_config *core = &machine->core;
    int64_t busy = 0, units = unit == TS_UNIT_ISSUE ? 1
                              : unit == TS_SLOT_MXU ? core->mxu.units
                                                    : core->limits.slots[unit];
    for (int i = 0; i < c->core_count; i++) {
        const ts_core_counters *of = &c->cores[i];
        busy += unit == TS_UNIT_ISSUE ? of->bundles
                : unit == TS_SLOT_MXU ? of->mxu_busy_cycles
                                      : of->busy_cycles[unit];
    }
    return share((double)busy, (double)c->elapsed_cycles * (double)units * c->core_count);
}

/* A core that issues in most cycles is held by that only if no unit is nearly as busy: a better packed
 * program would issue less. */
static int busiest_unit(const double busy[TS_UNIT_COUNT]) {
    const double nearly = 0.9;
    int best = 0;
    for (int i = 1; i < TS_SLOT_COUNT; i++) best = busy[i] > busy[best] ? i : best;
    best = busy[TS_UNIT_HBM] >= busy[best] ? TS_UNIT_HBM : best;
    return busy[best] < nearly * busy[TS_UNIT_ISSUE] ? TS_UNIT_ISSUE : best;
}

void ts_roofline_find(const ts_machine *machine, const ts_chip_counters *c, ts_roofline *r) {
    *r = (ts_roofline){.hbm_bytes = c->hbm_read_bytes + c->hbm_written_bytes,
                       .hbm_peak = (double)ts_machine_hbm_rate(machine),
                       .link = -1};
    double seconds = ts_machine_microseconds(machine, c->elapsed_cycles) / 1e6;
    find_flops(machine, c, TS_FLOPS_MXU, r);
    find_flops(machine, c, TS_FLOPS_VPU, r);
    r->rate = share((double)r->flops, seconds);
    r->pin_bytes = ts_hbm_on_pins(&c->hbm, r->hbm_bytes);
    r->hbm_rate = share((double)r->pin_bytes, seconds);
    r->intensity = r->flops == 0       ? 0
                   : r->hbm_bytes == 0 ? (double)INFINITY
                                       : (double)r->flops / (double)r->hbm_bytes;
    r->ridge = share(r->peak, r->hbm_peak);
    r->roof = r->intensity < r->ridge ? r->intensity * r->hbm_peak : r->peak;
    for (int i = 0; i < TS_UNIT_HBM; i++) r->busy[i] = busy_share(machine, c, i);
    r->busy[TS_UNIT_HBM] = share(r->hbm_rate, r->hbm_peak);
    r->busiest = busiest_unit(r->busy);
    double most = r->busy[r->busiest];
    r->least_cycles = (int64_t)llround(most * (double)c->elapsed_cycles);
    r->bound = most * 100 < TS_BOUND_LEAST_PERCENT ? TS_BOUND_LATENCY
               : r->busiest == TS_UNIT_HBM         ? TS_BOUND_MEMORY
                                                   : TS_BOUND_COMPUTE;
}

void ts_roofline_add_link(ts_roofline *r, int64_t link, double busy, int64_t cycles) {
    if (busy <= r->busy[r->busiest]) return;
    r->link = link;
    r->link_busy = busy;
    r->least_cycles = (int64_t)llround(busy * (double)cycles);
    r->bound = busy * 100 < TS_BOUND_LEAST_PERCENT ? TS_BOUND_LATENCY : TS_BOUND_LINK;
}

int ts_longest_stall(const ts_chip_counters *chip, int64_t *cycles) {
    int longest = 0;
    *cycles = 0;
    for (int stall = 0; stall < TS_STALL_COUNT; stall++) {
        int64_t sum = 0;
        for (int i = 0; i < chip->core_count; i++) sum += chip->cores[i].stalls[stall];
        if (sum > *cycles) *cycles = sum, longest = stall;
    }
    return longest;
}
