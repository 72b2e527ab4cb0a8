/* Private to the chip: its cores, what is under way, and what the files of this folder do for each other. */
#ifndef TILESIM_CHIP_STATE_H
#define TILESIM_CHIP_STATE_H

#include "check/arrivals.h"
#include "check/left.h"
#include "check/outputs.h"
#include "check/races.h"
#include "chip/remote.h"
#include "traffic.h"

typedef struct loop_sampler loop_sampler;

/* A core, and what it has for itself. */
typedef struct {
    ts_chip *chip;
    ts_core *core;
    ts_space *spaces[TS_SPACE_COUNT]; /* those of the chip too */
    int64_t *semaphores;
    ts_semaphore_account *accounts; /* of them */
    ts_core_ports ports;
    ts_races *races;       /* of its own transfers; NULL: the sanitizer is off */
    ts_arrivals *arrivals; /* in a mesh, with it */
    bool stores_checked;   /* with it: some input lies where stores go */
} chip_core;

/* Transfers of a core that count for others: those that started from a mark on. */
typedef struct {
    ts_chip_counters all;  /* what those add up to that are complete */
    ts_chip_transfers *of; /* each transfer of the code; NULL: there was no mark */
    int64_t number, end;   /* numbers of the first, and behind the last */
    int64_t times;         /* how often they count beside themselves; 0: not yet known */
} chip_counts;

struct ts_chip {
    const ts_chip_config *config;
    const ts_code *code;
    const ts_chip_observer *observer;
    ts_arena *arena;
    int64_t **axis_bits; /* of each tensor */
    chip_core cores[TS_CHIP_CORES];
    int core_count;
    const chip_core *told; /* the core of which the observer was told last */
    traffic *traffic;
    loop_sampler *sampler; /* NULL: every iteration of a loop is simulated */
    ts_outputs outputs;    /* with the sanitizer */
    ts_in_flight *free_records;
    ts_chip_message *spare; /* that came, to be sent again */
    ts_chip_message *made;  /* the last that was */
    bool has_message;       /* the last event was that a message was sent or read: see ts_chip_advance */
    ts_arena *scratch;      /* of a plan between a tensor and a message; NULL: the chip is alone */
    ts_in_flight *active;   /* the oldest in flight */
    int64_t started;        /* transfers */
    int64_t busy_since;     /* -1: no transfer is under way */
    int64_t last_done;      /* the cycle of the last completion */
    int64_t quiet_until;    /* no transfer completes before this cycle, unless another starts */
    ts_chip_counters counters;
    ts_chip_transfers *transfers;      /* of each transfer of the code */
    chip_counts marked[TS_CHIP_CORES]; /* see chip_mark */
};

/* observed.c: the observer, which knows what core it is told of; NULL: none. */
const ts_chip_observer *chip_told_of(chip_core *by);
/* The ports of a core that only tell of it. */
void chip_observe(chip_core *own);

/* transfers.c: those of a core, by its ports. */
bool chip_dma_start(ts_error *err, void *self, const ts_core_start *start);
bool chip_dma_ready(void *self);
int64_t chip_vmem_take(void *self, int64_t cycle, int loads, int stores);
void chip_change_semaphore(void *self, const ts_instruction *instruction, int semaphore, int64_t by,
                           int64_t cycle);
/* records.c */
void chip_read_outside(void *self, const ts_outside_read *read);
ts_in_flight *chip_take_record(ts_chip *chip);
void chip_give_back(ts_chip *chip, ts_in_flight *t);
void chip_put_in_flight(ts_chip *chip, ts_in_flight *t);
/* A transfer is at its end: it is out of flight, and its semaphore grows. */
void chip_settle(ts_chip *chip, ts_in_flight *t, int64_t cycle);
ts_plan_side chip_side(const ts_chip *chip, const ts_slice *slice, const int64_t *begin);
/* The two sides may differ in dims of 1. */
const ts_plan *chip_plan(ts_error *err, ts_arena *arena, const ts_transfer *what, ts_plan_side *src,
                         ts_plan_side *dst);

/* remote.c: whether a transfer goes to another chip, or to this one by way of the mesh. */
static inline bool chip_leaves(const ts_chip *chip, const ts_transfer *what) {
    return what->remote && chip->config->links;
}
/* Values: its bytes are wanted. */
void chip_send(ts_chip *chip, ts_in_flight *t, const ts_core_start *start, bool values);
bool chip_read(ts_error *err, ts_chip *chip, ts_in_flight *t, int64_t cycle);
void chip_signal(void *self, const ts_core_signal *signal);
/* A message was written to HBM. */
bool chip_arrive(ts_error *err, ts_chip *chip, const ts_dma_result *written);

/* The next one is complete. */
bool chip_complete(ts_error *err, ts_chip *chip, int64_t cycle);
/* The transfers that a core starts between the two count `times` times more, whenever they are complete. */
void chip_mark(ts_chip *chip, int core);
void chip_repeat(ts_chip *chip, int core, int64_t times);
/* Some of those are still in flight. */
bool chip_counts_for_others(const ts_chip *chip);
/* Adds where it happened to an error that came from below. */
bool chip_fault_at(ts_error *err, int64_t cycle, const ts_source *source, int line, int column);
int chip_core_number(const chip_core *own); /* -1: there is one core only */
int64_t chip_core_cycles(const chip_core *own);

#endif
