/* The cost breakdown of one transfer: where its time goes, and how long its runs are. */
#ifndef TILESIM_DMA_BREAKDOWN_H
#define TILESIM_DMA_BREAKDOWN_H

#include "layout/plan.h"

typedef enum {
#define COMPONENT(id, key, label, meaning) TS_DMA_COMPONENT_##id,
#include "dma/cost_components.def"
#undef COMPONENT
    TS_DMA_COMPONENT_COUNT,
} ts_dma_component;

/* What limits a transfer. */
typedef enum {
    TS_DMA_LIMIT_BANDWIDTH, /* of the HBM; the next five in the order of the components */
    TS_DMA_LIMIT_PADDING,
    TS_DMA_LIMIT_WASTE,
    TS_DMA_LIMIT_ROWS,
    TS_DMA_LIMIT_CONFLICTS,
    TS_DMA_LIMIT_REFRESH,
    TS_DMA_LIMIT_ENGINE, /* its rate for the kind */
    TS_DMA_LIMIT_READS,  /* of the HBM */
    TS_DMA_LIMIT_PARTITIONS,
    TS_DMA_LIMIT_DESCRIPTORS,
    TS_DMA_LIMIT_FIXED,
    TS_DMA_LIMIT_CORE, /* of a core program */
    TS_DMA_LIMIT_COUNT,
} ts_dma_limit;

const char *ts_dma_component_key(ts_dma_component part);   /* in JSON: "burst_waste" */
const char *ts_dma_component_label(ts_dma_component part); /* in tables: "burst waste" */
/* The largest: what limits the transfer. */
ts_dma_component ts_dma_largest_component(const int64_t cycles[TS_DMA_COMPONENT_COUNT]);

/* Runs of one side by length: class i has 2^i bits or more, and fewer than twice that. */
enum { TS_DMA_RUN_CLASSES = 63 };
typedef struct {
    int64_t count[TS_DMA_RUN_CLASSES];
    int64_t shortest_bits[TS_DMA_RUN_CLASSES], longest_bits[TS_DMA_RUN_CLASSES]; /* of those in the class */
    int64_t total;
} ts_dma_runs;

typedef enum {
    TS_DMA_RUNS_BOTH, /* consecutive at both ends, element after element; bits of the source */
    TS_DMA_RUNS_SRC,  /* consecutive in the source alone, in the order of its addresses */
    TS_DMA_RUNS_DST,
} ts_dma_runs_of;

/* The runs that the boxes of the plan touch. Runs of two boxes are two, even if they touch. */
void ts_dma_count_runs(const ts_plan *plan, ts_dma_runs_of which, ts_dma_runs *runs);

#endif
