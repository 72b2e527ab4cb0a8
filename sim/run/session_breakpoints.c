/* Whether a session stands at a breakpoint. */
#include <string.h>

#include "session_private.h"

static bool ends_with(const char *name, const char *file) {
    size_t a = strlen(name), b = strlen(file);
    return a >= b && strcmp(name + a - b, file) == 0 && (a == b || name[a - b - 1] == '/');
}

static bool comes_from(const ts_session *s, int bundle, const ts_breakpoint *at) {
    const ts_code *code = &s->parts.program->code;
    const char *file = at->file ? at->file : s->request->program;
    const ts_bundle *b = &code->bundles[bundle];
    for (int i = 0; i < b->count; i++) {
        const ts_instruction *instruction = &b->instructions[i];
        if (instruction->source && instruction->line == at->line &&
            ends_with(instruction->source->name, file))
            return true;
    }
    return false;
}

bool ts_session_has_line(const ts_session *session, const ts_breakpoint *at) {
    for (int i = 0; i < session->parts.program->code.bundle_count; i++)
        if (comes_from(session, i, at)) return true;
    return false;
}

static int64_t value_of(const ts_session *s, const ts_condition_side *side) {
    ts_core *core = (ts_core *)(uintptr_t)ts_chip_core(s->parts.chip, s->followed);
    switch (side->kind) {
    case TS_NAME_REGISTER:
        return (int32_t)*ts_core_register(core, TS_OPERAND_SREG, side->index);
    case TS_NAME_SEMAPHORE:
        return ts_chip_semaphore(s->parts.chip, s->followed, side->index);
    default:
        return side->number;
    }
}

static bool holds(const ts_session *s, const ts_condition *c) {
    int64_t left = value_of(s, &c->left), right = value_of(s, &c->right);
    switch (c->test) {
    case TS_TEST_EQ:
        return left == right;
    case TS_TEST_NE:
        return left != right;
    case TS_TEST_LT:
        return left < right;
    case TS_TEST_LE:
        return left <= right;
    case TS_TEST_GT:
        return left > right;
    case TS_TEST_GE:
        return left >= right;
    default:
        return true;
    }
}

bool session_at_breakpoint(const ts_session *s, const ts_breakpoint *breakpoints, int count) {
    const ts_core *core = ts_chip_core(s->parts.chip, s->followed);
    for (int i = 0; i < count && !ts_core_halted(core); i++)
        if (comes_from(s, ts_core_bundle(core), &breakpoints[i]) && holds(s, &breakpoints[i].condition))
            return true;
    return false;
}
