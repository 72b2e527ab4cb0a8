/* The functions of CuTe's algebra, by the names of its C++. */
#include "algebra_private.h"
#include "cute_private.h"

enum { A, B, C };
enum { VALUES_MAX = 1 << 16 };

enum { SIZE, COSIZE, RANK, DEPTH };
static bool measure(ts_call *call, ts_value *out) {
    const ts_cute *a = &call->arguments[A].cute;
    int what = call->variant;
    return ts_value_integer(out, what == SIZE     ? ts_cute_size(a)
                                 : what == COSIZE ? ts_cute_cosize(a)
                                 : what == RANK   ? ts_cute_rank(a)
                                                  : ts_cute_depth(a));
}

static bool crd2idx(ts_call *call, ts_value *out) {
    int64_t index;
    return ts_cute_index(call->err, &call->arguments[B].cute, &call->arguments[A].tuple, &index) &&
           ts_value_integer(out, index);
}

static bool idx2crd(ts_call *call, ts_value *out) {
    out->kind = TS_VALUE_TUPLE;
    return ts_cute_coordinate(call->err, call->arena, &call->arguments[A].tuple, &call->arguments[B].cute,
                              &out->tuple);
}

static bool apply(ts_call *call, ts_value *out) {
    int64_t index;
    return ts_cute_map_index(call->err, &call->arguments[A].map, &call->arguments[B].tuple, &index) &&
           ts_value_integer(out, index);
}

static bool values(ts_call *call, ts_value *out) {
    const ts_cute_map *map = &call->arguments[A].map;
    int64_t size = ts_cute_size(&map->layout);
    if (size > VALUES_MAX)
        return ts_error_set(call->err, TS_ERROR_INPUT, "the layout has more than %d values", VALUES_MAX);
    int64_t *found = TS_NEW_ARRAY(call->arena, int64_t, size);
    for (int64_t i = 0; i < size; i++) {
        ts_cute index = ts_cute_leaf(i, 0);
        if (!ts_cute_map_index(call->err, map, &index, &found[i])) return false;
    }
    return ts_value_integers(call->arena, out, (int)size, found);
}

static bool compatible(ts_call *call, ts_value *out) {
    return ts_value_yes(out, ts_cute_is_compatible(&call->arguments[A].cute, &call->arguments[B].cute));
}

static bool to_axe(ts_call *call, ts_value *out) {
    out->kind = TS_VALUE_AXE;
    return ts_cute_to_axe(call->err, call->arena, &call->arguments[A].map, &out->axe);
}

static bool composition(ts_call *call, ts_value *out) {
    out->cute = call->arguments[A].map;
    return ts_cute_compose(call->err, call->arena, &call->arguments[A].map.layout, &call->arguments[B].tiler,
                           &out->cute.layout);
}

typedef bool reshaping(ts_error *err, ts_arena *arena, const ts_cute *layout, ts_cute *out);
enum { FLATTEN, FILTER, RIGHT_INVERSE, LEFT_INVERSE, COMPACT_LEFT, COMPACT_RIGHT };
static reshaping *const reshapings[] = {ts_cute_flatten,      ts_cute_filter,       ts_cute_right_inverse,
                                        ts_cute_left_inverse, ts_cute_compact_left, ts_cute_compact_right};

static bool reshape(ts_call *call, ts_value *out) {
    const ts_argument *a = &call->arguments[A];
    return reshapings[call->variant](call->err, call->arena,
                                     call->variant < COMPACT_LEFT ? &a->cute : &a->tuple, &out->cute.layout);
}

static bool coalesce(ts_call *call, ts_value *out) {
    const ts_argument *profile = &call->arguments[B];
    return ts_cute_coalesce(call->err, call->arena, &call->arguments[A].cute,
                            profile->given ? &profile->tuple : NULL, &out->cute.layout);
}

static bool complement(ts_call *call, ts_value *out) {
    const ts_argument *a = &call->arguments[A], *target = &call->arguments[B];
    return ts_cute_complement(call->err, call->arena, &a->cute,
                              target->given ? ts_cute_size(&target->cute) : ts_cute_cosize(&a->cute),
                              &out->cute.layout);
}

static bool make_ordered_layout(ts_call *call, ts_value *out) {
    return ts_cute_ordered(call->err, call->arena, &call->arguments[A].cute, &call->arguments[B].tuple,
                           &out->cute.layout);
}

static bool arrange(ts_call *call, ts_value *out) {
    return ts_cute_arrange(call->err, call->arena, call->variant, &call->arguments[A].cute,
                           &call->arguments[B].tiler, &out->cute.layout);
}

static bool paired_product(ts_call *call, ts_value *out) {
    return ts_cute_paired_product(call->err, call->arena, (ts_cute_pairs)call->variant,
                                  &call->arguments[A].cute, &call->arguments[B].cute, &out->cute.layout);
}

static bool tile_to_shape(ts_call *call, ts_value *out) {
    const ts_argument *order = &call->arguments[C];
    return ts_cute_tile_to_shape(call->err, call->arena, &call->arguments[A].cute, &call->arguments[B].cute,
                                 order->given ? &order->tuple : NULL, &out->cute.layout);
}

/* Parameters, each with its comma. */
#define COORDINATE(name)  {name, TS_TAKES_COORDINATE, false},
#define LAYOUT(name)      {name, TS_TAKES_CUTE, false},
#define MAP(name)         {name, TS_TAKES_CUTE_MAP, false},
#define MAYBE_CUTE(name)  {name, TS_TAKES_CUTE, true},
#define MAYBE_TUPLE(name) {name, TS_TAKES_TUPLE, true},
#define TILER(name)       {name, TS_TAKES_TILER, false},
#define TUPLE(name)       {name, TS_TAKES_TUPLE, false},

static const ts_algebra_entry entries[] = {
    TS_FUNCTION("size", LAYOUT("A"), measure, SIZE, "how many coordinates it has", "size((4,(2,3)))", "24"),
    TS_FUNCTION("cosize", LAYOUT("A"), measure, COSIZE, "the largest value less the smallest, plus 1",
                "cosize((4,3):(1,8))", "20"),
    TS_FUNCTION("rank", LAYOUT("A"), measure, RANK, "how many modes it has", "rank((4,(2,3)))", "2"),
    TS_FUNCTION("depth", LAYOUT("A"), measure, DEPTH, "how deep its modes are nested", "depth((4,(2,3)))",
                "2"),
    TS_FUNCTION("apply", MAP("A") COORDINATE("coordinate"), apply, 0,
                "A(coordinate); an integer counts coordinates, the leftmost mode fastest",
                "apply((4,8):(8,1), (1,2))", "10"),
    TS_FUNCTION("values", MAP("A"), values, 0, "A(0), A(1) .. to the last one", "values((2,3):(3,1))",
                "(0,3,1,4,2,5)"),
    TS_FUNCTION("crd2idx", COORDINATE("coordinate") LAYOUT("shape"), crd2idx, 0,
                "the index of a coordinate; a shape may have strides", "crd2idx((1,2), (4,8))", "9"),
    TS_FUNCTION("idx2crd", COORDINATE("index") LAYOUT("shape"), idx2crd, 0,
                "the coordinate of an index, modulo the shape", "idx2crd(9, (4,8))", "(1,2)"),
    TS_FUNCTION("compatible", LAYOUT("A") LAYOUT("B"), compatible, 0,
                "is every coordinate of A one of B, and is their size the same?", "compatible(24, (4,(2,3)))",
                "yes"),
    TS_FUNCTION("compact_left", TUPLE("shape"), reshape, COMPACT_LEFT,
                "the compact layout of a shape, leftmost mode fastest (LayoutLeft)",
                "compact_left((4,(2,3)))", "(4,(2,3)):(1,(4,8))"),
    TS_FUNCTION("compact_right", TUPLE("shape"), reshape, COMPACT_RIGHT,
                "the same, rightmost mode fastest (LayoutRight)", "compact_right((4,(2,3)))",
                "(4,(2,3)):(6,(3,1))"),
    TS_FUNCTION("make_ordered_layout", LAYOUT("shape") TUPLE("order"), make_ordered_layout, 0,
                "the same, modes of the smallest order fastest", "make_ordered_layout((2,2,2,2), (0,2,3,1))",
                "(2,2,2,2):(1,4,8,2)"),
    TS_FUNCTION("flatten", LAYOUT("A"), reshape, FLATTEN, "without nesting",
                "flatten(((4,3),(2,5)):((1,0),(2,4)))", "(4,3,2,5):(1,0,2,4)"),
    TS_FUNCTION("coalesce", LAYOUT("A") MAYBE_TUPLE("profile"), coalesce, 0,
                "the same function of an integer with the fewest modes; with a profile mode by mode",
                "coalesce((2,(1,6)):(1,(7,2)))", "12:1"),
    TS_FUNCTION("filter", LAYOUT("A"), reshape, FILTER, "coalesced, without modes of stride 0",
                "filter((2,(4,3)):(1,(0,2)))", "6:1"),
    TS_FUNCTION("composition", MAP("A") TILER("B"), composition, 0,
                "R(c) = A(B(c)); by mode where B is a tiler", "composition((6,2):(8,2), (4,3):(3,1))",
                "((2,2),3):((24,2),8)"),
    TS_FUNCTION("complement", LAYOUT("A") MAYBE_CUTE("target"), complement, 0,
                "what A does not reach, up to the target's size, else up to A's cosize",
                "complement(4:1, 24)", "6:4"),
    TS_FUNCTION("right_inverse", LAYOUT("A"), reshape, RIGHT_INVERSE, "the largest R with A(R(i)) = i",
                "right_inverse((4,8):(8,1))", "(8,4):(4,1)"),
    TS_FUNCTION("left_inverse", LAYOUT("A"), reshape, LEFT_INVERSE, "the R with R(A(i)) = i",
                "left_inverse((2,4):(1,8))", "(8,4):(1,2)"),
    TS_FUNCTION("logical_divide", LAYOUT("A") TILER("B"), arrange, TS_CUTE_LOGICAL,
                "((tile,rest),(tile,rest)..)", "logical_divide((8,32):(1,8), (4,2))",
                "((4,2),(2,16)):((1,4),(8,16))"),
    TS_FUNCTION("zipped_divide", LAYOUT("A") TILER("B"), arrange, TS_CUTE_ZIPPED,
                "((tile,tile..),(rest,rest..))", "zipped_divide((8,32):(1,8), (4,2))",
                "((4,2),(2,16)):((1,8),(4,16))"),
    TS_FUNCTION("tiled_divide", LAYOUT("A") TILER("B"), arrange, TS_CUTE_TILED, "((tile,tile..),rest,rest..)",
                "tiled_divide((8,32):(1,8), (4,2))", "((4,2),2,16):((1,8),4,16)"),
    TS_FUNCTION("flat_divide", LAYOUT("A") TILER("B"), arrange, TS_CUTE_FLAT, "(tile,tile..,rest,rest..)",
                "flat_divide((8,32):(1,8), (4,2))", "(4,2,2,16):(1,8,4,16)"),
    TS_FUNCTION("logical_product", LAYOUT("A") TILER("B"), arrange, TS_CUTE_FORMS + TS_CUTE_LOGICAL,
                "A repeated as B says: ((A,copies),(A,copies)..)", "logical_product((4,6):(1,6), 3:1)",
                "((4,6),3):((1,6),36)"),
    TS_FUNCTION("zipped_product", LAYOUT("A") TILER("B"), arrange, TS_CUTE_FORMS + TS_CUTE_ZIPPED,
                "((A,A..),(copies,copies..))", "zipped_product((3,4):(1,3), (4,5):(5,1))",
                "((3,4),(4,5)):((1,3),(60,12))"),
    TS_FUNCTION("tiled_product", LAYOUT("A") TILER("B"), arrange, TS_CUTE_FORMS + TS_CUTE_TILED,
                "((A,A..),copies,copies..)", "tiled_product((3,4):(1,3), (4,5):(5,1))",
                "((3,4),4,5):((1,3),60,12)"),
    TS_FUNCTION("flat_product", LAYOUT("A") TILER("B"), arrange, TS_CUTE_FORMS + TS_CUTE_FLAT,
                "(A,A..,copies,copies..)", "flat_product((3,4):(1,3), (4,5):(5,1))", "(3,4,4,5):(1,3,60,12)"),
    TS_FUNCTION("blocked_product", LAYOUT("A") LAYOUT("B"), paired_product, TS_CUTE_BLOCKED,
                "mode by mode (A,copies)", "blocked_product((3,4):(1,3), (4,5):(5,1))",
                "((3,4),(4,5)):((1,60),(3,12))"),
    TS_FUNCTION("raked_product", LAYOUT("A") LAYOUT("B"), paired_product, TS_CUTE_RAKED,
                "mode by mode (copies,A)", "raked_product((3,4):(1,3), (4,5):(5,1))",
                "((4,3),(5,4)):((60,1),(12,3))"),
    TS_FUNCTION("tile_to_shape", LAYOUT("A") LAYOUT("shape") MAYBE_TUPLE("order"), tile_to_shape, 0,
                "A repeated until it fills the shape, modes of the smallest order first",
                "tile_to_shape((4,3), (8,9), (1,0))", "((4,2),(3,3)):((1,36),(4,12))"),
    TS_FUNCTION("to_axe", MAP("A"), to_axe, 0, "the same offsets for the same coordinates as an Axe layout",
                "to_axe(((2,4),8):((1,16),2))", "S[(4,2,8):(16,1,2)]"),
};

const ts_algebra_table ts_algebra_cute = {"CuTe", "NVIDIA/cutlass 4, include/cute", TS_VALUE_CUTE, entries,
                                          sizeof entries / sizeof entries[0]};
