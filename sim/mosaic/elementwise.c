/* Operations of single elements, on scalars and on vregs: one row each. */
#include <string.h>

#include "convert.h"
#include "words.h"

/* TS_OP_nop: not on that type. Of a mask: of two masks. */
typedef struct {
    const char *name;
    words_function *function; /* of several instructions */
    int operands;
    ts_opcode scalar, f32, bf16, i32, mask;
} elementwise_row;

static const elementwise_row rows[] = {
#define BINARY(name, scalar, f32, bf16, i32, mask)                                                           \
    {name, NULL, 2, TS_OP_##scalar, TS_OP_##f32, TS_OP_##bf16, TS_OP_##i32, TS_OP_##mask},
#define UNARY(name, f32, bf16, i32)                                                                          \
    {name, NULL, 1, TS_OP_nop, TS_OP_##f32, TS_OP_##bf16, TS_OP_##i32, TS_OP_nop},
#define WORDS(name, function, operands, types)                                                               \
    {name, function, operands, TS_OP_nop, TS_OP_nop, TS_OP_nop, TS_OP_nop, TS_OP_nop},
#include "ops.def"
};

static bool is_bf16(const mlir_type *t) { return t->dtype == TS_DTYPE_BF16; }

static bool commutes(ts_opcode opcode) {
    return opcode != TS_OP_vsub_f32 && opcode != TS_OP_vsub_i32 && opcode != TS_OP_vsub_bf16 &&
           opcode != TS_OP_vshl_i32 && opcode != TS_OP_vshr_i32 && opcode != TS_OP_vshr_u32;
}

/* One instruction on vregs; of two operands a number goes behind, where that is the same. */
static ts_operand emit_row(lowering *l, ts_opcode opcode, const ts_operand *in) {
    if (l->op->operand_count == 1) return emit1(l, opcode, in[0]);
    bool swap = is_number(in[0]) && !is_number(in[1]) && commutes(opcode);
    return emit2(l, opcode, in[swap ? 1 : 0], in[swap ? 0 : 1]);
}

static bool on_words(lowering *l, const elementwise_row *row, const ts_operand *in, ts_operand *out) {
    ts_opcode opcode = type_at(l, 0)->element == MLIR_FLOAT ? row->f32 : row->i32;
    if (row->function) return row->function(l, in, out);
    if (opcode == TS_OP_nop) return refuse(l, "of such vectors");
    *out = emit_row(l, opcode, in);
    return true;
}

/* ---- Scalars and packed values ---- */

/* Integers are read with their sign, but for operations of those without one and of bits. */
static bool reads_sign(const lowering *l) {
    ts_span name = l->op->name;
    for (size_t i = 0; i + 2 <= name.length; i++)
        if (memcmp(name.text + i, "ui", 2) == 0) return false;
    return memcmp(name.text, "math.ct", 7) != 0;
}

static bool is_narrow(const mlir_type *t) { return t->bits > 1 && t->bits < 32; }

/* There is no scalar unit for it: in the first word of vregs. */
static bool lift_scalar(lowering *l, int operand, ts_operand *out) {
    packed_values from = {.type = type_at(l, operand), .vreg = in_vreg(l, value_at(l, operand)->one)};
    from.sign = reads_sign(l);
    *out = from.vreg;
    return !is_narrow(from.type) || take_words(l, &from, 0, out);
}

/* From the first word; what is narrow is kept with its sign. */
static bool set_lowered(lowering *l, ts_operand word) {
    packed_values to = {.type = result_type(l, 0)};
    ts_operand words[PACKING_MOST];
    if (word.kind == TS_OPERAND_VMASK) word = emit_select(l, word, in_vreg(l, ts_integer(1)), ts_integer(0));
    if (is_number(word) || !is_narrow(to.type))
        return set_scalar(l, is_number(word) ? word : emit1(l, TS_OP_v2s, word));
    for (int i = 0; i < PACKING_MOST; i++) words[i] = word;
    if (!put_words(l, words, &to)) return false;
    return set_scalar(l, lowest_bits(l, emit1(l, TS_OP_v2s, to.vreg), to.type->bits));
}

static bool on_scalars(lowering *l, const elementwise_row *row) {
    ts_operand lifted[3], out;
    if (type_at(l, 0)->bits > 32 || result_type(l, 0)->bits > 32) return refuse(l, "of such scalars");
    for (int i = 0; i < l->op->operand_count; i++)
        if (!lift_scalar(l, i, &lifted[i])) return false;
    return on_words(l, row, lifted, &out) && set_lowered(l, out);
}

static bool join_parts(lowering *l, ts_operand *parts) {
    const mlir_type *type = result_type(l, 0);
    packed_values to = {.type = type};
    if (!is_mask_type(type)) return put_words(l, parts, &to) && set_vector(l, to.vreg);
    if (is_number(parts[0])) return set_vector(l, parts[0]);
    return set_vector(l, join_masks(l, parts, type_at(l, 0)->bits));
}

/* Each part of the words by itself. */
static bool on_parts(lowering *l, const elementwise_row *row, const ts_operand *in) {
    const mlir_type *type = type_at(l, 0);
    ts_operand parts[PACKING_MOST], words[3];
    int count = type->bits > 0 ? 32 / type->bits : 0;
    if ((result_type(l, 0)->bits != type->bits && !is_mask_type(result_type(l, 0))) || count < 2 ||
        count > PACKING_MOST)
        return refuse(l, "of such vectors");
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < l->op->operand_count; k++) {
            packed_values from = {.type = type, .vreg = in[k], .sign = reads_sign(l)};
            if (!take_words(l, &from, i, &words[k])) return false;
        }
        if (!on_words(l, row, words, &parts[i])) return false;
    }
    return join_parts(l, parts);
}

/* What works on all bits alike, or on both halves of a word. */
static ts_opcode packed_opcode(const lowering *l, const elementwise_row *row) {
    bool bitwise = row->i32 == TS_OP_vand_i32 || row->i32 == TS_OP_vor_i32 || row->i32 == TS_OP_vxor_i32;
    return bitwise ? row->i32 : is_bf16(type_at(l, 0)) && l->target->core.limits.bf16 ? row->bf16 : TS_OP_nop;
}

static bool on_vregs(lowering *l, const elementwise_row *row, ts_operand *in) {
    const mlir_type *type = type_at(l, 0), *result = result_type(l, 0);
    ts_opcode packed = packed_opcode(l, row);
    int count = l->op->operand_count;
    ts_operand out;
    if (is_mask_type(type))
        return row->mask == TS_OP_nop ? refuse(l, "of masks") : set_vector(l, emit_row(l, row->mask, in));
    if (type->bits == 32) {
        if (result->bits != 32 && !is_mask_type(result)) return refuse(l, "of such vectors");
        return on_words(l, row, in, &out) && set_vector(l, out);
    }
    if (packed == TS_OP_nop) return on_parts(l, row, in);
    if (is_bf16(type)) in[count - 1] = in_vreg(l, in[count - 1]);
    return set_vector(l, emit_row(l, packed, in));
}

/* What is narrower than a word wraps around at its own width. */
static ts_operand scalar_row(lowering *l, ts_opcode opcode, const ts_operand *in) {
    int bits = type_at(l, 0)->bits;
    ts_operand a = opcode == TS_OP_sshr ? zero_extend(l, in[0], bits) : in[0];
    bool stays = opcode == TS_OP_smax || opcode == TS_OP_smin || opcode == TS_OP_sand ||
                 opcode == TS_OP_sor || opcode == TS_OP_sxor || opcode == TS_OP_ssra;
    ts_operand out = scalar2(l, opcode, a, in[1]);
    if (stays || bits < 1) return out;
    return bits == 1 ? zero_extend(l, out, 1) : lowest_bits(l, out, bits);
}

static bool lower_row(lowering *l, const elementwise_row *row) {
    value_kind kind = value_at(l, 0)->kind;
    ts_operand in[2];
    int count = row->operands;
    if (l->op->operand_count != count) return malformed(l, count == 1 ? "one operand" : "two operands");
    for (int i = 0; i < count; i++) {
        const value *v = value_at(l, i);
        if (v->count != 1 || v->kind != kind) return refuse(l, "of these operands");
        in[i] = v->one;
    }
    if (kind == VALUE_SCALAR) {
        bool known = row->scalar != TS_OP_nop && type_at(l, 0)->bits <= 32;
        return known ? set_scalar(l, scalar_row(l, row->scalar, in)) : on_scalars(l, row);
    }
    return kind == VALUE_VECTOR ? on_vregs(l, row, in) : refuse(l, "of these operands");
}

/* ---- Operations that differ between scalars, vectors and masks ---- */

bool lower_words(lowering *l, words_function *function, int operands, ts_opcode bf16) {
    elementwise_row row = {NULL, function, operands, TS_OP_nop, TS_OP_nop, bf16, TS_OP_nop, TS_OP_nop};
    return lower_row(l, &row);
}

static bool compare_scalars(lowering *l, int64_t predicate) {
    static const ts_opcode compares[] = {TS_OP_scmp_eq, TS_OP_scmp_ne, TS_OP_scmp_lt,
                                         TS_OP_scmp_le, TS_OP_scmp_gt, TS_OP_scmp_ge};
    ts_operand x = value_at(l, 0)->one, y = value_at(l, 1)->one, top = ts_integer(INT32_MIN);
    if (type_at(l, 0)->bits == 1 && predicate > 1) predicate = predicate > 5 ? predicate - 4 : predicate ^ 6;
    if (predicate > 5) {
        x = scalar2(l, TS_OP_sxor, x, top);
        y = scalar2(l, TS_OP_sxor, y, top);
        predicate -= 4;
    }
    return set_scalar(l, scalar2(l, compares[predicate], x, y));
}

static bool read_predicate(lowering *l, int64_t *out, int64_t most) {
    const mlir_attribute *a = mlir_find(l->op, "predicate");
    return (a && mlir_integer(a->value, out) && *out >= 0 && *out <= most) || malformed(l, "a predicate");
}

bool lower_cmpi(lowering *l) {
    const value *a = value_at(l, 0), *b = value_at(l, 1);
    int64_t predicate;
    if (!read_predicate(l, &predicate, 9)) return false;
    if (a->count != 1 || b->count != 1 || a->kind != b->kind || type_at(l, 0)->bits > 32)
        return refuse(l, "of these operands");
    if (a->kind == VALUE_SCALAR) return compare_scalars(l, predicate);
    if (is_mask_type(type_at(l, 0))) {
        if (predicate > 1) return refuse(l, "of masks");
        ts_operand differ = emit2(l, TS_OP_mxor, a->one, b->one);
        return set_vector(l, predicate == 1 ? differ : emit1(l, TS_OP_mnot, differ));
    }
    return lower_words(l, words_cmpi, 2, TS_OP_nop);
}

bool lower_cmpf(lowering *l) {
    static const ts_opcode bf16[] = {TS_OP_nop,          TS_OP_vcmp_eq_bf16, TS_OP_vcmp_gt_bf16,
                                     TS_OP_vcmp_ge_bf16, TS_OP_vcmp_lt_bf16, TS_OP_vcmp_le_bf16,
                                     TS_OP_nop};
    int64_t predicate;
    if (!read_predicate(l, &predicate, 15)) return false;
    return lower_words(l, words_cmpf, 2,
                       predicate == 13 ? TS_OP_vcmp_ne_bf16 : bf16[predicate < 6 ? predicate : 0]);
}

bool lower_select(lowering *l) {
    const value *c = value_at(l, 0), *a = value_at(l, 1), *b = value_at(l, 2);
    ts_operand x = a->one, y = b->one, m = c->one;
    if (a->count != 1 || b->count != 1 || a->kind != b->kind || c->count != 1)
        return refuse(l, "of these operands");
    if (is_number(m) && c->kind == VALUE_SCALAR) return set_result(l, 0, number_of(m) != 0 ? *a : *b);
    if (a->kind == VALUE_SCALAR) { /* b + c * (a - b) */
        ts_operand d = scalar2(l, TS_OP_smul, scalar2(l, TS_OP_ssub, x, y), m);
        return set_scalar(l, scalar2(l, TS_OP_sadd, d, y));
    }
    if (c->kind == VALUE_SCALAR) m = emit2(l, TS_OP_vcmp_ne_i32, emit1(l, TS_OP_vmov, m), ts_integer(0));
    if (is_mask_type(type_at(l, 1))) {
        ts_operand yes = emit2(l, TS_OP_mand, m, x), no = emit2(l, TS_OP_mand, emit1(l, TS_OP_mnot, m), y);
        return set_vector(l, emit2(l, TS_OP_mor, yes, no));
    }
    return set_vector(l, emit_select(l, m, x, y));
}

/* What is narrower is kept with its sign; without one the rest is cut. */
static bool scalar_width(lowering *l) {
    ts_operand a = value_at(l, 0)->one;
    int from = type_at(l, 0)->bits, to = result_type(l, 0)->bits;
    bool cut = ts_span_is(l->op->name, "arith.extui") && from > 1 && from < 32;
    if (from > 32 || to > 32) return refuse(l, "of 64 bits");
    if (cut || (to == 1 && from > 1)) return set_scalar(l, zero_extend(l, a, cut ? from : 1));
    if (to < from) return set_scalar(l, lowest_bits(l, a, to));
    bool sign = ts_span_is(l->op->name, "arith.extsi") && from == 1;
    return set_scalar(l, sign ? scalar2(l, TS_OP_ssub, ts_integer(0), a) : a);
}

bool lower_float_width(lowering *l) {
    return value_at(l, 0)->kind == VALUE_SCALAR
               ? lower_words(l, words_same, 1, TS_OP_nop)
               : refuse(l, "it is gone at vreg level: the text is of an earlier pass");
}

/* Masks become integers, 1 or -1 in each part, and integers masks of their lowest bits. */
static bool vector_width(lowering *l) {
    ts_operand a = value_at(l, 0)->one;
    int bits = result_type(l, 0)->bits;
    if (is_mask_type(type_at(l, 0)) && bits >= 4 && bits <= 32) {
        uint32_t ones = 1;
        for (int have = bits; have < 32; have *= 2) ones |= ones << have;
        ts_operand one = in_vreg(l, ts_integer(ts_span_is(l->op->name, "arith.extsi") ? -1 : (int32_t)ones));
        return set_vector(l, emit_select(l, a, one, ts_integer(0)));
    }
    if (ts_span_is(l->op->name, "arith.trunci") && is_mask_type(result_type(l, 0)) &&
        type_at(l, 0)->bits == 32) {
        ts_operand bit = emit2(l, TS_OP_vand_i32, a, ts_integer(1));
        return set_vector(l, emit2(l, TS_OP_vcmp_ne_i32, bit, ts_integer(0)));
    }
    return refuse(l, "of such vectors");
}

bool lower_width(lowering *l) {
    value_kind kind = value_at(l, 0)->kind;
    return kind == VALUE_SCALAR                                 ? scalar_width(l)
           : kind == VALUE_VECTOR && value_at(l, 0)->count == 1 ? vector_width(l)
                                                                : malformed(l, "a scalar or a vreg");
}

bool lower_elementwise(lowering *l, bool *known) {
    *known = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (ts_span_is(l->op->name, rows[i].name)) return check_vreg_types(l) && lower_row(l, &rows[i]);
    *known = false;
    return false;
}
