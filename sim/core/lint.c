/* What the sanitizer warns of: registers that are read and never written, and addresses made of numbers that
 * did not fit in 32 bits.
 *
 * All registers are 0 at the start, and programs count on it: a scalar that some instruction writes may be
 * read before. A vreg or vmask is held to be forgotten there. */
#include "state.h"

struct core_lint {
    bool *written;                   /* by register, as in ts_core.ready */
    bool *issued;                    /* by bundle */
    const ts_instruction **wrapped;  /* by sreg: where its value lost its upper bits; NULL: it did not */
    const ts_instruction **computed; /* scratch: the same behind the bundle */
};

static void mark_scalars(const ts_core *core) {
    const ts_code *code = core->setup.code;
    ts_register_use use;
    for (int b = 0; b < code->bundle_count; b++) {
        for (int i = 0; i < code->bundles[b].count; i++) {
            ts_instruction_registers(code, &code->bundles[b].instructions[i], &use);
            bool scalar = use.writes && use.written.kind == TS_OPERAND_SREG;
            if (scalar && use.written.reg < core->setup.config->limits.sregs)
                core->lint->written[core_register_index(core, use.written)] = true;
        }
    }
}

void core_lint_new(ts_arena *arena, ts_core *core) {
    const ts_isa_limits *limits = &core->setup.config->limits;
    core_lint *lint = core->lint = TS_NEW(arena, core_lint);
    lint->written = TS_NEW_ARRAY(arena, bool, limits->sregs + limits->vregs + limits->vmasks);
    lint->issued = TS_NEW_ARRAY(arena, bool, core->bundle_count);
    mark_scalars(core);
    lint->wrapped = TS_NEW_ARRAY(arena, const ts_instruction *, limits->sregs);
    lint->computed = TS_NEW_ARRAY(arena, const ts_instruction *, limits->sregs);
}

/* ---- Registers that were never written ---- */

/* A masked write keeps the rest of its register: that alone is no use of it. */
static bool only_merges(const ts_instruction *instruction, const ts_register_use *use, ts_register r) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    if (!use->merges || r.kind != use->written.kind || r.reg != use->written.reg) return false;
    for (int i = 0; i < instruction->operand_count; i++) {
        const ts_operand *o = &instruction->operands[i];
        if (!ts_opcode_operand(info, i)->written && o->kind == r.kind && o->as.reg == r.reg) return false;
    }
    return true;
}

static void check_read(const ts_core *core, const ts_instruction *instruction, ts_register r) {
    static const char letters[] = {
        [TS_OPERAND_SREG] = 's', [TS_OPERAND_VREG] = 'v', [TS_OPERAND_VMASK] = 'm'};
    bool *written = &core->lint->written[core_register_index(core, r)];
    if (*written) return;
    *written = true; /* told once */
    ts_finding *f = ts_findings_add(core->setup.findings, TS_FINDING_FRESH, ts_place_of(instruction),
                                    (ts_place){.column = core_register_index(core, r)}, core->now);
    if (f)
        ts_finding_describe(f, "%s reads %c%d, which nothing has written: it is 0",
                            ts_opcode_get(instruction->opcode)->mnemonic, letters[r.kind], r.reg);
}

static void check_registers(const ts_core *core, const ts_bundle *bundle) {
    ts_register_use use;
    for (int i = 0; i < bundle->count; i++) {
        const ts_instruction *instruction = &bundle->instructions[i];
        ts_instruction_registers(core->setup.code, instruction, &use);
        for (int k = 0; k < use.read_count; k++) {
            if (!only_merges(instruction, &use, use.reads[k])) check_read(core, instruction, use.reads[k]);
        }
    }
    for (int i = 0; i < bundle->count; i++) {
        ts_instruction_registers(core->setup.code, &bundle->instructions[i], &use);
        if (use.writes) core->lint->written[core_register_index(core, use.written)] = true;
    }
}

/* ---- Numbers that wrap ---- */

static void check_address(const ts_core *core, const ts_instruction *instruction, int sreg) {
    const ts_instruction *origin = sreg >= 0 ? core->lint->wrapped[sreg] : NULL;
    if (!origin) return;
    ts_finding *f = ts_findings_add(core->setup.findings, TS_FINDING_WRAPPED, ts_place_of(instruction),
                                    ts_place_of(origin), core->now);
    if (!f) return;
    ts_finding_describe(f, "%s depends on s%d, a number that did not fit in 32 bits: it is %d",
                        ts_opcode_get(instruction->opcode)->mnemonic, sreg, (int32_t)core->sregs[sreg]);
    f->other_text = "the result of this needs more than 32 bits";
}

static void check_slice(const ts_core *core, const ts_instruction *instruction, const ts_slice *slice) {
    for (int dim = 0; dim < slice->rank; dim++) {
        for (int i = 0; i < slice->begin[dim].term_count; i++) {
            check_address(core, instruction, slice->begin[dim].terms[i].sreg);
        }
    }
}

static void check_operand(const ts_core *core, const ts_instruction *instruction, const ts_operand *o) {
    if (o->kind == TS_OPERAND_ADDRESS) {
        for (int i = 0; i < o->as.address->term_count; i++) {
            check_address(core, instruction, o->as.address->terms[i].sreg);
        }
    } else if (o->kind == TS_OPERAND_SEMAPHORE) {
        check_address(core, instruction, o->as.semaphore.sreg);
    } else if (o->kind == TS_OPERAND_TRANSFER) {
        const ts_transfer *transfer = &core->setup.code->transfers[o->as.transfer];
        check_slice(core, instruction, &transfer->source);
        check_slice(core, instruction, &transfer->destination);
        check_address(core, instruction, transfer->semaphore.sreg);
    }
}

/* A source's value; false: it is unknown, as values are not computed. */
static bool value_of(const ts_core *core, const ts_operand *o, int64_t *value) {
    bool reg = o->kind == TS_OPERAND_SREG;
    *value = reg ? (int32_t)core->sregs[o->as.reg] : (int32_t)o->as.integer;
    return (reg || o->kind == TS_OPERAND_INTEGER) && !(reg && core->unknown && core->unknown[o->as.reg]);
}

static bool fits(ts_opcode opcode, int64_t x, int64_t y) {
    int64_t exact = opcode == TS_OP_sadd                       ? x + y
                    : opcode == TS_OP_ssub                     ? x - y
                    : opcode == TS_OP_smul                     ? x * y
                    : opcode == TS_OP_sshl && y >= 0 && y < 32 ? x * (INT64_C(1) << y)
                                                               : 0;
    return exact >= INT32_MIN && exact <= INT32_MAX;
}

/* Whether a result is wrong where a source is: not one that is cut to a range on purpose. */
static bool hands_on(ts_opcode opcode) {
    return opcode == TS_OP_smov || opcode == TS_OP_sadd || opcode == TS_OP_ssub || opcode == TS_OP_smul ||
           opcode == TS_OP_sshl || opcode == TS_OP_sdiv;
}

/* Where the scalar that the instruction computes lost its upper bits; NULL: it did not. */
static const ts_instruction *wraps(const ts_core *core, const ts_instruction *instruction) {
    const ts_instruction *origin = NULL;
    int64_t values[TS_OPERANDS_MAX] = {0};
    bool known = true;
    for (int i = 1; i < instruction->operand_count && hands_on(instruction->opcode); i++) {
        const ts_operand *o = &instruction->operands[i];
        known = value_of(core, o, &values[i]) && known;
        const ts_instruction *theirs = o->kind == TS_OPERAND_SREG ? core->lint->wrapped[o->as.reg] : NULL;
        origin = theirs ? theirs : origin;
    }
    return known && !fits(instruction->opcode, values[1], values[2]) ? instruction : origin;
}

static void follow_numbers(ts_core *core, const ts_bundle *bundle) {
    core_lint *lint = core->lint;
    for (int i = 0; i < bundle->count; i++) {
        const ts_instruction *instruction = &bundle->instructions[i];
        const ts_operand *first = &instruction->operands[0];
        for (int k = 0; k < instruction->operand_count; k++) {
            check_operand(core, instruction, &instruction->operands[k]);
        }
        if (instruction->operand_count > 0 && first->kind == TS_OPERAND_SREG) {
            lint->computed[first->as.reg] = wraps(core, instruction);
        }
    }
    for (int i = 0; i < bundle->count; i++) {
        const ts_instruction *instruction = &bundle->instructions[i];
        const ts_operand *first = &instruction->operands[0];
        bool writes = instruction->operand_count > 0 && first->kind == TS_OPERAND_SREG &&
                      ts_opcode_operand(ts_opcode_get(instruction->opcode), 0)->written;
        if (writes) lint->wrapped[first->as.reg] = lint->computed[first->as.reg];
    }
}

void core_lint_bundle(ts_core *core) {
    const ts_bundle *bundle = &core->setup.code->bundles[core->pc];
    if (!core->lint->issued[core->pc]) check_registers(core, bundle);
    core->lint->issued[core->pc] = true;
    follow_numbers(core, bundle);
}
