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

typedef void cell(const ts_shape *shape, ts_text *out);

static void add_cells(ts_text *out, const char *label, const ts_layout_pair *pair, cell *write) {
    ts_text cells[2];
    for (int i = 0; i < 2; i++) {
        cells[i] = ts_text_begin(out->arena);
        write(pair->shapes[i], &cells[i]);
    }
    add_row(out, label, cells[0].bytes, cells[1].bytes);
}

static void write_bytes(const ts_shape *shape, ts_text *out) {
    ts_text_add(out, "%s", ts_text_grouped(out->arena, shape->storage_bytes));
}

static void write_size(const ts_shape *shape, ts_text *out) {
    ts_text_add(out, "%s", ts_report_size(out->arena, (double)shape->storage_bytes));
}

static void write_padding(const ts_shape *shape, ts_text *out) {
    ts_text_add(out, "%.1f %%", report_padding_percent(report_held_bytes(shape), shape->storage_bytes));
}

static void write_replicas(const ts_shape *shape, ts_text *out) {
    ts_text_add(out, "%.1f %%", ts_percent(report_replica_bytes(shape), shape->storage_bytes));
}

static void write_expansion(const ts_shape *shape, ts_text *out) {
    ts_text_add(out, "%s", report_expansion_text(out->arena, shape->unpadded_bytes, shape->storage_bytes, 2));
}

void report_write_point(const ts_layout *layout, const int64_t *index, ts_text *out) {
    int64_t point[TS_LAYOUT_MAX_AXES];
    ts_layout_forward(layout, index, point);
    if (layout->axis_count == 1) ts_text_add(out, "offset %s", ts_text_grouped(out->arena, point[0]));
    for (int i = 0; i < layout->axis_count && layout->axis_count > 1; i++)
        ts_text_add(out, "%s%s %" PRId64, i > 0 ? ", " : "", layout->axes[i].name, point[i]);
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
    ts_text points[2];
    if (!pair->index) return;
    for (int i = 0; i < 2; i++) {
        points[i] = ts_text_begin(out->arena);
        report_write_point(pair->shapes[i]->layout, pair->index, &points[i]);
    }
    add_row(out, report_element_heading(pair, out->arena), points[0].bytes, points[1].bytes);
}

static void add_pictures(ts_arena *arena, const ts_layout_pair *pair, ts_text *out) {
    for (int i = 0; i < 2; i++) {
        ts_text picture = ts_text_begin(arena);
        if (ts_report_picture(arena, pair->shapes[i], &picture))
            ts_text_add(out, "\n%s\n%s", i == 0 ? "A" : "B", picture.bytes);
    }
}

void ts_report_layout_pair(ts_arena *arena, const ts_layout_pair *pair, ts_text *out) {
    for (int i = 0; i < 2; i++) {
        ts_text_add(out, "%s  ", i == 0 ? "A" : "B");
        ts_shape_print(pair->shapes[i], out);
        ts_text_add_char(out, '\n');
    }
    ts_text_add_char(out, '\n');
    add_row(out, "", "A", "B");
    add_cells(out, "bytes", pair, write_bytes);
    add_cells(out, "", pair, write_size);
    add_cells(out, "of them padding", pair, write_padding);
    if (report_replica_bytes(pair->shapes[0]) + report_replica_bytes(pair->shapes[1]) > 0)
        add_cells(out, "of them replicas", pair, write_replicas);
    add_cells(out, "times the data", pair, write_expansion);
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
