/* The ranking of a program's block sizes. */

#include "report/json.h"
#include "report/machine.h"
#include "report/sweep.h"

enum { WIDTH = 7 };

/* Of a row with a time, to the best. */
static double ratio_of(const ts_sweep_blocks *b, const ts_sweep_row *row) {
    double best = ts_sweep_real(&b->rows[b->points[TS_SWEEP_TIMED][0]], TS_SWEEP_MICROSECONDS_COLUMN);
    return best > 0 ? ts_sweep_real(row, TS_SWEEP_MICROSECONDS_COLUMN) / best : 1;
}

static const ts_define *values_of(const ts_blocks_view *view, int64_t point, ts_arena *arena) {
    ts_define *values = TS_NEW_ARRAY(arena, ts_define, view->request->grid->axis_count);
    ts_grid_point(view->request->grid, point, values);
    return values;
}

static void add_values(const ts_blocks_view *view, int64_t point, ts_text *out) {
    const ts_grid *grid = view->request->grid;
    const ts_define *values = values_of(view, point, out->arena);
    for (int i = 0; i < grid->axis_count; i++)
        ts_text_add(out, "%*s ", report_axis_width(&grid->axes[i], WIDTH), values[i].value);
}

static void add_head(const ts_blocks_view *view, ts_text *out) {
    const ts_sweep_runs_request *r = view->request;
    const int64_t *counts = view->blocks->counts;
    ts_report_machine_line("machine    ", r->run.machine, out);
    ts_text_add(out, "program    %s", ts_text_one_line(out->arena, r->run.program));
    for (int i = 0; i < r->run.define_count; i++)
        ts_text_add(out, " %s=%s", r->run.defines[i].name, r->run.defines[i].value);
    ts_text_add(out, "\nblocks     %lld: %lld timed, %lld do not fit, %lld with another error\n\n",
                (long long)r->grid->point_count, (long long)counts[TS_SWEEP_TIMED],
                (long long)counts[TS_SWEEP_MISFIT], (long long)counts[TS_SWEEP_UNTIMED]);
}

static void add_timed(const ts_blocks_view *view, ts_text *out) {
    const ts_grid *grid = view->request->grid;
    const ts_sweep_blocks *b = view->blocks;
    int64_t count = b->counts[TS_SWEEP_TIMED];
    if (count == 0) return;
    for (int i = 0; i < grid->axis_count; i++)
        ts_text_add(out, "%*s ", report_axis_width(&grid->axes[i], WIDTH), grid->axes[i].name);
    ts_text_add(out, "%12s %8s %14s %10s  %s\n", "us", "to best", "cycles", "HBM uJ", "most cycles went to");
    for (int64_t i = 0; i < count && i < view->rows; i++) {
        const ts_sweep_row *row = &b->rows[b->points[TS_SWEEP_TIMED][i]];
        size_t begin = out->length;
        add_values(view, b->points[TS_SWEEP_TIMED][i], out);
        ts_text_add(out, "%12.3f %7.2fx %14s %10.1f  ", ts_sweep_real(row, TS_SWEEP_MICROSECONDS_COLUMN),
                    ratio_of(b, row), report_row_cycles(row, out->arena),
                    ts_sweep_real(row, TS_SWEEP_HBM_JOULES_COLUMN) * 1e6);
        ts_text_end_line(out, begin, row->values[TS_SWEEP_LIMITER_COLUMN].text);
    }
    if (count > view->rows)
        ts_text_add(out, "and %s; --all lists them\n",
                    ts_text_counted(out->arena, count - view->rows, "slower one"));
}

static void add_errors(const ts_blocks_view *view, ts_sweep_class class, const char *title, ts_text *out) {
    const ts_sweep_blocks *b = view->blocks;
    if (b->counts[class] > 0) ts_text_add(out, "\n%s\n", title);
    for (int64_t i = 0; i < b->counts[class] && i < view->rows; i++) {
        add_values(view, b->points[class][i], out);
        ts_text_add(out, " %s\n", b->rows[b->points[class][i]].err->message);
    }
    if (b->counts[class] > view->rows)
        ts_text_add(out, "and %lld more; --all lists them\n", (long long)(b->counts[class] - view->rows));
}

void ts_report_blocks(const ts_blocks_view *view, ts_text *out) {
    add_head(view, out);
    add_timed(view, out);
    report_unfinished(view->blocks->rows, view->request->grid->point_count, out);
    add_errors(view, TS_SWEEP_MISFIT, "what does not fit", out);
    add_errors(view, TS_SWEEP_UNTIMED, "what has another error", out);
    ts_text_wrap(out, TS_TEXT_COLUMNS);
}

/* ---- JSON ---- */

static void add_values_json(const ts_blocks_view *view, int64_t point, ts_json *json) {
    const ts_define *values = values_of(view, point, json->out->arena);
    ts_json_object(json, "blocks");
    for (int i = 0; i < view->request->grid->axis_count; i++) {
        const ts_sweep_value value = ts_sweep_value_read(values[i].value);
        if (value.kind == TS_SWEEP_INTEGER) ts_json_int(json, values[i].name, value.integer);
        if (value.kind == TS_SWEEP_REAL) ts_json_double(json, values[i].name, value.real);
        if (value.kind == TS_SWEEP_TEXT) ts_json_text(json, values[i].name, value.text);
    }
    ts_json_close(json);
}

static void add_timed_json(const ts_sweep_blocks *b, const ts_sweep_row *row, ts_json *json) {
    ts_json_int(json, "cycles", row->values[TS_COUNTER_CYCLES].integer);
    ts_json_bool(json, "estimated", row->values[TS_SWEEP_ESTIMATED_COLUMN].integer != 0);
    ts_json_real(json, "microseconds", ts_sweep_real(row, TS_SWEEP_MICROSECONDS_COLUMN), 6);
    ts_json_real(json, "ratio", ratio_of(b, row), 4);
    ts_json_real(json, "hbm_joules", ts_sweep_real(row, TS_SWEEP_HBM_JOULES_COLUMN), 12);
    ts_json_text(json, "limiter", row->values[TS_SWEEP_LIMITER_COLUMN].text);
    ts_json_bool(json, "unfinished", row->values[TS_SWEEP_UNFINISHED_COLUMN].integer != 0);
}

static void add_class_json(const ts_blocks_view *view, ts_sweep_class class, const char *key, ts_json *json) {
    const ts_sweep_blocks *b = view->blocks;
    ts_json_array(json, key);
    for (int64_t i = 0; i < b->counts[class]; i++) {
        const ts_sweep_row *row = &b->rows[b->points[class][i]];
        ts_json_object(json, NULL);
        add_values_json(view, b->points[class][i], json);
        if (class == TS_SWEEP_TIMED) add_timed_json(b, row, json);
        if (class != TS_SWEEP_TIMED) ts_json_text(json, "error", row->err->message);
        ts_json_close(json);
    }
    ts_json_close(json);
}

void ts_report_blocks_json(const ts_blocks_view *view, ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "blocks");
    ts_report_machine_keys(view->request->run.machine, &json);
    ts_json_text(&json, "program", view->request->run.program);
    add_class_json(view, TS_SWEEP_TIMED, "candidates", &json);
    add_class_json(view, TS_SWEEP_MISFIT, "misfits", &json);
    add_class_json(view, TS_SWEEP_UNTIMED, "failed", &json);
    ts_json_end(&json);
}
