/* Reads tables of text a line at a time. */
#include "validate/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- Lines of fields ---- */

static bool at_end(const ts_table *t) { return t->at >= t->source->length; }
static int next_byte(const ts_table *t) { return at_end(t) ? '\n' : (unsigned char)t->source->text[t->at]; }
static bool is_line_end(int c) { return c == '\n' || c == '\r'; }

/* "a ""quoted"" text" */
static bool read_quoted(ts_error *err, ts_table *t, ts_text *out) {
    size_t begin = t->at++;
    for (;; t->at++) {
        if (at_end(t) || next_byte(t) == '\n')
            return ts_error_at(err, TS_ERROR_INPUT, t->source, begin,
                               "a quoted field does not end, expected '\"'");
        if (next_byte(t) == '"') {
            t->at++;
            if (next_byte(t) != '"') break;
        }
        ts_text_add_char(out, (char)next_byte(t));
    }
    if (next_byte(t) == t->separator || is_line_end(next_byte(t))) return true;
    return ts_error_at(err, TS_ERROR_INPUT, t->source, t->at,
                       "found '%c' behind a quoted field, expected '%c'", next_byte(t), t->separator);
}

static bool read_field(ts_error *err, ts_table *t) {
    ts_text text = ts_text_begin(t->arena);
    if (t->count == TS_TABLE_MAX_FIELDS)
        return ts_error_at(err, TS_ERROR_INPUT, t->source, t->at, "more than %d fields", TS_TABLE_MAX_FIELDS);
    t->offsets[t->count] = t->at;
    if (t->separator == ',' && next_byte(t) == '"') {
        if (!read_quoted(err, t, &text)) return false;
    } else {
        for (; next_byte(t) != t->separator && !is_line_end(next_byte(t)); t->at++) {
            if (next_byte(t) == '\0')
                return ts_error_at(err, TS_ERROR_INPUT, t->source, t->at, "found a NUL byte");
            ts_text_add_char(&text, (char)next_byte(t));
        }
    }
    t->texts[t->count++] = text.bytes;
    return true;
}

static bool read_line(ts_error *err, ts_table *t) {
    t->count = 0;
    do {
        if (t->count > 0) t->at++; /* the separator */
        if (!read_field(err, t)) return false;
    } while (next_byte(t) == t->separator);
    t->at += next_byte(t) == '\r';
    if (!at_end(t) && next_byte(t) != '\n')
        return ts_error_at(err, TS_ERROR_INPUT, t->source, t->at,
                           "found a carriage return, expected the end of the line");
    t->at += !at_end(t);
    t->line++;
    return true;
}

/* ---- Columns ---- */

static char separator_of(const ts_source *source) {
    const char *end = memchr(source->text, '\n', source->length);
    size_t length = end != NULL ? (size_t)(end - source->text) : source->length;
    return memchr(source->text, '\t', length) != NULL ? '\t' : ',';
}

bool ts_table_open(ts_error *err, ts_arena *arena, const ts_source *source, ts_table *t) {
    *t = (ts_table){.source = source, .arena = arena, .separator = separator_of(source)};
    t->at = ts_text_mark(source->text, source->length);
    if (!read_line(err, t)) return false;
    t->width = t->count;
    return true;
}

static int find_column(const ts_table *t, const char *name, int from) {
    for (int i = from; i < t->count; i++)
        if (strcmp(t->texts[i], name) == 0) return i;
    return -1;
}

bool ts_table_columns(ts_error *err, ts_table *t, const ts_table_column *columns, int count) {
    t->named = columns;
    for (int c = 0; c < count; c++) {
        const char *name = columns[c].name;
        t->columns[c] = -1;
        if (name == NULL) continue;
        t->columns[c] = find_column(t, name, 0);
        int again = t->columns[c] < 0 ? -1 : find_column(t, name, t->columns[c] + 1);
        if (again >= 0)
            return ts_error_at(err, TS_ERROR_INPUT, t->source, t->offsets[again], "column '%s' stands twice",
                               name);
        if (t->columns[c] >= 0 || columns[c].optional) continue;
        if (t->source->length == 0)
            return ts_error_at(err, TS_ERROR_INPUT, t->source, 0,
                               "found nothing, expected a line of column names, '%s' among them", name);
        ts_error_at(err, TS_ERROR_INPUT, t->source, 0, "there is no column '%s'", name);
        return ts_error_hint(err, ts_text_nearest(name, t->texts, (size_t)t->count, sizeof *t->texts));
    }
    return true;
}

bool ts_table_is(ts_arena *arena, const ts_source *source, const ts_table_column *columns, int count) {
    ts_error err = {0};
    ts_table t;
    return ts_table_open(&err, arena, source, &t) && ts_table_columns(&err, &t, columns, count);
}

static bool check_width(ts_error *err, const ts_table *t) {
    if (t->count == t->width) return true;
    int last = t->count < t->width ? t->count - 1 : t->width;
    return ts_error_at(err, TS_ERROR_INPUT, t->source, t->offsets[last],
                       "found %d fields, expected %d as in the first line", t->count, t->width);
}

bool ts_table_next(ts_error *err, ts_table *t) {
    while (!at_end(t) && is_line_end(next_byte(t))) { /* an empty line */
        t->line += next_byte(t) == '\n';
        t->at++;
    }
    if (at_end(t)) return false;
    t->failed = !read_line(err, t) || !check_width(err, t);
    return !t->failed;
}

/* ---- Cells ---- */

bool ts_table_has(const ts_table *t, int column) { return t->columns[column] >= 0; }

const char *ts_table_cell(const ts_table *t, int column) {
    return ts_table_has(t, column) ? t->texts[t->columns[column]] : "";
}

const char *ts_table_text(const ts_table *t, int column) {
    const char *text = ts_table_cell(t, column);
    return *text != '\0' ? text : NULL;
}

size_t ts_table_offset(const ts_table *t, int column) { return t->offsets[t->columns[column]]; }

bool ts_table_positive(ts_error *err, const ts_table *t, int column, double *value) {
    const char *text = ts_table_cell(t, column);
    char *end;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*value) && *value > 0) return true;
    return ts_error_at(err, TS_ERROR_INPUT, t->source, ts_table_offset(t, column),
                       "found '%.40s', expected a number above 0", text);
}

bool ts_table_word(ts_error *err, const ts_table *t, int column, const char *const *names, int count,
                   int *word) {
    const char *text = ts_table_cell(t, column);
    for (*word = 0; *word < count; ++*word)
        if (strcmp(text, names[*word]) == 0) return true;
    *word = 0;
    if (*text == '\0' && t->named[column].optional) return true;
    ts_error_at(err, TS_ERROR_INPUT, t->source, ts_table_offset(t, column), "found '%.40s' as %s", text,
                t->named[column].name);
    return ts_error_hint(err, ts_text_nearest(text, names, (size_t)count, sizeof *names));
}
