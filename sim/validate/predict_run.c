/* Runs the programs that stand for workloads, and the machines they run on. */
#include <string.h>

#include "predict_private.h"
#include "run/run.h"
#include "study/extend.h"

/* ---- Machines ---- */

double predict_microseconds(int64_t ps) { return (double)ps / 1e6; }

/* With matrix units that multiply random data: a slower clock, beside which the engine's rates stay what they
 * are. */
const ts_machine *predict_under_load(ts_arena *arena, const ts_machine *machine) {
    int64_t slow = machine->chip.matrix_khz, fast = machine->chip.sustained_khz;
    if (slow == fast) return machine;
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

void predict_define(timed_program *k, const char *name, int64_t value) {
    ts_define_set(k->arena, k->defines, &k->count, name, value);
}

/* Runs that were made: many rows need the same ones. */
typedef struct prediction {
    const char *what;
    int64_t cycles;
    struct prediction *next;
} prediction;

struct ts_predictions {
    ts_arena *arena;
    prediction *first;
};

ts_predictions *ts_predictions_new(ts_arena *arena) {
    ts_predictions *known = TS_NEW(arena, ts_predictions);
    known->arena = arena;
    return known;
}

/* A name of the run: the machine, what a part of it differs in, the program and its parameters. */
static const char *name_of(const timed_program *k) {
    ts_text text;
    ts_text_init(&text, k->arena);
    ts_text_add(&text, "%s %llx %d %d %lld %s", k->machine->name, (unsigned long long)k->machine->hash,
                (int)k->machine->hbm.stacks, (int)k->machine->hbm.channels,
                (long long)k->machine->chip.sustained_khz, k->program);
    for (int i = 0; i < k->count; i++) ts_text_add(&text, " %s=%s", k->defines[i].name, k->defines[i].value);
    return text.bytes;
}

static bool run_cycles(ts_error *err, const timed_program *k, int64_t *cycles) {
    const char *name = name_of(k);
    for (const prediction *p = k->known->first; p != NULL; p = p->next) {
        if (strcmp(p->what, name) != 0) continue;
        *cycles = p->cycles;
        return true;
    }
    ts_arena *scratch = ts_arena_new();
    ts_run_request request = {.program = k->program,
                              .machine = k->machine,
                              .defines = k->defines,
                              .define_count = k->count,
                              .time_only = true,
                              .exact = k->exact,
                              .max_cycles = INT64_C(100000000000)};
    ts_run_result result;
    bool good = ts_run(err, scratch, &request, &result);
    if (good) {
        prediction *p = TS_NEW(k->known->arena, prediction);
        *cycles = result.counters.values[TS_COUNTER_CYCLES];
        *p = (prediction){ts_arena_copy_text(k->known->arena, name, strlen(name)), *cycles, k->known->first};
        k->known->first = p;
    }
    ts_arena_free(scratch);
    return good;
}

/* Microseconds that the program runs. */
static bool run(ts_error *err, const timed_program *k, double *us) {
    int64_t cycles;
    if (!run_cycles(err, k, &cycles)) return false;
    *us = ts_machine_microseconds(k->machine, cycles);
    return true;
}

bool predict_run_blocks(ts_error *err, timed_program *k, predict_series b, double *us) {
    ts_extension runs = {.size = {b.few * b.unit, 2 * b.few * b.unit}};
    if (b.total <= runs.size[1]) {
        predict_define(k, b.name, b.total);
        return run(err, k, us);
    }
    for (int i = 0; i < 2; i++) {
        predict_define(k, b.name, runs.size[i]);
        if (!run_cycles(err, k, &runs.cost[i])) return false;
    }
    *us = ts_machine_microseconds(k->machine, ts_extend(&runs, b.total));
    return true;
}
