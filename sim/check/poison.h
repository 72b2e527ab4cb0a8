/* Which bits of registers and VMEM are undefined, and which sregs and words of SMEM, while a program runs.
 *
 * A shadow word has a set bit for each undefined bit. A register without an origin is defined throughout, and
 * its shadow is zero: most are, and cost a test. */
#ifndef TILESIM_CHECK_POISON_H
#define TILESIM_CHECK_POISON_H

#include "check/findings.h"
#include "isa/isa.h"
#include "memory/space.h"

typedef struct ts_poison ts_poison;
typedef struct ts_poison_op ts_poison_op;

/* The core that is followed. Spaces have a shadow; words of registers are one behind the other. */
typedef struct {
    const ts_code *code;
    const ts_isa_limits *limits;
    const uint32_t *sregs, *vregs, *vmasks;
    ts_space *vmem, *smem;
    ts_findings *findings; /* where a scalar that steers and is undefined is told */
} ts_poison_setup;
ts_poison *ts_poison_new(ts_arena *arena, const ts_poison_setup *setup);

/* An operation of a bundle, by the words that it reads and writes: those of registers, of constants, or of
 * results that are kept aside until the bundle is done. NULL: it has no such operand. */
typedef struct {
    const ts_instruction *instruction; /* NULL: a result is copied, aside or back */
    ts_shadow_rule rule;               /* the instruction's; of a copy COPY, or VALUE for a word */
    ts_vector_function *function;
    const uint32_t *result, *sources[TS_OPERANDS_MAX], *number, *mask;
    uint32_t *fill; /* the vreg that a scalar source is spread over: one of `sources` */
    const uint32_t *fill_from;
} ts_poison_operands;

/* The operations of a bundle, in the order in which they execute. */
void ts_poison_bundle(ts_poison *poison, const ts_poison_operands *operands, int count, ts_poison_op **ops);

/* Before the operation executes: first whether its scalars may steer, then what becomes of its result.
 * `address`: the byte of VMEM or SMEM that it names, if it names one. */
void ts_poison_check(const ts_poison_op *op, int64_t cycle);
void ts_poison_run(const ts_poison_op *op, int64_t address);

/* For units that keep values inside (TS_SHADOW_UNIT): the words of the shadow of source i, zeros when all is
 * defined, and the shadow of the result. */
const uint32_t *ts_poison_source(const ts_poison_op *op, int i);
void ts_poison_result(const ts_poison_op *op, const uint32_t *words);

/* The store that left something undefined in the row of VMEM that has byte `address`, and where that came
 * from; NULL: none did. */
typedef struct {
    const ts_instruction *store, *origin;
} ts_poison_row;
ts_poison_row ts_poison_row_of(const ts_poison *poison, int64_t address);

#endif
