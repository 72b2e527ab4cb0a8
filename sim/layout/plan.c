/* Composing two layouts into boxes of strided loops. */
#include "layout/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "plan_segments.h"
#include "base/number.h"
#include "base/text.h"

enum { INJECTIVE_LIMIT = 1 << 22 };

/* ---- Parts: which dims go together, and their common row-major order ---- */

typedef struct {
    int part_of_dim[TS_LAYOUT_MAX_DIMS]; /* the smallest dim of the part */
    const ts_chains *src, *dst;
} grouping;

static void join_dims(grouping *g, int rank, const ts_chains *chains) {
    for (int i = 0; i < chains->variable_count; i++) {
        const ts_variable *v = &chains->variables[i];
        for (int j = 1; j < v->dim_count; j++) {
            int a = g->part_of_dim[v->dims[0]], b = g->part_of_dim[v->dims[j]];
            int low = a < b ? a : b;
            for (int k = 0; k < rank; k++)
                if (g->part_of_dim[k] == a || g->part_of_dim[k] == b) g->part_of_dim[k] = low;
        }
    }
}

/* A variable that spans the whole part sets the order; otherwise the dims' own. */
static int part_order(const grouping *g, int rank, int part, int *order) {
    int count = 0;
    for (int i = 0; i < rank; i++)
        if (g->part_of_dim[i] == part) order[count++] = i;
    const ts_chains *sides[2] = {g->src, g->dst};
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < sides[side]->variable_count; i++) {
            const ts_variable *v = &sides[side]->variables[i];
            if (v->dim_count != count || g->part_of_dim[v->dims[0]] != part) continue;
            memcpy(order, v->dims, (size_t)count * sizeof *order);
            return count;
        }
    }
    return count;
}

/* Where a variable's dims stand in the order, as one run; false when they do not. Gives what it must be
 * divided by and, unless it comes first, taken modulo. */
static bool find_variable(const ts_variable *v, const int *order, int count, const int64_t *sizes,
                          int64_t *modulus, int64_t *divisor) {
    int first = 0;
    while (first < count && order[first] != v->dims[0]) first++;
    if (first + v->dim_count > count ||
        memcmp(order + first, v->dims, (size_t)v->dim_count * sizeof *order) != 0)
        return false;
    *divisor = 1;
    for (int i = first + v->dim_count; i < count; i++) *divisor *= sizes[order[i]];
    *modulus = first > 0 ? *divisor * v->extent : 0;
    return true;
}

/* Adds the digits of one side that read this part, as terms in the part's own x. */
static bool add_terms(plan_interval *at, const ts_plan *plan, const grouping *g, const int *order, int count,
                      ts_side side) {
    bool is_src = side == TS_SRC;
    const ts_chains *chains = is_src ? g->src : g->dst;
    const ts_layout *layout = is_src ? plan->src_layout : plan->dst_layout;
    const int64_t *axis_bits = is_src ? plan->src.axis_bits : plan->dst.axis_bits;
    for (int i = 0; i < layout->digit_count; i++) {
        ts_chain chain = chains->digits[i];
        if (chain.variable == TS_CHAIN_CONSTANT || layout->digits[i].extent == 1) continue;
        const ts_variable *v = &chains->variables[chain.variable];
        bool here = false;
        for (int j = 0; j < count; j++) here = here || order[j] == v->dims[0];
        if (!here) continue;
        int64_t modulus, divisor, step = layout->digits[i].stride * axis_bits[layout->digits[i].axis];
        if (!find_variable(v, order, count, plan->sizes, &modulus, &divisor)) return false;
        if (at->term_count == PLAN_MAX_TERMS || !ts_chain_substitute(&chain, modulus, divisor)) return false;
        at->terms[at->term_count++] = (plan_term){chain, is_src ? step : 0, is_src ? 0 : step};
    }
    return true;
}

/* ---- The whole plan ---- */

static const char *const too_many_segments = "its cut points leave too many pieces";
static const char *const not_digits = "a layout is swizzled, a table, or merges dims after padding them";
static const char *const different_merges = "the two sides merge dims in ways that do not nest";

/* The padded extent of a dim that both sides pad alike and move whole, or 0. */
static int64_t shared_padding(const ts_plan *plan, const ts_normal_form *src, const ts_normal_form *dst,
                              int dim) {
    if (plan->keeps_padding || !src || !dst || plan->src.shape->layout->dims[dim] != plan->sizes[dim] ||
        plan->dst.shape->layout->dims[dim] != plan->sizes[dim])
        return 0;
    const ts_iter_group *groups[2] = {NULL, NULL};
    for (int i = 0; i < src->group_count; i++)
        groups[0] = src->groups[i].dim == dim ? &src->groups[i] : groups[0];
    for (int i = 0; i < dst->group_count; i++)
        groups[1] = dst->groups[i].dim == dim ? &dst->groups[i] : groups[1];
    if (!groups[0] || !groups[1] || groups[0]->dim_count != 1 || groups[1]->dim_count != 1) return 0;
    return groups[0]->padded == groups[1]->padded ? groups[0]->padded : 0;
}

static bool solve_part(ts_plan *plan, ts_arena *arena, const grouping *g, int part, int64_t padded,
                       struct ts_plan_part *out) {
    int order[TS_LAYOUT_MAX_DIMS], count = part_order(g, plan->rank, part, order);
    plan_interval at;
    memset(&at, 0, offsetof(plan_interval, terms));
    at.high = 1;
    for (int i = 0; i < count; i++) at.high *= plan->sizes[order[i]];
    if (count == 1 && padded > at.high) at.high = padded;
    plan->moved_elements *= at.high;
    if (!add_terms(&at, plan, g, order, count, TS_SRC) || !add_terms(&at, plan, g, order, count, TS_DST)) {
        plan->why_gather = different_merges;
        return false;
    }
    if (plan_segments_solve(arena, &at, out)) return true;
    plan->why_gather = too_many_segments;
    return false;
}

/* What no term holds: the base, the offsets of the axes, and the digits that never change. */
static int64_t constant_bits(const ts_plan_side *side, const ts_chains *chains, const ts_layout *layout) {
    int64_t bits = side->base_bits;
    for (int i = 0; i < layout->axis_count; i++) bits += layout->axes[i].offset * side->axis_bits[i];
    for (int i = 0; i < layout->digit_count; i++) {
        if (chains->digits[i].variable != TS_CHAIN_CONSTANT) continue;
        bits += chains->digits[i].bias * layout->digits[i].stride * side->axis_bits[layout->digits[i].axis];
    }
    return bits;
}

/* The last part has one segment: the constants, and the replicas of the destination (the same source element,
 * several locations). */
static bool add_constants(ts_plan *plan, ts_arena *arena, const grouping *g, struct ts_plan_part *out) {
    const ts_layout *layout = plan->dst_layout;
    plan_segment *p = TS_NEW(arena, plan_segment);
    p->src = constant_bits(&plan->src, g->src, plan->src_layout);
    p->dst = constant_bits(&plan->dst, g->dst, plan->dst_layout);
    for (int i = 0; i < layout->replica_count; i++) {
        const ts_iter *iter = &layout->replicas[i];
        if (iter->extent == 1) continue;
        if (p->loop_count == PLAN_SEGMENT_LOOPS) return false;
        p->loops[p->loop_count++] =
            (ts_plan_loop){iter->extent, 0, iter->stride * plan->dst.axis_bits[iter->axis]};
    }
    *out = (struct ts_plan_part){1, p};
    return true;
}

static int loops_at_most(const ts_plan *plan) {
    int total = 0;
    for (int i = 0; i < plan->part_count; i++) {
        int most = 0;
        for (int64_t j = 0; j < plan->parts[i].segment_count; j++) {
            int here = plan->parts[i].segments[j].loop_count;
            most = here > most ? here : most;
        }
        total += most;
    }
    return total;
}

static bool count_boxes(ts_plan *plan) {
    plan->box_count = 1;
    for (int i = 0; i < plan->part_count; i++)
        if (!ts_mul(plan->box_count, plan->parts[i].segment_count, &plan->box_count)) return false;
    return true;
}

static bool make_parts(ts_plan *plan, ts_arena *arena) {
    grouping g = {.src = ts_chains_of(arena, plan->src_layout), .dst = ts_chains_of(arena, plan->dst_layout)};
    if (g.src->compound || g.dst->compound) {
        plan->why_gather = not_digits;
        return false;
    }
    const ts_normal_form *src = ts_layout_normalise(arena, plan->src.shape->layout);
    const ts_normal_form *dst = ts_layout_normalise(arena, plan->dst.shape->layout);
    struct ts_plan_part *parts = TS_NEW_ARRAY(arena, struct ts_plan_part, plan->rank + 1);
    plan->parts = parts;
    for (int i = 0; i < plan->rank; i++) g.part_of_dim[i] = i;
    join_dims(&g, plan->rank, g.src);
    join_dims(&g, plan->rank, g.dst);
    for (int i = 0; i < plan->rank; i++) {
        if (g.part_of_dim[i] != i) continue;
        if (!solve_part(plan, arena, &g, i, shared_padding(plan, src, dst, i), &parts[plan->part_count++]))
            return false;
    }
    if (!add_constants(plan, arena, &g, &parts[plan->part_count++]) ||
        loops_at_most(plan) > TS_PLAN_MAX_LOOPS) {
        plan->why_gather = too_many_segments;
        return false;
    }
    return count_boxes(plan);
}

static bool refuse_overlap(ts_error *err, ts_arena *arena, const ts_layout *layout) {
    ts_layout_injectivity found;
    if (!ts_layout_injective(err, arena, layout, INJECTIVE_LIMIT, &found)) return false;
    if (found.injective) return true;
    ts_text places = ts_text_begin(arena);
    ts_text_add_tuple(&places, found.first, layout->rank);
    ts_text_add(&places, " and ");
    ts_text_add_tuple(&places, found.second, layout->rank);
    return ts_error_set(err, TS_ERROR_INPUT, "the destination puts %s in one place", places.bytes);
}

/* The largest address of a side must fit: the range of each axis times its bits. */
static bool addresses_fit(ts_error *err, const ts_plan_side *side) {
    const ts_layout *layout = side->shape->layout;
    int64_t sum = side->base_bits < 0 ? -side->base_bits : side->base_bits;
    for (int i = 0; i < layout->axis_count; i++) {
        int64_t low, high, bits;
        ts_layout_axis_range(layout, i, &low, &high);
        if (!ts_mul(ts_max(high, -low), side->axis_bits[i], &bits) || !ts_add(sum, bits, &sum))
            return ts_error_set(err, TS_ERROR_INPUT, "the layout's addresses do not fit in 64 bits");
    }
    return true;
}

static const int64_t *whole_axis_bits(ts_arena *arena, const ts_plan_side *side) {
    int64_t *bits = TS_NEW_ARRAY(arena, int64_t, side->shape->layout->axis_count);
    for (int i = 0; i < side->shape->layout->axis_count; i++)
        bits[i] = side->axis_bits ? side->axis_bits[i] : side->shape->element_bits;
    return bits;
}

static bool set_side(ts_error *err, ts_arena *arena, ts_plan_side *side, int rank, const int64_t *sizes,
                     const ts_layout **sliced) {
    const ts_layout *layout = side->shape->layout;
    if (!layout) return ts_error_set(err, TS_ERROR_INPUT, "this shape has no layout");
    if (layout->rank != rank) {
        return ts_error_set(err, TS_ERROR_INPUT, "the shape has %d dimensions, expected %d", layout->rank,
                            rank);
    }
    int64_t *begin =
        side->begin ? TS_COPY_ARRAY(arena, side->begin, rank) : TS_NEW_ARRAY(arena, int64_t, rank);
    side->begin = begin;
    side->axis_bits = whole_axis_bits(arena, side);
    *sliced = ts_layout_slice(err, arena, layout, begin, sizes);
    return *sliced && addresses_fit(err, side);
}

const int64_t *ts_plan_squeeze(ts_error *err, ts_arena *arena, ts_plan_side *side, const int64_t *size,
                               int *rank) {
    const ts_layout *whole = side->shape->layout;
    int64_t first[TS_LAYOUT_MAX_DIMS], cut[TS_LAYOUT_MAX_DIMS];
    int64_t *begin = TS_NEW_ARRAY(arena, int64_t, whole->rank + 1);
    int64_t *sizes = TS_NEW_ARRAY(arena, int64_t, whole->rank + 1);
    *rank = 0;
    for (int i = 0; i < whole->rank; i++) {
        bool kept = size[i] != 1;
        first[i] = kept || !side->begin ? 0 : side->begin[i];
        cut[i] = kept ? whole->dims[i] : 1;
        begin[*rank] = side->begin ? side->begin[i] : 0;
        sizes[*rank] = size[i];
        *rank += kept;
    }
    const ts_layout *layout = ts_layout_slice(err, arena, whole, first, cut);
    ts_shape *shape = TS_NEW(arena, ts_shape);
    *shape = *side->shape;
    shape->layout = layout ? ts_layout_squeeze(err, arena, layout) : NULL;
    side->shape = shape;
    side->begin = begin;
    return shape->layout ? sizes : NULL;
}

/* What it moves of its two sides; NULL on an error. */
static const ts_plan *compose(ts_error *err, ts_arena *arena, const ts_plan *of, int rank,
                              const int64_t *sizes) {
    ts_plan *plan = TS_NEW(arena, ts_plan);
    *plan = *of;
    plan->rank = rank;
    plan->sizes = TS_COPY_ARRAY(arena, sizes, rank);
    if (!set_side(err, arena, &plan->src, rank, plan->sizes, &plan->src_layout) ||
        !set_side(err, arena, &plan->dst, rank, plan->sizes, &plan->dst_layout) ||
        !refuse_overlap(err, arena, plan->dst_layout))
        return NULL;
    plan->elements = ts_layout_element_count(plan->src_layout) * ts_layout_replica_total(plan->dst_layout);
    plan->moved_elements = ts_layout_replica_total(plan->dst_layout);
    if (plan->elements == 0) {
        plan->moved_elements = 0;
        return plan;
    }
    plan->gathers = !make_parts(plan, arena);
    if (plan->gathers) {
        plan->moved_elements = plan->elements;
        plan->box_count = ts_layout_element_count(plan->src_layout);
    }
    return plan;
}

const ts_plan *ts_plan_new(ts_error *err, ts_arena *arena, const ts_plan_side *src, const ts_plan_side *dst,
                           int rank, const int64_t *sizes) {
    return compose(err, arena, &(ts_plan){.src = *src, .dst = *dst}, rank, sizes);
}

const ts_plan *ts_plan_of_elements(ts_error *err, ts_arena *arena, const ts_plan_side *src,
                                   const ts_plan_side *dst, int rank, const int64_t *sizes) {
    return compose(err, arena, &(ts_plan){.src = *src, .dst = *dst, .keeps_padding = true}, rank, sizes);
}

/* ---- Boxes ---- */

static bool is_before(const ts_plan_loop *a, const ts_plan_loop *b) {
    int64_t da = llabs(a->dst_bits), db = llabs(b->dst_bits);
    return da != db ? da > db : llabs(a->src_bits) > llabs(b->src_bits);
}

/* There are few, and mostly in order. */
static void sort_loops(ts_plan_box *box) {
    for (int i = 1; i < box->loop_count; i++) {
        ts_plan_loop loop = box->loops[i];
        int k = i;
        for (; k > 0 && is_before(&loop, &box->loops[k - 1]); k--) box->loops[k] = box->loops[k - 1];
        box->loops[k] = loop;
    }
}

static void tidy(ts_plan_box *box) {
    sort_loops(box);
    int kept = 0;
    box->elements = 1;
    for (int i = 0; i < box->loop_count; i++) {
        ts_plan_loop loop = box->loops[i], *last = kept ? &box->loops[kept - 1] : NULL;
        box->elements *= loop.extent;
        if (loop.extent == 1) continue;
        if (last && last->src_bits == loop.extent * loop.src_bits &&
            last->dst_bits == loop.extent * loop.dst_bits)
            *last = (ts_plan_loop){last->extent * loop.extent, loop.src_bits, loop.dst_bits};
        else
            box->loops[kept++] = loop;
    }
    box->loop_count = kept;
}

static void add_segment(ts_plan_box *box, const plan_segment *p) {
    box->src_bits += p->src;
    box->dst_bits += p->dst;
    memcpy(box->loops + box->loop_count, p->loops, (size_t)p->loop_count * sizeof p->loops[0]);
    box->loop_count += p->loop_count;
}

static int64_t point_bits(const ts_plan_side *side, const ts_layout *layout, const int64_t *index) {
    int64_t coordinates[TS_LAYOUT_MAX_AXES], bits = side->base_bits;
    ts_layout_forward(layout, index, coordinates);
    for (int i = 0; i < layout->axis_count; i++) bits += coordinates[i] * side->axis_bits[i];
    return bits;
}

static void gather_box(const ts_plan *plan, int64_t number, ts_plan_box *box) {
    int64_t index[TS_LAYOUT_MAX_DIMS];
    ts_index_unflatten(plan->rank, plan->sizes, number, index);
    box->src_bits = point_bits(&plan->src, plan->src_layout, index);
    box->dst_bits = point_bits(&plan->dst, plan->dst_layout, index);
    for (int i = 0; i < plan->dst_layout->replica_count && i < TS_PLAN_MAX_LOOPS; i++) {
        const ts_iter *iter = &plan->dst_layout->replicas[i];
        box->loops[box->loop_count++] =
            (ts_plan_loop){iter->extent, 0, iter->stride * plan->dst.axis_bits[iter->axis]};
    }
}

int64_t ts_plan_wide_bytes(const ts_plan *plan, int64_t elements) {
    return ts_ceil_div(elements * ts_max(plan->src.shape->element_bits, plan->dst.shape->element_bits), 8);
}

void ts_plan_shift(ts_plan *plan, int64_t src_bits, int64_t dst_bits) {
    plan->src.base_bits += src_bits;
    plan->dst.base_bits += dst_bits;
    plan->src_shift_bits += src_bits;
    plan->dst_shift_bits += dst_bits;
}

void ts_plan_get_box(const ts_plan *plan, int64_t number, ts_plan_box *box) {
    assert(number >= 0 && number < plan->box_count);
    box->src_bits = plan->src_shift_bits; /* segments know the base before the shift */
    box->dst_bits = plan->dst_shift_bits;
    box->loop_count = 0;
    if (plan->gathers) {
        gather_box(plan, number, box);
    } else {
        for (int i = plan->part_count - 1; i >= 0; i--) {
            const struct ts_plan_part *part = &plan->parts[i];
            int64_t outer = number < part->segment_count ? 0 : number / part->segment_count;
            add_segment(box, &part->segments[number - outer * part->segment_count]);
            number = outer;
        }
    }
    tidy(box);
}
