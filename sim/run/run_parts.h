/* The parts of a run. */
#ifndef TILESIM_RUN_RUN_PARTS_H
#define TILESIM_RUN_RUN_PARTS_H

#include "run/run.h"

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

/* For the sanitizer: which tensors have one of the roles (bits), and which elements of outputs were never
 * written. */
bool *mark_tensors(ts_arena *arena, const ts_program *program, unsigned roles);
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
void run_count(const ts_chip_counters *counted, ts_counters *out);
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

#endif
