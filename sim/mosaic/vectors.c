/* Operations that move values between and inside vregs: constants, packing, masks, reductions, rotates. */
#include <string.h>

#include "lower.h"

static bool integer(lowering *l, const char *name, int64_t *out) {
    const mlir_attribute *a = mlir_find(l->op, name);
    return (a && mlir_integer(a->value, out)) || malformed(l, name);
}

static bool flag(const lowering *l, const char *name) {
    const mlir_attribute *a = mlir_find(l->op, name);
    int64_t on = 0;
    return a && (a->value.length == 0 || (mlir_integer(a->value, &on) && on != 0));
}

static bool attribute_has(const lowering *l, const char *name, const char *word) {
    const mlir_attribute *a = mlir_find(l->op, name);
    size_t length = strlen(word);
    for (size_t i = 0; a && i + length <= a->value.length; i++) {
        if (memcmp(a->value.text + i, word, length) == 0) return true;
    }
    return false;
}

/* One vreg of any type. */
static bool is_vreg(const lowering *l, int operand) {
    const value *v = value_at(l, operand);
    return v->kind == VALUE_VECTOR && v->count == 1;
}

/* ---- Constants ---- */

/* A number of the type in every place of a word. */
static bool splat(lowering *l, mlir_span number, const mlir_type *type, ts_operand *out) {
    uint32_t bits;
    int64_t n;
    if (type->element == MLIR_FLOAT) {
        if (!mlir_float(number, &bits)) return malformed(l, "a number");
        if (type->bits == 16 && type->dtype != TS_DTYPE_BF16) return refuse(l, "of f16");
        if (type->bits < 16) return refuse(l, "of floats of 8 bits");
        *out = splat_bits(type->bits == 16 ? (bits >> 16) * 0x10001u : bits);
        return true;
    }
    if (!mlir_integer(number, &n) || type->bits > 32) return malformed(l, "an integer of at most 32 bits");
    bits = (uint32_t)n;
    if (type->bits > 1 && type->bits < 32) {
        bits &= (1u << type->bits) - 1;
        for (int have = type->bits; have < 32; have *= 2) bits |= bits << have;
    }
    *out = ts_integer(type->bits == 1 ? (n & 1) : (int32_t)bits);
    return true;
}

bool lower_constant(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    const mlir_attribute *a = mlir_find(l->op, "value");
    mlir_span number;
    ts_operand out;
    if (!a) {
        return malformed(l, "value");
    }
    if (type->kind != MLIR_VECTOR) {
        mlir_type narrow = *type;
        if (type->element == MLIR_INTEGER && type->bits > 1)
            narrow.bits = 32; /* a scalar is alone in its word */
        return splat(l, a->value, &narrow, &out) && set_scalar(l, out);
    }
    if (!mlir_splat(a->value, &number)) {
        return refuse(l, "of different values");
    }
    return splat(l, number, type, &out) && set_vector(l, out);
}

bool lower_broadcast(lowering *l) {
    const value *v = value_at(l, 0);
    if (v->kind == VALUE_VECTOR && v->count == 1) {
        return set_vector(l, v->one);
    }
    if (v->kind != VALUE_SCALAR) {
        return refuse(l, "of this operand");
    }
    const mlir_type *type = result_type(l, 0);
    if (is_number(v->one)) {
        return set_vector(l, v->one);
    }
    if (is_mask_type(type)) {
        ts_operand word = emit1(l, TS_OP_vmov, v->one);
        return set_vector(l, emit2(l, TS_OP_vcmp_ne_i32, word, ts_integer(0)));
    }
    return type->bits == 32 ? set_vector(l, emit1(l, TS_OP_vmov, v->one)) : refuse(l, "to packed values");
}

/* ---- Several vregs as one vector ---- */

bool lower_roll(lowering *l) {
    int count = l->op->operand_count;
    ts_operand *parts = TS_NEW_ARRAY(l->arena, ts_operand, count + 1);
    for (int i = 0; i < count; i++) {
        if (!is_vreg(l, i)) {
            return malformed(l, "vregs");
        }
        parts[i] = value_at(l, i)->one;
    }
    return count > 0 ? set_result(l, 0, value_of_parts(l, parts, count)) : malformed(l, "vregs");
}

bool lower_unroll(lowering *l) {
    value v = *value_at(l, 0);
    if (v.kind != VALUE_VECTOR || (v.count != 1 && v.count != l->op->result_count)) {
        return malformed(l, "a vector of as many vregs");
    }
    for (int i = 0; i < l->op->result_count; i++) {
        ts_operand one = part_of(&v, i);
        set_result(l, i, value_of_parts(l, &one, 1));
    }
    return true;
}

bool lower_same(lowering *l) { return set_result(l, 0, *value_at(l, 0)); }

/* ---- Packed values ---- */

static ts_operand pack2(lowering *l, bool rows, bool floats, ts_operand a, ts_operand b) {
    if (floats) {
        return emit2(l, rows ? TS_OP_vpack_rows_bf16 : TS_OP_vpack_bf16, a, b);
    }
    if (rows) {
        return emit2(l, TS_OP_vpack_rows_b16, a, b);
    }
    ts_operand low = emit2(l, TS_OP_vand_i32, a, ts_integer(0xffff));
    return emit2(l, TS_OP_vor_i32, low, emit2(l, TS_OP_vshl_i32, b, ts_integer(16)));
}

/* The sources by their positions; a place that none takes has the first. */
static bool sources_by_position(lowering *l, int places, ts_operand *out) {
    int64_t positions[8];
    const mlir_attribute *a = mlir_find(l->op, "positions");
    int count = a ? mlir_integers(a->value, positions, 8) : 0;
    if (count != l->op->operand_count || count < 1 || count > places) {
        return malformed(l, "a position of each operand");
    }
    for (int i = 0; i < places; i++) out[i] = value_at(l, 0)->one;
    for (int i = 0; i < count; i++) {
        if (positions[i] < 0 || positions[i] >= places || !is_vreg(l, i)) {
            return malformed(l, "vregs and their positions");
        }
        out[positions[i]] = value_at(l, i)->one;
    }
    return true;
}

bool lower_pack(lowering *l) {
    const mlir_type *from = type_at(l, 0), *to = result_type(l, 0);
    bool rows = attribute_has(l, "pack_format", "compressed"), floats = to->element == MLIR_FLOAT;
    ts_operand in[4];
    int places = to->bits > 0 ? from->bits / to->bits : 0;
    if (places != 2 && places != 4) {
        return refuse(l, "of such types");
    }
    if (!sources_by_position(l, places, in)) {
        return false;
    }
    if (floats && (from->dtype != TS_DTYPE_F32 || to->dtype != TS_DTYPE_BF16)) {
        return refuse(l, "of such types");
    }
    if (from->bits == 32 && places == 2) {
        return set_vector(l, pack2(l, rows, floats, in[0], in[1]));
    }
    if (!rows || floats || to->bits != 8) {
        return refuse(l, "of such types in this format");
    }
    if (places == 2) {
        return set_vector(l, emit2(l, TS_OP_vpack_rows_b8, in[0], in[1]));
    }
    ts_operand low = pack2(l, true, false, in[0], in[1]), high = pack2(l, true, false, in[2], in[3]);
    return set_vector(l, emit2(l, TS_OP_vpack_rows_b8, low, high));
}

bool lower_unpack(lowering *l) {
    static const struct {
        int bits;
        ts_opcode rows[2], words[2]; /* without sign, with it */
    } table[] = {
        {16, {TS_OP_vunpack_rows_u16, TS_OP_vunpack_rows_i16}, {TS_OP_vunpack_u16, TS_OP_vunpack_i16}},
        {8, {TS_OP_vunpack_rows_u8, TS_OP_vunpack_rows_i8}, {TS_OP_vunpack_u8, TS_OP_vunpack_i8}},
        {4, {TS_OP_vunpack_rows_u4, TS_OP_vunpack_rows_i4}, {TS_OP_vunpack_u4, TS_OP_vunpack_i4}}};
    const mlir_type *from = type_at(l, 0), *to = result_type(l, 0);
    bool rows = attribute_has(l, "pack_format", "compressed");
    const mlir_attribute *extended = mlir_find(l->op, "sign_extended");
    int sign = !extended || flag(l, "sign_extended");
    int64_t index;
    if (!integer(l, "index", &index) || !is_vreg(l, 0)) {
        return malformed(l, "a vreg and an index");
    }
    ts_operand a = value_at(l, 0)->one, n = ts_integer(index);
    if (from->element == MLIR_FLOAT) {
        if (from->dtype != TS_DTYPE_BF16 || to->dtype != TS_DTYPE_F32) return refuse(l, "of such types");
        return set_vector(l, rows         ? emit2(l, TS_OP_vunpack_rows_bf16, a, n)
                             : index == 0 ? emit1(l, TS_OP_vunpack_lo_bf16, a)
                                          : emit1(l, TS_OP_vunpack_hi_bf16, a));
    }
    for (int i = 0; i < 3 && to->bits == 32; i++) {
        if (table[i].bits == from->bits) {
            return set_vector(l, emit2(l, rows ? table[i].rows[sign] : table[i].words[sign], a, n));
        }
    }
    return refuse(l, "of such types");
}

/* ---- Places and masks ---- */

bool lower_iota(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "dimensions");
    int64_t dims[2], dim;
    int count = a ? mlir_integers(a->value, dims, 2) : 0;
    if (count == 0 && (a = mlir_find(l->op, "dimension")) && mlir_integer(a->value, &dim)) {
        dims[0] = dim;
        count = 1;
    }
    if (count == 2 && dims[0] == 0 && dims[1] == 1 &&
        result_type(l, 0)->bits == 32) { /* as if they were one */
        ts_operand rows = emit_new(l, TS_OP_viota_sublane, 0, NULL);
        rows = emit2(l, TS_OP_vshl_i32, rows, ts_integer(7));
        return set_vector(l, emit2(l, TS_OP_vadd_i32, rows, emit_new(l, TS_OP_viota_lane, 0, NULL)));
    }
    if (count != 1 || dims[0] < 0 || dims[0] > 1 || result_type(l, 0)->bits != 32 ||
        result_type(l, 0)->rank != 2) {
        return refuse(l, "of these dims");
    }
    return set_vector(l, emit_new(l, dims[0] == 1 ? TS_OP_viota_lane : TS_OP_viota_sublane, 0, NULL));
}

/* Those below `high` and not below `low`. */
static ts_operand between(lowering *l, ts_opcode opcode, ts_operand low, ts_operand high, int64_t all) {
    bool from_0 = is_number(low) && number_of(low) <= 0, to_end = is_number(high) && number_of(high) >= all;
    if (from_0 && to_end) {
        return ts_integer(1);
    }
    ts_operand below = to_end ? ts_integer(1) : emit1(l, opcode, high);
    if (from_0) {
        return below;
    }
    ts_operand not_low = emit1(l, TS_OP_mnot, emit1(l, opcode, low));
    return to_end ? not_low : emit2(l, TS_OP_mand, below, not_low);
}

bool lower_mask(lowering *l) {
    int rank = l->op->operand_count / 2;
    if (rank < 2 || result_type(l, 0)->rank != rank || rank > 2) {
        return refuse(l, "of this shape");
    }
    ts_operand rows = between(l, TS_OP_msubs, value_at(l, 0)->one, value_at(l, 2)->one, TS_SUBLANES);
    ts_operand lanes = between(l, TS_OP_mlanes, value_at(l, 1)->one, value_at(l, 3)->one, TS_LANES);
    if (is_number(rows) || is_number(lanes)) {
        return set_vector(l, is_number(rows) ? lanes : rows);
    }
    return set_vector(l, emit2(l, TS_OP_mand, rows, lanes));
}

/* Rows from `from` to `to` of those that are packed in the sublanes. */
bool lower_subelement_mask(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    int64_t from, to, packing = type->rank == 3 ? type->dims[2] : 1;
    if (!integer(l, "from", &from) || !integer(l, "to", &to)) {
        return false;
    }
    if (from % packing != 0 || to % packing != 0) {
        return refuse(l, "of a part of a word");
    }
    return set_vector(
        l, between(l, TS_OP_msubs, ts_integer(from / packing), ts_integer(to / packing), TS_SUBLANES));
}

bool lower_pack_masks(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    if (l->op->operand_count != 2 || type->rank != 3 || type->dims[2] != 2 || type_at(l, 0)->rank != 2) {
        return refuse(l, "of these shapes");
    }
    return set_vector(l, emit2(l, TS_OP_mpack_rows_b16, value_at(l, 0)->one, value_at(l, 1)->one));
}

/* ---- Across lanes and sublanes ---- */

bool lower_reduce(lowering *l) {
    static const struct {
        const char *kind;
        ts_opcode f32[2], i32[2];
    } table[] = {
        {"sum", {TS_OP_vsum_sublane_f32, TS_OP_vsum_lane_f32}, {TS_OP_vsum_sublane_i32, TS_OP_vsum_lane_i32}},
        {"max", {TS_OP_vmax_sublane_f32, TS_OP_vmax_lane_f32}, {TS_OP_vmax_sublane_i32, TS_OP_vmax_lane_i32}},
        {"min",
         {TS_OP_vmin_sublane_f32, TS_OP_vmin_lane_f32},
         {TS_OP_vmin_sublane_i32, TS_OP_vmin_lane_i32}}};
    int64_t dim;
    if (!integer(l, "dim", &dim)) {
        return false;
    }
    if (type_at(l, 0)->bits != 32 || dim < 0 || dim > 1 || !is_vreg(l, 0)) {
        return refuse(l, "of this type");
    }
    for (int i = 0; i < 3; i++) {
        if (attribute_has(l, "kind", table[i].kind)) {
            const ts_opcode *row = type_at(l, 0)->element == MLIR_FLOAT ? table[i].f32 : table[i].i32;
            return set_vector(l, emit1(l, row[dim], value_at(l, 0)->one));
        }
    }
    return refuse(l, "of this kind");
}

bool lower_rotate(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "dimension"), *fixed = mlir_find(l->op, "amount");
    int64_t dim, amount;
    if (!a || !mlir_integer(a->value, &dim)) {
        return malformed(l, "dimension");
    }
    if (mlir_find(l->op, "stride") || dim < 0 || dim > 1 || !is_vreg(l, 0) || type_at(l, 0)->rank != 2) {
        return refuse(l, "with a stride or of packed values");
    }
    ts_operand by = fixed && mlir_integer(fixed->value, &amount) ? ts_integer(amount) : value_at(l, 1)->one;
    return set_vector(l, emit2(l, dim == 1 ? TS_OP_vrot_lane : TS_OP_vrot_sublane, value_at(l, 0)->one, by));
}

/* A row of sublane numbers as a vreg. */
static ts_operand index_vreg(lowering *l, const int64_t *indices, ts_opcode iota, int count) {
    ts_operand place = emit_new(l, iota, 0, NULL), out = in_vreg(l, ts_integer(indices[0]));
    for (int i = 1; i < count; i++) {
        if (indices[i] == indices[0]) continue;
        ts_operand here = emit2(l, TS_OP_vcmp_eq_i32, place, ts_integer(i));
        out = emit3(l, TS_OP_vsel, here, in_vreg(l, ts_integer(indices[i])), out);
    }
    return out;
}

bool lower_gather(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "indices");
    int64_t indices[TS_SUBLANES], dim, step = 0;
    int count = a ? mlir_integers(a->value, indices, TS_SUBLANES) : 0;
    if (!integer(l, "dimension", &dim) || dim != 0 || count != TS_SUBLANES || !is_vreg(l, 0)) {
        return refuse(l, "other than of 8 sublanes");
    }
    bool same = true, rotated = true;
    for (int i = 0; i < count; i++) {
        step = (indices[0] + i) % TS_SUBLANES;
        same = same && indices[i] == indices[0];
        rotated = rotated && indices[i] == step;
    }
    ts_operand v = value_at(l, 0)->one;
    if (same) return set_vector(l, emit2(l, TS_OP_vbcast_sublane, v, ts_integer(indices[0])));
    if (rotated) return set_vector(l, emit2(l, TS_OP_vrot_sublane, v, ts_integer(TS_SUBLANES - indices[0])));
    ts_operand from = index_vreg(l, indices, TS_OP_viota_sublane, count);
    return set_vector(l, emit2(l, TS_OP_vgather_sublane, v, from));
}

bool lower_dynamic_gather(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "dimensions");
    int64_t dim;
    if (!(a && mlir_integers(a->value, &dim, 1) == 1) && !integer(l, "dimension", &dim)) {
        return false;
    }
    if (dim < 0 || dim > 1 || !is_vreg(l, 0) || !is_vreg(l, 1) || type_at(l, 0)->bits != 32) {
        return refuse(l, "of these operands");
    }
    return set_vector(l, emit2(l, dim == 1 ? TS_OP_vgather_lane : TS_OP_vgather_sublane, value_at(l, 0)->one,
                               value_at(l, 1)->one));
}

/* The rows of 128 x 128 words become its columns. */
bool lower_transpose(lowering *l) {
    const mlir_type *type = type_at(l, 0);
    value v = *value_at(l, 0);
    enum { VREGS = TS_LANES / TS_SUBLANES };
    if (type->bits != 32 || type->rank != 2 || type->dims[0] != TS_LANES || type->dims[1] != TS_LANES ||
        v.count != VREGS) {
        return refuse(l, "other than of 128 x 128 words");
    }
    ts_operand out[VREGS];
    for (int i = 0; i < VREGS; i++) {
        ts_operand row = in_vreg(l, part_of(&v, i));
        emit(l, TS_OP_vtr_push_b32, 1, &row);
    }
    for (int i = 0; i < VREGS; i++) out[i] = emit_new(l, TS_OP_vtr_pop, 0, NULL);
    return set_result(l, 0, value_of_parts(l, out, VREGS));
}

/* The first word of a vreg as a scalar. */
bool lower_vreg_extract(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "static_position");
    int64_t at[4];
    int count = a ? mlir_integers(a->value, at, 4) : 0;
    if (!is_vreg(l, 0) || type_at(l, 0)->bits != 32 || l->op->operand_count != 1 || count < 1) {
        return refuse(l, "of these operands");
    }
    for (int i = 0; i < count; i++) {
        if (at[i] != 0) return refuse(l, "other than of the first element");
    }
    return set_scalar(l, emit1(l, TS_OP_v2s, value_at(l, 0)->one));
}
