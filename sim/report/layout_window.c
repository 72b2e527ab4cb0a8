/* A part of a layout for pictures of any array: cells of the logical grid with their coordinates, and points
 * of memory with their elements, as JSON. */
#include <string.h>

#include "layout_cells.h"
#include "base/number.h"
#include "report/layout.h"

/* More evaluations than these, and the elements of memory are not looked up. */
enum { MOST_SEARCHED = 1 << 24, MOST_FOUND = 64, MOST_LINE = 128 };

/* The bits that a swizzle keeps together: runs of so many move as one. */
static void add_tiling(const ts_layout *layout, const tiling *t, ts_json *json) {
    ts_json_ints(json, "drawn", layout->rank, t->drawn);
    ts_json_ints(json, "tile", layout->rank, t->first);
    ts_json_ints(json, "second_tile", layout->rank, t->second);
    ts_json_int(json, "run", t->run);
    ts_json_count(json, "swizzle_keep", layout->swizzle.present ? layout->swizzle.keep : -1);
}

/* What of `wanted` cells from `begin` on there is below `end`. */
static int64_t clip(int64_t begin, int64_t wanted, int64_t end) {
    int64_t left = end - begin;
    return left < 0 ? 0 : wanted < left ? wanted : left;
}

/* A coordinate for each axis, or none where the index is padding. */
static void add_cell(const ts_layout *layout, const int64_t *index, ts_json *json) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    bool element = ts_layout_holds(layout, index);
    if (element) ts_layout_forward(layout, index, point);
    ts_json_ints(json, NULL, element ? layout->axis_count : 0, point);
}

static void add_grid(const ts_layout *layout, const ts_layout_window *w, const tiling *t, ts_json *json) {
    int64_t index[TS_LAYOUT_MAX_DIMS];
    int row_dim = w->row_dim, column_dim = w->column_dim;
    for (int i = 0; i < layout->rank; i++) index[i] = w->index[i];
    int64_t row = row_dim < 0 ? 0 : index[row_dim], column = column_dim < 0 ? 0 : index[column_dim];
    int64_t rows = row_dim < 0 ? 1 : clip(row, w->rows, t->drawn[row_dim]);
    int64_t columns = column_dim < 0 ? 1 : clip(column, w->columns, t->drawn[column_dim]);
    ts_json_object(json, "grid");
    ts_json_int(json, "row_dim", row_dim);
    ts_json_int(json, "column_dim", column_dim);
    ts_json_ints(json, "index", layout->rank, index);
    ts_json_int(json, "rows", rows);
    ts_json_int(json, "columns", columns);
    ts_json_array(json, "points");
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < columns; c++) {
            if (row_dim >= 0) index[row_dim] = row + r;
            if (column_dim >= 0) index[column_dim] = column + c;
            add_cell(layout, index, json);
        }
    }
    ts_json_close(json);
    ts_json_close(json);
}

/* The indices of what is at a point, one behind the other; null: padding, or a hole. */
static void add_element(ts_arena *scratch, const ts_layout *layout, const int64_t *point, ts_json *json) {
    ts_index_list found;
    if (!ts_layout_backward(NULL, scratch, layout, point, MOST_FOUND, &found))
        ts_json_text(json, NULL, "many");
    else if (found.count == 0)
        ts_json_null(json, NULL);
    else
        ts_json_ints(json, NULL, (int)found.count * layout->rank, found.indices);
    ts_arena_reset(scratch);
}

static void add_elements(const ts_layout *layout, const ts_layout_window *w, ts_json *json) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    ts_arena *scratch = ts_arena_new();
    int64_t step = w->line_axis == w->place_axis ? w->line : 1;
    ts_json_array(json, "elements");
    for (int64_t i = 0; i < w->lines * w->line; i++) {
        memcpy(point, w->point, sizeof point);
        point[w->line_axis] += i / w->line * step;
        point[w->place_axis] += i % w->line;
        add_element(scratch, layout, point, json);
    }
    ts_json_close(json);
    ts_arena_free(scratch);
}

static bool can_search(const ts_layout *layout, const ts_layout_window *w) {
    int64_t work;
    return layout->function.forward == NULL ||
           (ts_mul(ts_layout_element_count(layout), w->lines * w->line, &work) && work <= MOST_SEARCHED);
}

static void add_memory(const ts_layout *layout, const ts_layout_window *w, ts_json *json) {
    ts_json_object(json, "memory");
    ts_json_int(json, "line_axis", w->line_axis);
    ts_json_int(json, "place_axis", w->place_axis);
    ts_json_ints(json, "point", layout->axis_count, w->point);
    ts_json_int(json, "lines", w->lines);
    ts_json_int(json, "line", w->line);
    if (can_search(layout, w))
        add_elements(layout, w, json);
    else
        ts_json_null(json, "elements");
    ts_json_close(json);
}

/* ---- The window as far as there is something ---- */

static int known(int wanted, int count, int otherwise) {
    return wanted >= 0 && wanted < count ? wanted : otherwise;
}

static void settle_grid(const ts_layout *layout, ts_layout_window *w) {
    w->row_dim = known(w->row_dim, layout->rank, layout->rank - 2);
    w->column_dim = known(w->column_dim, layout->rank, layout->rank - 1);
    if (w->row_dim == w->column_dim) w->row_dim = -1;
}

static void settle_memory(const ts_layout *layout, int64_t run, const int64_t *low, const int64_t *high,
                          ts_layout_window *w) {
    w->line_axis = known(w->line_axis, layout->axis_count, 0);
    w->place_axis = known(w->place_axis, layout->axis_count, layout->axis_count - 1);
    for (int i = 0; i < layout->axis_count; i++)
        if (w->point[i] < low[i] || w->point[i] > high[i]) w->point[i] = low[i];
    int64_t positions = high[w->place_axis] - w->point[w->place_axis] + 1;
    if (w->line <= 0) w->line = w->line_axis == w->place_axis ? run : positions;
    w->line = clip(0, ts_min(w->line, MOST_LINE), positions);
    int64_t lines = w->line_axis == w->place_axis ? ts_ceil_div(positions, w->line)
                                                  : high[w->line_axis] - w->point[w->line_axis] + 1;
    w->lines = clip(0, w->lines, lines);
}

void ts_report_layout_window_json(ts_arena *arena, const ts_shape *shape, const ts_layout_window *wanted,
                                  ts_text *out) {
    const ts_layout *layout = shape->layout;
    ts_layout_window w = *wanted;
    ts_json json;
    tiling t;
    int64_t low[TS_LAYOUT_MAX_AXES], high[TS_LAYOUT_MAX_AXES];
    tiling_find(arena, shape, &t);
    settle_grid(layout, &w);
    ts_json_begin(&json, out, "window");
    add_tiling(layout, &t, &json);
    add_grid(layout, &w, &t, &json);
    for (int i = 0; i < layout->axis_count; i++) ts_layout_axis_range(layout, i, &low[i], &high[i]);
    ts_json_ints(&json, "low", layout->axis_count, low);
    ts_json_ints(&json, "high", layout->axis_count, high);
    bool holds = layout->axis_count > 0 && ts_layout_padded_count(layout) > 0;
    if (holds) settle_memory(layout, t.run, low, high, &w);
    if (holds) add_memory(layout, &w, &json);
    ts_json_end(&json);
}
