/* Whether windows tell the time of a box: at the counts, and at the errors, where that changes. */
#include "tests/support/test.h"

#include <math.h>

#include "dma/sampler.h"

/* Of so many windows of one line each that take 1 - noise and 1 + noise in turns: the standard error of their mean is about
 * noise / sqrt(count). */
static sampler_box box_of(int count, double noise) {
    sampler_box b = {
        .weight = 1, .left = 1, .least = SAMPLER_LEAST, .least_engine_bound = SAMPLER_LEAST, .most = 48};
    for (int i = 0; i < count; i++) {
        double ticks = i % 2 ? 1 + noise : 1 - noise;
        ts_ratio_add(&b.ticks, ticks, 1);
        ts_curve_add(&b.rates, (ts_curve_point){i / 64.0, ticks, false});
    }
    return b;
}

/* One part in 10 is not known in 16 windows, nor in 48. */
TEST(many_windows_say_whether_all_would_be_enough) {
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
TEST(few_windows_say_it_of_boxes_that_are_not_sorted) {
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
TEST(what_is_left_counts) {
    sampler_box b = box_of(8, 0.01); /* 0.38 % */
    assert_false(sampler_is_enough(&b));
    b.left = 0.25;
    assert_true(sampler_is_enough(&b));
}

/* One part in 400, of 16 or of all in 200; of sorted boxes in 280, of all in 100, or half of 8 at the engine's pace. */
TEST(some_windows_are_enough) {
    static const struct {
        int count;
        double noise;
        int most;
        bool is_sorted, is_engine_bound, is_enough;
    } rows[] = {
        {SAMPLER_MANY - 1, 0.015, 48, false, false, false},
        {SAMPLER_MANY, 0.015, 48, false, false, true},
        {SAMPLER_MANY - 1, 0.015, 15, false, false, true},
        {SAMPLER_JOINED_MANY, 0.06, 25, true, false, false},
        {SAMPLER_JOINED_MANY, 0.06, 24, true, false, true},
        {SAMPLER_JOINED_MANY - 1, 0.06, 23, true, false, false},
        {SAMPLER_JOINED_LEAST / 2, 0.5, 48, true, true, true},
        {SAMPLER_JOINED_LEAST / 2 - 1, 0.5, 48, true, true, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sampler_box b = box_of(rows[i].count, rows[i].noise);
        b.most = rows[i].most;
        b.least = SAMPLER_JOINED_LEAST;
        b.is_joined = b.is_sorted = rows[i].is_sorted;
        b.is_engine_bound = rows[i].is_engine_bound;
        if (sampler_is_enough(&b) != rows[i].is_enough) fail_msg("row %zu", i);
    }
}

/* Where windows of sorted boxes that say how fast the memory is are fewer than two, nothing is known. */
TEST(some_windows_say_how_fast_the_memory_is) {
    for (int known = 0; known < 3; known++) {
        sampler_box b = box_of(SAMPLER_JOINED_LEAST, 0);
        b.is_joined = b.is_sorted = true;
        b.rates.known = known;
        assert_int_equal(sampler_is_enough(&b), known >= 2);
    }
}

/* Each window takes longer than the one before. */
TEST(large_boxes_of_the_memory_drift) {
    static const struct {
        int count;
        double weight;
        bool any_engine_bound, is_sorted, drifts;
    } rows[] = {{SAMPLER_LEAST, 1, false, false, true},     {SAMPLER_LEAST - 1, 1, false, false, false},
                {SAMPLER_LEAST, 1, true, false, false},     {SAMPLER_LEAST, 1, false, true, false},
                {SAMPLER_LEAST, 0.25, false, false, false}, {SAMPLER_LEAST, 0.26, false, false, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sampler_box b = {.weight = rows[i].weight,
                         .any_engine_bound = rows[i].any_engine_bound,
                         .is_sorted = rows[i].is_sorted};
        for (int k = 0; k < rows[i].count; k++) ts_ratio_add(&b.ticks, 1 + 0.1 * k, 1);
        if (sampler_is_drifting(&b) != rows[i].drifts) fail_msg("row %zu", i);
    }
}

/* Nor does the error where nothing will be left. */
TEST(what_will_be_left_counts) {
    sampler_box b = box_of(SAMPLER_MANY, 0.1);
    assert_false(sampler_will_agree(&b));
    b.left = 0.25; /* a third of the windows have taken three quarters */
    assert_true(sampler_will_agree(&b));
}

/* Windows one behind the other of 10 blocks each, of a rest that holds so many more than there may be at most. */
TEST(long_rests_are_measured_on) {
    const int64_t is_long = SAMPLER_LONG * SAMPLER_MOST * 10;
    sampler_box b = box_of(SAMPLER_MANY, 0.1); /* will not agree */
    b.length = 10;
    assert_true(sampler_is_vain(&b, is_long));
    b.is_consecutive = true;
    assert_true(sampler_is_vain(&b, is_long - 1));
    assert_false(sampler_is_vain(&b, is_long));
    b = box_of(SAMPLER_MANY, 0); /* will */
    assert_false(sampler_is_vain(&b, 1));
    b.most = SAMPLER_MANY;
    assert_true(sampler_is_vain(&b, 1));
}

/* A box of 100 elements in 1000, at 2 ticks each. Before anything has passed, others count a quarter of that; then what
 * those that passed took, and no more than its own. */
TEST(weights_are_parts_of_the_time) {
    static const struct {
        int64_t passed, tick, charged;
        double others, past;
    } rows[] = {{0, 50, 70, 0.5, 0},
                {1, 1, 0, 1, 1},
                {100, 100, 0, 1, 100},
                {100, 60, 40, 1, 100},
                {100, 100, 300, 2, 400}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sampler s = {.elements = 1000, .passed = rows[i].passed, .charged = rows[i].charged};
        s.box.elements = 100;
        double later = rows[i].others * (double)(900 - rows[i].passed);
        double weight = sampler_weight_of(&s, &(sampler_sample){.tick = rows[i].tick}, 2);
        assert_true(fabs(weight - 200 / (200 + rows[i].past + later)) < 1e-12);
    }
}

/* More elements by work than all have, fewer, or as many but for one part in 400. */
TEST(elements_are_compared_by_work) {
    static const struct {
        ts_traversal_amount part, all;
        int more;
    } rows[] = {{{100, 10}, {1000, 100}, 0},  {{200, 10}, {1000, 100}, 1}, {{50, 10}, {1000, 100}, -1},
                {{401, 10}, {4000, 100}, 0},  {{399, 10}, {4000, 100}, 0}, {{402, 10}, {4000, 100}, 1},
                {{398, 10}, {4000, 100}, -1}, {{401, 8}, {4000, 100}, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(sampler_compare_elements(rows[i].part, rows[i].all), rows[i].more);
}
