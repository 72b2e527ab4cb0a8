/* The functions of reference expressions: one table, and what each row computes in double precision. */
#include <math.h>
#include <string.h>

#include "reference_loops.h"
#include "base/text.h"

#if !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) /* gcc vectorises such loops only at -O3 */
#pragma GCC optimize("O3")
#endif

#define LOOP(name, result)                                                                                   \
    static void name(double *out, const double *left, size_t left_step, const double *right,                 \
                     size_t right_step, size_t count) {                                                      \
        ts_reference_loops_best()->name(out, left, left_step, right, right_step, count);                     \
    }
REFERENCE_PAIRS(LOOP)

#define PAIRS(name, result)                                                                                  \
    static void name(double *out, const double *left, size_t left_step, const double *right,                 \
                     size_t right_step, size_t count) {                                                      \
        const double a_of_all = *left, b_of_all = *right;                                                    \
        for (size_t i = 0; i < count; i++) {                                                                 \
            double a = left_step == 0 ? a_of_all : left[i], b = right_step == 0 ? b_of_all : right[i];       \
            out[i] = (result);                                                                               \
        }                                                                                                    \
    }

static void quotient(double *out, const double *left, size_t left_step, const double *right,
                     size_t right_step, size_t count) {
    if (left_step == 1 && right_step == 0)
        ts_reference_loops_best()->divide_all(out, left, *right, count);
    else
        divide(out, left, left_step, right, right_step, count);
}

/* As NumPy's npy_divmod: fmod leaves an exact rest, which a / b, being rounded, does not. The rest has the
 * sign of b. */
typedef struct {
    double quotient, rest;
} division;

static division divide_down(double a, double b) {
    double left = fmod(a, b), quotient = (a - left) / b;
    bool turned = left != 0 && (left < 0) != (b < 0);
    double rest = left == 0 ? copysign(0, b) : turned ? left + b : left;
    if (turned) quotient -= 1;
    if (b == 0 || quotient == 0) return (division){b == 0 ? a / b : copysign(0, a / b), rest};
    double whole = floor(quotient);
    return (division){quotient - whole > 0.5 ? whole + 1 : whole, rest};
}

PAIRS(floor_divide, divide_down(a, b).quotient)
PAIRS(modulo, divide_down(a, b).rest)
PAIRS(power_of_each, b == 2 ? a * a : b == 3 ? a * a * a : pow(a, b))

/* NaN wins, as in NumPy and XLA. */
#define LARGER(a, b)  (isnan(a) || (a) > (b) ? (a) : (b))
#define SMALLER(a, b) (isnan(a) || (a) < (b) ? (a) : (b))

#define EACH(name, result)                                                                                   \
    static void name(double *out, const double *values, size_t count) {                                      \
        REFERENCE_IN_PLACE for (size_t i = 0; i < count; i++) {                                              \
            double x = values[i];                                                                            \
            out[i] = (result);                                                                               \
        }                                                                                                    \
    }

EACH(up, ceil(x))
EACH(cosine, cos(x))
EACH(error_function, erf(x))
EACH(down, floor(x))
EACH(logarithm_2, log2(x))
EACH(reciprocal, 1 / x)
EACH(to_even, rint(x))
EACH(reciprocal_root, 1 / sqrt(x))
EACH(sine, sin(x))
EACH(root, sqrt(x))
EACH(toward_zero, trunc(x))
EACH(sign, isnan(x) || x == 0 ? x : copysign(1, x))
/* The largest relative error of n roundings to f32 one after the other (Higham, Accuracy and Stability of
 * Numerical Algorithms, section 3.1), or of a sum of n + 1 numbers, relative to the sum of their
 * magnitudes. */
EACH(gamma_of, x < 0x1p24 ? x * 0x1p-24 / (1 - x * 0x1p-24) : (double)INFINITY)

#define LOOP_OF_EACH(name)                                                                                   \
    static void name(double *out, const double *values, size_t count) {                                      \
        ts_reference_loops_best()->name(out, values, count);                                                 \
    }

LOOP_OF_EACH(magnitude)
LOOP_OF_EACH(exponential)
LOOP_OF_EACH(logarithm)
LOOP_OF_EACH(hyperbolic_tangent)

static void power(double *out, const double *left, size_t left_step, const double *right, size_t right_step,
                  size_t count) {
    const ts_reference_loops *loops = ts_reference_loops_best();
    bool same = left_step == 1 && right_step == 0;
    if (same && (*right == 2 || *right == 3))
        (*right == 2 ? loops->square : loops->cube)(out, left, count);
    else
        power_of_each(out, left, left_step, right, right_step, count);
}

static void sigmoid(double *out, const double *values, size_t count) {
    REFERENCE_IN_PLACE for (size_t i = 0; i < count; i++) out[i] = -values[i];
    exponential(out, out, count);
    for (size_t i = 0; i < count; i++) out[i] = 1 / (1 + out[i]);
}

/* `one` takes the next element: with a tally of its own in a register where all go to one. */
#define TALLIES(name, one)                                                                                   \
    static void name(tally *all, size_t step, const double *values, size_t count) {                          \
        tally only = *all;                                                                                   \
        for (size_t i = 0; step > 0 && i < count; i++) all[i] = one(all[i], values[i]);                      \
        for (size_t i = 0; step == 0 && i < count; i++) only = one(only, values[i]);                         \
        if (step == 0) *all = only;                                                                          \
    }

/* Neumaier's compensated sum (ZAMM 54, 1974): the order does not show. */
static inline tally sum_one(tally t, double x) {
    double next = t.value + x;
    t.extra += fabs(t.value) >= fabs(x) ? (t.value - next) + x : (x - next) + t.value;
    t.value = next;
    return t;
}

static inline tally norm_one(tally t, double x) {
    t.value += x * x;
    return t;
}

/* `extra` is the mean. */
static inline tally square_one(tally t, double x) {
    t.value += (x - t.extra) * (x - t.extra);
    return t;
}

static inline tally product_one(tally t, double x) {
    t.value *= x;
    return t;
}

static inline tally largest_one(tally t, double x) {
    t.value = LARGER(t.value, x);
    return t;
}

static inline tally smallest_one(tally t, double x) {
    t.value = SMALLER(t.value, x);
    return t;
}

/* `extra` is where the best is, and a NaN is the best. */
static inline tally take_if(tally t, double x, bool better) {
    if (t.seen == 0 || (!isnan(t.value) && (isnan(x) || better))) {
        t.value = x;
        t.extra = (double)t.seen;
    }
    t.seen++;
    return t;
}

static inline tally where_largest_one(tally t, double x) { return take_if(t, x, x > t.value); }
static inline tally where_smallest_one(tally t, double x) { return take_if(t, x, x < t.value); }

TALLIES(add_sum, sum_one)
TALLIES(add_norm, norm_one)
TALLIES(add_square, square_one)
TALLIES(add_product, product_one)
TALLIES(add_each_largest, largest_one)

static void add_largest(tally *all, size_t step, const double *values, size_t count) {
    double top;
    if (step == 0 && ts_reference_loops_best()->largest(values, count, &top))
        *all = largest_one(*all, top);
    else
        add_each_largest(all, step, values, count);
}

TALLIES(add_smallest, smallest_one)
TALLIES(add_where_largest, where_largest_one)
TALLIES(add_where_smallest, where_smallest_one)

static double value_of(const tally *t, size_t count) {
    (void)count;
    return t->value;
}

static double index_of(const tally *t, size_t count) {
    (void)count;
    return t->extra;
}

static double sum_of(const tally *t, size_t count) {
    (void)count;
    return isfinite(t->value) ? t->value + t->extra : t->value;
}

static double mean_of(const tally *t, size_t count) { return sum_of(t, count) / (double)count; }
static double mean_square_of(const tally *t, size_t count) { return t->value / (double)count; }

static double root_of(const tally *t, size_t count) {
    (void)count;
    return sqrt(t->value);
}

static const reduction sum = {0, {add_sum}, NULL, sum_of};
static const reduction mean = {0, {add_sum}, NULL, mean_of};
static const reduction variance = {0, {add_sum, add_square}, mean_of, mean_square_of};
static const reduction norm = {0, {add_norm}, NULL, root_of};
static const reduction product = {1, {add_product}, NULL, value_of};
static const reduction largest = {-(double)INFINITY, {add_largest}, NULL, value_of};
static const reduction smallest = {(double)INFINITY, {add_smallest}, NULL, value_of};
static const reduction where_largest = {0, {add_where_largest}, NULL, index_of};
static const reduction where_smallest = {0, {add_where_smallest}, NULL, index_of};

static double reduce_line(const reduction *does, const double *line, size_t count) {
    tally t = {does->start, 0, 0};
    does->add[0](&t, 0, line, count);
    if (does->add[1]) {
        t = (tally){0, does->turn(&t, count), 0};
        does->add[1](&t, 0, line, count);
    }
    return does->finish(&t, count);
}

/* e^(x - max) of a line. What is minus infinity behind the last other number stays out of the series: how
 * many elements are not. */
static size_t raise_line(double *line, size_t count) {
    enum { SOME = 64 };
    const ts_reference_loops *loops = ts_reference_loops_best();
    size_t kept = count;
    double top = -(double)INFINITY;
    while (kept > SOME && line[kept - 1] == top && loops->largest(line + kept - SOME, SOME, &top)) {
        if (top > -(double)INFINITY) break;
        kept -= SOME;
    }
    while (kept > 1 && line[kept - 1] == -(double)INFINITY) kept--;
    top = reduce_line(&largest, line, kept);
    if (top == -(double)INFINITY) kept = count; /* there is no other number */
    loops->subtract(line, line, 1, &top, 0, kept);
    exponential(line, line, kept);
    for (size_t i = kept; i < count; i++) line[i] = 0;
    return kept;
}

/* At most REFERENCE_LINES of them: zeros at their ends change no sum, and are what is left of them where the
 * sum is a number. */
static void softmax_lines(double *lines, size_t count, size_t line_count) {
    const ts_reference_loops *loops = ts_reference_loops_best();
    size_t kept[REFERENCE_LINES], most = 0;
    tally sums[REFERENCE_LINES] = {{0, 0, 0}};
    for (size_t i = 0; i < line_count; i++) {
        kept[i] = raise_line(lines + i * count, count);
        most = kept[i] > most ? kept[i] : most;
    }
    if (line_count == REFERENCE_LINES) loops->sum_lines(lines, count, most, sums);
    for (size_t i = 0; i < line_count; i++) {
        double *line = lines + i * count;
        if (line_count < REFERENCE_LINES) add_sum(&sums[i], 0, line, kept[i]);
        double total = sum_of(&sums[i], count);
        loops->divide_all(line, line, total, isnan(total) ? count : kept[i]);
    }
}

static void softmax(double *lines, size_t count, size_t line_count, double eps) {
    (void)eps;
    for (size_t i = 0; i < line_count; i += REFERENCE_LINES) {
        size_t left = line_count - i;
        softmax_lines(lines + i * count, count, left < REFERENCE_LINES ? left : REFERENCE_LINES);
    }
}

static void normalize(double *lines, size_t count, size_t line_count, double eps) {
    for (double *line = lines; line < lines + count * line_count; line += count) {
        double center = reduce_line(&mean, line, count),
               width = sqrt(reduce_line(&variance, line, count) + eps);
        for (size_t i = 0; i < count; i++) line[i] = (line[i] - center) / width;
    }
}

static void cumulative_sum(double *lines, size_t count, size_t line_count, double eps) {
    (void)eps;
    for (double *line = lines; line < lines + count * line_count; line += count)
        for (size_t i = 1; i < count; i++) line[i] += line[i - 1];
}

enum { AXIS = 1u << KEYWORD_AXIS, REDUCE = AXIS | 1u << KEYWORD_KEEPDIMS, EPS = 1u << KEYWORD_EPS };
#define OPERATOR(name, does)                                                                                 \
    { name, NULL, NULL, NULL, 2, 2, 2, 0, .binary = (does) }
#define BOUNDED(name, does, range)                                                                           \
    { name, NULL, NULL, NULL, 2, 2, 2, 0, .binary = (does), .bound = (range) }
#define RISING(name, meaning, error, does)                                                                   \
    { name, name "(x)", meaning, error, 1, 1, 1, 0, .unary = (does), .rises = true }
#define UNARY(name, meaning, error, does)                                                                    \
    { name, name "(x)", meaning, error, 1, 1, 1, 0, .unary = (does) }
#define BINARY(name, meaning, error, does)                                                                   \
    { name, name "(x, y)", meaning, error, 2, 2, 2, 0, .binary = (does) }
#define REDUCTION(name, meaning, error, does)                                                                \
    { name, name "(x, axis=0, keepdims=1)", meaning, error, 1, 1, 1, REDUCE, .reduce = &(does) }
#define EITHER(name, meaning, error, pair, line, range)                                                      \
    {                                                                                                        \
        name, name "(x, y) or " name "(x, axis=0, keepdims=1)", meaning, error, 1, 2, 2, REDUCE,             \
            .binary = (pair), .reduce = &(line), .bound = (range)                                            \
    }
#define WHOLE(name, usage, meaning, error, least, most, arrays, does)                                        \
    { name, usage, meaning, error, least, most, arrays, 0, .whole = (does) }

/* How far a result may be from the exact one. */
#define EXACT          "none"
#define ROUNDED(times) "roundings: " #times
#define LIBM           "libm: 2 ulp"

/* Functions, then operators. */
static const function table[] = {
    {"abs", "abs(x)", "magnitude", EXACT, 1, 1, 1, 0, .unary = magnitude, .bound = ts_range_magnitude},
    RISING("ceil", "the integer above", EXACT, up),
    UNARY("cos", "cosine", LIBM, cosine),
    UNARY("erf", "error function", LIBM, error_function),
    RISING("exp", "e to the power x", "0.7 ulp", exponential),
    RISING("floor", "the integer below", EXACT, down),
    RISING("gamma", "x e / (1 - x e), e = 2^-24: the relative error of x roundings to f32", ROUNDED(2),
           gamma_of),
    RISING("log", "natural logarithm", "1 ulp", logarithm),
    RISING("log2", "logarithm to base 2", LIBM, logarithm_2),
    UNARY("reciprocal", "1 / x", ROUNDED(1), reciprocal),
    UNARY("round", "the nearest integer, ties to even", EXACT, to_even),
    UNARY("rsqrt", "1 / sqrt(x)", ROUNDED(2), reciprocal_root),
    UNARY("sigmoid", "1 / (1 + exp(-x))", "as exp, and two roundings", sigmoid),
    UNARY("sign", "-1, 0 or 1", EXACT, sign),
    UNARY("sin", "sine", LIBM, sine),
    RISING("sqrt", "square root", ROUNDED(1), root),
    RISING("tanh", "hyperbolic tangent", "3 ulp", hyperbolic_tangent),
    UNARY("trunc", "the integer toward zero", EXACT, toward_zero),
    BINARY("pow", "x to the power y", LIBM, power),
    {"limit", "limit(x, y)", "x where it is below y, else infinity", EXACT, 2, 2, 2, 0, .binary = limit,
     .bound = ts_range_limit},
    EITHER("max", "the larger of two, or the largest along axes", EXACT, larger, largest, ts_range_larger),
    EITHER("min", "the smaller of two, or the smallest along axes", EXACT, smaller, smallest,
           ts_range_smaller),
    REDUCTION("argmax", "index of the first largest along an axis", EXACT, where_largest),
    REDUCTION("argmin", "index of the first smallest along an axis", EXACT, where_smallest),
    REDUCTION("mean", "sum / count along axes (all without axis=)", "as sum, and one rounding", mean),
    REDUCTION("norm", "square root of the sum of squares along axes", "n / 2 + 2 roundings of n elements",
              norm),
    REDUCTION("prod", "product along axes", "a rounding each element", product),
    REDUCTION("sum", "sum along axes", "two roundings: compensated (Neumaier)", sum),
    REDUCTION("var", "mean square distance from the mean along axes", "n + 2 roundings of n elements",
              variance),
    {"cumsum", "cumsum(x, axis=-1)", "running sum along an axis", "a rounding each element, of the sums", 1,
     1, 1, AXIS, .scan = cumulative_sum},
    {"normalize", "normalize(x, axis=-1, eps=0)", "(x - mean) / sqrt(var + eps) along an axis",
     "as var, and three roundings", 1, 1, 1, AXIS | EPS, .scan = normalize},
    {"softmax", "softmax(x, axis=-1)", "exp(x) / sum(exp(x)) along an axis", "as exp, and three roundings", 1,
     1, 1, AXIS, .scan = softmax},
    WHOLE("bincount", "bincount(x, bins)", "how many elements are 0, 1 ... bins - 1", EXACT, 2, 2, 1,
          ts_reference_bincount),
    WHOLE("cast", "cast(x, bf16)", "rounded to a type, ties to even; to integers toward zero, saturated",
          EXACT, 2, 2, 1, ts_reference_cast),
    WHOLE("conv", "conv(x, f)", "images [N,H,W,C] with [R,S,C,K] around each place, 0 outside",
          "a rounding each product and each sum", 2, 2, 2, ts_reference_conv),
    {"iota", "iota(4, 8, axis=-1)", "an array of these dims, each element its index along the axis", EXACT, 1,
     TS_HOST_RANK, 0, AXIS, .whole = ts_reference_iota},
    WHOLE("matmul", "matmul(a, b)", "matrix product of the last two dims",
          "a rounding each product and each sum", 2, 2, 2, ts_reference_matmul),
    WHOLE("reshape", "reshape(x, 4, 8)", "the same elements, row-major, in other dims", EXACT, 1,
          TS_HOST_RANK + 1, 1, ts_reference_reshape),
    {"take", "take(x, i, axis=0)", "what x has at the indices i of an axis", EXACT, 2, 2, 2, AXIS,
     .whole = ts_reference_take},
    WHOLE("transpose", "transpose(x, 1, 0)", "dims in another order (reversed without one)", EXACT, 1,
          TS_HOST_RANK + 1, 1, ts_reference_transpose),
    WHOLE("where", "where(condition, x, y)", "x where the condition is not 0, else y", EXACT, 3, 3, 3,
          ts_reference_where),
    BOUNDED("+", add, ts_range_add),
    BOUNDED("-", subtract, ts_range_subtract),
    BOUNDED("*", multiply_each, ts_range_multiply),
    BOUNDED("/", quotient, ts_range_divide),
    OPERATOR("//", floor_divide),
    OPERATOR("%", modulo),
    OPERATOR("**", power),
    OPERATOR("<", is_less),
    OPERATOR("<=", is_at_most),
    OPERATOR(">", is_greater),
    OPERATOR(">=", is_at_least),
    OPERATOR("==", is_equal),
    OPERATOR("!=", is_different),
};
enum { ROWS = sizeof table / sizeof *table, OPERATORS = 13, FUNCTIONS = ROWS - OPERATORS };

const function *ts_reference_find(const char *name) {
    for (int i = 0; i < ROWS; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}

const char *ts_reference_nearest(const char *name) {
    return ts_text_nearest(name, &table[0].name, FUNCTIONS, sizeof *table);
}

bool ts_reference_function(size_t index, ts_reference_usage *usage) {
    if (index >= FUNCTIONS) return false;
    *usage = (ts_reference_usage){table[index].usage, table[index].meaning, table[index].error};
    return true;
}
