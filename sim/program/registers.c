/* Operands that are registers, and sums of them. */
#include "assembler.h"

/* An error: an operand of a wrong kind. */
static bool operand_is_wrong(assembler *as, const token *at, const ts_opcode_info *info,
                             const ts_operand_class *wanted, const char *found) {
    return TOKEN_ERROR(as->err, at, "%s: found %s '%.*s', expected %s", info->mnemonic, found,
                       (int)at->length, at->text, wanted->text);
}

static int register_count(const ts_target *target, ts_operand_kind kind) {
    const ts_isa_limits *limits = &target->core.limits;
    return kind == TS_OPERAND_SREG ? limits->sregs : kind == TS_OPERAND_VREG ? limits->vregs : limits->vmasks;
}

bool check_register(assembler *as, const token *location, ts_operand_kind kind, int number) {
    int count = register_count(as->target, kind);
    if (number < count) return true;
    char letter = kind == TS_OPERAND_SREG ? 's' : kind == TS_OPERAND_VREG ? 'v' : 'm';
    return TOKEN_ERROR(as->err, location, "there is no %s %c%d: %s has %c0 to %c%d",
                       ts_operand_kind_text(kind), letter, number, as->target->machine, letter, letter,
                       count - 1);
}

bool assemble_affine(assembler *as, const token **at, ts_affine *out) {
    const token *begin = *at;
    if (!expr_affine(as->err, as->names, at, out)) return false;
    for (int i = 0; i < out->term_count; i++)
        if (!check_register(as, begin, TS_OPERAND_SREG, out->terms[i].sreg)) return false;
    return true;
}

bool operand_accepts(const ts_operand_class *class, ts_operand_kind kind) {
    return (class->accepts >> kind & 1) != 0;
}

bool operand_is_unexpected(assembler *as, const token *at, const ts_opcode_info *info,
                           const ts_operand_class *class) {
    const symbol *named = at->kind == TOKEN_NAME ? scope_find(as->names, at->text, at->length) : NULL;
    if (named != NULL) return operand_is_wrong(as, at, info, class, symbol_class_text(named->class));
    if (at->kind == TOKEN_NAME)
        return scope_unknown(as->err, as->names, at, "name", SYMBOL_PARAM | SYMBOL_REGISTER);
    return token_unexpected(as->err, at, class->text);
}

bool assemble_register(assembler *as, const token **at, const ts_opcode_info *info,
                       const ts_operand_class *class, ts_operand *out, bool *found) {
    const token *begin = *at;
    ts_operand_kind kind;
    int number;
    if (!register_read(as->err, as->names, at, &kind, &number, found)) {
        *found = false;
        return false;
    }
    if (!*found) return true;
    *out = (ts_operand){.kind = kind, .as.reg = number};
    *found = (operand_accepts(class, kind) ||
              operand_is_wrong(as, begin, info, class, ts_operand_kind_text(kind))) &&
             check_register(as, begin, kind, number);
    return *found;
}

bool assemble_sreg(assembler *as, const token **at, ts_operand *out) {
    const ts_opcode_info *info = ts_opcode_get(TS_OP_brz);
    const ts_operand_class *class = ts_opcode_operand(info, 0);
    bool found;
    return assemble_register(as, at, info, class, out, &found) &&
           (found || operand_is_unexpected(as, *at, info, class));
}
