/* Private to the core: the decoded program and the state that runs it. */
#ifndef TILESIM_CORE_STATE_H
#define TILESIM_CORE_STATE_H

#include "check/lint.h"
#include "check/poison.h"
#include "check/unknown.h"
#include "core/core.h"
#include "vector.h"

typedef struct core_op core_op;
typedef struct core_mxu core_mxu;
typedef struct core_transposer core_transposer;
typedef struct core_skip core_skip;
typedef struct core_forward core_forward;
typedef struct core_profile core_profile;
typedef struct core_loops core_loops;
/* Executes one instruction in the bundle that issues at core->now. */
typedef bool core_function(ts_error *err, ts_core *core, const core_op *op);

/* A term of an address, checked and ready: see ts_address_term. */
typedef struct {
    const uint32_t *sreg;
    int64_t bias, divisor, modulus, multiplier;
    int shift; /* of a divisor that is a power of two, else -1 */
    bool exact;
} core_term;

typedef struct {
    const ts_address *source;
    int term_count;
    core_term terms[TS_ADDRESS_TERMS];
    int64_t low_bytes, high_bytes;    /* the bytes touched, from the address: low .. high - 1 */
    int64_t tensor_first, tensor_end; /* where they must lie: bytes of the space */
} core_address;

/* The first cycle, from *cycle on, at which the op can issue for reasons of its own, and the stall until
 * then. */
typedef bool core_gate(ts_error *err, const ts_core *core, const core_op *op, int64_t *cycle, int *stall);

/* Operands are pointers to registers or to constants, so that no function asks what kind they are. */
struct core_op {
    core_function *run;
    core_gate *gate; /* NULL: none */
    ts_vector_function *vector;
    uint32_t *d;
    const uint32_t *in[TS_OPERANDS_MAX]; /* sources but for addresses and labels, in order */
    const uint32_t *scalar;              /* of a vector function */
    const uint32_t *mask;                /* NULL: the whole vreg is written */
    uint32_t *fill;                      /* the vreg that a scalar source is spread over, one of `in` */
    const uint32_t *fill_from;
    const core_address *address;
    const ts_semaphore_operand *semaphore;
    int target; /* bundle of a branch */
    int unit;   /* of a matrix instruction */
    const ts_instruction *instruction;
    ts_unknown_op *unknown; /* NULL: no scalar of it can be unknown */
    ts_poison_op *poison;   /* NULL: nobody asks what is undefined */
};

typedef struct {
    int reg;   /* in ts_core.ready */
    int stall; /* what a reader waits for */
    int64_t latency_cycles;
} core_write;

typedef struct {
    int unit; /* the first of the slot's units in ts_core.unit_free */
    int nth;  /* this use is the nth of the bundle on that slot, from 0 */
    int units;
    int stall;
    int64_t occupancy_cycles;
} core_use;

typedef struct {
    const core_op *ops; /* in an order in which reads come before writes */
    int op_count;
    int read_count, write_count, use_count;
    const int *reads; /* registers, as in ts_core.ready */
    const core_write *writes;
    const core_use *uses;
    const core_op *wait; /* NULL: none */
    bool gated;          /* some op has a gate */
    bool unknowns;       /* some op's scalars can be unknown */
    bool starts_dma;     /* then stores must be visible first */
    bool barrier;
    bool shared;       /* other cores can notice it */
    int loads, stores; /* of VMEM */
    bool reads_memory; /* a load of VMEM or SMEM */
    int slots[TS_SLOT_COUNT];
    unsigned sees; /* see ts_core.seen */
    int64_t work;  /* of the host, see loop.c */
} core_bundle;

/* A store that a load may have to wait for. */
typedef struct {
    const ts_space *space;
    int64_t first, end; /* bytes */
    int64_t visible;    /* cycle */
    int stall;
} core_store;

struct ts_core {
    ts_core_setup setup;
    const core_bundle *bundles;
    int bundle_count;

    ts_vector_function *copy, *select;          /* of whole vregs: vmov and vsel of this host */
    uint32_t *sregs, *vregs, *vmasks, *scratch; /* scratch: one vreg */
    int64_t *begin;                             /* indices of a transfer: source, then destination */

    int pc;       /* the bundle that issues next */
    int64_t next; /* not before this cycle */
    int64_t now;  /* of the bundle that issues */
    int taken;    /* the bundle to go to, -1: the next one */
    bool halting, halted, yielding;
    bool passed;  /* the barrier of the bundle that issues next */
    bool waiting; /* for a semaphore, or for `waiting_stall`, since `waiting_since` */
    int waiting_stall;
    int64_t waiting_since;
    int64_t hold_cycles; /* the bundle that issues keeps the next one away that long */
    int hold_stall;

    core_mxu *mxus; /* [config->mxu.units]; NULL: the program has no use for them */
    core_transposer *transposer;
    core_skip *skip;       /* NULL: no iterations are left out */
    core_forward *forward; /* NULL: every loop that starts transfers is simulated */
    core_profile *profile; /* NULL: nobody asks which instruction stalls */
    int looped;            /* the bundle whose branch back was taken, -1: none */
    core_loops *loops;
    int64_t *branches_taken; /* by bundle: how often its branch back was taken */
    int branches_left;       /* branches back until core_loops_turn */
    unsigned seen;           /* bits of what could change the way of a loop (loop.c) */
    int64_t work;            /* of the host since a transfer of a new slice was started */
    int64_t *promised;       /* semaphores, as if all transfers were done */

    ts_unknown *unknown; /* NULL: values of vectors are computed */
    ts_poison *poison;   /* NULL: nobody asks what is undefined */
    ts_lint *lint;       /* NULL: nobody wants warnings */

    int64_t *ready; /* the cycle from which each register can be read; sregs, vregs, vmasks */
    int *ready_stall;
    int *all_registers;                  /* scratch: room for the number of each */
    bool slot_is_tracked[TS_SLOT_COUNT]; /* its units can be busy */
    int64_t *unit_free;                  /* the cycle from which each unit is free; ascending within a slot */
    int *unit_stall;
    core_store *stores; /* ring: from store_first on, as they were issued, those that may be on their way */
    int store_room, store_first, store_count;
    int64_t stores_visible; /* the cycle from which all are */

    int64_t stalls[TS_STALL_COUNT];
    int64_t *issues, *stall_cycles; /* by bundle */
};

/* loop.c: of a transfer that starts, whose indices are in core->begin. */
void core_loops_transfer(ts_core *core, int index);

/* decode.c */
bool core_decode(ts_error *err, ts_arena *arena, ts_core *core);

/* shadow.c: what check/ is told of the decoded program, and asked when a bundle issues. */
void core_shadow_new(ts_arena *arena, ts_core *core);
void core_shadow_instruction(ts_arena *arena, const ts_core *core, core_op *op);
void core_shadow_bundle(ts_arena *arena, const ts_core *core, core_op *ops, int count);
/* Before the bundle issues: all scalars that steer it are known. */
bool core_shadow_check(ts_error *err, const ts_core *core, const core_bundle *bundle);
/* Before an op of it executes, and after all have. */
void core_shadow_op(const ts_core *core, const core_op *op);
void core_shadow_settle(ts_core *core, const core_bundle *bundle);

/* constraints.c */
static inline core_store *core_store_at(const ts_core *core, int number) { /* 0: the oldest */
    int at = core->store_first + number;
    return &core->stores[at < core->store_room ? at : at - core->store_room];
}

static inline int core_register_index(const ts_core *core, ts_register r) { /* in ts_core.ready */
    return ts_register_index(&core->setup.config->limits, r);
}
void core_units_new(ts_arena *arena, ts_core *core);
/* Refused: two instructions of the bundle on one port. */
bool core_describe(ts_error *err, ts_arena *arena, const ts_core *core, const ts_bundle *source,
                   core_bundle *bundle);

/* op.c: a fault of the instruction, with cycle and line. Returns false. */
bool core_fault(ts_error *err, const ts_core *core, const core_op *op, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The next bundle issues `cycles` after this one, the cycles between counted as `stall`. */
void core_hold(ts_core *core, int64_t cycles, int stall);
/* Writes a whole vreg under the op's mask. */
void core_write_vreg(const ts_core *core, const core_op *op, const uint32_t *words);

/* The functions of the families; names are those of the opcodes. */
#define CORE_FUNCTION(id) bool core_run_##id(ts_error *err, ts_core *core, const core_op *op)
CORE_FUNCTION(vector);        /* any vector function */
CORE_FUNCTION(vector_masked); /* the same under a write mask */
CORE_FUNCTION(copy_word);     /* d[0] = in[0][0] */
CORE_FUNCTION(copy_vreg);
#define DECLARE_SCALAR(id)   CORE_FUNCTION(id);
#define DECLARE_CONTROL(id)  CORE_FUNCTION(id);
#define DECLARE_MEMORY(id)   CORE_FUNCTION(id);
#define DECLARE_TRANSFER(id) CORE_FUNCTION(id);
#define DECLARE_VECTOR_F32(id)
#define DECLARE_VECTOR_I32(id)
#define DECLARE_VECTOR_BF16(id)
#define DECLARE_VECTOR_MOVE(id)
#define DECLARE_MASK(id)
#define DECLARE_EUP(id)
#define DECLARE_CROSS(id)
#define DECLARE_TRANSPOSE(id)                                                         CORE_FUNCTION(id);
#define DECLARE_MATRIX(id)                                                            CORE_FUNCTION(id);
#define OPCODE(family, id, mnemonic, operands, slot, latency, shadow, flops, meaning) DECLARE_##family(id)
#include "isa/opcodes.def"

/* matrix.c and transpose.c: made when the program has their instructions. */
bool core_mxus_new(ts_error *err, ts_arena *arena, ts_core *core, const ts_instruction *instruction);
void core_transposer_new(ts_arena *arena, ts_core *core);
/* Refused: a unit, or a type, that the machine does not have. */
bool core_matrix_check(ts_error *err, const ts_core *core, const ts_instruction *instruction, int *unit);
/* Which port of its matrix unit the instruction takes, and for how long. */
enum { CORE_MXU_LATCH, CORE_MXU_PUSH, CORE_MXU_POP, CORE_MXU_SWAP, CORE_MXU_PORTS };
int64_t core_matrix_unit(const ts_instruction *instruction); /* as written */
int core_matrix_port(const ts_core_config *config, ts_opcode opcode, int64_t *cycles);
ts_mxu_type core_matrix_type(ts_opcode opcode); /* of a push or an accumulation */
core_gate core_gate_mxu_pop, core_gate_mxu_take, core_gate_mxu_swap, core_gate_vtr_pop;

/* When what each unit holds can be used, as seen from core->next: equal numbers, equal futures. Returns how
 * many numbers; out NULL: at most so many. And all that is not ready at `from` is ready `by` later. */
int core_mxus_state(const ts_core *core, int64_t *out);
void core_transposer_move(ts_core *core, int64_t from, int64_t by);
void core_mxus_move(ts_core *core, int64_t from, int64_t by);

/* profile.c: of the bundle at core->pc, before core->next moves on. */
void core_profile_new(ts_arena *arena, ts_core *core);
void core_profile_charge(ts_core *core, int64_t first_cycle, int64_t cycles, int stall);
/* Of the bundles of a loop: what there is now, and `times` what was added since then once more. */
void core_profile_remember(core_profile *profile, const ts_core *core, int head, int end);
void core_profile_repeat(core_profile *profile, const ts_core *core, int head, int end, int64_t times);

/* skip.c */
void core_skip_new(ts_arena *arena, ts_core *core);
/* A branch back of bundle `end` was taken, and the core is at its target; it may go up to cycle `until`. */
void core_skip_loop(ts_core *core, int end, int64_t until);
/* All that is to come, `by` cycles later. */
void core_skip_move(ts_core *core, int64_t by);

/* forward.c */
void core_forward_new(ts_arena *arena, ts_core *core);
/* Has the chip told of a branch back of bundle `end`, when the core is at its target. */
void core_forward_loop(ts_core *core, int end);

/* loop.c: what an instruction of the bundle does to loops. */
enum { CORE_SMEM_CHANGED = 1 << 8 };
void core_loops_new(ts_arena *arena, ts_core *core);
void core_loops_describe(const ts_core *core, const ts_instruction *instruction, const ts_register_use *use,
                         core_bundle *bundle);
/* A branch back of bundle `end` was taken, core->branches_left is 0, and the core is at its target. A fault:
 * it never ends. */
bool core_loops_visit(ts_error *err, ts_core *core, int end);
const core_op *core_branch_of(const core_bundle *bundle); /* NULL: none */

/* memory.c: the bytes that an access of VMEM or SMEM touches, as first and one past the last of the space. */
bool core_address_find(ts_error *err, const ts_core *core, const core_op *op, int64_t *address);
/* transfer.c: the semaphore that an operand names now. */
/* Of a dma: the indices go to core->begin. */
bool core_transfer_find(ts_error *err, const ts_core *core, const core_op *op, int *semaphore);
bool core_semaphore_find(ts_error *err, const ts_core *core, const core_op *op, int *semaphore);
int64_t core_wait_count(const core_op *op);
/* Whether the bundle's wait can go on. */
bool core_wait_ready(ts_error *err, const ts_core *core, const core_op *op, bool *ready);

#endif
