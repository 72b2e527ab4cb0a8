/* Means of functions that are known at some points: against sums worked out by hand, and what must hold of any. */
#include "tests/support/test.h"

#include <math.h>

#include "base/curve.h"
#include "tests/support/random_layout.h"

static ts_curve of(const ts_curve_point *points, int count) {
    ts_curve curve = {0};
    for (int i = 0; i < count; i++) ts_curve_add(&curve, points[i]);
    return curve;
}

/* In any order, each stands for what is nearest: 3/8, 3/8 and 1/4. Squared errors of (1/2 * 4)^2 + (1/4 * 8)^2 = 8. */
TEST(points_stand_for_what_is_nearest) {
    ts_curve curve = of((ts_curve_point[]){{0.625, 8, false}, {0.125, 4, false}, {0.875, 16, false}}, 3);
    for (int i = 1; i < 3; i++) assert_true(curve.points[i].at > curve.points[i - 1].at);
    ts_curve_estimate e = ts_curve_get(&curve);
    assert_true(e.mean == 0.375 * 4 + 0.375 * 8 + 0.25 * 16);
    assert_true(e.variance == 8.0 / 2 * 3 / 1);
}

/* Bounds of 9 and 3 beside values of 4 and 8, whose mean is 6: taken for 6 and 3, each a quarter. */
TEST(bounds_are_the_mean_or_less) {
    ts_curve curve =
        of((ts_curve_point[]){{0.125, 9, true}, {0.375, 4, false}, {0.625, 8, false}, {0.875, 3, true}}, 4);
    ts_curve_estimate e = ts_curve_get(&curve);
    assert_int_equal(curve.known, 2);
    assert_true(e.mean == (6 + 4 + 8 + 3) / 4.0);
    assert_true(e.variance == (2 * 2 + 4 * 4 + 5 * 5) / 16.0 / 2 * 4 / 2);
    curve =
        of((ts_curve_point[]){{0.25, 9, true}, {0.75, 3, true}}, 2); /* where nothing is known, themselves */
    assert_true(ts_curve_get(&curve).mean == 6);
}

/* From half way to the one before up to, and without, half way to the next. */
TEST(the_nearest_point_is_found) {
    static const struct {
        double at, value;
    } rows[] = {{0, 4}, {0.24, 4}, {0.25, 8}, {0.49, 8}, {0.5, 6}, {0.625, 6}, {1, 6}};
    ts_curve curve = of((ts_curve_point[]){{0.125, 4, false}, {0.375, 8, false}, {0.625, 6, true}}, 3);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(ts_curve_at(&curve, rows[i].at) == rows[i].value);
    curve = of((ts_curve_point[]){{0.5, 7, false}}, 1);
    assert_true(ts_curve_at(&curve, 0) == 7 && ts_curve_at(&curve, 1) == 7);
}

/* ---- Any points ---- */

enum { PLACES = 128, SEED = 3 };

/* At odd multiples of 1/256, each once; of what is around the curve in memory nothing is used. */
typedef struct {
    double before;
    ts_curve curve;
    double behind[2];
} fenced;

static void some_points(uint64_t *seed, int count, fenced *out) {
    int places[PLACES];
    *out = (fenced){.before = 1e9, .behind = {(double)NAN, (double)NAN}};
    for (int i = 0; i < PLACES; i++) places[i] = i;
    for (int i = 0; i < count; i++) {
        int k = i + (int)random_below(seed, (uint32_t)(PLACES - i)), place = places[k];
        places[k] = places[i];
        ts_curve_add(&out->curve,
                     (ts_curve_point){(2 * place + 1) / 256.0, (double)random_below(seed, 1000), false});
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

TEST(every_place_counts_once) {
    uint64_t seed = SEED;
    for (int count = 1; count <= TS_CURVE_MOST; count++) {
        fenced f;
        some_points(&seed, count, &f);
        assert_true(fabs(ts_curve_get(&f.curve).mean - mean_of_nearest(&f.curve)) < 1e-9);
    }
}

/* Values are independent, all with an error of 10: that of their mean is 10 over the root of their number. */
TEST(errors_are_those_of_many_trials) {
    uint64_t seed = SEED + 2;
    enum { TRIALS = 4000, COUNT = 32 };
    double variance = 0, squares = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        ts_curve curve = {0};
        for (int i = 0; i < COUNT; i++)
            ts_curve_add(&curve, (ts_curve_point){(i + 0.5) / COUNT,
                                                  400 + (random_below(&seed, 2) ? 10 : -10), false});
        ts_curve_estimate e = ts_curve_get(&curve);
        variance += e.variance / TRIALS;
        squares += (e.mean - 400) * (e.mean - 400) / TRIALS;
    }
    assert_true(fabs(variance / (100.0 / COUNT) - 1) < 0.05);
    assert_true(fabs(squares / (100.0 / COUNT) - 1) < 0.1);
}
