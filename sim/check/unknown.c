/* Scalars that are unknown, as values of vectors are not computed. */
#include "check/unknown.h"

#include <stdio.h>

#include "check/scalars.h"

struct ts_unknown_op {
    const ts_instruction *instruction;
    ts_shadow_rule rule;
    ts_scalar_use scalars;
    int written;                 /* sreg, -1: none */
    int64_t word;                /* of SMEM, in the bundle that issues */
    const ts_unknown_op *result; /* in the bundle that issues: this; NULL: known */
    const ts_unknown_op *cause;  /* of a result that was unknown: the source's; NULL: a vector */
};

/* What made each unknown; NULL: it is known. */
struct ts_unknown {
    const ts_code *code;
    int sreg_count;
    const ts_unknown_op **sregs, **smem; /* smem: by word */
};

ts_unknown *ts_unknown_new(ts_arena *arena, const ts_code *code, int sregs, int64_t smem_bytes) {
    ts_unknown *unknown = TS_NEW(arena, ts_unknown);
    *unknown = (ts_unknown){code, sregs, TS_NEW_ARRAY(arena, const ts_unknown_op *, sregs),
                            TS_NEW_ARRAY(arena, const ts_unknown_op *, smem_bytes / 4)};
    return unknown;
}

bool ts_unknown_has(const ts_unknown *unknown, int sreg) { return unknown->sregs[sreg] != NULL; }

bool ts_unknown_any(const ts_unknown *unknown) {
    for (int i = 0; i < unknown->sreg_count; i++)
        if (unknown->sregs[i]) return true;
    return false;
}

/* ---- The scalars of an op ---- */

ts_unknown_op *ts_unknown_op_new(ts_arena *arena, const ts_unknown *unknown,
                                 const ts_instruction *instruction) {
    ts_shadow_rule rule = ts_opcode_get(instruction->opcode)->shadow;
    bool writes = rule == TS_SHADOW_VALUE || rule == TS_SHADOW_VALUE_LOAD || rule == TS_SHADOW_FIRST_WORD;
    bool steered = rule == TS_SHADOW_CONTROL || rule == TS_SHADOW_LOAD || rule == TS_SHADOW_STORE;
    if (!writes && !steered && rule != TS_SHADOW_VALUE_STORE) return NULL; /* vectors alone */
    ts_unknown_op *op = TS_NEW(arena, ts_unknown_op);
    *op = (ts_unknown_op){.instruction = instruction, .rule = rule};
    op->written = writes ? instruction->operands[0].as.reg : -1;
    ts_scalar_use_of(arena, unknown->code, instruction, &op->scalars);
    return steered && op->scalars.control_count == 0 ? NULL : op;
}

/* ---- In a bundle ---- */

enum { CHAIN_LINES = 6 };

/* " <- line 12 <- line 9 (v2s)": the way that the unknown came, latest first. */
static void add_chain(char *text, size_t bytes, const ts_unknown_op *op) {
    size_t at = 0;
    for (int i = 0; op && i < CHAIN_LINES && at < bytes; i++, op = op->cause) {
        const char *mnemonic = ts_opcode_get(op->instruction->opcode)->mnemonic;
        at += (size_t)snprintf(text + at, bytes - at, " <- line %d (%s)", op->instruction->line, mnemonic);
    }
    if (op && at < bytes) snprintf(text + at, bytes - at, " <- ...");
}

bool ts_unknown_check(ts_error *err, const ts_unknown *unknown, const ts_unknown_op *op, int64_t cycle) {
    int i = 0;
    while (i < op->scalars.control_count && !ts_unknown_has(unknown, op->scalars.controls[i])) i++;
    if (i == op->scalars.control_count) return true;
    int sreg = op->scalars.controls[i];
    char chain[TS_ERROR_TEXT_BYTES / 2];
    add_chain(chain, sizeof chain, unknown->sregs[sreg]);
    ts_instruction_error(err, TS_ERROR_UNMODELLED, op->instruction,
                         "s%d is unknown when only time is modelled: it comes from a vector%s", sreg, chain);
    if (err) err->cycle = cycle;
    return false;
}

void ts_unknown_begin(const ts_unknown *unknown, ts_unknown_op *op, int64_t address) {
    const ts_unknown_op *cause = NULL;
    for (int i = 0; i < op->scalars.value_count; i++) {
        const ts_unknown_op *source = unknown->sregs[op->scalars.values[i]];
        cause = source ? source : cause;
    }
    op->word = address / 4;
    if (op->rule == TS_SHADOW_VALUE_LOAD) cause = unknown->smem[op->word];
    op->result = cause || op->rule == TS_SHADOW_FIRST_WORD ? op : NULL;
    if (op->result)
        op->cause = cause == op ? op->cause : cause; /* its own, from the last time round a loop */
}

void ts_unknown_settle(ts_unknown *unknown, const ts_unknown_op *op) {
    if (op->written >= 0) unknown->sregs[op->written] = op->result;
    if (op->rule == TS_SHADOW_VALUE_STORE) unknown->smem[op->word] = op->result;
}
