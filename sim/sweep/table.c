/* The table of a study, from its database. */
#include "sweep/table.h"

#include <string.h>

/* A row, while it is not known which columns there will be. */
typedef struct {
    ts_sweep_point point;
    ts_sweep_row row;
    int64_t index;
    ts_sweep_value *derived;
} found_row;

typedef struct {
    ts_arena *arena;
    const ts_sweep_study *study;
    ts_sweep_store *store;
    ts_sweep_hashes *hashes;
    found_row *rows;
    int64_t count;
    bool whole; /* every point of the study is there */
} reader;

/* ---- Rows ---- */

/* Where a point has no number for it there is none; but where no point of the study has, the expression is
 * wrong. */
static bool derive(ts_error *err, reader *r) {
    for (int k = 0; k < r->study->derived_count; k++) {
        ts_error first = {0};
        int64_t good = 0;
        for (int64_t i = 0; i < r->count; i++) {
            ts_arena *scratch = ts_arena_new();
            found_row *row = &r->rows[i];
            good += ts_sweep_point_evaluate(&first, scratch, &row->point, &row->row, &r->study->derived[k],
                                            &row->derived[k]);
            ts_arena_free(scratch);
        }
        if (good > 0 || r->count == 0 || !r->whole) continue;
        *err = first;
        return false;
    }
    return true;
}

static bool read_point(ts_error *err, reader *r, int64_t index) {
    ts_arena *scratch = ts_arena_new();
    found_row row = {.index = index};
    ts_sweep_case asked;
    ts_sweep_identity identity;
    bool counts = false, found = false;
    ts_sweep_point_get(scratch, r->study, index, &row.point);
    bool good = ts_sweep_point_counts(err, scratch, &row.point, &counts);
    if (good && counts) {
        good = ts_sweep_case_of(err, scratch, &row.point, &asked);
        if (good) ts_sweep_identify(NULL, scratch, r->hashes, &row.point, &asked, &identity);
        good = good && ts_sweep_store_get(err, r->arena, r->store, identity.key, &found, &row.row);
    }
    ts_arena_free(scratch);
    r->whole = r->whole && (found || !counts);
    if (!good || !found) return good;
    ts_sweep_point_get(r->arena, r->study, index, &row.point);
    row.derived = TS_NEW_ARRAY(r->arena, ts_sweep_value, r->study->derived_count);
    *TS_APPEND(r->arena, r->rows, r->count) = row;
    return true;
}

/* ---- Columns ---- */

static bool any_has(const reader *r, int column) {
    for (int64_t i = 0; i < r->count; i++)
        if (r->rows[i].row.values[column].kind != TS_SWEEP_NONE) return true;
    return false;
}

static bool any_error(const reader *r) {
    for (int64_t i = 0; i < r->count; i++)
        if (r->rows[i].row.err) return true;
    return false;
}

static void add_column(ts_sweep_table *table, const char *name) {
    table->headings[table->column_count++] = (ts_sweep_heading){name, true};
}

static void find_columns(const reader *r, ts_arena *arena, ts_sweep_table *table, int *results) {
    const ts_sweep_study *study = r->study;
    table->headings = TS_NEW_ARRAY(arena, ts_sweep_heading,
                                   study->name_count + study->derived_count + TS_SWEEP_COLUMNS + 2);
    for (int i = 0; i < study->name_count; i++) add_column(table, study->names[i]);
    table->parameter_count = table->status_column = study->name_count;
    add_column(table, "status");
    if (any_error(r)) add_column(table, "error");
    table->cycles_column = table->microseconds_column = table->estimated_column = -1;
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) {
        results[i] = any_has(r, i);
        if (results[i] && i == (int)TS_COUNTER_CYCLES) table->cycles_column = table->column_count;
        if (results[i] && i == TS_SWEEP_MICROSECONDS_COLUMN) table->microseconds_column = table->column_count;
        if (results[i] && i == TS_SWEEP_ESTIMATED_COLUMN) table->estimated_column = table->column_count;
        if (results[i]) add_column(table, ts_sweep_column_get(i)->name);
    }
    for (int i = 0; i < study->derived_count; i++) add_column(table, study->derived[i].name);
}

static ts_sweep_value text_value(const char *text) {
    return (ts_sweep_value){.kind = text ? TS_SWEEP_TEXT : TS_SWEEP_NONE, .text = text};
}

static void fill_row(const found_row *from, const int *results, ts_sweep_table *table, ts_sweep_value *cell) {
    const ts_sweep_study *study = table->study;
    ts_sweep_value *first = cell;
    for (int i = 0; i < study->name_count; i++) *cell++ = ts_sweep_value_read(from->point.values[i]);
    *cell++ = text_value(ts_sweep_status_text(from->row.status));
    if (strcmp(table->headings[cell - first].name, "error") == 0)
        *cell++ = text_value(from->row.err ? from->row.err->message : NULL);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++)
        if (results[i]) *cell++ = from->row.values[i];
    for (int i = 0; i < study->derived_count; i++) *cell++ = from->derived[i];
    for (int i = 0; i < table->column_count; i++)
        table->headings[i].number = table->headings[i].number && first[i].kind != TS_SWEEP_TEXT;
}

bool ts_sweep_table_read(ts_error *err, ts_arena *arena, const ts_sweep_table_request *request,
                         ts_sweep_table *table) {
    const ts_sweep_study *study = request->study;
    reader r = {.arena = arena,
                .study = study,
                .store = request->store,
                .hashes = ts_sweep_hashes_new(arena),
                .whole = !request->points && request->shard.count <= 1};
    int results[TS_SWEEP_COLUMNS];
    int64_t points = request->points ? request->point_count : study->grid.point_count;
    *table = (ts_sweep_table){.study = study};
    for (int64_t i = 0; i < points; i++) {
        int64_t point = request->points ? request->points[i] : i;
        if (ts_sweep_shard_has(&request->shard, point) && !read_point(err, &r, point)) return false;
    }
    if (!derive(err, &r)) return false;
    find_columns(&r, arena, table, results);
    table->row_count = r.count;
    table->cells = TS_NEW_ARRAY(arena, ts_sweep_value, r.count * table->column_count);
    table->points = TS_NEW_ARRAY(arena, int64_t, r.count);
    for (int64_t i = 0; i < r.count; i++) {
        table->points[i] = r.rows[i].index;
        fill_row(&r.rows[i], results, table, &table->cells[i * table->column_count]);
    }
    return true;
}

const ts_sweep_value *ts_sweep_table_cell(const ts_sweep_table *table, int64_t row, int column) {
    return &table->cells[row * table->column_count + column];
}

bool ts_sweep_table_is_ok(const ts_sweep_table *table, int64_t row) {
    const ts_sweep_value *status = ts_sweep_table_cell(table, row, table->status_column);
    return strcmp(status->text, ts_sweep_status_text(TS_SWEEP_OK)) == 0;
}

bool ts_sweep_table_any_ok(const ts_sweep_table *table) {
    for (int64_t row = 0; row < table->row_count; row++)
        if (ts_sweep_table_is_ok(table, row)) return true;
    return false;
}

bool ts_sweep_table_is_estimate(const ts_sweep_table *table, int64_t row, int column) {
    int cycles = table->cycles_column;
    bool has_cycles = cycles >= 0 && ts_sweep_table_cell(table, row, cycles)->kind != TS_SWEEP_NONE;
    return column == (has_cycles ? cycles : table->microseconds_column) && table->estimated_column >= 0 &&
           ts_sweep_table_cell(table, row, table->estimated_column)->integer != 0;
}

/* No row has a value in a column of this name. */
static void none_has(ts_error *err, const ts_sweep_table *table, const char *what, const char *name) {
    int status = table->status_column;
    if (table->row_count == 0 || ts_sweep_table_any_ok(table)) {
        ts_error_set(err, TS_ERROR_USAGE, "%s: no point has '%.60s'", what, name);
        return;
    }
    bool said = strcmp(table->headings[status + 1].name, "error") == 0;
    const ts_sweep_value *why = ts_sweep_table_cell(table, 0, status + said);
    ts_error_set(err, TS_ERROR_INPUT, "%s: no point has a result, the first for: %s", what, why->text);
}

int ts_sweep_table_find(ts_error *err, const ts_sweep_table *table, const char *what, const char *name) {
    const char *wanted = strcmp(name, "time") == 0 ? "microseconds" : name;
    for (int i = 0; i < table->column_count; i++)
        if (strcmp(table->headings[i].name, wanted) == 0) return i;
    bool known = ts_sweep_column_find(name, strlen(name)) >= 0;
    if (known) {
        none_has(err, table, what, name);
        return -1;
    }
    ts_error_set(err, TS_ERROR_USAGE, "%s: there is no column '%.60s'", what, name);
    ts_error_hint(err, ts_text_nearest(name, &table->headings[0].name, (size_t)table->column_count,
                                       sizeof table->headings[0]));
    return -1;
}

int ts_sweep_table_find_number(ts_error *err, const ts_sweep_table *table, const char *what,
                               const char *name) {
    int column = ts_sweep_table_find(err, table, what, name);
    double number;
    if (column < 0 || table->row_count == 0) return column;
    for (int64_t row = 0; row < table->row_count; row++)
        if (ts_sweep_value_number(ts_sweep_table_cell(table, row, column), &number)) return column;
    ts_error_set(err, TS_ERROR_USAGE, "%s: '%.60s' has no numbers", what, name);
    return -1;
}
