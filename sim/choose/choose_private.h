/* What the files of the choice of layouts share. */
#ifndef TILESIM_CHOOSE_CHOOSE_PRIVATE_H
#define TILESIM_CHOOSE_CHOOSE_PRIVATE_H

#include "choose/choose.h"
#include "study/core_program.h"

/* Every legal layout of a type and dims in a memory space: orders of dims, tiles of the type and of the
 * machine. */
bool choose_enumerate(ts_error *err, ts_arena *arena, const ts_choose_request *request, const ts_shape *model,
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

/* A kernel that was run, of so many sums (or vregs, of a pass), each of so many vregs. */
typedef struct {
    choose_kernel kernel;
    int packing;
    int64_t sums, added, cycles;
} choose_kernel_run;

typedef struct {
    ts_arena *arena;
    const ts_machine *machine;
    ts_dtype dtype;
    choose_kernel_run *runs;
    int run_count;
    int64_t block_bytes; /* a tensor was larger than the blocks that kernels are run on; 0: none */
    ts_interrupt *interrupt;
} choose_core;

/* What the core takes for one use of a shape; what it cannot compute with is not modelled. */
bool choose_core_cycles(ts_error *err, choose_core *core, const ts_shape *shape, const ts_choose_use *use,
                        int64_t *cycles, const char **limiter);
/* The text of a kernel. Its tensor xb in VMEM has the vregs; what a group of sums came to is written into its
 * first vregs: of lanes or sublanes the last of them, which stands for the vreg that they are merged into. */
bool choose_write_kernel(ts_error *err, ts_text *out, const choose_core *core, const choose_kernel_run *what);
int64_t choose_core_bound(const choose_core *core, const ts_shape *shape);

/* A machine to price on: the request's, or one with a figure moved. */
typedef struct {
    ts_arena *arena;
    const ts_machine *machine;
    const ts_choose_request *request;
    const ts_program *program; /* of a program's tensor */
    int tensor;
    choose_core core;
    ts_error *failure; /* of the system, where other errors say that a machine cannot be */
    ts_arena *scratch; /* of one price; machines are large, so that its memory is used again */
    ts_prices *prices;
    bool extends;      /* a price was taken from those of other sizes, or of a part */
    ts_findings *left; /* see ts_choose_result, by a run of left_cycles; NULL: nobody asks */
    int64_t left_cycles;
} choose_pricer;

/* The program, and which of its tensors is asked about: one whose layout may change. */
bool choose_load_program(ts_error *err, ts_arena *arena, choose_pricer *p);
/* The program with the tensor in the candidate's layout. `limit`: cycles after which the run is given up;
 * then its cycles are the limit and *cut is set. */
bool choose_run_program(ts_error *err, choose_pricer *p, ts_candidate *candidate, int64_t limit, bool *cut);
/* Would the tensor's memory hold it in this layout? */
bool choose_fits(const choose_pricer *p, const ts_shape *shape);

/* No transfer is faster than the HBM's data buses, and no kernel than its loads. */
int64_t choose_bound(const choose_pricer *p, const ts_shape *shape);
/* `limit`: cycles after which a run is given up; then *cut is set. */
bool choose_price(ts_error *err, choose_pricer *p, ts_candidate *candidate, int64_t limit, bool *cut);
/* Does another candidate win when an assumed figure is moved? Fills the flips of the result. */
void choose_move_fields(const choose_pricer *now, const ts_candidate *list, int count,
                        ts_choose_result *result);

/* The most cycles that are a tie with so many. */
static inline int64_t choose_with_tie(int64_t cycles) {
    return cycles + cycles / 100 * TS_CHOOSE_TIE_PERCENT + TS_CHOOSE_TIE_PERCENT;
}

#endif
