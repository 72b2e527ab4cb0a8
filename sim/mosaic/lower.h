/* The translation of operations into instructions over virtual registers: what its parts share. */
#ifndef TILESIM_MOSAIC_LOWER_H
#define TILESIM_MOSAIC_LOWER_H

#include "program/builder.h"

#include "code.h"
#include "mlir.h"

/* What a memref is: where its elements lie, as an address and (while `boxed`) as a box of the tensor. */
typedef struct {
    int tensor; /* -1: semaphores */
    mlir_space space;
    int bits;
    int rank;
    int64_t dims[MLIR_RANK_MAX]; /* MLIR_DYNAMIC: as many as `extents` says, at most what `sizes` does */
    ts_operand extents[MLIR_RANK_MAX]; /* registers */
    int64_t multiples[MLIR_RANK_MAX];  /* the power of 2 that an extent is a multiple of */
    int tile_rank;                     /* of the first tile; 0: none */
    int64_t tile[MLIR_RANK_MAX], strides[MLIR_RANK_MAX];
    ts_address address;              /* of its first element */
    int term_dims[TS_ADDRESS_TERMS]; /* the dim of each term; -1: of no single dim */
    bool boxed;
    int root_rank, root_dims[MLIR_RANK_MAX]; /* of the tensor, for each dim */
    ts_affine begin[MLIR_RANK_MAX + 1];
    int64_t sizes[MLIR_RANK_MAX + 1];
    const mlir_type *array;         /* in HBM: the whole array's, while boxes are of that; else NULL */
    ts_semaphore_operand semaphore; /* count: those from `first` on that an index may choose from */
} memref;

/* What a value of the text is. A scalar, a vreg or a vmask is an operand: a register, or a number that is
 * known. A vector of several vregs has them in row-major order. */
typedef enum { VALUE_NONE, VALUE_SCALAR, VALUE_VECTOR, VALUE_MEMREF } value_kind;
typedef struct {
    value_kind kind;
    int count;
    ts_operand one, *many; /* many: where count is not 1 */
    memref *memref;
} value;

typedef struct {
    uint32_t bits;
    int block, reg;
} known_constant;

/* Of VMEM, with all buffers. */
typedef struct {
    const char *name;
    int64_t bytes;
    int slots;
} vmem_use;

/* Of what stands in for the chip's random bits, in registers: the key that seeds make, words drawn since. */
typedef struct {
    ts_operand key, drawn;
    int vregs; /* instructions that draw */
} random_state;

/* A tensor that shares the bytes of another one. */
typedef struct {
    int tensor;
    ts_space_kind space;
    int64_t base_bytes;
    const char *shape;
} memref_view;

typedef struct lowering {
    ts_error *err;
    ts_arena *arena;
    const ts_target *target;
    const mlir_module *module;
    ts_program_builder *builder;
    mosaic_code code;
    value *values;     /* [module->value_count] */
    const mlir_op *op; /* that is translated */
    ts_source *file;   /* its location */
    int line;
    int depth; /* loops around it */
    LIST_OF(ts_source *) files;
    bool shows_files;             /* that are there */
    known_constant constants[64]; /* vregs that hold a number */
    LIST_OF(value) yielded;       /* by the region that was translated last */
    struct matmul_queue *matmuls; /* tpu.matmul that wait for others */
    int unit;                     /* the matrix unit that was used last */
    int products;                 /* tpu.matmul in the block of the text */
    int scratch_count;
    const int *internal_scratch; /* its tensor, NULL: none yet */
    memref *barrier;             /* its semaphore, NULL: none yet */
    random_state *random;        /* NULL: no seed yet */
    int logs;                    /* that are not printed */
    LIST_OF(memref_view) views;
    LIST_OF(vmem_use) vmem;
    int grid_rank; /* of the kernel */
    const int64_t *grid;
} lowering;

/* ---- Values ---- */

const value *value_at(const lowering *l, int operand); /* of the operation */
const mlir_type *type_at(const lowering *l, int operand);
const mlir_type *result_type(const lowering *l, int result);
ts_operand part_of(const value *v, int index);
bool set_result(lowering *l, int result, value v);
bool set_scalar(lowering *l, ts_operand scalar);
bool set_vector(lowering *l, ts_operand vreg);
value value_of_parts(lowering *l, const ts_operand *parts, int count);
bool is_number(ts_operand o);
int64_t number_of(ts_operand o); /* bits of a float, as i32 */
bool is_mask_type(const mlir_type *type);

/* ---- Instructions ---- */

bool refuse(lowering *l, const char *what); /* the operation is not modelled, because of `what` */
bool malformed(lowering *l, const char *expected);
bool check_vreg_types(lowering *l); /* all vectors of the operation are vregs */
void emit(lowering *l, ts_opcode opcode, int count, const ts_operand *operands);
/* The same with a new register as the first operand, which it returns. */
ts_operand emit_new(lowering *l, ts_opcode opcode, int count, const ts_operand *sources);
/* The same, with a given register as the first operand. */
void emit_to(lowering *l, ts_operand to, ts_opcode opcode, int count, const ts_operand *sources);
ts_operand emit1(lowering *l, ts_opcode opcode, ts_operand a);
ts_operand emit2(lowering *l, ts_opcode opcode, ts_operand a, ts_operand b);
ts_operand emit_select(lowering *l, ts_operand mask, ts_operand yes, ts_operand no);
/* A vreg whose sublanes have these numbers, one each. */
ts_operand vreg_of_sublanes(lowering *l, const int64_t *numbers);
/* A register in place of a number. */
ts_operand in_vreg(lowering *l, ts_operand o);
ts_operand in_vmask(lowering *l, ts_operand o);
ts_operand in_sreg(lowering *l, ts_operand o);
ts_operand fresh(lowering *l, ts_operand_kind kind);
void move_to(lowering *l, ts_operand to, ts_operand from);
ts_operand splat_bits(uint32_t bits);
/* Scalar arithmetic, done now where both are numbers. */
ts_operand scalar2(lowering *l, ts_opcode opcode, ts_operand a, ts_operand b);
/* Of a scalar, with their sign: as those that are narrower than a word are kept, the bits of floats too. */
ts_operand lowest_bits(lowering *l, ts_operand a, int bits);
/* The same bits, with 0 above them. */
ts_operand zero_extend(lowering *l, ts_operand a, int bits);

/* ---- Parts ---- */

typedef bool lower_function(lowering *l);
bool lower_elementwise(lowering *l, bool *known); /* elementwise.c: tables */
bool lower_block(lowering *l, const mlir_block *block);
/* Operations of the one block of a region; what it yields is in l->yielded. */
bool lower_region(lowering *l, const mlir_region *region);
/* Of ops.def. */
#define OP(name, function, what) lower_function function;
#include "ops.def"
/* Emits those that wait; and whether the operation needs what they give. */
void matmul_flush(lowering *l);
bool matmul_is_read(const lowering *l);
/* An attribute that must be there. */
bool read_integer(lowering *l, const char *name, int64_t *out);
/* One vreg of any type. */
bool is_vreg(const lowering *l, int operand);
/* A copy of the operand's. */
bool copy_memref(lowering *l, int operand, memref **out);
/* The dim'th index of a memref moves by `index`. */
bool memref_move(lowering *l, memref *m, int dim, ts_operand index);
bool set_memref(lowering *l, memref *m); /* the operation's result */
/* Tiles and strides of the type; without any, row-major. */
void take_layout(memref *m, const mlir_type *type);
/* The first dim whose size is in a register; -1: none. */
int sized_dim(const memref *m);
/* A box that may end in the padding of an array's last tiles, which are whole in HBM, becomes one of
 * these. */
bool box_padding(lowering *l, memref *m);
/* Where a box begins moves by `index`. */
void move_begin(lowering *l, ts_affine *begin, ts_operand index);
/* One register and a number, of any terms. */
ts_affine one_term(lowering *l, const ts_affine *begin);
/* A memref of a whole tensor that has the layout of the type; slots: 2 of them, chosen by `slot`. */
memref *memref_of_tensor(lowering *l, const mlir_type *type, int tensor, int slots, ts_operand slot);
/* A new tensor with the type's shape and layout. -1: an error. */
int tensor_of_type(lowering *l, const char *name, ts_space_kind space, const mlir_type *type, int slots);
int tensor_with_use(lowering *l, const char *name, ts_space_kind space, const mlir_type *type, int slots,
                    const ts_tensor_use *use);
const ts_shape *shape_of_type(lowering *l, ts_space_kind space, const mlir_type *type, int slots);
/* vmem.c: bytes of a tensor; -1: an error. */
int64_t vmem_bytes(lowering *l, const mlir_type *type, int slots);
/* Counts a tensor that is going to be made. Do all so far fit? */
bool vmem_take_and_check(lowering *l, const char *name, const mlir_type *type);
/* New semaphores, as many as the type has; those of transfers count bytes. NULL: an error. */
memref *memref_of_semaphores(lowering *l, const char *name, const mlir_type *type);

/* DESTINATION <- SOURCE, by a dma instruction. */
bool kernel_transfer(lowering *l, ts_program_box to, ts_program_box from, ts_operand semaphore);
/* The last one fills one of so many buffers: what it leaves of that is undefined. */
void kernel_renew_last(lowering *l, int buffers);
/* l->file and l->line of l->op. */
void find_source_line(lowering *l);

/* Control. A branch to a block that begins later is patched with its number. */
int begin_block(lowering *l);
ts_instruction *lower_branch(lowering *l, ts_opcode opcode, int count, ts_operand a, ts_operand b);
void aim_branch(ts_instruction *branch, int block);
/* A branch keeps its position while its block gets no more instructions: it is the last. */
typedef struct {
    int block, index;
} branch_position;
branch_position last_branch(lowering *l);
void aim_at(lowering *l, branch_position p, int block);

#endif
