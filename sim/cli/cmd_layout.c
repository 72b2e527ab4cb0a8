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

/* A translation keeps the map, not padding behind the last element. */
static void warn_of_storage(const ts_layout_question *q) {
    ts_text text;
    ts_text_init(&text, q->arena);
    ts_report_layout_difference(q->shape, q->translated, "note: ", &text);
    fputs(text.bytes, stderr);
}

static bool save_svg(ts_error *err, ts_arena *arena, const ts_shape *shape, const char *path) {
    ts_text svg;
    if (path == NULL) return true;
    if (ts_shape_layout(err, shape, "drawing") == NULL) return false;
    ts_text_init(&svg, arena);
    ts_report_svg(arena, 1, &shape, &svg);
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
    ts_layout_question q = {.arena = line->arena,
                            .shape = shape,
                            .at = cli_value(line, "at"),
                            .inverse = cli_value(line, "inverse"),
                            .as = cli_value(line, "as"),
                            .equal = cli_value(line, "equal")};
    if (!ts_layout_question_answer(&err, &q) || !save_svg(&err, line->arena, q.shape, cli_value(line, "svg")))
        return cli_fail(&err);
    ts_text out;
    ts_text_init(&out, line->arena);
    if (cli_value(line, "json") != NULL)
        ts_report_layout_answer_json(&q, &out);
    else if (cli_reports(line))
        ts_report_layout_answer(&q, &out);
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
