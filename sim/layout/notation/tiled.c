/* Mosaic's tiled memrefs. */
#include "layout/notation/tiled.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "xla_private.h"
#include "notation.h"

enum { MOST_TILES = 16 };

/* Integers of at least `least` up to `end`; returns how many, -1 on error. */
typedef struct {
    const char *what, *end;
    int64_t least;
} list_rule;

static int read_list(ts_error *err, ts_cursor *cursor, const list_rule *rule, int64_t *values) {
    int count = 0;
    if (ts_cursor_take(cursor, rule->end)) return 0;
    do {
        if (count == TS_LAYOUT_MAX_DIMS)
            return ts_cursor_refuse(err, cursor, "the list has more than 128 numbers"), -1;
        if (!ts_cursor_integer(err, cursor, rule->what, &values[count])) return -1;
        if (values[count] < rule->least)
            return ts_cursor_refuse(err, cursor, "found %" PRId64 ", expected %s of at least %" PRId64,
                                    values[count], rule->what, rule->least),
                   -1;
        count++;
    } while (ts_cursor_take(cursor, ","));
    return ts_cursor_expect(err, cursor, rule->end) ? count : -1;
}

static const int64_t *kept(ts_arena *arena, const int64_t *values, int count) {
    return TS_COPY_ARRAY(arena, values, count);
}

static bool read_tile(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_xla_tile *tile) {
    static const list_rule rule = {"an extent of a tile", ")", 1};
    int64_t dims[TS_LAYOUT_MAX_DIMS];
    tile->rank = read_list(err, cursor, &rule, dims);
    if (tile->rank == 0) return ts_cursor_refuse(err, cursor, "a tile has at least one extent");
    if (tile->rank > 0) tile->dims = kept(arena, dims, tile->rank);
    return tile->rank > 0;
}

/* Reads a layout at the cursor and moves the cursor past it. */
static bool read_tiled(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_tiled *out) {
    static const list_rule rule = {"a stride", "]", INT64_MIN};
    ts_xla_tile *tiles = TS_NEW_ARRAY(arena, ts_xla_tile, MOST_TILES);
    int64_t strides[TS_LAYOUT_MAX_DIMS];
    *out = (ts_tiled){.tiles = tiles};
    ts_cursor_take(cursor, "#tpu.");
    if (!ts_cursor_expect(err, cursor, "tiled<")) return false;
    for (; ts_cursor_take(cursor, "("); out->tile_count++) {
        if (out->tile_count == MOST_TILES)
            return ts_cursor_refuse(err, cursor, "there are more than 16 tiles");
        if (!read_tile(err, arena, cursor, &tiles[out->tile_count])) return false;
    }
    if (!ts_cursor_expect(err, cursor, ",") || !ts_cursor_expect(err, cursor, "[")) return false;
    out->rank = read_list(err, cursor, &rule, strides);
    if (out->rank < 0) return false;
    out->strides = kept(arena, strides, out->rank);
    return ts_cursor_expect(err, cursor, ">");
}

void ts_tiled_print(ts_text *out, const ts_tiled *tiled) {
    ts_text_add(out, "tiled<");
    for (int i = 0; i < tiled->tile_count; i++) {
        ts_text_add_char(out, '(');
        ts_text_add_integers(out, tiled->tiles[i].dims, tiled->tiles[i].rank);
        ts_text_add_char(out, ')');
    }
    ts_text_add(out, ",[");
    ts_text_add_integers(out, tiled->strides, tiled->rank);
    ts_text_add(out, "]>");
}

/* ---- The layout ---- */

/* Elements of the first tile with what its own tiles pad: the product of the dims behind the counts. */
static bool inner_strides(const ts_layout_builder *b, int counts, ts_iter *digits, int64_t *tile) {
    *tile = 1;
    for (int i = b->count - 1; i >= counts; i--) {
        digits[i] = (ts_iter){0, *tile, 0};
        if (!ts_mul(*tile, b->extents[i], tile)) return false;
    }
    return true;
}

static bool set_strides(const ts_tiled *tiled, const ts_layout_builder *b, ts_iter *digits) {
    int64_t tile;
    if (!inner_strides(b, tiled->rank, digits, &tile)) return false;
    for (int i = 0; i < tiled->rank; i++) {
        digits[i] = (ts_iter){0, 0, 0}; /* a dim of one tile has no stride, whatever is written */
        if (b->extents[i] > 1 && !ts_mul(tiled->strides[i], tile, &digits[i].stride)) return false;
    }
    return true;
}

static bool apply_tiles(ts_error *err, const ts_tiled *tiled, ts_layout_builder *b) {
    for (int i = 0; i < tiled->tile_count && !b->failed; i++) {
        if (i > 0 && tiled->tiles[i].rank > b->count - tiled->rank)
            return ts_error_set(err, TS_ERROR_INPUT, "a tile behind the first reaches out of it");
        ts_xla_apply_tile(b, &tiled->tiles[i]);
    }
    return !b->failed;
}

static const ts_layout *array_layout(ts_error *err, ts_arena *arena, const ts_tiled *tiled, int rank,
                                     const int64_t *dims) {
    static const ts_axis m = {"m", 0};
    ts_layout_builder b;
    ts_iter digits[TS_LAYOUT_MAX_DIMS];
    if (tiled->rank != rank || (tiled->tile_count > 0 && tiled->tiles[0].rank > rank)) {
        ts_error_set(err, TS_ERROR_INPUT, "the layout has %d strides and tiles of %d dims, the array %d dims",
                     tiled->rank, tiled->tile_count > 0 ? tiled->tiles[0].rank : 0, rank);
        return NULL;
    }
    ts_layout_begin(&b, err, arena, rank, dims);
    if (!apply_tiles(err, tiled, &b)) return NULL;
    if (!set_strides(tiled, &b, digits)) {
        ts_error_set(err, TS_ERROR_INPUT, "the strides of the layout do not fit in 64 bits");
        return NULL;
    }
    return ts_layout_finish(&b, digits, 1, &m, 0, NULL);
}

bool ts_notation_read_tiled(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_tiled tiled;
    if (!read_tiled(err, arena, cursor, &tiled)) return false;
    ts_tiled_print(&shape->text, &tiled);
    shape->layout = array_layout(err, arena, &tiled, shape->rank, shape->dims);
    return shape->layout != NULL;
}

/* ---- Memrefs ---- */

/* Their numbers in S(), as jax/_src/tpu_custom_call.py (MemorySpace.color) has them; "any" is HBM until
 * placed. */
static const struct {
    const char *name;
    int space;
} spaces[] = {{"any", 0}, {"hbm", 0}, {"vmem", 1}, {"semaphore_mem", 2}, {"smem", 4}, {"host", 5}};

static bool read_space(ts_error *err, ts_cursor *cursor, int *space) {
    ts_span name;
    if (!ts_cursor_expect(err, cursor, "#tpu.memory_space<")) return false;
    if (!ts_cursor_name(cursor, &name)) return ts_cursor_unexpected(err, cursor, "a memory space");
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (!ts_span_is(name, spaces[i].name)) continue;
        *space = spaces[i].space;
        return ts_cursor_expect(err, cursor, ">");
    }
    return ts_cursor_refuse(err, cursor,
                            "unknown memory space, expected any, hbm, vmem, semaphore_mem, smem or host");
}

/* MLIR's name of a type: i32, bf16, f8E4M3FN; XLA's is in small letters, and of integers begins with s. */
static bool read_type(ts_error *err, ts_cursor *cursor, ts_dtype *dtype) {
    char lower[16] = {0};
    ts_span name;
    if (!ts_cursor_name(cursor, &name)) return ts_cursor_unexpected(err, cursor, "an element type");
    for (size_t i = 0; i < name.length && name.length < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)name.text[i]);
    if (lower[0] == 'i') lower[0] = 's';
    const char *word = strcmp(lower, "s1") == 0 ? "pred" : lower;
    if (ts_dtype_find(word, strlen(word), dtype) && ts_dtype_get(*dtype)->class != TS_CLASS_NO_DATA)
        return true;
    return ts_cursor_refuse(err, cursor, "unknown element type '%.*s'", ts_text_quoted(name.length),
                            name.text);
}

/* "16x256xbf16": dims, each with an x behind it, and a type. */
static bool read_elements(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_memref *out) {
    int64_t dims[TS_LAYOUT_MAX_DIMS];
    while (isdigit(ts_cursor_peek(cursor))) {
        if (out->rank == TS_LAYOUT_MAX_DIMS)
            return ts_cursor_refuse(err, cursor, "the array has more than 128 dimensions");
        if (!ts_cursor_integer(err, cursor, "a dim", &dims[out->rank++]) ||
            !ts_cursor_expect(err, cursor, "x"))
            return false;
    }
    if (ts_cursor_peek(cursor) == '?')
        return ts_error_at(err, TS_ERROR_UNMODELLED, cursor->source, cursor->at,
                           "a dim without a size ('?') has no layout");
    out->dims = kept(arena, dims, out->rank);
    return read_type(err, cursor, &out->dtype);
}

static bool row_major(ts_error *err, ts_arena *arena, ts_memref *out) {
    int64_t *strides = TS_NEW_ARRAY(arena, int64_t, out->rank), stride = 1;
    for (int i = out->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        if (!ts_mul(stride, out->dims[i] > 0 ? out->dims[i] : 1, &stride))
            return ts_error_set(err, TS_ERROR_INPUT, "the product of the dimensions does not fit in 64 bits");
    }
    out->tiled = (ts_tiled){.rank = out->rank, .strides = strides};
    return true;
}

bool ts_memref_read(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_memref *out) {
    *out = (ts_memref){0};
    if (!ts_cursor_expect(err, cursor, "memref<") || !read_elements(err, arena, cursor, out) ||
        !row_major(err, arena, out))
        return false;
    bool more = ts_cursor_take(cursor, ",");
    ts_cursor ahead = *cursor;
    if (more && ts_cursor_take(&ahead, "#tpu.tiled")) {
        if (!read_tiled(err, arena, cursor, &out->tiled)) return false;
        more = ts_cursor_take(cursor, ",");
    }
    if (more && !read_space(err, cursor, &out->memory_space)) return false;
    return ts_cursor_expect(err, cursor, ">");
}
