/* The options of commands that run a program. */
#include "run_request.h"

bool cli_run_request(ts_error *err, const cli_line *line, ts_run_request *request) {
    *request = (ts_run_request){.program = line->operands[0],
                                .convert = cli_value(line, "convert") != NULL,
                                .max_cycles = TS_RUN_MOST_CYCLES,
                                .patience = cli_value(line, "max-cycles") ? 0 : TS_RUN_PATIENCE};
    if (!cli_max_memory(err, line, &request->max_memory_bytes) ||
        !cli_pairs(err, line, "input", &request->inputs, &request->input_count) ||
        !cli_pairs(err, line, "define", &request->defines, &request->define_count) ||
        !cli_number(err, line, "max-cycles", 1, INT64_MAX, &request->max_cycles))
        return false;
    request->machine = cli_mesh_machine(err, line);
    return request->machine != NULL;
}

bool cli_run_mesh(ts_error *err, const cli_line *line, ts_run_request *request) {
    if (!cli_value(line, "mesh")) return true;
    ts_mesh *mesh = TS_NEW(line->arena, ts_mesh);
    request->mesh = mesh;
    if (!cli_mesh(err, line, request->machine, mesh)) return false;
    request->machine = ts_machine_device(err, line->arena, request->machine);
    return request->machine != NULL;
}
