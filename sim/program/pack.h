/* What the packer and what pipelines loops share: the instructions of a region, and what depends on what. */
#ifndef TILESIM_PROGRAM_PACK_H
#define TILESIM_PROGRAM_PACK_H

#include "assembler.h"
#include "core/core.h"

/* What an instruction does besides registers. */
typedef enum {
    EFFECT_NONE,
    EFFECT_LOAD,
    EFFECT_STORE,
    EFFECT_SYNC,
    EFFECT_STATE,
    EFFECT_CONTROL,
    EFFECT_COUNT
} effect;

typedef struct {
    const item *it;
    const ts_register *reads;
    int read_count;
    bool writes;
    ts_register written;
    effect effect;
    ts_space_kind space;       /* of a load or store */
    const ts_address *address; /* of the same */
    int slot;
    ts_core_use unit;
    int64_t latency;
    int64_t height; /* cycles from its issue to the end of the region, at least */
    int64_t ready;  /* the first cycle in which its operands are there */
    int waits_for;  /* instructions before it that are not placed */
} node;

typedef struct {
    int from, to;
    bool together; /* may share a bundle */
    int64_t latency;
} edge;

enum { QUEUES_MAX = 64 };

typedef struct {
    int given, taken;
} result_count;

typedef struct {
    assembler *as;
    ts_arena *scratch;
    int count;
    node *nodes;
    LIST_OF(edge) edges; /* in the order of `from` */
    int *first_edge;     /* [count + 1] */
    int *open;           /* nodes that wait for no other and are not placed */
    int open_count;
    result_count *results; /* of the matrix units, in the regions before that it goes on from */
} region;

region pack_new_region(assembler *as, const item *items, int count, result_count *results);

/* Cycles of the instructions as the packer bundles them; 0: they cannot run on this machine. */
int64_t pack_cycles(assembler *as, const item *items, int count);

/* Of an instruction on one before it, the strongest. */
typedef struct {
    bool together; /* they may share a bundle */
    int64_t latency;
} dependence;
bool pack_depends(const node *from, const node *to, dependence *out);

/* pack_loop.c: a `.loop` of which iterations overlap. */
typedef struct {
    int first, count; /* items of its body, in one region */
    int reg, end;     /* its counter, and the register of its end, -1: a constant */
    int64_t step;
} counted_loop;
typedef struct pipeline pipeline;
/* NULL: it gains nothing, or cannot be. */
const pipeline *pack_loop(assembler *as, const counted_loop *loop, const item *body);
ts_program_pipeline pack_loop_facts(const pipeline *p); /* its place is for the caller to fill in */
/* Adds prologue, loop and epilogue, for at least as many iterations (unrolled) as there are stages. The
 * counter is to be ahead by copies - 1 iterations. control: the addition of an iteration, and the branch
 * back. */
void pack_loop_build(const pipeline *p, item control[2]);
void pack_loop_end(const pipeline *p);

#endif
