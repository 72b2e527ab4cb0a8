/* Whether a session stands at a breakpoint. */
#include <string.h>

#include "session_private.h"

static bool ends_with(const char *name, const char *file) {
    size_t a = strlen(name), b = strlen(file);
    return a >= b && strcmp(name + a - b, file) == 0 && (a == b || name[a - b - 1] == '/');
}

const ts_program_location *session_find_entries(ts_arena *arena, const ts_program *program) {
    const ts_code *code = &program->code;
    ts_program_location *entries = TS_NEW_ARRAY(arena, ts_program_location, program->frame_count);
    for (int i = code->bundle_count - 1; i >= 0; i--) {
        for (int k = code->bundles[i].count - 1; k >= 0; k--) {
            const ts_program_location at = ts_program_location_of(program, &code->bundles[i].instructions[k]);
            for (int frame = at.frame; frame >= 0; frame = program->frames[frame].parent) entries[frame] = at;
        }
    }
    return entries;
}

static bool is_line(const ts_source *source, int line, const ts_breakpoint *at, const char *file) {
    return source && line == at->line && ends_with(source->name, file);
}

/* Is it the first of a macro or file that the line uses? A loop's line has instructions of its own. */
static bool enters(const ts_session *s, const ts_instruction *instruction, const ts_breakpoint *at,
                   const char *file) {
    const ts_program *program = s->parts.program;
    const ts_program_location here = ts_program_location_of(program, instruction);
    for (int i = here.frame; i >= 0; i = program->frames[i].parent) {
        const ts_program_frame *frame = &program->frames[i];
        if (s->entries[i].frame == here.frame && s->entries[i].line == here.line &&
            frame->kind != TS_FRAME_LOOP && is_line(frame->source, frame->line, at, file))
            return true;
    }
    return false;
}

static bool comes_from(const ts_session *s, int bundle, const ts_breakpoint *at) {
    const char *file = at->file ? at->file : s->request->program;
    const ts_bundle *b = &s->parts.program->code.bundles[bundle];
    for (int i = 0; i < b->count; i++) {
        const ts_instruction *instruction = &b->instructions[i];
        if (is_line(instruction->source, instruction->line, at, file) || enters(s, instruction, at, file))
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
