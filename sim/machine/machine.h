/* A machine: every figure that the models take, read from one YAML file. Models get const sub-structs. */
#ifndef TILESIM_MACHINE_MACHINE_H
#define TILESIM_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "tilesim/machine.h"

#include "base/arena.h"
#include "base/error.h"
#include "config/field.h"
#include "isa/isa.h"
#include "machine/core_config.h"
#include "machine/dma_config.h"
#include "machine/hbm_config.h"

typedef struct {
    int32_t generation;
    int32_t lanes, sublanes; /* of a vreg: 128 and 8, nothing else is modelled */
    int32_t tensor_cores;    /* share HBM and CMEM */
    int32_t devices;     /* as which programs see the chip: each has its share of the cores and of the HBM */
    int64_t dispatch_ps; /* of the host: what its clock shows beyond the device's, for one kernel */
    int64_t launch_ps;   /* of the smallest kernel that the compiler makes, beyond what it does */
    int64_t sustained_khz; /* of the TensorCore, under load: what the models count */
    /* The same while the matrix units multiply random data, for which they need most power. */
    int64_t matrix_khz;
    int64_t peak_khz; /* the clock of the published peak figures */
} ts_machine_chip;

const char *ts_mxu_type_text(ts_mxu_type type); /* "f32", ... */

/* The links between chips (ICI). */
typedef struct {
    int32_t dims;       /* of the torus that a chip has links for, two a dim; 0: none */
    int32_t wrap;       /* a dim of a slice is a ring where its extent is a multiple of this, else a line */
    int32_t most_chips; /* of a slice */
    int64_t rate;       /* MB/s (10^6 bytes), one link, one way */
    int32_t efficiency; /* of that rate, thousandths */
    int64_t flit_bytes; /* smallest piece that a link carries */
    int64_t injection;  /* MB/s that a chip sends of its own, at most; 0: what its links take */
    int64_t hop_ps;     /* from a chip to its neighbour, beyond the data's own time */
    int64_t launch_ps;  /* of a collective, once */
} ts_machine_ici;

/* A named axis on which layouts may place elements, beside the axis `m` that every space has. */
typedef struct {
    const char *name;
    int64_t extent; /* in steps */
    int64_t step_bytes;
} ts_machine_axis;

typedef struct {
    const char *name;   /* hbm, vmem, smem, cmem, or the file's own */
    ts_space_kind kind; /* what the name is to programs; TS_SPACE_COUNT: nothing, it is the file's own */
    int64_t capacity_bytes;
    int64_t align_bytes;         /* where tensors may begin */
    int32_t xla_space;           /* n of S(n) in XLA's layouts */
    bool per_core;               /* else one for the chip */
    const ts_machine_axis *axes; /* NULL: only m */
    int32_t axis_count;
} ts_machine_memory;

/* Of one operation of a unit, where it is stated: name is a row of machine/energy_ops.def. */
typedef struct {
    const char *name;
    int64_t femtojoules;
} ts_machine_energy;

struct ts_machine {
    const char *name;  /* as the user wrote it: an embedded name or a path */
    const char *title; /* from the file: "TPU v5e" */
    ts_machine_chip chip;
    ts_core_config core; /* occupancy of MXU_PUSH: of a vreg (8 rows) of bf16 */
    ts_hbm_config hbm;
    ts_dma_config dma;
    ts_machine_ici ici;
    const ts_machine_energy *energies;
    int32_t energy_count;
    const ts_machine_memory *memories;
    int32_t memory_count;
    const ts_machine_memory *spaces[TS_SPACE_COUNT]; /* those that programs name; NULL: it has none */

    uint64_t hash; /* FNV-1a of the canonical text: equal machines have equal hashes, whatever their files
                      look like */
    /* Every figure, in the order of the field table, with its line and its source. */
    const ts_field_leaf *leaves;
    int32_t leaf_count;
    const char *const *overrides; /* what was changed, as "hbm.clock=3.2 GHz", in the order of the leaves */
    int32_t override_count;
};

#define TS_MACHINE_DEFAULT "tpu-v5e"

/* ts_machine_load with some figures changed: each override is "hbm.stacks=4". Errors in them have `what` as
 * the file. */
const ts_machine *ts_machine_load_with(ts_error *err, ts_arena *arena, const char *name, const char *what,
                                       const char *const *overrides, int count);

/* A name and what is changed of it: "tpu-v4 with hbm.clock=1 GHz, hbm.stacks=2". */
const char *ts_machine_name_with(ts_arena *arena, const char *name, const char *const *overrides, int count);

/* The machine of a tree (see config/tree.h), called `name`. */
const ts_machine *ts_machine_read(ts_error *err, ts_arena *arena, const char *name, const ts_tree *tree);

/* A file that reads back as the same machine, with the comments of its files and in their units. */
void ts_machine_print(ts_text *out, const ts_machine *machine);

/* By name; the error lists those that the machine has. */
const ts_machine_memory *ts_machine_find_memory(ts_error *err, const ts_machine *machine, const char *name);
/* The n of S(n) in XLA's layouts; NULL: the machine has no such memory. */
const ts_machine_memory *ts_machine_find_space(const ts_machine *machine, int32_t xla_space);

/* The field table, for `tilesim show schema` and for sweeps. */
extern const ts_field_table ts_machine_fields;

/* What of the chip beside its HBM may have a stated energy. */
typedef enum {
#define OP(id, name, unit, meaning) TS_ENERGY_##id,
#include "machine/energy_ops.def"
#undef OP
    TS_ENERGY_OPS,
} ts_energy_op;
const char *ts_energy_op_name(ts_energy_op op);
/* Femtojoules of one; -1: not stated. */
int64_t ts_machine_op_energy(const ts_machine *machine, ts_energy_op op);

/* One of equal parts of a machine: HBM and the memories of the chip shrink; cores keep what is theirs. */
const ts_machine *ts_machine_part(ts_error *err, ts_arena *arena, const ts_machine *machine, int parts);
/* One device of a chip that is several (chip.devices); else the machine itself. */
const ts_machine *ts_machine_device(ts_error *err, ts_arena *arena, const ts_machine *machine);

/* The figure of that path; NULL: there is none. */
const ts_field_leaf *ts_machine_leaf(const ts_machine *machine, const char *path);

/* What follows from the figures, per chip. Operations count a multiply and an add as two. */
int64_t ts_machine_peak_ops(const ts_machine *machine, ts_mxu_type type,
                            int64_t khz); /* a second; 0: not native */
/* Of the vector ALUs: floating-point operations a second; 0: they have no bf16. */
int64_t ts_machine_f32_ops(const ts_machine *machine, int64_t khz);
int64_t ts_machine_bf16_ops(const ts_machine *machine, int64_t khz);
int64_t ts_machine_hbm_rate(const ts_machine *machine); /* bytes a second, of the data buses */
/* Bytes a second, loads of all cores; 0: it has no VMEM, or no loads. */
int64_t ts_machine_vmem_rate(const ts_machine *machine, int64_t khz);
/* Microseconds of so many core cycles of the machine. */
double ts_machine_microseconds(const ts_machine *machine, int64_t cycles);
double ts_machine_gb_per_second(const ts_machine *machine, int64_t bytes, int64_t cycles); /* 0 cycles: 0 */

#endif
