/* CuTe layouts: the texts of tuples, layouts, tilers and swizzles. */
#include <inttypes.h>
#include <stdlib.h>

#include "cute_private.h"

enum { NESTING_MAX = 64 };

static const char extent_text[] = "an extent of at least 1";

typedef struct {
    ts_error *err;
    ts_arena *arena;
    ts_cursor *cursor;
    int64_t least;    /* of integers in a tuple */
    const char *what; /* such an integer */
} parser;

static bool refuse(parser *p, const char *message) {
    return ts_cursor_refuse(p->err, p->cursor, "%s", message);
}

static bool digit_next(const ts_cursor *cursor) {
    const ts_source *source = cursor->source;
    return cursor->at < source->length && ts_is_digit(source->text[cursor->at]);
}

/* "_8" is a static 8, which means the same here. */
static bool integer(parser *p, int64_t least, const char *what, int64_t *value) {
    ts_cursor start = *p->cursor;
    if (ts_cursor_take(p->cursor, "_") && !digit_next(p->cursor)) {
        *p->cursor = start;
        return ts_cursor_unexpected(p->err, p->cursor, what);
    }
    if (!ts_cursor_integer(p->err, p->cursor, what, value)) return false;
    return *value >= least ||
           ts_cursor_refuse(p->err, p->cursor, "found %" PRId64 ", expected %s", *value, what);
}

/* Another item of a tuple. */
static bool goes_on(parser *p) { return ts_cursor_take(p->cursor, ",") && ts_cursor_peek(p->cursor) != ')'; }

/* ")", or ",)" as Python writes a tuple of one. */
static bool closes(parser *p) {
    ts_cursor start = *p->cursor;
    if (goes_on(p)) *p->cursor = start;
    return ts_cursor_take(p->cursor, ")");
}

static bool nested(parser *p, int depth) {
    return depth < NESTING_MAX || refuse(p, "nested more than 64 deep");
}

static bool tuple(parser *p, int depth, ts_cute *out) {
    *out = (ts_cute){0};
    if (!ts_cursor_take(p->cursor, "(")) return integer(p, p->least, p->what, &out->extent);
    if (!nested(p, depth)) return false;
    ts_cute *modes = NULL;
    do {
        if (!tuple(p, depth + 1, TS_APPEND(p->arena, modes, out->rank))) return false;
    } while (goes_on(p));
    out->modes = modes;
    return ts_cursor_take(p->cursor, ")") || ts_cursor_unexpected(p->err, p->cursor, "',' or ')'");
}

/* Strides that are congruent to the shape. */
static bool strides(parser *p, const ts_cute *shape, ts_cute *out) {
    *out = *shape;
    if (!shape->rank) return integer(p, INT64_MIN, "a stride for each extent of the shape", &out->stride);
    if (!ts_cursor_take(p->cursor, "("))
        return ts_cursor_unexpected(p->err, p->cursor, "'(': strides are nested as the shape is");
    ts_cute *modes = TS_NEW_ARRAY(p->arena, ts_cute, shape->rank);
    out->modes = modes;
    for (int i = 0; i < shape->rank; i++) {
        if (i && !ts_cursor_take(p->cursor, ","))
            return ts_cursor_unexpected(p->err, p->cursor, "',': a stride for each extent of the shape");
        if (!strides(p, &shape->modes[i], &modes[i])) return false;
    }
    return closes(p) || ts_cursor_unexpected(p->err, p->cursor, "')': a stride for each extent of the shape");
}

static bool fits(parser *p, size_t start, const char *misfit) {
    return !misfit || ts_error_at(p->err, TS_ERROR_INPUT, p->cursor->source, start, "%s", misfit);
}

static bool layout(parser *p, ts_cute *out) {
    ts_cute shape;
    int64_t current = 1;
    ts_cursor_skip_space(p->cursor);
    size_t start = p->cursor->at;
    if (!tuple(p, 0, &shape)) return false;
    if (ts_cursor_take(p->cursor, ":")) return strides(p, &shape, out) && fits(p, start, ts_cute_misfit(out));
    return fits(p, start,
                ts_cute_compact(p->arena, &shape, TS_CUTE_LEFTMOST, &current, out)
                    ? NULL
                    : "the size does not fit in 64 bits");
}

bool ts_cute_read_tuple(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_cute *out) {
    parser p = {err, arena, cursor, INT64_MIN, "an integer"};
    return tuple(&p, 0, out);
}

void ts_cute_tiler_by_mode(ts_arena *arena, const ts_cute *tuple, ts_cute_tiler *out) {
    *out = (ts_cute_tiler){.kind = TS_CUTE_TILE_LAYOUT, .layout = ts_cute_leaf(tuple->extent, 1)};
    if (!tuple->rank) return;
    ts_cute_tiler *modes = TS_NEW_ARRAY(arena, ts_cute_tiler, tuple->rank);
    for (int i = 0; i < tuple->rank; i++) ts_cute_tiler_by_mode(arena, &tuple->modes[i], &modes[i]);
    *out = (ts_cute_tiler){.kind = TS_CUTE_TILE_BY_MODE, .rank = tuple->rank, .modes = modes};
}

static bool tiler(parser *p, int depth, ts_cute_tiler *out);

static bool tiler_list(parser *p, int depth, const char *close, ts_cute_tiler *out) {
    *out = (ts_cute_tiler){.kind = TS_CUTE_TILE_BY_MODE};
    if (!nested(p, depth)) return false;
    ts_cute_tiler *modes = NULL;
    do {
        if (!tiler(p, depth + 1, TS_APPEND(p->arena, modes, out->rank))) return false;
    } while (ts_cursor_take(p->cursor, ","));
    out->modes = modes;
    return ts_cursor_take(p->cursor, close) ||
           ts_cursor_unexpected(p->err, p->cursor, *close == '>' ? "',' or '>'" : "',' or ']'");
}

static bool tiler(parser *p, int depth, ts_cute_tiler *out) {
    if (ts_cursor_take(p->cursor, "<")) return tiler_list(p, depth, ">", out);
    if (ts_cursor_take(p->cursor, "[")) return tiler_list(p, depth, "]", out);
    ts_cursor start = *p->cursor;
    *out = (ts_cute_tiler){.kind = TS_CUTE_TILE_KEEP};
    if (ts_cursor_take(p->cursor, "_") && !digit_next(p->cursor)) return true;
    *p->cursor = start;
    ts_cute shape;
    ts_cursor_skip_space(p->cursor);
    size_t begin = p->cursor->at;
    if (!tuple(p, depth, &shape)) return false;
    ts_cute_tiler_by_mode(p->arena, &shape, out);
    if (!ts_cursor_take(p->cursor, ":")) return true;
    *out = (ts_cute_tiler){.kind = TS_CUTE_TILE_LAYOUT};
    return strides(p, &shape, &out->layout) && fits(p, begin, ts_cute_misfit(&out->layout));
}

bool ts_cute_read_tiler(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_cute_tiler *out) {
    parser p = {err, arena, cursor, 1, extent_text};
    return tiler(&p, 0, out);
}

/* B, M and S of a swizzle, each behind its mark: it permutes blocks of 2^(B+M+|S|), which must fit. */
static bool swizzle(parser *p, const char *const marks[3], ts_cute_swizzle *out) {
    static const char *const names[] = {"B, at least 0", "M, at least 0", "S"};
    int64_t value[3];
    for (int i = 0; i < 3; i++)
        if (!ts_cursor_expect(p->err, p->cursor, marks[i]) ||
            !integer(p, i < 2 ? 0 : INT64_MIN, names[i], &value[i]))
            return false;
    int64_t b = value[0], m = value[1], s = value[2];
    if (b > 62 || m > 62 || s > 62 || s < -62 || b + m + llabs(s) > 62)
        return refuse(p, "a swizzle's B + M + |S| must be at most 62");
    if (llabs(s) < b) return refuse(p, "a swizzle's |S| must be at least its B");
    *out = (ts_cute_swizzle){(int)b, (int)m, (int)s};
    return true;
}

/* "<B,M,S>" as C++ and the DSL print it behind its name, "_B_M_S" as pycute does. */
static bool swizzle_numbers(parser *p, ts_cute_swizzle *out) {
    static const char *const listed[] = {"<", ",", ","}, *const joined[] = {"_", "_", "_"};
    if (ts_cursor_peek(p->cursor) == '_') return swizzle(p, joined, out);
    return swizzle(p, listed, out) && ts_cursor_expect(p->err, p->cursor, ">");
}

/* [INT "o"] layout: an integer is the offset if an "o" follows. */
static bool swizzled(parser *p, ts_cute_map *out) {
    ts_cursor start = *p->cursor;
    parser quiet = *p;
    quiet.err = NULL;
    if (integer(&quiet, 0, "", &out->offset) && ts_cursor_take(p->cursor, "o"))
        return layout(p, &out->layout);
    out->offset = 0;
    *p->cursor = start;
    return layout(p, &out->layout);
}

bool ts_cute_read_map(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_cute_map *out) {
    parser p = {err, arena, cursor, 1, extent_text};
    *out = (ts_cute_map){.layout = ts_cute_leaf(1, 1)};
    out->swizzled = ts_cursor_take(cursor, "Swizzle") || ts_cursor_take(cursor, "Sw") ||
                    ts_cursor_take(cursor, "SW") || ts_cursor_take(cursor, "S");
    if (!out->swizzled) return layout(&p, &out->layout);
    if (!swizzle_numbers(&p, &out->swizzle)) return false;
    return !ts_cursor_take(cursor, "o") || swizzled(&p, out);
}
