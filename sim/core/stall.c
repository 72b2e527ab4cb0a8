/* The names of the reasons for which a bundle does not issue. */
#include "tilesim/core/core.h"

static const ts_named stalls[] = {
#define LATENCY(name, text, meaning) {"wait_" text, "waits for: " meaning},
#include "tilesim/isa/latencies.def"
#define LATENCY(name, text, meaning) {"busy_" text, "the unit is occupied by an instruction of key " text},
#include "tilesim/isa/latencies.def"
    {"semaphore_low", "a wait whose semaphore has not been reached: mostly, a DMA that is not done"},
    {"vmem_port", "the VMEM port served a DMA"},
    {"vmem_bank", "rows of one strided access lay in the same VMEM bank"},
};
_Static_assert(sizeof(stalls) / sizeof(stalls[0]) == TS_STALL_COUNT, "a row for each");

const ts_named *ts_stall_get(int stall) { return &stalls[stall]; }
