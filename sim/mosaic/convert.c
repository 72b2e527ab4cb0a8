/* Values of a vreg taken apart into words, changed from type to type, and put together again: in rows
 * ("compressed"), so that the rows of several vregs follow each other, or within words ("interleaved"). */

#include "convert.h"

/* ---- Floats of 8 and 4 bits ---- */

typedef struct {
    ts_dtype dtype;
    int mantissa, bias;
    uint32_t largest, over, nan; /* the largest that is finite, what is beyond it, and what NaN becomes */
    bool has_infinity;
} small_float;

static const small_float small_floats[] = {
    {TS_DTYPE_F8E4M3FN, 3, 7, 0x7e, 0x7f, 0x7f, false},
    {TS_DTYPE_F8E5M2, 2, 15, 0x7b, 0x7c, 0x7e, true},
    {TS_DTYPE_F8E4M3B11FNUZ, 3, 11, 0x7f, 0x80, 0x80, false},
    {TS_DTYPE_F4E2M1FN, 1, 1, 0x7, 0x7, 0x8, false},
};

static const small_float *find_small(const mlir_type *type) {
    for (size_t i = 0; i < sizeof small_floats / sizeof small_floats[0]; i++)
        if (type->element == MLIR_FLOAT && small_floats[i].dtype == type->dtype) return &small_floats[i];
    return NULL;
}

static int bits_of(const small_float *f) { return ts_dtype_get(f->dtype)->value_bits; }
static int32_t sign_of(const small_float *f) { return 1 << (bits_of(f) - 1); }
/* Then the sign alone is NaN. */
static bool has_one_zero(const small_float *f) { return ts_dtype_get(f->dtype)->format->unsigned_zero; }

static ts_operand power_of_2(int exponent) { return splat_bits((uint32_t)(exponent + 127) << 23); }

/* Of the lowest bits: as an f32 whose exponent is too small, then scaled, which is exact. */
static ts_operand widen(lowering *l, const small_float *f, ts_operand code) {
    int32_t top = sign_of(f);
    ts_operand sign = emit2(l, TS_OP_vshl_i32, emit2(l, TS_OP_vand_i32, code, ts_integer(top)),
                            ts_integer(32 - bits_of(f)));
    ts_operand bits = emit2(l, TS_OP_vand_i32, code, ts_integer(top - 1));
    ts_operand x = emit2(l, TS_OP_vshl_i32, bits, ts_integer(23 - f->mantissa));
    ts_operand whole = has_one_zero(f) ? emit2(l, TS_OP_vand_i32, code, ts_integer(2 * top - 1)) : bits;
    ts_operand high = has_one_zero(f) ? emit2(l, TS_OP_vcmp_eq_i32, whole, ts_integer(top))
                                      : emit2(l, TS_OP_vcmp_gt_i32, whole, ts_integer((int32_t)f->largest));
    ts_operand ones = ts_integer(f->has_infinity ? 0x7f800000 : 0x7fc00000);
    ones = emit2(l, TS_OP_vor_i32, x, ones);
    x = emit2(l, TS_OP_vmul_f32, x, power_of_2(127 - f->bias));
    return emit2(l, TS_OP_vor_i32, emit_select(l, high, ones, x), sign);
}

static ts_operand sign_in_place(lowering *l, const small_float *f, ts_operand x, ts_operand y) {
    ts_operand top = ts_integer(sign_of(f));
    ts_operand sign = emit2(l, TS_OP_vand_i32, emit2(l, TS_OP_vshr_u32, x, ts_integer(32 - bits_of(f))), top);
    if (!has_one_zero(f)) return sign;
    ts_operand zero = in_vreg(l, ts_integer(0)), none = emit2(l, TS_OP_vcmp_eq_i32, y, zero);
    return emit_select(l, none, zero, sign);
}

/* To the nearest, ties to even: of small numbers by counting steps, of others by carrying into the bits that
 * stay. */
static ts_operand narrow(lowering *l, const small_float *f, ts_operand x) {
    int drop = 23 - f->mantissa, least = 1 - f->bias;
    ts_operand bits = emit2(l, TS_OP_vand_i32, x, ts_integer(INT32_MAX));
    ts_operand odd =
        emit2(l, TS_OP_vand_i32, emit2(l, TS_OP_vshr_u32, bits, ts_integer(drop)), ts_integer(1));
    ts_operand up =
        emit2(l, TS_OP_vadd_i32, emit2(l, TS_OP_vadd_i32, bits, odd), ts_integer((1 << (drop - 1)) - 1));
    ts_operand normal = emit2(l, TS_OP_vshr_u32, up, ts_integer(drop));
    normal = emit2(l, TS_OP_vsub_i32, normal, ts_integer((127 - f->bias) << f->mantissa));
    ts_operand steps = emit2(l, TS_OP_vmul_f32, bits, power_of_2(f->mantissa - least));
    steps = emit1(l, TS_OP_vcvt_i32_f32, emit1(l, TS_OP_vround_f32, steps));
    ts_operand small = emit2(l, TS_OP_vcmp_lt_f32, bits, power_of_2(least));
    ts_operand y = emit_select(l, small, steps, normal);
    ts_operand over = emit2(l, TS_OP_vcmp_gt_i32, y, ts_integer((int32_t)f->largest));
    y = emit_select(l, over, in_vreg(l, ts_integer((int32_t)f->over)), y);
    ts_operand nan = emit2(l, TS_OP_vcmp_gt_i32, bits, ts_integer(0x7f800000));
    y = emit_select(l, nan, in_vreg(l, ts_integer((int32_t)f->nan)), y);
    return emit2(l, TS_OP_vor_i32, y, sign_in_place(l, f, x, y));
}

/* ---- To words ---- */

static bool is_float(const mlir_type *t) { return t->element == MLIR_FLOAT; }

static ts_operand unpack_bf16(lowering *l, const packed_values *from, int index) {
    ts_operand a = in_vreg(l, from->vreg);
    return from->rows ? emit2(l, TS_OP_vunpack_rows_bf16, a, ts_integer(index))
                      : emit1(l, index == 0 ? TS_OP_vunpack_lo_bf16 : TS_OP_vunpack_hi_bf16, a);
}

static const struct {
    int bits;
    ts_opcode rows[2], words[2]; /* without sign, with it */
} unpacks[] = {
    {16, {TS_OP_vunpack_rows_u16, TS_OP_vunpack_rows_i16}, {TS_OP_vunpack_u16, TS_OP_vunpack_i16}},
    {8, {TS_OP_vunpack_rows_u8, TS_OP_vunpack_rows_i8}, {TS_OP_vunpack_u8, TS_OP_vunpack_i8}},
    {4, {TS_OP_vunpack_rows_u4, TS_OP_vunpack_rows_i4}, {TS_OP_vunpack_u4, TS_OP_vunpack_i4}},
};

/* 4 bits hold two rows: each becomes the low bits of a half of a word, and the halves are rows too. */
static ts_operand rows_of_2_bits(lowering *l, ts_operand a, int index) {
    ts_operand four = emit2(l, TS_OP_vunpack_rows_u4, a, ts_integer(index / 2));
    ts_operand high =
        emit2(l, TS_OP_vshl_i32, emit2(l, TS_OP_vand_i32, four, ts_integer(12)), ts_integer(14));
    return emit2(l, TS_OP_vunpack_rows_u16, emit2(l, TS_OP_vor_i32, four, high), ts_integer(index % 2));
}

static ts_operand unpack_2_bits(lowering *l, const packed_values *from, int index) {
    ts_operand a = in_vreg(l, from->vreg);
    if (from->rows) a = rows_of_2_bits(l, a, index);
    int up = from->rows ? 30 : 30 - 2 * index;
    if (up > 0) a = emit2(l, TS_OP_vshl_i32, a, ts_integer(up));
    return emit2(l, from->sign ? TS_OP_vshr_i32 : TS_OP_vshr_u32, a, ts_integer(30));
}

bool take_words(lowering *l, const packed_values *from, int index, ts_operand *out) {
    const mlir_type *type = from->type;
    const small_float *small = find_small(type);
    ts_operand a = in_vreg(l, from->vreg), n = ts_integer(index);
    if (type->bits == 32) {
        *out = a;
        return true;
    }
    if (type->dtype == TS_DTYPE_BF16 && is_float(type)) {
        *out = unpack_bf16(l, from, index);
        return true;
    }
    if (type->bits == 2 && !is_float(type)) {
        *out = unpack_2_bits(l, from, index);
        return true;
    }
    for (int i = 0; i < 3 && (small || !is_float(type)); i++) {
        if (unpacks[i].bits != type->bits) continue;
        bool sign = from->sign;
        *out = emit2(l, from->rows ? unpacks[i].rows[sign] : unpacks[i].words[sign], a, n);
        if (small) *out = widen(l, small, *out);
        return true;
    }
    return refuse(l, "of such types");
}

/* ---- From words ---- */

static ts_operand shifted(lowering *l, ts_operand a, int bits, int by) {
    a = emit2(l, TS_OP_vand_i32, a, ts_integer((1 << bits) - 1));
    return by > 0 ? emit2(l, TS_OP_vshl_i32, a, ts_integer(by)) : a;
}

/* The lowest bits of each, side by side. */
static ts_operand join_words(lowering *l, const ts_operand *words, int bits) {
    ts_operand out = shifted(l, words[0], bits, 0);
    for (int i = 1; i < 32 / bits; i++)
        out = emit2(l, TS_OP_vor_i32, out, shifted(l, words[i], bits, i * bits));
    return out;
}

/* As 4 bits: those of two rows. */
static ts_operand join_2_bits(lowering *l, const ts_operand *words) {
    ts_operand pair = emit2(l, TS_OP_vpack_rows_b16, words[0], words[1]);
    ts_operand high = emit2(l, TS_OP_vshr_u32, pair, ts_integer(14));
    return emit2(l, TS_OP_vor_i32, shifted(l, pair, 2, 0), emit2(l, TS_OP_vand_i32, high, ts_integer(12)));
}

static ts_operand join_rows(lowering *l, const ts_operand *words, int bits) {
    ts_operand pairs[4], fours[8];
    if (bits == 2) {
        for (int i = 0; i < 8; i++) fours[i] = join_2_bits(l, &words[2 * i]);
        words = fours;
        bits = 4;
    }
    for (int i = 0; i < 32 / bits / 2; i++)
        pairs[i] = emit2(l, TS_OP_vpack_rows_b16, words[2 * i], words[2 * i + 1]);
    if (bits == 16) return pairs[0];
    ts_operand low = emit2(l, TS_OP_vpack_rows_b8, pairs[0], pairs[1]);
    return bits == 8 ? low
                     : emit2(l, TS_OP_vpack_rows_b4, low, emit2(l, TS_OP_vpack_rows_b8, pairs[2], pairs[3]));
}

bool put_words(lowering *l, ts_operand *words, packed_values *to) {
    const mlir_type *type = to->type;
    const small_float *small = find_small(type);
    int count = 32 / type->bits;
    if (type->bits == 32) {
        to->vreg = words[0];
        return true;
    }
    if (is_float(type) && type->dtype == TS_DTYPE_BF16) {
        to->vreg = emit2(l, to->rows ? TS_OP_vpack_rows_bf16 : TS_OP_vpack_bf16, words[0], words[1]);
        return true;
    }
    if ((is_float(type) && !small) || count < 2 || count > PACKING_MOST || 32 % type->bits != 0)
        return refuse(l, "of such types");
    for (int i = 0; i < count && small; i++) words[i] = narrow(l, small, words[i]);
    to->vreg = to->rows ? join_rows(l, words, type->bits) : join_words(l, words, type->bits);
    return true;
}

ts_operand join_masks(lowering *l, const ts_operand *words, int bits) {
    ts_operand out = ts_integer(0);
    for (int i = 0; i < 32 / bits; i++) {
        uint32_t field = (UINT32_MAX >> (32 - bits)) << (i * bits);
        ts_operand of_field = emit1(l, TS_OP_mbits, in_vreg(l, ts_integer((int32_t)field)));
        ts_operand here = emit2(l, TS_OP_mand, of_field, words[i]);
        out = i == 0 ? here : emit2(l, TS_OP_mor, out, here);
    }
    return out;
}

/* ---- The operations ---- */

static bool read_format(lowering *l, bool *rows) {
    const mlir_attribute *a = mlir_find(l->op, "pack_format");
    *rows = a && ts_span_is(a->value, "#tpu.pack_format<compressed>");
    return !a || *rows || ts_span_is(a->value, "#tpu.pack_format<interleaved>") ||
           malformed(l, "a pack_format");
}

static bool says(const lowering *l, const char *name, const char *word) {
    const mlir_attribute *a = mlir_find(l->op, name);
    return a && ts_span_is(a->value, word);
}

/* An f32 from an integer, or the integer nearest to an f32: of few bits the largest or smallest of what is
 * beyond them, as JAX has it (before generation 7 Mosaic clamps by ops of its own). */
static ts_operand change_kind(lowering *l, const mlir_type *from, const mlir_type *to, ts_operand a) {
    if (is_float(from) == is_float(to)) return a;
    if (is_float(to)) return emit1(l, TS_OP_vcvt_f32_i32, a);
    a = emit1(l, TS_OP_vcvt_i32_f32, emit1(l, TS_OP_vround_f32, a));
    if (to->bits >= 32) return a;
    bool has_sign = !says(l, "unsigned_integers", "true");
    int32_t most = (1 << (to->bits - has_sign)) - 1, least = has_sign ? -most - 1 : 0;
    return emit2(l, TS_OP_vmax_i32, emit2(l, TS_OP_vmin_i32, a, ts_integer(most)), ts_integer(least));
}

/* The sources by their positions; a position that none takes has the first. */
static bool sources_by_position(lowering *l, int packing, ts_operand *out) {
    int64_t positions[PACKING_MOST];
    const mlir_attribute *a = mlir_find(l->op, "positions");
    int count = a ? mlir_integers(a->value, positions, PACKING_MOST) : l->op->operand_count;
    if (count != l->op->operand_count || count < 1 || count > packing)
        return malformed(l, "a position of each operand");
    for (int i = 0; i < count && !a; i++) positions[i] = i;
    for (int i = 0; i < packing; i++) out[i] = value_at(l, 0)->one;
    for (int i = 0; i < count; i++) {
        const value *v = value_at(l, i);
        if (positions[i] < 0 || positions[i] >= packing || v->kind != VALUE_VECTOR || v->count != 1)
            return malformed(l, "vregs and their positions");
        out[positions[i]] = v->one;
    }
    return true;
}

/* Words in the order of the result: of rows, a source's own follow each other; else the sources take
 * turns. */
static bool pack_as(lowering *l, packed_values out) {
    const mlir_type *from = type_at(l, 0), *to = out.type;
    bool rows = out.rows;
    ts_operand in[PACKING_MOST], words[PACKING_MOST];
    int packing = to->bits > 0 ? from->bits / to->bits : 0, own = from->bits > 0 ? 32 / from->bits : 0;
    if (packing < 2 || (packing & (packing - 1)) != 0 || own * packing > PACKING_MOST)
        return refuse(l, "of such types");
    if (!sources_by_position(l, packing, in)) return false;
    if (rows && from->bits == 16 && to->bits == 8 && !is_float(from) && !is_float(to))
        return set_vector(l, emit2(l, TS_OP_vpack_rows_b8, in[0], in[1]));
    for (int i = 0; i < own * packing; i++) {
        packed_values source = {from, rows ? in[i / own] : in[i % packing], rows, true};
        if (!take_words(l, &source, rows ? i % own : i / packing, &words[i])) return false;
        words[i] = change_kind(l, from, to, words[i]);
    }
    return put_words(l, words, &out) && set_vector(l, out.vreg);
}

static bool unpack_as(lowering *l, const mlir_type *from, packed_values source) {
    const mlir_type *to = result_type(l, 0);
    const mlir_attribute *a = mlir_find(l->op, "index");
    int64_t index;
    int ratio = from->bits > 0 ? to->bits / from->bits : 0, count = to->bits > 0 ? 32 / to->bits : 0;
    ts_operand words[8];
    if (!a || !mlir_integer(a->value, &index) || value_at(l, 0)->kind != VALUE_VECTOR ||
        value_at(l, 0)->count != 1)
        return malformed(l, "a vreg and an index");
    if (ratio < 2 || count < 1 || count > 8 || index < 0 || index >= ratio) return refuse(l, "of such types");
    source.vreg = value_at(l, 0)->one;
    for (int i = 0; i < count; i++) {
        int part = (int)index * (source.rows ? count : 1) + i * (source.rows ? 1 : ratio);
        if (!take_words(l, &source, part, &words[i])) return false;
        words[i] = change_kind(l, from, to, words[i]);
    }
    packed_values out = {.type = to, .rows = source.rows};
    return put_words(l, words, &out) && set_vector(l, out.vreg);
}

bool lower_pack(lowering *l) {
    packed_values out = {.type = result_type(l, 0)};
    return read_format(l, &out.rows) && pack_as(l, out);
}

bool lower_unpack(lowering *l) {
    packed_values source = {.type = type_at(l, 0)};
    source.sign = !says(l, "sign_extended", "false") && !says(l, "unsigned_integers", "true");
    return read_format(l, &source.rows) && unpack_as(l, source.type, source);
}

static bool read_type(lowering *l, const char *name, mlir_type *out) {
    const mlir_attribute *a = mlir_find(l->op, name);
    return (a && mlir_type_read(a->value, out)) || malformed(l, name);
}

bool lower_pack_elementwise(lowering *l) {
    mlir_type to;
    return read_type(l, "target_type", &to) && pack_as(l, (packed_values){.type = &to});
}

bool lower_unpack_elementwise(lowering *l) {
    mlir_type from;
    return read_type(l, "source_type", &from) &&
           unpack_as(l, &from, (packed_values){.type = &from, .sign = true});
}
