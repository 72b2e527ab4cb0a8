/* What all commands share: options, errors and output. */
#ifndef SIM_CLI_CLI_H
#define SIM_CLI_CLI_H

#include <getopt.h>
#include <stdbool.h>

#include "tilesim/base/arena.h"
#include "tilesim/base/error.h"
#include "tilesim/base/text.h"

enum { CLI_OK = 0, CLI_INPUT = 1, CLI_USAGE = 2 };

/* getopt_long that says what was wrong, with the nearest option: returns '?' then (exit with CLI_USAGE). */
int cli_option(int argc, char **argv, const char *letters, const struct option *options);
/* Prints "tilesim COMMAND: error: ..." and where the help is; returns CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the error on stderr; returns its exit code. */
int cli_fail(const ts_error *err);
/* Writes the text to standard output; returns CLI_OK, or CLI_INPUT after saying that it could not be written. */
int cli_print(const ts_text *text);
/* A command-line argument as a source, so that errors point into it. */
ts_source cli_source(const char *name, const char *text);

#endif
