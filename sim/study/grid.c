/* A grid of parameters. */
#include "study/grid.h"

#include <string.h>

#include "base/text.h"

/* Bytes up to the next comma outside of brackets, or the end. */
static size_t value_length(const char *text) {
    size_t length = 0;
    for (int depth = 0; text[length] && (depth > 0 || text[length] != ','); length++)
        depth += (strchr("([{", text[length]) != NULL) - (strchr(")]}", text[length]) != NULL);
    return length;
}

bool ts_grid_split(ts_arena *arena, const char *text, ts_grid_axis *axis) {
    for (size_t length;; text += length + 1) {
        while (ts_is_space(*text)) text++;
        length = value_length(text);
        size_t end = length;
        while (end > 0 && ts_is_space(text[end - 1])) end--;
        if (end == 0) return false;
        *TS_APPEND(arena, axis->values, axis->count) = ts_arena_copy_text(arena, text, end);
        if (!text[length]) return true;
    }
}

/* Keeps the first of equal values. */
static void drop_repeated(ts_grid_axis *axis) {
    int kept = 0;
    for (int i = 0; i < axis->count; i++) {
        int same = 0;
        while (same < kept && strcmp(axis->values[same], axis->values[i]) != 0) same++;
        if (same == kept) axis->values[kept++] = axis->values[i];
    }
    axis->count = kept;
}

static bool parse_axis(ts_error *err, ts_arena *arena, const char *option, const ts_define *define,
                       ts_grid_axis *axis) {
    *axis = (ts_grid_axis){.name = define->name};
    if (!ts_grid_split(arena, define->value, axis))
        return ts_error_set(err, TS_ERROR_USAGE,
                            "%s %.60s=%.60s has an empty value, expected such as %.60s=1,2", option,
                            define->name, define->value, define->name);
    drop_repeated(axis);
    return true;
}

bool ts_grid_parse(ts_error *err, ts_arena *arena, const char *option, const ts_define *defines, int count,
                   ts_grid *grid) {
    *grid = (ts_grid){.axes = TS_NEW_ARRAY(arena, ts_grid_axis, count + 1), .point_count = 1};
    for (; grid->axis_count < count; grid->axis_count++) {
        ts_grid_axis *axis = &grid->axes[grid->axis_count];
        if (!parse_axis(err, arena, option, &defines[grid->axis_count], axis)) return false;
        for (int i = 0; i < grid->axis_count; i++)
            if (strcmp(grid->axes[i].name, axis->name) == 0)
                return ts_error_set(err, TS_ERROR_USAGE, "%s %s is given twice", option, axis->name);
        grid->point_count *= axis->count;
        if (grid->point_count > TS_GRID_POINTS)
            return ts_error_set(err, TS_ERROR_USAGE,
                                "the values of %s make more than %d runs, expected fewer", option,
                                TS_GRID_POINTS);
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
