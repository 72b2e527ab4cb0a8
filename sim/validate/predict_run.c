/* Runs the programs that stand for workloads, and the machines they run on. */
#include "predict_private.h"
#include "study/extend.h"

/* ---- Machines ---- */

double predict_microseconds(int64_t ps) { return (double)ps / 1e6; }

/* With matrix units that multiply random data: a clock that is slower, or the same, beside which the engine's
 * rates stay what they are. */
const ts_machine *predict_under_load(ts_arena *arena, const ts_machine *machine) {
    int64_t slow = machine->chip.matrix_khz, fast = machine->chip.sustained_khz;
    if (slow >= fast) return machine;
    ts_machine *loaded = TS_NEW(arena, ts_machine);
    *loaded = *machine;
    loaded->chip.sustained_khz = slow;
    int32_t *read = &loaded->dma.read_bytes_per_cycle, *rates = loaded->dma.bytes_per_cycle;
    int32_t *mixed = &loaded->dma.mixed_bytes_per_cycle;
    *read = (int32_t)((*read * fast + slow / 2) / slow);
    *mixed = (int32_t)((*mixed * fast + slow / 2) / slow);
    for (int i = 0; i < TS_DMA_KIND_COUNT; i++) rates[i] = (int32_t)((rates[i] * fast + slow / 2) / slow);
    return loaded;
}

/* ---- Programs ---- */

predict_program predict_begin(ts_predictor *by, const ts_machine *machine, const char *program) {
    return (predict_program){
        by,
        {.arena = by->arena, .runs = by->runs, .machine = machine, .program = program, .exact = by->exact}};
}

bool predict_run_blocks(ts_error *err, predict_program *k, predict_series b, double *us) {
    ts_extension runs = {.size = {b.few * b.unit, 2 * b.few * b.unit}};
    bool is_whole = k->by->exact || b.total <= runs.size[1];
    for (int i = 0; i < (is_whole ? 1 : 2); i++) {
        ts_timed_define(&k->run, b.name, is_whole ? b.total : runs.size[i]);
        const ts_timed_run *run = ts_timed_run_get(err, &k->run);
        if (!run) return false;
        runs.cost[i] = run->chip.cycles;
        k->by->estimated |= run->chip.estimated || !is_whole;
    }
    *us = ts_machine_microseconds(k->run.machine, is_whole ? runs.cost[0] : ts_extend(&runs, b.total));
    return true;
}
