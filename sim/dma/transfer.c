/* What follows from a transfer's plan: its descriptors, the engine's rate, the bytes at its ends. */
#include "transfer.h"

#include <stdlib.h>

#include "base/number.h"
#include "isa/vreg.h"

/* A box with more loops than a descriptor holds takes one descriptor for each iteration of those that are
 * left out: of the loops that step over whole words on both sides the shortest ones, then the outermost. */
static int64_t count_of_box(const ts_plan_box *box, int loop_dims) {
    bool out[TS_PLAN_MAX_LOOPS] = {false};
    int64_t total = 1;
    for (int left = box->loop_count - loop_dims; left > 0; left--) {
        int best = -1, outermost = -1;
        for (int i = box->loop_count - 1; i >= 0; i--) {
            const ts_plan_loop *loop = &box->loops[i];
            if (out[i]) continue;
            outermost = i;
            if (llabs(loop->src_bits) < TS_WORD_BITS || llabs(loop->dst_bits) < TS_WORD_BITS) continue;
            if (best < 0 || loop->extent <= box->loops[best].extent) best = i;
        }
        if (best < 0) best = outermost;
        out[best] = true;
        total *= box->loops[best].extent;
    }
    return total;
}

int64_t transfer_count_descriptors(const ts_plan *plan, int loop_dims) {
    int64_t total = 0;
    for (int64_t i = 0; i < plan->box_count && !plan->gathers; i++) {
        ts_plan_box box;
        ts_plan_get_box(plan, i, &box);
        total += count_of_box(&box, loop_dims);
    }
    return plan->gathers ? plan->box_count : total;
}

/* How many partitions of an end the plan reaches: the iterations of the loops that step over partitions. */
static int64_t count_partitions(const ts_plan *plan, ts_side side, int64_t partition_bits) {
    int64_t most = 1;
    for (int64_t n = 0; n < plan->box_count && !plan->gathers; n++) {
        ts_plan_box box;
        int64_t here = 1;
        ts_plan_get_box(plan, n, &box);
        for (int i = 0; i < box.loop_count; i++) {
            int64_t stride = ts_plan_step_bits(&box.loops[i], side);
            if (stride >= partition_bits) here *= box.loops[i].extent;
        }
        most = ts_max(here, most);
    }
    return most;
}

int64_t transfer_rate(const ts_dma_config *config, const ts_dma_transfer *what, ts_dma_kind kind) {
    int64_t rate = ts_dma_rate(config, what->src, kind), each = config->partition_bytes_per_cycle;
    const ts_dma_end *ends[2] = {[TS_SRC] = &what->src, [TS_DST] = &what->dst};
    for (int i = 0; i < 2 && each > 0; i++) {
        if (ends[i]->partition_bits == 0) continue;
        int64_t limit = count_partitions(what->plan, (ts_side)i, ends[i]->partition_bits) * each;
        rate = ts_min(limit, rate);
    }
    return rate;
}

void transfer_count_bytes(const ts_dma_config *config, const ts_dma_transfer *what,
                          const ts_traversal_totals *totals, ts_dma_result *r) {
    const ts_plan *plan = what->plan;
    int64_t src_bits = plan->src.shape->element_bits, dst_bits = plan->dst.shape->element_bits;
    int64_t replicas = ts_layout_replica_total(plan->dst_layout), moved = plan->moved_elements / replicas;
    int64_t src_asked = ts_ceil_div(moved * src_bits, 8),
            dst_asked = ts_ceil_div(plan->moved_elements * dst_bits, 8);
    int64_t src_valid = ts_ceil_div(plan->elements / replicas * src_bits, 8);
    int64_t dst_valid = ts_ceil_div(plan->elements * dst_bits, 8);
    r->useful_bytes = ts_max(src_valid, dst_valid);
    r->src_bytes = what->src.in_hbm ? totals->src_lines * config->access_bytes : src_asked;
    r->dst_bytes =
        what->dst.in_hbm ? (totals->dst_lines + totals->rmw_lines) * config->access_bytes : dst_asked;
    r->src_bytes = ts_max(r->src_bytes, src_asked); /* counts of what was left out are rounded */
    r->dst_bytes = ts_max(r->dst_bytes, dst_asked);
    r->padding_bytes = src_asked + dst_asked - src_valid - dst_valid;
    r->waste_bytes = r->src_bytes + r->dst_bytes - src_asked - dst_asked;
    r->rmw_lines = totals->rmw_lines;
    r->runs = ts_max(totals->src_runs, totals->dst_runs);
}

/* ---- Requests ---- */

ts_traversal *transfer_traversal(ts_arena *arena, const ts_dma_config *config, const ts_dma_transfer *what) {
    return ts_traversal_new(arena, what->plan, what->src.in_hbm ? config->access_bytes : 0,
                            what->dst.in_hbm ? config->access_bytes : 0, config->write_granule_bits);
}

void ts_dma_trace(const ts_dma_config *config, const ts_hbm *hbm, const ts_dma_transfer *what,
                  ts_hbm_trace *trace) {
    const ts_traversal_access *accesses;
    ts_arena *scratch = ts_arena_new();
    ts_traversal *traversal = transfer_traversal(scratch, config, what);
    int64_t elements;
    for (int count; ts_traversal_next(traversal, &accesses, &count, &elements);)
        for (int i = 0; i < count; i++)
            ts_hbm_trace_access(hbm, trace, accesses[i].address, config->access_bytes, accesses[i].is_write);
    ts_arena_free(scratch);
}
