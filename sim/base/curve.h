/* The mean of a function on 0 to 1, from its values at some points, and how well it is known. Beside each
 * value stands that of another function, whose mean is known: what of the values goes with it, as a line
 * through them says, is taken from that mean. */
#ifndef TILESIM_BASE_CURVE_H
#define TILESIM_BASE_CURVE_H

enum { TS_CURVE_MOST = 96 };

typedef struct {
    double at, value, control;
} ts_curve_point;

/* Zeroed before the first point, and `control_mean` given; sorted. */
typedef struct {
    int count;
    double control_mean;
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

#endif
