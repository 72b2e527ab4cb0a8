/* A table of the runs of a grid, as text and as JSON. */
#include "report/sweep.h"

#include <string.h>

#include "base/number.h"
#include "report/error.h"
#include "report/machine.h"

enum { WIDTH = 6 };

int report_axis_width(const ts_grid_axis *axis, int least) {
    enum { MOST = 24 };
    int64_t width = (int64_t)strlen(axis->name);
    for (int i = 0; i < axis->count; i++) width = ts_max(width, (int64_t)strlen(axis->values[i]));
    return (int)ts_max(least, ts_min(width, MOST));
}

/* Of those that pass their checks: what is wrong is no measure. */
static double shortest(const ts_sweep_runs_request *request, const ts_sweep_row *rows) {
    double best = 0;
    for (int64_t i = 0; i < request->grid->point_count; i++) {
        double time = ts_sweep_real(&rows[i], TS_SWEEP_MICROSECONDS_COLUMN);
        bool counts = rows[i].status == TS_SWEEP_OK && time > 0;
        if (counts && (best == 0 || time < best)) best = time;
    }
    return best;
}

/* Only axes along which something varies have a column. */
static void add_heading(const ts_sweep_runs_request *request, ts_text *out) {
    const ts_grid *grid = request->grid;
    ts_report_machine_line("machine    ", request->run.machine, out);
    ts_text_add(out, "program    %s", ts_text_one_line(out->arena, request->run.program));
    for (int i = 0; i < grid->axis_count; i++)
        if (grid->axes[i].count == 1) ts_text_add(out, " %s=%s", grid->axes[i].name, grid->axes[i].values[0]);
    ts_text_add(out, "\n\n");
    for (int i = 0; i < grid->axis_count; i++)
        if (grid->axes[i].count > 1)
            ts_text_add(out, "%*s ", report_axis_width(&grid->axes[i], WIDTH), grid->axes[i].name);
    ts_text_add(out, "%14s %12s %8s %9s  most cycles went to\n", "cycles", "us", "to best", "HBM peak");
}

static void add_most(const ts_sweep_row *row, size_t begin, ts_text *out) {
    ts_text_add(out, "  %4.1f %% ", ts_sweep_real(row, TS_SWEEP_LIMITER_PERCENT_COLUMN));
    ts_text_end_line(out, begin, row->values[TS_SWEEP_LIMITER_COLUMN].text);
}

const char *report_row_cycles(const ts_sweep_row *row, ts_arena *arena) {
    return ts_text_format(arena, "%s%s", row->values[TS_SWEEP_ESTIMATED_COLUMN].integer ? "~" : "",
                          ts_text_grouped(arena, row->values[TS_COUNTER_CYCLES].integer));
}

void report_unfinished(const ts_sweep_row *rows, int64_t count, ts_text *out) {
    int64_t unfinished = 0;
    for (int64_t i = 0; i < count; i++) unfinished += rows[i].values[TS_SWEEP_UNFINISHED_COLUMN].integer;
    if (unfinished > 0)
        ts_text_add(out,
                    "warning: %lld of %lld end%s while transfers are under way: their time is left out\n",
                    (long long)unfinished, (long long)count, unfinished == 1 ? "s" : "");
}

static void add_run(const ts_sweep_row *row, double best, size_t begin, ts_text *out) {
    const char *cycles = report_row_cycles(row, out->arena);
    if (row->err) {
        ts_text_add(out, "error: %s\n", row->err->message);
    } else if (row->status == TS_SWEEP_FAILED) {
        ts_text_add(out, "%14s failed its checks\n", cycles);
    } else {
        double us = ts_sweep_real(row, TS_SWEEP_MICROSECONDS_COLUMN);
        ts_text_add(out, "%14s %12.3f %7.2fx %7.1f %%", cycles, us, best > 0 ? us / best : 1,
                    ts_sweep_real(row, TS_SWEEP_HBM_PEAK_PERCENT_COLUMN));
        add_most(row, begin, out);
    }
}

void ts_report_grid(const ts_sweep_runs_request *request, const ts_sweep_row *rows, ts_text *out) {
    const ts_grid *grid = request->grid;
    double best = shortest(request, rows);
    ts_define *defines = TS_NEW_ARRAY(out->arena, ts_define, grid->axis_count);
    add_heading(request, out);
    for (int64_t point = 0; point < grid->point_count; point++) {
        size_t begin = out->length;
        ts_grid_point(grid, point, defines);
        for (int i = 0; i < grid->axis_count; i++)
            if (grid->axes[i].count > 1)
                ts_text_add(out, "%*s ", report_axis_width(&grid->axes[i], WIDTH), defines[i].value);
        add_run(&rows[point], best, begin, out);
    }
    report_unfinished(rows, grid->point_count, out);
}

static void add_run_json(ts_json *json, const ts_sweep_row *row, double best) {
    double us = ts_sweep_real(row, TS_SWEEP_MICROSECONDS_COLUMN);
    ts_json_bool(json, "passed", row->status == TS_SWEEP_OK);
    if (row->err) {
        ts_report_error_key(json, "error", row->err);
        return;
    }
    ts_json_int(json, "cycles", row->values[TS_COUNTER_CYCLES].integer);
    ts_json_bool(json, "estimated", row->values[TS_SWEEP_ESTIMATED_COLUMN].integer != 0);
    ts_json_real(json, "microseconds", us, 6);
    ts_json_real(json, "ratio", best > 0 ? us / best : 1, 4);
    ts_json_real(json, "hbm_peak_percent", ts_sweep_real(row, TS_SWEEP_HBM_PEAK_PERCENT_COLUMN), 3);
    ts_json_bool(json, "unfinished", row->values[TS_SWEEP_UNFINISHED_COLUMN].integer != 0);
    ts_json_text(json, "most_cycles", row->values[TS_SWEEP_LIMITER_COLUMN].text);
    ts_json_real(json, "most_percent", ts_sweep_real(row, TS_SWEEP_LIMITER_PERCENT_COLUMN), 3);
}

void ts_report_grid_json(const ts_sweep_runs_request *request, const ts_sweep_row *rows, ts_text *out) {
    const ts_grid *grid = request->grid;
    ts_json json;
    double best = shortest(request, rows);
    ts_define *defines = TS_NEW_ARRAY(out->arena, ts_define, grid->axis_count);
    ts_json_begin(&json, out, "grid");
    ts_report_machine_keys(request->run.machine, &json);
    ts_json_text(&json, "program", request->run.program);
    ts_json_bool(&json, "time_only", request->run.time_only);
    ts_json_array(&json, "runs");
    for (int64_t point = 0; point < grid->point_count; point++) {
        ts_grid_point(grid, point, defines);
        ts_json_object(&json, NULL);
        ts_json_object(&json, "defines");
        for (int i = 0; i < grid->axis_count; i++) ts_json_text(&json, defines[i].name, defines[i].value);
        ts_json_close(&json);
        add_run_json(&json, &rows[point], best);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}
