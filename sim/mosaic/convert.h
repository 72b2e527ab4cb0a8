/* Values of a vreg as words, and back. */
#ifndef TILESIM_MOSAIC_CONVERT_H
#define TILESIM_MOSAIC_CONVERT_H

#include "lower.h"

typedef struct {
    const mlir_type *type;
    ts_operand vreg;
    bool rows; /* 8 rows are taken together; else what is in one part of every word */
    bool sign; /* integers are read with theirs */
} packed_values;

enum { PACKING_MOST = 16 }; /* values of a word, of 2 bits */

/* The index'th 8 rows, or part of every word: as f32, or as i32. */
bool take_words(lowering *l, const packed_values *from, int index, ts_operand *out);
/* As many words as a word of the type holds values, which are changed on the way; the rest of them is
 * dropped. */
bool put_words(lowering *l, ts_operand *words, packed_values *to);
/* Masks of words, one for each value of `bits` in a word, as that of these values. */
ts_operand join_masks(lowering *l, const ts_operand *words, int bits);

#endif
