/* The core's clock: when the next bundle can issue and why not sooner, and issuing it. */
#include "core/core.h"

#include <assert.h>
#include <string.h>

#include "float_mode.h"
#include "state.h"

/* ---- Constraints: the first cycle at which all are met, and the stall that the last one causes ---- */

typedef struct {
    int64_t cycle;
    int stall;
} moment;

static inline void delay_until(moment *m, int64_t cycle, int stall) {
    if (cycle > m->cycle) *m = (moment){cycle, stall};
}

/* Sources ready, earlier writes of the destinations landed before the new one, units free. */
static moment registers_and_units(const ts_core *core, const core_bundle *bundle, int64_t cycle) {
    moment m = {cycle, 0};
    for (int i = 0; i < bundle->read_count; i++) {
        int reg = bundle->reads[i];
        delay_until(&m, core->ready[reg], core->ready_stall[reg]);
    }
    for (int i = 0; i < bundle->write_count; i++) {
        const core_write *write = &bundle->writes[i];
        delay_until(&m, core->ready[write->reg] + 1 - write->latency_cycles, core->ready_stall[write->reg]);
    }
    for (int i = 0; i < bundle->use_count; i++) {
        int unit = bundle->uses[i].unit + bundle->uses[i].nth;
        delay_until(&m, core->unit_free[unit], core->unit_stall[unit]);
    }
    return m;
}

static void wait_for_overlap(const ts_core *core, const core_op *op, int64_t address, moment *m) {
    bool vmem = op->instruction->opcode == TS_OP_vld;
    const ts_space *space = vmem ? core->setup.vmem : core->setup.smem;
    int64_t first = address + op->address->low_bytes, end = address + op->address->high_bytes;
    for (int i = 0; i < core->store_count; i++) {
        const core_store *store = core_store_at(core, i);
        if (store->space == space && store->first < end && first < store->end)
            delay_until(m, store->visible, store->stall);
    }
}

/* Loads wait for stores to the same bytes; a DMA waits for all stores. */
static bool stores_on_their_way(ts_error *err, const ts_core *core, const core_bundle *bundle, moment *m) {
    if (bundle->starts_dma) delay_until(m, core->stores_visible, TS_STALL_WAIT + TS_LATENCY_VECTOR_STORE);
    for (int i = 0; i < bundle->op_count && bundle->reads_memory; i++) {
        const core_op *op = &bundle->ops[i];
        ts_opcode opcode = op->instruction->opcode;
        bool load = op->address && (opcode == TS_OP_vld || opcode == TS_OP_sld);
        int64_t address;
        if (load && !core_address_find(err, core, op, &address)) return false;
        if (load) wait_for_overlap(core, op, address, m);
    }
    return true;
}

static bool pass_gates(ts_error *err, const ts_core *core, const core_bundle *bundle, moment *m) {
    for (int i = 0; i < bundle->op_count; i++) {
        const core_op *op = &bundle->ops[i];
        if (op->gate && !op->gate(err, core, op, &m->cycle, &m->stall)) return false;
    }
    return true;
}

/* ---- Issue ---- */

static void charge(ts_core *core, int64_t first_cycle, int64_t cycles, int stall) {
    core->stalls[stall] += cycles;
    core->stall_cycles[core->pc] += cycles;
    if (core->profile && cycles > 0) core_profile_charge(core, first_cycle, cycles, stall);
    const ts_core_ports *ports = core->setup.ports;
    if (ports->stalled && cycles > 0) ports->stalled(ports->chip, core->pc, first_cycle, cycles, stall);
}

/* The units of a slot are kept in the order in which they become free. */
static void occupy(ts_core *core, const core_use *use) {
    int64_t *unit_free = core->unit_free + use->unit;
    int *unit_stall = core->unit_stall + use->unit;
    int at = use->nth;
    for (; at + 1 < use->units && unit_free[at + 1] < core->now + use->occupancy_cycles; at++) {
        unit_free[at] = unit_free[at + 1];
        unit_stall[at] = unit_stall[at + 1];
    }
    unit_free[at] = core->now + use->occupancy_cycles;
    unit_stall[at] = use->stall;
}

static void mark(ts_core *core, const core_bundle *bundle) {
    for (int i = 0; i < bundle->write_count; i++) {
        const core_write *write = &bundle->writes[i];
        core->ready[write->reg] = core->now + write->latency_cycles;
        core->ready_stall[write->reg] = write->stall;
    }
    for (int i = bundle->use_count - 1; i >= 0; i--) occupy(core, &bundle->uses[i]);
}

static void go_on(ts_core *core) {
    if (core->hold_cycles > 1) charge(core, core->now + 1, core->hold_cycles - 1, core->hold_stall);
    core->next = core->now + (core->hold_cycles > 1 ? core->hold_cycles : 1);
    core->looped = core->taken >= 0 && core->taken <= core->pc ? core->pc : -1;
    core->pc = core->taken >= 0 ? core->taken : core->pc + 1;
    core->halted = core->halting || core->pc >= core->bundle_count;
}

static bool issue(ts_error *err, ts_core *core, const core_bundle *bundle, int64_t cycle) {
    core->now = cycle;
    core->taken = -1;
    core->hold_cycles = 0;
    if (core->lint) ts_lint_bundle(core->lint, core->pc, cycle);
    for (int i = 0; i < bundle->op_count; i++) {
        const core_op *op = &bundle->ops[i];
        if (op->poison) core_shadow_op(core, op);
        if (!op->run(err, core, op)) return false;
    }
    if (bundle->unknowns) core_shadow_settle(core, bundle);
    mark(core, bundle);
    core->issues[core->pc]++;
    core->seen |= bundle->sees;
    core->work += bundle->work;
    const ts_core_ports *ports = core->setup.ports;
    if (ports->issued) ports->issued(ports->chip, core->pc, cycle);
    go_on(core);
    return true;
}

/* The bundle cannot issue before m->cycle: count the cycles until then. True if there were any. */
static bool stalls(ts_core *core, const moment *m) {
    if (m->cycle <= core->next) return false;
    charge(core, core->next, m->cycle - core->next, m->stall);
    core->next = m->cycle;
    return true;
}

static bool dma_ready(const ts_core *core) {
    const ts_core_ports *ports = core->setup.ports;
    return !ports->dma_ready || ports->dma_ready(ports->chip);
}

static bool wait_from_now(ts_core *core, int stall) {
    core->waiting = true;
    core->waiting_stall = stall;
    core->waiting_since = core->next;
    return true;
}

/* What the core waited for is there. */
static bool wait_is_over(ts_core *core) {
    bool ready = true;
    if (core->waiting_stall == TS_STALL_DMA_QUEUE) return dma_ready(core);
    if (core->waiting_stall == TS_STALL_BARRIER) return false;
    return core_wait_ready(NULL, core, core->bundles[core->pc].wait, &ready) && ready;
}

/* Issues the next bundle at core->next, or moves core->next to the cycle at which to try again, which is
 * `until` or later, or that at which VMEM is free. */
static bool advance(ts_error *err, ts_core *core, int64_t until) {
    const core_bundle *bundle = &core->bundles[core->pc];
    const ts_core_ports *ports = core->setup.ports;
    moment m = registers_and_units(core, bundle, core->next);
    if (stalls(core, &m) && core->next >= until) return true;
    core->now = core->next;
    if (bundle->unknowns && !core_shadow_check(err, core, bundle)) return false;
    if (core->stores_visible > core->next && !stores_on_their_way(err, core, bundle, &m)) return false;
    if (bundle->gated && !pass_gates(err, core, bundle, &m)) return false;
    if (stalls(core, &m) && core->next >= until) return true;
    bool ready = true;
    if (bundle->wait && !core_wait_ready(err, core, bundle->wait, &ready)) return false;
    if (!ready) return wait_from_now(core, TS_STALL_SEMAPHORE);
    if (bundle->barrier && core->setup.cores > 1 && !core->passed)
        return wait_from_now(core, TS_STALL_BARRIER);
    if (bundle->starts_dma && !dma_ready(core)) return wait_from_now(core, TS_STALL_DMA_QUEUE);
    if (ports->vmem_take && bundle->loads + bundle->stores > 0) {
        int64_t taken = ports->vmem_take(ports->chip, core->next, bundle->loads, bundle->stores);
        delay_until(&m, taken, TS_STALL_VMEM_PORT);
        if (stalls(core, &m)) return true;
    }
    return issue(err, core, bundle, core->next);
}

bool ts_core_step(ts_error *err, ts_core *core, int64_t until, int64_t shared_until) {
    float_mode mode = float_mode_enter();
    bool ok = true;
    core->yielding = false;
    while (ok && !core->yielding && ts_core_next(core) < until) {
        bool shared = core->bundles[core->pc].shared;
        if (shared && core->next >= shared_until) break;
        core->looped = -1;
        ok = advance(err, core, shared && shared_until < until ? shared_until : until);
        if (core->looped >= 0 && ok) {
            core->branches_taken[core->looped]++;
            ok = --core->branches_left > 0 || core_loops_visit(err, core, core->looped);
        }
        if (core->looped >= 0 && core->skip && ok) core_skip_loop(core, core->looped, until);
        if (core->looped >= 0 && core->forward && ok) core_forward_loop(core, core->looped);
    }
    float_mode_leave(mode);
    return ok;
}

int64_t ts_core_next(const ts_core *core) { return core->halted || core->waiting ? INT64_MAX : core->next; }

void ts_core_notify(ts_core *core, int64_t cycle) {
    if (!core->waiting || !wait_is_over(core)) return;
    assert(cycle >= core->waiting_since);
    charge(core, core->waiting_since, cycle - core->waiting_since, core->waiting_stall);
    core->waiting = false;
    core->next = cycle;
}

void ts_core_signal_from_outside(ts_core *core, int semaphore, int64_t by, int64_t cycle) {
    core->setup.semaphores[semaphore] += by;
    core->promised[semaphore] += by;
    ts_core_notify(core, cycle);
}

int64_t ts_core_at_barrier(const ts_core *core) {
    bool waits = core->waiting && core->waiting_stall == TS_STALL_BARRIER;
    return waits ? core->waiting_since : -1;
}

void ts_core_pass_barrier(ts_core *core, int64_t cycle) {
    charge(core, core->waiting_since, cycle - core->waiting_since, TS_STALL_BARRIER);
    core->waiting = false;
    core->passed = true;
    core->next = cycle;
}

/* ---- Looking at it ---- */

ts_core *ts_core_new(ts_error *err, ts_arena *arena, const ts_core_setup *setup) {
    ts_core *core = TS_NEW(arena, ts_core);
    core->setup = *setup;
    core->bundle_count = setup->code->bundle_count;
    core->issues = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
    core->stall_cycles = TS_NEW_ARRAY(arena, int64_t, core->bundle_count);
    core->halted = core->bundle_count == 0;
    if (!core_decode(err, arena, core)) return NULL;
    core_skip_new(arena, core);
    if (setup->profile) core_profile_new(arena, core);
    core_forward_new(arena, core);
    return core;
}

bool ts_core_halted(const ts_core *core) { return core->halted; }

static const ts_instruction *barrier_of(const ts_core *core) {
    const core_bundle *bundle = &core->bundles[core->pc];
    int i = 0;
    while (bundle->ops[i].instruction->opcode != TS_OP_barrier) i++;
    return bundle->ops[i].instruction;
}

const ts_instruction *ts_core_waiting(const ts_core *core, int *semaphore, int64_t *needed) {
    if (ts_core_at_barrier(core) >= 0) return barrier_of(core);
    if (!core->waiting || core->waiting_stall != TS_STALL_SEMAPHORE) return NULL;
    const core_op *op = core->bundles[core->pc].wait;
    core_semaphore_find(NULL, core, op, semaphore);
    *needed = core_wait_count(op);
    return op->instruction;
}

int ts_core_bundle(const ts_core *core) { return core->pc; }

static int flops_kind(const ts_opcode_info *info, ts_opcode opcode) {
    return info->latency == TS_LATENCY_MXU_PUSH    ? (int)core_matrix_type(opcode)
           : info->family == TS_FAMILY_VECTOR_BF16 ? TS_FLOPS_VPU_BF16
                                                   : TS_FLOPS_VPU_F32;
}

static void count_instruction(const ts_core *core, const ts_instruction *instruction, int64_t times,
                              ts_core_counters *counters) {
    const ts_core_config *config = core->setup.config;
    ts_opcode opcode = instruction->opcode;
    const ts_opcode_info *info = ts_opcode_get(opcode);
    int64_t busy = times * ts_core_use_of(config, instruction).cycles;
    if (info->latency == TS_LATENCY_MXU_PUSH) counters->mxu_busy_cycles += busy;
    if (info->family != TS_FAMILY_MATRIX && info->family != TS_FAMILY_TRANSPOSE)
        counters->busy_cycles[info->slot] += busy;
    if (info->flops > 0)
        counters->flops[flops_kind(info, opcode)] += times * ts_opcode_flops(opcode, config->mxu.edge);
}

void ts_core_count(const ts_core *core, ts_core_counters *counters) {
    *counters = (ts_core_counters){.cycles = core->waiting ? core->waiting_since : core->next};
    memcpy(counters->stalls, core->stalls, sizeof(counters->stalls));
    for (int i = 0; i < core->bundle_count; i++) {
        const ts_bundle *bundle = &core->setup.code->bundles[i];
        counters->bundles += core->issues[i];
        for (int slot = 0; slot < TS_SLOT_COUNT; slot++)
            counters->instructions[slot] += core->issues[i] * core->bundles[i].slots[slot];
        for (int k = 0; k < bundle->count && core->issues[i] > 0; k++)
            count_instruction(core, &bundle->instructions[k], core->issues[i], counters);
    }
}

void ts_core_profile(const ts_core *core, int bundle, int64_t *issues, int64_t *stall_cycles) {
    *issues = core->issues[bundle];
    *stall_cycles = core->stall_cycles[bundle];
}

const ts_poison *ts_core_poison(const ts_core *core) { return core->poison; }
