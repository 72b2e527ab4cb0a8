/* Rows of a table: some of them, and those that no other is better than. */
#include <stdlib.h>
#include <string.h>

#include "sweep/table.h"

void ts_sweep_table_select(ts_arena *arena, const ts_sweep_table *table, const int64_t *rows, int64_t count,
                           ts_sweep_table *part) {
    size_t columns = (size_t)table->column_count;
    *part = *table;
    part->row_count = count;
    part->cells = TS_NEW_ARRAY(arena, ts_sweep_value, count * table->column_count + 1);
    part->points = TS_NEW_ARRAY(arena, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++) {
        memcpy(&part->cells[(size_t)i * columns], ts_sweep_table_cell(table, rows[i], 0),
               columns * sizeof *part->cells);
        part->points[i] = table->points[rows[i]];
    }
}

/* ---- The front ---- */

typedef struct {
    const double *values; /* [count] of its columns */
    int count;
    int64_t row;
} candidate;

/* By the first column, then by the next, then in the order of the table. */
static int by_values(const void *one, const void *other) {
    const candidate *a = one, *b = other;
    for (int i = 0; i < a->count; i++)
        if (a->values[i] != b->values[i]) return a->values[i] < b->values[i] ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool is_beaten(const candidate *by, const candidate *c) {
    bool less = false;
    for (int i = 0; i < c->count; i++) {
        if (by->values[i] > c->values[i]) return false;
        less |= by->values[i] < c->values[i];
    }
    return less;
}

static bool read_values(const ts_sweep_table *table, int64_t row, const int *columns, int count,
                        double *values) {
    for (int i = 0; i < count; i++)
        if (!ts_sweep_value_number(ts_sweep_table_cell(table, row, columns[i]), &values[i])) return false;
    return true;
}

int64_t ts_sweep_pareto(ts_arena *arena, const ts_sweep_table *table, const int *columns, int count,
                        int64_t **rows) {
    candidate *all = TS_NEW_ARRAY(arena, candidate, table->row_count + 1);
    int64_t found = 0, front = 0;
    for (int64_t row = 0; row < table->row_count; row++) {
        double *values = TS_NEW_ARRAY(arena, double, count);
        if (read_values(table, row, columns, count, values)) all[found++] = (candidate){values, count, row};
    }
    qsort(all, (size_t)found, sizeof *all, by_values);
    *rows = TS_NEW_ARRAY(arena, int64_t, found + 1);
    for (int64_t i = 0; i < found;
         i++) { /* whoever beats one comes before it, and is of the front or beaten too */
        bool beaten = false;
        for (int64_t k = 0; k < front && !beaten; k++) beaten = is_beaten(&all[k], &all[i]);
        if (beaten) continue;
        (*rows)[front] = all[i].row;
        all[front++] = all[i];
    }
    return front;
}

/* ---- Ranks ---- */

typedef struct {
    int64_t row;
    double value;
} ranked;

static int by_value(const void *one, const void *other) {
    const ranked *a = one, *b = other;
    return a->value != b->value ? (a->value > b->value) - (a->value < b->value)
                                : (a->row > b->row) - (a->row < b->row);
}

void ts_sweep_table_rank(ts_arena *arena, const ts_sweep_table *table, int column, ts_sweep_table *out) {
    ranked *list = TS_NEW_ARRAY(arena, ranked, table->row_count + 1);
    int64_t count = 0, *rows = TS_NEW_ARRAY(arena, int64_t, table->row_count + 1);
    for (int64_t row = 0; row < table->row_count; row++) {
        list[count].row = row;
        count += ts_sweep_value_number(ts_sweep_table_cell(table, row, column), &list[count].value);
    }
    qsort(list, (size_t)count, sizeof *list, by_value);
    for (int64_t i = 0; i < count; i++) rows[i] = list[i].row;
    ts_sweep_table_select(arena, table, rows, count, out);
}
