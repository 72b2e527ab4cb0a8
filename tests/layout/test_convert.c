/* Conversion of element values: every code of every type of at most 16 bits to every type, against formulas
 * that share nothing with it; the wide types by rows and by the host's own arithmetic. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/elements.h"
#include "tests/support/rounds.h"
#include "layout/convert.h"
#include "tests/support/cmocka.h"

/* How the codes beyond the finite ones are used: OCP 8-bit and Microscaling formats, ml_dtypes. */
typedef enum { IEEE, FN, FNUZ, FINITE, POWERS } family;

typedef struct {
    ts_dtype dtype;
    family family;
    int exponent_bits, mantissa_bits, bias;
} float_row;

static const float_row floats[] = {
    {TS_DTYPE_F4E2M1FN, FINITE, 2, 1, 1},     {TS_DTYPE_F6E2M3FN, FINITE, 2, 3, 1},
    {TS_DTYPE_F6E3M2FN, FINITE, 3, 2, 3},     {TS_DTYPE_F8E5M2, IEEE, 5, 2, 15},
    {TS_DTYPE_F8E4M3, IEEE, 4, 3, 7},         {TS_DTYPE_F8E4M3FN, FN, 4, 3, 7},
    {TS_DTYPE_F8E4M3B11FNUZ, FNUZ, 4, 3, 11}, {TS_DTYPE_F8E3M4, IEEE, 3, 4, 3},
    {TS_DTYPE_F8E5M2FNUZ, FNUZ, 5, 2, 16},    {TS_DTYPE_F8E4M3FNUZ, FNUZ, 4, 3, 8},
    {TS_DTYPE_F8E8M0FNU, POWERS, 8, 0, 127},  {TS_DTYPE_F16, IEEE, 5, 10, 15},
    {TS_DTYPE_BF16, IEEE, 8, 7, 127},
};
enum { FLOATS = sizeof floats / sizeof *floats };

typedef struct {
    ts_dtype dtype;
    int bits;
    bool is_signed;
} integer_row;

static const integer_row integers[] = {
    {TS_DTYPE_S1, 1, true},    {TS_DTYPE_S2, 2, true},    {TS_DTYPE_S4, 4, true},   {TS_DTYPE_S8, 8, true},
    {TS_DTYPE_S16, 16, true},  {TS_DTYPE_S32, 32, true},  {TS_DTYPE_S64, 64, true}, {TS_DTYPE_U1, 1, false},
    {TS_DTYPE_U2, 2, false},   {TS_DTYPE_U4, 4, false},   {TS_DTYPE_U8, 8, false},  {TS_DTYPE_U16, 16, false},
    {TS_DTYPE_U32, 32, false}, {TS_DTYPE_U64, 64, false},
};
enum { INTEGERS = sizeof integers / sizeof *integers };

static int width(const float_row *row) {
    return row->exponent_bits + row->mantissa_bits + (row->family != POWERS);
}

/* The value of a code without its sign, as if there were no special codes. */
static double plain(const float_row *row, int code) {
    int exponent = code >> row->mantissa_bits, fraction = code & ((1 << row->mantissa_bits) - 1);
    if (row->family == POWERS) return ldexp(1, exponent - row->bias);
    double significand = ldexp(fraction, -row->mantissa_bits) + (exponent > 0);
    return ldexp(significand, (exponent > 0 ? exponent : 1) - row->bias);
}

/* How many codes, without sign, are finite. */
static int finite_codes(const float_row *row) {
    int all = 1 << (row->exponent_bits + row->mantissa_bits);
    if (row->family == IEEE) return all - (1 << row->mantissa_bits);
    return row->family == FN || row->family == POWERS ? all - 1 : all;
}

static double value_of(const float_row *row, int code) {
    int sign_bit = row->family == POWERS ? 0 : 1 << (width(row) - 1);
    int magnitude = code & ~sign_bit, finite = finite_codes(row);
    if (row->family == FNUZ && code == sign_bit) return NAN;
    if (magnitude > finite || (magnitude == finite && row->family != IEEE)) return NAN;
    double value = magnitude == finite ? (double)INFINITY : plain(row, magnitude);
    return code & sign_bit ? -value : value;
}

/* The last of the codes 0 .. finite that is not above `value`; code `finite` is the first beyond the range.
 */
static int floor_code(const float_row *row, double value) {
    int low = 0, high = finite_codes(row);
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (plain(row, middle) <= value)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int nearest_code(const float_row *row, double value) {
    int finite = finite_codes(row), code = floor_code(row, value);
    if (code == finite || value <= plain(row, 0)) return code;
    double below = value - plain(row, code), above = plain(row, code + 1) - value; /* exact: few bits */
    bool up = above < below || (above == below && (code % 2 == 1 || row->family == POWERS));
    return code + up;
}

static int expected_code(const float_row *row, double value) {
    int sign_bit = row->family == POWERS ? 0 : 1 << (width(row) - 1), finite = finite_codes(row);
    int sign = signbit(value) ? sign_bit : 0;
    int nan = row->family == IEEE     ? finite + (1 << (row->mantissa_bits - 1))
              : row->family == FINITE ? 0
                                      : finite;
    if (row->family == FNUZ || row->family == FINITE)
        nan = sign_bit;
    else if (row->family != POWERS)
        nan |= sign;
    if (isnan(value) || (row->family == POWERS && (signbit(value) || value == 0))) return nan;
    int code = isinf(value) ? finite : nearest_code(row, fabs(value));
    if (code == finite)
        return row->family == IEEE ? sign | finite : row->family == FINITE ? sign | (finite - 1) : nan;
    return row->family == FNUZ && code == 0 ? 0 : sign | code;
}

static uint64_t mask(int bits) { return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

static uint64_t expected_integer(const integer_row *row, double value) {
    double low = row->is_signed ? -ldexp(1, row->bits - 1) : 0, high = ldexp(1, row->bits - row->is_signed);
    if (isnan(value)) return 0;
    value = trunc(value);
    if (value <= low) return row->is_signed ? UINT64_C(1) << (row->bits - 1) : 0;
    if (value >= high) return mask(row->bits - row->is_signed);
    return (value < 0 ? 0 - (uint64_t)-value : (uint64_t)value) & mask(row->bits);
}

/* From a value that is exact in double to every type; `exact_integer` where the source is an integer. */
static void check_value(ts_dtype from, uint64_t bits, double value, bool from_integer) {
    for (int i = 0; i < FLOATS; i++) {
        if (floats[i].dtype == from) continue;
        uint64_t got = ts_element_convert(from, bits, floats[i].dtype);
        if (got != (uint64_t)expected_code(&floats[i], value))
            fail_msg("%s 0x%llx (%a) to %s: 0x%llx, expected 0x%x", ts_dtype_get(from)->name,
                     (unsigned long long)bits, value, ts_dtype_get(floats[i].dtype)->name,
                     (unsigned long long)got, (unsigned)expected_code(&floats[i], value));
    }
    for (int i = 0; i < INTEGERS; i++) {
        uint64_t expected = expected_integer(&integers[i], value);
        if (from_integer) expected = (uint64_t)(int64_t)value & mask(integers[i].bits);
        if (integers[i].dtype == from) expected = bits;
        uint64_t got = ts_element_convert(from, bits, integers[i].dtype);
        if (got != expected)
            fail_msg("%s 0x%llx (%a) to %s: 0x%llx, expected 0x%llx", ts_dtype_get(from)->name,
                     (unsigned long long)bits, value, ts_dtype_get(integers[i].dtype)->name,
                     (unsigned long long)got, (unsigned long long)expected);
    }
    float narrow = (float)value;
    uint32_t narrow_bits = isnan(value) ? (signbit(value) ? 0xffc00000 : 0x7fc00000) : ts_f32_bits(narrow);
    assert_int_equal(ts_element_convert(from, bits, TS_DTYPE_F32), narrow_bits);
    assert_int_equal(ts_element_convert(from, bits, TS_DTYPE_PRED), value != 0);
}

static void check_double(ts_dtype dtype, uint64_t bits, double value) {
    double got = ts_element_to_double(dtype, bits);
    if (isnan(value) ? !isnan(got) : memcmp(&got, &value, sizeof got) != 0)
        fail_msg("%s 0x%llx: %a, expected %a", ts_dtype_get(dtype)->name, (unsigned long long)bits, got,
                 value);
}

/* Release has all codes, ASan one in seven: each goes the same way through memory. */
TEST(every_small_float_to_every_type) {
    for (int i = 0; i < FLOATS; i++) {
        for (int code = 0; code < 1 << width(&floats[i]); code += stride(1, 7)) {
            double value = value_of(&floats[i], code);
            bool negative = floats[i].family != POWERS && code >> (width(&floats[i]) - 1);
            if (isnan(value)) value = copysign((double)NAN, negative && floats[i].family != FNUZ ? -1 : 1);
            check_double(floats[i].dtype, (uint64_t)code, value);
            check_value(floats[i].dtype, (uint64_t)code, value, false);
        }
    }
}

TEST(every_small_integer_to_every_type) {
    for (int i = 0; i < INTEGERS; i++) {
        int bits = integers[i].bits;
        for (int64_t code = 0; bits <= 16 && code < 1 << bits; code += stride(1, 7)) {
            double value = (double)(integers[i].is_signed && code >> (bits - 1) ? code - (1 << bits) : code);
            check_double(integers[i].dtype, (uint64_t)code, value);
            check_value(integers[i].dtype, (uint64_t)code, value, true);
        }
    }
}

/* Halfway between all neighbours, and the doubles beside that: rounding twice would show. */
TEST(doubles_between_neighbours) {
    for (int i = 0; i < FLOATS; i++) {
        for (int code = 0; code < finite_codes(&floats[i]); code += stride(1, 7)) {
            double middle = (plain(&floats[i], code) + plain(&floats[i], code + 1)) / 2;
            double values[] = {middle, nextafter(middle, 0), nextafter(middle, (double)INFINITY)};
            for (int k = 0; k < 6; k++) {
                double value = k < 3 ? values[k] : -values[k - 3];
                uint64_t bits;
                memcpy(&bits, &value, sizeof bits);
                assert_int_equal(element_from_double(floats[i].dtype, value),
                                 expected_code(&floats[i], value));
                check_value(TS_DTYPE_F64, bits, value, false);
            }
        }
    }
}

static uint64_t seed = 20260101;
static uint64_t random_bits(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* The host's own conversions are the oracle for the wide types. */
TEST(wide_types_as_the_host) {
    for (int i = 0, most = rounds(1000000, 100000); i < most; i++) {
        uint64_t bits = random_bits() >> (random_bits() % 64), exponent = 1023 - 200 + random_bits() % 400;
        double value;
        uint64_t double_bits = (bits & 0x800fffffffffffff) | exponent << 52;
        memcpy(&value, &double_bits, sizeof value);
        assert_int_equal(ts_element_convert(TS_DTYPE_F64, double_bits, TS_DTYPE_F32),
                         ts_f32_bits((float)value));
        assert_int_equal(ts_element_convert(TS_DTYPE_S64, bits, TS_DTYPE_F32),
                         ts_f32_bits((float)(int64_t)bits));
        assert_int_equal(ts_element_convert(TS_DTYPE_U64, bits, TS_DTYPE_F32), ts_f32_bits((float)bits));
        double whole = (double)(int64_t)bits, natural = (double)bits;
        uint64_t got = ts_element_convert(TS_DTYPE_S64, bits, TS_DTYPE_F64);
        assert_memory_equal(&got, &whole, 8);
        got = ts_element_convert(TS_DTYPE_U64, bits, TS_DTYPE_F64);
        assert_memory_equal(&got, &natural, 8);
        double wide = (double)ts_f32_from_bits((uint32_t)bits & 0xff7fffff);
        got = ts_element_convert(TS_DTYPE_F32, (uint32_t)bits & 0xff7fffff, TS_DTYPE_F64);
        assert_memory_equal(&got, &wide, 8);
    }
}

static const struct {
    ts_dtype from;
    uint64_t bits;
    ts_dtype to;
    uint64_t result;
} rows[] = {
    {TS_DTYPE_F32, 0x3f808000, TS_DTYPE_BF16, 0x3f80}, /* a tie goes to even */
    {TS_DTYPE_F32, 0x3f818000, TS_DTYPE_BF16, 0x3f82},
    {TS_DTYPE_F32, 0x7f7fffff, TS_DTYPE_BF16, 0x7f80},         /* overflow */
    {TS_DTYPE_F32, 0xff800001, TS_DTYPE_BF16, 0xffc0},         /* a NaN whose payload would be lost */
    {TS_DTYPE_F64, 0x3ff0100000000001, TS_DTYPE_BF16, 0x3f81}, /* through f32 it would be a tie */
    {TS_DTYPE_S64, 0x0080800000000001, TS_DTYPE_BF16, 0x5b01}, /* the same from an integer */
    {TS_DTYPE_F32, 0x4f000000, TS_DTYPE_S32, 0x7fffffff},      /* 2^31 saturates */
    {TS_DTYPE_F32, 0xcf000000, TS_DTYPE_S32, 0x80000000},
    {TS_DTYPE_F32, 0xbfc00000, TS_DTYPE_S8, 0xff}, /* -1.5 truncates to -1 */
    {TS_DTYPE_F32, 0xbf000000, TS_DTYPE_U8, 0},
    {TS_DTYPE_F64, 0x43f0000000000000, TS_DTYPE_U64, UINT64_MAX}, /* 2^64 */
    {TS_DTYPE_F64, 0x43e0000000000000, TS_DTYPE_U64, UINT64_C(1) << 63},
    {TS_DTYPE_F32, 0xff800000, TS_DTYPE_S4, 0x8},
    {TS_DTYPE_F64, 1, TS_DTYPE_F32, 0}, /* the smallest double */
    {TS_DTYPE_F64, 0x8000000000000001, TS_DTYPE_F16, 0x8000},
    {TS_DTYPE_F64, 0x7fefffffffffffff, TS_DTYPE_F32, 0x7f800000},
    {TS_DTYPE_S32, 0xffffff80, TS_DTYPE_U8, 0x80}, /* modulo */
    {TS_DTYPE_S4, 0xf8, TS_DTYPE_S32, 0xfffffff8}, /* bits above the value are ignored */
    {TS_DTYPE_PRED, 0x80, TS_DTYPE_F32, 0x3f800000},
    {TS_DTYPE_F32, 0x7fc00000, TS_DTYPE_PRED, 1},
    {TS_DTYPE_F32, 0x80000000, TS_DTYPE_PRED, 0},
    {TS_DTYPE_F32, 0xffa00000, TS_DTYPE_F32, 0xffa00000}, /* the same type: the bits */
};

TEST(stated_results) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (ts_element_convert(rows[i].from, rows[i].bits, rows[i].to) != rows[i].result)
            fail_msg("row %zu: 0x%llx", i,
                     (unsigned long long)ts_element_convert(rows[i].from, rows[i].bits, rows[i].to));
}

/* Doubles of all upper halves, and around the exponents of f32: any, and ties of f32 and of bf16. */
static uint64_t wide_bits(size_t i) {
    uint64_t any = random_bits() << 32 ^ random_bits();
    uint64_t bits = (uint64_t)(872 + i % 281) << 52;
    bits |= (any & ((UINT64_C(1) << 52) - 1)) | (any >> 63 << 63);
    if (i % 4 == 0) return (uint64_t)i << 48;
    if (i % 4 == 1) return (bits >> 29 << 29) | UINT64_C(1) << 28;
    return i % 4 == 2 ? (bits >> 45 << 45) | UINT64_C(1) << 44 : bits;
}

/* Arrays, at odd addresses: bulk loops and the general one equal the definition. */
TEST(arrays_equal_elements) {
    enum { COUNT = 1 << 16 };
    static const ts_dtype pairs[][2] = {
        {TS_DTYPE_BF16, TS_DTYPE_F32}, {TS_DTYPE_F32, TS_DTYPE_BF16}, {TS_DTYPE_U16, TS_DTYPE_F64},
        {TS_DTYPE_BF16, TS_DTYPE_F64}, {TS_DTYPE_F64, TS_DTYPE_BF16}, {TS_DTYPE_F32, TS_DTYPE_F64},
        {TS_DTYPE_F64, TS_DTYPE_F32},  {TS_DTYPE_F32, TS_DTYPE_S4},   {TS_DTYPE_PRED, TS_DTYPE_S8}};
    uint8_t *source = malloc(COUNT * 8 + 1), *out = malloc(COUNT * 8 + 1);
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        size_t in_bytes = (size_t)ts_dtype_get(pairs[p][0])->stored_bits / 8;
        size_t out_bytes = (size_t)ts_dtype_get(pairs[p][1])->stored_bits / 8;
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t bits = in_bytes == 4 ? i << 16 | (random_bits() & 0xffff) : i; /* all upper halves */
            if (in_bytes == 4 && i % 3 == 0) bits = i << 16 | 0x8000;
            if (in_bytes == 8) bits = wide_bits(i);
            memcpy(source + 1 + i * in_bytes, &bits, in_bytes);
        }
        assert_true(ts_convert_elements(pairs[p][0], source + 1, pairs[p][1], out + 1, COUNT));
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t bits = 0, got = 0;
            memcpy(&bits, source + 1 + i * in_bytes, in_bytes);
            memcpy(&got, out + 1 + i * out_bytes, out_bytes);
            assert_int_equal(got, ts_element_convert(pairs[p][0], bits, pairs[p][1]));
        }
    }
    free(source);
    free(out);
}

TEST(what_does_not_convert) {
    uint8_t bytes[16] = {1, 2, 3}, out[16] = {0};
    assert_false(ts_convert_elements(TS_DTYPE_C64, bytes, TS_DTYPE_F32, out, 1));
    assert_false(ts_convert_elements(TS_DTYPE_F32, bytes, TS_DTYPE_C64, out, 1));
    assert_false(ts_convert_elements(TS_DTYPE_TOKEN, bytes, TS_DTYPE_TOKEN, out, 1));
    assert_true(ts_convert_elements(TS_DTYPE_C128, bytes, TS_DTYPE_C128, out, 1));
    assert_memory_equal(bytes, out, sizeof out);
    assert_true(ts_convert_elements(TS_DTYPE_F32, NULL, TS_DTYPE_F32, NULL, 0));
}
