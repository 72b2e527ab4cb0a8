/* A caller that may want long work to end. */
#ifndef TILESIM_BASE_INTERRUPT_H
#define TILESIM_BASE_INTERRUPT_H

#include "base/error.h"

typedef struct {
    const char *what;              /* the work: "the run" */
    int (*stopped)(void *context); /* asked in the caller's thread; not 0: the work is to end */
    void *context;
    double asked_at; /* seconds of the host; 0 at first */
    bool is_heard;   /* the work was to end, and is */
} ts_interrupt;

/* Asks, unless that was done a moment before or the work is to end already. NULL: nobody wants it to. */
bool ts_interrupt_is_heard(ts_interrupt *interrupt);
/* "the run is stopped". Returns false. */
bool ts_interrupt_error(ts_error *err, const ts_interrupt *interrupt);

#endif
