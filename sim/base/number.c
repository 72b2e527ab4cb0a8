/* Numbers: gcd and lcm, and the small float formats by integer arithmetic on their bits. */
#include "base/number.h"

#include <assert.h>

int64_t ts_floor_sum(int64_t count, int64_t first, int64_t step, int64_t by) {
    int64_t sum = 0;
    for (;;) {
        sum += (count - 1) * count / 2 * (step / by) + count * (first / by);
        first %= by;
        step %= by;
        int64_t end = first + step * count, wide = by;
        if (end < by) return sum;
        count = end / by; /* the same points under the line, column by column */
        first = end % by;
        by = step;
        step = wide;
    }
}

int64_t ts_gcd(int64_t a, int64_t b) {
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    assert(x <= INT64_MAX); /* only gcd(INT64_MIN, 0 or INT64_MIN) is larger */
    return (int64_t)x;
}

bool ts_lcm(int64_t a, int64_t b, int64_t *out) {
    assert(a > 0 && b > 0);
    return ts_mul(a / ts_gcd(a, b), b, out);
}

uint16_t ts_bf16_from_f32(float value) {
    uint32_t bits = ts_f32_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)((bits >> 16 & 0x8000) | 0x7fc0);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The codes of a format, without the sign. */
static uint32_t all_ones(const ts_float_format *format) {
    return (1u << (format->exponent_bits + format->mantissa_bits)) - 1;
}
static uint32_t sign_bit(const ts_float_format *format) { return format->no_sign ? 0 : all_ones(format) + 1; }
static uint32_t infinity(const ts_float_format *format) {
    return all_ones(format) >> format->mantissa_bits << format->mantissa_bits;
}
static uint32_t largest(const ts_float_format *format) {
    if (format->has_infinity) return infinity(format) - 1;
    return all_ones(format) - (format->has_nan && !format->unsigned_zero);
}

/* `sign` is the sign bit of the format or 0. A format without NaN gets -0: the OCP MX formats leave it
 * open, and ml_dtypes does so. */
static uint32_t quiet_nan(const ts_float_format *format, uint32_t sign) {
    if (format->unsigned_zero || !format->has_nan) return sign_bit(format);
    if (format->has_infinity) return sign | infinity(format) | 1u << (format->mantissa_bits - 1);
    return sign | all_ones(format);
}

static bool is_nan(const ts_float_format *format, uint32_t bits) {
    if (!format->has_nan) return false;
    if (format->unsigned_zero) return bits == sign_bit(format);
    uint32_t code = bits & all_ones(format);
    return code > (format->has_infinity ? infinity(format) : largest(format));
}

/* mantissa * 2^exponent, which must be exact in f32: as a product of two doubles, so no rounding. */
static float exact(uint32_t mantissa, int exponent) {
    assert(exponent >= -1022 && exponent <= 1023);
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, 8);
    return (float)((double)mantissa * power);
}

float ts_float_decode(const ts_float_format *format, uint32_t bits) {
    uint32_t code = bits & all_ones(format);
    uint32_t sign = sign_bit(format) && (bits & sign_bit(format)) ? 0x80000000 : 0;
    if (is_nan(format, bits)) return ts_f32_from_bits((format->unsigned_zero ? 0 : sign) | 0x7fc00000);
    if (format->has_infinity && code == infinity(format)) return ts_f32_from_bits(sign | 0x7f800000);
    uint32_t exponent = code >> format->mantissa_bits, mantissa = code & ((1u << format->mantissa_bits) - 1);
    bool implicit_one = exponent > 0 || format->no_mantissa_zero;
    if (implicit_one) mantissa |= 1u << format->mantissa_bits;
    int power = (int)exponent + !implicit_one - format->bias - format->mantissa_bits;
    return ts_f32_from_bits(sign | ts_f32_bits(exact(mantissa, power)));
}

/* mantissa / 2^shift, to nearest, ties to even; 24-bit mantissas. */
static uint32_t round_shift(uint32_t mantissa, int shift) {
    if (shift <= 0) return mantissa << -shift;
    if (shift > 25) return 0;
    uint32_t kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), half = 1u << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* The code of a finite magnitude that is not 0 (f32 bits without sign), before overflow is looked at. */
static uint32_t encode_magnitude(const ts_float_format *format, uint32_t bits) {
    uint32_t mantissa = (bits & 0x7fffff) | (bits >> 23 ? 0x800000 : 0);
    int exponent = (bits >> 23 ? (int)(bits >> 23) : 1) - 127; /* of 1.0 in `mantissa` */
    while (!(mantissa & 0x800000)) {
        mantissa <<= 1;
        exponent--;
    }
    int biased = exponent + format->bias, lowest = format->no_mantissa_zero ? 0 : 1;
    int field = biased > lowest ? biased : lowest;
    uint32_t rounded = round_shift(mantissa, 23 - format->mantissa_bits + field - biased);
    if (format->no_mantissa_zero && rounded == 0) return 0; /* the smallest power: there is no zero */
    /* A carry out of the mantissa, or out of the denormals, goes into the exponent by itself. */
    return ((uint32_t)(field - lowest) << format->mantissa_bits) + rounded -
           (format->no_mantissa_zero ? 1u << format->mantissa_bits : 0);
}

uint32_t ts_float_encode(const ts_float_format *format, float value) {
    uint32_t bits = ts_f32_bits(value), magnitude = bits & 0x7fffffff;
    uint32_t sign = bits >> 31 ? sign_bit(format) : 0;
    if (magnitude > 0x7f800000 || (format->no_sign && bits >> 31)) return quiet_nan(format, sign);
    if (magnitude == 0)
        return format->no_mantissa_zero ? quiet_nan(format, 0) : format->unsigned_zero ? 0 : sign;
    uint32_t code = magnitude == 0x7f800000 ? UINT32_MAX : encode_magnitude(format, magnitude);
    if (code > largest(format)) {
        if (format->has_infinity) return sign | infinity(format);
        return format->has_nan ? quiet_nan(format, sign) : sign | largest(format);
    }
    return code == 0 && format->unsigned_zero ? 0 : sign | code;
}

/* ---- Sorting ---- */

bool ts_row_is_before(const int64_t *a, const int64_t *b, int width) {
    for (int i = 0; i < width; i++)
        if (a[i] != b[i]) return a[i] < b[i];
    return false;
}

static void swap(int64_t *a, int64_t *b, int width) {
    for (int i = 0; i < width; i++) {
        int64_t kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Row `at` of a heap moves down until none of its children is behind it. */
static void sink(int64_t *rows, int64_t at, int64_t count, int width) {
    for (int64_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && ts_row_is_before(rows + child * width, rows + (child + 1) * width, width))
            child++;
        if (!ts_row_is_before(rows + at * width, rows + child * width, width)) return;
        swap(rows + at * width, rows + child * width, width);
    }
}

int ts_next_largest(const int64_t *values, size_t stride_bytes, int count, int last) {
    const char *first = (const char *)values;
    int found = -1;
    int64_t most = 0, before = 0;
    if (last >= 0) memcpy(&before, first + (size_t)last * stride_bytes, sizeof before);
    for (int i = 0; i < count; i++) {
        int64_t value;
        memcpy(&value, first + (size_t)i * stride_bytes, sizeof value);
        bool is_behind = last < 0 || value < before || (value == before && i > last);
        if (is_behind && (found < 0 || value > most)) found = i, most = value;
    }
    return found;
}

/* Many are in order as they come; others by a heap, which takes no memory. */
void ts_sort_rows(int64_t *rows, int64_t count, int width) {
    int64_t sorted = 1;
    while (sorted < count && !ts_row_is_before(rows + sorted * width, rows + (sorted - 1) * width, width))
        sorted++;
    if (sorted >= count) return;
    for (int64_t i = count / 2 - 1; i >= 0; i--) sink(rows, i, count, width);
    for (int64_t left = count - 1; left > 0; left--) {
        swap(rows, rows + left * width, width);
        sink(rows, 0, left, width);
    }
}
