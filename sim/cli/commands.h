/* The table of commands. Each has a file cmd_<name>.c with `int cmd_<name>(int argc, char **argv)`. */
#ifndef TILESIM_CLI_COMMANDS_H
#define TILESIM_CLI_COMMANDS_H

#define COMMAND(name, summary) int cmd_##name(int argc, char **argv);
#include "commands.def"
#undef COMMAND

typedef struct {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
} command;

#endif
