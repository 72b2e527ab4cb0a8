/* The functions of Axe's algebra, by TVM's names, and by the paper's where the two differ. */
#include <inttypes.h>

#include "algebra_private.h"
#include "axe_private.h"
#include "cute_private.h"

enum { A, B, C, D, E };
enum { LIMIT = 1 << 22, ANSWERS = 1 << 16 }; /* of points that a function goes over, and that it answers */

/* ---- Arguments and results ---- */

static ts_axe_shape shape_of(const ts_argument *argument) {
    return (ts_axe_shape){argument->count, argument->integers};
}

static ts_axe_shaped shaped(const ts_call *call, int axe, int shape) {
    return (ts_axe_shaped){&call->arguments[axe].axe, shape_of(&call->arguments[shape])};
}

/* The shape, or the flat one where none is given. */
static ts_axe_shape shape_or_flat(ts_call *call, int number) {
    if (call->arguments[number].given) return shape_of(&call->arguments[number]);
    int64_t *dims = TS_NEW(call->arena, int64_t);
    *dims = ts_axe_size(&call->arguments[A].axe, NULL);
    return (ts_axe_shape){1, dims};
}

static const ts_layout *common(ts_call *call, const ts_axe *axe, ts_axe_shape shape) {
    return ts_axe_layout(call->err, call->arena, axe, shape.rank, shape.dims);
}

static bool axe_or_none(ts_value *out, const ts_axe_answer *answer) {
    if (!answer->found) return ts_value_word(out, "none");
    out->axe = answer->axe;
    return true;
}

/* ---- Points ---- */

/* Which replicas are where one before them is: sorted by place, then by number, those behind the first. */
static const bool *repeated(ts_arena *arena, const int64_t *coordinates, int64_t total, int count) {
    int width = count + 1;
    int64_t *rows = TS_NEW_ARRAY(arena, int64_t, total * width);
    bool *repeats = TS_NEW_ARRAY(arena, bool, total);
    size_t bytes = (size_t)count * sizeof *rows;
    for (int64_t r = 0; r < total; r++) {
        memcpy(rows + r * width, coordinates + r * count, bytes);
        rows[r * width + count] = r;
    }
    ts_sort_rows(rows, total, width);
    for (int64_t r = 0; r < total; r++)
        repeats[rows[r * width + count]] =
            r > 0 && memcmp(rows + r * width, rows + (r - 1) * width, bytes) == 0;
    return repeats;
}

/* The points in the order of the replicas, each once. */
static bool add_points(ts_call *call, const ts_layout *layout, const int64_t *index, ts_value *out) {
    int64_t total = ts_layout_replica_total(layout);
    int count = layout->axis_count;
    if (total > ANSWERS)
        return ts_error_set(call->err, TS_ERROR_INPUT, "an index has more than %d points", ANSWERS);
    ts_value_point *points = TS_NEW_ARRAY(call->arena, ts_value_point, total);
    const char **axes = TS_NEW_ARRAY(call->arena, const char *, count);
    int64_t *coordinates = TS_NEW_ARRAY(call->arena, int64_t, total * count);
    for (int i = 0; i < count; i++) axes[i] = layout->axes[i].name;
    for (int64_t r = 0; r < total; r++) ts_layout_forward_replica(layout, index, r, coordinates + r * count);
    const bool *repeats = repeated(call->arena, coordinates, total, count);
    for (int64_t r = 0; r < total; r++)
        if (!repeats[r]) points[out->point_count++] = (ts_value_point){count, axes, coordinates + r * count};
    out->kind = TS_VALUE_POINTS;
    out->points = points;
    return true;
}

static bool forward(ts_call *call, ts_value *out) {
    ts_axe_shape shape = shape_or_flat(call, C);
    if (!ts_argument_inside(call->err, &call->arguments[B], shape.rank, shape.dims)) return false;
    const ts_layout *layout = common(call, &call->arguments[A].axe, shape);
    return layout && add_points(call, layout, call->arguments[B].integers, out);
}

/* Digits for an index without a shape: flat, the first iter taking what is left over, or one for each
 * iter. */
static int64_t *digits_of(ts_call *call) {
    const ts_axe *axe = &call->arguments[A].axe;
    const ts_argument *index = &call->arguments[B];
    int64_t *digits = TS_NEW_ARRAY(call->arena, int64_t, axe->shard_count + 1);
    bool whole = index->count == axe->shard_count;
    if (!whole && index->count != 1) {
        ts_error_set(call->err, TS_ERROR_INPUT, "the coordinate has %d entries, expected 1 or %d",
                     index->count, axe->shard_count);
        return NULL;
    }
    int64_t rest = index->count > 0 ? index->integers[0] : 0;
    for (int i = axe->shard_count - 1; i >= 0; i--) {
        int64_t extent = axe->shards[i].extent;
        digits[i] = whole ? index->integers[i] : i > 0 ? rest % extent : rest;
        rest /= extent;
    }
    return digits;
}

/* The point of digits that may lie beyond their iters: those of a layout with larger ones. */
static bool apply_digits(ts_call *call, const int64_t *digits, ts_value *out) {
    ts_axe wide = call->arguments[A].axe;
    size_t count = (size_t)wide.shard_count;
    int64_t *dims = TS_NEW_ARRAY(call->arena, int64_t, wide.shard_count);
    ts_axe_iter *shards = TS_COPY_ARRAY(call->arena, wide.shards, count);
    for (int i = 0; i < wide.shard_count; i++) {
        if (digits[i] < 0 || digits[i] == INT64_MAX)
            return ts_error_set(call->err, TS_ERROR_INPUT, "the coordinate %" PRId64 " is out of range",
                                digits[i]);
        if (digits[i] >= shards[i].extent) shards[i].extent = digits[i] + 1;
        dims[i] = shards[i].extent;
    }
    wide.shards = shards;
    const ts_layout *layout =
        ts_axe_finish(call->err, &wide) ? common(call, &wide, (ts_axe_shape){wide.shard_count, dims}) : NULL;
    return layout && add_points(call, layout, digits, out);
}

static bool apply(ts_call *call, ts_value *out) {
    call->arguments[A].axe.replica_count = 0;
    if (call->arguments[C].given) return forward(call, out);
    const int64_t *digits = digits_of(call);
    return digits && apply_digits(call, digits, out);
}

/* Axes that are not named are at 0; *outside when one that the layout has not is not at 0. */
static void find_coordinates(const ts_layout *layout, const ts_value_point *given, int64_t *point,
                             bool *outside) {
    *outside = false;
    for (int i = 0; i < given->count; i++) {
        int axis = ts_layout_find_axis(layout, given->axes[i], strlen(given->axes[i]));
        if (axis >= 0)
            point[axis] = given->coordinates[i];
        else
            *outside = *outside || given->coordinates[i] != 0;
    }
}

static bool backward(ts_call *call, ts_value *out) {
    ts_axe_shape shape = shape_or_flat(call, C);
    int64_t point[TS_LAYOUT_MAX_AXES] = {0};
    bool outside;
    ts_index_list found = {0};
    const ts_layout *layout = common(call, &call->arguments[A].axe, shape);
    if (!layout) return false;
    find_coordinates(layout, call->arguments[B].point, point, &outside);
    if (!outside && !ts_layout_backward(call->err, call->arena, layout, point, ANSWERS, &found)) return false;
    if (found.count == 0 || shape.rank == 0) return ts_value_word(out, found.count == 0 ? "none" : "()");
    return ts_value_lists(call->arena, out, (int)found.count, shape.rank, found.indices);
}

/* ---- Asking ---- */

/* TVM answers sizes and spans of swizzled layouts only as a whole. */
static bool has_axes(ts_call *call) {
    return !call->arguments[B].axis || !call->arguments[A].axe.swizzle.present ||
           ts_error_set(call->err, TS_ERROR_INPUT, "a swizzled layout has no sizes and spans of single axes");
}

static bool size(ts_call *call, ts_value *out) {
    return has_axes(call) &&
           ts_value_integer(out, ts_axe_size(&call->arguments[A].axe, call->arguments[B].axis));
}

static bool span(ts_call *call, ts_value *out) {
    int64_t value;
    return has_axes(call) &&
           ts_axe_span(call->err, &call->arguments[A].axe, (ts_axe_form)call->variant,
                       call->arguments[B].axis, &value) &&
           ts_value_integer(out, value);
}

static bool range(ts_call *call, ts_value *out) {
    const char *axis = call->arguments[B].axis;
    int64_t ends[2];
    if (!has_axes(call)) return false;
    ts_axe_range(&call->arguments[A].axe, axis ? axis : "m", &ends[0], &ends[1]);
    return ts_value_integers(call->arena, out, 2, ends);
}

static bool equal(ts_call *call, ts_value *out) {
    bool yes;
    return ts_axe_equal(call->err, call->arena, &call->arguments[A].axe, &call->arguments[B].axe, &yes) &&
           ts_value_yes(out, yes);
}

static bool same_map(ts_call *call, ts_value *out) {
    const ts_axe *a = &call->arguments[A].axe, *b = &call->arguments[B].axe;
    int64_t dims = ts_axe_size(a, NULL);
    ts_layout_comparison found;
    if (dims != ts_axe_size(b, NULL)) return ts_value_word(out, "no");
    const ts_layout *left = common(call, a, (ts_axe_shape){1, &dims}),
                    *right = common(call, b, (ts_axe_shape){1, &dims});
    return left && right && ts_layout_compare(call->err, call->arena, left, right, LIMIT, &found) &&
           ts_value_yes(out, found.equal);
}

static bool injective(ts_call *call, ts_value *out) {
    ts_layout_injectivity found;
    const ts_layout *layout = common(call, &call->arguments[A].axe, shape_or_flat(call, B));
    return layout && ts_layout_injective(call->err, call->arena, layout, LIMIT, &found) &&
           ts_value_yes(out, found.injective);
}

static bool get_scope(ts_call *call, ts_value *out) {
    const char *inner, *outer;
    if (!ts_axe_scope(call->err, &call->arguments[A].axe, &inner, &outer)) return false;
    if (!inner) return ts_value_word(out, "none");
    const char *text = ts_text_format(call->arena, "%s..%s", inner, outer);
    return ts_value_word(out, text);
}

static bool matrix(ts_call *call, ts_value *out) {
    ts_text text = ts_text_begin(call->arena);
    ts_axe_print_matrix(&text, &call->arguments[A].axe);
    return ts_value_text(out, &text);
}

/* ---- Operations ---- */

static bool canonicalize(ts_call *call, ts_value *out) {
    return ts_axe_canonical(call->err, call->arena, (ts_axe_form)call->variant, &call->arguments[A].axe,
                            &out->axe);
}

static bool add_seps(ts_call *call, int count, const int *seps, ts_value *out) {
    int64_t *values = TS_NEW_ARRAY(call->arena, int64_t, count);
    for (int i = 0; i < count; i++) values[i] = seps[i];
    return ts_value_integers(call->arena, out, count, values);
}

static bool group(ts_call *call, ts_value *out) {
    ts_axe_shape shape = shape_of(&call->arguments[B]);
    ts_axe_grouped grouped;
    if (!ts_axe_group(call->err, call->arena, (ts_axe_form)call->variant, &call->arguments[A].axe, shape,
                      &grouped))
        return false;
    out->axe = grouped.axe;
    return add_seps(call, shape.rank + 1, grouped.seps, ts_value_add_extra(call->arena, out, "seps"));
}

static bool group_many(ts_call *call, ts_value *out) {
    const ts_argument *shapes = &call->arguments[B];
    int count = shapes->count;
    ts_axe_grouped *grouped = TS_NEW_ARRAY(call->arena, ts_axe_grouped, count);
    if (!ts_axe_group_many(call->err, call->arena, &call->arguments[A].axe, count, shapes->shapes, grouped))
        return false;
    out->axe = grouped[0].axe;
    ts_value *seps = ts_value_add_extra(call->arena, out, "seps"), one;
    ts_cute *modes = ts_cute_tuple(call->arena, count, &seps->tuple);
    seps->kind = TS_VALUE_TUPLE;
    for (int i = 0; i < count; i++) {
        add_seps(call, shapes->shapes[i].rank + 1, grouped[i].seps, &one);
        modes[i] = one.tuple;
    }
    return true;
}

static bool tile(ts_call *call, ts_value *out) {
    return ts_axe_tile(call->err, call->arena, (ts_axe_form)call->variant, shaped(call, B, C),
                       shaped(call, A, D), &out->axe);
}

enum { INNER, OUTER };
static bool is_tile(ts_call *call, ts_value *out) {
    ts_axe_answer other;
    return (call->variant == INNER ? ts_axe_is_tile_inner : ts_axe_is_tile_outer)(
               call->err, call->arena, shaped(call, A, D), shaped(call, B, C), &other) &&
           axe_or_none(out, &other);
}

static bool direct_sum(ts_call *call, ts_value *out) {
    return ts_axe_direct_sum(call->err, call->arena, shaped(call, B, C), shaped(call, A, D), &out->axe);
}

/* Is the first the direct sum of the two others? */
static bool is_direct_sum(ts_call *call, ts_value *out) {
    ts_axe sum;
    bool yes;
    return ts_axe_direct_sum(call->err, call->arena, shaped(call, B, C), shaped(call, D, E), &sum) &&
           ts_axe_equal(call->err, call->arena, &call->arguments[A].axe, &sum, &yes) &&
           ts_value_yes(out, yes);
}

static bool other_addend(ts_call *call, ts_value *out) {
    ts_axe_answer other;
    return ts_axe_is_direct_sum(call->err, call->arena, (ts_axe_side)call->variant, shaped(call, A, D),
                                shaped(call, B, C), &other) &&
           axe_or_none(out, &other);
}

static bool slice(ts_call *call, ts_value *out) {
    ts_axe_shaped whole = shaped(call, A, B);
    const ts_argument *region = &call->arguments[C];
    ts_axe_answer box;
    if (region->count != whole.shape.rank)
        return ts_error_set(call->err, TS_ERROR_INPUT, "the region has %d dimensions, expected %d",
                            region->count, whole.shape.rank);
    return ts_axe_slice(call->err, call->arena, whole, region->integers, region->ends, &box) &&
           axe_or_none(out, &box);
}

static bool permute_dims(ts_call *call, ts_value *out) {
    return ts_axe_permute(call->err, call->arena, &call->arguments[A].axe, call->arguments[B].count,
                          call->arguments[B].integers, &out->axe);
}

static bool broadcast(ts_call *call, ts_value *out) {
    const ts_argument *position = &call->arguments[C];
    const char *axis = call->arguments[D].axis;
    ts_axe_iter shard = {call->arguments[B].integer, 0, axis ? axis : "m"};
    return ts_axe_broadcast(call->err, call->arena, &call->arguments[A].axe, shard,
                            position->given ? position->integer : -1, &out->axe);
}

enum { PACK, UNPACK };
static bool pack(ts_call *call, ts_value *out) {
    return (call->variant == PACK ? ts_axe_pack : ts_axe_unpack)(
        call->err, call->arena, &call->arguments[A].axe, call->arguments[B].integer, &out->axe);
}

static bool storage(ts_call *call, ts_value *out) {
    return ts_axe_storage(call->err, call->arena, &call->arguments[A].axe, &out->axe);
}

static bool to_psum(ts_call *call, ts_value *out) {
    return ts_axe_to_psum(call->err, call->arena, &call->arguments[A].axe, &out->axe);
}

static bool to_cute(ts_call *call, ts_value *out) {
    out->kind = TS_VALUE_CUTE;
    ts_axe_shape shape = shape_of(&call->arguments[B]);
    int64_t size;
    if (!ts_axe_shape_size(call->err, shape, &size)) return false;
    if (size != ts_axe_size(&call->arguments[A].axe, NULL))
        return ts_error_set(call->err, TS_ERROR_INPUT,
                            "the shape has %" PRId64 " elements, the layout %" PRId64, size,
                            ts_axe_size(&call->arguments[A].axe, NULL));
    return ts_cute_from_axe(call->err, call->arena, &call->arguments[A].axe, shape.rank, shape.dims,
                            &out->cute);
}

/* Parameters, each with its comma. */
#define AXE(name)           {name, TS_TAKES_AXE, false},
#define AXIS(name)          {name, TS_TAKES_AXIS, true},
#define INTEGER(name)       {name, TS_TAKES_INTEGER, false},
#define MAYBE_INTEGER(name) {name, TS_TAKES_INTEGER, true},
#define MAYBE_SHAPE(name)   {name, TS_TAKES_INTEGERS, true},
#define PAIRS(name)         {name, TS_TAKES_PAIRS, false},
#define POINT(name)         {name, TS_TAKES_POINT, false},
#define SHAPE(name)         {name, TS_TAKES_INTEGERS, false},
#define SHAPES(name)        {name, TS_TAKES_SHAPES, false},

static const ts_algebra_entry entries[] = {
    TS_FUNCTION("canonicalize", AXE("A"), canonicalize, TS_AXE_TVM,
                "units and zero offsets dropped, neighbours fused, replicas sorted",
                "canonicalize(S[(4,1,8):(8,3,1)])", "S[32:1]"),
    TS_FUNCTION("canonicalize_paper", AXE("A"), canonicalize, TS_AXE_PAPER,
                "the same, replicas positive and absorbed too",
                "canonicalize_paper(S[4:1] + R[(2,2):(1@x,2@x)])", "S[4:1] + R[4:1@x]"),
    TS_FUNCTION("canonicalize_cuda", AXE("A"), canonicalize, TS_AXE_CUDA,
                "the same as TVM's, axes of CUDA threads fused first",
                "canonicalize_cuda(S[(8,32):(1@warpid,1@laneid)])", "S[256:1@tx]"),
    TS_FUNCTION("equal", AXE("A") AXE("other"), equal, 0, "are the paper's canonical forms the same?",
                "equal(S[(2,3):(3,1)], S[6:1])", "yes"),
    TS_FUNCTION("same_map", AXE("A") AXE("other"), same_map, 0, "the same map, by trying every index",
                "same_map(S[(2,3):(0,0)], S[6:0])", "yes"),
    TS_FUNCTION("injective", AXE("A") MAYBE_SHAPE("shape"), injective, 0,
                "does every place belong to one index?", "injective(S[(4,4):(4,1)] + R[2:8])", "no"),
    TS_FUNCTION("size", AXE("A") AXIS("axis"), size, 0, "the product of the extents on an axis, else of all",
                "size(S[(8,4):(1@laneid,1)], laneid)", "8"),
    TS_FUNCTION("span", AXE("A") AXIS("axis"), span, TS_AXE_TVM,
                "TVM's: 1 + the signed strides' reach + the offset", "span(S[4:1] + 3)", "7"),
    TS_FUNCTION("span_paper", AXE("A") AXIS("axis"), span, TS_AXE_PAPER,
                "the paper's: largest - smallest + 1", "span_paper(S[4:1] + 3)", "4"),
    TS_FUNCTION("range", AXE("A") AXIS("axis"), range, 0,
                "the smallest and the largest on an axis, else on m", "range(S[8:-2] + 20)", "(6,20)"),
    TS_FUNCTION("get_scope", AXE("A"), get_scope, 0, "innermost and outermost scope of CUDA threads",
                "get_scope(S[(8,4,2):(4@laneid,1@laneid,1)])", "thread..warp"),
    TS_FUNCTION("apply", AXE("A") SHAPE("coord") MAYBE_SHAPE("shape"), apply, 0,
                "the point of an index, without replicas", "apply(S[(8,4):(1@F,1)], (3,2), (8,4))",
                "{F=3,m=2}"),
    TS_FUNCTION("forward", AXE("A") SHAPE("coord") MAYBE_SHAPE("shape"), forward, 0,
                "every point of an index", "forward(S[8:1] + R[2:16], 3)", "{m=3} {m=19}"),
    TS_FUNCTION("backward", AXE("A") POINT("at") MAYBE_SHAPE("shape"), backward, 0,
                "the indices at a point, or none", "backward(S[(8,4):(1@F,1)], {F=3,m=2}, (8,4))", "((3,2))"),
    TS_FUNCTION("group", AXE("A") SHAPE("shape"), group, TS_AXE_TVM,
                "its shards split so that some make up each dim, and which", "group(S[32:1], (4,8))",
                "S[(4,8):(8,1)]"),
    TS_FUNCTION("group_paper", AXE("A") SHAPE("shape"), group, TS_AXE_PAPER,
                "the same, without shards for dims of 1", "group_paper(S[32:1], (4,1,8))", "S[(4,8):(8,1)]"),
    TS_FUNCTION("group_many", AXE("A") SHAPES("shapes"), group_many, 0,
                "the coarsest shards that serve several shapes", "group_many(S[30:1], ((6,5),(2,15)))",
                "S[(2,3,5):(15,5,1)]"),
    TS_FUNCTION("tile", AXE("inner") AXE("outer") SHAPE("outer_shape") SHAPE("inner_shape"), tile, TS_AXE_TVM,
                "outer's elements are copies of inner (TVM's)",
                "tile(S[(8,8):(8,1)], S[(2,2):(2,1)], (2,2), (8,8))", "S[(2,8,2,8):(128,8,64,1)]"),
    TS_FUNCTION("tile_paper", AXE("inner") AXE("outer") SHAPE("outer_shape") SHAPE("inner_shape"), tile,
                TS_AXE_PAPER, "the paper's: outer's replicas and offsets are scaled too",
                "tile_paper(S[4:1], S[2:1] + R[2:2], 2, 4)", "S[8:1] + R[2:8]"),
    TS_FUNCTION("is_tile_inner", AXE("inner") AXE("tiled") SHAPE("tiled_shape") SHAPE("inner_shape"), is_tile,
                INNER, "the outer layout that tiled was made with, or none",
                "is_tile_inner(S[(8,8):(8,1)], S[(2,8,2,8):(128,8,64,1)], (16,16), (8,8))", "S[4:1]"),
    TS_FUNCTION("is_tile_outer", AXE("outer") AXE("tiled") SHAPE("tiled_shape") SHAPE("outer_shape"), is_tile,
                OUTER, "the inner layout that tiled was made with, or none",
                "is_tile_outer(S[(2,2):(2,1)], S[(2,8,2,8):(128,8,64,1)], (16,16), (2,2))", "S[64:1]"),
    TS_FUNCTION("direct_sum", AXE("right") AXE("left") SHAPE("left_shape") SHAPE("right_shape"), direct_sum,
                0, "their blocks interleaved as in a tiling, nothing scaled",
                "direct_sum(S[4:1], S[2:4], 2, 4)", "S[8:1]"),
    TS_FUNCTION("is_direct_sum", AXE("sum") AXE("left") SHAPE("left_shape") AXE("right") SHAPE("right_shape"),
                is_direct_sum, 0, "is the first the direct sum of the others?",
                "is_direct_sum(S[8:1], S[2:4], 2, S[4:1], 4)", "yes"),
    TS_FUNCTION("is_direct_sum_left", AXE("left") AXE("sum") SHAPE("interleaved_shape") SHAPE("left_shape"),
                other_addend, TS_AXE_LEFT, "the right addend of a sum, or none",
                "is_direct_sum_left(S[2:4], S[8:1], (2,4), 2)", "S[4:1]"),
    TS_FUNCTION("is_direct_sum_right",
                AXE("right") AXE("sum") SHAPE("interleaved_shape") SHAPE("right_shape"), other_addend,
                TS_AXE_RIGHT, "the left addend of a sum, or none",
                "is_direct_sum_right(S[4:1], S[8:1], (2,4), 4)", "S[2:4]"),
    TS_FUNCTION("slice", AXE("A") SHAPE("shape") PAIRS("region"), slice, 0,
                "the box of (begin, end) as a layout of its own, or none",
                "slice(S[(2,8,2,128):(2048,128,1024,1)], (16,256), ((4,12),(0,256)))",
                "S[(2,4,2,128):(1536,128,1024,1)] + 512"),
    TS_FUNCTION("permute_dims", AXE("A") SHAPE("perm"), permute_dims, 0, "its shards in another order",
                "permute_dims(S[(4,8):(8,1)], (1,0))", "S[(8,4):(1,8)]"),
    TS_FUNCTION("broadcast", AXE("A") INTEGER("n") MAYBE_INTEGER("pos") AXIS("axis"), broadcast, 0,
                "a shard of n with stride 0, last where no place is given", "broadcast(S[(4,4):(4,1)], 3, 0)",
                "S[(3,4,4):(0,4,1)]"),
    TS_FUNCTION("pack", AXE("A") INTEGER("n"), pack, PACK, "n neighbours on m become one element",
                "pack(S[(8,4):(4,1)], 2)", "S[16:1]"),
    TS_FUNCTION("unpack", AXE("A") INTEGER("n"), pack, UNPACK, "each element becomes n neighbours",
                "unpack(S[8:1], 2)", "S[16:1]"),
    TS_FUNCTION("storage", AXE("A"), storage, 0, "without axes of CUDA threads",
                "storage(S[(8,4,2):(4@laneid,1@laneid,1)])", "S[2:1]"),
    TS_FUNCTION("to_psum", AXE("A"), to_psum, 0, "Trainium's accumulators: 512 elements of F a Bank",
                "to_psum(S[(1024,8):(1@F,1@P)])", "S[(2,512,8):(1@Bank,1@F,1@P)]"),
    TS_FUNCTION("to_cute", AXE("A") SHAPE("shape"), to_cute, 0, "as CuTe writes it, a mode for each dim",
                "to_cute(S[(4,2,8):(16,1,2)], (8,8))", "((2,4),8):((1,16),2)"),
    TS_FUNCTION("matrix", AXE("A"), matrix, 0, "as the paper writes it",
                "matrix(S[(8,4):(4@lane,1)] + R[2:64])", "( 8 4 / 4@lane 1 ) + [ 2 / 64 ]"),
};

const ts_algebra_table ts_algebra_axe = {"Axe", "arXiv 2601.19092, and TVM's tirx layouts", TS_VALUE_AXE,
                                         entries, sizeof entries / sizeof entries[0]};
