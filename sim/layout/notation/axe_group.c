/* Axe layouts: grouping shards by the dims of a shape, and slices. */
#include <inttypes.h>

#include "axe_private.h"
#include "base/number.h"

static bool not_grouped(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe_shape shape) {
    ts_text dims = ts_text_begin(arena);
    ts_text text = ts_text_begin(arena);
    ts_text_add_integers(&dims, shape.dims, shape.rank);
    ts_axe_print(&text, axe);
    return ts_error_set(err, TS_ERROR_INPUT, "%.200s cannot be grouped by the shape (%.100s)", text.bytes,
                        dims.bytes);
}

/* TVM's rule (tile_tile_ops.cc): shards are collected until their product is a multiple of the dim; what is
 * left over is split off, as the first part of the next dim. */
static bool group_tvm(const ts_axe *axe, ts_axe_shape shape, ts_axe_list *out, int *seps) {
    int64_t product = 1;
    int dim = 0;
    for (int i = 0; i < axe->shard_count; i++) {
        ts_axe_iter iter = axe->shards[i];
        if (!ts_mul(product, iter.extent, &product)) return false;
        while (dim < shape.rank && product % shape.dims[dim] == 0) {
            int64_t rest = product / shape.dims[dim], step;
            if (iter.extent % rest != 0 || !ts_mul(iter.stride, rest, &step)) return false;
            ts_axe_list_add(out, (ts_axe_iter){iter.extent / rest, step, iter.axis});
            iter.extent = product = rest;
            seps[++dim] = out->count;
        }
        if (iter.extent == 1) continue;
        if (dim == shape.rank) return false;
        ts_axe_list_add(out, iter);
    }
    return dim == shape.rank;
}

/* Algorithm 1 of the paper's appendix: a dim takes from each shard the greatest common divisor. */
static bool group_paper(const ts_axe *axe, ts_axe_shape shape, ts_axe_list *out, int *seps) {
    int at = 0;
    int64_t left = axe->shard_count > 0 ? axe->shards[0].extent : 1;
    for (int dim = 0; dim < shape.rank; dim++) {
        int64_t need = shape.dims[dim];
        while (need > 1) {
            while (left == 1 && ++at < axe->shard_count) left = axe->shards[at].extent;
            int64_t part = left == 1 ? 1 : ts_gcd(left, need), step;
            if (part == 1 || !ts_mul(axe->shards[at].stride, left / part, &step)) return false;
            ts_axe_list_add(out, (ts_axe_iter){part, step, axe->shards[at].axis});
            left /= part;
            need /= part;
        }
        seps[dim + 1] = out->count;
    }
    return true;
}

bool ts_axe_group(ts_error *err, ts_arena *arena, ts_axe_form form, const ts_axe *axe, ts_axe_shape shape,
                  ts_axe_grouped *out) {
    ts_axe_list list = {.arena = arena};
    int64_t size;
    int *seps = TS_NEW_ARRAY(arena, int, shape.rank + 1);
    if (!ts_axe_shape_size(err, shape, &size)) return false;
    bool grouped = size == ts_axe_size(axe, NULL) &&
                   (form == TS_AXE_PAPER ? group_paper : group_tvm)(axe, shape, &list, seps);
    if (!grouped) return not_grouped(err, arena, axe, shape);
    *out = (ts_axe_grouped){ts_axe_with(axe, &list, NULL), seps};
    return ts_axe_finish(err, &out->axe);
}

/* A swizzle of memory in its own order has any size: its period repeats. */
bool ts_axe_tile_of(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe_shape shape, ts_axe *out) {
    int64_t size;
    if (!ts_axe_canonical(err, arena, TS_AXE_TVM, axe, out)) return false;
    if (!axe->swizzle.present || out->shard_count != 1 || out->shards[0].stride != 1 ||
        out->replica_count + out->offset_count > 0)
        return true;
    if (!ts_axe_shape_size(err, shape, &size)) return false;
    ts_axe_iter *iter = TS_NEW(arena, ts_axe_iter);
    *iter = (ts_axe_iter){size, 1, "m"};
    out->shards = iter;
    return true;
}

/* ---- Several shapes: all their boundaries (products of leading dims, 1 first) on one line ---- */

typedef struct {
    int64_t value;
    int most;  /* how often the sequence that has it most often has it */
    int first; /* its position on the line */
} boundary;

typedef struct {
    boundary *items;
    int count;
} line;

static boundary *find_boundary(line *all, int64_t value) {
    int at = 0;
    while (at < all->count && all->items[at].value < value) at++;
    if (at < all->count && all->items[at].value == value) return &all->items[at];
    memmove(&all->items[at + 1], &all->items[at], (size_t)(all->count - at) * sizeof *all->items);
    all->items[at] = (boundary){.value = value};
    all->count++;
    return &all->items[at];
}

/* The boundaries of a sequence are in ascending order, so that equal ones stand together. */
static void add_boundaries(line *all, int count, const int64_t *extents) {
    int64_t product = 1;
    int same = 1;
    find_boundary(all, 1);
    for (int i = 0; i <= count; i++) {
        boundary *here = find_boundary(all, product);
        if (same > here->most) here->most = same;
        if (i == count) break;
        same = extents[i] == 1 ? same + 1 : 1;
        product *= extents[i];
    }
}

/* The position of each boundary of a sequence; of equal ones the last goes to the end. */
static void find_positions(line *all, int count, const int64_t *extents, int *positions) {
    int64_t product = 1;
    int same = 0;
    for (int i = 0; i <= count; i++) {
        boundary *here = find_boundary(all, product);
        positions[i] = here->first + (i == count ? here->most - 1 : same);
        if (i == count) break;
        same = extents[i] == 1 ? same + 1 : 0;
        product *= extents[i];
    }
}

static bool divide_in_turn(const line *all) {
    for (int i = 1; i < all->count; i++)
        if (all->items[i].value % all->items[i - 1].value != 0) return false;
    return true;
}

/* A shard from boundary `first` to `last` of the line, as one iter a step. */
static bool refine(const line *all, const ts_axe_iter *shard, int first, int last, ts_axe_list *out) {
    int64_t rest = shard->extent, step;
    for (int at = first, i = 0; at < last; at++) {
        while (i + 1 < all->count && all->items[i + 1].first <= at) i++;
        bool ends =
            at + 1 == all->items[i].first + all->items[i].most; /* the next position has the next value */
        int64_t extent = ends ? all->items[i + 1].value / all->items[i].value : 1;
        rest /= extent;
        if (!ts_mul(shard->stride, rest, &step)) return false;
        ts_axe_list_add(out, (ts_axe_iter){extent, step, shard->axis});
    }
    return true;
}

/* All shapes are of as many elements as `axe`; *boundaries: how many their dims can have. */
static bool check_sizes(ts_error *err, ts_arena *arena, const ts_axe *axe, int count,
                        const ts_axe_shape *shapes, int *boundaries) {
    int64_t size;
    *boundaries = axe->shard_count + 2;
    for (int i = 0; i < count; i++) {
        *boundaries += shapes[i].rank + 1;
        if (!ts_axe_shape_size(err, shapes[i], &size)) return false;
        if (size != ts_axe_size(axe, NULL)) return not_grouped(err, arena, axe, shapes[i]);
    }
    return true;
}

bool ts_axe_group_many(ts_error *err, ts_arena *arena, const ts_axe *axe, int count,
                       const ts_axe_shape *shapes, ts_axe_grouped *out) {
    int total, *positions = TS_NEW_ARRAY(arena, int, axe->shard_count + 1);
    int64_t *extents = TS_NEW_ARRAY(arena, int64_t, axe->shard_count + 1);
    if (!check_sizes(err, arena, axe, count, shapes, &total)) return false;
    line all = {.items = TS_NEW_ARRAY(arena, boundary, total)};
    for (int i = 0; i < axe->shard_count; i++) extents[i] = axe->shards[i].extent;
    for (int i = 0; i < count; i++) add_boundaries(&all, shapes[i].rank, shapes[i].dims);
    add_boundaries(&all, axe->shard_count, extents);
    if (!divide_in_turn(&all))
        return ts_error_set(err, TS_ERROR_INPUT, "the dimensions' boundaries do not divide one another");
    for (int i = 1; i < all.count; i++) all.items[i].first = all.items[i - 1].first + all.items[i - 1].most;
    ts_axe_list list = {.arena = arena};
    find_positions(&all, axe->shard_count, extents, positions);
    for (int i = 0; i < axe->shard_count; i++)
        if (!refine(&all, &axe->shards[i], positions[i], positions[i + 1], &list))
            return ts_axe_overflow(err);
    ts_axe grouped = ts_axe_with(axe, &list, NULL);
    for (int i = 0; i < count; i++) {
        int *seps = TS_NEW_ARRAY(arena, int, shapes[i].rank + 1);
        find_positions(&all, shapes[i].rank, shapes[i].dims, seps);
        out[i] = (ts_axe_grouped){grouped, seps};
    }
    return ts_axe_finish(err, &grouped);
}

/* ---- Slices (the paper's E.1 and E.2, tile_slice.cc) ---- */

typedef struct {
    ts_error *err;
    ts_axe_list shards;
    ts_axe_offset *offsets;
    int offset_count;
} slicer;

/* The digits that `begin` has over the block's iters. */
static void split_index(const ts_axe *block, int64_t begin, int64_t *digits) {
    for (int i = block->shard_count - 1; i >= 0; i--) {
        digits[i] = begin % block->shards[i].extent;
        begin /= block->shards[i].extent;
    }
}

/* `rest` steps of iter k from digit `from` on wrap once, in the middle: two runs, a carry apart. */
static bool wraps_in_the_middle(const ts_axe *block, const int64_t *digits, int k, int64_t rest,
                                ts_axe_iter *carry) {
    if (k == 0 || rest % 2 != 0) return false;
    const ts_axe_iter *iter = &block->shards[k], *above = &block->shards[k - 1];
    if (digits[k] + rest / 2 != iter->extent || !ts_axe_same_axis(iter->axis, above->axis)) return false;
    if (digits[k - 1] + 1 >= above->extent) return false;
    int64_t back;
    return ts_mul(iter->extent - rest / 2, iter->stride, &back) &&
           !__builtin_sub_overflow(above->stride, back, &carry->stride) &&
           (carry->extent = 2, carry->axis = iter->axis, true);
}

/* Adds the iters of `count` indices from `begin` of one dim; false when there are none. */
static bool slice_block(slicer *s, const ts_axe *block, int64_t begin, int64_t count) {
    int64_t digits[TS_LAYOUT_MAX_DIMS];
    ts_axe_iter carry;
    int k = block->shard_count - 1;
    split_index(block, begin, digits);
    for (int i = 0; i < block->shard_count; i++)
        if (!ts_axe_add_offset(s->offsets, &s->offset_count, block->shards[i].axis,
                               digits[i] * block->shards[i].stride))
            return ts_axe_overflow(s->err);
    while (k >= 0 && digits[k] == 0 && count % block->shards[k].extent == 0)
        count /= block->shards[k--].extent;
    if (k >= 0) {
        const ts_axe_iter *iter = &block->shards[k];
        if (digits[k] + count <= iter->extent) {
            ts_axe_list_add(&s->shards, (ts_axe_iter){count, iter->stride, iter->axis});
        } else if (wraps_in_the_middle(block, digits, k, count, &carry)) {
            ts_axe_list_add(&s->shards, carry);
            ts_axe_list_add(&s->shards, (ts_axe_iter){count / 2, iter->stride, iter->axis});
        } else {
            return false;
        }
    }
    for (int i = k + 1; i < block->shard_count; i++) ts_axe_list_add(&s->shards, block->shards[i]);
    return true;
}

static bool check_region(ts_error *err, ts_axe_shape shape, const int64_t *begin, const int64_t *end) {
    for (int i = 0; i < shape.rank; i++)
        if (begin[i] < 0 || begin[i] >= end[i] || end[i] > shape.dims[i])
            return ts_error_set(err, TS_ERROR_INPUT,
                                "the region %" PRId64 ":%" PRId64
                                " of dimension %d is empty or not within 0:%" PRId64,
                                begin[i], end[i], i, shape.dims[i]);
    return true;
}

bool ts_axe_slice(ts_error *err, ts_arena *arena, ts_axe_shaped whole, const int64_t *begin,
                  const int64_t *end, ts_axe_answer *out) {
    ts_axe tile, block;
    ts_axe_grouped grouped;
    ts_axe *axe = &grouped.axe;
    ts_error own = {0};
    slicer s = {.err = &own, .shards.arena = arena};
    out->found = true;
    if (!check_region(err, whole.shape, begin, end) ||
        !ts_axe_tile_of(err, arena, whole.axe, whole.shape, &tile) ||
        !ts_axe_group(err, arena, TS_AXE_TVM, &tile, whole.shape, &grouped))
        return false;
    s.offset_count = axe->offset_count;
    s.offsets = ts_axe_copy_offsets(arena, axe, axe->shard_count);
    for (int i = 0; i < whole.shape.rank && out->found; i++) {
        int first = grouped.seps[i];
        ts_axe part = {.shard_count = grouped.seps[i + 1] - first, .shards = ts_axe_from(axe, first)};
        out->found = ts_axe_canonical(&own, arena, TS_AXE_TVM, &part, &block) &&
                     slice_block(&s, &block, begin[i], end[i] - begin[i]);
    }
    if (own.kind != TS_ERROR_NONE) return ts_error_set(err, own.kind, "%s", own.message);
    if (!out->found) return true;
    *axe = ts_axe_with(axe, &s.shards, NULL);
    axe->offsets = s.offsets;
    axe->offset_count = s.offset_count;
    return ts_axe_finish(err, axe) && ts_axe_canonical(err, arena, TS_AXE_TVM, axe, &out->axe);
}
