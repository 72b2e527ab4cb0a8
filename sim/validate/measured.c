/* Tables of measurements, and the parameters in their words. */
#include "validate/measured.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/table.h"

typedef enum { ID, GROUP, CHIP, WORKLOAD, PARAMETERS, VALUE, UNIT, TIMING, COLUMNS } column;

static const ts_table_column csv_columns[COLUMNS] = {
    [ID] = {"id", .optional = false},
    [CHIP] = {"chip", .optional = false},
    [WORKLOAD] = {"workload description", .optional = false},
    [PARAMETERS] = {"parameters", .optional = false},
    [VALUE] = {"measured value", .optional = false},
    [UNIT] = {"unit", .optional = false},
    [TIMING] = {"timing", .optional = true},
};
static const ts_table_column group_columns[COLUMNS] = {
    [ID] = {"id", .optional = false},
    [GROUP] = {"group", .optional = false},
    [PARAMETERS] = {"workload", .optional = false},
    [VALUE] = {"measured_us", .optional = false},
};

static bool read_row(ts_error *err, const ts_table *t, ts_measured_row *row) {
    *row = (ts_measured_row){.id = ts_table_cell(t, ID),
                             .group = ts_table_cell(t, GROUP),
                             .chip = ts_table_cell(t, CHIP),
                             .workload = ts_table_cell(t, WORKLOAD),
                             .parameters = ts_table_cell(t, PARAMETERS),
                             .unit = ts_table_has(t, UNIT) ? ts_table_cell(t, UNIT) : "us",
                             .timing = ts_table_cell(t, TIMING)};
    if (*row->id == '\0')
        return ts_error_at(err, TS_ERROR_INPUT, t->source, ts_table_offset(t, ID), "a row without id");
    return ts_table_positive(err, t, VALUE, &row->value);
}

bool ts_measured_add(ts_error *err, ts_arena *arena, const ts_source *source, ts_measured *table) {
    ts_table t;
    if (!ts_table_open(err, arena, source, &t) ||
        !ts_table_columns(err, &t, t.separator == ',' ? csv_columns : group_columns, COLUMNS))
        return false;
    int before = table->count;
    while (ts_table_next(err, &t)) {
        table->rows = ts_arena_extend(arena, table->rows, (size_t)table->count, sizeof *table->rows);
        if (!read_row(err, &t, &table->rows[table->count++])) return false;
    }
    if (t.failed) return false;
    return table->count > before || ts_error_at(err, TS_ERROR_INPUT, source, 0, "a table without rows");
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

/* To the first number of N=K=5, mul_(2, 3), f32[2,3], ((2, 3), ...); all but the first are lists. */
static const char *skip_names(const char *at, bool *is_list) {
    for (;;) {
        const char *end = skip_word(at);
        if (isdigit((unsigned char)*at) || *at == '-') return at;
        if (end > at && *end == '=') {
            at = end + 1;
        } else if (*end == '(' || *end == '[') {
            at = skip_space(end + 1);
            *is_list = true;
        } else {
            return at;
        }
    }
}

enum { MAX_NAMES = 4 }; /* key=(other,) where other=(third,) ... */

static int read_numbers(const char *text, const char *at, int most, double *numbers, int names) {
    char key[32];
    int count = 0;
    bool is_list = false;
    at = skip_names(at, &is_list);
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
        if (most == 1 && !is_list) end = read_thousands(end, &numbers[count]);
        count++;
        at = skip_space(end);
        if (*at != ',') break;
        at = skip_space(at + 1);
    }
    bool is_cut = is_list && count < most && *at != ')' && *at != ']';
    return is_cut ? 0 : count;
}

int ts_measured_numbers(const char *parameters, const char *key, int most, double *numbers) {
    const char *at = find_key(parameters, key, strlen(key));
    return at == NULL ? 0 : read_numbers(parameters, at, most, numbers, MAX_NAMES);
}
