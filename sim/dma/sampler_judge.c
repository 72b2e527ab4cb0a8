/* Whether the windows of a box tell its time. */
#include "sampler.h"

#include <math.h>

double sampler_weight_of(const sampler *s, const sampler_sample *now, double rate) {
    double own = rate * (double)s->box.elements, past = (double)(now->tick + s->charged);
    double others = rate / 4, later = (double)(s->elements - s->passed - s->box.elements);
    if (s->passed > 0) others = fmin(past / (double)s->passed, rate);
    return own / (own + (s->passed > 0 ? past : 0) + later * others);
}

bool sampler_is_large(const sampler_box *b) { return b->weight > 1.0 / SAMPLER_LARGE; }

static bool is_joined_known(const sampler_box *b, double error) {
    int count = b->ticks.count;
    if (b->is_engine_bound || count < b->least) return count >= b->least / 2 && b->is_engine_bound;
    if (b->rates.known < SAMPLER_JOINED_RATES) return false;
    ts_curve_estimate rate = ts_curve_get(&b->rates);
    return rate.variance * error * error <= rate.mean * rate.mean * b->weight;
}

/* Is the mean known well enough for one part in `error` of the whole? */
static bool is_known(const sampler_box *b, double error) {
    if (b->is_sorted) return is_joined_known(b, error);
    if (b->ticks.count < 2 || b->is_engine_bound) return b->ticks.count >= b->least_engine_bound;
    return b->ticks.count >= b->least && ts_ratio_is_known(&b->ticks, error, b->weight * b->left);
}

bool sampler_is_drifting(const sampler_box *b) {
    return b->ticks.count >= SAMPLER_LEAST && !b->any_engine_bound && sampler_is_large(b) && !b->is_sorted &&
           ts_ratio_drifts(&b->ticks, SAMPLER_DRIFT, SAMPLER_SURE);
}

bool sampler_is_enough(const sampler_box *b) {
    int count = b->ticks.count;
    bool is_last = count >= b->most;
    if (b->is_sorted)
        return is_known(b, is_last && count >= SAMPLER_JOINED_MANY ? SAMPLER_BARELY : SAMPLER_JOINED_ERROR);
    if (b->is_consecutive) return is_known(b, SAMPLER_ERROR) && !sampler_is_drifting(b);
    return is_known(b, SAMPLER_ERROR) || ((count >= SAMPLER_MANY || is_last) && is_known(b, SAMPLER_ROUGHLY));
}

bool sampler_will_agree(const sampler_box *b) {
    double part = (double)b->ticks.count / b->most, left = 1 - (1 - b->left) / part;
    if (!b->is_joined)
        return b->ticks.count < SAMPLER_MANY ||
               ts_ratio_is_known(&b->ticks, SAMPLER_ROUGHLY, b->weight * part * (left > 0 ? left : 0));
    if (!b->is_sorted) return b->ticks.count < SAMPLER_LEAST || is_known(b, SAMPLER_ROUGHLY / 2);
    return b->ticks.count < SAMPLER_MANY || is_known(b, SAMPLER_HOPE);
}

bool sampler_is_vain(const sampler_box *b, int64_t rest) {
    if (b->is_consecutive && rest >= SAMPLER_LONG * (int64_t)SAMPLER_MOST * b->length) return false;
    return b->ticks.count >= b->most || !sampler_will_agree(b);
}

int sampler_compare_elements(ts_traversal_amount part, ts_traversal_amount all) {
    double own = (double)part.elements * (double)all.work, mean = (double)all.elements * (double)part.work;
    return fabs(own - mean) * SAMPLER_ERROR <= mean ? 0 : own > mean ? 1 : -1;
}
