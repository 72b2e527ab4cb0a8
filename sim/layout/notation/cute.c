/* CuTe layouts: sizes, coordinates and indices, and the canonical text. */
#include "layout/notation/cute.h"

#include <assert.h>
#include <inttypes.h>

#include "cute_private.h"
#include "base/number.h"

ts_cute ts_cute_leaf(int64_t extent, int64_t stride) { return (ts_cute){.extent = extent, .stride = stride}; }

ts_cute *ts_cute_tuple(ts_arena *arena, int rank, ts_cute *out) {
    ts_cute *modes = TS_NEW_ARRAY(arena, ts_cute, rank);
    *out = (ts_cute){.rank = rank, .modes = modes};
    return modes;
}

ts_cute ts_cute_pair(ts_arena *arena, const ts_cute *first, const ts_cute *second) {
    ts_cute pair, *modes = ts_cute_tuple(arena, 2, &pair);
    modes[0] = *first;
    modes[1] = *second;
    return pair;
}

int ts_cute_rank(const ts_cute *layout) { return layout->rank ? layout->rank : 1; }

int ts_cute_depth(const ts_cute *layout) {
    int depth = layout->rank ? 1 : 0;
    for (int i = 0; i < layout->rank; i++) {
        int below = ts_cute_depth(&layout->modes[i]) + 1;
        depth = below > depth ? below : depth;
    }
    return depth;
}

/* Multiplies *size by the extents and adds (extent-1) * |stride| to *reach; false on overflow. */
static bool measure(const ts_cute *layout, int64_t *size, int64_t *reach) {
    for (int i = 0; i < layout->rank; i++)
        if (!measure(&layout->modes[i], size, reach)) return false;
    if (layout->rank) return true;
    int64_t span;
    return ts_mul(*size, layout->extent, size) && ts_mul(layout->extent - 1, layout->stride, &span) &&
           (span >= 0 || ts_mul(span, -1, &span)) && ts_add(*reach, span, reach);
}

const char *ts_cute_misfit(const ts_cute *layout) {
    int64_t size = 1, cosize = 1;
    return measure(layout, &size, &cosize) ? NULL : "the layout's extents and strides do not fit in 64 bits";
}

bool ts_cute_finish(ts_error *err, const ts_cute *layout) {
    const char *misfit = ts_cute_misfit(layout);
    return !misfit || ts_error_set(err, TS_ERROR_INPUT, "%s", misfit);
}

int64_t ts_cute_size(const ts_cute *layout) {
    int64_t size = layout->rank ? 1 : layout->extent;
    for (int i = 0; i < layout->rank; i++) size *= ts_cute_size(&layout->modes[i]);
    return size;
}

int64_t ts_cute_cosize(const ts_cute *layout) {
    int64_t size = 1, cosize = 1;
    bool fits = measure(layout, &size, &cosize);
    assert(fits);
    return cosize;
}

bool ts_cute_compact(ts_arena *arena, const ts_cute *shape, ts_cute_fastest fastest, int64_t *current,
                     ts_cute *out) {
    if (!shape->rank) {
        *out = ts_cute_leaf(shape->extent, *current);
        return ts_mul(*current, shape->extent, current);
    }
    ts_cute *modes = ts_cute_tuple(arena, shape->rank, out);
    for (int i = 0; i < shape->rank; i++) {
        int at = fastest == TS_CUTE_LEFTMOST ? i : shape->rank - 1 - i;
        if (!ts_cute_compact(arena, &shape->modes[at], fastest, current, &modes[at])) return false;
    }
    return true;
}

static const ts_cute *small_extent(const ts_cute *shape) {
    const ts_cute *small = shape->rank || shape->extent > 0 ? NULL : shape;
    for (int i = 0; i < shape->rank && !small; i++) small = small_extent(&shape->modes[i]);
    return small;
}

static bool compact_shape(ts_error *err, ts_arena *arena, const ts_cute *shape, ts_cute_fastest fastest,
                          ts_cute *out) {
    int64_t current = 1;
    const ts_cute *small = small_extent(shape);
    if (small)
        return ts_error_set(err, TS_ERROR_INPUT, "found %" PRId64 ", expected an extent of at least 1",
                            small->extent);
    return ts_cute_compact(arena, shape, fastest, &current, out) ||
           ts_error_set(err, TS_ERROR_INPUT, "the size does not fit in 64 bits");
}

bool ts_cute_compact_left(ts_error *err, ts_arena *arena, const ts_cute *shape, ts_cute *out) {
    return compact_shape(err, arena, shape, TS_CUTE_LEFTMOST, out);
}

bool ts_cute_compact_right(ts_error *err, ts_arena *arena, const ts_cute *shape, ts_cute *out) {
    return compact_shape(err, arena, shape, TS_CUTE_RIGHTMOST, out);
}

bool ts_cute_is_compatible(const ts_cute *a, const ts_cute *b) {
    if (!a->rank) return a->extent == ts_cute_size(b);
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (!ts_cute_is_compatible(&a->modes[i], &b->modes[i])) return false;
    return true;
}

static bool rank_differs(ts_error *err, const char *what, const ts_cute *tuple, const ts_cute *layout) {
    if (!layout->rank)
        return ts_error_set(err, TS_ERROR_INPUT, "%s of %d modes where the layout has an integer", what,
                            tuple->rank);
    return ts_error_set(err, TS_ERROR_INPUT, "%s of %d modes where the layout has %d", what, tuple->rank,
                        layout->rank);
}

/* Adds the index of one mode's coordinate. */
static bool add_index(ts_error *err, const ts_cute *layout, const ts_cute *coordinate, int64_t *index) {
    int64_t rest = coordinate->extent, step;
    if (coordinate->rank && coordinate->rank != layout->rank)
        return rank_differs(err, "a coordinate", coordinate, layout);
    if (!layout->rank) {
        if (!ts_mul(rest, layout->stride, &step) || !ts_add(*index, step, index))
            return ts_error_set(err, TS_ERROR_INPUT, "the index of the coordinate does not fit in 64 bits");
        return rest >= 0 || ts_error_set(err, TS_ERROR_INPUT, "the coordinate %" PRId64 " is negative", rest);
    }
    for (int i = 0; i < layout->rank; i++) {
        ts_cute part = ts_cute_leaf(rest, 0);
        if (!coordinate->rank && i + 1 < layout->rank) {
            int64_t size = ts_cute_size(&layout->modes[i]);
            part.extent = rest % size;
            rest /= size;
        }
        if (!add_index(err, &layout->modes[i], coordinate->rank ? &coordinate->modes[i] : &part, index))
            return false;
    }
    return true;
}

bool ts_cute_index(ts_error *err, const ts_cute *layout, const ts_cute *coordinate, int64_t *index) {
    *index = 0;
    return add_index(err, layout, coordinate, index);
}

bool ts_cute_map_index(ts_error *err, const ts_cute_map *map, const ts_cute *coordinate, int64_t *index) {
    if (!ts_cute_index(err, &map->layout, coordinate, index)) return false;
    if (!map->swizzled) return true;
    if (!ts_add(*index, map->offset, index) || *index < 0)
        return ts_error_set(err, TS_ERROR_INPUT, "a swizzle needs an index from 0 to %" PRId64, INT64_MAX);
    ts_cute_swizzle s = map->swizzle;
    int64_t mask = (((int64_t)1 << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
    int64_t taken = *index & mask;
    *index ^= s.shift >= 0 ? taken >> s.shift : taken << -s.shift;
    return true;
}

bool ts_cute_coordinate(ts_error *err, ts_arena *arena, const ts_cute *index, const ts_cute *shape,
                        ts_cute *out) {
    if (index->rank && index->rank != shape->rank) return rank_differs(err, "an index", index, shape);
    int64_t rest = index->extent;
    if (!index->rank && rest < 0)
        return ts_error_set(err, TS_ERROR_INPUT, "the index %" PRId64 " is negative", rest);
    if (!shape->rank) {
        *out = ts_cute_leaf(rest % shape->extent, 0);
        return true;
    }
    ts_cute *modes = ts_cute_tuple(arena, shape->rank, out);
    for (int i = 0; i < shape->rank; i++) {
        ts_cute part = ts_cute_leaf(rest, 0);
        rest /= ts_cute_size(&shape->modes[i]);
        if (!ts_cute_coordinate(err, arena, index->rank ? &index->modes[i] : &part, &shape->modes[i],
                                &modes[i]))
            return false;
    }
    return true;
}

/* The stride of an extent of 1 never matters. */
static int64_t extent_of(const ts_cute *leaf) { return leaf->extent; }
static int64_t stride_of(const ts_cute *leaf) { return leaf->extent == 1 ? 0 : leaf->stride; }
typedef int64_t value_of(const ts_cute *leaf);

static void print_nested(ts_text *out, const ts_cute *tuple, value_of *value) {
    if (!tuple->rank) {
        ts_text_add(out, "%" PRId64, value(tuple));
        return;
    }
    for (int i = 0; i < tuple->rank; i++) {
        ts_text_add_char(out, i ? ',' : '(');
        print_nested(out, &tuple->modes[i], value);
    }
    ts_text_add_char(out, ')');
}

void ts_cute_print_tuple(ts_text *out, const ts_cute *tuple) { print_nested(out, tuple, extent_of); }

static void print_layout(ts_text *out, const ts_cute *layout) {
    print_nested(out, layout, extent_of);
    ts_text_add_char(out, ':');
    print_nested(out, layout, stride_of);
}

void ts_cute_print_map(ts_text *out, const ts_cute_map *map) {
    if (map->swizzled)
        ts_text_add(out, "S<%d,%d,%d> o %" PRId64 " o ", map->swizzle.bits, map->swizzle.base,
                    map->swizzle.shift, map->offset);
    print_layout(out, &map->layout);
}

int ts_cute_leaf_count(const ts_cute *tuple) {
    int count = tuple->rank ? 0 : 1;
    for (int i = 0; i < tuple->rank; i++) count += ts_cute_leaf_count(&tuple->modes[i]);
    return count;
}

void ts_cute_print_tiler(ts_text *out, const ts_cute_tiler *tiler) {
    if (tiler->kind == TS_CUTE_TILE_KEEP) ts_text_add_char(out, '_');
    if (tiler->kind == TS_CUTE_TILE_LAYOUT) print_layout(out, &tiler->layout);
    if (tiler->kind != TS_CUTE_TILE_BY_MODE) return;
    for (int i = 0; i < tiler->rank; i++) {
        ts_text_add_char(out, i > 0 ? ',' : '<');
        ts_cute_print_tiler(out, &tiler->modes[i]);
    }
    ts_text_add_char(out, '>');
}
