/* Arrays, and their way into layouts and back. */
#include <string.h>

#include "host/pack.h"
#include "host/format.h"
#include "layout/dtype.h"

#include "api_private.h"

static bool find_type(ts_error *err, const char *type, ts_dtype *dtype) {
    if (!ts_error_need(err, "the type", type)) return false;
    size_t length = strlen(type);
    if (ts_dtype_find(type, length, dtype)) return true;
    ts_error_set(err, TS_ERROR_INPUT, "no element type is called '%s'", type);
    return ts_error_hint(err, ts_dtype_nearest(type, length));
}

static bool check_rank(ts_error *err, int rank) {
    return (rank >= 0 && rank <= TS_HOST_RANK) ||
           ts_error_set(err, TS_ERROR_INPUT, "an array of %d dims, expected 0 to %d", rank, TS_HOST_RANK);
}

ts_array *api_array_of(ts_arena *arena, const ts_host_array *host) {
    ts_array *array = TS_NEW(arena, ts_array);
    *array = (ts_array){*host};
    return array;
}

ts_array *ts_array_new(ts_error *err, ts_arena *arena, const char *type, int rank, const int64_t *dims) {
    ts_host_array host;
    ts_dtype dtype;
    bool good = check_rank(err, rank) && find_type(err, type, &dtype) &&
                ts_host_array_init(err, arena, dtype, rank, dims, &host);
    return good ? api_array_of(arena, &host) : NULL;
}

ts_array *ts_array_wrap(ts_error *err, ts_arena *arena, const char *type, int rank, const int64_t *dims,
                        void *bytes) {
    ts_host_array host;
    ts_dtype dtype;
    bool good = check_rank(err, rank) && find_type(err, type, &dtype) &&
                ts_host_array_describe(err, dtype, rank, dims, &host) &&
                ts_host_array_size(err, "the array", dtype, rank, dims, &host.length);
    host.bytes = bytes;
    return good ? api_array_of(arena, &host) : NULL;
}

ts_array *ts_array_load(ts_error *err, ts_arena *arena, const char *path) {
    ts_host_array host;
    bool good = ts_error_need(err, "the path", path) && ts_host_load(err, arena, path, NULL, &host);
    return good ? api_array_of(arena, &host) : NULL;
}

int ts_array_save(ts_error *err, const ts_array *array, const char *path) {
    ts_arena *scratch = ts_arena_new();
    bool good = ts_error_need(err, "the path", path) && ts_host_save(err, scratch, path, &array->host);
    ts_arena_free(scratch);
    return good;
}

const char *ts_array_type(const ts_array *array) { return ts_dtype_get(array->host.dtype)->name; }
int ts_array_rank(const ts_array *array) { return array->host.rank; }
const int64_t *ts_array_dims(const ts_array *array) { return array->host.dims; }
void *ts_array_data(const ts_array *array) { return array->host.bytes; }
size_t ts_array_bytes(const ts_array *array) { return array->host.length; }

ts_array *ts_move_pack(ts_error *err, ts_arena *arena, const ts_array *array, const ts_shape *shape,
                       int threads) {
    ts_host_array packed;
    bool good = ts_shape_layout(err, shape, "the shape") &&
                ts_host_pack(err, arena, &array->host, shape, threads, &packed);
    return good ? api_array_of(arena, &packed) : NULL;
}

/* Of bytes that are only read. */
static ts_host_buffer read_buffer(const void *bytes, int64_t length) {
    return (ts_host_buffer){"the buffer", (uint8_t *)(uintptr_t)bytes, length};
}

ts_array *ts_move_unpack(ts_error *err, ts_arena *arena, const void *bytes, int64_t length,
                         const ts_shape *shape, int threads) {
    ts_host_array host;
    const ts_host_buffer buffer = read_buffer(bytes, length);
    bool good = ts_shape_layout(err, shape, "the shape") &&
                ts_host_unpack(err, arena, &buffer, shape, threads, &host);
    return good ? api_array_of(arena, &host) : NULL;
}

int64_t ts_move_bytes(ts_error *err, const ts_shape *shape) {
    int64_t bytes = -1;
    bool good = ts_shape_layout(err, shape, "the shape") && ts_host_buffer_bytes(err, shape, &bytes);
    return good ? bytes : -1;
}

int ts_move_pack_into(ts_error *err, const ts_array *array, const ts_shape *shape, int threads, void *bytes,
                      int64_t length) {
    return ts_shape_layout(err, shape, "the shape") &&
           ts_host_pack_into(err, &array->host, shape, threads,
                             &(ts_host_buffer){"the buffer", bytes, length});
}

int ts_move_unpack_into(ts_error *err, const void *bytes, int64_t length, const ts_shape *shape, int threads,
                        ts_array *array) {
    const ts_host_buffer buffer = read_buffer(bytes, length);
    return ts_shape_layout(err, shape, "the shape") &&
           ts_host_unpack_into(err, &buffer, shape, threads, &array->host);
}
