/* Tables of a study from texts. */
#include "tests/support/small_table.h"

#include <string.h>

enum { COLUMNS = 32, CELLS = 4096 };

/* The cell that begins at `*at`, which then is behind what ends it. */
static const char *next_cell(ts_arena *arena, const char **at) {
    size_t length = strcspn(*at, "|\n");
    const char *cell = ts_arena_copy_text(arena, *at, length);
    *at += length + ((*at)[length] == '|');
    return cell;
}

static void add_heading(ts_sweep_table *t, const char *name) {
    int column = t->column_count++;
    t->headings[column] = (ts_sweep_heading){name, true};
    if (strcmp(name, "status") == 0) t->status_column = column;
    if (strcmp(name, "cycles") == 0) t->cycles_column = column;
    if (strcmp(name, "estimated") == 0) t->estimated_column = column;
}

ts_sweep_table *small_table(ts_arena *arena, int parameters, const char *text) {
    ts_sweep_table *t = TS_NEW(arena, ts_sweep_table);
    ts_sweep_study *study = TS_NEW(arena, ts_sweep_study);
    study->title = "a title";
    *t = (ts_sweep_table){.study = study,
                          .headings = TS_NEW_ARRAY(arena, ts_sweep_heading, COLUMNS),
                          .parameter_count = parameters,
                          .status_column = -1,
                          .cycles_column = -1,
                          .estimated_column = -1,
                          .cells = TS_NEW_ARRAY(arena, ts_sweep_value, CELLS)};
    while (*text && *text != '\n') add_heading(t, next_cell(arena, &text));
    while (*text == '\n' && *++text) {
        ts_sweep_value *row = &t->cells[t->row_count++ * t->column_count];
        for (int i = 0; i < t->column_count; i++) {
            const char *cell = next_cell(arena, &text);
            if (*cell) row[i] = ts_sweep_value_read(cell);
            if (row[i].kind == TS_SWEEP_TEXT) t->headings[i].number = false;
        }
    }
    return t;
}
