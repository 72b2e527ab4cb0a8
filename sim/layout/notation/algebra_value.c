/* The algebras of layouts: values, their texts, and what parameters take of them. */
#include <inttypes.h>
#include <string.h>

#include "algebra_private.h"
#include "cute_private.h"

/* ---- Values ---- */

static const char *const kind_names[] = {
    [TS_VALUE_WORD] = "a word",          [TS_VALUE_TUPLE] = "a tuple",
    [TS_VALUE_EMPTY] = "an empty tuple", [TS_VALUE_POINTS] = "a point",
    [TS_VALUE_TILER] = "a tiler",        [TS_VALUE_CUTE] = "a CuTe layout",
    [TS_VALUE_AXE] = "an Axe layout",    [TS_VALUE_INDEX_MAP] = "an index map",
    [TS_VALUE_ARRAY] = "an array",       [TS_VALUE_TEXT] = "a text",
};

const char *ts_value_kind_name(ts_value_kind kind) { return kind_names[kind]; }

void ts_value_print_kind(ts_text *out, const ts_value *value) {
    if (value->kind == TS_VALUE_WORD)
        ts_text_add(out, "'%.40s'", value->text);
    else
        ts_text_add(out, "%s", kind_names[value->kind]);
}

static void print_points(ts_text *out, const ts_value *value) {
    for (int i = 0; i < value->point_count; i++) {
        const ts_value_point *point = &value->points[i];
        ts_text_add(out, i > 0 ? " {" : "{");
        for (int j = 0; j < point->count; j++)
            ts_text_add(out, "%s%s=%" PRId64, j > 0 ? "," : "", point->axes[j], point->coordinates[j]);
        ts_text_add_char(out, '}');
    }
}

static void print_map(ts_text *out, const ts_value *value) {
    if (value->kind == TS_VALUE_TILER)
        ts_cute_print_tiler(out, &value->tiler);
    else if (value->kind == TS_VALUE_CUTE)
        ts_cute_print_map(out, &value->cute);
    else if (value->kind == TS_VALUE_AXE)
        ts_axe_print(out, &value->axe);
    else if (value->kind == TS_VALUE_INDEX_MAP)
        ts_index_map_print(out, &value->map);
    else
        ts_shape_print(value->array, out);
}

void ts_value_print(ts_text *out, const ts_value *value) {
    switch (value->kind) {
    case TS_VALUE_WORD:
    case TS_VALUE_TEXT:
        ts_text_add(out, "%s", value->text);
        return;
    case TS_VALUE_TUPLE:
        ts_cute_print_tuple(out, &value->tuple);
        return;
    case TS_VALUE_EMPTY:
        ts_text_add(out, "()");
        return;
    case TS_VALUE_POINTS:
        print_points(out, value);
        return;
    case TS_VALUE_TILER:
    case TS_VALUE_CUTE:
    case TS_VALUE_AXE:
    case TS_VALUE_INDEX_MAP:
    case TS_VALUE_ARRAY:
        print_map(out, value);
        return;
    }
}

/* ---- As arrays ---- */

static bool add_dims(ts_error *err, const ts_value *value, ts_text *out) {
    ts_cute shape = value->kind == TS_VALUE_CUTE ? value->cute.layout : value->tuple;
    const char *between = "";
    switch (value->kind) {
    case TS_VALUE_TUPLE:
    case TS_VALUE_CUTE:
        for (int i = 0; i < ts_cute_rank(&shape); i++, between = ",")
            ts_text_add(out, "%s%" PRId64, between, ts_cute_size(ts_cute_mode(&shape, i)));
        return true;
    case TS_VALUE_AXE:
        for (int i = 0; i < value->axe.shard_count; i++, between = ",")
            ts_text_add(out, "%s%" PRId64, between, value->axe.shards[i].extent);
        return true;
    default:
        return ts_error_set(err, TS_ERROR_INPUT, "the result is %s, expected a layout%s",
                            kind_names[value->kind],
                            value->kind == TS_VALUE_INDEX_MAP
                                ? " of known dims: write the array before it, as in f32[4,8] inverse(..)"
                                : "");
    }
}

const ts_shape *ts_value_array(ts_error *err, ts_arena *arena, const ts_value *value) {
    ts_argument layout;
    if (value->kind == TS_VALUE_ARRAY) return value->array;
    if (value->kind == TS_VALUE_TUPLE && !ts_argument_from(err, arena, TS_TAKES_CUTE, value, &layout))
        return NULL;
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "f32[");
    if (!add_dims(err, value, &text)) return NULL;
    ts_text_add(&text, "] ");
    ts_value_print(&text, value);
    ts_source source = {"result", text.bytes, text.length};
    return ts_shape_parse(err, arena, &source);
}

/* ---- What parameters take ---- */

typedef bool converter(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out);

/* The layout of an array, in another notation. */
static bool translate(ts_error *err, ts_arena *arena, const ts_value *value, const char *notation,
                      ts_source *source) {
    const ts_shape *shape = value->array;
    if (!ts_shape_layout(err, shape, "the array")) return false;
    if (!shape->notation || strcmp(shape->notation, notation) != 0)
        shape = ts_shape_translate(err, arena, shape, notation);
    if (!shape) return false;
    *source = (ts_source){"array", shape->layout_text, strlen(shape->layout_text)};
    return true;
}

static bool take_map(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    ts_source source;
    ts_cursor cursor = {.source = &source};
    if (value->kind == TS_VALUE_TUPLE)
        return ts_cute_compact_left(err, arena, &value->tuple, &out->map.layout);
    if (value->kind == TS_VALUE_ARRAY)
        return translate(err, arena, value, "cute", &source) &&
               ts_cute_read_map(err, arena, &cursor, &out->map);
    out->map = value->cute;
    return true;
}

static bool take_cute(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    if (!take_map(err, arena, value, out)) return false;
    out->cute = out->map.layout;
    return !out->map.swizzled ||
           ts_error_set(err, TS_ERROR_INPUT, "the layout is swizzled, expected one without a swizzle");
}

static bool take_tiler(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    ts_cute checked;
    if (value->kind == TS_VALUE_TILER) {
        out->tiler = value->tiler;
        return true;
    }
    if (value->kind == TS_VALUE_TUPLE) {
        ts_cute_tiler_by_mode(arena, &value->tuple, &out->tiler);
        return ts_cute_compact_left(err, arena, &value->tuple, &checked);
    }
    bool ok = take_cute(err, arena, value, out);
    out->tiler = (ts_cute_tiler){.kind = TS_CUTE_TILE_LAYOUT, .layout = out->cute};
    return ok;
}

static bool take_tuple(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    (void)err, (void)arena;
    out->tuple = value->tuple;
    return true;
}

static bool take_coordinate(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    ts_value mode = {.kind = TS_VALUE_TUPLE};
    out->tuple = value->tuple;
    if (!value->tuple.rank && value->tuple.extent < 0)
        return ts_error_set(err, TS_ERROR_INPUT, "found %" PRId64 ", expected an integer of at least 0",
                            value->tuple.extent);
    for (int i = 0; i < value->tuple.rank; i++) {
        ts_argument ignored;
        mode.tuple = value->tuple.modes[i];
        if (!take_coordinate(err, arena, &mode, &ignored)) return false;
    }
    return true;
}

static bool take_axe(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    ts_source source;
    out->axe = value->axe;
    return value->kind == TS_VALUE_AXE ||
           (translate(err, arena, value, "axe", &source) && ts_axe_parse(err, arena, &source, &out->axe));
}

static bool take_index_map(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    ts_source source;
    out->index_map = value->map;
    return value->kind == TS_VALUE_INDEX_MAP || (translate(err, arena, value, "tvm", &source) &&
                                                 ts_index_map_parse(err, arena, &source, &out->index_map));
}

static bool take_array(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    (void)arena;
    out->array = value->array;
    return ts_shape_layout(err, value->array, "the array") != NULL;
}

static bool take_integer(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    (void)arena;
    out->integer = value->tuple.extent;
    return !value->tuple.rank || ts_error_set(err, TS_ERROR_INPUT, "found a tuple, expected an integer");
}

/* An integer is a tuple of itself. */
static bool take_integers(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    if (value->kind == TS_VALUE_EMPTY) return true;
    out->count = ts_cute_rank(&value->tuple);
    int64_t *integers = TS_NEW_ARRAY(arena, int64_t, out->count);
    for (int i = 0; i < out->count; i++) {
        const ts_cute *mode = ts_cute_mode(&value->tuple, i);
        if (mode->rank) return ts_error_set(err, TS_ERROR_INPUT, "found a nested tuple, expected integers");
        integers[i] = mode->extent;
    }
    out->integers = integers;
    return true;
}

static bool take_pairs(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    out->count = value->tuple.rank;
    int64_t *begin = TS_NEW_ARRAY(arena, int64_t, out->count),
            *end = TS_NEW_ARRAY(arena, int64_t, out->count);
    bool pairs = out->count > 0;
    for (int i = 0; i < out->count && pairs; i++) {
        const ts_cute *pair = &value->tuple.modes[i];
        pairs = pair->rank == 2 && !pair->modes[0].rank && !pair->modes[1].rank;
        if (pairs) begin[i] = pair->modes[0].extent, end[i] = pair->modes[1].extent;
    }
    out->integers = begin;
    out->ends = end;
    return pairs ||
           ts_error_set(err, TS_ERROR_INPUT,
                        "found another tuple, expected a (begin, end) for each dimension, as ((2,4),(0,8))");
}

static bool take_shapes(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    out->count = value->tuple.rank;
    ts_axe_shape *shapes = TS_NEW_ARRAY(arena, ts_axe_shape, out->count);
    for (int i = 0; i < out->count; i++) {
        ts_value mode = {.kind = TS_VALUE_TUPLE, .tuple = value->tuple.modes[i]};
        ts_argument shape = {0};
        if (!take_integers(err, arena, &mode, &shape)) return false;
        shapes[i] = (ts_axe_shape){shape.count, shape.integers};
    }
    out->shapes = shapes;
    return out->count > 0 ||
           ts_error_set(err, TS_ERROR_INPUT, "found an integer, expected a tuple of shapes");
}

static bool take_axis(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    (void)err, (void)arena;
    out->axis = value->text;
    return true;
}

static bool take_point(ts_error *err, ts_arena *arena, const ts_value *value, ts_argument *out) {
    (void)arena;
    out->point = value->points;
    return value->point_count == 1 || ts_error_set(err, TS_ERROR_INPUT, "found several points, expected one");
}

#define BIT(kind) (1u << TS_VALUE_##kind)
static const struct {
    const char *name;
    unsigned kinds;
    converter *convert;
} takers[] = {
    [TS_TAKES_CUTE] = {"a CuTe layout", BIT(CUTE) | BIT(TUPLE) | BIT(ARRAY), take_cute},
    [TS_TAKES_CUTE_MAP] = {"a CuTe layout", BIT(CUTE) | BIT(TUPLE) | BIT(ARRAY), take_map},
    [TS_TAKES_TILER] = {"a tiler", BIT(CUTE) | BIT(TUPLE) | BIT(ARRAY) | BIT(TILER), take_tiler},
    [TS_TAKES_TUPLE] = {"a tuple", BIT(TUPLE), take_tuple},
    [TS_TAKES_COORDINATE] = {"a coordinate", BIT(TUPLE), take_coordinate},
    [TS_TAKES_AXE] = {"an Axe layout", BIT(AXE) | BIT(ARRAY), take_axe},
    [TS_TAKES_INDEX_MAP] = {"an index map", BIT(INDEX_MAP) | BIT(ARRAY), take_index_map},
    [TS_TAKES_ARRAY] = {"an array, TYPE[DIMS] and a layout", BIT(ARRAY), take_array},
    [TS_TAKES_INTEGER] = {"an integer", BIT(TUPLE), take_integer},
    [TS_TAKES_INTEGERS] = {"a tuple of integers", BIT(TUPLE) | BIT(EMPTY), take_integers},
    [TS_TAKES_PAIRS] = {"a (begin, end) for each dimension, as ((2,4),(0,8))", BIT(TUPLE), take_pairs},
    [TS_TAKES_SHAPES] = {"a tuple of shapes", BIT(TUPLE), take_shapes},
    [TS_TAKES_AXIS] = {"the name of an axis", BIT(WORD), take_axis},
    [TS_TAKES_POINT] = {"a point, as {m=3}", BIT(POINTS), take_point},
};

const char *ts_takes_name(ts_takes takes) { return takers[takes].name; }
bool ts_takes_kind(ts_takes takes, ts_value_kind kind) { return takers[takes].kinds >> kind & 1; }

bool ts_argument_from(ts_error *err, ts_arena *arena, ts_takes takes, const ts_value *value,
                      ts_argument *out) {
    *out = (ts_argument){.given = true};
    if (!ts_takes_kind(takes, value->kind)) {
        ts_text found = ts_text_begin(arena);
        ts_value_print_kind(&found, value);
        return ts_error_set(err, TS_ERROR_INPUT, "found %s, expected %s", found.bytes, takers[takes].name);
    }
    return takers[takes].convert(err, arena, value, out);
}

bool ts_argument_inside(ts_error *err, const ts_argument *coordinate, int rank, const int64_t *dims) {
    if (coordinate->count != rank)
        return ts_error_set(err, TS_ERROR_INPUT, "the coordinate has %d entries, expected %d",
                            coordinate->count, rank);
    for (int i = 0; i < rank; i++)
        if (coordinate->integers[i] < 0 || coordinate->integers[i] >= dims[i])
            return ts_error_set(err, TS_ERROR_INPUT,
                                "the coordinate %" PRId64 " is outside dimension %d of %" PRId64,
                                coordinate->integers[i], i, dims[i]);
    return true;
}

/* ---- Results ---- */

bool ts_value_word(ts_value *out, const char *word) {
    out->kind = TS_VALUE_WORD;
    out->text = word;
    return true;
}

bool ts_value_yes(ts_value *out, bool yes) { return ts_value_word(out, yes ? "yes" : "no"); }

bool ts_value_integer(ts_value *out, int64_t value) {
    out->kind = TS_VALUE_TUPLE;
    out->tuple = ts_cute_leaf(value, 0);
    return true;
}

static void list(ts_arena *arena, int count, const int64_t *values, ts_cute *out) {
    ts_cute *modes = ts_cute_tuple(arena, count, out);
    for (int i = 0; i < count; i++) modes[i] = ts_cute_leaf(values[i], 0);
}

bool ts_value_integers(ts_arena *arena, ts_value *out, int count, const int64_t *values) {
    out->kind = count > 0 ? TS_VALUE_TUPLE : TS_VALUE_EMPTY;
    list(arena, count, values, &out->tuple);
    return true;
}

bool ts_value_lists(ts_arena *arena, ts_value *out, int count, int rank, const int64_t *values) {
    ts_cute *modes = ts_cute_tuple(arena, count, &out->tuple);
    for (int i = 0; i < count; i++) list(arena, rank, values + (int64_t)i * rank, &modes[i]);
    out->kind = TS_VALUE_TUPLE;
    return true;
}

bool ts_value_text(ts_value *out, const ts_text *text) {
    out->kind = TS_VALUE_TEXT;
    out->text = text->bytes;
    return true;
}

ts_value *ts_value_add_extra(ts_arena *arena, ts_value *out, const char *name) {
    ts_value *extra = TS_NEW(arena, ts_value);
    out->extra_name = name;
    out->extra = extra;
    return extra;
}
