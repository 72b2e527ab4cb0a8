/* Shapes, their layouts, and plans between them. */
#include <string.h>

#include "layout/plan.h"
#include "report/layout.h"

#include "api_private.h"
#include "base/number.h"

enum { COMPARED_ELEMENTS = 1 << 26 }; /* where no proof is found */

const ts_shape *ts_shape_from_text(ts_error *err, ts_arena *arena, const char *text) {
    API_C_LOCALE;
    if (!ts_error_need(err, "the shape", text)) return NULL;
    ts_source source = api_source("shape", text);
    return ts_shape_parse(err, arena, &source);
}

static void add_json(const ts_shape *shape, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "layout");
    ts_report_shape_json(out->arena, shape, &json);
    ts_json_end(&json);
}

API_TEXT(ts_shape_report, ts_shape, ts_report_shape(arena, self, &text))
API_TEXT(ts_shape_json, ts_shape, add_json(self, &text))
const char *ts_shape_svg(ts_arena *arena, const ts_shape *shape) {
    API_C_LOCALE;
    ts_text text = ts_text_begin(arena);
    if (shape->layout) ts_report_svg(arena, 1, &shape, &text);
    return shape->layout ? text.bytes : NULL;
}

const char *ts_shape_type(const ts_shape *shape) { return ts_dtype_get(shape->dtype)->name; }
int ts_shape_rank(const ts_shape *shape) { return shape->layout ? shape->layout->rank : 0; }
const int64_t *ts_shape_dims(const ts_shape *shape) { return shape->layout ? shape->layout->dims : NULL; }
int64_t ts_shape_logical_bytes(const ts_shape *shape) { return shape->unpadded_bytes; }
int64_t ts_shape_padded_bytes(const ts_shape *shape) { return shape->bytes; }
int64_t ts_shape_storage_bytes(const ts_shape *shape) { return shape->storage_bytes; }

const char *ts_shape_axis(const ts_shape *shape, int axis) {
    const ts_layout *layout = shape->layout;
    return layout && axis >= 0 && axis < layout->axis_count ? layout->axes[axis].name : NULL;
}

int ts_shape_locate(ts_error *err, const ts_shape *shape, const int64_t *index, int64_t *coordinates) {
    const ts_layout *layout = ts_shape_layout(err, shape, "the shape");
    for (int i = 0; layout && i < layout->rank; i++) {
        if (layout->dims[i] == 0)
            return ts_error_set(err, TS_ERROR_INPUT, "dim %d is 0: the array has no elements", i);
        if (index[i] < 0 || index[i] >= layout->dims[i])
            return ts_error_set(err, TS_ERROR_INPUT, "index %lld of dim %d, expected 0 to %lld",
                                (long long)index[i], i, (long long)layout->dims[i] - 1);
    }
    if (layout) ts_layout_forward(layout, index, coordinates);
    return layout != NULL;
}

int ts_shape_find(ts_error *err, const ts_shape *shape, const int64_t *coordinates, int64_t *index) {
    const ts_layout *layout = ts_shape_layout(err, shape, "the shape");
    ts_arena *scratch = ts_arena_new();
    ts_index_list found = {0};
    bool good = layout && ts_layout_backward(err, scratch, layout, coordinates, 1, &found);
    if (good && found.count > 0) memcpy(index, found.indices, (size_t)layout->rank * sizeof *index);
    ts_arena_free(scratch);
    return good ? found.count > 0 : -1;
}

int ts_shape_equal(ts_error *err, const ts_shape *a, const ts_shape *b) {
    const ts_layout *one = ts_shape_layout(err, a, "the first shape");
    const ts_layout *other = one ? ts_shape_layout(err, b, "the second shape") : NULL;
    if (!other) return -1;
    if (a->dtype != b->dtype || a->element_bits != b->element_bits ||
        !ts_integers_equal(one->dims, one->rank, other->dims, other->rank))
        return 0;
    ts_arena *scratch = ts_arena_new();
    ts_layout_comparison found;
    bool good = ts_layout_compare(err, scratch, one, other, COMPARED_ELEMENTS, &found);
    ts_arena_free(scratch);
    return good ? found.equal : -1;
}

/* ---- Plans ---- */

bool api_same_dims(ts_error *err, const ts_shape *source, const ts_shape *destination) {
    const ts_layout *from = ts_shape_layout(err, source, "the source");
    const ts_layout *to = from ? ts_shape_layout(err, destination, "the destination") : NULL;
    if (!to || ts_integers_equal(from->dims, from->rank, to->dims, to->rank)) return to != NULL;
    ts_arena *scratch = ts_arena_new();
    ts_text text = ts_text_begin(scratch);
    ts_text_add(&text, "the source has the dims [");
    ts_text_add_integers(&text, from->dims, from->rank);
    ts_text_add(&text, "], the destination [");
    ts_text_add_integers(&text, to->dims, to->rank);
    ts_error_set(err, TS_ERROR_INPUT, "%s]", text.bytes);
    ts_arena_free(scratch);
    return false;
}

const ts_plan *ts_plan_between(ts_error *err, ts_arena *arena, const ts_shape *source,
                               const ts_shape *destination) {
    if (!api_same_dims(err, source, destination)) return NULL;
    ts_plan_side src = {.shape = source}, dst = {.shape = destination};
    return ts_plan_new(err, arena, &src, &dst, source->layout->rank, source->layout->dims);
}

int64_t ts_plan_elements(const ts_plan *plan) { return plan->elements; }
int64_t ts_plan_box_count(const ts_plan *plan) { return plan->box_count; }
const char *ts_plan_gathers(const ts_plan *plan) { return plan->gathers ? plan->why_gather : NULL; }

int ts_plan_read_box(const ts_plan *plan, int64_t number, ts_box *box) {
    ts_plan_box own;
    if (number < 0 || number >= plan->box_count || box->struct_bytes < sizeof *box) return 0;
    ts_plan_get_box(plan, number, &own);
    box->source_bits = own.src_bits;
    box->destination_bits = own.dst_bits;
    box->loop_count = own.loop_count;
    for (int i = 0; i < own.loop_count; i++)
        box->loops[i] = (ts_box_loop){own.loops[i].extent, own.loops[i].src_bits, own.loops[i].dst_bits};
    return 1;
}
