/* tilesim layout: explains a shape, draws it, and maps single elements to memory and back. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "base/number.h"
#include "layout/notation/tpu_rule.h"
#include "report/algebra.h"
#include "report/layout.h"
#include "report/reshard.h"

static const cli_option options[] = {
    {"eval", 0, "EXPR", "the result of functions over layouts; with --at .. --svg as if it were SHAPE"},
    {"at", 0, "I,J,..",
     "where the element with this logical index is, step by step; of two shapes, where it lies in both"},
    {"inverse", 0, "OFFSET", "which element is at this offset (or axis=value,..)"},
    {"as", 0, "NOTATION", "the same map in another notation: xla, axe, tvm or cute"},
    {"equal", 0, "SHAPE", "is that the same map? If not, an index where they differ, and exit code 3"},
    {"svg", 0, "FILE", "also draw it, or both, as an SVG image"},
    {"html", 0, "FILE", "also all of it as one page"},
    {"ansi", 0, NULL, "instead: the grid in the colours of a terminal"},
    {"machine", 'm', "NAME|FILE",
     "of two shapes: which prices the move; " TS_MACHINE_DEFAULT " when not given. Of TYPE[DIMS] alone: "
     "with the layout that the machine's compiler gives it"},
    {"exact", 0, NULL, "of two shapes: simulate every access of the move: slower"},
    CLI_SET_OPTION,
    CLI_MESH_OPTIONS,
    CLI_MEMORY_OPTION,
    {"json", 0, NULL, "the same as JSON"},
};

static const cli_command usage = {
    .name = "layout",
    .operands = "[SHAPE [SHAPE]]",
    .operands_least = 0,
    .operands_most = 2,
    .about =
        "Explains a shape: sizes, padding by dim, digits, and a picture when it is small. Of two shapes: "
        "both "
        "side\nby side, the plan that moves one to the other, and its price.\n"
        "SHAPE is TYPE[DIMS] and a layout in any notation: XLA's {MINOR_TO_MAJOR:T(TILE)(TILE)..}, Axe's\n"
        "S[..] + R[..] + .., TVM's lambda i, j: [..], CuTe's (4,8):(8,1), a name such as NCHW4c, or "
        "Mosaic's\n"
        "vpad<\"32,{0,0},(8,128)\">; or a memref<..> of Mosaic's.\n"
        "EXPR is function calls over layouts, tuples and integers, in place of SHAPE; `tilesim show "
        "algebra`\n"
        "lists the functions of CuTe, Axe and TVM's index maps. Behind TYPE[DIMS] it is a shape.\n"
        "With --mesh SHAPE is sharded, as for tilesim reshard: which device holds what.\n",
    .example = "    tilesim layout 'f32[3,5]{1,0:T(2,2)}' --at 2,3\n"
               "    tilesim layout 'f32[1000,1]{1,0:T(8,128)}' 'f32[1000,1]{0,1:T(1,128)}' --svg both.svg\n"
               "    tilesim layout 'f32[1536,1]' -m tpu-v6e\n"
               "    tilesim layout \"f32[8,16] P('x', 'y')\" --mesh 2x4\n"
               "    tilesim layout --eval 'composition((6,2):(8,2), (4,3):(3,1))'\n",
    CLI_OPTIONS(options),
};

/* A translation keeps the map, not padding behind the last element. */
static void warn_of_storage(const ts_layout_question *q) {
    ts_text text = ts_text_begin(q->arena);
    ts_report_layout_difference(q->shape, q->translated, "note: ", &text);
    fputs(text.bytes, stderr);
}

static bool save_svg(ts_error *err, const cli_line *line, int count, const ts_shape *const *shapes) {
    ts_text *svg = cli_text_for(line, "svg");
    for (int i = 0; svg && i < count; i++)
        if (ts_shape_layout(err, shapes[i], "drawing") == NULL) return false;
    if (svg) ts_report_svg(line->arena, count, shapes, svg);
    return cli_save(err, line, "svg", svg);
}

static bool save_page(ts_error *err, const cli_line *line, const ts_shape *shape) {
    ts_text *page = cli_text_for(line, "html");
    if (page && ts_shape_layout(err, shape, "drawing") == NULL) return false;
    if (page) ts_report_shape_html(line->arena, shape, page);
    return cli_save(err, line, "html", page);
}

static int print_ansi(const cli_line *line, int count, const ts_shape *const *shapes) {
    ts_error err = {0};
    ts_text out = ts_text_begin(line->arena);
    for (int i = 0; i < count; i++) {
        if (ts_shape_layout(&err, shapes[i], "drawing") == NULL) return cli_fail(&err);
        if (i > 0) ts_text_add_char(&out, '\n');
        ts_report_ansi(line->arena, shapes[i], &out);
    }
    return cli_print(&out);
}

/* ---- Expressions ---- */

/* What an expression gives, where it is no shape and nothing is asked about it. */
static int print_value(cli_line *line, const ts_value *value) {
    ts_json json;
    ts_text out = ts_text_begin(line->arena);
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
           cli_value(line, "svg") != NULL || cli_value(line, "ansi") != NULL ||
           cli_value(line, "html") != NULL;
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
    if (!ts_layout_question_answer(&err, &q) || !save_svg(&err, line, 1, &q.shape) ||
        !save_page(&err, line, q.shape))
        return cli_fail(&err);
    if (cli_value(line, "ansi") != NULL) return print_ansi(line, 1, &q.shape);
    ts_text out = ts_text_begin(line->arena);
    if (cli_reports(line))
        (cli_value(line, "json") ? ts_report_layout_answer_json : ts_report_layout_answer)(&q, &out);
    int written = cli_print(&out);
    if (q.translated != NULL) warn_of_storage(&q);
    return written != 0 || q.compared.equal ? written : 3;
}

/* A layout without its array is an expression, too. */
static void point_to_eval(const cli_line *line, const ts_source *source, ts_error *err) {
    ts_value value;
    size_t length = strlen(err->message);
    if (ts_algebra_evaluate(NULL, line->arena, source, &value) && value.kind != TS_VALUE_WORD)
        snprintf(err->message + length, sizeof err->message - length, "; --eval takes it alone");
}

/* As it is written; of TYPE[DIMS] alone and a machine, with the layout that the machine's compiler gives
 * it. */
static const ts_shape *read_shape(ts_error *err, const cli_line *line, const ts_source *source) {
    const ts_shape *shape = ts_shape_parse(err, line->arena, source);
    if (!shape) point_to_eval(line, source, err);
    if (!shape || !cli_value(line, "machine")) return shape;
    const ts_machine *machine = cli_machine(err, line);
    if (!machine) return NULL;
    if (!shape->xla || shape->xla->layout_written || !shape->layout) return shape;
    return ts_tpu_default(err, line->arena, shape->dtype, shape->xla, machine->chip.generation);
}

/* ---- Two shapes ---- */

static bool check_alone(ts_error *err, const cli_line *line) {
    static const char *const alone[] = {"inverse", "as", "equal", NULL};
    return cli_refuse(err, line, alone, "is of one SHAPE, found two");
}

static bool read_pair(ts_error *err, const cli_line *line, ts_layout_pair *pair) {
    for (int i = 0; i < 2; i++) {
        ts_source source = {i == 0 ? "first shape" : "second shape", line->operands[i],
                            strlen(line->operands[i])};
        pair->shapes[i] = ts_shape_parse(err, line->arena, &source);
        if (pair->shapes[i] == NULL || ts_shape_layout(err, pair->shapes[i], source.name) == NULL)
            return false;
    }
    const ts_layout *a = pair->shapes[0]->layout, *b = pair->shapes[1]->layout;
    if (!ts_integers_equal(a->dims, a->rank, b->dims, b->rank))
        return ts_error_set(err, TS_ERROR_INPUT, "the shapes have different dimensions, expected the same");
    return true;
}

/* The element of --at, or the last one of the array. */
static bool find_element(ts_error *err, const cli_line *line, ts_layout_pair *pair) {
    const ts_layout *layout = pair->shapes[0]->layout;
    ts_layout_question *q = TS_NEW(line->arena, ts_layout_question);
    *q = (ts_layout_question){.arena = line->arena, .shape = pair->shapes[0], .at = cli_value(line, "at")};
    if (!ts_layout_question_answer(err, q)) return false;
    for (int i = 0; q->at == NULL && i < layout->rank; i++) q->index[i] = layout->dims[i] - 1;
    pair->index = ts_layout_element_count(layout) > 0 ? q->index : NULL;
    return true;
}

/* What cannot be priced, such as a layout over lanes, is explained none the less. */
static bool price_pair(ts_error *err, const cli_line *line, ts_layout_pair *pair) {
    ts_error refused = {0};
    ts_transfer_request request = {.machine = cli_machine(err, line),
                                   .prices = ts_prices_new(line->arena),
                                   .exact = cli_value(line, "exact") != NULL,
                                   .src = {.shape = pair->shapes[0], .at = TS_TRANSFER_ANYWHERE},
                                   .dst = {.shape = pair->shapes[1], .at = TS_TRANSFER_ANYWHERE}};
    ts_transfer_study *study = TS_NEW(line->arena, ts_transfer_study);
    if (request.machine == NULL) return false;
    if (ts_transfer_price(&refused, line->arena, &request, study)) {
        pair->study = study;
        return true;
    }
    pair->why = ts_arena_copy_text(line->arena, refused.message, strlen(refused.message));
    return !ts_error_keep_system(err, &refused);
}

static bool save_pair_page(ts_error *err, const cli_line *line, const ts_layout_pair *pair) {
    ts_text *page = cli_text_for(line, "html");
    if (page) ts_report_layout_pair_html(line->arena, pair, page);
    return cli_save(err, line, "html", page);
}

static int explain_pair(ts_error *err, const cli_line *line) {
    ts_layout_pair pair = {0};
    if (!check_alone(err, line)) return cli_usage_error(line, err);
    if (!read_pair(err, line, &pair) || !find_element(err, line, &pair) || !price_pair(err, line, &pair) ||
        !save_svg(err, line, 2, pair.shapes) || !save_pair_page(err, line, &pair))
        return cli_fail(err);
    if (cli_value(line, "ansi") != NULL) return print_ansi(line, 2, pair.shapes);
    ts_text out = ts_text_begin(line->arena);
    if (cli_reports(line))
        (cli_value(line, "json") ? ts_report_layout_pair_json : ts_report_layout_pair)(line->arena, &pair,
                                                                                       &out);
    return cli_print(&out);
}

/* ---- --mesh: which device holds what ---- */

/* An option of layouts within one memory would be passed over in silence. */
static bool check_sharding(ts_error *err, const cli_line *line) {
    static const char *const others[] = {"eval", "at", "inverse", "as", "equal", "ansi", "exact", NULL};
    return cli_refuse(err, line, others, "is not of a sharding (--mesh)") &&
           (line->operand_count == 1 ||
            ts_error_set(err, TS_ERROR_USAGE, "expected one sharded SHAPE with --mesh"));
}

static bool save_sharding(ts_error *err, const cli_line *line, const ts_mesh *mesh,
                          const ts_sharding *sharding) {
    ts_text *svg = cli_text_for(line, "svg"), *html = cli_text_for(line, "html");
    if (svg) ts_report_sharding_svg(mesh, sharding, svg);
    if (html) ts_report_sharding_html(mesh, sharding, html);
    return cli_save(err, line, "svg", svg) && cli_save(err, line, "html", html);
}

static int print_sharding(cli_line *line) {
    ts_error err = {0};
    ts_mesh mesh;
    ts_sharding *sharding = TS_NEW(line->arena, ts_sharding);
    if (!check_sharding(&err, line)) return cli_usage_error(line, &err);
    const ts_machine *machine = cli_mesh_machine(&err, line);
    ts_source source = {"shape", line->operands[0], strlen(line->operands[0])};
    if (!machine || !cli_mesh(&err, line, machine, &mesh) ||
        !ts_sharding_parse(&err, line->arena, &mesh, &source, sharding) ||
        !save_sharding(&err, line, &mesh, sharding))
        return cli_fail(&err);
    ts_text out = ts_text_begin(line->arena);
    if (cli_reports(line))
        (cli_value(line, "json") ? ts_report_sharding_json : ts_report_sharding)(&mesh, sharding, &out);
    return cli_print(&out);
}

/* What would be passed over in silence. */
static bool check_options(ts_error *err, const cli_line *line) {
    static const char *const questions[] = {"at", "inverse", "as", "equal", NULL};
    bool is_pair = line->operand_count == 2, has_machine = cli_value(line, "machine") != NULL;
    if (cli_value(line, "ansi") && !cli_refuse(err, line, questions, "does not go with --ansi")) return false;
    if (has_machine && cli_value(line, "eval"))
        return ts_error_set(err, TS_ERROR_USAGE, "--machine does not go with --eval");
    if (!is_pair && cli_value(line, "exact"))
        return ts_error_set(err, TS_ERROR_USAGE, "--exact is of two SHAPEs");
    if (!is_pair && !has_machine && cli_value(line, "set"))
        return ts_error_set(err, TS_ERROR_USAGE, "--set changes one machine, expected -m too");
    return cli_mesh_options(err, line);
}

int cmd_layout(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    if (!cli_begin(&line, &usage, argc, argv)) return line.exit_code;
    if (cli_value(&line, "mesh")) return cli_end(&line, print_sharding(&line));
    if (!check_options(&err, &line)) return cli_end(&line, cli_usage_error(&line, &err));
    const char *eval = cli_value(&line, "eval");
    if (line.operand_count == 2 && eval == NULL) return cli_end(&line, explain_pair(&err, &line));
    if ((line.operand_count > 0) == (eval != NULL)) {
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
    shape = eval ? ts_value_array(&err, line.arena, &value) : read_shape(&err, &line, &source);
    return cli_end(&line, shape ? explain(&line, shape) : cli_fail(&err));
}
