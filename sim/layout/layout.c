/* Evaluating a layout: forward by its stages, backward by its digits and its stages in reverse. */
#include "layout/layout.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

int64_t ts_layout_element_count(const ts_layout *layout) { return ts_product(layout->rank, layout->dims); }

int64_t ts_layout_replica_total(const ts_layout *layout) {
    int64_t total = 1;
    for (int i = 0; i < layout->replica_count; i++) total *= layout->replicas[i].extent;
    return total;
}

int64_t ts_layout_padded_count(const ts_layout *layout) {
    int64_t total = 1;
    for (int i = 0; i < layout->digit_count; i++) total *= layout->digits[i].extent;
    for (int i = 0; layout->axis_sizes && i < layout->axis_count; i++) total *= layout->axis_sizes[i];
    return total;
}

int ts_layout_find_axis(const ts_layout *layout, const char *name, size_t length) {
    for (int i = 0; i < layout->axis_count; i++)
        if (ts_text_is(name, length, layout->axes[i].name)) return i;
    return -1;
}

/* A swizzle permutes within blocks of 2^(keep + shift + bits). */
static void widen_by_swizzle(const ts_swizzle *swizzle, int axis, int64_t *low, int64_t *high) {
    if (!swizzle->present || swizzle->axis != axis) return;
    int64_t block = INT64_C(1) << (swizzle->keep + swizzle->shift + swizzle->bits);
    *low = ts_floor_div(*low, block) * block;
    *high = ts_floor_div(*high, block) * block + block - 1;
}

void ts_layout_axis_range(const ts_layout *layout, int axis, int64_t *low, int64_t *high) {
    *low = *high = layout->axes[axis].offset;
    if (ts_layout_padded_count(layout) == 0) return;
    if (layout->function.forward) *high += layout->axis_sizes[axis] - 1;
    for (int i = 0; i < layout->digit_count + layout->replica_count; i++) {
        const ts_iter *iter = ts_layout_iter(layout, i);
        if (iter->axis != axis) continue;
        *(iter->stride < 0 ? low : high) += (iter->extent - 1) * iter->stride;
    }
    widen_by_swizzle(&layout->swizzle, axis, low, high);
}

static void permute(int64_t *values, const int *order, int count) {
    int64_t old[TS_LAYOUT_MAX_DIMS];
    memcpy(old, values, (size_t)count * sizeof old[0]);
    for (int i = 0; i < count; i++) values[i] = old[order[i]];
}

static void permute_back(int64_t *values, const int *order, int count) {
    int64_t old[TS_LAYOUT_MAX_DIMS];
    memcpy(old, values, (size_t)count * sizeof old[0]);
    for (int i = 0; i < count; i++) values[order[i]] = old[i];
}

static void insert_value(int64_t *values, int *count, int at, int64_t value) {
    for (int i = *count; i > at; i--) values[i] = values[i - 1];
    values[at] = value;
    ++*count;
}

static void remove_value(int64_t *values, int *count, int at) {
    --*count;
    for (int i = at; i < *count; i++) values[i] = values[i + 1];
}

/* An outer and an inner value become one, and the other way. */
static void merge_values(int64_t *values, int *count, int at, int64_t inner_extent) {
    values[at] = values[at] * inner_extent + values[at + 1];
    remove_value(values, count, at + 1);
}

static void split_value(int64_t *values, int *count, int at, int64_t inner_extent) {
    int64_t inner = values[at] % inner_extent;
    values[at] /= inner_extent;
    insert_value(values, count, at + 1, inner);
}

/* Rewrites the `count` current values by one stage. */
static void apply_stage(const ts_stage *stage, int64_t *v, int *count) {
    int k = stage->dim;
    switch (stage->kind) {
    case TS_STAGE_MERGE:
        merge_values(v, count, k, stage->extent_before);
        break;
    case TS_STAGE_BIAS:
        v[k] += stage->value;
        break;
    case TS_STAGE_PAD:
        break;
    case TS_STAGE_SPLIT:
        split_value(v, count, k, stage->value);
        break;
    case TS_STAGE_INSERT:
        insert_value(v, count, k, 0);
        break;
    case TS_STAGE_REORDER:
        permute(v, stage->order, *count);
        break;
    }
}

/* The inverse; false when the value is padding, or outside the slice. */
static bool undo_stage(const ts_stage *stage, int64_t *v, int *count) {
    int k = stage->dim;
    switch (stage->kind) {
    case TS_STAGE_MERGE:
        split_value(v, count, k, stage->extent_before);
        return true;
    case TS_STAGE_BIAS:
        v[k] -= stage->value;
        return v[k] >= 0 && v[k] < stage->extent_before;
    case TS_STAGE_PAD:
        return v[k] < stage->extent_before;
    case TS_STAGE_SPLIT:
        merge_values(v, count, k, stage->value);
        return true;
    case TS_STAGE_INSERT:
        remove_value(v, count, k);
        return true;
    case TS_STAGE_REORDER:
        permute_back(v, stage->order, *count);
        return true;
    }
    return false;
}

static void run_stages(const ts_layout *layout, const int64_t *index, int64_t *values) {
    int count = layout->rank;
    for (int i = 0; i < count; i++) {
        assert(index[i] >= 0 && index[i] < layout->dims[i]);
        values[i] = index[i];
    }
    for (int i = 0; i < layout->stage_count; i++) apply_stage(&layout->stages[i], values, &count);
    assert(count == layout->digit_count);
}

void ts_layout_digits(const ts_layout *layout, const int64_t *index, int64_t *values) {
    int64_t room[TS_LAYOUT_MAX_DIMS];
    run_stages(layout, index, room);
    memcpy(values, room, (size_t)layout->digit_count * sizeof room[0]);
}

/* Its own inverse: the bits that are read are not the ones that change. */
int64_t ts_swizzle_address(const ts_swizzle *swizzle, int64_t address) {
    uint64_t x = (uint64_t)address >> swizzle->keep, mask = (UINT64_C(1) << swizzle->bits) - 1;
    uint64_t flips = swizzle->outer ? (x & mask) << swizzle->shift : (x >> swizzle->shift) & mask;
    return address ^ (int64_t)(flips << swizzle->keep);
}

static void sum_digits(const ts_layout *layout, const int64_t *values, int64_t r, int64_t *coordinates) {
    for (int i = 0; i < layout->axis_count; i++) coordinates[i] = layout->axes[i].offset;
    for (int i = 0; i < layout->digit_count; i++)
        coordinates[layout->digits[i].axis] += values[i] * layout->digits[i].stride;
    for (int i = layout->replica_count - 1; i >= 0; i--) {
        const ts_iter *iter = &layout->replicas[i];
        coordinates[iter->axis] += r % iter->extent * iter->stride;
        r /= iter->extent;
    }
    if (layout->swizzle.present) {
        int64_t *address = &coordinates[layout->swizzle.axis];
        *address = ts_swizzle_address(&layout->swizzle, *address);
    }
}

void ts_layout_forward_replica(const ts_layout *layout, const int64_t *index, int64_t r,
                               int64_t *coordinates) {
    int64_t values[TS_LAYOUT_MAX_DIMS];
    if (layout->function.forward) {
        layout->function.forward(layout->function.self, index, coordinates);
        return;
    }
    run_stages(layout, index, values);
    sum_digits(layout, values, r, coordinates);
}

bool ts_layout_holds(const ts_layout *layout, const int64_t *index) {
    for (int i = 0; i < layout->rank; i++)
        if (index[i] < 0 || index[i] >= layout->dims[i]) return false;
    return true;
}

void ts_layout_forward(const ts_layout *layout, const int64_t *index, int64_t *coordinates) {
    ts_layout_forward_replica(layout, index, 0, coordinates);
}

/* ---- Backward: a search for digit values, widest stride first, cut off where the rest cannot reach. ---- */

typedef struct {
    const ts_iter *iter;
    int position;      /* of the digit; -1 for a replica */
    int64_t low, high; /* what the later iters of the same axis can add */
} search_item;

typedef struct {
    const ts_layout *layout;
    ts_arena *arena;
    ts_error *err;
    search_item *items;
    int item_count;
    int64_t rest[TS_LAYOUT_MAX_AXES];
    int64_t values[TS_LAYOUT_MAX_DIMS];
    int64_t limit, visits;
    ts_index_list *found;
} search;

enum { SEARCH_VISITS = 100 * 1000 * 1000 };

static int compare_items(const void *left, const void *right) {
    const search_item *a = left, *b = right;
    if (a->iter->axis != b->iter->axis) return ts_order(a->iter->axis, b->iter->axis);
    int64_t sa = llabs(a->iter->stride), sb = llabs(b->iter->stride);
    if (sa != sb) return ts_order(sb, sa);
    return ts_order(a->position, b->position);
}

static void fill_items(search *s) {
    const ts_layout *layout = s->layout;
    s->item_count = layout->digit_count + layout->replica_count;
    s->items = TS_NEW_ARRAY(s->arena, search_item, s->item_count);
    for (int i = 0; i < s->item_count; i++) {
        s->items[i].iter = ts_layout_iter(layout, i);
        s->items[i].position = i < layout->digit_count ? i : -1;
    }
    if (s->item_count > 0) qsort(s->items, (size_t)s->item_count, sizeof *s->items, compare_items);
    for (int i = s->item_count - 2; i >= 0; i--) {
        const search_item *next = &s->items[i + 1];
        if (next->iter->axis != s->items[i].iter->axis) continue;
        int64_t span = (next->iter->extent - 1) * next->iter->stride;
        s->items[i].low = next->low + (span < 0 ? span : 0);
        s->items[i].high = next->high + (span > 0 ? span : 0);
    }
}

static bool add_found(search *s, const int64_t *index) {
    int rank = s->layout->rank;
    if (s->found->count == s->limit) {
        return ts_error_set(s->err, TS_ERROR_INPUT, "more than %lld logical indices map to this point",
                            (long long)s->limit);
    }
    size_t bytes = (size_t)rank * sizeof *index;
    s->found->indices = ts_arena_extend(s->arena, s->found->indices, (size_t)s->found->count, bytes);
    memcpy(s->found->indices + s->found->count++ * rank, index, bytes);
    return true;
}

static bool found_digits(search *s) {
    int64_t v[TS_LAYOUT_MAX_DIMS];
    int count = s->layout->digit_count;
    memcpy(v, s->values, (size_t)count * sizeof v[0]);
    for (int i = s->layout->stage_count - 1; i >= 0; i--)
        if (!undo_stage(&s->layout->stages[i], v, &count)) return true;
    return add_found(s, v);
}

/* The values of an item that leave a rest within the reach of the later ones: [*first, *last]. */
static void feasible(const search_item *item, int64_t rest, int64_t *first, int64_t *last) {
    int64_t stride = item->iter->stride, low = rest - item->high, high = rest - item->low;
    *first = 0;
    *last = item->iter->extent - 1;
    if (stride == 0) {
        if (low > 0 || high < 0) *last = -1;
        return;
    }
    int64_t from = stride > 0 ? low : -high, to = stride > 0 ? high : -low, step = llabs(stride);
    int64_t least = -ts_floor_div(-from, step), most = ts_floor_div(to, step);
    if (least > *first) *first = least;
    if (most < *last) *last = most;
}

static bool search_from(search *s, int at) {
    if (at == s->item_count) return found_digits(s);
    const search_item *item = &s->items[at];
    int64_t *rest = &s->rest[item->iter->axis], before = *rest, first, last;
    feasible(item, before, &first, &last);
    for (int64_t value = first; value <= last; value++) {
        if (++s->visits > SEARCH_VISITS)
            return ts_error_set(s->err, TS_ERROR_INPUT, "the layout overlaps itself too much to be inverted");
        if (item->position >= 0) s->values[item->position] = value;
        *rest = before - value * item->iter->stride;
        if (!search_from(s, at + 1)) return false;
    }
    *rest = before;
    return true;
}

/* Replicas that coincide find an index twice: sorts, and keeps one of each. */
static void sort_unique(ts_index_list *found, int rank) {
    size_t bytes = (size_t)rank * sizeof(int64_t);
    if (rank == 0) found->count = found->count > 0;
    if (rank == 0 || found->count < 2) return;
    ts_sort_rows(found->indices, found->count, rank);
    int64_t kept = 1;
    for (int64_t i = 1; i < found->count; i++) {
        int64_t *here = found->indices + i * rank, *last = found->indices + (kept - 1) * rank;
        if (memcmp(here, last, bytes) != 0) memmove(found->indices + kept++ * rank, here, bytes);
    }
    found->count = kept;
}

bool ts_index_next(int rank, const int64_t *dims, int64_t *index) {
    for (int i = rank - 1; i >= 0; i--) {
        if (++index[i] < dims[i]) return true;
        index[i] = 0;
    }
    return false;
}

void ts_index_unflatten(int rank, const int64_t *dims, int64_t flat, int64_t *index) {
    for (int i = rank - 1; i >= 0; i--) {
        index[i] = flat % dims[i];
        flat /= dims[i];
    }
}

static bool backward_by_enumeration(search *s, const int64_t *coordinates) {
    const ts_layout *layout = s->layout;
    int64_t index[TS_LAYOUT_MAX_DIMS] = {0}, point[TS_LAYOUT_MAX_AXES];
    if (ts_layout_element_count(layout) == 0) return true;
    do {
        ts_layout_forward(layout, index, point);
        if (memcmp(point, coordinates, (size_t)layout->axis_count * sizeof point[0]) != 0) continue;
        if (!add_found(s, index)) return false;
    } while (ts_index_next(layout->rank, layout->dims, index));
    return true;
}

bool ts_layout_backward(ts_error *err, ts_arena *arena, const ts_layout *layout, const int64_t *coordinates,
                        int64_t limit, ts_index_list *found) {
    *found = (ts_index_list){0};
    search s = {.layout = layout, .arena = arena, .err = err, .limit = limit, .found = found};
    if (layout->function.forward) return backward_by_enumeration(&s, coordinates);
    for (int i = 0; i < layout->axis_count; i++) {
        int64_t low, high;
        ts_layout_axis_range(layout, i, &low, &high);
        if (coordinates[i] < low || coordinates[i] > high) return true;
        bool swizzle = layout->swizzle.present && layout->swizzle.axis == i;
        s.rest[i] = (swizzle ? ts_swizzle_address(&layout->swizzle, coordinates[i]) : coordinates[i]) -
                    layout->axes[i].offset;
    }
    fill_items(&s);
    for (int i = 0; i < layout->axis_count; i++) {
        bool used = false;
        for (int j = 0; j < s.item_count; j++) used = used || s.items[j].iter->axis == i;
        if (!used && s.rest[i] != 0) return true;
    }
    if (ts_layout_padded_count(layout) == 0) return true;
    if (!search_from(&s, 0)) return false;
    sort_unique(found, layout->rank);
    return true;
}
