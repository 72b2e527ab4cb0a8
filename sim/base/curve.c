/* The mean of a function on 0 to 1, from its values at some points, and how well it is known. */
#include "base/curve.h"

#include <assert.h>
#include <math.h>

void ts_curve_add(ts_curve *curve, ts_curve_point point) {
    assert(curve->count < TS_CURVE_MOST);
    int i = curve->count++;
    for (; i > 0 && curve->points[i - 1].at > point.at; i--) curve->points[i] = curve->points[i - 1];
    curve->points[i] = point;
    if (point.is_bound) return;
    curve->known++;
    curve->sum += point.value;
}

static double value_of(const ts_curve *curve, const ts_curve_point *p) {
    return p->is_bound && curve->known > 0 ? fmin(p->value, curve->sum / curve->known) : p->value;
}

/* Half way between two points. */
static double middle_of(const ts_curve_point *p) { return (p[0].at + p[1].at) / 2; }

ts_curve_estimate ts_curve_get(const ts_curve *curve) {
    double n = curve->count, from = 0, errors = 0;
    ts_curve_estimate e = {0};
    for (int i = 0; i < curve->count; i++) {
        const ts_curve_point *p = &curve->points[i];
        bool is_last = i + 1 == curve->count;
        double to = is_last ? 1 : middle_of(p), value = value_of(curve, p);
        e.mean += value * (to - from);
        from = to;
        if (is_last) break;
        double apart = (p[1].at - p[0].at) * (value_of(curve, &p[1]) - value);
        errors += apart * apart;
    }
    e.variance = errors / 2 * n / (n - 2); /* a difference has twice that of a value */
    return e;
}

double ts_curve_at(const ts_curve *curve, double at) {
    int low = 0, high = curve->count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (middle_of(&curve->points[middle]) <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return value_of(curve, &curve->points[low]);
}
