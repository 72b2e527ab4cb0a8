/* The time of a Pallas kernel: its text as Mosaic lowers it, run as a program. */
#include "base/number.h"
#include "mosaic/mosaic.h"
#include "mosaic/product.h"
#include "run/run.h"
#include "study/extend.h"
#include "validate/predict.h"

/* Steps of a grid that is simulated in part, and the most of one that is simulated whole. */
enum { SIMULATED_STEPS = 512, WHOLE_STEPS = 2048 };

static bool run_cycles(ts_error *err, ts_predictor *by, const ts_product_kernel *k, const ts_machine *machine,
                       int64_t *cycles) {
    ts_arena *arena = ts_arena_new();
    ts_target target;
    ts_run_result result;
    ts_text text = ts_text_begin(arena);
    ts_run_target(machine, &target);
    ts_source *source = TS_NEW(arena, ts_source);
    ts_run_request request = {.program = "product.mlir",
                              .machine = machine,
                              .time_only = true,
                              .exact = by->exact,
                              .max_cycles = INT64_C(100000000000)};
    bool good = ts_product_kernel_text(err, k, &text);
    *source = (ts_source){request.program, text.bytes, text.length};
    good = good && (request.built = ts_mosaic_parse(err, arena, source, &target)) != NULL &&
           ts_run(err, arena, &request, &result);
    by->estimated |= good && result.chip.estimated;
    if (good) *cycles = result.counters.values[TS_COUNTER_CYCLES];
    ts_arena_free(arena);
    return good;
}

/* Blocks of the result follow each other: those of part of a row of them, or of whole rows, stand for all. */
static bool run_part(ts_error *err, ts_predictor *by, ts_product_kernel k, int64_t blocks,
                     const ts_machine *machine, ts_extension *runs) {
    int64_t row = k.n / k.block_n;
    for (int i = 0; i < 2; i++) {
        int64_t part = blocks << i;
        k.blocks_m = ts_ceil_div(part, row);
        k.blocks_n = 2 * blocks <= row ? part : row;
        runs->size[i] = k.blocks_m * k.blocks_n;
        if (!run_cycles(err, by, &k, machine, &runs->cost[i])) return false;
    }
    return true;
}

static ts_product_kernel kernel_of(const ts_workload *w) {
    const ts_work_product *p = &w->products[0];
    return (ts_product_kernel){.m = p->m,
                               .n = p->n,
                               .k = p->k,
                               .block_m = w->block[0],
                               .block_n = w->block[1],
                               .block_k = w->block[2],
                               .transposed = w->transposed,
                               .finish = w->relu ? TS_PRODUCT_RELU : TS_PRODUCT_PLAIN};
}

bool ts_workload_has_kernel(const ts_workload *w) {
    const ts_product_kernel k = kernel_of(w);
    return ts_product_kernel_fits(&k);
}

bool ts_workload_predict_kernel(ts_error *err, ts_predictor *by, const ts_workload *w,
                                const ts_machine *machine, double *us) {
    const ts_product_kernel k = kernel_of(w);
    int64_t all = ts_ceil_div(k.m, k.block_m) * ts_ceil_div(k.n, k.block_n),
            steps = ts_ceil_div(k.k, k.block_k), cycles;
    ts_extension runs;
    if (by->exact || all * steps <= WHOLE_STEPS) {
        if (!run_cycles(err, by, &k, machine, &cycles)) return false;
    } else {
        if (!run_part(err, by, k, ts_ceil_div(SIMULATED_STEPS, steps), machine, &runs)) return false;
        cycles = ts_extend(&runs, all);
        by->estimated = true;
    }
    *us = ts_machine_microseconds(machine, cycles);
    return true;
}
