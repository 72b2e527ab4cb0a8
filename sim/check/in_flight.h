/* A transfer in flight: the chip's record of it, at which races, findings and watches look as well. */
#ifndef TILESIM_CHECK_IN_FLIGHT_H
#define TILESIM_CHECK_IN_FLIGHT_H

#include "isa/isa.h"
#include "layout/plan.h"
#include "memory/space.h"

/* With the sanitizer it outlives its end, until the program has waited for it; then the plan is gone. */
typedef struct ts_in_flight {
    struct ts_in_flight *younger; /* of those in flight, by issue */
    struct ts_in_flight *next;    /* in the list of those not waited for, or of free ones */
    const ts_transfer *what;
    int64_t number;     /* of all that were started, from 0: the tag of its result */
    int transfer, core; /* its number in the code, and that of the core that started it */
    int semaphore;      /* -1: none */
    int receive;        /* of a remote transfer: its semaphore at the other end; -1: it is not remote */
    const ts_plan *plan;
    const ts_space *src, *dst;        /* NULL: in another device */
    struct ts_chip_message *message;  /* of one that leaves the chip, or (with dst) comes to it */
    int64_t issued_cycle, done_cycle; /* done: -1: not yet */
    int64_t begun_cycle;              /* from when on it moves data */
    int64_t vreg_cycles;              /* that the engine takes for a vreg's bytes */
    struct ts_race *race;             /* what it touches; NULL: the sanitizer is off */
} ts_in_flight;

#endif
