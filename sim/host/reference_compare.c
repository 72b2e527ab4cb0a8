/* Compares results with reference values, in units of the last place of their type. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference_tree.h"
#include "tilesim/base/number.h"

static bool passes(ts_tolerance bound, double ulps, double distance, double expected) {
    return ulps == 0 || ulps <= bound.ulp || distance <= bound.abs || distance <= bound.rel * fabs(expected);
}

static double distance_of(double actual, double expected, double ulps) {
    double distance = ulps == 0 ? 0 : fabs(actual - expected);
    return isnan(distance) ? (double)INFINITY : distance;
}

/* A comparison under way. */
typedef struct {
    ts_reference_type type;
    ts_tolerance bound;
    ts_check_result *result;
    size_t seen;  /* elements */
    double worst; /* ulps of result->worst; -1 before the first element */
} comparison;

static comparison begin(ts_dtype dtype, ts_tolerance bound, ts_check_result *result) {
    if (bound.ulp < 0 && bound.abs < 0 && bound.rel < 0) bound.ulp = 0.5;
    return (comparison){ts_reference_describe(dtype), bound, result, 0, -1};
}

static bool fits(const ts_reference_value *expected, const ts_reference_value *actual) {
    int extra = actual->rank - expected->rank;
    for (int i = 0; extra >= 0 && i < expected->rank; i++)
        if (expected->dims[i] != 1 && expected->dims[i] != actual->dims[i + extra]) return false;
    return extra >= 0;
}

/* Elements that come next. */
static void compare_some(comparison *c, const double *actual, const double *expected, size_t count) {
    ts_check_result *result = c->result;
    for (size_t i = 0; i < count; i++) {
        double got = actual[i], wanted = expected[i];
        if (got == wanted && c->worst >= 0) continue;
        double ulps = ts_reference_distance(&c->type, got, wanted), distance = distance_of(got, wanted, ulps);
        bool failed = !passes(c->bound, ulps, distance, wanted);
        if ((failed && result->failed == 0) || (failed == (result->failed > 0) && ulps > c->worst)) {
            c->worst = ulps;
            result->worst = c->seen + i;
            result->actual = got;
            result->expected = wanted;
        }
        result->failed += failed;
        result->max_ulp = fmax(result->max_ulp, ulps);
        result->max_abs = fmax(result->max_abs, distance);
    }
    c->seen += count;
}

bool ts_reference_compare(ts_dtype dtype, const ts_reference_value *actual,
                          const ts_reference_value *expected, ts_tolerance bound, ts_check_result *result) {
    *result = (ts_check_result){.dtype = dtype, .count = actual->count, .rank = actual->rank};
    if (!fits(expected, actual)) return false;
    memcpy(result->dims, actual->dims, sizeof result->dims);
    comparison state = begin(dtype, bound, result);
    int64_t index[TS_HOST_RANK] = {0}, at[1] = {0}, strides[1][TS_HOST_RANK];
    ts_reference_strides(expected, actual->rank, actual->dims, strides[0]);
    for (size_t i = 0; i < actual->count; i++) {
        compare_some(&state, &actual->values[i], &expected->values[at[0]], 1);
        ts_reference_step(actual->rank, actual->dims, index, 1, strides, at);
    }
    return true;
}

static void print_dims(const ts_reference_value *value, ts_text *out) {
    ts_text_add_char(out, '[');
    for (int i = 0; i < value->rank; i++) ts_text_add(out, i ? ",%lld" : "%lld", (long long)value->dims[i]);
    ts_text_add_char(out, ']');
}

static bool refuse_shapes(ts_error *err, ts_arena *arena, const ts_check *check,
                          const ts_reference_value *actual, const ts_reference_value *expected) {
    ts_text text;
    ts_text_init(&text, arena);
    ts_text_add(&text, "the left side has shape ");
    print_dims(actual, &text);
    ts_text_add(&text, ", but the right side has ");
    print_dims(expected, &text);
    return ts_error_at(err, TS_ERROR_INPUT, &check->expected->source, check->expected->root->offset, "%s",
                       text.bytes);
}

bool ts_check_run(ts_error *err, ts_arena *scratch, const ts_check *check, const ts_reference_name *names,
                  size_t count, ts_check_result *result) {
    ts_reference_value actual, expected;
    if (!ts_reference_evaluate(err, scratch, check->actual, names, count, &actual) ||
        !ts_reference_evaluate(err, scratch, check->expected, names, count, &expected))
        return false;
    const ts_host_array *array = NULL;
    for (size_t i = 0; i < count && !array; i++)
        if (strcmp(names[i].name, check->name) == 0) array = names[i].array;
    if (!array)
        return ts_error_at(err, TS_ERROR_INPUT, &check->actual->source, check->actual->root->offset,
                           "'%.40s' is a number, expected a tensor on the left side", check->name);
    return ts_reference_compare(array->dtype, &actual, &expected, check->tolerance, result) ||
           refuse_shapes(err, scratch, check, &actual, &expected);
}
