/* Rows of a study as a table: its parameters, how each ended, results that any row has, and derived
 * columns. */
#ifndef TILESIM_SWEEP_TABLE_H
#define TILESIM_SWEEP_TABLE_H

#include "sweep/store.h"

typedef struct {
    const char *name;
    bool number; /* all its values are, or there is none */
} ts_sweep_heading;

/* parameters, "status", "error" (if there is one), results, derived columns. */
typedef struct {
    const ts_sweep_study *study;
    ts_sweep_heading *headings;
    int column_count, parameter_count;
    int status_column, cycles_column, microseconds_column, estimated_column; /* -1: there is none */
    int64_t row_count;
    ts_sweep_value *cells; /* row after row */
    int64_t *points;       /* of each row: the study's point */
} ts_sweep_table;

typedef struct {
    const ts_sweep_study *study;
    ts_sweep_store *store;
    const int64_t *points; /* those alone, `point_count`; NULL: all of the study */
    int64_t point_count;
    ts_sweep_shard shard; /* of them */
} ts_sweep_table_request;

/* Of the points that count and are in the database, in the order of the study, or of `points`. Texts are the
 * study's, or in the arena. False: the database cannot be read, or an expression of the study is wrong. */
bool ts_sweep_table_read(ts_error *err, ts_arena *arena, const ts_sweep_table_request *request,
                         ts_sweep_table *table);
/* Only these rows, in this order. */
void ts_sweep_table_select(ts_arena *arena, const ts_sweep_table *table, const int64_t *rows, int64_t count,
                           ts_sweep_table *part);
bool ts_sweep_table_is_ok(const ts_sweep_table *table, int64_t row);
bool ts_sweep_table_any_ok(const ts_sweep_table *table);
/* The row with the least of a column first; rows that are not ok, or have no number, are none. */
void ts_sweep_table_rank(ts_arena *arena, const ts_sweep_table *table, int column, ts_sweep_table *out);
/* Rows that no other is better than: at most as much in all columns, and less in one; the least of the first
 * column first. Rows that are not ok, or have no number in one of them, are none. Returns how many. */
int64_t ts_sweep_pareto(ts_arena *arena, const ts_sweep_table *table, const int *columns, int count,
                        int64_t **rows);
const ts_sweep_value *ts_sweep_table_cell(const ts_sweep_table *table, int64_t row, int column);
/* Is this a time, in cycles where the row has them, of which not every access was simulated? Reports put "~"
 * before it. */
bool ts_sweep_table_is_estimate(const ts_sweep_table *table, int64_t row, int column);
/* "time" is microseconds. -1, and an error that names the nearest: there is none, or no row has a value in
 * it; where no row is ok, the error of the first. */
int ts_sweep_table_find(ts_error *err, const ts_sweep_table *table, const char *what, const char *name);
/* The same, for a column of numbers: refused where the table has rows and none has a number there. */
int ts_sweep_table_find_number(ts_error *err, const ts_sweep_table *table, const char *what,
                               const char *name);

#endif
