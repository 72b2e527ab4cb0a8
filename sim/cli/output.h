/* Standard output and standard error: the report, errors, and what became of them. */
#ifndef TILESIM_CLI_OUTPUT_H
#define TILESIM_CLI_OUTPUT_H

#include "base/error.h"
#include "base/text.h"

/* Before all else: a descriptor 0, 1 or 2 that is closed is opened so that its use fails, or the next file
 * would get its number and a report go into it. */
void cli_reserve_descriptors(void);
/* Flushes standard output; the exit code, or 1 (and that is said) when something could not be written. */
int cli_finish(int exit_code);

/* From now on errors go to standard output as JSON too, as those of this command ("run"), unless something
 * else went there; NULL: they do not. */
void cli_errors_as_json(const char *command);
/* Does the command line, argv[0] a program or a command, ask for JSON? As far as can be seen without the
 * command's own options. */
bool cli_asks_for_json(int argc, char **argv);
/* Prints the error to stderr and returns its exit code; with a second line that says where help is. */
int cli_fail(const ts_error *err);
int cli_fail_with_help(const ts_error *err, const char *program, const char *help);

/* From now on the process is out of memory when it takes so many bytes more, which --max-memory gave as
 * `text`. */
void cli_limit_memory(int64_t bytes, const char *text);

/* Writes text to stdout and returns 0; what cannot be written is found, and said, when the program ends. */
int cli_print(const ts_text *text);
/* The same, and flushes it. */
void cli_print_now(const ts_text *text);

#endif
