/* Bounds of err=: ranges of operators by rows, and checks that are decided by them against checks of each element. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/reference_tree.h"
#include "tests/support/rounds.h"
#include "tests/support/test.h"

/* ---- Ranges ---- */

static const range positive = {2, 8, 0.5, false, true}, negative = {-8, -2, 0, false, true},
                   both = {-2, 4, 0, false, true}, from_zero = {0, 4, 0.25, false, true},
                   unknown = {0, 1, 0, false, false}, expected = {-4, 2, 0, true, true},
                   huge = {0, 0x1p1000, 0, false, true}, wide = {4, 16, 0.25, false, true};

#define NOTHING                                                                                              \
    { .known = false }

/* A share is at most 2^-50 of itself below what is stated. */
static const struct {
    const char *name;
    const range *left, *right;
    range wanted;
} rows[] = {
    {"+", &positive, &negative, {-6, 6, 0, false, true}},
    {"+", &positive, &from_zero, {2, 12, 0.75, false, true}},
    {"+", &from_zero, &positive, {2, 12, 0.75, false, true}},
    {"+", &from_zero, &both, {-2, 8, 0, false, true}},
    {"+", &both, &from_zero, {-2, 8, 0, false, true}},
    {"+", &huge, &huge, {0, 0x1p1001, 0, false, true}},
    {"+", &positive, &unknown, NOTHING},
    {"+", &unknown, &positive, NOTHING},
    {"-", &positive, &negative, {4, 16, 0.5, false, true}},
    {"-", &positive, &from_zero, {-2, 8, 0, false, true}},
    {"-", &positive, &both, {-2, 10, 0, false, true}},
    {"*", &positive, &wide, {8, 128, 2, false, true}},
    {"*", &wide, &positive, {8, 128, 2, false, true}},
    {"*", &from_zero, &positive, {0, 32, 0.5, false, true}},
    {"*", &positive, &from_zero, {0, 32, 0.5, false, true}},
    {"*", &positive, &both, {-16, 32, 0, false, true}},
    {"*", &negative, &both, {-32, 16, 0, false, true}},
    {"*", &both, &both, {-8, 16, 0, false, true}},
    {"*", &huge, &huge, NOTHING},
    {"/", &wide, &positive, {0.5, 8, 0.03125, false, true}},
    {"/", &from_zero, &positive, {0, 2, 0.03125, false, true}},
    {"/", &both, &positive, {-1, 2, 0, false, true}},
    {"/", &both, &negative, {-2, 1, 0, false, true}},
    {"/", &positive, &negative, {-4, -0.25, 0, false, true}},
    {"/", &positive, &both, NOTHING},
    {"/", &positive, &from_zero, NOTHING},
    {"/", &positive, &(range){-1, 0, 0, false, true}, NOTHING},
    {"max", &positive, &wide, {4, 16, 0.5, false, true}},
    {"max", &both, &negative, {-2, 4, 0, false, true}},
    {"min", &positive, &wide, {2, 8, 0.25, false, true}},
    {"min", &both, &negative, {-8, -2, 0, false, true}},
    {"limit", &positive, &(range){9, 9, 0, false, true}, {2, 8, 0.5, false, true}},
    {"limit", &positive, &(range){8, 9, 0, false, true}, NOTHING},
    {"abs", &positive, NULL, {2, 8, 0.5, false, true}},
    {"abs", &negative, NULL, {2, 8, 0, false, true}},
    {"abs", &both, NULL, {0, 4, 0, false, true}},
    {"abs", &(range){-6, 4, 0, false, true}, NULL, {0, 6, 0, false, true}},
    {"abs", &(range){-6, 0, 0, false, true}, NULL, {0, 6, 0, false, true}},
    {"abs", &(range){-6, 0.5, 0, false, true}, NULL, {0, 6, 0, false, true}},
    {"abs", &(range){1, 1, 0x1p-500, false, true}, NULL, {1, 1, 0x1p-500, false, true}},
    {"abs", &(range){1, 1, 0x1p100, false, true}, NULL, {1, 1, 0x1p100, false, true}},
    {"abs", &(range){0.5, 2, 0.5, false, true}, NULL, {0.5, 2, 0.5, false, true}},
    {"/", &positive, &(range){0.5, 4, 0, false, true}, {0.5, 16, 0.125, false, true}},
    {"abs", &expected, NULL, {0, 4, 1, false, true}},
    {"abs", &(range){1, 4, 1, true, true}, NULL, {1, 4, 1, false, true}},
    {"abs", &(range){-4, -3, 0, true, true}, NULL, {3, 4, 1, false, true}},
    {"*",
     &(range){1, 1, 1, false, true},
     &(range){0x1p-501, 1, 0, false, true},
     {0x1p-501, 1, 0, false, true}},
    {"*",
     &(range){1, 1, 1, false, true},
     &(range){0x1p101, 0x1p101, 0, false, true},
     {0x1p101, 0x1p101, 0, false, true}},
    {"sqrt", &(range){4, 16, 1, false, true}, NULL, {2, 4, 0, false, true}},
    {"sqrt", &both, NULL, NOTHING},
    {"sqrt", &unknown, NULL, NOTHING},
    {"floor", &(range){-2.5, 3.5, 0, true, true}, NULL, {-3, 3, 0, false, true}},
    {"log2", &wide, NULL, {2, 4, 0, false, true}},
    {"sin", &positive, NULL, NOTHING},
    {"%", &positive, &wide, NOTHING},
};

static void check_end(const char *name, double found, double wanted, double outside) {
    bool below = found <= wanted && found >= wanted - fabs(wanted) * 0x1p-47;
    bool above = found >= wanted && found <= wanted + fabs(wanted) * 0x1p-47;
    if (!(outside < 0 ? below : above)) fail_msg("%s: %a, expected %a", name, found, wanted);
}

TEST(ranges_of_operators) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const range *wanted = &rows[i].wanted;
        range found = ts_reference_bound(ts_reference_find(rows[i].name), rows[i].left, rows[i].right);
        if (found.known != wanted->known) fail_msg("row %zu, %s: known is %d", i, rows[i].name, found.known);
        if (!found.known) continue;
        check_end(rows[i].name, found.low, wanted->low, -1);
        check_end(rows[i].name, found.high, wanted->high, 1);
        check_end(rows[i].name, found.share, wanted->share, -1);
        assert_false(found.itself);
    }
}

/* ---- Checks ---- */

enum { BLOCKS = 40, ROWS = 16, COLUMNS = 128 * BLOCKS, COUNT = ROWS * COLUMNS };

static float got[COUNT], x[COUNT], z[COUNT], column[ROWS];
static double wanted[COUNT];

static uint64_t random_state = 1;
static double uniform(double low, double high) {
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return low + (high - low) * (double)(random_state >> 11) * 0x1p-53;
}

static ts_host_array arrays[] = {
    {TS_DTYPE_F32, 2, {ROWS, COLUMNS}, (uint8_t *)got, sizeof got},
    {TS_DTYPE_F64, 2, {ROWS, COLUMNS}, (uint8_t *)wanted, sizeof wanted},
    {TS_DTYPE_F32, 2, {ROWS, COLUMNS}, (uint8_t *)x, sizeof x},
    {TS_DTYPE_F32, 2, {ROWS, COLUMNS}, (uint8_t *)z, sizeof z},
    {TS_DTYPE_F32, 2, {ROWS, 1}, (uint8_t *)column, sizeof column},
};
static const ts_reference_name names[] = {{.name = "got", .array = &arrays[0]},
                                          {.name = "expected", .array = &arrays[1]},
                                          {.name = "x", .array = &arrays[2]},
                                          {.name = "z", .array = &arrays[3]},
                                          {.name = "column", .array = &arrays[4]}};
static const ts_reference_names all = {names, sizeof names / sizeof *names};

/* x: from 0.5 to 1.5; z: from -1 to 1; column: 0 to 1. */
static const char *const errs[] = {
    "2 ** -20 * expected + 2 ** -30",
    "2 ** -20 * abs(expected)",
    "2 ** -20 * abs(expected) * x",
    "2 ** -20 * expected * (24 - log(max(expected, 2 ** -150))) + 2 ** -60",
    "2 ** -20 * (x + z)",
    "2 ** -20 * (x - z) * abs(expected)",
    "2 ** -20 * (abs(expected) - z)",
    "2 ** -20 * (abs(expected) - min(z, 0))",
    "2 ** -20 * (abs(expected) + z)",
    "2 ** -20 * (z + abs(expected))",
    "2 ** -20 * (2 - abs(expected))",
    "2 ** -20 * abs(expected) / x",
    "2 ** -20 * x / (1 + abs(expected))",
    "2 ** -20 / (0.1 + z)",
    "2 ** -20 * max(abs(expected), x)",
    "2 ** -20 * min(abs(expected), x)",
    "2 ** -20 * max(abs(expected), z)",
    "2 ** -20 * min(abs(expected), z + 1)",
    "2 ** -20 * limit(abs(expected), x)",
    "limit(2 ** -20 * abs(expected), 2)",
    "2 ** -20 * exp(z) * abs(expected)",
    "2 ** -20 * sqrt(x) * abs(expected - z)",
    "2 ** -20 * log(z)",
    "2 ** -20 * sqrt(0.99 + z)",
    "2 ** -20 * abs(expected) + 0 * sqrt(0.999 + z)",
    "2 ** -20 * column * abs(expected)",
    "2 ** -20 * abs(expected) * (exp(column) * (1 + 2 ** -8) - 1)",
    "2 ** -20 * (z * z * abs(expected))",
    "2 ** -20 * (-z) * (-1)",
    "2 ** -20 * abs(-expected)",
    "2 ** -20 * abs(reshape(transpose(expected), 16, 5120))",
    "2 ** -20 * abs(expected[0])",
    "2 ** -20 * abs(transpose(transpose(expected)))",
    "gamma(16) * abs(expected)",
    "2 ** 200 * (2 ** -220 * abs(expected))",
    "where(z > -0.9, 2 ** -20, 2 ** -22) * abs(expected)",
};
enum { ERRS = sizeof errs / sizeof *errs };

static double *evaluate(ts_arena *arena, const char *text) {
    ts_error err = {0};
    ts_reference_value value;
    ts_source source = {"test", text, strlen(text)};
    const ts_reference *read = ts_reference_parse(&err, arena, &source, 0, source.length);
    if (!read || !ts_reference_evaluate(&err, arena, read, names, all.count, &value))
        fail_msg("%s: %s", text, err.message);
    double *out = TS_NEW_ARRAY(arena, double, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        out[i] = value.values[value.count == COUNT ? i : value.count == ROWS ? i / COLUMNS : i % value.count];
    return out;
}

/* Results that are off by up to what err lets pass; a few by more, or less than it is in all. */
static void make_results(const double *err, int kind) {
    for (int i = 0; i < COUNT; i++) {
        bool worse = kind > 0 && (int)uniform(0, 3000) == 0;
        double off = kind == 3 ? 0
                               : (worse       ? 1.001
                                  : kind == 2 ? uniform(0, 0.999)
                                              : uniform(0, 0.3)) *
                                     err[i];
        got[i] = (float)(wanted[i] + (isfinite(off) ? uniform(-1, 1) < 0 ? -off : off : worse));
    }
    if (kind == 3) got[COUNT / 2] = nextafterf(got[COUNT / 2], 100);
}

static bool passes(double actual, double value, double err) {
    if (actual == value) return true;
    if (isinf(err)) return err > 0;
    return actual >= (double)(float)(value - err) && actual <= (double)(float)(value + err);
}

static void check_results(ts_arena *arena, const char *text, const double *err) {
    char line[256];
    ts_error error = {0};
    ts_check check;
    ts_check_result result;
    size_t failed = 0;
    double most = 0;
    snprintf(line, sizeof line, "got ~= expected err=%s", text);
    ts_source source = {"test", line, strlen(line)};
    if (!ts_check_parse(&error, arena, &source, 0, source.length, &check) ||
        !ts_check_run(&error, arena, &check, &all, &all, &result))
        fail_msg("%s: %s", line, error.message);
    for (size_t i = 0; i < COUNT; i++) {
        bool good = passes((double)got[i], wanted[i], err[i]);
        most = fmax(most, fabs((double)got[i] - wanted[i]));
        if (!good && failed < TS_MISMATCHES && result.mismatches[failed].at != i)
            fail_msg("%s: element %zu fails", line, i);
        failed += !good;
    }
    if (result.failed != failed || result.max_abs != most)
        fail_msg("%s: %zu failed, expected %zu", line, result.failed, failed);
}

/* Expected values of any sign, or positive, and from large to small. */
static void make_wanted(bool signs) {
    for (int i = 0; i < COUNT; i++) {
        wanted[i] = uniform(signs ? -2 : 0.01, 2) * exp2(-(double)(i / 4096));
        x[i] = (float)uniform(0.5, 1.5);
        z[i] = (float)uniform(-1, 1);
    }
    for (int i = 0; i < ROWS; i++) column[i] = (float)uniform(0, 1);
}

TEST(bounds_decide_as_each_element) {
    for (int n = 0; n < 8 * ERRS; n += stride(1, 3)) { /* one in 3 has every error and every way */
        ts_arena *arena = ts_arena_new();
        make_wanted(n % 2 == 0);
        const double *err = evaluate(arena, errs[n / 8]);
        make_results(err, n / 2 % 4);
        check_results(arena, errs[n / 8], err);
        ts_arena_free(arena);
    }
}

static bool fail_to_read(ts_error *err, void *self, int64_t begin, int64_t stride, size_t count,
                         void *elements) {
    (void)self, (void)stride;
    int64_t limit = 3 * COUNT / 4;
    memset(elements, 0, count * sizeof(float));
    return begin < limit || ts_error_set(err, TS_ERROR_INPUT, "there is no more");
}

/* An error of either side, or of an err= whose bound is read, ends a check. */
TEST(what_cannot_be_read_fails) {
    static const char *const lines[] = {"broken ~= z", "z ~= broken abs=9", "z ~= z + 0.001 err=broken + 1",
                                        "z ~= z + 0.001 err=1 + broken", "z ~= z + 0.001 err=exp(broken)"};
    make_wanted(true);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_check check;
        ts_check_result result;
        ts_host_array described = arrays[3];
        described.bytes = NULL;
        const ts_reference_name some[] = {
            names[3], {.name = "broken", .array = &described, .reader = {fail_to_read, NULL, false}}};
        const ts_reference_names known = {some, 2};
        ts_source source = {"test", lines[i], strlen(lines[i])};
        assert_true(ts_check_parse(&err, arena, &source, 0, source.length, &check));
        assert_false(ts_check_run(&err, arena, &check, &known, &known, &result));
        assert_string_equal(err.message, "there is no more");
        ts_arena_free(arena);
    }
}
