/* Arrays into layouts and back. */
#include "tilesim/host/pack.h"

#include <string.h>

#include "tilesim/dma/move.h"
#include "tilesim/layout/plan.h"

static ts_space *wrap_array(ts_arena *arena, const ts_host_array *array) {
    return ts_space_wrap(arena, "the file", array->bytes, (int64_t)array->length);
}

static bool same_dims(ts_error *err, const ts_host_array *array, const ts_layout *layout) {
    bool same = array->rank == layout->rank;
    for (int i = 0; same && i < layout->rank; i++) same = array->dims[i] == layout->dims[i];
    if (same) return true;
    ts_arena *scratch = ts_arena_new();
    ts_text text;
    ts_text_init(&text, scratch);
    ts_host_array_print(array, &text);
    ts_text_add(&text, ", expected dimensions [");
    for (int i = 0; i < layout->rank; i++)
        ts_text_add(&text, "%s%lld", i ? "," : "", (long long)layout->dims[i]);
    ts_error_set(err, TS_ERROR_INPUT, "the array is %s]", text.bytes);
    ts_arena_free(scratch);
    return false;
}

/* Moves between the array and the tensor, in either direction. */
static bool move(ts_error *err, ts_arena *scratch, const ts_host_array *array, const ts_shape *shape,
                 ts_space *space, int64_t base_bytes, bool store, int threads) {
    const ts_move_options how = {.kernels = ts_kernels_best(), .threads = threads};
    int64_t axis_bits[TS_LAYOUT_MAX_AXES];
    if (array->length == 0) return true; /* a dim of 0: it takes no storage, whatever the layout */
    const ts_shape *flat = ts_shape_row_major(err, scratch, array->dtype, array->rank, array->dims);
    if (!flat || !ts_space_place(err, space, shape, base_bytes, axis_bits)) return false;
    ts_space *file = wrap_array(scratch, array);
    ts_plan_side tensor = {shape, NULL, axis_bits, base_bytes * 8}, rows = {flat, NULL, NULL, 0};
    const ts_plan *plan = store ? ts_plan_new(err, scratch, &rows, &tensor, array->rank, array->dims)
                                : ts_plan_new(err, scratch, &tensor, &rows, array->rank, array->dims);
    return plan && ts_dma_move_with(err, plan, store ? file : space, store ? space : file, &how);
}

static bool store_with(ts_error *err, ts_arena *scratch, const ts_host_array *array, const ts_shape *shape,
                       ts_space *space, int64_t base_bytes, int threads) {
    if (!shape->layout) return ts_error_set(err, TS_ERROR_INPUT, "this shape has no layout");
    return same_dims(err, array, shape->layout) &&
           move(err, scratch, array, shape, space, base_bytes, true, threads);
}

bool ts_host_store(ts_error *err, ts_arena *scratch, const ts_host_array *array, const ts_shape *shape,
                   ts_space *space, int64_t base_bytes) {
    return store_with(err, scratch, array, shape, space, base_bytes, 1);
}

static bool fetch_with(ts_error *err, ts_arena *arena, const ts_shape *shape, ts_space *space,
                       int64_t base_bytes, ts_host_array *array, int threads) {
    if (!shape->layout) return ts_error_set(err, TS_ERROR_INPUT, "this shape has no layout");
    return ts_host_array_init(err, arena, shape->dtype, shape->layout->rank, shape->layout->dims, array) &&
           move(err, arena, array, shape, space, base_bytes, false, threads);
}

bool ts_host_fetch(ts_error *err, ts_arena *arena, const ts_shape *shape, ts_space *space, int64_t base_bytes,
                   ts_host_array *array) {
    return fetch_with(err, arena, shape, space, base_bytes, array, 1);
}

bool ts_host_buffer_bytes(ts_error *err, const ts_shape *shape, int64_t *bytes) {
    if (!shape->layout) return ts_error_set(err, TS_ERROR_INPUT, "this shape has no layout");
    if (shape->layout->axis_count > 1) {
        return ts_error_set(err, TS_ERROR_INPUT, "the layout has %d axes; a file holds one",
                            shape->layout->axis_count);
    }
    *bytes = shape->bytes > shape->storage_bytes ? shape->bytes : shape->storage_bytes;
    return true;
}

bool ts_host_pack(ts_error *err, ts_arena *arena, const ts_host_array *array, const ts_shape *shape,
                  int threads, uint8_t **bytes, int64_t *length) {
    if (!ts_host_buffer_bytes(err, shape, length)) return false;
    *bytes = TS_NEW_ARRAY(arena, uint8_t, *length);
    return store_with(err, arena, array, shape, ts_space_wrap(arena, "the buffer", *bytes, *length), 0,
                      threads);
}

bool ts_host_unpack(ts_error *err, ts_arena *arena, const char *name, const uint8_t *bytes, int64_t length,
                    const ts_shape *shape, int threads, ts_host_array *array) {
    int64_t needed = 0;
    if (!ts_host_buffer_bytes(err, shape, &needed)) return false;
    if (length != needed) {
        return ts_error_set(err, TS_ERROR_INPUT, "%s: %lld bytes, expected the %lld of the shape", name,
                            (long long)length, (long long)needed);
    }
    uint8_t *copy = ts_arena_grow(arena, bytes, (size_t)length, (size_t)length, 1);
    return fetch_with(err, arena, shape, ts_space_wrap(arena, "the buffer", copy, length), 0, array, threads);
}
