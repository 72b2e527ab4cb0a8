/* Composing two layouts into boxes of strided loops. */
#include "layout/plan.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "base/number.h"

enum { PIECE_LOOPS = 12, MAX_TERMS = 2 * TS_LAYOUT_MAX_DIMS, INJECTIVE_LIMIT = 1 << 22 };

/* The loops and the start of one stretch of a part. */
typedef struct {
    int64_t src, dst;
    int loop_count;
    ts_plan_loop loops[PIECE_LOOPS];
} piece;

struct ts_plan_part {
    int64_t piece_count;
    const piece *pieces;
};

/* chain(x) * src is added to the source address, chain(x) * dst to the other. */
typedef struct {
    ts_chain chain;
    int64_t src, dst;
} term;

/* ---- Pieces of one part: x in [low, high) ---- */

typedef struct {
    ts_arena *arena;
    piece *pieces;
    int64_t count, capacity;
    bool full;
} solver;

typedef struct {
    int64_t low, high;
    int64_t src_slope, dst_slope; /* of the terms that became linear in x */
    piece prefix;                 /* loops outside, and the sum of the terms that became constant */
    int term_count;
    term terms[MAX_TERMS]; /* last, so that a copy takes only those in use */
} stretch;

static void copy_stretch(stretch *to, const stretch *from) {
    memcpy(to, from, offsetof(stretch, terms) + (size_t)from->term_count * sizeof from->terms[0]);
}

static void emit(solver *s, const stretch *at) {
    const piece *p = &at->prefix;
    if (s->count == TS_PLAN_MAX_PIECES || p->loop_count == PIECE_LOOPS) {
        s->full = true;
        return;
    }
    if (s->count == s->capacity) {
        int64_t capacity = s->capacity * 2 + 4;
        s->pieces = ts_arena_grow(s->arena, s->pieces, (size_t)s->count, (size_t)capacity, sizeof *s->pieces);
        s->capacity = capacity;
    }
    piece *out = &s->pieces[s->count++];
    *out = *p;
    out->src += at->src_slope * at->low;
    out->dst += at->dst_slope * at->low;
    if (at->high - at->low > 1)
        out->loops[out->loop_count++] = (ts_plan_loop){at->high - at->low, at->src_slope, at->dst_slope};
}

/* Folds what does not change within [low, high). False when the term is gone: constant or linear by now. */
static bool fold(stretch *at, term *t) {
    ts_chain *c = &t->chain;
    while (c->op_count > 0) {
        int64_t bias = c->ops[0].bias, modulus = c->ops[0].modulus;
        int64_t cell = ts_floor_div(at->low + bias, modulus);
        if (cell != ts_floor_div(at->high - 1 + bias, modulus)) return true;
        int64_t *next = c->op_count > 1 ? &c->ops[1].bias : &c->bias;
        *next += bias - cell * modulus;
        c->op_count--;
        memmove(&c->ops[0], &c->ops[1], (size_t)c->op_count * sizeof c->ops[0]);
    }
    int64_t value = ts_floor_div(at->low + c->bias, c->divisor);
    if (c->divisor == 1) {
        at->src_slope += t->src;
        at->dst_slope += t->dst;
        value = c->bias;
    } else if (value != ts_floor_div(at->high - 1 + c->bias, c->divisor)) {
        return true;
    }
    at->prefix.src += value * t->src;
    at->prefix.dst += value * t->dst;
    return false;
}

static void fold_all(stretch *at) {
    int kept = 0;
    for (int i = 0; i < at->term_count; i++) {
        term t = at->terms[i];
        if (fold(at, &t)) at->terms[kept++] = t;
    }
    at->term_count = kept;
}

static int64_t period_of(const term *t) {
    return t->chain.op_count ? t->chain.ops[0].modulus : t->chain.divisor;
}
static int64_t bias_of(const term *t) { return t->chain.op_count ? t->chain.ops[0].bias : t->chain.bias; }

static const term *widest(const stretch *at) {
    const term *best = &at->terms[0];
    for (int i = 1; i < at->term_count; i++)
        if (period_of(&at->terms[i]) > period_of(best)) best = &at->terms[i];
    return best;
}

/* The common period of all terms, or `limit` + 1 when it is larger. */
static int64_t common_period(const stretch *at, int64_t limit) {
    int64_t period = 1;
    for (int i = 0; i < at->term_count; i++)
        if (!ts_lcm(period, period_of(&at->terms[i]), &period) || period > limit) return limit + 1;
    return period;
}

/* What both addresses gain when x grows by a common period. */
static ts_plan_loop period_loop(const stretch *at, int64_t period, int64_t count) {
    ts_plan_loop loop = {count, at->src_slope * period, at->dst_slope * period};
    for (int i = 0; i < at->term_count; i++) {
        const term *t = &at->terms[i];
        if (t->chain.op_count > 0) continue;
        loop.src_bits += period / t->chain.divisor * t->src;
        loop.dst_bits += period / t->chain.divisor * t->dst;
    }
    return loop;
}

static void solve(solver *s, const stretch *whole);

static void solve_between(solver *s, const stretch *at, int64_t low, int64_t high, const ts_plan_loop *loop) {
    if (low >= high || s->full) return;
    stretch inner;
    copy_stretch(&inner, at);
    inner.low = low;
    inner.high = high;
    if (loop) {
        if (inner.prefix.loop_count == PIECE_LOOPS)
            s->full = true;
        else
            inner.prefix.loops[inner.prefix.loop_count++] = *loop;
    }
    solve(s, &inner);
}

static void solve(solver *s, const stretch *whole) {
    stretch at;
    copy_stretch(&at, whole);
    fold_all(&at);
    if (at.term_count == 0) {
        emit(s, &at);
        return;
    }
    const term *wide = widest(&at);
    int64_t cell = period_of(wide), start = at.low + ts_floor_mod(-(at.low + bias_of(wide)), cell);
    if (start >= at.high) start = at.high;
    solve_between(s, &at, at.low, start, NULL);
    int64_t period = common_period(&at, at.high - start), count = (at.high - start) / period;
    if (count >= 2) {
        ts_plan_loop loop = period_loop(&at, period, count);
        solve_between(s, &at, start, start + period, &loop);
        start += count * period;
        solve_between(s, &at, start, at.high, NULL);
        return;
    }
    for (int64_t low = start; low < at.high && !s->full; low += cell)
        solve_between(s, &at, low, at.high - low < cell ? at.high : low + cell, NULL);
}

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
static bool place_variable(const ts_variable *v, const int *order, int count, const int64_t *sizes,
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
static bool add_terms(stretch *at, const ts_plan *plan, const grouping *g, const int *order, int count,
                      bool is_src) {
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
        if (!place_variable(v, order, count, plan->sizes, &modulus, &divisor)) return false;
        if (at->term_count == MAX_TERMS || !ts_chain_substitute(&chain, modulus, divisor)) return false;
        at->terms[at->term_count++] = (term){chain, is_src ? step : 0, is_src ? 0 : step};
    }
    return true;
}

/* ---- The whole plan ---- */

static const char *const too_many_pieces = "its cut points leave too many pieces";
static const char *const not_digits = "a layout is swizzled, a table, or merges dims after padding them";
static const char *const different_merges = "the two sides merge dims in ways that do not nest";

/* The padded extent of a dim that both sides pad alike and move whole, or 0. */
static int64_t shared_padding(const ts_plan *plan, const ts_normal_form *src, const ts_normal_form *dst,
                              int dim) {
    if (!src || !dst || plan->src.shape->layout->dims[dim] != plan->sizes[dim] ||
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
    stretch *at = TS_NEW(arena, stretch);
    at->high = 1;
    for (int i = 0; i < count; i++) at->high *= plan->sizes[order[i]];
    if (count == 1 && padded > at->high) at->high = padded;
    plan->moved_elements *= at->high;
    if (!add_terms(at, plan, g, order, count, true) || !add_terms(at, plan, g, order, count, false)) {
        plan->why_gather = different_merges;
        return false;
    }
    solver s = {.arena = arena};
    solve(&s, at);
    if (s.full) plan->why_gather = too_many_pieces;
    *out = (struct ts_plan_part){s.count, s.pieces};
    return !s.full;
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

/* The last part has one piece: the constants, and the replicas of the destination (the same source element,
 * several places). */
static bool add_constants(ts_plan *plan, ts_arena *arena, const grouping *g, struct ts_plan_part *out) {
    const ts_layout *layout = plan->dst_layout;
    piece *p = TS_NEW(arena, piece);
    p->src = constant_bits(&plan->src, g->src, plan->src_layout);
    p->dst = constant_bits(&plan->dst, g->dst, plan->dst_layout);
    for (int i = 0; i < layout->replica_count; i++) {
        const ts_iter *iter = &layout->replicas[i];
        if (iter->extent == 1) continue;
        if (p->loop_count == PIECE_LOOPS) return false;
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
        for (int64_t j = 0; j < plan->parts[i].piece_count; j++) {
            int here = plan->parts[i].pieces[j].loop_count;
            most = here > most ? here : most;
        }
        total += most;
    }
    return total;
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
        plan->why_gather = too_many_pieces;
        return false;
    }
    plan->box_count = 1;
    for (int i = 0; i < plan->part_count; i++)
        if (!ts_mul(plan->box_count, parts[i].piece_count, &plan->box_count)) return false;
    return true;
}

static void index_text(const int64_t *index, int rank, char out[128]) {
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < rank && used < 100; i++)
        used += (size_t)snprintf(out + used, 128 - used, "%s%lld", i ? "," : "", (long long)index[i]);
}

static bool refuse_overlap(ts_error *err, ts_arena *arena, const ts_layout *layout) {
    ts_layout_injectivity found;
    if (!ts_layout_injective(err, arena, layout, INJECTIVE_LIMIT, &found)) return false;
    if (found.injective) return true;
    char a[128], b[128];
    index_text(found.first, layout->rank, a);
    index_text(found.second, layout->rank, b);
    return ts_error_set(err, TS_ERROR_INPUT, "the destination puts (%s) and (%s) in one place", a, b);
}

/* The largest address of a side must fit: the range of each axis times its bits. */
static bool addresses_fit(ts_error *err, const ts_plan_side *side) {
    const ts_layout *layout = side->shape->layout;
    int64_t sum = side->base_bits < 0 ? -side->base_bits : side->base_bits;
    for (int i = 0; i < layout->axis_count; i++) {
        int64_t low, high, bits;
        ts_layout_axis_range(layout, i, &low, &high);
        if (low < 0 && -low > high) high = -low;
        if (!ts_mul(high < 0 ? -high : high, side->axis_bits[i], &bits) || !ts_add(sum, bits, &sum))
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
    int64_t *begin = TS_NEW_ARRAY(arena, int64_t, rank);
    if (side->begin && rank > 0) memcpy(begin, side->begin, (size_t)rank * sizeof *begin);
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

const ts_plan *ts_plan_new(ts_error *err, ts_arena *arena, const ts_plan_side *src, const ts_plan_side *dst,
                           int rank, const int64_t *sizes) {
    ts_plan *plan = TS_NEW(arena, ts_plan);
    *plan = (ts_plan){.src = *src, .dst = *dst, .rank = rank};
    plan->sizes = ts_arena_grow(arena, sizes, (size_t)rank, (size_t)rank, sizeof *sizes);
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

static void add_piece(ts_plan_box *box, const piece *p) {
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
    for (int i = plan->rank - 1; i >= 0; i--) {
        index[i] = number % plan->sizes[i];
        number /= plan->sizes[i];
    }
    box->src_bits = point_bits(&plan->src, plan->src_layout, index);
    box->dst_bits = point_bits(&plan->dst, plan->dst_layout, index);
    for (int i = 0; i < plan->dst_layout->replica_count && i < TS_PLAN_MAX_LOOPS; i++) {
        const ts_iter *iter = &plan->dst_layout->replicas[i];
        box->loops[box->loop_count++] =
            (ts_plan_loop){iter->extent, 0, iter->stride * plan->dst.axis_bits[iter->axis]};
    }
}

void ts_plan_shift(ts_plan *plan, int64_t src_bits, int64_t dst_bits) {
    plan->src.base_bits += src_bits;
    plan->dst.base_bits += dst_bits;
    plan->src_shift_bits += src_bits;
    plan->dst_shift_bits += dst_bits;
}

void ts_plan_get_box(const ts_plan *plan, int64_t number, ts_plan_box *box) {
    assert(number >= 0 && number < plan->box_count);
    box->src_bits = plan->src_shift_bits; /* pieces know the base before the shift */
    box->dst_bits = plan->dst_shift_bits;
    box->loop_count = 0;
    if (plan->gathers) {
        gather_box(plan, number, box);
    } else {
        for (int i = plan->part_count - 1; i >= 0; i--) {
            const struct ts_plan_part *part = &plan->parts[i];
            add_piece(box, &part->pieces[number % part->piece_count]);
            number /= part->piece_count;
        }
    }
    tidy(box);
}
