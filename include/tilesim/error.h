/* An error: what kind, where in the input, and what was expected. */
#ifndef TILESIM_ERROR_H
#define TILESIM_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include "tilesim/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    TS_ERROR_NONE = 0,
    TS_ERROR_INPUT,      /* the user's text or file is wrong: exit code 1 */
    TS_ERROR_IO,         /* the system refused a read, write or rename: exit code 1 */
    TS_ERROR_USAGE,      /* a request or a command line is wrong: exit code 2 */
    TS_ERROR_FAULT,      /* the program broke a rule of the machine, or a check failed: exit code 3 */
    TS_ERROR_UNMODELLED, /* valid, but not modelled: exit code 4 */
    TS_ERROR_WARNING,    /* not an error: what works, and should not be so */
    TS_ERROR_NOTE,       /* not an error: another line that explains one */
    TS_ERROR_CAPACITY    /* as TS_ERROR_INPUT, of a tensor that does not fit its memory: exit code 1 */
} ts_error_kind;

/* Every function that can fail takes one first, or NULL. The first error that is put into it stays: clear it
 * before it is used for something else.
 *
 * Such a function refuses a text that is NULL (TS_ERROR_USAGE) where its comment does not say what NULL
 * means. All other pointers must be valid, or NULL where a comment says so. */
typedef struct ts_error ts_error;

TS_API ts_error *ts_error_new(void); /* to be freed */
TS_API void ts_error_free(ts_error *err);
TS_API void ts_error_clear(ts_error *err);

TS_API ts_error_kind ts_error_get_kind(const ts_error *err);
TS_API const char *ts_error_message(const ts_error *err); /* one line: found, expected, nearest name */
TS_API const char *ts_error_file(const ts_error *err);    /* "" where it has no location */
TS_API int ts_error_line(const ts_error *err);            /* from 1; 0 where it has no location */
TS_API int ts_error_column(const ts_error *err);
TS_API const ts_error *ts_error_next(const ts_error *err); /* the next error of the same text, or NULL */

/* The text a user sees, with the line and a caret, ended by a newline, into `out` (always ended by NUL);
 * returns the bytes it needs. */
TS_API size_t ts_error_format(const ts_error *err, char *out, size_t bytes);
/* As the command line exits: 0 ok, 1 input or I/O, 2 usage, 3 fault or failed check, 4 not modelled. */
TS_API int ts_error_exit_code(const ts_error *err);

#ifdef __cplusplus
}
#endif

#endif
