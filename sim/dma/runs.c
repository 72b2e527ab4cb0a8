/* How long the runs of a plan are on each side. */
#include <stdlib.h>

#include "base/number.h"
#include "dma/breakdown.h"

typedef struct {
    int64_t stride, extent;
} side_loop;

static int compare(const void *left, const void *right) {
    int64_t a = ((const side_loop *)left)->stride, b = ((const side_loop *)right)->stride;
    return ts_order(a, b);
}

static void add(ts_dma_runs *runs, int64_t bits, int64_t count) {
    int class = 63 - __builtin_clzll((unsigned long long)bits);
    if (runs->count[class] == 0 || bits < runs->shortest_bits[class]) runs->shortest_bits[class] = bits;
    if (bits > runs->longest_bits[class]) runs->longest_bits[class] = bits;
    runs->count[class] += count;
    runs->total += count;
}

static void add_box(ts_dma_runs *runs, const ts_plan_box *box, ts_side side, int element_bits) {
    side_loop loops[TS_PLAN_MAX_LOOPS];
    int64_t bits = element_bits, repeats = 1;
    int count = 0;
    for (int i = 0; i < box->loop_count; i++) {
        int64_t stride = llabs(ts_plan_step_bits(&box->loops[i], side));
        if (stride == 0)
            repeats *= box->loops[i].extent; /* the same bits again */
        else
            loops[count++] = (side_loop){stride, box->loops[i].extent};
    }
    if (count > 1) qsort(loops, (size_t)count, sizeof *loops, compare);
    int i = 0;
    for (; i < count && loops[i].stride == bits; i++) bits *= loops[i].extent;
    for (; i < count; i++) repeats *= loops[i].extent;
    add(runs, bits, repeats);
}

/* Loops are taken where both sides go on where the last one ended. */
static void add_common(ts_dma_runs *runs, const ts_plan_box *box, int src_bits, int dst_bits) {
    int64_t src = src_bits, dst = dst_bits;
    for (int i = box->loop_count - 1; i >= 0; i--) {
        const ts_plan_loop *loop = &box->loops[i];
        if (loop->src_bits != src || loop->dst_bits != dst) continue;
        src *= loop->extent;
        dst *= loop->extent;
        i = box->loop_count; /* from the innermost again */
    }
    add(runs, src, box->elements / (dst / dst_bits));
}

void ts_dma_count_runs(const ts_plan *plan, ts_dma_runs_of which, ts_dma_runs *runs) {
    int src = plan->src.shape->element_bits, dst = plan->dst.shape->element_bits;
    *runs = (ts_dma_runs){0};
    if (plan->gathers) {
        if (plan->elements > 0) add(runs, which == TS_DMA_RUNS_DST ? dst : src, plan->elements);
        return;
    }
    for (int64_t i = 0; i < plan->box_count; i++) {
        ts_plan_box box;
        ts_plan_get_box(plan, i, &box);
        if (which == TS_DMA_RUNS_BOTH)
            add_common(runs, &box, src, dst);
        else
            add_box(runs, &box, which == TS_DMA_RUNS_DST ? TS_DST : TS_SRC,
                    which == TS_DMA_RUNS_DST ? dst : src);
    }
}
