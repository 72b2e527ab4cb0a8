/* The chip: cores, a DMA engine and the memories around them, wired to one stepper.
 *
 * Each unit gives the next cycle at which it can change; the earliest goes first; a completion goes before a
 * bundle of the same cycle. If nobody can ever change and the program has not halted, that is a deadlock, and
 * the error says what each unit waits for. */
#ifndef TILESIM_CHIP_CHIP_H
#define TILESIM_CHIP_CHIP_H

#include "base/interrupt.h"
#include "check/in_flight.h"
#include "core/core.h"
#include "dma/price.h"

enum { TS_CHIP_CORES = 16 }; /* at most */

typedef struct {
    ts_core_config core; /* of each; they share the memories that are not per_core, and the DMA engine */
    ts_dma_machine memory;
    const ts_machine_memory *spaces[TS_SPACE_COUNT]; /* NULL: the machine has no such space */
    bool profile;                                    /* see ts_core_setup */
    bool exact; /* simulate every transfer access by access, however many there are (sim/chip/traffic.h) */
    int channel_share; /* simulate one channel of HBM in so many; 0: as many as get the same of each access */
    int64_t patience, max_cycles; /* see ts_core_setup */
    bool time_only;               /* see ts_core_setup; of the transfers, only those into SMEM move bytes */
    /* Where it is told what the program leaves at its end, and with `sanitize` (which needs it) all that the
     * sanitizer sees; of time only, races and semaphores alone. NULL: nobody looks. */
    ts_findings *findings;
    bool sanitize;
    const bool *outputs;               /* with it: of each tensor, whether what it holds at the end matters */
    const bool *inputs;                /* and whether it should stay as it is */
    const struct ts_chip_links *links; /* to the other chips of a mesh (chip/remote.h); NULL: it is alone */
    struct ts_engine_pool *engine_pool; /* of a mesh (chip/engine_pool.h); NULL: none is shared */
    ts_interrupt *interrupt;            /* of a run to its end; NULL: none */
} ts_chip_config;

/* What a chip takes of a machine, which must outlive it. */
void ts_chip_configure(const ts_machine *machine, ts_chip_config *config);

typedef struct ts_chip ts_chip;

/* Told in order of time; any member may be NULL. */
typedef struct {
    void *self;
    void (*opened)(void *self, const ts_chip *chip); /* before anything else: whose events they are */
    void (*issued)(void *self, int bundle, int64_t cycle);
    void (*stalled)(void *self, int bundle, int64_t first_cycle, int64_t cycles, int stall);
    void (*transferred)(void *self, const ts_in_flight *transfer, const ts_dma_result *result);
    /* What is told of bundles, stalls, starts and semaphores from here on is of that core; at first it is
     * core 0. Cores run ahead of each other: only what is told of one core is in order of time. */
    void (*core)(void *self, int core);
    /* Before the bundle of a store, or the completion of a transfer, is told: which bytes it writes. Of a
     * transfer: the elements of the destination of its plan; also of what comes from another device. */
    void (*stored)(void *self, const ts_access *store);
    void (*moved)(void *self, const ts_in_flight *transfer);
    /* Before the bundle that does it is told: a transfer starts; so much is added to a semaphore. */
    void (*started)(void *self, const ts_in_flight *transfer);
    void (*changed)(void *self, const ts_instruction *instruction, int semaphore, int64_t by, int64_t cycle);
    /* Of a transfer that leaves the chip `transferred` means that it was read; its semaphore grows now. */
    void (*sent)(void *self, const ts_in_flight *transfer, int64_t cycle);
    /* With it, each channel of the HBM that is simulated is simulated by itself: the same, but slower. */
    ts_hbm_observer *burst;
} ts_chip_observer;

typedef struct {
    int64_t cycles;         /* until the last core halted; */
    int64_t elapsed_cycles; /* and no transfer was under way: what bytes and energy are of */
    int core_count;
    ts_core_counters cores[TS_CHIP_CORES];
    ts_hbm_stats hbm;
    int64_t recalled; /* of the transfers: those that were not simulated, see ts_chip_config */
    bool estimated;   /* not every access of every channel was simulated */
    int64_t transfers, useful_bytes, src_bytes, dst_bytes, padding_bytes, waste_bytes, rmw_lines;
    int64_t hbm_read_bytes, hbm_written_bytes; /* lines moved */
    int64_t dma_busy_cycles;                   /* with at least one transfer under way */
    int64_t transfer_cycles,
        least_transfer_cycles; /* of all, from issue to completion; what ts_dma_least_cycles says */
} ts_chip_counters;

/* Of a transfer of the program, each time it was started. */
typedef struct {
    int64_t times;
    int64_t moved_bytes;           /* lines, at both ends */
    int64_t hbm_bytes, vmem_bytes; /* of them, in these memories */
} ts_chip_transfers;

/* Refused: tensors that do not fit their space, and what ts_core_new refuses. `code`, `config` and `observer`
 * (which may be NULL) must outlive the chip. ts_chip_free gives back the address ranges of its memories. */
ts_chip *ts_chip_new(ts_error *err, ts_arena *arena, const ts_chip_config *config, const ts_code *code,
                     const ts_chip_observer *observer);
void ts_chip_free(ts_chip *chip);

ts_space *ts_chip_space(ts_chip *chip,
                        ts_space_kind kind); /* NULL: the machine has none. Core 0's, if each has one */
ts_space *ts_chip_core_space(ts_chip *chip, int core, ts_space_kind kind);
int ts_chip_core_count(const ts_chip *chip);

/* Until the core halts and no transfer is under way. A fault carries cycle and program line. max_cycles: a
 * core that would go on at that cycle is a fault. */
bool ts_chip_run(ts_error *err, ts_chip *chip, int64_t max_cycles);

/* The next event alone, if there is one up to cycle `until`: a completion, one bundle of the core, or a stall
 * of it. `running`: false at the end. */
bool ts_chip_step(ts_error *err, ts_chip *chip, int64_t max_cycles, int64_t until, bool *running);

const ts_isa_limits *ts_chip_limits(const ts_chip *chip);
int64_t ts_chip_semaphore(const ts_chip *chip, int core, int semaphore);
/* Transfer number `number` of those under way, the oldest first; false when there are fewer. */
bool ts_chip_transfer(const ts_chip *chip, int number, int *transfer, int64_t *issued_cycle);

bool ts_chip_is_estimated(const ts_chip *chip); /* so far: see ts_chip_counters */
void ts_chip_count(const ts_chip *chip, ts_chip_counters *counters);
const ts_chip_transfers *ts_chip_transfers_of(const ts_chip *chip, int transfer); /* those completed */
const ts_core *ts_chip_core(const ts_chip *chip, int core);

#endif
