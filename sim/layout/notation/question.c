/* Reads and answers questions about a shape. */
#include "layout/notation/question.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"

enum { BACKWARD_LIMIT = 1000, EQUAL_LIMIT = 1 << 26 };

/* "2,3", optionally in parentheses; every entry inside its dim. */
static bool read_index(ts_error *err, const ts_layout *layout, const char *text, int64_t *index) {
    ts_source source = {"--at", text, strlen(text)};
    ts_cursor cursor = {&source, 0, 0};
    bool wrapped = ts_cursor_take(&cursor, "(");
    for (int i = 0; i < layout->rank; i++) {
        if (i > 0 && !ts_cursor_take(&cursor, ","))
            return ts_cursor_unexpected(err, &cursor, "',' and another index: one for each dimension");
        if (!ts_cursor_integer(err, &cursor, "an index", &index[i])) return false;
        if (index[i] < 0 || index[i] >= layout->dims[i])
            return ts_error_at(err, TS_ERROR_INPUT, &source, cursor.token,
                               "index %" PRId64 " is outside dimension %d of %" PRId64, index[i], i,
                               layout->dims[i]);
    }
    if (wrapped && !ts_cursor_expect(err, &cursor, ")")) return false;
    return ts_cursor_at_end(&cursor) ||
           ts_cursor_unexpected(err, &cursor, "the end: one index for each dimension");
}

/* A coordinate on an axis, within what the layout reaches, or what L() of XLA adds behind it. */
static bool read_coordinate(ts_error *err, const ts_shape *shape, ts_cursor *cursor, int axis,
                            int64_t *coordinate) {
    const ts_layout *layout = shape->layout;
    int64_t low, high;
    if (!ts_cursor_integer(err, cursor, "a coordinate", coordinate)) return false;
    if (ts_layout_padded_count(layout) == 0)
        return ts_cursor_refuse(err, cursor, "the array has no elements");
    ts_layout_axis_range(layout, axis, &low, &high);
    if (shape->xla != NULL && layout->axis_count == 1) high = ts_max(high, shape->padded_elements - 1);
    return (*coordinate >= low && *coordinate <= high) ||
           ts_cursor_refuse(err, cursor,
                            "found %" PRId64 " on the axis '%s', expected %" PRId64 " to %" PRId64,
                            *coordinate, layout->axes[axis].name, low, high);
}

/* "axis=value", for every axis of the layout. */
static bool read_named(ts_error *err, const ts_shape *shape, ts_cursor *cursor, bool *given, int64_t *point) {
    const ts_layout *layout = shape->layout;
    ts_span name;
    if (!ts_cursor_name(cursor, &name)) return ts_cursor_unexpected(err, cursor, "an axis");
    int axis = ts_layout_find_axis(layout, name.text, name.length);
    if (axis < 0)
        return ts_cursor_refuse(err, cursor, "the layout has no axis '%.*s'", (int)name.length, name.text);
    if (given[axis])
        return ts_cursor_refuse(err, cursor, "axis '%.*s' is given twice", (int)name.length, name.text);
    given[axis] = true;
    return ts_cursor_expect(err, cursor, "=") && read_coordinate(err, shape, cursor, axis, &point[axis]);
}

/* An integer where there is one axis, or coordinates by name; an axis that is not named is at its offset. */
static bool read_point(ts_error *err, const ts_shape *shape, const char *text, int64_t *point) {
    const ts_layout *layout = shape->layout;
    ts_source source = {"--inverse", text, strlen(text)};
    ts_cursor cursor = {&source, 0, 0};
    bool given[TS_LAYOUT_MAX_AXES] = {false};
    int first = ts_cursor_peek(&cursor);
    for (int i = 0; i < layout->axis_count; i++) point[i] = layout->axes[i].offset;
    if (layout->axis_count == 1 && (first == '-' || ts_is_digit(first))) {
        if (!read_coordinate(err, shape, &cursor, 0, &point[0])) return false;
    } else {
        do {
            if (!read_named(err, shape, &cursor, given, point)) return false;
        } while (ts_cursor_take(&cursor, ","));
    }
    return ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, "the end of the coordinates");
}

static bool compare(ts_error *err, ts_layout_question *q) {
    ts_source source = {"--equal", q->equal, strlen(q->equal)};
    q->other = ts_shape_parse(err, q->arena, &source);
    const ts_layout *a = q->shape->layout;
    const ts_layout *b = q->other != NULL ? ts_shape_layout(err, q->other, "the other shape") : NULL;
    if (b == NULL) return false;
    if (!ts_integers_equal(a->dims, a->rank, b->dims, b->rank))
        return ts_error_set(err, TS_ERROR_INPUT,
                            "--equal: the shapes have different dimensions, expected the same");
    return ts_layout_compare(err, q->arena, a, b, EQUAL_LIMIT, &q->compared);
}

bool ts_layout_question_answer(ts_error *err, ts_layout_question *q) {
    q->compared.equal = true;
    if (q->at == NULL && q->inverse == NULL && q->as == NULL && q->equal == NULL) return true;
    const ts_layout *layout = ts_shape_layout(err, q->shape, "the shape");
    if (layout == NULL || (q->at != NULL && !read_index(err, layout, q->at, q->index))) return false;
    if (q->inverse != NULL &&
        (!read_point(err, q->shape, q->inverse, q->point) ||
         !ts_layout_backward(err, q->arena, layout, q->point, BACKWARD_LIMIT, &q->found)))
        return false;
    if (q->as != NULL && (q->translated = ts_shape_translate(err, q->arena, q->shape, q->as)) == NULL)
        return false;
    return q->equal == NULL || compare(err, q);
}
