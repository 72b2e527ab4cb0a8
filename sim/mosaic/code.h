/* Code over virtual registers: what a kernel becomes before registers are allocated. Registers are numbered
 * from 0 over all kinds; a label is the number of a block; blocks follow each other. */
#ifndef TILESIM_MOSAIC_CODE_H
#define TILESIM_MOSAIC_CODE_H

#include "base/list.h"
#include "isa/isa.h"
#include "machine/core_config.h"
#include "program/builder.h"

typedef struct {
    LIST_OF(ts_instruction) list;
    int depth; /* loops around it */
} mosaic_block;

typedef struct {
    ts_arena *arena;
    LIST_OF(mosaic_block) blocks;
    LIST_OF(unsigned char) kinds; /* of the virtual registers: ts_operand_kind */
    LIST_OF(ts_transfer) transfers;
} mosaic_code;

int mosaic_register(mosaic_code *code, ts_operand_kind kind);
/* A new block behind the others; its number. */
int mosaic_begin_block(mosaic_code *code, int depth);
/* Appends an instruction to the last block. */
ts_instruction *mosaic_add(mosaic_code *code, ts_opcode opcode, int count, const ts_operand *operands);

/* Of two operands, of the same source line as another. */
ts_instruction mosaic_beside(const ts_instruction *other, ts_opcode opcode, ts_operand a, ts_operand b);

/* Every operand of an instruction that is a virtual register, reads before the one that is written. */
enum { MOSAIC_REGISTERS = 64 };
typedef struct {
    int count;
    int *registers[MOSAIC_REGISTERS];
    bool writes; /* the last one is the destination */
    bool merges; /* and its old value is read too */
} mosaic_registers;
/* False: there are more than that. Addresses and transfers are the instruction's own. */
bool mosaic_find_registers(mosaic_code *code, ts_instruction *instruction, mosaic_registers *out);

/* In how many blocks each register is. */
int *mosaic_find_blocks(mosaic_code *code, ts_arena *arena);

/* Loads of scalars that nothing reads go, with what is computed of them alone: Mosaic has none, and their
 * addresses may be outside SMEM, which is a fault. */
void mosaic_drop_loads(mosaic_code *code);

/* Spilled values are at addresses whose tensor is one of these two, and whose words count from 0. */
enum { MOSAIC_SPILL_VMEM = -2, MOSAIC_SPILL_SMEM = -3 };
ts_operand mosaic_spill_slot(ts_arena *arena, int tensor, int64_t word);
/* `loads`: of what was stored; `again`: other loads, and constants. */
typedef struct {
    int vregs, words;             /* of VMEM and of SMEM that are needed */
    int64_t stores, loads, again; /* instructions added */
} mosaic_spills;

/* spill.c: in each block, in the order in which values are needed, those that would wait too long for their
 * next use are put into VMEM, and loaded again as new values. */
void mosaic_spill(mosaic_code *code, const ts_core_config *core, mosaic_spills *spills);

/* schedule.c: orders each block for the latencies and slots of the machine, while few enough values are
 * alive. */
typedef struct {
    int instructions;
    int64_t cycles, slot_cycles, path_cycles; /* as ordered; least by slots and units; least by latencies */
} mosaic_bound;
/* *longest: of the block with the most instructions. Registers are still as many as one likes. */
void mosaic_schedule(mosaic_code *code, const ts_core_config *core, mosaic_bound *longest);

/* spill.c: values that are spilled at different times get the same address in VMEM. */
void mosaic_share_slots(mosaic_code *code, mosaic_spills *spills);

/* allocate.c: registers of the machine instead of virtual ones. What does not fit is spilled to VMEM (masks
 * as vregs) and SMEM, behind what is there already, or is made again. Refused: an instruction that needs more
 * registers at once than there are. */
bool mosaic_allocate(ts_error *err, mosaic_code *code, const ts_core_config *core, mosaic_spills *spills);

#endif
