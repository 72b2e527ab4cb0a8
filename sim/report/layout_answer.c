/* Answers to questions about a shape, as text and as JSON. */
#include <inttypes.h>

#include "report/layout.h"

static void print_found(const ts_layout_question *q, ts_text *out) {
    int rank = q->shape->layout->rank;
    ts_text_add(out, "%s at %s holds ", q->at != NULL ? "\nThe same shape" : "", q->inverse);
    if (q->found.count == 0) ts_text_add(out, "padding: no element is there");
    for (int64_t i = 0; i < q->found.count; i++) {
        ts_text_add(out, "%s", i > 0 ? " " : "");
        ts_text_add_tuple(out, q->found.indices + i * rank, rank);
    }
    ts_text_add_char(out, '\n');
}

/* What two shapes of the same map may still differ in. */
void ts_report_layout_difference(const ts_shape *a, const ts_shape *b, const char *head, ts_text *out) {
    if (a->element_bits != b->element_bits)
        ts_text_add(out, "%selements of %d and of %s\n", head, a->element_bits,
                    ts_text_counted(out->arena, b->element_bits, "bit"));
    if (a->memory_space != b->memory_space)
        ts_text_add(out, "%smemory spaces %d and %d\n", head, a->memory_space, b->memory_space);
    if (a->element_bits == b->element_bits && a->storage_bytes != b->storage_bytes)
        ts_text_add(out, "%s%" PRId64 " and %" PRId64 " bytes of storage: padding behind the last element\n",
                    head, a->storage_bytes, b->storage_bytes);
}

static void print_comparison(const ts_layout_question *q, ts_text *out) {
    const ts_shape *sides[2] = {q->shape, q->other};
    ts_text_add(out,
                q->compared.equal ? "equal: every element is at the same place in both\n" : "different at ");
    if (q->compared.equal) ts_report_layout_difference(q->shape, q->other, "but: ", out);
    if (!q->compared.equal) ts_text_add_tuple(out, q->compared.witness, q->shape->layout->rank);
    for (int i = 0; i < 2; i++) {
        ts_text_add(out, "%s  %s\n", i == 0 && !q->compared.equal ? "\n" : "",
                    ts_shape_text(q->arena, sides[i]));
        if (!q->compared.equal) ts_report_point(sides[i]->layout, q->compared.witness, out);
    }
}

void ts_report_layout_answer(const ts_layout_question *q, ts_text *out) {
    if (q->translated != NULL) ts_text_add(out, "%s\n", ts_shape_text(q->arena, q->translated));
    if (q->equal != NULL) print_comparison(q, out);
    if (q->translated != NULL || q->equal != NULL) return;
    if (q->at == NULL && q->inverse == NULL) {
        ts_report_shape(q->arena, q->shape, out);
        return;
    }
    ts_shape_print(q->shape, out);
    if (q->at != NULL) {
        ts_text_add(out, " at ");
        ts_text_add_tuple(out, q->index, q->shape->layout->rank);
        ts_text_add(out, "\n\n");
        ts_report_offset(q->shape, q->index, out);
    }
    if (q->inverse != NULL) print_found(q, out);
}

/* "offset" is of a layout with one axis; "points" has every axis and every replica. */
static void print_place_json(const ts_layout_question *q, ts_json *json) {
    const ts_layout *layout = q->shape->layout;
    int64_t point[TS_LAYOUT_MAX_AXES];
    if (q->at == NULL) {
        ts_json_null(json, "offset");
        return;
    }
    ts_json_ints(json, "index", layout->rank, q->index);
    ts_layout_forward(layout, q->index, point);
    if (layout->axis_count == 1)
        ts_json_int(json, "offset", point[0]);
    else
        ts_json_null(json, "offset");
    ts_report_point_json(layout, q->index, json);
}

static void print_compared_json(const ts_layout_comparison *compared, int rank, ts_json *json) {
    ts_json_bool(json, "equal", compared->equal);
    if (compared->equal)
        ts_json_null(json, "witness");
    else
        ts_json_ints(json, "witness", rank, compared->witness);
}

void ts_report_layout_answer_json(const ts_layout_question *q, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "layout");
    ts_report_shape_json(q->arena, q->shape, &json);
    print_place_json(q, &json);
    int rank = q->shape->layout != NULL ? q->shape->layout->rank : 0;
    if (q->inverse != NULL) {
        ts_json_array(&json, "elements");
        for (int64_t i = 0; i < q->found.count; i++)
            ts_json_ints(&json, NULL, rank, q->found.indices + i * rank);
        ts_json_close(&json);
    }
    if (q->translated != NULL) {
        ts_json_text(&json, "as", ts_shape_text(q->arena, q->translated));
        ts_json_int(&json, "as_storage_bytes", q->translated->storage_bytes);
    }
    if (q->equal != NULL) print_compared_json(&q->compared, rank, &json);
    ts_json_end(&json);
}
