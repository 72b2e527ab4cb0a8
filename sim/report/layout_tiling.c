/* The tiles of a shape: as XLA's notation states them, else as its digits show them. */
#include "layout_cells.h"

#include "base/number.h"
#include "layout/notation/xla.h"

static bool combines(const ts_xla_tile *tile) {
    for (int i = 0; i < tile->rank; i++)
        if (tile->dims[i] == TS_XLA_COMBINE) return true;
    return false;
}

static void find_by_xla(const ts_shape *shape, tiling *t) {
    const ts_layout *layout = shape->layout;
    const ts_xla_layout *f = shape->xla;
    int rank = layout->rank;
    bool tiled = f->tile_count > 0 && !combines(&f->tiles[0]);
    for (int i = 0; tiled && i < f->tiles[0].rank; i++) {
        int64_t size = f->tiles[0].dims[f->tiles[0].rank - 1 - i];
        if (!ts_mul(t->run, size, &t->run)) t->run = TILING_MAX_RUN + 1;
        if (i >= rank) continue;
        int dim = f->minor_to_major[i];
        t->first[dim] = size;
        t->drawn[dim] = ts_round_up(layout->dims[dim], size);
    }
    if (tiled && f->tile_count > 1 && f->tiles[1].rank <= f->tiles[0].rank && !combines(&f->tiles[1]))
        for (int i = 0; i < f->tiles[1].rank && i < rank; i++)
            t->second[f->minor_to_major[i]] = f->tiles[1].dims[f->tiles[1].rank - 1 - i];
    if (!tiled && rank > 0) t->run = t->drawn[f->minor_to_major[0]];
}

/* All digits of a dim but the topmost are its tile; the last of three or more, its sub-tile. */
static void find_by_digits(ts_arena *arena, const ts_layout *layout, tiling *t) {
    ts_layout plain = *layout;
    plain.swizzle.present = false;
    const ts_normal_form *form = ts_layout_normalise(arena, &plain);
    int64_t fastest = 1;
    bool tiled = false;
    for (int i = 0; form != NULL && i < form->group_count; i++) {
        const ts_iter_group *group = &form->groups[i];
        if (group->dim_count > 1 || group->iter_count == 0) continue;
        const ts_iter *last = &group->iters[group->iter_count - 1];
        t->drawn[group->dim] = group->padded;
        if (last->stride == 1) fastest = last->extent;
        if (group->iter_count == 1) continue;
        t->first[group->dim] = group->padded / group->iters[0].extent;
        if (group->iter_count > 2) t->second[group->dim] = last->extent;
        if (!ts_mul(t->run, t->first[group->dim], &t->run)) t->run = TILING_MAX_RUN + 1;
        tiled = true;
    }
    if (!tiled) t->run = fastest > 1 || layout->rank == 0 ? fastest : layout->dims[layout->rank - 1];
}

void tiling_find(ts_arena *arena, const ts_shape *shape, tiling *t) {
    *t = (tiling){.run = 1};
    for (int i = 0; i < shape->layout->rank; i++) t->drawn[i] = shape->layout->dims[i];
    if (shape->xla != NULL)
        find_by_xla(shape, t);
    else
        find_by_digits(arena, shape->layout, t);
    if (t->run > TILING_MAX_RUN || t->run < 1) t->run = TILING_MAX_RUN;
}
