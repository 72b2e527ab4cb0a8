/* What a bundle needs to issue: registers, units, ports; and what it keeps busy. */
#include <stdio.h>

#include "matrix_types.h"
#include "state.h"
#include "base/number.h"

/* ---- Units: those of the slots, then the ports of the matrix units, then those of the transposer ---- */

enum { TRANSPOSER_PUSH, TRANSPOSER_POP, TRANSPOSER_PORTS };

static int first_of_slot(const ts_core_config *config, ts_slot slot) {
    int first = 0;
    for (int i = 0; i < (int)slot; i++) first += config->limits.slots[i];
    return first;
}

static int first_of_matrix(const ts_core_config *config) { return first_of_slot(config, TS_SLOT_COUNT); }
static int first_of_transposer(const ts_core_config *config) {
    return first_of_matrix(config) + config->mxu.units * CORE_MXU_PORTS;
}
int ts_core_unit_count(const ts_core_config *config) {
    return first_of_transposer(config) + TRANSPOSER_PORTS;
}

int64_t ts_core_next_unit(const ts_core_config *config, const int64_t *unit_free, int64_t cycle) {
    int64_t next = INT64_MAX;
    const int count = ts_core_unit_count(config);
    for (int i = 0; i < count; i++)
        if (unit_free[i] > cycle) next = ts_min(next, unit_free[i]);
    return next;
}

void ts_core_unit_name(const ts_core_config *config, int unit, char name[32]) {
    static const char *const ports[] = {"latch", "push", "pop", "swap"};
    _Static_assert(sizeof ports / sizeof ports[0] == CORE_MXU_PORTS, "a name for each");
    int matrix = unit - first_of_matrix(config), transposer = unit - first_of_transposer(config), slot = 0;
    if (transposer >= 0) {
        snprintf(name, 32, "transposer %s", transposer == TRANSPOSER_PUSH ? "push" : "pop");
        return;
    }
    if (matrix >= 0) {
        snprintf(name, 32, "mxu %d %s", matrix / CORE_MXU_PORTS, ports[matrix % CORE_MXU_PORTS]);
        return;
    }
    while (unit >= config->limits.slots[slot]) unit -= config->limits.slots[slot++];
    if (config->limits.slots[slot] > 1)
        snprintf(name, 32, "%s %d", ts_slot_get((ts_slot)slot)->text, unit);
    else
        snprintf(name, 32, "%s", ts_slot_get((ts_slot)slot)->text);
}

/* Cycles that rows in the same bank add to a strided access: all rows but the first of the fullest bank. */
static int64_t bank_conflicts(const ts_core_config *config, const ts_instruction *instruction) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    if (config->vmem_banks == 0 || info->family != TS_FAMILY_MEMORY) return 0;
    int at = instruction->opcode == TS_OP_vld, most = 0;
    const ts_address *address = instruction->operands[at].as.address;
    unsigned meet = 0; /* bit d: rows that are d apart are in one bank, and so are those twice as far apart */
    for (int d = 0; d < TS_SUBLANES && address->stride != 0; d++)
        meet |= (unsigned)(d * address->stride % config->vmem_banks == 0) << d;
    for (int first = 0; first < TS_SUBLANES; first++) {
        int same = __builtin_popcount(address->sublane_mask >> first & meet);
        most = same > most ? same : most;
    }
    return most > 1 ? most - 1 : 0;
}

static ts_core_use use_of_matrix(const ts_core_config *config, const ts_instruction *instruction) {
    ts_core_use use = {.takes = instruction->opcode == TS_OP_mxu_pop ||
                                instruction->opcode == TS_OP_mxu_take ||
                                instruction->opcode == TS_OP_mxu_swap};
    matrix_type type;
    int port;
    if (matrix_find_type(instruction->opcode, &type, &port) && port == CORE_MXU_PUSH)
        use.results = matrix_packing(type);
    int64_t unit = core_matrix_unit(instruction);
    if (unit >= 0 && unit < config->mxu.units && config->mxu.edge >= TS_LANES) {
        port = core_matrix_port(config, instruction->opcode, &use.cycles);
        use.first = first_of_matrix(config) + (int)unit * CORE_MXU_PORTS + port;
        use.count = 1;
        use.queues = (uint64_t)1 << unit;
    }
    return use;
}

static ts_core_use use_of_transposer(const ts_core_config *config, const ts_instruction *instruction) {
    bool pop = instruction->opcode == TS_OP_vtr_pop;
    int64_t cycles = config->occupancy_cycles[ts_opcode_get(instruction->opcode)->latency];
    return (ts_core_use){.first = first_of_transposer(config) + (pop ? TRANSPOSER_POP : TRANSPOSER_PUSH),
                         .count = 1,
                         .cycles =
                             instruction->opcode == TS_OP_vtr_push_b16 ? 2 * cycles : cycles, /* 16 rows */
                         .queues = (uint64_t)1 << 63,
                         .takes = pop};
}

ts_core_use ts_core_use_of(const ts_core_config *config, const ts_instruction *instruction) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    if (info->family == TS_FAMILY_MATRIX) return use_of_matrix(config, instruction);
    if (info->family == TS_FAMILY_TRANSPOSE) return use_of_transposer(config, instruction);
    return (ts_core_use){.first = first_of_slot(config, info->slot),
                         .count = config->limits.slots[info->slot],
                         .cycles =
                             config->occupancy_cycles[info->latency] + bank_conflicts(config, instruction)};
}

static void raise_bound(ts_core_bound *bound, int64_t work, int64_t units) {
    int64_t least = units > 0 ? (work + units - 1) / units : work;
    bound->cycles = least > bound->cycles ? least : bound->cycles;
}

void ts_core_bound_add(const ts_core_config *config, const ts_instruction *instruction,
                       ts_core_bound *bound) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    ts_core_use use = ts_core_use_of(config, instruction);
    int units = info->family == TS_FAMILY_MATRIX ? config->mxu.units : use.count;
    bound->busy[info->latency] += use.cycles;
    raise_bound(bound, bound->busy[info->latency], units);
    raise_bound(bound, ++bound->slots[info->slot], config->limits.slots[info->slot]);
}

/* Units of a slot whose instructions all take one cycle are always free: the slots of a bundle see to it. */
void core_units_new(ts_arena *arena, ts_core *core) {
    const ts_core_config *config = core->setup.config;
    for (int op = 0; op < TS_OP_COUNT; op++) {
        const ts_opcode_info *info = ts_opcode_get((ts_opcode)op);
        bool banks = config->vmem_banks > 0 && info->family == TS_FAMILY_MEMORY;
        core->slot_is_tracked[info->slot] |= banks || config->occupancy_cycles[info->latency] > 1;
    }
    core->unit_free = TS_NEW_ARRAY(arena, int64_t, ts_core_unit_count(config));
    core->unit_stall = TS_NEW_ARRAY(arena, int, ts_core_unit_count(config));
}

/* ---- Bundles ---- */

static int add_reads(const ts_core *core, const ts_register_use *use, int *reads, int count) {
    for (int i = 0; i < use->read_count; i++) {
        int index = core_register_index(core, use->reads[i]), at = 0;
        while (at < count && reads[at] != index) at++;
        reads[at] = index;
        count += at == count;
    }
    return count;
}

static void add_write(const ts_core *core, core_bundle *bundle, const ts_instruction *instruction,
                      ts_register written, core_write *write) {
    const ts_core_config *config = core->setup.config;
    ts_latency key = ts_opcode_get(instruction->opcode)->latency;
    int64_t conflicts = bank_conflicts(config, instruction);
    write->reg = core_register_index(core, written);
    write->stall = conflicts > 0 ? TS_STALL_VMEM_BANK : TS_STALL_WAIT + (int)key;
    write->latency_cycles = config->latency_cycles[key] + conflicts;
    bundle->write_count++;
}

static void add_use(const ts_core *core, core_bundle *bundle, const ts_instruction *instruction,
                    core_use *use) {
    const ts_core_config *config = core->setup.config;
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    ts_core_use taken = ts_core_use_of(config, instruction);
    int nth = bundle->slots[info->slot]++;
    bool of_slot = taken.first < first_of_matrix(config);
    if (taken.count == 0 || (of_slot && !core->slot_is_tracked[info->slot])) return;
    *use = (core_use){taken.first, of_slot ? nth : 0, taken.count, TS_STALL_BUSY + (int)info->latency,
                      taken.cycles};
    if (bank_conflicts(config, instruction) > 0) use->stall = TS_STALL_VMEM_BANK;
    bundle->use_count++;
}

/* A port takes one instruction a cycle. */
static bool check_ports(ts_error *err, const ts_core *core, const ts_bundle *source) {
    const ts_core_config *config = core->setup.config;
    for (int i = 0; i < source->count; i++) {
        ts_core_use late = ts_core_use_of(config, &source->instructions[i]);
        for (int j = 0; j < i && late.count > 0 && late.first >= first_of_matrix(config); j++) {
            ts_core_use early = ts_core_use_of(config, &source->instructions[j]);
            if (early.count > 0 && early.first == late.first) {
                return ts_instruction_error(err, TS_ERROR_INPUT, &source->instructions[i],
                                            "the bundle has two %s on one unit",
                                            ts_opcode_get(source->instructions[i].opcode)->mnemonic);
            }
        }
    }
    return true;
}

static void add_kind(core_bundle *bundle, ts_opcode opcode) {
    bundle->loads += opcode == TS_OP_vld;
    bundle->stores += opcode == TS_OP_vst;
    bundle->reads_memory |= opcode == TS_OP_vld || opcode == TS_OP_sld;
    bundle->starts_dma |= opcode == TS_OP_dma;
    bundle->barrier |= opcode == TS_OP_barrier;
    bundle->shared |= opcode == TS_OP_dma || opcode == TS_OP_barrier;
}

bool core_describe(ts_error *err, ts_arena *arena, const ts_core *core, const ts_bundle *source,
                   core_bundle *bundle) {
    ts_register_use registers;
    core_write *writes = TS_NEW_ARRAY(arena, core_write, source->count);
    core_use *uses = TS_NEW_ARRAY(arena, core_use, source->count);
    int *reads = core->all_registers;
    for (int i = 0; i < source->count; i++) {
        const ts_instruction *instruction = &source->instructions[i];
        ts_instruction_registers(core->setup.code, instruction, &registers);
        bundle->read_count = add_reads(core, &registers, reads, bundle->read_count);
        if (registers.writes)
            add_write(core, bundle, instruction, registers.written, &writes[bundle->write_count]);
        add_use(core, bundle, instruction, &uses[bundle->use_count]);
        add_kind(bundle, instruction->opcode);
    }
    bundle->reads = TS_COPY_ARRAY(arena, reads, bundle->read_count);
    bundle->writes = writes;
    bundle->uses = uses;
    return check_ports(err, core, source);
}
