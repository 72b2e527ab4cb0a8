/* An array of a user's file: its size, shape and type. */
#include "host/array.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "layout/convert.h"
#include "layout/shape.h"

void ts_host_array_print(const ts_host_array *array, ts_text *out) {
    ts_shape_print_array(array->dtype, array->dims, array->rank, out);
}

size_t ts_host_array_elements(const ts_host_array *array) {
    return array->length / ((size_t)ts_dtype_get(array->dtype)->stored_bits / 8);
}

bool ts_host_array_size(ts_error *err, const char *what, ts_dtype dtype, int rank, const int64_t *dims,
                        size_t *bytes) {
    const ts_dtype_info *type = ts_dtype_get(dtype);
    if (type->stored_bits == 0)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %s has no data", what, type->name);
    int64_t total = type->stored_bits / 8;
    bool empty = false, fits = true;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0)
            return ts_error_set(err, TS_ERROR_INPUT, "%s: a dim of %" PRId64 ", expected 0 or more", what,
                                dims[i]);
        empty = empty || dims[i] == 0;
        fits = fits && (dims[i] == 0 || ts_mul(total, dims[i], &total));
    }
    if (!fits && !empty)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: the dims multiply to more than 2^63 - 1 bytes", what);
    *bytes = empty ? 0 : (size_t)total;
    return true;
}

bool ts_host_array_describe(ts_error *err, ts_dtype dtype, int rank, const int64_t *dims,
                            ts_host_array *array) {
    *array = (ts_host_array){.dtype = dtype, .rank = rank};
    if (rank > TS_HOST_RANK)
        return ts_error_set(err, TS_ERROR_INPUT, "an array of %d dims, expected at most %d", rank,
                            TS_HOST_RANK);
    if (!ts_host_array_size(err, "an array", dtype, rank, dims, &array->length)) return false;
    if (rank > 0) memcpy(array->dims, dims, (size_t)rank * sizeof *dims);
    return true;
}

bool ts_host_array_init(ts_error *err, ts_arena *arena, ts_dtype dtype, int rank, const int64_t *dims,
                        ts_host_array *array) {
    if (!ts_host_array_describe(err, dtype, rank, dims, array)) return false;
    array->bytes = ts_arena_alloc(arena, array->length, 1);
    return true;
}

bool ts_host_array_convert(ts_error *err, ts_arena *arena, const ts_host_array *array, ts_dtype dtype,
                           ts_host_array *out) {
    if (array->dtype == dtype) {
        *out = *array;
        return true;
    }
    if (!ts_convert_possible(array->dtype, dtype))
        return ts_error_set(err, TS_ERROR_INPUT, "%s does not convert to %s",
                            ts_dtype_get(array->dtype)->name, ts_dtype_get(dtype)->name);
    ts_host_array from = *array; /* `out` may be `array` */
    if (!ts_host_array_init(err, arena, dtype, from.rank, from.dims, out)) return false;
    return ts_convert_elements(from.dtype, from.bytes, dtype, out->bytes, ts_host_array_elements(&from));
}

bool ts_host_array_check(ts_error *err, const char *name, const ts_host_array *array,
                         const ts_host_expect *expect) {
    if (!expect || !expect->has_dims) return true;
    if (ts_integers_equal(array->dims, array->rank, expect->dims, expect->rank)) return true;
    ts_arena *scratch = ts_arena_new();
    ts_text found = ts_text_begin(scratch);
    ts_text wanted = ts_text_begin(scratch);
    ts_host_array_print(array, &found);
    ts_text_add_integers(&wanted, expect->dims, expect->rank);
    ts_error_set(err, TS_ERROR_INPUT, "%s holds %s, expected dims [%s]", name, found.bytes, wanted.bytes);
    ts_arena_free(scratch);
    return false;
}

static const char *name_of(const ts_host_names *names, size_t i) {
    return *(const char *const *)(const void *)((const char *)names->first + i * names->step);
}

size_t ts_host_find(ts_error *err, const char *path, const char *name, const ts_host_names *names) {
    const char *noun = names->noun;
    if (names->count == 0) {
        ts_error_set(err, TS_ERROR_INPUT, "%s holds no %ss", path, noun);
        return SIZE_MAX;
    }
    if (!name && names->count == 1) return 0;
    if (!name) {
        ts_error_set(err, TS_ERROR_INPUT, "%s holds %zu %ss, expected %s:NAME with such as '%s'", path,
                     names->count, noun, path, name_of(names, 0));
        return SIZE_MAX;
    }
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(name_of(names, i), name) == 0) return i;
    const char *near = ts_text_nearest(name, names->first, names->count, names->step);
    ts_error_set(err, TS_ERROR_INPUT,
                 near ? "%s: no %s '%s'; did you mean '%s'?" : "%s: no %s '%s', expected such as '%s'", path,
                 noun, name, near ? near : name_of(names, 0));
    return SIZE_MAX;
}
