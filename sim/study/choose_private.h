/* What the files of the choice of layouts share. */
#ifndef SIM_STUDY_CHOOSE_PRIVATE_H
#define SIM_STUDY_CHOOSE_PRIVATE_H

#include "tilesim/study/choose.h"

/* Every legal layout of a type and dims in a memory space: orders of dims, tiles of the type and generation.
 */
bool choose_enumerate(ts_error *err, ts_arena *arena, const ts_shape *model, int generation, bool combine,
                      ts_candidate *candidates, int *count);

/* How a kernel must add up: where the summed dim lies. */
typedef enum {
    CHOOSE_LEADING,
    CHOOSE_SUBLANE,
    CHOOSE_LANE,
    CHOOSE_LANE_SUBLANE,
    CHOOSE_STREAM,
    CHOOSE_KERNELS
} choose_kernel;

/* Cycles: base + groups * (each + per_vreg * vregs added up), where a group makes `outputs` vregs. */
typedef struct {
    bool known;
    double base, each, per_vreg;
    int outputs;
} choose_rate;

typedef struct {
    const ts_machine *machine;
    ts_dtype dtype;
    choose_rate rates[CHOOSE_KERNELS];
} choose_core;

/* What the core takes for one use of a shape; what it cannot compute with is not modelled. */
bool choose_core_cycles(ts_error *err, choose_core *core, const ts_shape *shape, const ts_choose_use *use,
                        int64_t *cycles, const char **limiter);
int64_t choose_core_bound(const choose_core *core, const ts_shape *shape);

#endif
