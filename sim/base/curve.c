/* The mean of a function on 0 to 1, from its values at some points, and how well it is known. */
#include "base/curve.h"

#include <assert.h>
#include <stdbool.h>

void ts_curve_add(ts_curve *curve, ts_curve_point point) {
    assert(curve->count < TS_CURVE_MOST);
    int i = curve->count++;
    for (; i > 0 && curve->points[i - 1].at > point.at; i--) curve->points[i] = curve->points[i - 1];
    curve->points[i] = point;
}

/* Of the line of least squares through values over controls. */
static double slope_of(const ts_curve *curve) {
    double n = curve->count, value = 0, control = 0, product = 0, square = 0;
    for (int i = 0; i < curve->count; i++) {
        const ts_curve_point *p = &curve->points[i];
        value += p->value;
        control += p->control;
        product += p->value * p->control;
        square += p->control * p->control;
    }
    double spread = square - control * control / n;
    return spread > 1e-9 * square ? (product - value * control / n) / spread : 0;
}

ts_curve_estimate ts_curve_get(const ts_curve *curve) {
    double slope = slope_of(curve), n = curve->count, from = 0, errors = 0;
    ts_curve_estimate e = {.mean = slope * curve->control_mean};
    for (int i = 0; i < curve->count; i++) {
        const ts_curve_point *p = &curve->points[i];
        bool is_last = i + 1 == curve->count;
        double to = is_last ? 1 : (p[0].at + p[1].at) / 2;
        e.mean += (p->value - slope * p->control) * (to - from);
        from = to;
        if (is_last) break;
        double apart =
            (p[1].at - p[0].at) * (p[1].value - p[0].value - slope * (p[1].control - p[0].control));
        errors += apart * apart;
    }
    e.variance = errors / 2 * n / (n - 2); /* a difference has twice that of a value */
    return e;
}
