/* Blocks of code, and branches to those that begin later. */
#include "lower.h"

int begin_block(lowering *l) { return mosaic_begin_block(&l->code, l->depth); }

ts_instruction *lower_branch(lowering *l, ts_opcode opcode, int count, ts_operand a, ts_operand b) {
    ts_operand operands[3] = {a, b};
    operands[count] = (ts_operand){TS_OPERAND_LABEL, {.label = -1}};
    emit(l, opcode, count + 1, operands);
    mosaic_block *block = &l->code.blocks.items[l->code.blocks.count - 1];
    return &block->list.items[block->list.count - 1];
}

void aim_branch(ts_instruction *branch, int block) {
    branch->operands[branch->operand_count - 1].as.label = block;
}

branch_position last_branch(lowering *l) {
    int block = l->code.blocks.count - 1;
    return (branch_position){block, l->code.blocks.items[block].list.count - 1};
}

void aim_at(lowering *l, branch_position p, int block) {
    aim_branch(&l->code.blocks.items[p.block].list.items[p.index], block);
}
