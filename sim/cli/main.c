/* The binary: finds the command and runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "tilesim/base/arena.h"
#include "tilesim/base/text.h"
#include "tilesim/base/version.h"

enum { EXIT_USAGE = 2 };

static const command commands[] = {
#define COMMAND(name, summary) {#name, summary, cmd_##name},
#include "commands.def"
#undef COMMAND
    {NULL, NULL, NULL},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] - 1 };

_Noreturn static void out_of_memory(size_t bytes) {
    fprintf(stderr, "tilesim: error: out of memory (%zu bytes more)\n", bytes);
    exit(1);
}

static int help(void) {
    puts("usage: tilesim COMMAND [ARGUMENT...]\n"
         "Simulates a TPU-style machine: its kernels, its memories and its tensor layouts.\n");
    for (const command *c = commands; c->name; c++) printf("  %-10s %s\n", c->name, c->summary);
    puts("\ntilesim COMMAND --help   what a command does, with an example\n"
         "tilesim --version        the version");
    return 0;
}

static int unknown(const char *word) {
    const char *nearest = ts_text_nearest(word, &commands[0].name, COMMANDS, sizeof commands[0]);
    fprintf(stderr, "tilesim: error: unknown command '%s'", word);
    if (nearest) fprintf(stderr, "; did you mean '%s'?", nearest);
    fputs("\n`tilesim --help` lists the commands\n", stderr);
    return EXIT_USAGE;
}

int main(int argc, char **argv) {
    ts_arena_set_oom(out_of_memory);
    if (argc < 2) return help(), EXIT_USAGE;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help();
    if (strcmp(argv[1], "--version") == 0) return puts("tilesim " TS_VERSION) < 0;
    for (const command *c = commands; c->name; c++)
        if (strcmp(argv[1], c->name) == 0) return c->run(argc - 1, argv + 1);
    return unknown(argv[1]);
}
