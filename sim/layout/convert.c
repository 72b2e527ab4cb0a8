/* Conversion of element values between types, by way of an exact number: significand times a power of two. */
#include "layout/convert.h"

#include <assert.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are little endian");

typedef struct {
    enum { FINITE, INFINITE, NOT_A_NUMBER } kind;
    bool negative;
    uint64_t significand;
    int exponent; /* value = significand * 2^exponent */
} number;

/* IEEE formats wider than ts_float_format describes. */
typedef struct {
    int exponent_bits, mantissa_bits;
} wide_format;
static const wide_format binary32 = {8, 23}, binary64 = {11, 52};

static uint64_t low_bits(int count) { return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1; }

static number unpack(wide_format format, uint64_t bits) {
    int bias = (1 << (format.exponent_bits - 1)) - 1, top = (1 << format.exponent_bits) - 1;
    uint64_t fraction = bits & low_bits(format.mantissa_bits);
    int biased = (int)((bits >> format.mantissa_bits) & (uint64_t)top);
    number value = {.negative = (bits >> (format.mantissa_bits + format.exponent_bits)) & 1};
    if (biased == top) {
        value.kind = fraction ? NOT_A_NUMBER : INFINITE;
        return value;
    }
    value.significand = biased ? fraction | UINT64_C(1) << format.mantissa_bits : fraction;
    value.exponent = (biased ? biased : 1) - bias - format.mantissa_bits;
    return value;
}

/* To odd, the last bit is on when the value is inexact: rounding once more to a format at least two bits
 * narrower then equals rounding once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
 * proved algorithms using rounding to odd", 2008). */
typedef enum { TO_NEAREST, TO_ODD } rounding;

/* The magnitude's bits. */
static uint64_t round_magnitude(wide_format format, const number *value, rounding how) {
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    uint64_t infinity = low_bits(format.exponent_bits) << format.mantissa_bits;
    uint64_t most = how == TO_ODD ? infinity - 1 : infinity; /* where it does not fit */
    int zeros = __builtin_clzll(value->significand);
    uint64_t significand = value->significand << zeros; /* its top bit has weight 2^(exponent - zeros + 63) */
    int64_t biased = (int64_t)value->exponent - zeros + 63 + bias;
    int64_t drop = 63 - format.mantissa_bits + (biased < 1 ? 1 - biased : 0);
    uint64_t kept = drop < 64 ? significand >> drop : 0;
    bool half = drop <= 64 && (significand >> (drop - 1)) & 1;
    bool below = drop > 64 || (significand << (65 - drop)) != 0;
    if (how == TO_ODD)
        kept |= half || below;
    else if (half && (below || (kept & 1)))
        kept++;
    if (biased >= (1 << format.exponent_bits) - 1) return most;
    uint64_t bits = ((uint64_t)(biased < 1 ? 0 : biased - 1) << format.mantissa_bits) + kept;
    return bits < infinity ? bits : most;
}

static uint64_t pack(wide_format format, const number *value, rounding how) {
    uint64_t infinity = low_bits(format.exponent_bits) << format.mantissa_bits;
    uint64_t bits = 0;
    if (value->kind == NOT_A_NUMBER)
        bits = infinity | infinity >> 1;
    else if (value->kind == INFINITE)
        bits = infinity;
    else if (value->significand != 0)
        bits = round_magnitude(format, value, how);
    return bits | (uint64_t)value->negative << (format.mantissa_bits + format.exponent_bits);
}

static number decode(const ts_dtype_info *type, uint64_t bits) {
    if (type->class == TS_CLASS_FLOAT) {
        if (type->value_bits == 64) return unpack(binary64, bits);
        bits &= low_bits(type->value_bits);
        if (type->format) bits = ts_f32_bits(ts_float_decode(type->format, (uint32_t)bits));
        return unpack(binary32, bits);
    }
    number value = {.significand = bits & low_bits(type->value_bits)};
    if (type->class == TS_CLASS_BOOL) value.significand = (bits & low_bits(type->stored_bits)) != 0;
    if (type->class == TS_CLASS_SIGNED && (value.significand >> (type->value_bits - 1)) & 1) {
        value.negative = true;
        value.significand = (-value.significand) & low_bits(type->value_bits);
    }
    return value;
}

/* Toward zero, to at most `limit`. */
static uint64_t integer_magnitude(const number *value, uint64_t limit) {
    if (value->kind == NOT_A_NUMBER) return 0;
    if (value->kind == INFINITE) return limit;
    if (value->significand == 0 || value->exponent <= -64) return 0;
    if (value->exponent > __builtin_clzll(value->significand)) return limit;
    uint64_t magnitude = value->significand;
    magnitude = value->exponent < 0 ? magnitude >> -value->exponent : magnitude << value->exponent;
    return magnitude < limit ? magnitude : limit;
}

/* What an integer that does not hold the value becomes: the nearest, or the low bits. */
typedef enum { SATURATES, WRAPS } overflow;

static uint64_t encode_integer(const ts_dtype_info *type, const number *value, overflow rule) {
    uint64_t limit = low_bits(type->value_bits);
    if (rule == WRAPS) return (value->negative ? -value->significand : value->significand) & limit;
    if (type->class == TS_CLASS_SIGNED)
        limit = (limit >> 1) + value->negative;
    else if (value->negative)
        limit = 0;
    uint64_t magnitude = integer_magnitude(value, limit);
    return (value->negative ? -magnitude : magnitude) & low_bits(type->value_bits);
}

static uint64_t encode(const ts_dtype_info *type, const number *value, overflow rule) {
    if (type->class == TS_CLASS_BOOL) return value->kind != FINITE || value->significand != 0;
    if (type->class != TS_CLASS_FLOAT) return encode_integer(type, value, rule);
    if (type->value_bits == 64) return pack(binary64, value, TO_NEAREST);
    uint32_t bits = (uint32_t)pack(binary32, value, type->format ? TO_ODD : TO_NEAREST);
    return type->format ? ts_float_encode(type->format, ts_f32_from_bits(bits)) : bits;
}

bool ts_dtype_has_value(ts_dtype dtype) {
    ts_dtype_class class = ts_dtype_get(dtype)->class;
    return class != TS_CLASS_COMPLEX && class != TS_CLASS_NO_DATA;
}

bool ts_convert_possible(ts_dtype from, ts_dtype to) {
    if (from == to) return ts_dtype_get(from)->class != TS_CLASS_NO_DATA;
    return ts_dtype_has_value(from) && ts_dtype_has_value(to);
}

uint64_t ts_element_convert(ts_dtype from, uint64_t bits, ts_dtype to) {
    assert(ts_dtype_has_value(from) && ts_dtype_has_value(to));
    if (from == to) return bits;
    const ts_dtype_info *type = ts_dtype_get(from);
    number value = decode(type, bits);
    return encode(ts_dtype_get(to), &value, type->class == TS_CLASS_FLOAT ? SATURATES : WRAPS);
}

double ts_element_to_double(ts_dtype dtype, uint64_t bits) {
    uint64_t converted = ts_element_convert(dtype, bits, TS_DTYPE_F64);
    double value;
    memcpy(&value, &converted, sizeof value);
    return value;
}

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) /* gcc vectorises such loops only at -O3 */
#pragma GCC optimize("O3")
#endif

/* The pairs that bulk work needs; each equals ts_element_convert for every input (a test walks them). */
static void bf16_from_f32(const uint8_t *restrict source, uint8_t *restrict destination, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, source + 4 * i, 4);
        uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
        uint32_t quiet = ((bits >> 16) & 0x8000) | 0x7fc0;
        uint16_t result = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
        memcpy(destination + 2 * i, &result, 2);
    }
}

static void f32_from_bf16(const uint8_t *restrict source, uint8_t *restrict destination, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(&half, source + 2 * i, 2);
        uint32_t bits = (uint32_t)half << 16;
        if ((bits & 0x7fffffff) > 0x7f800000) bits = (bits & 0x80000000) | 0x7fc00000;
        memcpy(destination + 4 * i, &bits, 4);
    }
}

#define BIAS UINT64_C(896) /* of binary64 over that of binary32 */

/* A float with `mantissa` bits behind 8 of exponent as binary64, exactly. */
static inline uint64_t widen(ts_dtype from, int mantissa, uint32_t bits) {
    uint32_t magnitude = bits & ((UINT32_C(1) << (mantissa + 8)) - 1), exponent = magnitude >> mantissa;
    if (magnitude != 0 && (exponent == 0 || exponent == 255))
        return ts_element_convert(from, bits, TS_DTYPE_F64);
    uint64_t bias = magnitude != 0 ? BIAS << 52 : 0;
    return (((uint64_t)magnitude << (52 - mantissa)) + bias) | (uint64_t)(bits >> (mantissa + 8)) << 63;
}

/* And back, to nearest, ties to even; what rounds beyond the largest becomes infinity by its carry. */
static inline uint32_t narrow(ts_dtype to, int mantissa, uint64_t bits) {
    uint64_t magnitude = bits & (UINT64_MAX >> 1), least = (BIAS + 1) << 52;
    int drop = 52 - mantissa;
    if (magnitude == 0) return (uint32_t)(bits >> 63) << (mantissa + 8);
    if (magnitude < least || magnitude >= (BIAS + 255) << 52)
        return (uint32_t)ts_element_convert(TS_DTYPE_F64, bits, to);
    uint64_t rounded = magnitude + ((UINT64_C(1) << (drop - 1)) - 1) + ((magnitude >> drop) & 1);
    uint32_t kept = (uint32_t)((rounded - (BIAS << 52)) >> drop);
    return kept | (uint32_t)(bits >> 63) << (mantissa + 8);
}

#define WIDE(name, narrow_name, dtype, type, mantissa)                                                       \
    static void name(const uint8_t *restrict source, uint8_t *restrict destination, size_t count) {          \
        for (size_t i = 0; i < count; i++) {                                                                 \
            type bits;                                                                                       \
            memcpy(&bits, source + sizeof bits * i, sizeof bits);                                            \
            uint64_t wide = widen(dtype, mantissa, bits);                                                    \
            memcpy(destination + 8 * i, &wide, 8);                                                           \
        }                                                                                                    \
    }                                                                                                        \
    static void narrow_name(const uint8_t *restrict source, uint8_t *restrict destination, size_t count) {   \
        for (size_t i = 0; i < count; i++) {                                                                 \
            uint64_t wide;                                                                                   \
            memcpy(&wide, source + 8 * i, 8);                                                                \
            type bits = (type)narrow(dtype, mantissa, wide);                                                 \
            memcpy(destination + sizeof bits * i, &bits, sizeof bits);                                       \
        }                                                                                                    \
    }

WIDE(f64_from_f32, f32_from_f64, TS_DTYPE_F32, uint32_t, 23)
WIDE(f64_from_bf16, bf16_from_f64, TS_DTYPE_BF16, uint16_t, 7)

static const struct {
    ts_dtype from, to;
    void (*convert)(const uint8_t *restrict, uint8_t *restrict, size_t);
} bulk[] = {
    {TS_DTYPE_F32, TS_DTYPE_BF16, bf16_from_f32}, {TS_DTYPE_BF16, TS_DTYPE_F32, f32_from_bf16},
    {TS_DTYPE_F32, TS_DTYPE_F64, f64_from_f32},   {TS_DTYPE_F64, TS_DTYPE_F32, f32_from_f64},
    {TS_DTYPE_BF16, TS_DTYPE_F64, f64_from_bf16}, {TS_DTYPE_F64, TS_DTYPE_BF16, bf16_from_f64},
};

static size_t stored_bytes(ts_dtype dtype) { return (size_t)ts_dtype_get(dtype)->stored_bits / 8; }

static void convert_each(ts_dtype from, const uint8_t *source, ts_dtype to, uint8_t *destination,
                         size_t count) {
    size_t source_bytes = stored_bytes(from), bytes = stored_bytes(to);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, source + i * source_bytes, source_bytes);
        bits = ts_element_convert(from, bits, to);
        memcpy(destination + i * bytes, &bits, bytes);
    }
}

bool ts_convert_elements(ts_dtype from, const void *source, ts_dtype to, void *destination, size_t count) {
    if (!ts_convert_possible(from, to)) return false;
    if (from == to) {
        if (count > 0) memcpy(destination, source, count * stored_bytes(from));
        return true;
    }
    for (size_t i = 0; i < sizeof bulk / sizeof *bulk; i++) {
        if (bulk[i].from == from && bulk[i].to == to) {
            bulk[i].convert(source, destination, count);
            return true;
        }
    }
    convert_each(from, source, to, destination, count);
    return true;
}
