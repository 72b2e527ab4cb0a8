/* Standard output and standard error. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

enum { EXIT_IO = 1 };

static int first_error; /* errno of the first write to standard output that failed; 0: none did */

void cli_reserve_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void note(bool written) {
    if (!written && first_error == 0) first_error = errno;
}

int cli_print(const ts_text *text) {
    if (text->length > 0) note(fwrite(text->bytes, 1, text->length, stdout) == text->length);
    return 0;
}

void cli_print_now(const ts_text *text) {
    cli_print(text);
    note(fflush(stdout) == 0);
}

int cli_finish(int exit_code) {
    note(fflush(stdout) == 0);
    if (first_error == 0) return exit_code;
    fprintf(stderr, "tilesim: error: cannot write 'standard output': %s\n", strerror(first_error));
    return exit_code ? exit_code : EXIT_IO;
}

enum { ERROR_BYTES = TS_ERROR_TEXT_BYTES + TS_ERROR_NAME_BYTES + 2 * TS_ERROR_LINE_BYTES + 64 };

int cli_fail(const ts_error *err) {
    char text[ERROR_BYTES];
    ts_error_format(err, text, sizeof text);
    fprintf(stderr, "%s%s", err->line ? "" : "tilesim: ", text);
    return ts_error_exit_code(err);
}

int cli_usage_error(const cli_line *line, const ts_error *err) {
    char text[ERROR_BYTES];
    ts_error_format(err, text, sizeof text);
    fprintf(stderr, "%s%s%s%s", err->line ? "" : "tilesim ", err->line ? "" : line->command->name,
            err->line ? "" : ": ", text);
    fprintf(stderr, "`tilesim %s --help` shows how it is used\n", line->command->name);
    return ts_error_exit_code(err);
}
