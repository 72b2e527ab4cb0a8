/* Live registers: the usual backward data flow over bundles, until nothing changes. */
#include "program/live.h"

enum { WORDS = TS_REGISTERS_MAX / 64 };

typedef struct {
    ts_live reads, writes; /* of a bundle: all read before any writes */
    int target;            /* of its branch; -1: none */
    bool falls;            /* to the next bundle */
} flow;

static ts_live_kind kind_of(ts_operand_kind kind) {
    return kind == TS_OPERAND_SREG ? TS_LIVE_SREGS : kind == TS_OPERAND_VREG ? TS_LIVE_VREGS : TS_LIVE_VMASKS;
}

static void set(ts_live *live, ts_register r) {
    live->live[kind_of(r.kind)][r.reg / 64] |= UINT64_C(1) << (r.reg % 64);
}

static void read_instruction(const ts_code *code, const ts_instruction *instruction, flow *f) {
    ts_register_use use;
    ts_instruction_registers(code, instruction, &use);
    for (int i = 0; i < use.read_count; i++) set(&f->reads, use.reads[i]);
    if (use.writes) set(use.merges ? &f->reads : &f->writes, use.written);
    for (int i = 0; i < instruction->operand_count; i++)
        if (instruction->operands[i].kind == TS_OPERAND_LABEL) f->target = instruction->operands[i].as.label;
    f->falls = f->falls && instruction->opcode != TS_OP_jump && instruction->opcode != TS_OP_halt;
}

static const flow *read_flows(ts_arena *arena, const ts_code *code) {
    flow *flows = TS_NEW_ARRAY(arena, flow, code->bundle_count + 1);
    for (int i = 0; i < code->bundle_count; i++) {
        flows[i].target = -1;
        flows[i].falls = true;
        for (int k = 0; k < code->bundles[i].count; k++)
            read_instruction(code, &code->bundles[i].instructions[k], &flows[i]);
    }
    return flows;
}

/* in = reads | (out & ~writes); true when it changed. */
static bool update(ts_live *in, const flow *f, const ts_live *next, const ts_live *target) {
    bool changed = false;
    for (int k = 0; k < TS_LIVE_KINDS; k++) {
        for (int w = 0; w < WORDS; w++) {
            uint64_t out = (f->falls ? next->live[k][w] : 0) | (target ? target->live[k][w] : 0);
            uint64_t value = f->reads.live[k][w] | (out & ~f->writes.live[k][w]);
            changed = changed || value != in->live[k][w];
            in->live[k][w] = value;
        }
    }
    return changed;
}

const ts_live *ts_program_live(ts_arena *arena, const ts_program *program) {
    const ts_code *code = &program->code;
    ts_live *live = TS_NEW_ARRAY(arena, ts_live, code->bundle_count + 1);
    ts_arena *scratch = ts_arena_new();
    const flow *flows = read_flows(scratch, code);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = code->bundle_count - 1; i >= 0; i--) {
            const ts_live *target = flows[i].target >= 0 ? &live[flows[i].target] : NULL;
            changed = update(&live[i], &flows[i], &live[i + 1], target) || changed;
        }
    }
    ts_arena_free(scratch);
    return live;
}

bool ts_live_has(const ts_live *live, ts_live_kind kind, int reg) {
    return live->live[kind][reg / 64] >> (reg % 64) & 1;
}

int ts_live_count(const ts_live *live, ts_live_kind kind) {
    int count = 0;
    for (int w = 0; w < WORDS; w++) count += __builtin_popcountll(live->live[kind][w]);
    return count;
}
