/* Axe layouts: every operation by name, on texts. One row an operation. */
#include <inttypes.h>
#include <stdio.h>

#include "axe_private.h"
#include "layout_args.h"
#include "layout/shape.h"
#include "layout/notation/xla.h"

typedef struct {
    ts_error *err;
    ts_arena *arena;
    int variant; /* which of the operations of one function */
    const char *text;
    ts_axe axe; /* of the text; not of XLA's notation */
    const ts_layout_args *args;
    ts_text *out;
} job;

enum { LIMIT = 1 << 22 }; /* of points that an operation makes */

/* ---- Arguments ---- */

static bool shape_arg(job *j, const char *key, ts_axe_shape *shape) {
    int64_t *dims;
    if (!ts_layout_args_ints(j->err, j->arena, j->args, key, &shape->rank, &dims)) return false;
    shape->dims = dims;
    return true;
}

/* The shape, or the flat one where none is given. */
static bool shape_or_flat(job *j, ts_axe_shape *shape) {
    if (ts_layout_args_find(j->args, "shape")) return shape_arg(j, "shape", shape);
    int64_t *dims = TS_NEW_ARRAY(j->arena, int64_t, 1);
    dims[0] = ts_axe_size(&j->axe, NULL);
    *shape = (ts_axe_shape){1, dims};
    return true;
}

static bool layout_arg(job *j, const char *key, ts_axe *axe) {
    const char *text = ts_layout_args_find(j->args, key);
    if (!text) return ts_error_set(j->err, TS_ERROR_INPUT, "missing argument %s", key);
    ts_source source = {key, text, strlen(text)};
    return ts_axe_parse(j->err, j->arena, &source, axe);
}

static const ts_layout *common(job *j, const ts_axe *axe, ts_axe_shape shape) {
    return ts_axe_layout(j->err, j->arena, axe, shape.rank, shape.dims);
}

/* An index that lies in the shape. */
static bool index_arg(job *j, ts_axe_shape shape, int64_t **index) {
    int count;
    if (!ts_layout_args_ints(j->err, j->arena, j->args, "coord", &count, index)) return false;
    if (count != shape.rank)
        return ts_error_set(j->err, TS_ERROR_INPUT, "the coordinate has %d entries, expected %d", count,
                            shape.rank);
    for (int i = 0; i < count; i++)
        if ((*index)[i] < 0 || (*index)[i] >= shape.dims[i])
            return ts_error_set(j->err, TS_ERROR_INPUT,
                                "the coordinate %" PRId64 " is outside dimension %d of %" PRId64, (*index)[i],
                                i, shape.dims[i]);
    return true;
}

/* ---- Results ---- */

static bool print(job *j, const ts_axe *axe) {
    ts_axe_print(j->out, axe);
    return true;
}

static bool print_or_none(job *j, bool found, const ts_axe *axe) {
    if (found)
        ts_axe_print(j->out, axe);
    else
        ts_text_add(j->out, "none");
    return true;
}

static bool print_yes(job *j, bool yes) {
    ts_text_add(j->out, yes ? "yes" : "no");
    return true;
}

static void print_point(job *j, const ts_layout *layout, const int64_t *point) {
    for (int i = 0; i < layout->axis_count; i++)
        ts_text_add(j->out, "%s%s=%" PRId64, i > 0 ? "," : "{", layout->axes[i].name, point[i]);
    ts_text_add_char(j->out, '}');
}

static void print_list(job *j, const char *separator, int count, const int64_t *values) {
    ts_text_add(j->out, "%s(", separator);
    for (int i = 0; i < count; i++) ts_text_add(j->out, "%s%" PRId64, i > 0 ? "," : "", values[i]);
    ts_text_add_char(j->out, ')');
}

static void print_seps(job *j, const char *separator, int count, const int *seps) {
    ts_text_add(j->out, "%s(", separator);
    for (int i = 0; i < count; i++) ts_text_add(j->out, "%s%d", i > 0 ? "," : "", seps[i]);
    ts_text_add_char(j->out, ')');
}

/* ---- Operations ---- */

static bool parse(job *j) { return print(j, &j->axe); }

static bool matrix(job *j) {
    ts_axe_print_matrix(j->out, &j->axe);
    return true;
}

/* The points in the order of the replicas, each once. */
static bool print_points(job *j, const ts_layout *layout, const int64_t *index) {
    int64_t total = ts_layout_replica_total(layout);
    size_t bytes = (size_t)layout->axis_count * sizeof(int64_t);
    if (total > LIMIT) return ts_error_set(j->err, TS_ERROR_INPUT, "an index has more than %d points", LIMIT);
    int64_t *points = TS_NEW_ARRAY(j->arena, int64_t, total * layout->axis_count);
    for (int64_t r = 0, count = 0; r < total; r++) {
        int64_t *point = points + count * layout->axis_count, k = 0;
        ts_layout_forward_replica(layout, index, r, point);
        while (k < count && memcmp(points + k * layout->axis_count, point, bytes) != 0) k++;
        if (k < count) continue;
        if (count++ > 0) ts_text_add_char(j->out, ' ');
        print_point(j, layout, point);
    }
    return true;
}

static bool forward(job *j) {
    ts_axe_shape shape;
    int64_t *index;
    if (!shape_or_flat(j, &shape) || !index_arg(j, shape, &index)) return false;
    const ts_layout *layout = common(j, &j->axe, shape);
    return layout && print_points(j, layout, index);
}

/* Digits for an index without a shape: flat, the first iter taking what is left over, or one for each iter.
 */
static bool digits_arg(job *j, int64_t **digits) {
    int count;
    int64_t *given;
    if (!ts_layout_args_ints(j->err, j->arena, j->args, "coord", &count, &given)) return false;
    *digits = given;
    if (count == j->axe.shard_count) return true;
    if (count != 1)
        return ts_error_set(j->err, TS_ERROR_INPUT, "the coordinate has %d entries, expected 1 or %d", count,
                            j->axe.shard_count);
    *digits = TS_NEW_ARRAY(j->arena, int64_t, j->axe.shard_count);
    for (int i = j->axe.shard_count - 1; i >= 0; i--) {
        int64_t extent = j->axe.shards[i].extent;
        (*digits)[i] = i > 0 ? given[0] % extent : given[0];
        given[0] /= extent;
    }
    return true;
}

/* The point of digits that may lie beyond their iters: those of a layout with larger ones. */
static bool apply_digits(job *j, int64_t *digits) {
    ts_axe wide = j->axe;
    int64_t *dims = TS_NEW_ARRAY(j->arena, int64_t, wide.shard_count);
    ts_axe_iter *shards = ts_arena_grow(j->arena, wide.shards, (size_t)wide.shard_count,
                                        (size_t)wide.shard_count, sizeof *shards);
    for (int i = 0; i < wide.shard_count; i++) {
        if (digits[i] < 0 || digits[i] == INT64_MAX)
            return ts_error_set(j->err, TS_ERROR_INPUT, "the coordinate %" PRId64 " is out of range",
                                digits[i]);
        if (digits[i] >= shards[i].extent) shards[i].extent = digits[i] + 1;
        dims[i] = shards[i].extent;
    }
    wide.shards = shards;
    const ts_layout *layout =
        ts_axe_finish(j->err, &wide) ? common(j, &wide, (ts_axe_shape){wide.shard_count, dims}) : NULL;
    return layout && print_points(j, layout, digits);
}

static bool apply(job *j) {
    int64_t *digits;
    j->axe.replica_count = 0;
    if (ts_layout_args_find(j->args, "shape")) return forward(j);
    return digits_arg(j, &digits) && apply_digits(j, digits);
}

/* "F:7,m:16", axes that are not named at 0; *outside when one that the layout has not is not at 0. */
static bool point_arg(job *j, const ts_layout *layout, int64_t *point, bool *outside) {
    const char *text = ts_layout_args_find(j->args, "at"), *name;
    if (!text) return ts_error_set(j->err, TS_ERROR_INPUT, "missing argument at");
    ts_source source = {"at", text, strlen(text)};
    ts_cursor cursor = {.source = &source};
    size_t length;
    int64_t value;
    do {
        if (!ts_cursor_name(&cursor, &name, &length)) return ts_cursor_unexpected(j->err, &cursor, "an axis");
        int axis = ts_layout_find_axis(layout, name, length);
        if (!ts_cursor_expect(j->err, &cursor, ":") ||
            !ts_cursor_integer(j->err, &cursor, "a coordinate", &value))
            return false;
        if (axis >= 0)
            point[axis] = value;
        else
            *outside = *outside || value != 0;
    } while (ts_cursor_take(&cursor, ","));
    return ts_cursor_at_end(&cursor) || ts_cursor_unexpected(j->err, &cursor, "',' or the end");
}

static bool backward(job *j) {
    ts_axe_shape shape;
    int64_t point[TS_LAYOUT_MAX_AXES] = {0};
    bool outside = false;
    ts_index_list found = {0};
    const ts_layout *layout = shape_or_flat(j, &shape) ? common(j, &j->axe, shape) : NULL;
    if (!layout || !point_arg(j, layout, point, &outside)) return false;
    if (!outside && !ts_layout_backward(j->err, j->arena, layout, point, LIMIT, &found)) return false;
    for (int64_t i = 0; i < found.count; i++)
        print_list(j, i > 0 ? " " : "", shape.rank, found.indices + i * shape.rank);
    if (found.count == 0) ts_text_add(j->out, "none");
    return true;
}

/* TVM answers sizes and spans of swizzled layouts only as a whole. */
static bool axis_arg(job *j, const char **axis) {
    *axis = ts_layout_args_find(j->args, "axis");
    return !*axis || !j->axe.swizzle.present ||
           ts_error_set(j->err, TS_ERROR_INPUT, "a swizzled layout has no sizes and spans of single axes");
}

static bool size(job *j) {
    const char *axis;
    bool ok = axis_arg(j, &axis);
    if (ok) ts_text_add(j->out, "%" PRId64, ts_axe_size(&j->axe, axis));
    return ok;
}

static bool span(job *j) {
    const char *axis;
    int64_t value;
    bool ok = axis_arg(j, &axis) && ts_axe_span(j->err, &j->axe, (ts_axe_form)j->variant, axis, &value);
    if (ok) ts_text_add(j->out, "%" PRId64, value);
    return ok;
}

static bool range(job *j) {
    const char *axis;
    int64_t low, high;
    if (!axis_arg(j, &axis)) return false;
    ts_axe_range(&j->axe, axis ? axis : "m", &low, &high);
    ts_text_add(j->out, "%" PRId64 "..%" PRId64, low, high);
    return true;
}

static bool canon(job *j) {
    ts_axe out;
    return ts_axe_canonical(j->err, j->arena, (ts_axe_form)j->variant, &j->axe, &out) && print(j, &out);
}

static bool equal(job *j) {
    ts_axe other;
    bool yes;
    return layout_arg(j, "other", &other) && ts_axe_equal(j->err, j->arena, &j->axe, &other, &yes) &&
           print_yes(j, yes);
}

static bool same_map(job *j) {
    ts_axe other;
    int64_t dims, witness[1];
    if (!layout_arg(j, "other", &other)) return false;
    dims = ts_axe_size(&j->axe, NULL);
    if (dims != ts_axe_size(&other, NULL)) return print_yes(j, false);
    const ts_layout *a = common(j, &j->axe, (ts_axe_shape){1, &dims}),
                    *b = common(j, &other, (ts_axe_shape){1, &dims});
    bool yes;
    return a && b && ts_layout_equal(j->err, j->arena, a, b, LIMIT, &yes, witness) && print_yes(j, yes);
}

static bool injective(job *j) {
    ts_axe_shape shape;
    int64_t first[TS_LAYOUT_MAX_DIMS], second[TS_LAYOUT_MAX_DIMS];
    bool yes;
    const ts_layout *layout = shape_or_flat(j, &shape) ? common(j, &j->axe, shape) : NULL;
    return layout && ts_layout_injective(j->err, j->arena, layout, LIMIT, &yes, first, second) &&
           print_yes(j, yes);
}

static bool scope(job *j) {
    const char *inner, *outer;
    if (!ts_axe_scope(j->err, &j->axe, &inner, &outer)) return false;
    if (inner)
        ts_text_add(j->out, "%s..%s", inner, outer);
    else
        ts_text_add(j->out, "none");
    return true;
}

static bool group(job *j) {
    ts_axe_shape shape;
    ts_axe out;
    if (!shape_arg(j, "shape", &shape)) return false;
    int *seps = TS_NEW_ARRAY(j->arena, int, shape.rank + 1);
    if (!ts_axe_group(j->err, j->arena, (ts_axe_form)j->variant, &j->axe, shape.rank, shape.dims, &out, seps))
        return false;
    ts_axe_print(j->out, &out);
    print_seps(j, " ; seps=", shape.rank + 1, seps);
    return true;
}

static bool group_many(job *j) {
    int count, *ranks, **seps;
    const int64_t **shapes;
    ts_axe out;
    if (!ts_layout_args_lists(j->err, j->arena, j->args, "shapes", &count, &ranks, &shapes)) return false;
    seps = TS_NEW_ARRAY(j->arena, int *, count);
    for (int i = 0; i < count; i++) seps[i] = TS_NEW_ARRAY(j->arena, int, ranks[i] + 1);
    if (!ts_axe_group_many(j->err, j->arena, &j->axe, count, ranks, shapes, &out, seps)) return false;
    ts_axe_print(j->out, &out);
    for (int i = 0; i < count; i++) print_seps(j, i > 0 ? "|" : " ; seps=", ranks[i] + 1, seps[i]);
    return true;
}

static bool tile(job *j) {
    ts_axe outer, out;
    ts_axe_shape outer_shape, inner_shape;
    return layout_arg(j, "outer", &outer) && shape_arg(j, "outer_shape", &outer_shape) &&
           shape_arg(j, "inner_shape", &inner_shape) &&
           ts_axe_tile(j->err, j->arena, (ts_axe_form)j->variant, &outer, outer_shape, &j->axe, inner_shape,
                       &out) &&
           print(j, &out);
}

static bool is_tile_inner(job *j) {
    ts_axe tiled, out;
    ts_axe_shape tiled_shape, shape;
    bool found;
    return layout_arg(j, "tiled", &tiled) && shape_arg(j, "tiled_shape", &tiled_shape) &&
           shape_arg(j, "inner_shape", &shape) &&
           ts_axe_is_tile_inner(j->err, j->arena, &j->axe, shape, &tiled, tiled_shape, &found, &out) &&
           print_or_none(j, found, &out);
}

static bool is_tile_outer(job *j) {
    ts_axe tiled, out;
    ts_axe_shape tiled_shape, shape;
    bool found;
    return layout_arg(j, "tiled", &tiled) && shape_arg(j, "tiled_shape", &tiled_shape) &&
           shape_arg(j, "outer_shape", &shape) &&
           ts_axe_is_tile_outer(j->err, j->arena, &j->axe, shape, &tiled, tiled_shape, &found, &out) &&
           print_or_none(j, found, &out);
}

static bool direct_sum(job *j) {
    ts_axe left, out;
    ts_axe_shape left_shape, right_shape;
    return layout_arg(j, "left", &left) && shape_arg(j, "left_shape", &left_shape) &&
           shape_arg(j, "right_shape", &right_shape) &&
           ts_axe_direct_sum(j->err, j->arena, &left, left_shape, &j->axe, right_shape, &out) &&
           print(j, &out);
}

enum { RIGHT, LEFT };
static bool is_direct_sum(job *j) {
    ts_axe sum, out;
    ts_axe_shape interleaved, shape;
    bool found, left = j->variant == LEFT;
    return layout_arg(j, "sum", &sum) && shape_arg(j, "interleaved_shape", &interleaved) &&
           shape_arg(j, left ? "left_shape" : "right_shape", &shape) &&
           ts_axe_is_direct_sum(j->err, j->arena, left, &j->axe, shape, &sum, interleaved, &found, &out) &&
           print_or_none(j, found, &out);
}

static bool slice(job *j) {
    ts_axe_shape shape;
    int64_t *begin, *end;
    int count;
    bool found;
    ts_axe out;
    if (!shape_arg(j, "shape", &shape) ||
        !ts_layout_args_ranges(j->err, j->arena, j->args, "region", &count, &begin, &end))
        return false;
    if (count != shape.rank)
        return ts_error_set(j->err, TS_ERROR_INPUT, "the region has %d dimensions, expected %d", count,
                            shape.rank);
    return ts_axe_slice(j->err, j->arena, &j->axe, shape, begin, end, &found, &out) &&
           print_or_none(j, found, &out);
}

static bool permute(job *j) {
    int count;
    int64_t *order;
    ts_axe out;
    return ts_layout_args_ints(j->err, j->arena, j->args, "perm", &count, &order) &&
           ts_axe_permute(j->err, j->arena, &j->axe, count, order, &out) && print(j, &out);
}

static bool broadcast(job *j) {
    int64_t n, position = -1;
    const char *axis = ts_layout_args_find(j->args, "axis");
    ts_axe out;
    if (!ts_layout_args_int(j->err, j->args, "n", &n) ||
        (ts_layout_args_find(j->args, "pos") && !ts_layout_args_int(j->err, j->args, "pos", &position)))
        return false;
    return ts_axe_broadcast(j->err, j->arena, &j->axe, n, position, axis ? axis : "m", &out) &&
           print(j, &out);
}

enum { PACK, UNPACK };
static bool pack(job *j) {
    int64_t n;
    ts_axe out;
    return ts_layout_args_int(j->err, j->args, "n", &n) &&
           (j->variant == PACK ? ts_axe_pack : ts_axe_unpack)(j->err, j->arena, &j->axe, n, &out) &&
           print(j, &out);
}

static bool storage(job *j) {
    ts_axe out;
    return ts_axe_storage(j->err, j->arena, &j->axe, &out) && print(j, &out);
}

static bool to_psum(job *j) {
    ts_axe out;
    return ts_axe_to_psum(j->err, j->arena, &j->axe, &out) && print(j, &out);
}

/* ---- From XLA's notation; a shape without a type is one of f32 ---- */

static const ts_layout *xla_layout(job *j) {
    ts_text text;
    ts_text_init(&text, j->arena);
    ts_text_add(&text, "%s%s", j->text[0] == '[' ? "f32" : "", j->text);
    ts_source source = {"layout", text.bytes, text.length};
    const ts_shape *shape = ts_shape_parse(j->err, j->arena, &source);
    const ts_layout *layout = shape ? ts_shape_layout(j->err, shape, "the shape") : NULL;
    if (!layout) return NULL;
    for (int i = 0; shape->xla && i < shape->xla->tile_count; i++)
        if (i == 0 && shape->xla->tiles[i].rank > layout->rank) {
            ts_error_set(j->err, TS_ERROR_INPUT, "the tile has %d dimensions, the array has %d",
                         shape->xla->tiles[i].rank, layout->rank);
            return NULL;
        }
    return layout;
}

static bool xla_index(job *j) {
    int64_t *index, offset;
    const ts_layout *layout = xla_layout(j);
    if (!layout || !index_arg(j, (ts_axe_shape){layout->rank, layout->dims}, &index)) return false;
    ts_layout_forward(layout, index, &offset);
    ts_text_add(j->out, "%" PRId64, offset);
    return true;
}

static bool xla_to_axe(job *j) {
    ts_axe axe, canonical;
    const ts_layout *layout = xla_layout(j);
    if (!layout) return false;
    int64_t *padded = TS_NEW_ARRAY(j->arena, int64_t, layout->rank);
    if (!ts_axe_from_layout(j->err, j->arena, layout, padded, &axe) ||
        !ts_axe_canonical(j->err, j->arena, TS_AXE_TVM, &axe, &canonical))
        return false;
    ts_axe_print(j->out, &canonical);
    print_list(j, " ; shape=", layout->rank, padded);
    return true;
}

static const struct {
    const char *name;
    bool is_xla;
    bool (*run)(job *j);
    int variant;
} ops[] = {
    {"parse", false, parse, 0},
    {"matrix", false, matrix, 0},
    {"forward", false, forward, 0},
    {"apply", false, apply, 0},
    {"backward", false, backward, 0},
    {"size", false, size, 0},
    {"span_tvm", false, span, TS_AXE_TVM},
    {"span_paper", false, span, TS_AXE_PAPER},
    {"range", false, range, 0},
    {"canon", false, canon, TS_AXE_TVM},
    {"canon_paper", false, canon, TS_AXE_PAPER},
    {"canon_cuda", false, canon, TS_AXE_CUDA},
    {"equal", false, equal, 0},
    {"same_map", false, same_map, 0},
    {"injective", false, injective, 0},
    {"scope", false, scope, 0},
    {"group", false, group, TS_AXE_TVM},
    {"group_paper", false, group, TS_AXE_PAPER},
    {"group_many", false, group_many, 0},
    {"tile_tvm", false, tile, TS_AXE_TVM},
    {"tile_paper", false, tile, TS_AXE_PAPER},
    {"is_tile_inner", false, is_tile_inner, 0},
    {"is_tile_outer", false, is_tile_outer, 0},
    {"direct_sum", false, direct_sum, 0},
    {"is_direct_sum_left", false, is_direct_sum, LEFT},
    {"is_direct_sum_right", false, is_direct_sum, RIGHT},
    {"slice", false, slice, 0},
    {"permute", false, permute, 0},
    {"broadcast", false, broadcast, 0},
    {"pack", false, pack, PACK},
    {"unpack", false, pack, UNPACK},
    {"storage", false, storage, 0},
    {"to_psum", false, to_psum, 0},
    {"xla_index", true, xla_index, 0},
    {"xla_to_axe", true, xla_to_axe, 0},
};
enum { OP_COUNT = sizeof ops / sizeof ops[0] };

static int find_op(ts_error *err, const char *name) {
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(ops[i].name, name) == 0) return i;
    ts_error_set(err, TS_ERROR_INPUT, "unknown Axe operation '%.40s'", name);
    ts_error_hint(err, ts_text_nearest(name, &ops[0].name, OP_COUNT, sizeof ops[0]));
    return -1;
}

bool ts_axe_evaluate(ts_error *err, ts_arena *arena, const char *op, const char *layout, const char *args,
                     ts_text *out) {
    int row = find_op(err, op);
    ts_layout_args parsed;
    if (row < 0 || !ts_layout_args_read(err, arena, args, &parsed)) return false;
    job j = {
        .err = err, .arena = arena, .variant = ops[row].variant, .text = layout, .args = &parsed, .out = out};
    ts_source source = {"layout", layout, strlen(layout)};
    if (!ops[row].is_xla && !ts_axe_parse(err, arena, &source, &j.axe)) return false;
    return ops[row].run(&j);
}
