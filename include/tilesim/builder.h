/* Programs made by code: the same checks, addresses, packer and result as the assembler's. */
#ifndef TILESIM_BUILDER_H
#define TILESIM_BUILDER_H

#include <stdint.h>

#include "tilesim/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_builder ts_builder;
/* An operand of one builder. */
typedef int ts_value;

/* The first error is kept in `err`, and all later calls do nothing: only the end needs a look. The name is
 * copied; machine, err and arena must outlive the builder. */
TS_API ts_builder *ts_builder_new(ts_error *err, ts_arena *arena, const ts_machine *machine,
                                  const char *name);
/* The program, once; NULL after an error. Nothing can be added behind it. */
TS_API const ts_program *ts_builder_end(ts_builder *b);

/* A tensor of a memory ("hbm", "vmem", "smem", "cmem"), of a shape with a layout. role: "in", "out", "inout",
 * "scratch"; fill, of inputs that no array is given for: "zeros", "iota", "random", NULL. Tensors of a memory
 * lie one behind the other, in this order. Its number, -1 after an error. */
TS_API int ts_builder_tensor(ts_builder *b, const char *name, const char *memory, const char *shape,
                             const char *role, const char *fill);
TS_API int ts_builder_semaphores(ts_builder *b, const char *name, int count); /* the number of the first */
TS_API void ts_builder_check(ts_builder *b, const char *check);               /* "y ~= x + 1 ulp=1" */

TS_API ts_value ts_builder_sreg(ts_builder *b, int number);
TS_API ts_value ts_builder_vreg(ts_builder *b, int number);
TS_API ts_value ts_builder_vmask(ts_builder *b, int number);
TS_API ts_value ts_builder_integer(ts_builder *b, int64_t value);
TS_API ts_value ts_builder_f32(ts_builder *b, float value);
TS_API ts_value ts_builder_semaphore(ts_builder *b, int number);
TS_API ts_value ts_builder_label(ts_builder *b); /* to branch to, before or after it is placed */
TS_API void ts_builder_place(ts_builder *b, ts_value label);

/* An index: constant + factor * sreg; factor 0: the constant. */
typedef struct {
    int64_t constant, factor;
    int sreg;
} ts_builder_index;

/* The address of an element of a tensor in VMEM or SMEM, an index for each dim. */
TS_API ts_value ts_builder_at(ts_builder *b, int tensor, const ts_builder_index *index);
/* A box of a tensor: the first index and how many, for each dim. */
typedef struct {
    int tensor;
    const ts_builder_index *begin;
    const int64_t *sizes;
} ts_builder_box;
/* The operand of `dma`. */
TS_API ts_value ts_builder_transfer(ts_builder *b, const ts_builder_box *destination,
                                    const ts_builder_box *source, ts_value semaphore);

/* The transfer goes into the memory of a device of the mesh that runs the program; the semaphore `received`
 * grows there when all has come, that of the transfer here when all has left. */
TS_API void ts_builder_to_device(ts_builder *b, ts_value transfer, ts_value received,
                                 ts_builder_index device);

/* "vadd.f32" and its operands, `count` of ts_value. */
TS_API void ts_builder_add(ts_builder *b, const char *mnemonic, int count, ...);
/* The same under a write mask. */
TS_API void ts_builder_add_masked(ts_builder *b, int vmask, const char *mnemonic, int count, ...);
/* Until `on` is 0 again, single instructions are put into bundles, as by .pack auto. */
TS_API void ts_builder_pack(ts_builder *b, int on);
TS_API void ts_builder_open(ts_builder *b); /* what is added until it is closed is one bundle */
TS_API void ts_builder_close(ts_builder *b);

#ifdef __cplusplus
}
#endif

#endif
