/* Tables of studies, whose rows the test makes: selected, ranked, tuned, and with elasticities. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sweep/answers.h"
#include "sweep/table.h"
#include "tests/support/study.h"
#include "tests/support/test.h"

/* ---- The table ---- */

static double none(const ts_sweep_point *point) { return 0 * study_number(point, "B"); } /* B is a text */

static double number_of_a(const ts_sweep_point *point) { return study_number(point, "A"); }

TEST(tables) {
    study_fixture f;
    study_begin(&f,
                "vary: {A: [1, 5, 2], B: [x]}\nask: {layout: 'f32[$A]'}\n"
                "columns: {twice: 2 * time, odd: 1 / (A - 1)}\n",
                ":memory:", none);
    study_go(&f);
    ts_sweep_table t;
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    assert_int_equal(t.row_count, 3);
    assert_int_equal(t.parameter_count, 2);
    static const char *const names[] = {"A", "B", "status", "error", "twice", "odd"};
    assert_int_equal(t.column_count, 6); /* B is no number: all times are none */
    for (int i = 0; i < 6; i++) assert_string_equal(t.headings[i].name, names[i]);
    assert_true(t.headings[0].number && !t.headings[1].number && !t.headings[2].number);
    assert_int_equal(ts_sweep_table_cell(&t, 0, 5)->kind, TS_SWEEP_NONE);
    assert_int_equal(ts_sweep_table_cell(&t, 2, 5)->integer, 1);
    assert_string_equal(ts_sweep_table_cell(&t, 1, 3)->text, "why");
    assert_int_equal(ts_sweep_table_find(&f.err, &t, "here", "staus"), -1);
    assert_string_equal(f.err.message, "here: there is no column 'staus'; did you mean 'status'?");
    assert_int_equal(ts_sweep_table_find_number(NULL, &t, "here", "A"), 0);
    assert_int_equal(ts_sweep_table_find_number(NULL, &t, "here", "C"), -1);
    f.err = (ts_error){0};
    assert_int_equal(ts_sweep_table_find_number(&f.err, &t, "here", "B"), -1);
    assert_int_equal(f.err.kind, TS_ERROR_USAGE);
    assert_string_equal(f.err.message, "here: 'B' has no numbers");
    study_end(&f);
}

/* Times of rows that say so: their cycles, or the microseconds of a row without. */
TEST(estimates) {
    const ts_sweep_value none = {.kind = TS_SWEEP_NONE}, five = {.kind = TS_SWEEP_INTEGER, .integer = 5},
                         yes = {.kind = TS_SWEEP_INTEGER, .integer = 1};
    ts_sweep_value cells[4][3] = {
        {five, yes, five}, {five, none, five}, {none, yes, five}, {none, none, five}};
    ts_sweep_table t = {.column_count = 3,
                        .row_count = 4,
                        .cells = cells[0],
                        .cycles_column = 0,
                        .microseconds_column = 2,
                        .estimated_column = 1};
    static const int marked[] = {0, -1, 2, -1};
    for (int64_t row = 0; row < 4; row++)
        for (int column = 0; column < 3; column++)
            assert_int_equal(ts_sweep_table_is_estimate(&t, row, column), column == marked[row]);
    t.cycles_column = -1;
    for (int64_t row = 0; row < 2; row++) assert_int_equal(ts_sweep_table_is_estimate(&t, row, 2), row == 0);
    t.estimated_column = -1;
    assert_false(ts_sweep_table_is_estimate(&t, 0, 2));
    study_fixture f;
    study_begin(&f, "vary: {A: [1, 5]}\nask: {layout: 'f32[$A]'}\n", ":memory:", number_of_a);
    f.crew_self.counts = true;
    study_go(&f);
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    assert_string_equal(t.headings[t.cycles_column].name, "cycles");
    assert_int_equal(t.estimated_column, -1);
    study_end(&f);
}

/* A text in the first column, whose name is found. */
TEST(first_columns) {
    study_fixture f;
    ts_sweep_table t;
    study_begin(&f, "vary: {B: [x, y], A: 1}\nask: {layout: 'f32[8]'}\n", ":memory:", none);
    study_go(&f);
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    assert_true(!t.headings[0].number && t.headings[1].number);
    assert_int_equal(ts_sweep_table_find(&f.err, &t, "here", "B"), 0);
    assert_int_equal(ts_sweep_table_find(&f.err, &t, "here", "A"), 1);
    assert_int_equal(ts_sweep_table_find_number(&f.err, &t, "here", "B"), -1);
    assert_string_equal(f.err.message, "here: 'B' has no numbers");
    study_end(&f);
}

static double by_a(const ts_sweep_point *point) { return study_number(point, "A"); }

/* The first and the last of the results, columns that follow, points in an order of the caller. */
TEST(tables_of_results) {
    study_fixture f;
    ts_sweep_table t;
    study_begin(&f,
                "vary: {A: [3, 1, 2]}\nask: {layout: 'f32[$A]'}\n"
                "columns: {first: 1 / (A - 1), last: 4 - A + first}\n",
                ":memory:", by_a);
    f.crew_self.counts = true;
    study_go(&f);
    const int64_t points[] = {2, 0, 1};
    ts_sweep_table_request read = {f.study, f.store, points, 3, {0, 0}};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    static const char *const names[] = {"A", "status", "cycles", "microseconds", "first", "last"};
    assert_int_equal(t.column_count, 6);
    for (int i = 0; i < 6; i++) assert_string_equal(t.headings[i].name, names[i]);
    static const int64_t expected[3][4] = {{2, 20, 1, 3}, {3, 30, 0, 1}, {1, 10, 0, 0}};
    for (int row = 0; row < 3; row++) {
        assert_int_equal(t.points[row], points[row]);
        assert_int_equal(ts_sweep_table_cell(&t, row, 0)->integer, expected[row][0]);
        assert_int_equal(ts_sweep_table_cell(&t, row, 2)->integer, expected[row][1]);
        assert_true(ts_sweep_table_cell(&t, row, 3)->real == (double)expected[row][0]);
        for (int k = 4; k < 6; k++) {
            assert_int_equal(ts_sweep_table_cell(&t, row, k)->kind,
                             row < 2 ? TS_SWEEP_INTEGER : TS_SWEEP_NONE);
            assert_int_equal(ts_sweep_table_cell(&t, row, k)->integer, expected[row][k - 2]);
        }
    }
    assert_int_equal(ts_sweep_table_find(&f.err, &t, "", "time"), 3);
    assert_int_equal(ts_sweep_table_find(&f.err, &t, "", "last"), 5);
    read.point_count = 1;
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    assert_int_equal(t.row_count, 1);
    study_end(&f);
}

/* A column that is good at one point alone is a column, whichever that is; one that is at none of all is an error. */
TEST(columns_that_are_wrong) {
    static const struct {
        const char *column;
        bool good;
    } rows[] = {{"1 / (A % 2)", true},
                {"A / (2 * A - A * 2)", false},
                {"1 / (A / 3)", true},
                {"1 / (1 - A % 2)", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        study_fixture f;
        ts_sweep_table t;
        char text[128];
        snprintf(text, sizeof text, "vary: {A: [3, 2, 1]}\nask: {layout: 'f32[$A]'}\ncolumns: {c: %s}\n",
                 rows[i].column);
        study_begin(&f, text, ":memory:", by_a);
        const ts_sweep_table_request read = {.study = f.study, .store = f.store};
        assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t)); /* no row, nothing wrong */
        assert_int_equal(t.row_count, 0);
        assert_int_equal(ts_sweep_table_find_number(NULL, &t, "", "c"), 2);
        study_go(&f);
        if (ts_sweep_table_read(&f.err, f.arena, &read, &t) != rows[i].good)
            fail_msg("%s: %s", rows[i].column, f.err.message);
        if (rows[i].good) assert_true(ts_sweep_table_find_number(NULL, &t, "", "c") > 1);
        if (!rows[i].good) assert_string_equal(f.err.message, "the divisor is 0");
        const int64_t some[] = {0, 1}; /* the others may be good */
        const ts_sweep_table_request read_some = {f.study, f.store, some, 2, {0, 0}};
        assert_true(ts_sweep_table_read(&f.err, f.arena, &read_some, &t));
        assert_int_equal(t.row_count, 2);
        study_end(&f);
    }
}

TEST(points_that_are_wrong) {
    study_fixture f;
    ts_sweep_table t;
    study_begin(&f, "vary: {A: [1, 0]}\nwhere: 1 / A < 5\nask: {layout: 'f32[$A]'}\n", ":memory:", by_a);
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_false(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    assert_string_equal(f.err.message, "the divisor is 0");
    study_end(&f);
}

/* Of a part of a study, and of those that have points left out by conditions: some, all but one, all. */
TEST(columns_of_parts) {
    static const struct {
        const char *where;
        int shards;
        bool good;
    } rows[] = {{"A < 2", 1, false}, {"A < 2", 2, true}, {"A < 1", 1, false}, {"A < 0", 1, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        study_fixture f;
        ts_sweep_table t;
        char text[128];
        snprintf(text, sizeof text,
                 "vary: {A: [0, 1, 2]}\nwhere: %s\nask: {layout: 'f32[$A]'}\ncolumns: {c: 1 / (A / 2)}\n",
                 rows[i].where);
        study_begin(&f, text, ":memory:", by_a);
        f.request.shard.count = rows[i].shards;
        study_go(&f);
        const ts_sweep_table_request read = {.study = f.study, .store = f.store};
        assert_int_equal(ts_sweep_table_read(&f.err, f.arena, &read, &t), rows[i].good);
        study_end(&f);
    }
}

static double flat(const ts_sweep_point *point) {
    double a = study_number(point, "A");
    return a == 4 ? (double)NAN : a > 4 ? 1 : 2;
}

static double one(const ts_sweep_point *point) { return (void)point, 1; }

/* Equal ones in the order of the table; none without a number. */
TEST(ranks) {
    study_fixture f;
    ts_sweep_table t, ranked;
    study_begin(&f, "vary: {A: {from: 1, to: 8, step: 1}}\nask: {layout: 'f32[$A]'}\n", ":memory:", flat);
    study_go(&f);
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    ts_sweep_table_rank(f.arena, &t, ts_sweep_table_find(NULL, &t, "", "time"), &ranked);
    static const int64_t order[] = {5, 6, 7, 8, 1, 2, 3};
    assert_int_equal(ranked.row_count, 7);
    assert_int_equal(ranked.column_count, t.column_count);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(ts_sweep_table_cell(&ranked, i, 0)->integer, order[i]);
        assert_int_equal(ranked.points[i], order[i] - 1);
    }
    const int64_t failed[] = {3, 0}; /* an error in the first row alone is a column too */
    const ts_sweep_table_request two = {f.study, f.store, failed, 2, {0, 0}};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &two, &t));
    assert_string_equal(ts_sweep_table_cell(&t, 0, ts_sweep_table_find(NULL, &t, "", "error"))->text, "why");
    study_end(&f);
}

/* By the first column; rows of equal values stay, those with a text in a column do not. */
TEST(fronts) {
    static const struct {
        const char *points;
        int columns, count;
        int64_t rows[8];
    } rows[] = {
        {"[{A: 5, B: 1, C: 9, N: 0}, {A: 1, B: 9, C: 9, N: 1}, {A: 3, B: 3, C: 9, N: 2}, {A: 3, B: 4, C: 1, "
         "N: 3}, {A: 4, B: 3, "
         "C: 0, N: 4}, {A: 3, B: 3, C: 9, N: 5}, {A: 2, B: 9, C: 9, N: 6}, {A: x, B: 0, C: 0, N: 7}, {A: 0, "
         "B: 0, C: x, N: 8}]",
         3,
         6,
         {1, 2, 5, 3, 4, 0}},
        {"[{A: 2, B: 2, N: 0}, {A: 2, B: 1, N: 1}, {A: 2, B: 1, N: 2}, {A: 1, B: 3, N: 3}, {A: 1, B: 3, N: "
         "4}, {A: 1, B: 4, N: 5}]",
         2,
         4,
         {3, 4, 1, 2}},
        {"[{A: 3, N: 0}, {A: 2, N: 1}, {A: 2.5, N: 2}, {A: 2, N: 3}]", 1, 2, {1, 3}},
        {"[{A: -1, B: 0}, {A: 0, B: -1}, {A: -1, B: -1}, {A: 0, B: 0}]", 2, 1, {2}},
        {"[{A: x, B: 1}]", 2, 0, {0}},
    };
    static const int columns[] = {0, 1, 2};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        study_fixture f;
        ts_sweep_table t;
        char text[512];
        int64_t *front;
        snprintf(text, sizeof text, "points: %s\nask: {layout: 'f32[8]'}\n", rows[i].points);
        study_begin(&f, text, ":memory:", one);
        study_go(&f);
        const ts_sweep_table_request read = {.study = f.study, .store = f.store};
        assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
        assert_int_equal(ts_sweep_pareto(f.arena, &t, columns, rows[i].columns, &front), rows[i].count);
        for (int k = 0; k < rows[i].count; k++) assert_int_equal(front[k], rows[i].rows[k]);
        study_end(&f);
    }
}

/* ---- Tuning ---- */

static double by_size(const ts_sweep_point *point) {
    double a = study_number(point, "A"), n = study_number(point, "N");
    return a == 7 ? (double)NAN : fabs(a - 4 - n) + 1; /* best: A = 4 + N */
}

TEST(tuning) {
    study_fixture f;
    ts_sweep_tuned tuned;
    study_begin(&f, "vary: {A: {from: 1, to: 9, step: 1}, N: [0, 1, 2], C: 1}\nask: {layout: 'f32[$A]'}\n",
                ":memory:", by_size);
    ts_sweep_tune_request request = {&f.request, "time", "N", 2};
    assert_true(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_int_equal(tuned.rung_count, 3);
    static const struct {
        const char *value;
        int64_t tried, kept;
    } rungs[] = {{"0", 9, 4}, {"1", 4, 2}, {"2", 2, 2}};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(tuned.rungs[i].value, rungs[i].value);
        assert_int_equal(tuned.rungs[i].tried, rungs[i].tried);
        assert_int_equal(tuned.rungs[i].kept, rungs[i].kept);
    }
    assert_int_equal(tuned.candidates, 9);
    study_expect(&(study_fixture){.result = tuned.result}, 15, 0, 15);
    assert_int_equal(tuned.result.by_status[TS_SWEEP_OK], 14);
    assert_int_equal(tuned.result.by_status[TS_SWEEP_ERROR], 1);
    assert_int_equal(tuned.table.row_count, 2); /* of 4 3 5 2 at 0: 5 and 4 at 1, 5 first at 2 */
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 0, 0)->integer, 5);
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 1, 0)->integer, 4);
    request.keep = 7; /* of 8 with a result one in 7, rounded up */
    assert_true(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_int_equal(tuned.rungs[0].kept, 2);
    assert_int_equal(tuned.result.there, 12);
    request.least = "cycles";
    assert_false(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_string_equal(f.err.message, "--tune: no point has 'cycles'");
    request.least = "status";
    f.err = (ts_error){0};
    assert_false(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_string_equal(f.err.message, "--tune: 'status' has no numbers");
    request.least = "time";
    request.budget = "C";
    f.err = (ts_error){0};
    assert_false(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_string_equal(f.err.message, "--tune: 'C' does not vary in the study, expected such as a size");
    study_end(&f);
}

/* Two sizes are enough, also where they vary slowest. */
TEST(tuning_of_two_sizes) {
    study_fixture f;
    ts_sweep_tuned tuned;
    study_begin(&f,
                "vary: {N: [0, 1], A: {from: 1, to: 6, step: 1}}\nwhere: A != 6\nask: {layout: 'f32[$A]'}\n",
                ":memory:", by_size);
    const ts_sweep_tune_request request = {&f.request, "time", "N", 2};
    assert_true(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_int_equal(tuned.rung_count, 2);
    assert_int_equal(tuned.candidates, 5);
    assert_int_equal(tuned.result.left_out, 1);
    assert_int_equal(tuned.rungs[0].kept, 3); /* A = 4, 3, 5 */
    assert_int_equal(tuned.table.row_count, 3);
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 0, 1)->integer, 5);
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 1, 1)->integer, 4);
    assert_int_equal(ts_sweep_table_cell(&tuned.table, 2, 1)->integer, 3);
    study_end(&f);
}

static double with_none(const ts_sweep_point *point) {
    return study_number(point, "N") == 0 ? (double)NAN : study_number(point, "B"); /* B is a text: NAN */
}

/* Where nothing has a result, nothing goes on; a time that is none is an error of the column. */
TEST(tuning_without_a_crew) {
    study_fixture f;
    ts_sweep_tuned tuned;
    study_begin(&f, "vary: {N: [1, 2]}\nask: {layout: 'f32[$N]'}\n", ":memory:", one);
    f.crew_self.fault = ANSWERS_NOTHING;
    ts_sweep_tune_request request = {&f.request, "time", "N", 2};
    assert_false(ts_sweep_tune(&f.err, f.arena, &request, &tuned));
    assert_int_not_equal(f.err.kind, TS_ERROR_NONE);
    study_end(&f);
}

/* Where none is ok, the rows say why. */
TEST(tuning_of_nothing) {
    study_fixture f;
    ts_sweep_tuned tuned;
    study_begin(&f, "vary: {N: [0, 1], B: [x, y]}\nask: {layout: 'f32[$N]'}\ncolumns: {c: 0 * N}\n",
                ":memory:", with_none);
    ts_sweep_tune_request request = {&f.request, "time", "N", 2};
    if (!ts_sweep_tune(&f.err, f.arena, &request, &tuned)) fail_msg("%s", f.err.message);
    assert_int_equal(tuned.rung_count, 1);
    assert_true(tuned.rungs[0].tried == 2 && tuned.rungs[0].kept == 0);
    assert_int_equal(tuned.table.row_count, 2);
    int error = ts_sweep_table_find(NULL, &tuned.table, "", "error");
    assert_string_equal(ts_sweep_table_cell(&tuned.table, 1, error)->text, "why");
    assert_int_equal(ts_sweep_table_find(&f.err, &tuned.table, "--column", "time"), -1);
    assert_int_equal(f.err.kind, TS_ERROR_INPUT);
    assert_string_equal(f.err.message, "--column: no point has a result, the first for: why");
    study_end(&f);
}

/* Where conditions leave out all that went on, it ends there. */
TEST(tuning_to_an_end) {
    study_fixture f;
    ts_sweep_tuned tuned;
    study_begin(&f, "vary: {A: [1, 2, 3], N: [0, 1, 2]}\nwhere: N < 1 || A == 2\nask: {layout: 'f32[$A]'}\n",
                ":memory:", by_size);
    const ts_sweep_tune_request request = {&f.request, "time", "N", 3};
    if (!ts_sweep_tune(&f.err, f.arena, &request, &tuned)) fail_msg("%s", f.err.message);
    assert_int_equal(tuned.rung_count, 2);
    assert_true(tuned.rungs[0].tried == 3 && tuned.rungs[0].kept == 1); /* A = 3 */
    assert_true(tuned.rungs[1].tried == 0 && tuned.rungs[1].kept == 0);
    assert_int_equal(tuned.table.row_count, 0);
    study_end(&f);
}

/* ---- Elasticity ---- */

/* The square of the clock, of which one point with twice of it is not known; a constant; and two figures of which there is
 * no machine with half, or with twice of it: the cube of one, and the inverse of the other. */
static double law(const ts_sweep_point *point) {
    const char *change = ts_sweep_point_value(point, TS_SWEEP_CHANGE);
    double a = study_number(point, "A");
    if (strcmp(change, "hbm.clock*2") == 0) return a > 1 ? (double)NAN : 4 * a;
    if (strcmp(change, "hbm.clock/2") == 0) return a * 0.25;
    if (strncmp(change, "dma.access", 10) == 0) return a * 0.5;
    if (strcmp(change, "chip.generation*2") == 0) return a * 8;
    if (strcmp(change, "ici.efficiency/2") == 0) return a * 2;
    return a;
}

TEST(elasticities) {
    study_fixture f;
    ts_sweep_changes changes;
    ts_sweep_table table;
    study_begin(&f, "vary: {A: [1, 3]}\nask: {layout: 'f32[$A]'}\n", ":memory:", law);
    assert_true(ts_sweep_changes_make(&f.err, f.arena, f.study, &changes));
    assert_int_equal(changes.study->grid.point_count % 2, 0);
    f.request.study = f.crew_self.study = changes.study;
    study_go(&f);
    const ts_sweep_table_request read = {.study = changes.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &table));
    const ts_sweep_elasticity *list = ts_sweep_elasticities(
        f.arena, &changes, &table, ts_sweep_table_find(&f.err, &table, "", "microseconds"));
    static const struct {
        const char *field, *value;
        double elasticity, halved, doubled;
    } first[] = {{"chip.generation", "5", 3, 0, 8},
                 {"hbm.clock", "1.6 GHz", 2, 0.25, 4},
                 {"ici.efficiency", "900", -1, 2, 0}};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(list[i].moved->field, first[i].field);
        assert_string_equal(list[i].moved->value, first[i].value);
        assert_true(fabs(list[i].elasticity - first[i].elasticity) < 1e-9 &&
                    fabs(list[i].halved - first[i].halved) < 1e-9 &&
                    fabs(list[i].doubled - first[i].doubled) < 1e-9);
    }
    for (int i = 3; i < changes.count; i++) {
        bool access = strcmp(list[i].moved->field, "dma.access") == 0;
        double factor = access ? 0.5 : 1;
        assert_true(fabs(list[i].elasticity) < 1e-9);
        assert_true(list[i].moved->halved > 0 || list[i].moved->doubled > 0);
        if (list[i].moved->halved > 0) assert_true(fabs(list[i].halved - factor) < 1e-9);
        if (list[i].moved->doubled > 0) assert_true(fabs(list[i].doubled - factor) < 1e-9);
    }
    study_end(&f);
}

TEST(elasticities_of_no_machine) {
    static const char *const texts[] = {"machine: tpu-v0\nask: {layout: 'f32[8]'}\n",
                                        "set: {hbm.stacks: 0}\nask: {layout: 'f32[8]'}\n"};
    for (int i = 0; i < 2; i++) {
        study_fixture f;
        ts_sweep_changes changes;
        study_begin(&f, texts[i], ":memory:", none);
        assert_false(ts_sweep_changes_make(&f.err, f.arena, f.study, &changes));
        assert_true(f.err.message[0] != '\0');
        study_end(&f);
    }
}
