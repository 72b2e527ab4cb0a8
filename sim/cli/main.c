/* The binary: finds the command and runs it. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "commands.h"
#include "files.h"
#include "output.h"
#include "base/text.h"
#include "tilesim/version.h"

enum { EXIT_USAGE = 2 };

static const command commands[] = {
#define COMMAND(name, summary) {#name, summary, cmd_##name},
#include "commands.def"
#undef COMMAND
    {NULL, NULL, NULL},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] - 1 };

static void help(FILE *out) {
    fputs("usage: tilesim COMMAND [ARGUMENT...]\n"
          "Simulates a TPU-style machine: its kernels, its memories and its tensor layouts.\n\n",
          out);
    for (const command *c = commands; c->name; c++) fprintf(out, "  %-10s %s\n", c->name, c->summary);
    fputs("\ntilesim help COMMAND     what a command does, with an example; also tilesim COMMAND --help, -h\n"
          "tilesim --version, -V    the version\n",
          out);
}

static int unknown(const char *word) {
    ts_error err = {0};
    ts_error_set(&err, TS_ERROR_USAGE, "unknown command '%s'", word);
    ts_error_hint(&err, ts_text_nearest(word, &commands[0].name, COMMANDS, sizeof commands[0]));
    return cli_fail_with_help(&err, "tilesim", "`tilesim --help` lists the commands\n");
}

static const command *find(const char *name) {
    for (const command *c = commands; c->name; c++)
        if (strcmp(name, c->name) == 0) return c;
    return NULL;
}

/* tilesim help COMMAND is tilesim COMMAND --help. */
static int help_with(int argc, char **argv) {
    static char option[] = "--help";
    if (argc < 3 || argv[2][0] == '-' || strcmp(argv[2], "help") == 0) return help(stdout), 0;
    const command *c = find(argv[2]);
    char *words[] = {argv[2], option, NULL};
    return c ? c->run(2, words) : unknown(argv[2]);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) return help(stderr), EXIT_USAGE;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help(stdout), 0;
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return puts("tilesim " TS_VERSION), 0;
    if (strcmp(argv[1], "help") == 0) return help_with(argc, argv);
    const command *c = find(argv[1]);
    return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}

enum { STACK_BYTES = 512 << 10, PAGE_BYTES = 4096 };

/* Downwards, as a stack grows. */
static __attribute__((noinline)) void touch_stack(void) {
    char bytes[STACK_BYTES];
    volatile char *page = bytes + STACK_BYTES;
    while (page > bytes) *(page -= PAGE_BYTES) = 0;
}

/* What calls need is taken while its lack can still be said: a stack that cannot grow is a crash. */
static void reserve_stack(void) {
    void *room = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) ts_out_of_memory(STACK_BYTES);
    munmap(room, STACK_BYTES);
    touch_stack();
}

int main(int argc, char **argv) {
    cli_errors_as_json(cli_asks_for_json(argc, argv) ? "error" : NULL);
    reserve_stack();
    cli_reserve_descriptors();
    cli_remove_files_at_exit();
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 256 << 20); /* what a run gives back, the next one takes */
    mallopt(M_MMAP_THRESHOLD, 2 << 20);   /* an arena's chunks above all */
#endif
    return cli_finish(dispatch(argc, argv));
}
