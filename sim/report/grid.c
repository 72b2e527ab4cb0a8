/* A table of the runs of a grid, as text and as JSON. */
#include "report/grid.h"

#include <stdio.h>
#include <string.h>

#include "report/error.h"
#include "report/machine.h"

enum { LEAST_WIDTH = 6, MOST_WIDTH = 24 };

static int width_of(const ts_grid_axis *axis) {
    size_t width = strlen(axis->name);
    for (int i = 0; i < axis->count; i++)
        if (strlen(axis->values[i]) > width) width = strlen(axis->values[i]);
    return width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : (int)width;
}

static double shortest(const ts_grid_request *request, const ts_grid_run *runs) {
    double best = 0;
    for (int64_t i = 0; i < request->grid->point_count; i++)
        if (runs[i].microseconds > 0 && (best == 0 || runs[i].microseconds < best))
            best = runs[i].microseconds;
    return best;
}

/* Only axes along which something varies have a column. */
static void add_heading(const ts_grid_request *request, ts_text *out) {
    const ts_grid *grid = request->grid;
    ts_report_machine_line("machine    ", request->run.machine, out);
    ts_text_add(out, "program    %s", request->run.program);
    for (int i = 0; i < grid->axis_count; i++)
        if (grid->axes[i].count == 1) ts_text_add(out, " %s=%s", grid->axes[i].name, grid->axes[i].values[0]);
    ts_text_add(out, "\n\n");
    for (int i = 0; i < grid->axis_count; i++)
        if (grid->axes[i].count > 1) ts_text_add(out, "%*s ", width_of(&grid->axes[i]), grid->axes[i].name);
    ts_text_add(out, "%14s %12s %8s %9s  most cycles went to\n", "cycles", "us", "to best", "HBM peak");
}

void report_add_cut(ts_text *out, size_t begin, const char *text) {
    enum { LEAST = 20 };
    size_t used = out->length - begin, length = strlen(text);
    size_t left = used + LEAST < TS_TEXT_COLUMNS ? TS_TEXT_COLUMNS - used : LEAST;
    if (length > left)
        for (length = left - strlen(" .."); length > 0 && text[length] != ' ';) length--;
    ts_text_add(out, "%.*s%s\n", (int)length, text, text[length] ? " .." : "");
}

static void add_most(const ts_grid_run *run, size_t begin, ts_text *out) {
    ts_text_add(out, "  %4.1f %% ", run->most_percent);
    report_add_cut(out, begin, run->most);
}

static void add_run(const ts_grid_run *run, double best, size_t begin, ts_text *out) {
    char digits[32], cycles[40];
    snprintf(cycles, sizeof cycles, "%s%s", run->estimated ? "~" : "",
             ts_text_group_digits(digits, run->cycles));
    if (run->err.kind != TS_ERROR_NONE) {
        ts_text_add(out, "error: %s\n", run->err.message);
    } else if (!run->passed) {
        ts_text_add(out, "%14s failed its checks\n", cycles);
    } else {
        ts_text_add(out, "%14s %12.3f %7.2fx %7.1f %%", cycles, run->microseconds,
                    best > 0 ? run->microseconds / best : 1, run->hbm_peak_percent);
        add_most(run, begin, out);
    }
}

void ts_report_grid(const ts_grid_request *request, const ts_grid_run *runs, ts_text *out) {
    const ts_grid *grid = request->grid;
    double best = shortest(request, runs);
    ts_define *defines = TS_NEW_ARRAY(out->arena, ts_define, grid->axis_count + 1);
    add_heading(request, out);
    for (int64_t point = 0; point < grid->point_count; point++) {
        size_t begin = out->length;
        ts_grid_point(grid, point, defines);
        for (int i = 0; i < grid->axis_count; i++)
            if (grid->axes[i].count > 1) ts_text_add(out, "%*s ", width_of(&grid->axes[i]), defines[i].value);
        add_run(&runs[point], best, begin, out);
    }
}

static void add_run_json(ts_json *json, const ts_grid_run *run, double best) {
    ts_json_bool(json, "passed", run->passed);
    if (run->err.kind != TS_ERROR_NONE) {
        ts_report_error_key(json, "error", &run->err);
        return;
    }
    ts_json_int(json, "cycles", run->cycles);
    ts_json_bool(json, "estimated", run->estimated);
    ts_json_real(json, "microseconds", run->microseconds, 6);
    ts_json_real(json, "ratio", best > 0 ? run->microseconds / best : 1, 4);
    ts_json_real(json, "hbm_peak_percent", run->hbm_peak_percent, 3);
    ts_json_text(json, "most_cycles", run->most);
    ts_json_real(json, "most_percent", run->most_percent, 3);
}

void ts_report_grid_json(const ts_grid_request *request, const ts_grid_run *runs, ts_text *out) {
    const ts_grid *grid = request->grid;
    ts_json json;
    double best = shortest(request, runs);
    ts_define *defines = TS_NEW_ARRAY(out->arena, ts_define, grid->axis_count + 1);
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
        add_run_json(&json, &runs[point], best);
        ts_json_close(&json);
    }
    ts_json_close(&json);
    ts_json_end(&json);
}
