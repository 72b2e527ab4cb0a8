/* Operations that move values inside vregs: rotates, gathers, shuffles, transposes. */

#include "convert.h"

static bool is_whole_vreg(const mlir_type *t) {
    return t->rank >= 2 && t->dims[0] == TS_SUBLANES && t->dims[1] == TS_LANES;
}

static ts_operand iota(lowering *l, ts_opcode iota) { return emit_new(l, iota, 0, NULL); }

/* By `by` and `stride` more for each step along the other dim: each word is taken from where it was. */
static ts_operand rotate_by_steps(lowering *l, int64_t dim, ts_operand by, int64_t stride) {
    static const ts_opcode iotas[] = {TS_OP_viota_sublane, TS_OP_viota_lane},
                           gathers[] = {TS_OP_vgather_sublane, TS_OP_vgather_lane};
    ts_operand more = emit2(l, TS_OP_vmul_i32, iota(l, iotas[1 - dim]), ts_integer(stride));
    ts_operand from = emit2(l, TS_OP_vsub_i32, iota(l, iotas[dim]), more);
    from = emit2(l, TS_OP_vsub_i32, from, by.kind == TS_OPERAND_SREG ? in_vreg(l, by) : by);
    return emit2(l, gathers[dim], in_vreg(l, value_at(l, 0)->one), from);
}

bool lower_rotate(lowering *l) {
    const mlir_attribute *fixed = mlir_find(l->op, "amount");
    int64_t dim, amount, stride, along;
    if (!read_integer(l, "dimension", &dim)) return false;
    if (dim < 0 || dim > 1 || !is_vreg(l, 0) || !is_whole_vreg(type_at(l, 0)))
        return refuse(l, "of other than sublanes or lanes");
    ts_operand by = fixed && mlir_integer(fixed->value, &amount) ? ts_integer(amount) : value_at(l, 1)->one;
    if (!fixed && value_at(l, 1)->kind != VALUE_SCALAR) return malformed(l, "an amount");
    if (!mlir_find(l->op, "stride")) {
        return set_vector(l,
                          emit2(l, dim == 1 ? TS_OP_vrot_lane : TS_OP_vrot_sublane, value_at(l, 0)->one, by));
    }
    if (!read_integer(l, "stride", &stride) || !read_integer(l, "stride_dimension", &along)) return false;
    if (along != 1 - dim || stride > INT32_MAX || stride < INT32_MIN)
        return refuse(l, "with a stride along the same dim");
    return set_vector(l, rotate_by_steps(l, dim, by, stride));
}

/* Row i is row `rows[i]`: one of them everywhere, a rotation, or any. */
static ts_operand gather_rows(lowering *l, ts_operand v, const int64_t *rows) {
    bool same = true, rotated = true;
    for (int i = 0; i < TS_SUBLANES; i++) {
        same = same && rows[i] == rows[0];
        rotated = rotated && rows[i] == (rows[0] + i) % TS_SUBLANES;
    }
    if (rotated && rows[0] == 0) return v;
    if (same) return emit2(l, TS_OP_vbcast_sublane, v, ts_integer(rows[0]));
    return rotated ? emit2(l, TS_OP_vrot_sublane, v, ts_integer(TS_SUBLANES - rows[0]))
                   : emit2(l, TS_OP_vgather_sublane, v, vreg_of_sublanes(l, rows));
}

bool lower_gather(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "indices");
    int64_t rows[TS_SUBLANES], dim;
    int count = a ? mlir_integers(a->value, rows, TS_SUBLANES) : 0;
    if (!read_integer(l, "dimension", &dim) || dim != 0 || count != TS_SUBLANES || !is_vreg(l, 0))
        return refuse(l, "other than of 8 sublanes");
    for (int i = 0; i < TS_SUBLANES; i++)
        if (rows[i] < 0 || rows[i] >= TS_SUBLANES) return malformed(l, "sublanes from 0 to 7");
    return set_vector(l, gather_rows(l, in_vreg(l, value_at(l, 0)->one), rows));
}

bool lower_dynamic_gather(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "dimensions");
    int64_t dim;
    if (!(a && mlir_integers(a->value, &dim, 1) == 1) && !read_integer(l, "dimension", &dim)) return false;
    if (dim < 0 || dim > 1 || !is_vreg(l, 0) || !is_vreg(l, 1) || type_at(l, 0)->bits != 32)
        return refuse(l, "of these operands");
    return set_vector(l, emit2(l, dim == 1 ? TS_OP_vgather_lane : TS_OP_vgather_sublane, value_at(l, 0)->one,
                               value_at(l, 1)->one));
}

/* Row i is row `pattern[i]` of the 16 of both. */
static ts_operand pick_rows(lowering *l, const int64_t *pattern) {
    ts_operand sides[2], from[2];
    int64_t rows[2][TS_SUBLANES], high = 0;
    for (int i = 0; i < TS_SUBLANES; i++) {
        for (int side = 0; side < 2; side++) rows[side][i] = pattern[i] % TS_SUBLANES;
        high |= (int64_t)(pattern[i] >= TS_SUBLANES) << i;
    }
    for (int side = 0; side < 2; side++) {
        sides[side] = in_vreg(l, value_at(l, side)->one);
        if (side == 0 ? high == 0xff : high == 0) continue;
        from[side] = gather_rows(l, sides[side], rows[side]);
    }
    if (high == 0 || high == 0xff) return from[high != 0];
    ts_operand sublane = iota(l, TS_OP_viota_sublane), of_high = ts_integer((int32_t)high);
    ts_operand bit = emit2(l, TS_OP_vshr_u32, in_vreg(l, of_high), sublane);
    ts_operand mask =
        emit2(l, TS_OP_vcmp_ne_i32, emit2(l, TS_OP_vand_i32, bit, ts_integer(1)), ts_integer(0));
    return emit_select(l, mask, from[1], from[0]);
}

bool lower_sublane_shuffle(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "pattern");
    int64_t pattern[TS_SUBLANES];
    if (!a || mlir_integers(a->value, pattern, TS_SUBLANES) != TS_SUBLANES || !is_vreg(l, 0) ||
        !is_vreg(l, 1))
        return malformed(l, "two vregs and a sublane for each");
    for (int i = 0; i < TS_SUBLANES; i++)
        if (pattern[i] < 0 || pattern[i] >= 2 * TS_SUBLANES) return malformed(l, "sublanes from 0 to 15");
    return set_vector(l, pick_rows(l, pattern));
}

/* Sublane i is what stands in lane `lane + i`; where there is no such lane, anything. */
bool lower_broadcast_in_sublanes(lowering *l) {
    int64_t lane;
    if (!read_integer(l, "lane", &lane)) return false;
    if (!is_vreg(l, 0) || type_at(l, 0)->bits != 32 || lane <= -TS_SUBLANES || lane >= TS_LANES)
        return refuse(l, "of packed values");
    ts_operand from = emit2(l, TS_OP_vadd_i32, iota(l, TS_OP_viota_sublane), ts_integer(lane));
    return set_vector(l, emit2(l, TS_OP_vgather_lane, in_vreg(l, value_at(l, 0)->one), from));
}

/* ---- Transposes ---- */

typedef struct {
    const value *from;
    ts_operand *to;
    int64_t rows, columns; /* of blocks of 128 x 128 */
    int vregs;             /* of 128 rows */
    ts_opcode push;
    int bits;
} transposition;

enum { EDGE_MAX = 1 << 14 };

/* 8 and 4 bits go through the unit as 16, floats as the bits that they are. */
static bool push_vreg(lowering *l, const transposition *t, ts_operand v) {
    const mlir_type narrow = {.kind = MLIR_VECTOR, .element = MLIR_INTEGER, .bits = t->bits};
    packed_values rows = {&narrow, v, true, true};
    ts_operand words[2], half;
    if (t->bits >= 16) emit(l, t->push, 1, &v);
    for (int i = 0; i < 16 / t->bits && t->bits < 16; i++) {
        if (!take_words(l, &rows, 2 * i, &words[0]) || !take_words(l, &rows, 2 * i + 1, &words[1]))
            return false;
        half = emit2(l, TS_OP_vpack_rows_b16, words[0], words[1]);
        emit(l, t->push, 1, &half);
    }
    return true;
}

static ts_operand pop_vreg(lowering *l, const transposition *t) {
    int bits = t->bits < 16 ? t->bits : 16;
    ts_operand parts[4];
    for (int i = 0; i < 16 / bits; i++) parts[i] = emit_new(l, TS_OP_vtr_pop, 0, NULL);
    for (int i = 0; i < 8 / bits; i++)
        parts[i] = emit2(l, TS_OP_vpack_rows_b8, parts[2 * i], parts[2 * i + 1]);
    return bits == 4 ? emit2(l, TS_OP_vpack_rows_b4, parts[0], parts[1]) : parts[0];
}

static bool transpose_block(lowering *l, const transposition *t, int64_t row, int64_t column) {
    for (int i = 0; i < t->vregs; i++) {
        int64_t at = (row * t->vregs + i) * t->columns + column;
        if (!push_vreg(l, t, in_vreg(l, part_of(t->from, (int)at)))) return false;
    }
    for (int i = 0; i < t->vregs; i++) t->to[(column * t->vregs + i) * t->rows + row] = pop_vreg(l, t);
    return true;
}

/* The rows become the columns, block by block. */
bool lower_transpose(lowering *l) {
    const mlir_type *type = type_at(l, 0);
    const value *v = value_at(l, 0);
    int packing = type->bits > 0 ? 32 / type->bits : 0;
    if (type->rank != 2 || type->dims[0] % TS_LANES != 0 || type->dims[1] % TS_LANES != 0 ||
        (packing != 1 && packing != 2 && packing != 4 && packing != 8))
        return refuse(l, "other than of blocks of 128 x 128 of 32, 16, 8 or 4 bits");
    if (type->dims[0] > EDGE_MAX || type->dims[1] > EDGE_MAX)
        return refuse(l, "of over 16,384 rows or columns");
    int64_t count = type->dims[0] / TS_SUBLANES / packing * (type->dims[1] / TS_LANES);
    if (v->kind != VALUE_VECTOR || (v->count != count && v->count != 1) || count < 1)
        return malformed(l, "as many vregs as the shape has");
    transposition t = {.from = v,
                       .rows = type->dims[0] / TS_LANES,
                       .columns = type->dims[1] / TS_LANES,
                       .vregs = TS_LANES / TS_SUBLANES / packing,
                       .bits = type->bits,
                       .push = packing == 1 ? TS_OP_vtr_push_b32 : TS_OP_vtr_push_b16};
    t.to = TS_NEW_ARRAY(l->arena, ts_operand, count + 1);
    for (int64_t i = 0; i < t.rows; i++) {
        for (int64_t k = 0; k < t.columns; k++)
            if (!transpose_block(l, &t, i, k)) return false;
    }
    return set_result(l, 0, value_of_parts(l, t.to, (int)count));
}

/* The first word of a vreg as a scalar. */
bool lower_vreg_extract(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "static_position");
    int64_t at[4];
    int count = a ? mlir_integers(a->value, at, 4) : 0;
    if (!is_vreg(l, 0) || type_at(l, 0)->bits != 32 || l->op->operand_count != 1 || count < 1)
        return refuse(l, "of these operands");
    for (int i = 0; i < count; i++)
        if (at[i] != 0) return refuse(l, "other than of the first element");
    return set_scalar(l, emit1(l, TS_OP_v2s, value_at(l, 0)->one));
}
