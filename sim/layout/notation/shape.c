/* Shapes: reading and writing them in any notation. */
#include "layout/shape.h"

#include <inttypes.h>
#include <limits.h>

#include "notation.h"
#include "base/number.h"
#include "layout/notation/tiled.h"
#include "layout/notation/xla.h"

/* The addresses that a layout reaches, from 0 (or the lowest) on each axis. */
static bool count_addresses(const ts_layout *layout, int64_t *addresses) {
    *addresses = 1;
    for (int i = 0; i < layout->axis_count; i++) {
        int64_t low, high, extent;
        ts_layout_axis_range(layout, i, &low, &high);
        if (__builtin_sub_overflow(high, low < 0 ? low : 0, &extent) || !ts_add(extent, 1, &extent) ||
            !ts_mul(*addresses, extent, addresses))
            return false;
    }
    return true;
}

static bool count_bytes(int64_t elements, int bits, int64_t *bytes) {
    int64_t total;
    if (!ts_mul(elements, bits, &total)) return false;
    *bytes = ts_ceil_div(total, 8);
    return true;
}

static bool set_sizes(ts_error *err, const ts_notation_shape *read, ts_shape *shape) {
    int64_t addresses = read->addresses;
    int own_bits = ts_dtype_get(shape->dtype)->stored_bits;
    int unpadded_bits = shape->element_bits < own_bits ? shape->element_bits : own_bits;
    if ((addresses > 0 || count_addresses(shape->layout, &addresses)) &&
        count_bytes(addresses, shape->element_bits, &shape->storage_bytes) &&
        count_bytes(ts_layout_element_count(shape->layout), unpadded_bits, &shape->unpadded_bytes)) {
        shape->padded_elements = addresses;
        shape->bytes = shape->storage_bytes;
        return true;
    }
    return ts_error_set(err, TS_ERROR_INPUT, "the layout's size does not fit in 64 bits");
}

/* "E(n)" or "S(n)" behind a layout, as XLA writes the bits of an element and a memory space; `value` stays
 * where it is not there. */
static bool read_field(ts_error *err, ts_cursor *cursor, const char *name, const char *what, int least,
                       int *value) {
    int64_t number = 0;
    ts_cursor start = *cursor;
    if (!ts_cursor_take(cursor, name) || !ts_cursor_take(cursor, "(")) {
        *cursor = start;
        return true;
    }
    if (!ts_cursor_integer(err, cursor, what, &number)) return false;
    if (number < least || number > INT_MAX)
        return ts_cursor_refuse(err, cursor, "found %" PRId64 ", expected %s of %d to %d", number, what,
                                least, INT_MAX);
    *value = (int)number;
    return ts_cursor_expect(err, cursor, ")");
}

/* The array is as XLA reads it when nothing follows its dims. */
static bool read_layout(ts_error *err, ts_arena *arena, ts_cursor *cursor, const ts_notation *notation,
                        const ts_shape *array, ts_shape *shape) {
    ts_notation_shape read = {.rank = array->layout->rank,
                              .value_bits = ts_dtype_get(array->dtype)->value_bits,
                              .element_bits = array->element_bits,
                              .dims = array->layout->dims};
    read.text = ts_text_begin(arena);
    for (int i = 0; i < array->xla->rank; i++)
        if (array->xla->dynamic != NULL && array->xla->dynamic[i])
            return ts_error_set(err, TS_ERROR_INPUT, "only XLA's layouts are of bounded dimensions ('<=')");
    if (!notation->read(err, arena, cursor, &read)) return false;
    *shape = (ts_shape){.dtype = array->dtype, .element_bits = read.element_bits, .layout = read.layout};
    shape->notation = notation->name;
    shape->layout_text = read.text.bytes;
    return read_field(err, cursor, "E", "a number of bits", 1, &shape->element_bits) &&
           read_field(err, cursor, "S", "a memory space", 0, &shape->memory_space) &&
           set_sizes(err, &read, shape);
}

/* Errors without a location are about the layout as a whole. */
static const ts_shape *read_shape(ts_error *err, ts_arena *arena, ts_cursor *cursor,
                                  const ts_notation *notation, const ts_shape *array) {
    ts_shape *shape = TS_NEW(arena, ts_shape);
    ts_error own = {0};
    ts_cursor_skip_space(cursor);
    size_t start = cursor->at;
    if (read_layout(&own, arena, cursor, notation, array, shape)) return shape;
    if (own.line == 0)
        ts_error_at(err, own.kind, cursor->source, start, "%s", own.message);
    else if (err != NULL && err->kind == TS_ERROR_NONE)
        *err = own;
    return NULL;
}

/* Can a layout stand behind what was read? */
static bool is_bare(const ts_shape *shape) {
    return shape->layout != NULL && !shape->xla->is_tuple && !shape->xla->is_buffer &&
           !shape->xla->layout_written;
}

/* A memref has its dims, its layout and its memory space inside; it is written as "tiled<..>" from then
 * on. */
static const ts_shape *read_memref(ts_error *err, ts_arena *arena, ts_cursor *cursor) {
    ts_memref memref;
    if (!ts_memref_read(err, arena, cursor, &memref)) return NULL;
    ts_text text = ts_text_begin(arena);
    ts_shape_print_array(memref.dtype, memref.dims, memref.rank, &text);
    ts_text_add_char(&text, ' ');
    ts_tiled_print(&text, &memref.tiled);
    if (memref.memory_space != 0) ts_text_add(&text, " S(%d)", memref.memory_space);
    return ts_shape_parse(err, arena, &(ts_source){"memref", text.bytes, text.length});
}

/* Does a layout begin here, where its array's type and dims should stand? "(f32[8])" is a tuple, and F32 a
 * type that is misspelt. */
static bool is_layout_alone(ts_cursor at) {
    ts_span name;
    ts_cursor word = at;
    if (ts_cursor_name(&word, &name)) {
        ts_dtype dtype;
        return !ts_dtype_find(name.text, name.length, &dtype) && !ts_dtype_nearest(name.text, name.length) &&
               ts_notation_find(&at);
    }
    bool nested = false;
    while (ts_cursor_take(&at, "(")) nested = true;
    int first = ts_cursor_peek(&at);
    if (first == '{' || first == '[') return true;
    for (; ts_is_digit(ts_cursor_peek(&at)); at.at++) {
    }
    return ts_is_digit(first) && (nested || ts_cursor_peek(&at) == ':');
}

static bool begins_sharding(ts_cursor at) {
    static const char *const words[] = {
#define SHARDING(text, read) text,
#include "layout/notation/shardings.def"
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (ts_cursor_take(&at, words[i])) return true;
    return false;
}

/* Where nothing more should come. */
static const char *expected_end(const ts_cursor *at) {
    if (begins_sharding(*at)) return "the end of the shape; a sharding needs a mesh of devices";
    ts_cursor next = *at;
    int c = ts_cursor_peek(&next);
    return c == '{' || c == 'T'
               ? "the end of the shape; a layout is '{' and a number or ':', as in {1,0:T(8,128)}"
               : "the end of the shape";
}

const ts_shape *ts_shape_read(ts_error *err, ts_arena *arena, ts_cursor *cursor) {
    ts_cursor ahead = *cursor;
    if (ts_cursor_take(&ahead, "memref<")) return read_memref(err, arena, cursor);
    if (is_layout_alone(*cursor)) {
        ts_cursor_skip_space(cursor);
        ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->at,
                    "found a layout, expected TYPE[DIMS] before it, as in f32[4,8] (4,8):(8,1)");
        return NULL;
    }
    const ts_shape *shape = ts_xla_parse(err, arena, cursor);
    bool open = shape != NULL && is_bare(shape) && !begins_sharding(*cursor);
    const ts_notation *notation = open ? ts_notation_find(cursor) : NULL;
    return notation != NULL ? read_shape(err, arena, cursor, notation, shape) : shape;
}

const ts_shape *ts_shape_parse(ts_error *err, ts_arena *arena, const ts_source *source) {
    ts_cursor cursor = {source, 0, 0};
    const ts_shape *shape = ts_shape_read(err, arena, &cursor);
    if (shape == NULL || ts_cursor_at_end(&cursor)) return shape;
    ts_cursor_unexpected(err, &cursor, expected_end(&cursor));
    return NULL;
}

const ts_shape *ts_xla_shape(ts_error *err, ts_arena *arena, ts_dtype dtype, const ts_xla_layout *fields) {
    ts_shape draft = {.dtype = dtype, .xla = fields};
    ts_text text = ts_text_begin(arena);
    ts_xla_print(&draft, &text);
    ts_source source = {"layout", text.bytes, text.length};
    return ts_shape_parse(err, arena, &source);
}

const ts_layout *ts_shape_layout(ts_error *err, const ts_shape *shape, const char *what) {
    if (shape->layout != NULL) return shape->layout;
    if (shape->xla->is_tuple)
        ts_error_set(err, TS_ERROR_INPUT, "%s is a tuple, expected an array", what);
    else if (ts_dtype_get(shape->dtype)->class == TS_CLASS_NO_DATA)
        ts_error_set(err, TS_ERROR_INPUT, "%s is %s[], which holds no data, expected an array", what,
                     ts_dtype_get(shape->dtype)->name);
    else
        ts_error_set(err, TS_ERROR_UNMODELLED, "%s has an unbounded dimension ('?'), which has no layout",
                     what);
    return NULL;
}

void ts_shape_print_fields(const ts_shape *shape, ts_text *out) {
    if (shape->element_bits != ts_dtype_get(shape->dtype)->stored_bits)
        ts_text_add(out, " E(%d)", shape->element_bits);
    if (shape->memory_space != 0) ts_text_add(out, " S(%d)", shape->memory_space);
}

void ts_shape_print_array(ts_dtype dtype, const int64_t *dims, int rank, ts_text *out) {
    ts_text_add(out, "%s[", ts_dtype_get(dtype)->name);
    ts_text_add_integers(out, dims, rank);
    ts_text_add_char(out, ']');
}

void ts_shape_print(const ts_shape *shape, ts_text *out) {
    if (shape->xla != NULL) {
        ts_xla_print(shape, out);
        return;
    }
    ts_shape_print_array(shape->dtype, shape->layout->dims, shape->layout->rank, out);
    ts_text_add(out, " %s", shape->layout_text);
    ts_shape_print_fields(shape, out);
}

const char *ts_shape_text(ts_arena *arena, const ts_shape *shape) {
    ts_text text = ts_text_begin(arena);
    ts_shape_print(shape, &text);
    return text.bytes;
}

const ts_shape *ts_shape_row_major(ts_error *err, ts_arena *arena, ts_dtype dtype, int rank,
                                   const int64_t *dims) {
    return ts_xla_shape(err, arena, dtype, &(ts_xla_layout){.rank = rank, .dims = dims});
}
