/* Matrix products as programs: blocks as a compiler takes them, or those that are stated. */
#include "base/number.h"
#include "predict_private.h"

static const char matmul[] = "tilesim:/matmul.tsim",
                  small_blocks[] = "tilesim:/blocks.tsim"; /* whose passes are too short to overlap */

typedef struct {
    int64_t m, n, k;
} extents;

/* What one pass of matmul.tsim takes. */
static extents pass_of(const ts_machine *machine) {
    int64_t edge = machine->core.mxu.edge, split = edge > 128 && machine->core.mxu.units % 2 == 0 ? 2 : 1;
    return (extents){128 + edge, edge * machine->core.mxu.units / split, edge * split};
}

/* Rows beside which tiles are latched without waiting: see LAG and TALL of include/gemm.tsim. */
static int64_t tall(const ts_machine *machine) { return machine->core.mxu.edge > 128 ? 512 : 384; }

static int64_t fit(int64_t block, int64_t extent, int64_t unit) {
    extent = ts_round_up(extent, unit);
    return block < extent ? ts_round_up(block, unit) : extent;
}

/* As many blocks as `block` asks for, of about the same size, in steps. */
static int64_t share(int64_t block, int64_t extent, int64_t step) {
    int64_t even = ts_ceil_div(extent, ts_ceil_div(extent, block));
    return even > step ? ts_round_up(even, step) : even;
}

/* A block no larger than the product, in the units that matmul.tsim asks for. */
static extents fit_block(extents b, const ts_work_product *p, const ts_machine *machine) {
    extents pass = pass_of(machine);
    bool one = p->m <= b.m && p->n <= pass.n && p->k <= pass.k; /* pass in all */
    b = (extents){fit(b.m, p->m, 128), fit(b.n, p->n, pass.n), fit(b.k, p->k, pass.k)};
    if (b.m < pass.m && !one) b.m = pass.m;
    return b;
}

/* Large blocks, whose two c of f32 take half of VMEM at most. */
static extents large_block(const ts_machine *machine) {
    const ts_machine_memory *vmem = machine->spaces[TS_SPACE_VMEM];
    if (machine->core.mxu.edge > 128) return (extents){2048, 2048, 1024};
    return (extents){vmem && vmem->capacity_bytes >= 64 << 20 ? 1024 : 512, 1024, 512};
}

/* Blocks that are run before what follows is like them: with few steps of K, stores decide. */
static int64_t settling(const ts_work_product *p, extents b) { return p->k >= 4 * b.k ? 1 : 4; }

/* A row of so many blocks is run whole, with the strides that all have; of a longer one a part, and then all
 * blocks side by side, which costs less. */
enum { BESIDE = 16 };

static predict_series series_of(predict_program *k, const ts_work_product *p, extents b) {
    int64_t beside = ts_ceil_div(p->n, b.n), rows = ts_round_up(p->m, 128),
            columns = ts_round_up(p->n, pass_of(k->run.machine).n);
    bool whole = k->by->exact || p->m <= b.m;
    if (!whole && beside <= BESIDE)
        return (predict_series){"M", b.m, rows, ts_ceil_div(settling(p, b), beside)};
    ts_timed_define(&k->run, "M", whole ? p->m : b.m);
    return (predict_series){"N", b.n, whole ? p->n : ts_ceil_div(rows * columns, b.m), settling(p, b)};
}

/* Blocks of `b`. */
static bool run_product(ts_error *err, predict_program *k, const ts_work_product *p, extents b, int tanh,
                        double *us) {
    ts_timed_define(&k->run, "N", p->n);
    ts_timed_define(&k->run, "K", p->k);
    ts_timed_define(&k->run, "BM", b.m);
    ts_timed_define(&k->run, "BN", b.n);
    ts_timed_define(&k->run, "BK", b.k);
    if (k->run.program == matmul) {
        ts_timed_define(&k->run, "TANH", tanh);
        ts_timed_define(&k->run, "OUT",
                        p->out_bytes > 2 ? 4 : 2); /* a sum that is reduced at once: the store is hidden */
    }
    return predict_run_blocks(err, k, series_of(k, p, b), us);
}

/* The same for blocks that are free. */
static extents choose_block(extents b, const ts_work_product *p, const ts_machine *machine) {
    int64_t rows = machine->core.mxu.edge > 128 ? tall(machine) : 1;
    b = fit_block((extents){share(b.m, p->m, rows), share(b.n, p->n, 1), share(b.k, p->k, 1)}, p, machine);
    if (b.m >= pass_of(machine).m && b.m < tall(machine)) b.m = tall(machine);
    int64_t half = ts_round_up(b.k / 2, pass_of(machine).k);
    if (ts_round_up(p->k, half) < ts_round_up(p->k, b.k)) b.k = half; /* the last step is padded */
    return b;
}

/* As a compiler does, take the best of some blocks: a small product is one or two, and in one step along K
 * the rows of a stay for all columns. */
static bool predict_best(ts_error *err, predict_program *k, const ts_work_product *p, int tanh, double *us) {
    extents first = choose_block(large_block(k->run.machine), p, k->run.machine);
    bool large = (double)p->m * (double)p->n * (double)p->k > 0x1p34;
    double one;
    if (!run_product(err, k, p, first, tanh, us)) return false;
    const extents tried[] = {{first.m, first.n, p->k},
                             {first.m, first.n / 2, first.k},
                             {first.m, first.n, 2 * first.k},
                             {first.m, first.n / 2, 2 * first.k}};
    for (int i = large ? 0 : 1; i < (large ? 1 : 4); i++) {
        extents other = choose_block(tried[i], p, k->run.machine);
        if (other.n == first.n && other.k == first.k) continue;
        ts_error full = {0}; /* of VMEM: then it is no choice */
        if (run_product(&full, k, p, other, tanh, &one) && one < *us) *us = one;
    }
    return true;
}

enum { FEW_ROWS = 1024 };
enum { THIN = 16 }; /* rows or columns of what is rather a pass over a matrix */

/* What the program does not show: f32 operands, of which it reads bf16, many matrices, which it reads as if
 * they were one, and thin ones, which it pads: then the product is passes over all that it moves, if that
 * takes longer, or instead. */
static bool predict_operands(ts_error *err, ts_predictor *by, const ts_work_product *p,
                             const ts_machine *machine, double *us) {
    bool thin = p->m <= THIN || p->n <= THIN;
    const ts_workload moved = {.read_bytes = p->in_bytes * (p->m * p->k + p->k * p->n * p->weights),
                               .written_bytes = p->out_bytes * p->m * p->n};
    double passes;
    if (!thin && p->in_bytes <= 2 && p->weights == 1) return true;
    if (!predict_passes(err, by, &moved, machine, &passes)) return false;
    if (thin || passes > *us) *us = passes;
    return true;
}

/* Blocks that the row states. Those that are not whole passes of the units do them in turn. */
static bool predict_stated(ts_error *err, predict_program *k, extents b, const ts_work_product *p, int tanh,
                           double *us) {
    extents pass = pass_of(k->run.machine);
    ts_work_product whole = *p;
    ts_error narrow = {0};
    if (b.n % pass.n == 0 && b.k % pass.k == 0) {
        bool few = b.m < pass.m && p->m > b.m; /* rows of a block: tiles are latched beside more */
        if (few) b.m = tall(k->run.machine);
        return run_product(err, k, p, few ? b : fit_block(b, p, k->run.machine), tanh, us);
    }
    b = (extents){ts_round_up(b.m, 16), ts_round_up(b.n, 128), ts_round_up(b.k, 128)};
    whole.m = ts_round_up(p->m, b.m);
    whole.n = ts_round_up(p->n, b.n);
    whole.k = ts_round_up(p->k, b.k);
    k->run.program = small_blocks;
    if (run_product(&narrow, k, &whole, b, tanh, us)) return true;
    k->run.program = matmul; /* they are too tall for the units */
    return run_product(err, k, p, fit_block(b, p, k->run.machine), tanh, us);
}

static bool predict_blocks(ts_error *err, predict_program *k, const ts_workload *w, const ts_work_product *p,
                           int tanh, double *us) {
    const extents b = {w->block[0], w->block[1], w->block[2]};
    double transposed;
    if (b.m > 0 && b.n > 0 && b.k > 0 &&
        k->run.machine->core.mxu.edge <= 128) /* wider units need larger ones */
        return predict_stated(err, k, b, p, tanh, us);
    if (!predict_best(err, k, p, tanh, us)) return false;
    if (p->m >= p->n || p->m > FEW_ROWS || p->weights > 1) return true;
    ts_work_product other = *p; /* few rows keep the units waiting for weights: they are the weights then */
    other.m = p->n;
    other.n = p->m;
    if (!predict_best(err, k, &other, tanh, &transposed)) return false;
    if (transposed < *us) *us = transposed;
    return true;
}

static bool predict_product(ts_error *err, predict_program k, const ts_workload *w, const ts_work_product *p,
                            double *us) {
    int whole = (int)p->transcendentals;
    double more = *us = 0;
    if (!predict_blocks(err, &k, w, p, whole, us)) return false;
    if (p->transcendentals > whole && k.run.program == matmul) { /* of a part of the products: its share */
        if (!predict_blocks(err, &k, w, p, whole + 1, &more)) return false;
        *us += (p->transcendentals - whole) * (more - *us);
    }
    *us += predict_microseconds(k.run.machine->chip.launch_ps);
    return predict_operands(err, k.by, p, k.run.machine, us);
}

/* The cores of a device each take their share of the rows, or columns, and of the HBM. */
bool predict_products(ts_error *err, ts_predictor *by, const ts_workload *w, const ts_machine *machine,
                      double *us) {
    int cores = machine->chip.tensor_cores;
    if (machine->core.mxu.units == 0)
        return ts_error_set(err, TS_ERROR_UNMODELLED, "the machine has no matrix unit");
    const ts_machine *core = ts_machine_part(err, by->arena, machine, cores);
    if (core != NULL && w->random) core = predict_under_load(by->arena, core);
    const predict_program k = predict_begin(by, core, matmul);
    *us = 0;
    for (int i = 0; core != NULL && i < w->count; i++) {
        double one;
        ts_work_product p = w->products[i];
        int64_t *larger = p.m >= p.n || p.weights > 1 || w->block[0] > 0 ? &p.m : &p.n;
        *larger = ts_ceil_div(*larger, cores);
        if (!predict_product(err, k, w, &p, &one)) return false;
        *us += one;
    }
    return core != NULL;
}
