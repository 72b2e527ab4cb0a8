/* What all commands share. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *nearest_option(const char *word, const struct option *options) {
    size_t count = 0;
    while (options[count].name) count++;
    return ts_text_nearest(word, &options[0].name, count, sizeof options[0]);
}

int cli_option(int argc, char **argv, const char *letters, const struct option *options) {
    char spec[64];
    snprintf(spec, sizeof spec, ":%s", letters);
    opterr = 0;
    int at = optind, option = getopt_long(argc, argv, spec, options, NULL);
    if (option != '?' && option != ':') return option;
    char word[64];
    const char *given = at < argc && optopt == 0 ? argv[at] : NULL;
    if (given) snprintf(word, sizeof word, "%.*s", (int)strcspn(given + 2, "="), given + 2);
    const char *nearest = given ? nearest_option(word, options) : NULL;
    if (option == ':') cli_usage(argv[0], "option '%s' needs a value", argv[optind - 1]);
    else if (!given) cli_usage(argv[0], "unknown or unsuitable option '%s'", argv[optind - 1]);
    else if (nearest) cli_usage(argv[0], "unknown option '--%s'; did you mean '--%s'?", word, nearest);
    else cli_usage(argv[0], "unknown option '--%s'", word);
    return '?';
}

int cli_usage(const char *command, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "tilesim %s: error: ", command);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n`tilesim %s --help` shows how it is used\n", command);
    va_end(list);
    return CLI_USAGE;
}

int cli_fail(const ts_error *err) {
    char text[2 * TS_ERROR_TEXT_BYTES + TS_ERROR_LINE_BYTES + TS_ERROR_NAME_BYTES];
    ts_error_format(err, text, sizeof text);
    fputs(text, stderr);
    return ts_error_exit_code(err);
}

int cli_print(const ts_text *text) {
    if (fwrite(text->bytes, 1, text->length, stdout) == text->length && fflush(stdout) == 0) return CLI_OK;
    fprintf(stderr, "tilesim: error: cannot write to standard output: %s\n", strerror(errno));
    return CLI_INPUT;
}

ts_source cli_source(const char *name, const char *text) { return (ts_source){name, text, strlen(text)}; }
