/* The ratio of two sums, of samples taken one after the other, and how well it is known. */
#ifndef TILESIM_BASE_RATIO_H
#define TILESIM_BASE_RATIO_H

#include <stdbool.h>

/* Of each sample a value and its weight: where all weights are 1, the ratio is the mean of the values. Zeroed
 * before the first. */
typedef struct {
    int count;
    double value, weight;                          /* sums of them, */
    double value_squared, weight_squared, product; /* of their squares and products, */
    double value_order, weight_order; /* and of their products with the sample's number, from 0 on */
} ts_ratio;

void ts_ratio_add(ts_ratio *ratio, double value, double weight);
double ts_ratio_get(const ts_ratio *ratio);
/* Is its standard error at most one part in `error`, times the square root of `share`? At least 2 samples. */
bool ts_ratio_is_known(const ts_ratio *ratio, double error, double share);
/* Do the samples grow, or shrink, with their order: by more than one part in `part` from the first to the
 * last, and by more than `sure` standard errors of that slope? At least 3 samples. */
bool ts_ratio_drifts(const ts_ratio *ratio, double part, double sure);

#endif
