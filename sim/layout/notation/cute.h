/* CuTe layouts: nested shape:stride, leftmost mode fastest, and their algebra.
 *
 * Sources: NVIDIA/cutlass 4.x, media/docs/cpp/cute/01_layout.md and 02_layout_algebra.md,
 * include/cute/layout.hpp, swizzle.hpp and stride.hpp. Where pycute and the C++ differ, the C++ is followed.
 * Differences, all on purpose:
 *   - a composition that would not equal A(B(c)) is refused (C++ checks a weaker condition);
 *   - idx2crd wraps in every mode; tile_to_shape rounds up instead of demanding even division;
 *   - the stride of an extent of 1 is printed as 0: it never matters. */
#ifndef TILESIM_LAYOUT_NOTATION_CUTE_H
#define TILESIM_LAYOUT_NOTATION_CUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

/* A nested tuple. In a layout every integer is extent:stride, so that shape and stride are congruent by
 * construction; extents are at least 1, strides any. Coordinates, orders and profiles use `extent` alone, as
 * the value. */
typedef struct ts_cute ts_cute;
struct ts_cute {
    int rank; /* modes of a tuple, at least 1; 0: an integer */
    int64_t extent, stride;
    const ts_cute *modes;
};

/* Divides, products and compositions take a layout, or such a thing for each mode. */
typedef enum { TS_CUTE_TILE_LAYOUT, TS_CUTE_TILE_BY_MODE, TS_CUTE_TILE_KEEP /* "_" */ } ts_cute_tile;
typedef struct ts_cute_tiler ts_cute_tiler;
struct ts_cute_tiler {
    ts_cute_tile kind;
    ts_cute layout;
    int rank;
    const ts_cute_tiler *modes;
};

/* Swizzle<B,M,S>: x ^ ((x & ones(B) << (M + max(0,S))) >> S); a negative S shifts left. |S| >= B. */
typedef struct {
    int bits, base, shift;
} ts_cute_swizzle;

/* x -> swizzle(offset + layout(x)); without a swizzle, x -> layout(x). */
typedef struct {
    bool swizzled;
    ts_cute_swizzle swizzle;
    int64_t offset;
    ts_cute layout;
} ts_cute_map;

/* ---- Text.
 *
 *   tuple  = INT | "(" tuple {"," tuple} ")"      "_8" is 8; (6) is a tuple of rank 1
 *   layout = tuple [":" tuple]                    no stride: compact, leftmost fastest
 *   tiler  = layout | tuple | "<" tiler {"," tiler} ">" | "_"
 *   map    = layout | swz ["o" [INT "o"] layout]
 *   swz    = ("S" | "Sw" | "Swizzle") "<" B "," M "," S ">"
 *          | "SW_" B "_" M "_" S                  as pycute prints it, with a layout behind it
 *
 * In a tiler a tuple goes by mode, an INT n is n:1, and "[" "]" are "<" ">". A layout's size, and the sum of
 * (extent-1) * |stride|, fit in int64. ---- */
/* Each reads at the cursor and moves the cursor past it. */
bool ts_cute_read_map(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_cute_map *map);
bool ts_cute_read_tiler(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_cute_tiler *tiler);
bool ts_cute_read_tuple(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_cute *tuple);
/* A tuple as a tiler: an integer n is n:1. */
void ts_cute_tiler_by_mode(ts_arena *arena, const ts_cute *tuple, ts_cute_tiler *tiler);

void ts_cute_print_map(ts_text *out, const ts_cute_map *map);
void ts_cute_print_tuple(ts_text *out, const ts_cute *tuple);
void ts_cute_print_tiler(ts_text *out, const ts_cute_tiler *tiler);

/* ---- Asking ---- */
int ts_cute_rank(const ts_cute *layout); /* an integer has 1 */
int ts_cute_depth(const ts_cute *layout);
int64_t ts_cute_size(const ts_cute *layout);
int64_t ts_cute_cosize(const ts_cute *layout);                  /* 1 + sum of (extent-1) * |stride| */
bool ts_cute_is_compatible(const ts_cute *a, const ts_cute *b); /* is every coordinate of a one of b? */
/* The coordinate (>= 0) is an integer (leftmost mode fastest, the last mode not reduced), or a tuple of
 * coordinates of the modes. */
bool ts_cute_index(ts_error *err, const ts_cute *layout, const ts_cute *coordinate, int64_t *index);
bool ts_cute_map_index(ts_error *err, const ts_cute_map *map, const ts_cute *coordinate, int64_t *index);
/* The natural coordinate of an index, modulo each extent; a tuple of indices goes by mode. */
bool ts_cute_coordinate(ts_error *err, ts_arena *arena, const ts_cute *index, const ts_cute *shape,
                        ts_cute *out);

/* ---- Algebra. Results are in `arena`, and may share modes with the operands. ---- */
bool ts_cute_flatten(ts_error *err, ts_arena *arena, const ts_cute *layout, ts_cute *out); /* true */
/* The same function of an integer, with the fewest modes; with a profile, each of its modes by itself. */
bool ts_cute_coalesce(ts_error *err, ts_arena *arena, const ts_cute *layout, const ts_cute *profile,
                      ts_cute *out);
/* Coalesced, without what has a stride of 0. True. */
bool ts_cute_filter(ts_error *err, ts_arena *arena, const ts_cute *layout, ts_cute *out);
/* R(c) = A(B(c)), for every coordinate c of B. By mode: modes of A that the tiler does not reach are
 * dropped. */
bool ts_cute_compose(ts_error *err, ts_arena *arena, const ts_cute *a, const ts_cute_tiler *b, ts_cute *out);
/* What the layout does not reach: ordered, disjoint from it but for 0. Together they reach at least `target`
 * (>= 1; usual is the layout's cosize), unless a stride is no multiple of what smaller ones cover: then a gap
 * is filled as far as whole steps go. */
bool ts_cute_complement(ts_error *err, ts_arena *arena, const ts_cute *layout, int64_t target, ts_cute *out);
bool ts_cute_right_inverse(ts_error *err, ts_arena *arena, const ts_cute *layout,
                           ts_cute *out); /* L(R(i)) = i */
bool ts_cute_left_inverse(ts_error *err, ts_arena *arena, const ts_cute *layout,
                          ts_cute *out); /* R(L(i)) = i */
/* Compact strides for a shape: the leftmost mode fastest, or the rightmost. An extent is at least 1. */
bool ts_cute_compact_left(ts_error *err, ts_arena *arena, const ts_cute *shape, ts_cute *out);
bool ts_cute_compact_right(ts_error *err, ts_arena *arena, const ts_cute *shape, ts_cute *out);
/* Compact strides for a shape, modes of the smallest `order` fastest. */
bool ts_cute_ordered(ts_error *err, ts_arena *arena, const ts_cute *shape, const ts_cute *order,
                     ts_cute *out);

/* Divides, and products, by how the tile (or block) modes and the rest are arranged:
 *   logical ((tile,rest),(tile,rest)..)   zipped ((tile,tile..),(rest,rest..))
 *   tiled   ((tile,tile..),rest,rest..)   flat   (tile,tile..,rest,rest..) */
typedef enum { TS_CUTE_LOGICAL, TS_CUTE_ZIPPED, TS_CUTE_TILED, TS_CUTE_FLAT, TS_CUTE_FORMS } ts_cute_form;
/* form: of a divide; of a product TS_CUTE_FORMS more. */
bool ts_cute_arrange(ts_error *err, ts_arena *arena, int form, const ts_cute *a, const ts_cute_tiler *b,
                     ts_cute *out);
/* Mode by mode (block, tiler), or raked: (tiler, block). */
typedef enum { TS_CUTE_BLOCKED, TS_CUTE_RAKED } ts_cute_pairs;
bool ts_cute_paired_product(ts_error *err, ts_arena *arena, ts_cute_pairs pairs, const ts_cute *block,
                            const ts_cute *tiler, ts_cute *out);
/* `order` may be NULL: the first mode first. */
bool ts_cute_tile_to_shape(ts_error *err, ts_arena *arena, const ts_cute *block, const ts_cute *shape,
                           const ts_cute *order, ts_cute *out);

#endif
