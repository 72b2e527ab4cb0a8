/* Axe layouts: their numbers, axes and canonical forms, and the canonical text. */
#include "layout/notation/axe.h"

#include <inttypes.h>
#include <stdlib.h>

#include "axe_private.h"
#include "base/number.h"

void ts_axe_list_add(ts_axe_list *list, ts_axe_iter iter) {
    *TS_APPEND(list->arena, list->items, list->count) = iter;
}

void ts_axe_list_add_all(ts_axe_list *list, const ts_axe_iter *iters, int count) {
    for (int i = 0; i < count; i++) ts_axe_list_add(list, iters[i]);
}

ts_axe ts_axe_with(const ts_axe *axe, const ts_axe_list *shards, const ts_axe_list *replicas) {
    ts_axe with = *axe;
    with.shards = shards->items, with.shard_count = shards->count;
    if (replicas) with.replicas = replicas->items, with.replica_count = replicas->count;
    return with;
}

bool ts_axe_add_offset(ts_axe_offset *offsets, int *count, const char *axis, int64_t value) {
    int at = 0;
    while (at < *count && strcmp(offsets[at].axis, axis) < 0) at++;
    if (at < *count && ts_axe_same_axis(offsets[at].axis, axis))
        return ts_add(offsets[at].value, value, &offsets[at].value);
    memmove(&offsets[at + 1], &offsets[at], (size_t)(*count - at) * sizeof *offsets);
    offsets[at] = (ts_axe_offset){axis, value};
    ++*count;
    return true;
}

ts_axe_offset *ts_axe_copy_offsets(ts_arena *arena, const ts_axe *axe, int more) {
    return ts_arena_grow(arena, axe->offsets, (size_t)axe->offset_count, (size_t)(axe->offset_count + more),
                         sizeof *axe->offsets);
}

/* ---- Sizes ---- */

static int64_t offset_of(const ts_axe *axe, const char *axis) {
    for (int i = 0; i < axe->offset_count; i++)
        if (ts_axe_same_axis(axe->offsets[i].axis, axis)) return axe->offsets[i].value;
    return 0;
}

static bool product_fits(const ts_axe_iter *iters, int count) {
    int64_t total = 1;
    for (int i = 0; i < count; i++)
        if (!ts_mul(total, iters[i].extent, &total)) return false;
    return true;
}

static bool axis_fits(const ts_axe *axe, const char *axis) {
    int64_t reach = offset_of(axe, axis), span;
    if (reach < 0 && !ts_mul(reach, -1, &reach)) return false;
    for (int i = 0; i < axe->shard_count + axe->replica_count; i++) {
        const ts_axe_iter *iter = ts_axe_iter_at(axe, i);
        if (!ts_axe_same_axis(iter->axis, axis)) continue;
        if (!ts_mul(iter->extent - 1, iter->stride, &span) || (span < 0 && !ts_mul(span, -1, &span)) ||
            !ts_add(reach, span, &reach))
            return false;
    }
    return true;
}

const char *ts_axe_misfit(const ts_axe *axe) {
    static const char numbers[] = "the layout's extents and strides do not fit in 64 bits";
    if (axe->shard_count + axe->replica_count > TS_LAYOUT_MAX_DIMS)
        return "the layout has more than 128 iters";
    if (!product_fits(axe->shards, axe->shard_count) || !product_fits(axe->replicas, axe->replica_count))
        return numbers;
    for (int i = 0; i < axe->shard_count + axe->replica_count; i++)
        if (!axis_fits(axe, ts_axe_iter_at(axe, i)->axis)) return numbers;
    for (int i = 0; i < axe->offset_count; i++)
        if (!axis_fits(axe, axe->offsets[i].axis)) return numbers;
    return NULL;
}

bool ts_axe_finish(ts_error *err, const ts_axe *axe) {
    const char *misfit = ts_axe_misfit(axe);
    return !misfit || ts_error_set(err, TS_ERROR_INPUT, "%s", misfit);
}

bool ts_axe_overflow(ts_error *err) {
    return ts_error_set(err, TS_ERROR_INPUT, "the result's extents and strides do not fit in 64 bits");
}

bool ts_axe_shape_size(ts_error *err, ts_axe_shape shape, int64_t *size) {
    *size = 1;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dims[i] < 1)
            return ts_error_set(err, TS_ERROR_INPUT,
                                "the shape has a dimension of %" PRId64 ", expected at least 1",
                                shape.dims[i]);
        if (!ts_mul(*size, shape.dims[i], size))
            return ts_error_set(err, TS_ERROR_INPUT,
                                "the product of the shape's dimensions does not fit in 64 bits");
    }
    return true;
}

int64_t ts_axe_size(const ts_axe *axe, const char *axis) {
    int64_t size = 1;
    for (int i = 0; i < axe->shard_count; i++)
        if (!axis || ts_axe_same_axis(axe->shards[i].axis, axis)) size *= axe->shards[i].extent;
    return size;
}

/* Does an axis count where `asked` is asked for; NULL: the memory axes. */
static bool counts(const char *axis, const char *asked) {
    return asked ? ts_axe_same_axis(axis, asked) : !ts_axe_is_thread(axis);
}

bool ts_axe_span(ts_error *err, const ts_axe *axe, ts_axe_form form, const char *axis, int64_t *span) {
    *span = 1;
    for (int i = 0; i < axe->shard_count + axe->replica_count; i++) {
        const ts_axe_iter *iter = ts_axe_iter_at(axe, i);
        int64_t step = (iter->extent - 1) * iter->stride;
        if (form == TS_AXE_PAPER && step < 0) step = -step;
        if (counts(iter->axis, axis) && !ts_add(*span, step, span)) return ts_axe_overflow(err);
    }
    for (int i = 0; i < axe->offset_count && form != TS_AXE_PAPER; i++)
        if (counts(axe->offsets[i].axis, axis) && !ts_add(*span, axe->offsets[i].value, span))
            return ts_axe_overflow(err);
    return true;
}

void ts_axe_range(const ts_axe *axe, const char *axis, int64_t *low, int64_t *high) {
    *low = *high = offset_of(axe, axis);
    for (int i = 0; i < axe->shard_count + axe->replica_count; i++) {
        const ts_axe_iter *iter = ts_axe_iter_at(axe, i);
        if (ts_axe_same_axis(iter->axis, axis))
            *(iter->stride < 0 ? low : high) += (iter->extent - 1) * iter->stride;
    }
}

/* Adds a name that is not there yet; false when there is no room. */
static bool add_axis(const char **names, int *count, const char *axis) {
    for (int i = 0; i < *count; i++)
        if (ts_axe_same_axis(names[i], axis)) return true;
    if (*count == TS_LAYOUT_MAX_AXES) return false;
    names[(*count)++] = axis;
    return true;
}

bool ts_axe_axes(ts_error *err, const ts_axe *axe, const char **names, int *count) {
    bool fits = true;
    *count = 0;
    for (int i = 0; i < axe->shard_count + axe->replica_count && fits; i++)
        fits = add_axis(names, count, ts_axe_iter_at(axe, i)->axis);
    for (int i = 0; i < axe->offset_count && fits; i++) fits = add_axis(names, count, axe->offsets[i].axis);
    if (!fits)
        return ts_error_set(err, TS_ERROR_INPUT, "the layout has more than %d axes", TS_LAYOUT_MAX_AXES);
    if (*count > 0) qsort(names, (size_t)*count, sizeof *names, ts_text_order);
    return true;
}

/* ---- Canonical forms ---- */

/* D0 and D1 of the paper's appendix A: no extents of 1; neighbours that are one progression are one. */
static void canonical_shards(const ts_axe *axe, ts_axe_list *out) {
    for (int i = 0; i < axe->shard_count; i++) {
        const ts_axe_iter *iter = &axe->shards[i];
        ts_axe_iter *last = out->count ? &out->items[out->count - 1] : NULL;
        int64_t step;
        if (iter->extent == 1) continue;
        if (last && ts_axe_same_axis(last->axis, iter->axis) && ts_mul(iter->extent, iter->stride, &step) &&
            step == last->stride)
            *last = (ts_axe_iter){last->extent * iter->extent, iter->stride, iter->axis};
        else
            ts_axe_list_add(out, *iter);
    }
    if (out->count == 0 && axe->shard_count > 0)
        ts_axe_list_add(out, (ts_axe_iter){1, 1, axe->shards[0].axis});
}

static int compare_replicas(const void *left, const void *right) {
    const ts_axe_iter *a = left, *b = right;
    int names = strcmp(a->axis, b->axis);
    if (names != 0) return names;
    if (a->stride != b->stride) return ts_order(a->stride, b->stride);
    return ts_order(a->extent, b->extent);
}

static void sort_replicas(ts_axe_list *list) {
    if (list->count > 0) qsort(list->items, (size_t)list->count, sizeof *list->items, compare_replicas);
}

/* C0 and C1: those that add nothing are dropped; negative strides become positive, and offsets. */
static bool positive_replicas(const ts_axe *axe, ts_axe_list *out, ts_axe_offset *offsets,
                              int *offset_count) {
    for (int i = 0; i < axe->replica_count; i++) {
        ts_axe_iter iter = axe->replicas[i];
        if (iter.extent == 1 || iter.stride == 0) continue;
        if (iter.stride < 0 &&
            !ts_axe_add_offset(offsets, offset_count, iter.axis, (iter.extent - 1) * iter.stride))
            return false;
        if (iter.stride < 0) iter.stride = -iter.stride;
        ts_axe_list_add(out, iter);
    }
    return true;
}

/* C2: (e1, s) and (e2, q s) with 1 <= q <= e1 reach what (e1 + q (e2 - 1), s) does. */
static bool absorb(ts_axe_iter *a, const ts_axe_iter *b) {
    if (!ts_axe_same_axis(a->axis, b->axis) || b->stride % a->stride != 0) return false;
    int64_t q = b->stride / a->stride;
    if (q < 1 || q > a->extent) return false;
    a->extent += q * (b->extent - 1);
    return true;
}

static bool absorb_one(ts_axe_list *list) {
    for (int i = 0; i < list->count; i++)
        for (int j = 0; j < list->count; j++) {
            if (i == j || !absorb(&list->items[i], &list->items[j])) continue;
            list->count--;
            memmove(&list->items[j], &list->items[j + 1], (size_t)(list->count - j) * sizeof *list->items);
            return true;
        }
    return false;
}

static void drop_zero_offsets(ts_axe *axe, ts_axe_offset *offsets, int count) {
    axe->offsets = offsets;
    axe->offset_count = 0;
    for (int i = 0; i < count; i++)
        if (offsets[i].value != 0) offsets[axe->offset_count++] = offsets[i];
}

static bool fuse_threads(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe *out);

bool ts_axe_canonical(ts_error *err, ts_arena *arena, ts_axe_form form, const ts_axe *axe, ts_axe *out) {
    ts_axe fused = *axe;
    if (form == TS_AXE_CUDA && !fuse_threads(err, arena, axe, &fused)) return false;
    ts_axe_list shards = {.arena = arena}, replicas = {.arena = arena};
    int offset_count = fused.offset_count;
    ts_axe_offset *offsets = ts_axe_copy_offsets(arena, &fused, fused.replica_count);
    canonical_shards(&fused, &shards);
    if (form == TS_AXE_PAPER) {
        if (!positive_replicas(&fused, &replicas, offsets, &offset_count)) return ts_axe_overflow(err);
        do sort_replicas(&replicas);
        while (absorb_one(&replicas));
    } else {
        ts_axe_list_add_all(&replicas, fused.replicas, fused.replica_count);
        sort_replicas(&replicas);
    }
    *out = ts_axe_with(&fused, &shards, &replicas);
    drop_zero_offsets(out, offsets, offset_count);
    return ts_axe_finish(err, out);
}

bool ts_axe_same_iters(const ts_axe_iter *a, const ts_axe_iter *b, int count) {
    for (int i = 0; i < count; i++)
        if (a[i].extent != b[i].extent || a[i].stride != b[i].stride ||
            !ts_axe_same_axis(a[i].axis, b[i].axis))
            return false;
    return true;
}

bool ts_axe_same_swizzle(const ts_axe *left, const ts_axe *right) {
    const ts_swizzle *a = &left->swizzle, *b = &right->swizzle;
    if (!a->present && !b->present) return true;
    return a->present == b->present && a->outer == b->outer && a->bits == b->bits && a->keep == b->keep &&
           a->shift == b->shift;
}

bool ts_axe_same(const ts_axe *a, const ts_axe *b) {
    if (a->shard_count != b->shard_count || a->replica_count != b->replica_count ||
        a->offset_count != b->offset_count)
        return false;
    for (int i = 0; i < a->offset_count; i++)
        if (a->offsets[i].value != b->offsets[i].value ||
            !ts_axe_same_axis(a->offsets[i].axis, b->offsets[i].axis))
            return false;
    return ts_axe_same_iters(a->shards, b->shards, a->shard_count) &&
           ts_axe_same_iters(a->replicas, b->replicas, a->replica_count) && ts_axe_same_swizzle(a, b);
}

/* A single point has no axis: S[1:1@a] is S[1:1]. */
bool ts_axe_equal(ts_error *err, ts_arena *arena, const ts_axe *a, const ts_axe *b, bool *equal) {
    ts_axe ca, cb;
    if (!ts_axe_canonical(err, arena, TS_AXE_PAPER, a, &ca) ||
        !ts_axe_canonical(err, arena, TS_AXE_PAPER, b, &cb))
        return false;
    if (ts_axe_size(&ca, NULL) == 1) ca.shard_count = 0;
    if (ts_axe_size(&cb, NULL) == 1) cb.shard_count = 0;
    *equal = ts_axe_same(&ca, &cb);
    return true;
}

/* ---- The axes of CUDA's threads (TVM axis_registry.cc) ---- */

static const struct {
    const char *axis, *inner, *outer; /* each step of the axis is an `inner`; all of it is an `outer` */
} threads[] = {
    {"bx", "cta", "thread"},
    {"by", "cta", "thread"},
    {"bz", "cta", "thread"},
    {"cbx", "cta", "cluster"},
    {"cby", "cta", "cluster"},
    {"cbz", "cta", "cluster"},
    {"tx", "thread", "cta"},
    {"warpid", "warp", "cta"},
    {"laneid", "thread", "warp"},
    {"wgid", "warpgroup", "cta"},
    {"tid_in_wg", "thread", "warpgroup"},
    {"wid_in_wg", "warp", "warpgroup"},
};
enum { THREADS = sizeof threads / sizeof threads[0] };

static int find_thread(const char *axis) {
    for (int i = 0; i < THREADS; i++)
        if (ts_axe_same_axis(threads[i].axis, axis)) return i;
    return -1;
}

bool ts_axe_is_thread(const char *axis) { return find_thread(axis) >= 0; }

static const char *const scopes[] = {"thread", "warp", "warpgroup", "cta", "cluster"}; /* inner to outer */
enum { SCOPES = sizeof scopes / sizeof scopes[0] };

static int scope_number(const char *name) {
    int i = 0;
    while (i + 1 < SCOPES && strcmp(scopes[i], name) != 0) i++;
    return i;
}

/* outer_of: for each scope the scope that its axes divide; -1: it has no axis. */
static bool add_scope(ts_error *err, int outer_of[SCOPES], const char *axis) {
    int row = find_thread(axis);
    if (row < 0) return true;
    int inner = scope_number(threads[row].inner), outer = scope_number(threads[row].outer);
    if (outer_of[inner] >= 0 && outer_of[inner] != outer)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "the layout's axes count each %s within a %s and within a %s", scopes[inner],
                            scopes[outer_of[inner]], scopes[outer]);
    outer_of[inner] = outer;
    return true;
}

static bool has_thread_shard(const ts_axe *axe) {
    for (int i = 0; i < axe->shard_count; i++)
        if (ts_axe_is_thread(axe->shards[i].axis)) return true;
    return false;
}

bool ts_axe_scope(ts_error *err, const ts_axe *axe, const char **inner, const char **outer) {
    int outer_of[SCOPES], first = -1, last, steps = 0;
    *inner = *outer = NULL;
    if (!has_thread_shard(axe)) return true;
    for (int i = 0; i < SCOPES; i++) outer_of[i] = -1;
    for (int i = 0; i < axe->shard_count + axe->replica_count; i++)
        if (!add_scope(err, outer_of, ts_axe_iter_at(axe, i)->axis)) return false;
    for (int i = 0; i < axe->offset_count; i++)
        if (!add_scope(err, outer_of, axe->offsets[i].axis)) return false;
    for (int i = SCOPES - 1; i >= 0; i--)
        if (outer_of[i] >= 0) first = i;
    for (last = first; steps <= SCOPES && outer_of[last] >= 0; steps++) last = outer_of[last];
    for (int i = 0; i < SCOPES; i++) steps -= outer_of[i] >= 0;
    if (steps != 0)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "the layout's thread axes do not make one chain of scopes from %s up",
                            scopes[first]);
    *inner = scopes[first];
    *outer = scopes[last];
    return true;
}

/* Within a layout that spans inner .. outer, `from` is `factor` steps of `to`. */
static const struct {
    const char *inner, *outer, *from;
    int64_t factor;
    const char *to;
} fusions[] = {
    {"thread", "cta", "warpid", 32, "tx"},
    {"thread", "cta", "laneid", 1, "tx"},
    {"thread", "cta", "wgid", 128, "tx"},
    {"thread", "cta", "tid_in_wg", 1, "tx"},
    {"thread", "cta", "wid_in_wg", 32, "tx"},
    {"thread", "warpgroup", "laneid", 1, "tid_in_wg"},
    {"thread", "warpgroup", "wid_in_wg", 32, "tid_in_wg"},
    {"warp", "cta", "wid_in_wg", 1, "warpid"},
    {"warp", "cta", "wgid", 4, "warpid"},
};
enum { FUSIONS = sizeof fusions / sizeof fusions[0] };

/* Rewrites one stride or offset; false on overflow. */
static bool fuse_axis(const char *inner, const char *outer, const char **axis, int64_t *value) {
    for (int i = 0; i < FUSIONS; i++) {
        if (strcmp(fusions[i].inner, inner) != 0 || strcmp(fusions[i].outer, outer) != 0) continue;
        if (!ts_axe_same_axis(fusions[i].from, *axis)) continue;
        *axis = fusions[i].to;
        return ts_mul(*value, fusions[i].factor, value);
    }
    return true;
}

static bool fuse_threads(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe *out) {
    const char *inner, *outer;
    if (!ts_axe_scope(err, axe, &inner, &outer)) return false;
    *out = *axe;
    if (!inner) return true;
    ts_axe_list lists[2] = {{.arena = arena}, {.arena = arena}};
    ts_axe_offset *offsets = TS_NEW_ARRAY(arena, ts_axe_offset, axe->offset_count);
    bool fits = true;
    for (int i = 0; i < axe->shard_count + axe->replica_count; i++) {
        ts_axe_iter iter = *ts_axe_iter_at(axe, i);
        fits = fits && fuse_axis(inner, outer, &iter.axis, &iter.stride);
        ts_axe_list_add(&lists[i >= axe->shard_count], iter);
    }
    out->offset_count = 0;
    for (int i = 0; i < axe->offset_count && fits; i++) {
        ts_axe_offset o = axe->offsets[i];
        fits = fuse_axis(inner, outer, &o.axis, &o.value) &&
               ts_axe_add_offset(offsets, &out->offset_count, o.axis, o.value);
    }
    *out = ts_axe_with(out, &lists[0], &lists[1]);
    out->offsets = offsets;
    return fits || ts_axe_overflow(err);
}
