/* Operands of instructions. */
#include <math.h>

#include "base/number.h"

#include "assembler.h"

/* 32 bits, which from 2^31 on are those of a negative number: not where the number is what counts. */
static bool check_integer(assembler *as, const token *location, const ts_operand_class *class,
                          int64_t value) {
    if (value < INT32_MIN || value > UINT32_MAX)
        return TOKEN_ERROR(as->err, location, "%lld does not fit in 32 bits", (long long)value);
    return !class->is_signed || value <= INT32_MAX ||
           TOKEN_ERROR(as->err, location, "found %lld where numbers are signed, expected %d to %d",
                       (long long)value, INT32_MIN, INT32_MAX);
}

static bool parse_number(assembler *as, const token **at, const ts_operand_class *class, ts_operand *out) {
    const token *begin = *at;
    constant v;
    if (!expr_parse(as->err, as->names, at, &v)) return false;
    bool integer = operand_accepts(class, TS_OPERAND_INTEGER) && !v.is_float;
    if (!integer && !operand_accepts(class, TS_OPERAND_F32))
        return TOKEN_ERROR(as->err, begin, "found %g, expected %s", v.number, class->text);
    if (integer && !check_integer(as, begin, class, v.integer)) return false;
    *out = (ts_operand){.kind = integer ? TS_OPERAND_INTEGER : TS_OPERAND_F32};
    if (integer) {
        out->as.integer = v.integer;
        return true;
    }
    double number = v.is_float ? v.number : (double)v.integer;
    out->as.f32_bits = ts_f32_bits((float)number);
    return !isinf((float)number) || isinf(number) ||
           TOKEN_ERROR(as->err, begin, "%g does not fit in f32, expected at most 3.40282347e+38, or inf",
                       number);
}

/* The label's number is filled in at the end. */
static bool parse_label(assembler *as, const token **at, ts_operand *out) {
    if ((*at)->kind != TOKEN_NAME) return token_unexpected(as->err, *at, "a label");
    *out = (ts_operand){.kind = TS_OPERAND_LABEL};
    ++*at;
    return true;
}

static bool parse_operand(assembler *as, const token **at, const ts_opcode_info *info,
                          const ts_operand_class *class, ts_operand *out) {
    const token *begin = *at;
    bool found;
    if (!assemble_register(as, at, info, class, out, &found) || found) return found;
    if (operand_accepts(class, TS_OPERAND_LABEL)) return parse_label(as, at, out);
    if (operand_accepts(class, TS_OPERAND_ADDRESS)) return assemble_address(as, at, class->space, out);
    if (operand_accepts(class, TS_OPERAND_SEMAPHORE)) return assemble_semaphore(as, at, out);
    if (operand_accepts(class, TS_OPERAND_TRANSFER)) return assemble_transfer(as, at, out);
    if ((operand_accepts(class, TS_OPERAND_INTEGER) || operand_accepts(class, TS_OPERAND_F32)) &&
        expr_begins(as->names, begin))
        return parse_number(as, at, class, out);
    return operand_is_unexpected(as, begin, info, class);
}

bool check_semaphore(assembler *as, const token *location, const ts_semaphore_operand *semaphore) {
    bool known = semaphore->first >= 0 && semaphore->count > 0 &&
                 semaphore->count <= as->semaphores.count - semaphore->first;
    return known || TOKEN_ERROR(as->err, location, "there is no semaphore %d", semaphore->first);
}

bool check_operand(assembler *as, const token *location, const ts_opcode_info *info, int index,
                   const ts_operand *operand) {
    const ts_operand_class *class = ts_opcode_operand(info, index);
    ts_operand_kind kind = operand->kind;
    if (!operand_accepts(class, kind))
        return TOKEN_ERROR(as->err, location, "%s: operand %d: found %s, expected %s", info->mnemonic,
                           index + 1, ts_operand_kind_text(kind), class->text);
    bool reg = kind == TS_OPERAND_SREG || kind == TS_OPERAND_VREG || kind == TS_OPERAND_VMASK;
    if (reg && operand->as.reg < 0)
        return TOKEN_ERROR(as->err, location, "there is no register %d", operand->as.reg);
    if (kind == TS_OPERAND_SEMAPHORE && !check_semaphore(as, location, &operand->as.semaphore)) return false;
    if (kind == TS_OPERAND_INTEGER && !check_integer(as, location, class, operand->as.integer)) return false;
    if (kind == TS_OPERAND_ADDRESS && !check_space(as, location, operand->as.address->tensor, class->space))
        return false;
    return !reg || check_register(as, location, kind, operand->as.reg);
}

bool check_mask(assembler *as, const token *location, const ts_opcode_info *info, int vmask) {
    return (info->masks || TOKEN_ERROR(as->err, location, "%s takes no mask", info->mnemonic)) &&
           check_register(as, location, TS_OPERAND_VMASK, vmask);
}

/* "if m1" behind the operands. */
static bool parse_mask(assembler *as, const token **at, const ts_opcode_info *info, ts_instruction *code) {
    code->mask = -1;
    if (!token_is_name(*at, "if")) return true;
    const token *word = (*at)++;
    ts_operand mask;
    if (!info->masks) return TOKEN_ERROR(as->err, word, "%s takes no mask", info->mnemonic);
    if (!parse_operand(as, at, info, ts_operand_class_mask(), &mask)) return false;
    code->mask = mask.as.reg;
    return true;
}

bool assemble_operands(assembler *as, const token **at, item *new) {
    ts_instruction *code = &new->code;
    const ts_opcode_info *info = ts_opcode_get(code->opcode);
    int least, most;
    ts_opcode_arity(info, &least, &most);
    while (code->operand_count < most) {
        int i = code->operand_count;
        if (token_ends_line(*at) || token_is(*at, '}') || token_is_name(*at, "if")) break;
        if (i > 0 && !expect_mark(as, at, ',', "','")) return false;
        const token *begin = *at;
        if (!parse_operand(as, at, info, ts_opcode_operand(info, i), &code->operands[i])) return false;
        if (code->operands[i].kind == TS_OPERAND_LABEL) {
            new->label = begin;
            new->label_operand = i;
        }
        code->operand_count++;
    }
    if (code->operand_count < least) {
        return TOKEN_ERROR(as->err, *at, "%s takes %d operand%s, found %d", info->mnemonic, least,
                           least == 1 ? "" : "s", code->operand_count);
    }
    return parse_mask(as, at, info, code);
}

bool assemble_operand(assembler *as, const token **at, ts_opcode opcode, int index, ts_operand *out) {
    const ts_opcode_info *info = ts_opcode_get(opcode);
    return parse_operand(as, at, info, ts_opcode_operand(info, index), out);
}
