/* Ratios of sums, and how well they are known: against sums worked out by hand. */
#include "tests/support/test.h"

#include "base/ratio.h"

static ts_ratio of(const double *values, const double *weights, int count) {
    ts_ratio ratio = {0};
    for (int i = 0; i < count; i++) ts_ratio_add(&ratio, values[i], weights[i]);
    return ratio;
}

/* Squared errors 8, so a variance of the sum of 12 where the sum is 12. */
TEST(means) {
    ts_ratio ratio = of((double[]){2, 4, 6}, (double[]){1, 1, 1}, 3);
    assert_int_equal(ratio.count, 3);
    assert_true(ts_ratio_get(&ratio) == 4);
    assert_true(ts_ratio_is_known(&ratio, 3.46, 1));
    assert_false(ts_ratio_is_known(&ratio, 3.47, 1));
    assert_true(ts_ratio_is_known(&ratio, 4.89, 0.5));
    assert_false(ts_ratio_is_known(&ratio, 4.9, 0.5));
}

/* 7/3: errors of 4/3 each. */
TEST(weights_count) {
    ts_ratio ratio = of((double[]){1, 6}, (double[]){1, 2}, 2);
    assert_true(ts_ratio_get(&ratio) == 7.0 / 3);
    assert_true(ts_ratio_is_known(&ratio, 2.6, 1));
    assert_false(ts_ratio_is_known(&ratio, 2.7, 1));
    ratio = of((double[]){1, 2, 4}, (double[]){3, 6, 12}, 3);
    assert_true(ts_ratio_is_known(&ratio, 1e6, 1)); /* all say the same */
}

/* A slope of 2.1 over four samples about 5.25, with errors of 2.7 (squared) left. */
TEST(slopes) {
    ts_ratio ratio = of((double[]){2, 5, 5, 9}, (double[]){1, 1, 1, 1}, 4);
    assert_true(ts_ratio_drifts(&ratio, 0.84, 4));
    assert_false(ts_ratio_drifts(&ratio, 0.83, 4));
    assert_false(ts_ratio_drifts(&ratio, 0.84, 4.1));
    ratio = of((double[]){9, 5, 5, 2}, (double[]){1, 1, 1, 1}, 4);
    assert_true(ts_ratio_drifts(&ratio, 0.84, 4));
    ratio = of((double[]){4, 10, 10, 18}, (double[]){2, 2, 2, 2}, 4);
    assert_true(ts_ratio_drifts(&ratio, 0.84, 4));
    ratio = of((double[]){2, 6, 10, 14}, (double[]){1, 3, 5, 7}, 4); /* the weights grow, not the ratio */
    assert_false(ts_ratio_drifts(&ratio, 100, 1));
}
