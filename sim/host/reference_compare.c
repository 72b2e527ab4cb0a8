/* Compares results with reference values, in units of the last place of their type. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference_tree.h"
#include "tilesim/base/number.h"

static bool passes(ts_tolerance bound, double ulps, double distance, double expected) {
    return ulps == 0 || ulps <= bound.ulp || distance <= bound.abs || distance <= bound.rel * fabs(expected);
}

/* Between expected - err and expected + err, as the type has them: rounding keeps the order. */
static bool is_between(const ts_reference_type *type, double actual, double expected, double err) {
    if (isinf(err)) return err > 0;
    if (type->info->class != TS_CLASS_FLOAT) return fabs(actual - expected) <= err;
    return actual >= ts_reference_round(type, expected - err) &&
           actual <= ts_reference_round(type, expected + err);
}

static void note_failure(ts_check_result *result, ts_mismatch found) {
    if (result->mismatch_count < TS_MISMATCHES) result->mismatches[result->mismatch_count++] = found;
    result->failed++;
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
    if (bound.ulp < 0 && bound.abs < 0 && bound.rel < 0 && !bound.err) bound.ulp = 0.5;
    return (comparison){ts_reference_describe(dtype), bound, result, 0, -1};
}

static bool fits(const ts_reference_value *expected, const ts_reference_value *actual) {
    int extra = actual->rank - expected->rank;
    for (int i = 0; extra >= 0 && i < expected->rank; i++)
        if (expected->dims[i] != 1 && expected->dims[i] != actual->dims[i + extra]) return false;
    return extra >= 0;
}

/* Elements that come next. `err` is NULL where the bounds have none. */
static void compare_some(comparison *c, const double *actual, const double *expected, const double *err,
                         size_t count) {
    ts_check_result *result = c->result;
    for (size_t i = 0; i < count; i++) {
        double got = actual[i], wanted = expected[i];
        if (got == wanted && c->worst >= 0) continue;
        double ulps = ts_reference_distance(&c->type, got, wanted), distance = distance_of(got, wanted, ulps);
        bool failed = !passes(c->bound, ulps, distance, wanted) &&
                      !(err && is_between(&c->type, got, wanted, err[i]));
        if ((failed && result->failed == 0) || (failed == (result->failed > 0) && ulps > c->worst)) {
            c->worst = ulps;
            result->worst = c->seen + i;
            result->actual = got;
            result->expected = wanted;
        }
        if (failed) note_failure(result, (ts_mismatch){c->seen + i, got, wanted, distance, ulps});
        result->max_ulp = fmax(result->max_ulp, ulps);
        result->max_abs = fmax(result->max_abs, distance);
    }
    c->seen += count;
}

bool ts_reference_compare(ts_dtype dtype, const ts_reference_value *actual,
                          const ts_reference_value *expected, ts_tolerance bound, ts_check_result *result) {
    *result = (ts_check_result){.dtype = dtype, .count = actual->count, .rank = actual->rank};
    if (!fits(expected, actual) || (bound.err && !fits(bound.err, actual))) return false;
    memcpy(result->dims, actual->dims, sizeof result->dims);
    comparison state = begin(dtype, bound, result);
    int64_t index[TS_HOST_RANK] = {0}, at[2] = {0}, strides[2][TS_HOST_RANK];
    ts_reference_strides(expected, actual->rank, actual->dims, strides[0]);
    ts_reference_strides(bound.err ? bound.err : expected, actual->rank, actual->dims, strides[1]);
    for (size_t i = 0; i < actual->count; i++) {
        const double *err = bound.err ? &bound.err->values[at[1]] : NULL;
        compare_some(&state, &actual->values[i], &expected->values[at[0]], err, 1);
        ts_reference_step(actual->rank, actual->dims, index, 2, strides, at);
    }
    return true;
}

static void print_dims(const ts_reference_value *value, ts_text *out) {
    ts_text_add_char(out, '[');
    for (int i = 0; i < value->rank; i++) ts_text_add(out, i ? ",%lld" : "%lld", (long long)value->dims[i]);
    ts_text_add_char(out, ']');
}

static bool refuse_shapes(ts_error *err, ts_arena *arena, const ts_reference *side, const char *name,
                          const ts_reference_value *actual, const ts_reference_value *value) {
    ts_text text;
    ts_text_init(&text, arena);
    ts_text_add(&text, "the left side has shape ");
    print_dims(actual, &text);
    ts_text_add(&text, ", but %s has ", name);
    print_dims(value, &text);
    return ts_error_at(err, TS_ERROR_INPUT, &side->source, side->root->offset, "%s", text.bytes);
}

bool ts_check_run(ts_error *err, ts_arena *scratch, const ts_check *check, const ts_reference_name *names,
                  size_t count, ts_check_result *result) {
    ts_reference_value actual, expected;
    ts_tolerance bounds;
    if (!ts_reference_evaluate(err, scratch, check->actual, names, count, &actual) ||
        !ts_reference_evaluate(err, scratch, check->expected, names, count, &expected) ||
        !ts_check_bounds(err, scratch, check, names, count, &expected, &bounds))
        return false;
    const ts_host_array *array = NULL;
    for (size_t i = 0; i < count && !array; i++)
        if (strcmp(names[i].name, check->name) == 0) array = names[i].array;
    if (!array)
        return ts_error_at(err, TS_ERROR_INPUT, &check->actual->source, check->actual->root->offset,
                           "'%.40s' is a number, expected a tensor on the left side", check->name);
    if (ts_reference_compare(array->dtype, &actual, &expected, bounds, result)) return true;
    if (fits(&expected, &actual))
        return refuse_shapes(err, scratch, check->err, "err=", &actual, bounds.err);
    return refuse_shapes(err, scratch, check->expected, "the right side", &actual, &expected);
}
