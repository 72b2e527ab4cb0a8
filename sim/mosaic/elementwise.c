/* Operations of single elements, on scalars and on vregs: one row each. */
#include <string.h>

#include "base/number.h"

#include "lower.h"

/* TS_OP_nop: not on that type. Of a mask: of two masks. */
typedef struct {
    const char *name;
    ts_opcode scalar, f32, bf16, i32, mask;
} binary_row;

static const binary_row binaries[] = {
    {"arith.addf", TS_OP_nop, TS_OP_vadd_f32, TS_OP_vadd_bf16, TS_OP_nop, TS_OP_nop},
    {"arith.subf", TS_OP_nop, TS_OP_vsub_f32, TS_OP_vsub_bf16, TS_OP_nop, TS_OP_nop},
    {"arith.mulf", TS_OP_nop, TS_OP_vmul_f32, TS_OP_vmul_bf16, TS_OP_nop, TS_OP_nop},
    {"arith.maximumf", TS_OP_nop, TS_OP_vmax_f32, TS_OP_vmax_bf16, TS_OP_nop, TS_OP_nop},
    {"arith.minimumf", TS_OP_nop, TS_OP_vmin_f32, TS_OP_vmin_bf16, TS_OP_nop, TS_OP_nop},
    {"arith.addi", TS_OP_sadd, TS_OP_nop, TS_OP_nop, TS_OP_vadd_i32, TS_OP_nop},
    {"arith.subi", TS_OP_ssub, TS_OP_nop, TS_OP_nop, TS_OP_vsub_i32, TS_OP_nop},
    {"arith.muli", TS_OP_smul, TS_OP_nop, TS_OP_nop, TS_OP_vmul_i32, TS_OP_nop},
    {"arith.maxsi", TS_OP_smax, TS_OP_nop, TS_OP_nop, TS_OP_vmax_i32, TS_OP_nop},
    {"arith.minsi", TS_OP_smin, TS_OP_nop, TS_OP_nop, TS_OP_vmin_i32, TS_OP_nop},
    {"arith.andi", TS_OP_sand, TS_OP_nop, TS_OP_nop, TS_OP_vand_i32, TS_OP_mand},
    {"arith.ori", TS_OP_sor, TS_OP_nop, TS_OP_nop, TS_OP_vor_i32, TS_OP_mor},
    {"arith.xori", TS_OP_sxor, TS_OP_nop, TS_OP_nop, TS_OP_vxor_i32, TS_OP_mxor},
    {"arith.shli", TS_OP_sshl, TS_OP_nop, TS_OP_nop, TS_OP_vshl_i32, TS_OP_nop},
    {"arith.shrsi", TS_OP_ssra, TS_OP_nop, TS_OP_nop, TS_OP_vshr_i32, TS_OP_nop},
    {"arith.shrui", TS_OP_sshr, TS_OP_nop, TS_OP_nop, TS_OP_vshr_u32, TS_OP_nop},
};

typedef struct {
    const char *name;
    ts_opcode f32, bf16, i32;
} unary_row;

static const unary_row unaries[] = {
    {"arith.negf", TS_OP_vneg_f32, TS_OP_vneg_bf16, TS_OP_nop},
    {"math.absf", TS_OP_vabs_f32, TS_OP_vabs_bf16, TS_OP_nop},
    {"math.exp", TS_OP_vexp_f32, TS_OP_vexp_bf16, TS_OP_nop},
    {"math.log", TS_OP_vlog_f32, TS_OP_vlog_bf16, TS_OP_nop},
    {"math.sqrt", TS_OP_vsqrt_f32, TS_OP_nop, TS_OP_nop},
    {"math.rsqrt", TS_OP_vrsqrt_f32, TS_OP_vrsqrt_bf16, TS_OP_nop},
    {"math.tanh", TS_OP_vtanh_f32, TS_OP_vtanh_bf16, TS_OP_nop},
    {"math.sin", TS_OP_vsin_f32, TS_OP_nop, TS_OP_nop},
    {"math.cos", TS_OP_vcos_f32, TS_OP_nop, TS_OP_nop},
    {"math.floor", TS_OP_vfloor_f32, TS_OP_nop, TS_OP_nop},
    {"math.roundeven", TS_OP_vround_f32, TS_OP_nop, TS_OP_nop},
    {"math.ctlz", TS_OP_nop, TS_OP_nop, TS_OP_vclz_u32},
    {"math.ctpop", TS_OP_nop, TS_OP_nop, TS_OP_vpopcount_u32},
    {"tpu.reciprocal", TS_OP_vrcp_f32, TS_OP_vrcp_bf16, TS_OP_nop},
    {"tpu.logistic", TS_OP_vsigmoid_f32, TS_OP_vsigmoid_bf16, TS_OP_nop},
    {"arith.sitofp", TS_OP_nop, TS_OP_nop, TS_OP_vcvt_f32_i32},
    {"tpu.sitofp", TS_OP_nop, TS_OP_nop, TS_OP_vcvt_f32_i32},
    {"arith.fptosi", TS_OP_vcvt_i32_f32, TS_OP_nop, TS_OP_nop},
    {"tpu.fptosi", TS_OP_vcvt_i32_f32, TS_OP_nop, TS_OP_nop},
};

/* Predicates of arith.cmpi: eq ne slt sle sgt sge ult ule ugt uge. Those of numbers without sign are compared with
 * their highest bits turned. */
static const ts_opcode scalar_compares[] = {TS_OP_scmp_eq, TS_OP_scmp_ne, TS_OP_scmp_lt,
                                            TS_OP_scmp_le, TS_OP_scmp_gt, TS_OP_scmp_ge};
static const ts_opcode i32_compares[] = {TS_OP_vcmp_eq_i32, TS_OP_vcmp_ne_i32, TS_OP_vcmp_lt_i32,
                                         TS_OP_vcmp_le_i32, TS_OP_vcmp_gt_i32, TS_OP_vcmp_ge_i32};
/* Predicates of arith.cmpf from 1: oeq ogt oge olt ole one; une is 13. */
static const ts_opcode f32_compares[] = {TS_OP_vcmp_eq_f32, TS_OP_vcmp_gt_f32, TS_OP_vcmp_ge_f32,
                                         TS_OP_vcmp_lt_f32, TS_OP_vcmp_le_f32};
static const ts_opcode bf16_compares[] = {TS_OP_vcmp_eq_bf16, TS_OP_vcmp_gt_bf16, TS_OP_vcmp_ge_bf16,
                                          TS_OP_vcmp_lt_bf16, TS_OP_vcmp_le_bf16};

static bool is_bf16(const mlir_type *t) { return t->element == MLIR_FLOAT && t->bits == 16; }

/* The instruction of the row for a vreg of the type. */
static ts_opcode pick(const lowering *l, const mlir_type *t, ts_opcode f32, ts_opcode bf16, ts_opcode i32) {
    if (t->element == MLIR_FLOAT) {
        return t->bits == 32 ? f32 : is_bf16(t) && l->target->core.limits.bf16 ? bf16 : TS_OP_nop;
    }
    bool bitwise = i32 == TS_OP_vand_i32 || i32 == TS_OP_vor_i32 || i32 == TS_OP_vxor_i32;
    return t->bits == 32 || bitwise ? i32 : TS_OP_nop;
}

static bool commutes(ts_opcode opcode) {
    return opcode != TS_OP_vsub_f32 && opcode != TS_OP_vsub_i32 && opcode != TS_OP_vsub_bf16 &&
           opcode != TS_OP_vshl_i32 && opcode != TS_OP_vshr_i32 && opcode != TS_OP_vshr_u32;
}

static bool lower_binary(lowering *l, const binary_row *row) {
    const mlir_type *type = type_at(l, 0);
    const value *a = value_at(l, 0), *b = value_at(l, 1);
    if (a->kind != b->kind || a->count != 1 || b->count != 1) {
        return refuse(l, "of these operands");
    }
    if (a->kind == VALUE_SCALAR) {
        return row->scalar == TS_OP_nop || type->bits > 32
                   ? refuse(l, "of such scalars")
                   : set_scalar(l, scalar2(l, row->scalar, a->one, b->one));
    }
    ts_opcode opcode = is_mask_type(type) ? row->mask : pick(l, type, row->f32, row->bf16, row->i32);
    if (opcode == TS_OP_nop) {
        return refuse(l, "of such vectors");
    }
    ts_operand x = a->one, y = b->one;
    if (is_number(x) && !is_number(y) && commutes(opcode)) {
        x = b->one;
        y = a->one;
    }
    if (is_bf16(type)) y = in_vreg(l, y);
    return set_vector(l, emit2(l, opcode, x, y));
}

static bool lower_unary(lowering *l, const unary_row *row) {
    const value *a = value_at(l, 0);
    if (a->kind != VALUE_VECTOR || a->count != 1) {
        return refuse(l, "of such an operand");
    }
    ts_opcode opcode = pick(l, type_at(l, 0), row->f32, row->bf16, row->i32);
    if (opcode == TS_OP_nop || result_type(l, 0)->bits != type_at(l, 0)->bits) {
        return refuse(l, "of such vectors");
    }
    return set_vector(l, emit1(l, opcode, a->one));
}

/* ---- Those of more than one instruction ---- */

static bool attribute(lowering *l, const char *name, int64_t *out) {
    const mlir_attribute *a = mlir_find(l->op, name);
    return (a && mlir_integer(a->value, out)) || malformed(l, name);
}

static bool lower_cmpi(lowering *l) {
    const value *a = value_at(l, 0), *b = value_at(l, 1);
    ts_operand x = a->one, y = b->one, top = ts_integer(INT32_MIN);
    int64_t predicate;
    if (!attribute(l, "predicate", &predicate)) {
        return false;
    }
    if (predicate < 0 || predicate > 9 || a->count != 1 || b->count != 1 || type_at(l, 0)->bits > 32) {
        return refuse(l, "of these operands");
    }
    bool vector = a->kind == VALUE_VECTOR, turned = predicate > 5;
    predicate -= turned ? 4 : 0;
    if (!vector) {
        if (turned) x = scalar2(l, TS_OP_sxor, x, top), y = scalar2(l, TS_OP_sxor, y, top);
        return set_scalar(l, scalar2(l, scalar_compares[predicate], x, y));
    }
    if (is_mask_type(type_at(l, 0)) && predicate < 2) {
        ts_operand differ = emit2(l, TS_OP_mxor, x, y);
        return set_vector(l, predicate == 1 ? differ : emit1(l, TS_OP_mnot, differ));
    }
    if (type_at(l, 0)->bits != 32) {
        return refuse(l, "of packed integers");
    }
    if (turned) x = emit2(l, TS_OP_vxor_i32, x, top), y = emit2(l, TS_OP_vxor_i32, y, top);
    return set_vector(l, emit2(l, i32_compares[predicate], x, y));
}

static bool lower_cmpf(lowering *l) {
    const mlir_type *type = type_at(l, 0);
    ts_operand x = value_at(l, 0)->one, y = value_at(l, 1)->one;
    int64_t predicate;
    if (!attribute(l, "predicate", &predicate)) {
        return false;
    }
    if (value_at(l, 0)->kind != VALUE_VECTOR) {
        return refuse(l, "of scalars");
    }
    bool wide = type->bits == 32;
    if (predicate >= 8 && predicate <= 12) {           /* unordered or: not the opposite */
        static const int opposite[] = {0, 5, 4, 3, 2}; /* ueq ugt uge ult ule: of one ole olt oge ogt */
        if (predicate == 8 || !wide) return refuse(l, "of this predicate");
        return set_vector(l, emit1(l, TS_OP_mnot, emit2(l, f32_compares[opposite[predicate - 8] - 1], x, y)));
    }
    ts_opcode opcode = predicate == 13                  ? (wide ? TS_OP_vcmp_ne_f32 : TS_OP_vcmp_ne_bf16)
                       : predicate < 1 || predicate > 5 ? TS_OP_nop
                       : wide                           ? f32_compares[predicate - 1]
                                                        : bf16_compares[predicate - 1];
    if (opcode == TS_OP_nop || (!wide && !l->target->core.limits.bf16)) {
        return refuse(l, "of this predicate or type");
    }
    return set_vector(l, emit2(l, opcode, x, wide ? y : in_vreg(l, y)));
}

static bool lower_select(lowering *l) {
    const value *c = value_at(l, 0), *a = value_at(l, 1), *b = value_at(l, 2);
    ts_operand x = a->one, y = b->one, m = c->one;
    if (a->count != 1 || b->count != 1 || a->kind != b->kind || c->count != 1) {
        return refuse(l, "of these operands");
    }
    if (is_number(m) && c->kind == VALUE_SCALAR) {
        return set_result(l, 0, number_of(m) != 0 ? *a : *b);
    }
    if (a->kind == VALUE_SCALAR) { /* b + c * (a - b) */
        ts_operand d = scalar2(l, TS_OP_smul, scalar2(l, TS_OP_ssub, x, y), m);
        return set_scalar(l, scalar2(l, TS_OP_sadd, d, y));
    }
    if (c->kind == VALUE_SCALAR) {
        m = emit2(l, TS_OP_vcmp_ne_i32, emit1(l, TS_OP_vmov, m), ts_integer(0));
    }
    if (is_mask_type(type_at(l, 1))) {
        ts_operand yes = emit2(l, TS_OP_mand, m, x), no = emit2(l, TS_OP_mand, emit1(l, TS_OP_mnot, m), y);
        return set_vector(l, emit2(l, TS_OP_mor, yes, no));
    }
    return set_vector(l, emit3(l, TS_OP_vsel, m, x, y));
}

static bool lower_divf(lowering *l) {
    ts_operand x = value_at(l, 0)->one, y = value_at(l, 1)->one;
    if (value_at(l, 0)->kind != VALUE_VECTOR || value_at(l, 0)->count != 1) {
        return refuse(l, "of such operands");
    }
    if (type_at(l, 0)->bits != 32) {
        return refuse(l, "of packed floats");
    }
    ts_operand inverse = emit1(l, TS_OP_vrcp_f32, y);
    return set_vector(l, is_number(x) ? emit2(l, TS_OP_vmul_f32, inverse, x)
                                      : emit2(l, TS_OP_vmul_f32, x, inverse));
}

/* Toward zero: floor of a + (b - 1 where a is negative), b > 0. */
static ts_operand divide(lowering *l, ts_operand a, ts_operand b) {
    if (is_number(a) && is_number(b) && number_of(b) != 0) {
        return ts_integer((int32_t)(number_of(a) / number_of(b)));
    }
    ts_operand sign = scalar2(l, TS_OP_ssra, a, ts_integer(31));
    ts_operand up = scalar2(l, TS_OP_sand, sign, scalar2(l, TS_OP_ssub, b, ts_integer(1)));
    return scalar2(l, TS_OP_sdiv, scalar2(l, TS_OP_sadd, a, up), b);
}

static bool lower_division(lowering *l) {
    ts_operand a = value_at(l, 0)->one, b = value_at(l, 1)->one;
    bool rest = memchr(l->op->name.text, 'r', 7) && mlir_is((mlir_span){l->op->name.text, 9}, "arith.rem");
    bool sign = l->op->name.text[l->op->name.length - 2] == 's';
    if (value_at(l, 0)->kind != VALUE_SCALAR) {
        return refuse(l, "of vectors");
    }
    if (is_number(b) && number_of(b) <= 0) {
        return refuse(l, "by a number below 1");
    }
    if (!sign) { /* of what is not negative */
        return set_scalar(l, scalar2(l, rest ? TS_OP_smod : TS_OP_sdiv, a, b));
    }
    ts_operand q = divide(l, a, b);
    return set_scalar(l, rest ? scalar2(l, TS_OP_ssub, a, scalar2(l, TS_OP_smul, q, b)) : q);
}

/* Integers of scalars change their width; masks become integers. */
static bool lower_width(lowering *l) {
    const value *a = value_at(l, 0);
    if (a->kind == VALUE_SCALAR) {
        int from = type_at(l, 0)->bits;
        bool sign = mlir_is(l->op->name, "arith.extsi") && from == 1;
        if (type_at(l, 0)->bits > 32 || result_type(l, 0)->bits > 32) return refuse(l, "of 64 bits");
        if (result_type(l, 0)->bits < 32 && result_type(l, 0)->bits < from) {
            int64_t mask = ((int64_t)1 << result_type(l, 0)->bits) - 1;
            return set_scalar(l, scalar2(l, TS_OP_sand, a->one, ts_integer(mask)));
        }
        return set_scalar(l, sign ? scalar2(l, TS_OP_ssub, ts_integer(0), a->one) : a->one);
    }
    if (is_mask_type(type_at(l, 0)) && result_type(l, 0)->bits == 32) {
        bool sign = mlir_is(l->op->name, "arith.extsi");
        return set_vector(l,
                          emit3(l, TS_OP_vsel, a->one, in_vreg(l, ts_integer(sign ? -1 : 1)), ts_integer(0)));
    }
    if (mlir_is(l->op->name, "arith.trunci") && is_mask_type(result_type(l, 0)) &&
        type_at(l, 0)->bits == 32) {
        ts_operand bit = emit2(l, TS_OP_vand_i32, a->one, ts_integer(1));
        return set_vector(l, emit2(l, TS_OP_vcmp_ne_i32, bit, ts_integer(0)));
    }
    return refuse(l, "of such vectors");
}

/* exp2(x) = exp(x ln 2). */
static bool lower_exp2(lowering *l) {
    if (value_at(l, 0)->kind != VALUE_VECTOR || type_at(l, 0)->bits != 32) return refuse(l, "of this type");
    ts_operand scaled =
        emit2(l, TS_OP_vmul_f32, value_at(l, 0)->one, splat_bits(ts_f32_bits(0.693147180559945f)));
    return set_vector(l, emit1(l, TS_OP_vexp_f32, scaled));
}

static const struct {
    const char *name;
    lower_function *function;
} others[] = {
    {"arith.cmpi", lower_cmpi},          {"arith.cmpf", lower_cmpf},      {"arith.select", lower_select},
    {"arith.divf", lower_divf},          {"arith.divsi", lower_division}, {"arith.divui", lower_division},
    {"arith.remsi", lower_division},     {"arith.remui", lower_division}, {"arith.extui", lower_width},
    {"arith.extsi", lower_width},        {"arith.trunci", lower_width},   {"arith.index_cast", lower_width},
    {"arith.index_castui", lower_width}, {"math.exp2", lower_exp2},
};

bool lower_elementwise(lowering *l, bool *known) {
    *known = true;
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
        if (mlir_is(l->op->name, binaries[i].name)) return lower_binary(l, &binaries[i]);
    }
    for (size_t i = 0; i < sizeof unaries / sizeof unaries[0]; i++) {
        if (mlir_is(l->op->name, unaries[i].name)) return lower_unary(l, &unaries[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (mlir_is(l->op->name, others[i].name)) return others[i].function(l);
    }
    *known = false;
    return false;
}
