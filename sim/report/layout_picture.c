/* The picture of a small array: a grid of offsets with the borders of its tiles, and what memory holds in
 * order. */
#include <inttypes.h>

#include "layout_cells.h"
#include "report/layout.h"

enum { MAX_WIDTH = 98, MAX_ROWS = 64, MAX_SLICES = 8, MAX_ELEMENTS = 1024 };

typedef struct {
    cell_grid cells;
    int digits; /* of the widest offset */
} grid;

/* What is before the i-th row or column: 1 a first tile's border, 2 a second's, 0 nothing. */
static int border(const grid *g, const cell_side *side, int64_t i) {
    const tiling *t = &g->cells.t;
    if (side->dim < 0 || t->first[side->dim] == 0) return 0;
    if (i % t->first[side->dim] == 0) return 1;
    return t->second[side->dim] > 0 && i % t->first[side->dim] % t->second[side->dim] == 0 ? 2 : 0;
}

/* What is behind a column; the last one is behind a border. */
static int edge_of(const grid *g, int64_t column) {
    const cell_side *side = &g->cells.columns;
    return column + 1 == side->drawn ? 1 : border(g, side, column + 1);
}

/* One row of offsets: "|  0  1 |  4  5 |  8  . |". */
static void draw_cells(grid *g, int64_t row, ts_text *out) {
    static const char between[] = {'\0', '|', ':'};
    ts_text_add_char(out, '|');
    for (int64_t column = 0; column < g->cells.columns.drawn; column++) {
        int64_t offset;
        cells_go(&g->cells, row, column);
        if (ts_layout_holds(g->cells.layout, g->cells.index)) {
            ts_layout_forward(g->cells.layout, g->cells.index, &offset);
            ts_text_add(out, " %*" PRId64, g->digits, offset);
        } else {
            ts_text_add(out, " %*s", g->digits, ".");
        }
        int edge = edge_of(g, column);
        if (edge > 0) ts_text_add(out, " %c", between[edge]);
    }
}

typedef enum { DOTTED, SOLID } line_style;

/* The line between rows: full (of the first tile) or broken. */
static void draw_line(const grid *g, line_style style, ts_text *out) {
    size_t start = out->length;
    ts_text_add_char(out, style == SOLID ? '+' : '|');
    for (int64_t column = 0; column < g->cells.columns.drawn; column++) {
        int edge = edge_of(g, column);
        for (int i = 0; i < g->digits + 1 + (edge > 0); i++)
            ts_text_add_char(out, style == SOLID || (out->length - start) % 2 == 1 ? '-' : ' ');
        if (edge > 0)
            ts_text_add_char(out, edge == 2 ? (style == SOLID ? '-' : ':') : style == SOLID ? '+' : '|');
    }
}

/* The grid of the slice that `index` says, as lines. */
static void draw_slice(grid *g, ts_text *lines, int *count) {
    draw_line(g, SOLID, &lines[(*count)++]);
    for (int64_t row = 0; row < g->cells.rows.drawn; row++) {
        int edge = row == 0 ? 0 : border(g, &g->cells.rows, row);
        if (edge > 0) draw_line(g, edge == 1 ? SOLID : DOTTED, &lines[(*count)++]);
        draw_cells(g, row, &lines[(*count)++]);
    }
    draw_line(g, SOLID, &lines[(*count)++]);
}

static void add_slice_title(const grid *g, ts_text *out) {
    ts_text_add_char(out, '[');
    for (int i = 0; i < g->cells.rows.dim; i++) ts_text_add(out, "%" PRId64 ",", g->cells.index[i]);
    ts_text_add(out, ":,:]");
}

/* What memory holds: a line for each run, with the offset of its first element. */
static int draw_memory(ts_arena *arena, const grid *g, int64_t elements, ts_text *lines) {
    size_t width = 1;
    ts_text *cells = TS_NEW_ARRAY(arena, ts_text, elements);
    for (int64_t at = 0; at < elements; at++) {
        ts_index_list found;
        cells[at] = ts_text_begin(arena);
        bool fits = ts_layout_backward(NULL, arena, g->cells.layout, &at, 1, &found);
        if (fits && found.count == 1)
            ts_text_add_tuple(&cells[at], found.indices, g->cells.layout->rank);
        else
            ts_text_add_char(&cells[at], fits ? '.' : '?');
        if (cells[at].length > width) width = cells[at].length;
    }
    int64_t run = g->cells.t.run, line = 0;
    while (run > 4 && (width + 1) * (size_t)run > MAX_WIDTH - 10) run = (run + 1) / 2;
    for (int64_t at = 0; at < elements; at++) {
        line = at / run;
        if (at % run == 0) ts_text_add(&lines[line], "%*" PRId64 " ", g->digits, at);
        ts_text_add(&lines[line], " %*s", (int)width, cells[at].bytes);
    }
    return (int)line + 1;
}

static size_t widest(const ts_text *lines, int count) {
    size_t width = 0;
    for (int i = 0; i < count; i++) width = lines[i].length > width ? lines[i].length : width;
    return width;
}

/* Beside each other where that fits, else one below the other. */
static void join_lines(const ts_text *left, int left_count, const ts_text *right, int right_count,
                       ts_text *out) {
    int width = (int)widest(left, left_count);
    bool beside = (size_t)width + 3 + widest(right, right_count) <= MAX_WIDTH;
    for (int i = 0; i < left_count || (beside && i < right_count); i++) {
        const char *first = i < left_count ? left[i].bytes : "";
        if (beside && i < right_count)
            ts_text_add(out, "  %-*s   %s\n", width, first, right[i].bytes);
        else
            ts_text_add(out, "  %s\n", first);
    }
    for (int i = 0; !beside && i < right_count; i++)
        ts_text_add(out, "%s  %s\n", i == 0 ? "\n" : "", right[i].bytes);
}

/* False: not all of its elements can be drawn. */
static bool prepare(ts_arena *arena, const ts_shape *shape, int64_t elements, grid *g) {
    static const cell_limits most = {MAX_ROWS, MAX_WIDTH, 1, 1, MAX_SLICES};
    cells_choose(arena, shape, &most, &g->cells);
    g->digits = 1;
    for (int64_t last = elements - 1; last > 9; last /= 10) g->digits++;
    return !g->cells.cut && !cells_are_tiles(&g->cells) && g->cells.rows.drawn * g->cells.slices <= MAX_ROWS;
}

static ts_text *new_lines(ts_arena *arena, int64_t count) {
    ts_text *lines = TS_NEW_ARRAY(arena, ts_text, count);
    for (int64_t i = 0; i < count; i++) lines[i] = ts_text_begin(arena);
    return lines;
}

bool ts_report_picture(ts_arena *arena, const ts_shape *shape, ts_text *out) {
    const ts_layout *layout = shape->layout;
    if (layout->axis_count != 1 || ts_layout_element_count(layout) == 0) return false;
    int64_t low, high;
    ts_layout_axis_range(layout, 0, &low, &high);
    if (low < 0 || high >= MAX_ELEMENTS) return false;
    int64_t elements = high + 1;
    grid g;
    if (!prepare(arena, shape, elements, &g)) return false;
    int64_t room = g.cells.slices * (2 * g.cells.rows.drawn + 3) + 2;
    ts_text *left = new_lines(arena, room), *right = new_lines(arena, elements + 1);
    int count = 0;
    ts_text_add(&left[count++], "offset of each element ('.' is padding)");
    do {
        if (g.cells.slices > 1) add_slice_title(&g, &left[count++]);
        draw_slice(&g, left, &count);
    } while (cells_next_slice(&g.cells));
    if (widest(left, count) > MAX_WIDTH) return false;
    ts_text_add(&right[0], "memory order");
    int lines = 1 + draw_memory(arena, &g, elements, right + 1);
    join_lines(left, count, right, lines, out);
    return true;
}
