/* tilesim show: what machines there are, what is in one, what can be in its file, the instructions, and a
 * program as it is assembled. */
#include <string.h>

#include "commands.h"
#include "options.h"
#include "isa/print.h"
#include "mosaic/mosaic.h"
#include "report/algebra.h"
#include "report/list.h"
#include "report/machine.h"
#include "report/program.h"
#include "run/run.h"

static const cli_option options[] = {
    {"list", 0, NULL, "machine: the built-in machines, a line each"},
    {"set", 0, "FIELD=VALUE", "machine, program: with this figure changed; may be repeated"},
    {"machine", 'm', "NAME|FILE", "program: the machine; default " TS_MACHINE_DEFAULT},
    {"define", 'D', "NAME=VALUE", "program: sets a .param"},
    {"mesh", 0, "AXES|NAME|FILE", "program: the devices that it is for, as 4x4"},
    {"live", 0, NULL, "program: where each register is live, instead of its bundles"},
    {"map", 0, NULL, "program: its tensors in each memory, by address, instead of its bundles"},
    {"markdown", 0, NULL, "schema, isa, functions, algebra, ops: as the tables of docs/ have them"},
    {"json", 0, NULL, "the same as JSON, of a machine and the schema"},
};

static const cli_command usage = {
    .name = "show",
    .operands = "machine [NAME]|schema|isa|functions|algebra|ops|mesh|program FILE",
    .operands_least = 1,
    .operands_most = 2,
    .about =
        "machine: every figure of a machine, where it comes from (published, derived or assumed), and the\n"
        "peak rates and ridge points that follow. The output is a machine file. NAME is that of a\n"
        "built-in machine, or a file; the default is " TS_MACHINE_DEFAULT ".\n"
        "mesh: every figure of a slice of such chips, which is a mesh file.\n"
        "schema: every field of a machine file: type, range, unit, meaning.\n"
        "isa: every instruction: operands, slot, latency key, meaning.\n"
        "functions: every function of .check and .report: arguments, value, error.\n"
        "algebra: every function over layouts, of `tilesim layout --eval`: arguments, meaning, an example.\n"
        "ops: every operation of a Pallas kernel's text that is known, and of what.\n"
        "program: its bundles, with macros, loops and parameters gone; the output assembles to the same "
        "program.\n",
    .example = "    tilesim show machine tpu-v5e --set hbm.stacks=4\n",
    CLI_OPTIONS(options),
};

static bool show_machines(ts_error *err, const cli_line *line, ts_text *out) {
    if (line->operand_count > 1 || cli_value(line, "set"))
        return ts_error_set(err, TS_ERROR_USAGE, "--list is of all machines, as they are: found %s",
                            line->operand_count > 1 ? line->operands[1] : "--set");
    return (cli_value(line, "json") ? ts_report_machines_json : ts_report_machines)(err, line->arena, out);
}

static bool show_machine(ts_error *err, const cli_line *line, ts_text *out) {
    if (cli_value(line, "list")) return show_machines(err, line, out);
    const char *name = line->operand_count > 1 ? line->operands[1] : TS_MACHINE_DEFAULT;
    const ts_machine *machine = cli_machine_named(err, line, name, NULL);
    if (machine == NULL) return false;
    (cli_value(line, "json") ? ts_report_machine_json : ts_report_machine)(machine, out);
    return true;
}

static bool show_mesh(ts_error *err, const cli_line *line, ts_text *out) {
    if (line->operand_count < 2)
        return ts_error_set(err, TS_ERROR_USAGE, "expected a name or a file behind mesh");
    return ts_report_mesh(err, line->arena, line->operands[1], out);
}

/* ---- Tables: nothing follows the subject ---- */

static const struct {
    const char *subject;
    void (*plain)(ts_text *out), (*markdown)(ts_text *out), (*json)(ts_text *out);
} tables[] = {
    {"schema", ts_report_schema, ts_report_schema_markdown, ts_report_schema_json},
    {"isa", ts_isa_print, ts_isa_print_markdown, NULL},
    {"functions", ts_report_functions, ts_report_functions_markdown, NULL},
    {"algebra", ts_report_algebra, ts_report_algebra_markdown, NULL},
    {"ops", ts_mosaic_print_ops, ts_mosaic_print_ops_markdown, NULL},
};

static bool show_table(ts_error *err, const cli_line *line, ts_text *out) {
    if (line->operand_count > 1)
        return ts_error_set(err, TS_ERROR_USAGE, "found '%s' behind %s, expected nothing", line->operands[1],
                            line->operands[0]);
    size_t i = 0;
    while (strcmp(tables[i].subject, line->operands[0]) != 0) i++;
    (cli_value(line, "json")       ? tables[i].json
     : cli_value(line, "markdown") ? tables[i].markdown
                                   : tables[i].plain)(out);
    return true;
}

/* ---- Programs ---- */

static bool show_program(ts_error *err, const cli_line *line, ts_text *out) {
    const ts_define *defines;
    int count;
    if (line->operand_count < 2) return ts_error_set(err, TS_ERROR_USAGE, "expected a file behind program");
    if (!cli_pairs(err, line, "define", &defines, &count)) return false;
    const ts_machine *machine = cli_mesh_machine(err, line);
    if (!machine) return false;
    ts_target target;
    ts_mesh mesh;
    bool on_mesh = cli_value(line, "mesh") != NULL;
    if (on_mesh && !cli_mesh(err, line, machine, &mesh)) return false;
    if (on_mesh) machine = ts_machine_device(err, line->arena, machine);
    if (!machine) return false;
    ts_run_target(machine, &target);
    target.mesh = on_mesh ? &mesh : NULL;
    const ts_program *program = ts_mosaic_load(err, line->arena, line->operands[1], &target, defines, count);
    if (!program) return false;
    bool live = cli_value(line, "live") != NULL, map = cli_value(line, "map") != NULL;
    if (live) ts_report_live(program, &target, out);
    if (map) ts_report_map(program, &target, out);
    if (!live && !map) ts_program_print(program, out);
    return true;
}

/* ---- Subjects ---- */

enum { MAX_OF_SUBJECT = 6 };
static const struct {
    const char *name;
    bool (*show)(ts_error *err, const cli_line *line, ts_text *out);
    const char *options[MAX_OF_SUBJECT + 1];
} subjects[] = {
    {"machine", show_machine, {"list", "set", "json"}},
    {"mesh", show_mesh, {NULL}},
    {"schema", show_table, {"markdown", "json"}},
    {"isa", show_table, {"markdown"}},
    {"functions", show_table, {"markdown"}},
    {"algebra", show_table, {"markdown"}},
    {"ops", show_table, {"markdown"}},
    {"program", show_program, {"set", "machine", "define", "live", "map", "mesh"}},
};

/* An option of another subject would be passed over in silence. */
static bool check_options(ts_error *err, const cli_line *line, int subject) {
    const char *other = cli_other(line, subjects[subject].options);
    return !other || ts_error_set(err, TS_ERROR_USAGE, "--%s is not of %s", other, subjects[subject].name);
}

static bool show(ts_error *err, const cli_line *line, ts_text *out) {
    const char *subject = line->operands[0];
    for (int i = 0; i < (int)(sizeof subjects / sizeof subjects[0]); i++)
        if (strcmp(subject, subjects[i].name) == 0)
            return check_options(err, line, i) && subjects[i].show(err, line, out);
    ts_error_set(err, TS_ERROR_USAGE,
                 "found '%s', expected machine, mesh, schema, isa, functions, algebra, ops or program",
                 subject);
    return ts_error_hint(err, ts_text_nearest(subject, &subjects[0].name,
                                              sizeof subjects / sizeof subjects[0], sizeof subjects[0]));
}

int cmd_show(int argc, char **argv) { return cli_print_of(&usage, argc, argv, show); }
