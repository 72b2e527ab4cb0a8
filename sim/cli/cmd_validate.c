/* tilesim validate: how near the models are to what they imitate. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "files.h"
#include "options.h"
#include "progress.h"
#include "report/validation.h"

static const cli_option options[] = {
    {"data", '\0', "FILE",
     "the measurements: CSV or TSV, as tests/data/tpu_measured.csv and tpu_groups.tsv; may be repeated: "
     "groups of your own and words by which rows are of them, as measured_groups.tsv and measured_words.tsv "
     "there"},
    {"machine", 'm', "NAME|FILE",
     "with its figures instead of the chip's own; rows of other chips, which have another title, are left "
     "out"},
    CLI_SET_OPTION,
    {"rows", '\0', NULL, "every row, too"},
    {"exact", '\0', NULL, "simulate every access and every block: slower, minutes for large products"},
    {"markdown", '\0', NULL, "as the section of docs/accuracy.md"},
    {"svg", '\0', "FILE", "a picture: simulated against measured time, by group"},
    {"html", '\0', "FILE", "all of it as one page"},
    CLI_THREADS_OPTION,
    CLI_MEMORY_OPTION,
    {"json", '\0', NULL, "the same as JSON, with every row"},
};

static const cli_command usage = {
    .name = "validate",
    .operands = "[hbm]",
    .operands_least = 0,
    .operands_most = 1,
    .holds_files = true,
    .about = "Runs what was measured on TPUs, and prints the errors by group. "
             "Products take longest; what takes 3 seconds or more says so before.\n"
             "hbm: runs what other simulators of HBM were run on, and prints both figures.\n",
    .example = "    tilesim validate --svg accuracy.svg\n    tilesim validate --data "
               "tests/data/calibrate.csv --rows\n",
    CLI_OPTIONS(options),
};

/* On a terminal a bar shows how long it takes; elsewhere a line does, where that is long. */
static cli_progress begin(const cli_line *line, const char *what, int count, double seconds) {
    cli_progress bar = cli_progress_begin("rows");
    const char *longer = cli_value(line, "exact") ? "far longer than some" : "some";
    if (!bar.shows && seconds >= 3)
        fprintf(stderr, "note: %d %s take %s %.0f seconds\n", count, what, longer, seconds);
    return bar;
}

static const double SECONDS_OF_RUN = 0.018; /* of a core, on average */

static bool validate_hbm(ts_error *err, const cli_line *line, ts_text *out) {
    static const char *const others[] = {"data", "machine", "set", "rows", "exact", "svg", "html", NULL};
    ts_hbm_accuracy accuracy;
    ts_hbm_accuracy_request request = {.run = cli_progress_draw};
    if (!cli_refuse(err, line, others, "does not go with hbm") || !cli_threads(err, line, &request.threads))
        return false;
    cli_progress bar = begin(line, "runs", ts_hbm_reference_count,
                             SECONDS_OF_RUN * ts_hbm_reference_count / request.threads);
    request.self = &bar;
    bool good = ts_hbm_accuracy_measure(err, line->arena, &request, &accuracy);
    cli_progress_end(&bar);
    if (!good) return false;
    (cli_value(line, "json")       ? ts_report_hbm_accuracy_json
     : cli_value(line, "markdown") ? ts_report_hbm_accuracy_markdown
                                   : ts_report_hbm_accuracy)(&accuracy, out);
    return true;
}

static bool read_machine(ts_error *err, const cli_line *line, const ts_machine **machine) {
    *machine = NULL;
    if (cli_value(line, "machine") == NULL) {
        return cli_count(line, "set") == 0 ||
               ts_error_set(err, TS_ERROR_USAGE, "--set changes one machine, expected -m too");
    }
    *machine = cli_machine(err, line);
    return *machine != NULL;
}

/* The files that were given, one after the other. */
static const char *subject(const cli_line *line) {
    int files;
    const char *const *paths = cli_values(line, "data", &files);
    ts_text text = ts_text_begin(line->arena);
    for (int i = 0; i < files; i++) ts_text_add(&text, "%s%s", i > 0 ? ", " : "", paths[i]);
    return files > 0 ? text.bytes : "published measurements of TPUs";
}

static bool save(ts_error *err, const cli_line *line, const ts_validation *validation) {
    ts_text *svg = cli_text_for(line, "svg"), *html = cli_text_for(line, "html");
    if (svg) ts_report_validation_svg(validation, svg);
    if (html) ts_report_validation_html(validation, subject(line), html);
    return cli_save(err, line, "svg", svg) && cli_save(err, line, "html", html);
}

static bool check_rows(ts_error *err, ts_arena *arena, const ts_validation *v) {
    for (int i = 0; i < v->row_count; i++)
        if (!v->rows[i].is_left_out) return true;
    return ts_validation_refuse(err, arena, v, "");
}

static bool validate_times(ts_error *err, const cli_line *line, ts_text *out) {
    ts_measurements measurements;
    ts_validation validation;
    ts_validate_request request = {
        .measurements = &measurements, .exact = cli_value(line, "exact") != NULL, .row = cli_progress_draw};
    int files;
    const char *const *paths = cli_values(line, "data", &files);
    if (!ts_measurements_load(err, line->arena, paths, files, &measurements) ||
        !read_machine(err, line, &request.machine) || !cli_threads(err, line, &request.threads))
        return false;
    ts_measurements_share(line->arena, &measurements);
    cli_progress bar = begin(line, "measurements", measurements.table.count,
                             ts_validate_seconds(line->arena, &request) / request.threads);
    request.self = &bar;
    bool good = ts_validate(err, line->arena, &request, &validation);
    cli_progress_end(&bar);
    if (!good || !check_rows(err, line->arena, &validation) || !save(err, line, &validation)) return false;
    if (cli_value(line, "json") != NULL)
        ts_report_validation_json(&validation, out);
    else if (cli_reports(line))
        (cli_value(line, "markdown") ? ts_report_validation_markdown : ts_report_validation)(
            &validation, cli_value(line, "rows") != NULL, out);
    return true;
}

static bool validate(ts_error *err, const cli_line *line, ts_text *out) {
    static const char *const hbm = "hbm";
    if (line->operand_count == 0) return validate_times(err, line, out);
    if (strcmp(line->operands[0], hbm) == 0) return validate_hbm(err, line, out);
    ts_error_set(err, TS_ERROR_USAGE, "found '%.60s', expected %s", line->operands[0],
                 line->command->operands);
    return ts_error_hint(err, ts_text_nearest(line->operands[0], &hbm, 1, sizeof hbm));
}

int cmd_validate(int argc, char **argv) { return cli_print_of(&usage, argc, argv, validate); }
