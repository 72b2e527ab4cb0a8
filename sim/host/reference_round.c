/* Rounding to an element type, and distances in units of the last place of one. */
#include <math.h>
#include <string.h>

#include "reference_loops.h"

/* The ends of an integer type. */
static void describe_integer(ts_reference_type *out) {
    const ts_dtype_info *info = out->info;
    bool has_sign = info->class == TS_CLASS_SIGNED;
    if (!has_sign && info->class != TS_CLASS_UNSIGNED) return;
    out->smallest = has_sign ? -ldexp(1, info->value_bits - 1) : 0;
    out->largest = ldexp(1, info->value_bits - has_sign) - 1;
}

ts_reference_type ts_reference_describe(ts_dtype dtype) {
    static const ts_float_format binary32 = {8, 23, 127, .has_infinity = true, .has_nan = true};
    static const ts_float_format binary64 = {11, 52, 1023, .has_infinity = true, .has_nan = true};
    const ts_dtype_info *info = ts_dtype_get(dtype);
    ts_reference_type out = {.info = info};
    describe_integer(&out);
    out.single = info->class == TS_CLASS_FLOAT ? info->value_bits <= 32 : out.largest <= 0x1p24;
    if (info->class != TS_CLASS_FLOAT) return out;
    const ts_float_format *format = info->format             ? info->format
                                    : info->value_bits == 64 ? &binary64
                                                             : &binary32;
    int most =
        (1 << format->exponent_bits) - 1 - format->bias - (format->has_infinity || format->no_mantissa_zero);
    double last_code = format->has_nan && !format->has_infinity && !format->unsigned_zero ? 2 : 1;
    out.mantissa_bits = format->mantissa_bits;
    out.least_exponent = format->no_mantissa_zero ? -format->bias : 1 - format->bias;
    out.largest =
        format->no_mantissa_zero ? ldexp(1, most) : ldexp(2 - ldexp(last_code, -format->mantissa_bits), most);
    out.units = ldexp(1, out.mantissa_bits);
    out.least_power = ldexp(1, out.least_exponent);
    out.plain = info->value_bits < 64 && !format->no_sign && !format->unsigned_zero;
    out.overflow = format->has_infinity ? (double)INFINITY : format->has_nan ? (double)NAN : out.largest;
    return out;
}

/* 2^exponent, also where that is a denormal. */
static double power_of_two(int exponent) {
    uint64_t bits = exponent >= -1022 ? (uint64_t)(exponent + 1023) << 52 : UINT64_C(1) << (exponent + 1074);
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* The unit of the last place at a value; at the largest value for all beyond it. */
static double unit_at(const ts_reference_type *type, double value) {
    double magnitude = fabs(value) < type->largest ? fabs(value) : type->largest;
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    if (exponent < type->least_exponent) exponent = type->least_exponent;
    return power_of_two(exponent - type->mantissa_bits);
}

static double round_float(const ts_reference_type *type, double value) {
    const ts_float_format *format = type->info->format;
    if (isnan(value) || type->info->value_bits == 64) return value;
    if (format && format->no_sign && (signbit(value) || value == 0)) return (double)NAN;
    double unit = unit_at(type, value), rounded = isinf(value) ? value : rint(value / unit) * unit;
    if (fabs(rounded) > type->largest) return copysign(type->overflow, value);
    if (format && format->no_sign && rounded < ldexp(1, type->least_exponent))
        return ldexp(1, type->least_exponent);
    return format && format->unsigned_zero && rounded == 0 ? 0 : rounded;
}

double ts_reference_round(const ts_reference_type *type, double value) {
    if (type->info->class == TS_CLASS_FLOAT) return round_float(type, value);
    if (type->info->class == TS_CLASS_BOOL) return value != 0;
    return isnan(value) ? 0 : fmin(fmax(trunc(value), type->smallest), type->largest);
}

void ts_reference_round_all(const ts_reference_type *type, double *values, size_t count) {
    if (type->plain)
        ts_reference_loops_best()->round(type, values, count);
    else
        for (size_t i = 0; i < count; i++) values[i] = ts_reference_round(type, values[i]);
}

double ts_reference_distance(const ts_reference_type *type, double actual, double expected) {
    if (actual == expected || (isnan(actual) && isnan(expected))) return 0;
    if (type->info->class != TS_CLASS_FLOAT)
        return isnan(expected) ? (double)INFINITY : fabs(actual - expected);
    if (isinf(actual) && ts_reference_round(type, expected) == actual) return 0;
    if (isnan(actual) || isnan(expected) || isinf(actual) || isinf(expected)) return (double)INFINITY;
    return fabs(actual - expected) / unit_at(type, expected);
}
