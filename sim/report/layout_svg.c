/* The picture of a layout as SVG: the logical grid, coloured by tile or by coordinate, and beside it the
 * memory order, or on several axes the grid of their coordinates. Large arrays are drawn as tiles, with the
 * first one beside them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout_tiling.h"
#include "base/number.h"
#include "report/layout.h"

enum {
    CELL_WIDTH = 44,
    CELL_HEIGHT = 26,
    MARGIN = 24,
    TITLE = 56,
    GAP = 60,
    MOST_ROWS = 64,
    MOST_COLUMNS = 64,
    MOST_ELEMENTS = 1024,
    MOST_TILES = 16, /* of a large array, along each side */
    MOST_SLICES = 8,
    GOLDEN_ANGLE = 137,
};

typedef struct {
    const ts_shape *shape;
    const ts_layout *layout;
    ts_arena *arena;
    ts_text *out;
    tiling t;
    int row_dim, column_dim;       /* -1: the array has too few dims */
    int64_t row_step, column_step; /* elements a cell stands for: 1, or a tile */
    int64_t rows, columns, slices; /* cells drawn */
    bool cut;                      /* there are more than are drawn */
    int64_t left;                  /* of the grid */
    int fast_axis;                 /* of several: the one of the last digit, which no colour shows */
    int64_t index[TS_LAYOUT_MAX_DIMS];
} drawing;

static int64_t extent_of(const drawing *d, int dim) { return dim < 0 ? 1 : d->t.drawn[dim]; }

/* Cells of one element where the array is small, of one tile where it is not. */
static void choose_cells(drawing *d) {
    int rank = d->layout->rank;
    d->row_dim = rank > 1 ? rank - 2 : -1;
    d->column_dim = rank - 1;
    d->row_step = d->column_step = d->slices = 1;
    bool small = extent_of(d, d->row_dim) <= MOST_ROWS && extent_of(d, d->column_dim) <= MOST_COLUMNS;
    if (!small && d->row_dim >= 0 && d->t.first[d->row_dim] > 0) d->row_step = d->t.first[d->row_dim];
    if (!small && d->column_dim >= 0 && d->t.first[d->column_dim] > 0)
        d->column_step = d->t.first[d->column_dim];
    d->rows = ts_ceil_div(extent_of(d, d->row_dim), d->row_step);
    d->columns = ts_ceil_div(extent_of(d, d->column_dim), d->column_step);
    for (int i = 0; i < d->row_dim; i++)
        d->slices = d->slices > MOST_SLICES ? d->slices : d->slices * d->layout->dims[i];
    int64_t most_rows = small ? MOST_ROWS : MOST_TILES, most_columns = small ? MOST_COLUMNS : MOST_TILES;
    d->cut = d->rows > most_rows || d->columns > most_columns || d->slices > MOST_SLICES;
    if (d->rows > most_rows) d->rows = most_rows;
    if (d->columns > most_columns) d->columns = most_columns;
    if (d->slices > MOST_SLICES) d->slices = MOST_SLICES;
}

static bool is_element(const drawing *d, const int64_t *index) {
    for (int i = 0; i < d->layout->rank; i++) {
        if (index[i] >= d->layout->dims[i]) return false;
    }
    return true;
}

static int find_fast_axis(const ts_layout *layout) {
    for (int i = layout->digit_count - 1; i >= 0; i--) {
        if (layout->digits[i].extent > 1) return layout->digits[i].axis;
    }
    return layout->axis_count - 1;
}

/* The first axis that colours show: that of the first digit, if it is not the fast one. */
static int find_colour_axis(const drawing *d) {
    const ts_layout *layout = d->layout;
    for (int i = 0; i < layout->digit_count; i++) {
        if (layout->digits[i].extent > 1 && layout->digits[i].axis != d->fast_axis)
            return layout->digits[i].axis;
    }
    return d->fast_axis > 0 ? 0 : layout->axis_count - 1;
}

typedef struct {
    int64_t number;
    int shade; /* of a few */
} hue;

/* The tile of the index; where memory is swizzled, what moves as one; with several axes, its coordinate on
 * one, and shades for all others but the fast one. */
static hue colour_of(const drawing *d, const int64_t *index) {
    int64_t point[TS_LAYOUT_MAX_AXES], number = 0, shade = 0;
    if (d->layout->axis_count > 1) {
        int axis = find_colour_axis(d);
        ts_layout_forward(d->layout, index, point);
        for (int i = 0; i < d->layout->axis_count; i++) {
            if (i != axis && i != d->fast_axis) shade += point[i] - d->layout->axes[i].offset;
        }
        return (hue){point[axis], (int)ts_floor_mod(shade, 3)};
    }
    if (d->layout->swizzle.present && d->column_dim >= 0)
        return (hue){index[d->column_dim] >> d->layout->swizzle.keep, 0};
    for (int i = 0; i < d->layout->rank; i++) {
        int64_t size = d->t.first[i] > 0 ? d->t.first[i] : d->layout->dims[i];
        number = number * 7 + index[i] / size;
    }
    return (hue){number, 0};
}

static void add_box(drawing *d, int64_t x, int64_t y, const int64_t *index, const char *text) {
    ts_text_add(d->out, "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%d\" height=\"%d\" ", x, y,
                CELL_WIDTH, CELL_HEIGHT);
    if (!index) {
        ts_text_add(d->out, "fill=\"url(#padding)\" stroke=\"#bbb\"/>\n");
        return;
    }
    hue c = colour_of(d, index);
    int64_t degrees = ts_floor_mod(c.number % 360 * GOLDEN_ANGLE + 210, 360);
    ts_text_add(d->out, "fill=\"hsl(%" PRId64 ",60%%,%d%%)\" stroke=\"#999\"/>\n", degrees, 82 - 9 * c.shade);
    int size = strlen(text) > 9 ? 6 : strlen(text) > 7 ? 8 : strlen(text) > 5 ? 10 : 12;
    ts_text_add(d->out, "<text x=\"%" PRId64 "\" y=\"%" PRId64 "\" font-size=\"%d\">%s</text>\n",
                x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + size / 3, size, text);
}

/* The coordinates of an index: "17", or "6,8,1" on several axes. */
static void add_place(const drawing *d, const int64_t *index, ts_text *out) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    ts_layout_forward(d->layout, index, point);
    for (int i = 0; i < d->layout->axis_count; i++) ts_text_add(out, "%s%" PRId64, i ? "," : "", point[i]);
}

static void draw_cell(drawing *d, int64_t x, int64_t y) {
    ts_text text;
    ts_text_init(&text, d->arena);
    bool element = is_element(d, d->index);
    if (element) add_place(d, d->index, &text);
    add_box(d, x, y, element ? d->index : NULL, text.bytes);
}

static void draw_frame(drawing *d, int64_t x, int64_t y, int64_t rows, int64_t columns, const char *colour) {
    ts_text_add(d->out,
                "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%" PRId64 "\" height=\"%" PRId64
                "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
                x, y, columns * CELL_WIDTH, rows * CELL_HEIGHT, colour);
}

/* Frames of `high` x `wide` cells over the whole grid; the last ones are cut off at its edge. */
static void draw_frames(drawing *d, int64_t y, int64_t high, int64_t wide, const char *colour) {
    for (int64_t row = 0; row < d->rows; row += high) {
        for (int64_t column = 0; column < d->columns; column += wide) {
            int64_t h = d->rows - row < high ? d->rows - row : high,
                    w = d->columns - column < wide ? d->columns - column : wide;
            draw_frame(d, d->left + column * CELL_WIDTH, y + row * CELL_HEIGHT, h, w, colour);
        }
    }
}

static int64_t size_in_cells(const int64_t *sizes, int dim, int64_t whole) {
    return dim >= 0 && sizes[dim] > 0 ? sizes[dim] : whole;
}

static bool has_tile(const drawing *d, const int64_t *sizes) {
    return (d->row_dim >= 0 && sizes[d->row_dim] > 0) || (d->column_dim >= 0 && sizes[d->column_dim] > 0);
}

static void draw_borders(drawing *d, int64_t y) {
    const int64_t *levels[2] = {d->t.second, d->t.first};
    for (int i = 0; i < 2; i++) {
        if (d->row_step > 1 || d->column_step > 1 || !has_tile(d, levels[i])) continue;
        draw_frames(d, y, size_in_cells(levels[i], d->row_dim, d->rows),
                    size_in_cells(levels[i], d->column_dim, d->columns), i == 0 ? "#d22" : "#222");
    }
    draw_frame(d, d->left, y, d->rows, d->columns, "#222");
}

static bool next_slice(drawing *d) {
    for (int i = d->row_dim - 1; i >= 0; i--) {
        if (++d->index[i] < d->layout->dims[i]) return true;
        d->index[i] = 0;
    }
    return false;
}

/* The slices of the array, one below the other. */
static void draw_grid(drawing *d) {
    int64_t y = TITLE;
    for (int64_t slice = 0; slice < d->slices; slice++) {
        for (int64_t row = 0; row < d->rows; row++) {
            for (int64_t column = 0; column < d->columns; column++) {
                if (d->row_dim >= 0) d->index[d->row_dim] = row * d->row_step;
                if (d->column_dim >= 0) d->index[d->column_dim] = column * d->column_step;
                draw_cell(d, d->left + column * CELL_WIDTH, y + row * CELL_HEIGHT);
            }
        }
        draw_borders(d, y);
        y += (d->rows + 1) * CELL_HEIGHT;
        next_slice(d);
    }
}

/* What memory holds in order, `run` cells a line; 0 lines where that is not drawn. */
static int64_t memory_lines(const drawing *d, int64_t *elements) {
    int64_t low, high;
    *elements = 0;
    if (d->layout->axis_count != 1 || d->row_step > 1 || d->column_step > 1 || d->cut) return 0;
    ts_layout_axis_range(d->layout, 0, &low, &high);
    if (low < 0 || high >= MOST_ELEMENTS) return 0;
    *elements = high + 1;
    return ts_ceil_div(*elements, d->t.run);
}

/* What is at a point: the index of the element, "+" behind it where there are more, or padding. */
static void draw_place(drawing *d, int64_t x, int64_t y, const int64_t *point) {
    ts_index_list found;
    ts_text text;
    ts_text_init(&text, d->arena);
    bool known =
        ts_layout_backward(NULL, d->arena, d->layout, point, MOST_ELEMENTS, &found) && found.count > 0;
    for (int i = 0; known && i < d->layout->rank; i++)
        ts_text_add(&text, "%s%" PRId64, i ? "," : "", found.indices[i]);
    if (known && found.count > 1) ts_text_add_char(&text, '+');
    add_box(d, x, y, known ? found.indices : NULL, text.bytes);
}

static void draw_memory(drawing *d, int64_t x, int64_t elements) {
    for (int64_t at = 0; at < elements; at++)
        draw_place(d, x + at % d->t.run * CELL_WIDTH, TITLE + at / d->t.run * CELL_HEIGHT, &at);
}

static void add_caption(drawing *d, int64_t x, const char *text) {
    ts_text_add(d->out, "<text x=\"%" PRId64 "\" y=\"%d\" font-size=\"13\" text-anchor=\"start\">", x,
                TITLE - 12);
    ts_text_add_escaped(d->out, text);
    ts_text_add(d->out, "</text>\n");
}

static void add_title_line(drawing *d, const char *text) {
    ts_text_add(d->out, "<text x=\"%d\" y=\"%d\" font-size=\"13\" text-anchor=\"start\">", MARGIN,
                TITLE - 28);
    ts_text_add_escaped(d->out, text);
    ts_text_add(d->out, "</text>\n");
}

/* The shape, what its cells are, and which axes go where. */
static ts_text title_of(const drawing *d) {
    ts_text title;
    ts_text_init(&title, d->arena);
    ts_shape_print(d->shape, &title);
    if (d->layout->axis_count > 1) {
        ts_text_add(&title, "  (");
        for (int i = 0; i < d->layout->axis_count; i++)
            ts_text_add(&title, "%s%s", i ? "," : "", d->layout->axes[i].name);
        ts_text_add(&title, "); beside it %s down, %s across", d->layout->axes[find_colour_axis(d)].name,
                    d->layout->axes[d->fast_axis].name);
    }
    if (d->row_step > 1 || d->column_step > 1)
        ts_text_add(&title, ", a cell is a tile of %" PRId64 " x %" PRId64 ", beside it the first one",
                    d->row_step, d->column_step);
    if (d->cut) ts_text_add(&title, "  (the beginning)");
    return title;
}

/* ---- Several axes: the grid of coordinates, one axis down and one across, a panel for each point on the
 * others ---- */

typedef struct {
    int row_axis, column_axis;
    int64_t low[TS_LAYOUT_MAX_AXES], high[TS_LAYOUT_MAX_AXES];
    int64_t rows, columns, panels;
} axis_grid;

static bool choose_axes(const drawing *d, axis_grid *g) {
    *g = (axis_grid){.row_axis = find_colour_axis(d), .column_axis = d->fast_axis, .panels = 1};
    if (d->layout->axis_count < 2 || d->row_step > 1 || d->column_step > 1) return false;
    for (int i = 0; i < d->layout->axis_count; i++) {
        ts_layout_axis_range(d->layout, i, &g->low[i], &g->high[i]);
        int64_t extent = g->high[i] - g->low[i] + 1;
        if (extent > MOST_ROWS) return false;
        if (i != g->row_axis && i != g->column_axis) g->panels *= extent;
        if (g->panels > MOST_SLICES) return false;
    }
    g->rows = g->high[g->row_axis] - g->low[g->row_axis] + 1;
    g->columns = g->high[g->column_axis] - g->low[g->column_axis] + 1;
    return g->rows * g->columns * g->panels <= MOST_ELEMENTS;
}

static int64_t panel_width(const axis_grid *g) { return (g->columns + 1) * CELL_WIDTH; }

/* Sets the other axes to a panel's point; its name is "warp 6". */
static void name_panel(const drawing *d, const axis_grid *g, int64_t panel, int64_t *point, ts_text *name) {
    for (int i = d->layout->axis_count - 1; i >= 0; i--) {
        if (i == g->row_axis || i == g->column_axis) continue;
        int64_t extent = g->high[i] - g->low[i] + 1;
        point[i] = g->low[i] + panel % extent;
        panel /= extent;
        ts_text_add(name, "%s%s %" PRId64, name->length ? ", " : "", d->layout->axes[i].name, point[i]);
    }
}

static void draw_axes(drawing *d, const axis_grid *g, int64_t x) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    for (int64_t panel = 0; panel < g->panels; panel++, x += panel_width(g)) {
        ts_text name;
        ts_text_init(&name, d->arena);
        name_panel(d, g, panel, point, &name);
        if (name.length > 0) add_caption(d, x, name.bytes);
        for (int64_t i = 0; i < g->rows * g->columns; i++) {
            point[g->row_axis] = g->low[g->row_axis] + i / g->columns;
            point[g->column_axis] = g->low[g->column_axis] + i % g->columns;
            draw_place(d, x + i % g->columns * CELL_WIDTH, TITLE + i / g->columns * CELL_HEIGHT, point);
        }
        draw_frame(d, x, TITLE, g->rows, g->columns, "#222");
    }
}

/* ---- Large arrays: what the first tile holds ---- */

static void choose_detail(const drawing *d, drawing *detail, int64_t left) {
    *detail = *d;
    detail->left = left;
    detail->rows = extent_of(d, d->row_dim) < d->row_step ? extent_of(d, d->row_dim) : d->row_step;
    detail->columns =
        extent_of(d, d->column_dim) < d->column_step ? extent_of(d, d->column_dim) : d->column_step;
    if (detail->rows > MOST_TILES) detail->rows = MOST_TILES;
    if (detail->columns > MOST_TILES) detail->columns = MOST_TILES;
    detail->row_step = detail->column_step = detail->slices = 1;
    memset(detail->index, 0, sizeof detail->index);
}

/* ---- The whole ---- */

static void open_image(ts_text *out, int64_t width, int64_t height) {
    ts_text_add(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId64 "\" height=\"%" PRId64 "\" "
                "font-family=\"sans-serif\" text-anchor=\"middle\">\n",
                width, height);
    ts_text_add(
        out,
        "<defs><pattern id=\"padding\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#fff\"/>"
        "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#bbb\" stroke-width=\"2\"/></pattern></defs>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

void ts_report_svg(ts_arena *arena, const ts_shape *shape, ts_text *out) {
    drawing *d = TS_NEW(arena, drawing), detail;
    axis_grid axes;
    enum { TITLE_CHARACTER = 7 };
    *d = (drawing){.shape = shape, .layout = shape->layout, .arena = arena, .out = out, .left = MARGIN};
    d->fast_axis = find_fast_axis(shape->layout);
    tiling_find(arena, shape, &d->t);
    choose_cells(d);
    bool empty = ts_layout_element_count(d->layout) == 0, tiles = d->row_step > 1 || d->column_step > 1;
    bool several = !empty && choose_axes(d, &axes);
    int64_t elements, lines = memory_lines(d, &elements);
    int64_t right = MARGIN + d->columns * CELL_WIDTH + GAP,
            rows = larger(d->slices * (d->rows + 1), lines + 1);
    int64_t width = right + (lines > 0 ? d->t.run * CELL_WIDTH : 0);
    choose_detail(d, &detail, right);
    if (tiles) width = right + detail.columns * CELL_WIDTH, rows = larger(rows, detail.rows + 1);
    if (several) width = right + axes.panels * panel_width(&axes), rows = larger(rows, axes.rows + 1);
    ts_text title = title_of(d);
    open_image(out, larger(width, (int64_t)title.length * TITLE_CHARACTER) + MARGIN,
               TITLE + rows * CELL_HEIGHT);
    add_title_line(d, title.bytes);
    if (!empty) draw_grid(d);
    if (lines > 0) draw_memory(d, right, elements);
    if (several) draw_axes(d, &axes, right);
    if (tiles && !empty) draw_grid(&detail);
    ts_text_add(out, "</svg>\n");
}
