/* Runs a program that a test has as text. */
#include "tests/support/run_text.h"

#include <string.h>

#include "tests/support/test.h"

const ts_program *assemble_text(ts_arena *arena, const ts_machine *machine, const char *text) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"a.tsim", text, strlen(text)};
    ts_target target;
    ts_run_target(machine, &target);
    ts_error err = {0};
    const ts_program *program = ts_program_parse(&err, arena, source, &target, NULL, 0);
    if (!program) fail_msg("line %d: %s", err.line, err.message);
    return program;
}

bool run_patiently(ts_error *err, ts_arena *arena, const char *text, int64_t patience) {
    ts_run_result result;
    const ts_machine *machine = ts_machine_load(err, arena, "tpu-v5e");
    assert_non_null(machine);
    ts_run_request request = {.program = "a.tsim",
                              .built = assemble_text(arena, machine, text),
                              .machine = machine,
                              .max_cycles = INT64_MAX,
                              .patience = patience};
    return ts_run(err, arena, &request, &result);
}

run_of_text run_text(const char *machine_name, const char *text, bool time_only) {
    run_of_text r = {.arena = ts_arena_new()};
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, r.arena, machine_name);
    assert_non_null(machine);
    r.program = assemble_text(r.arena, machine, text);
    ts_run_request request = {.program = "a.tsim",
                              .built = r.program,
                              .machine = machine,
                              .time_only = time_only,
                              .profile = true,
                              .max_cycles = INT64_MAX};
    bool good = ts_run(&err, r.arena, &request, &r.result);
    if (!good) print_error("line %d: %s\n", err.line, err.message);
    assert_true(good);
    return r;
}
