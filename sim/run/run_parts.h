/* The parts of a run. */
#ifndef TILESIM_RUN_RUN_PARTS_H
#define TILESIM_RUN_RUN_PARTS_H

#include "run/run.h"
#include "host/array.h"
#include "mesh/sharding.h"

/* Values of every input, before anything is simulated. */
bool bind_inputs(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_program *program,
                 ts_run_tensor *tensors);
/* The tensor of that name that may be saved (-o) or bound (-i): -1 and an error when there is none. */
int find_run_tensor(ts_error *err, const ts_program *program, const char *option, const char *name);

/* The checks of a program, then its reports (both sides of which are the expression), parsed: errors come
 * before the simulation. */
const ts_check *parse_checks(ts_error *err, ts_arena *arena, const ts_program *program);
/* What the largest of the checks will hold beside the tensors. */
int64_t checks_bytes(const ts_program *program, const ts_check *checks);
bool run_checks(ts_error *err, const ts_program *program, const ts_check *checks,
                const ts_run_tensor *tensors, ts_check_result *results);
bool run_reports(ts_error *err, const ts_program *program, const ts_check *checks,
                 const ts_run_tensor *tensors, double *results);

/* For the sanitizer: was every element of every output written? */
typedef struct {
    ts_chip *chip;
    int64_t device, cycle; /* of a mesh; at its end */
} run_device;
bool find_unwritten(ts_error *err, const run_device *device, const ts_program *program, const bool *outputs,
                    ts_findings *findings);

/* A program, its inputs and a chip, ready to run. */
typedef struct {
    const ts_program *program;
    const ts_check *checks;
    ts_run_tensor *tensors;
    ts_chip_config config;
    const bool *outputs;
    ts_findings *findings;
    ts_chip *chip;
} run_parts;

/* All but the chip and its configuration. */
bool run_parts_load(ts_error *err, ts_arena *arena, const ts_run_request *request, run_parts *parts);
/* The configuration; `findings` is the caller's. */
void run_parts_configure(ts_arena *arena, const ts_run_request *request, run_parts *parts);
/* Is a tensor's value wanted at the end; is all of it (saved)? */
bool run_wants(const ts_run_request *request, const run_parts *parts, int tensor, bool *saved);
/* The values of an input, as they are read; and where they go: into the memories of a chip. */
ts_host_reader run_input(ts_arena *scratch, const ts_run_tensor *bound);
bool run_store(ts_error *err, const ts_tensor *tensor, const ts_host_reader *values, ts_chip *chip);
/* Of a tensor that is wanted, what bound->fetched reads: bound->after, all of it or its dims alone. */
bool run_take(ts_error *err, ts_arena *arena, const ts_shape *shape, bool saved, ts_run_tensor *bound);
void run_count(const ts_chip_counters *counted, ts_counters *out);
/* What the chip counted, and what follows from that, for the result of result->program. */
void run_measure(ts_arena *arena, const ts_run_request *request, const ts_chip *chip, ts_run_result *result);
/* Checks and reports, once all that they need can be fetched. */
bool run_compare(ts_error *err, ts_arena *arena, run_parts *parts, ts_run_result *result);
/* The results of the run, of a mesh or of one device. */
void run_conclude(const run_parts *parts, ts_run_result *result);

/* on_mesh.c: a run of request->mesh. */
bool run_on_mesh(ts_error *err, ts_arena *arena, const ts_run_request *request, ts_run_result *result);
/* Its devices, with their inputs, ready to run; NULL: an error. It is the caller's to free; `parts` has no
 * chip. */
struct ts_pod *run_open_mesh(ts_error *err, ts_arena *arena, const ts_run_request *request,
                             const ts_chip_observer *const *observers, run_parts *parts);

/* `parts` must stay where it is. The chip is the caller's to free. */
bool run_parts_open(ts_error *err, ts_arena *arena, const ts_run_request *request,
                    const ts_chip_observer *observer, run_parts *parts);

/* ---- Parts of a profile ---- */

/* Of all cores; times: how often the instruction issued. */
void profile_instruction(const ts_chip *chip, const ts_program *program, int bundle, int index,
                         ts_line_counts *counts);
/* Fills in the loops. */
void profile_loops(ts_arena *arena, const ts_program *program, const ts_chip *chip, ts_profile *profile);

/* ---- Arrays over the devices of a mesh: what a device holds of one, and one from what all devices hold ---- */

/* What a device holds of an array, row-major; whole: reads all of it. Where dims do not divide evenly, parts
 * that are shorter end with padding, which is 0. */
ts_host_reader sharded_part(ts_arena *arena, const ts_sharding *sharding, int64_t device,
                            const ts_host_reader *whole);
/* The whole array, of copies the one on the first device; parts: of every device. */
ts_host_reader sharded_whole(ts_arena *arena, const ts_sharding *sharding, const ts_host_reader *parts);
/* Whether element `flat` of a device's part is padding; and elements of a dim, from the first on, that are
 * not. */
bool sharded_is_padding(const ts_sharding *sharding, int64_t device, int64_t flat);
int64_t sharded_held(const ts_sharding *sharding, int dim, int64_t device);
/* The lowest device that holds the same part as `device`. */
int64_t sharded_first_copy(const ts_sharding *sharding, int64_t device);
/* A reader of an array in memory. */
ts_host_reader sharded_of_array(ts_arena *arena, const ts_host_array *array);

#endif
