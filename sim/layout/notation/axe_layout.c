/* Axe layouts: to the common form, over a shape, and back. */
#include <assert.h>
#include <inttypes.h>

#include "axe_private.h"
#include "notation.h"

static bool admitted(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe_shape shape) {
    int64_t size;
    if (!ts_axe_shape_size(err, shape, &size)) return false;
    if (size == ts_axe_size(axe, NULL)) return true;
    ts_text text = ts_text_begin(arena);
    ts_axe_print(&text, axe);
    return ts_error_set(err, TS_ERROR_INPUT, "the shape has %" PRId64 " elements, %.200s has %" PRId64, size,
                        text.bytes, ts_axe_size(axe, NULL));
}

typedef struct {
    ts_layout_builder builder;
    const char *axes[TS_LAYOUT_MAX_AXES];
    int axis_count, at; /* at: the current dim that the next block begins with */
    ts_iter digits[TS_LAYOUT_MAX_DIMS];
} maker;

static int axis_number(const maker *m, const char *axis) {
    for (int i = 0; i < m->axis_count; i++)
        if (ts_axe_same_axis(m->axes[i], axis)) return i;
    assert(false);
    return 0;
}

static void set_digit(maker *m, int64_t stride, const char *axis) {
    m->digits[m->at++] = (ts_iter){0, stride, axis_number(m, axis)};
}

/* The current dim, split over iters: none where it is 1. */
static void add_split_dim(maker *m, const ts_axe_iter *iters, int count) {
    for (int i = count - 1; i > 0; i--) ts_layout_split(&m->builder, m->at, iters[i].extent);
    if (m->builder.failed) return;
    if (count == 0) m->digits[m->at++] = (ts_iter){0, 0, 0};
    for (int i = 0; i < count; i++) set_digit(m, iters[i].stride, iters[i].axis);
}

/* Dims and iters of the same size: each dim by itself where the iters let themselves be grouped, else all as
 * one. */
static void add_segment(maker *m, ts_arena *arena, ts_axe_shape dims, const ts_axe_iter *iters, int count) {
    ts_axe part = {.shard_count = count, .shards = iters};
    ts_axe_grouped grouped;
    if (ts_axe_group(NULL, arena, TS_AXE_PAPER, &part, dims, &grouped)) {
        for (int i = 0; i < dims.rank && !m->builder.failed; i++)
            add_split_dim(m, ts_axe_from(&grouped.axe, grouped.seps[i]),
                          grouped.seps[i + 1] - grouped.seps[i]);
        return;
    }
    for (int i = 1; i < dims.rank; i++) ts_layout_merge(&m->builder, m->at);
    add_split_dim(m, iters, count);
}

static void add_shards(maker *m, ts_arena *arena, const ts_axe *axe, ts_axe_shape shape) {
    int next = 0;
    for (int d = 0, end; d < shape.rank && !m->builder.failed; d = end) {
        int first = next;
        int64_t dims = shape.dims[d], iters = 1;
        for (end = d + 1; dims != iters;)
            if (dims < iters)
                dims *= shape.dims[end++];
            else
                iters *= axe->shards[next++].extent;
        add_segment(m, arena, (ts_axe_shape){end - d, shape.dims + d}, ts_axe_from(axe, first), next - first);
    }
}

static const ts_layout *finish(maker *m, ts_arena *arena, const ts_axe *axe) {
    ts_axis axes[TS_LAYOUT_MAX_AXES];
    ts_iter *replicas = TS_NEW_ARRAY(arena, ts_iter, axe->replica_count);
    for (int i = 0; i < m->axis_count; i++) axes[i] = (ts_axis){m->axes[i], 0};
    for (int i = 0; i < axe->offset_count; i++)
        axes[axis_number(m, axe->offsets[i].axis)].offset = axe->offsets[i].value;
    for (int i = 0; i < axe->replica_count; i++)
        replicas[i] = (ts_iter){axe->replicas[i].extent, axe->replicas[i].stride,
                                axis_number(m, axe->replicas[i].axis)};
    const ts_layout *plain =
        ts_layout_finish(&m->builder, m->digits, m->axis_count, axes, axe->replica_count, replicas);
    if (!plain || !axe->swizzle.present) return plain;
    ts_layout *swizzled = TS_NEW(arena, ts_layout);
    *swizzled = *plain;
    swizzled->swizzle = axe->swizzle;
    swizzled->swizzle.axis = axis_number(m, "m");
    return swizzled;
}

const ts_layout *ts_axe_layout(ts_error *err, ts_arena *arena, const ts_axe *axe, int rank,
                               const int64_t *dims) {
    ts_axe canonical;
    ts_axe_shape shape = {rank, dims};
    maker m = {.axis_count = 0};
    if (!admitted(err, arena, axe, shape) || !ts_axe_axes(err, axe, m.axes, &m.axis_count) ||
        !ts_axe_canonical(err, arena, TS_AXE_TVM, axe, &canonical))
        return NULL;
    if (m.axis_count == 0) m.axes[m.axis_count++] = "m";
    ts_layout_begin(&m.builder, err, arena, rank, dims);
    add_shards(&m, arena, &canonical, shape);
    return m.builder.failed ? NULL : finish(&m, arena, axe);
}

/* ---- Back ---- */

static bool has_elements(const ts_layout *layout) {
    for (int i = 0; i < layout->rank; i++)
        if (layout->dims[i] == 0) return false;
    return true;
}

/* The padded extent of each dim, from a group of dims. */
static bool pad_dims(ts_error *err, const ts_layout *layout, const ts_iter_group *group, int64_t *padded) {
    if (group->padded != group->extent && (!padded || group->dim_count > 1))
        return ts_error_set(err, TS_ERROR_INPUT,
                            group->dim_count > 1
                                ? "dimensions %d to %d are merged and padded from %" PRId64 " to %" PRId64
                                : "dimensions %d to %d are padded from %" PRId64 " to %" PRId64,
                            group->dim, group->dim + group->dim_count - 1, group->extent, group->padded);
    for (int i = group->dim; padded && i < group->dim + group->dim_count; i++) padded[i] = layout->dims[i];
    if (padded && group->dim_count == 1) padded[group->dim] = group->padded;
    return true;
}

static void add_offsets(ts_arena *arena, const ts_layout *layout, ts_axe *out) {
    ts_axe_offset *offsets = TS_NEW_ARRAY(arena, ts_axe_offset, layout->axis_count);
    for (int i = 0; i < layout->axis_count; i++)
        if (layout->axes[i].offset != 0)
            (void)ts_axe_add_offset(offsets, &out->offset_count, layout->axes[i].name,
                                    layout->axes[i].offset);
    out->offsets = offsets;
}

static ts_axe_iter named(const ts_layout *layout, const ts_iter *iter) {
    return (ts_axe_iter){iter->extent, iter->stride, layout->axes[iter->axis].name};
}

/* A point where no iter is left: on the layout's first axis. */
static void add_point(ts_axe_list *shards, const ts_layout *layout) {
    if (shards->count == 0)
        ts_axe_list_add(shards, (ts_axe_iter){1, 1, layout->axis_count ? layout->axes[0].name : "m"});
}

static bool check_axe(ts_error *err, const ts_layout *layout) {
    if (!has_elements(layout)) return ts_error_set(err, TS_ERROR_INPUT, "the array has no elements");
    if (layout->swizzle.present && (layout->axis_count != 1 || !ts_axe_same_axis(layout->axes[0].name, "m")))
        return ts_error_set(err, TS_ERROR_INPUT, "only memory (the axis m alone) can be swizzled in Axe");
    return true;
}

static const char no_digits[] = "the map is not a sum of digits of the index",
                  no_iters[] = "its cut points do not divide one another, or an index is shifted, or "
                               "dimensions are merged out of order";

bool ts_axe_from_layout(ts_error *err, ts_arena *arena, const ts_layout *layout, int64_t *padded,
                        ts_axe *out) {
    ts_layout plain = *layout;
    plain.swizzle.present = false;
    *out = (ts_axe){.swizzle = layout->swizzle};
    if (!check_axe(err, layout)) return false;
    const ts_normal_form *form = ts_layout_normalise(arena, &plain);
    if (!form) return ts_error_set(err, TS_ERROR_INPUT, layout->function.forward ? no_digits : no_iters);
    ts_axe_list shards = {.arena = arena}, replicas = {.arena = arena};
    for (int i = 0; i < form->group_count; i++) {
        const ts_iter_group *group = &form->groups[i];
        if (!pad_dims(err, layout, group, padded)) return false;
        for (int j = 0; j < group->iter_count; j++) ts_axe_list_add(&shards, named(layout, &group->iters[j]));
    }
    add_point(&shards, layout);
    for (int i = 0; i < layout->replica_count; i++)
        ts_axe_list_add(&replicas, named(layout, &layout->replicas[i]));
    *out = ts_axe_with(out, &shards, &replicas);
    add_offsets(arena, layout, out);
    return ts_axe_finish(err, out);
}

bool ts_notation_read_axe(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_axe axe;
    if (!ts_axe_read(err, arena, cursor, &axe)) return false;
    ts_axe_print(&shape->text, &axe);
    shape->layout = ts_axe_layout(err, arena, &axe, shape->rank, shape->dims);
    return shape->layout != NULL;
}
