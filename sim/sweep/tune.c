/* Successive halving: K. Jamieson, A. Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter
 * Optimization", AISTATS 2016; the budget of a candidate is the size that it is asked at. */
#include "sweep/answers.h"

#include <string.h>

typedef struct {
    ts_arena *arena;
    const ts_sweep_tune_request *request;
    int axis;       /* of the budget */
    int64_t stride; /* from one of its values to the next */
    int64_t *points;
    int64_t count;
} tuner;

static bool find_budget(ts_error *err, tuner *t) {
    const ts_sweep_study *study = t->request->sweep->study;
    const ts_grid *grid = &study->grid;
    t->axis = -1;
    for (int i = study->first_varied; i < grid->axis_count; i++)
        if (strcmp(grid->axes[i].name, t->request->budget) == 0) t->axis = i;
    if (t->axis < 0 || grid->axes[t->axis].count < 2)
        return ts_error_set(err, TS_ERROR_USAGE,
                            "--tune: '%.60s' does not vary in the study, expected such as a size",
                            t->request->budget);
    t->stride = 1;
    for (int i = t->axis + 1; i < grid->axis_count; i++) t->stride *= grid->axes[i].count;
    return true;
}

/* All points with the first value of the budget. */
static void find_candidates(tuner *t) {
    const ts_grid *grid = &t->request->sweep->study->grid;
    int64_t block = t->stride * grid->axes[t->axis].count;
    t->points = TS_NEW_ARRAY(t->arena, int64_t, grid->point_count / grid->axes[t->axis].count);
    for (int64_t i = 0; i < grid->point_count; i++)
        if (i % block < t->stride) t->points[t->count++] = i;
}

static void add_result(ts_sweep_result *sum, const ts_sweep_result *part) {
    sum->points += part->points;
    sum->left_out += part->left_out;
    sum->there += part->there;
    sum->answered += part->answered;
    for (int i = 0; i < TS_SWEEP_STATUSES; i++) sum->by_status[i] += part->by_status[i];
}

static bool climb(ts_error *err, tuner *t, ts_sweep_rung *rung, ts_sweep_tuned *tuned) {
    ts_sweep_request sweep = *t->request->sweep;
    ts_sweep_result result;
    ts_sweep_table table;
    sweep.points = t->points;
    sweep.point_count = t->count;
    const ts_sweep_table_request read = {sweep.study, sweep.store, t->points, t->count, {0, 0}};
    if (!ts_sweep(err, t->arena, &sweep, &result) || !ts_sweep_table_read(err, t->arena, &read, &table))
        return false;
    bool any = ts_sweep_table_any_ok(&table);
    int column = any ? ts_sweep_table_find_number(err, &table, "--tune", t->request->least) : 0;
    if (column < 0) return false;
    tuned->table = table; /* which says why there is no result */
    if (any) ts_sweep_table_rank(t->arena, &table, column, &tuned->table);
    add_result(&tuned->result, &result);
    rung->tried = result.points;
    rung->kept = any ? tuned->table.row_count : 0;
    return true;
}

bool ts_sweep_tune(ts_error *err, ts_arena *arena, const ts_sweep_tune_request *request,
                   ts_sweep_tuned *tuned) {
    tuner t = {.arena = arena, .request = request};
    *tuned = (ts_sweep_tuned){0};
    if (!find_budget(err, &t)) return false;
    const ts_grid_axis *budget = &request->sweep->study->grid.axes[t.axis];
    ts_sweep_rung *rungs = TS_NEW_ARRAY(arena, ts_sweep_rung, budget->count);
    find_candidates(&t);
    tuned->rungs = rungs;
    for (int i = 0; i < budget->count; i++) {
        rungs[i].value = budget->values[i];
        if (!climb(err, &t, &rungs[i], tuned)) return false;
        if (i == 0) tuned->candidates = rungs[i].tried;
        tuned->rung_count = i + 1;
        if (rungs[i].kept == 0 || i + 1 == budget->count) break;
        t.count = rungs[i].kept = (rungs[i].kept + request->keep - 1) / request->keep;
        for (int64_t k = 0; k < t.count; k++) t.points[k] = tuned->table.points[k] + t.stride;
    }
    return true;
}
