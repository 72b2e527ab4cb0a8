/* Private to the core: which words of registers and VMEM are undefined, when the sanitizer is on.
 *
 * A shadow word has a set bit for each undefined bit. A register without an origin is defined throughout, and
 * its shadow is zero: most are, and cost a test. */
#ifndef TILESIM_CORE_POISON_H
#define TILESIM_CORE_POISON_H

#include "check/findings.h"
#include "isa/isa.h"

struct core_op;
struct ts_core;

/* A vreg or vmask: shadow words, and the instruction that first met the undefined value; NULL: all defined.
 */
typedef struct {
    uint32_t *words;
    const ts_instruction **origin;
} core_shadow;

/* The operands of an op, in the order of core_op. */
typedef struct {
    ts_shadow_rule rule;
    core_shadow d, in[TS_OPERANDS_MAX], mask;
    const ts_instruction **scalars[TS_OPERANDS_MAX]; /* origins of the sregs that are values */
    int scalar_count;
    const ts_instruction **controls[TS_AFFINE_TERMS * 16]; /* of those that must be defined */
    int control_sregs[TS_AFFINE_TERMS * 16];
    int control_count;
    const ts_instruction **sreg; /* that is written */
} core_op_poison;

/* Of a row of VMEM: the store that put an undefined value there, and where that came from. */
typedef struct {
    const ts_instruction *store, *origin;
} core_row_origin;

typedef struct core_poison {
    ts_findings *findings;
    core_shadow vregs, vmasks; /* arrays: words, and an origin each */
    const ts_instruction **sregs;
    core_row_origin *rows; /* of VMEM */
    uint32_t *zeros, *ones, *scratch;
} core_poison;

void core_poison_new(ts_arena *arena, struct ts_core *core);
/* Adds shadows to the ops of a bundle. */
void core_poison_decode(ts_arena *arena, struct ts_core *core, struct core_op *ops, int count);
/* Before the op executes. */
void core_poison_run(struct ts_core *core, const struct core_op *op);
/* For units that keep values inside: the words of shadow i (zeros when all is defined) and the result. */
const uint32_t *core_poison_in(const struct ts_core *core, const struct core_op *op, int i);
void core_poison_out(struct ts_core *core, const struct core_op *op, const uint32_t *words);

#endif
