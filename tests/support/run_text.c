/* Runs a program that a test has as text. */
#include "tests/support/run_text.h"

#include <string.h>

#include "tests/support/test.h"

run_of_text run_text(const char *machine_name, const char *text, bool time_only) {
    run_of_text r = {.arena = ts_arena_new()};
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, r.arena, machine_name);
    ts_source *source = TS_NEW(r.arena, ts_source);
    *source = (ts_source){"a.tsim", text, strlen(text)};
    ts_target target;
    ts_run_target(machine, &target);
    r.program = ts_program_parse(&err, r.arena, source, &target, NULL, 0);
    if (!r.program) print_error("line %d: %s\n", err.line, err.message);
    assert_non_null(r.program);
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
