/* Layouts by the names that cuDNN, oneDNN and TVM give them: NHWC, NCHW4c, nChw16c, OIhw16i16o, NCHW_VECT_C,
 * acdb.
 *
 * A name says the order in memory of the dims that its letters stand for. The array's own dims are in the
 * order that cuDNN (cudnnSetTensor4dDescriptor) and oneDNN (dnnl_format_tag_t) give them, whatever the order
 * in memory:
 *   data      N C D H W
 *   filters   G O I D H W, or G K C T R S
 *   letters   A B C D .. in the order of the alphabet
 * A number and a small letter is a block of that dim, which is split and padded to a multiple; a letter that is
 * blocked is a capital, the others may be small. _VECT_C is a block of as many elements as 32 bits hold. */
#ifndef TILESIM_LAYOUT_NOTATION_NAMED_H
#define TILESIM_LAYOUT_NOTATION_NAMED_H

#include "layout/layout.h"

enum { TS_NAMED_MAX_ITEMS = 32 };

/* In the order of memory, the fastest last. */
typedef struct {
    int dim;       /* of the array */
    char letter;   /* as written */
    int64_t block; /* 0: all of the dim, or what its blocks leave of it */
} ts_named_item;

typedef struct {
    int rank, count;
    ts_named_item items[TS_NAMED_MAX_ITEMS];
} ts_named;

/* A name at the cursor, which is left behind it. element_bits: for _VECT_. */
bool ts_named_read(ts_error *err, ts_cursor *cursor, int element_bits, ts_named *out);
void ts_named_print(ts_text *out, const ts_named *named); /* _VECT_C as the block it is */
/* Row-major on m in the order of the name. */
const ts_layout *ts_named_layout(ts_error *err, ts_arena *arena, const ts_named *named, int rank,
                                 const int64_t *dims);

#endif
