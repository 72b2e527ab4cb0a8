/* The values of inputs without a file. */
#include <string.h>

#include "tilesim/base/number.h"
#include "tilesim/layout/convert.h"
#include "tilesim/run/run.h"

/* The output function of SplitMix64. */
static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ceil and floor of numbers within int64, without libm. */
static int64_t floor_of(double x) { return (int64_t)x - ((double)(int64_t)x > x); }
static int64_t ceil_of(double x) { return -floor_of(-x); }

enum { BLOCK = 1024 /* elements */ };

typedef struct {
    uint64_t stream; /* where the random numbers of the seed begin */
    bool is_float;
    int64_t first, count; /* of an integer type */
} range;

static bool make_range(ts_error *err, const ts_tensor_use *use, ts_dtype dtype, range *r) {
    *r = (range){.stream = mix((uint64_t)use->seed),
                 .is_float = ts_dtype_get(dtype)->class == TS_CLASS_FLOAT};
    double limit = 9007199254740992.0; /* 2^53 */
    if (r->is_float) {
        return true;
    }
    if (use->low < -limit || use->high > limit || ceil_of(use->low) > floor_of(use->high)) {
        return ts_error_set(err, TS_ERROR_INPUT, "there is no %s between %g and %g",
                            ts_dtype_get(dtype)->name, use->low, use->high);
    }
    r->first = ceil_of(use->low);
    r->count = floor_of(use->high) - r->first + 1;
    return true;
}

/* Element i, counted from 0: bits of f64 where the type is a float, else of s64. */
static uint64_t random_element(const ts_tensor_use *use, const range *r, int64_t i) {
    uint64_t bits = mix(r->stream + ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15));
    if (!r->is_float) {
        return (uint64_t)(r->first + (int64_t)(bits % (uint64_t)r->count));
    }
    double value = use->low + (use->high - use->low) * ((double)(bits >> 40) * 0x1p-24);
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void fill(const ts_tensor_use *use, const range *r, ts_host_array *array) {
    uint64_t block[BLOCK];
    int64_t count = (int64_t)ts_host_array_elements(array);
    size_t bytes = (size_t)ts_dtype_get(array->dtype)->stored_bits / 8;
    bool counts = use->fill == TS_FILL_IOTA;
    for (int64_t at = 0; at < count; at += BLOCK) {
        int64_t some = count - at < BLOCK ? count - at : BLOCK;
        for (int64_t i = 0; i < some; i++) {
            block[i] = counts ? (uint64_t)(at + i) : random_element(use, r, at + i);
        }
        ts_convert_elements(counts || !r->is_float ? TS_DTYPE_S64 : TS_DTYPE_F64, block, array->dtype,
                            array->bytes + (size_t)at * bytes, (size_t)some);
    }
}

bool ts_run_fill(ts_error *err, ts_arena *arena, const ts_tensor_use *use, ts_dtype dtype, int rank,
                 const int64_t *dims, ts_host_array *array) {
    range r;
    if (!ts_dtype_has_value(dtype)) {
        return ts_error_set(err, TS_ERROR_INPUT, "%s has no values to begin with", ts_dtype_get(dtype)->name);
    }
    if (!ts_host_array_init(err, arena, dtype, rank, dims, array) || !make_range(err, use, dtype, &r)) {
        return false;
    }
    if (use->fill != TS_FILL_ZEROS) {
        fill(use, &r, array);
    }
    return true;
}
