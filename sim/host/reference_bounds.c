/* Ranges of values: what those of a stream are at least and at most, without computing each. Sums, products
 * and the like of doubles never fall where an operand rises, so the same operations on the ends of ranges
 * enclose all results, each as it is rounded. A share of |expected| is rounded down. */
#include <math.h>

#include "reference_loops.h"

#define WIDER 0x1p-48 /* more than functions that rise are off */

/* Shares that are far from 1 count as none: what is rounded where exponents end could be less. */
static range make(double low, double high, double share) {
    bool moderate = share >= 0x1p-500 && share <= 0x1p100;
    return (range){low, high, moderate ? share : 0, false, isfinite(low) && isfinite(high)};
}

/* The least and the largest of what an operator makes of both ends of both. */
static range of_corners(const double *corners, double share) {
    double low = corners[0], high = corners[0];
    for (int i = 1; i < 4; i++) {
        low = fmin(low, corners[i]);
        high = fmax(high, corners[i]);
    }
    return make(low, high, share);
}

/* Something that is not negative takes nothing from the other side. */
range ts_range_add(const range *left, const range *right) {
    double share = (right->low >= 0 ? left->share : 0) + (left->low >= 0 ? right->share : 0);
    return make(left->low + right->low, left->high + right->high, share * BELOW_1);
}

range ts_range_subtract(const range *left, const range *right) {
    double share = right->high <= 0 ? left->share * BELOW_1 : 0;
    return make(left->low - right->high, left->high - right->low, share);
}

range ts_range_multiply(const range *left, const range *right) {
    const double corners[] = {left->low * right->low, left->low * right->high, left->high * right->low,
                              left->high * right->high};
    bool positive = left->low >= 0 && right->low >= 0;
    return of_corners(corners,
                      positive ? fmax(left->share * right->low, right->share * left->low) * BELOW_1 : 0);
}

range ts_range_divide(const range *left, const range *right) {
    const double corners[] = {left->low / right->low, left->low / right->high, left->high / right->low,
                              left->high / right->high};
    if (right->low <= 0 && right->high >= 0) return (range){0};
    return of_corners(corners, right->low > 0 && left->low >= 0 ? left->share / right->high * BELOW_1 : 0);
}

range ts_range_larger(const range *left, const range *right) {
    return make(fmax(left->low, right->low), fmax(left->high, right->high), fmax(left->share, right->share));
}

range ts_range_smaller(const range *left, const range *right) {
    return make(fmin(left->low, right->low), fmin(left->high, right->high), fmin(left->share, right->share));
}

range ts_range_limit(const range *left, const range *right) {
    return left->high < right->low ? make(left->low, left->high, left->share) : (range){0};
}

range ts_range_magnitude(const range *values, const range *none) {
    (void)none;
    double share = values->itself ? 1 : values->share;
    if (values->low >= 0) return make(values->low, values->high, share);
    return make(values->high <= 0 ? -values->high : 0, fmax(-values->low, values->high),
                values->itself ? share : 0);
}

static range bound_by_ends(const function *does, const range *values) {
    double ends[2] = {values->low, values->high};
    does->unary(ends, ends, 2);
    return make(ends[0] - fabs(ends[0]) * WIDER, ends[1] + fabs(ends[1]) * WIDER, 0);
}

range ts_reference_bound(const function *does, const range *left, const range *right) {
    if (!left->known || (right && !right->known)) return (range){0};
    if (does->bound) return does->bound(left, right);
    return does->rises ? bound_by_ends(does, left) : (range){0};
}
