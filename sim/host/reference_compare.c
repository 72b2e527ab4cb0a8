/* Compares results with reference values, in units of the last place of the result's type. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference_tree.h"
#include "tilesim/base/number.h"

/* What a float type can say, from its description. */
typedef struct {
    int mantissa_bits, least_exponent; /* of the smallest normal number */
    double largest;
    double overflow; /* what a value beyond the range becomes */
} traits;

static traits traits_of(const ts_dtype_info *type) {
    static const ts_float_format binary32 = {8, 23, 127, .has_infinity = true, .has_nan = true};
    static const ts_float_format binary64 = {11, 52, 1023, .has_infinity = true, .has_nan = true};
    const ts_float_format *format = type->format             ? type->format
                                    : type->value_bits == 64 ? &binary64
                                                             : &binary32;
    int most =
        (1 << format->exponent_bits) - 1 - format->bias - (format->has_infinity || format->no_mantissa_zero);
    double last_code = format->has_nan && !format->has_infinity && !format->unsigned_zero ? 2 : 1;
    traits out = {.mantissa_bits = format->mantissa_bits, .least_exponent = 1 - format->bias};
    out.largest = ldexp(2 - ldexp(last_code, -format->mantissa_bits), most);
    if (format->no_mantissa_zero) {
        out.least_exponent = -format->bias;
        out.largest = ldexp(1, most);
    }
    out.overflow = format->has_infinity ? (double)INFINITY : format->has_nan ? (double)NAN : out.largest;
    return out;
}

/* The unit of the last place at a finite value. */
static double unit_at(const traits *type, double value) {
    int exponent;
    double magnitude = fmin(fabs(value), type->largest);
    frexp(magnitude, &exponent); /* magnitude < 2^exponent */
    if (magnitude == 0 || exponent - 1 < type->least_exponent) exponent = type->least_exponent + 1;
    return ldexp(1, exponent - 1 - type->mantissa_bits);
}

static double round_float(const ts_dtype_info *type, double value) {
    traits about = traits_of(type);
    if (isnan(value) || type->value_bits == 64) return value;
    if (type->format && type->format->no_sign && (signbit(value) || value == 0)) return (double)NAN;
    double unit = unit_at(&about, value), rounded = isinf(value) ? value : rint(value / unit) * unit;
    if (fabs(rounded) > about.largest) return copysign(about.overflow, value);
    if (type->format && type->format->no_sign && rounded < ldexp(1, about.least_exponent))
        return ldexp(1, about.least_exponent);
    return type->format && type->format->unsigned_zero && rounded == 0 ? 0 : rounded;
}

double ts_reference_round(ts_dtype dtype, double value) {
    const ts_dtype_info *type = ts_dtype_get(dtype);
    if (type->class == TS_CLASS_FLOAT) return round_float(type, value);
    if (type->class == TS_CLASS_BOOL) return value != 0;
    bool has_sign = type->class == TS_CLASS_SIGNED;
    double low = has_sign ? -ldexp(1, type->value_bits - 1) : 0,
           high = ldexp(1, type->value_bits - has_sign) - 1;
    return isnan(value) ? 0 : fmin(fmax(trunc(value), low), high);
}

double ts_reference_ulps(ts_dtype dtype, double actual, double expected) {
    const ts_dtype_info *type = ts_dtype_get(dtype);
    if (isnan(actual) && isnan(expected)) return 0;
    if (actual == expected) return 0;
    if (type->class != TS_CLASS_FLOAT) return isnan(expected) ? (double)INFINITY : fabs(actual - expected);
    if (isinf(actual) && ts_reference_round(dtype, expected) == actual) return 0;
    if (isnan(actual) || isnan(expected) || isinf(actual) || isinf(expected)) return (double)INFINITY;
    traits about = traits_of(type);
    return fabs(actual - expected) / unit_at(&about, expected);
}

static bool passes(ts_tolerance bound, double ulps, double distance, double expected) {
    return ulps == 0 || ulps <= bound.ulp || distance <= bound.abs || distance <= bound.rel * fabs(expected);
}

static double distance_of(double actual, double expected, double ulps) {
    double distance = ulps == 0 ? 0 : fabs(actual - expected);
    return isnan(distance) ? (double)INFINITY : distance;
}

static bool fits(const ts_reference_value *expected, const ts_reference_value *actual) {
    int extra = actual->rank - expected->rank;
    for (int i = 0; extra >= 0 && i < expected->rank; i++)
        if (expected->dims[i] != 1 && expected->dims[i] != actual->dims[i + extra]) return false;
    return extra >= 0;
}

bool ts_reference_compare(ts_dtype dtype, const ts_reference_value *actual,
                          const ts_reference_value *expected, ts_tolerance bound, ts_check_result *result) {
    *result = (ts_check_result){.dtype = dtype, .count = actual->count, .rank = actual->rank};
    if (!fits(expected, actual)) return false;
    memcpy(result->dims, actual->dims, sizeof result->dims);
    if (bound.ulp < 0 && bound.abs < 0 && bound.rel < 0) bound.ulp = 0.5;
    int64_t index[TS_HOST_RANK] = {0}, at[1] = {0}, strides[1][TS_HOST_RANK];
    ts_reference_strides(expected, actual->rank, actual->dims, strides[0]);
    double worst = -1;
    for (size_t i = 0; i < actual->count; i++) {
        double got = actual->values[i], wanted = expected->values[at[0]];
        double ulps = ts_reference_ulps(dtype, got, wanted), distance = distance_of(got, wanted, ulps);
        bool failed = !passes(bound, ulps, distance, wanted);
        if ((failed && result->failed == 0) || (failed == (result->failed > 0) && ulps > worst)) {
            worst = ulps;
            result->worst = i;
            result->actual = got;
            result->expected = wanted;
        }
        result->failed += failed;
        result->max_ulp = fmax(result->max_ulp, ulps);
        result->max_abs = fmax(result->max_abs, distance);
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
