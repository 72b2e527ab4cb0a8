/* The layouts that a tensor may have on a TPU. */
#include <string.h>

#include "choose_private.h"
#include "base/number.h"
#include "layout/notation/tpu_rule.h"
#include "layout/notation/xla.h"

enum { MOST_TILES = 16, TALLEST = 512, ALL_ORDERS_RANK = 6, MOST_RANK = 32 };

/* The tiles of a type on a generation: what the rule picks for second minor dims of every size, with every
 * flag. */
typedef struct {
    int count;
    struct {
        const ts_xla_tile *tiles;
        int tile_count;
        int64_t element_bits;
    } rows[MOST_TILES];
} tile_list;

static bool is_listed(const tile_list *list, const ts_xla_layout *f) {
    for (int i = 0; i < list->count; i++) {
        const ts_xla_tile *a = &list->rows[i].tiles[0], *b = &f->tiles[0];
        if (ts_integers_equal(a->dims, a->rank, b->dims, b->rank)) return true;
    }
    return false;
}

static bool list_tiles(ts_error *err, ts_arena *arena, const ts_shape *model, int generation,
                       tile_list *list) {
    enum { TALL = TS_TPU_LARGE_X4 | TS_TPU_LARGE_X8 | TS_TPU_LARGE_X16 };
    int rank = model->layout->rank < 2 ? model->layout->rank : 2;
    list->count = 0;
    for (int64_t rows = TALLEST; rows >= 1; rows /= 2) {
        for (int tall = 0; tall < 2; tall++) {
            int64_t dims[2] = {rows, TS_LANES};
            if (rank == 1) dims[0] = rows * TS_LANES;
            const ts_xla_layout fields = {.rank = rank, .dims = dims};
            const ts_shape *shape =
                ts_tpu_tiled(err, arena, model->dtype, &fields, generation, tall ? TALL : TS_TPU_ARGUMENT);
            if (!shape) return false;
            if (list->count == MOST_TILES || is_listed(list, shape->xla)) continue;
            list->rows[list->count].tiles = shape->xla->tiles;
            list->rows[list->count].tile_count = shape->xla->tile_count;
            list->rows[list->count++].element_bits = shape->xla->element_bits;
        }
    }
    return true;
}

typedef struct {
    ts_error *err;
    ts_arena *arena;
    const ts_shape *model;
    tile_list tiles;
    bool combine;
    ts_candidate *list;
    int count;
} enumeration;

static bool add(enumeration *e, const ts_xla_layout *f) {
    if (e->count == TS_CHOOSE_CANDIDATES)
        return ts_error_set(e->err, TS_ERROR_UNMODELLED, "more than %d layouts", TS_CHOOSE_CANDIDATES);
    const ts_shape *shape = ts_xla_shape(e->err, e->arena, e->model->dtype, f);
    if (!shape) return false;
    e->list[e->count++] = (ts_candidate){
        .shape = shape, .text = ts_shape_text(e->arena, shape), .bytes = shape->bytes, .alike = 1};
    return true;
}

/* The first tile over one more dim, two neighbours as one: T(8,128) as T(*,8,128) and T(8,*,128). */
static bool add_combined(enumeration *e, const ts_xla_layout *fields, int row) {
    const ts_xla_tile *old = e->tiles.rows[row].tiles;
    int count = e->tiles.rows[row].tile_count;
    if (!e->combine || fields->rank < 3) return true;
    for (int at = 0; at < 2; at++) {
        ts_xla_layout f = *fields;
        ts_xla_tile *tiles = TS_NEW_ARRAY(e->arena, ts_xla_tile, count);
        int64_t *dims = TS_NEW_ARRAY(e->arena, int64_t, 3);
        memcpy(tiles, old, (size_t)count * sizeof *tiles);
        for (int i = 0, k = 0; i < 3; i++) dims[i] = i == at ? TS_XLA_COMBINE : old[0].dims[k++];
        tiles[0] = (ts_xla_tile){3, dims};
        f.tiles = tiles;
        if (!add(e, &f)) return false;
        e->list[e->count - 1].combines = true;
    }
    return true;
}

static bool add_order(enumeration *e, const int *order) {
    const ts_layout *layout = e->model->layout;
    int *kept = TS_COPY_ARRAY(e->arena, order, layout->rank);
    for (int i = 0; i < e->tiles.count; i++) {
        ts_xla_layout f = {.rank = layout->rank,
                           .dims = layout->dims,
                           .minor_to_major = kept,
                           .layout_written = true,
                           .tail_alignment = 1,
                           .memory_space = e->model->memory_space,
                           .tiles = e->tiles.rows[i].tiles,
                           .tile_count = e->tiles.rows[i].tile_count,
                           .element_bits = e->tiles.rows[i].element_bits};
        if (!add(e, &f) || !add_combined(e, &f, i)) return false;
    }
    return true;
}

/* Minor to major; the first order is row-major, and of several with the same two minor dims, the row-major
 * rest. */
static bool permute(enumeration *e, int *order, int chosen, unsigned used) {
    int rank = e->model->layout->rank;
    if (chosen == rank) return add_order(e, order);
    for (int dim = rank - 1; dim >= 0; dim--) {
        if (used >> dim & 1) continue;
        order[chosen] = dim;
        if (!permute(e, order, chosen + 1, used | 1u << dim)) return false;
        if (chosen >= 2 && rank > ALL_ORDERS_RANK) break; /* the major dims' order changes no price */
    }
    return true;
}

bool choose_enumerate(ts_error *err, ts_arena *arena, const ts_choose_request *request, const ts_shape *model,
                      ts_candidate *candidates, int *count) {
    int order[MOST_RANK], generation = request->machine->chip.generation;
    enumeration e = {
        .err = err, .arena = arena, .model = model, .combine = request->combine, .list = candidates};
    if (!ts_shape_layout(err, model, "the tensor")) return false;
    if (model->layout->rank > MOST_RANK)
        return ts_error_set(err, TS_ERROR_UNMODELLED, "more than %d dimensions", MOST_RANK);
    if (!list_tiles(err, arena, model, generation, &e.tiles) || !permute(&e, order, 0, 0)) return false;
    *count = e.count;
    return true;
}
