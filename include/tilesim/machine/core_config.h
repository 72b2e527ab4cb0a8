/* The TensorCore of a machine: what fits in a bundle, and how long each kind of instruction takes. */
#ifndef TILESIM_MACHINE_CORE_CONFIG_H
#define TILESIM_MACHINE_CORE_CONFIG_H

#include "tilesim/isa/isa.h"

typedef struct {
    ts_isa_limits limits;
    int64_t latency_cycles[TS_LATENCY_COUNT];   /* issue to the first cycle in which the result can be read */
    int64_t occupancy_cycles[TS_LATENCY_COUNT]; /* issue to the next issue on the same unit */
    int vmem_banks; /* rows of 128 words lie in bank row mod banks; 0: no bank conflicts */
} ts_core_config;

#endif
