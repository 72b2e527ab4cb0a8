/* Workloads as programs and transfers. */
#include "base/number.h"
#include "predict_private.h"
#include "study/transfer.h"

/* ---- Copies ---- */

enum { COPY_COLUMNS = 4096, COPY_ROWS = 256, COPY_BLOCKS = 6 }; /* blocks of 4 MiB */

/* Inside HBM there is no way but through VMEM. */
static bool predict_copy_inside(ts_error *err, ts_predictor *by, int64_t bytes, const ts_machine *machine,
                                double *us) {
    predict_program k = predict_begin(by, machine, "tilesim:/copy.tsim");
    k.run.exact = true;
    int64_t rows = ts_ceil_div(bytes, COPY_COLUMNS * 4), block = ts_min(rows, COPY_ROWS);
    ts_timed_define(&k.run, "TILED", 0);
    ts_timed_define(&k.run, "COLS", COPY_COLUMNS);
    ts_timed_define(&k.run, "BLOCK", block);
    if (!predict_run_blocks(err, &k, (predict_series){"ROWS", block, rows, COPY_BLOCKS}, us)) return false;
    *us += predict_microseconds(machine->chip.launch_ps);
    return true;
}

/* A matrix of f16 to CMEM, in the layout that XLA gives it: a transfer. */
static bool predict_copy(ts_error *err, ts_predictor *by, const ts_workload *w, const ts_machine *machine,
                         double *us) {
    if (w->rank < 2) return predict_copy_inside(err, by, w->dims[0], machine, us);
    int64_t rows = ts_product(w->rank - 1, w->dims);
    const char *src = ts_text_format(by->arena, "f16[%lld,%lld]{1,0:T(8,128)(2,1)}", (long long)rows,
                                     (long long)w->dims[w->rank - 1]);
    const char *dst = ts_text_format(by->arena, "f16[%lld,%lld]{1,0:T(8,128)(2,1)S(3)}", (long long)rows,
                                     (long long)w->dims[w->rank - 1]);
    ts_source texts[] = {{"the source", src, strlen(src)}, {"the destination", dst, strlen(dst)}};
    ts_transfer_end from, to;
    ts_transfer_study study;
    if (!ts_transfer_end_parse(err, by->arena, &texts[0], &from) ||
        !ts_transfer_end_parse(err, by->arena, &texts[1], &to))
        return false;
    from.at = to.at = TS_TRANSFER_ANYWHERE;
    ts_transfer_request request = {
        .machine = machine, .prices = ts_prices_new(by->arena), .src = from, .dst = to, .exact = by->exact};
    if (!ts_transfer_price(err, by->arena, &request, &study)) return false;
    by->estimated |= study.cost.estimated;
    *us = ts_machine_microseconds(machine, study.cost.cycles) +
          (w->launched ? predict_microseconds(machine->chip.launch_ps) : 0);
    return true;
}

/* ---- Pallas kernels ---- */

static bool predict_kernel(ts_error *err, ts_predictor *by, const ts_workload *w, const ts_machine *machine,
                           double *us) {
    if (w->random) machine = predict_under_load(by->arena, machine);
    if (!ts_workload_predict_kernel(err, by, w, machine, us)) return false;
    *us += predict_microseconds(machine->chip.launch_ps);
    return true;
}

/* ---- Element-wise operations on f16 ---- */

enum { HALF_ROWS = 1024, HALF_BLOCKS = 8 };

/* Rows of 128 in the layout that pads least: any dims may be the two minor ones, which XLA tiles by 8 x 128
 * and packs in pairs; a vector is padded to 256. */
static int64_t half_rows(const ts_workload *w) {
    int64_t least = INT64_MAX, all = ts_product(w->rank, w->dims);
    if (w->rank == 1) return ts_ceil_div(all, 256) * 2;
    for (int i = 0; i < w->rank; i++) {
        for (int j = 0; j < w->rank; j++) {
            if (i == j) continue;
            int64_t few = w->dims[j] <= 2 ? 2 : w->dims[j] <= 4 ? 4 : 8; /* tiles of few rows are lower */
            int64_t rows =
                all / w->dims[i] / w->dims[j] * ts_ceil_div(w->dims[i], 128) * ts_round_up(w->dims[j], few);
            if (rows < least) least = rows;
        }
    }
    return least;
}

static bool predict_elementwise(ts_error *err, ts_predictor *by, const ts_workload *w,
                                const ts_machine *machine, double *us) {
    predict_program k = predict_begin(by, machine, "tilesim:/half.tsim");
    int64_t rows = ts_round_up(half_rows(w), 16), vregs = rows < 64 ? rows / 16 : 4;
    rows = ts_round_up(rows, 16 * vregs);
    int64_t block = ts_min(rows, HALF_ROWS);
    ts_timed_define(&k.run, "VREGS", vregs);
    ts_timed_define(&k.run, "BLOCK", block);
    double one = 0;
    if (w->inputs > 2) { /* each takes what the second does */
        ts_timed_define(&k.run, "IN", 1);
        if (!predict_run_blocks(err, &k, (predict_series){"ROWS", block, rows, HALF_BLOCKS}, &one))
            return false;
    }
    ts_timed_define(&k.run, "IN", w->inputs < 2 ? 1 : 2);
    if (!predict_run_blocks(err, &k, (predict_series){"ROWS", block, rows, HALF_BLOCKS}, us)) return false;
    if (w->inputs > 2) *us += (w->inputs - 2) * (*us - one);
    *us += predict_microseconds(machine->chip.launch_ps);
    return true;
}

/* ---- Attention ---- */

/* Heads are alike, whether they share keys or not: these are few bytes. The block of rows is as large as the
 * units' queues let it be. */
static bool predict_attention(ts_error *err, ts_predictor *by, const ts_workload *w,
                              const ts_machine *machine, double *us) {
    predict_program k =
        predict_begin(by, predict_under_load(by->arena, machine), "tilesim:/flash_attention.tsim");
    int64_t rows = machine->core.mxu.result_vregs * 8 / (machine->core.mxu.edge / 128);
    int64_t length = ts_round_up(w->length, 16);
    ts_timed_define(&k.run, "SEQ", w->length);
    ts_timed_define(&k.run, "D", w->depth);
    ts_timed_define(&k.run, "CAUSAL", w->causal);
    ts_timed_define(&k.run, "QROWS", ts_min(rows, length));
    if (!predict_run_blocks(err, &k, (predict_series){"HEADS", 1, w->batch * w->heads, 1}, us)) return false;
    *us += predict_microseconds(machine->chip.launch_ps);
    return true;
}

/* ---- All ---- */

bool ts_workload_predict(ts_error *err, ts_predictor *by, const ts_workload *work, const ts_machine *machine,
                         double *us) {
    bool (*const models[TS_WORK_COLLECTIVE])(ts_error *, ts_predictor *, const ts_workload *,
                                             const ts_machine *,
                                             double *) = {[TS_WORK_COPY] = predict_copy,
                                                          [TS_WORK_MATMUL] = predict_products,
                                                          [TS_WORK_KERNEL] = predict_kernel,
                                                          [TS_WORK_PASSES] = predict_passes,
                                                          [TS_WORK_ELEMENTWISE] = predict_elementwise,
                                                          [TS_WORK_ATTENTION] = predict_attention};
    if (work->kind == TS_WORK_COLLECTIVE)
        return ts_workload_predict_collective(err, by->arena, work, machine, us);
    const ts_machine *device = ts_machine_device(err, by->arena, machine);
    if (device == NULL) return false;
    if (models[work->kind] == NULL)
        return ts_error_set(err, TS_ERROR_UNMODELLED, "there is no program for it yet");
    if (!models[work->kind](err, by, work, device, us)) return false;
    if (work->group->wall) *us += predict_microseconds(machine->chip.dispatch_ps);
    return true;
}

/* Bytes in HBM that a workload moves at least, and operations that the matrix units do. */
static void needs(const ts_workload *w, double *bytes, double *operations) {
    double elements = 1;
    *bytes = *operations = 0;
    for (int i = 0; i < w->rank; i++) elements *= (double)w->dims[i];
    if (w->kind == TS_WORK_COPY)
        *bytes = 2 * elements; /* f16 that is read, or bytes that are read and written */
    if (w->kind == TS_WORK_ELEMENTWISE) *bytes = 2 * elements * (w->inputs + 1);
    if (w->kind == TS_WORK_PASSES) *bytes = (double)w->read_bytes + (double)w->written_bytes;
    if (w->kind == TS_WORK_ATTENTION) {
        double scores = (double)w->batch * (double)w->heads * (double)w->length * (double)w->length;
        *operations = 4 * scores * (double)w->depth * (w->causal ? 0.5 : 1);
        *bytes = 4 * 2 * (double)w->batch * (double)w->heads * (double)w->length * (double)w->depth;
    }
    for (int i = 0; i < w->count; i++) {
        const ts_work_product *p = &w->products[i];
        double m = (double)p->m, n = (double)p->n, k = (double)p->k;
        *operations += 2 * m * n * k;
        *bytes += (double)p->in_bytes * (m * k + k * n * (double)p->weights) +
                  (double)p->out_bytes * m * n * (1 + p->extra_reads);
    }
}

double ts_workload_roofline(const ts_workload *work, const ts_machine *machine) {
    double bytes, operations, devices = machine->chip.devices;
    if (work->kind == TS_WORK_COLLECTIVE)
        return (double)work->bytes / (double)machine->ici.rate; /* over one link */
    needs(work, &bytes, &operations);
    double memory = bytes / ((double)ts_machine_hbm_rate(machine) / devices) * 1e6;
    double matrix = operations /
                    ((double)ts_machine_peak_ops(machine, TS_MXU_BF16, machine->chip.peak_khz) / devices) *
                    1e6;
    double launches = work->launched ? predict_microseconds(machine->chip.launch_ps) : 0;
    double dispatch = work->group->wall ? predict_microseconds(machine->chip.dispatch_ps) : 0;
    return launches + dispatch + (memory > matrix ? memory : matrix);
}
