/* Reference expressions: values by rows, exact errors, ulps, and checks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/elements.h"
#include "tests/support/rounds.h"
#include "host/reference_loops.h"
#include "base/text.h"
#include "host/reference.h"
#include "layout/convert.h"
#include "tests/support/test.h"

/* x = [[1,2,3],[4,5,6]] f32, y = [10,20,30] f32, p = [[1],[0]] pred, h = [0.1 in bf16] f32, c: complex, N
 * = 2. */
static float x_data[] = {1, 2, 3, 4, 5, 6}, y_data[] = {10, 20, 30},
             odd_data[] = {1, NAN, -2, INFINITY, -0.0f};
static uint8_t p_data[] = {1, 0};
static uint16_t h_data[] = {0x3dcd, 0xbf80};
static ts_host_array x = {TS_DTYPE_F32, 2, {2, 3}, (uint8_t *)x_data, sizeof x_data};
static ts_host_array y = {TS_DTYPE_F32, 1, {3}, (uint8_t *)y_data, sizeof y_data};
static ts_host_array p = {TS_DTYPE_PRED, 2, {2, 1}, p_data, sizeof p_data};
static ts_host_array h = {TS_DTYPE_BF16, 1, {2}, (uint8_t *)h_data, sizeof h_data};
static ts_host_array odd = {TS_DTYPE_F32, 1, {5}, (uint8_t *)odd_data, sizeof odd_data};
static ts_host_array c = {TS_DTYPE_C64, 1, {1}, (uint8_t *)y_data, 8};
static const ts_reference_name names[] = {{.name = "x", .array = &x},   {.name = "y", .array = &y},
                                          {.name = "p", .array = &p},   {.name = "h", .array = &h},
                                          {.name = "c", .array = &c},   {.name = "odd", .array = &odd},
                                          {.name = "ROWS", .number = 2}};
enum { NAMES = sizeof names / sizeof *names };
static const ts_reference_names all = {names, NAMES};

static void print_value(const ts_reference_value *value, ts_text *out) {
    ts_text_add_char(out, '[');
    for (int i = 0; i < value->rank; i++) ts_text_add(out, i ? ",%d" : "%d", (int)value->dims[i]);
    ts_text_add_char(out, ']');
    for (size_t i = 0; i < value->count; i++)
        ts_text_add(out, " %.6g", isnan(value->values[i]) ? (double)NAN : value->values[i]);
}

static const struct {
    const char *expression, *value;
} values[] = {
    {"1 + 2 * 3", "[] 7"},
    {"(1 + 2) * 3", "[] 9"},
    {"2 ** 3 ** 2", "[] 512"},
    {"-2 ** 2", "[] -4"},
    {"2 ** -1", "[] 0.5"},
    {"10 - 4 - 3", "[] 3"},
    {"8 / 4 / 2", "[] 1"},
    {"7 // 2 + 7 % 4 + -7 % 4 + -7 // 2", "[] 3"},
    {"1 // 0.1", "[] 9"}, /* as NumPy: 0.1 is a little more than a tenth */
    {"6 // 0.1", "[] 59"},
    {"-6 // 0.1", "[] -60"},
    {"1e17 % 3", "[] 1"},
    {"-1e17 % 3", "[] 2"},
    {"1e17 % -3", "[] -2"},
    {"1e300 % 7", "[] 1"},
    {"0.3 % 0.1 < 0.1", "[] 1"},
    {"-5 // inf", "[] -1"},
    {"5 // inf", "[] 0"},
    {"5 % inf", "[] 5"},
    {"-5 % inf", "[] inf"},
    {"5 % -inf", "[] -inf"},
    {"1 / (0 % -3)", "[] -inf"},
    {"1 / (-0.0 % 3)", "[] inf"},
    {"1 / (0 // -3)", "[] -inf"},
    {"5 // 0", "[] inf"},
    {"-5 // 0", "[] -inf"},
    {"5 % 0", "[] nan"},
    {"inf // 3", "[] nan"},
    {"nan % 3", "[] nan"},
    {"1.5e1 + .5 + 2.", "[] 17.5"},
    {"-0 ", "[] -0"},
    {"1 < 2", "[] 1"},
    {"3 <= 2", "[] 0"},
    {"1 + 1 == 2", "[] 1"},
    {"(3 > 2) == (2 > 1)", "[] 1"},
    {"x != 4", "[2,3] 1 1 1 0 1 1"},
    {"x >= 2 * 2", "[2,3] 0 0 0 1 1 1"},
    {"x > ROWS", "[2,3] 0 0 1 1 1 1"},
    {"pi", "[] 3.14159"},
    {"-inf", "[] -inf"},
    {"nan", "[] nan"},
    {"x", "[2,3] 1 2 3 4 5 6"},
    {"h", "[2] 0.100098 -1"},
    {"p", "[2,1] 1 0"},
    {"x + 1 ; a comment", "[2,3] 2 3 4 5 6 7"},
    {"x + y", "[2,3] 11 22 33 14 25 36"},
    {"p * y", "[2,3] 10 20 30 0 0 0"},
    {"-x", "[2,3] -1 -2 -3 -4 -5 -6"},
    {"x[1]", "[3] 4 5 6"},
    {"x[-1, -2]", "[] 5"},
    {"x[-2, -3]", "[] 1"},
    {"1e+2 - 25E-2", "[] 99.75"},
    {"x[:, 1]", "[2] 2 5"},
    {"x[0:1, 1:]", "[1,2] 2 3"},
    {"x[:ROWS, ::2]", "[2,2] 1 3 4 6"},
    {"x[:, :-1]", "[2,2] 1 2 4 5"},
    {"x[1][2]", "[] 6"},
    {"x[1:1]", "[0,3]"},
    {"sum(x[1:1], axis=0)", "[3] 0 0 0"},
    {"softmax(x[1:1])", "[0,3]"},
    {"sum(x)", "[] 21"},
    {"sum(x, axis=0)", "[3] 5 7 9"},
    {"sum(x, axis=-1)", "[2] 6 15"},
    {"sum(x, axis=(0, 1), keepdims=1)", "[1,1] 21"},
    {"mean(x, axis=1, keepdims=1)", "[2,1] 2 5"},
    {"sum((iota(3) - 1) * 1e100 + 1)", "[] 1"},
    {"prod(x, axis=1)", "[2] 6 120"},
    {"var(x, axis=1)", "[2] 0.666667 0.666667"},
    {"max(x)", "[] 6"},
    {"norm(x, axis=1) ** 2", "[2] 14 77"},
    {"norm(x, axis=0, keepdims=1)", "[1,3] 4.12311 5.38516 6.7082"},
    {"limit(x, 3)", "[2,3] 1 2 inf inf inf inf"},
    {"limit(odd, inf)", "[5] 1 inf -2 inf -0"},
    {"gamma(2 ** 23 + iota(3) * 2 ** 22)", "[3] 1 3 inf"},
    {"gamma(1) * 2 ** 24 - 1", "[] 5.96046e-08"},
    {"max(x, 4)", "[2,3] 4 4 4 4 5 6"},
    {"min(x, axis=1)", "[2] 1 4"},
    {"min(x, y / 10)", "[2,3] 1 2 3 1 2 3"},
    {"max(x - iota(3) * 4, axis=0)", "[3] 4 1 -2"},
    {"min(reshape(iota(24) * 5 % 24, 4, 3, 2), axis=(0, 2))", "[3] 0 3 1"},
    {"min(iota(5, 1500) * (2 - iota(5, 1500, axis=0)), axis=0)[-2:]", "[2] -2996 -2998"},
    {"max(where(iota(5, 7, axis=0) == iota(7), nan, -iota(5, 7)), axis=0)", "[7] nan nan nan nan nan -5 -6"},
    {"1 / max(where(iota(4, 2, axis=0) % 2 == iota(2), 0, -0.0), axis=0)", "[2] -inf inf"},
    {"max(odd, 0)", "[5] 1 nan 0 inf 0"},
    {"max(odd)", "[] nan"},
    {"argmax(x, axis=1)", "[2] 2 2"},
    {"argmax(-x, axis=1)", "[2] 0 0"},
    {"argmin(-x, axis=0)", "[3] 1 1 1"},
    {"argmax(odd)", "[] 1"},
    {"cumsum(x)", "[2,3] 1 3 6 4 9 15"},
    {"cumsum(x, axis=0)", "[2,3] 1 2 3 5 7 9"},
    {"softmax(x, axis=0)", "[2,3] 0.0474259 0.0474259 0.0474259 0.952574 0.952574 0.952574"},
    {"softmax(x + 1000)", "[2,3] 0.0900306 0.244728 0.665241 0.0900306 0.244728 0.665241"},
    {"normalize(x)", "[2,3] -1.22474 0 1.22474 -1.22474 0 1.22474"},
    {"normalize(x, axis=1, eps=1/3)", "[2,3] -1 0 1 -1 0 1"},
    {"abs(-x[0])", "[3] 1 2 3"},
    {"sqrt(4) + rsqrt(4) + reciprocal(4)", "[] 2.75"},
    {"exp(1) + log(1) + log2(8)", "[] 5.71828"},
    {"tanh(1)", "[] 0.761594"},
    {"sigmoid(x)", "[2,3] 0.731059 0.880797 0.952574 0.982014 0.993307 0.997527"},
    {"erf(0.5)", "[] 0.5205"},
    {"sin(1)", "[] 0.841471"},
    {"cos(1)", "[] 0.540302"},
    {"round(0.5) + round(1.5) + floor(-0.5) + ceil(0.5) + trunc(-1.5)", "[] 1"},
    {"sign(odd)", "[5] 1 nan -1 1 -0"},
    {"pow(2, 10)", "[] 1024"},
    {"x ** 2", "[2,3] 1 4 9 16 25 36"},
    {"x ** 3", "[2,3] 1 8 27 64 125 216"},
    {"x ** 4 - 2 ** x", "[2,3] -1 12 73 240 593 1232"},
    {"x ** (x + 1)", "[2,3] 1 8 81 1024 15625 279936"},
    {"x * 2 + x[1:2] * 2", "[2,3] 10 14 18 16 20 24"}, /* a part of what was looked at */
    {"x ** x", "[2,3] 1 4 27 256 3125 46656"},
    {"where(x < 3, 0, y)", "[2,3] 0 0 30 10 20 30"},
    {"where(p, x, -1)", "[2,3] 1 2 3 -1 -1 -1"},
    {"matmul(x, transpose(x))", "[2,2] 14 32 32 77"},
    {"matmul(where(iota(2, 3) < 1, x, 0), transpose(x) / (transpose(x) - 6))", "[2,2] -0.2 nan -0.8 nan"},
    {"softmax(where(x < 3, x, -inf))", "[2,3] 0.268941 0.731059 0 nan nan nan"},
    {"softmax(where(x < 3, inf, -inf))", "[2,3] nan nan nan nan nan nan"},
    {"softmax(where(x < 2, nan, where(x < 3, x, -inf)))", "[2,3] nan nan nan nan nan nan"},
    {"softmax(where(iota(9, 5) < 2, where(iota(9, 5, axis=0) == 4, nan, 1), -inf))[:, 4]",
     "[9] 0 0 0 0 nan 0 0 0 0"},
    {"1 / softmax(where(iota(9, 9) <= iota(9, 9, axis=0), 2, -inf))[:, 0]", "[9] 1 2 3 4 5 6 7 8 9"},
    {"1 / softmax(where(iota(9, 9) <= iota(9, 9, axis=0), 2, -inf))[4]", "[9] 5 5 5 5 5 inf inf inf inf"},
    {"sum(abs(matmul(iota(2, 3), iota(3, 2500)) - 3 * iota(2, 2500)))", "[] 0"},
    {"sum(abs(matmul(iota(40, 1500) % 7, iota(1500, 1600, axis=0) % 5 + iota(1500, 1600)) - 8980"
     " - 4495 * iota(40, 1600)))",
     "[] 0"},
    {"sum(abs(matmul(iota(40, 700) % 7, iota(700, 1600, axis=0) % 5 + iota(700, 1600)) - 4200"
     " - 2100 * iota(40, 1600)))",
     "[] 0"},
    {"matmul(x, reshape(iota(6), 1, 3, 2) + reshape(iota(2), 2, 1, 1))", "[2,2,2] 16 22 34 49 22 28 49 64"},
    {"take(x, 1 - iota(2))", "[2,3] 4 5 6 1 2 3"},
    {"take(x, 2 - iota(2, 2), axis=-1)", "[2,2,2] 3 2 3 2 6 5 6 5"},
    {"take(y, 2)", "[] 30"},
    {"take(x, 1)", "[3] 4 5 6"},
    {"take(x, 1, axis=1)", "[2] 2 5"},
    {"bincount(x - 2, 4)", "[4] 1 1 1 1"},
    {"bincount(x / 2, 3)", "[3] 0 1 1"},
    {"bincount((iota(5000) + 1) % 5 - 1, 3)", "[3] 1000 1000 1000"},
    {"bincount(x * 1e12, 2)", "[2] 0 0"},
    {"bincount(x - 2, 1)", "[1] 1"},
    {"conv(reshape(x, 1, 2, 3, 1), reshape(iota(9), 3, 3, 1, 1))", "[1,2,3,1] 82 133 90 46 70 42"},
    {"conv(reshape(x, 1, 1, 3, 2), reshape(iota(4), 1, 1, 2, 2))", "[1,1,3,2] 4 7 8 15 12 23"},
    {"transpose(x, 1, 0)", "[3,2] 1 4 2 5 3 6"},
    {"transpose(reshape(x, 1, 2, 3), (2, 0, 1))", "[3,1,2] 1 4 2 5 3 6"},
    {"reshape(x, 3, 2)", "[3,2] 1 2 3 4 5 6"},
    {"reshape(x[0, 0])", "[] 1"},
    {"reshape(x[0:0], 0, 5)", "[0,5]"},
    {"iota(2, 3, axis=0)", "[2,3] 0 0 0 1 1 1"},
    {"iota(ROWS, 3)", "[2,3] 0 1 2 0 1 2"},
    {"cast(0.1, bf16) - 0.1", "[] 9.76562e-05"},
    {"cast(x * 100.7, u8)", "[2,3] 100 201 255 255 255 255"},
    {"cast(odd, s8)", "[5] 1 0 -2 127 -0"},
    {"cast(odd, pred)", "[5] 1 1 1 1 0"},
};

TEST(value_rows) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_reference_value value;
        ts_source source = {"test", values[i].expression, strlen(values[i].expression)};
        const ts_reference *tree = ts_reference_parse(&err, arena, &source, 0, source.length);
        if (!tree || !ts_reference_evaluate(&err, arena, tree, names, NAMES, &value))
            fail_msg("%s: %s", values[i].expression, err.message);
        ts_text text = ts_text_begin(arena);
        print_value(&value, &text);
        if (strcmp(text.bytes, values[i].value) != 0)
            fail_msg("%s: %s, expected %s", values[i].expression, text.bytes, values[i].value);
        ts_arena_free(arena);
    }
}

/* ---- Arrays of many blocks, against the definition of each function, element by element ---- */

enum { A = 5, B = 600, C = 7, DEPTH = 331 };
static float big_data[A * B * C], left_data[3 * 301 * DEPTH], right_data[DEPTH * 37];

static double big(int64_t i, int64_t k, int64_t l) { return (double)big_data[(i * B + k) * C + l]; }
static double left(int64_t m, int64_t row, int64_t k) {
    return (double)left_data[(m * 301 + row) * DEPTH + k];
}
static double right(int64_t k, int64_t column) { return (double)right_data[k * 37 + column]; }

static double plus_row(const int64_t *i) { return big(i[0], i[1], i[2]) + (double)y_data[i[2] % 3]; }
static double times_column(const int64_t *i) { return big(i[0], i[1], i[2]) * big(0, i[1], 0); }
/* What it is to be is tested with the loops. */
static double e_to(double value) {
    ts_reference_loops_get(0)->exponential(&value, &value, 1);
    return value;
}

static double times_own_row(const int64_t *i) { return big(i[0], i[1], i[2]) * e_to(big(0, 0, i[2])); }
static double turned(const int64_t *i) { return e_to(big(i[1], i[2], i[0])) + 1; }
static double cut_out(const int64_t *i) { return -big(2 * i[0], 3 + 7 * i[1], 1 + i[2]); }
static double taken(const int64_t *i) { return e_to(big(i[0], 599 - i[1], i[2])); }
static double chosen(const int64_t *i) { return i[1] % 3 < i[2] % 2 ? big(i[0], i[1], i[2]) : -1; }
static double scaled(const int64_t *i) { return big(i[0], i[1], i[2]) * e_to(big(i[0], i[1], 0)); }

static double summed(const int64_t *i) {
    double total = 0;
    for (int b = 0; b < B; b++) total += big(i[0], b, i[1]);
    return total;
}

static double summed_outside(const int64_t *i) {
    double total = 0;
    for (int a = 0; a < A; a++)
        for (int l = 0; l < C; l++) total += big(a, i[1], l);
    return total;
}

static double spread(const int64_t *i) {
    double total = 0, mean = summed(i) / B;
    for (int b = 0; b < B; b++) total += (big(i[0], b, i[1]) - mean) * (big(i[0], b, i[1]) - mean);
    return total / B;
}

static double where_largest(const int64_t *i) {
    int best = 0;
    for (int b = 1; b < B; b++)
        if (big(i[0], b, i[1]) > big(i[0], best, i[1])) best = b;
    return best;
}

static double multiplied(const int64_t *i) {
    double product = 1;
    for (int a = 0; a < A; a++) product *= big(a, i[0], i[1]) / 8;
    return product;
}

static double ran(const int64_t *i) {
    double total = 0;
    for (int b = 0; b <= i[1]; b++) total += big(i[0], b, i[2]);
    return total;
}

static double centered(const int64_t *i) {
    const int64_t line[] = {i[0], i[2]};
    return (big(i[0], i[1], i[2]) - summed(line) / B) / sqrt(spread(line) + 0.25);
}

static double soft(const int64_t *i) {
    double top = -(double)INFINITY, total = 0;
    for (int l = 0; l < C; l++) top = fmax(top, big(i[0], i[1], l));
    for (int l = 0; l < C; l++) total += e_to(big(i[0], i[1], l) - top);
    return e_to(big(i[0], i[1], i[2]) - top) / total;
}

static double matrix_product(const int64_t *i) {
    double total = 0;
    for (int k = 0; k < DEPTH; k++) total += left(i[0], i[1], k) * right(k, i[2]);
    return total;
}

static double product_of_thirds(const int64_t *i) {
    double total = 0;
    for (int k = 0; k < DEPTH; k++) total += left(i[0], i[1], k) / 3 * right(k, i[2]);
    return total;
}

static double product_of_integers(const int64_t *i) {
    double total = 0;
    for (int k = 0; k < DEPTH; k++) total += trunc(left(i[0], i[1], k) / 3 * 0x1p27) * right(k, i[2]);
    return total;
}

/* Of all of `big`, as 7 rows and as 7 columns. */
static double long_product(const int64_t *i) {
    double total = 0;
    for (int k = 0; k < A * B * C / 7; k++)
        total += big(0, 0, i[0] * (A * B * C / 7) + k) * big(0, 0, k * 7 + i[1]);
    return total;
}

static double own_product(const int64_t *i) {
    double total = 0;
    for (int k = 0; k < DEPTH; k++) total += left(0, i[1], k) * left(i[0], i[2], k);
    return total;
}

static double later_product(const int64_t *i) {
    return matrix_product((const int64_t[]){i[0], i[1] + 1, i[2]});
}

static double masked_product(const int64_t *i) {
    double total = 0;
    for (int k = 0; k < DEPTH; k++) total += left(i[0], i[1] + 1, k) * left(i[0], i[2] + 1, k);
    return i[2] <= i[1] ? total : -1;
}

static double product_of_some(const int64_t *i) {
    double total = 0;
    for (int k = 0; k <= i[1] && k < DEPTH; k++) total += left(i[0], i[1] + 1, k) * right(k, i[2]);
    return total;
}

static double half_chosen(const int64_t *i) {
    double value = big(i[0], i[1], i[2]);
    return i[1] < 300 ? value : e_to(value);
}

/* Some far from each other. */
static double seldom_chosen(const int64_t *i) {
    double value = big(i[0], i[1], i[2]);
    return (i[1] * C + i[2]) % 700 < 3 ? value : e_to(value);
}

static double masked_below(const int64_t *i) {
    double total = 0;
    for (int k = 0; k < DEPTH; k++) total += left(i[0], i[1], k) * left(i[0], i[2], k);
    return i[2] <= i[1] || i[2] == 250 ? total : -1;
}

static double window(const int64_t *i) {
    double total = 0;
    for (int r = 0; r < 3; r++)
        for (int s = 0; s < 4; s++)
            for (int l = 0; l < C; l++) {
                int64_t v = i[1] + r - 1, w = i[2] + s - 2;
                bool inside = v >= 0 && v < 20 && w >= 0 && w < 30;
                if (inside) total += big(i[0], v * 30 + w, l) * right(0, ((r * 4 + s) * C + l) * 2 + i[3]);
            }
    return total;
}

/* Exact: the same operations in the same order, but for compensated sums. */
static const struct {
    const char *expression;
    int rank;
    int64_t dims[4];
    double bound;
    double (*value)(const int64_t *index);
} definitions[] = {
    {"big + reshape(take(y, iota(7) % 3), 7)", 3, {A, B, C}, 0, plus_row},
    {"big * big[0, :, :1]", 3, {A, B, C}, 0, times_column},
    {"big * exp(big)[0, 0]", 3, {A, B, C}, 0, times_own_row},
    {"transpose(exp(big), 2, 0, 1) + 1", 3, {C, A, B}, 0, turned},
    {"-big[::2, 3:590:7, 1:]", 3, {3, 84, 6}, 0, cut_out},
    {"take(exp(big), 599 - iota(600), axis=1)", 3, {A, B, C}, 0, taken},
    {"where(iota(600, 7, axis=0) % 3 < iota(600, 7) % 2, big, -1)", 3, {A, B, C}, 0, chosen},
    {"big * exp(max(big[:, :, :1], axis=2, keepdims=1))", 3, {A, B, C}, 0, scaled},
    {"sum(big, axis=1)", 2, {A, C}, 1e-10, summed},
    {"sum(big, axis=(2, 0), keepdims=1)", 3, {1, B, 1}, 1e-12, summed_outside},
    {"var(softmax(big) * 0 + big, axis=1)", 2, {A, C}, 1e-10, spread},
    {"argmax(big, axis=1)", 2, {A, C}, 0, where_largest},
    {"prod(big / 8, axis=0)", 2, {B, C}, 0, multiplied},
    {"cumsum(big, axis=1)", 3, {A, B, C}, 0, ran},
    {"normalize(big, axis=1, eps=0.25)", 3, {A, B, C}, 1e-12, centered},
    {"softmax(big)", 3, {A, B, C}, 1e-15, soft},
    {"matmul(left, right)", 3, {3, 301, 37}, 0, matrix_product},
    {"matmul(left / 3, right)", 3, {3, 301, 37}, 0, product_of_thirds},
    {"matmul(cast(left / 3, f64), right)", 3, {3, 301, 37}, 0, product_of_thirds},
    {"matmul(cast(left / 3 * 2 ** 27, s32), right)", 3, {3, 301, 37}, 0, product_of_integers},
    {"matmul(reshape(big, 7, 3000), reshape(big, 3000, 7))", 2, {7, 7}, 0, long_product},
    {"matmul(left[0], transpose(left, 0, 2, 1))", 3, {3, 301, 301}, 0, own_product},
    {"matmul(left[:, 1:], right)", 3, {3, 300, 37}, 0, later_product},
    {"where(iota(300, 300) <= iota(300, 300, axis=0), matmul(left[:, 1:], transpose(left[:, 1:], 0, 2, 1)), "
     "-1)",
     3,
     {3, 300, 300},
     0,
     masked_product},
    {"where((iota(288, 288) <= iota(288, 288, axis=0)) + (iota(288, 288) == 250), "
     "matmul(left[:, :288], transpose(left[:, :288], 0, 2, 1)), -1)",
     3,
     {3, 288, 288},
     0,
     masked_below},
    {"where((iota(600, 7, axis=0) * 7 + iota(600, 7)) % 700 < 3, big, exp(big))",
     3,
     {A, B, C},
     0,
     seldom_chosen},
    {"matmul(where(iota(300, 331) <= iota(300, 331, axis=0), left[:, 1:], 0), right)",
     3,
     {3, 300, 37},
     0,
     product_of_some},
    {"where(iota(600, 7, axis=0) < 300, big, exp(big))", 3, {A, B, C}, 0, half_chosen},
    {"matmul(softmax(left) * 0 + left, cumsum(right) * 0 + right)", 3, {3, 301, 37}, 0, matrix_product},
    {"conv(reshape(big, 5, 20, 30, 7), reshape(reshape(right, 331 * 37)[:168], 3, 4, 7, 2))",
     4,
     {A, 20, 30, 2},
     0,
     window},
};

static void fill_data(float *data, size_t count) {
    static uint64_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        data[i] = (float)(state >> 40) * 0x1p-20f - 8;
    }
}

static bool read_floats(ts_error *err, void *self, int64_t begin, int64_t stride, size_t count,
                        void *elements) {
    (void)err;
    for (size_t i = 0; i < count; i++)
        memcpy((float *)elements + i, (float *)self + begin + (int64_t)i * stride, sizeof(float));
    return true;
}

/* Arrays are there, or read in any order, or best in order. */
typedef enum { HAS_BYTES, IS_READ, IS_READ_IN_ORDER, WAYS } way;

typedef struct {
    ts_host_array arrays[3];
    ts_reference_name names[4];
} large_arrays;

static void set_up(large_arrays *large, way how) {
    *large =
        (large_arrays){.arrays = {{TS_DTYPE_F32, 3, {A, B, C}, (uint8_t *)big_data, sizeof big_data},
                                  {TS_DTYPE_F32, 3, {3, 301, DEPTH}, (uint8_t *)left_data, sizeof left_data},
                                  {TS_DTYPE_F32, 2, {DEPTH, 37}, (uint8_t *)right_data, sizeof right_data}},
                       .names = {{.name = "big", .array = &large->arrays[0]},
                                 {.name = "left", .array = &large->arrays[1]},
                                 {.name = "right", .array = &large->arrays[2]},
                                 {.name = "y", .array = &y}}};
    for (int i = 0; how != HAS_BYTES && i < 3; i++) {
        large->names[i].reader =
            (ts_host_reader){read_floats, large->arrays[i].bytes, how == IS_READ_IN_ORDER};
        large->arrays[i].bytes = NULL;
    }
}

static const ts_reference_value *evaluated(ts_arena *arena, const char *text, const large_arrays *large) {
    ts_error err = {0};
    ts_reference_value *value = TS_NEW(arena, ts_reference_value);
    ts_source source = {"test", text, strlen(text)};
    const ts_reference *tree = ts_reference_parse(&err, arena, &source, 0, source.length);
    if (!tree || !ts_reference_evaluate(&err, arena, tree, large->names, 4, value))
        fail_msg("%s: %s", text, err.message);
    return value;
}

/* What is expected is computed once for all ways. */
static void compare_element(size_t n, size_t at, const ts_reference_value *const *found) {
    int64_t index[4], rest = (int64_t)at;
    for (int i = definitions[n].rank - 1; i >= 0; rest /= definitions[n].dims[i--])
        index[i] = rest % definitions[n].dims[i];
    double wanted = definitions[n].value(index), bound = definitions[n].bound * fmax(1, fabs(wanted));
    for (way how = 0; how < WAYS; how++)
        if (!(fabs(found[how]->values[at] - wanted) <= bound))
            fail_msg("%s, way %d, element %zu: %a, expected %a", definitions[n].expression, (int)how, at,
                     found[how]->values[at], wanted);
}

TEST(blocks_equal_the_definition) {
    large_arrays large[WAYS];
    fill_data(big_data, sizeof big_data / sizeof *big_data);
    fill_data(left_data, sizeof left_data / sizeof *left_data);
    fill_data(right_data, sizeof right_data / sizeof *right_data);
    for (way how = 0; how < WAYS; how++) set_up(&large[how], how);
    for (size_t n = 0; n < sizeof definitions / sizeof *definitions; n++) {
        ts_arena *arena = ts_arena_new();
        const char *text = definitions[n].expression;
        const ts_reference_value *found[WAYS];
        for (way how = 0; how < WAYS; how++) {
            found[how] = evaluated(arena, text, &large[how]);
            assert_int_equal(found[how]->rank, definitions[n].rank);
            for (int i = 0; i < found[how]->rank; i++)
                assert_int_equal(found[how]->dims[i], definitions[n].dims[i]);
        }
        /* ASan is for what evaluates; the definition takes longer than that, and release compares all. */
        for (size_t at = 0; at < found[0]->count; at += (size_t)stride(1, 101)) compare_element(n, at, found);
        ts_arena_free(arena);
    }
}

/* Column from 1 within the expression. */
static const struct {
    const char *expression;
    int column;
    const char *message;
} refusals[] = {
    {"", 1, "found the end, expected a name, a number, a function or '('"},
    {"x +", 4, "found the end, expected a name, a number, a function or '('"},
    {"x y", 3, "found 'y', expected an operator or the end"},
    {"2x", 2, "found 'x', expected an operator or the end"},
    {"(x", 3, "found the end, expected ')'"},
    {"x[1", 4, "found the end, expected ',' or ']'"},
    {"x[]", 3, "found ']', expected an index or ':'"},
    {"x[1.5]", 3, "expected an integer as an index"},
    {"x[2]", 3, "index 2 of a dim of 2"},
    {"x[0:3]", 3, "slice 0:3 of a dim of 2"},
    {"x[1:0]", 3, "slice 1:0 of a dim of 2"},
    {"x[::0]", 3, "a step of 0, expected 1 or more"},
    {"x[0, 0, 0]", 1, "3 indices of an array of 2 dims"},
    {"x + z", 5, "unknown name 'z'"},
    {"1 + row", 5, "unknown name 'row'"},
    {"1 + ROW", 5, "unknown name 'ROW'; did you mean 'ROWS'?"},
    {"c + 1", 1, "'c' holds c64, which has no real values"},
    {"sofmax(x)", 1, "unknown function 'sofmax'; did you mean 'softmax'?"},
    {"fourier(x)", 1, "unknown function 'fourier', expected such as 'softmax'"},
    {"exp()", 1, "'exp' with 0 arguments, usage: exp(x)"},
    {"where(x, 1)", 1, "'where' with 2 arguments, usage: where(condition, x, y)"},
    {"exp(x, axis=1)", 8, "'exp' takes no 'axis=', usage: exp(x)"},
    {"softmax(x, axes=1)", 12, "'softmax' takes no 'axes=', usage: softmax(x, axis=-1)"},
    {"softmax(x, axis=1, axis=1)", 20, "the same keyword twice"},
    {"softmax(x, axis=2)", 17, "axis 2 of an array of 2 dims"},
    {"softmax(1)", 1, "axis -1 of an array of 0 dims"},
    {"sum(x, axis=(0, 0))", 13, "the same axis twice"},
    {"normalize(x, eps=y)", 18, "expected a number as eps"},
    {"exp(x;)", 6, "found the end, expected ',' or ')'"},
    {"x + (1, 2)", 5, "a list is not a value, expected one expression"},
    {"x + x[:, :2]", 3, "shapes [2,3] and [2,2] do not broadcast"},
    {"matmul(x, y)", 1, "'matmul' takes arrays of 2 dims or more"},
    {"matmul(x, x)", 1, "'matmul' of [2,3] and [2,3]: the inner dims differ"},
    {"take(x, 2)", 9, "found the index 2, expected an integer from 0 to 1"},
    {"where(x < 3, x, take(y, x))", 25, "found the index 3, expected an integer from 0 to 2"},
    {"where(x > 3, x, take(y, x))", 25, "found the index 3, expected an integer from 0 to 2"},
    {"where(x > 9, take(y, x), x)", 22, "found the index 3, expected an integer from 0 to 2"},
    {"take(x, 0.5)", 9, "found the index 0.5, expected an integer from 0 to 1"},
    {"take(x, 0, axis=0.5)", 17, "expected an integer as an axis"},
    {"take(x, 0, axis=2)", 17, "'take' of an array of 2 dims"},
    {"bincount(x, 0)", 13, "expected 1 bin or more"},
    {"conv(x, y)", 1, "'conv' takes [N,H,W,C] and [R,S,C,K]"},
    {"transpose(x, 0, 0)", 1, "'transpose' of 2 dims takes each of 0 to 1 once"},
    {"reshape(x, 4)", 1, "'reshape' of 6 elements to dims that hold a different number"},
    {"iota(2, axis=1)", 14, "axis 1 of an array of 1 dims"},
    {"iota(-1)", 1, "a dim of -1, expected 0 or more"},
    {"iota(40000, 40000)", 1, "the result would have more than 2^30 elements"},
    {"cast(x, bf15)", 9, "expected an element type such as bf16; did you mean 'bf16'?"},
    {"cast(x, c64)", 9, "expected an element type such as bf16; did you mean 'c64'?"},
    {"cast(x, 3)", 9, "expected an element type such as bf16"},
    {"0 <= x < 4", 8, "a comparison of a comparison, expected '*' between two, or parentheses"},
    {"1 == sum(x == x != 2)", 17, "a comparison of a comparison, expected '*' between two, or parentheses"},
    {"1 $ 2", 3, "found '$', expected an operator or the end"},
    {"00000000000000000000000000000000000000000000000000000000000000000001", 1,
     "a number of more than 63 characters"},
};

TEST(refusal_rows) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_reference_value value;
        ts_source source = {"test", refusals[i].expression, strlen(refusals[i].expression)};
        const ts_reference *tree = ts_reference_parse(&err, arena, &source, 0, source.length);
        if (tree && ts_reference_evaluate(&err, arena, tree, names, NAMES, &value))
            fail_msg("%s: no error", refusals[i].expression);
        if (strcmp(err.message, refusals[i].message) != 0 || err.column != refusals[i].column ||
            err.line != 1)
            fail_msg("%s: column %d: %s", refusals[i].expression, err.column, err.message);
        ts_arena_free(arena);
    }
}

TEST(deep_nesting_is_refused) {
    static const char *const units[] = {"(", "-", "2**", "exp(", "x[", "1+("};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_text text = ts_text_begin(arena);
        for (int n = 0; n < 100000; n++) ts_text_add(&text, "%s", units[i]);
        ts_source source = {"test", text.bytes, text.length};
        assert_null(ts_reference_parse(&err, arena, &source, 0, source.length));
        assert_string_equal(err.message, "the expression is nested too deep");
        ts_arena_free(arena);
    }
}

/* Of a line of a program: neither what is before it is read nor what follows, such as the comment of another line. */
TEST_WITH_ARENA(a_part_of_a_text) {
    static const char text[] = ".check y ~= 1 + 1\n) ; 2";
    const size_t begin = strlen(".check y ~= "), end = strlen(".check y ~= 1 + 1");
    const ts_source source = {"test", text, sizeof text - 1};
    ts_error err = {0};
    ts_reference_value value;
    const ts_reference *tree = ts_reference_parse(&err, arena, &source, begin, end);
    if (!tree) fail_msg("%s", err.message);
    assert_true(ts_reference_evaluate(&err, arena, tree, NULL, 0, &value));
    assert_true(value.count == 1 && value.values[0] == 2);
}

/* So many terms without parentheses: their value, one that is unknown, and is a name used? */
TEST(long_chains) {
    enum { TERMS = 50000 };
    static const struct {
        const char *first, *link, *value, *uses;
    } rows[] = {
        {"0", " + ROWS", "[] 100000", "ROWS"},
        {"0", " - y[1]", "[] -1e+06", "y"},
        {"x", " * p", "[2,3] 1 2 3 0 0 0", "x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_text text, shown;
        ts_reference_value value;
        text = ts_text_begin(arena);
        shown = ts_text_begin(arena);
        ts_text_add(&text, "%s", rows[i].first);
        for (int n = 0; n < TERMS; n++) ts_text_add(&text, "%s", rows[i].link);
        ts_source source = {"test", text.bytes, text.length};
        const ts_reference *read = ts_reference_parse(&err, arena, &source, 0, source.length);
        assert_non_null(read);
        assert_true(ts_reference_evaluate(&err, arena, read, names, NAMES, &value));
        print_value(&value, &shown);
        assert_string_equal(shown.bytes, rows[i].value);
        assert_true(ts_reference_uses(read, rows[i].uses));
        assert_false(ts_reference_uses(read, "z"));
        ts_arena_free(arena);
    }
}

/* Names in keywords count as those in operands. */
TEST(names_in_keywords_are_used) {
    static const char *const rows[] = {"sum(x, axis=z)", "1 + sum(x, axis=0, keepdims=z)"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_source source = {"test", rows[i], strlen(rows[i])};
        const ts_reference *read = ts_reference_parse(NULL, arena, &source, 0, source.length);
        assert_non_null(read);
        assert_true(ts_reference_uses(read, "x") && ts_reference_uses(read, "z"));
        assert_false(ts_reference_uses(read, "y"));
        ts_arena_free(arena);
    }
}

/* The first that is unknown is the one that is told of, at either end of a chain. Column 0: all are known, and types are
 * no names. */
TEST(unknown_names_in_chains) {
    static const struct {
        const char *text;
        int column;
    } rows[] = {{"x ~= u + x + v", 6},
                {"x ~= x + u * v", 10},
                {"x ~= x + exp(x + u) + v", 18},
                {"x ~= x + x + v", 14},
                {"x ~= cast(x, bf16)[0] + y[1:]", 0},
                {"x ~= cast(x, bf16)[v]", 20}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_check check;
        ts_source source = {"test", rows[i].text, strlen(rows[i].text)};
        assert_true(ts_check_parse(&err, arena, &source, 0, source.length, &check));
        assert_int_equal(ts_check_resolve(&err, &check, names, NAMES), rows[i].column == 0);
        assert_int_equal(err.column, rows[i].column);
        ts_arena_free(arena);
    }
}

static const struct {
    ts_dtype dtype;
    double actual, expected, ulps;
} distances[] = {
    {TS_DTYPE_F32, 1, 1, 0},
    {TS_DTYPE_F32, 0x1.000002p0, 1, 1},
    {TS_DTYPE_F32, 1, 0x1.000002p0, 1},
    {TS_DTYPE_F32, 0x0.ffffffp0, 1, 0.5}, /* below a power of two values are half as far apart */
    {TS_DTYPE_F32, 1, 0x0.ffffffp0, 1},
    {TS_DTYPE_F32, 0x1p-149, 0, 1},
    {TS_DTYPE_F32, 0x1p-148, 0x1p-149, 1},
    {TS_DTYPE_F32, -0.0, 0, 0},
    {TS_DTYPE_F32, (double)NAN, (double)NAN, 0},
    {TS_DTYPE_F32, 1, (double)NAN, (double)INFINITY},
    {TS_DTYPE_F32, (double)NAN, 1, (double)INFINITY},
    {TS_DTYPE_F32, (double)INFINITY, (double)INFINITY, 0},
    {TS_DTYPE_F32, (double)INFINITY, -(double)INFINITY, (double)INFINITY},
    {TS_DTYPE_F32, (double)INFINITY, 1e39, 0},
    {TS_DTYPE_F32, (double)INFINITY, 3.4e38, (double)INFINITY},
    {TS_DTYPE_F32, 3.4e38, (double)INFINITY, (double)INFINITY},
    {TS_DTYPE_F32, 0x1.fffffep127, 0x1p128, 1},
    {TS_DTYPE_F64, 0x1.0000000000001p0, 1, 1},
    {TS_DTYPE_BF16, 1.0078125, 1, 1},
    {TS_DTYPE_BF16, 1, 1.00390625, 0.5},
    {TS_DTYPE_F16, 0x1p-24, 0, 1},
    {TS_DTYPE_F16, (double)INFINITY, 65520, 0},
    {TS_DTYPE_F8E4M3FN, 448, 480, 1},
    {TS_DTYPE_F8E8M0FNU, 4, 2, 1},
    {TS_DTYPE_S32, 7, 5, 2},
    {TS_DTYPE_S8, 1, 0.75, 0.25},
    {TS_DTYPE_PRED, 1, 0, 1},
    {TS_DTYPE_S32, 0, (double)NAN, (double)INFINITY},
};

TEST(distance_rows) {
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        ts_reference_type type = ts_reference_describe(distances[i].dtype);
        double got = ts_reference_distance(&type, distances[i].actual, distances[i].expected);
        if (got != distances[i].ulps) fail_msg("row %zu: %g ulp, expected %g", i, got, distances[i].ulps);
    }
}

/* cast() shares nothing with the conversions of the simulator: each checks the other, for every bf16 and f16
 * as the source and every type of at most 16 bits as the result. */
TEST(cast_equals_conversion) {
    for (int to = 0; to < TS_DTYPE_COUNT; to++) {
        const ts_dtype_info *type = ts_dtype_get((ts_dtype)to);
        if (!ts_dtype_has_value((ts_dtype)to) || type->value_bits > 32) continue;
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        char text[64];
        static uint16_t every[1 << 16];
        for (int i = 0; i < 1 << 16; i++) every[i] = (uint16_t)i;
        ts_host_array source = {TS_DTYPE_BF16, 1, {1 << 16}, (uint8_t *)every, sizeof every};
        ts_reference_name name = {.name = "v", .array = &source};
        for (int half = 0; half < 2; half++) {
            source.dtype = half ? TS_DTYPE_F16 : TS_DTYPE_BF16;
            snprintf(text, sizeof text, "cast(v * 1.0009765625, %s)",
                     type->name); /* 11 more bits: no exact value */
            ts_source expression = {"test", text, strlen(text)};
            ts_reference_value value;
            assert_true(ts_reference_evaluate(&err, arena,
                                              ts_reference_parse(&err, arena, &expression, 0, strlen(text)),
                                              &name, 1, &value));
            for (int i = 0; i < 1 << 16; i += stride(1, 37)) {
                double exact = ts_element_to_double(source.dtype, (uint64_t)i) * 1.0009765625;
                double got = ts_element_to_double((ts_dtype)to, element_from_double((ts_dtype)to, exact));
                bool is_zero_nan =
                    type->class == TS_CLASS_FLOAT && type->format && !type->format->has_nan && isnan(exact);
                if (is_zero_nan) continue; /* a type without NaN makes it a zero; the reference keeps it */
                if (isnan(got) ? !isnan(value.values[i]) : got != value.values[i])
                    fail_msg("%a to %s: %a, converted %a", exact, type->name, value.values[i], got);
            }
        }
        ts_arena_free(arena);
    }
}

static const struct {
    const char *text;
    size_t failed, worst;
    double max_ulp;
} checks[] = {
    {"x ~= x", 0, 0, 0},
    {"x == x", 0, 0, 0},
    {"x ~= x + 1", 6, 0, 4194304}, /* 1 is 2^22 ulp at 2 and 3 */
    {"x ~= x + 1 abs=1", 0, 0, 4194304},
    {"x ~= x + 1 abs=0.5 ulp=0", 6, 0, 4194304},
    {"x ~= x * 1.125 rel=.111 ; of the expected value", 6, 2, 1572864},
    {"x ~= x * 1.125 rel=.1112 ; 0.125 / 1.125", 0, 2, 1572864},
    {"x[0] ~= x[0] * 1.000001 ulp=9", 1, 2, 12.582912},
    {"x[0, 1:] ~= y[:2] / 10 + 1", 0, 0, 0},
    {"h ~= 0.1 - 1.1 * iota(2) ulp=0.5", 0, 0, 0.2},
    {"x ~= 3.5 abs=3", 0, 0, 10485760},
    {"p == x[:, :1] == 1", 0, 0, 0},
    {"x ~= x + 1 err=1", 0, 0, 4194304},
    {"x ~= x + 1 err=0.5", 6, 0, 4194304},
    {"x ~= x + 1 err=0.5 abs=1", 0, 0, 4194304},
    {"x ~= x + 1 abs=0.5 err=0 ulp=1", 6, 0, 4194304},
    {"x ~= x + 1 err=inf", 0, 0, 4194304},
    {"x ~= x + 1 err=-inf", 6, 0, 4194304},
    {"x ~= x + 1 err=nan", 6, 0, 4194304},
    {"x ~= x + 1 err=-2", 6, 0, 4194304},
    {"x ~= x err=-2", 0, 0, 0},                                /* what is equal passes */
    {"x ~= x + 1 err=2 / expected", 5, 1, 4194304},            /* the right side: 2 to 7 */
    {"x ~= x + 1 err=(expected < 5) * y / 10", 3, 3, 4194304}, /* elements 3 to 5 may not be off */
    {"h ~= 0.1 - 1.1 * iota(2) err=0", 0, 0, 0.2},             /* bf16 of 0.1 */
    {"h ~= 0.1004 - 1.1004 * iota(2) err=0", 1, 0, 0.62},      /* the nearest bf16 is 0.100586 */
    {"h ~= 0.1004 - 1.1004 * iota(2) err=0.00005", 1, 0, 0.62},
    {"h ~= 0.1004 - 1.1004 * iota(2) err=0.00006", 0, 0, 0.62}, /* ends below the midpoint, 0.100342 */
    {"p ~= 1 - p err=0.5", 2, 0, 1},                            /* no rounding of what is no float */
    {"p ~= 1 - p err=1", 0, 0, 1},
    {"odd ~= odd * 2 err=abs(expected) / 2", 0, 0, 4194304}, /* an infinity is itself, NaN is NaN */
    {"odd ~= inf err=1", 4, 0, (double)INFINITY},
    {"odd ~= 1 err=inf", 0, 1, (double)INFINITY},
    {"odd ~= inf rel=1", 4, 0, (double)INFINITY}, /* of an infinity everything would be near to it */
    {"x ~= where(x > 4, inf, x) rel=9", 2, 4, (double)INFINITY},
};

TEST(check_rows) {
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_check check;
        ts_check_result result;
        ts_source source = {"test", checks[i].text, strlen(checks[i].text)};
        if (!ts_check_parse(&err, arena, &source, 0, source.length, &check) ||
            !ts_check_run(&err, arena, &check, &all, &all, &result))
            fail_msg("%s: %s", checks[i].text, err.message);
        if (result.failed != checks[i].failed || result.worst != checks[i].worst ||
            fabs(result.max_ulp - checks[i].max_ulp) > 1e-6 * checks[i].max_ulp + 0.01)
            fail_msg("%s: %zu failed, worst %zu, %.9g ulp", checks[i].text, result.failed, result.worst,
                     result.max_ulp);
        ts_arena_free(arena);
    }
}

static const struct {
    const char *text;
    int column;
    const char *message;
} bad_checks[] = {
    {"", 1, "found the end, expected a name"},
    {"1 ~= x", 1, "found '1', expected a name"},
    {"x", 2, "found the end, expected '~=' or '=='"},
    {"x + 1 ~= x", 3, "found '+', expected '~=' or '=='"},
    {"x ~= x ulp", 8, "found 'ulp', expected an operator, 'ulp=', 'abs=', 'rel=', 'err=' or the end"},
    {"x ~= x ulps=1", 8, "unknown bound, expected 'ulp=', 'abs=', 'rel=' or 'err='"},
    {"x ~= x err=1 err=2", 14, "the same bound twice"},
    {"x ~= x err=", 12, "found the end, expected a name, a number, a function or '('"},
    {"x ~= x err=z", 12, "unknown name 'z'"},
    {"x ~= expected err=1", 6, "unknown name 'expected'"},
    {"x ~= x err=x[:, :2]", 12, "the left side has shape [2,3], but err= has [2,2]"},
    {"x ~= x ulp=1 ulp=2", 14, "the same bound twice"},
    {"x ~= x ulp=-1", 12, "found '-1', expected a number"},
    {"x == x ulp=1", 8, "found 'ulp', expected an operator or the end ('==' takes no bound)"},
    {"ROWS ~= 2", 1, "'ROWS' is a number, expected a tensor on the left side"},
    {"x ~= x[:, :2]", 6, "the left side has shape [2,3], but the right side has [2,2]"},
    {"x[0] ~= x", 9, "the left side has shape [3], but the right side has [2,3]"},
    {"z ~= x", 1, "unknown name 'z'"},
};

TEST(bad_check_rows) {
    for (size_t i = 0; i < sizeof bad_checks / sizeof *bad_checks; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_check check;
        ts_check_result result;
        ts_source source = {"test", bad_checks[i].text, strlen(bad_checks[i].text)};
        if (ts_check_parse(&err, arena, &source, 0, source.length, &check) &&
            ts_check_run(&err, arena, &check, &all, &all, &result))
            fail_msg("%s: no error", bad_checks[i].text);
        if (strcmp(err.message, bad_checks[i].message) != 0 || err.column != bad_checks[i].column)
            fail_msg("%s: column %d: %s", bad_checks[i].text, err.column, err.message);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(result_names_the_worst_element) {
    ts_error err = {0};
    const char *text = "header\n  odd ~= odd + 1 abs=1";
    ts_check check;
    ts_check_result result;
    ts_source source = {"test", text, strlen(text)};
    assert_true(ts_check_parse(&err, arena, &source, 7, source.length, &check));
    assert_true(ts_check_uses(&check, "odd"));
    assert_false(ts_check_uses(&check, "x"));
    assert_true(ts_check_run(&err, arena, &check, &all, &all, &result));
    assert_int_equal(result.failed, 0); /* NaN and the infinity are equal to themselves */
    assert_int_equal(result.count, 5);
    assert_int_equal(result.rank, 1);
    assert_int_equal(result.dims[0], 5);
    assert_int_equal(result.worst, 2);
    assert_true(result.actual == -2 && result.expected == -1 && result.max_abs == 1);
}

TEST_WITH_ARENA(result_has_the_first_mismatches) {
    ts_error err = {0};
    const char *text = "x ~= where(x == 2, x, x + 1 / x) err=0";
    ts_check check;
    ts_check_result result;
    ts_source source = {"test", text, strlen(text)};
    assert_true(ts_check_parse(&err, arena, &source, 0, source.length, &check));
    assert_true(ts_check_run(&err, arena, &check, &all, &all, &result));
    assert_int_equal(result.failed, 5);
    assert_int_equal(result.mismatch_count, 5);
    assert_int_equal(result.mismatches[0].at, 0);
    assert_int_equal(result.mismatches[4].at, 5);
    assert_true(result.mismatches[2].at == 3 && result.mismatches[2].actual == 4);
    assert_true(result.mismatches[2].expected == 4.25 && result.mismatches[2].abs == 0.25);
    assert_true(result.mismatches[2].ulp == 524288);
    text = "x ~= 0";
    source = (ts_source){"test", text, strlen(text)};
    assert_true(ts_check_parse(&err, arena, &source, 0, source.length, &check));
    assert_true(ts_check_run(&err, arena, &check, &all, &all, &result));
    assert_true(result.failed == 6 && result.mismatch_count == TS_MISMATCHES && TS_MISMATCHES == 5);
}

TEST_WITH_ARENA(bounds_use_tensors) {
    ts_error err = {0};
    const char *text = "x ~= x + odd err=abs(y) * expected";
    ts_check check;
    ts_source source = {"test", text, strlen(text)};
    assert_true(ts_check_parse(&err, arena, &source, 0, source.length, &check));
    assert_true(ts_check_uses(&check, "y"));
    assert_true(ts_check_uses(&check, "odd"));
    assert_false(ts_check_uses(&check, "h"));
}

/* min(expected) reads blocks other than the one that is compared; so may a side of where. */
TEST(bounds_read_what_is_expected) {
    enum { COUNT = 5000 };
    static float data[COUNT];
    for (int i = 0; i < COUNT; i++) data[i] = (float)(COUNT - i);
    const ts_host_array array = {TS_DTYPE_F32, 1, {COUNT}, (uint8_t *)data, sizeof data};
    const ts_reference_name name = {.name = "x", .array = &array};
    const ts_reference_names both = {&name, 1};
    static const struct {
        const char *text;
        size_t failed;
    } rows[] = {
        {"x ~= x * 1.001 err=max(expected, min(expected)) * 0.001", 0},
        {"x ~= x * 1.001 err=min(expected, min(expected) * 1000) * 0.001", COUNT - 1001},
        {"x ~= where(x == 4000, 0, x * 1.001) err=where(expected, max(expected), -1)", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_check check;
        ts_check_result result;
        ts_source source = {"test", rows[i].text, strlen(rows[i].text)};
        assert_true(ts_check_parse(&err, arena, &source, 0, source.length, &check));
        assert_true(ts_check_run(&err, arena, &check, &both, &both, &result));
        assert_int_equal(result.failed, rows[i].failed);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(error_has_the_line_and_a_caret) {
    ts_error err = {0};
    const char *text = ".check y ~= x + sofmax(x)  ulp=1 ; rows\n";
    char shown[512];
    ts_check check;
    ts_source source = {"a.tsim", text, strlen(text)};
    assert_false(ts_check_parse(&err, arena, &source, 7, 39, &check));
    ts_error_format(&err, shown, sizeof shown);
    assert_string_equal(shown, "a.tsim:1:17: error: unknown function 'sofmax'; did you mean 'softmax'?\n"
                               ".check y ~= x + sofmax(x)  ulp=1 \n"
                               "                ^\n");
}

TEST(functions_are_listed) {
    ts_reference_usage row;
    assert_true(ts_reference_function(0, &row));
    assert_string_equal(row.usage, "abs(x)");
    assert_string_equal(row.meaning, "magnitude");
    assert_string_equal(row.error, "none");
    size_t count = 0;
    while (ts_reference_function(count, &row)) {
        assert_true(row.usage && row.meaning && row.error);
        count++;
    }
    assert_int_equal(count, 41);
}
