/* tilesim calibrate: fits a machine's figures to measurements. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "base/file.h"
#include "report/validation.h"

static const cli_option options[] = {
    {"machine", 'm', "NAME|FILE", "the machine to begin with; rows of other chips are left out"},
    CLI_SET_OPTION,
    {"fit", '\0', "FIELD",
     "fit this figure; may be repeated; else launch, dispatch, issue, copy rate, matrix clock"},
    {"output", 'o', "FILE", "where to write the fitted machine"},
    {"exact", '\0', NULL, "simulate every access and every block, in each step: slower"},
    CLI_THREADS_OPTION,
    CLI_MEMORY_OPTION,
    {"json", '\0', NULL, "the same as JSON"},
};

static const cli_command usage = {
    .name = "calibrate",
    .operands = "MEASURED",
    .operands_least = 1,
    .operands_most = 1,
    .operand_files = "r",
    .holds_files = true,
    .about = "Fits figures of a machine to measurements, in the formats of tilesim validate --data, and "
             "prints them, and "
             "the errors of each row, before and after. A figure that the rows do not determine is not "
             "fitted, and an "
             "error when --fit asks for it.\n",
    .example = "    tilesim calibrate tests/data/calibrate.csv -m tpu-v4 --fit chip.launch -o mine.yaml\n",
    CLI_OPTIONS(options),
};

static bool calibrate(ts_error *err, const cli_line *line, ts_calibration *result) {
    const char *path = line->operands[0], *name = cli_value(line, "machine");
    int sets, fits;
    const char *const *set_values = cli_values(line, "set", &sets), *const *fit_values =
                                                                        cli_values(line, "fit", &fits);
    ts_measurements measurements;
    if (name == NULL) return ts_error_set(err, TS_ERROR_USAGE, "expected -m, the machine to begin with");
    int threads;
    if (!cli_threads(err, line, &threads)) return false;
    const ts_calibrate_request request = {.measurements = &measurements,
                                          .machine = name,
                                          .sets = set_values,
                                          .sets_from = "--set",
                                          .set_count = sets,
                                          .exact = cli_value(line, "exact") != NULL,
                                          .threads = threads,
                                          .field_count = fits,
                                          .fields = fits > 0 ? fit_values : NULL};
    return ts_measurements_load(err, line->arena, &path, 1, &measurements) &&
           ts_calibrate(err, line->arena, &request, result);
}

static bool save(ts_error *err, const cli_line *line, const ts_calibration *result) {
    const char *path = cli_value(line, "output"), *slash = strrchr(line->operands[0], '/');
    if (path == NULL) return true;
    ts_text file = ts_text_begin(line->arena);
    const char *name = ts_text_one_line(line->arena, slash != NULL ? slash + 1 : line->operands[0]);
    const char *source = ts_text_format(line->arena, "calibrate: %s, %s", ts_text_cut(line->arena, name, 40),
                                        ts_text_counted(line->arena, result->rows, "row"));
    return ts_calibration_print(err, line->arena, result, source, &file) &&
           ts_file_save(err, line->arena, path, file.bytes, file.length);
}

static bool print(ts_error *err, const cli_line *line, ts_text *out) {
    ts_calibration result;
    const char *saved = cli_value(line, "output");
    if (!calibrate(err, line, &result) || !save(err, line, &result)) return false;
    if (cli_value(line, "json") != NULL) {
        ts_report_calibration_json(&result, out);
    } else if (cli_reports(line)) {
        ts_report_calibration(&result, out);
        if (saved != NULL) ts_text_add(out, "\nsaved %s\n", ts_text_one_line(out->arena, saved));
    }
    return true;
}

int cmd_calibrate(int argc, char **argv) { return cli_print_of(&usage, argc, argv, print); }
