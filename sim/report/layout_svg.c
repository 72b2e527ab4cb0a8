/* The picture of a layout as SVG: how much is padding; the logical grid, coloured by tile or by coordinate;
 * and beside it the memory order, or on several axes the grid of their coordinates. Large arrays are drawn as
 * tiles, the ragged ones in part, with the first one beside them. */
#include <inttypes.h>
#include <string.h>

#include "layout_cells.h"
#include "padding.h"
#include "picture.h"
#include "base/number.h"
#include "report/layout.h"

enum {
    CELL_WIDTH = 44,
    CELL_HEIGHT = 26,
    MARGIN = 24,
    TITLE = 82,
    SHARE_WIDTH = 220, /* of the bar that shows how much is padding */
    GAP = 60,
    LEAST_FILL = 3,  /* pixels of a cell that holds something */
    CUT = 22,        /* between the beginning of a large array and its last cells */
    MOST_CELLS = 64, /* along each side of an array whose cells are elements */
    MOST_TILES = 16, /* of a large array */
    MOST_SLICES = 8,
    MOST_ELEMENTS = 1024,
    GOLDEN_ANGLE = 137,
};

/* Classes of frames. */
static const char tile[] = "tile", sub_tile[] = "inner";

typedef struct {
    cell_grid g;
    ts_arena *arena;
    ts_text *out;
    int64_t left; /* of the grid */
} drawing;

static int64_t pixels_to(const cell_side *s, int64_t cell_size, int64_t position) {
    return position * cell_size + (cells_are_left_out(s) && position + 1 >= s->drawn ? CUT : 0);
}

/* Pixels from the first cell to that column, or row; of all of them, the picture's. */
static int64_t left_of(const drawing *d, int64_t position) {
    return pixels_to(&d->g.columns, CELL_WIDTH, position);
}

static int64_t above(const drawing *d, int64_t position) {
    return pixels_to(&d->g.rows, CELL_HEIGHT, position);
}

/* Of so many elements of a cell, as pixels of the cell. */
static int64_t filled_pixels(int64_t filled, int64_t step, int64_t cell_size) {
    int64_t pixels = filled * cell_size / step;
    return filled > 0 && pixels < LEAST_FILL ? LEAST_FILL : pixels;
}

static void add_rectangle(ts_text *out, int64_t x, int64_t y, int64_t width, int64_t height) {
    ts_text_add(out,
                "<rect x=\"%" PRId64 "\" y=\"%" PRId64 "\" width=\"%" PRId64 "\" height=\"%" PRId64 "\" ", x,
                y, width, height);
}

static void add_padding(ts_text *out, int64_t x, int64_t y) {
    add_rectangle(out, x, y, CELL_WIDTH, CELL_HEIGHT);
    ts_text_add(out, "class=\"edge\" fill=\"url(#padding)\"/>\n");
}

static void add_dashes(ts_text *out, int64_t x, int64_t y) {
    enum { INSET = 3 };
    add_rectangle(out, x + INSET, y + INSET, CELL_WIDTH - 2 * INSET, CELL_HEIGHT - 2 * INSET);
    ts_text_add(out, "fill=\"none\" stroke=\"#333\" stroke-dasharray=\"3 2\"/>\n");
}

/* A cell that holds an element, or of which `width` x `height` pixels do. */
static void add_box(drawing *d, int64_t x, int64_t y, int64_t width, int64_t height, const int64_t *index) {
    cell_hue c = cells_hue(&d->g, index);
    int64_t degrees = ts_floor_mod(c.number % 360 * GOLDEN_ANGLE + 210, 360);
    if (width < CELL_WIDTH || height < CELL_HEIGHT) add_padding(d->out, x, y);
    add_rectangle(d->out, x, y, width, height);
    ts_text_add(d->out, "fill=\"hsl(%" PRId64 ",60%%,%d%%)\" stroke=\"#999\"/>\n", degrees, 82 - 9 * c.shade);
}

/* In hundredths of the size of a wide font: digits, and the points between. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++) width += *text == '.' || *text == ',' ? 32 : 64;
    return width;
}

/* In a cell, made narrower where it would be wider; of the class "cell bare" it is on hatching rather than on
 * the cell's colour. */
static void add_label(drawing *d, int64_t x, int64_t y, const char *class, const char *text) {
    int length = (int)strlen(text), size = length > 9 ? 6 : length > 7 ? 8 : length > 5 ? 10 : 12;
    bool wide = width_of(text) * size > (CELL_WIDTH - 2) * 100;
    ts_text_add(d->out, "<text class=\"%s\" x=\"%" PRId64 "\" y=\"%" PRId64 "\" font-size=\"%d\"", class,
                x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + size / 3, size);
    if (wide) ts_text_add(d->out, " textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\"", CELL_WIDTH - 2);
    ts_text_add(d->out, ">%s</text>\n", text);
}

static void draw_cell(drawing *d, int64_t row, int64_t column, int64_t x, int64_t y) {
    int64_t wide = cells_filled(&d->g, &d->g.columns, column), high = cells_filled(&d->g, &d->g.rows, row);
    cells_go(&d->g, row, column);
    if (!ts_layout_holds(d->g.layout, d->g.index)) {
        add_padding(d->out, x, y);
        return;
    }
    int64_t width = filled_pixels(wide, d->g.columns.step, CELL_WIDTH),
            height = filled_pixels(high, d->g.rows.step, CELL_HEIGHT);
    add_box(d, x, y, width, height, d->g.index);
    bool bare = width * height * 4 < CELL_WIDTH * CELL_HEIGHT * 3;
    add_label(d, x, y, bare ? "cell bare" : "cell", cells_coordinates(d->arena, &d->g));
}

static void draw_frame(drawing *d, int64_t x, int64_t y, int64_t width, int64_t height, const char *class) {
    add_rectangle(d->out, x, y, width, height);
    ts_text_add(d->out, "class=\"%s\" fill=\"none\" stroke-width=\"2\"/>\n", class);
}

/* Frames of `high` x `wide` cells over the whole grid, of which all cells are drawn; the last ones are cut
 * off at its edge. */
static void draw_frames(drawing *d, int64_t y, int64_t high, int64_t wide, const char *class) {
    for (int64_t row = 0; row < d->g.rows.drawn; row += high) {
        for (int64_t column = 0; column < d->g.columns.drawn; column += wide) {
            int64_t h = ts_min(d->g.rows.drawn - row, high), w = ts_min(d->g.columns.drawn - column, wide);
            draw_frame(d, d->left + column * CELL_WIDTH, y + row * CELL_HEIGHT, w * CELL_WIDTH,
                       h * CELL_HEIGHT, class);
        }
    }
}

static int64_t size_in_cells(const int64_t *sizes, const cell_side *s) {
    return s->dim >= 0 && sizes[s->dim] > 0 ? sizes[s->dim] : s->drawn;
}

static bool has_tile(const int64_t *sizes, const cell_side *s) { return s->dim >= 0 && sizes[s->dim] > 0; }

static void draw_borders(drawing *d, int64_t y) {
    const int64_t *levels[2] = {d->g.t.second, d->g.t.first};
    for (int i = 0; i < 2 && !cells_are_tiles(&d->g) && !d->g.cut; i++) {
        if (!has_tile(levels[i], &d->g.rows) && !has_tile(levels[i], &d->g.columns)) continue;
        draw_frames(d, y, size_in_cells(levels[i], &d->g.rows), size_in_cells(levels[i], &d->g.columns),
                    i == 0 ? sub_tile : tile);
    }
    draw_frame(d, d->left, y, left_of(d, d->g.columns.drawn), above(d, d->g.rows.drawn), tile);
}

static void draw_slice(drawing *d, int64_t top) {
    for (int64_t row = 0; row < d->g.rows.drawn; row++)
        for (int64_t column = 0; column < d->g.columns.drawn; column++)
            draw_cell(d, cells_at(&d->g.rows, row), cells_at(&d->g.columns, column),
                      d->left + left_of(d, column), top + above(d, row));
    draw_borders(d, top);
}

/* The slices of the array, one below the other; returns where they end. */
static int64_t draw_grid(drawing *d) {
    int64_t y = TITLE;
    for (int64_t slice = 0; slice < d->g.slices; slice++) {
        draw_slice(d, y);
        y += above(d, d->g.rows.drawn) + CELL_HEIGHT;
        cells_next_slice(&d->g);
    }
    return y;
}

/* What memory holds in order, `run` cells a line; 0 lines where that is not drawn. */
static int64_t memory_lines(const drawing *d, int64_t *elements) {
    int64_t low, high;
    *elements = 0;
    if (d->g.layout->axis_count != 1 || cells_are_tiles(&d->g) || d->g.cut) return 0;
    ts_layout_axis_range(d->g.layout, 0, &low, &high);
    if (low < 0 || high >= MOST_ELEMENTS) return 0;
    *elements = high + 1;
    return ts_ceil_div(*elements, d->g.t.run);
}

/* Is the element's own place another one? */
static bool is_replica(const ts_layout *layout, const int64_t *index, const int64_t *point) {
    int64_t own[TS_LAYOUT_MAX_AXES];
    ts_layout_forward(layout, index, own);
    return memcmp(own, point, (size_t)layout->axis_count * sizeof *own) != 0;
}

/* What is at a point: the index of the element, "+" behind it where there are more, in dashes where it is a
 * replica, or padding. */
static void draw_point(drawing *d, int64_t x, int64_t y, const int64_t *point) {
    ts_index_list found;
    ts_text text = ts_text_begin(d->arena);
    bool known =
        ts_layout_backward(NULL, d->arena, d->g.layout, point, MOST_ELEMENTS, &found) && found.count > 0;
    if (known) ts_text_add_integers(&text, found.indices, d->g.layout->rank);
    if (known && found.count > 1) ts_text_add_char(&text, '+');
    if (!known) {
        add_padding(d->out, x, y);
        return;
    }
    add_box(d, x, y, CELL_WIDTH, CELL_HEIGHT, found.indices);
    if (is_replica(d->g.layout, found.indices, point)) add_dashes(d->out, x, y);
    add_label(d, x, y, "cell", text.bytes);
}

static void draw_memory(drawing *d, int64_t x, int64_t elements) {
    for (int64_t at = 0; at < elements; at++)
        draw_point(d, x + at % d->g.t.run * CELL_WIDTH, TITLE + at / d->g.t.run * CELL_HEIGHT, &at);
}

static void add_title(drawing *d, int64_t x, int64_t y, const char *text) {
    picture_text(d->out, x, y, &(picture_font){.pixels = 13}, "%s", ts_text_escaped(d->arena, text));
}

/* A pixel of what is there at all; of no bytes, all. */
static int64_t share_pixels(int64_t part_bytes, int64_t bytes) {
    int64_t pixels = (int64_t)(ts_fraction(ts_min(part_bytes, bytes), bytes) * SHARE_WIDTH + 0.5);
    if (bytes <= 0) return SHARE_WIDTH;
    return part_bytes > 0 ? ts_max(1, pixels) : 0;
}

/* A bar of all bytes, of which those that hold nothing are hatched and replicas light, and their share; returns
 * how wide that is. */
static int64_t draw_share(drawing *d) {
    enum { TOP = 38, HEIGHT = 14, LEAST_TEXT = 360, CHARACTER = 7 };
    const ts_shape *shape = d->g.shape;
    int64_t replicas = report_replica_bytes(shape), all = shape->storage_bytes;
    int64_t held = share_pixels(report_held_bytes(shape), all),
            data = share_pixels(shape->unpadded_bytes, all);
    const char *text = report_padding_text(d->arena, shape);
    add_rectangle(d->out, MARGIN, TOP, SHARE_WIDTH, HEIGHT);
    ts_text_add(d->out, "class=\"share edge\" fill=\"url(#padding)\"/>\n");
    if (replicas > 0) {
        add_rectangle(d->out, MARGIN, TOP, held, HEIGHT);
        ts_text_add(d->out, "class=\"share\" fill=\"hsl(210,60%%,82%%)\"/>\n");
    }
    add_rectangle(d->out, MARGIN, TOP, data, HEIGHT);
    ts_text_add(d->out, "class=\"share\" fill=\"hsl(210,60%%,62%%)\"/>\n");
    picture_text(d->out, MARGIN + SHARE_WIDTH + 10, TOP + 11, &(picture_font){.pixels = 12}, "%s", text);
    return SHARE_WIDTH + ts_max(LEAST_TEXT, (int64_t)strlen(text) * CHARACTER);
}

/* The shape, what its cells are, and which axes go where. */
static ts_text title_of(const drawing *d) {
    ts_text title = ts_text_begin(d->arena);
    ts_shape_print(d->g.shape, &title);
    if (d->g.layout->axis_count > 1) {
        ts_text_add(&title, "  (");
        for (int i = 0; i < d->g.layout->axis_count; i++)
            ts_text_add(&title, "%s%s", i ? "," : "", d->g.layout->axes[i].name);
        ts_text_add(&title, "); beside it %s down, %s across",
                    d->g.layout->axes[cells_colour_axis(&d->g)].name, d->g.layout->axes[d->g.fast_axis].name);
    }
    if (cells_are_tiles(&d->g))
        ts_text_add(&title, ", a cell is a tile of %" PRId64 " x %" PRId64 ", beside it the first one",
                    d->g.rows.step, d->g.columns.step);
    if (d->g.cut) ts_text_add(&title, "  (the beginning, and the last)");
    return title;
}

/* ---- Several axes ---- */

/* The grid of coordinates: one axis down and one across, a panel for each point on the others. */
typedef struct {
    int row_axis, column_axis;
    int64_t low[TS_LAYOUT_MAX_AXES], high[TS_LAYOUT_MAX_AXES];
    int64_t rows, columns, panels;
} axis_grid;

static bool choose_axes(const drawing *d, axis_grid *g) {
    *g = (axis_grid){.row_axis = cells_colour_axis(&d->g), .column_axis = d->g.fast_axis, .panels = 1};
    if (d->g.layout->axis_count < 2 || cells_are_tiles(&d->g) || d->g.cut) return false;
    for (int i = 0; i < d->g.layout->axis_count; i++) {
        ts_layout_axis_range(d->g.layout, i, &g->low[i], &g->high[i]);
        int64_t extent = g->high[i] - g->low[i] + 1;
        if (extent > MOST_CELLS) return false;
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
    for (int i = d->g.layout->axis_count - 1; i >= 0; i--) {
        if (i == g->row_axis || i == g->column_axis) continue;
        int64_t extent = g->high[i] - g->low[i] + 1;
        point[i] = g->low[i] + panel % extent;
        panel /= extent;
        ts_text_add(name, "%s%s %" PRId64, name->length ? ", " : "", d->g.layout->axes[i].name, point[i]);
    }
}

static void draw_axes(drawing *d, const axis_grid *g, int64_t x) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    for (int64_t panel = 0; panel < g->panels; panel++, x += panel_width(g)) {
        ts_text name = ts_text_begin(d->arena);
        name_panel(d, g, panel, point, &name);
        if (name.length > 0) add_title(d, x, TITLE - 12, name.bytes);
        for (int64_t i = 0; i < g->rows * g->columns; i++) {
            point[g->row_axis] = g->low[g->row_axis] + i / g->columns;
            point[g->column_axis] = g->low[g->column_axis] + i % g->columns;
            draw_point(d, x + i % g->columns * CELL_WIDTH, TITLE + i / g->columns * CELL_HEIGHT, point);
        }
        draw_frame(d, x, TITLE, g->columns * CELL_WIDTH, g->rows * CELL_HEIGHT, tile);
    }
}

/* ---- Large arrays: what the first tile holds ---- */

static cell_side detail_of(const drawing *d, const cell_side *s) {
    int64_t cells = ts_min(ts_min(cells_extent(&d->g, s->dim), s->step), MOST_TILES);
    return (cell_side){.dim = s->dim, .step = 1, .total = cells, .drawn = cells};
}

static void choose_detail(const drawing *d, drawing *detail, int64_t left) {
    *detail = *d;
    detail->left = left;
    detail->g.rows = detail_of(d, &d->g.rows);
    detail->g.columns = detail_of(d, &d->g.columns);
    detail->g.slices = 1;
    detail->g.cut = false;
    memset(detail->g.index, 0, sizeof detail->g.index);
}

/* ---- The whole ---- */

/* What lies beside the grid, from `left` on: memory in its order, the grid of several axes, or the first
 * tile. Sets where the drawing ends. */
static void draw_beside(drawing *d, int64_t left, int64_t *right, int64_t *bottom) {
    axis_grid axes;
    drawing detail;
    int64_t elements, lines = memory_lines(d, &elements);
    if (lines > 0) {
        draw_memory(d, left, elements);
        *right = left + d->g.t.run * CELL_WIDTH;
        *bottom = ts_max(*bottom, TITLE + (lines + 1) * CELL_HEIGHT);
    } else if (choose_axes(d, &axes)) {
        draw_axes(d, &axes, left);
        *right = left + axes.panels * panel_width(&axes);
        *bottom = ts_max(*bottom, TITLE + (axes.rows + 1) * CELL_HEIGHT);
    } else if (cells_are_tiles(&d->g)) {
        choose_detail(d, &detail, left);
        *right = left + detail.g.columns.drawn * CELL_WIDTH;
        *bottom = ts_max(*bottom, draw_grid(&detail));
    }
}

/* Into d->out, from the top; sets the pixels that it takes. */
static void draw_shape(ts_arena *arena, const ts_shape *shape, ts_text *out, int64_t *width,
                       int64_t *height) {
    enum { TITLE_CHARACTER = 7 };
    static const cell_limits most = {MOST_CELLS, MOST_CELLS, MOST_TILES, MOST_TILES, MOST_SLICES};
    drawing *d = TS_NEW(arena, drawing);
    *d = (drawing){.arena = arena, .out = out, .left = MARGIN};
    cells_choose(arena, shape, &most, &d->g);
    ts_text title = title_of(d);
    int64_t right = MARGIN + left_of(d, d->g.columns.drawn), bottom = TITLE + CELL_HEIGHT;
    add_title(d, MARGIN, 24, title.bytes);
    if (ts_layout_element_count(d->g.layout) > 0) {
        bottom = draw_grid(d);
        memset(d->g.index, 0, sizeof d->g.index);
        draw_beside(d, right + GAP, &right, &bottom);
    }
    *width = ts_max(ts_max(right, (int64_t)title.length * TITLE_CHARACTER), draw_share(d)) + MARGIN;
    *height = bottom;
}

void ts_report_svg(ts_arena *arena, int count, const ts_shape *const *shapes, ts_text *out) {
    int64_t width = 0, height = 0, w, h;
    ts_text content = ts_text_begin(arena);
    for (int i = 0; i < count; i++) {
        ts_text_add(&content, "<g transform=\"translate(0 %" PRId64 ")\">\n", height);
        draw_shape(arena, shapes[i], &content, &w, &h);
        ts_text_add(&content, "</g>\n");
        width = ts_max(width, w);
        height += h;
    }
    picture_begin(out, width, height, NULL);
    ts_text_add_bytes(out, content.bytes, content.length);
    picture_end(out);
}
