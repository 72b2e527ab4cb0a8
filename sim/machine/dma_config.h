/* The DMA engine of a machine. */
#ifndef TILESIM_MACHINE_DMA_CONFIG_H
#define TILESIM_MACHINE_DMA_CONFIG_H

#include <stdint.h>

/* What a transfer does to the order of elements; each kind has a rate. Where several apply, the slowest
 * counts. */
typedef enum {
    TS_DMA_COPY,       /* words keep their order, whatever lies between them */
    TS_DMA_RETILE,     /* runs of at least a word are rearranged */
    TS_DMA_INTERLEAVE, /* narrow elements of several rows meet in a word, or part */
    TS_DMA_TRANSPOSE,  /* neighbours of the source are no neighbours in the destination */
    TS_DMA_CONVERT,    /* element types differ */
    TS_DMA_GATHER,     /* element by element */
    TS_DMA_KIND_COUNT,
    TS_DMA_CORE_PROGRAM =
        TS_DMA_KIND_COUNT /* none of the engine's: the core does it (study/core_program.h) */
} ts_dma_kind;

/* Which of several transfers goes on, when more than one could. */
typedef enum {
    TS_DMA_FIRST_READY, /* the one that can go on first; of several the oldest */
    TS_DMA_ROUND_ROBIN, /* the same, but of several the one that has waited longest: in turns, block by block
                         */
    TS_DMA_IN_ORDER,    /* the oldest, until it has made all its requests */
    TS_DMA_BY_PRIORITY, /* the most urgent, until it has made all its requests; equal ones as the first */
} ts_dma_arbitration;

typedef struct {
    int32_t queues;        /* transfers that are worked on at once; later ones wait in order of issue */
    int32_t descriptors;   /* accepted and not yet complete; one more stalls the core that issues it */
    int32_t arbitration;   /* ts_dma_arbitration */
    int32_t loop_dims;     /* loops a descriptor holds; a box with more takes several, one after the other */
    int64_t issue_ps;      /* from issue to the first request */
    int64_t descriptor_ps; /* for each further descriptor of the same transfer */
    int64_t completion_ps; /* from the last data to the semaphore */
    int64_t lookahead_bytes;           /* requests run this far ahead of the oldest not yet accepted */
    int64_t in_flight_bytes;           /* and this far ahead of the oldest not yet done; 0: no limit */
    int32_t access_bytes;              /* the smallest piece of HBM that is moved */
    int32_t write_granule_bits;        /* a narrower write beside valid data is a read-modify-write */
    int32_t partition_bytes_per_cycle; /* into or out of one partition of a memory that has partitions; 0: no
                                          limit */
    int32_t read_bytes_per_cycle;      /* out of the HBM, whatever the kind; 0: no limit */
    int32_t mixed_bytes_per_cycle;     /* while transfers read the HBM and others write it; 0: no limit */
    int32_t bytes_per_cycle[TS_DMA_KIND_COUNT]; /* of the core's clock, through the engine; 0: it cannot do
                                                   this */
} ts_dma_config;

#endif
