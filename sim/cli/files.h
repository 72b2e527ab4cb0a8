/* The files that a command line names. */
#ifndef TILESIM_CLI_FILES_H
#define TILESIM_CLI_FILES_H

#include "options.h"

/* Before the work: at most one thing goes to standard output, no file is written twice or also read, and all
 * can be written. False: that was said. */
bool cli_check_files(cli_line *line);

/* When a signal ends the process, its temporary files go too. */
void cli_remove_files_on_signals(void);

#endif
