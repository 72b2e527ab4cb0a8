/* A kernel that multiplies matrices of bf16 in blocks, as the text that Mosaic's passes make of it. */
#ifndef TILESIM_MOSAIC_PRODUCT_H
#define TILESIM_MOSAIC_PRODUCT_H

#include "base/error.h"
#include "base/text.h"

typedef enum { TS_PRODUCT_PLAIN, TS_PRODUCT_RELU } ts_product_finish;

/* x[m,k] y[k,n], or y[n,k] where it is transposed, in f32; a step of the grid takes a block of each, and the
 * last of a block's steps along k finishes it. */
typedef struct {
    int64_t m, n, k, block_m, block_n, block_k;
    int64_t blocks_m, blocks_n; /* of the grid; 0: all that there are */
    bool transposed;
    ts_product_finish finish;
} ts_product_kernel;

/* Blocks are whole tiles, and divide the matrices. */
bool ts_product_kernel_fits(const ts_product_kernel *kernel);
/* Not modelled: what does not fit. */
bool ts_product_kernel_text(ts_error *err, const ts_product_kernel *kernel, ts_text *out);

#endif
