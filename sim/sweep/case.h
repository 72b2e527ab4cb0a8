/* A point as it is asked: all texts filled in, the machine and the files found, and the key that says so; and
 * its answer. */
#ifndef TILESIM_SWEEP_CASE_H
#define TILESIM_SWEEP_CASE_H

#include "machine/machine.h"
#include "sweep/study.h"

typedef struct {
    ts_sweep_question question;
    const char *text;        /* of the question; of a file, its path */
    const char *machine;     /* a name, or a path */
    const char *const *sets; /* "hbm.stacks=1" */
    const ts_define *defines, *inputs;
    int set_count, define_count, input_count;
#define TEXT(name)  const char *name; /* NULL: not given */
#define TRUTH(name) bool name;
#include "sweep/case_options.def"
} ts_sweep_case;

bool ts_sweep_case_of(ts_error *err, ts_arena *arena, const ts_sweep_point *point, ts_sweep_case *asked);

/* The files that the study's points name, sorted: how many. Without those that these name. */
const char *const *ts_sweep_study_files(ts_arena *arena, const ts_sweep_study *study, int *count);

/* Is its text the path of a file? */
bool ts_sweep_reads_file(const ts_sweep_case *asked);
/* Is its mesh a file, and not axes? */
bool ts_sweep_has_mesh_file(const ts_sweep_case *asked);

/* What it is about, in bytes: the more, the longer its answer is expected to take; that alone depends on it.
 * Of what is not known before it is asked, a program say, the same for all. */
double ts_sweep_case_bytes(ts_arena *arena, const ts_sweep_case *asked);

/* All that its answer depends on, as texts: equal keys, equal answers. */
typedef struct {
    char key[33], machine_hash[17], input_hash[33]; /* of files, with those that they include */
    const char *parameters;                         /* as JSON: {"ROWS": "8"} */
    const char *question;                           /* as lines: "dma: ..", then its options */
    const char *machine;                            /* with what is changed of it */
    const char *version;                            /* of the simulator */
} ts_sweep_identity;

/* What was hashed already. */
typedef struct ts_sweep_hashes ts_sweep_hashes;
ts_sweep_hashes *ts_sweep_hashes_new(ts_arena *arena);

/* False: there is no such machine. A file that cannot be read is known by that. */
bool ts_sweep_identify(ts_error *err, ts_arena *arena, ts_sweep_hashes *hashes, const ts_sweep_point *point,
                       const ts_sweep_case *asked, ts_sweep_identity *identity);

/* ---- Figures at half and at twice what they are on the machine of a point ---- */

/* A case's machine, with what is changed of it: "tpu-v4 with hbm.clock=1 GHz". */
const char *ts_sweep_machine_text(ts_arena *arena, const ts_sweep_case *asked);

/* Each machine is read once for all points. */
ts_sweep_moves *ts_sweep_moves_new(ts_arena *arena);
/* True: no case before had the same machine, with the same changed of it. */
bool ts_sweep_moves_add(ts_sweep_moves *moves, const ts_sweep_case *asked);
/* Of "hbm.clock*2": "hbm.clock=3.2 GHz". One that the machine does not have, or not as much of, is
 * "hbm.clock=*2", which it refuses. */
const char *ts_sweep_moves_set(ts_sweep_moves *moves, const ts_sweep_case *asked, const char *change);

/* ---- The answer at a point of a study ---- */

/* What one process keeps from point to point: machines that it loaded, prices. The study must outlive it; to
 * free NULL is fine. */
typedef struct ts_sweep_context ts_sweep_context;
ts_sweep_context *ts_sweep_context_new(const ts_sweep_study *study);
void ts_sweep_context_free(ts_sweep_context *context);

/* Never fails: an error is in the row (TS_SWEEP_ERROR). Its texts are in the arena. index: 0 to the grid's
 * points - 1, whether the study's conditions hold there or not. */
void ts_sweep_answer(ts_arena *arena, ts_sweep_context *context, int64_t index, ts_sweep_row *row);

#endif
