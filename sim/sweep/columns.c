/* Columns of results: their names, their values as text, rows as bytes. */
#include "sweep/columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ts_sweep_column_info columns[TS_SWEEP_COLUMNS] = {
#define COUNTER(id, name, unit, meaning) [TS_COUNTER_##id] = {name, unit ", " meaning, TS_SWEEP_INTEGER},
#include "probe/counters.def"
#define COLUMN(id, name, kind, meaning) [TS_SWEEP_##id##_COLUMN] = {name, meaning, TS_SWEEP_##kind},
#include "sweep/columns.def"
};

const ts_sweep_column_info *ts_sweep_column_get(int column) { return &columns[column]; }

int ts_sweep_column_find(const char *name, size_t length) {
    if (ts_text_is(name, length, "time")) return TS_SWEEP_MICROSECONDS_COLUMN;
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++)
        if (ts_text_is(name, length, columns[i].name)) return i;
    return -1;
}

const char *ts_sweep_status_text(ts_sweep_status status) {
    static const char *const texts[TS_SWEEP_STATUSES] = {[TS_SWEEP_OK] = "ok",
                                                         [TS_SWEEP_FAILED] = "failed",
                                                         [TS_SWEEP_ERROR] = "error",
                                                         [TS_SWEEP_CRASH] = "crash",
                                                         [TS_SWEEP_TIMEOUT] = "timeout"};
    return texts[status];
}

void ts_sweep_row_error(ts_arena *arena, ts_sweep_status status, const ts_error *why, ts_sweep_row *row) {
    *row = (ts_sweep_row){.status = status};
    if (why->kind == TS_ERROR_NONE) return;
    ts_error *own = TS_NEW(arena, ts_error);
    *own = *why;
    own->next = NULL; /* elsewhere */
    row->err = own;
}

void ts_sweep_set_integer(ts_sweep_row *row, int column, int64_t value) {
    row->values[column] = (ts_sweep_value){.kind = TS_SWEEP_INTEGER, .integer = value};
}

void ts_sweep_set_real(ts_sweep_row *row, int column, double value) {
    if (isfinite(value)) row->values[column] = (ts_sweep_value){.kind = TS_SWEEP_REAL, .real = value};
}

void ts_sweep_set_text(ts_sweep_row *row, int column, const char *value) {
    if (value) row->values[column] = (ts_sweep_value){.kind = TS_SWEEP_TEXT, .text = value};
}

/* ---- Bytes ---- */

static void pack_text(ts_text *out, const char *text) {
    uint32_t length = (uint32_t)strlen(text);
    ts_text_add_bytes(out, (const char *)&length, sizeof length);
    ts_text_add_bytes(out, text, length);
}

void ts_sweep_row_pack(ts_text *out, const ts_sweep_row *row) {
    ts_text_add_char(out, (char)row->status);
    ts_text_add_char(out, row->err != NULL);
    if (row->err) ts_text_add_bytes(out, (const char *)row->err, sizeof *row->err);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++) {
        const ts_sweep_value *v = &row->values[i];
        ts_text_add_char(out, (char)v->kind);
        if (v->kind == TS_SWEEP_TEXT) pack_text(out, v->text);
        if (v->kind == TS_SWEEP_INTEGER) ts_text_add_bytes(out, (const char *)&v->integer, sizeof v->integer);
        if (v->kind == TS_SWEEP_REAL) ts_text_add_bytes(out, (const char *)&v->real, sizeof v->real);
    }
}

typedef struct {
    ts_arena *arena;
    const char *at, *end;
} unpacker;

static bool take(unpacker *u, void *out, size_t length) {
    if ((size_t)(u->end - u->at) < length) return false;
    memcpy(out, u->at, length);
    u->at += length;
    return true;
}

static bool take_text(unpacker *u, const char **text) {
    uint32_t length;
    if (!take(u, &length, sizeof length) || (size_t)(u->end - u->at) < length) return false;
    *text = ts_arena_copy_text(u->arena, u->at, length);
    u->at += length;
    return true;
}

static bool take_value(unpacker *u, ts_sweep_value *value) {
    unsigned char kind;
    if (!take(u, &kind, 1) || kind > TS_SWEEP_TEXT) return false;
    *value = (ts_sweep_value){.kind = (ts_sweep_kind)kind};
    if (kind == TS_SWEEP_TEXT) return take_text(u, &value->text);
    if (kind == TS_SWEEP_INTEGER) return take(u, &value->integer, sizeof value->integer);
    return kind == TS_SWEEP_NONE || take(u, &value->real, sizeof value->real);
}

/* Its texts end, whatever the bytes are. */
static bool take_error(unpacker *u, const ts_error **err) {
    unsigned char there;
    *err = NULL;
    if (!take(u, &there, 1) || there > 1) return false;
    if (!there) return true;
    ts_error *own = TS_NEW(u->arena, ts_error);
    *err = own;
    if (!take(u, own, sizeof *own)) return false;
    own->message[TS_ERROR_TEXT_BYTES - 1] = own->name[TS_ERROR_NAME_BYTES - 1] = '\0';
    own->excerpt[TS_ERROR_LINE_BYTES - 1] = '\0';
    own->next = NULL;
    own->more = false;
    return own->kind > TS_ERROR_NONE && own->kind <= TS_ERROR_CAPACITY;
}

bool ts_sweep_row_unpack(ts_arena *arena, const char *bytes, size_t length, ts_sweep_row *row) {
    unpacker u = {arena, bytes, bytes + length};
    unsigned char status;
    if (!take(&u, &status, 1) || status >= TS_SWEEP_STATUSES || !take_error(&u, &row->err)) return false;
    row->status = (ts_sweep_status)status;
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++)
        if (!take_value(&u, &row->values[i])) return false;
    return u.at == u.end;
}

/* ---- Text ---- */

ts_sweep_value ts_sweep_value_read(const char *text) {
    char *end;
    errno = 0;
    long long integer = strtoll(text, &end, 10);
    bool number = strspn(text, "+-.0123456789eE") == strlen(text) && strpbrk(text, "0123456789");
    if (number && !*end && errno == 0) return (ts_sweep_value){.kind = TS_SWEEP_INTEGER, .integer = integer};
    double real = strtod(text, &end);
    if (number && !*end && isfinite(real))
        return (ts_sweep_value){.kind = TS_SWEEP_REAL, .real = real + 0.0}; /* no -0 */
    return (ts_sweep_value){.kind = TS_SWEEP_TEXT, .text = text};
}

/* With the fewest of 15 to 17 digits. */
static void print_real(double value, ts_text *out) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    ts_text_add(out, "%s", text);
}

void ts_sweep_value_print(const ts_sweep_value *value, ts_text *out) {
    if (value->kind == TS_SWEEP_INTEGER) ts_text_add(out, "%lld", (long long)value->integer);
    if (value->kind == TS_SWEEP_REAL) print_real(value->real, out);
    if (value->kind == TS_SWEEP_TEXT) ts_text_add(out, "%s", value->text);
}

bool ts_sweep_value_number(const ts_sweep_value *value, double *number) {
    *number = value->kind == TS_SWEEP_INTEGER ? (double)value->integer : value->real;
    return value->kind == TS_SWEEP_INTEGER || value->kind == TS_SWEEP_REAL;
}
