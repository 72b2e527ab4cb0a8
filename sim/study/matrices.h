/* A transfer as a batch of matrices, as the programs that are shipped for such take them. */
#ifndef TILESIM_STUDY_MATRICES_H
#define TILESIM_STUDY_MATRICES_H

#include "dma/price.h"

typedef struct {
    int64_t batch, rows, cols; /* of the source */
    bool transposed;           /* its columns are rows of the destination */
    bool in_hbm[2], is_tiled[2];
} ts_matrices;

/* False: it is none of matrices. */
bool ts_matrices_find(const ts_plan *plan, ts_dma_end src, ts_dma_end dst, ts_matrices *m);

/* Bytes of padding in HBM that the shapes have, for what moves of them, and the matrices do not. */
int64_t ts_matrices_left_out_bytes(const ts_plan *plan, const ts_matrices *m);

#endif
