/* Points of a grid of parameters. */
#include "study/grid.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tests/support/test.h"

static void expect_points(const ts_define *defines, int count, const char *expected) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_grid grid;
    ts_define point[4];
    ts_text out = ts_text_begin(arena);
    if (!ts_grid_parse(&err, arena, "-D", defines, count, &grid)) fail_msg("%s", err.message);
    for (int64_t i = 0; i < grid.point_count; i++) {
        ts_grid_point(&grid, i, point);
        for (int k = 0; k < count; k++) ts_text_add(&out, "%s=%s ", point[k].name, point[k].value);
        ts_text_add(&out, "| ");
    }
    assert_string_equal(out.bytes, expected);
    ts_arena_free(arena);
}

TEST(points) {
    const ts_define none[] = {{"A", "1"}, {"B", "max(1,[2,{3,4}]),5"}, {"C", "7,8,9"}};
    expect_points(none, 0, "| ");
    expect_points(none, 1, "A=1 | ");
    expect_points(none + 1, 1, "B=max(1,[2,{3,4}]) | B=5 | ");
    expect_points(none, 3,
                  "A=1 B=max(1,[2,{3,4}]) C=7 | A=1 B=max(1,[2,{3,4}]) C=8 | A=1 B=max(1,[2,{3,4}]) C=9 | "
                  "A=1 B=5 C=7 | A=1 B=5 C=8 | A=1 B=5 C=9 | ");
    const ts_define again[] = {{"A", "32,16,32,32,16,320"}, {"B", "7,7"}};
    expect_points(again, 2, "A=32 B=7 | A=16 B=7 | A=320 B=7 | ");
    const ts_define blanks[] = {{"A", " 32,\t16 , 3 2 ,16"}};
    expect_points(blanks, 1, "A=32 | A=16 | A=3 2 | ");
    const ts_define open[] = {{"A", "f(1,2"}, {"B", "1),2"}};
    expect_points(open, 1, "A=f(1,2 | ");
    expect_points(open + 1, 1, "B=1) | B=2 | ");
}

static void refuse(const ts_define *defines, int count, const char *message) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_grid grid;
    assert_false(ts_grid_parse(&err, arena, "-D", defines, count, &grid));
    assert_int_equal(err.kind, TS_ERROR_USAGE);
    assert_string_equal(err.message, message);
    ts_arena_free(arena);
}

TEST_WITH_ARENA(refused) {
    enum { MANY = 1000, FEW = TS_GRID_POINTS / MANY, BYTES = 5 };
    char many[BYTES * MANY + 1], few[BYTES * (FEW + 1) + 1];
    for (int i = 0; i < MANY; i++) {
        char value[16];
        snprintf(value, sizeof value, "%d,", 1000 + i);
        memcpy(many + BYTES * i, value, BYTES);
    }
    memcpy(few, many, sizeof few);
    many[BYTES * MANY - 1] = few[BYTES * (FEW + 1) - 1] = '\0'; /* one value too many */
    const ts_define defines[] = {{"A", "1,2"}, {"B", ",2"}, {"C", "1, "},
                                 {"A", "3"},   {"M", many}, {"N", few}};
    refuse(defines, 2, "-D B=,2 has an empty value, expected such as B=1,2");
    refuse(defines + 2, 1, "-D C=1,  has an empty value, expected such as C=1,2");
    const ts_define twice[] = {defines[0], defines[3]};
    refuse(twice, 2, "-D A is given twice");
    refuse(defines + 4, 2, "the values of -D make more than 100000 runs, expected fewer");
    few[BYTES * FEW - 1] = '\0';
    ts_grid grid;
    assert_true(ts_grid_parse(NULL, arena, "-D", defines + 4, 2, &grid));
    assert_int_equal(grid.point_count, TS_GRID_POINTS);
}
