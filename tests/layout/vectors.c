/* vectors FILE.tsv...: evaluates tables of layout vectors. Prints each mismatch, then "N passed, N failed";
 * exits 1 if any failed. The header of a file says which kind of table it is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "layout/notation/tpu_rule.h"
#include "layout/shape.h"
#include "tests/support/algebra.h"

enum { MAX_COLUMNS = 16, MAX_FILE_BYTES = 1 << 28 };

typedef struct {
    const char *cells[MAX_COLUMNS];
    int count;
} row;

typedef struct {
    ts_arena *arena;
    const row *header, *row;
    ts_text wrong; /* what is not as expected; empty when all is */
} check;

/* The cell in the column of that name; NULL when there is none, or when it is "-". */
static const char *cell(const check *c, const char *column) {
    for (int i = 0; i < c->header->count && i < c->row->count; i++)
        if (strcmp(c->header->cells[i], column) == 0)
            return strcmp(c->row->cells[i], "-") == 0 ? NULL : c->row->cells[i];
    return NULL;
}

static void compare(check *c, const char *column, int64_t found) {
    const char *expected = cell(c, column);
    if (expected == NULL || strtoll(expected, NULL, 10) == found) return;
    ts_text_add(&c->wrong, "%s%s: found %" PRId64 ", expected %s", c->wrong.length > 0 ? "; " : "", column,
                found, expected);
}

static const ts_shape *parse(check *c, const char *text, ts_error *err) {
    ts_source source = {"shape", text, strlen(text)};
    return ts_shape_parse(err, c->arena, &source);
}

/* ---- XLA's shapes ---- */

static bool read_index(const ts_layout *layout, const char *text, int64_t *index) {
    char *end = NULL;
    for (int i = 0; i < layout->rank; i++, text = end + 1) {
        index[i] = strtoll(text, &end, 10);
        if (end == text || *end != (i + 1 < layout->rank ? ',' : '\0')) return false;
        if (index[i] < 0 || index[i] >= layout->dims[i]) return false;
    }
    return true;
}

/* The offset of the index, and that the index is the only one there. */
static void check_offset(check *c, const ts_layout *layout, const char *text) {
    int64_t index[TS_LAYOUT_MAX_DIMS], offset;
    ts_index_list found;
    if (layout->rank > 0 && !read_index(layout, text, index)) {
        ts_text_add(&c->wrong, "logical_index: '%s' is not in the array", text);
        return;
    }
    ts_layout_forward(layout, index, &offset);
    compare(c, "expected_element_offset", offset);
    if (!ts_layout_backward(NULL, c->arena, layout, &offset, 2, &found) || found.count != 1 ||
        memcmp(found.indices, index, (size_t)layout->rank * sizeof *index) != 0)
        ts_text_add(&c->wrong, "; backward(%" PRId64 ") is not the index", offset);
}

/* The canonical text must give the same text again. */
static void check_canonical(check *c, const ts_shape *shape) {
    ts_text first, again;
    first = ts_text_begin(c->arena);
    again = ts_text_begin(c->arena);
    ts_shape_print(shape, &first);
    const ts_shape *copy = parse(c, first.bytes, NULL);
    if (copy != NULL) ts_shape_print(copy, &again);
    if (strcmp(first.bytes, again.bytes) != 0)
        ts_text_add(&c->wrong, "; canonical '%s' parses to '%s'", first.bytes, again.bytes);
}

static void check_shape(check *c) {
    ts_error err = {0};
    const char *text = cell(c, "shape_string"), *index = cell(c, "logical_index");
    const ts_shape *shape = parse(c, text != NULL ? text : "", &err);
    if (shape == NULL) {
        ts_text_add(&c->wrong, "refused: %s", err.message);
        return;
    }
    compare(c, "expected_total_elements_with_padding", shape->padded_elements);
    compare(c, "expected_bytes", shape->bytes);
    compare(c, "expected_unpadded_bytes", shape->unpadded_bytes);
    if (index != NULL && shape->layout != NULL)
        check_offset(c, shape->layout, index);
    else if (index != NULL)
        ts_text_add(&c->wrong, "the shape has no layout");
    check_canonical(c, shape);
}

static void check_refused(check *c) {
    ts_error err = {0};
    const ts_shape *shape = parse(c, c->row->cells[0], &err);
    if (shape != NULL)
        ts_text_add(&c->wrong, "accepted, expected an error");
    else if (err.line == 0)
        ts_text_add(&c->wrong, "the error has no place: %s", err.message);
}

/* ---- What the TPU compiler gives arguments ---- */

static bool is_of(const char *chips, const char *chip) {
    return strcmp(chips, "all") == 0 || strstr(chips, chip) != NULL;
}

static void check_default(check *c) {
    static const struct {
        const char *name;
        int generation;
    } chips[] = {{"v4", 4}, {"v5e", 5}, {"v5p", 5}, {"v6e", 6}, {"v7x", 7}};
    const char *layout = cell(c, "layout"), *dims = cell(c, "dims");
    ts_error err = {0};
    ts_text plain, expected, found;
    plain = ts_text_begin(c->arena);
    expected = ts_text_begin(c->arena);
    ts_text_add(&plain, "%s[%s]", cell(c, "type"), dims);
    ts_text_add(&expected, "%s{%s}", plain.bytes, layout);
    const ts_shape *shape = parse(c, plain.bytes, &err), *given = NULL;
    for (size_t i = 0; shape != NULL && i < sizeof chips / sizeof chips[0]; i++) {
        if (!is_of(cell(c, "chips"), chips[i].name)) continue;
        given = ts_tpu_default(&err, c->arena, shape->dtype, shape->xla, chips[i].generation);
        if (given == NULL) break;
        found = ts_text_begin(c->arena);
        ts_shape_print(given, &found);
        if (strcmp(found.bytes, expected.bytes) != 0)
            ts_text_add(&c->wrong, "%s: found %s, expected %s; ", chips[i].name, found.bytes, expected.bytes);
        compare(c, "bytes", given->bytes);
    }
    if (given == NULL) ts_text_add(&c->wrong, "%s: %s", plain.bytes, err.message);
}

/* ---- Notations with operations: a row is an operation by name on texts, and what it prints, or "error" ----
 */

typedef void expression(ts_text *out, const char *op, const char *a, const char *b);

static void check_operation(check *c, expression *write, const char *column_a, const char *column_b) {
    ts_error err = {0};
    ts_text text, found;
    text = ts_text_begin(c->arena);
    found = ts_text_begin(c->arena);
    const char *op = cell(c, "op"), *a = cell(c, column_a), *b = cell(c, column_b),
               *expect = cell(c, "expect");
    write(&text, op != NULL ? op : "", a != NULL ? a : "-", b != NULL ? b : "");
    bool ok = algebra_run(&err, c->arena, &text, &found);
    if (expect == NULL) expect = "";
    if (strcmp(ok ? found.bytes : "error", expect) == 0) return;
    ts_text_add(&c->wrong, "%s: found %s%s, expected %s", op != NULL ? op : "",
                ok ? found.bytes : "an error: ", ok ? "" : err.message, expect);
}

static void check_cute(check *c) { check_operation(c, algebra_cute_text, "a", "b"); }
static void check_axe(check *c) { check_operation(c, algebra_keys_text, "layout", "args"); }
static void check_index_map(check *c) { check_operation(c, algebra_keys_text, "map", "args"); }

/* ---- Files ---- */

/* By how the first line of the file begins. The names of the columns are in the first line that has tabs. */
static const struct {
    const char *first_line;
    void (*run)(check *c);
} formats[] = {
    {"shape_string\t", check_shape}, {"text\treason", check_refused},
    {"# CuTe", check_cute},          {"# Axe", check_axe},
    {"# IndexMap", check_index_map}, {"chips\ttype\t", check_default},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* Cuts the line (ended by a newline or the end) at its tabs; returns what follows it. */
static char *cut_line(char *line, row *out) {
    char *end = strchr(line, '\n'), *next = end != NULL ? end + 1 : line + strlen(line);
    if (end != NULL) *end = '\0';
    line[strcspn(line, "\r")] = '\0';
    *out = (row){0};
    for (char *at = line; at != NULL && out->count < MAX_COLUMNS;) {
        out->cells[out->count++] = at;
        at = strchr(at, '\t');
        if (at != NULL) *at++ = '\0';
    }
    return next;
}

static bool check_row(const char *path, int number, const row *header, const row *cells,
                      void (*run)(check *c)) {
    check c = {.arena = ts_arena_new(), .header = header, .row = cells};
    c.wrong = ts_text_begin(c.arena);
    run(&c);
    bool passed = c.wrong.length == 0;
    if (!passed) printf("%s:%d: %s: %s\n", path, number, cells->cells[0], c.wrong.bytes);
    ts_arena_free(c.arena);
    return passed;
}

/* Counts the rows that passed and failed; a file that cannot be read, or holds no row, is a failure. */
static void run_file(const char *path, ts_arena *arena, int *passed, int *failed) {
    ts_error err = {0};
    char *text = NULL, message[2048];
    size_t length;
    int format = 0, before = *passed + *failed;
    if (!ts_file_read(&err, arena, path, MAX_FILE_BYTES, &text, &length)) {
        ts_error_format(&err, message, sizeof message);
        printf("%s: %s", path, message);
        ++*failed;
        return;
    }
    while (format < FORMATS &&
           strncmp(text, formats[format].first_line, strlen(formats[format].first_line)) != 0)
        format++;
    row header = {0}, cells;
    char *next = text;
    for (int number = 1; *next != '\0' && format < FORMATS; number++) {
        bool comment = *next == '#' || *next == '\n';
        next = cut_line(next, &cells);
        if (header.count < 2)
            header = cells;
        else if (!comment)
            ++*(check_row(path, number, &header, &cells, formats[format].run) ? passed : failed);
    }
    if (*passed + *failed > before) return;
    printf("%s: %s\n", path, format < FORMATS ? "no rows" : "the header is of no known kind of table");
    ++*failed;
}

int main(int argc, char **argv) {
    int passed = 0, failed = 0;
    if (argc < 2) return fputs("usage: vectors FILE.tsv...\n", stderr), 2;
    ts_arena *arena = ts_arena_new();
    for (int i = 1; i < argc; i++) run_file(argv[i], arena, &passed, &failed);
    ts_arena_free(arena);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
