/* tilesim audit: what layouts cost in a compiled module. */
#include <string.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "progress.h"
#include "base/file.h"
#include "report/audit.h"

static const cli_option options[] = {
    CLI_MACHINE_OPTION,
    CLI_SET_OPTION,
    {"untiled", 0, "HOW",
     "what arrays without tiles are: auto, linear or rule: linear, or tiled by the compiler's "
     "rule (docs/layouts.md); auto: linear where more than a header has tiles"},
    CLI_MESH_OPTIONS,
    {"exact", 0, NULL, "price every size and plan by itself, and simulate every access: slower"},
    {"rows", 0, "N", "of each table; 8 when not given"},
    {"all", 0, NULL, "all rows"},
    {"fail-over", 0, "RATIO", "exit code 3 when padded bytes are more than RATIO times the logical ones"},
    CLI_MEMORY_OPTION,
    {"json", 0, NULL, "everything as JSON"},
    {"csv", 0, "FILE", "a row a buffer, a kind of move and a reported allocation"},
    {"svg", 0, "FILE", "a picture: bars of padding and of time"},
    {"html", 0, "FILE", "all of it as one page"},
};

static const cli_command usage = {
    .name = "audit",
    .operands = "MODULE.txt",
    .operands_least = 1,
    .operands_most = 1,
    .operand_files = "r",
    .holds_files = true,
    .about =
        "Reads HLO text as a TPU compiler prints it, whole, cut, or lines of logs and out-of-memory "
        "messages, usage reports and buffer assignments (- is "
        "standard input), or StableHLO, whose arrays get the layouts that the TPU compiler gives by default. "
        "Says what tiles "
        "pad, and what instructions cost that only move data: copies, transposes, reshapes, slices, "
        "transfers between "
        "memories; with --mesh also collectives, by their groups of devices. Files named - are standard "
        "output.\n",
    .example = "    tilesim audit tests/data/hlo/step.txt -m tpu-v6e\n"
               "    tilesim audit - -m tpu-v4 --fail-over 1.5x < tests/data/hlo/step.txt\n",
    CLI_OPTIONS(options),
};

enum { CHUNK = 1 << 20, ROWS = 8 };

/* ---- The command ---- */

static bool feed(ts_error *err, const cli_line *line, ts_audit *audit, cli_progress *bar) {
    ts_file_reader *file = ts_file_open(err, line->arena, line->operands[0]);
    char *bytes = ts_arena_alloc(line->arena, CHUNK, 1);
    size_t length = 1;
    int64_t done = 0;
    int64_t total = 0;
    uint64_t size;
    if (!file) return false;
    if (strcmp(line->operands[0], "-") != 0 && ts_file_size(NULL, line->operands[0], &size))
        total = (int64_t)size;
    bool good = true;
    while (length > 0 && (good = ts_file_read_next(err, file, bytes, CHUNK, &length))) {
        ts_audit_feed(audit, bytes, length);
        cli_progress_draw(bar, done += (int64_t)length, total);
    }
    ts_file_finish(file);
    return good;
}

static bool read_untiled(ts_error *err, const cli_line *line, ts_audit_untiled *untiled) {
    static const char *const words[] = {"auto", "linear", "rule", NULL};
    int number = TS_AUDIT_UNTILED_AUTO;
    bool good = cli_word(err, line, "untiled", words, &number);
    *untiled = (ts_audit_untiled)number;
    return good;
}

static bool save(ts_error *err, const cli_line *line, const ts_audit_result *result,
                 const ts_audit_view *view) {
    ts_text *csv = cli_text_for(line, "csv"), *svg = cli_text_for(line, "svg"),
            *html = cli_text_for(line, "html");
    if (csv) ts_report_audit_csv(result, view, csv);
    if (svg) ts_report_audit_svg(result, view, svg);
    if (html) ts_report_audit_html(result, view, html);
    return cli_save(err, line, "csv", csv) && cli_save(err, line, "svg", svg) &&
           cli_save(err, line, "html", html);
}

static bool audit(ts_error *err, const cli_line *line, ts_audit_request *request, ts_audit_view *view,
                  ts_audit **state, ts_audit_result *result) {
    cli_progress bar = cli_progress_begin("read");
    request->machine = cli_mesh_machine(err, line);
    if (!request->machine || !read_untiled(err, line, &request->untiled) ||
        !cli_rows(err, line, 0, &view->rows))
        return false;
    ts_mesh *mesh = cli_value(line, "mesh") ? TS_NEW(line->arena, ts_mesh) : NULL;
    if (mesh && !cli_mesh(err, line, request->machine, mesh)) return false;
    request->mesh = mesh;
    *state = ts_audit_new(line->arena, request);
    view->input = strcmp(line->operands[0], "-") == 0 ? "standard input" : line->operands[0];
    bool good = feed(err, line, *state, &bar);
    cli_progress_end(&bar);
    bar = cli_progress_begin("prices");
    good = good && ts_audit_finish(err, *state, cli_progress_draw, &bar, result);
    cli_progress_end(&bar);
    return good && ts_audit_check_any(err, result, view->input);
}

static int report(ts_error *err, const cli_line *line, const ts_audit_result *result,
                  const ts_audit_view *view, double limit) {
    if (!save(err, line, result, view)) return cli_fail(err);
    ts_text out = ts_text_begin(line->arena);
    if (cli_reports(line))
        (cli_value(line, "json") ? ts_report_audit_json : ts_report_audit)(result, view, &out);
    if (out.length > 0) cli_print(&out);
    if (limit == 0 || (double)result->sum.padded_bytes <= limit * (double)result->sum.logical_bytes) return 0;
    ts_error_set(err, TS_ERROR_FAULT, "padded bytes are %.3fx the logical ones, more than --fail-over %gx",
                 (double)result->sum.padded_bytes / (double)result->sum.logical_bytes, limit);
    return cli_fail(err);
}

int cmd_audit(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    ts_audit_request request = {0};
    ts_audit_view view = {.rows = ROWS};
    ts_audit *state = NULL;
    ts_audit_result result;
    double limit;
    if (!cli_begin(&line, &usage, argc, argv)) return line.exit_code;
    request.exact = cli_value(&line, "exact") != NULL;
    bool good = cli_fail_over(&err, &line, &limit) && audit(&err, &line, &request, &view, &state, &result);
    int code = good ? report(&err, &line, &result, &view, limit) : cli_error(&line, &err);
    ts_audit_free(state);
    return cli_end(&line, code);
}
