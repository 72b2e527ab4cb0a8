/* Products of matrices in vregs: what tpu.matmul asks for, and the queue of those that are emitted
 * together. */
#ifndef TILESIM_MOSAIC_MATMUL_H
#define TILESIM_MOSAIC_MATMUL_H

#include "lower.h"

/* The instructions of a type of operands; `packing` rows of them are in a word. */
typedef struct {
    ts_dtype dtype;
    int packing;
    ts_opcode latch, latch_columns, push;
} matrix_row;

/* A matrix in vregs: row-major, each of 8 * packing rows and 128 columns. */
typedef struct {
    const value *vregs;
    int64_t rows, columns; /* of vregs */
} matrix;

typedef struct product {
    const matrix_row *row;
    matrix left, right;
    bool transposed; /* the right side has the columns of the product as its rows */
    int passes;      /* 6: of f32 in parts */
    int chunks;      /* vregs that an edge is wide */
    int64_t m, k, n; /* 8 rows, edges, edges */
    int64_t sum_columns;
    ts_operand *sums, *results; /* m rows of so many vregs: so far, and where they end */
    ts_source *file;            /* the operation's location */
    int line;
} product;

/* Has the operation this attribute, with the word in it? */
bool matmul_wants(const lowering *l, const char *name, const char *word);
/* A side of the operation, changed to a type that the unit has. */
enum { MATRIX_VREGS_MAX = 1 << 14 };
typedef struct {
    value vregs;
    mlir_type type;
} product_side;
bool matmul_read_sides(lowering *l, product_side *sides);
/* Is the value the result of a product that waits? */
bool matmul_awaits(const lowering *l, const value *v);

/* Emitted with others that follow it at once; p->results are registers that are written then. */
void matmul_queue_product(lowering *l, product *p, const value *sums);

#endif
