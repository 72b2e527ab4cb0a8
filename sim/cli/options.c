/* What a command line holds, by the names of its options. */
#include "options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "base/threads.h"
#include "mesh/mesh_file.h"
#include "study/transfer.h"

int cli_usage_error(const cli_line *line, const ts_error *err) {
    const char *program = ts_text_format(line->arena, "tilesim %s", line->command->name);
    return cli_fail_with_help(err, program,
                              ts_text_format(line->arena, "`%s --help` shows how it is used\n", program));
}

int cli_error(const cli_line *line, const ts_error *err) {
    return err->kind == TS_ERROR_USAGE ? cli_usage_error(line, err) : cli_fail(err);
}

const char *cli_value_at(const cli_line *line, const char *name, int i) {
    for (int k = 0; k < line->given_count; k++)
        if (strcmp(line->command->options[line->given[k].option].name, name) == 0 && i-- == 0)
            return line->given[k].value;
    return NULL;
}

int cli_count(const cli_line *line, const char *name) {
    int count = 0;
    while (cli_value_at(line, name, count)) count++;
    return count;
}

bool cli_is_one_of(const char *name, const char *const *names) {
    while (*names && strcmp(name, *names) != 0) names++;
    return *names != NULL;
}

const char *cli_other(const cli_line *line, const char *const *own) {
    for (int i = 0; i < line->given_count; i++) {
        const char *name = line->command->options[line->given[i].option].name;
        if (!cli_is_one_of(name, own)) return name;
    }
    return NULL;
}

bool cli_refuse(ts_error *err, const cli_line *line, const char *const *names, const char *why) {
    for (; *names; names++)
        if (cli_value(line, *names)) return ts_error_set(err, TS_ERROR_USAGE, "--%s %s", *names, why);
    return true;
}

const char **cli_values(const cli_line *line, const char *name, int *count) {
    *count = cli_count(line, name);
    const char **values = TS_NEW_ARRAY(line->arena, const char *, *count + 1);
    for (int i = 0; i < *count; i++) values[i] = cli_value_at(line, name, i);
    return values;
}

static const char *argument_of(const cli_command *command, const char *name) {
    for (int i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0) return command->options[i].argument;
    return "NAME=VALUE";
}

const char *cli_option_text(const cli_line *line, const char *name) {
    return ts_text_format(line->arena, "--%s", name);
}

bool cli_number(ts_error *err, const cli_line *line, const char *name, int64_t least, int64_t most,
                int64_t *value) {
    const char *text = cli_value(line, name);
    if (!text) return true;
    if (!ts_text_to_int(err, cli_option_text(line, name), text, value)) return false;
    if (*value >= least && *value <= most) return true;
    if (most == INT64_MAX)
        return ts_error_set(err, TS_ERROR_USAGE, "--%s is %s, expected %lld or more", name, text,
                            (long long)least);
    return ts_error_set(err, TS_ERROR_USAGE, "--%s is %s, expected %lld to %lld", name, text,
                        (long long)least, (long long)most);
}

bool cli_int(ts_error *err, const cli_line *line, const char *name, int least, int most, int *value) {
    int64_t number = *value;
    bool good = cli_number(err, line, name, least, most, &number);
    *value = (int)number;
    return good;
}

bool cli_word(ts_error *err, const cli_line *line, const char *name, const char *const *words, int *number) {
    const char *text = cli_value(line, name);
    int count = 0;
    for (; text && words[count]; count++)
        if (strcmp(text, words[count]) == 0) return *number = count, true;
    if (!text) return true;
    ts_text choices = ts_text_begin(line->arena);
    ts_text_add_choices(&choices, words, count);
    ts_error_set(err, TS_ERROR_USAGE, "--%s is '%.40s', expected %s", name, text, choices.bytes);
    return ts_error_hint(err, ts_text_nearest(text, words, (size_t)count, sizeof *words));
}

bool cli_threads(ts_error *err, const cli_line *line, int *threads) {
    *threads = ts_threads_of_host();
    return cli_int(err, line, "jobs", 1, TS_THREADS_MOST, threads);
}

bool cli_rows(ts_error *err, const cli_line *line, int least, int *rows) {
    int64_t value = *rows;
    if (!cli_number(err, line, "rows", least, INT64_MAX, &value)) return false;
    *rows = cli_value(line, "all") ? INT_MAX : (int)ts_min(value, INT_MAX);
    return true;
}

bool cli_fail_over(ts_error *err, const cli_line *line, double *ratio) {
    const char *text = cli_value(line, "fail-over");
    char *end;
    *ratio = 0;
    if (!text) return true;
    *ratio = strtod(text, &end);
    bool good = end != text && (!*end || strcmp(end, "x") == 0) && *ratio >= 1 && *ratio < 1e9;
    return good ||
           ts_error_set(err, TS_ERROR_USAGE, "%s is '%.40s', expected a ratio of at least 1, such as 1.5x",
                        cli_option_text(line, "fail-over"), text);
}

bool cli_max_memory(ts_error *err, const cli_line *line, int64_t *bytes) {
    const char *text = cli_value(line, "max-memory");
    *bytes = text ? 0 : ts_memory_host();
    return !text || ts_memory_parse(err, cli_option_text(line, "max-memory"), text, bytes);
}

bool cli_ends(ts_error *err, const cli_line *line, ts_source ends[2]) {
    const char *const *operands = line->operands;
    if (line->operand_count == 2)
        for (int i = 0; i < 2; i++) ends[i] = (ts_source){"", operands[i], strlen(operands[i])};
    else if (line->operand_count == 0 || !strstr(operands[0], "->"))
        return ts_error_set(err, TS_ERROR_USAGE, "too few operands, expected SRC DST, or 'SRC -> DST'");
    else if (!ts_transfer_pair_split(err, line->arena, "", operands[0], ends))
        return false;
    ends[0].name = "source";
    ends[1].name = "destination";
    return true;
}

bool cli_pairs(ts_error *err, const cli_line *line, const char *name, const ts_define **pairs, int *count) {
    *count = cli_count(line, name);
    ts_define *list = TS_NEW_ARRAY(line->arena, ts_define, *count + 1);
    *pairs = list;
    for (int i = 0; i < *count; i++) {
        const char *text = cli_value_at(line, name, i), *equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1])
            return ts_error_set(err, TS_ERROR_USAGE, "--%s '%s': expected %s", name, text,
                                argument_of(line->command, name));
        list[i] = (ts_define){ts_arena_copy_text(line->arena, text, (size_t)(equals - text)), equals + 1};
    }
    return true;
}

const char *cli_value(const cli_line *line, const char *name) {
    const char *last = NULL, *value;
    for (int i = 0; (value = cli_value_at(line, name, i)) != NULL; i++) last = value;
    return last;
}

const ts_machine *cli_machine_named(ts_error *err, const cli_line *line, const char *name, const char *last) {
    int count;
    const char **sets = cli_values(line, "set", &count);
    if (last) sets[count++] = last;
    return ts_machine_load_with(err, line->arena, name != NULL ? name : TS_MACHINE_DEFAULT, "--set", sets,
                                count);
}

const ts_machine *cli_machine(ts_error *err, const cli_line *line) {
    return cli_machine_named(err, line, cli_value(line, "machine"), NULL);
}

bool cli_mesh_options(ts_error *err, const cli_line *line) {
    static const char *const names[] = {"topology", "fail-link", NULL};
    return cli_value(line, "mesh") || cli_refuse(err, line, names, "is of a mesh, expected --mesh as well");
}

const ts_machine *cli_mesh_machine(ts_error *err, const cli_line *line) {
    const char *mesh = cli_value(line, "mesh"), *name = cli_value(line, "machine");
    if (!cli_mesh_options(err, line)) return NULL;
    if (name || !mesh || !ts_mesh_file_is(mesh, strlen(mesh))) return cli_machine(err, line);
    ts_mesh_file_changes changes = {.source = "--set"};
    changes.list = cli_values(line, "set", &changes.count);
    return ts_mesh_file_load_machine(err, line->arena, mesh, &changes);
}

bool cli_mesh(ts_error *err, const cli_line *line, const ts_machine *machine, ts_mesh *mesh) {
    const char *axes = cli_value(line, "mesh"), *topology = cli_value(line, "topology");
    ts_mesh_request request = {
        .machine = machine, .axes = {"--mesh", axes, strlen(axes)}, .failed_name = "--fail-link"};
    if (topology) request.topology = (ts_source){"--topology", topology, strlen(topology)};
    request.failed = cli_values(line, "fail-link", &request.failed_count);
    return ts_mesh_read(err, line->arena, &request, mesh);
}
