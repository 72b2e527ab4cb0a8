/* Axe layouts: tiles, direct sums and the smaller edits. */
#include <inttypes.h>

#include "axe_private.h"
#include "base/number.h"

/* ---- Two layouts' blocks in turn, dim by dim ---- */

static bool same_rank(ts_error *err, ts_axe_shape a, ts_axe_shape b) {
    return a.rank == b.rank ||
           ts_error_set(err, TS_ERROR_INPUT, "the shapes have %d and %d dimensions, expected as many", a.rank,
                        b.rank);
}

static bool group(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe_shape shape,
                  ts_axe_grouped *out) {
    ts_axe tile;
    if (shape.rank > TS_LAYOUT_MAX_DIMS)
        return ts_error_set(err, TS_ERROR_INPUT, "the shape has more than %d dimensions", TS_LAYOUT_MAX_DIMS);
    return ts_axe_tile_of(err, arena, axe, shape, &tile) &&
           ts_axe_group(err, arena, TS_AXE_TVM, &tile, shape, out);
}

static void add_block(ts_axe_list *list, const ts_axe_grouped *g, int dim) {
    ts_axe_list_add_all(list, &g->axe.shards[g->seps[dim]], g->seps[dim + 1] - g->seps[dim]);
}

/* Shards block by block, replicas one behind the other, offsets added. */
static bool interleave(ts_error *err, ts_arena *arena, const ts_axe_grouped *first,
                       const ts_axe_grouped *second, int rank, ts_axe *out) {
    ts_axe_list shards = {.arena = arena}, replicas = {.arena = arena};
    const ts_axe *a = &first->axe, *b = &second->axe;
    ts_axe_offset *offsets = ts_axe_copy_offsets(arena, a, b->offset_count);
    int offset_count = a->offset_count;
    for (int i = 0; i < rank; i++) {
        add_block(&shards, first, i);
        add_block(&shards, second, i);
    }
    ts_axe_list_add_all(&replicas, a->replicas, a->replica_count);
    ts_axe_list_add_all(&replicas, b->replicas, b->replica_count);
    for (int i = 0; i < b->offset_count; i++)
        if (!ts_axe_add_offset(offsets, &offset_count, b->offsets[i].axis, b->offsets[i].value))
            return ts_axe_overflow(err);
    ts_axe sum = {shards.count,   replicas.count, offset_count, shards.items,
                  replicas.items, offsets,        b->swizzle};
    return ts_axe_finish(err, &sum) && ts_axe_canonical(err, arena, TS_AXE_TVM, &sum, out);
}

/* ---- Tiles ---- */

static bool has_axis(const ts_axe *axe, ts_axe_form form, const char *axis) {
    for (int i = 0; i < axe->shard_count; i++)
        if (ts_axe_same_axis(axe->shards[i].axis, axis)) return true;
    for (int i = 0; i < axe->replica_count && form == TS_AXE_PAPER; i++)
        if (ts_axe_same_axis(axe->replicas[i].axis, axis)) return true;
    return false;
}

/* How far apart copies of the inner layout lie on an axis. */
static bool scale_of(ts_error *err, const ts_axe *inner, ts_axe_form form, const char *axis, int64_t *scale) {
    *scale = 1;
    return !has_axis(inner, form, axis) || ts_axe_span(err, inner, form, axis, scale);
}

static bool scale_iters(ts_error *err, ts_arena *arena, const ts_axe *inner, ts_axe_form form, int count,
                        const ts_axe_iter **iters) {
    ts_axe_list list = {.arena = arena};
    for (int i = 0; i < count; i++) {
        ts_axe_iter iter = (*iters)[i];
        int64_t scale;
        if (!scale_of(err, inner, form, iter.axis, &scale)) return false;
        if (!ts_mul(iter.stride, scale, &iter.stride)) return ts_axe_overflow(err);
        ts_axe_list_add(&list, iter);
    }
    *iters = list.items;
    return true;
}

static bool scale_offsets(ts_error *err, ts_arena *arena, const ts_axe *inner, ts_axe *outer) {
    ts_axe_offset *offsets = ts_axe_copy_offsets(arena, outer, 0);
    for (int i = 0; i < outer->offset_count; i++) {
        int64_t scale;
        if (!scale_of(err, inner, TS_AXE_PAPER, offsets[i].axis, &scale)) return false;
        if (!ts_mul(offsets[i].value, scale, &offsets[i].value)) return ts_axe_overflow(err);
    }
    outer->offsets = offsets;
    return true;
}

bool ts_axe_tile(ts_error *err, ts_arena *arena, ts_axe_form form, ts_axe_shaped outer, ts_axe_shaped inner,
                 ts_axe *out) {
    ts_axe_grouped a, b;
    if (!same_rank(err, outer.shape, inner.shape)) return false;
    if (outer.axe->swizzle.present)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "the outer layout of a tiling is swizzled, expected the inner one");
    if (!group(err, arena, outer.axe, outer.shape, &a) || !group(err, arena, inner.axe, inner.shape, &b) ||
        !scale_iters(err, arena, &b.axe, form, a.axe.shard_count, &a.axe.shards))
        return false;
    if (form == TS_AXE_PAPER &&
        (!scale_iters(err, arena, &b.axe, form, a.axe.replica_count, &a.axe.replicas) ||
         !scale_offsets(err, arena, &b.axe, &a.axe)))
        return false;
    return interleave(err, arena, &a, &b, outer.shape.rank, out);
}

typedef enum { FACTOR_OUTER, FACTOR_INNER } factor_side;

/* (tiled / factor, factor) of each dim, or (factor, tiled / factor). */
static bool factor_shape(ts_error *err, ts_arena *arena, ts_axe_shape tiled, ts_axe_shape factor,
                         factor_side side, ts_axe_shape *out) {
    if (!same_rank(err, tiled, factor)) return false;
    int64_t *dims = TS_NEW_ARRAY(arena, int64_t, 2 * tiled.rank);
    for (int i = 0; i < tiled.rank; i++) {
        if (factor.dims[i] < 1 || tiled.dims[i] % factor.dims[i] != 0)
            return ts_error_set(err, TS_ERROR_INPUT,
                                "dimension %d of the tiled shape is %" PRId64
                                ", expected a multiple of %" PRId64,
                                i, tiled.dims[i], factor.dims[i]);
        dims[2 * i + (side == FACTOR_INNER)] = factor.dims[i];
        dims[2 * i + (side == FACTOR_OUTER)] = tiled.dims[i] / factor.dims[i];
    }
    *out = (ts_axe_shape){2 * tiled.rank, dims};
    return true;
}

static bool iter_is_in(const ts_axe_iter *iter, const ts_axe_iter *list, int count) {
    for (int i = 0; i < count; i++)
        if (ts_axe_same_iters(&list[i], iter, 1)) return true;
    return false;
}

/* What `whole` has of replicas and offsets beside those of `part`. */
static bool subtract(ts_error *err, ts_arena *arena, const ts_axe *whole, const ts_axe *part, ts_axe *out) {
    ts_axe_list replicas = {.arena = arena};
    for (int i = 0; i < whole->replica_count; i++)
        if (!iter_is_in(&whole->replicas[i], part->replicas, part->replica_count))
            ts_axe_list_add(&replicas, whole->replicas[i]);
    out->replicas = replicas.items;
    out->replica_count = replicas.count;
    ts_axe_offset *offsets = ts_axe_copy_offsets(arena, whole, part->offset_count);
    out->offsets = offsets;
    out->offset_count = whole->offset_count;
    for (int i = 0; i < part->offset_count; i++)
        if (part->offsets[i].value == INT64_MIN ||
            !ts_axe_add_offset(offsets, &out->offset_count, part->offsets[i].axis, -part->offsets[i].value))
            return ts_axe_overflow(err);
    return true;
}

/* Units are alike whatever their stride. */
static bool same_iter(const ts_axe_iter *a, const ts_axe_iter *b) {
    return (a->extent == 1 && b->extent == 1) || ts_axe_same_iters(a, b, 1);
}

/* Undoes the scaling by the inner layout's span; false where that does not divide. */
static bool unscale(const ts_axe *inner, ts_axe_iter *iter) {
    int64_t scale;
    if (iter->extent == 1) return true;
    if (!scale_of(NULL, inner, TS_AXE_TVM, iter->axis, &scale) || scale == 0 || iter->stride % scale != 0)
        return false;
    iter->stride /= scale;
    return true;
}

/* The leading iters of a dim of `tiled` (whose separators are for two parts a dim); the others must be the
 * inner's. */
static bool take_outer(const ts_axe_grouped *tiled, const ts_axe_grouped *inner, int dim, ts_axe_list *out) {
    int first = tiled->seps[2 * dim], last = tiled->seps[2 * dim + 2];
    int count = inner->seps[dim + 1] - inner->seps[dim], outer = last - first - count;
    if (outer < 0) return false;
    for (int i = 0; i < count; i++)
        if (!same_iter(&tiled->axe.shards[first + outer + i], &inner->axe.shards[inner->seps[dim] + i]))
            return false;
    for (int i = 0; i < outer; i++) {
        ts_axe_iter iter = tiled->axe.shards[first + i];
        if (!unscale(&inner->axe, &iter)) return false;
        ts_axe_list_add(out, iter);
    }
    return true;
}

bool ts_axe_is_tile_inner(ts_error *err, ts_arena *arena, ts_axe_shaped inner, ts_axe_shaped tiled,
                          ts_axe_answer *outer) {
    ts_axe_shape factored;
    ts_axe_grouped whole, part;
    outer->found = false;
    if (!factor_shape(err, arena, tiled.shape, inner.shape, FACTOR_INNER, &factored)) return false;
    if (!ts_axe_same_swizzle(inner.axe, tiled.axe)) return true;
    if (!group(err, arena, tiled.axe, factored, &whole) || !group(err, arena, inner.axe, inner.shape, &part))
        return false;
    ts_axe_list shards = {.arena = arena};
    for (int i = 0; i < tiled.shape.rank; i++)
        if (!take_outer(&whole, &part, i, &shards)) return true;
    ts_axe result = {.shard_count = shards.count, .shards = shards.items};
    if (!subtract(err, arena, &whole.axe, &part.axe, &result)) return false;
    ts_axe_list replicas = {.arena = arena};
    for (int i = 0; i < result.replica_count; i++) {
        ts_axe_iter iter = result.replicas[i];
        if (!unscale(&part.axe, &iter)) return true;
        ts_axe_list_add(&replicas, iter);
    }
    result.replicas = replicas.items;
    outer->found = true;
    return ts_axe_canonical(err, arena, TS_AXE_TVM, &result, &outer->axe);
}

/* The trailing iters of a dim of `tiled`; the others must have the outer's extents and axes. */
static bool take_inner(const ts_axe_grouped *tiled, const ts_axe_grouped *outer, int dim, ts_axe_list *out) {
    int first = tiled->seps[2 * dim], last = tiled->seps[2 * dim + 2];
    int count = outer->seps[dim + 1] - outer->seps[dim];
    if (count > last - first) return false;
    for (int i = 0; i < count; i++) {
        ts_axe_iter a = tiled->axe.shards[first + i], b = outer->axe.shards[outer->seps[dim] + i];
        a.stride = b.stride;
        if (!same_iter(&a, &b)) return false;
    }
    ts_axe_list_add_all(out, &tiled->axe.shards[first + count], last - first - count);
    return true;
}

bool ts_axe_is_tile_outer(ts_error *err, ts_arena *arena, ts_axe_shaped outer, ts_axe_shaped tiled,
                          ts_axe_answer *inner) {
    ts_axe_shape factored;
    ts_axe_grouped whole, part;
    inner->found = false;
    if (!factor_shape(err, arena, tiled.shape, outer.shape, FACTOR_OUTER, &factored)) return false;
    if (outer.axe->swizzle.present) return true;
    if (!group(err, arena, tiled.axe, factored, &whole) || !group(err, arena, outer.axe, outer.shape, &part))
        return false;
    ts_axe_list shards = {.arena = arena};
    for (int i = 0; i < tiled.shape.rank; i++)
        if (!take_inner(&whole, &part, i, &shards)) return true;
    ts_axe result = {.shard_count = shards.count, .shards = shards.items, .swizzle = tiled.axe->swizzle},
           again, canonical;
    int64_t *dims = TS_NEW_ARRAY(arena, int64_t, tiled.shape.rank);
    for (int i = 0; i < tiled.shape.rank; i++) dims[i] = tiled.shape.dims[i] / outer.shape.dims[i];
    ts_axe_shaped rest = {&result, {tiled.shape.rank, dims}};
    /* several inner layouts may be possible: the one that tiles back is the answer */
    if (!subtract(err, arena, &whole.axe, &part.axe, &result) ||
        !ts_axe_tile(err, arena, TS_AXE_TVM, outer, rest, &again) ||
        !ts_axe_canonical(err, arena, TS_AXE_TVM, &whole.axe, &canonical))
        return false;
    inner->found = ts_axe_same(&again, &canonical);
    return !inner->found || ts_axe_canonical(err, arena, TS_AXE_TVM, &result, &inner->axe);
}

/* ---- Direct sums ---- */

bool ts_axe_direct_sum(ts_error *err, ts_arena *arena, ts_axe_shaped left, ts_axe_shaped right, ts_axe *out) {
    ts_axe_grouped a, b;
    if (!same_rank(err, left.shape, right.shape)) return false;
    if (left.axe->swizzle.present)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "the left layout of a sum is swizzled, expected the right one");
    return group(err, arena, left.axe, left.shape, &a) && group(err, arena, right.axe, right.shape, &b) &&
           interleave(err, arena, &a, &b, left.shape.rank, out);
}

bool ts_axe_is_direct_sum(ts_error *err, ts_arena *arena, ts_axe_side side, ts_axe_shaped addend,
                          ts_axe_shaped sum, ts_axe_answer *other) {
    bool left = side == TS_AXE_LEFT;
    ts_axe_grouped whole, part;
    other->found = false;
    if (sum.shape.rank != 2 * addend.shape.rank)
        return ts_error_set(err, TS_ERROR_INPUT, "the interleaved shape has %d dimensions, expected %d",
                            sum.shape.rank, 2 * addend.shape.rank);
    if (left ? addend.axe->swizzle.present : !ts_axe_same_swizzle(addend.axe, sum.axe)) return true;
    if (!group(err, arena, sum.axe, sum.shape, &whole) || !group(err, arena, addend.axe, addend.shape, &part))
        return false;
    ts_axe_list shards = {.arena = arena};
    for (int i = 0; i < addend.shape.rank; i++) {
        int mine = 2 * i + !left, first = whole.seps[mine], count = whole.seps[mine + 1] - first;
        if (part.seps[i + 1] - part.seps[i] != count) return true;
        for (int j = 0; j < count; j++)
            if (!same_iter(&whole.axe.shards[first + j], &part.axe.shards[part.seps[i] + j])) return true;
        add_block(&shards, &whole, 2 * i + left);
    }
    ts_axe result = {.shard_count = shards.count, .shards = shards.items};
    if (left) result.swizzle = sum.axe->swizzle;
    other->found = true;
    return subtract(err, arena, &whole.axe, &part.axe, &result) &&
           ts_axe_canonical(err, arena, TS_AXE_TVM, &result, &other->axe);
}

/* ---- Edits ---- */

bool ts_axe_permute(ts_error *err, ts_arena *arena, const ts_axe *axe, int count, const int64_t *order,
                    ts_axe *out) {
    bool *seen = TS_NEW_ARRAY(arena, bool, axe->shard_count);
    ts_axe_list shards = {.arena = arena};
    bool fits = count == axe->shard_count;
    for (int i = 0; i < count && fits; i++) {
        fits = order[i] >= 0 && order[i] < count && !seen[order[i]];
        if (!fits) break;
        seen[order[i]] = true;
        ts_axe_list_add(&shards, axe->shards[order[i]]);
    }
    if (!fits)
        return ts_error_set(err, TS_ERROR_INPUT, "the order is no permutation of the layout's %d shards",
                            axe->shard_count);
    *out = ts_axe_with(axe, &shards, NULL);
    return true;
}

bool ts_axe_broadcast(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe_iter shard, int64_t position,
                      ts_axe *out) {
    if (position < 0) position += axe->shard_count + 1;
    if (shard.extent < 1 || position < 0 || position > axe->shard_count)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "a broadcast of %" PRId64 " at shard %" PRId64
                            ", expected at least 1, at 0 to %d",
                            shard.extent, position, axe->shard_count);
    ts_axe_list shards = {.arena = arena};
    for (int i = 0; i <= axe->shard_count; i++) {
        if (i == position) ts_axe_list_add(&shards, shard);
        if (i < axe->shard_count) ts_axe_list_add(&shards, axe->shards[i]);
    }
    *out = ts_axe_with(axe, &shards, NULL);
    return ts_axe_finish(err, out);
}

typedef enum { PACK, UNPACK } change; /* of n elements to one, or of one to n */

/* The swizzle of elements n times smaller (or larger); n must be a power of 2. */
static bool scale_swizzle(ts_error *err, ts_swizzle *s, int64_t n, change what) {
    if (!s->present) return true;
    int log = 0;
    while (log < 62 && (INT64_C(1) << log) < n) log++;
    s->keep += what == UNPACK ? log : -log;
    if (INT64_C(1) << log == n && s->keep >= 0 && s->keep + s->bits + s->shift <= 62) return true;
    return ts_error_set(err, TS_ERROR_INPUT, "the swizzle's elements cannot be %s %" PRId64 " at a time",
                        what == UNPACK ? "unpacked" : "packed", n);
}

/* Strides and offsets of an axis times n, or divided by it; false when that does not go. */
static bool rescale(int64_t *value, int64_t n, change what) {
    if (what == UNPACK) return ts_mul(*value, n, value);
    bool whole = *value % n == 0;
    *value /= n;
    return whole;
}

static bool rescale_axis(ts_arena *arena, ts_axe *axe, const char *axis, int64_t n, change what) {
    ts_axe_list lists[2] = {{.arena = arena}, {.arena = arena}};
    ts_axe_offset *offsets = ts_axe_copy_offsets(arena, axe, 0);
    bool fits = true;
    for (int i = 0; i < axe->shard_count + axe->replica_count; i++) {
        ts_axe_iter iter = *ts_axe_iter_at(axe, i);
        if (ts_axe_same_axis(iter.axis, axis)) fits = rescale(&iter.stride, n, what) && fits;
        ts_axe_list_add(&lists[i >= axe->shard_count], iter);
    }
    for (int i = 0; i < axe->offset_count; i++)
        if (ts_axe_same_axis(offsets[i].axis, axis)) fits = rescale(&offsets[i].value, n, what) && fits;
    *axe = ts_axe_with(axe, &lists[0], &lists[1]);
    axe->offsets = offsets;
    return fits;
}

static bool check_packing(ts_error *err, int64_t n) {
    return n >= 1 || ts_error_set(err, TS_ERROR_INPUT, "found n=%" PRId64 ", expected at least 1", n);
}

bool ts_axe_unpack(ts_error *err, ts_arena *arena, const ts_axe *axe, int64_t n, ts_axe *out) {
    ts_axe wide = *axe;
    if (!check_packing(err, n) || !scale_swizzle(err, &wide.swizzle, n, UNPACK)) return false;
    if (!rescale_axis(arena, &wide, "m", n, UNPACK)) return ts_axe_overflow(err);
    ts_axe_list shards = {.arena = arena};
    ts_axe_list_add_all(&shards, wide.shards, wide.shard_count);
    ts_axe_list_add(&shards, (ts_axe_iter){n, 1, "m"});
    wide = ts_axe_with(&wide, &shards, NULL);
    return ts_axe_finish(err, &wide) && ts_axe_canonical(err, arena, TS_AXE_TVM, &wide, out);
}

bool ts_axe_pack(ts_error *err, ts_arena *arena, const ts_axe *axe, int64_t n, ts_axe *out) {
    ts_axe narrow = *axe;
    if (!check_packing(err, n) || !scale_swizzle(err, &narrow.swizzle, n, PACK)) return false;
    ts_axe_list shards = {.arena = arena};
    int before = axe->shard_count > 0 ? axe->shard_count - 1 : 0;
    const ts_axe_iter last = axe->shard_count > 0 ? axe->shards[before] : (ts_axe_iter){1, 0, "m"};
    ts_axe_list_add_all(&shards, axe->shards, before);
    bool packable = last.stride == 1 && last.extent % n == 0 && !ts_axe_is_thread(last.axis);
    narrow = ts_axe_with(&narrow, &shards, NULL);
    if (!packable || !rescale_axis(arena, &narrow, last.axis, n, PACK))
        return ts_error_set(err, TS_ERROR_INPUT,
                            "%" PRId64 " elements cannot be packed: the last iter is %" PRId64 ":%" PRId64
                            "@%s, expected stride 1, and multiples of %" PRId64 " everywhere on its axis",
                            n, last.extent, last.stride, last.axis, n);
    shards = (ts_axe_list){.arena = arena};
    ts_axe_list_add_all(&shards, narrow.shards, narrow.shard_count);
    ts_axe_list_add(&shards, (ts_axe_iter){last.extent / n, 1, last.axis});
    narrow = ts_axe_with(&narrow, &shards, NULL);
    return ts_axe_finish(err, &narrow) && ts_axe_canonical(err, arena, TS_AXE_TVM, &narrow, out);
}

bool ts_axe_storage(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe *out) {
    ts_axe_list lists[2] = {{.arena = arena}, {.arena = arena}};
    ts_axe_offset *offsets = TS_NEW_ARRAY(arena, ts_axe_offset, axe->offset_count);
    ts_axe kept = {.offsets = offsets, .swizzle = axe->swizzle};
    for (int i = 0; i < axe->shard_count + axe->replica_count; i++) {
        ts_axe_iter iter = *ts_axe_iter_at(axe, i);
        if (!ts_axe_is_thread(iter.axis)) ts_axe_list_add(&lists[i >= axe->shard_count], iter);
    }
    for (int i = 0; i < axe->offset_count; i++)
        if (!ts_axe_is_thread(axe->offsets[i].axis)) offsets[kept.offset_count++] = axe->offsets[i];
    kept = ts_axe_with(&kept, &lists[0], &lists[1]);
    return ts_axe_canonical(err, arena, TS_AXE_TVM, &kept, out);
}

/* An iter of F as one of Bank, one of F, or one of each; false where a bank's border cuts it. */
static bool split_bank(const ts_axe_iter *iter, ts_axe_list *out) {
    enum { BANK = 512 }; /* elements of 4 bytes in a bank of 2 KiB (TVM layout.py kPSUMMaxElemPerBank) */
    if (iter->stride % BANK == 0) {
        ts_axe_list_add(out, (ts_axe_iter){iter->extent, iter->stride / BANK, "Bank"});
        return true;
    }
    if (iter->stride < 0 || BANK % iter->stride != 0) return false;
    int64_t within = BANK / iter->stride;
    if (iter->extent >= within) {
        if (iter->extent % within != 0) return false;
        ts_axe_list_add(out, (ts_axe_iter){iter->extent / within, 1, "Bank"});
        ts_axe_list_add(out, (ts_axe_iter){within, iter->stride, "F"});
    } else {
        ts_axe_list_add(out, *iter);
    }
    return true;
}

bool ts_axe_to_psum(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe *out) {
    ts_axe_list shards = {.arena = arena};
    bool splits = true;
    if (axe->offset_count + axe->replica_count > 0 || axe->swizzle.present)
        return ts_error_set(err, TS_ERROR_INPUT, "replicas, offsets and swizzles do not fall into banks");
    for (int i = 0; i < axe->shard_count && splits; i++)
        if (ts_axe_same_axis(axe->shards[i].axis, "F"))
            splits = split_bank(&axe->shards[i], &shards);
        else
            ts_axe_list_add(&shards, axe->shards[i]);
    if (!splits)
        return ts_error_set(err, TS_ERROR_INPUT, "the layout does not fall into banks of 512 elements of F");
    *out = (ts_axe){.shard_count = shards.count, .shards = shards.items};
    return true;
}
