/* The values of inputs without a file. */
#include "tilesim/base/number.h"
#include "tilesim/layout/convert.h"
#include "tilesim/run/run.h"

/* The output function of SplitMix64. */
static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t random_bits(int64_t seed, int64_t i) {
    return mix(mix((uint64_t)seed) + ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* ceil and floor of numbers within int64, without libm. */
static int64_t floor_of(double x) { return (int64_t)x - ((double)(int64_t)x > x); }
static int64_t ceil_of(double x) { return -floor_of(-x); }

typedef struct {
    ts_dtype dtype;
    bool is_float;
    int64_t first, count; /* of an integer type */
} range;

static bool make_range(ts_error *err, const ts_tensor_use *use, ts_dtype dtype, range *r) {
    *r = (range){.dtype = dtype, .is_float = ts_dtype_get(dtype)->class == TS_CLASS_FLOAT};
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

static uint64_t random_element(const ts_tensor_use *use, const range *r, int64_t i) {
    uint64_t bits = random_bits(use->seed, i);
    if (r->is_float) {
        double unit = (double)(bits >> 40) * 0x1p-24;
        return ts_element_from_double(r->dtype, use->low + (use->high - use->low) * unit);
    }
    return ts_element_convert(TS_DTYPE_S64, (uint64_t)(r->first + (int64_t)(bits % (uint64_t)r->count)),
                              r->dtype);
}

/* Stored bits are a power of two; those below 8 share bytes, the first element lowest. */
static void put(ts_host_array *array, int64_t i, int bits, uint64_t element) {
    int64_t at = i * bits;
    for (int k = 0; k < bits; k += 8) {
        int part = bits < 8 ? bits : 8;
        uint8_t keep = (uint8_t) ~(((1u << part) - 1) << (at % 8));
        uint8_t *byte = &array->bytes[(at + k) / 8];
        *byte = (uint8_t)((*byte & keep) | ((element >> k & ((1u << part) - 1)) << (at % 8)));
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
    int64_t count = use->fill == TS_FILL_ZEROS ? 0 : (int64_t)ts_host_array_elements(array);
    for (int64_t i = 0; i < count; i++) {
        uint64_t element = use->fill == TS_FILL_IOTA ? ts_element_convert(TS_DTYPE_S64, (uint64_t)i, dtype)
                                                     : random_element(use, &r, i);
        put(array, i, ts_dtype_get(dtype)->stored_bits, element);
    }
    return true;
}
