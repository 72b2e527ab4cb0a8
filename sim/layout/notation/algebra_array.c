/* The functions of arrays: TYPE[DIMS] and a layout in any notation. */

#include "algebra_private.h"
#include "layout/notation/xla.h"

enum { A, B };

/* XLA gives an array that has fewer dims than its tile leading dims of 1; here that is refused. */
static const ts_layout *layout_of(ts_call *call) {
    const ts_shape *shape = call->arguments[A].array;
    if (!shape->xla || shape->xla->tile_count == 0 || shape->xla->tiles[0].rank <= shape->layout->rank)
        return shape->layout;
    ts_error_set(call->err, TS_ERROR_INPUT, "the tile has %d dimensions, the array has %d",
                 shape->xla->tiles[0].rank, shape->layout->rank);
    return NULL;
}

static bool linear_index(ts_call *call, ts_value *out) {
    const ts_argument *index = &call->arguments[B];
    const ts_layout *layout = layout_of(call);
    int64_t offset;
    if (!layout) return false;
    if (layout->axis_count != 1)
        return ts_error_set(call->err, TS_ERROR_INPUT, "the layout has %d axes, expected one",
                            layout->axis_count);
    if (!ts_argument_inside(call->err, index, layout->rank, layout->dims)) return false;
    ts_layout_forward(layout, index->integers, &offset);
    return ts_value_integer(out, offset);
}

static bool to_axe(ts_call *call, ts_value *out) {
    ts_axe axe;
    const ts_layout *layout = layout_of(call);
    if (!layout) return false;
    int64_t *padded = TS_NEW_ARRAY(call->arena, int64_t, layout->rank);
    return ts_axe_from_layout(call->err, call->arena, layout, padded, &axe) &&
           ts_axe_canonical(call->err, call->arena, TS_AXE_TVM, &axe, &out->axe) &&
           ts_value_integers(call->arena, ts_value_add_extra(call->arena, out, "shape"), layout->rank,
                             padded);
}

/* Parameters, each with its comma. */
#define ARRAY(name)    {name, TS_TAKES_ARRAY, false},
#define INTEGERS(name) {name, TS_TAKES_INTEGERS, false},

static const ts_algebra_entry entries[] = {
    TS_FUNCTION("linear_index", ARRAY("array") INTEGERS("coord"), linear_index, 0, "the offset of an element",
                "linear_index(f32[3,5]{1,0:T(2,2)}, (2,3))", "17"),
    TS_FUNCTION("to_axe", ARRAY("array"), to_axe, 0, "the Axe layout over the padded dims, and those",
                "to_axe(f32[3,5]{1,0:T(2,2)})", "S[(2,2,3,2):(12,2,4,1)]"),
};

const ts_algebra_table ts_algebra_arrays = {"arrays", "XLA, and any notation behind TYPE[DIMS]", TS_VALUE_AXE,
                                            entries, sizeof entries / sizeof entries[0]};
