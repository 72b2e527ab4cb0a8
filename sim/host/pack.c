/* Arrays into layouts and back. */
#include "host/pack.h"

#include <string.h>

#include "base/number.h"
#include "move/move.h"
#include "layout/plan.h"

static ts_space *wrap_array(ts_arena *arena, const ts_host_array *array) {
    return ts_space_wrap(arena, "the file", array->bytes, (int64_t)array->length);
}

static bool same_dims(ts_error *err, const ts_host_array *array, const ts_layout *layout) {
    if (ts_integers_equal(array->dims, array->rank, layout->dims, layout->rank)) return true;
    ts_arena *scratch = ts_arena_new();
    ts_text text = ts_text_begin(scratch);
    ts_host_array_print(array, &text);
    ts_text_add(&text, ", expected dimensions [");
    ts_text_add_integers(&text, layout->dims, layout->rank);
    ts_error_set(err, TS_ERROR_INPUT, "the array is %s]", text.bytes);
    ts_arena_free(scratch);
    return false;
}

/* A tensor, where it lies, and the slice of it that is moved: dims of the array that begin here (NULL: 0). */
typedef struct {
    const ts_shape *shape;
    ts_space *space;
    int64_t base_bytes;
    const int64_t *begin;
} placement;

typedef enum { FETCH, STORE } direction;

/* Moves between the array and the tensor, in either direction. */
static bool move(ts_error *err, ts_arena *scratch, const ts_host_array *array, const placement *at,
                 direction way, int threads) {
    const ts_move_options how = {.kernels = ts_kernels_best(), .threads = threads};
    const ts_shape *shape = at->shape;
    ts_space *space = at->space;
    int64_t axis_bits[TS_LAYOUT_MAX_AXES];
    if (array->length == 0) return true; /* a dim of 0: it takes no storage, whatever the layout */
    const ts_shape *flat = ts_shape_row_major(err, scratch, array->dtype, array->rank, array->dims);
    if (!flat || !ts_space_place(err, space, shape, at->base_bytes, axis_bits)) return false;
    ts_space *file = wrap_array(scratch, array);
    ts_plan_side tensor = {shape, at->begin, axis_bits, at->base_bytes * 8}, rows = {flat, NULL, NULL, 0};
    const ts_plan *plan = way == STORE ? ts_plan_new(err, scratch, &rows, &tensor, array->rank, array->dims)
                                       : ts_plan_new(err, scratch, &tensor, &rows, array->rank, array->dims);
    return plan &&
           ts_dma_move_with(err, plan, way == STORE ? file : space, way == STORE ? space : file, &how);
}

/* ---- A part at a time ---- */

enum {
    PART = 1 << 17,    /* elements: they stay in a cache */
    MULTIPLE = 32,     /* rows, of whole tiles */
    LONGEST = 1 << 17, /* row of which so many are a part */
};

/* Rows of dim `dim`, all of the dims behind it, and one index of those before it. */
typedef struct {
    placement at;
    int dim;
    int64_t rows, row, begin, end; /* how many at most; elements of one; elements that are in `part` */
    int64_t index[TS_HOST_RANK];
    ts_host_array part;
    ts_arena *arena; /* of `part`, while there is none */
} window;

static bool open_window(ts_error *err, ts_arena *arena, const placement *at, window *w) {
    const ts_layout *layout = at->shape->layout;
    *w = (window){.at = *at, .row = 1, .dim = layout->rank - 1};
    if (w->dim > 0 && layout->dims[w->dim] <= LONGEST) w->row = layout->dims[w->dim--];
    while (w->dim > 0 && layout->dims[w->dim] <= PART / MULTIPLE / (w->row > 0 ? w->row : 1))
        w->row *= layout->dims[w->dim--];
    int64_t most = PART / (w->row > 0 ? w->row : 1);
    w->rows = most < MULTIPLE ? MULTIPLE : most - most % MULTIPLE;
    if (w->dim >= 0 && w->rows > layout->dims[w->dim]) w->rows = layout->dims[w->dim];
    w->at.begin = w->index;
    int64_t elements = w->rows * w->row;
    return ts_host_array_init(err, arena, at->shape->dtype, 1, &elements, &w->part);
}

/* The part that this element is in becomes that of the window. */
static void slide(window *w, int64_t element) {
    const ts_layout *layout = w->at.shape->layout;
    int64_t rows = 1;
    w->part.rank = layout->rank;
    memset(w->index, 0, sizeof w->index);
    for (int i = 0; i < layout->rank; i++) w->part.dims[i] = i < w->dim ? 1 : layout->dims[i];
    ts_index_unflatten(w->dim + 1, layout->dims, element / w->row, w->index);
    if (w->dim >= 0) {
        int64_t skipped = w->index[w->dim] % w->rows, behind;
        w->index[w->dim] -= skipped;
        behind = layout->dims[w->dim] - w->index[w->dim];
        rows = w->part.dims[w->dim] = ts_min(w->rows, behind);
        element -= skipped * w->row;
    }
    w->begin = element - element % w->row;
    w->end = w->begin + rows * w->row;
    w->part.length = (size_t)(rows * w->row) * (size_t)ts_dtype_get(w->part.dtype)->stored_bits / 8;
}

static bool move_part(ts_error *err, window *w, direction way) {
    ts_arena *scratch = ts_arena_new();
    bool good = move(err, scratch, &w->part, &w->at, way, 1);
    ts_arena_free(scratch);
    return good;
}

bool ts_host_store_read(ts_error *err, const ts_host_reader *reader, const ts_shape *shape, ts_space *space,
                        int64_t base_bytes) {
    ts_arena *arena = ts_arena_new();
    window w;
    bool good = open_window(err, arena, &(placement){shape, space, base_bytes, NULL}, &w);
    int64_t elements = ts_layout_element_count(shape->layout);
    for (int64_t at = 0; good && at < elements; at = w.end) {
        slide(&w, at);
        good = reader->read(err, reader->self, w.begin, 1, (size_t)(w.end - w.begin), w.part.bytes) &&
               move_part(err, &w, STORE);
    }
    ts_arena_free(arena);
    return good;
}

static bool load(ts_error *err, window *w, int64_t element) {
    if (element >= w->begin && element < w->end) return true;
    slide(w, element);
    if (move_part(err, w, FETCH)) return true;
    w->end = w->begin;
    return false;
}

static bool read_window(ts_error *err, void *self, int64_t begin, int64_t stride, size_t count,
                        void *elements) {
    window *w = self;
    size_t bytes = (size_t)ts_dtype_get(w->at.shape->dtype)->stored_bits / 8, some;
    if (!w->part.bytes && !open_window(err, w->arena, &w->at, w)) return false;
    for (uint8_t *to = elements; count > 0; count -= some, to += some * bytes) {
        if (!load(err, w, begin)) return false;
        const uint8_t *from = w->part.bytes + (size_t)(begin - w->begin) * bytes;
        some = stride == 1 ? (size_t)(w->end - begin) : 1;
        if (some > count) some = count;
        memcpy(to, from, some * bytes);
        begin += (int64_t)some * stride;
    }
    return true;
}

ts_host_reader ts_host_fetch_reader(ts_arena *arena, const ts_shape *shape, ts_space *space,
                                    int64_t base_bytes) {
    window *w = TS_NEW(arena, window);
    *w = (window){.at = {shape, space, base_bytes, NULL}, .arena = arena};
    return (ts_host_reader){read_window, w, true};
}

bool ts_host_buffer_bytes(ts_error *err, const ts_shape *shape, int64_t *bytes) {
    if (!shape->layout) return ts_error_set(err, TS_ERROR_INPUT, "this shape has no layout");
    if (shape->layout->axis_count > 1) {
        return ts_error_set(err, TS_ERROR_INPUT, "the layout has %d axes; a file holds one",
                            shape->layout->axis_count);
    }
    *bytes = ts_shape_memory_bytes(shape);
    return true;
}

bool ts_host_buffer_check(ts_error *err, const ts_host_buffer *buffer, int64_t bytes) {
    return buffer->length == bytes ||
           ts_error_set(err, TS_ERROR_INPUT, "%s: %lld bytes, expected the %lld of the shape", buffer->name,
                        (long long)buffer->length, (long long)bytes);
}

/* The whole of a buffer that is as long as the shape needs. */
static bool open_buffer(ts_error *err, ts_arena *arena, const ts_host_buffer *buffer, const ts_shape *shape,
                        placement *at) {
    int64_t needed = 0;
    if (!ts_host_buffer_bytes(err, shape, &needed) || !ts_host_buffer_check(err, buffer, needed))
        return false;
    *at = (placement){shape, ts_space_wrap(arena, "the buffer", buffer->bytes, buffer->length), 0, NULL};
    return true;
}

static bool store(ts_error *err, ts_arena *scratch, const ts_host_array *array, const placement *at,
                  int threads) {
    return same_dims(err, array, at->shape->layout) && move(err, scratch, array, at, STORE, threads);
}

bool ts_host_pack_into(ts_error *err, const ts_host_array *array, const ts_shape *shape, int threads,
                       const ts_host_buffer *buffer) {
    ts_arena *scratch = ts_arena_new();
    placement at;
    bool good = open_buffer(err, scratch, buffer, shape, &at) && store(err, scratch, array, &at, threads);
    ts_arena_free(scratch);
    return good;
}

bool ts_host_pack(ts_error *err, ts_arena *arena, const ts_host_array *array, const ts_shape *shape,
                  int threads, ts_host_array *buffer) {
    int64_t length = 0;
    placement at;
    if (!ts_host_buffer_bytes(err, shape, &length)) return false;
    *buffer = (ts_host_array){.dtype = TS_DTYPE_U8, .rank = 1, .dims = {length}, .length = (size_t)length};
    buffer->bytes = TS_NEW_ARRAY(arena, uint8_t, length);
    const ts_host_buffer bytes = {"the buffer", buffer->bytes, length};
    return open_buffer(err, arena, &bytes, shape, &at) && store(err, arena, array, &at, threads);
}

bool ts_host_unpack_into(ts_error *err, const ts_host_buffer *buffer, const ts_shape *shape, int threads,
                         const ts_host_array *array) {
    ts_arena *scratch = ts_arena_new();
    placement at;
    bool good = open_buffer(err, scratch, buffer, shape, &at) && same_dims(err, array, shape->layout) &&
                move(err, scratch, array, &at, FETCH, threads);
    ts_arena_free(scratch);
    return good;
}

bool ts_host_unpack(ts_error *err, ts_arena *arena, const ts_host_buffer *buffer, const ts_shape *shape,
                    int threads, ts_host_array *array) {
    placement at;
    const ts_layout *layout = shape->layout;
    return open_buffer(err, arena, buffer, shape, &at) &&
           ts_host_array_init(err, arena, shape->dtype, layout->rank, layout->dims, array) &&
           move(err, arena, array, &at, FETCH, threads);
}
