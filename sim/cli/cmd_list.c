/* tilesim list: what the binary carries. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "report/machine.h"
#include "report/list.h"

static const cli_option options[] = {{"json", '\0', NULL, "the same as JSON; not of checks"}};

static const cli_command usage = {
    .name = "list",
    .operands = "programs|machines|meshes|checks",
    .operands_least = 1,
    .operands_most = 1,
    .about = "What the binary carries: programs, which tilesim run takes by these names, those of mesh/ with "
             "--mesh; machines, which -m "
             "takes;\nmeshes, which --mesh takes; and checks, the functions that .check and .report of a "
             "program may call.\n",
    .example = "    tilesim list programs\n",
    CLI_OPTIONS(options),
};

static bool list_programs(ts_error *err, const cli_line *line, ts_text *out) {
    (void)err;
    (cli_value(line, "json") ? ts_report_programs_json : ts_report_programs)(out);
    return true;
}

static bool list_machines(ts_error *err, const cli_line *line, ts_text *out) {
    return (cli_value(line, "json") ? ts_report_machines_json : ts_report_machines)(err, line->arena, out);
}

static bool list_meshes(ts_error *err, const cli_line *line, ts_text *out) {
    return (cli_value(line, "json") ? ts_report_meshes_json : ts_report_meshes)(err, line->arena, out);
}

static bool list_checks(ts_error *err, const cli_line *line, ts_text *out) {
    if (cli_value(line, "json")) return ts_error_set(err, TS_ERROR_USAGE, "--json is not of checks");
    ts_report_functions(out);
    return true;
}

static const struct {
    const char *name;
    bool (*list)(ts_error *err, const cli_line *line, ts_text *out);
} subjects[] = {{"programs", list_programs},
                {"machines", list_machines},
                {"meshes", list_meshes},
                {"checks", list_checks}};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static bool list(ts_error *err, const cli_line *line, ts_text *out) {
    for (int i = 0; i < SUBJECTS; i++)
        if (strcmp(line->operands[0], subjects[i].name) == 0) return subjects[i].list(err, line, out);
    ts_error_set(err, TS_ERROR_USAGE, "found '%.60s', expected %s", line->operands[0], usage.operands);
    return ts_error_hint(err,
                         ts_text_nearest(line->operands[0], &subjects[0].name, SUBJECTS, sizeof subjects[0]));
}

int cmd_list(int argc, char **argv) { return cli_print_of(&usage, argc, argv, list); }
