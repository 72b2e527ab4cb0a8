/* What follows from a transfer's plan. Private to the layer. */
#ifndef TILESIM_DMA_TRANSFER_H
#define TILESIM_DMA_TRANSFER_H

#include "dma/dma.h"

/* Of `loop_dims` loops each; of a plan that gathers, one an element. */
int64_t transfer_count_descriptors(const ts_plan *plan, int loop_dims);
/* Bytes a cycle: what the engine does to such a kind, or what the partitions take. */
int64_t transfer_rate(const ts_dma_config *config, const ts_dma_transfer *what, ts_dma_kind kind);
/* Sets what is counted in bytes, lines and runs. totals: of the whole traversal. */
void transfer_count_bytes(const ts_dma_config *config, const ts_dma_transfer *what,
                          const ts_traversal_totals *totals, ts_dma_result *result);
/* Of its accesses of the HBM. */
ts_traversal *transfer_traversal(ts_arena *arena, const ts_dma_config *config, const ts_dma_transfer *what);

#endif
