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

static void add_of_transfer(void *to, const int *sreg) { add(to, *sreg); }

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
            ts_transfer_sregs(&code->transfers[operand->as.transfer], add_of_transfer, controls);
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
