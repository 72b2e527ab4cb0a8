/* Studies answered by a crew in this process: what is asked, in which order, and kept. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sweep/table.h"
#include "tests/support/study.h"
#include "tests/support/test.h"

/* ---- Points ---- */

static const char grid[] =
    "vary: {A: {from: 0, to: 9, step: 1}, B: [1, 2]}\nwhere: A != 3\nask: {layout: 'f32[$A]'}\n";

static double sum_of(const ts_sweep_point *point) {
    double a = study_number(point, "A");
    return a == 5 ? (double)NAN : a == 6 ? -1 : a + 10 * study_number(point, "B");
}

static void told(void *self, int64_t done, int64_t of, int64_t answered) {
    int64_t *last = self;
    assert_true(done >= 0 && done <= of && answered >= last[0]);
    last[0] = answered;
    last[1] = done;
    last[2] = of;
}

TEST(each_point_once) {
    study_fixture f;
    int64_t last[3] = {0};
    study_begin(&f, grid, ":memory:", sum_of);
    f.request.progress = told;
    f.request.self = last;
    study_go(&f);
    study_expect(&f, 18, 0, 18);
    assert_int_equal(f.result.left_out, 2);
    assert_int_equal(f.result.by_status[TS_SWEEP_OK], 14);
    assert_int_equal(f.result.by_status[TS_SWEEP_ERROR], 2);
    assert_int_equal(f.result.by_status[TS_SWEEP_CRASH], 2);
    assert_int_equal(f.crew_self.asked, 18);
    assert_true(f.crew_self.most > STUDY_MEMBERS);
    assert_true(last[0] == 18 && last[1] == 20 && last[2] == 20);
    f.request.progress = NULL;
    study_go(&f);
    study_expect(&f, 18, 18, 0);
    assert_int_equal(f.result.by_status[TS_SWEEP_OK], 14);
    assert_int_equal(f.result.by_status[TS_SWEEP_CRASH], 2);
    f.request.retry = true;
    study_go(&f);
    study_expect(&f, 18, 16, 2);
    assert_int_equal(f.result.by_status[TS_SWEEP_CRASH], 2);
    assert_int_equal(f.crew_self.asked, 20);
    study_end(&f);
}

TEST(some_points) {
    study_fixture f;
    static const int64_t points[] = {19, 2, 3};
    study_begin(&f, grid, ":memory:", sum_of);
    f.request.points = points;
    f.request.point_count = 3;
    study_go(&f);
    study_expect(&f, 3, 0, 3);
    ts_sweep_table table;
    const ts_sweep_table_request read = {f.study, f.store, points, 3, {0, 0}};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &table));
    static const double times[] = {29, 11, 21};
    int column = ts_sweep_table_find(&f.err, &table, "", "time");
    assert_int_equal(table.row_count, 3);
    for (int i = 0; i < 3; i++) {
        assert_true(ts_sweep_table_cell(&table, i, column)->real == times[i]);
        assert_int_equal(table.points[i], points[i]);
    }
    f.request.points = NULL;
    f.request.shard.count = 3;
    static const int64_t counts[] = {6, 6, 6},
                         there[] = {1, 1, 1}; /* of 0, 3 .. 18; A = 3 are points 6 and 7 */
    for (int i = 0; i < 3; i++) {
        f.request.shard.index = i;
        study_go(&f);
        study_expect(&f, counts[i], there[i], counts[i] - there[i]);
        const ts_sweep_table_request part = {.study = f.study, .store = f.store, .shard = f.request.shard};
        assert_true(ts_sweep_table_read(&f.err, f.arena, &part, &table));
        assert_int_equal(table.row_count, counts[i]); /* though the store holds those before, too */
        for (int k = 0; k < table.row_count; k++) assert_int_equal(table.points[k] % 3, i);
    }
    f.request.shard = (ts_sweep_shard){0};
    study_go(&f);
    study_expect(&f, 18, 18, 0);
    study_end(&f);
}

/* Many ahead, but none behind another at the end, when its member may be the last that works. */
TEST(ahead) {
    study_fixture f;
    study_begin(&f, "vary: {A: {from: 0, to: 99, step: 1}, B: 1}\nask: {layout: 'f32[$A]'}\n",
                ":memory:", sum_of);
    study_go(&f);
    study_expect(&f, 100, 0, 100);
    assert_int_equal(f.crew_self.most, STUDY_MEMBERS * STUDY_AHEAD);
    assert_int_equal(f.crew_self.queue, 0);
    study_end(&f);
}

/* ---- Order ---- */

static double one(const ts_sweep_point *point) { return study_number(point, "A"); }

/* The first that are found go at once, then of those that are seen the largest; where all are alike, the next. */
TEST(the_longest_first) {
    static const struct {
        const char *ask;
        int64_t order[12];
    } rows[] = {
        {"dma: 'f32[$A,128] -> f32[$A,128]{1,0:T(8,128)}'", {0, 1, 7, 6, 9, 8, 5, 4, 3, 10, 2, 11}},
        {"layout: 'f32[$(128 * A)]'", {0, 1, 7, 6, 9, 8, 5, 4, 3, 10, 2, 11}},
        {"program: p.tsim", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        study_fixture f;
        char text[320];
        snprintf(
            text, sizeof text,
            "points: [{A: 1, N: 0}, {A: 2, N: 0}, {A: 3, N: 0}, {A: 4, N: 0}, {A: 5, N: 0}, {A: 6, N: 0},"
            " {A: 7, N: 0}, {A: 8, N: 0}, {A: 9, N: 0}, {A: 1000, N: 0}, {A: 4, N: 1}, {A: 1, N: 1}]\n"
            "ask: {%s}\n",
            rows[i].ask);
        study_begin(&f, text, ":memory:", one);
        study_go(&f);
        study_expect(&f, 12, 0, 12);
        for (int k = 0; k < 12; k++) assert_int_equal(f.crew_self.order[k], rows[i].order[k]);
        study_end(&f);
    }
}

/* A member takes a second point where the first is at most an eighth of its half of what is left. */
TEST(shares) {
    static const struct {
        int points, most; /* out at once, of two members */
    } rows[] = {{17, 2}, {18, 3}, {35, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        study_fixture f;
        char text[128];
        snprintf(text, sizeof text, "vary: {A: {from: 1, to: %d, step: 1}}\nask: {program: p.tsim}\n",
                 rows[i].points);
        study_begin(&f, text, ":memory:", one);
        study_go(&f);
        assert_int_equal(f.crew_self.most, rows[i].most);
        study_end(&f);
    }
}

/* Nothing goes behind it, and it goes as soon as it is seen: 128 points before it is its turn. */
TEST(one_that_is_longer) {
    static const int64_t rows[][2] = {{1, 1}, {7, 2}, {40, 11}, {149, 29}, {199, 72}}; /* which, its turn */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        study_fixture f;
        char text[256];
        snprintf(text, sizeof text,
                 "vary: {A: {from: 0, to: 199, step: 1}}\nask: {dma: 'f32[$(1 + 100000 * (A == %d))] -> "
                 "f32[1]'}\n",
                 (int)rows[i][0]);
        study_begin(&f, text, ":memory:", one);
        f.crew_self.alone = rows[i][0];
        study_go(&f);
        assert_int_equal(f.crew_self.order[rows[i][1]], rows[i][0]);
        study_end(&f);
    }
}

/* Nothing goes on after that, and the study says what it was. */
TEST(crews_that_fail) {
    static const struct {
        int fault;
        const char *message;
    } rows[] = {{HANDS_NOTHING, "no hand"},
                {ANSWERS_NOTHING, "no answer"},
                {ANSWERS_ANOTHER, "a worker answered what nobody asked"},
                {ANSWERS_NONE, "a worker answered what nobody asked"},
                {ANSWERS_HALF, "a worker's answer cannot be read"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        study_fixture f;
        study_begin(&f, grid, ":memory:", sum_of);
        f.crew_self.fault = rows[i].fault;
        assert_false(ts_sweep(&f.err, f.arena, &f.request, &f.result));
        assert_string_equal(f.err.message, rows[i].message);
        assert_int_equal(f.result.answered, 0);
        study_end(&f);
    }
}

/* Points before it are answered, or not even asked: the study is wrong. */
TEST(studies_that_fail) {
    static const char *const rows[] = {
        "vary: {A: [3, 2, 1, 0]}\nwhere: 1 / (A - 2) < 5\nask: {layout: 'f32[$A]'}\n",
        "vary: {A: [3, 2, 1, 0]}\nask: {layout: 'f32[$(1 / (A - 2))]'}\n",
        "vary: {A: [2, 3]}\nwhere: 1 / (A - 2) < 5\nask: {layout: 'f32[$A]'}\n"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        study_fixture f;
        study_begin(&f, rows[i], ":memory:", one);
        assert_false(ts_sweep(&f.err, f.arena, &f.request, &f.result));
        assert_string_equal(f.err.message, "the divisor is 0");
        assert_true(f.crew_self.asked <= 1);
        study_end(&f);
    }
}

/* What is wrong, the worker says, once. */
TEST(machines_that_cannot_be) {
    study_fixture f;
    ts_sweep_table t;
    study_begin(&f, "vary: {A: 8, hbm.stacks: [2, -1]}\nask: {layout: 'f32[$A]'}\n", ":memory:", one);
    const ts_sweep_crew_request workers = {.study = f.study, .workers = 1};
    assert_true(ts_sweep_processes(&f.err, f.arena, &workers, &f.crew));
    for (int again = 0; again < 2; again++) {
        study_go(&f);
        study_expect(&f, 2, again ? 2 : 0, again ? 0 : 2);
        assert_int_equal(f.result.by_status[TS_SWEEP_ERROR], 1);
    }
    f.crew.dismiss(f.crew.self);
    const ts_sweep_table_request read = {.study = f.study, .store = f.store};
    assert_true(ts_sweep_table_read(&f.err, f.arena, &read, &t));
    const char *error = ts_sweep_table_cell(&t, 1, ts_sweep_table_find(NULL, &t, "", "error"))->text;
    if (!strstr(error, "hbm.stacks")) fail_msg("%s", error);
    study_end(&f);
}
