/* What a profile counts of an instruction. */
#include "run_parts.h"

static const char *const names[] = {
#define LINE_COUNTER(id, name, unit, meaning) name,
#include "run/line_counters.def"
};
const char *ts_line_counter_name(ts_line_counter counter) { return names[counter]; }

void ts_line_counts_add(ts_line_counts *sum, const ts_line_counts *counts) {
    for (int i = 0; i < TS_LINE_COUNTER_COUNT; i++) sum->values[i] += counts->values[i];
    for (int i = 0; i < TS_STALL_COUNT; i++) sum->stalls[i] += counts->stalls[i];
}

static int64_t issues_of(const ts_chip *chip, int bundle) {
    int64_t sum = 0, issues, stall_cycles;
    for (int core = 0; core < ts_chip_core_count(chip); core++) {
        ts_core_profile(ts_chip_core(chip, core), bundle, &issues, &stall_cycles);
        sum += issues;
    }
    return sum;
}

/* Of a cycle that `count` instructions share, which has the rest that cannot be divided goes by turns. */
static int64_t part_of(int64_t issues, int count, int index, int bundle) {
    return issues / count + ((index + bundle) % count < issues % count);
}

static int64_t accessed_bytes(const ts_instruction *instruction) {
    if (ts_opcode_get(instruction->opcode)->family != TS_FAMILY_MEMORY) return 0;
    bool store = instruction->opcode == TS_OP_vst;
    unsigned mask = instruction->operands[store ? 0 : 1].as.address->sublane_mask;
    int64_t bytes = 0;
    for (; mask; mask &= mask - 1) bytes += TS_LANES * 4;
    return bytes;
}

static void add_stalls(const ts_chip *chip, const ts_instruction *instruction, ts_line_counts *counts) {
    for (int core = 0; core < ts_chip_core_count(chip); core++) {
        const int64_t *stalls = ts_core_stalls(ts_chip_core(chip, core), instruction);
        for (int i = 0; stalls && i < TS_STALL_COUNT; i++) {
            counts->stalls[i] += stalls[i];
            counts->values[TS_LINE_STALLED] += stalls[i];
        }
    }
}

void profile_instruction(const ts_chip *chip, const ts_program *program, int bundle, int index,
                         ts_line_counts *counts) {
    const ts_bundle *of = &program->code.bundles[bundle];
    const ts_instruction *instruction = &of->instructions[index];
    int64_t *v = counts->values, issues = issues_of(chip, bundle);
    *counts = (ts_line_counts){0};
    add_stalls(chip, instruction, counts);
    v[TS_LINE_ISSUED] = part_of(issues, of->count, index, bundle);
    v[TS_LINE_CYCLES] = v[TS_LINE_ISSUED] + v[TS_LINE_STALLED];
    v[TS_LINE_TIMES] = issues;
    v[TS_LINE_VMEM_BYTES] = issues * accessed_bytes(instruction);
    if (instruction->opcode == TS_OP_dma) {
        const ts_chip_transfers *moved = ts_chip_transfers_of(chip, instruction->operands[0].as.transfer);
        v[TS_LINE_TRANSFERS] = moved->times;
        v[TS_LINE_HBM_BYTES] = moved->hbm_bytes;
        v[TS_LINE_VMEM_BYTES] += moved->vmem_bytes;
    }
}
