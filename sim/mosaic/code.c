/* Code over virtual registers. */
#include "code.h"

#include <string.h>

enum { OPERANDS = MOSAIC_REGISTERS - 1 }; /* and the destination */

int mosaic_register(mosaic_code *code, ts_operand_kind kind) {
    *PUSH(code->arena, &code->kinds) = (unsigned char)kind;
    return code->kinds.count - 1;
}

int mosaic_begin_block(mosaic_code *code, int depth) {
    PUSH(code->arena, &code->blocks)->depth = depth;
    return code->blocks.count - 1;
}

ts_instruction *mosaic_add(mosaic_code *code, ts_opcode opcode, int count, const ts_operand *operands) {
    ts_instruction *new = PUSH(code->arena, &code->blocks.items[code->blocks.count - 1].list);
    *new = (ts_instruction){.opcode = opcode, .mask = -1, .operand_count = count};
    memcpy(new->operands, operands, (size_t)count * sizeof operands[0]);
    return new;
}

ts_instruction mosaic_beside(const ts_instruction *other, ts_opcode opcode, ts_operand a, ts_operand b) {
    return (ts_instruction){.opcode = opcode,
                            .mask = -1,
                            .operand_count = 2,
                            .operands = {a, b},
                            .source = other->source,
                            .line = other->line,
                            .column = other->column};
}

ts_operand mosaic_spill_slot(ts_arena *arena, int tensor, int64_t word) {
    ts_address *address = TS_NEW(arena, ts_address);
    *address = (ts_address){.word = word, .tensor = tensor, .stride = 1, .sublane_mask = 0xff};
    return (ts_operand){TS_OPERAND_ADDRESS, {.address = address}};
}

/* Registers beyond OPERANDS are counted only. */
static void add_register(void *self, const int *reg) {
    mosaic_registers *out = self;
    if (out->count < OPERANDS) out->registers[out->count] = (int *)(uintptr_t)reg;
    out->count++;
}

static void add_operand(mosaic_code *code, mosaic_registers *out, const ts_operand *operand) {
    switch (operand->kind) {
    case TS_OPERAND_SREG:
    case TS_OPERAND_VREG:
    case TS_OPERAND_VMASK:
        add_register(out, &operand->as.reg);
        break;
    case TS_OPERAND_ADDRESS:
        for (int i = 0; i < operand->as.address->term_count; i++)
            add_register(out, &operand->as.address->terms[i].sreg);
        break;
    case TS_OPERAND_SEMAPHORE:
        if (operand->as.semaphore.sreg >= 0) add_register(out, &operand->as.semaphore.sreg);
        break;
    case TS_OPERAND_TRANSFER:
        ts_transfer_sregs(&code->transfers.items[operand->as.transfer], add_register, out);
        break;
    default:
        break;
    }
}

static bool merges(const ts_instruction *instruction) {
    if (instruction->mask >= 0) return true;
    return instruction->opcode == TS_OP_vld && instruction->operands[1].as.address->sublane_mask != 0xff;
}

bool mosaic_find_registers(mosaic_code *code, ts_instruction *instruction, mosaic_registers *out) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    int written = -1;
    out->count = 0;
    out->writes = out->merges = false;
    for (int i = 0; i < instruction->operand_count; i++) {
        const ts_operand_class *class = ts_opcode_operand(info, i);
        if (class->written)
            written = i;
        else
            add_operand(code, out, &instruction->operands[i]);
    }
    if (instruction->mask >= 0) add_register(out, &instruction->mask);
    if (out->count > OPERANDS) return out->count = OPERANDS, false;
    out->writes = written >= 0;
    out->merges = out->writes && merges(instruction);
    if (out->writes) out->registers[out->count++] = &instruction->operands[written].as.reg;
    return true;
}

int *mosaic_find_blocks(mosaic_code *code, ts_arena *arena) {
    int *last = TS_NEW_ARRAY(arena, int, code->kinds.count + 1),
        *blocks = TS_NEW_ARRAY(arena, int, code->kinds.count + 1);
    for (int b = 0; b < code->blocks.count; b++) {
        for (int i = 0; i < code->blocks.items[b].list.count; i++) {
            mosaic_registers p;
            mosaic_find_registers(code, &code->blocks.items[b].list.items[i], &p);
            for (int k = 0; k < p.count; k++) {
                int v = *p.registers[k];
                if (last[v] != b + 1) blocks[v]++;
                last[v] = b + 1;
            }
        }
    }
    return blocks;
}

/* ---- Loads of scalars that nothing reads ---- */

typedef struct {
    int *reads;    /* of each register */
    bool *dropped; /* is a value of it made of dropped loads? */
} readers;

static void count_accesses(mosaic_code *code, ts_instruction *i, readers *r) {
    mosaic_registers p;
    mosaic_find_registers(code, i, &p);
    for (int k = 0; k < p.count; k++) {
        bool written = p.writes && k == p.count - 1;
        if (!written || p.merges) r->reads[*p.registers[k]] += 1;
    }
}

/* The scalar that an instruction makes and nothing reads; -1: it does something else. *p: its registers. */
static int find_dead(mosaic_code *code, ts_instruction *i, const readers *r, mosaic_registers *p) {
    mosaic_find_registers(code, i, p);
    if (ts_opcode_get(i->opcode)->family != TS_FAMILY_SCALAR || !p->writes) return -1;
    int to = *p->registers[p->count - 1];
    return r->reads[to] == 0 ? to : -1;
}

/* What makes such a scalar does not count as reading. */
static void pass_dead(mosaic_code *code, ts_instruction *i, readers *r) {
    mosaic_registers p;
    if (find_dead(code, i, r, &p) < 0) return;
    for (int k = 0; k < p.count - 1; k++) r->reads[*p.registers[k]]--;
}

/* A load of such a scalar, or what computes one of dropped loads. */
static bool is_dropped(mosaic_code *code, ts_instruction *i, readers *r) {
    mosaic_registers p;
    int to = find_dead(code, i, r, &p);
    bool dropped = i->opcode == TS_OP_sld;
    if (to < 0) return false;
    for (int k = 0; k < p.count - 1; k++) dropped = dropped || r->dropped[*p.registers[k]];
    r->dropped[to] = r->dropped[to] || dropped;
    return dropped;
}

void mosaic_drop_loads(mosaic_code *code) {
    ts_arena *arena = ts_arena_new();
    int count = code->kinds.count + 1;
    readers r = {TS_NEW_ARRAY(arena, int, count), TS_NEW_ARRAY(arena, bool, count)};
    for (int b = 0; b < code->blocks.count; b++)
        for (int i = 0; i < code->blocks.items[b].list.count; i++)
            count_accesses(code, &code->blocks.items[b].list.items[i], &r);
    for (int b = code->blocks.count - 1; b >= 0; b--)
        for (int i = code->blocks.items[b].list.count - 1; i >= 0; i--)
            pass_dead(code, &code->blocks.items[b].list.items[i], &r);
    for (int b = 0; b < code->blocks.count; b++) {
        mosaic_block *block = &code->blocks.items[b];
        int kept = 0;
        for (int i = 0; i < block->list.count; i++)
            if (!is_dropped(code, &block->list.items[i], &r))
                block->list.items[kept++] = block->list.items[i];
        block->list.count = kept;
    }
    ts_arena_free(arena);
}
