/* A caller that may want long work to end. */
#ifndef TILESIM_BASE_INTERRUPT_H
#define TILESIM_BASE_INTERRUPT_H

#include <stdbool.h>

typedef struct {
    int (*stopped)(void *context); /* asked in the caller's thread; not 0: the work is to end */
    void *context;
    double asked_at; /* seconds of the host; 0 at first */
} ts_interrupt;

/* Asks, unless that was done a moment before. NULL: nobody wants it to. */
bool ts_interrupt_is_heard(ts_interrupt *interrupt);

#endif
