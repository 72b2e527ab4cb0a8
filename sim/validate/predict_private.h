/* What the models of workloads share. Private. */
#ifndef TILESIM_VALIDATE_PREDICT_PRIVATE_H
#define TILESIM_VALIDATE_PREDICT_PRIVATE_H

#include "validate/predict.h"

/* With matrix units that multiply random data: a slower clock, beside which the engine's rates stay what they
 * are. */
const ts_machine *predict_under_load(ts_arena *arena, const ts_machine *machine);

double predict_microseconds(int64_t ps);

/* A parameter that is `total`, of which a block takes `unit`. In its stride each block takes the same time:
 * above twice `few` blocks, those of `few` and of twice as many say what. */
typedef struct {
    const char *name;
    int64_t unit, total, few;
} predict_series;
bool predict_run_blocks(ts_error *err, ts_timed_program *k, predict_series b, double *us);

/* Models: as ts_workload_predict, of a device. */
bool predict_passes(ts_error *err, ts_arena *arena, ts_timed_runs *known, const ts_workload *w,
                    const ts_machine *machine, double *us);
bool predict_products(ts_error *err, ts_arena *arena, ts_timed_runs *known, const ts_workload *w,
                      const ts_machine *machine, double *us);

#endif
