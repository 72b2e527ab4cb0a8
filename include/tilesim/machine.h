/* Machines: every figure that the models take, from one YAML file. */
#ifndef TILESIM_MACHINE_H
#define TILESIM_MACHINE_H

#include <stdint.h>

#include "tilesim/arena.h"
#include "tilesim/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_machine ts_machine;

/* A built-in machine ("tpu-v5e") or a file (it ends in .yaml, or has a '/'). NULL on an error. */
TS_API const ts_machine *ts_machine_load(ts_error *err, ts_arena *arena, const char *name);
/* The same with figures changed: "hbm.clock=3.2 GHz". */
TS_API const ts_machine *ts_machine_change(ts_error *err, ts_arena *arena, const char *name,
                                           const char *const *changes, int count);
TS_API const char *ts_machine_title(const ts_machine *machine); /* "TPU v5e" */
TS_API uint64_t ts_machine_hash(const ts_machine *machine);     /* equal machines have equal ones */
/* The file, with sources, and what follows from it; and the same with --json. */
TS_API const char *ts_machine_text(ts_arena *arena, const ts_machine *machine);
TS_API const char *ts_machine_json(ts_arena *arena, const ts_machine *machine);
/* The name of built-in machine `number` from 0, NULL behind the last. */
TS_API const char *ts_machine_name(int number);
/* The name or path of the machine that a mesh file names, "v6e-256"; of axes, as "4x4", the default. NULL on
 * an error. */
TS_API const char *ts_machine_of_mesh(ts_error *err, ts_arena *arena, const char *mesh);

#ifdef __cplusplus
}
#endif

#endif
