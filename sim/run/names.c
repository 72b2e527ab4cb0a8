/* What the names of a program stand for while it runs. */
#include <ctype.h>
#include <string.h>

#include "run/session.h"

/* v12, m0 or s3 of those that the machine has. */
static bool find_register(const ts_isa_limits *limits, const char *text, size_t length, ts_name *found) {
    char letter = length > 1 ? *text : '\0';
    int most = letter == 'v'   ? limits->vregs
               : letter == 'm' ? limits->vmasks
               : letter == 's' ? limits->sregs
                               : 0;
    int reg = 0;
    for (size_t i = 1; i < length; i++) {
        if (!isdigit((unsigned char)text[i]) || reg >= most) return false;
        reg = reg * 10 + (text[i] - '0');
    }
    found->kind = TS_NAME_REGISTER;
    found->reg = letter == 'v' ? TS_OPERAND_VREG : letter == 'm' ? TS_OPERAND_VMASK : TS_OPERAND_SREG;
    found->index = reg;
    return reg < most;
}

/* The last of the name before the bundle that issues next, or the first behind it. */
static bool find_alias(const ts_program *program, int bundle, const char *text, size_t length,
                       ts_name *found) {
    const ts_program_alias *best = NULL;
    for (int i = 0; i < program->alias_count; i++) {
        const ts_program_alias *a = &program->aliases[i];
        if (ts_text_is(text, length, a->name) && (!best || a->bundle <= bundle)) best = a;
    }
    if (best) *found = (ts_name){TS_NAME_REGISTER, best->kind, best->reg, 1};
    return best != NULL;
}

static bool find_semaphore(const ts_code *code, const char *text, size_t length, ts_name *found) {
    *found = (ts_name){.kind = TS_NAME_SEMAPHORE};
    for (int i = 0; i < code->semaphore_count; i++) {
        const char *name = code->semaphore_names[i];
        bool of_group = strcspn(name, "[") == length && memcmp(name, text, length) == 0;
        if ((of_group || ts_text_is(text, length, name)) && found->count++ == 0) found->index = i;
    }
    return found->count > 0;
}

ts_name ts_session_name(const ts_session *session, const char *text, size_t length) {
    const ts_program *program = ts_session_program(session);
    const ts_chip *chip = ts_session_chip((ts_session *)(uintptr_t)session);
    ts_name found = {.count = 1};
    int bundle = ts_core_bundle(ts_chip_core(chip, ts_session_followed(session)));
    if (find_register(ts_chip_limits(chip), text, length, &found) ||
        find_alias(program, bundle, text, length, &found))
        return found;
    for (int i = 0; i < program->code.tensor_count; i++)
        if (ts_text_is(text, length, program->code.tensors[i].name))
            return (ts_name){.kind = TS_NAME_TENSOR, .index = i};
    for (int i = 0; i < program->param_count; i++)
        if (ts_text_is(text, length, program->params[i].name))
            return (ts_name){.kind = TS_NAME_PARAM, .index = i};
    return find_semaphore(&program->code, text, length, &found) ? found : (ts_name){.kind = TS_NAME_NONE};
}
