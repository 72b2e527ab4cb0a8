/* A machine: every figure that the models take, read from one YAML file. Models get const sub-structs. */
#ifndef TILESIM_MACHINE_MACHINE_H
#define TILESIM_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "tilesim/base/arena.h"
#include "tilesim/base/error.h"
#include "tilesim/config/field.h"
#include "tilesim/isa/isa.h"
#include "tilesim/machine/dma_config.h"
#include "tilesim/machine/hbm_config.h"

typedef struct {
    int32_t tensor_cores;    /* share HBM and CMEM */
    int64_t launch_ps;       /* of the smallest kernel that the compiler makes, beyond what it does */
    int64_t sustained_khz;   /* of the TensorCore, under load: what the models count */
    int64_t peak_khz;        /* the clock of the published peak figures */
} ts_chip_config;

typedef struct {
    int32_t latency_cycles;   /* after which a result can be read; 1: by the next bundle */
    int32_t occupancy_cycles; /* after which the same unit accepts another instruction; 1: every cycle */
} ts_latency_config;

typedef struct {
    int32_t lanes, sublanes; /* of a vreg; only 128 x 8 is modelled */
    int32_t semaphores;
    bool bf16_arithmetic;    /* vector arithmetic on bf16 without unpacking it */
    ts_latency_config latency[TS_LATENCY_COUNT]; /* occupancy of MXU_PUSH: sublanes / mxu.rows_per_cycle[BF16] */
} ts_core_config;

typedef enum {
    TS_MXU_F32,
    TS_MXU_BF16,
    TS_MXU_FP8,
    TS_MXU_INT8,
    TS_MXU_INT4,
    TS_MXU_TYPE_COUNT
} ts_mxu_type;
const char *ts_mxu_type_text(ts_mxu_type type); /* "f32", ... */

typedef struct {
    int32_t units; /* of a core */
    int32_t edge;  /* rows and columns of multipliers */
    int32_t rows_per_cycle[TS_MXU_TYPE_COUNT]; /* of the left operand, accepted by one unit; 0: not a native type */
    int32_t staging;      /* weight tiles that a unit holds, the one in use included */
    int32_t result_vregs; /* results that a unit holds until popped, in vregs */
} ts_mxu_config;

typedef enum { TS_VMEM_CORE_FIRST, TS_VMEM_DMA_FIRST } ts_vmem_priority;

typedef struct {
    int32_t load_ports, store_ports; /* vregs a cycle, shared by the core's slots and DMA */
    int32_t banks;       /* of rows of 128 words: row r lies in bank r mod banks */
    int32_t bank_rows;   /* that one bank reads or writes in a cycle */
    int32_t dma_bytes_per_cycle;
    ts_vmem_priority priority; /* who waits when core and DMA want one port */
} ts_vmem_config;

/* A named axis on which layouts may place elements, beside the axis `m` that every space has. */
typedef struct {
    const char *name;
    int64_t extent;     /* in steps */
    int64_t step_bytes;
} ts_memory_axis;

typedef struct {
    const char *name; /* hbm, vmem, smem, cmem, or the file's own */
    int64_t capacity_bytes;
    int64_t align_bytes; /* where tensors may begin */
    int32_t xla_space;   /* n of S(n) in XLA's layouts */
    bool per_core;       /* else one for the chip */
    const ts_memory_axis *axes; /* NULL: only m */
    int32_t axis_count;
} ts_memory_config;

typedef struct {
    const char *name;    /* as the user wrote it: an embedded name or a path */
    const char *title;   /* from the file: "TPU v5e" */
    int32_t generation;
    ts_chip_config chip;
    ts_isa_limits isa;
    ts_core_config core;
    ts_mxu_config mxu;
    ts_vmem_config vmem;
    ts_hbm_config hbm;
    ts_dma_config dma;
    const ts_memory_config *memories;
    int32_t memory_count;

    uint64_t hash;       /* FNV-1a of the canonical text: equal machines have equal hashes, whatever their files look like */
    const ts_field_leaf *leaves; /* every figure, in the order of the field table, with its place and its source */
    int32_t leaf_count;
} ts_machine;

/* The machine called `name` (embedded: "tpu-v5e"), or the file at a path (ends in .yaml or .yml, or has a '/'). */
const ts_machine *ts_machine_load(ts_error *err, ts_arena *arena, const char *name);
/* The same with some figures changed: overrides are "hbm.stacks=4". Their places in errors are called `what`. */
const ts_machine *ts_machine_load_with(ts_error *err, ts_arena *arena, const char *name, const char *what,
                                       const char *const *overrides, int count);

/* By name; the error lists those that the machine has. */
const ts_memory_config *ts_machine_memory(ts_error *err, const ts_machine *machine, const char *name);

/* The field table, for `tilesim show schema` and for sweeps. */
extern const ts_field_table ts_machine_fields;

/* What follows from the figures, per chip. Operations count a multiply and an add as two. */
int64_t ts_machine_peak_ops(const ts_machine *machine, ts_mxu_type type, int64_t khz); /* a second; 0: not native */
int64_t ts_machine_hbm_rate(const ts_machine *machine);  /* bytes a second, of the data buses */
int64_t ts_machine_vmem_rate(const ts_machine *machine, int32_t ports, int64_t khz); /* bytes a second, all cores */

#endif
