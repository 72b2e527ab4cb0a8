/* The files that a command line names: who reads and who writes them, and what goes to standard output. */
#include "files.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "config/tree.h"
#include "host/format.h"
#include "mesh/mesh_file.h"
#include "program/program.h"

typedef struct {
    const char *name, *path; /* "--csv", or the operand; NULL: a report, to standard output */
    bool written;
} named_file;

static bool repeats(const cli_option *option) { return option->argument && strchr(option->argument, '='); }

/* Of an option that is given twice the last value counts, unless each is a tensor's. */
static bool counts(const cli_line *line, int given) {
    int option = line->given[given].option;
    if (repeats(&line->command->options[option])) return true;
    for (int i = given + 1; i < line->given_count; i++)
        if (line->given[i].option == option) return false;
    return true;
}

static bool read_option(const cli_line *line, const struct cli_given *given, named_file *file) {
    static const char *const readers[] = {"data", "input", "machine", NULL},
                             *const writers[] = {"commands", "csv", "html", "svg", "trace", "output", NULL},
                             *const reports[] = {"json", "markdown", "trace-text", "ansi", NULL};
    const cli_option *option = &line->command->options[given->option];
    const char *equals = repeats(option) ? strchr(given->value, '=') : NULL;
    *file = (named_file){cli_option_text(line, option->name), NULL, true};
    if (cli_is_one_of(option->name, reports)) return true;
    file->written = cli_is_one_of(option->name, writers);
    file->path = ts_host_file(line->arena, equals ? equals + 1 : given->value);
    return file->written || cli_is_one_of(option->name, readers);
}

/* In the order of the command line, operands last. */
static named_file *list_files(const cli_line *line, int *count) {
    named_file *files = TS_NEW_ARRAY(line->arena, named_file, line->given_count + line->operand_count + 1);
    const char *roles = line->command->operand_files ? line->command->operand_files : "";
    *count = 0;
    for (int i = 0; i < line->given_count; i++)
        if (counts(line, i)) *count += read_option(line, &line->given[i], &files[*count]);
    for (int i = 0; i < line->operand_count && i < (int)strlen(roles); i++) {
        const char *path = line->operands[i];
        if (roles[i] != ' ')
            files[(*count)++] = (named_file){path, ts_host_file(line->arena, path), roles[i] == 'w'};
    }
    return files;
}

static bool takes_stdout(const named_file *file) {
    return file->written && (!file->path || ts_file_is_standard_output(file->path));
}

bool cli_check_file_memory(ts_error *err, const cli_line *line, int64_t most) {
    int count, part_count = 0;
    const named_file *files = list_files(line, &count);
    ts_memory_part *parts = TS_NEW_ARRAY(line->arena, ts_memory_part, count + 1);
    for (int i = 0; i < count; i++) {
        uint64_t bytes;
        bool known = files[i].path && !files[i].written && ts_file_size(NULL, files[i].path, &bytes);
        if (known) parts[part_count++] = (ts_memory_part){files[i].path, (int64_t)bytes};
    }
    return ts_memory_check(err, parts, part_count, most);
}

ts_text *cli_text_for(const cli_line *line, const char *option) {
    if (!cli_value(line, option)) return NULL;
    ts_text *text = TS_NEW(line->arena, ts_text);
    *text = ts_text_begin(line->arena);
    return text;
}

bool cli_save(ts_error *err, const cli_line *line, const char *option, const ts_text *text) {
    return !text || ts_file_save(err, line->arena, cli_value(line, option), text->bytes, text->length);
}

bool cli_reports(const cli_line *line) {
    int count;
    const named_file *files = list_files(line, &count);
    for (int i = 0; i < count; i++)
        if (files[i].path && takes_stdout(&files[i])) return false;
    return true;
}

static bool check_stdout(ts_error *err, const named_file *files, int count) {
    const named_file *first = NULL;
    for (int i = 0; i < count; i++) {
        if (!takes_stdout(&files[i])) continue;
        if (first)
            return ts_error_set(err, TS_ERROR_USAGE,
                                "%s and %s would both write to standard output, expected one of them",
                                first->name, files[i].name);
        first = &files[i];
    }
    return true;
}

static bool check_pair(ts_error *err, ts_arena *arena, const named_file *a, const named_file *b) {
    if (!a->path || !b->path || !(a->written || b->written) || !ts_file_same(arena, a->path, b->path))
        return true;
    const named_file *written = a->written ? a : b, *other = a->written ? b : a;
    if (other->written)
        return ts_error_set(err, TS_ERROR_USAGE, "%s and %s would both write '%s', expected two files",
                            a->name, b->name, b->path);
    return ts_error_set(err, TS_ERROR_USAGE, "%s would be written over the input '%s', expected another name",
                        written->name, other->path);
}

static bool check_pairs(ts_error *err, ts_arena *arena, const named_file *files, int count) {
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            if (!check_pair(err, arena, &files[k], &files[i])) return false;
    return true;
}

/* No output is a file that those of the command line name: what a program includes, the base of a machine. */
static bool check_named(ts_error *err, ts_arena *arena, const named_file *files, int count,
                        const char *path) {
    const named_file read = {.path = path};
    for (int i = 0; i < count; i++)
        if (files[i].written && !check_pair(err, arena, &files[i], &read)) return false;
    return true;
}

static bool check_program(ts_error *err, ts_arena *arena, const named_file *files, int count,
                          const char *path) {
    int named_count;
    const ts_program_file *named = ts_program_files(arena, path, &named_count);
    for (int i = 0; i < named_count; i++)
        if (!check_named(err, arena, files, count, ts_host_file(arena, named[i].path))) return false;
    return true;
}

static bool check_tree(ts_error *err, ts_arena *arena, const named_file *files, int count, const char *path) {
    const char *named[TS_TREE_MAX_BASES + 1];
    int named_count = ts_tree_files(arena, path, named);
    for (int i = 0; i < named_count; i++)
        if (!check_named(err, arena, files, count, named[i])) return false;
    return true;
}

bool cli_check_inputs(ts_error *err, const cli_line *line, const char *const *paths, int path_count) {
    bool good = true;
    int count;
    const named_file *files = list_files(line, &count);
    for (int i = 0; i < path_count && good; i++) {
        bool program = ts_text_ends(paths[i], ".tsim"),
             tree = ts_text_ends(paths[i], ".yaml") || ts_text_ends(paths[i], ".yml");
        good = check_named(err, line->arena, files, count, ts_host_file(line->arena, paths[i])) &&
               (!program || check_program(err, line->arena, files, count, paths[i])) &&
               (!tree || check_tree(err, line->arena, files, count, paths[i]));
    }
    return good;
}

/* That of a mesh file where no other is named. */
static const char *machine_of(const cli_line *line) {
    ts_error ignored = {0};
    const char *machine = cli_value(line, "machine"), *mesh = cli_value(line, "mesh");
    bool reads = !machine && mesh && ts_tree_is_path(mesh);
    return reads ? ts_mesh_file_machine(&ignored, line->arena, mesh) : machine;
}

static bool check_all_named(ts_error *err, const cli_line *line, const named_file *files, int count) {
    const char *trees[] = {machine_of(line), cli_value(line, "mesh")};
    bool written = false, good = true;
    for (int i = 0; i < count; i++) written |= files[i].written && files[i].path;
    if (!written) return true;
    for (int i = 0; i < count && good; i++)
        if (!files[i].written && files[i].path && ts_text_ends(files[i].path, ".tsim"))
            good = check_program(err, line->arena, files, count, files[i].path);
    for (int i = 0; i < 2 && good; i++)
        if (trees[i]) good = check_tree(err, line->arena, files, count, trees[i]);
    return good;
}

bool cli_check_files(cli_line *line) {
    ts_error err = {0};
    int count;
    const named_file *files = list_files(line, &count);
    if (!check_stdout(&err, files, count) || !check_pairs(&err, line->arena, files, count) ||
        !check_all_named(&err, line, files, count)) {
        line->exit_code = cli_usage_error(line, &err);
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!files[i].written || !files[i].path || ts_file_check(&err, line->arena, files[i].path)) continue;
        line->exit_code = cli_fail(&err);
        return false;
    }
    return true;
}

/* ---- Temporary files ---- */

enum { MOST_TEMPORARIES = 8, PATH_BYTES = 4096 };

/* What a handler may use: bytes that stay where they are, and whether they are a name. */
static struct {
    char path[PATH_BYTES];
    volatile sig_atomic_t used;
} temporaries[MOST_TEMPORARIES];

void ts_file_temporary(const char *path, ts_temporary_event event) {
    bool exists = event == TS_TEMPORARY_MADE;
    size_t bytes = strlen(path) + 1;
    for (int i = 0; i < MOST_TEMPORARIES; i++) {
        if (exists == temporaries[i].used || bytes > PATH_BYTES) continue;
        if (!exists && strcmp(path, temporaries[i].path) != 0) continue;
        if (exists) memcpy(temporaries[i].path, path, bytes);
        temporaries[i].used = exists;
        return;
    }
}

static void remove_files(void) {
    for (int i = 0; i < MOST_TEMPORARIES; i++)
        if (temporaries[i].used) unlink(temporaries[i].path);
}

/* The signal's own effect is back in place: raised again, it ends the process when the handler returns. */
static void remove_and_die(int number) {
    remove_files();
    raise(number);
}

void cli_remove_files_at_exit(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU};
    struct sigaction old, action = {.sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND};
    atexit(remove_files);
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bool ignored = sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN;
        if (!ignored) sigaction(numbers[i], &action, NULL);
    }
}
