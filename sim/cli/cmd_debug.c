/* tilesim debug: a program, step by step; commands come from standard input, so that a script can give
 * them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_request.h"
#include "commands.h"
#include "options.h"
#include "report/debug.h"
#include "study/transfer.h"

enum { WORDS = 8, LINE_BYTES = 1000, MOST_ELEMENTS = 1 << 20 };

typedef struct {
    ts_session *session;
    int64_t devices;   /* of the mesh; 0: there is none */
    ts_arena *scratch; /* for one command */
    ts_text *out;
    cli_breakpoints breakpoints;
    bool quits, failed; /* failed: the program broke a rule of the machine, and cannot go on */
    ts_source line;     /* the command as it was typed */
    const char *words[WORDS];
    size_t offsets[WORDS]; /* of the words in the line */
    int word_count;
} debugger;

typedef bool debug_function(ts_error *err, debugger *d);

/* ---- Going on ---- */

static bool complain(ts_error *err, const debugger *d, int word, const char *expected) {
    size_t at = word < d->word_count ? d->offsets[word] : d->line.length;
    return ts_error_at(err, TS_ERROR_INPUT, &d->line, at, "expected %s", expected);
}

/* The number that is word `word`; `otherwise` when there is no such word. */
static bool number(ts_error *err, const debugger *d, int word, int64_t least, int64_t otherwise,
                   int64_t *value) {
    if (word >= d->word_count) {
        *value = otherwise;
        return true;
    }
    char *end;
    *value = strtoll(d->words[word], &end, 10);
    bool good = end != d->words[word] && (*end == '\0' || isspace((unsigned char)*end)) && *value >= least;
    return good || complain(err, d, word, least > 0 ? "a number from 1 on" : "a number from 0 on");
}

static bool go(ts_error *err, debugger *d, int64_t bundles, int64_t until) {
    ts_stop stop;
    if (d->failed) {
        return ts_error_set(err, TS_ERROR_FAULT,
                            "the program has failed; its state is still there to look at");
    }
    const ts_session_goal goal = {bundles, until, d->breakpoints.items, d->breakpoints.count};
    if (!ts_session_go(err, d->session, &goal, &stop)) {
        d->failed = true;
        return false;
    }
    if (stop == TS_STOP_BREAK && d->devices > 0) ts_report_broken(d->session, d->devices, d->out);
    ts_report_hit(d->session, d->out);
    ts_report_where(d->session, d->out);
    return true;
}

static bool do_step(ts_error *err, debugger *d) {
    int64_t count;
    return number(err, d, 1, 1, 1, &count) && go(err, d, count, INT64_MAX);
}

static bool do_continue(ts_error *err, debugger *d) { return go(err, d, INT64_MAX, INT64_MAX); }

static bool do_until(ts_error *err, debugger *d) {
    int64_t cycle;
    if (d->word_count < 2) return complain(err, d, 1, "a cycle");
    return number(err, d, 1, 0, 0, &cycle) && go(err, d, INT64_MAX, cycle);
}

/* ---- Breakpoints ---- */

static bool do_break(ts_error *err, debugger *d) {
    if (d->word_count > 1 && !cli_breakpoints_add(err, &d->breakpoints, d->line.text + d->offsets[1]))
        return false;
    cli_breakpoints_list(&d->breakpoints, d->out);
    return true;
}

static bool do_delete(ts_error *err, debugger *d) {
    int64_t n;
    if (!number(err, d, 1, 1, d->breakpoints.count, &n)) return false;
    if (n < 1 || n > d->breakpoints.count) return complain(err, d, 1, "the number of a breakpoint");
    cli_breakpoints_remove(&d->breakpoints, (int)n);
    cli_breakpoints_list(&d->breakpoints, d->out);
    return true;
}

/* ---- Looking ---- */

static bool do_where(ts_error *err, debugger *d) {
    (void)err;
    ts_report_where(d->session, d->out);
    return true;
}

static bool do_list(ts_error *err, debugger *d) {
    int64_t around;
    if (!number(err, d, 1, 0, 4, &around)) return false;
    ts_report_source(d->session, around > 1000 ? 1000 : (int)around, d->out);
    return true;
}

static bool do_scalars(ts_error *err, debugger *d) {
    (void)err;
    ts_report_scalars(d->session, d->out);
    return true;
}

static bool do_semaphores(ts_error *err, debugger *d) {
    (void)err;
    ts_report_semaphores(d->session, 0, ts_session_program(d->session)->code.semaphore_count, d->out);
    return true;
}

static bool do_transfers(ts_error *err, debugger *d) {
    (void)err;
    ts_report_transfers(d->session, d->out);
    return true;
}

static bool do_core(ts_error *err, debugger *d) {
    int64_t core;
    if (!number(err, d, 1, 0, ts_session_followed(d->session), &core)) return false;
    int count = ts_chip_core_count(ts_session_chip(d->session));
    if (core >= count) {
        return ts_error_at(err, TS_ERROR_INPUT, &d->line, d->offsets[1], "expected a core, 0 to %d",
                           count - 1);
    }
    ts_session_follow(d->session, (int)core);
    return do_where(err, d);
}

static bool do_device(ts_error *err, debugger *d) {
    int64_t device;
    if (d->devices == 0) return complain(err, d, 0, "a mesh (--mesh) for that");
    if (!number(err, d, 1, 0, ts_session_device(d->session), &device)) return false;
    if (device >= d->devices)
        return ts_error_at(err, TS_ERROR_INPUT, &d->line, d->offsets[1], "expected a device, 0 to %lld",
                           (long long)d->devices - 1);
    ts_session_look_at(d->session, device);
    return do_where(err, d);
}

static bool print_register(ts_error *err, debugger *d, ts_register reg) {
    ts_register_view view = reg.kind == TS_OPERAND_VMASK ? TS_VIEW_HEX : TS_VIEW_F32;
    bool whole = false;
    for (int i = 2; i < d->word_count; i++) {
        bool all = strcmp(d->words[i], "all") == 0;
        whole = whole || all;
        if (!all && !ts_register_view_find(d->words[i], &view))
            return complain(err, d, i, "f32, i32, hex, bf16 or all");
    }
    ts_report_register(d->session, reg, view, whole, d->out);
    return true;
}

/* ---- Slices: x[3, 0:8, :], dims that are left out are whole ---- */

/* Of a tensor of that layout, from byte `at` of the line on. */
static bool read_slice(ts_error *err, const debugger *d, size_t at, const ts_layout *layout, int64_t *begin,
                       int64_t *sizes) {
    ts_cursor cursor = {&d->line, at, at};
    ts_cursor_skip_space(&cursor);
    for (int i = 0; i < layout->rank; i++) {
        begin[i] = 0;
        sizes[i] = layout->dims[i];
    }
    if (cursor.at == d->line.length) return true;
    if (ts_cursor_peek(&cursor) != '[') return ts_cursor_unexpected(err, &cursor, "'[' or the end");
    if (!ts_transfer_slice_parse(err, &cursor, layout, begin, sizes)) return false;
    ts_cursor_skip_space(&cursor);
    return cursor.at == d->line.length || ts_cursor_unexpected(err, &cursor, "the end");
}

/* The name that begins word 1; an error where nothing has it. */
static bool find_name(ts_error *err, const debugger *d, ts_name *found, size_t *length) {
    const char *name = d->line.text + d->offsets[1];
    *length = strcspn(name, " \t");
    *found = ts_session_name(d->session, name, *length);
    if (found->kind == TS_NAME_NONE) {
        *length = strcspn(name, "[ \t");
        *found = ts_session_name(d->session, name, *length);
    }
    if (found->kind == TS_NAME_SEMAPHORE && name[*length] == '[')
        return complain(err, d, 1, "a number of the semaphores of that name");
    if (found->kind != TS_NAME_NONE) return true;
    const ts_code *code = &ts_session_program(d->session)->code;
    complain(
        err, d, 1,
        "a register (v3, m0, s1), or the program's name of one, of a tensor, a parameter or a semaphore");
    if (code->tensor_count > 0) {
        ts_error_hint(err,
                      ts_text_nearest(ts_arena_copy_text(d->scratch, name, *length), &code->tensors[0].name,
                                      (size_t)code->tensor_count, sizeof(ts_tensor)));
    }
    return false;
}

/* The tensor of number `tensor` and its slice, from byte `at` of the line on. */
static bool read_box(ts_error *err, const debugger *d, int tensor, size_t at, int64_t *begin,
                     int64_t *sizes) {
    const ts_tensor *t = &ts_session_program(d->session)->code.tensors[tensor];
    int64_t elements = 1;
    if (!t->shape->layout) return complain(err, d, 1, "a tensor with a layout");
    if (!read_slice(err, d, at, t->shape->layout, begin, sizes)) return false;
    for (int i = 0; i < t->shape->layout->rank; i++) {
        elements =
            sizes[i] > 0 && elements > MOST_ELEMENTS / sizes[i] ? MOST_ELEMENTS + 1 : elements * sizes[i];
    }
    return elements <= MOST_ELEMENTS ||
           ts_error_set(err, TS_ERROR_INPUT, "more than %d elements, expected a smaller slice of '%s'",
                        MOST_ELEMENTS, t->name);
}

static bool print_tensor(ts_error *err, debugger *d, int tensor, size_t length) {
    int64_t begin[TS_LAYOUT_MAX_DIMS], sizes[TS_LAYOUT_MAX_DIMS];
    ts_host_array array;
    if (!read_box(err, d, tensor, d->offsets[1] + length, begin, sizes) ||
        !ts_session_fetch(err, d->scratch, d->session, &(ts_session_box){tensor, begin, sizes}, &array))
        return false;
    ts_report_box(ts_session_program(d->session)->code.tensors[tensor].name, &array, begin, d->out);
    return true;
}

/* Behind a name nothing stands but the views of a register, and the slice of a tensor, which is read
 * elsewhere. */
static bool check_rest(ts_error *err, const debugger *d, ts_name_kind kind, size_t length) {
    ts_cursor cursor = {&d->line, d->offsets[1] + length, 0};
    bool blank = cursor.at < d->line.length && ts_is_space(d->line.text[cursor.at]);
    if (kind == TS_NAME_TENSOR || (kind == TS_NAME_REGISTER && blank) || ts_cursor_at_end(&cursor))
        return true;
    return ts_cursor_unexpected(err, &cursor, "the end");
}

static bool do_print(ts_error *err, debugger *d) {
    ts_name name;
    size_t length;
    if (d->word_count < 2) {
        return complain(err, d, 1,
                        "a register (v3, m0, s1), a slice of a tensor (x[0:8, 0:4]) or another name");
    }
    if (!find_name(err, d, &name, &length) || !check_rest(err, d, name.kind, length)) return false;
    switch (name.kind) {
    case TS_NAME_REGISTER:
        return print_register(err, d, (ts_register){name.reg, name.index});
    case TS_NAME_TENSOR:
        return print_tensor(err, d, name.index, length);
    case TS_NAME_PARAM:
        ts_report_param(&ts_session_program(d->session)->params[name.index], d->out);
        return true;
    default:
        ts_report_semaphores(d->session, name.index, name.count, d->out);
        return true;
    }
}

/* ---- Watches ---- */

/* vmem:4096..8192 */
static bool watch_bytes(ts_error *err, debugger *d, const char *text) {
    size_t length = strcspn(text, ":");
    for (int i = 0; i < TS_SPACE_COUNT; i++) {
        const char *name = ts_space_text((ts_space_kind)i);
        char *dots, *end;
        if (strlen(name) != length || strncmp(name, text, length) != 0 || text[length] != ':') continue;
        long long first = strtoll(text + length + 1, &dots, 0);
        bool two = dots != text + length + 1 && strncmp(dots, "..", 2) == 0;
        long long last = two ? strtoll(dots + 2, &end, 0) : 0;
        if (!two || end == dots + 2 || *end != '\0')
            return complain(err, d, 1, "bytes of a memory, as vmem:4096..8192");
        return ts_session_watch_bytes(err, d->session, (ts_space_kind)i, first, last) > 0;
    }
    return complain(err, d, 1, "a slice of a tensor, or bytes of a memory as vmem:4096..8192");
}

static bool add_watch(ts_error *err, debugger *d) {
    int64_t begin[TS_LAYOUT_MAX_DIMS], sizes[TS_LAYOUT_MAX_DIMS];
    const char *text = d->line.text + d->offsets[1];
    size_t length = strcspn(text, "[ \t");
    ts_name name = ts_session_name(d->session, text, length);
    if (name.kind != TS_NAME_TENSOR) return watch_bytes(err, d, d->words[1]);
    return read_box(err, d, name.index, d->offsets[1] + length, begin, sizes) &&
           ts_session_watch_box(err, d->session, &(ts_session_box){name.index, begin, sizes}) > 0;
}

static bool do_watch(ts_error *err, debugger *d) {
    if (d->word_count > 1 && !add_watch(err, d)) return false;
    ts_report_watches(d->session, d->out);
    return true;
}

static bool do_unwatch(ts_error *err, debugger *d) {
    int64_t n, first = 1;
    ts_watch_range range;
    while (first < TS_WATCHES && !ts_session_watch(d->session, (int)first, &range)) first++;
    if (!number(err, d, 1, 1, first, &n)) return false;
    if (n > TS_WATCHES || !ts_session_unwatch(d->session, (int)n))
        return complain(err, d, 1, "the number of a watch");
    ts_report_watches(d->session, d->out);
    return true;
}

/* ---- The table of commands ---- */

static bool do_quit(ts_error *err, debugger *d) {
    (void)err;
    d->quits = true;
    return true;
}

static debug_function do_help;
static const struct {
    const char *name, *letter, *arguments, *meaning;
    debug_function *run;
} debug_commands[] = {
    {"step", "s", "[N]", "issues N bundles, 1 without N", do_step},
    {"continue", "c", "", "goes on to a breakpoint or the end", do_continue},
    {"until", "u", "CYCLE", "goes on to a cycle", do_until},
    {"break", "b", "PLACE [if CONDITION]", "stops before an instruction of LINE, FILE:LINE or a macro,",
     do_break},
    {"", "", "", "if s1 == 4 (numbers, scalars, semaphores); lists all", do_break},
    {"delete", "d", "[N]", "takes breakpoint N away, the last without N", do_delete},
    {"watch", "", "TENSOR[SLICE]", "stops behind what writes there, and says what; lists all", do_watch},
    {"", "", "SPACE:FIRST..END", "the same of bytes: vmem:4096..8192, END excluded", do_watch},
    {"unwatch", "", "[N]", "takes watch N away, the first without N", do_unwatch},
    {"where", "w", "", "the bundle that issues next, and why it has not", do_where},
    {"list", "l", "[N]", "the program around it, N lines (4) before and behind", do_list},
    {"print", "p", "REGISTER [VIEW] [all]", "v3, m0, s1 or an alias, as f32, i32, hex or bf16", do_print},
    {"", "", "TENSOR[SLICE]", "x[0:8, 64:72]: values as they are in memory now", do_print},
    {"", "", "NAME", "a parameter or a semaphore", do_print},
    {"scalars", "r", "", "the scalar registers", do_scalars},
    {"sems", "m", "", "the semaphores", do_semaphores},
    {"dmas", "t", "", "the transfers under way", do_transfers},
    {"core", "", "[N]", "which of several cores all this is about: 0 at first", do_core},
    {"device", "", "[N]", "which device of a mesh: 0, then one that came to a breakpoint", do_device},
    {"help", "h", "", "this list", do_help},
    {"quit", "q", "", "leaves; so does the end of the input", do_quit},
};
enum { COMMANDS = sizeof debug_commands / sizeof debug_commands[0] };

static bool do_help(ts_error *err, debugger *d) {
    (void)err;
    for (int i = 0; i < COMMANDS; i++) {
        ts_text_add(d->out, "%-9s %-2s %-22s %s\n", debug_commands[i].name, debug_commands[i].letter,
                    debug_commands[i].arguments, debug_commands[i].meaning);
    }
    return true;
}

/* Its own and those behind it; more than a number are for the command to read. */
static int most_words(const char *arguments) {
    bool is_number = strcmp(arguments, "[N]") == 0 || strcmp(arguments, "CYCLE") == 0;
    return *arguments == '\0' ? 1 : is_number ? 2 : WORDS;
}

static bool run_command(ts_error *err, debugger *d) {
    for (int i = 0; i < COMMANDS; i++) {
        bool same = strcmp(d->words[0], debug_commands[i].name) == 0 ||
                    strcmp(d->words[0], debug_commands[i].letter) == 0;
        if (!same || *debug_commands[i].name == '\0') continue;
        int most = most_words(debug_commands[i].arguments);
        return d->word_count > most ? complain(err, d, most, "the end") : debug_commands[i].run(err, d);
    }
    complain(err, d, 0, "a command (help lists them)");
    return ts_error_hint(
        err, ts_text_nearest(d->words[0], &debug_commands[0].name, COMMANDS, sizeof debug_commands[0]));
}

/* Words are copied; the line stays whole, for errors. */
static void split(debugger *d) {
    const char *at = d->line.text;
    d->word_count = 0;
    while (*at != '\0' && d->word_count < WORDS) {
        at += strspn(at, " \t");
        size_t length = strcspn(at, " \t");
        if (length > 0) {
            d->offsets[d->word_count] = (size_t)(at - d->line.text);
            d->words[d->word_count++] = ts_arena_copy_text(d->scratch, at, length);
        }
        at += length;
    }
}

static void obey(debugger *d, const char *text, int number_of_line) {
    ts_error err = {0};
    char name[40];
    snprintf(name, sizeof name, "command %d", number_of_line);
    d->scratch = ts_arena_new();
    d->line = (ts_source){name, text, strlen(text)};
    split(d);
    bool good = d->word_count == 0 || run_command(&err, d);
    cli_print_now(d->out);
    ts_text_clear(d->out);
    if (!good) cli_fail(&err);
    ts_arena_free(d->scratch);
}

static void prompt(debugger *d) {
    if (isatty(0)) {
        ts_text_add(d->out, "(tilesim) ");
        cli_print_now(d->out);
        ts_text_clear(d->out);
    }
}

/* False where the line did not fit; the rest of it is then read and dropped. */
static bool skip_rest(const char *text) {
    if (strlen(text) < LINE_BYTES - 1 || strchr(text, '\n') != NULL) return true;
    int c;
    while ((c = getchar()) != EOF && c != '\n') {
    }
    return false;
}

static void read_commands(debugger *d) {
    char text[LINE_BYTES];
    prompt(d);
    for (int i = 1; !d->quits && fgets(text, sizeof text, stdin) != NULL; i++) {
        if (!skip_rest(text)) {
            fprintf(stderr, "command %d:1:%d: error: the line is longer, expected at most %d bytes\n", i,
                    LINE_BYTES, LINE_BYTES - 1);
            continue;
        }
        text[strcspn(text, "\r\n")] = '\0';
        obey(d, text, i);
        if (!d->quits) prompt(d);
    }
}

int cli_debug(const cli_line *line, const ts_run_request *request, const char *const *breaks,
              int break_count) {
    ts_error err = {0};
    ts_text out = ts_text_begin(line->arena);
    debugger d = {.session = ts_session_open(&err, line->arena, request), .out = &out};
    d.devices = request->mesh ? request->mesh->device_count : 0;
    d.breakpoints.session = d.session;
    d.breakpoints.arena = out.arena;
    bool good = d.session != NULL;
    for (int i = 0; good && i < break_count; i++) good = cli_breakpoints_add(&err, &d.breakpoints, breaks[i]);
    if (good && break_count > 0)
        obey(&d, "continue", 0);
    else if (good)
        obey(&d, "where", 0);
    if (good) read_commands(&d);
    ts_session_close(d.session);
    return good ? (d.failed ? 3 : 0) : cli_fail(&err);
}

/* ---- The command ---- */

static const cli_option options[] = {
    CLI_RUN_OPTIONS,
    CLI_MESH_OPTIONS,
    {"break", 'b', "PLACE", "goes on to that place first, as the command break has it; may be repeated"},
    {"exact", 0, NULL, "simulate every access of transfers: slower"},
};

static const cli_command command_debug = {
    .name = "debug",
    .operands = "PROGRAM",
    .operands_least = 1,
    .operands_most = 1,
    .about =
        "Steps through a program on a machine. Commands come from standard input, one a line; `help` lists\n"
        "them. On a mesh all devices stop in the same cycle. Exit code 3: the program broke a rule of the "
        "machine.\n",
    .example =
        "    printf 'break 70\\ncontinue\\nprint v0\\nwhere\\n' | tilesim debug programs/softmax.tsim\n",
    CLI_OPTIONS(options),
};

int cmd_debug(int argc, char **argv) {
    cli_line line;
    ts_error err = {0};
    ts_run_request request;
    if (!cli_begin(&line, &command_debug, argc, argv)) return line.exit_code;
    if (!cli_run_request(&err, &line, &request) || !cli_run_mesh(&err, &line, &request))
        return cli_end(&line, cli_fail(&err));
    request.exact = cli_value(&line, "exact") != NULL;
    int count;
    const char *const *breaks = cli_values(&line, "break", &count);
    return cli_end(&line, cli_debug(&line, &request, breaks, count));
}
