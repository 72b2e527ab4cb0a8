/* The segments of a part of a plan: intervals of x, the dims of the part in row-major order, in which both
 * addresses are sums of strided loops. Private. */
#ifndef TILESIM_LAYOUT_PLAN_SEGMENTS_H
#define TILESIM_LAYOUT_PLAN_SEGMENTS_H

#include "chain.h"
#include "layout/plan.h"

enum { PLAN_SEGMENT_LOOPS = 12, PLAN_MAX_TERMS = 2 * TS_LAYOUT_MAX_DIMS };

/* The loops and the start of one interval of a part. */
typedef struct {
    int64_t src, dst;
    int loop_count;
    ts_plan_loop loops[PLAN_SEGMENT_LOOPS];
} plan_segment;

struct ts_plan_part {
    int64_t segment_count;
    const plan_segment *segments;
};

/* chain(x) * src is added to the source address, chain(x) * dst to the other. */
typedef struct {
    ts_chain chain;
    int64_t src, dst;
} plan_term;

/* x in [low, high), and what is added to both addresses. */
typedef struct {
    int64_t low, high;
    int64_t src_slope, dst_slope; /* of the terms that became linear in x */
    plan_segment prefix;          /* loops outside, and the sum of the terms that became constant */
    int term_count;
    plan_term terms[PLAN_MAX_TERMS]; /* last, so that a copy takes only those in use */
} plan_interval;

/* The segments of an interval, grouped by the periods of its terms. False: there are more than
 * TS_PLAN_MAX_SEGMENTS, or one has more than PLAN_SEGMENT_LOOPS loops. */
bool plan_segments_solve(ts_arena *arena, const plan_interval *whole, struct ts_plan_part *part);

#endif
