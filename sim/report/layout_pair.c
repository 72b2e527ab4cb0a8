/* Two layouts of one array side by side, as text and as JSON. */

#include <inttypes.h>

#include "padding.h"
#include "transfer_private.h"
#include "report/layout.h"
#include "report/machine.h"
#include "report/reshard.h"
#include "report/transfer.h"

enum { LABEL = 28, COLUMN = 32 };

static void add_row(ts_text *out, const char *label, const char *a, const char *b) {
    ts_text_add(out, "%-*s %*s %*s\n", LABEL, label, COLUMN, a, COLUMN, b);
}

typedef const char *cell(ts_arena *arena, const ts_shape *shape);

static void add_cells(ts_text *out, const char *label, const ts_layout_pair *pair, cell *text_of) {
    add_row(out, label, text_of(out->arena, pair->shapes[0]), text_of(out->arena, pair->shapes[1]));
}

static const char *bytes_of(ts_arena *arena, const ts_shape *shape) {
    return ts_text_grouped(arena, shape->storage_bytes);
}

static const char *size_of(ts_arena *arena, const ts_shape *shape) {
    return ts_report_size(arena, (double)shape->storage_bytes);
}

static const char *padding_of(ts_arena *arena, const ts_shape *shape) {
    return ts_text_format(arena, "%.1f %%",
                          report_padding_percent(report_held_bytes(shape), shape->storage_bytes));
}

static const char *replicas_of(ts_arena *arena, const ts_shape *shape) {
    return ts_text_format(arena, "%.1f %%", ts_percent(report_replica_bytes(shape), shape->storage_bytes));
}

static const char *expansion_of(ts_arena *arena, const ts_shape *shape) {
    return report_expansion_text(arena, shape->unpadded_bytes, shape->storage_bytes, 2);
}

const char *report_point_text(ts_arena *arena, const ts_layout *layout, const int64_t *index) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    ts_text out = ts_text_begin(arena);
    ts_layout_forward(layout, index, point);
    if (layout->axis_count == 1) return ts_text_format(arena, "offset %s", ts_text_grouped(arena, point[0]));
    for (int i = 0; i < layout->axis_count; i++)
        ts_text_add(&out, "%s%s %" PRId64, i > 0 ? ", " : "", layout->axes[i].name, point[i]);
    return out.bytes;
}

const char *report_element_heading(const ts_layout_pair *pair, ts_arena *arena) {
    ts_text label = ts_text_begin(arena);
    if (!pair->index) return "";
    ts_text_add(&label, "element ");
    ts_text_add_tuple(&label, pair->index, pair->shapes[0]->layout->rank);
    ts_text_add(&label, " is at");
    return label.bytes;
}

static void add_element(const ts_layout_pair *pair, ts_text *out) {
    if (pair->index)
        add_row(out, report_element_heading(pair, out->arena),
                report_point_text(out->arena, pair->shapes[0]->layout, pair->index),
                report_point_text(out->arena, pair->shapes[1]->layout, pair->index));
}

static void add_pictures(ts_arena *arena, const ts_layout_pair *pair, ts_text *out) {
    for (int i = 0; i < 2; i++) {
        ts_text picture = ts_text_begin(arena);
        if (ts_report_picture(arena, pair->shapes[i], &picture))
            ts_text_add(out, "\n%s\n%s", i == 0 ? "A" : "B", picture.bytes);
    }
}

void ts_report_layout_pair(ts_arena *arena, const ts_layout_pair *pair, ts_text *out) {
    for (int i = 0; i < 2; i++)
        ts_text_add(out, "%s  %s\n", i == 0 ? "A" : "B", ts_shape_text(arena, pair->shapes[i]));
    ts_text_add_char(out, '\n');
    add_row(out, "", "A", "B");
    add_cells(out, "bytes", pair, bytes_of);
    add_cells(out, "", pair, size_of);
    add_cells(out, "of them padding", pair, padding_of);
    if (report_replica_bytes(pair->shapes[0]) + report_replica_bytes(pair->shapes[1]) > 0)
        add_cells(out, "of them replicas", pair, replicas_of);
    add_cells(out, "times the data", pair, expansion_of);
    add_element(pair, out);
    add_pictures(arena, pair, out);
    ts_text_add(out, "\nFrom A to B\n");
    if (pair->study)
        ts_report_transfer(pair->study, NULL, TS_TRANSFER_COST_AND_LOOPS, out);
    else
        ts_text_add(out, "cannot be priced: %s\n", pair->why);
}

/* ---- JSON ---- */

static void add_shape_json(ts_arena *arena, const ts_layout_pair *pair, int i, ts_json *json) {
    ts_json_object(json, i == 0 ? "a" : "b");
    ts_report_shape_json(arena, pair->shapes[i], json);
    if (pair->index) ts_report_point_json(pair->shapes[i]->layout, pair->index, json);
    ts_json_close(json);
}

static void add_price_json(const ts_transfer_study *study, ts_json *json) {
    ts_json_object(json, "transfer");
    ts_report_machine_keys(study->machine, json);
    ts_json_int(json, "cycles", study->cost.cycles);
    ts_json_real(json, "microseconds", ts_machine_microseconds(study->machine, study->cost.cycles), 6);
    ts_json_bool(json, "estimated", study->cost.estimated);
    ts_json_int(json, "boxes", study->plan->box_count);
    ts_json_bool(json, "gathers", study->plan->gathers);
    ts_json_close(json);
}

void ts_report_layout_pair_json(ts_arena *arena, const ts_layout_pair *pair, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "layout_pair");
    if (pair->index) ts_json_ints(&json, "index", pair->shapes[0]->layout->rank, pair->index);
    for (int i = 0; i < 2; i++) add_shape_json(arena, pair, i, &json);
    if (pair->study)
        add_price_json(pair->study, &json);
    else
        ts_json_null(&json, "transfer");
    ts_json_text(&json, "not_priced", pair->why);
    ts_json_end(&json);
}
