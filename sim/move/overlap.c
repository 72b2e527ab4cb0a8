/* Do the two sides of a plan keep apart although their ranges of bytes overlap, as columns of one array
 * do? */
#include "overlap.h"

#include <stdlib.h>

#include "base/number.h"

enum { MOST_BOXES = 64 }; /* more are taken to overlap */

/* Bits of a side modulo the period: low .. high-1, and low is in the first period. */
typedef struct {
    int64_t low, high;
} stripe;

/* The loops that step by whole periods stay at the same offset in it; false when the others fill more than
 * one. */
static bool find_stripe(const ts_plan_box *box, ts_side side, int element_bits, int64_t period, stripe *out) {
    int64_t low = ts_plan_start_bits(box, side), high = low + element_bits;
    for (int i = 0; i < box->loop_count; i++) {
        int64_t stride = ts_plan_step_bits(&box->loops[i], side);
        if (stride % period == 0) continue;
        *(stride < 0 ? &low : &high) += stride * (box->loops[i].extent - 1);
    }
    low = ts_floor_div(low, 8) * 8;
    high = ts_ceil_div(high, 8) * 8;
    if (high - low > period) return false;
    out->low = low - ts_floor_div(low, period) * period;
    out->high = out->low + high - low;
    return true;
}

static bool are_apart(const stripe *a, const stripe *b, int64_t period) {
    return (b->low >= a->high && b->high <= a->low + period) ||
           (a->low >= b->high && a->high <= b->low + period);
}

static bool separates(const ts_plan *plan, int64_t period) {
    stripe src[MOST_BOXES], dst[MOST_BOXES];
    for (int64_t i = 0; i < plan->box_count; i++) {
        ts_plan_box box;
        ts_plan_get_box(plan, i, &box);
        if (!find_stripe(&box, TS_SRC, plan->src.shape->element_bits, period, &src[i]) ||
            !find_stripe(&box, TS_DST, plan->dst.shape->element_bits, period, &dst[i]))
            return false;
    }
    for (int64_t i = 0; i < plan->box_count * plan->box_count; i++)
        if (!are_apart(&src[i / plan->box_count], &dst[i % plan->box_count], period)) return false;
    return true;
}

bool dma_sides_are_apart(const ts_plan *plan) {
    ts_plan_box box;
    if (plan->gathers || plan->box_count > MOST_BOXES) return false;
    ts_plan_get_box(plan, 0, &box);
    for (int i = 0; i < 2 * box.loop_count; i++) {
        const ts_plan_loop *loop = &box.loops[i / 2];
        int64_t period = llabs(ts_plan_step_bits(loop, (ts_side)(i % 2)));
        if (period > 0 && period % 8 == 0 && separates(plan, period)) return true;
    }
    return false;
}
