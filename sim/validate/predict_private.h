/* What the models of workloads share. Private. */
#ifndef TILESIM_VALIDATE_PREDICT_PRIVATE_H
#define TILESIM_VALIDATE_PREDICT_PRIVATE_H

#include "validate/predict.h"

/* With matrix units that multiply random data: a slower clock, beside which the engine's rates stay what they
 * are. */
const ts_machine *predict_under_load(ts_arena *arena, const ts_machine *machine);

double predict_microseconds(int64_t ps);

/* A program that stands for a workload. */
typedef struct {
    ts_predictor *by;
    ts_timed_program run;
} predict_program;
predict_program predict_begin(ts_predictor *by, const ts_machine *machine, const char *program);

/* A parameter that is `total`, of which a block takes `unit`. In its stride each block takes the same time:
 * above twice `few` blocks, those of `few` and of twice as many say what, unless all is to be exact. */
typedef struct {
    const char *name;
    int64_t unit, total, few;
} predict_series;
bool predict_run_blocks(ts_error *err, predict_program *k, predict_series b, double *us);

/* Models: as ts_workload_predict, of a device. */
bool predict_passes(ts_error *err, ts_predictor *by, const ts_workload *w, const ts_machine *machine,
                    double *us);
bool predict_products(ts_error *err, ts_predictor *by, const ts_workload *w, const ts_machine *machine,
                      double *us);

#endif
