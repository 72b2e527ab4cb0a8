/* Means of functions that are known at some points: against sums worked out by hand. */
#include "tests/support/test.h"

#include "base/curve.h"

static ts_curve of(const ts_curve_point *points, int count, double control_mean) {
    ts_curve curve = {.control_mean = control_mean};
    for (int i = 0; i < count; i++) ts_curve_add(&curve, points[i]);
    return curve;
}

/* In any order, each stands for what is nearest: 3/8, 3/8 and 1/4. Squared errors of (1/2 * 4)^2 + (1/4 * 8)^2 = 8. */
static void points_stand_for_what_is_nearest(void **state) {
    (void)state;
    ts_curve curve = of((ts_curve_point[]){{0.625, 8, 0}, {0.125, 4, 0}, {0.875, 16, 0}}, 3, 0);
    for (int i = 1; i < 3; i++) assert_true(curve.points[i].at > curve.points[i - 1].at);
    ts_curve_estimate e = ts_curve_get(&curve);
    assert_true(e.mean == 0.375 * 4 + 0.375 * 8 + 0.25 * 16);
    assert_true(e.variance == 8.0 / 2 * 3 / 1);
}

/* Values are 1 and three times the control, whose mean is known to be 10: so theirs is 31, without an error. Controls
 * that are all the same say nothing. */
static void what_goes_with_the_control_is_known(void **state) {
    (void)state;
    ts_curve_estimate e =
        ts_curve_get(&(ts_curve){4, 10, {{0.125, 4, 1}, {0.375, 7, 2}, {0.5, 13, 4}, {0.75, 25, 8}}});
    assert_true(e.mean == 31 && e.variance == 0);
    e = ts_curve_get(&(ts_curve){4, 10, {{0.125, 4, 2}, {0.375, 4, 2}, {0.625, 8, 2}, {0.875, 8, 2}}});
    assert_true(e.mean == 6 && e.variance == 1.0 / 2 * 4 / 2);
}

/* A slope of 2 through (1, 2), (2, 5), (3, 6); -1 + 2 * 4 by the values before and behind, 1 between. */
static void what_does_not_go_with_it_is_an_error(void **state) {
    (void)state;
    ts_curve_estimate e = ts_curve_get(&(ts_curve){3, 4, {{0.25, 2, 1}, {0.5, 5, 2}, {0.75, 6, 3}}});
    assert_true(e.mean == 8 + 0.375 * 0 + 0.25 * 1 + 0.375 * 0);
    assert_true(e.variance == (0.0625 + 0.0625) / 2 * 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_stand_for_what_is_nearest),
        cmocka_unit_test(what_goes_with_the_control_is_known),
        cmocka_unit_test(what_does_not_go_with_it_is_an_error),
    };
    return cmocka_run_group_tests_name("base/curve", tests, NULL, NULL);
}
