/* The grid that pictures of layouts draw: how many cells, of what, and which look alike. */
#include "report/layout_cells.h"

#include "tests/support/group.h"
#include "tests/support/shapes.h"

static cell_grid grid;

static void choose(const char *text, cell_limits most) {
    cells_choose(arena, parse_shape(arena, text), &most, &grid);
}

static void assert_side(const cell_side *side, int dim, int64_t step, int64_t total, int64_t drawn) {
    assert_int_equal(side->dim, dim);
    assert_int_equal(side->step, step);
    assert_int_equal(side->total, total);
    assert_int_equal(side->drawn, drawn);
}

/* Small arrays have cells of elements, all of them; padding counts. */
TEST(cells_of_elements) {
    choose("f32[3,5]{1,0}", (cell_limits){3, 5, 1, 1, 1});
    assert_side(&grid.rows, 0, 1, 3, 3);
    assert_side(&grid.columns, 1, 1, 5, 5);
    assert_false(cells_are_tiles(&grid));
    assert_false(grid.cut);
    assert_int_equal(grid.slices, 1);
    choose("f32[3,5]{1,0:T(4,8)}", (cell_limits){4, 8, 1, 1, 1});
    assert_side(&grid.rows, 0, 1, 4, 4);
    assert_side(&grid.columns, 1, 1, 8, 8);
    assert_int_equal(cells_filled(&grid, &grid.rows, 2), 1);
    assert_int_equal(cells_filled(&grid, &grid.rows, 3), 0);
    assert_int_equal(cells_filled(&grid, &grid.columns, 7), 0);
    choose("f32[10]{0}", (cell_limits){1, 10, 1, 1, 1});
    assert_side(&grid.rows, -1, 1, 1, 1);
    assert_side(&grid.columns, 0, 1, 10, 10);
    assert_int_equal(cells_extent(&grid, -1), 1);
    assert_int_equal(cells_filled(&grid, &grid.rows, 0), 1);
    assert_false(cells_next_slice(&grid));
}

/* Larger ones of tiles; of those that are not drawn, the last is. */
TEST(cells_of_tiles) {
    choose("f32[20,300]{1,0:T(8,128)}", (cell_limits){23, 400, 2, 3, 1});
    assert_side(&grid.rows, 0, 8, 3, 2);
    assert_side(&grid.columns, 1, 128, 3, 3);
    assert_true(cells_are_tiles(&grid));
    assert_true(grid.cut);
    assert_true(cells_are_left_out(&grid.rows));
    assert_false(cells_are_left_out(&grid.columns));
    assert_int_equal(cells_at(&grid.rows, 0), 0);
    assert_int_equal(cells_at(&grid.rows, 1), 2);
    assert_int_equal(cells_filled(&grid, &grid.rows, 0), 8);
    assert_int_equal(cells_filled(&grid, &grid.rows, 2), 4);
    assert_int_equal(cells_filled(&grid, &grid.columns, 1), 128);
    assert_int_equal(cells_filled(&grid, &grid.columns, 2), 44);
    cells_go(&grid, 2, 1);
    assert_int_equal(grid.index[0], 16);
    assert_int_equal(grid.index[1], 128);
    choose("f32[20,300]{1,0:T(8,128)}", (cell_limits){24, 383, 3, 2, 1});
    assert_side(&grid.rows, 0, 8, 3, 3);
    assert_side(&grid.columns, 1, 128, 3, 2);
    assert_true(grid.cut);
    choose("f32[20,300]{1,0}", (cell_limits){4, 400, 5, 300, 1}); /* has none */
    assert_side(&grid.rows, 0, 1, 20, 5);
    assert_side(&grid.columns, 1, 1, 300, 300);
    assert_false(cells_are_tiles(&grid));
    choose("f32[20,300]{1,0:T(2,1)}", (cell_limits){4, 400, 10, 300, 1});
    assert_true(cells_are_tiles(&grid));
    choose("f32[1000]{0:T(2)}", (cell_limits){4, 4, 4, 4, 1});
    assert_true(cells_are_tiles(&grid));
    choose("f32[1000]{0:T(256)}", (cell_limits){4, 4, 4, 4, 1});
    assert_true(cells_are_tiles(&grid));
    assert_side(&grid.columns, 0, 256, 4, 4);
    assert_false(grid.cut);
}

TEST(slices) {
    static const struct {
        int64_t most, drawn;
        bool cut;
    } rows[] = {{6, 6, false}, {5, 5, true}, {1, 1, true}, {7, 6, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        choose("f32[2,3,4,4]{3,2,1,0}", (cell_limits){4, 4, 4, 4, rows[i].most});
        assert_int_equal(grid.slices, rows[i].drawn);
        assert_int_equal(grid.cut, rows[i].cut);
    }
    int count = 1;
    cells_go(&grid, 1, 2);
    assert_string_equal(cells_coordinates(arena, &grid), "6"); /* 4 + 2, then of the last slice 5 * 16 more */
    for (; cells_next_slice(&grid); count++)
        if (count == 5) assert_string_equal(cells_coordinates(arena, &grid), "86");
    assert_int_equal(count, 6);
    assert_int_equal(grid.index[0], 0);
    assert_int_equal(grid.index[1], 0);
}

/* By tile; where there is none all look alike. Of a swizzle by what it moves as one. */
TEST(hues_of_tiles) {
    cell_limits all = {100, 1000, 1, 1, 1};
    choose("f32[20,300]{1,0:T(8,128)}", all);
    assert_int_equal(cells_hue(&grid, (int64_t[]){7, 127}).number, 0);
    assert_int_equal(cells_hue(&grid, (int64_t[]){7, 128}).number, 1);
    assert_int_equal(cells_hue(&grid, (int64_t[]){16, 299}).number, 2 * 7 + 2);
    assert_int_equal(cells_hue(&grid, (int64_t[]){16, 299}).shade, 0);
    choose("f32[20,300]{1,0}", all);
    assert_int_equal(cells_hue(&grid, (int64_t[]){19, 299}).number, 0);
    choose("f32[64] S<2,2,2> o 0 o 64:1", all);
    assert_int_equal(cells_hue(&grid, (int64_t[]){3}).number, 0);
    assert_int_equal(cells_hue(&grid, (int64_t[]){44}).number, 11);
    assert_int_equal(cells_hue(&grid, (int64_t[]){44}).shade, 0);
}

/* Of several axes the one of the last digit has no colour, the first other one has, and the rest are shades. */
TEST(hues_of_axes) {
    cell_limits all = {100, 1000, 1, 1, 1};
    choose("f32[6,4,8] S[(6,4,8):(1@c,1@b,1@a)]", all);
    assert_string_equal(grid.layout->axes[grid.fast_axis].name, "a");
    assert_string_equal(grid.layout->axes[cells_colour_axis(&grid)].name, "c");
    cell_hue hue = cells_hue(&grid, (int64_t[]){5, 1, 7});
    assert_int_equal(hue.number, 5);
    assert_int_equal(hue.shade, 1);
    assert_int_equal(cells_hue(&grid, (int64_t[]){5, 3, 7}).shade, 0);
    /* A digit of 1 is none. */
    choose("f32[6,1,8] S[(6,1,8):(1@c,1@b,1@a)]", all);
    assert_string_equal(grid.layout->axes[cells_colour_axis(&grid)].name, "c");
    choose("f32[1,4,8] S[(1,4,8):(1@c,1@b,1@a)]", all);
    assert_string_equal(grid.layout->axes[cells_colour_axis(&grid)].name, "b");
    choose("f32[2,4,8] S[(2,4,8):(1@c,1@b,1@a)]", all);
    assert_string_equal(grid.layout->axes[cells_colour_axis(&grid)].name, "c");
    static const char *const one_digit[][2] = {{"f32[8,1] S[(8,1):(1@b,1@a)]", "b"},
                                               {"f32[8,1] S[(8,1):(1@a,1@b)]", "a"}};
    for (int i = 0; i < 2; i++) { /* the other axis has the colour */
        choose(one_digit[i][0], all);
        assert_string_equal(grid.layout->axes[grid.fast_axis].name, one_digit[i][1]);
        assert_int_equal(cells_colour_axis(&grid), 1 - grid.fast_axis);
    }
    choose("f32[6,4,8] S[(6,4,8):(1@c,1@a,1@b)]", all);
    assert_int_equal(cells_hue(&grid, (int64_t[]){5, 2, 7}).shade, 2);
    choose("f32[4,2] S[(4,2):(1@b,1@a)]", all);
    assert_string_equal(grid.layout->axes[grid.fast_axis].name, "a");
    choose("f32[8,128] vpad<\"32,{0,0},(8,128)\">", all); /* of one vreg */
    assert_string_equal(grid.layout->axes[grid.fast_axis].name, "lane");
    assert_string_equal(grid.layout->axes[cells_colour_axis(&grid)].name, "sublane");
    choose("f32[1,1] S[(1,1):(1@b,1@a)]", all); /* the last axis */
    assert_int_equal(grid.fast_axis, 1);
    assert_int_equal(cells_colour_axis(&grid), 0);
}

int main(void) { return run_all_tests(begin_group, end_group); }
