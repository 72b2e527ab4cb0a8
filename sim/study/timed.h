/* Programs run for their time alone, each once: many prices and rows of measurements need the same. */
#ifndef TILESIM_STUDY_TIMED_H
#define TILESIM_STUDY_TIMED_H

#include "chip/chip.h"
#include "machine/machine.h"
#include "program/program.h"

typedef struct ts_timed_runs ts_timed_runs;
/* What was run, kept by the figures of the machine and of the program. Threads may ask at once. */
ts_timed_runs *ts_timed_runs_new(ts_arena *arena);
/* As ts_prices_set_interrupt (study/prices.h). */
void ts_timed_runs_set_interrupt(ts_timed_runs *runs, ts_interrupt *interrupt);
/* A copy of a text, which belongs to them. */
const char *ts_timed_runs_text(ts_timed_runs *runs, const char *text);

enum { TS_TIMED_DEFINES = 12 };

typedef struct {
    ts_arena *arena; /* of its texts */
    ts_timed_runs *runs;
    const ts_machine *machine;
    const char *program;
    bool exact;        /* every access of every channel of HBM is simulated */
    int64_t limit;     /* cycles; 0: none. A run that takes more ends there */
    bool paced;        /* the pace of its transfers is wanted, too */
    int channel_share; /* see ts_chip_config */
    ts_define defines[TS_TIMED_DEFINES];
    int count;
} ts_timed_program;

/* NAME=value: over one of that name, or behind the others, where there is room. */
void ts_timed_define(ts_timed_program *program, const char *name, int64_t value);
/* "-D ROWS=128 -D COLS=64", after what is there. */
void ts_timed_add_defines(const ts_timed_program *program, ts_text *text);

typedef struct {
    ts_chip_counters chip;
    bool is_over; /* it took more than chip.cycles, the limit or more, and nothing else is known */
    double pace;  /* cycles a transfer: slope of completions in mid-run, by least squares; 0: none */
} ts_timed_run;

/* As it was made before, or made now. It belongs to the runs. */
const ts_timed_run *ts_timed_run_get(ts_error *err, const ts_timed_program *program);

#endif
