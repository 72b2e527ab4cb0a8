/* Stalls by instruction: of the bundle that waits, the one whose constraint is met last. */
#include <string.h>

#include "state.h"

/* Rows are by instruction of the program, from that of bundle 0 on. A row is made with the first stall; most
 * instructions never need one. */
struct core_profile {
    ts_arena *arena;
    const ts_instruction *first;
    int64_t **rows;   /* cycles by stall; NULL: none */
    int64_t **before; /* the same when a loop was remembered; NULL: there was no row */
    int **owners;     /* by bundle: of its reads, writes and uses, the instruction + 1, 0: not looked for */
};

void core_profile_new(ts_arena *arena, ts_core *core) {
    const ts_code *code = core->setup.code;
    core_profile *profile = core->profile = TS_NEW(arena, core_profile);
    int64_t instructions = 0;
    for (int i = 0; i < code->bundle_count; i++) instructions += code->bundles[i].count;
    profile->arena = arena;
    profile->first = code->bundle_count > 0 ? code->bundles[0].instructions : NULL;
    profile->rows = TS_NEW_ARRAY(arena, int64_t *, instructions);
    profile->before = TS_NEW_ARRAY(arena, int64_t *, instructions);
    profile->owners = TS_NEW_ARRAY(arena, int *, code->bundle_count);
}

const int64_t *ts_core_stalls(const ts_core *core, const ts_instruction *instruction) {
    return core->profile ? core->profile->rows[instruction - core->profile->first] : NULL;
}

/* ---- Whose constraint it is ---- */

/* The registers and units of a bundle, numbered through. */
static bool has_constraint(const ts_core *core, const core_bundle *bundle, int constraint,
                           const ts_instruction *instruction) {
    int write = constraint - bundle->read_count, use = write - bundle->write_count;
    if (use >= 0) {
        ts_core_use taken = ts_core_use_of(core->setup.config, instruction);
        return taken.count > 0 && taken.first == bundle->uses[use].unit;
    }
    ts_register_use registers;
    ts_instruction_registers(core->setup.code, instruction, &registers);
    if (write >= 0)
        return registers.writes && core_register_index(core, registers.written) == bundle->writes[write].reg;
    for (int i = 0; i < registers.read_count; i++)
        if (core_register_index(core, registers.reads[i]) == bundle->reads[constraint]) return true;
    return false;
}

/* The first instruction of the bundle that has the constraint. */
static int owner_of(ts_core *core, int constraint) {
    const core_bundle *bundle = &core->bundles[core->pc];
    const ts_bundle *source = &core->setup.code->bundles[core->pc];
    int **owners = &core->profile->owners[core->pc];
    int count = bundle->read_count + bundle->write_count + bundle->use_count;
    if (!*owners) *owners = TS_NEW_ARRAY(core->profile->arena, int, count);
    int *owner = &(*owners)[constraint];
    for (int i = 0; *owner == 0 && i < source->count; i++)
        if (has_constraint(core, bundle, constraint, &source->instructions[i])) *owner = i + 1;
    return *owner - 1;
}

/* The constraint of registers and units that is met at that cycle and not before; -1: none. */
static int find_constraint(const ts_core *core, int64_t cycle, int stall) {
    const core_bundle *bundle = &core->bundles[core->pc];
    for (int i = 0; i < bundle->read_count; i++) {
        int reg = bundle->reads[i];
        if (core->ready[reg] == cycle && core->ready_stall[reg] == stall) return i;
    }
    for (int i = 0; i < bundle->write_count; i++) {
        const core_write *write = &bundle->writes[i];
        int64_t from = core->ready[write->reg] + 1 - write->latency_cycles;
        if (from == cycle && core->ready_stall[write->reg] == stall) return bundle->read_count + i;
    }
    for (int i = 0; i < bundle->use_count; i++) {
        int unit = bundle->uses[i].unit + bundle->uses[i].nth;
        if (core->unit_free[unit] == cycle && core->unit_stall[unit] == stall)
            return bundle->read_count + bundle->write_count + i;
    }
    return -1;
}

/* Whether an instruction can have that stall for itself. */
static bool can_stall(const ts_instruction *instruction, int stall) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    switch (stall) {
    case TS_STALL_SEMAPHORE:
        return instruction->opcode == TS_OP_wait;
    case TS_STALL_DMA_QUEUE:
        return instruction->opcode == TS_OP_dma;
    case TS_STALL_BARRIER:
        return instruction->opcode == TS_OP_barrier;
    case TS_STALL_VMEM_PORT:
    case TS_STALL_VMEM_BANK:
        return info->family == TS_FAMILY_MEMORY;
    case TS_STALL_WAIT + TS_LATENCY_VECTOR_STORE:
        return instruction->opcode == TS_OP_vld || instruction->opcode == TS_OP_dma;
    case TS_STALL_WAIT + TS_LATENCY_SCALAR_STORE:
        return instruction->opcode == TS_OP_sld;
    default:
        return (int)info->latency == stall % TS_LATENCY_COUNT;
    }
}

/* What waits for results of a unit, by a gate; else the first that can. */
static int stalled_by_kind(const ts_core *core, int stall) {
    const core_bundle *bundle = &core->bundles[core->pc];
    const ts_bundle *source = &core->setup.code->bundles[core->pc];
    bool of_unit = stall == TS_STALL_WAIT + TS_LATENCY_MXU_PUSH ||
                   stall == TS_STALL_WAIT + TS_LATENCY_MXU_LATCH ||
                   stall == TS_STALL_WAIT + TS_LATENCY_TRANSPOSE;
    for (int i = 0; of_unit && i < bundle->op_count; i++)
        if (bundle->ops[i].gate) return (int)(bundle->ops[i].instruction - source->instructions);
    for (int i = 0; i < source->count; i++)
        if (can_stall(&source->instructions[i], stall)) return i;
    return 0;
}

/* A bundle that has issued may hold the next one. */
static bool is_hold(const ts_core *core, int64_t first_cycle) {
    return core->hold_cycles > 1 && first_cycle == core->now + 1;
}

void core_profile_charge(ts_core *core, int64_t first_cycle, int64_t cycles, int stall) {
    core_profile *profile = core->profile;
    bool told = core->waiting || is_hold(core, first_cycle);
    int constraint = told ? -1 : find_constraint(core, first_cycle + cycles, stall);
    int i = constraint >= 0 ? owner_of(core, constraint) : stalled_by_kind(core, stall);
    int64_t **row =
        &profile->rows[&core->setup.code->bundles[core->pc].instructions[i < 0 ? 0 : i] - profile->first];
    if (!*row) *row = TS_NEW_ARRAY(profile->arena, int64_t, TS_STALL_COUNT);
    (*row)[stall] += cycles;
}

/* ---- Loops that are left out ---- */

/* The instructions of bundles head .. end, as rows first .. end - 1. */
static void rows_of(const core_profile *profile, const ts_core *core, int head, int end, int64_t range[2]) {
    const ts_bundle *bundles = core->setup.code->bundles;
    range[0] = bundles[head].instructions - profile->first;
    range[1] = bundles[end].instructions + bundles[end].count - profile->first;
}

void core_profile_remember(core_profile *profile, const ts_core *core, int head, int end) {
    int64_t range[2];
    rows_of(profile, core, head, end, range);
    for (int64_t i = range[0]; i < range[1]; i++) {
        if (!profile->rows[i]) continue;
        if (!profile->before[i]) profile->before[i] = TS_NEW_ARRAY(profile->arena, int64_t, TS_STALL_COUNT);
        memcpy(profile->before[i], profile->rows[i], TS_STALL_COUNT * sizeof *profile->rows[i]);
    }
}

void core_profile_repeat(core_profile *profile, const ts_core *core, int head, int end, int64_t times) {
    int64_t range[2];
    rows_of(profile, core, head, end, range);
    for (int64_t i = range[0]; i < range[1]; i++) {
        for (int stall = 0; profile->rows[i] && stall < TS_STALL_COUNT; stall++) {
            int64_t before = profile->before[i] ? profile->before[i][stall] : 0;
            profile->rows[i][stall] += times * (profile->rows[i][stall] - before);
        }
    }
}
