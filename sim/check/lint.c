/* What the sanitizer warns of: registers that are read and never written, and addresses made of numbers that
 * did not fit in 32 bits.
 *
 * All registers are 0 at the start, and programs count on it: a scalar that some instruction writes may be
 * read before. A vreg or vmask is held to be forgotten there. */
#include "check/lint.h"

#include "check/unknown.h"

struct ts_lint {
    ts_lint_setup setup;
    bool *written;                   /* by register: sregs, vregs, vmasks */
    bool *issued;                    /* by bundle */
    const ts_instruction **wrapped;  /* by sreg: where its value lost its upper bits; NULL: it did not */
    const ts_instruction **computed; /* scratch: the same behind the bundle */
    int64_t now;                     /* the cycle in which the bundle issues */
};

static int number_of(const ts_lint *lint, ts_register r) {
    return ts_register_index(lint->setup.limits, r);
}

static void mark_scalars(ts_lint *lint) {
    const ts_code *code = lint->setup.code;
    ts_register_use use;
    for (int b = 0; b < code->bundle_count; b++) {
        for (int i = 0; i < code->bundles[b].count; i++) {
            ts_instruction_registers(code, &code->bundles[b].instructions[i], &use);
            bool scalar = use.writes && use.written.kind == TS_OPERAND_SREG;
            if (scalar && use.written.reg < lint->setup.limits->sregs)
                lint->written[number_of(lint, use.written)] = true;
        }
    }
}

ts_lint *ts_lint_new(ts_arena *arena, const ts_lint_setup *setup) {
    const ts_isa_limits *limits = setup->limits;
    ts_lint *lint = TS_NEW(arena, ts_lint);
    lint->setup = *setup;
    lint->written = TS_NEW_ARRAY(arena, bool, ts_register_count(limits));
    lint->issued = TS_NEW_ARRAY(arena, bool, setup->code->bundle_count);
    lint->wrapped = TS_NEW_ARRAY(arena, const ts_instruction *, limits->sregs);
    lint->computed = TS_NEW_ARRAY(arena, const ts_instruction *, limits->sregs);
    mark_scalars(lint);
    return lint;
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

static void check_read(ts_lint *lint, const ts_instruction *instruction, ts_register r) {
    static const char letters[] = {
        [TS_OPERAND_SREG] = 's', [TS_OPERAND_VREG] = 'v', [TS_OPERAND_VMASK] = 'm'};
    bool *written = &lint->written[number_of(lint, r)];
    if (*written) return;
    *written = true; /* told once */
    ts_finding *f = ts_findings_add(lint->setup.findings, TS_FINDING_FRESH, ts_location_of(instruction),
                                    (ts_location){.column = number_of(lint, r)}, lint->now);
    if (f)
        ts_finding_describe(f, "%s reads %c%d, which nothing has written: it is 0",
                            ts_opcode_get(instruction->opcode)->mnemonic, letters[r.kind], r.reg);
}

static void check_registers(ts_lint *lint, const ts_bundle *bundle) {
    ts_register_use use;
    for (int i = 0; i < bundle->count; i++) {
        const ts_instruction *instruction = &bundle->instructions[i];
        ts_instruction_registers(lint->setup.code, instruction, &use);
        for (int k = 0; k < use.read_count; k++)
            if (!only_merges(instruction, &use, use.reads[k])) check_read(lint, instruction, use.reads[k]);
    }
    for (int i = 0; i < bundle->count; i++) {
        ts_instruction_registers(lint->setup.code, &bundle->instructions[i], &use);
        if (use.writes) lint->written[number_of(lint, use.written)] = true;
    }
}

/* ---- Numbers that wrap ---- */

static void check_address(const ts_lint *lint, const ts_instruction *instruction, int sreg) {
    const ts_instruction *origin = sreg >= 0 ? lint->wrapped[sreg] : NULL;
    if (!origin) return;
    ts_finding *f = ts_findings_add(lint->setup.findings, TS_FINDING_WRAPPED, ts_location_of(instruction),
                                    ts_location_of(origin), lint->now);
    if (!f) return;
    ts_finding_describe(f, "%s depends on s%d, a number that did not fit in 32 bits: it is %d",
                        ts_opcode_get(instruction->opcode)->mnemonic, sreg, (int32_t)lint->setup.sregs[sreg]);
    f->other_text = "the result of this needs more than 32 bits";
}

static void check_affine(const ts_lint *lint, const ts_instruction *instruction, const ts_affine *affine) {
    for (int i = 0; i < affine->term_count; i++) check_address(lint, instruction, affine->terms[i].sreg);
}

static void check_slice(const ts_lint *lint, const ts_instruction *instruction, const ts_slice *slice) {
    for (int dim = 0; dim < slice->rank; dim++) check_affine(lint, instruction, &slice->begin[dim]);
}

static void check_transfer(const ts_lint *lint, const ts_instruction *instruction,
                           const ts_transfer *transfer) {
    check_slice(lint, instruction, &transfer->source);
    check_slice(lint, instruction, &transfer->destination);
    check_address(lint, instruction, transfer->semaphore.sreg);
    if (!transfer->remote) return;
    check_affine(lint, instruction, &transfer->device);
    check_address(lint, instruction, transfer->receive.sreg);
}

static void check_operand(const ts_lint *lint, const ts_instruction *instruction, const ts_operand *o) {
    if (o->kind == TS_OPERAND_ADDRESS)
        for (int i = 0; i < o->as.address->term_count; i++)
            check_address(lint, instruction, o->as.address->terms[i].sreg);
    else if (o->kind == TS_OPERAND_SEMAPHORE)
        check_address(lint, instruction, o->as.semaphore.sreg);
    else if (o->kind == TS_OPERAND_TRANSFER)
        check_transfer(lint, instruction, &lint->setup.code->transfers[o->as.transfer]);
}

/* A source's value; false: it is unknown, as values are not computed. */
static bool value_of(const ts_lint *lint, const ts_operand *o, int64_t *value) {
    bool reg = o->kind == TS_OPERAND_SREG;
    *value = reg ? (int32_t)lint->setup.sregs[o->as.reg] : (int32_t)o->as.integer;
    return (reg || o->kind == TS_OPERAND_INTEGER) &&
           !(reg && lint->setup.unknown && ts_unknown_has(lint->setup.unknown, o->as.reg));
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
static const ts_instruction *wraps(const ts_lint *lint, const ts_instruction *instruction) {
    const ts_instruction *origin = NULL;
    int64_t values[TS_OPERANDS_MAX] = {0};
    bool known = true;
    for (int i = 1; i < instruction->operand_count && hands_on(instruction->opcode); i++) {
        const ts_operand *o = &instruction->operands[i];
        known = value_of(lint, o, &values[i]) && known;
        const ts_instruction *theirs = o->kind == TS_OPERAND_SREG ? lint->wrapped[o->as.reg] : NULL;
        origin = theirs ? theirs : origin;
    }
    return known && !fits(instruction->opcode, values[1], values[2]) ? instruction : origin;
}

static void follow_numbers(ts_lint *lint, const ts_bundle *bundle) {
    for (int i = 0; i < bundle->count; i++) {
        const ts_instruction *instruction = &bundle->instructions[i];
        const ts_operand *first = &instruction->operands[0];
        for (int k = 0; k < instruction->operand_count; k++)
            check_operand(lint, instruction, &instruction->operands[k]);
        if (instruction->operand_count > 0 && first->kind == TS_OPERAND_SREG)
            lint->computed[first->as.reg] = wraps(lint, instruction);
    }
    for (int i = 0; i < bundle->count; i++) {
        const ts_instruction *instruction = &bundle->instructions[i];
        const ts_operand *first = &instruction->operands[0];
        bool writes = instruction->operand_count > 0 && first->kind == TS_OPERAND_SREG &&
                      ts_opcode_operand(ts_opcode_get(instruction->opcode), 0)->written;
        if (writes) lint->wrapped[first->as.reg] = lint->computed[first->as.reg];
    }
}

void ts_lint_bundle(ts_lint *lint, int bundle, int64_t cycle) {
    const ts_bundle *b = &lint->setup.code->bundles[bundle];
    lint->now = cycle;
    if (!lint->issued[bundle]) check_registers(lint, b);
    lint->issued[bundle] = true;
    follow_numbers(lint, b);
}
