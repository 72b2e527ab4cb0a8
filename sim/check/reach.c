/* The bytes that a side of a plan touches. */
#include "check/reach.h"

#include "base/number.h"

enum { GRANULE_BITS = TS_GRANULE_BYTES * 8 };

typedef struct {
    int64_t extent, bits;
} side_loop;

static void mark(ts_reach *r, int64_t first_bit, int64_t end_bit) {
    int64_t first = ts_floor_div(first_bit, GRANULE_BITS), end = ts_ceil_div(end_bit, GRANULE_BITS);
    for (int64_t g = first; g < end; g++) {
        int64_t at = g - r->first;
        if (at % TS_REACH_WORD == 0 && end - g >= TS_REACH_WORD) {
            r->touched[at / TS_REACH_WORD] = UINT64_MAX;
            g += TS_REACH_WORD - 1;
        } else {
            r->touched[at / TS_REACH_WORD] |= UINT64_C(1) << (at % TS_REACH_WORD);
        }
    }
}

/* The loops of one side that step, from the lowest address up. */
static int find_loops(const ts_plan_box *box, ts_side side, side_loop *loops, int64_t *start_bits) {
    int count = 0;
    *start_bits = ts_plan_start_bits(box, side);
    for (int i = 0; i < box->loop_count; i++) {
        side_loop l = {box->loops[i].extent, ts_plan_step_bits(&box->loops[i], side)};
        if (l.bits < 0) {
            *start_bits += (l.extent - 1) * l.bits;
            l.bits = -l.bits;
        }
        if (l.bits != 0) loops[count++] = l;
    }
    return count;
}

/* Steps that the span fills but for gaps shorter than a granule make it longer. */
static int join_loops(side_loop *loops, int count, int64_t *span_bits) {
    for (int i = 0; i < count; i++) {
        if (loops[i].bits < *span_bits + GRANULE_BITS) {
            *span_bits += (loops[i].extent - 1) * loops[i].bits;
            loops[i] = loops[--count];
            i = -1;
        }
    }
    return count;
}

static void mark_loops(ts_reach *r, const side_loop *loops, int count, int64_t at, int64_t span_bits) {
    if (count == 0) {
        mark(r, at, at + span_bits);
        return;
    }
    for (int64_t i = 0; i < loops[0].extent; i++)
        mark_loops(r, loops + 1, count - 1, at + i * loops[0].bits, span_bits);
}

static void box_range(const ts_plan_box *box, ts_side side, int element_bits, int64_t *first, int64_t *end) {
    int64_t low = ts_plan_start_bits(box, side), high = low + element_bits;
    for (int i = 0; i < box->loop_count; i++) {
        int64_t reach_bits = (box->loops[i].extent - 1) * ts_plan_step_bits(&box->loops[i], side);
        *(reach_bits < 0 ? &low : &high) += reach_bits;
    }
    *first = low < *first ? low : *first;
    *end = high > *end ? high : *end;
}

ts_reach ts_reach_find(ts_arena *arena, const ts_plan *plan, ts_side side, const ts_space *space) {
    int element_bits = (side == TS_SRC ? plan->src : plan->dst).shape->element_bits;
    int64_t first = INT64_MAX, end = INT64_MIN;
    ts_plan_box box;
    for (int64_t n = 0; n < plan->box_count; n++) {
        ts_plan_get_box(plan, n, &box);
        box_range(&box, side, element_bits, &first, &end);
    }
    ts_reach r = {.space = space};
    if (end <= first) return r;
    r.first = ts_floor_div(first, GRANULE_BITS) / TS_REACH_WORD * TS_REACH_WORD;
    r.end = ts_ceil_div(end, GRANULE_BITS);
    r.touched = TS_NEW_ARRAY(arena, uint64_t, ts_ceil_div(r.end - r.first, TS_REACH_WORD));
    for (int64_t n = 0; n < plan->box_count; n++) {
        side_loop loops[TS_PLAN_MAX_LOOPS];
        int64_t start_bits, span_bits = element_bits;
        ts_plan_get_box(plan, n, &box);
        int count = find_loops(&box, side, loops, &start_bits);
        count = join_loops(loops, count, &span_bits);
        mark_loops(&r, loops, count, start_bits, span_bits);
    }
    return r;
}

bool ts_reach_touches(const ts_reach *r, int64_t first, int64_t end) {
    first = ts_max(first, r->first);
    end = ts_min(end, r->end);
    for (int64_t g = first; g < end; g++) {
        int64_t at = g - r->first;
        uint64_t word = r->touched[at / TS_REACH_WORD] >> (at % TS_REACH_WORD);
        int64_t left = end - g, here = TS_REACH_WORD - at % TS_REACH_WORD;
        if (left < here) word &= (UINT64_C(1) << left) - 1;
        if (word) return true;
        g += here - 1;
    }
    return false;
}

bool ts_reach_overlap(const ts_reach *a, const ts_reach *b) {
    if (a->space != b->space || !a->touched || !b->touched) return false;
    int64_t first = ts_max(a->first, b->first), end = ts_min(a->end, b->end);
    for (int64_t g = first; g < end; g += TS_REACH_WORD) /* both begin at a multiple of 64 */
        if (a->touched[(g - a->first) / TS_REACH_WORD] & b->touched[(g - b->first) / TS_REACH_WORD])
            return true;
    return false;
}
