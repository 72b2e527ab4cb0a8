/* The picture of a layout as SVG: how much is padding; the logical grid, coloured by tile or by coordinate; and
 * beside it the memory order, or on several axes the grid of their coordinates. Large arrays are drawn as tiles,
 * the ragged ones in part, with the first one beside them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "layout_tiling.h"
#include "padding.h"
#include "base/number.h"
#include "report/layout.h"

enum {
    CELL_WIDTH = 44,
    CELL_HEIGHT = 26,
    MARGIN = 24,
    TITLE = 82,
    SHARE_WIDTH = 220, /* of the bar that shows how much is padding */
    GAP = 60,
    LEAST_FILL = 3, /* pixels of a cell that holds something */
    CUT = 22,       /* between the beginning of a large array and its last cells */
    MOST_ROWS = 64,
    MOST_COLUMNS = 64,
    MOST_ELEMENTS = 1024,
    MOST_TILES = 16, /* of a large array, along each side */
    MOST_SLICES = 8,
    GOLDEN_ANGLE = 137,
};

/* Colours of frames. */
#define TILE     "#222"
#define SUB_TILE "#d22"

/* The cells along one side of the grid. */
typedef struct {
    int dim;              /* -1: the array has too few dims */
    int64_t step;         /* elements a cell stands for: 1, or a tile */
    int64_t total, drawn; /* cells; of fewer that are drawn the last is the last of all */
    int64_t size;         /* of a cell, in pixels */
} side;

typedef struct {
    const ts_shape *shape;
    const ts_layout *layout;
    ts_arena *arena;
    ts_text *out;
    tiling t;
    side rows, columns;
    int64_t slices; /* drawn */
    bool cut;       /* there are more than are drawn */
    int64_t left;   /* of the grid */
    int fast_axis;  /* of several: the one of the last digit, which no colour shows */
    int64_t index[TS_LAYOUT_MAX_DIMS];
} drawing;

static int64_t extent_of(const drawing *d, int dim) { return dim < 0 ? 1 : d->t.drawn[dim]; }

static bool in_tiles(const drawing *d) { return d->rows.step > 1 || d->columns.step > 1; }

/* Cells of one element where the array is small, of one tile where it is not. */
static side choose_side(const drawing *d, int dim, bool small, int64_t size) {
    side s = {.dim = dim, .step = 1, .size = size};
    if (!small && dim >= 0 && d->t.first[dim] > 0) s.step = d->t.first[dim];
    s.total = s.drawn = ts_ceil_div(extent_of(d, dim), s.step);
    if (!small && s.drawn > MOST_TILES) s.drawn = MOST_TILES;
    return s;
}

static void choose_cells(drawing *d) {
    int rank = d->layout->rank, row_dim = rank > 1 ? rank - 2 : -1, column_dim = rank - 1;
    bool small = extent_of(d, row_dim) <= MOST_ROWS && extent_of(d, column_dim) <= MOST_COLUMNS;
    d->rows = choose_side(d, row_dim, small, CELL_HEIGHT);
    d->columns = choose_side(d, column_dim, small, CELL_WIDTH);
    d->slices = 1;
    for (int i = 0; i < row_dim; i++)
        d->slices = d->slices > MOST_SLICES ? d->slices : d->slices * d->layout->dims[i];
    d->cut = d->rows.drawn < d->rows.total || d->columns.drawn < d->columns.total || d->slices > MOST_SLICES;
    if (d->slices > MOST_SLICES) d->slices = MOST_SLICES;
}

/* The cell that is drawn at a position, and the pixels in front of it. */
static int64_t cell_at(const side *s, int64_t position) {
    return position + 1 == s->drawn ? s->total - 1 : position;
}

static int64_t pixels_to(const side *s, int64_t position) {
    return position * s->size + (s->drawn < s->total && position + 1 >= s->drawn ? CUT : 0);
}

/* Of the elements that a cell stands for, those inside the array, as pixels of the cell. */
static int64_t filled_pixels(const drawing *d, const side *s, int64_t cell) {
    int64_t extent = s->dim < 0 ? 1 : d->layout->dims[s->dim];
    int64_t inside = extent - cell * s->step, pixels;
    if (inside >= s->step) return s->size;
    pixels = inside * s->size / s->step;
    return inside <= 0 ? 0 : pixels < LEAST_FILL ? LEAST_FILL : pixels;
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
    if (d->layout->swizzle.present && d->columns.dim >= 0)
        return (hue){index[d->columns.dim] >> d->layout->swizzle.keep, 0};
    for (int i = 0; i < d->layout->rank; i++) {
        int64_t size = d->t.first[i] > 0 ? d->t.first[i] : d->layout->dims[i];
        number = number * 7 + index[i] / size;
    }
    return (hue){number, 0};
}

static void add_rectangle(ts_text *out, int64_t x, int64_t y, int64_t width, int64_t height) {
    ts_text_add(out,
                "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%" PRId64 "\" height=\"%" PRId64 "\" ", x,
                y, width, height);
}

static void add_padding(ts_text *out, int64_t x, int64_t y) {
    add_rectangle(out, x, y, CELL_WIDTH, CELL_HEIGHT);
    ts_text_add(out, "fill=\"url(#padding)\" stroke=\"#bbb\"/>\n");
}

/* A cell that holds an element, or of which `width` x `height` pixels do. */
static void add_box(drawing *d, int64_t x, int64_t y, int64_t width, int64_t height, const int64_t *index) {
    hue c = colour_of(d, index);
    int64_t degrees = ts_floor_mod(c.number % 360 * GOLDEN_ANGLE + 210, 360);
    if (width < CELL_WIDTH || height < CELL_HEIGHT) add_padding(d->out, x, y);
    add_rectangle(d->out, x, y, width, height);
    ts_text_add(d->out, "fill=\"hsl(%" PRId64 ",60%%,%d%%)\" stroke=\"#999\"/>\n", degrees, 82 - 9 * c.shade);
}

static void add_label(drawing *d, int64_t x, int64_t y, const char *text) {
    int size = strlen(text) > 9 ? 6 : strlen(text) > 7 ? 8 : strlen(text) > 5 ? 10 : 12;
    ts_text_add(d->out,
                "<text class=\"cell\" x=\"%" PRId64 "\" y=\"%" PRId64 "\" font-size=\"%d\">%s</text>\n",
                x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + size / 3, size, text);
}

/* The coordinates of an index: "17", or "6,8,1" on several axes. */
static void add_place(const drawing *d, const int64_t *index, ts_text *out) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    ts_layout_forward(d->layout, index, point);
    for (int i = 0; i < d->layout->axis_count; i++) ts_text_add(out, "%s%" PRId64, i ? "," : "", point[i]);
}

static void draw_cell(drawing *d, int64_t row, int64_t column, int64_t x, int64_t y) {
    ts_text text;
    int64_t width = filled_pixels(d, &d->columns, column), height = filled_pixels(d, &d->rows, row);
    if (width == 0 || height == 0 || !is_element(d, d->index)) {
        add_padding(d->out, x, y);
        return;
    }
    ts_text_init(&text, d->arena);
    add_place(d, d->index, &text);
    add_box(d, x, y, width, height, d->index);
    add_label(d, x, y, text.bytes);
}

static void draw_frame(drawing *d, int64_t x, int64_t y, int64_t width, int64_t height, const char *colour) {
    add_rectangle(d->out, x, y, width, height);
    ts_text_add(d->out, "class=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
                strcmp(colour, TILE) == 0 ? "tile" : "inner", colour);
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Frames of `high` x `wide` cells over the whole grid, of which all cells are drawn; the last ones are cut off at
 * its edge. */
static void draw_frames(drawing *d, int64_t y, int64_t high, int64_t wide, const char *colour) {
    for (int64_t row = 0; row < d->rows.drawn; row += high) {
        for (int64_t column = 0; column < d->columns.drawn; column += wide) {
            int64_t h = smaller(d->rows.drawn - row, high), w = smaller(d->columns.drawn - column, wide);
            draw_frame(d, d->left + column * CELL_WIDTH, y + row * CELL_HEIGHT, w * CELL_WIDTH,
                       h * CELL_HEIGHT, colour);
        }
    }
}

static int64_t size_in_cells(const int64_t *sizes, const side *s) {
    return s->dim >= 0 && sizes[s->dim] > 0 ? sizes[s->dim] : s->drawn;
}

static bool has_tile(const int64_t *sizes, const side *s) { return s->dim >= 0 && sizes[s->dim] > 0; }

static void draw_borders(drawing *d, int64_t y) {
    const int64_t *levels[2] = {d->t.second, d->t.first};
    for (int i = 0; i < 2 && !in_tiles(d) && !d->cut; i++) {
        if (!has_tile(levels[i], &d->rows) && !has_tile(levels[i], &d->columns)) continue;
        draw_frames(d, y, size_in_cells(levels[i], &d->rows), size_in_cells(levels[i], &d->columns),
                    i == 0 ? SUB_TILE : TILE);
    }
    draw_frame(d, d->left, y, pixels_to(&d->columns, d->columns.drawn), pixels_to(&d->rows, d->rows.drawn),
               TILE);
}

static bool next_slice(drawing *d) {
    for (int i = d->rows.dim - 1; i >= 0; i--) {
        if (++d->index[i] < d->layout->dims[i]) return true;
        d->index[i] = 0;
    }
    return false;
}

static void draw_slice(drawing *d, int64_t top) {
    for (int64_t i = 0; i < d->rows.drawn; i++) {
        int64_t row = cell_at(&d->rows, i), y = top + pixels_to(&d->rows, i);
        for (int64_t k = 0; k < d->columns.drawn; k++) {
            int64_t column = cell_at(&d->columns, k);
            if (d->rows.dim >= 0) d->index[d->rows.dim] = row * d->rows.step;
            if (d->columns.dim >= 0) d->index[d->columns.dim] = column * d->columns.step;
            draw_cell(d, row, column, d->left + pixels_to(&d->columns, k), y);
        }
    }
    draw_borders(d, top);
}

/* The slices of the array, one below the other; returns where they end. */
static int64_t draw_grid(drawing *d) {
    int64_t y = TITLE;
    for (int64_t slice = 0; slice < d->slices; slice++) {
        draw_slice(d, y);
        y += pixels_to(&d->rows, d->rows.drawn) + CELL_HEIGHT;
        next_slice(d);
    }
    return y;
}

/* What memory holds in order, `run` cells a line; 0 lines where that is not drawn. */
static int64_t memory_lines(const drawing *d, int64_t *elements) {
    int64_t low, high;
    *elements = 0;
    if (d->layout->axis_count != 1 || in_tiles(d) || d->cut) return 0;
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
    if (!known) {
        add_padding(d->out, x, y);
        return;
    }
    add_box(d, x, y, CELL_WIDTH, CELL_HEIGHT, found.indices);
    add_label(d, x, y, text.bytes);
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

static void add_title_line(drawing *d, int64_t y, const char *text) {
    ts_text_add(d->out, "<text x=\"%d\" y=\"%" PRId64 "\" font-size=\"13\" text-anchor=\"start\">", MARGIN,
                y);
    ts_text_add_escaped(d->out, text);
    ts_text_add(d->out, "</text>\n");
}

/* A bar of all bytes, of which those that hold nothing are hatched, and their share. */
static void draw_share(drawing *d) {
    enum { TOP = 38, HEIGHT = 14 };
    double percent = report_padding_percent(d->shape->unpadded_bytes, d->shape->storage_bytes);
    int64_t used = (int64_t)((100 - percent) / 100 * SHARE_WIDTH + 0.5);
    ts_text text;
    char unpadded[32], stored[32];
    ts_text_init(&text, d->arena);
    add_rectangle(d->out, MARGIN, TOP, SHARE_WIDTH, HEIGHT);
    ts_text_add(d->out, "class=\"share\" fill=\"url(#padding)\" stroke=\"#999\"/>\n");
    add_rectangle(d->out, MARGIN, TOP, used == 0 && percent < 100 ? 1 : used, HEIGHT);
    ts_text_add(d->out, "class=\"share\" fill=\"hsl(210,60%%,62%%)\"/>\n");
    ts_text_add(&text, "%.1f %% padding: ", percent);
    ts_text_add(&text, "%s of %s bytes hold elements",
                ts_text_group_digits(unpadded, d->shape->unpadded_bytes),
                ts_text_group_digits(stored, d->shape->storage_bytes));
    ts_text_add(d->out, "<text x=\"%d\" y=\"%d\" font-size=\"12\" text-anchor=\"start\">%s</text>\n",
                MARGIN + SHARE_WIDTH + 10, TOP + 11, text.bytes);
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
    if (in_tiles(d))
        ts_text_add(&title, ", a cell is a tile of %" PRId64 " x %" PRId64 ", beside it the first one",
                    d->rows.step, d->columns.step);
    if (d->cut) ts_text_add(&title, "  (the beginning, and the last)");
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
    if (d->layout->axis_count < 2 || in_tiles(d) || d->cut) return false;
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
        draw_frame(d, x, TITLE, g->columns * CELL_WIDTH, g->rows * CELL_HEIGHT, TILE);
    }
}

/* ---- Large arrays: what the first tile holds ---- */

static side detail_of(const drawing *d, const side *s) {
    side one = {.dim = s->dim, .step = 1, .size = s->size};
    one.drawn = smaller(smaller(extent_of(d, s->dim), s->step), MOST_TILES);
    one.total = one.drawn;
    return one;
}

static void choose_detail(const drawing *d, drawing *detail, int64_t left) {
    *detail = *d;
    detail->left = left;
    detail->rows = detail_of(d, &d->rows);
    detail->columns = detail_of(d, &d->columns);
    detail->slices = 1;
    detail->cut = false;
    memset(detail->index, 0, sizeof detail->index);
}

/* ---- The whole ---- */

/* Colours for dark pages; cells keep theirs, with dark numbers. */
static const char head[] =
    "<style>text{fill:#222}text.cell{fill:#111;paint-order:stroke;stroke:#fff;stroke-opacity:.7;stroke-width:"
    "2px}\n"
    "@media(prefers-color-scheme:dark){.page{fill:#16181d}text{fill:#e4e6eb}.tile{stroke:#f2f4f8}"
    ".hatch{fill:#24272e}.lines{stroke:#5a606c}}</style>\n"
    "<defs><pattern id=\"padding\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect class=\"hatch\" width=\"6\" height=\"6\" fill=\"#fff\"/>"
    "<line class=\"lines\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#bbb\" "
    "stroke-width=\"2\"/></pattern></defs>\n";

static void open_image(ts_text *out, int64_t width, int64_t height) {
    ts_text_add(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRId64 "\" height=\"%" PRId64
                "\" viewBox=\"0 0 %" PRId64 " %" PRId64 "\" "
                "style=\"max-width:100%%;height:auto\" font-family=\"sans-serif\" text-anchor=\"middle\">\n",
                width, height, width, height);
    ts_text_add(out, "%s", head);
    ts_text_add(out, "<rect class=\"page\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* What lies beside the grid, from `left` on: memory in its order, the grid of several axes, or the first tile.
 * Sets where the drawing ends. */
static void draw_beside(drawing *d, int64_t left, int64_t *right, int64_t *bottom) {
    axis_grid axes;
    drawing detail;
    int64_t elements, lines = memory_lines(d, &elements);
    if (lines > 0) {
        draw_memory(d, left, elements);
        *right = left + d->t.run * CELL_WIDTH;
        *bottom = larger(*bottom, TITLE + (lines + 1) * CELL_HEIGHT);
    } else if (choose_axes(d, &axes)) {
        draw_axes(d, &axes, left);
        *right = left + axes.panels * panel_width(&axes);
        *bottom = larger(*bottom, TITLE + (axes.rows + 1) * CELL_HEIGHT);
    } else if (in_tiles(d)) {
        choose_detail(d, &detail, left);
        *right = left + detail.columns.drawn * CELL_WIDTH;
        *bottom = larger(*bottom, draw_grid(&detail));
    }
}

/* Into d->out, from the top; sets the pixels that it takes. */
static void draw_shape(ts_arena *arena, const ts_shape *shape, ts_text *out, int64_t *width,
                       int64_t *height) {
    enum { TITLE_CHARACTER = 7, SHARE_TEXT = 360 };
    drawing *d = TS_NEW(arena, drawing);
    *d = (drawing){.shape = shape, .layout = shape->layout, .arena = arena, .out = out, .left = MARGIN};
    d->fast_axis = find_fast_axis(shape->layout);
    tiling_find(arena, shape, &d->t);
    choose_cells(d);
    ts_text title = title_of(d);
    int64_t right = MARGIN + pixels_to(&d->columns, d->columns.drawn), bottom = TITLE + CELL_HEIGHT;
    add_title_line(d, 24, title.bytes);
    if (ts_layout_element_count(d->layout) > 0) {
        bottom = draw_grid(d);
        memset(d->index, 0, sizeof d->index);
        draw_beside(d, right + GAP, &right, &bottom);
    }
    draw_share(d);
    *width =
        larger(larger(right, (int64_t)title.length * TITLE_CHARACTER), SHARE_WIDTH + SHARE_TEXT) + MARGIN;
    *height = bottom;
}

void ts_report_svg(ts_arena *arena, int count, const ts_shape *const *shapes, ts_text *out) {
    int64_t width = 0, height = 0, w, h;
    ts_text content;
    ts_text_init(&content, arena);
    for (int i = 0; i < count; i++) {
        ts_text_add(&content, "<g transform=\"translate(0 %" PRId64 ")\">\n", height);
        draw_shape(arena, shapes[i], &content, &w, &h);
        ts_text_add(&content, "</g>\n");
        width = larger(width, w);
        height += h;
    }
    open_image(out, width, height);
    ts_text_add_bytes(out, content.bytes, content.length);
    ts_text_add(out, "</svg>\n");
}
