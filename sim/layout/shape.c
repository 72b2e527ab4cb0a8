/* Shapes: reading and writing them in any notation. */
#include "tilesim/layout/shape.h"

#include "tilesim/layout/xla.h"

const ts_shape *ts_shape_parse(ts_error *err, ts_arena *arena, const ts_source *source) {
    ts_cursor cursor = {source, 0, 0};
    const ts_shape *shape = ts_xla_parse(err, arena, &cursor);
    if (shape == NULL || ts_cursor_at_end(&cursor)) return shape;
    ts_cursor_unexpected(err, &cursor,
                         ts_cursor_peek(&cursor) == '{'
                             ? "the end of the shape; a layout is '{' and a number or ':'"
                             : "the end of the shape");
    return NULL;
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

void ts_shape_print(const ts_shape *shape, ts_text *out) { ts_xla_print(shape, out); }

const ts_shape *ts_shape_row_major(ts_error *err, ts_arena *arena, ts_dtype dtype, int rank,
                                   const int64_t *dims) {
    return ts_xla_shape(err, arena, dtype, &(ts_xla_layout){.rank = rank, .dims = dims});
}
