/* The time of a workload on a machine: a program that runs, or a transfer; and what a naive roofline says. */
#ifndef TILESIM_VALIDATE_PREDICT_H
#define TILESIM_VALIDATE_PREDICT_H

#include "machine/machine.h"
#include "study/timed.h"
#include "validate/workload.h"

typedef struct {
    ts_arena *arena; /* what a prediction needs is gone with it */
    ts_timed_runs *runs;
    bool exact;     /* every access is simulated, every program run whole */
    bool estimated; /* set where one was not */
} ts_predictor;

/* Microseconds. The machine is that of the workload, perhaps with some figures changed. */
bool ts_workload_predict(ts_error *err, ts_predictor *by, const ts_workload *work, const ts_machine *machine,
                         double *us);

/* The same of a collective, whose machine is a chip with its links. */
bool ts_workload_predict_collective(ts_error *err, ts_arena *arena, const ts_workload *work,
                                    const ts_machine *machine, double *us);

/* Does the workload state block sizes that a Pallas kernel of it can have? */
bool ts_workload_has_kernel(const ts_workload *work);
/* And of a Pallas kernel, through its text; only the kernel. */
bool ts_workload_predict_kernel(ts_error *err, ts_predictor *by, const ts_workload *work,
                                const ts_machine *machine, double *us);

/* The same launches and dispatch, and the larger of bytes / peak bandwidth and operations / peak rate, of the
 * device. */
double ts_workload_roofline(const ts_workload *work, const ts_machine *machine);

#endif
