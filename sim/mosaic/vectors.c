/* Operations on whole vregs: constants, several as one vector, indices and masks, reductions. */

#include "convert.h"

bool read_integer(lowering *l, const char *name, int64_t *out) {
    const mlir_attribute *a = mlir_find(l->op, name);
    return (a && mlir_integer(a->value, out)) || malformed(l, name);
}

/* One vreg of any type. */
bool is_vreg(const lowering *l, int operand) {
    const value *v = value_at(l, operand);
    return v->kind == VALUE_VECTOR && v->count == 1;
}

/* ---- Constants ---- */

static uint32_t in_every_part(uint32_t bits, int width) {
    for (; width < 32; width *= 2) bits |= bits << width;
    return bits;
}

/* A number of the type in every part of a word. */
static bool splat(lowering *l, ts_span number, const mlir_type *type, ts_operand *out) {
    uint32_t bits;
    int64_t n;
    if (type->element == MLIR_FLOAT) {
        if (!mlir_float(number, type->dtype, &bits)) return malformed(l, "a number");
        *out = splat_bits(in_every_part(bits, type->bits));
        return true;
    }
    if (!mlir_integer(number, &n) || type->bits > 32) return malformed(l, "an integer of at most 32 bits");
    int64_t most = type->element == MLIR_INDEX ? INT32_MAX : UINT32_MAX; /* others may be bits */
    if (n < INT32_MIN || n > most) return refuse(l, "of more than 32 bits");
    bits = (uint32_t)n;
    if (type->bits > 1 && type->bits < 32) bits = in_every_part(bits & ((1u << type->bits) - 1), type->bits);
    *out = ts_integer(type->bits == 1 ? (n & 1) : (int32_t)bits);
    return true;
}

bool lower_constant(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    const mlir_attribute *a = mlir_find(l->op, "value");
    ts_span number;
    ts_operand out;
    if (!a) return malformed(l, "value");
    if (type->kind != MLIR_VECTOR) {
        mlir_type alone = *type; /* in its word */
        if (type->element == MLIR_INTEGER && type->bits > 1) alone.bits = 32;
        if (!splat(l, a->value, &alone, &out)) return false;
        return set_scalar(l, type->element == MLIR_FLOAT ? lowest_bits(l, out, type->bits) : out);
    }
    if (!mlir_splat(a->value, &number)) return refuse(l, "of different values");
    return splat(l, number, type, &out) && set_vector(l, out);
}

/* The lowest bits of a scalar in every part of a word. */
static ts_operand spread(lowering *l, ts_operand scalar, int bits) {
    scalar = scalar2(l, TS_OP_sand, scalar, ts_integer((1 << bits) - 1));
    for (int have = bits; have < 32; have *= 2)
        scalar = scalar2(l, TS_OP_sor, scalar, scalar2(l, TS_OP_sshl, scalar, ts_integer(have)));
    return is_number(scalar) ? scalar : emit1(l, TS_OP_vmov, scalar);
}

bool lower_broadcast(lowering *l) {
    const value *v = value_at(l, 0);
    if (v->kind == VALUE_VECTOR && v->count == 1) return set_vector(l, v->one);
    if (v->kind != VALUE_SCALAR) return refuse(l, "of this operand");
    const mlir_type *type = result_type(l, 0);
    if (type->bits < 32 && type->bits > 1) return set_vector(l, spread(l, v->one, type->bits));
    if (is_number(v->one)) return set_vector(l, v->one);
    if (is_mask_type(type)) {
        ts_operand word = emit1(l, TS_OP_vmov, v->one);
        return set_vector(l, emit2(l, TS_OP_vcmp_ne_i32, word, ts_integer(0)));
    }
    return set_vector(l, emit1(l, TS_OP_vmov, v->one));
}

/* ---- Several vregs as one vector ---- */

bool lower_roll(lowering *l) {
    int count = l->op->operand_count;
    ts_operand *parts = TS_NEW_ARRAY(l->arena, ts_operand, count + 1);
    for (int i = 0; i < count; i++) {
        if (!is_vreg(l, i)) return malformed(l, "vregs");
        parts[i] = value_at(l, i)->one;
    }
    return count > 0 ? set_result(l, 0, value_of_parts(l, parts, count)) : malformed(l, "vregs");
}

bool lower_unroll(lowering *l) {
    value v = *value_at(l, 0);
    if (v.kind != VALUE_VECTOR || (v.count != 1 && v.count != l->op->result_count))
        return malformed(l, "a vector of as many vregs");
    for (int i = 0; i < l->op->result_count; i++) {
        ts_operand one = part_of(&v, i);
        set_result(l, i, value_of_parts(l, &one, 1));
    }
    return true;
}

bool lower_same(lowering *l) { return set_result(l, 0, *value_at(l, 0)); }

/* ---- Indices and masks ---- */

static const struct {
    ts_opcode iota; /* nop: the part of a word */
    int size;
} vreg_dims[] = {{TS_OP_viota_sublane, TS_SUBLANES}, {TS_OP_viota_lane, TS_LANES}, {TS_OP_nop, 0}};

/* The linear index of each word's element at one of its parts, row-major. */
static ts_operand iota_part(lowering *l, const int64_t *dims, int count, int part) {
    int packing = 32 / result_type(l, 0)->bits, scale = 1;
    ts_operand sum = ts_integer(0);
    for (int i = count - 1; i >= 0; i--) {
        ts_opcode opcode = vreg_dims[dims[i]].iota;
        ts_operand n = opcode == TS_OP_nop ? ts_integer(part * scale) : emit_new(l, opcode, 0, NULL);
        if (opcode != TS_OP_nop && scale > 1) n = emit2(l, TS_OP_vmul_i32, n, ts_integer(scale));
        sum = is_number(sum) ? (number_of(sum) == 0 ? n : emit2(l, TS_OP_vadd_i32, n, sum))
                             : emit2(l, TS_OP_vadd_i32, sum, n);
        scale *= opcode == TS_OP_nop ? packing : vreg_dims[dims[i]].size;
    }
    return sum;
}

bool lower_iota(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    const mlir_attribute *a = mlir_find(l->op, "dimensions");
    int64_t dims[3];
    int count = a ? mlir_integers(a->value, dims, 3) : 0, parts = type->bits > 0 ? 32 / type->bits : 0;
    ts_operand words[PACKING_MOST];
    packed_values to = {.type = type};
    if (!a && (a = mlir_find(l->op, "dimension")) && mlir_integer(a->value, &dims[0])) count = 1;
    for (int i = 0; i < count; i++)
        if (dims[i] < 0 || dims[i] >= type->rank || dims[i] > 2) return malformed(l, "dims of a vreg");
    if (count < 1 || parts < 1 || parts > PACKING_MOST || type->element == MLIR_FLOAT ||
        type->rank != 2 + (parts > 1) || type->dims[0] != TS_SUBLANES || type->dims[1] != TS_LANES)
        return refuse(l, "of these dims");
    for (int i = 0; i < parts; i++) words[i] = in_vreg(l, iota_part(l, dims, count, i));
    return put_words(l, words, &to) && set_vector(l, to.vreg);
}

/* Those below `high` and not below `low`. */
static ts_operand between(lowering *l, ts_opcode opcode, ts_operand low, ts_operand high, int64_t all) {
    bool from_0 = is_number(low) && number_of(low) <= 0, to_end = is_number(high) && number_of(high) >= all;
    if (from_0 && to_end) return ts_integer(1);
    ts_operand below = to_end ? ts_integer(1) : emit1(l, opcode, high);
    if (from_0) return below;
    ts_operand not_low = emit1(l, TS_OP_mnot, emit1(l, opcode, low));
    return to_end ? not_low : emit2(l, TS_OP_mand, below, not_low);
}

bool lower_mask(lowering *l) {
    if (l->op->operand_count != 4 || result_type(l, 0)->rank < 2) return refuse(l, "of this shape");
    ts_operand rows = between(l, TS_OP_msubs, value_at(l, 0)->one, value_at(l, 2)->one, TS_SUBLANES);
    ts_operand lanes = between(l, TS_OP_mlanes, value_at(l, 1)->one, value_at(l, 3)->one, TS_LANES);
    if (is_number(rows) || is_number(lanes)) return set_vector(l, is_number(rows) ? lanes : rows);
    return set_vector(l, emit2(l, TS_OP_mand, rows, lanes));
}

/* A mask of sublanes `from` to `to` - 1. */
static ts_operand row_mask(lowering *l, int64_t from, int64_t to) {
    return to <= 0 || from >= TS_SUBLANES
               ? ts_integer(0)
               : between(l, TS_OP_msubs, ts_integer(from), ts_integer(to), TS_SUBLANES);
}

/* The bits of a word of the sublane that rows from .. to - 1 have. */
static int32_t row_bits(int sublane, int64_t from, int64_t to, int packing) {
    uint32_t bits = 0, one = UINT32_MAX >> (32 - 32 / packing);
    for (int i = 0; i < packing; i++) {
        int row = sublane * packing + i;
        if (row >= from && row < to) bits |= one << (i * (32 / packing));
    }
    return (int32_t)bits;
}

/* A mask of the packed rows `from` to `to` - 1 of a vreg. */
bool lower_subelement_mask(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    int64_t from, to, words[TS_SUBLANES], packing = type->rank == 3 ? type->dims[2] : 1;
    if (!read_integer(l, "from", &from) || !read_integer(l, "to", &to)) return false;
    if (packing < 1 || packing > 8 || 32 % packing != 0 || from < 0 || to > TS_SUBLANES * packing)
        return malformed(l, "rows of a vreg");
    if (from % packing == 0 && to % packing == 0)
        return set_vector(l, row_mask(l, from / packing, to / packing));
    if (packing == 2) {
        ts_operand low = row_mask(l, from, to), high = row_mask(l, from - TS_SUBLANES, to - TS_SUBLANES);
        return set_vector(l, emit2(l, TS_OP_mpack_rows_b16, low, high));
    }
    for (int i = 0; i < TS_SUBLANES; i++) words[i] = row_bits(i, from, to, (int)packing);
    return set_vector(l, emit1(l, TS_OP_mbits, vreg_of_sublanes(l, words)));
}

/* Each source at its own position, or none is said. */
static bool in_order(const lowering *l) {
    int64_t positions[PACKING_MOST];
    const mlir_attribute *a = mlir_find(l->op, "positions");
    if (!a) return true;
    int count = mlir_integers(a->value, positions, PACKING_MOST);
    for (int i = 0; i < count; i++)
        if (positions[i] != i) return false;
    return count == l->op->operand_count;
}

bool lower_pack_masks(lowering *l) {
    const mlir_type *type = result_type(l, 0);
    int count = l->op->operand_count;
    if ((count != 2 && count != 4 && count != 8 && count != PACKING_MOST) || type->rank != 3 ||
        type->dims[2] != count || type_at(l, 0)->rank != 2 || !in_order(l))
        return refuse(l, "of these shapes");
    if (count == 2)
        return set_vector(l, emit2(l, TS_OP_mpack_rows_b16, value_at(l, 0)->one, value_at(l, 1)->one));
    mlir_type integers = {.kind = MLIR_VECTOR, .element = MLIR_INTEGER, .bits = 32 / count};
    packed_values to = {.type = &integers, .rows = true};
    ts_operand words[PACKING_MOST];
    for (int i = 0; i < count; i++)
        words[i] = emit_select(l, value_at(l, i)->one, in_vreg(l, ts_integer(-1)), ts_integer(0));
    return put_words(l, words, &to) && set_vector(l, emit1(l, TS_OP_mbits, to.vreg));
}

/* ---- Across lanes and sublanes ---- */

/* The index of the first largest or smallest, or NaN. */
static ts_operand reduce_index(lowering *l, ts_opcode pick, ts_operand x, int64_t dim) {
    static const ts_opcode iotas[] = {TS_OP_viota_sublane, TS_OP_viota_lane},
                           least[] = {TS_OP_vmin_sublane_i32, TS_OP_vmin_lane_i32};
    ts_operand best = emit1(l, pick, x);
    ts_operand same = emit2(l, TS_OP_vcmp_eq_f32, x, best), nan = emit2(l, TS_OP_vcmp_ne_f32, x, x);
    ts_operand index = emit_new(l, iotas[dim], 0, NULL);
    index = emit_select(l, emit2(l, TS_OP_mor, same, nan), index, ts_integer(INT32_MAX));
    return emit1(l, least[dim], index);
}

static const struct {
    const char *kind;
    ts_opcode f32[2], i32[2]; /* over sublanes, over lanes */
    bool index;
} reductions[] = {{"#tpu.reduction_kind<sum>",
                   {TS_OP_vsum_sublane_f32, TS_OP_vsum_lane_f32},
                   {TS_OP_vsum_sublane_i32, TS_OP_vsum_lane_i32},
                   false},
                  {"#tpu.reduction_kind<max>",
                   {TS_OP_vmax_sublane_f32, TS_OP_vmax_lane_f32},
                   {TS_OP_vmax_sublane_i32, TS_OP_vmax_lane_i32},
                   false},
                  {"#tpu.reduction_kind<min>",
                   {TS_OP_vmin_sublane_f32, TS_OP_vmin_lane_f32},
                   {TS_OP_vmin_sublane_i32, TS_OP_vmin_lane_i32},
                   false},
                  {"#tpu.reduction_kind<arg_max>",
                   {TS_OP_vmax_sublane_f32, TS_OP_vmax_lane_f32},
                   {TS_OP_nop, TS_OP_nop},
                   true},
                  {"#tpu.reduction_kind<arg_min>",
                   {TS_OP_vmin_sublane_f32, TS_OP_vmin_lane_f32},
                   {TS_OP_nop, TS_OP_nop},
                   true}};

/* Of bf16 over lanes: both halves of the words for themselves, rounded once. */
static bool reduce_halves(lowering *l, ts_opcode opcode) {
    packed_values from = {.type = type_at(l, 0), .vreg = value_at(l, 0)->one}, to = {.type = type_at(l, 0)};
    ts_operand words[2];
    for (int i = 0; i < 2; i++) {
        if (!take_words(l, &from, i, &words[i])) return false;
        words[i] = emit1(l, opcode, words[i]);
    }
    return put_words(l, words, &to) && set_vector(l, to.vreg);
}

bool lower_reduce(lowering *l) {
    const mlir_attribute *a = mlir_find(l->op, "kind");
    bool floats = type_at(l, 0)->element == MLIR_FLOAT;
    int64_t dim;
    if (!read_integer(l, "dim", &dim)) return false;
    bool halves = floats && type_at(l, 0)->bits == 16 && dim == 1;
    if ((type_at(l, 0)->bits != 32 && !halves) || dim < 0 || dim > 1 || !is_vreg(l, 0))
        return refuse(l, "of this type");
    for (size_t i = 0; a && i < sizeof reductions / sizeof reductions[0]; i++) {
        ts_opcode opcode = (floats ? reductions[i].f32 : reductions[i].i32)[dim];
        if (!ts_span_is(a->value, reductions[i].kind) || opcode == TS_OP_nop ||
            (halves && reductions[i].index))
            continue;
        if (halves) return reduce_halves(l, opcode);
        ts_operand v = in_vreg(l, value_at(l, 0)->one);
        return set_vector(l, reductions[i].index ? reduce_index(l, opcode, v, dim) : emit1(l, opcode, v));
    }
    return refuse(l, "of this kind");
}
