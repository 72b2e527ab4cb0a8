/* Index maps: every operation by name, on texts. One row an operation. */
#include <inttypes.h>
#include <string.h>

#include "index_map_private.h"
#include "layout_args.h"
#include "base/number.h"
#include "layout/notation/axe.h"

typedef struct {
    ts_error *err;
    ts_arena *arena;
    int variant;
    ts_index_map map;
    const ts_layout_args *args;
    ts_text *out;
} job;

/* ---- Arguments and results ---- */

/* As many numbers as there should be. */
static bool ints(job *j, const char *key, int expected, int64_t **values) {
    int count;
    if (!ts_layout_args_ints(j->err, j->arena, j->args, key, &count, values)) return false;
    return count == expected ||
           ts_error_set(j->err, TS_ERROR_INPUT, "%s has %d entries, expected %d", key, count, expected);
}

static bool shape_arg(job *j, int64_t **dims) { return ints(j, "shape", j->map.rank, dims); }

static bool print(job *j, int count, const int64_t *values) {
    ts_text_add_char(j->out, '(');
    for (int i = 0; i < count; i++) ts_text_add(j->out, "%s%" PRId64, i > 0 ? "," : "", values[i]);
    ts_text_add_char(j->out, ')');
    return true;
}

static bool print_yes(job *j, bool yes) {
    ts_text_add(j->out, yes ? "yes" : "no");
    return true;
}

/* ---- Operations ---- */

static bool parse(job *j) {
    ts_index_map_print(j->out, &j->map);
    return true;
}

static bool map_indices(job *j) {
    int64_t *index, transformed[TS_LAYOUT_MAX_AXES];
    return ints(j, "index", j->map.rank, &index) && ts_index_map_apply(j->err, &j->map, index, transformed) &&
           print(j, j->map.count, transformed);
}

static bool map_shape(job *j) {
    int64_t *dims, shape[TS_LAYOUT_MAX_AXES];
    return shape_arg(j, &dims) && ts_index_map_shape(j->err, j->arena, &j->map, dims, shape) &&
           print(j, j->map.count, shape);
}

static bool physical_shape(job *j) {
    int64_t *dims, shape[TS_LAYOUT_MAX_AXES];
    return shape_arg(j, &dims) && ts_index_map_physical_shape(j->err, j->arena, &j->map, dims, shape) &&
           print(j, j->map.separator_count + 1, shape);
}

static bool physical_index(job *j) {
    int64_t *dims, *index, physical[TS_LAYOUT_MAX_AXES];
    return shape_arg(j, &dims) && ints(j, "index", j->map.rank, &index) &&
           ts_index_map_physical_index(j->err, j->arena, &j->map, dims, index, physical) &&
           print(j, j->map.separator_count + 1, physical);
}

static bool separators(job *j) {
    int64_t values[TS_LAYOUT_MAX_AXES];
    for (int i = 0; i < j->map.separator_count; i++) values[i] = j->map.separators[i];
    return print(j, j->map.separator_count, values);
}

static bool flatten_shape(job *j) {
    int count, separator_count;
    int64_t *shape, *given, physical[TS_LAYOUT_MAX_AXES];
    if (!ts_layout_args_ints(j->err, j->arena, j->args, "shape", &count, &shape) ||
        !ts_layout_args_ints(j->err, j->arena, j->args, "seps", &separator_count, &given))
        return false;
    if (separator_count >= TS_LAYOUT_MAX_AXES)
        return ts_error_set(j->err, TS_ERROR_INPUT, "more than %d separators", TS_LAYOUT_MAX_AXES - 1);
    return ts_index_flatten_shape(j->err, count, shape, separator_count, given, physical) &&
           print(j, separator_count + 1, physical);
}

static bool injective(job *j) {
    int64_t *dims, first[TS_LAYOUT_MAX_DIMS], second[TS_LAYOUT_MAX_DIMS];
    bool yes;
    return shape_arg(j, &dims) &&
           ts_index_map_injective(j->err, j->arena, &j->map, dims, &yes, first, second) && print_yes(j, yes);
}

/* A map whose shape does not begin at 0 is onto no shape. */
static bool bijective(job *j) {
    int64_t *dims, shape[TS_LAYOUT_MAX_AXES];
    bool yes;
    if (!shape_arg(j, &dims)) return false;
    if (!ts_index_map_shape(NULL, j->arena, &j->map, dims, shape)) return print_yes(j, false);
    return ts_index_map_bijective(j->err, j->arena, &j->map, dims, &yes) && print_yes(j, yes);
}

enum { STRICT, PADDED };
static bool inverse_at(job *j) {
    int64_t *dims, *point, *index = TS_NEW_ARRAY(j->arena, int64_t, j->map.rank);
    bool padding, onto;
    if (!shape_arg(j, &dims) || !ints(j, "index", j->map.count, &point)) return false;
    if (j->variant == STRICT) {
        if (!ts_index_map_bijective(j->err, j->arena, &j->map, dims, &onto)) return false;
        if (!onto) return ts_error_set(j->err, TS_ERROR_INPUT, "the map is not one to one onto its shape");
    }
    if (!ts_index_map_inverse_at(j->err, j->arena, &j->map, dims, point, &padding, index)) return false;
    if (!padding) return print(j, j->map.rank, index);
    ts_text_add(j->out, "padding");
    return true;
}

/* The closed form of the inverse, and of what is padding. */
static bool inverse(job *j) {
    int64_t *dims;
    bool found;
    ts_index_map inverted;
    const ts_index_expr *padding;
    if (!shape_arg(j, &dims) ||
        !ts_index_map_inverse(j->err, j->arena, &j->map, dims, &found, &inverted, &padding))
        return false;
    if (!found) return ts_error_set(j->err, TS_ERROR_INPUT, "the inverse has no closed form");
    ts_index_map_print(j->out, &inverted);
    ts_text_add(j->out, " ; padding=");
    if (padding)
        ts_index_expr_print(j->out, padding, inverted.names);
    else
        ts_text_add(j->out, "none");
    return true;
}

static bool loops(job *j) {
    int64_t *dims;
    return shape_arg(j, &dims) && ts_index_map_print_loops(j->err, j->arena, &j->map, dims, j->out);
}

/* ---- Padding ---- */

static bool next_index(int rank, const int64_t *dims, int64_t *index) {
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < dims[i]) return true;
        index[i] = 0;
    }
    return false;
}

static int64_t number_of(int count, const int64_t *shape, const int64_t *point) {
    int64_t number = 0;
    for (int i = 0; i < count; i++) number = number * shape[i] + point[i];
    return number;
}

/* Marks every place that an index goes to; false when two go to one. */
static bool mark_places(job *j, const int64_t *dims, const int64_t *shape, bool *taken) {
    int64_t *index = TS_NEW_ARRAY(j->arena, int64_t, j->map.rank + 1), point[TS_LAYOUT_MAX_AXES];
    do {
        if (!ts_index_map_apply(j->err, &j->map, index, point)) return false;
        bool *place = &taken[number_of(j->map.count, shape, point)];
        if (*place) return ts_error_set(j->err, TS_ERROR_INPUT, "the map is not injective");
        *place = true;
    } while (next_index(j->map.rank, dims, index));
    return true;
}

static bool padding_points(job *j) {
    enum { SHOWN = 16, MOST = 1 << 26 };
    int64_t *dims, shape[TS_LAYOUT_MAX_AXES], point[TS_LAYOUT_MAX_AXES] = {0}, total = 1, count = 0;
    if (!shape_arg(j, &dims) || !ts_index_map_shape(j->err, j->arena, &j->map, dims, shape)) return false;
    for (int i = 0; i < j->map.count; i++)
        if (!ts_mul(total, shape[i], &total) || total > MOST)
            return ts_error_set(j->err, TS_ERROR_INPUT, "the transformed shape has more than %d places",
                                MOST);
    bool *taken = TS_NEW_ARRAY(j->arena, bool, total);
    if (!mark_places(j, dims, shape, taken)) return false;
    for (int64_t i = 0; i < total; i++) count += !taken[i];
    ts_text_add(j->out, "%" PRId64 ":", count);
    for (int64_t i = 0, shown = 0; i < total && shown <= SHOWN; i++, next_index(j->map.count, shape, point)) {
        if (taken[i]) continue;
        ts_text_add(j->out, shown == SHOWN ? " ..." : " ");
        if (shown++ < SHOWN) print(j, j->map.count, point);
    }
    return true;
}

static bool equivalent(job *j) {
    ts_index_map other;
    const char *text = ts_layout_args_find(j->args, "other");
    if (!text) return ts_error_set(j->err, TS_ERROR_INPUT, "missing argument other");
    ts_source source = {"other", text, strlen(text)};
    return ts_index_map_parse(j->err, j->arena, &source, &other) &&
           print_yes(j, ts_index_map_equivalent(&j->map, &other));
}

static bool to_axe(job *j) {
    int64_t *dims;
    ts_axe axe, canonical;
    if (!shape_arg(j, &dims)) return false;
    const ts_layout *layout = ts_index_map_layout(j->err, j->arena, &j->map, dims, true);
    if (!layout || !ts_axe_from_layout(j->err, j->arena, layout, NULL, &axe) ||
        !ts_axe_canonical(j->err, j->arena, TS_AXE_TVM, &axe, &canonical))
        return false;
    ts_axe_print(j->out, &canonical);
    return true;
}

static const struct {
    const char *name;
    bool needs_map;
    bool (*run)(job *j);
    int variant;
} ops[] = {
    {"parse", true, parse, 0},
    {"map_indices", true, map_indices, 0},
    {"map_shape", true, map_shape, 0},
    {"physical_shape", true, physical_shape, 0},
    {"physical_index", true, physical_index, 0},
    {"separators", true, separators, 0},
    {"flatten_shape", false, flatten_shape, 0},
    {"injective", true, injective, 0},
    {"bijective", true, bijective, 0},
    {"inverse", true, inverse, 0},
    {"inverse_at", true, inverse_at, STRICT},
    {"nonsurjective_inverse_at", true, inverse_at, PADDED},
    {"padding_points", true, padding_points, 0},
    {"equivalent", true, equivalent, 0},
    {"to_axe", true, to_axe, 0},
    {"loops", true, loops, 0},
};
enum { OP_COUNT = sizeof ops / sizeof ops[0] };

static int find_op(ts_error *err, const char *name) {
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(ops[i].name, name) == 0) return i;
    ts_error_set(err, TS_ERROR_INPUT, "unknown operation on index maps '%.40s'", name);
    ts_error_hint(err, ts_text_nearest(name, &ops[0].name, OP_COUNT, sizeof ops[0]));
    return -1;
}

bool ts_index_map_evaluate(ts_error *err, ts_arena *arena, const char *op, const char *map, const char *args,
                           ts_text *out) {
    int row = find_op(err, op);
    ts_layout_args parsed;
    if (row < 0 || !ts_layout_args_read(err, arena, args, &parsed)) return false;
    job j = {.err = err, .arena = arena, .variant = ops[row].variant, .args = &parsed, .out = out};
    ts_source source = {"map", map, strlen(map)};
    if (ops[row].needs_map && !ts_index_map_parse(err, arena, &source, &j.map)) return false;
    return ops[row].run(&j);
}
