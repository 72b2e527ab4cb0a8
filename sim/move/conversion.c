/* What the kernels that convert elements need to know of two types. */
#include <string.h>

#include "copy_context.h"

static bool float_kind(const ts_dtype_info *type, ts_kind *kind) {
    const ts_float_format *format = type->format;
    *kind = TS_KIND_F32;
    if (!format) return type->value_bits == 32;
    *kind = type->stored_bits == 8 ? TS_KIND_FLOAT_8 : TS_KIND_FLOAT_16;
    if (format->exponent_bits == 8 && format->mantissa_bits == 7) *kind = TS_KIND_BF16;
    return !format->no_sign && !format->no_mantissa_zero;
}

static bool find_kind(ts_dtype dtype, ts_kind *kind) {
    const ts_dtype_info *type = ts_dtype_get(dtype);
    if (type->class == TS_CLASS_FLOAT) return float_kind(type, kind);
    *kind = type->class == TS_CLASS_BOOL ? TS_KIND_BOOL
            : type->stored_bits == 8     ? TS_KIND_INT_8
            : type->stored_bits == 16    ? TS_KIND_INT_16
                                         : TS_KIND_INT_32;
    return type->class != TS_CLASS_COMPLEX && type->class != TS_CLASS_NO_DATA && type->stored_bits <= 32;
}

/* 2^exponent as an f32 that is normal. */
static uint32_t power_bits(int exponent) { return (uint32_t)(exponent + 127) << 23; }

static ts_small_float describe(const ts_float_format *format) {
    int mantissa = format->mantissa_bits, sign_at = format->exponent_bits + mantissa;
    uint32_t all = (1u << sign_at) - 1, infinity = all >> mantissa << mantissa;
    ts_small_float f = {
        .magnitude = all,
        .sign = 1u << sign_at,
        .sign_shift = 31 - sign_at,
        .shift = 23 - mantissa,
        .rebias = (uint32_t)(127 - format->bias) << 23,
        .min_normal = 1u << mantissa,
        .infinity = format->has_infinity ? infinity : INT32_MAX,
        .first_special = format->has_infinity ? infinity : all,
    };
    if (!format->has_nan || format->unsigned_zero) f.first_special = INT32_MAX;
    return f;
}

static void describe_from(ts_conversion *c, const ts_dtype_info *type) {
    const ts_float_format *format = type->format;
    if (type->class == TS_CLASS_FLOAT && format) {
        c->from = describe(format);
        c->minus_zero = format->unsigned_zero ? 0x7fc00000 : 0x80000000;
        uint32_t unit = power_bits(1 - format->bias - format->mantissa_bits);
        memcpy(&c->denormal_unit, &unit, sizeof unit);
    } else if (type->class != TS_CLASS_FLOAT) {
        c->from.shift = 32 - type->value_bits;
        c->from.sign = type->class == TS_CLASS_SIGNED;
    }
}

static void describe_to_float(ts_conversion *c, const ts_dtype_info *type) {
    const ts_float_format *format = type->format;
    uint32_t last = (1u << (format->exponent_bits + format->mantissa_bits)) - 1;
    c->to = describe(format);
    c->to.sign_shift = format->exponent_bits + format->mantissa_bits;
    c->to.min_normal = power_bits(1 - format->bias);
    c->denormal_drop = c->to.shift + 1 - format->bias + 127;
    c->nan = ts_float_encode(format, ts_f32_from_bits(0x7fc00000));
    c->overflow = ts_float_encode(format, ts_f32_from_bits(0x7f800000));
    c->largest =
        format->has_infinity ? c->to.infinity - 1 : last - (format->has_nan && !format->unsigned_zero);
    c->zero_sign = format->unsigned_zero ? 0 : UINT32_MAX;
}

static void describe_to(ts_conversion *c, const ts_dtype_info *type) {
    if (type->class == TS_CLASS_FLOAT && type->format) {
        describe_to_float(c, type);
    } else if (type->class == TS_CLASS_SIGNED || type->class == TS_CLASS_UNSIGNED) {
        int bits = type->value_bits - (type->class == TS_CLASS_SIGNED);
        c->is_signed = type->class == TS_CLASS_SIGNED;
        c->limit = power_bits(bits);
        c->most = (uint32_t)((UINT64_C(1) << bits) - 1);
        c->to.magnitude = (uint32_t)((UINT64_C(1) << type->value_bits) - 1);
        c->highest = (float)c->most;
        c->lowest = c->is_signed ? -(float)(UINT64_C(1) << bits) : 0;
    }
}

/* What converts between two types that have values; false where there is no kernel for them. */
static bool find_conversion(ts_dtype from, ts_dtype to, ts_conversion *c) {
    *c = (ts_conversion){0};
    if (from == to || !find_kind(from, &c->from_kind) || !find_kind(to, &c->to_kind)) return false;
    const ts_dtype_info *source = ts_dtype_get(from), *target = ts_dtype_get(to);
    bool unsigned_word = target->class == TS_CLASS_UNSIGNED && target->value_bits == 32;
    if (unsigned_word && source->class == TS_CLASS_FLOAT) return false; /* does not pass through an int32_t */
    if (source->class == TS_CLASS_UNSIGNED && source->value_bits == 32 && target->class == TS_CLASS_FLOAT)
        return false;
    describe_from(c, source);
    describe_to(c, target);
    return true;
}

void ts_copy_set_conversion(ts_copy_context *m) {
    static const int64_t here = 0;
    ts_conversion *c = &m->conversion;
    if (!m->kernels || !find_conversion(m->src.dtype, m->dst.dtype, c)) return;
    m->convert = m->kernels->converts[c->from_kind][c->to_kind];
    int to = ts_dtype_get(m->dst.dtype)->stored_bits / 8;
    if (!m->kernels->look_ups || ts_dtype_get(m->src.dtype)->stored_bits != 8) return;
    ts_conversion to_half = *c;
    ts_convert_function *convert = m->convert;
    if (to > 2) { /* by way of bf16, where that is exact */
        if (c->from_kind != TS_KIND_FLOAT_8 || !find_conversion(m->src.dtype, TS_DTYPE_BF16, &to_half))
            return;
        convert = m->kernels->converts[c->from_kind][TS_KIND_BF16];
        to = 2;
    }
    uint8_t each[256], become[512];
    ts_convert_lines lines = {.groups = 1, .tiles = 1, .count = 256, .lines = 1, .line = &here};
    for (int i = 0; i < 256; i++) each[i] = (uint8_t)i;
    convert(&to_half, become, each, &lines);
    for (int i = 0; i < 256; i++) {
        m->table[0][i] = become[i * to];
        m->table[1][i] = become[i * to + to - 1];
    }
    c->table = m->table;
    m->convert = m->kernels->look_ups[c->to_kind];
}
