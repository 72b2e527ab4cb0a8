/* Functions of words that take several instructions. */
#include "words.h"

#include "base/number.h"

static ts_operand f32_number(double n) { return splat_bits(ts_f32_bits((float)n)); }

static bool give(ts_operand *out, ts_operand o) {
    *out = o;
    return true;
}

bool words_divf(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand inverse = emit1(l, TS_OP_vrcp_f32, in[1]);
    return give(out, is_number(in[0]) ? emit2(l, TS_OP_vmul_f32, inverse, in[0])
                                      : emit2(l, TS_OP_vmul_f32, in[0], inverse));
}

/* Those of numbers without sign are compared with their highest bits flipped. */
static ts_operand sign_flipped(lowering *l, ts_operand a) {
    return emit2(l, TS_OP_vxor_i32, a, ts_integer(INT32_MIN));
}

static ts_operand of_larger(lowering *l, const ts_operand *in, int which) {
    ts_operand larger = emit2(l, TS_OP_vcmp_gt_i32, sign_flipped(l, in[0]), sign_flipped(l, in[1]));
    return emit_select(l, larger, in[which], in[1 - which]);
}

bool words_maxui(lowering *l, const ts_operand *in, ts_operand *out) {
    return give(out, of_larger(l, in, 0));
}
bool words_minui(lowering *l, const ts_operand *in, ts_operand *out) {
    return give(out, of_larger(l, in, 1));
}

bool words_absi(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand a = in_vreg(l, in[0]);
    return give(out, emit2(l, TS_OP_vmax_i32, a, emit2(l, TS_OP_vsub_i32, in_vreg(l, ts_integer(0)), a)));
}

/* Predicates of arith.cmpi: eq ne slt sle sgt sge ult ule ugt uge. */
bool words_cmpi(lowering *l, const ts_operand *in, ts_operand *out) {
    static const ts_opcode compares[] = {TS_OP_vcmp_eq_i32, TS_OP_vcmp_ne_i32, TS_OP_vcmp_lt_i32,
                                         TS_OP_vcmp_le_i32, TS_OP_vcmp_gt_i32, TS_OP_vcmp_ge_i32};
    ts_operand x = in[0], y = in[1];
    int64_t predicate;
    if (!read_integer(l, "predicate", &predicate)) return false;
    if (predicate > 5) x = sign_flipped(l, x), y = sign_flipped(l, y);
    return give(out, emit2(l, compares[predicate - (predicate > 5 ? 4 : 0)], x, y));
}

/* Predicates of arith.cmpf: false oeq ogt oge olt ole one ord, then the opposites: of one ole olt oge ogt oeq
 * ord false. */
bool words_cmpf(lowering *l, const ts_operand *in, ts_operand *out) {
    static const ts_opcode ordered[] = {TS_OP_nop,         TS_OP_vcmp_eq_f32, TS_OP_vcmp_gt_f32,
                                        TS_OP_vcmp_ge_f32, TS_OP_vcmp_lt_f32, TS_OP_vcmp_le_f32};
    static const int same_as[] = {0, 1, 2, 3, 4, 5, 6, 7, 6, 5, 4, 3, 2, 1, 7, 0};
    int64_t predicate;
    if (!read_integer(l, "predicate", &predicate)) return false;
    int kind = same_as[predicate];
    ts_operand x = in[0], y = in[1], m;
    if (kind == 0) return give(out, ts_integer(predicate == 15));
    if (predicate == 13) return give(out, emit2(l, TS_OP_vcmp_ne_f32, x, y));
    if (kind == 6) {
        m = emit2(l, TS_OP_mor, emit2(l, TS_OP_vcmp_lt_f32, x, y), emit2(l, TS_OP_vcmp_gt_f32, x, y));
    } else if (kind == 7) {
        m = emit2(l, TS_OP_mand, emit2(l, TS_OP_vcmp_eq_f32, x, x),
                  emit2(l, TS_OP_vcmp_eq_f32, y, in_vreg(l, y)));
    } else {
        m = emit2(l, ordered[kind], x, y);
    }
    return give(out, predicate > 7 ? emit1(l, TS_OP_mnot, m) : m);
}

static ts_operand negated(lowering *l, ts_operand a) { return emit1(l, TS_OP_vneg_f32, a); }

bool words_ceil(lowering *l, const ts_operand *in, ts_operand *out) {
    return give(out, negated(l, emit1(l, TS_OP_vfloor_f32, negated(l, in[0]))));
}

static ts_operand with_sign(lowering *l, ts_operand magnitude, ts_operand of) {
    ts_operand sign = emit2(l, TS_OP_vand_i32, of, ts_integer(INT32_MIN));
    return emit2(l, TS_OP_vor_i32, magnitude, sign);
}

bool words_trunc(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand size = emit1(l, TS_OP_vfloor_f32, emit1(l, TS_OP_vabs_f32, in[0]));
    return give(out, with_sign(l, size, in[0]));
}

/* Of what is half a step or more beyond the floor of the magnitude, one is added. */
bool words_round(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand size = emit1(l, TS_OP_vabs_f32, in[0]), low = emit1(l, TS_OP_vfloor_f32, size);
    ts_operand up = emit2(l, TS_OP_vcmp_ge_f32, emit2(l, TS_OP_vsub_f32, size, low), f32_number(0.5));
    ts_operand high = emit2(l, TS_OP_vadd_f32, low, f32_number(1));
    return give(out, with_sign(l, emit_select(l, up, high, low), in[0]));
}

/* Less the nearest multiple of b whose factor has 12 bits; b in two parts of 12, so that nothing is
 * rounded. */
static ts_operand less_multiple(lowering *l, ts_operand a, ts_operand inverse, const ts_operand *parts) {
    ts_operand q = emit2(l, TS_OP_vadd_i32, emit2(l, TS_OP_vmul_f32, a, inverse), ts_integer(0x800));
    q = emit1(l, TS_OP_vround_f32, emit2(l, TS_OP_vand_i32, q, ts_integer(~0xfff)));
    a = emit2(l, TS_OP_vsub_f32, a, emit2(l, TS_OP_vmul_f32, q, parts[0]));
    return emit2(l, TS_OP_vsub_f32, a, emit2(l, TS_OP_vmul_f32, q, parts[1]));
}

/* a mod b, of magnitudes, b near 1; NaN where three steps of 12 bits leave b or more, of either sign. */
static ts_operand remainder_of(lowering *l, ts_operand a, ts_operand b) {
    enum { STEPS = 3 };
    ts_operand inverse = emit1(l, TS_OP_vrcp_f32, b), parts[2];
    parts[0] = emit2(l, TS_OP_vand_i32, b, ts_integer(~0xfff));
    parts[1] = emit2(l, TS_OP_vsub_f32, b, parts[0]);
    for (int i = 0; i < STEPS; i++) a = less_multiple(l, a, inverse, parts);
    ts_operand within = emit2(l, TS_OP_vcmp_lt_f32, emit1(l, TS_OP_vabs_f32, a), b);
    ts_operand below = emit2(l, TS_OP_vcmp_lt_f32, a, in_vreg(l, f32_number(0)));
    a = emit_select(l, below, emit2(l, TS_OP_vadd_f32, a, b), a);
    return emit_select(l, within, a, in_vreg(l, ts_integer(0x7fc00000)));
}

/* fmod. What is large is made small first, and the other way round, which is exact. */
bool words_remf(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand a = emit1(l, TS_OP_vabs_f32, in[0]), b = emit1(l, TS_OP_vabs_f32, in[1]);
    ts_operand down = in_vreg(l, f32_number(0x1p-64)), up = in_vreg(l, f32_number(0x1p64));
    ts_operand large = emit2(l, TS_OP_vcmp_ge_f32, b, f32_number(1));
    ts_operand scale = emit_select(l, large, down, up);
    ts_operand rest = remainder_of(l, emit2(l, TS_OP_vmul_f32, a, scale), emit2(l, TS_OP_vmul_f32, b, scale));
    rest = emit2(l, TS_OP_vmul_f32, rest, emit_select(l, large, up, down));
    ts_operand smaller = emit2(l, TS_OP_vcmp_lt_f32, a, b);
    return give(out, with_sign(l, emit_select(l, smaller, a, rest), in[0]));
}

/* exp2(x) = exp(x ln 2). */
bool words_exp2(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand scaled = emit2(l, TS_OP_vmul_f32, in[0], f32_number(0.693147180559945));
    return give(out, emit1(l, TS_OP_vexp_f32, scaled));
}

/* x log(u) / (u - 1) with u = 1 + x rounded: what rounding took from u cancels out (Kahan). */
bool words_log1p(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand x = in_vreg(l, in[0]), u = emit2(l, TS_OP_vadd_f32, x, f32_number(1));
    ts_operand log = emit1(l, TS_OP_vlog_f32, u);
    ts_operand gone = emit2(l, TS_OP_vsub_f32, u, f32_number(1));
    ts_operand ratio = emit2(l, TS_OP_vmul_f32, x, emit1(l, TS_OP_vrcp_f32, gone));
    ts_operand tiny = emit2(l, TS_OP_vcmp_eq_f32, u, f32_number(1));
    ts_operand large = emit2(l, TS_OP_vcmp_ge_f32, u, f32_number(1e30));
    ts_operand y = emit_select(l, large, log, emit2(l, TS_OP_vmul_f32, log, ratio));
    ts_operand least = emit2(l, TS_OP_vcmp_eq_f32, u, f32_number(0));
    return give(out, emit_select(l, tiny, x, emit_select(l, least, log, y)));
}

bool words_tan(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand inverse = emit1(l, TS_OP_vrcp_f32, emit1(l, TS_OP_vcos_f32, in[0]));
    return give(out, emit2(l, TS_OP_vmul_f32, emit1(l, TS_OP_vsin_f32, in[0]), inverse));
}

/* exp(y log |x|); below 0 an odd y keeps the sign, and one that is no integer gives NaN; 1 where y is 0. */
bool words_powf(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand x = in_vreg(l, in[0]), y = in_vreg(l, in[1]), zero = f32_number(0);
    ts_operand log = emit1(l, TS_OP_vlog_f32, emit1(l, TS_OP_vabs_f32, x));
    ts_operand p = emit1(l, TS_OP_vexp_f32, emit2(l, TS_OP_vmul_f32, y, log));
    ts_operand half = emit2(l, TS_OP_vmul_f32, y, f32_number(0.5));
    ts_operand whole = emit2(l, TS_OP_vcmp_eq_f32, y, emit1(l, TS_OP_vfloor_f32, y));
    ts_operand odd = emit2(l, TS_OP_vcmp_ne_f32, half, emit1(l, TS_OP_vfloor_f32, half));
    ts_operand below = emit2(l, TS_OP_vcmp_lt_f32, x, zero);
    ts_operand negates = emit2(l, TS_OP_mand, emit2(l, TS_OP_mand, below, whole), odd);
    p = emit_select(l, negates, negated(l, p), p);
    ts_operand none = emit2(l, TS_OP_mand, below, emit1(l, TS_OP_mnot, whole));
    p = emit_select(l, none, in_vreg(l, ts_integer(0x7fc00000)), p);
    ts_operand still = emit2(l, TS_OP_vcmp_eq_f32, y, zero);
    return give(out, emit_select(l, still, in_vreg(l, f32_number(1)), p));
}

/* The highest power's factor first. */
static ts_operand polynomial(lowering *l, ts_operand x, const double *factors, int count) {
    ts_operand sum = in_vreg(l, f32_number(factors[0]));
    for (int i = 1; i < count; i++)
        sum = emit2(l, TS_OP_vadd_f32, emit2(l, TS_OP_vmul_f32, sum, x), f32_number(factors[i]));
    return sum;
}

static ts_operand within(lowering *l, ts_operand x, double most) {
    x = emit2(l, TS_OP_vmin_f32, x, f32_number(most));
    return emit2(l, TS_OP_vmax_f32, x, f32_number(-most));
}

/* A quotient of two polynomials up to where it is 1, as XLA and Eigen have it (XLA's math.cc, ErfImpl32). */
bool words_erf(lowering *l, const ts_operand *in, ts_operand *out) {
    static const double above[] = {0.00022905065861350646, 0.0034082910107109506, 0.050955695062380861,
                                   0.18520832239976145, 1.128379143519084},
                        below[] = {-1.1791602954361697e-7,
                                   0.000023547966471313185,
                                   0.0010179625278914885,
                                   0.014070470171167667,
                                   0.11098505178285362,
                                   0.49746925110067538,
                                   1};
    ts_operand x = within(l, in_vreg(l, in[0]), 3.832506856900711), square = emit2(l, TS_OP_vmul_f32, x, x);
    ts_operand y = emit2(l, TS_OP_vmul_f32, x, polynomial(l, square, above, 5));
    y = emit2(l, TS_OP_vmul_f32, y, emit1(l, TS_OP_vrcp_f32, polynomial(l, square, below, 7)));
    return give(out, within(l, y, 1)); /* which rounding may exceed */
}

/* Of 0 to 1: from tan(pi/8) on pi/4 more than that of (x - 1) / (x + 1) (Cephes, atanf). */
static ts_operand atan_of(lowering *l, ts_operand x) {
    static const double factors[] = {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1,
                                     -3.33329491539e-1};
    ts_operand zero = in_vreg(l, f32_number(0)), one = f32_number(1);
    ts_operand large = emit2(l, TS_OP_vcmp_gt_f32, x, f32_number(0.414213562373095));
    ts_operand inverse = emit1(l, TS_OP_vrcp_f32, emit2(l, TS_OP_vadd_f32, x, one));
    ts_operand turned = emit2(l, TS_OP_vmul_f32, emit2(l, TS_OP_vsub_f32, x, one), inverse);
    ts_operand t = emit_select(l, large, turned, x), square = emit2(l, TS_OP_vmul_f32, t, t);
    ts_operand more = emit2(l, TS_OP_vmul_f32, polynomial(l, square, factors, 4), square);
    t = emit2(l, TS_OP_vadd_f32, t, emit2(l, TS_OP_vmul_f32, more, t));
    ts_operand up = emit_select(l, large, in_vreg(l, f32_number(0.785398163397448)), zero);
    return emit2(l, TS_OP_vadd_f32, t, up);
}

/* The smaller magnitude over the larger, of two zeros 0, of two infinities 1. Small ones are scaled: 1 over a
 * subnormal number may be infinite. */
static ts_operand quotient_of(lowering *l, ts_operand tall, ts_operand wide) {
    ts_operand high = emit2(l, TS_OP_vmax_f32, tall, wide), low = emit2(l, TS_OP_vmin_f32, tall, wide);
    ts_operand zero = in_vreg(l, f32_number(0)), one = in_vreg(l, f32_number(1));
    ts_operand even = emit2(l, TS_OP_vcmp_eq_f32, low, high), none = emit2(l, TS_OP_vcmp_eq_f32, high, zero);
    ts_operand small = emit2(l, TS_OP_vcmp_lt_f32, high, one);
    ts_operand scale = emit_select(l, small, in_vreg(l, f32_number(0x1p64)), one);
    ts_operand inverse = emit1(l, TS_OP_vrcp_f32, emit2(l, TS_OP_vmul_f32, high, scale));
    ts_operand t = emit2(l, TS_OP_vmul_f32, emit2(l, TS_OP_vmul_f32, low, scale), inverse);
    return emit_select(l, none, zero, emit_select(l, even, one, t));
}

/* y, x: the angle of the smaller magnitude over the larger, turned into its octant. */
bool words_atan2(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand y = in_vreg(l, in[0]), x = in_vreg(l, in[1]);
    ts_operand tall = emit1(l, TS_OP_vabs_f32, y), wide = emit1(l, TS_OP_vabs_f32, x);
    ts_operand t = atan_of(l, quotient_of(l, tall, wide));
    ts_operand steep = emit2(l, TS_OP_vcmp_gt_f32, tall, wide);
    ts_operand quarter = in_vreg(l, f32_number(1.570796326794897)),
               half = in_vreg(l, f32_number(3.141592653589793));
    t = emit_select(l, steep, emit2(l, TS_OP_vsub_f32, quarter, t), t);
    ts_operand left = emit2(l, TS_OP_vcmp_lt_i32, x, ts_integer(0)); /* -0, too */
    t = emit_select(l, left, emit2(l, TS_OP_vsub_f32, half, t), t);
    return give(out, with_sign(l, t, y));
}

/* All bits of the exponent. */
bool words_weird(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand size = emit2(l, TS_OP_vand_i32, in[0], ts_integer(INT32_MAX));
    return give(out, emit2(l, TS_OP_vcmp_ge_i32, size, ts_integer(0x7f800000)));
}

/* What is left to be converted toward 0. */
static ts_operand rounded(lowering *l, ts_operand x) {
    const mlir_attribute *a = mlir_find(l->op, "rounding_mode");
    bool nearest = a && ts_span_is(a->value, "#tpu.rounding_mode<to_nearest_even>");
    return nearest ? emit1(l, TS_OP_vround_f32, x) : x;
}

bool words_fptosi(lowering *l, const ts_operand *in, ts_operand *out) {
    return give(out, emit1(l, TS_OP_vcvt_i32_f32, rounded(l, in[0])));
}

/* Without sign: halves of 16 bits, so that one sum is rounded. */
bool words_uitofp(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand x = in_vreg(l, in[0]);
    ts_operand high = emit1(l, TS_OP_vcvt_f32_i32, emit2(l, TS_OP_vshr_u32, x, ts_integer(16)));
    ts_operand low = emit1(l, TS_OP_vcvt_f32_i32, emit2(l, TS_OP_vand_i32, x, ts_integer(0xffff)));
    return give(out, emit2(l, TS_OP_vadd_f32, emit2(l, TS_OP_vmul_f32, high, f32_number(65536)), low));
}

/* The nearest of what is beyond; from 2^31 on less that, whose bit is put back. */
bool words_fptoui(lowering *l, const ts_operand *in, ts_operand *out) {
    int bits = result_type(l, 0)->bits;
    ts_operand x = emit2(l, TS_OP_vmax_f32, rounded(l, in_vreg(l, in[0])), f32_number(0));
    if (bits < 32) {
        x = emit2(l, TS_OP_vmin_f32, x, f32_number((double)((1 << bits) - 1)));
        return give(out, emit1(l, TS_OP_vcvt_i32_f32, x));
    }
    ts_operand large = emit2(l, TS_OP_vcmp_ge_f32, x, f32_number(0x1p31));
    ts_operand rest = emit1(l, TS_OP_vcvt_i32_f32, emit2(l, TS_OP_vsub_f32, x, f32_number(0x1p31)));
    return give(out, emit_select(l, large, sign_flipped(l, rest), emit1(l, TS_OP_vcvt_i32_f32, x)));
}

/* Of the bits of the type alone. */
bool words_ctlz(lowering *l, const ts_operand *in, ts_operand *out) {
    ts_operand zeros = emit1(l, TS_OP_vclz_u32, in[0]);
    int above = 32 - type_at(l, 0)->bits;
    return give(out, above > 0 ? emit2(l, TS_OP_vsub_i32, zeros, ts_integer(above)) : zeros);
}

/* What is wider or narrower is changed on the way to and from words. */
bool words_same(lowering *l, const ts_operand *in, ts_operand *out) {
    const mlir_attribute *a = mlir_find(l->op, "rounding_mode");
    if (a && !ts_span_is(a->value, "#tpu.rounding_mode<to_nearest_even>"))
        return refuse(l, "of this rounding");
    return give(out, in[0]);
}
