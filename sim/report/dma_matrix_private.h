/* What the forms of the table of all pairs share. Private to the folder. */
#ifndef TILESIM_REPORT_DMA_MATRIX_PRIVATE_H
#define TILESIM_REPORT_DMA_MATRIX_PRIVATE_H

#include "report/dma_matrix.h"

/* Of a straight copy, in hundredths, rounded. */
int64_t matrix_ratio(const ts_transfer_matrix *matrix, int from, int to);
/* Is any price? */
bool matrix_is_estimated(const ts_transfer_matrix *matrix);
/* The layout's own text, without type and dims: "{1,0:T(8,128)}". */
void matrix_add_layout(ts_text *out, const ts_shape *shape);
/* The type and dims alone: "bf16[4096,4096]". */
void matrix_add_array(ts_text *out, const ts_shape *shape);

#endif
