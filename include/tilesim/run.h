/* Runs: a program on a machine, with a caller's arrays. */
#ifndef TILESIM_RUN_H
#define TILESIM_RUN_H

#include <stddef.h>

#include "tilesim/array.h"
#include "tilesim/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *name;
    const ts_array *array;
} ts_input;

typedef struct {
    size_t struct_bytes; /* sizeof(ts_run_options); what is zero is the default */
    const ts_machine *machine;
    const ts_program *program;
    const ts_input *inputs; /* inputs that are not here are as the program says */
    int input_count;
    int convert;        /* let arrays of another type be rounded to the tensor's */
    int time_only;      /* no values: no outputs, no checks */
    int check;          /* look for undefined values, races and what is left over */
    int exact;          /* nothing is left out of the time */
    int64_t max_cycles; /* a program that still runs then has failed; 0: no limit */
    const char *trace;  /* a file that gets the timeline, for ui.perfetto.dev; NULL: none */
    int page;           /* keep what ts_simulation_html shows */
    /* Devices that all run the program, arrays being whole, as in ts_program_request; NULL: those that the
     * program was read for, on the same machine. One that was read for a mesh runs on no other axes. */
    const char *mesh, *topology;
    int threads; /* for a mesh; the result is the same */
    /* Asked some times a second while the program runs, and not while checks compute what they expect: not 0
     * ends the run with an error. NULL: none. */
    int (*stopped)(void *context);
    void *context;
} ts_run_options;

typedef struct ts_simulation ts_simulation;

/* A run whose checks failed is a run: ts_simulation_passed tells. NULL on an error. */
TS_API const ts_simulation *ts_simulate(ts_error *err, ts_arena *arena, const ts_run_options *options);
TS_API int64_t ts_simulation_cycles(const ts_simulation *run);
TS_API double ts_simulation_microseconds(const ts_simulation *run);
TS_API int
ts_simulation_passed(const ts_simulation *run); /* its checks, and with `check` nothing was found */
/* A counter by its name in the JSON: "bundles", "hbm_read_bytes"; -1: there is none. */
TS_API int64_t ts_simulation_counter(const ts_simulation *run, const char *name);
/* An output's values; NULL: the program has no such output. */
TS_API const ts_array *ts_simulation_output(const ts_simulation *run, const char *name);
/* What `tilesim run` prints, with what it found behind it, and what it prints with --json. */
TS_API const char *ts_simulation_text(ts_arena *arena, const ts_simulation *run);
TS_API const char *ts_simulation_json(ts_arena *arena, const ts_simulation *run);
/* What it writes with --html: a page with the timeline. NULL: the run was not to keep it. */
TS_API const char *ts_simulation_html(ts_arena *arena, const ts_simulation *run);

#ifdef __cplusplus
}
#endif

#endif
