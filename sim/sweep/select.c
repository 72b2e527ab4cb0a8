/* Rows of a table: some of them, and those that no other is better than. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "sweep/table.h"

void ts_sweep_table_select(ts_arena *arena, const ts_sweep_table *table, const int64_t *rows, int64_t count,
                           ts_sweep_table *part) {
    size_t columns = (size_t)table->column_count;
    *part = *table;
    part->row_count = count;
    part->cells = TS_NEW_ARRAY(arena, ts_sweep_value, count * table->column_count);
    part->points = TS_NEW_ARRAY(arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) {
        memcpy(&part->cells[(size_t)i * columns], ts_sweep_table_cell(table, rows[i], 0),
               columns * sizeof *part->cells);
        part->points[i] = table->points[rows[i]];
    }
}

/* ---- Ranks ---- */

typedef struct {
    const double *values; /* [count] of its columns */
    int count;
    int64_t row;
} candidate;

/* By the first column, then by the next, then in the order of the table. */
static int by_values(const void *one, const void *other) {
    const candidate *a = one, *b = other;
    int order = 0;
    for (int i = 0; i < a->count && order == 0; i++) order = ts_order_reals(a->values[i], b->values[i]);
    return order ? order : ts_order(a->row, b->row);
}

static bool read_values(const ts_sweep_table *table, int64_t row, const int *columns, int count,
                        double *values) {
    if (!ts_sweep_table_is_ok(table, row)) return false;
    for (int i = 0; i < count; i++)
        if (!ts_sweep_value_number(ts_sweep_table_cell(table, row, columns[i]), &values[i])) return false;
    return true;
}

/* Rows that are ok, with a number in each column, the least first. Returns how many. */
static int64_t rank(ts_arena *arena, const ts_sweep_table *table, const int *columns, int count,
                    candidate **out) {
    candidate *all = TS_NEW_ARRAY(arena, candidate, table->row_count);
    double *values = TS_NEW_ARRAY(arena, double, table->row_count *count);
    int64_t found = 0;
    for (int64_t row = 0; row < table->row_count; row++, values += count)
        if (read_values(table, row, columns, count, values)) all[found++] = (candidate){values, count, row};
    if (found > 0) qsort(all, (size_t)found, sizeof *all, by_values);
    *out = all;
    return found;
}

void ts_sweep_table_rank(ts_arena *arena, const ts_sweep_table *table, int column, ts_sweep_table *out) {
    candidate *all;
    int64_t count = rank(arena, table, &column, 1, &all), *rows = TS_NEW_ARRAY(arena, int64_t, count);
    for (int64_t i = 0; i < count; i++) rows[i] = all[i].row;
    ts_sweep_table_select(arena, table, rows, count, out);
}

/* ---- The front ---- */

static bool is_beaten(const candidate *by, const candidate *c) {
    bool less = false;
    for (int i = 0; i < c->count; i++) {
        if (by->values[i] > c->values[i]) return false;
        less |= by->values[i] < c->values[i];
    }
    return less;
}

/* Whoever beats one comes before it, and is of the front or beaten too. */
int64_t ts_sweep_pareto(ts_arena *arena, const ts_sweep_table *table, const int *columns, int count,
                        int64_t **rows) {
    candidate *all;
    int64_t found = rank(arena, table, columns, count, &all), front = 0;
    *rows = TS_NEW_ARRAY(arena, int64_t, found);
    for (int64_t i = 0; i < found; i++) {
        bool beaten = false;
        for (int64_t k = 0; k < front && !beaten; k++) beaten = is_beaten(&all[k], &all[i]);
        if (beaten) continue;
        (*rows)[front] = all[i].row;
        all[front++] = all[i];
    }
    return front;
}
