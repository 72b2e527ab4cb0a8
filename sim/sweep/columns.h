/* What a point of a study comes to: a value in each of the columns that all questions share. */
#ifndef TILESIM_SWEEP_COLUMNS_H
#define TILESIM_SWEEP_COLUMNS_H

#include "base/error.h"
#include "base/text.h"
#include "probe/counter.h"

typedef enum { TS_SWEEP_NONE, TS_SWEEP_INTEGER, TS_SWEEP_REAL, TS_SWEEP_TEXT } ts_sweep_kind;

typedef struct {
    ts_sweep_kind kind;
    union {
        int64_t integer;
        double real;
        const char *text;
    };
} ts_sweep_value;

/* The counters come first: column TS_COUNTER_CYCLES is "cycles". */
typedef enum {
    TS_SWEEP_COUNTERS = TS_COUNTER_COUNT - 1,
#define COLUMN(id, name, kind, meaning) TS_SWEEP_##id##_COLUMN,
#include "sweep/columns.def"
    TS_SWEEP_COLUMNS
} ts_sweep_column;

typedef struct {
    const char *name, *meaning;
    ts_sweep_kind kind;
} ts_sweep_column_info;
const ts_sweep_column_info *ts_sweep_column_get(int column);
/* Its number; "time" is microseconds. -1: there is none. */
int ts_sweep_column_find(const char *name, size_t length);

/* How a point ended; a study goes on. */
typedef enum {
    TS_SWEEP_OK,
    TS_SWEEP_FAILED,  /* a check of the program failed */
    TS_SWEEP_ERROR,   /* it cannot be, or is not modelled */
    TS_SWEEP_CRASH,   /* the process that worked on it ended */
    TS_SWEEP_TIMEOUT, /* it took longer than was allowed */
    TS_SWEEP_STATUSES
} ts_sweep_status;
const char *ts_sweep_status_text(ts_sweep_status status);

typedef struct {
    ts_sweep_status status;
    const ts_error *err; /* NULL: none */
    ts_sweep_value values[TS_SWEEP_COLUMNS];
} ts_sweep_row;

/* A row without values; `why` is copied, if it is one. */
void ts_sweep_row_error(ts_arena *arena, ts_sweep_status status, const ts_error *why, ts_sweep_row *row);
/* Sets a value; a text of NULL leaves the old one. Texts are not copied. */
void ts_sweep_set_integer(ts_sweep_row *row, int column, int64_t value);
void ts_sweep_set_real(ts_sweep_row *row, int column, double value);
void ts_sweep_set_text(ts_sweep_row *row, int column, const char *value);

/* 0 where it has none. */
static inline double ts_sweep_real(const ts_sweep_row *row, ts_sweep_column column) {
    return row->values[column].real;
}

/* As bytes between processes of one host or of like ones, and back: texts are in the arena. False: no row. */
void ts_sweep_row_pack(ts_text *out, const ts_sweep_row *row);
bool ts_sweep_row_unpack(ts_arena *arena, const char *bytes, size_t length, ts_sweep_row *row);

/* A number of the whole text, an integer where it is one; else the text. */
ts_sweep_value ts_sweep_value_read(const char *text);
/* As text that reads back as the same; "" of none. */
void ts_sweep_value_print(const ts_sweep_value *value, ts_text *out);
/* The value as a number; false: it is a text, or missing. */
bool ts_sweep_value_number(const ts_sweep_value *value, double *number);

#endif
