/* The answer at a point of a study. */
#ifndef TILESIM_SWEEP_EVALUATE_H
#define TILESIM_SWEEP_EVALUATE_H

#include "sweep/study.h"

/* What one process keeps from point to point: machines that it loaded, prices. The study must outlive it; to
 * free NULL is fine. */
typedef struct ts_sweep_context ts_sweep_context;
ts_sweep_context *ts_sweep_context_new(const ts_sweep_study *study);
void ts_sweep_context_free(ts_sweep_context *context);

/* Never fails: an error is in the row (TS_SWEEP_ERROR). Its texts are in the arena. index: 0 to the grid's
 * points - 1, whether the study's conditions hold there or not. */
void ts_sweep_answer(ts_arena *arena, ts_sweep_context *context, int64_t index, ts_sweep_row *row);

#endif
