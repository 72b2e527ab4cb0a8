/* The plan: two layouts of the same logical shape composed into strided loops. The only thing that moves
 * bytes, that is charged for, and that is shown.
 *
 * Dims that neither side merges with others form a part. Along a part the addresses of both sides are sums of
 * digits, constant or linear between cut points; the intervals between the union of both sides' cut points,
 * grouped by period, are its segments: loops and a start. The product of the segments of all parts are the
 * boxes, made one at a time. Where the segments would be too many, or a side's map is no chain of digits, the
 * plan gathers: a box an element. */
#ifndef TILESIM_LAYOUT_PLAN_H
#define TILESIM_LAYOUT_PLAN_H

#include "layout/shape.h"

enum {
    TS_PLAN_MAX_LOOPS = 32,
    TS_PLAN_MAX_SEGMENTS = 1 << 16, /* a part; more and the plan gathers */
};

/* One end of a transfer. Addresses are in bits, so that sub-byte types need no special case. */
typedef struct {
    const ts_shape *shape;
    const int64_t *begin;     /* of the slice, rank values; NULL: 0 in every dim */
    const int64_t *axis_bits; /* bits a step on each axis of the layout; NULL: element_bits on every axis */
    int64_t base_bits;        /* where offset 0 lies */
} ts_plan_side;

typedef enum { TS_SRC, TS_DST } ts_side; /* which of the two */

typedef struct {
    int64_t extent, src_bits, dst_bits;
} ts_plan_loop;

/* A perfectly nested loop over elements, outermost first, in order of destination stride. Neighbouring loops
 * that are one progression on both sides are fused; extents of 1 are dropped. */
typedef struct {
    int64_t src_bits, dst_bits; /* of the first element */
    int64_t elements;           /* product of the extents */
    int loop_count;
    ts_plan_loop loops[TS_PLAN_MAX_LOOPS];
} ts_plan_box;

static inline int64_t ts_plan_step_bits(const ts_plan_loop *loop, ts_side side) {
    return side == TS_SRC ? loop->src_bits : loop->dst_bits;
}

static inline int64_t ts_plan_start_bits(const ts_plan_box *box, ts_side side) {
    return side == TS_SRC ? box->src_bits : box->dst_bits;
}

struct ts_plan_part;

typedef struct ts_plan {
    ts_plan_side src, dst;
    const ts_layout *src_layout, *dst_layout; /* of the slices: index 0 is the first element moved */
    int rank;
    const int64_t *sizes;
    int64_t elements;       /* valid elements that arrive, each replica counted */
    int64_t moved_elements; /* with the padding that travels because both sides pad alike */
    bool keeps_padding;     /* of the destination, even where both sides pad alike */
    bool gathers;
    const char *why_gather; /* a sentence; NULL when it does not */
    int64_t box_count;
    int part_count;
    const struct ts_plan_part *parts;
    int64_t src_shift_bits, dst_shift_bits; /* of ts_plan_shift */
} ts_plan;

/* sizes: of the box of logical indices that is moved. Refused: slices outside a side's dims, a destination
 * that maps two indices to one address (the error names them), addresses that do not fit in 64 bits. */
const ts_plan *ts_plan_new(ts_error *err, ts_arena *arena, const ts_plan_side *src, const ts_plan_side *dst,
                           int rank, const int64_t *sizes);
/* The same of the elements alone: padding that both sides share stays where it is, too. */
const ts_plan *ts_plan_of_elements(ts_error *err, ts_arena *arena, const ts_plan_side *src,
                                   const ts_plan_side *dst, int rank, const int64_t *sizes);

/* Of so many elements, at the end where they are wider: what passes a DMA engine for them. */
int64_t ts_plan_wide_bytes(const ts_plan *plan, int64_t elements);

/* Leaves out of a side the dims of which `size`, its slice, has 1, so that xb[s1] of a [2,8,128] tensor meets
 * an [8,128] one; other dims stay whole, for the plan must know whether padding or elements lie behind the
 * slice. The sizes of the dims that are left, and how many; NULL on an error. */
const int64_t *ts_plan_squeeze(ts_error *err, ts_arena *arena, ts_plan_side *side, const int64_t *size,
                               int *rank);

/* Moves all addresses of a plan (of a copy of it: the parts are shared). */
void ts_plan_shift(ts_plan *plan, int64_t src_bits, int64_t dst_bits);

/* Box `number` (0 .. box_count-1). Boxes touch disjoint destination elements. */
void ts_plan_get_box(const ts_plan *plan, int64_t number, ts_plan_box *box);

#endif
