/* From a layout to XLA's minor_to_major and tiles: a tile is undone by merging the last digits into those
 * that they were split from; when every dim is one digit again, their order is minor_to_major. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "layout/notation/xla.h"
#include "notation.h"

enum { MAX_DIGITS = 48, MAX_TILES = 3, MAX_TRIES = 20000, EQUAL_LIMIT = 1 << 24 };

/* index of the dim / low % extent */
typedef struct {
    int dim;
    int64_t low, extent, stride;
} digit;

typedef struct {
    int count;
    digit items[MAX_DIGITS]; /* in the order of memory, the fastest last */
} digits;

typedef struct {
    ts_arena *arena;
    const ts_shape *shape;
    int tries, tile_count;
    ts_xla_tile tiles[MAX_TILES];
} search;

static int compare_strides(const void *left, const void *right) {
    const digit *a = left, *b = right;
    return ts_order(b->stride, a->stride);
}

static bool xla_can_say(ts_error *err, const ts_layout *layout) {
    if (layout->function.forward)
        return ts_error_set(err, TS_ERROR_INPUT, "the map is known only as a function");
    if (layout->swizzle.present) return ts_error_set(err, TS_ERROR_INPUT, "XLA has no swizzles");
    if (layout->replica_count > 0) return ts_error_set(err, TS_ERROR_INPUT, "XLA has no replicas");
    if (layout->axis_count != 1 || strcmp(layout->axes[0].name, "m") != 0)
        return ts_error_set(err, TS_ERROR_INPUT, "XLA's arrays lie in memory, on the one axis m");
    return layout->axes[0].offset == 0 ||
           ts_error_set(err, TS_ERROR_INPUT, "XLA's arrays begin at 0, this layout at %" PRId64,
                        layout->axes[0].offset);
}

static bool collect(ts_error *err, ts_arena *arena, const ts_layout *layout, digits *out) {
    const ts_normal_form *form = ts_layout_normalise(arena, layout);
    out->count = 0;
    if (!form)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "its cut points do not divide one another, or an index is shifted, or dimensions "
                            "are merged out of order");
    for (int i = 0; i < form->group_count; i++) {
        const ts_iter_group *group = &form->groups[i];
        int64_t low = 1;
        if (group->dim_count > 1)
            return ts_error_set(err, TS_ERROR_INPUT, "dimensions %d to %d are merged", group->dim,
                                group->dim + group->dim_count - 1);
        for (int j = group->iter_count - 1; j >= 0; j--) {
            const ts_iter *iter = &group->iters[j];
            if (out->count == MAX_DIGITS)
                return ts_error_set(err, TS_ERROR_INPUT, "more than %d digits", MAX_DIGITS);
            out->items[out->count++] = (digit){group->dim, low, iter->extent, iter->stride};
            low *= iter->extent;
        }
    }
    if (out->count > 0) qsort(out->items, (size_t)out->count, sizeof out->items[0], compare_strides);
    return true;
}

/* XLA's arrays leave no gaps but padding. */
static bool is_compact(ts_error *err, const digits *list) {
    int64_t next = 1;
    for (int i = list->count - 1; i >= 0; i--) {
        const digit *d = &list->items[i];
        if (d->stride != next)
            return ts_error_set(err, TS_ERROR_INPUT,
                                "XLA's arrays have no gaps: dimension %d has a stride of %" PRId64
                                ", expected %" PRId64,
                                d->dim, d->stride, next);
        next *= d->extent;
    }
    return true;
}

/* ---- The end of the search: every dim is one digit ---- */

static bool is_untiled(const digits *list) {
    for (int i = 0; i < list->count; i++)
        for (int j = 0; j < i; j++)
            if (list->items[i].dim == list->items[j].dim) return false;
    return true;
}

/* Dims of 1 have no digit: they are the most major ones. */
static const int *minor_to_major(ts_arena *arena, const digits *list, int rank) {
    int *order = TS_NEW_ARRAY(arena, int, rank), count = 0;
    bool seen[TS_LAYOUT_MAX_DIMS] = {false};
    for (int i = list->count - 1; i >= 0; i--) {
        seen[list->items[i].dim] = true;
        order[count++] = list->items[i].dim;
    }
    for (int i = rank - 1; i >= 0; i--)
        if (!seen[i]) order[count++] = i;
    return order;
}

/* The XLA shape of what was found, if it is the same map as the layout; else NULL. */
static const ts_shape *check(search *s, const digits *list) {
    const ts_layout *layout = s->shape->layout;
    ts_xla_tile *tiles = TS_NEW_ARRAY(s->arena, ts_xla_tile, MAX_TILES);
    for (int i = 0; i < s->tile_count; i++)
        tiles[i] = s->tiles[s->tile_count - 1 - i]; /* the last was undone first */
    int bits = s->shape->element_bits;
    ts_xla_layout fields = {.rank = layout->rank,
                            .dims = layout->dims,
                            .minor_to_major = minor_to_major(s->arena, list, layout->rank),
                            .layout_written = true,
                            .tile_count = s->tile_count,
                            .tiles = tiles,
                            .element_bits = bits == ts_dtype_get(s->shape->dtype)->stored_bits ? 0 : bits,
                            .memory_space = s->shape->memory_space};
    const ts_shape *shape = ts_xla_shape(NULL, s->arena, s->shape->dtype, &fields);
    ts_layout_comparison found;
    if (!shape || !ts_layout_compare(NULL, s->arena, layout, shape->layout, EQUAL_LIMIT, &found)) return NULL;
    return found.equal ? shape : NULL;
}

/* ---- Undoing a tile ---- */

/* The digit of the same dim just above, before `limit`; -1: there is one, but not there; -2: there is
 * none. */
static int find_outer(const digits *list, const digit *inner, int limit) {
    bool other = false;
    for (int i = 0; i < list->count; i++) {
        if (list->items[i].dim != inner->dim) continue;
        if (i < limit && list->items[i].low == inner->low * inner->extent) return i;
        other = true;
    }
    return other ? -1 : -2;
}

/* Takes the last `count` digits as the inside of a tile. */
static bool undo(search *s, const digits *list, int count, digits *out, ts_xla_tile *tile) {
    int64_t sizes[MAX_DIGITS] = {0};
    *out = *list;
    out->count -= count;
    int limit = out->count;
    for (int j = list->count - 1; j >= list->count - count; j--) {
        const digit *inner = &list->items[j];
        int at = find_outer(out, inner, limit);
        if (at == -1) return false;
        if (at == -2) { /* the outer part is 1 */
            at = limit;
            memmove(&out->items[at + 1], &out->items[at], (size_t)(out->count - at) * sizeof out->items[0]);
            memmove(&sizes[at + 1], &sizes[at], (size_t)(out->count - at) * sizeof sizes[0]);
            out->items[at] = *inner;
            out->count++;
        } else {
            out->items[at].low = inner->low;
            out->items[at].extent *= inner->extent;
        }
        sizes[at] = inner->extent;
        limit = at;
    }
    int64_t *dims = TS_NEW_ARRAY(s->arena, int64_t, out->count - limit);
    for (int i = limit; i < out->count; i++) dims[i - limit] = sizes[i] ? sizes[i] : 1;
    *tile = (ts_xla_tile){out->count - limit, dims};
    return true;
}

/* With exactly `tiles` more tiles. */
static const ts_shape *find(search *s, const digits *list, int tiles) {
    if (++s->tries > MAX_TRIES) return NULL;
    if (tiles == 0) return is_untiled(list) ? check(s, list) : NULL;
    for (int count = 1; count <= list->count; count++) {
        digits *before = TS_NEW(s->arena, digits);
        if (!undo(s, list, count, before, &s->tiles[s->tile_count])) continue;
        s->tile_count++;
        const ts_shape *found = find(s, before, tiles - 1);
        s->tile_count--;
        if (found) return found;
    }
    return NULL;
}

const ts_shape *ts_translate_to_xla(ts_error *err, ts_arena *arena, const ts_shape *shape) {
    digits *list = TS_NEW(arena, digits);
    search s = {.arena = arena, .shape = shape};
    const ts_shape *found = NULL;
    if (!xla_can_say(err, shape->layout) || !collect(err, arena, shape->layout, list) ||
        !is_compact(err, list))
        return NULL;
    for (int tiles = 0; tiles <= MAX_TILES && !found; tiles++) found = find(&s, list, tiles);
    if (!found)
        ts_error_set(err, TS_ERROR_INPUT, "up to %d tiles do not give this order of digits", MAX_TILES);
    return found;
}
