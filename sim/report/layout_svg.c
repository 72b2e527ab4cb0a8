/* The picture of a layout as SVG: the logical grid, coloured by tile or by coordinate, and the memory order
 * beside it. Large arrays are drawn as tiles. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout_tiling.h"
#include "tilesim/base/number.h"
#include "tilesim/report/layout.h"

enum {
    CELL_WIDTH = 44,
    CELL_HEIGHT = 26,
    MARGIN = 24,
    TITLE = 44,
    GAP = 60,
    MOST_ROWS = 64,
    MOST_COLUMNS = 64,
    MOST_ELEMENTS = 1024,
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
    d->cut = d->rows > MOST_ROWS || d->columns > MOST_COLUMNS || d->slices > MOST_SLICES;
    if (d->rows > MOST_ROWS) d->rows = MOST_ROWS;
    if (d->columns > MOST_COLUMNS) d->columns = MOST_COLUMNS;
    if (d->slices > MOST_SLICES) d->slices = MOST_SLICES;
}

static bool is_element(const drawing *d, const int64_t *index) {
    for (int i = 0; i < d->layout->rank; i++) {
        if (index[i] >= d->layout->dims[i]) return false;
    }
    return true;
}

/* Which colour: the tile of the index; with several axes, its coordinate on the first one. */
static int64_t colour_of(const drawing *d, const int64_t *index) {
    int64_t point[TS_LAYOUT_MAX_AXES], colour = 0;
    if (d->layout->axis_count > 1) {
        ts_layout_forward(d->layout, index, point);
        return point[0];
    }
    for (int i = 0; i < d->layout->rank; i++) {
        int64_t size = d->t.first[i] > 0 ? d->t.first[i] : d->layout->dims[i];
        colour = colour * 7 + index[i] / size;
    }
    return colour;
}

static void add_box(drawing *d, int64_t x, int64_t y, const int64_t *index, const char *text) {
    ts_text_add(d->out, "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%d\" height=\"%d\" ", x, y,
                CELL_WIDTH, CELL_HEIGHT);
    if (!index) {
        ts_text_add(d->out, "fill=\"url(#padding)\" stroke=\"#bbb\"/>\n");
        return;
    }
    int64_t hue = ts_floor_mod(colour_of(d, index) * GOLDEN_ANGLE + 210, 360);
    ts_text_add(d->out, "fill=\"hsl(%" PRId64 ",60%%,82%%)\" stroke=\"#999\"/>\n", hue);
    int size = strlen(text) > 7 ? 8 : strlen(text) > 5 ? 10 : 12;
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

static void draw_frame(drawing *d, int64_t x, int64_t y, int64_t rows, int64_t columns, const char *colour,
                       int width) {
    ts_text_add(d->out,
                "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%" PRId64 "\" height=\"%" PRId64
                "\" fill=\"none\" stroke=\"%s\" stroke-width=\"%d\"/>\n",
                x, y, columns * CELL_WIDTH, rows * CELL_HEIGHT, colour, width);
}

/* Frames of `high` x `wide` cells over the whole grid; the last ones are cut off at its edge. */
static void draw_frames(drawing *d, int64_t y, int64_t high, int64_t wide, const char *colour, int width) {
    for (int64_t row = 0; row < d->rows; row += high) {
        for (int64_t column = 0; column < d->columns; column += wide) {
            int64_t h = d->rows - row < high ? d->rows - row : high,
                    w = d->columns - column < wide ? d->columns - column : wide;
            draw_frame(d, MARGIN + column * CELL_WIDTH, y + row * CELL_HEIGHT, h, w, colour, width);
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
                    size_in_cells(levels[i], d->column_dim, d->columns), i == 0 ? "#d22" : "#222", 2);
    }
    draw_frame(d, MARGIN, y, d->rows, d->columns, "#222", 2);
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
                draw_cell(d, MARGIN + column * CELL_WIDTH, y + row * CELL_HEIGHT);
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

static void draw_memory(drawing *d, int64_t x, int64_t elements) {
    for (int64_t at = 0; at < elements; at++) {
        ts_index_list found;
        ts_text text;
        ts_text_init(&text, d->arena);
        bool one = ts_layout_backward(NULL, d->arena, d->layout, &at, 1, &found) && found.count == 1;
        for (int i = 0; one && i < d->layout->rank; i++)
            ts_text_add(&text, "%s%" PRId64, i ? "," : "", found.indices[i]);
        add_box(d, x + at % d->t.run * CELL_WIDTH, TITLE + at / d->t.run * CELL_HEIGHT,
                one ? found.indices : NULL, text.bytes);
    }
}

static void add_escaped(ts_text *out, const char *text) {
    for (; *text; text++) {
        if (*text == '<')
            ts_text_add(out, "&lt;");
        else if (*text == '&')
            ts_text_add(out, "&amp;");
        else
            ts_text_add_char(out, *text);
    }
}

static void add_caption(drawing *d, int64_t x, const char *text) {
    ts_text_add(d->out, "<text x=\"%" PRId64 "\" y=\"%d\" font-size=\"13\" text-anchor=\"start\">", x,
                TITLE - 12);
    add_escaped(d->out, text);
    ts_text_add(d->out, "</text>\n");
}

static void add_title(drawing *d) {
    ts_text title;
    ts_text_init(&title, d->arena);
    ts_shape_print(d->shape, &title);
    if (d->layout->axis_count > 1) {
        ts_text_add(&title, "  (");
        for (int i = 0; i < d->layout->axis_count; i++)
            ts_text_add(&title, "%s%s", i ? "," : "", d->layout->axes[i].name);
        ts_text_add(&title, ")");
    }
    if (d->row_step > 1 || d->column_step > 1) {
        ts_text_add(&title, "  a cell is a tile of %" PRId64 " x %" PRId64, d->row_step, d->column_step);
    }
    if (d->cut) ts_text_add(&title, "  (the beginning)");
    add_caption(d, MARGIN, title.bytes);
}

void ts_report_svg(ts_arena *arena, const ts_shape *shape, ts_text *out) {
    drawing *d = TS_NEW(arena, drawing);
    *d = (drawing){.shape = shape, .layout = shape->layout, .arena = arena, .out = out};
    tiling_find(shape, &d->t);
    choose_cells(d);
    int64_t elements, lines = memory_lines(d, &elements), right = MARGIN + d->columns * CELL_WIDTH;
    int64_t high = d->slices * (d->rows + 1) > lines + 1 ? d->slices * (d->rows + 1) : lines + 1;
    int64_t width = lines > 0 ? right + GAP + d->t.run * CELL_WIDTH + MARGIN : right + MARGIN;
    if (width < 560) width = 560; /* room for the title */
    ts_text_add(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId64 "\" height=\"%" PRId64 "\" "
                "font-family=\"sans-serif\" text-anchor=\"middle\">\n",
                width, TITLE + high * CELL_HEIGHT);
    ts_text_add(
        out,
        "<defs><pattern id=\"padding\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#fff\"/>"
        "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#bbb\" stroke-width=\"2\"/></pattern></defs>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    add_title(d);
    if (ts_layout_element_count(d->layout) > 0) draw_grid(d);
    if (lines > 0) draw_memory(d, right + GAP, elements);
    ts_text_add(out, "</svg>\n");
}
