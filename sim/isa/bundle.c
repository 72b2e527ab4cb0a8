/* What an instruction reads and writes, and whether the instructions of a bundle can issue together. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "isa/isa.h"

bool ts_instruction_error(ts_error *err, ts_error_kind kind, const ts_instruction *instruction,
                          const char *format, ...) {
    char message[TS_ERROR_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (!instruction->source) return ts_error_set(err, kind, "%s", message);
    return ts_error_mark(err, kind, instruction->source, instruction->line, instruction->column, message);
}

const ts_address *ts_instruction_address(const ts_instruction *instruction, int *operand) {
    for (int i = 0; i < instruction->operand_count; i++) {
        if (instruction->operands[i].kind != TS_OPERAND_ADDRESS) continue;
        *operand = i;
        return instruction->operands[i].as.address;
    }
    return NULL;
}

/* ---- Registers ---- */

static void give_affine(const ts_affine *affine, ts_sreg_function *take, void *self) {
    for (int i = 0; i < affine->term_count; i++) take(self, &affine->terms[i].sreg);
}

static void give_slice(const ts_slice *slice, ts_sreg_function *take, void *self) {
    for (int dim = 0; dim < slice->rank; dim++) give_affine(&slice->begin[dim], take, self);
}

static void give_semaphore(const ts_semaphore_operand *semaphore, ts_sreg_function *take, void *self) {
    if (semaphore->sreg >= 0) take(self, &semaphore->sreg);
}

void ts_transfer_sregs(const ts_transfer *transfer, ts_sreg_function *take, void *self) {
    give_slice(&transfer->source, take, self);
    give_slice(&transfer->destination, take, self);
    give_semaphore(&transfer->semaphore, take, self);
    if (!transfer->remote) return;
    give_affine(&transfer->device, take, self);
    give_semaphore(&transfer->receive, take, self);
}

static void add_read(ts_register_use *use, ts_operand_kind kind, int reg) {
    for (int i = 0; i < use->read_count; i++)
        if (use->reads[i].kind == kind && use->reads[i].reg == reg) return;
    assert(use->read_count < TS_READS_MAX);
    use->reads[use->read_count++] = (ts_register){kind, reg};
}

static void add_sreg(void *use, const int *sreg) { add_read(use, TS_OPERAND_SREG, *sreg); }

static void add_address(ts_register_use *use, const ts_address *address) {
    for (int i = 0; i < address->term_count; i++) add_read(use, TS_OPERAND_SREG, address->terms[i].sreg);
    use->merges |= address->sublane_mask != 0xff;
}

static void add_operand(const ts_code *code, ts_register_use *use, const ts_operand *operand, bool written) {
    switch (operand->kind) {
    case TS_OPERAND_SREG:
    case TS_OPERAND_VREG:
    case TS_OPERAND_VMASK:
        if (written) {
            use->writes = true;
            use->written = (ts_register){operand->kind, operand->as.reg};
        } else {
            add_read(use, operand->kind, operand->as.reg);
        }
        break;
    case TS_OPERAND_ADDRESS:
        add_address(use, operand->as.address);
        break;
    case TS_OPERAND_SEMAPHORE:
        give_semaphore(&operand->as.semaphore, add_sreg, use);
        break;
    case TS_OPERAND_TRANSFER:
        ts_transfer_sregs(&code->transfers[operand->as.transfer], add_sreg, use);
        break;
    default:
        break;
    }
}

void ts_instruction_registers(const ts_code *code, const ts_instruction *instruction, ts_register_use *use) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    use->read_count = 0; /* only the first read_count entries are set */
    use->writes = use->merges = false;
    use->written = (ts_register){0};
    for (int i = 0; i < instruction->operand_count; i++)
        add_operand(code, use, &instruction->operands[i], ts_opcode_operand(info, i)->written);
    if (instruction->mask >= 0) {
        add_read(use, TS_OPERAND_VMASK, instruction->mask);
        use->merges = true;
    }
    use->merges &= use->writes;
    if (use->merges) add_read(use, use->written.kind, use->written.reg);
}

/* ---- Bundles ---- */

static bool check_slots(ts_error *err, const ts_bundle *bundle, const ts_isa_limits *limits) {
    int used[TS_SLOT_COUNT] = {0};
    for (int i = 0; i < bundle->count; i++) {
        ts_slot slot = ts_opcode_get(bundle->instructions[i].opcode)->slot;
        if (++used[slot] > limits->slots[slot]) {
            return ts_instruction_error(err, TS_ERROR_INPUT, &bundle->instructions[i],
                                        "one %s instruction too many: a bundle has %d of them",
                                        ts_slot_get(slot)->text, limits->slots[slot]);
        }
    }
    return true;
}

static bool check_once(ts_error *err, const ts_bundle *bundle) {
    int branches = 0, waits = 0, delays = 0;
    for (int i = 0; i < bundle->count; i++) {
        const ts_instruction *instruction = &bundle->instructions[i];
        branches += ts_opcode_leaves(instruction->opcode);
        waits += instruction->opcode == TS_OP_wait;
        delays += instruction->opcode == TS_OP_delay;
        if (branches > 1 || waits > 1 || delays > 1) {
            return ts_instruction_error(err, TS_ERROR_INPUT, instruction, "the bundle has more than one %s",
                                        branches > 1 ? "branch or halt"
                                        : waits > 1  ? "wait"
                                                     : "delay");
        }
    }
    return true;
}

static bool check_writers(ts_error *err, const ts_code *code, const ts_bundle *bundle) {
    ts_register_use early, late;
    for (int i = 1; i < bundle->count; i++) {
        ts_instruction_registers(code, &bundle->instructions[i], &late);
        for (int j = 0; j < i && late.writes; j++) {
            ts_instruction_registers(code, &bundle->instructions[j], &early);
            bool same = early.writes && early.written.kind == late.written.kind;
            if (same && early.written.reg == late.written.reg) {
                return ts_instruction_error(err, TS_ERROR_INPUT, &bundle->instructions[i],
                                            "two instructions of the bundle write %s %d",
                                            ts_operand_kind_text(late.written.kind), late.written.reg);
            }
        }
    }
    return true;
}

static bool check_register(ts_error *err, const ts_instruction *instruction, ts_register r,
                           const ts_isa_limits *limits) {
    bool scalar = r.kind == TS_OPERAND_SREG;
    int count = scalar ? limits->sregs : r.kind == TS_OPERAND_VREG ? limits->vregs : limits->vmasks;
    if (r.reg >= 0 && r.reg < count) return true;
    return ts_instruction_error(err, TS_ERROR_INPUT, instruction, "no %s %d here, the machine has 0 to %d",
                                ts_operand_kind_text(r.kind), r.reg, count - 1);
}

static bool check_registers(ts_error *err, const ts_code *code, const ts_instruction *instruction,
                            const ts_isa_limits *limits) {
    ts_register_use use;
    ts_instruction_registers(code, instruction, &use);
    for (int i = 0; i < use.read_count; i++)
        if (!check_register(err, instruction, use.reads[i], limits)) return false;
    return !use.writes || check_register(err, instruction, use.written, limits);
}

static bool check_features(ts_error *err, const ts_instruction *instruction, const ts_isa_limits *limits) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    if (info->family == TS_FAMILY_VECTOR_BF16 && !limits->bf16) {
        return ts_instruction_error(
            err, TS_ERROR_INPUT, instruction,
            "this machine has no bf16 arithmetic, expected f32 between vunpack and vpack");
    }
    return true;
}

bool ts_bundle_check(ts_error *err, const ts_code *code, const ts_bundle *bundle,
                     const ts_isa_limits *limits) {
    for (int i = 0; i < bundle->count; i++)
        if (!check_features(err, &bundle->instructions[i], limits) ||
            !check_registers(err, code, &bundle->instructions[i], limits))
            return false;
    return check_slots(err, bundle, limits) && check_once(err, bundle) && check_writers(err, code, bundle);
}
