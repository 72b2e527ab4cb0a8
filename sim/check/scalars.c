/* The scalars that an instruction reads. */
#include "check/scalars.h"

typedef struct {
    int *list; /* NULL: they are only counted */
    int count;
} numbers;

static void add(numbers *to, int sreg) {
    if (sreg < 0) return;
    if (to->list) to->list[to->count] = sreg;
    to->count++;
}

static void add_affine(numbers *to, const ts_affine *affine) {
    for (int i = 0; i < affine->term_count; i++) add(to, affine->terms[i].sreg);
}

static void add_slice(numbers *to, const ts_slice *slice) {
    for (int dim = 0; dim < slice->rank; dim++) add_affine(to, &slice->begin[dim]);
}

static void add_transfer(numbers *to, const ts_transfer *transfer) {
    add_slice(to, &transfer->source);
    add_slice(to, &transfer->destination);
    add(to, transfer->semaphore.sreg);
    if (!transfer->remote) return;
    add_affine(to, &transfer->device);
    add(to, transfer->receive.sreg);
}

static void collect(const ts_code *code, const ts_instruction *instruction, numbers *controls,
                    numbers *values) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    for (int i = 0; i < instruction->operand_count; i++) {
        const ts_operand *operand = &instruction->operands[i];
        if (operand->kind == TS_OPERAND_SREG && !ts_opcode_operand(info, i)->written) {
            add(info->shadow == TS_SHADOW_CONTROL ? controls : values, operand->as.reg);
        } else if (operand->kind == TS_OPERAND_ADDRESS) {
            const ts_address *address = operand->as.address;
            for (int k = 0; k < address->term_count; k++) add(controls, address->terms[k].sreg);
        } else if (operand->kind == TS_OPERAND_SEMAPHORE) {
            add(controls, operand->as.semaphore.sreg);
        } else if (operand->kind == TS_OPERAND_TRANSFER) {
            add_transfer(controls, &code->transfers[operand->as.transfer]);
        }
    }
}

void ts_scalar_use_of(ts_arena *arena, const ts_code *code, const ts_instruction *instruction,
                      ts_scalar_use *use) {
    numbers controls = {NULL, 0}, values = {NULL, 0};
    collect(code, instruction, &controls, &values);
    controls = (numbers){TS_NEW_ARRAY(arena, int, controls.count), 0};
    values = (numbers){TS_NEW_ARRAY(arena, int, values.count), 0};
    collect(code, instruction, &controls, &values);
    *use = (ts_scalar_use){controls.list, values.list, controls.count, values.count};
}
