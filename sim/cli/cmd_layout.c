/* tilesim layout: explains a shape, draws it, and maps single elements to memory and back. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "base/file.h"
#include "report/algebra.h"
#include "report/layout.h"

static const cli_option options[] = {
    {"eval", 0, "EXPR", "the result of functions over layouts; with --at .. --svg as if it were SHAPE"},
    {"at", 0, "I,J,..", "where the element with this logical index is, step by step"},
    {"inverse", 0, "OFFSET", "which element is at this offset (or axis=value,..)"},
    {"as", 0, "NOTATION", "the same map in another notation: xla, axe, tvm or cute"},
    {"equal", 0, "SHAPE", "is that the same map? If not, an index where they differ, and exit code 3"},
    {"svg", 0, "FILE", "also draw it as an SVG image"},
    CLI_MEMORY_OPTION,
    {"json", 0, NULL, "the same as JSON"},
};

static const cli_command usage = {
    .name = "layout",
    .operands = "[SHAPE]",
    .operands_least = 0,
    .operands_most = 1,
    .about =
        "Explains a shape: sizes, padding by dim, digits, and a picture when it is small.\n"
        "SHAPE is TYPE[DIMS] and a layout in any notation: XLA's {MINOR_TO_MAJOR:T(TILE)(TILE)..}, Axe's\n"
        "S[..] + R[..] + .., TVM's lambda i, j: [..], CuTe's (4,8):(8,1), or a name such as NCHW4c.\n"
        "EXPR is function calls over layouts, tuples and integers, in place of SHAPE; `tilesim show "
        "algebra`\n"
        "lists the functions of CuTe, Axe and TVM's index maps. Behind TYPE[DIMS] it is a shape.\n",
    .example = "    tilesim layout 'f32[3,5]{1,0:T(2,2)}' --at 2,3\n"
               "    tilesim layout --eval 'composition((6,2):(8,2), (4,3):(3,1))'\n",
    .option_count = sizeof options / sizeof options[0],
    .options = options,
};

enum { BACKWARD_LIMIT = 1000, EQUAL_LIMIT = 1 << 26 };

/* What the command line asks about. */
typedef struct {
    ts_arena *arena;
    const ts_shape *shape;
    const char *at, *inverse, *as, *equal; /* as given; NULL: not asked */
    int64_t index[TS_LAYOUT_MAX_DIMS], point[TS_LAYOUT_MAX_AXES];
    ts_index_list found;
    const ts_shape *translated, *other;
    ts_layout_comparison compared; /* equal, where that was not asked */
} question;

/* "2,3", optionally in parentheses; every entry inside its dim. */
static bool read_index(ts_error *err, const ts_layout *layout, const char *text, int64_t *index) {
    ts_source source = {"--at", text, strlen(text)};
    ts_cursor cursor = {&source, 0, 0};
    bool wrapped = ts_cursor_take(&cursor, "(");
    for (int i = 0; i < layout->rank; i++) {
        if (i > 0 && !ts_cursor_take(&cursor, ","))
            return ts_cursor_unexpected(err, &cursor, "',' and another index: one for each dimension");
        if (!ts_cursor_integer(err, &cursor, "an index", &index[i])) return false;
        if (index[i] < 0 || index[i] >= layout->dims[i])
            return ts_error_at(err, TS_ERROR_INPUT, &source, cursor.token,
                               "index %" PRId64 " is outside dimension %d of %" PRId64, index[i], i,
                               layout->dims[i]);
    }
    if (wrapped && !ts_cursor_expect(err, &cursor, ")")) return false;
    return ts_cursor_at_end(&cursor) ||
           ts_cursor_unexpected(err, &cursor, "the end: one index for each dimension");
}

/* "axis=value", for every axis of the layout. */
static bool read_coordinate(ts_error *err, const ts_layout *layout, ts_cursor *cursor, bool *given,
                            int64_t *point) {
    const char *name;
    size_t length;
    if (!ts_cursor_name(cursor, &name, &length)) return ts_cursor_unexpected(err, cursor, "an axis");
    int axis = ts_layout_find_axis(layout, name, length);
    if (axis < 0)
        return ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->token,
                           "the layout has no axis '%.*s'", (int)length, name);
    if (given[axis])
        return ts_error_at(err, TS_ERROR_INPUT, cursor->source, cursor->token, "axis '%.*s' is given twice",
                           (int)length, name);
    given[axis] = true;
    return ts_cursor_expect(err, cursor, "=") && ts_cursor_integer(err, cursor, "a coordinate", &point[axis]);
}

/* An integer where there is one axis, or coordinates by name; an axis that is not named is at its offset. */
static bool read_point(ts_error *err, const ts_layout *layout, const char *text, int64_t *point) {
    ts_source source = {"--inverse", text, strlen(text)};
    ts_cursor cursor = {&source, 0, 0};
    bool given[TS_LAYOUT_MAX_AXES] = {false};
    int first = ts_cursor_peek(&cursor);
    for (int i = 0; i < layout->axis_count; i++) point[i] = layout->axes[i].offset;
    if (layout->axis_count == 1 && (first == '-' || (first >= '0' && first <= '9'))) {
        if (!ts_cursor_integer(err, &cursor, "an offset", &point[0])) return false;
    } else {
        do {
            if (!read_coordinate(err, layout, &cursor, given, point)) return false;
        } while (ts_cursor_take(&cursor, ","));
    }
    return ts_cursor_at_end(&cursor) || ts_cursor_unexpected(err, &cursor, "the end of the coordinates");
}

static bool inside(ts_error *err, const ts_layout *layout, const char *text, const int64_t *point) {
    for (int i = 0; i < layout->axis_count; i++) {
        int64_t low, high;
        ts_layout_axis_range(layout, i, &low, &high);
        if (ts_layout_padded_count(layout) == 0)
            return ts_error_set(err, TS_ERROR_INPUT, "--inverse %s: the array has no elements", text);
        if (point[i] < low || point[i] > high)
            return ts_error_set(err, TS_ERROR_INPUT, "--inverse %s: %s goes from %" PRId64 " to %" PRId64,
                                text, layout->axes[i].name, low, high);
    }
    return true;
}

static bool compare(ts_error *err, question *q) {
    ts_source source = {"--equal", q->equal, strlen(q->equal)};
    q->other = ts_shape_parse(err, q->arena, &source);
    const ts_layout *a = q->shape->layout;
    const ts_layout *b = q->other != NULL ? ts_shape_layout(err, q->other, "the other shape") : NULL;
    if (b == NULL) return false;
    if (a->rank != b->rank || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) != 0)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "--equal: the shapes have different dimensions, expected the same");
    return ts_layout_compare(err, q->arena, a, b, EQUAL_LIMIT, &q->compared);
}

static bool answer(ts_error *err, question *q) {
    if (q->at == NULL && q->inverse == NULL && q->as == NULL && q->equal == NULL) return true;
    const ts_layout *layout = ts_shape_layout(err, q->shape, "the shape");
    if (layout == NULL || (q->at != NULL && !read_index(err, layout, q->at, q->index))) return false;
    if (q->inverse != NULL &&
        (!read_point(err, layout, q->inverse, q->point) || !inside(err, layout, q->inverse, q->point) ||
         !ts_layout_backward(err, q->arena, layout, q->point, BACKWARD_LIMIT, &q->found)))
        return false;
    if (q->as != NULL && (q->translated = ts_shape_translate(err, q->arena, q->shape, q->as)) == NULL)
        return false;
    return q->equal == NULL || compare(err, q);
}

static void print_index(int rank, const int64_t *index, ts_text *out) {
    ts_text_add_char(out, '(');
    for (int i = 0; i < rank; i++) ts_text_add(out, "%s%" PRId64, i > 0 ? "," : "", index[i]);
    ts_text_add_char(out, ')');
}

static void print_found(const question *q, ts_text *out) {
    int rank = q->shape->layout->rank;
    ts_text_add(out, "%s at %s holds ", q->at != NULL ? "\nThe same shape" : "", q->inverse);
    if (q->found.count == 0) ts_text_add(out, "padding: no element is there");
    for (int64_t i = 0; i < q->found.count; i++) {
        ts_text_add(out, "%s", i > 0 ? " " : "");
        print_index(rank, q->found.indices + i * rank, out);
    }
    ts_text_add_char(out, '\n');
}

/* What two shapes of the same map may still differ in. */
static void print_difference(const ts_shape *a, const ts_shape *b, const char *head, ts_text *out) {
    if (a->element_bits != b->element_bits)
        ts_text_add(out, "%selements of %d and of %d bits\n", head, a->element_bits, b->element_bits);
    if (a->memory_space != b->memory_space)
        ts_text_add(out, "%smemory spaces %d and %d\n", head, a->memory_space, b->memory_space);
    if (a->element_bits == b->element_bits && a->storage_bytes != b->storage_bytes)
        ts_text_add(out, "%s%" PRId64 " and %" PRId64 " bytes of storage: padding behind the last element\n",
                    head, a->storage_bytes, b->storage_bytes);
}

static void print_comparison(const question *q, ts_text *out) {
    const ts_shape *sides[2] = {q->shape, q->other};
    ts_text_add(out,
                q->compared.equal ? "equal: every element is at the same place in both\n" : "different at ");
    if (q->compared.equal) print_difference(q->shape, q->other, "but: ", out);
    if (!q->compared.equal) print_index(q->shape->layout->rank, q->compared.witness, out);
    for (int i = 0; i < 2; i++) {
        ts_text_add(out, i == 0 && !q->compared.equal ? "\n  " : "  ");
        ts_shape_print(sides[i], out);
        ts_text_add_char(out, '\n');
        if (!q->compared.equal) ts_report_point(sides[i]->layout, q->compared.witness, out);
    }
}

static void print_text(const question *q, ts_text *out) {
    if (q->translated != NULL) {
        ts_shape_print(q->translated, out);
        ts_text_add_char(out, '\n');
    }
    if (q->equal != NULL) print_comparison(q, out);
    if (q->translated != NULL || q->equal != NULL) return;
    if (q->at == NULL && q->inverse == NULL) {
        ts_report_shape(q->arena, q->shape, out);
        return;
    }
    ts_shape_print(q->shape, out);
    if (q->at != NULL) {
        ts_text_add(out, " at ");
        print_index(q->shape->layout->rank, q->index, out);
        ts_text_add(out, "\n\n");
        ts_report_offset(q->shape, q->index, out);
    }
    if (q->inverse != NULL) print_found(q, out);
}

/* "offset" is of a layout with one axis; "points" has every axis and every replica. */
static void print_place_json(const question *q, ts_json *json) {
    const ts_layout *layout = q->shape->layout;
    int64_t point[TS_LAYOUT_MAX_AXES];
    if (q->at == NULL) {
        ts_json_null(json, "offset");
        return;
    }
    ts_json_ints(json, "index", layout->rank, q->index);
    ts_layout_forward(layout, q->index, point);
    if (layout->axis_count == 1)
        ts_json_int(json, "offset", point[0]);
    else
        ts_json_null(json, "offset");
    ts_report_point_json(layout, q->index, json);
}

static void print_json(const question *q, ts_text *out) {
    ts_json json;
    ts_text text;
    ts_json_begin(&json, out, "layout");
    ts_report_shape_json(q->arena, q->shape, &json);
    print_place_json(q, &json);
    int rank = q->shape->layout != NULL ? q->shape->layout->rank : 0;
    if (q->inverse != NULL) {
        ts_json_array(&json, "elements");
        for (int64_t i = 0; i < q->found.count; i++)
            ts_json_ints(&json, NULL, rank, q->found.indices + i * rank);
        ts_json_close(&json);
    }
    if (q->translated != NULL) {
        ts_text_init(&text, q->arena);
        ts_shape_print(q->translated, &text);
        ts_json_text(&json, "as", text.bytes);
        ts_json_int(&json, "as_storage_bytes", q->translated->storage_bytes);
    }
    if (q->equal != NULL) {
        ts_json_bool(&json, "equal", q->compared.equal);
        if (q->compared.equal)
            ts_json_null(&json, "witness");
        else
            ts_json_ints(&json, "witness", rank, q->compared.witness);
    }
    ts_json_end(&json);
}

/* A translation keeps the map, not padding behind the last element. */
static void warn_of_storage(const question *q) {
    ts_text text;
    ts_text_init(&text, q->arena);
    print_difference(q->shape, q->translated, "note: ", &text);
    fputs(text.bytes, stderr);
}

static bool save_svg(ts_error *err, ts_arena *arena, const ts_shape *shape, const char *path) {
    ts_text svg;
    if (path == NULL) return true;
    if (ts_shape_layout(err, shape, "drawing") == NULL) return false;
    ts_text_init(&svg, arena);
    ts_report_svg(arena, shape, &svg);
    return ts_file_save(err, arena, path, svg.bytes, svg.length);
}

/* ---- Expressions ---- */

/* What an expression gives, where it is no shape and nothing is asked about it. */
static int print_value(cli_line *line, const ts_value *value) {
    ts_text out;
    ts_json json;
    ts_text_init(&out, line->arena);
    if (cli_value(line, "json") == NULL) {
        ts_report_value(value, &out);
        return cli_print(&out);
    }
    ts_json_begin(&json, &out, "layout");
    ts_json_text(&json, "expression", cli_value(line, "eval"));
    ts_report_value_json(value, &json);
    ts_json_end(&json);
    return cli_print(&out);
}

static bool asks(const cli_line *line) {
    return cli_value(line, "at") != NULL || cli_value(line, "inverse") != NULL ||
           cli_value(line, "as") != NULL || cli_value(line, "equal") != NULL ||
           cli_value(line, "svg") != NULL;
}

/* ---- Shapes ---- */

static int explain(cli_line *line, const ts_shape *shape) {
    ts_error err = {0};
    question q = {.arena = line->arena,
                  .shape = shape,
                  .at = cli_value(line, "at"),
                  .inverse = cli_value(line, "inverse"),
                  .as = cli_value(line, "as"),
                  .equal = cli_value(line, "equal"),
                  .compared.equal = true};
    if (!answer(&err, &q) || !save_svg(&err, line->arena, q.shape, cli_value(line, "svg")))
        return cli_fail(&err);
    ts_text out;
    ts_text_init(&out, line->arena);
    if (cli_value(line, "json") != NULL)
        print_json(&q, &out);
    else if (cli_reports(line))
        print_text(&q, &out);
    int written = cli_print(&out);
    if (q.translated != NULL) warn_of_storage(&q);
    return written != 0 || q.compared.equal ? written : 3;
}

int cmd_layout(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    if (!cli_begin(&line, &usage, argc, argv)) return line.exit_code;
    const char *eval = cli_value(&line, "eval");
    if ((line.operand_count == 1) == (eval != NULL)) {
        ts_error_set(&err, TS_ERROR_USAGE,
                     eval ? "found SHAPE and --eval, expected one of them"
                          : "expected SHAPE, or --eval and an expression");
        return cli_end(&line, cli_usage_error(&line, &err));
    }
    const char *text = eval ? eval : line.operands[0];
    ts_source source = {eval ? "--eval" : "shape", text, strlen(text)};
    const ts_shape *shape = NULL;
    ts_value value;
    if (eval && !ts_algebra_evaluate(&err, line.arena, &source, &value))
        return cli_end(&line, cli_fail(&err));
    if (eval && value.kind != TS_VALUE_ARRAY && !asks(&line))
        return cli_end(&line, print_value(&line, &value));
    shape = eval ? ts_value_array(&err, line.arena, &value) : ts_shape_parse(&err, line.arena, &source);
    return cli_end(&line, shape ? explain(&line, shape) : cli_fail(&err));
}
