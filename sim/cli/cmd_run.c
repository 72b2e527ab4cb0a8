/* tilesim run: runs a program on a machine, checks it, and says where the cycles went. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "run_request.h"
#include "base/file.h"
#include "progress.h"
#include "report/run.h"
#include "report/sweep.h"
#include "pod/pod.h"

static const cli_option options[] = {
    CLI_RUN_OPTIONS,
    CLI_MESH_OPTIONS,
    {"jobs", 'j', "N",
     "so many threads for the chips of a mesh, or processes for many values of -D: the same results"},
    {"output", 'o', "TENSOR=FILE", "where to write a tensor at the end, also where a check fails"},
    {"break", '\0', "[FILE:]LINE", "goes to that line and reads commands, as tilesim debug does"},
    CLI_TRACE_OPTIONS,
    {"time-only", '\0', NULL, "the same cycles without values: nothing is computed but scalars, or checked"},
    {"check", '\0', NULL, "the sanitizer: undefined values, races with DMA, what is left at the end"},
    {"exact", '\0', NULL, "simulate every transfer access by access, however many there are"},
    {"lines", '\0', NULL, "the program's text beside the cycles of each line; the hottest loops first"},
    {"html", '\0', "FILE", "also a page: cycles, roofline, timeline, loops, lines, transfers, tensors"},
    {"update", '\0', NULL, "write the cycles to the .cycles file beside the program"},
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command command_run = {
    .name = "run",
    .operands = "PROGRAM",
    .operands_least = 1,
    .operands_most = 1,
    .operand_files = "r",
    .about =
        "Runs a program on a machine: computes its outputs, compares them with the program's checks, and "
        "says "
        "where the cycles went. PROGRAM is a file; those of programs/ are also in the binary, as\n"
        "tilesim:/softmax.tsim. -D BLOCK=32,64,128 runs it with each value, and prints a table; several such "
        "lists\nmake every combination. Exit code 3: a check failed, or the program broke a rule of the "
        "machine.\n",
    .example = "    tilesim run programs/softmax.tsim -m tpu-v5e -D ROWS=100 -o y=y.npy\n",
    CLI_OPTIONS(options),
};

/* ---- The command line ---- */

/* What the debugger, whose run it then is, does not make. */
static bool check_break(ts_error *err, const cli_line *line) {
    static const struct {
        const char *name, *why;
    } others[] = {{"json", "the debugger talks text"},    {"lines", "the run is the debugger's"},
                  {"trace", "the run is the debugger's"}, {"trace-text", "the run is the debugger's"},
                  {"html", "the run is the debugger's"},  {"output", "the run is the debugger's"},
                  {"update", "the run is the debugger's"}};
    for (size_t i = 0; cli_value(line, "break") && i < sizeof others / sizeof *others; i++)
        if (cli_value(line, others[i].name))
            return ts_error_set(err, TS_ERROR_USAGE, "--break does not go with --%s: %s", others[i].name,
                                others[i].why);
    return true;
}

static bool read_request(ts_error *err, const cli_line *line, ts_run_request *request) {
    if (!cli_run_request(err, line, request) ||
        !cli_pairs(err, line, "output", &request->outputs, &request->output_count))
        return false;
    request->threads = 1;
    if (!check_break(err, line) || !cli_run_mesh(err, line, request) ||
        !cli_int(err, line, "jobs", 1, TS_POD_MAX_THREADS, &request->threads))
        return false;
    request->time_only = cli_value(line, "time-only") != NULL;
    request->check = cli_value(line, "check") != NULL;
    request->exact = cli_value(line, "exact") != NULL;
    request->profile = cli_value(line, "lines") != NULL || cli_value(line, "html") != NULL;
    return true;
}

/* With --break, the run is the debugger's. */
static int debug(const cli_line *line, const ts_run_request *request) {
    int count;
    const char *const *breaks = cli_values(line, "break", &count);
    return cli_debug(line, request, breaks, count);
}

/* ---- Files ---- */

/* Whether it is "tpu-v5e 12345", of a machine "tpu-v5e"; or "tpu-v5e 4x4 12345" of "tpu-v5e 4x4". */
static bool is_line_of(const char *line, const char *what) {
    size_t name = strlen(what);
    return strncmp(line, what, name) == 0 && line[name] == ' ' &&
           line[name + 1 + strcspn(line + name + 1, " \n")] != ' ';
}

/* Copies the lines with the one of `what` replaced, or added at the end. */
static void update_lines(ts_text *out, const char *old, const char *what, int64_t cycles) {
    bool found = false;
    while (*old != '\0') {
        size_t length = strcspn(old, "\n");
        if (is_line_of(old, what)) {
            ts_text_add(out, "%s %lld\n", what, (long long)cycles);
            found = true;
        } else {
            ts_text_add(out, "%.*s\n", (int)length, old);
        }
        old += length + (old[length] == '\n');
    }
    if (!found) ts_text_add(out, "%s %lld\n", what, (long long)cycles);
}

static bool check_update(ts_error *err, const cli_line *line, const ts_run_request *request) {
    bool other = cli_value(line, "set") || cli_value(line, "topology") || cli_value(line, "fail-link");
    if (request->define_count + request->input_count > 0 || other) {
        return ts_error_set(err, TS_ERROR_USAGE,
                            "--update takes no -D, -i%s: the .cycles file is of the program as it is",
                            request->mesh ? ", --set, --topology or --fail-link" : " or --set");
    }
    if (!ts_file_size(NULL, request->program, &(uint64_t){0}))
        return ts_error_set(err, TS_ERROR_USAGE, "--update: %s is in the binary, expected a file",
                            request->program);
    return true;
}

/* programs/add.tsim has its cycles, with the parameters and inputs of the text, in programs/add.cycles. */
static const char *cycles_path(ts_arena *arena, const char *program) {
    const char *dot = strrchr(program, '.');
    int length = (int)(dot != NULL ? (size_t)(dot - program) : strlen(program));
    return ts_text_format(arena, "%.*s.cycles", length, program);
}

static bool update_cycles(ts_error *err, const cli_line *line, const ts_run_request *request,
                          const ts_run_result *result) {
    if (cli_value(line, "update") == NULL) return true;
    if (!check_update(err, line, request)) return false;
    const char *mesh = cli_value(line, "mesh"), *path = cycles_path(line->arena, request->program);
    const char *what =
        ts_text_format(line->arena, "%s%s%s", request->machine->name, mesh ? " " : "", mesh ? mesh : "");
    ts_text text = ts_text_begin(line->arena);
    char *old = NULL;
    size_t length;
    bool exists = ts_file_read(&(ts_error){0}, line->arena, path, 1 << 20, &old, &length);
    update_lines(&text, exists ? old : "", what, result->counters.values[TS_COUNTER_CYCLES]);
    return ts_file_save(err, line->arena, path, text.bytes, text.length);
}

/* ---- The run ---- */

static int print_result(const cli_line *line, const ts_run_request *request, const ts_run_result *whole) {
    ts_run_result shown = *whole, *result = &shown;
    if (!cli_value(line, "lines")) shown.profile = NULL; /* it was for the page */
    ts_text out = ts_text_begin(line->arena);
    if (cli_value(line, "json") != NULL) {
        ts_report_run_json(request, result, &out);
    } else if (cli_reports(line)) {
        ts_report_run(request, result, &out);
        for (int i = 0; i < request->output_count; i++)
            ts_text_add(&out, "saved      %s to %s\n", request->outputs[i].name,
                        ts_text_one_line(out.arena, request->outputs[i].value));
        bool colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
        if (result->profile != NULL) ts_report_lines(result, colour, &out);
    }
    return cli_print(&out);
}

static int complain(const cli_line *line, const ts_run_result *result) {
    int code = 0;
    if (result->findings->count > 0) {
        ts_text text = ts_text_begin(line->arena);
        ts_report_findings(result->findings, &text);
        fwrite(text.bytes, 1, text.length, stderr);
        code = ts_findings_count(result->findings, TS_FINDING_WRONG) > 0 ? 3 : 0;
    }
    for (int i = 0; result->checks != NULL && i < result->program->check_count; i++) {
        ts_error err = {0};
        if (ts_report_failed_check(result, i, &err)) code = cli_fail(&err);
    }
    return code;
}

/* ---- Many runs: -D NAME=1,2,3 ---- */

static bool check_alone(ts_error *err, const cli_line *line, const ts_grid *grid) {
    static const char *const alone[] = {"output", "break",  "trace", "trace-text", "html",
                                        "lines",  "update", "from",  "until",      NULL};
    return cli_refuse(err, line, alone,
                      ts_text_format(line->arena, "is of one run, and the values of -D make %lld",
                                     (long long)grid->point_count));
}

/* The exit code is that of the first run that failed. */
static int exit_code(const ts_sweep_row *rows, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (rows[i].err) return ts_error_exit_code(rows[i].err);
        if (rows[i].status == TS_SWEEP_FAILED) return 3;
    }
    return 0;
}

static int run_grid(ts_error *err, const cli_line *line, const ts_run_request *request, const ts_grid *grid) {
    cli_progress bar = cli_progress_begin("points");
    ts_sweep_runs_request all = {
        .run = *request, .grid = grid, .workers = 1, .progress = cli_progress_rate, .self = &bar};
    if (!check_alone(err, line, grid)) return cli_usage_error(line, err);
    all.run.define_count = 0;
    if (!request->mesh) all.workers = request->threads;
    const ts_sweep_row *rows = ts_sweep_runs(err, line->arena, &all);
    cli_progress_end(&bar);
    if (!rows) return cli_fail(err);
    ts_text out = ts_text_begin(line->arena);
    (cli_value(line, "json") ? ts_report_grid_json : ts_report_grid)(&all, rows, &out);
    cli_print(&out);
    return exit_code(rows, grid->point_count);
}

/* The first value of each parameter: for a single run, its only one. */
static void use_point(const cli_line *line, const ts_grid *grid, ts_run_request *request) {
    ts_define *defines = TS_NEW_ARRAY(line->arena, ts_define, grid->axis_count + 1);
    ts_grid_point(grid, 0, defines);
    request->defines = defines;
}

static bool save_page(ts_error *err, const cli_line *line, const ts_run_request *request,
                      const ts_run_result *result, const cli_trace *trace) {
    ts_text *page = cli_text_for(line, "html");
    if (page) ts_report_run_html(request, result, &trace->page, page);
    return cli_save(err, line, "html", page);
}

/* With its timeline. */
static bool run(ts_error *err, const cli_line *line, ts_run_request *request, ts_run_result *result) {
    cli_trace *trace = TS_NEW(line->arena, cli_trace);
    if (!cli_trace_open(err, line, request, result, trace)) return false;
    ts_error none = {0};
    bool good = ts_run(err, line->arena, request, result);
    return cli_trace_close(good ? err : &none, line, err, trace) && good &&
           save_page(err, line, request, result, trace);
}

int cmd_run(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    ts_run_request request;
    ts_run_result result;
    ts_grid grid;
    if (!cli_begin(&line, &command_run, argc, argv)) return line.exit_code;
    if (!read_request(&err, &line, &request) ||
        !ts_grid_parse(&err, line.arena, "-D", request.defines, request.define_count, &grid))
        return cli_end(&line, cli_fail(&err));
    use_point(&line, &grid, &request);
    if (grid.point_count > 1) return cli_end(&line, run_grid(&err, &line, &request, &grid));
    if (cli_count(&line, "break") > 0) return cli_end(&line, debug(&line, &request));
    if (!run(&err, &line, &request, &result) || !ts_run_save(&err, line.arena, &request, &result) ||
        (result.passed && !update_cycles(&err, &line, &request, &result)))
        return cli_end(&line, cli_fail(&err));
    int code = print_result(&line, &request, &result);
    int failed = complain(&line, &result);
    return cli_end(&line, failed != 0 ? failed : code);
}
