/* CuTe layouts: composition by mode, divides and products (NVIDIA/cutlass include/cute/layout.hpp). */
#include "cute_private.h"
#include "base/number.h"

/* What is done for each layout in a tiler, and whether modes that the tiler does not reach stay. */
typedef struct {
    bool (*leaf)(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute *b, ts_cute *out);
    bool keeps;
} operation;

static bool by_mode(ts_error *err, ts_arena *arena, const operation *op, const ts_cute *a,
                    const ts_cute_tiler *b, ts_cute *out) {
    *out = *a;
    if (b->kind == TS_CUTE_TILE_KEEP) return true;
    if (b->kind == TS_CUTE_TILE_LAYOUT) return op->leaf(err, arena, a, &b->layout, out);
    int rank = ts_cute_rank(a);
    if (b->rank > rank)
        return ts_error_set(err, TS_ERROR_INPUT, "a tiler of %d modes for a layout of %d", b->rank, rank);
    if (!op->keeps) rank = b->rank;
    ts_cute *modes = ts_cute_tuple(arena, rank, out);
    for (int i = 0; i < rank; i++) {
        modes[i] = *ts_cute_mode(a, i);
        if (i < b->rank && !by_mode(err, arena, op, ts_cute_mode(a, i), &b->modes[i], &modes[i]))
            return false;
    }
    return true;
}

bool ts_cute_compose(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute_tiler *b, ts_cute *out) {
    const operation compose = {.leaf = ts_cute_compose_layout};
    return by_mode(err, arena, &compose, a, b, out) && ts_cute_finish(err, out);
}

/* (tile, rest): A o (B, complement(B, size(A))). */
static bool divide_leaf(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute *b, ts_cute *out) {
    ts_cute rest;
    if (!ts_cute_complement(err, arena, b, ts_cute_size(a), &rest)) return false;
    ts_cute both = ts_cute_pair(arena, b, &rest);
    return ts_cute_finish(err, &both) && ts_cute_compose_layout(err, arena, a, &both, out);
}

/* (A, complement(A, size(A) * cosize(B)) o B). */
static bool product_leaf(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute *b, ts_cute *out) {
    int64_t target;
    ts_cute rest, repeat;
    if (!ts_mul(ts_cute_size(a), ts_cute_cosize(b), &target))
        return ts_error_set(err, TS_ERROR_INPUT, "size times cosize of the product does not fit in 64 bits");
    if (!ts_cute_complement(err, arena, a, target, &rest)) return false;
    if (!ts_cute_compose_layout(err, arena, &rest, b, &repeat)) return false;
    *out = ts_cute_pair(arena, a, &repeat);
    return ts_cute_finish(err, out);
}

/* Gathers the first of the two modes at each of the tiler's leaves in one mode, the second ones and all that
 * the tiler does not reach in another. */
static bool zip(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute_tiler *b, ts_cute *out) {
    *out = *a;
    if (b->kind != TS_CUTE_TILE_BY_MODE)
        return a->rank == 2 ||
               ts_error_set(err, TS_ERROR_INPUT, "'_' in a tiler that is zipped needs a mode of rank 2");
    ts_cute tile, *tiles = ts_cute_tuple(arena, b->rank, &tile);
    ts_cute rest, *rests = ts_cute_tuple(arena, a->rank, &rest);
    for (int i = 0; i < a->rank; i++) {
        rests[i] = a->modes[i];
        if (i >= b->rank) continue;
        ts_cute split;
        if (!zip(err, arena, &a->modes[i], &b->modes[i], &split)) return false;
        tiles[i] = split.modes[0];
        rests[i] = split.modes[1];
    }
    *out = ts_cute_pair(arena, &tile, &rest);
    return true;
}

/* The two modes of a zipped layout, one or both replaced by their own modes. */
static void unpack(ts_arena *arena, const ts_cute *zipped, bool first, ts_cute *out) {
    const ts_cute *tile = &zipped->modes[0], *rest = &zipped->modes[1];
    int tiles = first ? ts_cute_rank(tile) : 1, rests = ts_cute_rank(rest);
    ts_cute *modes = ts_cute_tuple(arena, tiles + rests, out);
    for (int i = 0; i < tiles; i++) modes[i] = first ? *ts_cute_mode(tile, i) : *tile;
    for (int i = 0; i < rests; i++) modes[tiles + i] = *ts_cute_mode(rest, i);
}

bool ts_cute_arrange(ts_error *err, ts_arena *arena, int form, const ts_cute *a, const ts_cute_tiler *b,
                     ts_cute *out) {
    const operation op = {form < TS_CUTE_FORMS ? divide_leaf : product_leaf, true};
    ts_cute split;
    if (!by_mode(err, arena, &op, a, b, out)) return false;
    form %= TS_CUTE_FORMS;
    if (form != TS_CUTE_LOGICAL) {
        if (!zip(err, arena, out, b, &split)) return false;
        *out = split;
    }
    if (form == TS_CUTE_TILED || form == TS_CUTE_FLAT) unpack(arena, &split, form == TS_CUTE_FLAT, out);
    return ts_cute_finish(err, out);
}

/* A tuple of `rank` modes, 1:0 behind the layout's own. */
static ts_cute padded(ts_arena *arena, const ts_cute *layout, int rank) {
    ts_cute out, *modes = ts_cute_tuple(arena, rank, &out);
    for (int i = 0; i < rank; i++)
        modes[i] = i < ts_cute_rank(layout) ? *ts_cute_mode(layout, i) : ts_cute_leaf(1, 0);
    return out;
}

bool ts_cute_paired_product(ts_error *err, ts_arena *arena, ts_cute_pairs pairs, const ts_cute *block,
                            const ts_cute *tiler, ts_cute *out) {
    const int first = pairs == TS_CUTE_RAKED; /* which part of a pair varies fastest */
    int rank = ts_cute_rank(block) > ts_cute_rank(tiler) ? ts_cute_rank(block) : ts_cute_rank(tiler);
    ts_cute blocks = padded(arena, block, rank), tiles = padded(arena, tiler, rank), product;
    if (!product_leaf(err, arena, &blocks, &tiles, &product)) return false;
    ts_cute *modes = ts_cute_tuple(arena, rank, out);
    for (int i = 0; i < rank; i++)
        modes[i] = ts_cute_pair(arena, &product.modes[first].modes[i], &product.modes[!first].modes[i]);
    return true;
}

bool ts_cute_tile_to_shape(ts_error *err, ts_arena *arena, const ts_cute *block, const ts_cute *shape,
                           const ts_cute *order, ts_cute *out) {
    int rank = ts_cute_rank(shape);
    if (ts_cute_rank(block) > rank)
        return ts_error_set(err, TS_ERROR_INPUT, "a block of %d modes for a shape of %d", ts_cute_rank(block),
                            rank);
    ts_cute blocks = padded(arena, block, rank), first_to_last = ts_cute_leaf(0, 0), tiler;
    ts_cute count, *counts = ts_cute_tuple(arena, rank, &count);
    for (int i = 0; i < rank; i++) {
        int64_t size = ts_cute_size(ts_cute_mode(shape, i));
        counts[i] = ts_cute_leaf(ts_ceil_div(size, ts_cute_size(&blocks.modes[i])), 0);
    }
    return ts_cute_ordered(err, arena, &count, order ? order : &first_to_last, &tiler) &&
           ts_cute_paired_product(err, arena, TS_CUTE_BLOCKED, &blocks, &tiler, out);
}
