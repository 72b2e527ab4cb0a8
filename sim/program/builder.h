/* Programs made by C code instead of text: the same checks, addresses, packer and result as the assembler's.
 *
 *     ts_program_builder *b = ts_program_begin(&err, arena, "add", &target);
 *     int x = ts_program_tensor(b, "x", TS_SPACE_HBM, shape,
 *                               &(ts_tensor_use){.role = TS_ROLE_IN, .fill = TS_FILL_IOTA});
 *     ...
 *     ts_program_add(b, TS_OP_vadd_f32, 3, ts_vreg(1), ts_vreg(0), ts_f32(1.0f));
 *     const ts_program *program = ts_program_end(b);
 *
 * The first error is kept in `err`, and all later calls do nothing: only ts_program_end needs a look. An
 * error names the program and shows the instruction's mnemonic. */
#ifndef TILESIM_PROGRAM_BUILDER_H
#define TILESIM_PROGRAM_BUILDER_H

#include "layout/shape.h"
#include "program/program.h"

typedef struct ts_program_builder ts_program_builder;

/* The name is copied; target, err and arena must outlive the builder. */
ts_program_builder *ts_program_begin(ts_error *err, ts_arena *arena, const char *name,
                                     const ts_target *target);
/* Is there an error? */
bool ts_program_failed(const ts_program_builder *b);
/* NULL after an error. The program lives as long as the arena. */
const ts_program *ts_program_end(ts_program_builder *b);

/* ---- What there is. Numbers from 0; -1 after an error. ---- */

/* shape must have a layout. Tensors of a space lie one behind the other, in this order. */
int ts_program_tensor(ts_program_builder *b, const char *name, ts_space_kind space, const ts_shape *shape,
                      const ts_tensor_use *use);
/* `count` semaphores; the number of the first. */
int ts_program_semaphores(ts_program_builder *b, const char *name, int count);
/* From here on transfers add their bytes to it, in place of 1. */
void ts_program_count_bytes(ts_program_builder *b, int semaphore);
/* What there is under that number; the program's own is the same until its end. */
const ts_tensor *ts_program_get_tensor(ts_program_builder *b, int tensor);
/* Puts the tensor in the bytes of another one, which has as many. */
void ts_program_share(ts_program_builder *b, int tensor, int with);
/* A tensor of another shape that is the bytes of one, and takes no space; -1: the shape has not as many. */
int ts_program_view(ts_program_builder *b, const char *name, const ts_shape *shape, int of);
/* "y ~= x + 1 ulp=1", as behind .check. */
void ts_program_check_text(ts_program_builder *b, const char *check);

/* A number of that name, of an expression as in checks: as behind .report. */
void ts_program_report_text(ts_program_builder *b, const char *name, const char *expression);

/* ---- Operands ---- */

static inline ts_operand ts_sreg(int number) { return (ts_operand){TS_OPERAND_SREG, {.reg = number}}; }
static inline ts_operand ts_vreg(int number) { return (ts_operand){TS_OPERAND_VREG, {.reg = number}}; }
static inline ts_operand ts_vmask(int number) { return (ts_operand){TS_OPERAND_VMASK, {.reg = number}}; }
static inline ts_operand ts_integer(int64_t value) {
    return (ts_operand){TS_OPERAND_INTEGER, {.integer = value}};
}
ts_operand ts_f32(float value);
/* Semaphore `number`; or number + sreg, which must be one of the `count` from number on. */
static inline ts_operand ts_semaphore(int number) {
    return (ts_operand){TS_OPERAND_SEMAPHORE, {.semaphore = {.first = number, .count = 1, .sreg = -1}}};
}
static inline ts_operand ts_semaphore_of(int number, int count, int sreg) {
    return (ts_operand){TS_OPERAND_SEMAPHORE, {.semaphore = {.first = number, .count = count, .sreg = sreg}}};
}

/* An index: a constant, or a constant plus factor * sreg. */
static inline ts_affine ts_index(int64_t constant) { return (ts_affine){.constant = constant}; }
static inline ts_affine ts_index_of(int sreg, int64_t factor, int64_t constant) {
    return (ts_affine){.constant = constant, .term_count = 1, .terms = {{sreg, factor}}};
}
/* The address of an index of a tensor in VMEM or SMEM, one ts_affine a dim, from its layout. */
ts_operand ts_program_at(ts_program_builder *b, int tensor, const ts_affine *index);
/* The same with a stride and a mask of sublanes, as in ts_address. */
ts_operand ts_program_rows(ts_program_builder *b, int tensor, const ts_affine *index, int64_t stride,
                           int sublane_mask);
/* A box of a tensor: for each dim the first index and how many. */
typedef struct {
    int tensor;
    const ts_affine *begin;
    const int64_t *sizes;
} ts_program_box;
/* destination <- source */
ts_operand ts_program_transfer(ts_program_builder *b, ts_program_box destination, ts_program_box source,
                               ts_operand semaphore);

/* What the transfer leaves of its buffer, of so many that the destination is, is undefined from its start
 * on. */
void ts_program_renew(ts_program_builder *b, ts_operand transfer, int buffers);

/* The transfer goes into the memory of a device of the mesh, where `received` grows by 1. */
void ts_program_to_device(ts_program_builder *b, ts_operand transfer, ts_operand received, ts_affine device);

/* ---- Instructions ---- */

/* From here on instructions and transfers come from this line of a text, which outlives the program; NULL:
 * from none. */
void ts_program_from(ts_program_builder *b, const ts_source *source, int line);
/* Between the two, single instructions are put into bundles, as by .pack auto. */
void ts_program_pack_begin(ts_program_builder *b);
void ts_program_pack_end(ts_program_builder *b);
/* From here on the packer does not put what takes a result of a matrix unit before the result comes. */
void ts_program_pack_results(ts_program_builder *b);
/* `count` operands, each a ts_operand. */
void ts_program_add(ts_program_builder *b, ts_opcode opcode, int count, ...);
/* The same under a write mask. */
/* By its mnemonic, as "vadd.f32"; vmask -1: without a mask. */
void ts_program_add_named(ts_program_builder *b, int vmask, const char *mnemonic, int count,
                          const ts_operand *operands);
/* What is added between the two is one bundle. */
void ts_program_open(ts_program_builder *b);
void ts_program_close(ts_program_builder *b);
/* A label may be used before it is placed. */
ts_operand ts_program_label(ts_program_builder *b);
void ts_program_place(ts_program_builder *b, ts_operand label);

#endif
