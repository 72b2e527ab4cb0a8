/* A TensorCore: registers, scoreboard and in-order issue of bundles. Values and time come from one decoded
 * form of the program; a bundle executes in the cycle in which it issues, all its reads before its writes. */
#ifndef TILESIM_CORE_CORE_H
#define TILESIM_CORE_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "check/access.h"
#include "check/findings.h"
#include "check/poison.h"
#include "isa/isa.h"
#include "machine/core_config.h"
#include "memory/space.h"

/* Why a bundle did not issue in a cycle. Every cycle from 0 to the end either issues a bundle or has exactly
 * one reason: that of the constraint that was met last. The numbers:
 *   TS_STALL_WAIT + key   a result of that latency key was not ready (ts_latency)
 *   TS_STALL_BUSY + key   the unit was occupied by an instruction of that key
 * and those below. */
enum {
    TS_STALL_WAIT = 0,
    TS_STALL_BUSY = TS_LATENCY_COUNT,
    TS_STALL_SEMAPHORE = 2 * TS_LATENCY_COUNT, /* a wait whose semaphore was too low */
    TS_STALL_VMEM_PORT,                        /* the VMEM port served a DMA */
    TS_STALL_VMEM_BANK,                        /* rows of one strided access shared a bank */
    TS_STALL_DMA_QUEUE,                        /* the DMA engine held as many transfers as it can */
    TS_STALL_BARRIER,                          /* other cores had not come to the barrier */
    TS_STALL_COUNT
};
/* "wait_vector_alu", and what it means. */
const ts_named *ts_stall_get(int stall);

/* Transfer `transfer` of the code starts; the arrays have the ranks of its slices. The engine adds 1 to the
 * semaphore when it is done. */
typedef struct {
    int transfer, semaphore;
    const int64_t *source_begin, *destination_begin;
    int64_t cycle;
    int64_t device; /* of a remote transfer, with its semaphore there */
    int receive;
} ts_core_start;

/* So much is added to a semaphore of another device. */
typedef struct {
    const ts_instruction *instruction;
    int64_t device, by, cycle;
    int semaphore;
} ts_core_signal;

/* The device that a core is of, in the mesh that runs the program. */
typedef struct {
    int64_t id, count;
    int axis_count;
    const int64_t *index, *size; /* [axis_count] */
} ts_core_device;

/* How the core reaches the chip around it. */
typedef struct {
    void *chip;
    bool (*dma_start)(ts_error *err, void *chip, const ts_core_start *start);
    /* Can another transfer be started now? If not, the core waits for ts_core_notify. NULL: always. */
    bool (*dma_ready)(void *chip);
    /* Takes the VMEM ports at `cycle` for loads and stores of one vreg each and returns `cycle`, or takes
     * nothing and returns the next cycle at which to ask again. NULL: always free. */
    int64_t (*vmem_take)(void *chip, int64_t cycle, int loads, int stores);
    /* Told of every bundle that issues and of every stall, in order of time. NULL: not told. */
    void (*issued)(void *chip, int bundle, int64_t cycle);
    void (*stalled)(void *chip, int bundle, int64_t first_cycle, int64_t cycles, int stall);
    /* Told of every access of VMEM and SMEM, and of how much an instruction that issues at `cycle` added to a
     * semaphore, or took from it (by < 0). NULL: not told. */
    void (*accessed)(void *chip, const ts_access *access);
    void (*changed)(void *chip, const ts_instruction *instruction, int semaphore, int64_t by, int64_t cycle);
    /* Told of every word that is read outside of its tensor (ts_address.beyond). NULL: not told. */
    void (*read_outside)(void *chip, const ts_outside_read *read);
    /* Told of every semaphore that is read. NULL: not told. */
    void (*looked)(void *chip, int semaphore);
    /* NULL: there is one device. */
    void (*signalled)(void *chip, const ts_core_signal *signal);
    /* Time only: the branch back of bundle `end` was taken, of a loop that core/forward.h can go round. NULL:
     * no iterations are left out. */
    void (*looped)(void *chip, int end);
} ts_core_ports;

typedef struct {
    const ts_core_config *config;
    const ts_code *code;
    int number, cores;            /* of this core, and how many there are; cores 0: one */
    const ts_core_device *device; /* NULL: the only one */
    ts_space *vmem, *smem;
    int64_t *semaphores; /* [code->semaphore_count], the chip's */
    const ts_core_ports *ports;
    /* Values of vregs and VMEM are not computed; scalars, SMEM and semaphores are. A scalar that comes from a
     * vector is unknown, and where the run depends on one it ends: TS_ERROR_UNMODELLED, with the lines it
     * came through. */
    bool time_only;
    /* How much the host does between two transfers of new slices before a loop is held to be endless: in
     * units of about 20 ns; 0: no bound. A loop that counts towards its end is let go on if it comes there
     * before max_cycles (0: any). A loop of which it is certain that it does not end is a fault in any
     * case. */
    int64_t patience, max_cycles;
    /* Keep stalls by instruction (ts_core_stalls); those of the code lie one behind the other, from those of
     * bundle 0 on. */
    bool profile;
    /* Where uses of undefined values are told; NULL: nobody asks. Needs spaces with a shadow. */
    ts_findings *findings;
} ts_core_setup;

/* Kinds of operations: those of the matrix units by ts_mxu_type, then those of the vector unit. */
enum { TS_FLOPS_VPU_F32 = TS_MXU_TYPE_COUNT, TS_FLOPS_VPU_BF16, TS_FLOPS_COUNT };

typedef struct {
    int64_t cycles; /* of the bundles issued and of the stalls: their sum */
    int64_t bundles;
    int64_t instructions[TS_SLOT_COUNT];
    int64_t mxu_busy_cycles;            /* in which rows enter the matrix units: of all of them together */
    int64_t busy_cycles[TS_SLOT_COUNT]; /* of the units of a slot together; matrix units, transposer: none */
    int64_t flops[TS_FLOPS_COUNT];      /* see isa/opcodes.def */
    int64_t stalls[TS_STALL_COUNT];     /* cycles */
} ts_core_counters;

/* What an instruction keeps busy: one of `count` units from number `first` on (0: none), for so many cycles.
 * Units are numbered through: those of the slots, as many as slots, then the ports of matrix units and
 * transposer, each of which takes one instruction a bundle. Instructions that share a bit of `queues` keep
 * the order in which they are written, also inside a bundle. */
typedef struct {
    int first, count;
    int64_t cycles;
    uint64_t queues;
    int results; /* that a matrix unit gives for the rows of a push: one for each 8 */
    bool takes;  /* from its queue, before the bundle executes: what it takes must come from an earlier bundle
                 */
} ts_core_use;
ts_core_use ts_core_use_of(const ts_core_config *config, const ts_instruction *instruction);
int ts_core_unit_count(const ts_core_config *config);
/* Behind `cycle`, the first in which one more of these takes an instruction; INT64_MAX: none does. unit_free:
 * the cycle from which each does. */
int64_t ts_core_next_unit(const ts_core_config *config, const int64_t *unit_free, int64_t cycle);
/* Cycles that instructions take at least, whatever their order: by slots, and by units. All 0 at first. */
typedef struct {
    int64_t slots[TS_SLOT_COUNT], busy[TS_LATENCY_COUNT], cycles;
} ts_core_bound;
void ts_core_bound_add(const ts_core_config *config, const ts_instruction *instruction, ts_core_bound *bound);
/* "valu 0", "mxu 3 push". */
void ts_core_unit_name(const ts_core_config *config, int unit, char name[32]);

typedef struct ts_core ts_core;

/* Checks every bundle against the machine and decodes the program. What is pointed to must outlive it. */
ts_core *ts_core_new(ts_error *err, ts_arena *arena, const ts_core_setup *setup);

/* The next cycle at which the core can do something; INT64_MAX when it has halted or waits for a
 * semaphore. */
int64_t ts_core_next(const ts_core *core);
/* Does everything that happens before cycle `until`, but returns after a bundle that starts a DMA or changes
 * a semaphore, so that others can see it; a bundle that other cores can notice (a DMA, a barrier) issues only
 * before cycle `shared_until`. */
bool ts_core_step(ts_error *err, ts_core *core, int64_t until, int64_t shared_until);
/* The cycle since when the core waits at a barrier for other cores; -1: it does not. */
int64_t ts_core_at_barrier(const ts_core *core);
/* The last of them reached the barrier at `cycle`: the core goes on. */
void ts_core_pass_barrier(ts_core *core, int64_t cycle);
/* Semaphores changed at `cycle`: a core that waits for one looks again. */
void ts_core_notify(ts_core *core, int64_t cycle);
/* Another device adds to a semaphore: that is done, and the core looks again. */
void ts_core_signal_from_outside(ts_core *core, int semaphore, int64_t by, int64_t cycle);

bool ts_core_halted(const ts_core *core);
/* The wait or the barrier that holds the core, for a report of a deadlock; NULL when it does not wait. */
const ts_instruction *ts_core_waiting(const ts_core *core, int *semaphore, int64_t *needed);
/* The loop that the core goes round: its branch back, with how often that was taken and the scalars that it
 * reads as text; NULL: it is in none. */
const ts_instruction *ts_core_loop(const ts_core *core, char *text, size_t bytes);
/* The bundle that issues next. */
int ts_core_bundle(const ts_core *core);
void ts_core_count(const ts_core *core, ts_core_counters *counters);
/* With setup.profile: the cycles for which bundles waited on account of an instruction, by reason
 * [TS_STALL_COUNT]; NULL: none did. All cycles that stall are on account of one. */
const int64_t *ts_core_stalls(const ts_core *core, const ts_instruction *instruction);
/* Of bundle `bundle`: how often it issued and how many cycles it stalled. */
void ts_core_profile(const ts_core *core, int bundle, int64_t *issues, int64_t *stall_cycles);

const ts_poison *
ts_core_poison(const ts_core *core); /* NULL: without findings, and where time alone is modelled */

/* Registers, for tests and tools: 1, TS_VREG_WORDS and TS_VREG_WORDS words. */
uint32_t *ts_core_register(ts_core *core, ts_operand_kind kind, int reg);

#endif
