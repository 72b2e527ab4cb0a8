/* Building a layout: each step checks what it relies on; the first error stops the rest. */
#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "layout/layout.h"

static void fail(ts_layout_builder *b, const char *what) {
    ts_error_set(b->err, TS_ERROR_INPUT, "%s", what);
    b->failed = true;
}

static ts_stage *push(ts_layout_builder *b, ts_stage_kind kind, int dim) {
    ts_stage *stage = TS_APPEND(b->arena, b->stages, b->stage_count);
    *stage = (ts_stage){.kind = kind, .dim = dim};
    return stage;
}

static bool has_room(ts_layout_builder *b) {
    if (b->count < TS_LAYOUT_MAX_DIMS) return true;
    fail(b, "the layout needs more than 128 dimensions at one stage");
    return false;
}

void ts_layout_begin(ts_layout_builder *b, ts_error *err, ts_arena *arena, int rank, const int64_t *dims) {
    *b = (ts_layout_builder){.err = err, .arena = arena, .rank = rank, .count = rank};
    if (rank > TS_LAYOUT_MAX_DIMS) {
        fail(b, "the array has more than 128 dimensions");
        return;
    }
    int64_t total = 1;
    int64_t *copy = TS_NEW_ARRAY(arena, int64_t, rank);
    for (int i = 0; i < rank; i++) {
        assert(dims[i] >= 0);
        copy[i] = b->extents[i] = dims[i];
        if (dims[i] != 0 && !ts_mul(total, dims[i], &total)) {
            fail(b, "the product of the dimensions does not fit in 64 bits");
            return;
        }
    }
    b->dims = copy;
}

void ts_layout_merge(ts_layout_builder *b, int dim) {
    if (b->failed) return;
    assert(dim >= 0 && dim + 1 < b->count);
    int64_t extent;
    if (!ts_mul(b->extents[dim], b->extents[dim + 1], &extent)) {
        fail(b, "the product of the combined dimensions does not fit in 64 bits");
        return;
    }
    ts_stage *stage = push(b, TS_STAGE_MERGE, dim);
    stage->extent_before = b->extents[dim + 1];
    stage->extent = b->extents[dim] = extent;
    b->count--;
    memmove(&b->extents[dim + 1], &b->extents[dim + 2], (size_t)(b->count - dim - 1) * sizeof b->extents[0]);
}

void ts_layout_bias(ts_layout_builder *b, int dim, int64_t bias, int64_t extent) {
    if (b->failed || (bias == 0 && extent == b->extents[dim])) return;
    int64_t last;
    assert(dim >= 0 && dim < b->count && bias >= 0);
    bool fits = ts_add(bias, b->extents[dim], &last) && last <= extent;
    assert(fits);
    ts_stage *stage = push(b, TS_STAGE_BIAS, dim);
    stage->value = bias;
    stage->extent_before = b->extents[dim];
    stage->extent = b->extents[dim] = extent;
}

void ts_layout_pad(ts_layout_builder *b, int dim, int64_t extent) {
    if (b->failed || extent == b->extents[dim]) return;
    assert(dim >= 0 && dim < b->count && extent > b->extents[dim]);
    ts_stage *stage = push(b, TS_STAGE_PAD, dim);
    stage->extent_before = b->extents[dim];
    stage->extent = b->extents[dim] = extent;
}

void ts_layout_split(ts_layout_builder *b, int dim, int64_t factor) {
    if (b->failed || !has_room(b)) return;
    assert(dim >= 0 && dim < b->count && factor > 0 && b->extents[dim] % factor == 0);
    ts_stage *stage = push(b, TS_STAGE_SPLIT, dim);
    stage->value = factor;
    stage->extent_before = b->extents[dim];
    stage->extent = b->extents[dim] / factor;
    memmove(&b->extents[dim + 2], &b->extents[dim + 1], (size_t)(b->count - dim - 1) * sizeof b->extents[0]);
    b->extents[dim] = stage->extent;
    b->extents[dim + 1] = factor;
    b->count++;
}

void ts_layout_insert(ts_layout_builder *b, int dim) {
    if (b->failed || !has_room(b)) return;
    assert(dim >= 0 && dim <= b->count);
    push(b, TS_STAGE_INSERT, dim);
    memmove(&b->extents[dim + 1], &b->extents[dim], (size_t)(b->count - dim) * sizeof b->extents[0]);
    b->extents[dim] = 1;
    b->count++;
}

void ts_layout_reorder(ts_layout_builder *b, const int *order) {
    if (b->failed) return;
    int64_t old[TS_LAYOUT_MAX_DIMS];
    int *copy = TS_NEW_ARRAY(b->arena, int, b->count);
    memcpy(old, b->extents, sizeof old);
    bool moved = false;
    for (int i = 0; i < b->count; i++) {
        assert(order[i] >= 0 && order[i] < b->count);
        copy[i] = order[i];
        b->extents[i] = old[order[i]];
        moved = moved || order[i] != i;
    }
    if (moved) push(b, TS_STAGE_REORDER, 0)->order = copy;
}

void ts_layout_tile(ts_layout_builder *b, int dim, int64_t factor) {
    if (b->failed) return;
    int64_t padded;
    if (!ts_mul(ts_ceil_div(b->extents[dim], factor), factor, &padded)) {
        fail(b, "the padded dimension does not fit in 64 bits");
        return;
    }
    ts_layout_pad(b, dim, padded);
    ts_layout_split(b, dim, factor);
}

/* Every coordinate must fit: the sums of (extent - 1) * |stride| and the offset, an axis at a time. */
static bool coordinates_fit(const ts_layout *layout) {
    int64_t reach[TS_LAYOUT_MAX_AXES];
    for (int i = 0; i < layout->axis_count; i++) {
        int64_t offset = layout->axes[i].offset;
        if (offset == INT64_MIN) return false;
        reach[i] = offset < 0 ? -offset : offset;
    }
    for (int i = 0; i < layout->digit_count + layout->replica_count; i++) {
        const ts_iter *iter = ts_layout_iter(layout, i);
        int64_t span;
        if (iter->extent <= 1) continue; /* no step is made */
        if (iter->stride == INT64_MIN ||
            !ts_mul(iter->extent - 1, iter->stride < 0 ? -iter->stride : iter->stride, &span))
            return false;
        if (!ts_add(reach[iter->axis], span, &reach[iter->axis])) return false;
    }
    return true;
}

static bool counts_fit(const ts_layout *layout) {
    int64_t total = 1;
    for (int i = 0; i < layout->digit_count + layout->replica_count; i++) {
        const ts_iter *iter = ts_layout_iter(layout, i);
        if (iter->extent != 0 && !ts_mul(total, iter->extent, &total)) return false;
    }
    return true;
}

const ts_layout *ts_layout_finish(ts_layout_builder *b, const ts_iter *digits, int axis_count,
                                  const ts_axis *axes, int replica_count, const ts_iter *replicas) {
    if (b->failed) return NULL;
    if (axis_count > TS_LAYOUT_MAX_AXES) {
        fail(b, "the layout has more than 32 axes");
        return NULL;
    }
    ts_layout *layout = TS_NEW(b->arena, ts_layout);
    *layout = (ts_layout){.rank = b->rank,
                          .dims = b->dims,
                          .stage_count = b->stage_count,
                          .stages = b->stages,
                          .digit_count = b->count,
                          .axis_count = axis_count,
                          .replica_count = replica_count};
    ts_iter *own = TS_NEW_ARRAY(b->arena, ts_iter, b->count);
    for (int i = 0; i < b->count; i++) own[i] = (ts_iter){b->extents[i], digits[i].stride, digits[i].axis};
    layout->digits = own;
    layout->axes = TS_COPY_ARRAY(b->arena, axes, axis_count);
    layout->replicas = TS_COPY_ARRAY(b->arena, replicas, replica_count);
    if (!counts_fit(layout) || !coordinates_fit(layout)) {
        fail(b, "the padded size of the layout does not fit in 64 bits");
        return NULL;
    }
    return layout;
}

const ts_layout *ts_layout_finish_row_major(ts_layout_builder *b) {
    if (b->failed) return NULL;
    static const ts_axis m = {"m", 0};
    ts_iter digits[TS_LAYOUT_MAX_DIMS];
    int64_t stride = 1;
    for (int i = b->count - 1; i >= 0; i--) {
        digits[i] = (ts_iter){b->extents[i], stride, 0};
        if (!ts_mul(stride, b->extents[i] ? b->extents[i] : 1, &stride)) {
            fail(b, "the padded size of the layout does not fit in 64 bits");
            return NULL;
        }
    }
    return ts_layout_finish(b, digits, 1, &m, 0, NULL);
}

/* Forwarding a slice of a layout by function: the index is biased first. */
typedef struct {
    const ts_layout *whole;
    const int64_t *begin;
} sliced;

static void forward_sliced(const void *self, const int64_t *index, int64_t *coordinates) {
    const sliced *slice = self;
    int64_t biased[TS_LAYOUT_MAX_DIMS];
    for (int i = 0; i < slice->whole->rank; i++) biased[i] = index[i] + slice->begin[i];
    slice->whole->function.forward(slice->whole->function.self, biased, coordinates);
}

static void forward_sliced_block(const void *self, int64_t (*index)[TS_MAP_BLOCK], int count,
                                 int64_t *offsets) {
    const sliced *slice = self;
    const ts_map_function *function = &slice->whole->function;
    for (int i = 0; i < slice->whole->rank; i++)
        for (int k = 0; k < count; k++) index[i][k] += slice->begin[i];
    function->forward_block(function->self, index, count, offsets);
}

static bool check_slice(ts_error *err, const ts_layout *layout, const int64_t *begin, const int64_t *sizes) {
    for (int i = 0; i < layout->rank; i++) {
        int64_t end;
        if (begin[i] < 0 || sizes[i] < 0 || !ts_add(begin[i], sizes[i], &end) || end > layout->dims[i]) {
            return ts_error_set(
                err, TS_ERROR_INPUT,
                "the slice begins at %lld and has size %lld in dimension %d, expected it within 0 to %lld",
                (long long)begin[i], (long long)sizes[i], i, (long long)layout->dims[i]);
        }
    }
    return true;
}

/* The stages of `b`, then those of `layout`. */
static void prepend(ts_arena *arena, const ts_layout_builder *b, const ts_layout *layout, ts_layout *out) {
    int count = b->stage_count + layout->stage_count;
    ts_stage *stages = ts_arena_grow(arena, b->stages, (size_t)b->stage_count, (size_t)count, sizeof *stages);
    for (int i = 0; i < layout->stage_count; i++) stages[b->stage_count + i] = layout->stages[i];
    out->stages = stages;
    out->stage_count = count;
}

const ts_layout *ts_layout_slice(ts_error *err, ts_arena *arena, const ts_layout *layout,
                                 const int64_t *begin, const int64_t *sizes) {
    if (!check_slice(err, layout, begin, sizes)) return NULL;
    ts_layout_builder b;
    ts_layout_begin(&b, err, arena, layout->rank, sizes);
    for (int i = 0; i < layout->rank; i++) ts_layout_bias(&b, i, begin[i], layout->dims[i]);
    ts_layout *slice = TS_NEW(arena, ts_layout);
    *slice = *layout;
    slice->dims = b.dims;
    if (layout->function.forward) {
        sliced *self = TS_NEW(arena, sliced);
        *self = (sliced){layout, TS_COPY_ARRAY(arena, begin, layout->rank)};
        slice->function = (ts_map_function){.self = self, .forward = forward_sliced};
        if (layout->function.forward_block) slice->function.forward_block = forward_sliced_block;
        return slice;
    }
    prepend(arena, &b, layout, slice);
    return slice;
}

/* Forwarding a squeezed layout by function: the dims of 1 have index 0. */
static void forward_squeezed(const void *self, const int64_t *index, int64_t *coordinates) {
    const ts_layout *whole = self;
    int64_t full[TS_LAYOUT_MAX_DIMS];
    for (int i = 0, k = 0; i < whole->rank; i++) full[i] = whole->dims[i] == 1 ? 0 : index[k++];
    whole->function.forward(whole->function.self, full, coordinates);
}

const ts_layout *ts_layout_squeeze(ts_error *err, ts_arena *arena, const ts_layout *layout) {
    int64_t dims[TS_LAYOUT_MAX_DIMS];
    int rank = 0;
    for (int i = 0; i < layout->rank; i++)
        if (layout->dims[i] != 1) dims[rank++] = layout->dims[i];
    ts_layout_builder b;
    ts_layout_begin(&b, err, arena, rank, dims);
    for (int i = 0; i < layout->rank; i++)
        if (layout->dims[i] == 1) ts_layout_insert(&b, i);
    if (b.failed) return NULL;
    ts_layout *squeezed = TS_NEW(arena, ts_layout);
    *squeezed = *layout;
    squeezed->rank = rank;
    squeezed->dims = b.dims;
    if (layout->function.forward)
        squeezed->function = (ts_map_function){.self = layout, .forward = forward_squeezed};
    else
        prepend(arena, &b, layout, squeezed);
    return squeezed;
}
