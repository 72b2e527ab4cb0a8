/* The layout form: a map from a logical index to coordinates on named axes. Every notation becomes this.
 *
 * A layout is its logical dims, then stages that rewrite the list of current dims, ending in digits. Digit k
 * adds index_k * stride_k to its axis. Replicas add every combination of their digits (a set of points), and
 * each axis has an offset: L(x) = { D(x) + r + O : r in R } (Axe, arXiv 2601.19092, section 3).
 *
 * Where the map is no list of stages (a swizzle, an index map that is not affine) the layout says so and
 * still evaluates and inverts exactly; only plans on it gather.
 *
 * Strides and offsets count the axis's own unit: elements on a memory axis such as "m". */
#ifndef TILESIM_LAYOUT_LAYOUT_H
#define TILESIM_LAYOUT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

enum {
    TS_LAYOUT_MAX_DIMS = 128, /* current dims at any stage; more is refused with a clear error */
    TS_LAYOUT_MAX_AXES = 32,
    TS_MAP_BLOCK = 128,
};

/* A digit or a replica: `extent` values, each `stride` apart on axis number `axis`. extent >= 0 (0 only where
 * a logical dim is 0), any stride. */
typedef struct {
    int64_t extent, stride;
    int axis;
} ts_iter;

typedef struct {
    const char *name;
    int64_t offset;
} ts_axis;

/* One rewrite of the current dims. */
typedef enum {
    TS_STAGE_MERGE,   /* dims k, k+1 become one: i_k * extent_(k+1) + i_(k+1) */
    TS_STAGE_BIAS,    /* i_k + value, of a dim of `extent` (a slice of a larger dim; a left padding) */
    TS_STAGE_PAD,     /* the extent grows to `extent`; indices stay */
    TS_STAGE_SPLIT,   /* i_k / value, i_k % value; value divides the extent */
    TS_STAGE_INSERT,  /* a dim of extent 1 before k */
    TS_STAGE_REORDER, /* the new dim j is the old dim order[j] */
} ts_stage_kind;

typedef struct {
    ts_stage_kind kind;
    int dim;
    int64_t value;
    int64_t extent_before, extent; /* of dim k before and after; of a merge: of dim k+1, and of the result */
    const int *order;
} ts_stage;

/* address ^= bits taken from it `shift` higher, after dropping `keep` low bits (CuTe Swizzle<bits, keep,
 * shift>, the "inner" form of TVM's ComposeLayout); "outer" xors the low bits into the high ones. */
typedef struct {
    bool present, outer;
    int axis, bits, keep, shift;
} ts_swizzle;
int64_t ts_swizzle_address(const ts_swizzle *swizzle, int64_t address);

/* A map that only its notation can evaluate. `coordinates` has one value an axis. */
typedef struct {
    const void *self;
    void (*forward)(const void *self, const int64_t *index, int64_t *coordinates);
    /* The same for up to TS_MAP_BLOCK indices, an array for each dim, which it may change; the layout has one
     * axis. NULL: there is only the other. */
    void (*forward_block)(const void *self, int64_t (*index)[TS_MAP_BLOCK], int count, int64_t *offsets);
} ts_map_function;

typedef struct ts_layout {
    int rank;
    const int64_t *dims; /* logical extents */
    int stage_count, digit_count, replica_count, axis_count;
    const ts_stage *stages;
    const ts_iter *digits;   /* the current dims after the last stage, in order; extents include padding */
    const ts_iter *replicas; /* in the order written */
    const ts_axis *axes;
    ts_swizzle swizzle;
    ts_map_function function;  /* .forward is NULL for a layout of stages */
    const int64_t *axis_sizes; /* of a layout by function: coordinates are 0 .. size-1 */
    bool injective;            /* known to be, by whoever made it */
} ts_layout;

/* ---- Building. Every step checks what it relies on and keeps the first error; `finish` reports it. ---- */

typedef struct {
    ts_error *err;
    ts_arena *arena;
    bool failed;
    int rank, count;
    const int64_t *dims;
    int64_t extents[TS_LAYOUT_MAX_DIMS]; /* the current dims */
    ts_stage *stages;
    int stage_count;
} ts_layout_builder;

/* dims are copied. Extents must be >= 0; their product must fit in int64. */
void ts_layout_begin(ts_layout_builder *b, ts_error *err, ts_arena *arena, int rank, const int64_t *dims);
void ts_layout_merge(ts_layout_builder *b, int dim);
void ts_layout_bias(ts_layout_builder *b, int dim, int64_t bias, int64_t extent);
void ts_layout_pad(ts_layout_builder *b, int dim, int64_t extent);
void ts_layout_split(ts_layout_builder *b, int dim,
                     int64_t factor); /* `factor` is the extent of the inner dim */
void ts_layout_insert(ts_layout_builder *b, int dim);
void ts_layout_reorder(ts_layout_builder *b, const int *order);
/* Pads up to a multiple, then splits: one tile of one dim. */
void ts_layout_tile(ts_layout_builder *b, int dim, int64_t factor);
/* Row-major strides on the axis "m", the last current dim fastest. NULL on error. */
const ts_layout *ts_layout_finish_row_major(ts_layout_builder *b);
/* digits: one for each current dim (extents are taken from the builder); axes and replicas are copied. */
const ts_layout *ts_layout_finish(ts_layout_builder *b, const ts_iter *digits, int axis_count,
                                  const ts_axis *axes, int replica_count, const ts_iter *replicas);
/* Another layout with the same map on a box of it: logical dims `sizes`, index 0 at `begin`. */
const ts_layout *ts_layout_slice(ts_error *err, ts_arena *arena, const ts_layout *layout,
                                 const int64_t *begin, const int64_t *sizes);
/* The same map without the logical dims of extent 1. */
const ts_layout *ts_layout_squeeze(ts_error *err, ts_arena *arena, const ts_layout *layout);

/* ---- Asking ---- */

int64_t ts_layout_element_count(const ts_layout *layout); /* product of the logical dims */
int64_t ts_layout_replica_total(const ts_layout *layout); /* points per element, at least 1 */
int ts_layout_find_axis(const ts_layout *layout, const char *name, size_t length); /* -1 when there is none */
/* Digits, then replicas. */
static inline const ts_iter *ts_layout_iter(const ts_layout *layout, int i) {
    return i < layout->digit_count ? &layout->digits[i] : &layout->replicas[i - layout->digit_count];
}
/* The number of digit combinations, padding included. */
int64_t ts_layout_padded_count(const ts_layout *layout);
/* Smallest and largest coordinate that any element, padding or replica has on an axis; where there is none,
 * its offset. */
void ts_layout_axis_range(const ts_layout *layout, int axis, int64_t *low, int64_t *high);

/* The next index in row-major order; false, and all 0, behind the last. */
bool ts_index_next(int rank, const int64_t *dims, int64_t *index);
/* The index that is number `flat` in row-major order. */
void ts_index_unflatten(int rank, const int64_t *dims, int64_t flat, int64_t *index);
/* D(x) + O, without replicas; index within the dims (asserted). coordinates: one an axis. */
void ts_layout_forward(const ts_layout *layout, const int64_t *index, int64_t *coordinates);
/* Replica number r (row-major over `replicas`, the last fastest) of the same. */
void ts_layout_forward_replica(const ts_layout *layout, const int64_t *index, int64_t r,
                               int64_t *coordinates);
/* Values of the digits of an index (for explanations). */
void ts_layout_digits(const ts_layout *layout, const int64_t *index, int64_t *values);
/* The offset of each index of a layout with one axis, in row-major order of the logical dims, from flat index
 * `first`, `count` of them. The bulk form: regular layouts run at the speed of a few adds an element. */
bool ts_layout_forward_many(ts_error *err, ts_arena *scratch, const ts_layout *layout, int64_t first,
                            int64_t count, int64_t *offsets);

/* Every logical index with the point in its set, row-major order, at most `limit` of them (more is an error).
 * None is an answer: padding, or a hole. `indices` has count * rank values. */
typedef struct {
    int64_t count;
    int64_t *indices;
} ts_index_list;
bool ts_layout_backward(ts_error *err, ts_arena *arena, const ts_layout *layout, const int64_t *coordinates,
                        int64_t limit, ts_index_list *found);

/* The normal form: per logical dim (or run of merged dims) iters, most significant first, that cover its
 * padded extent exactly; neighbours that are one arithmetic progression are fused and extents of 1 dropped.
 * NULL where cut points do not divide, where there is a bias, or where the map is no stage list. */
typedef struct {
    int dim, dim_count;     /* logical dims `dim` .. `dim + dim_count - 1` */
    int64_t extent, padded; /* product of their extents; product of the iters' extents */
    int iter_count;
    const ts_iter *iters;
} ts_iter_group;
typedef struct {
    int group_count;
    const ts_iter_group *groups;
} ts_normal_form;
const ts_normal_form *ts_layout_normalise(ts_arena *arena, const ts_layout *layout);

/* Whether two layouts are one map; where not, an index (rank values) at which they differ. */
typedef struct {
    bool equal;
    int64_t witness[TS_LAYOUT_MAX_DIMS];
} ts_layout_comparison;
/* Whether no point belongs to two logical indices; where one does, two such indices (rank values each). */
typedef struct {
    bool injective;
    int64_t first[TS_LAYOUT_MAX_DIMS], second[TS_LAYOUT_MAX_DIMS];
} ts_layout_injectivity;

/* Are the two the same map (the same set of points, axes matched by name, for every logical index)? Needs
 * equal logical dims. Exact: proved from the segments of both layouts where that is possible, by enumeration
 * otherwise. Error only when that takes more than `limit` points, and as many show no difference. */
bool ts_layout_compare(ts_error *err, ts_arena *arena, const ts_layout *a, const ts_layout *b, int64_t limit,
                       ts_layout_comparison *out);
/* Is that the index of an element, within all dims? */
bool ts_layout_holds(const ts_layout *layout, const int64_t *index);
bool ts_layout_injective(ts_error *err, ts_arena *arena, const ts_layout *layout, int64_t limit,
                         ts_layout_injectivity *out);

#endif
