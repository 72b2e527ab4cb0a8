/* Axe layouts: a list of iters (extent, stride, axis) that a row-major index is split over, replicas and
 * offsets: L(x) = { D(x) + r + O }.
 *
 * Sources: arXiv 2601.19092 ("the paper", sections 3 and appendices A, C, E, F) and TVM's tirx layouts
 * (docs/tirx/layout.rst, src/tirx/ir/layout). Where the two differ, both are here, by name. Differences from
 * TVM, all on purpose:
 *   - a second S[] or R[] is refused (the last one used to win);
 *   - an index that splits over two digits is sliced only where the upper digit does not wrap (TVM's answer is
 *     wrong);
 *   - packing scales the strides of the packed axis alone, and refuses what it does not divide;
 *   - offsets that fall on one axis by fusion add up; the warp groups of a block fuse into its warps. */
#ifndef TILESIM_LAYOUT_NOTATION_AXE_H
#define TILESIM_LAYOUT_NOTATION_AXE_H

#include "layout/layout.h"

typedef struct {
    int64_t extent, stride;
    const char *axis;
} ts_axe_iter;

typedef struct {
    const char *axis;
    int64_t value;
} ts_axe_offset;

/* Every axe fits: the products of the extents of shards and of replicas, and on each axis the sum of the
 * offset and of all (extent-1) * |stride|, are int64. At most TS_LAYOUT_MAX_DIMS iters in all. */
typedef struct {
    int shard_count, replica_count, offset_count;
    const ts_axe_iter *shards; /* the last is the fastest */
    const ts_axe_iter *replicas;
    const ts_axe_offset *offsets; /* by name, each axis once */
    ts_swizzle swizzle;           /* of the address on "m", then the only axis; its `axis` is unused */
} ts_axe;

/* ---- Text.
 *
 *   layout  = ["SW(" M "," B "," S ["," ("inner"|"outer")] ")" "o"] term {"+" term}    one S and one R at most
 *           | "T.TileLayout(" .. ")" | "T.ComposeLayout(" M "," B "," S ", T.TileLayout(" .. ")"
 *             [", swizzle_inner=" ("True"|"False")] ")"
 *             as TVM prints them, with T.S[..] + T.R[..] + (5 + 2 @ Axis.tx) inside
 *   term    = "S[" iters "]" | "R[" iters "]" | "O[" stride {"," stride} "]" | stride | matrix
 *   iters   = ints [":" strides]            in S alone: no strides are row-major ones on m
 *   ints    = INT {"," INT} | "(" INT {"," INT} [","] ")"
 *   strides = stride {"," stride} | "(" stride {"," stride} [","] ")"
 *   stride  = INT ["@" NAME] | NAME         NAME alone is 1@NAME; no axis is m; a NAME may be quoted
 *   matrix  = "(" INT.. "/" stride.. ")" | "[" INT.. "/" stride.. "]"    the paper's: D in ( ), R in [ ]
 * ---- */

/* One layout at the cursor, which is left behind it. */
bool ts_axe_read(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_axe *out);
bool ts_axe_parse(ts_error *err, ts_arena *arena, const ts_source *source,
                  ts_axe *out); /* the whole source */
void ts_axe_print(ts_text *out, const ts_axe *axe);
void ts_axe_print_matrix(ts_text *out, const ts_axe *axe);

/* ---- Asking. An axis that is NULL: all of them, or where spans are asked for all memory axes (every axis
 * but those of CUDA threads: bx, warpid, laneid ..). ---- */

typedef enum { TS_AXE_TVM, TS_AXE_PAPER, TS_AXE_CUDA } ts_axe_form;

int64_t ts_axe_size(const ts_axe *axe, const char *axis); /* product of the shards' extents */
/* TVM: 1 + the signed spans + the offset. The paper: largest - smallest + 1. */
bool ts_axe_span(ts_error *err, const ts_axe *axe, ts_axe_form form, const char *axis, int64_t *span);
void ts_axe_range(const ts_axe *axe, const char *axis, int64_t *low, int64_t *high); /* without the swizzle */
/* The axes by name, `names` having room for TS_LAYOUT_MAX_AXES; false when there are more. */
bool ts_axe_axes(ts_error *err, const ts_axe *axe, const char **names, int *count);
/* Are the paper's canonical forms the same? Where strides are 0 or replicas overlap, a "no" may be wrong:
 * ts_layout_compare on both sides' ts_axe_layout decides. */
bool ts_axe_equal(ts_error *err, ts_arena *arena, const ts_axe *a, const ts_axe *b, bool *equal);
bool ts_axe_is_thread(const char *axis); /* one of CUDA's threads */
/* The innermost and outermost scope of threads that the layout spans; NULL, NULL without thread axes in D. */
bool ts_axe_scope(ts_error *err, const ts_axe *axe, const char **inner, const char **outer);

/* ---- Operations. Results are in `arena` and may share arrays with operands. ---- */

/* TVM: units and zero offsets dropped, neighbours fused, replicas sorted. The paper: replicas are positive
 * and absorbed besides. CUDA: thread axes fused first. */
bool ts_axe_canonical(ts_error *err, ts_arena *arena, ts_axe_form form, const ts_axe *axe, ts_axe *out);
typedef struct {
    int rank;
    const int64_t *dims;
} ts_axe_shape;

/* A layout over a shape; the product of its dims is the layout's size. */
typedef struct {
    const ts_axe *axe;
    ts_axe_shape shape;
} ts_axe_shaped;

/* A layout grouped by a shape: dim d is shards seps[d] .. seps[d+1]-1; seps has rank + 1 entries. */
typedef struct {
    ts_axe axe;
    const int *seps;
} ts_axe_grouped;

/* The answer to a question that may have none: `axe` is set where it was found. */
typedef struct {
    bool found;
    ts_axe axe;
} ts_axe_answer;

/* Splits shards at the dims' boundaries. A dim of 1 gets an iter of 1 (TVM) or none (the paper). */
bool ts_axe_group(ts_error *err, ts_arena *arena, ts_axe_form form, const ts_axe *axe, ts_axe_shape shape,
                  ts_axe_grouped *out);
/* The same for several shapes at once: the coarsest shards that serve them all, and out[i] has the separators
 * of shapes[i]. */
bool ts_axe_group_many(ts_error *err, ts_arena *arena, const ts_axe *axe, int count,
                       const ts_axe_shape *shapes, ts_axe_grouped *out);
/* The outer layout's elements are copies of the inner one. */
bool ts_axe_tile(ts_error *err, ts_arena *arena, ts_axe_form form, ts_axe_shaped outer, ts_axe_shaped inner,
                 ts_axe *out);
/* Is `inner` (`outer`) what `tiled` was tiled with? Then the other one. */
bool ts_axe_is_tile_inner(ts_error *err, ts_arena *arena, ts_axe_shaped inner, ts_axe_shaped tiled,
                          ts_axe_answer *outer);
bool ts_axe_is_tile_outer(ts_error *err, ts_arena *arena, ts_axe_shaped outer, ts_axe_shaped tiled,
                          ts_axe_answer *inner);
/* Blocks interleaved as in a tiling, nothing scaled. */
bool ts_axe_direct_sum(ts_error *err, ts_arena *arena, ts_axe_shaped left, ts_axe_shaped right, ts_axe *out);
/* Is `addend` that addend of `sum`? Then the other one. The sum's shape has left and right dims in turn. */
typedef enum { TS_AXE_RIGHT, TS_AXE_LEFT } ts_axe_side;
bool ts_axe_is_direct_sum(ts_error *err, ts_arena *arena, ts_axe_side side, ts_axe_shaped addend,
                          ts_axe_shaped sum, ts_axe_answer *other);
/* The box begin .. end-1 as a layout of its own; not found: no list of iters is that map. */
bool ts_axe_slice(ts_error *err, ts_arena *arena, ts_axe_shaped whole, const int64_t *begin,
                  const int64_t *end, ts_axe_answer *out);
bool ts_axe_permute(ts_error *err, ts_arena *arena, const ts_axe *axe, int count, const int64_t *order,
                    ts_axe *out);
/* A new shard of stride 0 at `position` (below 0: counted from behind the last). */
bool ts_axe_broadcast(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe_iter shard, int64_t position,
                      ts_axe *out);
bool ts_axe_unpack(ts_error *err, ts_arena *arena, const ts_axe *axe, int64_t n, ts_axe *out);
bool ts_axe_pack(ts_error *err, ts_arena *arena, const ts_axe *axe, int64_t n, ts_axe *out);
bool ts_axe_storage(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe *out); /* without thread axes */
/* 512 elements of F a Bank (Trainium's accumulators). */
bool ts_axe_to_psum(ts_error *err, ts_arena *arena, const ts_axe *axe, ts_axe *out);

/* ---- The common form. ---- */

/* Over an admitted shape: the product of its dims is the size. Dims are merged only where iters straddle
 * them. The axes are in the order of their names. */
const ts_layout *ts_axe_layout(ts_error *err, ts_arena *arena, const ts_axe *axe, int rank,
                               const int64_t *dims);
/* The list of iters that a layout is, over its padded dims (rank values, into `padded`); an error says why
 * there is none. Where a dim that is merged with others is padded, or one is padded and `padded` is NULL,
 * that is an error. */
bool ts_axe_from_layout(ts_error *err, ts_arena *arena, const ts_layout *layout, int64_t *padded,
                        ts_axe *out);

#endif
