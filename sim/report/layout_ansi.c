/* The picture of a layout for a terminal: cells with the colour of their tile, padding hatched. */
#include <inttypes.h>
#include <string.h>

#include "layout_cells.h"
#include "padding.h"
#include "report/layout.h"

/* Of the 256 colours of terminals (ECMA-48, "48;5;n"): light ones, for dark digits. */
static const int colours[] = {153, 223, 157, 217, 189, 229, 159, 225, 194, 216, 195, 183};
enum { COLOURS = sizeof colours / sizeof *colours };

typedef struct {
    cell_grid g;
    ts_text *out;
    size_t width; /* of a cell, with the blank in front of its number */
} terminal;

/* The widest number: that of an element at an end of an axis. */
static size_t find_width(const cell_grid *g, ts_arena *arena) {
    ts_text text = ts_text_begin(arena);
    for (int i = 0; i < g->layout->axis_count; i++) {
        int64_t low, high;
        ts_layout_axis_range(g->layout, i, &low, &high);
        ts_text_add(&text, ",%" PRId64, -low > high ? low : high);
    }
    return text.length;
}

/* The characters of the cell that are not padding, coloured; then the others, hatched where nothing is
 * written. */
static void add_cell(terminal *t, const char *number, size_t filled, cell_hue hue) {
    size_t length = strlen(number);
    int colour = colours[(hue.number % COLOURS + COLOURS + hue.shade * 5) % COLOURS];
    ts_text_add(t->out, "\033[38;5;16;48;5;%dm", colour);
    for (size_t i = 0; i < t->width; i++) {
        bool blank = i + length < t->width;
        if (i == filled) ts_text_add(t->out, "\033[0;2m");
        ts_text_add_char(t->out, !blank ? number[i + length - t->width] : i < filled ? ' ' : '/');
    }
    ts_text_add(t->out, "\033[0m");
}

static void add_padding(terminal *t) {
    ts_text_add(t->out, "\033[2m");
    for (size_t i = 0; i < t->width; i++) ts_text_add_char(t->out, '/');
    ts_text_add(t->out, "\033[0m");
}

static void draw_cell(terminal *t, int64_t row, int64_t column) {
    int64_t high = cells_filled(&t->g, &t->g.rows, row), wide = cells_filled(&t->g, &t->g.columns, column);
    double share = (double)high / (double)t->g.rows.step * (double)wide / (double)t->g.columns.step;
    size_t filled = (size_t)(share * (double)t->width);
    cells_go(&t->g, row, column);
    if (!ts_layout_holds(t->g.layout, t->g.index)) {
        add_padding(t);
        return;
    }
    add_cell(t, cells_coordinates(t->out->arena, &t->g), filled > 0 ? filled : 1,
             cells_hue(&t->g, t->g.index));
}

static bool is_behind_a_gap(const cell_side *side, int64_t position) {
    return cells_are_left_out(side) && position + 1 == side->drawn;
}

static void draw_slice(terminal *t) {
    for (int64_t row = 0; row < t->g.rows.drawn; row++) {
        if (is_behind_a_gap(&t->g.rows, row)) ts_text_add(t->out, "  ..\n");
        ts_text_add(t->out, "  ");
        for (int64_t column = 0; column < t->g.columns.drawn; column++) {
            if (is_behind_a_gap(&t->g.columns, column)) ts_text_add(t->out, " .. ");
            draw_cell(t, cells_at(&t->g.rows, row), cells_at(&t->g.columns, column));
        }
        ts_text_add_char(t->out, '\n');
    }
}

static void add_heading(terminal *t) {
    const ts_shape *shape = t->g.shape;
    ts_text_add(t->out, "%s\n%s", ts_shape_text(t->out->arena, shape),
                report_padding_text(t->out->arena, shape));
    if (cells_are_tiles(&t->g))
        ts_text_add(t->out, "\na cell is a tile of %" PRId64 " x %" PRId64, t->g.rows.step,
                    t->g.columns.step);
    ts_text_add(t->out, "%s\n", t->g.cut ? "; the beginning, and the last" : "");
}

void ts_report_ansi(ts_arena *arena, const ts_shape *shape, ts_text *out) {
    enum { ROWS = 40, TILES = 16, SLICES = 8, MARGIN = 2, GAP = 4 };
    terminal t = {.out = out};
    cell_limits most = {ROWS, TS_TEXT_COLUMNS, TILES, TILES, SLICES};
    cells_choose(arena, shape, &most, &t.g);
    t.width = find_width(&t.g, arena);
    most.columns = most.tile_columns =
        (TS_TEXT_COLUMNS - MARGIN - GAP) / (int64_t)(t.width < 32 ? t.width : 32);
    cells_choose(arena, shape, &most, &t.g);
    add_heading(&t);
    if (ts_layout_element_count(t.g.layout) == 0) return;
    for (int64_t slice = 0; slice < t.g.slices; slice++) {
        ts_text_add_char(out, '\n');
        draw_slice(&t);
        cells_next_slice(&t.g);
    }
}
