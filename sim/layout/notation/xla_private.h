/* What the files of XLA's notation share. */
#ifndef TILESIM_LAYOUT_NOTATION_XLA_PRIVATE_H
#define TILESIM_LAYOUT_NOTATION_XLA_PRIVATE_H

#include "layout/notation/xla.h"

/* ---- Tokens; comments count as white space (xla_token.c) ---- */

typedef struct {
    ts_error *err;
    ts_arena *arena;
    ts_cursor *cursor;
    int depth; /* of tuples around the cursor */
} xla_reader;

/* An error at the token that was read last. */
#define XLA_REFUSE(r, ...) ts_cursor_refuse((r)->err, (r)->cursor, __VA_ARGS__)

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

/* ---- From the fields to a shape with its layout and sizes (xla_shape.c) ---- */

/* An array (or token, opaque) of valid fields, which the shape keeps; a minor_to_major that was not written
 * is filled in. NULL when a size does not fit. */
const ts_shape *ts_xla_new_shape(ts_error *err, ts_arena *arena, ts_dtype dtype, ts_xla_layout *fields);
/* One tile of the last dims; leading dims of 1 are put in while it has more extents than there are dims. */
void ts_xla_apply_tile(ts_layout_builder *b, const ts_xla_tile *tile);
/* A tuple; `members` is kept. */
const ts_shape *ts_xla_new_tuple(ts_error *err, ts_arena *arena, int count, const ts_shape *const *members);

#endif
