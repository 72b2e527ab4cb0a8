/* Standard output and standard error. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tilesim/version.h"

#include "base/memory.h"
#include "base/number.h"
#include "report/error.h"

enum { EXIT_IO = 1 };

static const char *json_command; /* that errors are of, as JSON; NULL: they are text only */
static bool printed;             /* something went to standard output */
static int first_error;          /* errno of the first write to standard output that failed; 0: none did */

void cli_reserve_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void note(bool written) {
    if (!written && first_error == 0) first_error = errno;
}

int cli_print(const ts_text *text) {
    printed = printed || text->length > 0;
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

/* ---- Errors ---- */

void cli_errors_as_json(const char *command) { json_command = command; }

bool cli_asks_for_json(int argc, char **argv) {
    static const char option[] = "--json";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        size_t length = strlen(argv[i]);
        if (length >= strlen("--js") && length < sizeof option && strncmp(argv[i], option, length) == 0)
            return true;
    }
    return false;
}

static void print_json(const ts_error *err) {
    if (!json_command || printed) return;
    ts_arena *arena = ts_arena_new();
    ts_text text = ts_text_begin(arena);
    ts_report_error_json(err, json_command, &text);
    cli_print(&text);
    ts_arena_free(arena);
}

int cli_fail_with_help(const ts_error *err, const char *program, const char *help) {
    char text[TS_ERROR_TEXT_BYTES + TS_ERROR_NAME_BYTES + 2 * TS_ERROR_LINE_BYTES + 64];
    int count = 0;
    for (const ts_error *at = err; at; at = at->next, count++) {
        ts_error_format(at, text, sizeof text);
        fprintf(stderr, "%s%s%s", at->line ? "" : program, at->line ? "" : ": ", text);
    }
    if (count > 1 || err->more)
        fprintf(stderr, "%d error%s%s\n", count, count > 1 ? "s" : "", err->more ? ", and more" : "");
    fputs(help, stderr);
    print_json(err);
    return ts_error_exit_code(err);
}

int cli_fail(const ts_error *err) { return cli_fail_with_help(err, "tilesim", ""); }

/* ---- Memory ---- */

static char memory_limit[80]; /* ", --max-memory is 1GiB" */

/* Addresses stand for memory: what the process has now, what the option lets it take, and room for what is
 * reserved and never touched, as by aligned tensors and stacks. */
void cli_limit_memory(int64_t bytes, const char *text) {
    enum { ROOM = 64 << 20 };
    int64_t used;
    struct rlimit limit;
    if (!ts_memory_addresses(&used) || getrlimit(RLIMIT_AS, &limit) != 0) return;
    if (!ts_add(used, bytes, &used) || !ts_add(used, ROOM, &used) || (rlim_t)used >= limit.rlim_cur) return;
    limit.rlim_cur = (rlim_t)used;
    if (setrlimit(RLIMIT_AS, &limit) == 0)
        snprintf(memory_limit, sizeof memory_limit, ", --max-memory is %.40s", text);
}

#define OUT_OF_MEMORY                                                                                        \
    "{\"kind\": \"io\", \"message\": \"out of memory (%zu bytes more)%s\", \"exit_code\": %d, "              \
    "\"source\": null, \"line\": null, \"column\": null, \"excerpt\": null, \"cycle\": null}"

static atomic_flag ending = ATOMIC_FLAG_INIT; /* a thread said why */

/* There is none for a text. Other threads that lack memory wait for the end, which comes once. */
void ts_out_of_memory(size_t bytes) {
    while (atomic_flag_test_and_set(&ending)) pause();
    fprintf(stderr, "tilesim: error: out of memory (%zu bytes more)%s\n", bytes, memory_limit);
    if (json_command && !printed)
        printf("{\"schema\": \"tilesim.%s\", \"version\": \"" TS_VERSION "\", \"error\": " OUT_OF_MEMORY
               ", \"errors\": [" OUT_OF_MEMORY "], \"more_errors\": false}\n",
               json_command, bytes, memory_limit, EXIT_IO, bytes, memory_limit, EXIT_IO);
    exit(EXIT_IO);
}
