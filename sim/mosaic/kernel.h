/* A kernel: the grid, its windows, and the code around the body that brings and takes them. */
#ifndef TILESIM_MOSAIC_KERNEL_H
#define TILESIM_MOSAIC_KERNEL_H

#include "lower.h"

enum { GRID_MAX = 8, OPERANDS_MAX = 64 };

/* An operand or result of the kernel, a whole array in HBM. */
typedef struct {
    mlir_type array;
    int tensor;
    bool result, prefetch;
} kernel_operand;

/* A block of an operand that is there while the body runs. */
typedef struct {
    const kernel_operand *operand;
    mlir_type type; /* of the body's argument */
    const mlir_op *transform;
    int64_t block[MLIR_RANK_MAX];
    bool elements;                   /* the transform gives the first element, not the number of the block */
    bool fixed;                      /* all steps have the same block */
    int buffers;                     /* 1, or 2 where the next block comes while this one is used */
    int tensor, semaphores;          /* an input that moves has none of its own */
    ts_operand slot;                 /* the buffer of this step */
    ts_operand index[MLIR_RANK_MAX]; /* the block of this step */
    ts_operand next[MLIR_RANK_MAX];  /* and of the next */
    ts_operand moves;                /* 1: the next step has another block */
    ts_operand waits;                /* of a result, 1: a block is on its way to HBM */
} kernel_window;

typedef struct {
    lowering *l;
    const mlir_op *main;
    ts_source source; /* of what is from no line of Python */
    int grid_rank, prefetch_count, scratch_count, operand_count, result_count, window_count;
    int64_t grid[GRID_MAX];
    kernel_operand operands[OPERANDS_MAX];
    kernel_window windows[OPERANDS_MAX];
    value prefetch[OPERANDS_MAX];
    ts_operand at[GRID_MAX], next[GRID_MAX], last; /* indices of this step and the next; 1: there is none */
    int fetched;                /* two semaphores of all inputs that move, by the parity of steps; -1: none */
    ts_operand parity, fetches; /* of this step; blocks that were fetched for it */
    int pause_block, pause;     /* an instruction for what a step costs beyond those that it has */
    ts_operand arrival;         /* the semaphore of what is fetched now */
} kernel;

/* kernel.c: from the module's attributes; makes the tensors. */
bool kernel_read(kernel *k);
/* shards.c: whether the module is for the mesh that it is to run on. */
bool kernel_check_mesh(kernel *k);
/* Of which array the operand of type `part` is a part, or a copy, on each device; `array`: of the text, if it
 * says. */
bool kernel_shard(kernel *k, ts_span array, const mlir_type *part, ts_tensor_use *use);
/* vmem.c: what its windows and scratch are called. */
const char *kernel_window_name(const kernel *k, int number);
const char *kernel_scratch_name(const kernel *k, int number);
/* An error where windows and scratch are more than the machine has. */
bool kernel_plan_vmem(kernel *k);
/* pipeline.c: all of the code. */
bool kernel_lower(kernel *k);

#endif
