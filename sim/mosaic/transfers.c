/* DMAs and semaphores of a kernel's own. */
#include <stdio.h>

#include <string.h>

#include "lower.h"

enum { TRANSFER_SREGS = 10 };

static int term_count(const ts_affine *begin, int rank) {
    int count = 0;
    for (int i = 0; i < rank; i++) count += begin[i].term_count;
    return count;
}

/* Each dim of a box begins at a number, or at one register and a number. */
static ts_affine *copy_begin(lowering *l, const ts_program_box *box, int rank) {
    ts_affine *begin = TS_NEW_ARRAY(l->arena, ts_affine, rank + 1);
    for (int i = 0; i < rank; i++) {
        begin[i] = box->begin[i];
        if (begin[i].term_count < 2) continue;
        ts_operand sum = ts_integer(0);
        for (int t = 0; t < begin[i].term_count; t++) {
            ts_operand n = ts_sreg(begin[i].terms[t].sreg);
            n = scalar2(l, TS_OP_smul, n, ts_integer(begin[i].terms[t].factor));
            sum = scalar2(l, TS_OP_sadd, sum, n);
        }
        begin[i] = ts_index_of(sum.as.reg, 1, begin[i].constant);
    }
    return begin;
}

static ts_slice slice_of(lowering *l, const ts_program_box *box) {
    int rank = ts_program_get_tensor(l->builder, box->tensor)->shape->layout->rank;
    int64_t *sizes = TS_NEW_ARRAY(l->arena, int64_t, rank + 1);
    memcpy(sizes, box->sizes, (size_t)rank * sizeof *sizes);
    return (ts_slice){.tensor = box->tensor, .rank = rank, .begin = copy_begin(l, box, rank), .size = sizes};
}

bool kernel_transfer(lowering *l, ts_program_box to, ts_program_box from, ts_operand semaphore) {
    ts_transfer new = {.source = slice_of(l, &from), .destination = slice_of(l, &to)};
    new.semaphore = semaphore.as.semaphore;
    if (term_count(new.source.begin, new.source.rank) +
            term_count(new.destination.begin, new.destination.rank) >
        TRANSFER_SREGS)
        return refuse(l, "a transfer at over 10 indices that are not known");
    *PUSH(l->code.arena, &l->code.transfers) = new;
    ts_operand operand = {TS_OPERAND_TRANSFER, {.transfer = l->code.transfers.count - 1}};
    emit(l, TS_OP_dma, 1, &operand);
    return true;
}

/* The semaphore that a memref names. */
static bool semaphore_at(lowering *l, int operand, ts_operand *out) {
    const value *v = value_at(l, operand);
    if (v->kind != VALUE_MEMREF || v->memref->tensor >= 0) return malformed(l, "a semaphore");
    ts_semaphore_operand s = v->memref->semaphore;
    if (s.sreg < 0) s.count = 1;
    *out = (ts_operand){TS_OPERAND_SEMAPHORE, {.semaphore = s}};
    return true;
}

static bool box_of(lowering *l, int operand, ts_program_box *out) {
    const value *v = value_at(l, operand);
    if (v->kind != VALUE_MEMREF || v->memref->tensor < 0) return malformed(l, "a memref");
    *out = (ts_program_box){v->memref->tensor, v->memref->begin, v->memref->sizes};
    return v->memref->boxed || refuse(l, "through a view with another layout");
}

bool lower_enqueue(lowering *l) {
    const mlir_attribute *segments = mlir_find(l->op, "operandSegmentSizes");
    int64_t sizes[6];
    ts_program_box from, to;
    ts_operand semaphore;
    int count = segments ? mlir_integers(segments->value, sizes, 6) : 0;
    if (count < 4) return malformed(l, "operandSegmentSizes");
    for (int i = 4; i < count; i++)
        if (sizes[i] != 0) return refuse(l, "to another device or core");
    if (sizes[1] != 0 || sizes[3] != 1) return refuse(l, "with a semaphore of the source");
    if (!box_of(l, 0, &from) || !box_of(l, 1, &to) || !semaphore_at(l, 2, &semaphore)) return false;
    return kernel_transfer(l, to, from, semaphore);
}

/* The hardware counts bytes; here a transfer counts 1. */
bool lower_wait_dma(lowering *l) {
    ts_operand semaphore;
    if (!semaphore_at(l, 0, &semaphore)) return false;
    emit(l, TS_OP_wait, 1, &semaphore);
    return true;
}

bool lower_sem_alloc(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    int64_t count = 1;
    char name[32];
    for (int i = 0; i < type->rank; i++) count *= type->dims[i];
    if (type->kind != MLIR_MEMREF || count < 1 || count > 4096) return refuse(l, "of this type");
    snprintf(name, sizeof name, "sem%d", l->scratch_count++);
    int first = ts_program_semaphores(l->builder, name, (int)count);
    return first >= 0 && set_result(l, 0,
                                    (value){.kind = VALUE_MEMREF,
                                            .count = 1,
                                            .memref = memref_of_semaphores(l, type, first, (int)count)});
}

static bool with_amount(lowering *l, ts_opcode opcode) {
    ts_operand operands[2];
    if (l->op->operand_count != 2 || value_at(l, 1)->kind != VALUE_SCALAR)
        return refuse(l, "of another device or core");
    operands[1] = value_at(l, 1)->one;
    if (!semaphore_at(l, 0, &operands[0])) return false;
    emit(l, opcode, 2, operands);
    return true;
}

bool lower_sem_wait(lowering *l) { return with_amount(l, TS_OP_wait); }
bool lower_sem_signal(lowering *l) { return with_amount(l, TS_OP_sem_add); }

bool lower_sem_read(lowering *l) {
    ts_operand semaphore;
    return semaphore_at(l, 0, &semaphore) && set_scalar(l, emit1(l, TS_OP_sem_read, semaphore));
}
