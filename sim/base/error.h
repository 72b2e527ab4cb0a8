/* Errors as the library fills them: once, and passed up unread. */
#ifndef TILESIM_BASE_ERROR_H
#define TILESIM_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tilesim/error.h"

/* A text that errors point into. It outlives every error made from it only until the error is made:
 * the line is copied. `name` is a path, or what the text is called ("layout", "-D ROWS"). */
typedef struct {
    const char *name;
    const char *text;
    size_t length; /* bytes; the text need not end in NUL */
} ts_source;

enum { TS_ERROR_TEXT_BYTES = 512, TS_ERROR_LINE_BYTES = 160, TS_ERROR_NAME_BYTES = 256 };

struct ts_error {
    ts_error_kind kind;
    char message[TS_ERROR_TEXT_BYTES]; /* one line, no full stop: found, expected, nearest name */
    char name[TS_ERROR_NAME_BYTES];    /* of the source; empty when the error has no location */
    int line, column;                  /* from 1; 0 when the error has no location */
    char excerpt[TS_ERROR_LINE_BYTES]; /* the line, or the part of it around the column */
    int caret;                         /* bytes before the caret in `excerpt` */
    int64_t cycle;                     /* of a fault; -1 when it has none */
    const struct ts_error *next;       /* of the same text, behind this one, in its reader's arena; or NULL */
    bool more;                         /* there are others, which were not kept */
};

/* Every setter returns false, so that a function can `return ts_error_set(err, ...)`. `err` may be NULL.
 * An error that is already set is kept: the first one is the cause. */
bool ts_error_set(ts_error *err, ts_error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is a text that the library's callers must give there? If not, it is refused: "the type is NULL". */
bool ts_error_need(ts_error *err, const char *what, const char *text);

/* As ts_error_set, at byte `offset` of `source`. An offset past the end points just behind the last byte. */
bool ts_error_at(ts_error *err, ts_error_kind kind, const ts_source *source, size_t offset,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
bool ts_error_at_list(ts_error *err, ts_error_kind kind, const ts_source *source, size_t offset,
                      const char *format, va_list args) __attribute__((format(printf, 5, 0)));

/* The same, at a known line and column (from 1), for parsers that keep marks instead of offsets. */
bool ts_error_mark(ts_error *err, ts_error_kind kind, const ts_source *source, int line, int column,
                   const char *message);

/* Adds "; did you mean 'nearest'?" to the message, unless `nearest` is NULL. Returns false. */
bool ts_error_hint(ts_error *err, const char *nearest);

/* Puts whose it is before the message: "core 1: ". Returns false. */
bool ts_error_whose(ts_error *err, const char *what, int64_t number);

/* Puts where it is behind the message, for those that show nothing else: ", at p.tsim:3:9". Returns false. */
bool ts_error_where(ts_error *err);

/* The error that was found in a text which the user has not written, so without its place: "what: message".
 * Returns false. */
bool ts_error_within(ts_error *err, const ts_error *found, const char *what);

/* Keeps an error by which the system refused something (TS_ERROR_IO), for those who take other errors as the
 * answer to what was asked: that it cannot be, or is not modelled. True when there was one. */
bool ts_error_keep_system(ts_error *err, const ts_error *found);

#endif
