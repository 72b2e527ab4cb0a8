/* CuTe layouts in the common form, by way of Axe. */

#include <inttypes.h>

#include "axe_private.h"
#include "cute_private.h"
#include "notation.h"

static void add_reversed(ts_axe_list *list, const ts_cute *mode) {
    if (!mode->rank) ts_axe_list_add(list, (ts_axe_iter){mode->extent, mode->stride, "m"});
    for (int i = mode->rank; i > 0; i--) add_reversed(list, &mode->modes[i - 1]);
}

/* A negative shift moves low bits up: Axe's "outer". */
static ts_swizzle to_axe_swizzle(const ts_cute_swizzle *s) {
    return (ts_swizzle){.present = s->bits > 0,
                        .outer = s->shift < 0,
                        .bits = s->bits,
                        .keep = s->base,
                        .shift = s->shift < 0 ? -s->shift : s->shift};
}

bool ts_cute_to_axe(ts_error *err, ts_arena *arena, const ts_cute_map *map, ts_axe *out) {
    ts_axe_list shards = {.arena = arena};
    for (int i = 0; i < ts_cute_rank(&map->layout); i++) add_reversed(&shards, ts_cute_mode(&map->layout, i));
    *out = (ts_axe){.shard_count = shards.count, .shards = shards.items};
    if (map->swizzled) out->swizzle = to_axe_swizzle(&map->swizzle);
    if (map->swizzled && map->offset != 0) {
        ts_axe_offset *offset = TS_NEW(arena, ts_axe_offset);
        *offset = (ts_axe_offset){"m", map->offset};
        out->offsets = offset;
        out->offset_count = 1;
    }
    return ts_axe_finish(err, out);
}

/* The layout of an array whose dims are the sizes of the modes; an integer has one. */
static const ts_layout *array_layout(ts_error *err, ts_arena *arena, const ts_cute_map *map, int rank,
                                     const int64_t *dims) {
    ts_axe axe;
    if (rank != ts_cute_rank(&map->layout)) {
        ts_error_set(err, TS_ERROR_INPUT, "the layout has %d modes, the array %d dimensions",
                     ts_cute_rank(&map->layout), rank);
        return NULL;
    }
    for (int i = 0; i < rank; i++) {
        int64_t size = ts_cute_size(ts_cute_mode(&map->layout, i));
        if (size == dims[i]) continue;
        ts_error_set(err, TS_ERROR_INPUT,
                     "mode %d has size %" PRId64 ", dimension %d of the array is %" PRId64, i, size, i,
                     dims[i]);
        return NULL;
    }
    return ts_cute_to_axe(err, arena, map, &axe) ? ts_axe_layout(err, arena, &axe, rank, dims) : NULL;
}

/* ---- Back ---- */

static bool expressible(ts_error *err, const ts_axe *axe) {
    int64_t offset = axe->offset_count ? axe->offsets[0].value : 0;
    for (int i = 0; i < axe->shard_count; i++)
        if (!ts_axe_same_axis(axe->shards[i].axis, "m"))
            return ts_error_set(err, TS_ERROR_INPUT,
                                "CuTe has one axis of integers, the layout places on '%s'",
                                axe->shards[i].axis);
    if (axe->replica_count > 0) return ts_error_set(err, TS_ERROR_INPUT, "CuTe has no replicas");
    if (axe->offset_count > 1 || (axe->offset_count && !ts_axe_same_axis(axe->offsets[0].axis, "m")))
        return ts_error_set(err, TS_ERROR_INPUT,
                            "CuTe has one axis of integers, the layout has offsets on others");
    if (offset != 0 && !axe->swizzle.present)
        return ts_error_set(err, TS_ERROR_INPUT, "a CuTe layout begins at 0, this one at %" PRId64, offset);
    return offset >= 0 || ts_error_set(err, TS_ERROR_INPUT, "the offset %" PRId64 " is negative", offset);
}

/* The iters of a dim as one mode, the fastest first. */
static ts_cute make_mode(ts_arena *arena, const ts_axe_iter *iters, int count) {
    if (count == 0) return ts_cute_leaf(1, 0);
    if (count == 1) return ts_cute_leaf(iters[0].extent, iters[0].stride);
    ts_cute out, *modes = ts_cute_tuple(arena, count, &out);
    for (int i = 0; i < count; i++)
        modes[i] = ts_cute_leaf(iters[count - 1 - i].extent, iters[count - 1 - i].stride);
    return out;
}

bool ts_cute_from_axe(ts_error *err, ts_arena *arena, const ts_axe *axe, int rank, const int64_t *dims,
                      ts_cute_map *out) {
    ts_axe canonical;
    ts_axe_grouped grouped;
    const ts_swizzle *s = &axe->swizzle;
    if (!expressible(err, axe) || !ts_axe_canonical(err, arena, TS_AXE_TVM, axe, &canonical) ||
        !ts_axe_group(err, arena, TS_AXE_PAPER, &canonical, (ts_axe_shape){rank, dims}, &grouped))
        return false;
    if (rank == 0) return ts_error_set(err, TS_ERROR_INPUT, "a CuTe layout has at least one mode");
    *out = (ts_cute_map){.swizzled = s->present};
    ts_cute *modes = ts_cute_tuple(arena, rank, &out->layout);
    for (int i = 0; i < rank; i++)
        modes[i] = make_mode(arena, ts_axe_from(&grouped.axe, grouped.seps[i]),
                             grouped.seps[i + 1] - grouped.seps[i]);
    out->swizzle = (ts_cute_swizzle){s->bits, s->keep, s->outer ? -s->shift : s->shift};
    out->offset = s->present && axe->offset_count ? axe->offsets[0].value : 0;
    return true;
}

bool ts_notation_read_cute(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape) {
    ts_cute_map map;
    if (!ts_cute_read_map(err, arena, cursor, &map)) return false;
    ts_cute_print_map(&shape->text, &map);
    shape->layout = array_layout(err, arena, &map, shape->rank, shape->dims);
    return shape->layout != NULL;
}
