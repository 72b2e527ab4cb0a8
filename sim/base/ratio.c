/* The ratio of two sums, of samples taken one after the other, and how well it is known. */
#include "base/ratio.h"

void ts_ratio_add(ts_ratio *r, double value, double weight) {
    r->value_order += value * r->count;
    r->weight_order += weight * r->count;
    r->count++;
    r->value += value;
    r->weight += weight;
    r->value_squared += value * value;
    r->weight_squared += weight * weight;
    r->product += value * weight;
}

double ts_ratio_get(const ts_ratio *r) { return r->value / r->weight; }

/* Of how far each value is from what the ratio says. */
static double squared_errors(const ts_ratio *r) {
    double ratio = ts_ratio_get(r);
    return r->value_squared - 2 * ratio * r->product + ratio * ratio * r->weight_squared;
}

bool ts_ratio_is_known(const ts_ratio *r, double error, double share) {
    double n = r->count, variance = squared_errors(r) * n / (n - 1); /* of the sum */
    return variance * error * error * share <= r->value * r->value;
}

bool ts_ratio_drifts(const ts_ratio *r, double part, double sure) {
    double n = r->count, orders = n * (n * n - 1) / 12; /* of squares, about their mean */
    double slope = (r->value_order - ts_ratio_get(r) * r->weight_order) / orders;
    double explained = slope * slope * orders, drift = slope * (n - 1) * part, mean = r->value / n;
    return drift * drift > mean * mean && explained * (n - 2) > sure * sure * (squared_errors(r) - explained);
}
