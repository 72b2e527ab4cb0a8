/* Functions of words that take several instructions: of vregs of f32 or i32, or numbers, to a vreg or a vmask. */
#ifndef TILESIM_MOSAIC_WORDS_H
#define TILESIM_MOSAIC_WORDS_H

#include "lower.h"

typedef bool words_function(lowering *l, const ts_operand *in, ts_operand *out);
words_function words_divf, words_maxui, words_minui, words_absi, words_cmpi, words_cmpf, words_ceil,
    words_round, words_trunc, words_exp2, words_log1p, words_tan, words_powf, words_weird, words_fptosi;

typedef struct {
    bool sign, rest; /* toward 0; the remainder */
} division_kind;
/* Of the operation's two vregs. */
bool divide_vregs(lowering *l, const division_kind *kind, ts_operand *out);

#endif
