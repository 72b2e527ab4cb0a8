/* tilesim compare: what changed between two reports. */
#include "commands.h"
#include "files.h"
#include "options.h"
#include "base/file.h"
#include "report/compare.h"

static const cli_option options[] = {
    {"fail-over", '\0', "RATIO",
     "exit code 3 when what the reports are about is more than RATIO times what it was: the time of run, "
     "dma, choose, audit, reshard and bench, audit's padded bytes, cycles of hbm and relayout, a layout's "
     "bytes"},
    {"rows", '\0', "N", "of each section; 8 when not given"},
    {"all", '\0', NULL, "all rows"},
    CLI_MEMORY_OPTION,
    {"json", '\0', NULL, "everything as JSON"},
    {"html", '\0', "FILE", "everything as one page"},
};

static const cli_command usage = {
    .name = "compare",
    .operands = "BEFORE.json AFTER.json",
    .operands_least = 2,
    .operands_most = 2,
    .operand_files = "rr",
    .holds_files = true,
    .about =
        "Compares what a command printed with --json, twice: another machine, another size, another layout, "
        "another version. Shows every figure that changed, by how much, the largest difference first.\n",
    .example = "    tilesim run programs/softmax.tsim -m tpu-v5e --json > v5e.json\n"
               "    tilesim run programs/softmax.tsim -m tpu-v6e --json > v6e.json\n"
               "    tilesim compare v5e.json v6e.json --fail-over 1.05\n",
    CLI_OPTIONS(options),
};

enum { ROWS = 8, READ = 1 << 30 };

static bool compare(ts_error *err, const cli_line *line, ts_compare_view *view, ts_comparison *result) {
    ts_source before, after;
    *view = (ts_compare_view){line->operands[0], line->operands[1], ROWS};
    if (!cli_rows(err, line, 1, &view->rows)) return false;
    ts_arena *arena = line->arena;
    return ts_file_read_source(err, arena, view->before, READ, &before) &&
           ts_file_read_source(err, arena, view->after, READ, &after) &&
           ts_compare(err, line->arena, &before, &after, result);
}

/* Is a figure beyond the limit? With a limit there must be one. */
static bool check_limit(ts_error *err, const ts_comparison *result, double limit) {
    if (limit == 0) return true;
    if (result->lacking) return ts_error_set(err, TS_ERROR_FAULT, "--fail-over: %s", result->lacking);
    if (result->figure_count == 0)
        return ts_error_set(err, TS_ERROR_USAGE, "--fail-over: reports of tilesim %s have no figure to judge",
                            result->command);
    for (int i = 0; i < result->figure_count; i++) {
        const ts_compare_figure *f = &result->figures[i];
        if (f->after > limit * f->before)
            return ts_error_set(err, TS_ERROR_FAULT, "%s went from %.9g to %.9g, more than --fail-over %gx",
                                f->path, f->before, f->after, limit);
    }
    return true;
}

static bool save_page(ts_error *err, const cli_line *line, const ts_comparison *result,
                      const ts_compare_view *view) {
    ts_text *html = cli_text_for(line, "html");
    if (html) ts_report_compare_html(result, view, html);
    return cli_save(err, line, "html", html);
}

int cmd_compare(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    ts_compare_view view;
    ts_comparison result;
    double limit;
    if (!cli_begin(&line, &usage, argc, argv)) return line.exit_code;
    if (!cli_fail_over(&err, &line, &limit) || !compare(&err, &line, &view, &result))
        return cli_end(&line, cli_error(&line, &err));
    if (!save_page(&err, &line, &result, &view)) return cli_end(&line, cli_fail(&err));
    ts_text out = ts_text_begin(line.arena);
    if (cli_reports(&line))
        (cli_value(&line, "json") ? ts_report_compare_json : ts_report_compare)(&result, &view, &out);
    cli_print(&out);
    return cli_end(&line, check_limit(&err, &result, limit) ? 0 : cli_fail(&err));
}
