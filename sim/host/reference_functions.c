/* The functions of reference expressions: one table, and what each row computes in double precision. */
#include <math.h>
#include <string.h>

#include "reference_tree.h"
#include "tilesim/base/text.h"

static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return a / b; }
static double floor_divide(double a, double b) { return floor(a / b); }
static double modulo(double a, double b) { return a - b * floor(a / b); } /* the sign of b, as in Python */
static double is_less(double a, double b) { return a < b; }
static double is_at_most(double a, double b) { return a <= b; }
static double is_greater(double a, double b) { return a > b; }
static double is_at_least(double a, double b) { return a >= b; }
static double is_equal(double a, double b) { return a == b; }
static double is_different(double a, double b) { return a != b; }

/* NaN wins, as in NumPy and XLA. */
static double larger(double a, double b) { return isnan(a) || a > b ? a : b; }
static double smaller(double a, double b) { return isnan(a) || a < b ? a : b; }

static double reciprocal_root(double x) { return 1 / sqrt(x); }
static double reciprocal(double x) { return 1 / x; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double sign(double x) { return isnan(x) || x == 0 ? x : copysign(1, x); }

/* Neumaier's compensated sum (ZAMM 54, 1974): the order does not show. */
static double sum(const double *line, size_t count) {
    double total = 0, lost = 0;
    for (size_t i = 0; i < count; i++) {
        double next = total + line[i];
        lost += fabs(total) >= fabs(line[i]) ? (total - next) + line[i] : (line[i] - next) + total;
        total = next;
    }
    return isfinite(total) ? total + lost : total;
}

/* The largest relative error of n roundings to f32 one after the other (Higham, Accuracy and Stability of
 * Numerical Algorithms, section 3.1), or of a sum of n + 1 numbers, relative to the sum of their magnitudes. */
static double gamma_of(double n) { return n < 0x1p24 ? n * 0x1p-24 / (1 - n * 0x1p-24) : (double)INFINITY; }

static double limit(double x, double most) { return x < most ? x : (double)INFINITY; }

static double norm(const double *line, size_t count) {
    double total = 0;
    for (size_t i = 0; i < count; i++) total += line[i] * line[i];
    return sqrt(total);
}

static double mean(const double *line, size_t count) { return sum(line, count) / (double)count; }

static double variance(const double *line, size_t count) {
    double center = mean(line, count), total = 0;
    for (size_t i = 0; i < count; i++) total += (line[i] - center) * (line[i] - center);
    return total / (double)count;
}

static double product(const double *line, size_t count) {
    double total = 1;
    for (size_t i = 0; i < count; i++) total *= line[i];
    return total;
}

static double largest(const double *line, size_t count) {
    double best = -(double)INFINITY;
    for (size_t i = 0; i < count; i++) best = larger(best, line[i]);
    return best;
}

static double smallest(const double *line, size_t count) {
    double best = (double)INFINITY;
    for (size_t i = 0; i < count; i++) best = smaller(best, line[i]);
    return best;
}

static double where_largest(const double *line, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (!isnan(line[best]) && (isnan(line[i]) || line[i] > line[best])) best = i;
    return (double)best;
}

static double where_smallest(const double *line, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (!isnan(line[best]) && (isnan(line[i]) || line[i] < line[best])) best = i;
    return (double)best;
}

static void softmax(double *line, size_t count, double eps) {
    (void)eps;
    double top = largest(line, count);
    for (size_t i = 0; i < count; i++) line[i] = exp(line[i] - top);
    double total = sum(line, count);
    for (size_t i = 0; i < count; i++) line[i] /= total;
}

static void normalize(double *line, size_t count, double eps) {
    double center = mean(line, count), width = sqrt(variance(line, count) + eps);
    for (size_t i = 0; i < count; i++) line[i] = (line[i] - center) / width;
}

static void cumulative_sum(double *line, size_t count, double eps) {
    (void)eps;
    for (size_t i = 1; i < count; i++) line[i] += line[i - 1];
}

enum { AXIS = 1u << KEYWORD_AXIS, REDUCE = AXIS | 1u << KEYWORD_KEEPDIMS, EPS = 1u << KEYWORD_EPS };
#define OPERATOR(name, does)                                                                                 \
    { name, NULL, NULL, NULL, 2, 2, 2, 0, .binary = (does) }
#define UNARY(name, meaning, error, does)                                                                     \
    { name, name "(x)", meaning, error, 1, 1, 1, 0, .unary = (does) }
#define BINARY(name, meaning, error, does)                                                                    \
    { name, name "(x, y)", meaning, error, 2, 2, 2, 0, .binary = (does) }
#define REDUCTION(name, meaning, error, does)                                                                 \
    { name, name "(x, axis=0, keepdims=1)", meaning, error, 1, 1, 1, REDUCE, .reduce = (does) }
#define EITHER(name, meaning, error, pair, line)                                                             \
    {                                                                                                        \
        name, name "(x, y) or " name "(x, axis=0, keepdims=1)", meaning, error, 1, 2, 2, REDUCE,             \
            .binary = (pair), .reduce = (line)                                                               \
    }
#define WHOLE(name, usage, meaning, error, least, most, arrays, does)                                        \
    { name, usage, meaning, error, least, most, arrays, 0, .whole = (does) }

/* How far a result may be from the exact one. */
#define EXACT "none"
#define ROUNDED(times) "roundings: " #times
#define LIBM "libm: 2 ulp"

/* Functions, then operators. */
static const function table[] = {
    UNARY("abs", "magnitude", EXACT, fabs),
    UNARY("ceil", "the integer above", EXACT, ceil),
    UNARY("cos", "cosine", LIBM, cos),
    UNARY("erf", "error function", LIBM, erf),
    UNARY("exp", "e to the power x", LIBM, exp),
    UNARY("floor", "the integer below", EXACT, floor),
    UNARY("gamma", "x e / (1 - x e), e = 2^-24: the relative error of x roundings to f32", ROUNDED(2),
          gamma_of),
    UNARY("log", "natural logarithm", LIBM, log),
    UNARY("log2", "logarithm to base 2", LIBM, log2),
    UNARY("reciprocal", "1 / x", ROUNDED(1), reciprocal),
    UNARY("round", "the nearest integer, ties to even", EXACT, rint),
    UNARY("rsqrt", "1 / sqrt(x)", ROUNDED(2), reciprocal_root),
    UNARY("sigmoid", "1 / (1 + exp(-x))", "libm, and two roundings", sigmoid),
    UNARY("sign", "-1, 0 or 1", EXACT, sign),
    UNARY("sin", "sine", LIBM, sin),
    UNARY("sqrt", "square root", ROUNDED(1), sqrt),
    UNARY("tanh", "hyperbolic tangent", LIBM, tanh),
    UNARY("trunc", "the integer toward zero", EXACT, trunc),
    BINARY("pow", "x to the power y", LIBM, pow),
    BINARY("limit", "x where it is below y, else infinity", EXACT, limit),
    EITHER("max", "the larger of two, or the largest along axes", EXACT, larger, largest),
    EITHER("min", "the smaller of two, or the smallest along axes", EXACT, smaller, smallest),
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
    {"softmax", "softmax(x, axis=-1)", "exp(x) / sum(exp(x)) along an axis", "libm, and three roundings", 1,
     1, 1, AXIS, .scan = softmax},
    WHOLE("bincount", "bincount(x, bins)", "how many elements are 0, 1 ... bins - 1", EXACT, 2, 2, 1,
          ts_reference_bincount),
    WHOLE("cast", "cast(x, bf16)", "rounded to a type, ties to even; to integers toward zero, saturated",
          EXACT, 2, 2, 1, ts_reference_cast),
    WHOLE("conv", "conv(x, f)", "images [N,H,W,C] with [R,S,C,K] around each place, 0 outside",
          "a rounding each product and each sum", 2, 2, 2, ts_reference_conv),
    {"iota", "iota(4, 8, axis=-1)", "an array of these dims, each element its index along the axis", EXACT,
     1, TS_HOST_RANK, 0, AXIS, .whole = ts_reference_iota},
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
    OPERATOR("+", add),
    OPERATOR("-", subtract),
    OPERATOR("*", multiply),
    OPERATOR("/", divide),
    OPERATOR("//", floor_divide),
    OPERATOR("%", modulo),
    OPERATOR("**", pow),
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
