/* Numbers: integer helpers by rows; float formats against the definition of "nearest", by search. */
#include "tests/support/test.h"

#include <math.h>

#include "base/number.h"

TEST(checked_arithmetic) {
    int64_t out = 77;
    assert_true(ts_mul(INT64_C(1) << 31, INT64_C(1) << 31, &out));
    assert_int_equal(out, INT64_C(1) << 62);
    assert_true(ts_mul(INT64_MIN, 1, &out));
    assert_true(ts_add(INT64_MAX, INT64_MIN, &out));
    assert_int_equal(out, -1);
    static const int64_t fails[][2] = {{INT64_MAX, 2}, {INT64_MIN, -1}, {INT64_C(1) << 32, INT64_C(1) << 31}};
    for (size_t i = 0; i < 3; i++) assert_false(ts_mul(fails[i][0], fails[i][1], &out));
    assert_false(ts_add(INT64_MAX, 1, &out));
    assert_false(ts_add(INT64_MIN, -1, &out));
}

TEST(divisions) {
    for (int64_t a = -40; a <= 40; a++)
        for (int64_t b = -12; b <= 12; b++) {
            if (b == 0) continue;
            int64_t quotient = ts_floor_div(a, b), rest = ts_floor_mod(a, b);
            assert_int_equal(quotient * b + rest, a);
            assert_true(b > 0 ? rest >= 0 && rest < b : rest <= 0 && rest > b);
            if (a < 0 || b < 0) continue;
            int64_t up = ts_ceil_div(a, b);
            assert_true(up * b >= a && up * b < a + b);
            assert_int_equal(ts_round_up(a, b), up * b);
        }
    assert_int_equal(ts_floor_div(INT64_MIN, 3), -3074457345618258603);
    assert_int_equal(ts_floor_div(INT64_MIN, -2), INT64_C(1) << 62);
    assert_int_equal(ts_floor_mod(INT64_MIN, -3), -2);
    assert_int_equal(ts_ceil_div(INT64_MAX, 2), INT64_C(1) << 62);
}

TEST(floor_sums) {
    for (int64_t by = 1; by <= 12; by++)
        for (int64_t step = 0; step <= 26; step++)
            for (int64_t first = 0; first <= 26; first++)
                for (int64_t count = 0, sum = 0; count <= 14; sum += (first + count * step) / by, count++)
                    assert_int_equal(ts_floor_sum(count, first, step, by), sum);
    /* a whole period: (by - 1)(step - 1) / 2 where they have no common divisor */
    assert_int_equal(ts_floor_sum(1000003, 0, 999983, 1000003), INT64_C(1000002) * 999982 / 2);
}

TEST(gcd_and_lcm) {
    static const struct {
        int64_t a, b, gcd;
    } rows[] = {{0, 0, 0},    {0, 5, 5},         {12, 18, 6},       {-12, 18, 6},
                {12, -18, 6}, {INT64_MIN, 6, 2}, {INT64_MAX, 7, 7}, {1, INT64_MAX, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(ts_gcd(rows[i].a, rows[i].b), rows[i].gcd);
    int64_t out = 0;
    assert_true(ts_lcm(4, 6, &out));
    assert_int_equal(out, 12);
    assert_true(ts_lcm(INT64_MAX, INT64_MAX, &out));
    assert_int_equal(out, INT64_MAX);
    assert_false(ts_lcm(INT64_MAX, INT64_MAX - 1, &out));
}

/* ---- float formats ----
 * A format's values, written from its description with ldexp, in the order of their codes. */
typedef struct {
    const char *name;
    ts_float_format format;
    int bits;               /* with the sign */
    double smallest;        /* the smallest value above zero */
    double largest;         /* the largest finite value */
    uint32_t nan, infinity; /* the codes of +NaN and +infinity; NONE */
} expectation;

enum { NONE = 0xfffff };

/* OCP 8-bit and MX specifications, table 1 each; IEEE 754; ml_dtypes for the others. */
static const expectation formats[] = {
    {"bf16", {8, 7, 127, .has_infinity = true, .has_nan = true}, 16, 0x1p-133, 0x1.fep127, 0x7fc0, 0x7f80},
    {"f16", {5, 10, 15, .has_infinity = true, .has_nan = true}, 16, 0x1p-24, 65504, 0x7e00, 0x7c00},
    {"f8e5m2", {5, 2, 15, .has_infinity = true, .has_nan = true}, 8, 0x1p-16, 57344, 0x7e, 0x7c},
    {"f8e4m3", {4, 3, 7, .has_infinity = true, .has_nan = true}, 8, 0x1p-9, 240, 0x7c, 0x78},
    {"f8e3m4", {3, 4, 3, .has_infinity = true, .has_nan = true}, 8, 0x1p-6, 15.5, 0x78, 0x70},
    {"f8e4m3fn", {4, 3, 7, .has_nan = true}, 8, 0x1p-9, 448, 0x7f, NONE},
    {"f8e4m3fnuz", {4, 3, 8, .unsigned_zero = true, .has_nan = true}, 8, 0x1p-10, 240, 0x80, NONE},
    {"f8e5m2fnuz", {5, 2, 16, .unsigned_zero = true, .has_nan = true}, 8, 0x1p-17, 57344, 0x80, NONE},
    {"f8e4m3b11fnuz", {4, 3, 11, .unsigned_zero = true, .has_nan = true}, 8, 0x1p-13, 30, 0x80, NONE},
    {"f6e2m3fn", {2, 3, .bias = 1}, 6, 0.125, 7.5, NONE, NONE},
    {"f6e3m2fn", {3, 2, .bias = 3}, 6, 0.0625, 28, NONE, NONE},
    {"f4e2m1fn", {2, 1, .bias = 1}, 4, 0.5, 6, NONE, NONE},
    {"f8e8m0fnu",
     {8, 0, 127, .has_nan = true, .no_sign = true, .no_mantissa_zero = true},
     8,
     0x1p-127,
     0x1p127,
     0xff,
     NONE},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* The finite magnitude of a code without sign. */
static double magnitude(const expectation *e, uint32_t code) {
    int m = e->format.mantissa_bits, exponent = (int)(code >> m);
    double fraction = ldexp(code & ((1u << m) - 1), -m);
    if (e->format.no_mantissa_zero) return ldexp(1, exponent - 127);
    return exponent ? ldexp(1 + fraction, exponent - e->format.bias) : ldexp(fraction, 1 - e->format.bias);
}

/* How many codes, from 0 on, are finite magnitudes. */
static uint32_t finite_codes(const expectation *e) {
    uint32_t count = 1u << (e->bits - !e->format.no_sign);
    while (magnitude(e, count - 1) > e->largest) count--;
    return count;
}

TEST(decoding) {
    for (size_t i = 0; i < FORMATS; i++) {
        const expectation *e = &formats[i];
        uint32_t finite = finite_codes(e), sign = e->format.no_sign ? 0 : 1u << (e->bits - 1);
        assert_true(magnitude(e, finite - 1) == e->largest);
        assert_true(magnitude(e, e->format.no_mantissa_zero ? 0 : 1) == e->smallest);
        for (uint32_t bits = 0; bits < 1u << e->bits; bits++) {
            uint32_t code = bits & ~sign;
            float value = ts_float_decode(&e->format, bits);
            bool unsigned_nan = e->format.unsigned_zero && bits == sign;
            if (code < finite && !unsigned_nan) {
                assert_true(fabs((double)value) == magnitude(e, code));
                assert_int_equal(!signbit(value), !(bits & sign));
            } else if (code == e->infinity) {
                assert_true(isinf(value) && !signbit(value) == !(bits & sign));
            } else {
                assert_int_equal(ts_f32_bits(value) & 0x7fffffff, 0x7fc00000);
                assert_int_equal(!signbit(value), !(bits & sign) || unsigned_nan);
            }
        }
    }
}

/* The code that is even in the sense of ties: of a format without mantissa bits, 2.0 is even and 1.0 odd. */
static bool tie_goes_up(const expectation *e, uint32_t low) {
    return e->format.mantissa_bits == 0 || low % 2;
}

/* What a positive `value` must become, from the definition: the nearer of its two neighbours, at a tie the
 * even one. Beyond the largest, the value that would come next is the neighbour, and stands for overflow. */
static uint32_t nearest_code(const expectation *e, double value, uint32_t finite) {
    uint32_t low = 0, high = finite;
    if (value <= magnitude(e, 0)) return 0;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(magnitude(e, middle) <= value ? &low : &high) = middle;
    }
    double below = value - magnitude(e, low), above = magnitude(e, high) - value;
    bool up = below > above || (below == above && tie_goes_up(e, low));
    if (!up || high < finite) return up ? high : low;
    return e->infinity != NONE ? e->infinity : e->nan != NONE ? e->nan : low;
}

static void assert_code(const expectation *e, float value, uint32_t expected) {
    uint32_t got = ts_float_encode(&e->format, value);
    if (got != expected) fail_msg("%s of %a: %#x, expected %#x", e->name, (double)value, got, expected);
}

static void check_encoding(const expectation *e, float value, uint32_t finite) {
    uint32_t sign = e->format.no_sign ? 0 : 1u << (e->bits - 1);
    uint32_t code = nearest_code(e, (double)value, finite);
    assert_code(e, value, code);
    uint32_t negative = e->format.no_sign                           ? e->nan
                        : code == e->nan && e->format.unsigned_zero ? code
                                                                    : code | sign;
    if (code == 0 && e->format.unsigned_zero) negative = 0;
    assert_code(e, -value, negative);
}

/* Every value of each format, every middle of two neighbours, and the f32 values around them. */
TEST(encoding) {
    for (size_t i = 0; i < FORMATS; i++) {
        const expectation *e = &formats[i];
        uint32_t finite = finite_codes(e);
        for (uint32_t code = 0; code < finite; code++) {
            float value = (float)magnitude(e, code);
            float step = value - (float)magnitude(e, code ? code - 1 : 0);
            float next = code + 1 < finite ? (float)magnitude(e, code + 1) : value + step;
            float middle = (float)(((double)value + (double)next) / 2);
            const float tried[] = {value,  nextafterf(value, INFINITY),  nextafterf(value, 0),
                                   middle, nextafterf(middle, INFINITY), nextafterf(middle, 0)};
            for (size_t t = 0; t < 6; t++)
                if (tried[t] > 0 && !isinf(tried[t])) check_encoding(e, tried[t], finite);
        }
    }
}

/* All exponents of f32 with a spread of mantissas: far beyond and far below each format. */
TEST(encoding_far_values) {
    for (size_t i = 0; i < FORMATS; i++) {
        uint32_t finite = finite_codes(&formats[i]);
        for (uint32_t bits = 1; bits < 0x7f800000; bits += 0x1357b)
            check_encoding(&formats[i], ts_f32_from_bits(bits), finite);
        check_encoding(&formats[i], ts_f32_from_bits(0x7f7fffff), finite);
        check_encoding(&formats[i], ts_f32_from_bits(1), finite);
    }
}

TEST(encoding_specials) {
    for (size_t i = 0; i < FORMATS; i++) {
        const expectation *e = &formats[i];
        const ts_float_format *f = &e->format;
        uint32_t sign = f->no_sign ? 0 : 1u << (e->bits - 1), largest = finite_codes(e) - 1;
        uint32_t infinity = e->infinity != NONE ? e->infinity : e->nan != NONE ? e->nan : largest;
        uint32_t nan = e->nan != NONE ? e->nan : sign;
        assert_int_equal(ts_float_encode(f, INFINITY), infinity);
        assert_int_equal(ts_float_encode(f, -INFINITY), infinity | sign);
        static const uint32_t nans[] = {0x7fc00000, 0x7f800001, 0x7fffffff}; /* payloads do not matter */
        for (size_t n = 0; n < 3; n++) {
            assert_int_equal(ts_float_encode(f, ts_f32_from_bits(nans[n])), nan);
            assert_int_equal(ts_float_encode(f, ts_f32_from_bits(nans[n] | 0x80000000)), nan | sign);
        }
        assert_int_equal(ts_float_encode(f, 0.0f), f->no_mantissa_zero ? nan : 0);
        assert_int_equal(ts_float_encode(f, -0.0f), f->no_mantissa_zero ? nan : f->unsigned_zero ? 0 : sign);
    }
}

/* The two functions of their own agree with the table's rows; bf16 also by its own definition in doubles. */
/* What number.h says of ties, zeros and the signs of NaN, value by value. */
TEST(encoding_facts) {
    static const struct {
        const char *format;
        uint32_t f32;
        uint32_t code;
    } rows[] = {
        /* f8e8m0fnu: halfway between two powers is the larger, just below it the smaller. */
        {"f8e8m0fnu", 0x3f800000, 127},
        {"f8e8m0fnu", 0x3fbfffff, 127},
        {"f8e8m0fnu", 0x3fc00000, 128},
        {"f8e8m0fnu", 0x403fffff, 128},
        {"f8e8m0fnu", 0x40400000, 129},
        {"f8e8m0fnu", 0x40c00000, 130},
        {"f8e8m0fnu", 0x3f400000, 127},
        {"f8e8m0fnu", 0x7f000000, 254},
        {"f8e8m0fnu", 0x7f3fffff, 254},
        {"f8e8m0fnu", 0x7f400000, 255},
        {"f8e8m0fnu", 0x7f800000, 255},
        {"f8e8m0fnu", 0x00400000, 0},
        {"f8e8m0fnu", 0x00600000, 1},
        {"f8e8m0fnu", 0x005fffff, 0},
        {"f8e8m0fnu", 0x00000001, 0},
        {"f8e8m0fnu", 0x00000000, 255},
        {"f8e8m0fnu", 0x80000000, 255},
        {"f8e8m0fnu", 0xbf800000, 255},
        {"f8e8m0fnu", 0x7fc00000, 255},
        {"f8e8m0fnu", 0xffc00000, 255},
        {"f8e8m0fnu", 0xff800000, 255},
        /* fnuz: one NaN and one zero, both without sign; ties are even. */
        {"f8e4m3fnuz", 0x7fc00000, 0x80},
        {"f8e4m3fnuz", 0xffc00000, 0x80},
        {"f8e4m3fnuz", 0x80000000, 0x00},
        {"f8e4m3fnuz", 0xff800000, 0x80},
        {"f8e4m3fnuz", 0xba000000, 0x00},
        {"f8e4m3fnuz", 0xba000001, 0x81},
        {"f8e4m3fnuz", 0x43700000, 0x7f},
        {"f8e4m3fnuz", 0x4377ffff, 0x7f},
        {"f8e4m3fnuz", 0x43780000, 0x80},
        {"f8e4m3fnuz", 0x3f880000, 0x40},
        {"f8e4m3fnuz", 0x3f980000, 0x42},
        {"f8e4m3fnuz", 0xbf980000, 0xc2},
        {"f8e5m2fnuz", 0x7fc00000, 0x80},
        {"f8e5m2fnuz", 0xffc00000, 0x80},
        {"f8e5m2fnuz", 0x80000000, 0x00},
        {"f8e4m3b11fnuz", 0xffc00000, 0x80},
        {"f8e4m3b11fnuz", 0x80000000, 0x00},
        /* The others: a NaN keeps its sign, and is -0 where there is none. */
        {"f8e4m3fn", 0x7fc00000, 0x7f},
        {"f8e4m3fn", 0xffc00000, 0xff},
        {"f8e5m2", 0xffc00000, 0xfe},
        {"bf16", 0xffc00000, 0xffc0},
        {"f4e2m1fn", 0x7fc00000, 0x8},
        {"f4e2m1fn", 0xffc00000, 0x8},
        {"f6e2m3fn", 0x7fc00000, 0x20},
        {"f6e3m2fn", 0xffc00000, 0x20},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int f = 0;
        while (strcmp(formats[f].name, rows[i].format) != 0) assert_in_range(++f, 0, FORMATS - 1);
        uint32_t code = ts_float_encode(&formats[f].format, ts_f32_from_bits(rows[i].f32));
        if (code != rows[i].code)
            fail_msg("%s of 0x%08x: 0x%02x, expected 0x%02x", rows[i].format, rows[i].f32, code,
                     rows[i].code);
    }
    /* Read back: these NaNs have no sign, f8e4m3fn's has. */
    for (int f = 0; f < FORMATS; f++) {
        if (formats[f].format.unsigned_zero)
            assert_int_equal(ts_f32_bits(ts_float_decode(&formats[f].format, 0x80)), 0x7fc00000);
        if (strcmp(formats[f].name, "f8e4m3fn") == 0)
            assert_int_equal(ts_f32_bits(ts_float_decode(&formats[f].format, 0xff)), 0xffc00000);
        if (formats[f].format.no_sign)
            assert_int_equal(ts_f32_bits(ts_float_decode(&formats[f].format, 0xff)), 0x7fc00000);
    }
}

TEST(bf16) {
    static const uint32_t tails[] = {0, 1, 0x1000, 0x7fff, 0x8000, 0x8001, 0xffff};
    for (uint32_t high = 0; high < 0x10000; high++) {
        for (size_t t = 0; t < sizeof tails / sizeof tails[0]; t++) {
            float value = ts_f32_from_bits(high << 16 | tails[t]);
            uint16_t bits = ts_bf16_from_f32(value);
            assert_int_equal(bits, ts_float_encode(&formats[0].format, value));
            if (isnan(value)) assert_int_equal(bits, (high & 0x8000) | 0x7fc0);
            bool up = tails[t] > 0x8000 || (tails[t] == 0x8000 && (high & 1));
            if (!isnan(value)) assert_int_equal(bits, high + up);
        }
    }
}

/* Against sorting by insertion, with few different values, so that many rows are equal in part. */
TEST(sorted_rows) {
    enum { ROWS = 40, WIDTH = 3 };
    uint32_t seed = 1;
    for (int round = 0; round < 300; round++) {
        int width = 1 + round % WIDTH, count = round % (ROWS + 1);
        int64_t rows[ROWS * WIDTH], want[ROWS * WIDTH];
        for (int i = 0; i < count * width; i++) {
            seed = seed * 1664525 + 1013904223;
            rows[i] = (int64_t)(seed >> 24) % (1 + round / 30) - 2;
            if (round % 7 == 0) rows[i] = i / width - 5; /* in order */
        }
        for (int i = 0; i < count; i++) {
            int at = i;
            for (; at > 0; at--) {
                const int64_t *last = want + (at - 1) * width, *row = rows + i * width;
                int k = 0;
                while (k < width && last[k] == row[k]) k++;
                if (k == width || last[k] < row[k]) break;
                memcpy(want + at * width, last, (size_t)width * sizeof *want);
            }
            memcpy(want + at * width, rows + i * width, (size_t)width * sizeof *want);
        }
        ts_sort_rows(rows, count, width);
        if (count > 0) assert_memory_equal(rows, want, (size_t)(count * width) * sizeof *want);
    }
}

/* Every second of these numbers, the largest first. */
TEST(largest_first) {
    static const int64_t values[] = {3, 9, 7, 9, INT64_MIN, 9, 7, 9, 0, 9};
    static const int order[] = {1, 3, 0, 4, 2, -1}; /* of 3, 7, INT64_MIN, 7, 0 */
    for (int i = 0; i < 6; i++)
        assert_int_equal(ts_next_largest(values, 2 * sizeof *values, 5, i == 0 ? -1 : order[i - 1]),
                         order[i]);
    assert_int_equal(ts_next_largest(values, 2 * sizeof *values, 0, -1), -1);
}

TEST(logarithms) {
    static const struct {
        int64_t n;
        int down, up;
    } rows[] = {{1, 0, 0}, {2, 1, 1}, {3, 1, 2}, {4, 2, 2}, {5, 2, 3}, {INT64_MAX, 62, 63}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(ts_log2(rows[i].n), rows[i].down);
        assert_int_equal(ts_log2_up(rows[i].n), rows[i].up);
    }
    assert_int_equal(ts_log2_up(0), 0);
}
