/* The names of the reasons for which a bundle does not issue. */
#include "core/core.h"

static const ts_named stalls[] = {
#define LATENCY(name, text, meaning) {"wait_" text, "not ready: " meaning},
#include "isa/latencies.def"
#define LATENCY(name, text, meaning) {"busy_" text, "unit busy: " meaning},
#include "isa/latencies.def"
    {"semaphore_low", "waiting for a DMA, or another semaphore"},
    {"vmem_port", "VMEM port busy: a DMA"},
    {"vmem_bank", "VMEM bank busy: rows of one strided access"},
    {"dma_queue", "the DMA engine holds as many transfers as it can"},
    {"barrier", "other cores have not come to the barrier"},
};
_Static_assert(sizeof(stalls) / sizeof(stalls[0]) == TS_STALL_COUNT, "a row for each");

const ts_named *ts_stall_get(int stall) { return &stalls[stall]; }
