/* Command lines: parsing by the table of options, help, and complaints. */
#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "files.h"
#include "options.h"
#include "tilesim/version.h"

enum { MAX_OPTIONS = 32, FIRST_OPTION = 256 /* behind all letters */ };

/* Of every command, behind its own. */
static const cli_option others[] = {{"help", 'h', NULL, "print this"},
                                    {"version", 'V', NULL, "print the version"}};
enum { HELP, VERSION, OTHERS };

static const cli_option *option_at(const cli_command *command, int number) {
    return number < command->option_count ? &command->options[number]
                                          : &others[number - command->option_count];
}

enum { HELP_COLUMNS = TS_TEXT_COLUMNS, OPTION_COLUMNS = 29 };

/* One paragraph in lines of at most HELP_COLUMNS, the first of which begins at `indent`. */
static void add_paragraph(ts_text *out, const char *line, const char *end, int indent) {
    int column = indent;
    while (line < end) {
        int word = (int)strcspn(line, " \n");
        if (column > indent && column + 1 + word > HELP_COLUMNS) {
            ts_text_add(out, "\n%*s", indent, "");
            column = indent;
        }
        ts_text_add(out, "%s%.*s", column > indent ? " " : "", word, line);
        column += word + (column > indent);
        line += word + (int)strspn(line + word, " \n");
    }
    ts_text_add_char(out, '\n');
}

/* It ends with a sentence, or before a line that begins with a space. */
static const char *end_of_paragraph(const char *text) {
    const char *end = text + strcspn(text, "\n");
    while (end > text && !strchr(".:", end[-1]) && *end && end[1] && end[1] != ' ')
        end += 1 + strcspn(end + 1, "\n");
    return end;
}

/* Lines that begin with a space stay as they are. */
static void add_wrapped(ts_text *out, const char *text, int indent) {
    while (*text) {
        bool is_kept = *text == ' ';
        const char *end = is_kept ? text + strcspn(text, "\n") : end_of_paragraph(text);
        if (is_kept)
            ts_text_add(out, "%.*s\n", (int)(end - text), text);
        else
            add_paragraph(out, text, end, indent);
        text = end + (*end == '\n');
    }
}

static void add_option(ts_text *out, const cli_option *option) {
    char left[64], letter[8] = "    ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
    ts_text_add(out, "  %-26s ", left);
    add_wrapped(out, option->meaning, OPTION_COLUMNS);
}

static void print_help(const cli_line *line) {
    const cli_command *command = line->command;
    ts_text out = ts_text_begin(line->arena);
    ts_text_add(&out, "usage: tilesim %s [OPTION...]", command->name);
    if (command->operands) ts_text_add(&out, " %s", command->operands);
    ts_text_add_char(&out, '\n');
    add_wrapped(&out, command->about, 0);
    ts_text_add_char(&out, '\n');
    for (int i = 0; i < command->option_count + OTHERS; i++) add_option(&out, option_at(command, i));
    ts_text_add(&out, "\nexample:\n%s", command->example);
    cli_print(&out);
}

static void print_version(const cli_line *line) {
    ts_text out = ts_text_begin(line->arena);
    ts_text_add(&out, "tilesim " TS_VERSION "\n");
    cli_print(&out);
}

/* How the option that getopt_long refused is called: `optopt` is its letter or its number, or 0 when
 * unknown. */
static void refused_name(const cli_command *command, char *const *argv, char out[64]) {
    if (optopt == 0)
        snprintf(out, 64, "%.*s", (int)strcspn(argv[optind - 1], "="), argv[optind - 1]);
    else if (optopt < FIRST_OPTION)
        snprintf(out, 64, "-%c", optopt);
    else
        snprintf(out, 64, "--%s", option_at(command, optopt - FIRST_OPTION)->name);
}

/* found: as getopt_long, '?' or ':'. */
static void refuse_option(cli_line *line, int found, char *const *argv) {
    const cli_command *command = line->command;
    char name[64], near[64];
    ts_error err = {0};
    refused_name(command, argv, name);
    if (found == ':')
        ts_error_set(&err, TS_ERROR_USAGE, "option '%s' needs a value", name);
    else if (optopt >= FIRST_OPTION)
        ts_error_set(&err, TS_ERROR_USAGE, "option '%s' takes no value", name);
    else
        ts_error_set(&err, TS_ERROR_USAGE, "unknown option '%s'", name);
    const char *nearest = optopt != 0 || strlen(name) < 3 || command->option_count == 0
                              ? NULL
                              : ts_text_nearest(name + 2, &command->options[0].name,
                                                (size_t)command->option_count, sizeof(cli_option));
    if (nearest != NULL) snprintf(near, sizeof near, "--%s", nearest);
    ts_error_hint(&err, nearest != NULL ? near : NULL);
    line->exit_code = cli_usage_error(line, &err);
}

/* The tables that getopt_long wants: it finds no letter that is in none of them. */
static void fill_tables(const cli_command *command, struct option *longs, char *shorts) {
    assert(command->option_count < MAX_OPTIONS);
    *shorts++ = ':';
    for (int i = 0; i < command->option_count + OTHERS; i++) {
        const cli_option *option = option_at(command, i);
        longs[i] = (struct option){option->name, option->argument ? required_argument : no_argument, NULL,
                                   FIRST_OPTION + i};
        if (option->letter) *shorts++ = option->letter;
        if (option->letter && option->argument) *shorts++ = ':';
    }
    longs[command->option_count + OTHERS] = (struct option){0};
    *shorts = '\0';
}

static int option_of_letter(const cli_command *command, int letter) {
    int i = 0;
    while (option_at(command, i)->letter != letter) i++;
    return i;
}

static bool read_options(cli_line *line, int argc, char **argv) {
    const int own = line->command->option_count;
    struct option longs[MAX_OPTIONS + OTHERS];
    char shorts[2 * (MAX_OPTIONS + OTHERS)];
    fill_tables(line->command, longs, shorts);
    opterr = 0;
    optind = 1;
    for (;;) {
        int found = getopt_long(argc, argv, shorts, longs, NULL);
        if (found == -1) break;
        if (found == '?' || found == ':') return refuse_option(line, found, argv), false;
        int option = found >= FIRST_OPTION ? found - FIRST_OPTION : option_of_letter(line->command, found);
        if (option == own + HELP) return print_help(line), false;
        if (option == own + VERSION) return print_version(line), false;
        line->given[line->given_count++] = (struct cli_given){option, optarg ? optarg : ""};
    }
    for (int i = optind; i < argc; i++) line->operands[line->operand_count++] = argv[i];
    return true;
}

static bool count_operands(cli_line *line) {
    const cli_command *command = line->command;
    const char *expected = command->operands ? command->operands : "none";
    ts_error err = {0};
    if (line->operand_count < command->operands_least) {
        ts_error_set(&err, TS_ERROR_USAGE, "too few operands, expected %s", expected);
    } else if (line->operand_count > command->operands_most) {
        ts_error_set(&err, TS_ERROR_USAGE, "unexpected operand '%.60s', expected %s",
                     line->operands[command->operands_most], expected);
    } else {
        return true;
    }
    line->exit_code = cli_usage_error(line, &err);
    return false;
}

/* The limit of the commands that have one. */
static bool limit_memory(cli_line *line) {
    const cli_command *command = line->command;
    ts_error err = {0};
    int64_t most = 0;
    bool limited = false;
    for (int i = 0; i < command->option_count; i++)
        limited = limited || strcmp(command->options[i].name, "max-memory") == 0;
    if (!limited) return true;
    if (!cli_max_memory(&err, line, &most)) {
        line->exit_code = cli_usage_error(line, &err);
    } else if (command->holds_files && !cli_check_file_memory(&err, line, most)) {
        line->exit_code = cli_fail(&err);
    } else {
        if (cli_value(line, "max-memory")) cli_limit_memory(most, cli_value(line, "max-memory"));
        return true;
    }
    return false;
}

bool cli_begin(cli_line *line, const cli_command *command, int argc, char **argv) {
    *line = (cli_line){.command = command, .arena = ts_arena_new()};
    size_t letters = 0; /* an option takes at least one */
    for (int i = 0; i < argc; i++) letters += strlen(argv[i]);
    line->operands = TS_NEW_ARRAY(line->arena, const char *, argc);
    line->given = TS_NEW_ARRAY(line->arena, struct cli_given, letters);
    cli_errors_as_json(cli_asks_for_json(argc, argv) ? command->name : NULL);
    bool read = read_options(line, argc, argv);
    if (read) cli_errors_as_json(cli_value(line, "json") ? command->name : NULL);
    if (read && count_operands(line) && cli_check_files(line) && limit_memory(line)) return true;
    ts_arena_free(line->arena);
    line->arena = NULL;
    return false;
}

int cli_end(cli_line *line, int exit_code) {
    ts_arena_free(line->arena);
    return exit_code;
}

int cli_print_of(const cli_command *command, int argc, char **argv,
                 bool (*work)(ts_error *err, const cli_line *line, ts_text *out)) {
    cli_line line;
    ts_error err = {0};
    if (!cli_begin(&line, command, argc, argv)) return line.exit_code;
    ts_text out = ts_text_begin(line.arena);
    if (work(&err, &line, &out)) return cli_end(&line, cli_print(&out));
    return cli_end(&line, cli_error(&line, &err));
}
