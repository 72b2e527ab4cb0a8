/* Private: the notations that may stand behind the dims of a shape. */
#ifndef TILESIM_LAYOUT_NOTATION_NOTATION_H
#define TILESIM_LAYOUT_NOTATION_NOTATION_H

#include "layout/shape.h"

/* What a notation has read, over the dims of an array. */
typedef struct {
    int rank, value_bits; /* of a value of the type */
    int element_bits;     /* of storage; a reader may change it */
    const int64_t *dims;
    const ts_layout *layout;
    ts_text text;      /* canonical */
    int64_t addresses; /* that memory must have for it; 0: as far as the layout's axes reach */
} ts_notation_shape;

/* Reads a text of the notation at the cursor, which is left behind it. */
typedef bool ts_notation_reader(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_notation_shape *shape);

#define NOTATION(name, words) ts_notation_reader ts_notation_read_##name;
#include "notations.def"

typedef struct {
    const char *name;
    ts_notation_reader *read;
    const char *words; /* as in notations.def */
} ts_notation;

/* The notation that the text at the cursor begins, by its first words; NULL: none. */
const ts_notation *ts_notation_find(const ts_cursor *cursor);
/* Is the word at the cursor a layout's name? Any word may follow a shape; "S" is its S(n). */
bool ts_named_is(ts_cursor at);
/* What stands behind a layout that is not XLA's: E() where elements are not as wide as usual, and S(). */
void ts_shape_print_fields(const ts_shape *shape, ts_text *out);
/* A layout as XLA's minor_to_major and tiles: NULL, and an error that says what XLA lacks, where there is none of
 * at most three tiles (translate_xla.c). */
const ts_shape *ts_translate_to_xla(ts_error *err, ts_arena *arena, const ts_shape *shape);

#endif
