/* The ratio of two sums, of samples taken one after the other, and how well it is known. */
#include "base/ratio.h"

void ts_ratio_add(ts_ratio *r, double value, double weight) {
    if (r->count == 0) r->first_value = value, r->first_weight = weight;
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

static ts_ratio without_first(const ts_ratio *r) {
    double value = r->first_value, weight = r->first_weight;
    return (ts_ratio){.count = r->count - 1,
                      .value = r->value - value,
                      .weight = r->weight - weight,
                      .value_squared = r->value_squared - value * value,
                      .weight_squared = r->weight_squared - weight * weight,
                      .product = r->product - value * weight};
}

bool ts_ratio_begins_apart(const ts_ratio *r, double part, double sure) {
    const ts_ratio others = without_first(r);
    double n = others.count, mean = others.value / n, variance = squared_errors(&others) / (n - 1);
    double apart = r->first_value / (ts_ratio_get(&others) * r->first_weight) - 1;
    return apart * apart * part * part > 1 && apart * apart * mean * mean > sure * sure * variance;
}
