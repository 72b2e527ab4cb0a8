/* tilesim validate: how near the models are to what they imitate. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "tilesim/report/hbm_accuracy.h"

static const cli_option options[] = {
    {"json", 0, NULL, "the figures as JSON"},
};

static const cli_command usage = {
    .name = "validate",
    .operands = "hbm",
    .operands_least = 1,
    .operands_most = 1,
    .about = "hbm: runs what other simulators of HBM were run on, and prints both figures, as docs/accuracy.md has them.\n",
    .example = "    tilesim validate hbm\n",
    .option_count = sizeof options / sizeof options[0],
    .options = options,
};

static bool validate_hbm(ts_error *err, ts_arena *arena, bool json, ts_text *out) {
    ts_hbm_accuracy accuracy;
    if (!ts_hbm_accuracy_measure(err, arena, &accuracy)) return false;
    (json ? ts_report_hbm_accuracy_json : ts_report_hbm_accuracy)(&accuracy, out);
    return true;
}

static const struct {
    const char *name;
    bool (*run)(ts_error *err, ts_arena *arena, bool json, ts_text *out);
} subjects[] = {
    {"hbm", validate_hbm},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static bool validate(ts_error *err, const cli_line *line, ts_text *out) {
    for (int i = 0; i < SUBJECTS; i++) {
        if (strcmp(line->operands[0], subjects[i].name) == 0)
            return subjects[i].run(err, line->arena, cli_value(line, "json") != NULL, out);
    }
    ts_error_set(err, TS_ERROR_USAGE, "found '%.60s', expected %s", line->operands[0], line->command->operands);
    return ts_error_hint(err, ts_text_nearest(line->operands[0], &subjects[0].name, SUBJECTS, sizeof subjects[0]));
}

int cmd_validate(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    ts_text out;
    if (!cli_begin(&line, &usage, argc, argv)) return line.exit_code;
    ts_text_init(&out, line.arena);
    if (validate(&err, &line, &out)) return cli_end(&line, cli_print(&out));
    return cli_end(&line, err.kind == TS_ERROR_USAGE ? cli_usage_error(&line, &err) : cli_fail(&err));
}
