/* The logical grid of a layout as pictures draw it. */
#include "layout_cells.h"

#include "base/number.h"

int64_t cells_extent(const cell_grid *grid, int dim) { return dim < 0 ? 1 : grid->t.drawn[dim]; }

bool cells_are_tiles(const cell_grid *grid) { return grid->rows.step > 1 || grid->columns.step > 1; }

bool cells_are_left_out(const cell_side *side) { return side->drawn < side->total; }

/* Cells of one element where the array is small, of one tile where it is not. */
static cell_side choose_side(const cell_grid *grid, int dim, bool small, int64_t most) {
    cell_side s = {.dim = dim, .step = 1};
    if (!small && dim >= 0) s.step = ts_max(1, grid->t.first[dim]);
    s.total = s.drawn = ts_ceil_div(cells_extent(grid, dim), s.step);
    if (!small) s.drawn = ts_min(s.drawn, most);
    return s;
}

static int find_fast_axis(const ts_layout *layout) {
    for (int i = layout->digit_count - 1; i >= 0; i--)
        if (layout->digits[i].extent > 1) return layout->digits[i].axis;
    return layout->axis_count - 1;
}

void cells_choose(ts_arena *arena, const ts_shape *shape, const cell_limits *most, cell_grid *grid) {
    int rank = shape->layout->rank, row_dim = rank > 1 ? rank - 2 : -1, column_dim = rank - 1;
    *grid = (cell_grid){.shape = shape, .layout = shape->layout, .slices = 1};
    grid->fast_axis = find_fast_axis(grid->layout);
    tiling_find(arena, shape, &grid->t);
    bool small = cells_extent(grid, row_dim) <= most->rows && cells_extent(grid, column_dim) <= most->columns;
    grid->rows = choose_side(grid, row_dim, small, most->tile_rows);
    grid->columns = choose_side(grid, column_dim, small, most->tile_columns);
    for (int i = 0; i < row_dim; i++)
        grid->slices = grid->slices > most->slices ? grid->slices : grid->slices * grid->layout->dims[i];
    grid->cut =
        cells_are_left_out(&grid->rows) || cells_are_left_out(&grid->columns) || grid->slices > most->slices;
    grid->slices = ts_min(grid->slices, most->slices);
}

int64_t cells_at(const cell_side *side, int64_t position) {
    return position + 1 == side->drawn ? side->total - 1 : position;
}

int64_t cells_filled(const cell_grid *grid, const cell_side *side, int64_t cell) {
    int64_t extent = side->dim < 0 ? 1 : grid->layout->dims[side->dim];
    return ts_max(0, ts_min(extent - cell * side->step, side->step));
}

void cells_go(cell_grid *grid, int64_t row, int64_t column) {
    if (grid->rows.dim >= 0) grid->index[grid->rows.dim] = row * grid->rows.step;
    if (grid->columns.dim >= 0) grid->index[grid->columns.dim] = column * grid->columns.step;
}

bool cells_next_slice(cell_grid *grid) {
    for (int i = grid->rows.dim - 1; i >= 0; i--) {
        if (++grid->index[i] < grid->layout->dims[i]) return true;
        grid->index[i] = 0;
    }
    return false;
}

const char *cells_coordinates(ts_arena *arena, const cell_grid *grid) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    ts_text out = ts_text_begin(arena);
    ts_layout_forward(grid->layout, grid->index, point);
    ts_text_add_integers(&out, point, grid->layout->axis_count);
    return out.bytes;
}

int cells_colour_axis(const cell_grid *grid) {
    const ts_layout *layout = grid->layout;
    for (int i = 0; i < layout->digit_count; i++)
        if (layout->digits[i].extent > 1 && layout->digits[i].axis != grid->fast_axis)
            return layout->digits[i].axis;
    return grid->fast_axis > 0 ? 0 : layout->axis_count - 1;
}

static cell_hue hue_of_axes(const cell_grid *grid, const int64_t *index) {
    int64_t point[TS_LAYOUT_MAX_AXES], shade = 0;
    int axis = cells_colour_axis(grid);
    ts_layout_forward(grid->layout, index, point);
    for (int i = 0; i < grid->layout->axis_count; i++)
        if (i != axis && i != grid->fast_axis) shade += point[i] - grid->layout->axes[i].offset;
    return (cell_hue){point[axis], (int)ts_floor_mod(shade, 3)};
}

cell_hue cells_hue(const cell_grid *grid, const int64_t *index) {
    int64_t number = 0;
    if (grid->layout->axis_count > 1) return hue_of_axes(grid, index);
    if (grid->layout->swizzle.present && grid->columns.dim >= 0)
        return (cell_hue){index[grid->columns.dim] >> grid->layout->swizzle.keep, 0};
    for (int i = 0; i < grid->layout->rank; i++) {
        int64_t size = grid->t.first[i] > 0 ? grid->t.first[i] : grid->layout->dims[i];
        number = number * 7 + index[i] / size;
    }
    return (cell_hue){number, 0};
}
