/* Standard output and standard error: the report, errors, and what became of them. */
#ifndef SIM_CLI_OUTPUT_H
#define SIM_CLI_OUTPUT_H

#include "tilesim/base/error.h"
#include "tilesim/base/text.h"

/* Before all else: a descriptor 0, 1 or 2 that is closed is opened so that its use fails, or the next file
 * would get its number and a report go into it. */
void cli_reserve_descriptors(void);
/* Flushes standard output; the exit code, or 1 (and that is said) when something could not be written. */
int cli_finish(int exit_code);

/* Prints the error to stderr and returns its exit code. */
int cli_fail(const ts_error *err);
/* Writes text to stdout and returns 0; what cannot be written is found, and said, when the program ends. */
int cli_print(const ts_text *text);
/* The same, and sees to it that the text is out. */
void cli_print_now(const ts_text *text);

#endif
