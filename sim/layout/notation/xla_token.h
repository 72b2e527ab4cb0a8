/* Tokens of XLA's shape notation. Comments count as white space. Private. */
#ifndef TILESIM_LAYOUT_NOTATION_XLA_TOKEN_H
#define TILESIM_LAYOUT_NOTATION_XLA_TOKEN_H

#include "base/arena.h"
#include "base/text.h"

typedef struct {
    ts_error *err;
    ts_arena *arena;
    ts_cursor *cursor;
    int depth; /* of tuples around the cursor */
} xla_reader;

/* An error at the token that was read last. */
#define XLA_REFUSE(r, ...)                                                                                   \
    ts_error_at((r)->err, TS_ERROR_INPUT, (r)->cursor->source, (r)->cursor->token, __VA_ARGS__)

void xla_skip(xla_reader *r);
/* As ts_cursor_peek, _take, _expect and _unexpected, behind white space. */
int xla_peek(xla_reader *r);
bool xla_take(xla_reader *r, const char *text);
bool xla_expect(xla_reader *r, const char *text);
bool xla_unexpected(xla_reader *r, const char *what);

/* The bytes of the number-like word at the cursor (0 when there is none), and whether it is an integer:
 * 8x128, 1_000 and 1e3 are single tokens to XLA, and no integers. */
size_t xla_number_word(xla_reader *r, bool *integer);
bool xla_read_int(xla_reader *r, const char *what, int64_t *value);
/* At least `least`, as the field or location `what` needs it. */
bool xla_read_size(xla_reader *r, const char *what, int64_t least, int64_t *value);

#endif
