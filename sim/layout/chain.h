/* Chains: what a digit is as a function of the logical index, ready for algebra. Private to the layout layer.
 *
 * Logical dims that a layout merges form one variable, their row-major index x. A digit is
 *     (((x + bias_0) mod modulus_0 + bias_1) mod modulus_1 ... + bias) / divisor
 * because div and mod by factors commute: (y / c) mod m = (y mod c m) / c, and (y / c) + b = (y + b c) /
 * c. */
#ifndef TILESIM_LAYOUT_CHAIN_H
#define TILESIM_LAYOUT_CHAIN_H

#include "layout/layout.h"

enum { TS_CHAIN_OPS = 8, TS_CHAIN_CONSTANT = -1 };

typedef struct {
    int64_t bias, modulus;
} ts_chain_op;

typedef struct {
    int variable; /* TS_CHAIN_CONSTANT: the digit is always `bias` */
    int op_count;
    ts_chain_op ops[TS_CHAIN_OPS];
    int64_t bias, divisor;
} ts_chain;

typedef struct {
    int dim_count;
    int dims[TS_LAYOUT_MAX_DIMS]; /* most significant first */
    int64_t extent;               /* product of their logical extents */
} ts_variable;

typedef struct {
    bool compound; /* some digit is no chain (a merge of padded or of unrelated parts): use the stages */
    int variable_count;
    ts_variable *variables; /* every dim is in exactly one */
    const ts_chain *digits; /* one for each digit of the layout */
} ts_chains;

/* Never fails. Of a layout by function: compound. */
const ts_chains *ts_chains_of(ts_arena *arena, const ts_layout *layout);
/* The chain of x = outer mod modulus / divisor instead of x (modulus 0: none). False when it gets too
 * long. */
bool ts_chain_substitute(ts_chain *chain, int64_t modulus, int64_t divisor);

#endif
