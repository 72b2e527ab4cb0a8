/* Means of functions that are known at some points: against sums worked out by hand, and what must hold of any. */
#include "tests/support/test.h"

#include <math.h>

#include "base/curve.h"
#include "tests/support/random_layout.h"

static ts_curve of(const ts_curve_point *points, int count, double control_mean) {
    ts_curve curve = {.control_mean = control_mean};
    for (int i = 0; i < count; i++) ts_curve_add(&curve, points[i]);
    return curve;
}

/* In any order, each stands for what is nearest: 3/8, 3/8 and 1/4. Squared errors of (1/2 * 4)^2 + (1/4 * 8)^2 = 8. */
static void points_stand_for_what_is_nearest(void **state) {
    ts_curve curve = of((ts_curve_point[]){{0.625, 8, 0}, {0.125, 4, 0}, {0.875, 16, 0}}, 3, 0);
    for (int i = 1; i < 3; i++) assert_true(curve.points[i].at > curve.points[i - 1].at);
    ts_curve_estimate e = ts_curve_get(&curve);
    assert_true(e.mean == 0.375 * 4 + 0.375 * 8 + 0.25 * 16);
    assert_true(e.variance == 8.0 / 2 * 3 / 1);
}

/* Values are 1 and three times the control, whose mean is known to be 10: so theirs is 31, without an error. Controls
 * that are all the same say nothing. */
static void what_goes_with_the_control_is_known(void **state) {
    ts_curve_estimate e =
        ts_curve_get(&(ts_curve){4, 10, {{0.125, 4, 1}, {0.375, 7, 2}, {0.5, 13, 4}, {0.75, 25, 8}}});
    assert_true(e.mean == 31 && e.variance == 0);
    e = ts_curve_get(&(ts_curve){4, 10, {{0.125, 4, 2}, {0.375, 4, 2}, {0.625, 8, 2}, {0.875, 8, 2}}});
    assert_true(e.mean == 6 && e.variance == 1.0 / 2 * 4 / 2);
}

/* A slope of 2 through (1, 2), (2, 5), (3, 6); -1 + 2 * 4 by the values before and behind, 1 between. */
static void what_does_not_go_with_it_is_an_error(void **state) {
    ts_curve_estimate e = ts_curve_get(&(ts_curve){3, 4, {{0.25, 2, 1}, {0.5, 5, 2}, {0.75, 6, 3}}});
    assert_true(e.mean == 8 + 0.375 * 0 + 0.25 * 1 + 0.375 * 0);
    assert_true(e.variance == (0.0625 + 0.0625) / 2 * 3);
}

/* ---- Any points ---- */

enum { PLACES = 128, SEED = 3 };

/* At odd multiples of 1/256, each once; of what is around the curve in memory nothing is used. */
typedef struct {
    double before;
    ts_curve curve;
    double behind[3];
} fenced;

static void some_points(uint64_t *seed, int count, fenced *out) {
    int places[PLACES];
    *out = (fenced){1e9, {.control_mean = 3}, {(double)NAN, (double)NAN, (double)NAN}};
    for (int i = 0; i < PLACES; i++) places[i] = i;
    for (int i = 0; i < count; i++) {
        int k = i + (int)random_below(seed, (uint32_t)(PLACES - i)), place = places[k];
        places[k] = places[i];
        ts_curve_add(&out->curve, (ts_curve_point){(2 * place + 1) / 256.0, (double)random_below(seed, 1000),
                                                   (double)random_below(seed, 8)});
    }
    assert_int_equal(out->curve.count, count);
}

/* All of 0 to 1 is counted once, by the nearest point, or half by each of two. */
static double mean_of_nearest(const ts_curve *curve) {
    double sum = 0;
    for (int i = 0; i < 2 * PLACES; i++) {
        double at = (2 * i + 1) / 512.0, least = 2, value = 0;
        for (int k = 0; k < curve->count; k++) {
            double away = fabs(curve->points[k].at - at);
            if (away < least) value = curve->points[k].value, least = away;
        }
        sum += value / (2 * PLACES);
    }
    return sum;
}

static void every_place_counts_once(void **state) {
    uint64_t seed = SEED;
    for (int count = 1; count <= TS_CURVE_MOST; count++) {
        fenced f;
        some_points(&seed, count, &f);
        for (int i = 0; i < count; i++) f.curve.points[i].control = 0;
        assert_true(fabs(ts_curve_get(&f.curve).mean - mean_of_nearest(&f.curve)) < 1e-9);
    }
}

/* What is added to all values in proportion to the control adds as much of its mean, and no error. */
static void the_control_can_be_added(void **state) {
    uint64_t seed = SEED + 1;
    for (int count = 3; count <= TS_CURVE_MOST; count++) {
        fenced f;
        some_points(&seed, count, &f);
        f.curve.points[0].control = 8; /* not all the same */
        ts_curve_estimate e = ts_curve_get(&f.curve), more;
        for (int i = 0; i < count; i++) f.curve.points[i].value += 50 * f.curve.points[i].control;
        more = ts_curve_get(&f.curve);
        assert_true(fabs(more.mean - e.mean - 50 * f.curve.control_mean) < 1e-6);
        assert_true(fabs(more.variance - e.variance) <= 1e-6 * (1 + e.variance));
    }
}

/* Values are independent, all with an error of 10: that of their mean is 10 over the root of their number. */
static void errors_are_those_of_many_trials(void **state) {
    uint64_t seed = SEED + 2;
    enum { TRIALS = 4000, COUNT = 32 };
    double variance = 0, squares = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        ts_curve curve = {.control_mean = 1.5};
        for (int i = 0; i < COUNT; i++)
            ts_curve_add(&curve, (ts_curve_point){(i + 0.5) / COUNT,
                                                  (i % 2 ? 500 : 300) + (random_below(&seed, 2) ? 10 : -10),
                                                  1 + i % 2});
        ts_curve_estimate e = ts_curve_get(&curve);
        variance += e.variance / TRIALS;
        squares += (e.mean - 400) * (e.mean - 400) / TRIALS;
    }
    assert_true(fabs(variance / (100.0 / COUNT) - 1) < 0.05);
    assert_true(fabs(squares / (100.0 / COUNT) - 1) < 0.1);
}

/* Controls that differ by less than one part in 30,000 are the same. */
static void controls_that_are_nearly_the_same(void **state) {
    for (int i = 0; i < 2; i++) {
        double apart = i ? 1e-4 : 1e-5;
        ts_curve curve = {.count = 4, .control_mean = 1 + apart};
        for (int k = 0; k < 4; k++)
            curve.points[k] = (ts_curve_point){(2 * k + 1) / 8.0, k % 2 ? 7 : 5, 1 + k % 2 * apart};
        assert_true(fabs(ts_curve_get(&curve).mean - (i ? 7 : 6)) < 1e-3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_stand_for_what_is_nearest),
        cmocka_unit_test(what_goes_with_the_control_is_known),
        cmocka_unit_test(what_does_not_go_with_it_is_an_error),
        cmocka_unit_test(every_place_counts_once),
        cmocka_unit_test(the_control_can_be_added),
        cmocka_unit_test(errors_are_those_of_many_trials),
        cmocka_unit_test(controls_that_are_nearly_the_same),
    };
    return cmocka_run_group_tests_name("base/curve", tests, NULL, NULL);
}
