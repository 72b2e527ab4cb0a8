/* Functions of words that take several instructions: of vregs of f32 or i32, or numbers, to a vreg or a
 * vmask. */
#ifndef TILESIM_MOSAIC_WORDS_H
#define TILESIM_MOSAIC_WORDS_H

#include "lower.h"

typedef bool words_function(lowering *l, const ts_operand *in, ts_operand *out);
words_function words_divf, words_remf, words_maxui, words_minui, words_absi, words_cmpi, words_cmpf,
    words_ceil, words_round, words_trunc, words_exp2, words_log1p, words_tan, words_powf, words_weird,
    words_fptosi, words_fptoui, words_uitofp, words_erf, words_atan2, words_ctlz, words_division, words_same;

/* elementwise.c: the operation by a function of words, of scalars, vregs and what is packed in them; `bf16`:
 * the instruction that does it, where the machine has it. */
bool lower_words(lowering *l, words_function *function, int operands, ts_opcode bf16);

#endif
