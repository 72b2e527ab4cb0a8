/* Tables of text, a row a line: TSV where the first line has a tab, else CSV with quoted fields. The first
 * line names the columns, in any order; empty lines are left out. */
#ifndef TILESIM_VALIDATE_TABLE_H
#define TILESIM_VALIDATE_TABLE_H

#include "base/arena.h"
#include "base/error.h"

enum { TS_TABLE_MAX_FIELDS = 32 };

typedef struct {
    const char *name; /* NULL: no table has it */
    bool optional;
} ts_table_column;

typedef struct {
    const ts_source *source;
    ts_arena *arena;
    const ts_table_column *named; /* by ts_table_columns */
    size_t at;
    char separator;
    int line, width;                  /* of the row; fields of the first line */
    int columns[TS_TABLE_MAX_FIELDS]; /* which field a column is; -1: not there */
    const char *texts[TS_TABLE_MAX_FIELDS];
    size_t offsets[TS_TABLE_MAX_FIELDS];
    int count;   /* fields of the row, before the first one those of the first line */
    bool failed; /* a row could not be read */
} ts_table;

bool ts_table_open(ts_error *err, ts_arena *arena, const ts_source *source, ts_table *t);
/* Finds the columns by their names, once; below they go by their numbers in `columns`. */
bool ts_table_columns(ts_error *err, ts_table *t, const ts_table_column *columns, int count);
/* Are these columns there, of any text? */
bool ts_table_is(ts_arena *arena, const ts_source *source, const ts_table_column *columns, int count);
/* The next row; false behind the last, and where it cannot be read: then the table has failed. */
bool ts_table_next(ts_error *err, ts_table *t);

bool ts_table_has(const ts_table *t, int column);
const char *ts_table_cell(const ts_table *t, int column); /* "" where there is no such column */
const char *ts_table_text(const ts_table *t, int column); /* NULL where it is "" */
/* Where the cell stands in the source, of a column that is there. */
size_t ts_table_offset(const ts_table *t, int column);
bool ts_table_positive(ts_error *err, const ts_table *t, int column, double *value);
/* The number of the cell's word among `names`; an empty cell is the first where the column is optional. */
bool ts_table_word(ts_error *err, const ts_table *t, int column, const char *const *names, int count,
                   int *word);

#endif
