/* The two sides of a product in one type that the matrix unit has. */
#include "convert.h"
#include "matmul.h"

/* By precedence of what may hold the others: a side's own type is kept where both have it. */
static const struct {
    ts_dtype dtype;
    mlir_kind element;
    int bits;
    ts_mxu_type unit;
} kinds[] = {
    {TS_DTYPE_F32, MLIR_FLOAT, 32, TS_MXU_F32},   {TS_DTYPE_BF16, MLIR_FLOAT, 16, TS_MXU_BF16},
    {TS_DTYPE_F8E5M2, MLIR_FLOAT, 8, TS_MXU_FP8}, {TS_DTYPE_F8E4M3FN, MLIR_FLOAT, 8, TS_MXU_FP8},
    {TS_DTYPE_F8E4M3B11FNUZ, MLIR_FLOAT, 8, 0},   {TS_DTYPE_S8, MLIR_INTEGER, 8, TS_MXU_INT8},
    {TS_DTYPE_S4, MLIR_INTEGER, 4, TS_MXU_INT4},
};
enum { KIND_F32, KIND_BF16, KIND_B11 = 4, KIND_S8, KIND_COUNT = 7 }; /* no unit takes B11 itself */

static int find_kind(const mlir_type *type) {
    for (int i = 0; i < KIND_COUNT; i++)
        if (kinds[i].dtype == type->dtype) return i;
    return -1;
}

bool matmul_wants(const lowering *l, const char *name, const char *word) {
    const mlir_attribute *a = mlir_find(l->op, name);
    size_t length = strlen(word);
    for (size_t i = 0; a && i + length <= a->value.length; i++)
        if (memcmp(a->value.text + i, word, length) == 0) return true;
    return false;
}

/* bf16 holds all values of 8 and 4 bits; f32 is rounded to it by the unit anyhow, if no more is asked for. */
static int choose_kind(const lowering *l, const int *sides) {
    const int32_t *rate = l->target->core.mxu.rate;
    if (sides[0] == sides[1] && sides[0] != KIND_B11 && rate[kinds[sides[0]].unit] > 0) return sides[0];
    if (type_at(l, 2)->element == MLIR_INTEGER)
        return rate[TS_MXU_INT8] > 0 && sides[0] >= KIND_S8 && sides[1] >= KIND_S8 ? KIND_S8 : -1;
    return matmul_wants(l, "precision", "fp32") && (sides[0] == KIND_F32 || sides[1] == KIND_F32) ? KIND_F32
                                                                                                  : KIND_BF16;
}

/* ---- From one type to another ---- */

typedef struct {
    const mlir_type *from, *to;
    const value *vregs;
    int64_t rows, columns; /* of the source, in vregs */
} change;

/* Of 8 rows: none behind the end. */
static bool change_words(lowering *l, const change *c, int64_t group, int64_t column, ts_operand *out) {
    int packing = 32 / c->from->bits;
    int64_t row = group / packing;
    if (row >= c->rows) {
        *out = in_vreg(l, ts_integer(0));
        return true;
    }
    packed_values source = {c->from, part_of(c->vregs, (int)(row * c->columns + column)), true, true};
    if (!take_words(l, &source, (int)(group % packing), out)) return false;
    if (c->from->element != c->to->element) *out = emit1(l, TS_OP_vcvt_f32_i32, *out);
    return true;
}

static bool change_vreg(lowering *l, const change *c, int64_t row, int64_t column, ts_operand *out) {
    packed_values to = {.type = c->to, .rows = true};
    int packing = 32 / c->to->bits;
    ts_operand words[PACKING_MOST];
    for (int i = 0; i < packing; i++)
        if (!change_words(l, c, row * packing + i, column, &words[i])) return false;
    if (!put_words(l, words, &to)) return false;
    *out = to.vreg;
    return true;
}

static bool change_side(lowering *l, product_side *side, int kind) {
    mlir_type from = side->type;
    change c = {.from = &from,
                .to = &side->type,
                .vregs = &side->vregs,
                .columns = (from.dims[1] + TS_LANES - 1) / TS_LANES};
    int64_t high = 256 / from.bits, tall = 256 / kinds[kind].bits; /* rows of a vreg */
    side->type.dtype = kinds[kind].dtype;
    side->type.element = kinds[kind].element;
    side->type.bits = kinds[kind].bits;
    c.rows = (from.dims[0] + high - 1) / high;
    int64_t rows = (from.dims[0] + tall - 1) / tall;
    if (from.rank != 2 || rows > MATRIX_VREGS_MAX || c.columns > MATRIX_VREGS_MAX ||
        rows * c.columns > MATRIX_VREGS_MAX ||
        (side->vregs.count != 1 && side->vregs.count != c.rows * c.columns))
        return malformed(l, "as many vregs as the shape has");
    bool same = side->vregs.count == 1 && c.rows * c.columns > 1; /* of one vreg for all */
    int64_t count = same ? 1 : rows * c.columns;
    ts_operand *parts = TS_NEW_ARRAY(l->arena, ts_operand, count + 1);
    for (int64_t i = 0; i < count; i++)
        if (!change_vreg(l, &c, i / c.columns, i % c.columns, &parts[i])) return false;
    side->vregs = value_of_parts(l, parts, (int)count);
    return true;
}

bool matmul_read_sides(lowering *l, product_side *sides) {
    int found[2];
    for (int i = 0; i < 2; i++) {
        sides[i] = (product_side){*value_at(l, i), *type_at(l, i)};
        found[i] = find_kind(&sides[i].type);
        if (sides[i].vregs.kind != VALUE_VECTOR || sides[i].type.kind != MLIR_VECTOR)
            return malformed(l, "vectors");
        if (found[i] < 0)
            return refuse(l, "of such types, expected bf16, f32, f8e5m2, f8e4m3fn, f8e4m3b11fnuz, s8 or s4");
    }
    int kind = choose_kind(l, found);
    if (kind < 0) return refuse(l, "of integers that the matrix unit of this machine does not have");
    for (int i = 0; i < 2; i++) {
        if (found[i] == kind) continue;
        if (matmul_awaits(l, &sides[i].vregs)) matmul_flush(l);
        if (!change_side(l, &sides[i], kind)) return false;
    }
    return true;
}
