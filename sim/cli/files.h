/* The files that a command line names. */
#ifndef TILESIM_CLI_FILES_H
#define TILESIM_CLI_FILES_H

#include "options.h"

/* Checks the files of all options before the work: at most one thing goes to standard output, no file is
 * written twice or also read, and all can be written. False: that was said. */
bool cli_check_files(cli_line *line);

/* Is no file that the line's options write one of these, or one that these name? */
bool cli_check_inputs(ts_error *err, const cli_line *line, const char *const *paths, int path_count);

/* Do the files that are read fit into so many bytes? */
bool cli_check_file_memory(ts_error *err, const cli_line *line, int64_t most);

/* An empty text for the file of an option; NULL where that was not given. */
ts_text *cli_text_for(const cli_line *line, const char *option);
/* Writes the text to the file of the option. text NULL: the option was not given, and there is nothing to
 * do. */
bool cli_save(ts_error *err, const cli_line *line, const char *option, const ts_text *text);

/* What ends the process before its time takes its temporary files along; signals do. */
void cli_remove_files_at_exit(void);

#endif
