/* The loops of the reference: each version for this host against plain definitions, and against the first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/reference_loops.h"
#include "tests/support/test.h"
#include "layout/convert.h"

enum { COUNT = 64 * 300 + 37 };

static uint64_t random_state = 1;
static uint64_t next(void) {
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(double low, double high) {
    return low + (high - low) * (double)(next() >> 11) * 0x1p-53;
}

static double of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Any double: every sign, exponent and special value. */
static double any(void) {
    static const double special[] = {0.0, -0.0, (double)INFINITY, -(double)INFINITY, (double)NAN, 1, -1};
    uint64_t bits = next();
    return bits % 16 == 0 ? special[next() % 7] : of_bits(next());
}

/* So much of an ulp of a double is between them. */
static long double off(double found, long double exact) {
    double near = (double)exact;
    if (near == found || (isnan(near) && isnan(found)))
        return isfinite(near) ? fabsl((long double)found - exact) /
                                    (nextafter(fabs(near), (double)INFINITY) - fabs(near))
                              : 0;
    return fabsl((long double)found - exact) / (nextafter(fabs(near), (double)INFINITY) - fabs(near));
}

static void check_function(ts_reference_each *loop, long double (*exact)(long double), const double *x,
                           long double most) {
    static double found[COUNT], one;
    loop(found, x, COUNT);
    for (int i = 0; i < COUNT; i++) {
        long double wrong = off(found[i], exact(x[i]));
        if (!(wrong <= most)) fail_msg("f(%a) = %a, %Lg ulp off", x[i], found[i], wrong);
        one = x[i];
        loop(&one, &one, 1);
        if (memcmp(&one, &found[i], sizeof one) != 0) fail_msg("f(%a) depends on its neighbours", x[i]);
    }
}

TEST(exponentials_and_logarithms) {
    static double exponents[COUNT], numbers[COUNT];
    static const double edges[] = {0,
                                   -0.0,
                                   708,
                                   709.7,
                                   709.8,
                                   1e300,
                                   -708,
                                   -708.5,
                                   -745,
                                   -746,
                                   -747,
                                   (double)INFINITY,
                                   -(double)INFINITY,
                                   (double)NAN,
                                   0x1p-1074,
                                   0x1p-60,
                                   -0x1p-60};
    static const double near_1[] = {1,
                                    1 - 0x1p-53,
                                    1 + 0x1p-52,
                                    0x1.6a09e667f3bccp-1,
                                    0x1.6a09e667f3bcdp-1,
                                    0x1.6a09e667f3bcep-1,
                                    0x1.6a09e667f3bcdp0,
                                    0,
                                    -0.0,
                                    -1,
                                    (double)INFINITY,
                                    (double)NAN,
                                    0x1p-1074,
                                    0x1p-1022,
                                    0x1.fffffffffffffp1023,
                                    2,
                                    0.5};
    for (int i = 0; i < COUNT; i++) {
        exponents[i] = i % 3 == 0 ? uniform(-750, 715) : i % 3 == 1 ? uniform(-1, 1) : uniform(-20, 20);
        numbers[i] = i % 3 == 0 ? fabs(any()) : i % 3 == 1 ? uniform(0.6, 1.6) : uniform(0, 1000);
    }
    memcpy(exponents + 100, edges, sizeof edges);
    memcpy(numbers + 100, near_1, sizeof near_1);
    for (int v = 0; ts_reference_loops_get(v); v++) {
        check_function(ts_reference_loops_get(v)->exponential, expl, exponents, 0.7L);
        check_function(ts_reference_loops_get(v)->logarithm, logl, numbers, 1);
    }
}

TEST(hyperbolic_tangents) {
    static double values[COUNT];
    static const double edges[] = {0,
                                   -0.0,
                                   0x1p-1074,
                                   -0x1p-1022,
                                   0x1p-60,
                                   0x1.62e42fefa39efp-3, /* log(2) / 4: 2 x becomes log(2) + r */
                                   0x1.62e42fefa39eep-3,
                                   1,
                                   -0x1.fffffffffffffp-1,
                                   18.5,
                                   22,
                                   -22.5,
                                   1e300,
                                   (double)INFINITY,
                                   -(double)INFINITY,
                                   (double)NAN};
    for (int i = 0; i < COUNT; i++)
        values[i] = i % 4 == 0 ? any() : i % 4 == 1 ? uniform(-24, 24) : uniform(-1.5, 1.5);
    memcpy(values + 100, edges, sizeof edges);
    for (int v = 0; ts_reference_loops_get(v); v++)
        check_function(ts_reference_loops_get(v)->hyperbolic_tangent, tanhl, values, 3);
}

static const ts_dtype plain[] = {TS_DTYPE_F32, TS_DTYPE_BF16, TS_DTYPE_F16, TS_DTYPE_F8E5M2,
                                 TS_DTYPE_F8E4M3FN};
enum { PLAIN = sizeof plain / sizeof *plain };

/* A value of the type, or at the middle of two, or close to one. */
static double near_type(const ts_reference_type *type) {
    double value = any(), scale = ldexp(1, (int)(next() % 40) - 20);
    if (next() % 4 == 0) return value;
    if (next() % 4 == 0) return type->largest * uniform(0.99, 1.01);
    double least = ldexp(type->least_power, -type->mantissa_bits - 1);
    if (next() % 4 == 0) return least * (double)(int64_t)(next() % 64) * (next() % 2 ? 1 : -1);
    value = (double)(int64_t)(next() % 4096) * scale;
    return next() % 2 ? value : nextafter(value, next() % 2 ? 0 : (double)INFINITY);
}

TEST(rounding_is_that_of_one) {
    static double values[COUNT], found[COUNT];
    for (int k = 0; k < PLAIN; k++) {
        ts_reference_type type = ts_reference_describe(plain[k]);
        assert_true(type.plain);
        for (int i = 0; i < COUNT; i++) values[i] = near_type(&type);
        for (int v = 0; ts_reference_loops_get(v); v++) {
            memcpy(found, values, sizeof found);
            ts_reference_loops_get(v)->round(&type, found, COUNT);
            for (int i = 0; i < COUNT; i++) {
                double wanted = ts_reference_round(&type, values[i]);
                if (isnan(wanted) ? !isnan(found[i]) : memcmp(&wanted, &found[i], sizeof wanted) != 0)
                    fail_msg("%s: %a becomes %a, expected %a", ts_dtype_get(plain[k])->name, values[i],
                             found[i], wanted);
            }
        }
    }
    assert_false(ts_reference_describe(TS_DTYPE_F64).plain);
    assert_false(ts_reference_describe(TS_DTYPE_S32).plain);
    assert_false(ts_reference_describe(TS_DTYPE_F8E8M0FNU).plain);
    assert_false(ts_reference_describe(TS_DTYPE_F8E4M3B11FNUZ).plain);
}

TEST(types_whose_values_f32_has) {
    static const struct {
        ts_dtype dtype;
        bool single;
    } types[] = {{TS_DTYPE_F32, true},       {TS_DTYPE_BF16, true}, {TS_DTYPE_F16, true},
                 {TS_DTYPE_F8E8M0FNU, true}, {TS_DTYPE_S8, true},   {TS_DTYPE_U16, true},
                 {TS_DTYPE_PRED, true},      {TS_DTYPE_F64, false}, {TS_DTYPE_S32, false},
                 {TS_DTYPE_U32, false},      {TS_DTYPE_S64, false}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        assert_int_equal(ts_reference_describe(types[i].dtype).single, types[i].single);
}

static bool passes(const ts_reference_block *b, int i) {
    double got = b->got[i], wanted = b->wanted[i], err = b->err[i], distance = fabs(got - wanted);
    double ulps = ts_reference_distance(b->type, got, wanted);
    return ulps == 0 || ulps <= b->bound.ulp || distance <= b->bound.abs ||
           distance <= b->bound.rel * fabs(wanted) || (isinf(err) && err > 0) ||
           (got >= ts_reference_round(b->type, wanted - err) &&
            got <= ts_reference_round(b->type, wanted + err));
}

/* Never more than what passes, the same distances, and what is right by any one bound is seen to be. */
static void check_compare(const ts_reference_loops *loops, const ts_reference_block *b, size_t count,
                          bool surely) {
    double ulps = -1, distance = -1, most_ulps = 0, most = 0;
    bool all = true, said = loops->compare(b, count, &ulps, &distance);
    for (size_t i = 0; i < count; i++) {
        all = all && isfinite(b->got[i]) && isfinite(b->wanted[i]) && passes(b, (int)i);
        most_ulps = fmax(most_ulps, ts_reference_distance(b->type, b->got[i], b->wanted[i]));
        most = fmax(most, fabs(b->got[i] - b->wanted[i]));
    }
    assert_true(!said || all);
    if (surely) assert_true(said == all);
    if (!said) return;
    assert_true(ulps == most_ulps && distance == most);
}

TEST(comparisons_are_those_of_each) {
    enum { SOME = 150 };
    double got[SOME], wanted[SOME], err[SOME];
    for (int trial = 0; trial < 4000; trial++) {
        ts_reference_type type = ts_reference_describe(plain[next() % PLAIN]);
        bool rounding;
        ts_reference_block b = {&type, {-1, -1, -1}, got, wanted, err, &rounding};
        size_t count = next() % (SOME + 1);
        double wide = ldexp(1, (int)(next() % 8) - 5), scale = ldexp(1, (int)(next() % 12) - 6);
        int kind = (int)(next() % 6);
        for (size_t i = 0; i < SOME; i++) {
            wanted[i] = uniform(-2, 2) * scale;
            double unit = ldexp(1, ilogb(wanted[i]) - type.mantissa_bits);
            got[i] = ts_reference_round(&type, wanted[i] + unit * uniform(-wide, wide));
            err[i] = kind == 4 ? unit * uniform(0, 2 * wide) : kind == 5 ? 0 : -(double)INFINITY;
        }
        if (kind == 0) b.bound.ulp = uniform(0, 2 * wide);
        if (kind == 1) b.bound.abs = scale * ldexp(1, -type.mantissa_bits) * uniform(0, 2 * wide);
        if (kind == 2) b.bound.rel = ldexp(1, -type.mantissa_bits) * uniform(0, 2 * wide);
        if (trial % 50 == 0) got[next() % SOME] = any();
        if (trial % 50 == 1) wanted[next() % SOME] = any();
        if (trial % 50 == 2) err[next() % SOME] = (double)NAN;
        for (int v = 0; ts_reference_loops_get(v); v++) {
            rounding = trial % 3 == 0;
            check_compare(ts_reference_loops_get(v), &b, count, kind < 3 || kind == 5);
            check_compare(ts_reference_loops_get(v), &b, count, kind < 3 || kind == 5);
        }
    }
}

/* Beside powers of two, where the numbers of a type below are nearer than those above: an err that is less than the
 * distance by some part of a unit of the last place. */
TEST(an_err_and_what_rounding_adds) {
    double got, wanted, err, ulps, distance;
    for (int trial = 0; trial < 60000; trial++) {
        ts_reference_type type = ts_reference_describe(plain[next() % PLAIN]);
        bool rounding = trial % 2 == 0;
        const ts_reference_block b = {&type, {-1, -1, -1}, &got, &wanted, &err, &rounding};
        double power = ldexp(next() % 2 ? 1 : -1, (int)(next() % 5) - 2), unit = fabs(power) / type.units;
        got = power + unit * ((double)(next() % 5) - 2) / 2;
        got = ts_reference_round(&type, got);
        wanted = got + unit * uniform(-1, 1) * ldexp(1, (int)(next() % 4) - 1);
        err = fabs(got - wanted) - unit * uniform(0, 0.6);
        for (int v = 0; ts_reference_loops_get(v); v++)
            assert_int_equal(ts_reference_loops_get(v)->compare(&b, 1, &ulps, &distance), passes(&b, 0));
    }
}

/* What is rounded rightly passes for any err but those below 0 and NaN, whatever is tried first. */
TEST(rounded_values_need_an_err) {
    enum { SOME = 40 };
    static const double errs[] = {0, -0.0, 1e-300, -0.5, -1, (double)NAN, -(double)NAN};
    double got[SOME], wanted[SOME], err[SOME], ulps, distance;
    const ts_reference_type type = ts_reference_describe(TS_DTYPE_BF16);
    for (int i = 0; i < SOME; i++) {
        wanted[i] = uniform(-2, 2);
        got[i] = ts_reference_round(&type, wanted[i]);
    }
    for (int number = 0; number < 14; number++) {
        for (int v = 0; ts_reference_loops_get(v); v++) {
            bool rounding = number >= 7, passes = number % 7 < 3;
            for (int i = 0; i < SOME; i++) err[i] = i == number ? errs[number % 7] : 0;
            const ts_reference_block b = {&type, {-1, -1, -1}, got, wanted, err, &rounding};
            assert_int_equal(ts_reference_loops_get(v)->compare(&b, SOME, &ulps, &distance), passes);
            assert_int_equal(rounding, passes || number >= 7);
        }
    }
}

TEST(conversions_are_exact) {
    static uint16_t halves[1 << 16];
    static float floats[COUNT];
    static double found[1 << 16];
    for (int i = 0; i < 1 << 16; i++) halves[i] = (uint16_t)i;
    for (int i = 0; i < COUNT; i++) {
        uint32_t bits = (uint32_t)next();
        memcpy(&floats[i], &bits, sizeof bits);
    }
    for (int v = 0; ts_reference_loops_get(v); v++) {
        ts_reference_loops_get(v)->from_bf16(halves, found, 1 << 16);
        for (int i = 0; i < 1 << 16; i++) {
            double wanted = ts_element_to_double(TS_DTYPE_BF16, halves[i]);
            assert_true(found[i] == wanted || (isnan(found[i]) && isnan(wanted)));
        }
        ts_reference_loops_get(v)->from_f32(floats, found, COUNT);
        for (int i = 0; i < COUNT; i++)
            assert_true(found[i] == (double)floats[i] || (isnan(found[i]) && isnan(floats[i])));
    }
}

/* By the loop for any numbers, and by that for numbers of f32, whose products are exact. */
static void check_tiles(bool single) {
    enum { ROWS = REFERENCE_TILE_ROWS, LANES = REFERENCE_TILE_LANES, DEPTH = 37 };
    double a[ROWS][DEPTH], strip[DEPTH * LANES], begin[ROWS * LANES], wanted[ROWS * LANES],
        found[ROWS * LANES];
    const double *rows[ROWS];
    for (int i = 0; i < DEPTH * LANES; i++)
        strip[i] = single ? (double)(float)uniform(-1, 1) : uniform(-1, 1);
    for (int i = 0; i < ROWS * LANES; i++) wanted[i] = begin[i] = uniform(-1, 1);
    for (int r = 0; r < ROWS; r++) {
        rows[r] = a[r];
        for (int k = 0; k < DEPTH; k++) a[r][k] = single ? (double)(float)uniform(-1, 1) : uniform(-1, 1);
        for (int c = 0; c < LANES; c++)
            for (int k = 0; k < DEPTH; k++) {
                double product = a[r][k] * strip[k * LANES + c];
                wanted[r * LANES + c] += product;
            }
    }
    for (int v = 0; ts_reference_loops_get(v); v++) {
        const ts_reference_loops *loops = ts_reference_loops_get(v);
        memcpy(found, begin, sizeof found);
        (single ? loops->multiply_exact : loops->multiply)(rows, strip, DEPTH, found, LANES);
        assert_memory_equal(found, wanted, sizeof found);
    }
}

TEST(tiles_sum_in_order) {
    check_tiles(false);
    check_tiles(true);
}

/* Operators, by their names in Python. NaN wins in max and min. */
#define EXPECTED(name, result)                                                                               \
    static double one_##name(double a, double b) { return (result); }
EXPECTED(add, a + b)
EXPECTED(subtract, a - b)
EXPECTED(multiply_each, a *b)
EXPECTED(divide, a / b)
EXPECTED(is_less, isless(a, b) ? 1 : 0)
EXPECTED(is_at_most, islessequal(a, b) ? 1 : 0)
EXPECTED(is_greater, isgreater(a, b) ? 1 : 0)
EXPECTED(is_at_least, isgreaterequal(a, b) ? 1 : 0)
EXPECTED(is_equal, a == b ? 1 : 0)
EXPECTED(is_different, a == b ? 0 : 1)
EXPECTED(limit, isless(a, b) ? a : (double)INFINITY)
EXPECTED(larger, isnan(a) ? a : isnan(b) ? b : a > b ? a : b)
EXPECTED(smaller, isnan(a) ? a : isnan(b) ? b : a < b ? a : b)

static bool same(double a, double b) { return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0; }

enum { PAIRED = 45 };

/* One divisor for all: numbers of every size, and such of a moderate one, a few of which are not. */
TEST(quotients_are_rounded_once) {
    enum { SOME = 2000, LAST = SOME + 1 };
    double values[SOME], found[LAST];
    for (int kind = 0; kind < 60; kind++) {
        int spread = kind % 3 == 0 ? 1 : kind % 3 == 1 ? 399 : 1020;
        double divisor = kind == 7 ? 0 : kind == 8 ? 0x1p500 : ldexp(uniform(1, 2), kind % 5 * 60 - 120);
        if (kind % 4 == 1) divisor = -nextafter(divisor, 0);
        if (kind % 8 >= 6) divisor = ldexp(kind % 3 - 1.5, kind * 20 - 600);
        for (int i = 0; i < SOME; i++) values[i] = ldexp(uniform(-2, 2), (int)uniform(-spread, spread));
        for (int i = 0; i < SOME; i += 3) values[i] = divisor * ldexp(floor(uniform(1, 0x1p20)), -20);
        if (kind % 7 == 5) values[kind] = kind % 2 ? -0.0 : 0x1p-1060;
        for (int v = 0; ts_reference_loops_get(v); v++) {
            found[SOME] = 7;
            ts_reference_loops_get(v)->divide_all(found, values, divisor, SOME);
            for (int i = 0; i < SOME; i++) assert_true(same(found[i], values[i] / divisor));
            assert_true(found[SOME] == 7);
            memcpy(found, values, sizeof values);
            ts_reference_loops_get(v)->divide_all(found, found, divisor, (size_t)(SOME - kind));
            for (int i = 0; i < SOME; i++)
                assert_true(same(found[i], i < SOME - kind ? values[i] / divisor : values[i]));
        }
    }
}

/* Apart, in place of either side, and with one number for all on either side. */
static void check_pair(ts_reference_pair *loop, double (*one)(double, double)) {
    double a[PAIRED], b[PAIRED], out[PAIRED + 1] = {[PAIRED] = 7};
    for (int i = 0; i < PAIRED; i++) {
        a[i] = i % 3 ? any() : (double)(int)(next() % 3) - 1;
        b[i] = i % 3 ? any() : (double)(int)(next() % 3) - 1;
    }
    for (int k = 0; k < 6; k++) {
        size_t left_step = k != 3 && k != 5, right_step = k != 4;
        const double *left = a, *right = b;
        if (k == 1 || k == 4) left = memcpy(out, a, sizeof a);
        if (k == 2 || k == 5) right = memcpy(out, b, sizeof b);
        loop(out, left, left_step, right, right_step, PAIRED);
        for (size_t i = 0; i < PAIRED; i++)
            assert_true(same(out[i], one(a[i * left_step], b[i * right_step])));
    }
    assert_true(out[PAIRED] == 7);
}

TEST(operators_are_those_of_one) {
    for (int v = 0; ts_reference_loops_get(v); v++) {
        const ts_reference_loops *loops = ts_reference_loops_get(v);
        for (int trial = 0; trial < 20; trial++) {
#define CHECK(name, result) check_pair(loops->name, one_##name);
            REFERENCE_PAIRS(CHECK)
        }
        double values[PAIRED], found[PAIRED];
        for (int i = 0; i < PAIRED; i++) values[i] = any();
        loops->magnitude(found, values, PAIRED);
        for (int i = 0; i < PAIRED; i++) assert_true(same(found[i], fabs(values[i])));
        loops->square(found, values, PAIRED);
        for (int i = 0; i < PAIRED; i++) assert_true(same(found[i], values[i] * values[i]));
        loops->cube(found, values, PAIRED);
        for (int i = 0; i < PAIRED; i++) assert_true(same(found[i], values[i] * values[i] * values[i]));
        loops->magnitude(found, values, PAIRED);
        loops->magnitude(values, values, PAIRED);
        assert_memory_equal(values, found, sizeof found);
    }
}

TEST(extent_of_finite_numbers) {
    static const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    double values[100], low, high;
    for (int trial = 0; trial < 4000; trial++) {
        size_t count = 1 + next() % 100, where = next() % count;
        double least = (double)INFINITY, most = -least;
        for (size_t i = 0; i < count; i++) values[i] = uniform(-9, 9) + (trial % 3 - 1) * 20;
        if (trial % 4 == 3) values[where] = odd[next() % 3];
        for (size_t i = 0; i < count; i++) {
            least = fmin(least, values[i]);
            most = fmax(most, values[i]);
        }
        for (int v = 0; ts_reference_loops_get(v); v++) {
            bool said = ts_reference_loops_get(v)->extent(values, count, &low, &high);
            assert_int_equal(said, trial % 4 != 3);
            if (said) assert_true(low == least && high == most);
        }
    }
    for (int v = 0; ts_reference_loops_get(v); v++)
        assert_false(ts_reference_loops_get(v)->extent(values, 0, &low, &high));
}

TEST(largest_of_numbers_with_a_sign) {
    double values[40], found;
    for (int trial = 0; trial < 4000; trial++) {
        size_t count = next() % 40;
        double most = -(double)INFINITY;
        bool number = true;
        for (size_t i = 0; i < count; i++) {
            values[i] = trial % 3 == 0 ? any() : trial % 3 == 1 ? -uniform(0, 9) : uniform(-9, 9);
            if (trial % 3 == 1 && next() % 30 == 0) values[i] = next() % 2 ? 0.0 : -0.0;
            number = number && !isnan(values[i]);
            most = fmax(most, values[i]);
        }
        for (int v = 0; ts_reference_loops_get(v); v++) {
            found = 5;
            bool said = ts_reference_loops_get(v)->largest(values, count, &found);
            assert_int_equal(said, number && most != 0);
            if (said) assert_true(found == most);
        }
    }
}

TEST(numbers_that_are_set_are_counted) {
    double values[150];
    for (size_t count = 0; count <= 150; count++) {
        size_t set = 0;
        for (size_t i = 0; i < count; i++) {
            values[i] = next() % 2 ? 0 : any();
            set += values[i] != 0;
        }
        for (int v = 0; ts_reference_loops_get(v); v++)
            assert_int_equal(ts_reference_loops_get(v)->count_set(values, count), set);
    }
}

TEST(one_number_that_is_not_finite_is_seen) {
    static const double odd[] = {(double)INFINITY, -(double)INFINITY, (double)NAN, 0x1.fffffffffffffp1023,
                                 -0.0};
    double values[40];
    for (int i = 0; i < 40; i++) values[i] = uniform(-9, 9);
    for (int v = 0; ts_reference_loops_get(v); v++) {
        for (size_t at = 0; at < 40 * 5; at++) {
            double held = values[at / 5];
            values[at / 5] = odd[at % 5];
            assert_int_equal(ts_reference_loops_get(v)->are_finite(values, 40), at % 5 > 2);
            assert_true(ts_reference_loops_get(v)->are_finite(values, at / 5));
            values[at / 5] = held;
        }
    }
}

/* Neumaier's sum, as he wrote it. */
TEST(lines_are_summed_one_by_one) {
    enum { LENGTH = 33 };
    static double lines[REFERENCE_LINES][LENGTH];
    for (int trial = 0; trial < 200; trial++) {
        for (int i = 0; i < REFERENCE_LINES * LENGTH; i++)
            lines[i / LENGTH][i % LENGTH] =
                trial % 20 == 0 ? any() : uniform(-1, 1) * ldexp(1, (int)(next() % 60));
        int count = trial % 2 ? LENGTH : (int)(next() % LENGTH);
        for (int v = 0; ts_reference_loops_get(v); v++) {
            tally sums[REFERENCE_LINES];
            ts_reference_loops_get(v)->sum_lines(lines[0], LENGTH, (size_t)count, sums);
            for (int k = 0; k < REFERENCE_LINES; k++) {
                double sum = 0, lost = 0;
                for (int i = 0; i < count; i++) {
                    double x = lines[k][i], next_sum = sum + x;
                    lost += fabs(sum) >= fabs(x) ? (sum - next_sum) + x : (x - next_sum) + sum;
                    sum = next_sum;
                }
                assert_true(same(sums[k].value, sum) && same(sums[k].extra, lost));
            }
        }
    }
}

TEST(drawn_elements_are_rounded_numbers) {
    enum { SOME = 500 };
    static const double ranges[][2] = {
        {-4, 4},          {1, 2}, {-1e-38, 1e-38}, {0x1p-126, 0x1p-125}, {3e38, 3.5e38}, {1e-30, 1.001e-30},
        {-1e39, -3.38e38}};
    for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
        const ts_reference_draw d = {next(), next(), ranges[k][0], ranges[k][1] - ranges[k][0], 0, 0};
        uint64_t bits[SOME];
        double numbers[SOME];
        uint16_t halves[SOME], found_halves[SOME];
        float floats[SOME], found_floats[SOME];
        bool plain_halves = true;
        ts_reference_loops_get(0)->mix(d.first, d.step, bits, SOME);
        ts_reference_loops_get(0)->uniform(bits, d.low, d.width, numbers, SOME);
        ts_convert_elements(TS_DTYPE_F64, numbers, TS_DTYPE_BF16, halves, SOME);
        ts_convert_elements(TS_DTYPE_F64, numbers, TS_DTYPE_F32, floats, SOME);
        for (int i = 0; i < SOME; i++)
            plain_halves = plain_halves && fabs(numbers[i]) >= 0x1p-126 && fabs(numbers[i]) < 0x1.fep127;
        for (int v = 0; ts_reference_loops_get(v); v++) {
            ts_reference_loops_get(v)->draw_f32(&d, found_floats, SOME);
            assert_memory_equal(found_floats, floats, sizeof floats);
            assert_int_equal(ts_reference_loops_get(v)->draw_bf16(&d, found_halves, SOME), plain_halves);
            if (plain_halves) assert_memory_equal(found_halves, halves, sizeof halves);
        }
    }
}

/* Multiples of a unit, of which f32 has all and bf16 few. */
TEST(drawn_multiples_are_rounded_numbers) {
    enum { SOME = 1500 };
    static const struct {
        float unit;
        int32_t offset;
    } ranges[] = {{0x1p-23f, -(1 << 23)}, {0x1p-24f, 0}, {0x1p76f, -(1 << 24)}, {0x1p-124f, -5}};
    for (size_t k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
        const double unit = (double)ranges[k].unit;
        const ts_reference_draw d = {next(),        next(),           unit * ranges[k].offset,
                                     unit * 0x1p24, ranges[k].offset, ranges[k].unit};
        uint64_t bits[SOME];
        double numbers[SOME];
        uint16_t halves[SOME], found_halves[SOME];
        float floats[SOME], found_floats[SOME];
        ts_reference_loops_get(0)->mix(d.first, d.step, bits, SOME);
        ts_reference_loops_get(0)->uniform(bits, d.low, d.width, numbers, SOME);
        ts_convert_elements(TS_DTYPE_F64, numbers, TS_DTYPE_BF16, halves, SOME);
        ts_convert_elements(TS_DTYPE_F64, numbers, TS_DTYPE_F32, floats, SOME);
        for (int v = 0; ts_reference_loops_get(v); v++) {
            ts_reference_loops_get(v)->draw_f32(&d, found_floats, SOME);
            assert_memory_equal(found_floats, floats, sizeof floats);
            assert_true(ts_reference_loops_get(v)->draw_bf16(&d, found_halves, SOME));
            assert_memory_equal(found_halves, halves, sizeof halves);
        }
    }
}
