/* The mean of a function on 0 to 1, from its values at some points, and how well it is known. */
#ifndef TILESIM_BASE_CURVE_H
#define TILESIM_BASE_CURVE_H

#include <stdbool.h>

enum { TS_CURVE_MOST = 96 };

typedef struct {
    double at, value;
    /* `value` is an upper bound: the point counts as the mean of the known ones where that is less. */
    bool is_bound;
} ts_curve_point;

/* Zeroed before the first point; sorted. */
typedef struct {
    int count, known; /* points, and those that are no bounds */
    double sum;       /* of the values of these */
    ts_curve_point points[TS_CURVE_MOST];
} ts_curve;

void ts_curve_add(ts_curve *curve, ts_curve_point point);

/* The variance is the square of the mean's standard error. How far off a value may be is taken from how far
 * neighbours are apart: what goes up or down slowly is no error. */
typedef struct {
    double mean; /* a point stands for what is nearer to it than to others */
    double variance;
} ts_curve_estimate;
/* Of at least 1 point, the mean; of at least 3, the variance. */
ts_curve_estimate ts_curve_get(const ts_curve *curve);
/* The value of the point that is nearest; of at least 1. */
double ts_curve_at(const ts_curve *curve, double at);

#endif
