/* Energies from counts. */
#include "chip/energy.h"

#include "base/clock.h"

void ts_energy_of_hbm(const ts_machine *machine, const ts_hbm_stats *stats, int64_t cycles,
                      ts_energy *energy) {
    const ts_hbm_config *hbm = &machine->hbm;
    *energy = (ts_energy){0};
    ts_hbm_energy_joules(
        hbm, stats, ts_clock_convert(cycles, machine->chip.sustained_khz, ts_hbm_tick_khz(hbm)), energy->hbm);
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++) energy->hbm_total += energy->hbm[i];
}

static void add_op(const ts_machine *machine, ts_energy_op op, int64_t count, ts_energy *energy) {
    int64_t each = ts_machine_op_energy(machine, op);
    if (each < 0) return;
    energy->stated[op] = energy->any_stated = true;
    double joules = (double)count * (double)each * 1e-15;
    energy->ops[op] += joules;
    energy->ops_total += joules;
}

void ts_energy_add_transfers(const ts_machine *machine, int64_t moved_bytes, int64_t vmem_bytes,
                             ts_energy *energy) {
    add_op(machine, TS_ENERGY_DMA, moved_bytes, energy);
    add_op(machine, TS_ENERGY_VMEM, vmem_bytes, energy);
}

void ts_energy_of_chip(const ts_machine *machine, const ts_chip_counters *c, ts_energy *energy) {
    int64_t moved = c->src_bytes + c->dst_bytes, vregs = 0, bundles = 0, flops[TS_FLOPS_COUNT] = {0};
    ts_energy_of_hbm(machine, &c->hbm, c->elapsed_cycles, energy);
    for (int i = 0; i < c->core_count; i++) {
        const ts_core_counters *core = &c->cores[i];
        bundles += core->bundles;
        vregs += core->instructions[TS_SLOT_VLD] + core->instructions[TS_SLOT_VST];
        for (int k = 0; k < TS_FLOPS_COUNT; k++) flops[k] += core->flops[k];
    }
    for (int k = 0; k < TS_FLOPS_COUNT; k++) add_op(machine, (ts_energy_op)k, flops[k], energy);
    add_op(machine, TS_ENERGY_BUNDLE, bundles, energy);
    int64_t vmem = moved - c->hbm_read_bytes - c->hbm_written_bytes + vregs * TS_VREG_BYTES;
    ts_energy_add_transfers(machine, moved, vmem, energy);
}
