/* Transfers in flight, and semaphores that are not 0, when a program ends. */
#ifndef TILESIM_CHECK_LEFT_H
#define TILESIM_CHECK_LEFT_H

#include "check/findings.h"

/* The account of a semaphore: what was added and what was taken. */
typedef struct {
    int64_t sent;                /* by transfers, also those still under way */
    int64_t added, taken;        /* by sem.add and sem.set, which can be less than nothing; by waits */
    const ts_transfer *transfer; /* the last that signals it */
    const ts_instruction *adder; /* the last that added */
} ts_semaphore_account;

void ts_left_send(ts_semaphore_account *account, const ts_transfer *transfer, int64_t by);
void ts_left_change(ts_semaphore_account *account, const ts_instruction *instruction, int64_t by);

/* A transfer that is done at `cycle`, when its core (-1: the only one) had ended at cycle `end`. */
void ts_left_transfer(ts_findings *findings, const ts_transfer *what, int core, int64_t end, int64_t cycle);

typedef struct {
    const ts_code *code;
    int core; /* -1: the only one */
    const ts_semaphore_account *accounts;
    const int64_t *semaphores;
} ts_left_state;
/* At the end: semaphores of one core that are not 0. */
void ts_left_semaphores(ts_findings *findings, const ts_left_state *left, int64_t cycle);

#endif
