/* Tables of measurements, and the parameters in their words. */
#include "validate/measured.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- Lines of fields ---- */

typedef struct {
    const ts_source *source;
    ts_arena *arena;
    size_t at;
    char separator;
    int line;
} reader;

enum { MAX_FIELDS = 32 };

typedef struct {
    const char *texts[MAX_FIELDS];
    size_t places[MAX_FIELDS];
    int count;
} fields;

static bool at_end(const reader *r) { return r->at >= r->source->length; }
static int next_byte(const reader *r) { return at_end(r) ? '\n' : (unsigned char)r->source->text[r->at]; }
static bool is_line_end(int c) { return c == '\n' || c == '\r'; }

/* "a ""quoted"" text" */
static bool read_quoted(ts_error *err, reader *r, ts_text *out) {
    size_t begin = r->at++;
    for (;; r->at++) {
        if (at_end(r) || next_byte(r) == '\n')
            return ts_error_at(err, TS_ERROR_INPUT, r->source, begin,
                               "a quoted field does not end, expected '\"'");
        if (next_byte(r) == '"') {
            r->at++;
            if (next_byte(r) != '"') break;
        }
        ts_text_add_char(out, (char)next_byte(r));
    }
    if (next_byte(r) == r->separator || is_line_end(next_byte(r))) return true;
    return ts_error_at(err, TS_ERROR_INPUT, r->source, r->at,
                       "found '%c' behind a quoted field, expected '%c'", next_byte(r), r->separator);
}

static bool read_field(ts_error *err, reader *r, fields *f) {
    ts_text text;
    ts_text_init(&text, r->arena);
    if (f->count == MAX_FIELDS)
        return ts_error_at(err, TS_ERROR_INPUT, r->source, r->at, "more than %d fields", MAX_FIELDS);
    f->places[f->count] = r->at;
    if (r->separator == ',' && next_byte(r) == '"') {
        if (!read_quoted(err, r, &text)) return false;
    } else {
        for (; next_byte(r) != r->separator && !is_line_end(next_byte(r)); r->at++) {
            if (next_byte(r) == '\0')
                return ts_error_at(err, TS_ERROR_INPUT, r->source, r->at, "found a NUL byte");
            ts_text_add_char(&text, (char)next_byte(r));
        }
    }
    f->texts[f->count++] = text.bytes;
    return true;
}

static bool read_line(ts_error *err, reader *r, fields *f) {
    f->count = 0;
    do {
        if (f->count > 0) r->at++; /* the separator */
        if (!read_field(err, r, f)) return false;
    } while (next_byte(r) == r->separator);
    r->at += next_byte(r) == '\r';
    if (!at_end(r) && next_byte(r) != '\n')
        return ts_error_at(err, TS_ERROR_INPUT, r->source, r->at,
                           "found a carriage return, expected the end of the line");
    r->at += !at_end(r);
    r->line++;
    return true;
}

/* ---- Columns ---- */

typedef enum { ID, GROUP, CHIP, WORKLOAD, PARAMETERS, VALUE, UNIT, TIMING, COLUMNS } column;

static const char *const csv_names[COLUMNS] = {
    "id", NULL, "chip", "workload description", "parameters", "measured value", "unit", "timing"};
static const char *const group_names[COLUMNS] = {"id",       "group",       NULL, NULL,
                                                 "workload", "measured_us", NULL, NULL};

static bool find_columns(ts_error *err, const reader *r, const fields *header, const char *const *names,
                         int *places) {
    for (int c = 0; c < COLUMNS; c++) {
        places[c] = -1;
        for (int i = 0; names[c] != NULL && i < header->count; i++) {
            if (strcmp(header->texts[i], names[c]) != 0) continue;
            if (places[c] >= 0)
                return ts_error_at(err, TS_ERROR_INPUT, r->source, header->places[i],
                                   "column '%s' stands twice", names[c]);
            places[c] = i;
        }
        if (names[c] == NULL || places[c] >= 0 || c == TIMING) continue;
        ts_error_at(err, TS_ERROR_INPUT, r->source, 0, "there is no column '%s'", names[c]);
        return ts_error_hint(
            err, ts_text_nearest(names[c], header->texts, (size_t)header->count, sizeof *header->texts));
    }
    return true;
}

static bool read_value(ts_error *err, const reader *r, const fields *f, int place, double *value) {
    const char *text = f->texts[place];
    char *end;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(*value) && *value > 0) return true;
    return ts_error_at(err, TS_ERROR_INPUT, r->source, f->places[place],
                       "found '%.40s', expected a number above 0", text);
}

static const char *field_of(const fields *f, int place) { return place < 0 ? "" : f->texts[place]; }

static bool read_row(ts_error *err, const reader *r, const fields *f, const int *places,
                     ts_measured_row *row) {
    *row = (ts_measured_row){.id = field_of(f, places[ID]),
                             .group = field_of(f, places[GROUP]),
                             .chip = field_of(f, places[CHIP]),
                             .workload = field_of(f, places[WORKLOAD]),
                             .parameters = field_of(f, places[PARAMETERS]),
                             .unit = places[UNIT] < 0 ? "us" : field_of(f, places[UNIT]),
                             .timing = field_of(f, places[TIMING]),
                             .line = r->line};
    if (*row->id == '\0')
        return ts_error_at(err, TS_ERROR_INPUT, r->source, f->places[places[ID]], "a row without id");
    return read_value(err, r, f, places[VALUE], &row->value);
}

static bool check_width(ts_error *err, const reader *r, const fields *f, int expected) {
    if (f->count == expected) return true;
    int last = f->count < expected ? f->count - 1 : expected;
    return ts_error_at(err, TS_ERROR_INPUT, r->source, f->places[last],
                       "found %d fields, expected %d as in the first line", f->count, expected);
}

static char separator_of(const ts_source *source) {
    const char *end = memchr(source->text, '\n', source->length);
    size_t length = end != NULL ? (size_t)(end - source->text) : source->length;
    return memchr(source->text, '\t', length) != NULL ? '\t' : ',';
}

bool ts_measured_parse(ts_error *err, ts_arena *arena, const ts_source *source, ts_measured *table) {
    reader r = {.source = source, .arena = arena, .separator = separator_of(source)};
    fields f;
    int places[COLUMNS], capacity = 0;
    *table = (ts_measured){0};
    if (source->length >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0) r.at = 3; /* a byte order mark */
    if (!read_line(err, &r, &f) ||
        !find_columns(err, &r, &f, r.separator == ',' ? csv_names : group_names, places))
        return false;
    int width = f.count;
    while (!at_end(&r)) {
        if (is_line_end(next_byte(&r))) { /* an empty line */
            r.line += next_byte(&r) == '\n';
            r.at++;
            continue;
        }
        if (!read_line(err, &r, &f) || !check_width(err, &r, &f, width)) return false;
        if (table->count == capacity) {
            int more = 2 * capacity + 64;
            table->rows =
                ts_arena_grow(arena, table->rows, (size_t)capacity, (size_t)more, sizeof *table->rows);
            capacity = more;
        }
        if (!read_row(err, &r, &f, places, &table->rows[table->count++])) return false;
    }
    return true;
}

/* ---- Parameters ---- */

static bool is_word(int c) { return isalnum(c) || c == '_'; }

static const char *skip_space(const char *at) {
    while (*at == ' ') at++;
    return at;
}

static const char *skip_word(const char *at) {
    while (is_word((unsigned char)*at)) at++;
    return at;
}

/* What stands behind `key=`, `key:` or `"key":`; NULL: it is not there. */
static const char *find_key(const char *text, const char *key, size_t length) {
    for (const char *at = text; (at = strstr(at, key)) != NULL; at++) {
        const char *end = at + length;
        if ((at > text && is_word((unsigned char)at[-1])) || is_word((unsigned char)*end)) continue;
        end = skip_space(end + (*end == '"'));
        if (*end == '=' || *end == ':') return skip_space(end + 1);
    }
    return NULL;
}

static const struct {
    const char *name;
    double bytes;
} units[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"KB", 0x1p10}, {"MB", 0x1p20},
             {"GB", 0x1p30},  {"B", 1},        {"K", 0x1p10},   {"M", 0x1p20},  {"G", 0x1p30}};

/* "8192 MB" in these tables is 2^33 bytes. NULL: what hangs on the number is none of them. */
static const char *read_unit(const char *at, double *product) {
    const char *name = skip_space(at), *end = skip_word(name);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strlen(units[i].name) != (size_t)(end - name) ||
            strncmp(name, units[i].name, (size_t)(end - name)) != 0)
            continue;
        if (name > at && end - name == 1) break; /* "4 K=5" */
        *product *= units[i].bytes;
        return end;
    }
    return name == at && end > at ? NULL : at;
}

/* 3, 2.5, 4096*2 or 16 MiB, and what is behind it; NULL: no number. */
static const char *read_product(const char *at, double *product) {
    char *end = NULL;
    *product = 1;
    for (;; at++) {
        if (!isdigit((unsigned char)*at) && *at != '.' && *at != '-') return NULL;
        double factor = strtod(at, &end);
        if (end == at || !isfinite(factor)) return NULL;
        *product *= factor;
        at = end;
        if (*at != '*') return read_unit(at, product);
    }
}

/* "16,777,216" from its first comma on. */
static const char *read_thousands(const char *at, double *number) {
    while (*at == ',' && strspn(at + 1, "0123456789") == 3) {
        *number = 1000 * *number + (double)strtol(at + 1, NULL, 10);
        at += 4;
    }
    return at;
}

enum { MAX_NAMES = 4 }; /* key=(other,) where other=(third,) ... */

static int read_numbers(const char *text, const char *at, int most, double *numbers, int names) {
    char key[32];
    int count = 0;
    bool alone = most == 1; /* no list */
    for (;;) {              /* N=K=5, mul_(2, 3), f32[2,3], ((2, 3), ...) */
        const char *end = skip_word(at);
        if (isdigit((unsigned char)*at) || *at == '-') break;
        if (end > at && *end == '=') {
            at = end + 1;
        } else if (*end == '(' || *end == '[') {
            at = skip_space(end + 1);
            alone = false;
        } else {
            break;
        }
    }
    while (count < most) {
        const char *end = read_product(at, &numbers[count]);
        if (end == NULL) {
            end = skip_word(at);
            size_t length = (size_t)(end - at);
            if (length == 0 || length >= sizeof key || names == 0) break;
            memcpy(key, at, length);
            key[length] = '\0';
            const char *behind = find_key(text, key, length);
            if (behind == NULL || read_numbers(text, behind, 1, &numbers[count], names - 1) == 0) break;
        }
        if (alone) end = read_thousands(end, &numbers[count]);
        count++;
        at = skip_space(end);
        if (*at != ',') break;
        at = skip_space(at + 1);
    }
    return count;
}

int ts_measured_numbers(const char *parameters, const char *key, int most, double *numbers) {
    const char *at = find_key(parameters, key, strlen(key));
    return at == NULL ? 0 : read_numbers(parameters, at, most, numbers, MAX_NAMES);
}
