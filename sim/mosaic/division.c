/* Quotients and remainders of integers, of scalars and of vregs. */
#include "words.h"

typedef struct {
    ts_operand quotient, rest;
} division;

/* n, where a number is 2 to the n; else -1. */
static int power_of(ts_operand b) {
    int64_t by = is_number(b) ? number_of(b) : 0;
    int n = 0;
    if (by <= 0 || (by & (by - 1)) != 0) return -1;
    while (INT64_C(1) << n < by) n++;
    return n;
}

/* ---- Of scalars ---- */

/* a where `sign` is 0, -a where it is -1. */
static ts_operand signed_as(lowering *l, ts_operand a, ts_operand sign) {
    return scalar2(l, TS_OP_ssub, scalar2(l, TS_OP_sxor, a, sign), sign);
}

static ts_operand scalar_rest(lowering *l, ts_operand a, ts_operand q, ts_operand b) {
    return scalar2(l, TS_OP_ssub, a, scalar2(l, TS_OP_smul, q, b));
}

/* By -2 to the 31, which has no other sign: 1 of itself, else 0; q is taken of what is by any other
 * number. */
static ts_operand by_least(lowering *l, ts_operand a, ts_operand b, ts_operand large, ts_operand q) {
    if (is_number(large) && number_of(large) == 0) return q;
    q = scalar2(l, TS_OP_sand, q, scalar2(l, TS_OP_ssub, large, ts_integer(1)));
    return scalar2(l, TS_OP_sor, q, scalar2(l, TS_OP_scmp_eq, a, b));
}

/* Toward zero: floor of a + (b - 1 where a is negative), for b > 0; else the same by -b, with the other
 * sign. */
static division divide_scalars(lowering *l, ts_operand a, ts_operand b) {
    ts_operand of_b = scalar2(l, TS_OP_ssra, b, ts_integer(31)), by = signed_as(l, b, of_b);
    ts_operand large = scalar2(l, TS_OP_sshr, by, ts_integer(31));
    by = scalar2(l, TS_OP_ssub, by, large);
    ts_operand sign = scalar2(l, TS_OP_ssra, a, ts_integer(31));
    ts_operand up = scalar2(l, TS_OP_sand, sign, scalar2(l, TS_OP_ssub, by, ts_integer(1)));
    ts_operand q = scalar2(l, TS_OP_sdiv, scalar2(l, TS_OP_sadd, a, up), by);
    q = by_least(l, a, b, large, signed_as(l, q, of_b));
    return (division){q, scalar_rest(l, a, q, b)};
}

/* Without sign, which sdiv has: of half of a, which leaves less than 2 b; by what is larger than sdiv takes:
 * once, or not at all. */
static division divide_signless(lowering *l, ts_operand a, ts_operand b) {
    ts_operand one = ts_integer(1), top = ts_integer(INT32_MIN);
    if (power_of(b) >= 0)
        return (division){scalar2(l, TS_OP_sshr, a, ts_integer(power_of(b))),
                          scalar2(l, TS_OP_sand, a, scalar2(l, TS_OP_ssub, b, one))};
    bool fits = is_number(b) && number_of(b) > 0;
    ts_operand large = fits ? ts_integer(0) : scalar2(l, TS_OP_sshr, b, ts_integer(31));
    ts_operand by = fits ? b : scalar2(l, TS_OP_sor, scalar2(l, TS_OP_sand, b, ts_integer(INT32_MAX)), large);
    ts_operand half = scalar2(l, TS_OP_sdiv, scalar2(l, TS_OP_sshr, a, one), by);
    if (!fits) half = scalar2(l, TS_OP_smul, half, scalar2(l, TS_OP_sxor, large, one));
    ts_operand q = scalar2(l, TS_OP_sshl, half, one), r = scalar_rest(l, a, q, b);
    ts_operand more =
        scalar2(l, TS_OP_scmp_ge, scalar2(l, TS_OP_sxor, r, top), scalar2(l, TS_OP_sxor, b, top));
    return (division){scalar2(l, TS_OP_sadd, q, more), scalar_rest(l, r, more, b)};
}

/* ---- Of vregs ---- */

/* The quotient's error is made as small as f32 is precise, then what is left of it is divided once more. */
static ts_operand divide_once(lowering *l, ts_operand a, ts_operand inverse) {
    ts_operand q = emit2(l, TS_OP_vmul_f32, emit1(l, TS_OP_vcvt_f32_i32, a), inverse);
    return emit1(l, TS_OP_vcvt_i32_f32, q);
}

static ts_operand rest_of(lowering *l, ts_operand a, ts_operand q, ts_operand b) {
    return emit2(l, TS_OP_vsub_i32, a, emit2(l, TS_OP_vmul_i32, q, b));
}

static division divide_words(lowering *l, ts_operand a, ts_operand b) {
    ts_operand zero = in_vreg(l, ts_integer(0)),
               inverse = emit1(l, TS_OP_vrcp_f32, emit1(l, TS_OP_vcvt_f32_i32, b));
    ts_operand q = divide_once(l, a, inverse), r = rest_of(l, a, q, b);
    q = emit2(l, TS_OP_vadd_i32, q, divide_once(l, r, inverse));
    r = rest_of(l, a, q, b);
    /* one too far, or one too few: the rest has the sign of a, and is smaller than b */
    ts_operand sign = emit2(l, TS_OP_vshr_i32, emit2(l, TS_OP_vxor_i32, a, b), ts_integer(31));
    ts_operand one = emit2(l, TS_OP_vor_i32, sign, ts_integer(1)); /* -1 or 1 */
    ts_operand step = emit2(l, TS_OP_vmul_i32, one, b);            /* b with the sign of a */
    ts_operand wrong = emit2(l, TS_OP_vcmp_lt_i32, emit2(l, TS_OP_vxor_i32, r, a), zero);
    wrong = emit2(l, TS_OP_mand, wrong, emit2(l, TS_OP_vcmp_ne_i32, r, zero));
    ts_operand r_down = emit2(l, TS_OP_vadd_i32, r, step), q_down = emit2(l, TS_OP_vsub_i32, q, one);
    r = emit_select(l, wrong, r_down, r);
    q = emit_select(l, wrong, q_down, q);
    /* 0, or of the sign of a: it goes once more; of a rest of 0 it overflows where b is the least */
    ts_operand more = emit2(l, TS_OP_vsub_i32, r, step);
    ts_operand differ =
        emit2(l, TS_OP_vor_i32, emit2(l, TS_OP_vxor_i32, more, a), emit2(l, TS_OP_vxor_i32, r, a));
    ts_operand again = emit2(l, TS_OP_vcmp_ge_i32, differ, zero);
    again = emit2(l, TS_OP_mor, again, emit2(l, TS_OP_vcmp_eq_i32, more, zero));
    return (division){emit_select(l, again, emit2(l, TS_OP_vadd_i32, q, one), q),
                      emit_select(l, again, more, r)};
}

/* By 2 to the n, toward 0: what is negative is lifted by a step less one first. */
static division shift_words(lowering *l, ts_operand a, int n) {
    int step = (int)(1u << n);
    ts_operand lift =
        emit2(l, TS_OP_vand_i32, emit2(l, TS_OP_vshr_i32, a, ts_integer(31)), ts_integer(step - 1));
    ts_operand q = emit2(l, TS_OP_vshr_i32, emit2(l, TS_OP_vadd_i32, a, lift), ts_integer(n));
    return (division){q, emit2(l, TS_OP_vsub_i32, a, emit2(l, TS_OP_vshl_i32, q, ts_integer(n)))};
}

static division shift_signless_words(lowering *l, ts_operand a, int n) {
    return (division){emit2(l, TS_OP_vshr_u32, a, ts_integer(n)),
                      emit2(l, TS_OP_vand_i32, a, ts_integer((int)(1u << n) - 1))};
}

/* Without sign, for b < 2 to the 31: of half of a, which leaves less than 2 b; by what is larger: once, or
 * not at all. */
static division divide_signless_words(lowering *l, ts_operand a, ts_operand b) {
    ts_operand one = ts_integer(1), top = ts_integer(INT32_MIN), zero = in_vreg(l, ts_integer(0));
    ts_operand half = divide_words(l, emit2(l, TS_OP_vshr_u32, a, one), b).quotient;
    ts_operand large = emit2(l, TS_OP_vcmp_lt_i32, b, zero);
    ts_operand q = emit_select(l, large, zero, emit2(l, TS_OP_vshl_i32, half, one)), r = rest_of(l, a, q, b);
    ts_operand more =
        emit2(l, TS_OP_vcmp_ge_i32, emit2(l, TS_OP_vxor_i32, r, top), emit2(l, TS_OP_vxor_i32, b, top));
    return (division){emit_select(l, more, emit2(l, TS_OP_vadd_i32, q, one), q),
                      emit_select(l, more, emit2(l, TS_OP_vsub_i32, r, b), r)};
}

/* ---- The operations ---- */

/* arith.divsi, divui, remsi, remui */
static bool has_sign(const lowering *l) { return l->op->name.text[l->op->name.length - 2] == 's'; }

static ts_operand wanted(const lowering *l, division d) {
    return l->op->name.text[sizeof "arith." - 1] == 'r' ? d.rest : d.quotient;
}

bool words_division(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand a = in_vreg(l, in[0]);
    int n = power_of(in[1]);
    if (n >= 0)
        *out = wanted(l, (has_sign(l) ? shift_words : shift_signless_words)(l, a, n));
    else
        *out = wanted(l, (has_sign(l) ? divide_words : divide_signless_words)(l, a, in_vreg(l, in[1])));
    return true;
}

bool lower_division(lowering *l) {
    const value *a = value_at(l, 0), *b = value_at(l, 1);
    int bits = type_at(l, 0)->bits;
    if (a->kind != VALUE_SCALAR || b->kind != VALUE_SCALAR)
        return lower_words(l, words_division, 2, TS_OP_nop);
    if (is_number(b->one) && number_of(b->one) == 0) return refuse(l, "by 0");
    division d = has_sign(l) ? divide_scalars(l, a->one, b->one)
                             : divide_signless(l, zero_extend(l, a->one, bits), zero_extend(l, b->one, bits));
    return set_scalar(l, lowest_bits(l, wanted(l, d), bits));
}
