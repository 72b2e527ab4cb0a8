/* A grid of parameters, and a program run at each of its points. */
#include "study/grid.h"

#include <stdio.h>
#include <string.h>

#include "study/transfer.h"

/* ---- The points ---- */

/* Bytes up to the next comma outside of brackets, or the end. */
static size_t value_length(const char *text) {
    size_t length = 0;
    for (int depth = 0; text[length] && (depth > 0 || text[length] != ','); length++)
        depth += (strchr("([{", text[length]) != NULL) - (strchr(")]}", text[length]) != NULL);
    return length;
}

bool ts_grid_split(ts_arena *arena, const char *text, ts_grid_axis *axis) {
    for (size_t length;; text += length + 1) {
        length = value_length(text);
        if (length == 0) return false;
        axis->values = ts_arena_extend(arena, axis->values, (size_t)axis->count, sizeof *axis->values);
        axis->values[axis->count++] = ts_arena_copy_text(arena, text, length);
        if (!text[length]) return true;
    }
}

static bool parse_axis(ts_error *err, ts_arena *arena, const ts_define *define, ts_grid_axis *axis) {
    *axis = (ts_grid_axis){.name = define->name};
    return ts_grid_split(arena, define->value, axis) ||
           ts_error_set(err, TS_ERROR_USAGE, "-D %.60s=%.60s has an empty value, expected such as %.60s=1,2",
                        define->name, define->value, define->name);
}

bool ts_grid_parse(ts_error *err, ts_arena *arena, const ts_define *defines, int count, ts_grid *grid) {
    *grid = (ts_grid){.axes = TS_NEW_ARRAY(arena, ts_grid_axis, count + 1), .point_count = 1};
    for (; grid->axis_count < count; grid->axis_count++) {
        ts_grid_axis *axis = &grid->axes[grid->axis_count];
        if (!parse_axis(err, arena, &defines[grid->axis_count], axis)) return false;
        for (int i = 0; i < grid->axis_count; i++)
            if (strcmp(grid->axes[i].name, axis->name) == 0)
                return ts_error_set(err, TS_ERROR_USAGE, "-D %s is given twice", axis->name);
        grid->point_count *= axis->count;
        if (grid->point_count > TS_GRID_POINTS)
            return ts_error_set(err, TS_ERROR_USAGE,
                                "the values of -D make more than %d runs, expected fewer", TS_GRID_POINTS);
    }
    return true;
}

void ts_grid_point(const ts_grid *grid, int64_t point, ts_define *defines) {
    for (int i = grid->axis_count - 1; i >= 0; i--) {
        const ts_grid_axis *axis = &grid->axes[i];
        defines[i] = (ts_define){axis->name, axis->values[point % axis->count]};
        point /= axis->count;
    }
}

/* ---- The runs ---- */

static void find_most(const ts_chip_counters *chip, ts_grid_run *run) {
    int64_t all = 0, bundles = 0, stalled;
    int stall = ts_longest_stall(chip, &stalled);
    for (int i = 0; i < chip->core_count; i++) {
        all += chip->cores[i].cycles;
        bundles += chip->cores[i].bundles;
    }
    bool stalls = stalled > bundles;
    run->most = stalls ? ts_stall_get(stall)->meaning : "a bundle issued";
    run->most_percent = all > 0 ? 100.0 * (double)(stalls ? stalled : bundles) / (double)all : 0;
}

void ts_grid_note(const ts_machine *machine, const ts_run_result *result, ts_grid_run *run) {
    run->passed = result->passed;
    run->estimated = result->chip.estimated;
    run->cycles = result->counters.values[TS_COUNTER_CYCLES];
    run->microseconds = ts_machine_microseconds(machine, run->cycles);
    run->hbm_peak_percent = 100 * result->roofline.busy[TS_UNIT_HBM];
    find_most(&result->chip, run);
}

const ts_grid_run *ts_grid_go(ts_arena *arena, const ts_grid_request *request) {
    const ts_grid *grid = request->grid;
    ts_grid_run *runs = TS_NEW_ARRAY(arena, ts_grid_run, grid->point_count);
    ts_define *defines = TS_NEW_ARRAY(arena, ts_define, grid->axis_count + 1);
    ts_run_request run = request->run;
    run.defines = defines;
    run.define_count = grid->axis_count;
    for (int64_t i = 0; i < grid->point_count; i++) {
        ts_arena *scratch = ts_arena_new();
        ts_run_result result;
        ts_grid_point(grid, i, defines);
        if (ts_run(&runs[i].err, scratch, &run, &result)) ts_grid_note(run.machine, &result, &runs[i]);
        runs[i].err.next = NULL; /* in `scratch` */
        ts_arena_free(scratch);
        if (request->progress) request->progress(request->self, i + 1, grid->point_count);
    }
    return runs;
}
