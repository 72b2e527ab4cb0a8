/* Whether windows tell the time of a box: at the counts, and at the errors, where that changes. */
#include "tests/support/test.h"

#include "dma/sampler.h"

/* Of so many windows of one line each that take 1 - noise and 1 + noise in turns: the standard error of their mean is about
 * noise / sqrt(count). */
static sampler_box box_of(int count, double noise) {
    sampler_box b = {
        .weight = 1, .left = 1, .least = SAMPLER_LEAST, .least_engine_bound = SAMPLER_LEAST, .most = 48};
    for (int i = 0; i < count; i++) {
        double ticks = i % 2 ? 1 + noise : 1 - noise;
        ts_ratio_add(&b.ticks, ticks, 1);
        ts_curve_add(&b.rates, (ts_curve_point){i / 64.0, ticks, 0.1});
    }
    return b;
}

/* One part in 10 is not known in 16 windows, nor in 48. */
static void many_windows_say_whether_all_would_be_enough(void **state) {
    for (int sorted = 0; sorted < 2; sorted++) {
        for (int count = SAMPLER_MANY - 1; count <= SAMPLER_MANY; count++) {
            sampler_box b = box_of(count, sorted ? 0.5 : 0.1);
            b.is_joined = b.is_sorted = sorted;
            assert_int_equal(sampler_will_agree(&b), count < SAMPLER_MANY);
        }
    }
    sampler_box b = box_of(SAMPLER_MANY, 0.03); /* 0.75 % of 16, 0.43 % of 48 */
    assert_true(sampler_will_agree(&b));
    b.most = SAMPLER_MANY;
    assert_false(sampler_will_agree(&b));
}

/* Boxes as one, by blocks: a few windows at the engine's pace, or that are known to one part in 100. */
static void few_windows_say_it_of_boxes_that_are_not_sorted(void **state) {
    static const struct {
        int count;
        double noise;
        bool is_engine_bound, agrees;
    } rows[] = {
        {SAMPLER_LEAST - 1, 0.5, false, true},   {SAMPLER_LEAST, 0.5, false, false},
        {SAMPLER_LEAST, 0.5, true, true},        {SAMPLER_LEAST, 0.015, false, true}, /* 0.87 % */
        {SAMPLER_LEAST + 2, 0.03, false, false},                                      /* 1.3 % */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sampler_box b = box_of(rows[i].count, rows[i].noise);
        b.is_joined = true;
        b.is_engine_bound = rows[i].is_engine_bound;
        assert_int_equal(sampler_will_agree(&b), rows[i].agrees);
    }
}

/* What was simulated is known: of a box of which a quarter is left, half the error of the mean counts. */
static void what_is_left_counts(void **state) {
    sampler_box b = box_of(8, 0.01); /* 0.38 % */
    assert_false(sampler_is_enough(&b));
    b.left = 0.25;
    assert_true(sampler_is_enough(&b));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_windows_say_whether_all_would_be_enough),
        cmocka_unit_test(few_windows_say_it_of_boxes_that_are_not_sorted),
        cmocka_unit_test(what_is_left_counts),
    };
    return cmocka_run_group_tests_name("dma/sampler_judge", tests, NULL, NULL);
}
