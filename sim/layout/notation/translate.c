/* Shapes in another notation: the same map, written anew and read back; or what the notation lacks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cute_private.h"
#include "index_map_private.h"
#include "layout/shape.h"
#include "notation.h"

enum { EQUAL_LIMIT = 1 << 24 };

/* The shape with another layout's text. */
static const ts_shape *with_layout(ts_error *err, ts_arena *arena, const ts_shape *shape,
                                   const ts_text *layout) {
    ts_text text = ts_text_begin(arena);
    ts_shape_print_array(shape->dtype, shape->layout->dims, shape->layout->rank, &text);
    ts_text_add(&text, " %s", layout->bytes);
    ts_shape_print_fields(shape, &text);
    ts_source source = {"translation", text.bytes, text.length};
    return ts_shape_parse(err, arena, &source);
}

/* ---- Axe ---- */

/* As Axe over the padded dims; an error where some are padded, with what it would be over those. */
static bool unpadded_axe(ts_error *err, ts_arena *arena, const ts_layout *layout, ts_axe *axe) {
    int64_t *padded = TS_NEW_ARRAY(arena, int64_t, layout->rank);
    ts_axe whole;
    ts_text dims;
    int at = 0;
    if (!ts_axe_from_layout(err, arena, layout, padded, &whole) ||
        !ts_axe_canonical(err, arena, TS_AXE_TVM, &whole, axe))
        return false;
    while (at < layout->rank && padded[at] == layout->dims[at]) at++;
    if (at == layout->rank) return true;
    dims = ts_text_begin(arena);
    ts_text text = ts_text_begin(arena);
    ts_text_add_integers(&dims, padded, layout->rank);
    ts_axe_print(&text, axe);
    return ts_error_set(err, TS_ERROR_INPUT,
                        "dimension %d is padded from %" PRId64 " to %" PRId64
                        "; over the padded dims [%.80s] it is %.200s",
                        at, layout->dims[at], padded[at], dims.bytes, text.bytes);
}

static const ts_shape *to_axe(ts_error *err, ts_arena *arena, const ts_shape *shape) {
    ts_axe axe;
    ts_text text = ts_text_begin(arena);
    if (!unpadded_axe(err, arena, shape->layout, &axe)) return NULL;
    ts_axe_print(&text, &axe);
    return with_layout(err, arena, shape, &text);
}

/* ---- CuTe ---- */

static const ts_shape *to_cute(ts_error *err, ts_arena *arena, const ts_shape *shape) {
    ts_axe axe;
    ts_cute_map map;
    ts_text text = ts_text_begin(arena);
    if (!unpadded_axe(err, arena, shape->layout, &axe) ||
        !ts_cute_from_axe(err, arena, &axe, shape->layout->rank, shape->layout->dims, &map))
        return NULL;
    ts_cute_print_map(&text, &map);
    return with_layout(err, arena, shape, &text);
}

/* ---- Index maps ---- */

/* The current dims as expressions of the logical index. */
typedef struct {
    ts_arena *arena;
    int count;
    const ts_index_expr *exprs[TS_LAYOUT_MAX_DIMS];
} tracer;

static bool is_zero(const ts_index_expr *expr) {
    return ts_index_root(expr)->kind == TS_INDEX_CONSTANT && ts_index_root(expr)->value == 0;
}

static const ts_index_expr *with(const tracer *t, ts_index_kind kind, const ts_index_expr *expr,
                                 int64_t value) {
    bool idle = is_zero(expr) ? kind != TS_INDEX_ADD : value == (kind == TS_INDEX_ADD ? 0 : 1);
    return idle ? expr : ts_index_node(t->arena, kind, expr, ts_index_constant(t->arena, value));
}

/* `expr // value`; (e // 2) // 2 is e // 4. */
static const ts_index_expr *quotient_of(const tracer *t, const ts_index_expr *expr, int64_t value) {
    const ts_index_expr *divided;
    int64_t by, both;
    if (ts_index_by_constant(t->arena, expr, TS_INDEX_DIVIDE, &divided, &by) && ts_mul(by, value, &both))
        return with(t, TS_INDEX_DIVIDE, divided, both);
    return with(t, TS_INDEX_DIVIDE, expr, value);
}

/* `expr % value`; (e % 8) % 4 is e % 4. */
static const ts_index_expr *remainder_of(const tracer *t, const ts_index_expr *expr, int64_t value) {
    if (is_zero(expr)) return expr;
    const ts_index_expr *divided;
    int64_t by;
    if (ts_index_by_constant(t->arena, expr, TS_INDEX_MODULO, &divided, &by) && by % value == 0)
        expr = divided;
    return ts_index_node(t->arena, TS_INDEX_MODULO, expr, ts_index_constant(t->arena, value));
}

static void open_gap(tracer *t, int at) {
    memmove(&t->exprs[at + 1], &t->exprs[at], (size_t)(t->count - at) * sizeof t->exprs[0]);
    t->count++;
}

/* The expressions at `at` and behind it become one. */
static void merge(tracer *t, int at, int64_t inner_extent) {
    const ts_index_expr *outer = with(t, TS_INDEX_MULTIPLY, t->exprs[at], inner_extent);
    t->exprs[at] = ts_index_node(t->arena, TS_INDEX_ADD, outer, t->exprs[at + 1]);
    t->count--;
    memmove(&t->exprs[at + 1], &t->exprs[at + 2], (size_t)(t->count - at - 1) * sizeof t->exprs[0]);
}

static void trace(tracer *t, const ts_stage *stage) {
    int k = stage->dim;
    const ts_index_expr *old[TS_LAYOUT_MAX_DIMS];
    switch (stage->kind) {
    case TS_STAGE_MERGE:
        merge(t, k, stage->extent_before);
        break;
    case TS_STAGE_BIAS:
        t->exprs[k] = with(t, TS_INDEX_ADD, t->exprs[k], stage->value);
        break;
    case TS_STAGE_PAD:
        break;
    case TS_STAGE_SPLIT:
        open_gap(t, k);
        t->exprs[k] = quotient_of(t, t->exprs[k + 1], stage->value);
        t->exprs[k + 1] = remainder_of(t, t->exprs[k + 1], stage->value);
        break;
    case TS_STAGE_INSERT:
        open_gap(t, k);
        t->exprs[k] = ts_index_constant(t->arena, 0);
        break;
    case TS_STAGE_REORDER:
        memcpy(old, t->exprs, (size_t)t->count * sizeof old[0]);
        for (int i = 0; i < t->count; i++) t->exprs[i] = old[stage->order[i]];
        break;
    }
}

static bool map_can_say(ts_error *err, const ts_layout *layout) {
    if (layout->function.forward)
        return ts_error_set(err, TS_ERROR_INPUT, "the map is known only as a function");
    if (layout->replica_count > 0) return ts_error_set(err, TS_ERROR_INPUT, "an index map has no replicas");
    for (int i = 0; i < layout->axis_count; i++) {
        char own[16] = "m";
        if (layout->axis_count > 1) snprintf(own, sizeof own, "p%d", i);
        if (strcmp(layout->axes[i].name, own) != 0)
            return ts_error_set(
                err, TS_ERROR_INPUT,
                "an index map's axes are m, or p0, p1 .. in order; this layout places on '%s'",
                layout->axes[i].name);
        if (layout->axes[i].offset != 0)
            return ts_error_set(err, TS_ERROR_INPUT, "an index map begins at 0, this layout at %" PRId64,
                                layout->axes[i].offset);
    }
    return true;
}

typedef struct {
    int64_t extent, stride;
    const ts_index_expr *expr;
} part;

static int compare_parts(const void *left, const void *right) {
    const part *a = left, *b = right;
    return ts_order(b->stride, a->stride);
}

/* The digits of an axis that have more than one value, widest stride first. */
static int collect(const ts_layout *layout, const tracer *t, int axis, part *parts) {
    int count = 0;
    for (int i = 0; i < layout->digit_count; i++)
        if (layout->digits[i].axis == axis && layout->digits[i].extent != 1)
            parts[count++] = (part){layout->digits[i].extent, layout->digits[i].stride, t->exprs[i]};
    if (count > 0) qsort(parts, (size_t)count, sizeof parts[0], compare_parts);
    return count;
}

static bool is_compact(const part *parts, int count) {
    int64_t next = 1;
    for (int i = count - 1; i >= 0; i--)
        if (parts[i].stride != next || !ts_mul(next, parts[i].extent, &next)) return false;
    return true;
}

static const ts_index_expr *sum_of(const tracer *t, const part *parts, int count) {
    const ts_index_expr *sum = NULL;
    for (int i = 0; i < count; i++) {
        if (is_zero(parts[i].expr)) continue;
        const ts_index_expr *term = with(t, TS_INDEX_MULTIPLY, parts[i].expr, parts[i].stride);
        sum = sum ? ts_index_node(t->arena, TS_INDEX_ADD, sum, term) : term;
    }
    return sum ? sum : ts_index_constant(t->arena, 0);
}

/* CuTe's and TVM's swizzles as xor of shifted bits. */
static const ts_index_expr *swizzled(const tracer *t, const ts_swizzle *s, const ts_index_expr *address) {
    int64_t mask = ((INT64_C(1) << s->bits) - 1) << (s->keep + (s->outer ? 0 : s->shift));
    const ts_index_expr *bits =
        ts_index_node(t->arena, TS_INDEX_AND, address, ts_index_constant(t->arena, mask));
    ts_index_kind kind = s->outer ? TS_INDEX_SHIFT_LEFT : TS_INDEX_SHIFT_RIGHT;
    bits = ts_index_node(t->arena, kind, bits, ts_index_constant(t->arena, s->shift));
    return ts_index_node(t->arena, TS_INDEX_XOR, address, bits);
}

typedef enum { BY_AXIS, BY_DIGIT } index_form;

/* One transformed index for each digit where digits follow each other without gaps, else one for each
 * axis. */
static void add_axes(const ts_layout *layout, const tracer *t, index_form form, ts_index_map *map,
                     const ts_index_expr **exprs, int *separators) {
    part parts[TS_LAYOUT_MAX_DIMS];
    for (int axis = 0; axis < layout->axis_count; axis++) {
        int count = collect(layout, t, axis, parts);
        bool whole = form == BY_AXIS || layout->swizzle.present || count == 0 || !is_compact(parts, count);
        if (axis > 0) separators[map->separator_count++] = map->count;
        for (int i = 0; i < count && !whole; i++) exprs[map->count++] = parts[i].expr;
        if (!whole) continue;
        const ts_index_expr *sum = sum_of(t, parts, count);
        exprs[map->count++] = layout->swizzle.present ? swizzled(t, &layout->swizzle, sum) : sum;
    }
}

static const char *const *logical_names(ts_arena *arena, int rank) {
    const char **names = TS_NEW_ARRAY(arena, const char *, rank);
    for (int i = 0; i < rank; i++)
        names[i] = rank <= 4 ? ts_text_format(arena, "%c", "ijkl"[i]) : ts_text_format(arena, "i%d", i);
    return names;
}

static const ts_shape *try_index_map(ts_error *err, ts_arena *arena, const ts_shape *shape, const tracer *t,
                                     index_form form) {
    const ts_layout *layout = shape->layout;
    int most = layout->digit_count + layout->axis_count;
    const ts_index_expr **exprs = TS_NEW_ARRAY(arena, const ts_index_expr *, most);
    int *separators = TS_NEW_ARRAY(arena, int, layout->axis_count);
    ts_index_map map = {.rank = layout->rank,
                        .names = logical_names(arena, layout->rank),
                        .exprs = exprs,
                        .separators = separators};
    ts_text text = ts_text_begin(arena);
    add_axes(layout, t, form, &map, exprs, separators);
    ts_index_map_print(&text, &map);
    return with_layout(err, arena, shape, &text);
}

static bool same_map(ts_arena *arena, const ts_shape *a, const ts_shape *b) {
    ts_layout_comparison found;
    return ts_layout_compare(NULL, arena, a->layout, b->layout, EQUAL_LIMIT, &found) && found.equal;
}

static const ts_shape *to_index_map(ts_error *err, ts_arena *arena, const ts_shape *shape) {
    const ts_layout *layout = shape->layout;
    tracer t = {.arena = arena, .count = layout->rank};
    if (!map_can_say(err, layout)) return NULL;
    if (layout->rank == 0)
        return ts_error_set(err, TS_ERROR_INPUT, "an index map has at least one index"), NULL;
    for (int i = 0; i < layout->rank; i++) t.exprs[i] = ts_index_variable(arena, i);
    for (int i = 0; i < layout->stage_count; i++) trace(&t, &layout->stages[i]);
    const ts_shape *apart = try_index_map(NULL, arena, shape, &t, BY_DIGIT);
    if (apart && same_map(arena, shape, apart)) return apart;
    const ts_shape *whole = try_index_map(err, arena, shape, &t, BY_AXIS);
    if (!whole || same_map(arena, shape, whole)) return whole;
    ts_error_set(err, TS_ERROR_INPUT, "no index map of this layout's digits is the same map");
    return NULL;
}

/* ---- All ---- */

static const struct {
    const char *name, *title;
    const ts_shape *(*translate)(ts_error *err, ts_arena *arena, const ts_shape *shape);
} targets[] = {
    {"xla", "XLA", ts_translate_to_xla},
    {"axe", "Axe", to_axe},
    {"tvm", "an index map", to_index_map},
    {"cute", "CuTe", to_cute},
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

const ts_shape *ts_shape_translate(ts_error *err, ts_arena *arena, const ts_shape *shape,
                                   const char *notation) {
    const ts_layout *layout = ts_shape_layout(err, shape, "the shape");
    int row = 0;
    if (layout == NULL || !ts_error_need(err, "the notation", notation)) return NULL;
    while (row < TARGETS && strcmp(targets[row].name, notation) != 0) row++;
    if (row == TARGETS) {
        ts_error_set(err, TS_ERROR_USAGE, "unknown notation '%.40s', expected xla, axe, tvm or cute",
                     notation);
        ts_error_hint(err, ts_text_nearest(notation, &targets[0].name, TARGETS, sizeof targets[0]));
        return NULL;
    }
    if (strcmp(notation, shape->xla != NULL ? "xla" : shape->notation) == 0) return shape;
    ts_error own = {0};
    const ts_shape *translated = targets[row].translate(&own, arena, shape);
    if (translated == NULL)
        ts_error_set(err, own.kind, "this layout cannot be written as %s: %s", targets[row].title,
                     own.message);
    return translated;
}
