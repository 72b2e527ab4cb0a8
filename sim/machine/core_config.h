/* The TensorCore of a machine: what fits in a bundle, and how long each kind of instruction takes. */
#ifndef TILESIM_MACHINE_CORE_CONFIG_H
#define TILESIM_MACHINE_CORE_CONFIG_H

#include "isa/isa.h"

typedef enum { TS_MXU_F32, TS_MXU_BF16, TS_MXU_FP8, TS_MXU_INT8, TS_MXU_INT4, TS_MXU_TYPE_COUNT } ts_mxu_type;

typedef struct {
    int32_t units;                   /* of a core */
    int32_t edge;                    /* rows and columns of multipliers */
    int32_t rate[TS_MXU_TYPE_COUNT]; /* rows accepted in the time of one of bf16; 0: not a native type */
    int32_t staging;                 /* weight tiles that a unit holds, the one in use included */
    int32_t accumulators;            /* with addresses, in vregs; 0: none */
    int32_t result_vregs;            /* results that a unit holds until popped, in vregs */
} ts_machine_mxu;

/* Who goes first when the core and a DMA want a port of VMEM in one cycle; the core waits then, the DMA has
 * buffers. */
typedef enum { TS_VMEM_CORE_WINS, TS_VMEM_DMA_WINS } ts_vmem_winner;

typedef struct {
    ts_isa_limits limits;
    int64_t latency_cycles[TS_LATENCY_COUNT];   /* issue to the first cycle in which the result can be read */
    int64_t occupancy_cycles[TS_LATENCY_COUNT]; /* issue to the next issue on the same unit */
    /* Of a Pallas kernel, beside the body: indices, transfers, waits that are met. */
    int64_t grid_step_cycles;
    int vmem_banks; /* rows of 128 words lie in bank row mod banks; 0: no bank conflicts */
    ts_vmem_winner vmem_winner;
    ts_machine_mxu mxu;
} ts_core_config;

#endif
