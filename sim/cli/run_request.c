/* The options of commands that run a program. */
#include "run_request.h"

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

bool cli_run_request(ts_error *err, const cli_line *line, ts_run_request *request) {
    const char *limit = cli_value(line, "max-cycles");
    *request = (ts_run_request){.program = line->operands[0],
                                .convert = cli_value(line, "convert") != NULL,
                                .max_cycles = INT64_C(10000000000)};
    if (!cli_pairs(err, line, "input", &request->inputs, &request->input_count) ||
        !cli_pairs(err, line, "define", &request->defines, &request->define_count) ||
        (limit != NULL && !ts_text_to_int(err, "--max-cycles", limit, &request->max_cycles))) {
        return false;
    }
    if (request->max_cycles <= 0) {
        return ts_error_set(err, TS_ERROR_USAGE, "--max-cycles is %s, expected 1 or more", limit);
    }
    return read_machine(err, line, request);
}
