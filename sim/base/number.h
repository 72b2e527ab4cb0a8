/* Numbers: checked integer arithmetic, and the small float formats, all independent of the host's libm,
 * rounding mode and NaN payloads. */
#ifndef TILESIM_BASE_NUMBER_H
#define TILESIM_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* False (and *out untouched) when the result does not fit in int64. */
static inline bool ts_mul(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool ts_add(int64_t a, int64_t b, int64_t *out) { return !__builtin_add_overflow(a, b, out); }

static inline int64_t ts_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ts_max(int64_t a, int64_t b) { return a > b ? a : b; }
/* Rounded down, of a number above 0, and rounded up; of 0, 0. */
static inline int ts_log2(int64_t n) { return 63 - __builtin_clzll((uint64_t)n); }
static inline int ts_log2_up(int64_t n) { return n > 1 ? ts_log2(n - 1) + 1 : 0; }
/* Of numbers whose product fits; 1 of none. */
static inline int64_t ts_product(int count, const int64_t *values) {
    int64_t product = 1;
    for (int i = 0; i < count; i++) product *= values[i];
    return product;
}
/* As qsort wants it: below 0 where a comes first. */
static inline int ts_order(int64_t a, int64_t b) { return (a > b) - (a < b); }
static inline int ts_order_reals(double a, double b) { return (a > b) - (a < b); }

/* Floor division (toward minus infinity) and its modulus, which has the sign of b; b is not 0, nor -1 with
 * the least a. */
static inline int64_t ts_floor_div(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
static inline int64_t ts_floor_mod(int64_t a, int64_t b) {
    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
}
/* a >= 0, b > 0; cannot overflow. */
static inline int64_t ts_ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
/* Rounds a >= 0 up to a multiple of b > 0; the caller checks for overflow with ts_add. */
static inline int64_t ts_round_up(int64_t a, int64_t b) { return ts_ceil_div(a, b) * b; }
/* The sum of floor((first + i * step) / by) for i from 0 to below count, in steps as of Euclid's algorithm
 * (Graham, Knuth and Patashnik, Concrete Mathematics, 3.5). None below 0, by > 0; the caller sees to it that
 * the sum fits. */
int64_t ts_floor_sum(int64_t count, int64_t first, int64_t step, int64_t by);
/* 0 of nothing. */
static inline double ts_fraction(int64_t part, int64_t whole) {
    return whole > 0 ? (double)part / (double)whole : 0;
}
static inline double ts_percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}
/* Positions from 0 to 1 that lie evenly, however many of them are taken: multiples of the golden section, n
 * from 1 on. */
static inline double ts_golden_part(int n) {
    double multiple = 0.618034 * n;
    return multiple - (double)(int)multiple;
}
int64_t ts_gcd(int64_t a, int64_t b);            /* of absolute values; gcd(0, 0) = 0 */
bool ts_lcm(int64_t a, int64_t b, int64_t *out); /* a, b > 0; false on overflow */

/* NaN without a sign: that of inf - inf is the host's. */
static inline double ts_plain_nan(double value) {
    return value != value ? (double)__builtin_nanf("") : value;
}

static inline uint32_t ts_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline float ts_f32_from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* Round to nearest, ties to even. A NaN becomes the quiet NaN 0x7fc0 with its sign; denormals are kept. */
uint16_t ts_bf16_from_f32(float value);

/* A float format of at most 16 bits, described: decode and encode follow from the row. */
typedef struct {
    int exponent_bits, mantissa_bits, bias;
    bool has_infinity;              /* f8e5m2, f8e4m3, f8e3m4: as IEEE */
    bool unsigned_zero;             /* fnuz: 0x80 is the only NaN, there is no -0 */
    bool has_nan;                   /* false: f4e2m1fn, f6* saturate instead */
    bool no_sign, no_mantissa_zero; /* f8e8m0fnu: 2^(e-127), 0xff is NaN */
} ts_float_format;
/* Exact. */
float ts_float_decode(const ts_float_format *format, uint32_t bits);
/* Round to nearest, ties to the even mantissa; overflow becomes infinity, or NaN where the format has none,
 * or the largest where it has neither. A NaN keeps its sign, but fnuz types and f8e8m0fnu have one without
 * sign (0x80, 0xff); where there is none it becomes -0. f8e8m0fnu has no mantissa: halfway between two powers
 * (1.5, 3, 6) is the larger; 0 and what is negative become NaN, what is too small the smallest power. As
 * ml_dtypes. */
uint32_t ts_float_encode(const ts_float_format *format, float value);

static inline bool ts_integers_equal(const int64_t *a, int a_count, const int64_t *b, int b_count) {
    return a_count == b_count && (a_count == 0 || memcmp(a, b, (size_t)a_count * sizeof *a) == 0);
}

/* The index of the largest value behind that of index `last` (-1: of all), of equal ones the first; -1: there
 * is none. `values`: the first of `count`, each so many bytes behind the one before. */
int ts_next_largest(const int64_t *values, size_t stride_bytes, int count, int last);

/* Rows of `width` integers, in the order of their first, second, .. number. */
bool ts_row_is_before(const int64_t *a, const int64_t *b, int width);
void ts_sort_rows(int64_t *rows, int64_t count, int width);

#endif
