/* tilesim run: runs a program on a machine, checks it, and says where the cycles went. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "tilesim/base/file.h"
#include "tilesim/report/run.h"

enum { TRACE_EVENTS = 200000 };

static const cli_option options[] = {
    {"machine", 'm', "NAME|FILE", "the machine; default " TS_MACHINE_DEFAULT},
    {"set", '\0', "FIELD=VALUE", "the machine with this figure changed; may be repeated"},
    {"define", 'D', "NAME=VALUE", "sets a .param of the program"},
    {"input", 'i', "TENSOR=FILE", "the values of an input: .npy, .safetensors:NAME, .bin"},
    {"output", 'o', "TENSOR=FILE", "where to write a tensor, when everything succeeded"},
    {"convert", '\0', NULL, "let inputs of another type be rounded to the tensor's"},
    {"max-cycles", '\0', "N", "a program that runs longer has failed; default 10,000,000,000"},
    {"trace", '\0', "FILE", "a timeline of the last 200,000 events, for ui.perfetto.dev"},
    {"time-only", '\0', NULL, "the same cycles without values: nothing is computed but scalars, or checked"},
    {"check", '\0', NULL, "the sanitizer: undefined values, races with DMA, what is left at the end"},
    {"update", '\0', NULL, "write the cycles to the .cycles file beside the program"},
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command command_run = {
    .name = "run",
    .operands = "PROGRAM",
    .operands_least = 1,
    .operands_most = 1,
    .about =
        "Runs a program on a machine: computes its outputs, compares them with the program's checks, and "
        "says\n"
        "where the cycles went. Exit code 3: a check failed, or the program broke a rule of the machine.\n",
    .example = "    tilesim run programs/softmax.tsim -m tpu-v5e -D ROWS=100 -o y=y.npy\n",
    .option_count = sizeof options / sizeof options[0],
    .options = options,
};

/* ---- The command line ---- */

static bool read_machine(ts_error *err, const cli_line *line, ts_run_request *request) {
    const char *name = cli_value(line, "machine");
    int count = cli_count(line, "set");
    const char **sets = TS_NEW_ARRAY(line->arena, const char *, count + 1);
    for (int i = 0; i < count; i++) {
        sets[i] = cli_value_at(line, "set", i);
    }
    request->machine = ts_machine_load_with(err, line->arena, name != NULL ? name : TS_MACHINE_DEFAULT,
                                            "--set", sets, count);
    return request->machine != NULL;
}

static bool read_request(ts_error *err, const cli_line *line, ts_run_request *request) {
    const char *limit = cli_value(line, "max-cycles");
    *request = (ts_run_request){.program = line->operands[0],
                                .convert = cli_value(line, "convert") != NULL,
                                .time_only = cli_value(line, "time-only") != NULL,
                                .check = cli_value(line, "check") != NULL,
                                .max_cycles = INT64_C(10000000000)};
    if (!cli_pairs(err, line, "input", &request->inputs, &request->input_count) ||
        !cli_pairs(err, line, "output", &request->outputs, &request->output_count) ||
        !cli_pairs(err, line, "define", &request->defines, &request->define_count) ||
        (limit != NULL && !ts_text_to_int(err, "--max-cycles", limit, &request->max_cycles))) {
        return false;
    }
    if (request->max_cycles <= 0) {
        return ts_error_set(err, TS_ERROR_USAGE, "--max-cycles is %s, expected 1 or more", limit);
    }
    if (cli_value(line, "trace") != NULL) {
        request->trace = TS_NEW(line->arena, ts_trace);
        ts_trace_init(request->trace, line->arena, TRACE_EVENTS);
    }
    return read_machine(err, line, request);
}

/* ---- Files ---- */

static bool write_trace(ts_error *err, const cli_line *line, const ts_run_request *request,
                        const ts_run_result *result) {
    const char *path = cli_value(line, "trace");
    if (path == NULL) {
        return true;
    }
    ts_text text;
    ts_text_init(&text, line->arena);
    ts_report_timeline(request, result, &text);
    return ts_file_save(err, line->arena, path, text.bytes, text.length);
}

/* The lines of the other machines, in their order, and that of this one: "tpu-v5e 12345". */
static void update_lines(ts_text *out, const char *old, const char *machine, int64_t cycles) {
    bool found = false;
    size_t name = strlen(machine);
    while (*old != '\0') {
        size_t length = strcspn(old, "\n");
        if (strncmp(old, machine, name) == 0 && old[name] == ' ') {
            ts_text_add(out, "%s %lld\n", machine, (long long)cycles);
            found = true;
        } else {
            ts_text_add(out, "%.*s\n", (int)length, old);
        }
        old += length + (old[length] == '\n');
    }
    if (!found) {
        ts_text_add(out, "%s %lld\n", machine, (long long)cycles);
    }
}

/* programs/add.tsim has its cycles, with the parameters and inputs of the text, in programs/add.cycles. */
static bool update_cycles(ts_error *err, const cli_line *line, const ts_run_request *request,
                          const ts_run_result *result) {
    if (cli_value(line, "update") == NULL) {
        return true;
    }
    if (request->define_count + request->input_count > 0 || cli_value(line, "set") != NULL) {
        return ts_error_set(err, TS_ERROR_USAGE,
                            "--update takes no -D, -i or --set: the .cycles file is of the program as it is");
    }
    ts_text path, text;
    ts_text_init(&path, line->arena);
    ts_text_init(&text, line->arena);
    const char *dot = strrchr(request->program, '.');
    ts_text_add_bytes(&path, request->program,
                      dot != NULL ? (size_t)(dot - request->program) : strlen(request->program));
    ts_text_add(&path, ".cycles");
    char *old = NULL;
    size_t length;
    ts_error none = {0};
    bool exists = ts_file_read(&none, line->arena, path.bytes, 1 << 20, &old, &length);
    update_lines(&text, exists ? old : "", request->machine->name,
                 result->counters.values[TS_COUNTER_CYCLES]);
    return ts_file_save(err, line->arena, path.bytes, text.bytes, text.length);
}

/* ---- The run ---- */

static int print_result(const cli_line *line, const ts_run_request *request, const ts_run_result *result) {
    ts_text out;
    ts_text_init(&out, line->arena);
    if (cli_value(line, "json") != NULL) {
        ts_report_run_json(request, result, &out);
    } else {
        ts_report_run(request, result, cli_value(line, "machine") != NULL, &out);
        for (int i = 0; result->passed && i < request->output_count; i++) {
            ts_text_add(&out, "saved      %s to %s\n", request->outputs[i].name, request->outputs[i].value);
        }
    }
    return cli_print(&out);
}

static int complain(const cli_line *line, const ts_run_result *result) {
    int code = 0;
    if (result->findings != NULL && result->findings->count > 0) {
        ts_text text;
        ts_text_init(&text, line->arena);
        ts_report_findings(result->findings, &text);
        fwrite(text.bytes, 1, text.length, stderr);
        code = 3;
    }
    for (int i = 0; result->checks != NULL && i < result->program->check_count; i++) {
        ts_error err = {0};
        if (ts_report_failed_check(result, i, &err)) {
            code = cli_fail(&err);
        }
    }
    return code;
}

int cmd_run(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    ts_run_request request;
    ts_run_result result;
    if (!cli_begin(&line, &command_run, argc, argv)) {
        return line.exit_code;
    }
    if (!read_request(&err, &line, &request) || !ts_run(&err, line.arena, &request, &result) ||
        !write_trace(&err, &line, &request, &result) ||
        (result.passed && !ts_run_save(&err, line.arena, &request, &result)) ||
        (result.passed && !update_cycles(&err, &line, &request, &result))) {
        return cli_end(&line, cli_fail(&err));
    }
    int code = print_result(&line, &request, &result);
    int failed = complain(&line, &result);
    return cli_end(&line, failed != 0 ? failed : code);
}
