/* Element types: the table and its look-up. */
#include "layout/dtype.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Open Compute Project 8-bit and Microscaling formats; ml_dtypes for the FNUZ and B11 ones. */
static const ts_float_format f4e2m1fn = {.exponent_bits = 2, .mantissa_bits = 1, .bias = 1};
static const ts_float_format f6e2m3fn = {.exponent_bits = 2, .mantissa_bits = 3, .bias = 1};
static const ts_float_format f6e3m2fn = {.exponent_bits = 3, .mantissa_bits = 2, .bias = 3};
static const ts_float_format f8e5m2 = {5, 2, 15, .has_infinity = true, .has_nan = true};
static const ts_float_format f8e4m3 = {4, 3, 7, .has_infinity = true, .has_nan = true};
static const ts_float_format f8e4m3fn = {4, 3, 7, .has_nan = true};
static const ts_float_format f8e4m3b11fnuz = {4, 3, 11, .unsigned_zero = true, .has_nan = true};
static const ts_float_format f8e3m4 = {3, 4, 3, .has_infinity = true, .has_nan = true};
static const ts_float_format f8e5m2fnuz = {5, 2, 16, .unsigned_zero = true, .has_nan = true};
static const ts_float_format f8e4m3fnuz = {4, 3, 8, .unsigned_zero = true, .has_nan = true};
static const ts_float_format f8e8m0fnu = {
    8, 0, 127, .has_nan = true, .no_sign = true, .no_mantissa_zero = true};
static const ts_float_format f16 = {5, 10, 15, .has_infinity = true, .has_nan = true};
static const ts_float_format bf16 = {8, 7, 127, .has_infinity = true, .has_nan = true};

static const ts_dtype_info dtypes[TS_DTYPE_COUNT] = {
#define TS_DTYPE(id, name, value_bits, stored_bits, class, format)                                           \
    [TS_DTYPE_##id] = {name, value_bits, stored_bits, TS_CLASS_##class, format},
#include "layout/dtypes.def"
#undef TS_DTYPE
};

const ts_dtype_info *ts_dtype_get(ts_dtype dtype) { return &dtypes[dtype]; }

bool ts_dtype_find(const char *name, size_t length, ts_dtype *dtype) {
    for (int i = 0; i < TS_DTYPE_COUNT; i++) {
        if (ts_text_is(name, length, dtypes[i].name)) {
            *dtype = (ts_dtype)i;
            return true;
        }
    }
    return false;
}

/* The name here of a type as others write it (NumPy, C, MLIR), or NULL. */
static const char *find_foreign(const char *word) {
    static const struct {
        const char *theirs, *ours;
        bool whole; /* or how the name begins; the rest stays */
    } names[] = {
        {"bool", "pred", true},   {"i1", "pred", true},      {"half", "f16", true},
        {"float", "f32", true},   {"double", "f64", true},   {"int", "s32", true},
        {"f8", "f8e4m3fn", true}, {"fp8", "f8e4m3fn", true}, {"float8_", "f8", false},
        {"float6_", "f6", false}, {"float4_", "f4", false},  {"bfloat", "bf", false},
        {"float", "f", false},    {"fp", "f", false},        {"uint", "u", false},
        {"int", "s", false},      {"i", "s", false},         {"complex", "c", false},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i].theirs);
        char ours[32];
        ts_dtype dtype;
        if (strncmp(word, names[i].theirs, length) != 0 || (names[i].whole && word[length] != '\0')) continue;
        int used = snprintf(ours, sizeof ours, "%s%s", names[i].ours, word + length);
        if (ts_dtype_find(ours, (size_t)used, &dtype)) return dtypes[dtype].name;
    }
    return NULL;
}

const char *ts_dtype_nearest(const char *name, size_t length) {
    char word[32];
    if (length >= sizeof word) return NULL;
    for (size_t i = 0; i < length; i++)
        word[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
    word[length] = '\0';
    const char *foreign = find_foreign(word);
    return foreign ? foreign : ts_text_nearest(word, &dtypes[0].name, TS_DTYPE_COUNT, sizeof dtypes[0]);
}
