/* Time only: scalars that come from vectors are unknown; what they touch is too, and nothing may depend on
 * them. */
#include <stdio.h>
#include <string.h>

#include "state.h"

/* ---- What an op has to do with scalars ---- */

static bool steers(const core_op *op, const ts_core *core, int sreg) {
    for (int i = 0; op->address && i < op->address->term_count; i++) {
        if (op->address->terms[i].sreg == core->sregs + sreg) {
            return true;
        }
    }
    return op->semaphore && op->semaphore->sreg == sreg;
}

/* Whether the op goes on with a scalar that it does not know: it only makes its result unknown. */
static bool is_loose(const core_op *op, const ts_core *core, int sreg) {
    ts_shadow_rule rule = ts_opcode_get(op->instruction->opcode)->shadow;
    bool value = rule == TS_SHADOW_VALUE || rule == TS_SHADOW_VALUE_LOAD || rule == TS_SHADOW_VALUE_STORE;
    return value && !steers(op, core, sreg);
}

static void collect(const ts_core *core, const ts_register_use *use, const core_op *op, int *sregs,
                    core_taint *taint) {
    for (int loose = 0; loose < 2; loose++) {
        for (int i = 0; i < use->read_count; i++) {
            int reg = use->reads[i].reg;
            if (use->reads[i].kind != TS_OPERAND_SREG || is_loose(op, core, reg) != loose) {
                continue;
            }
            sregs[taint->strict_count + taint->loose_count] = reg;
            taint->strict_count += !loose;
            taint->loose_count += loose;
        }
    }
    taint->sregs = sregs;
}

void core_taint_new(ts_arena *arena, ts_core *core, const ts_register_use *use, core_op *op) {
    bool writes = use->writes && use->written.kind == TS_OPERAND_SREG;
    if (op->vector) {
        op->run = NULL; /* the values of vectors are not computed */
    }
    if (op->vector && !writes) {
        return;
    }
    core_taint *taint = TS_NEW(arena, core_taint);
    collect(core, use, op, TS_NEW_ARRAY(arena, int, use->read_count), taint);
    taint->written = writes ? use->written.reg : -1;
    ts_shadow_rule rule = ts_opcode_get(op->instruction->opcode)->shadow;
    taint->from_vector = rule == TS_SHADOW_FIRST_WORD;
    taint->loads = rule == TS_SHADOW_VALUE_LOAD;
    taint->stores = rule == TS_SHADOW_VALUE_STORE;
    taint->instruction = op->instruction;
    if (taint->strict_count + taint->loose_count > 0 || writes || taint->stores) {
        op->taint = taint;
        op->run = op->run ? op->run : core_run_nop;
    }
}

/* ---- In a bundle ---- */

enum { CHAIN_LINES = 6 };

/* " <- line 12 <- line 9 (v2s)": the way that the unknown came, latest first. */
static void add_chain(char *text, size_t bytes, const core_taint *taint) {
    size_t at = 0;
    for (int i = 0; taint && i < CHAIN_LINES && at < bytes; i++, taint = taint->cause) {
        const char *mnemonic = ts_opcode_get(taint->instruction->opcode)->mnemonic;
        int written = snprintf(text + at, bytes - at, " <- line %d (%s)", taint->instruction->line, mnemonic);
        at += written > 0 ? (size_t)written : 0;
    }
    if (taint && at < bytes) {
        snprintf(text + at, bytes - at, " <- ...");
    }
}

static bool refuse(ts_error *err, const ts_core *core, const core_taint *taint, int sreg) {
    char chain[TS_ERROR_TEXT_BYTES / 2];
    add_chain(chain, sizeof(chain), core->unknown[sreg]);
    ts_instruction_error(err, TS_ERROR_UNMODELLED, taint->instruction,
                         "s%d is unknown when only time is modelled: it comes from a vector%s", sreg, chain);
    if (err) {
        err->cycle = core->now;
    }
    return false;
}

static bool check(ts_error *err, ts_core *core, const core_op *op) {
    core_taint *taint = op->taint;
    taint->result = NULL;
    for (int i = 0; i < taint->strict_count; i++) {
        if (core->unknown[taint->sregs[i]]) {
            return refuse(err, core, taint, taint->sregs[i]);
        }
    }
    const core_taint *cause = NULL;
    for (int i = 0; i < taint->loose_count; i++) {
        const core_taint *source = core->unknown[taint->sregs[taint->strict_count + i]];
        cause = source ? source : cause;
    }
    if (taint->loads || taint->stores) {
        int64_t address;
        if (!core_address_find(err, core, op, &address)) {
            return false;
        }
        taint->word = address / 4;
        cause = taint->loads ? core->smem_unknown[taint->word] : cause;
    }
    if (cause || taint->from_vector) {
        taint->result = taint;
        taint->cause = cause == taint ? taint->cause : cause;
    }
    return true;
}

bool core_taint_check(ts_error *err, ts_core *core, const core_bundle *bundle) {
    for (int i = 0; i < bundle->op_count; i++) {
        if (bundle->ops[i].taint && !check(err, core, &bundle->ops[i])) {
            return false;
        }
    }
    return true;
}

void core_taint_settle(ts_core *core, const core_bundle *bundle) {
    for (int i = 0; i < bundle->op_count; i++) {
        const core_taint *taint = bundle->ops[i].taint;
        if (taint && taint->written >= 0) {
            core->unknown[taint->written] = taint->result;
        }
        if (taint && taint->stores) {
            core->smem_unknown[taint->word] = taint->result;
        }
    }
}
