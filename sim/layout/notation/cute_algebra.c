/* CuTe layouts: coalesce, composition, complement and inverses (NVIDIA/cutlass include/cute/layout.hpp). */
#include <assert.h>
#include <inttypes.h>

#include "cute_private.h"
#include "base/number.h"

/* Modes that are integers. A size fits in int64, so that at most 62 extents are not 1. */
enum { FLAT_MAX = 64 };
typedef struct {
    int count;
    int64_t extent[FLAT_MAX], stride[FLAT_MAX];
} flat;

/* Appends a mode, or lengthens the last one if it goes on from there; an extent of 1 adds nothing. */
static void push(flat *f, int64_t extent, int64_t stride) {
    int64_t next;
    int last = f->count - 1;
    if (extent == 1) return;
    if (last >= 0 && ts_mul(f->extent[last], f->stride[last], &next) && next == stride &&
        ts_mul(f->extent[last], extent, &f->extent[last]))
        return;
    f->extent[f->count] = extent;
    f->stride[f->count++] = stride;
}

typedef enum { DROP_ZERO_STRIDES, KEEP_ZERO_STRIDES } zero_strides;

static void push_leaves(flat *f, const ts_cute *layout, zero_strides zeros) {
    for (int i = 0; i < layout->rank; i++) push_leaves(f, &layout->modes[i], zeros);
    if (!layout->rank && (layout->stride || zeros == KEEP_ZERO_STRIDES))
        push(f, layout->extent, layout->stride);
}

static flat coalesced(const ts_cute *layout) {
    flat f = {0};
    push_leaves(&f, layout, KEEP_ZERO_STRIDES);
    return f;
}

/* Also the same function beyond the layout's size, where the last mode goes on with its stride: a last extent
 * of 1 stays, as one of 2. */
static flat coalesced_beyond(const ts_cute *layout) {
    flat f = coalesced(layout);
    const ts_cute *last = layout;
    while (last->rank) last = &last->modes[last->rank - 1];
    if (last->extent == 1) push(&f, 2, last->stride);
    return f;
}

static ts_cute from_flat(ts_arena *arena, const flat *f) {
    if (f->count == 0) return ts_cute_leaf(1, 0);
    if (f->count == 1) return ts_cute_leaf(f->extent[0], f->stride[0]);
    ts_cute *modes = TS_NEW_ARRAY(arena, ts_cute, f->count);
    for (int i = 0; i < f->count; i++) modes[i] = ts_cute_leaf(f->extent[i], f->stride[i]);
    return (ts_cute){.rank = f->count, .modes = modes};
}

bool ts_cute_filter(ts_error *err, ts_arena *arena, const ts_cute *layout, ts_cute *out) {
    flat f = {0};
    (void)err;
    push_leaves(&f, layout, DROP_ZERO_STRIDES);
    *out = from_flat(arena, &f);
    return true;
}

static void copy_leaves(const ts_cute *layout, ts_cute *leaves, int *count) {
    for (int i = 0; i < layout->rank; i++) copy_leaves(&layout->modes[i], leaves, count);
    if (!layout->rank) leaves[(*count)++] = *layout;
}

bool ts_cute_flatten(ts_error *err, ts_arena *arena, const ts_cute *layout, ts_cute *out) {
    ts_cute *leaves = TS_NEW_ARRAY(arena, ts_cute, ts_cute_leaf_count(layout));
    (void)err;
    *out = layout->rank ? (ts_cute){.modes = leaves} : *layout;
    if (layout->rank) copy_leaves(layout, leaves, &out->rank);
    return true;
}

bool ts_cute_coalesce(ts_error *err, ts_arena *arena, const ts_cute *layout, const ts_cute *profile,
                      ts_cute *out) {
    if (!profile || !profile->rank) {
        flat f = coalesced(layout);
        *out = from_flat(arena, &f);
        return true;
    }
    int rank = ts_cute_rank(layout);
    if (profile->rank > rank)
        return ts_error_set(err, TS_ERROR_INPUT, "a profile of %d modes for a layout of %d", profile->rank,
                            rank);
    ts_cute *modes = ts_cute_tuple(arena, rank, out);
    for (int i = 0; i < rank; i++) {
        modes[i] = *ts_cute_mode(layout, i);
        if (i < profile->rank &&
            !ts_cute_coalesce(err, arena, ts_cute_mode(layout, i), &profile->modes[i], &modes[i]))
            return false;
    }
    return true;
}

/* A o B while B's leaves are taken one by one. `used` is the largest index that the leaves so far reach in
 * each mode of A: where two leaves together reach its extent, the sum carries into the next mode, and no
 * layout does that. */
typedef struct {
    ts_error *err;
    ts_arena *arena;
    flat a;
    int64_t used[FLAT_MAX];
} composer;

static bool overflow(ts_error *err) {
    return ts_error_set(err, TS_ERROR_INPUT, "a stride of the result does not fit in 64 bits");
}

static bool add_mode(composer *c, flat *result, int64_t extent, int64_t step, int64_t stride) {
    int last = result->count++;
    result->extent[last] = extent;
    return ts_mul(step, stride, &result->stride[last]) || overflow(c->err);
}

/* The largest index within a mode extent:stride that a leaf reaches of which `taken` steps of r fall into the
 * mode, and `outer` times as many go on behind it; the extent itself if the result would be wrong. The inner
 * steps fill the mode; where they go over, each outer step loses the excess, which changes nothing in a mode
 * of stride 0 as long as the sum stays below the extent. */
static int64_t reach_of(int64_t extent, int64_t stride, int64_t r, int64_t taken, int64_t outer) {
    if (outer > 1 && stride && extent % r) return extent;
    return (taken * outer - 1) * r - (outer - 1) * extent;
}

/* Takes from rest:step what falls into mode i of A, and leaves what is for the modes behind it. */
static bool take_mode(composer *c, int i, int64_t *rest, int64_t *step, flat *result) {
    int64_t extent = c->a.extent[i], stride = c->a.stride[i], r = *step;
    if (r >= extent && r % extent)
        return ts_error_set(c->err, TS_ERROR_INPUT,
                            "stride %" PRId64 " of the right layout is neither below extent %" PRId64
                            " of the left one nor a multiple of it",
                            r, extent);
    *step = ts_ceil_div(r, extent);
    int64_t room = ts_ceil_div(extent, r), taken = room < *rest ? room : *rest;
    if (taken == 1) return true;
    if (*rest % taken)
        return ts_error_set(c->err, TS_ERROR_INPUT,
                            "extent %" PRId64 " of the right layout is not a multiple of %" PRId64
                            ", what extent %" PRId64 " of the left one has room for",
                            *rest, taken, extent);
    int64_t reach = reach_of(extent, stride, r, taken, *rest / taken);
    if (reach >= extent - c->used[i])
        return ts_error_set(
            c->err, TS_ERROR_INPUT,
            "the right layout crosses extent %" PRId64 " of the left one: no layout equals A(B(c))", extent);
    c->used[i] += reach;
    *rest /= taken;
    return add_mode(c, result, taken, r, stride);
}

static bool compose_leaf(composer *c, const ts_cute *leaf, ts_cute *out) {
    int last = c->a.count - 1;
    int64_t rest = leaf->extent, step = leaf->stride;
    flat result = {0};
    *out = ts_cute_leaf(leaf->extent, 0);
    if (leaf->extent == 1 || leaf->stride == 0) return true;
    if (last > 0 && step < 0)
        return ts_error_set(c->err, TS_ERROR_INPUT,
                            "the right layout's negative stride %" PRId64 " leaves the left one's domain",
                            step);
    for (int i = 0; i < last; i++)
        if (!take_mode(c, i, &rest, &step, &result)) return false;
    if (rest > 1 && !add_mode(c, &result, rest, step, c->a.stride[last])) return false;
    *out = from_flat(c->arena, &result);
    return true;
}

static bool compose_node(composer *c, const ts_cute *b, ts_cute *out) {
    if (!b->rank) return compose_leaf(c, b, out);
    ts_cute *modes = ts_cute_tuple(c->arena, b->rank, out);
    for (int i = 0; i < b->rank; i++)
        if (!compose_node(c, &b->modes[i], &modes[i])) return false;
    return true;
}

bool ts_cute_compose_layout(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute *b,
                            ts_cute *out) {
    composer c = {.err = err, .arena = arena, .a = coalesced_beyond(a)};
    return compose_node(&c, b, out) && ts_cute_finish(err, out);
}

/* Order of the modes by stride, equal ones as they come. */
static void sort_by_stride(const flat *f, int *order) {
    for (int i = 0; i < f->count; i++) {
        int at = i;
        for (; at > 0 && f->stride[order[at - 1]] > f->stride[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

static bool negative(ts_error *err, const char *op, int64_t stride) {
    return ts_error_set(err, TS_ERROR_INPUT, "%s: the stride %" PRId64 " is negative", op, stride);
}

static bool within(ts_error *err, int64_t stride, int64_t covered) {
    return ts_error_set(err, TS_ERROR_INPUT,
                        "complement: found stride %" PRId64 ", expected at least the %" PRId64
                        " that smaller strides cover",
                        stride, covered);
}

bool ts_cute_complement(ts_error *err, ts_arena *arena, const ts_cute *layout, int64_t target, ts_cute *out) {
    flat f = {0}, result = {0};
    int order[FLAT_MAX];
    int64_t covered = 1;
    assert(target >= 1);
    push_leaves(&f, layout, DROP_ZERO_STRIDES);
    sort_by_stride(&f, order);
    for (int i = 0; i < f.count; i++) {
        int64_t stride = f.stride[order[i]];
        if (stride < 0) return negative(err, "complement", stride);
        if (stride < covered) return within(err, stride, covered);
        push(&result, stride / covered, covered);
        if (!ts_mul(stride, f.extent[order[i]], &covered)) return overflow(err);
    }
    push(&result, ts_ceil_div(target, covered), covered);
    *out = from_flat(arena, &result);
    return ts_cute_finish(err, out);
}

/* The compact strides of the coalesced layout: index steps of its modes. */
static void index_steps(const flat *f, int64_t *steps) {
    int64_t step = 1;
    for (int i = 0; i < f->count; i++) {
        steps[i] = step;
        step *= f->extent[i];
    }
}

bool ts_cute_right_inverse(ts_error *err, ts_arena *arena, const ts_cute *layout, ts_cute *out) {
    flat f = coalesced(layout), result = {0};
    int order[FLAT_MAX];
    int64_t steps[FLAT_MAX], next = 1;
    bool more = true;
    index_steps(&f, steps);
    sort_by_stride(&f, order);
    for (int i = 0; i < f.count && more; i++) {
        int mode = order[i];
        if (f.stride[mode] != next) continue;
        push(&result, f.extent[mode], steps[mode]);
        more = ts_mul(f.extent[mode], f.stride[mode], &next);
    }
    *out = from_flat(arena, &result);
    return ts_cute_finish(err, out);
}

/* Digit k of an index x, in the mixed radix of the sorted strides, becomes the coordinate in mode k. It must
 * stay below the mode's extent for every x = L(i); it does not where smaller strides overlap and carry into
 * mode k, unless the digit wraps at the extent. Beyond the last mode L goes on. */
static bool digit_leaves(const flat *f, int mode, bool carried, int64_t radix) {
    return mode >= 0 && carried && radix > f->extent[mode] && mode != f->count - 1;
}

static bool no_multiple(ts_error *err, int64_t stride, int64_t smaller) {
    return ts_error_set(err, TS_ERROR_INPUT,
                        "left_inverse: stride %" PRId64
                        " is not a multiple of the next smaller one, %" PRId64,
                        stride, smaller);
}

bool ts_cute_left_inverse(ts_error *err, ts_arena *arena, const ts_cute *layout, ts_cute *out) {
    flat f = coalesced(layout), result = {0};
    int order[FLAT_MAX], last = -1;
    int64_t steps[FLAT_MAX], previous = 1, reach = 0;
    bool carried = false, leaves = false;
    index_steps(&f, steps);
    sort_by_stride(&f, order);
    for (int i = 0; i < f.count; i++) {
        int64_t stride = f.stride[order[i]];
        if (stride == 0) continue;
        if (stride < 0) return negative(err, "left_inverse", stride);
        if (stride % previous) return no_multiple(err, stride, previous);
        leaves = leaves || digit_leaves(&f, last, carried, stride / previous);
        push(&result, stride / previous, last < 0 ? 0 : steps[last]);
        last = order[i];
        previous = stride;
        carried = reach >= stride;
        reach += (f.extent[last] - 1) * stride;
    }
    if (leaves || digit_leaves(&f, last, carried, INT64_MAX))
        return ts_error_set(err, TS_ERROR_INPUT, "left_inverse: the layout is not injective");
    if (last >= 0) push(&result, f.extent[last], steps[last]);
    *out = from_flat(arena, &result);
    return ts_cute_finish(err, out);
}

/* The extents of a shape's modes at the leaves of an order. */
typedef struct {
    int count;
    int64_t size[FLAT_MAX], order[FLAT_MAX];
} ordering;

static bool gather_order(ts_error *err, const ts_cute *shape, const ts_cute *order, ordering *all) {
    if (!order->rank) {
        int64_t size = ts_cute_size(shape);
        all->size[all->count] = size;
        all->order[all->count] = order->extent;
        all->count += size > 1;
        return true;
    }
    if (order->rank != shape->rank)
        return ts_error_set(err, TS_ERROR_INPUT, "an order of %d modes for a shape of %d", order->rank,
                            ts_cute_rank(shape));
    for (int i = 0; i < order->rank; i++)
        if (!gather_order(err, &shape->modes[i], &order->modes[i], all)) return false;
    return true;
}

static void ordered_node(ts_arena *arena, const ts_cute *shape, const ts_cute *order, const ordering *all,
                         ts_cute *out) {
    if (!order->rank) {
        int64_t current = 1;
        for (int i = 0; i < all->count; i++)
            if (all->order[i] < order->extent) current *= all->size[i];
        (void)ts_cute_compact(arena, shape, TS_CUTE_LEFTMOST, &current,
                              out); /* at most the size of the whole shape */
        return;
    }
    ts_cute *modes = ts_cute_tuple(arena, shape->rank, out);
    for (int i = 0; i < shape->rank; i++)
        ordered_node(arena, &shape->modes[i], &order->modes[i], all, &modes[i]);
}

bool ts_cute_ordered(ts_error *err, ts_arena *arena, const ts_cute *shape, const ts_cute *order,
                     ts_cute *out) {
    ordering all = {0};
    if (!gather_order(err, shape, order, &all)) return false;
    ordered_node(arena, shape, order, &all, out);
    return true;
}
