/* What the operations of all families share: a fault, a delay, and writing whole vregs. */
#include <stdarg.h>
#include <stdio.h>

#include "state.h"

bool core_fault(ts_error *err, const ts_core *core, const core_op *op, const char *format, ...) {
    char message[TS_ERROR_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (err && err->kind == TS_ERROR_NONE) {
        ts_instruction_error(err, TS_ERROR_FAULT, op->instruction, "%s", message);
        err->cycle = core->now;
    }
    return false;
}

void core_hold(ts_core *core, int64_t cycles, int stall) {
    if (cycles > core->hold_cycles) {
        core->hold_cycles = cycles;
        core->hold_stall = stall;
    }
}

CORE_FUNCTION(vector) {
    (void)err, (void)core;
    if (op->fill) ts_vector_fill(op->fill, op->fill_from[0]);
    op->vector(op->d, op->in[0], op->in[1], op->in[2], op->scalar ? (int32_t)op->scalar[0] : 0);
    return true;
}

CORE_FUNCTION(vector_masked) {
    core_op whole = *op;
    whole.d = core->scratch;
    core_run_vector(err, core, &whole);
    core->select(op->d, op->mask, core->scratch, op->d, 0);
    return true;
}

void core_write_vreg(const ts_core *core, const core_op *op, const uint32_t *words) {
    if (op->mask)
        core->select(op->d, op->mask, words, op->d, 0);
    else
        core->copy(op->d, words, NULL, NULL, 0);
}

CORE_FUNCTION(copy_word) {
    (void)err, (void)core;
    op->d[0] = op->in[0][0];
    return true;
}

CORE_FUNCTION(copy_vreg) {
    (void)err, (void)core;
    core->copy(op->d, op->in[0], NULL, NULL, 0);
    return true;
}
