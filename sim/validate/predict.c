/* Workloads as programs and transfers. */
#include "validate/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "run/run.h"
#include "study/extend.h"
#include "study/transfer.h"

/* ---- Machines: a device, a core's share of it ---- */

/* Equal parts of a machine: HBM and the memories of the chip shrink; cores keep what is theirs. */
static const ts_machine *part_of(ts_error *err, ts_arena *arena, const ts_machine *machine, int parts) {
    if (parts <= 1) return machine;
    if (machine->hbm.stacks % parts != 0 && machine->hbm.channels % parts != 0) {
        ts_error_set(err, TS_ERROR_INPUT, "%s: %d parts do not share %d stacks of HBM evenly", machine->name,
                     parts, machine->hbm.stacks);
        return NULL;
    }
    ts_machine *part = TS_NEW(arena, ts_machine);
    ts_machine_memory *memories = TS_NEW_ARRAY(arena, ts_machine_memory, machine->memory_count);
    *part = *machine;
    if (machine->hbm.stacks % parts == 0)
        part->hbm.stacks /= parts;
    else
        part->hbm.channels /= parts;
    for (int i = 0; i < machine->memory_count; i++) {
        memories[i] = machine->memories[i];
        if (!memories[i].per_core) memories[i].capacity_bytes /= parts;
    }
    part->memories = memories;
    part->chip.tensor_cores = machine->chip.tensor_cores > parts ? machine->chip.tensor_cores / parts : 1;
    part->chip.devices = 1;
    return part;
}

const ts_machine *ts_machine_device(ts_error *err, ts_arena *arena, const ts_machine *machine) {
    return part_of(err, arena, machine, machine->chip.devices);
}

static double microseconds(int64_t ps) { return (double)ps / 1e6; }

/* With matrix units that multiply random data: a slower clock, beside which the engine's rates stay what they
 * are. */
static const ts_machine *under_load(ts_arena *arena, const ts_machine *machine) {
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

enum { MAX_DEFINES = 12 };

typedef struct {
    ts_arena *arena;
    ts_predictions *known;
    const ts_machine *machine;
    const char *program;
    ts_define defines[MAX_DEFINES];
    int count;
    bool exact; /* reads and writes at once: what a run leaves out would show in the errors */
} kernel;

static void define(kernel *k, const char *name, int64_t value) {
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
static const char *name_of(const kernel *k) {
    ts_text text;
    ts_text_init(&text, k->arena);
    ts_text_add(&text, "%s %llx %d %d %lld %s", k->machine->name, (unsigned long long)k->machine->hash,
                (int)k->machine->hbm.stacks, (int)k->machine->hbm.channels,
                (long long)k->machine->chip.sustained_khz, k->program);
    for (int i = 0; i < k->count; i++) ts_text_add(&text, " %s=%s", k->defines[i].name, k->defines[i].value);
    return text.bytes;
}

static bool run_cycles(ts_error *err, const kernel *k, int64_t *cycles) {
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
static bool run(ts_error *err, const kernel *k, double *us) {
    int64_t cycles;
    if (!run_cycles(err, k, &cycles)) return false;
    *us = ts_machine_microseconds(k->machine, cycles);
    return true;
}

/* A parameter that is `total`, of which a block takes `unit`. In its stride each block takes the same time:
 * above twice `few` blocks, those of `few` and of twice as many say what. */
typedef struct {
    const char *name;
    int64_t unit, total, few;
} block_series;

static bool run_blocks(ts_error *err, kernel *k, block_series b, double *us) {
    ts_extension runs = {.size = {b.few * b.unit, 2 * b.few * b.unit}};
    if (b.total <= runs.size[1]) {
        define(k, b.name, b.total);
        return run(err, k, us);
    }
    for (int i = 0; i < 2; i++) {
        define(k, b.name, runs.size[i]);
        if (!run_cycles(err, k, &runs.cost[i])) return false;
    }
    *us = ts_machine_microseconds(k->machine, ts_extend(&runs, b.total));
    return true;
}

/* ---- Copies ---- */

enum { COPY_COLUMNS = 4096, COPY_ROWS = 256, COPY_BLOCKS = 6 }; /* blocks of 4 MiB */

/* Inside HBM there is no way but through VMEM. */
static bool predict_copy_inside(ts_error *err, ts_arena *arena, ts_predictions *known, int64_t bytes,
                                const ts_machine *machine, double *us) {
    kernel k = {
        .arena = arena, .known = known, .machine = machine, .program = "tilesim:/copy.tsim", .exact = true};
    int64_t rows = ts_ceil_div(bytes, COPY_COLUMNS * 4), block = rows < COPY_ROWS ? rows : COPY_ROWS;
    define(&k, "TILED", 0);
    define(&k, "COLS", COPY_COLUMNS);
    define(&k, "BLOCK", block);
    if (!run_blocks(err, &k, (block_series){"ROWS", block, rows, COPY_BLOCKS}, us)) return false;
    *us += microseconds(machine->chip.launch_ps);
    return true;
}

/* A matrix of f16 to CMEM, in the layout that XLA gives it: a transfer. */
static bool predict_copy(ts_error *err, ts_arena *arena, ts_predictions *known, const ts_workload *w,
                         const ts_machine *machine, double *us) {
    char src[160], dst[176];
    int64_t rows = 1;
    if (w->rank < 2) return predict_copy_inside(err, arena, known, w->dims[0], machine, us);
    for (int i = 0; i < w->rank - 1; i++) rows *= w->dims[i];
    snprintf(src, sizeof src, "f16[%lld,%lld]{1,0:T(8,128)(2,1)}", (long long)rows,
             (long long)w->dims[w->rank - 1]);
    snprintf(dst, sizeof dst, "f16[%lld,%lld]{1,0:T(8,128)(2,1)S(3)}", (long long)rows,
             (long long)w->dims[w->rank - 1]);
    ts_source texts[] = {{"the source", src, strlen(src)}, {"the destination", dst, strlen(dst)}};
    ts_transfer_end from, to;
    ts_transfer_study study;
    if (!ts_transfer_end_parse(err, arena, &texts[0], &from) ||
        !ts_transfer_end_parse(err, arena, &texts[1], &to))
        return false;
    from.at = to.at = TS_TRANSFER_ANYWHERE;
    ts_transfer_request request = {machine, ts_prices_new(arena), from, to, false};
    if (!ts_transfer_price(err, arena, &request, &study)) return false;
    *us = ts_machine_microseconds(machine, study.cost.cycles) +
          (w->launched ? microseconds(machine->chip.launch_ps) : 0);
    return true;
}

/* ---- Passes over memory ---- */

enum { PASS_COLUMNS = 4096, PASS_ROWS = 64, PASS_BLOCKS = 24 };

static bool predict_pass(ts_error *err, kernel k, int64_t bytes, bool writes, double *us) {
    int64_t blocks = ts_ceil_div(bytes, PASS_COLUMNS * PASS_ROWS * 4), columns = PASS_COLUMNS;
    /* of few, each is as wide as it must be */
    if (blocks <= 2 * PASS_BLOCKS) columns = ts_round_up(ts_ceil_div(bytes, blocks * PASS_ROWS * 4), 128);
    define(&k, "COLS", columns);
    define(&k, "BLOCK", PASS_ROWS);
    define(&k, "IN", 1);
    define(&k, "OUT", writes);
    int64_t rows = ts_round_up(ts_ceil_div(bytes, columns * 4), PASS_ROWS);
    if (!run_blocks(err, &k, (block_series){"ROWS", PASS_ROWS, rows, PASS_BLOCKS}, us)) return false;
    *us += microseconds(k.machine->chip.launch_ps);
    return true;
}

/* One pass reads as much as it writes; what is read beyond that is read by passes that write nothing, each a
 * kernel. What is written beyond that takes as long as if half of it
 * were read. */
static bool predict_passes(ts_error *err, ts_arena *arena, ts_predictions *known, const ts_workload *w,
                           const ts_machine *machine, double *us) {
    int64_t both = w->written_bytes < w->read_bytes ? w->written_bytes : w->read_bytes,
            left = w->read_bytes - both, beyond = w->written_bytes - both;
    int64_t most = both > left / 8 ? both : left; /* of one pass */
    const kernel k = {.arena = arena, .known = known, .machine = machine, .program = "tilesim:/pass.tsim"};
    double one;
    *us = 0;
    both += beyond / 2;
    if (both > left / 1024 && !predict_pass(err, k, both, true, us)) return false;
    for (; left > 0; left -= most) {
        if (!predict_pass(err, k, left < most ? left : most, false, &one)) return false;
        *us += one;
    }
    return true;
}

/* ---- Matrix products ---- */

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

/* Blocks of `b`; below twice so many the whole product runs. */
static bool run_product(ts_error *err, kernel *k, const ts_work_product *p, extents b, int tanh, double *us) {
    define(k, "M", p->m < b.m ? p->m : b.m);
    define(k, "K", p->k);
    bool few = b.m < pass_of(k->machine).m && (p->m > b.m || p->n > b.n || p->k > b.k);
    define(k, "BM", k->program == matmul && few ? tall(k->machine) : b.m);
    define(k, "BN", b.n);
    define(k, "BK", b.k);
    if (k->program == matmul) {
        define(k, "TANH", tanh);
        define(k, "OUT", p->out_bytes > 2 ? 4 : 2); /* a sum that is reduced at once: the store is hidden */
    }
    int64_t rows = ts_round_up(p->m, 128), columns = ts_round_up(p->n, pass_of(k->machine).n);
    int64_t n = p->m <= b.m ? p->n : ts_ceil_div(rows * columns, b.m); /* all blocks, side by side */
    return run_blocks(err, k, (block_series){"N", b.n, n, p->k >= 4 * b.k ? 1 : 4},
                      us); /* with few steps, stores decide */
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
static bool predict_best(ts_error *err, kernel *k, const ts_work_product *p, int tanh, double *us) {
    extents first = choose_block(large_block(k->machine), p, k->machine);
    bool large = (double)p->m * (double)p->n * (double)p->k > 0x1p34;
    double one;
    if (!run_product(err, k, p, first, tanh, us)) return false;
    for (int i = large ? 2 : 1; i < 4; i += large ? 2 : 1) {
        extents other = {first.m, i & 1 ? first.n / 2 : first.n,
                         i & 2 ? (large ? p->k : 2 * first.k) : first.k};
        other = choose_block(other, p, k->machine);
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
static bool predict_operands(ts_error *err, ts_arena *arena, ts_predictions *known, const ts_work_product *p,
                             const ts_machine *machine, double *us) {
    bool thin = p->m <= THIN || p->n <= THIN;
    const ts_workload moved = {.read_bytes = p->in_bytes * (p->m * p->k + p->k * p->n * p->weights),
                               .written_bytes = p->out_bytes * p->m * p->n};
    double passes;
    if (!thin && p->in_bytes <= 2 && p->weights == 1) return true;
    if (!predict_passes(err, arena, known, &moved, machine, &passes)) return false;
    if (thin || passes > *us) *us = passes;
    return true;
}

/* Blocks that the row states. Those that are not whole passes of the units do them in turn. */
static bool predict_stated(ts_error *err, kernel *k, extents b, const ts_work_product *p, int tanh,
                           double *us) {
    extents pass = pass_of(k->machine);
    ts_work_product whole = *p;
    ts_error narrow = {0};
    if (b.n % pass.n == 0 && b.k % pass.k == 0) {
        if (b.m >= pass.m || p->m <= b.m) b = fit_block(b, p, k->machine);
        return run_product(err, k, p, b, tanh, us);
    }
    b = (extents){ts_round_up(b.m, 16), ts_round_up(b.n, 128), ts_round_up(b.k, 128)};
    whole.m = ts_round_up(p->m, b.m);
    whole.n = ts_round_up(p->n, b.n);
    whole.k = ts_round_up(p->k, b.k);
    k->program = small_blocks;
    if (run_product(&narrow, k, &whole, b, tanh, us)) return true;
    k->program = matmul; /* they are too tall for the units */
    return run_product(err, k, p, fit_block(b, p, k->machine), tanh, us);
}

static bool predict_blocks(ts_error *err, kernel *k, const ts_workload *w, const ts_work_product *p, int tanh,
                           double *us) {
    const extents b = {w->block[0], w->block[1], w->block[2]};
    double transposed;
    if (b.m > 0 && b.n > 0 && b.k > 0 && k->machine->core.mxu.edge <= 128) /* wider units need larger ones */
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

static bool predict_product(ts_error *err, kernel k, const ts_workload *w, const ts_work_product *p,
                            double *us) {
    int whole = (int)p->transcendentals;
    double more = *us = 0;
    if (!predict_blocks(err, &k, w, p, whole, us)) return false;
    if (p->transcendentals > whole && k.program == matmul) { /* of a part of the products: its share */
        if (!predict_blocks(err, &k, w, p, whole + 1, &more)) return false;
        *us += (p->transcendentals - whole) * (more - *us);
    }
    *us += microseconds(k.machine->chip.launch_ps);
    return predict_operands(err, k.arena, k.known, p, k.machine, us);
}

/* The cores of a device each take their share of the rows, or columns, and of the HBM. */
static bool predict_products(ts_error *err, ts_arena *arena, ts_predictions *known, const ts_workload *w,
                             const ts_machine *machine, double *us) {
    int cores = machine->chip.tensor_cores;
    const ts_machine *core = part_of(err, arena, machine, cores);
    if (core != NULL && w->random) core = under_load(arena, core);
    const kernel k = {.arena = arena, .known = known, .machine = core, .program = matmul};
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

static bool predict_kernel(ts_error *err, ts_arena *arena, ts_predictions *known, const ts_workload *w,
                           const ts_machine *machine, double *us) {
    (void)known;
    if (w->random) machine = under_load(arena, machine);
    if (!ts_workload_predict_kernel(err, w, machine, us)) return false;
    *us += microseconds(machine->chip.launch_ps);
    return true;
}

/* ---- Element-wise operations on f16 ---- */

enum { HALF_ROWS = 1024, HALF_BLOCKS = 8 };

/* Rows of 128 in the layout that pads least: any dims may be the two minor ones, which XLA tiles by 8 x 128
 * and packs in pairs; a vector is padded to 256. */
static int64_t half_rows(const ts_workload *w) {
    int64_t least = INT64_MAX, all = 1;
    for (int i = 0; i < w->rank; i++) all *= w->dims[i];
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

static bool predict_elementwise(ts_error *err, ts_arena *arena, ts_predictions *known, const ts_workload *w,
                                const ts_machine *machine, double *us) {
    kernel k = {.arena = arena, .known = known, .machine = machine, .program = "tilesim:/half.tsim"};
    int64_t rows = ts_round_up(half_rows(w), 16), vregs = rows < 64 ? rows / 16 : 4;
    rows = ts_round_up(rows, 16 * vregs);
    int64_t block = rows < HALF_ROWS ? rows : HALF_ROWS;
    define(&k, "VREGS", vregs);
    define(&k, "BLOCK", block);
    double one = 0;
    if (w->inputs > 2) { /* each takes what the second does */
        define(&k, "IN", 1);
        if (!run_blocks(err, &k, (block_series){"ROWS", block, rows, HALF_BLOCKS}, &one)) return false;
    }
    define(&k, "IN", w->inputs < 2 ? 1 : 2);
    if (!run_blocks(err, &k, (block_series){"ROWS", block, rows, HALF_BLOCKS}, us)) return false;
    if (w->inputs > 2) *us += (w->inputs - 2) * (*us - one);
    *us += microseconds(machine->chip.launch_ps);
    return true;
}

/* ---- Attention ---- */

/* Heads are alike, whether they share keys or not: these are few bytes. The block of rows is as large as the
 * units' queues let it be. */
static bool predict_attention(ts_error *err, ts_arena *arena, ts_predictions *known, const ts_workload *w,
                              const ts_machine *machine, double *us) {
    kernel k = {.arena = arena,
                .known = known,
                .machine = under_load(arena, machine),
                .program = "tilesim:/flash_attention.tsim"};
    int64_t rows = machine->core.mxu.result_vregs * 8 / (machine->core.mxu.edge / 128);
    int64_t length = ts_round_up(w->length, 16);
    define(&k, "SEQ", w->length);
    define(&k, "D", w->depth);
    define(&k, "CAUSAL", w->causal);
    define(&k, "QROWS", rows < length ? rows : length);
    if (!run_blocks(err, &k, (block_series){"HEADS", 1, w->batch * w->heads, 1}, us)) return false;
    *us += microseconds(machine->chip.launch_ps);
    return true;
}

/* ---- All ---- */

bool ts_workload_predict(ts_error *err, ts_arena *arena, ts_predictions *known, const ts_workload *work,
                         const ts_machine *machine, double *us) {
    bool (*const models[])(ts_error *, ts_arena *, ts_predictions *, const ts_workload *, const ts_machine *,
                           double *) = {[TS_WORK_COPY] = predict_copy,
                                        [TS_WORK_MATMUL] = predict_products,
                                        [TS_WORK_KERNEL] = predict_kernel,
                                        [TS_WORK_PASSES] = predict_passes,
                                        [TS_WORK_ELEMENTWISE] = predict_elementwise,
                                        [TS_WORK_ATTENTION] = predict_attention};
    if (work->kind == TS_WORK_COLLECTIVE)
        return ts_workload_predict_collective(err, arena, work, machine, us);
    const ts_machine *device = ts_machine_device(err, arena, machine);
    if (device == NULL) return false;
    if (work->kind >= sizeof models / sizeof models[0] || models[work->kind] == NULL)
        return ts_error_set(err, TS_ERROR_UNMODELLED, "there is no program for it yet");
    if (!models[work->kind](err, arena, known, work, device, us)) return false;
    if (work->group->wall) *us += microseconds(machine->chip.dispatch_ps);
    return true;
}

/* Bytes in HBM that a workload moves at least, and operations that the matrix units do. */
static void needs(const ts_workload *w, double *bytes, double *operations) {
    double elements = 1;
    *bytes = *operations = 0;
    for (int i = 0; i < w->rank; i++) elements *= (double)w->dims[i];
    if (w->kind == TS_WORK_COPY) *bytes = w->rank >= 2 ? 2 * elements : 2 * elements /* read and written */;
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
    double launches = work->launched ? microseconds(machine->chip.launch_ps) : 0;
    double dispatch = work->group->wall ? microseconds(machine->chip.dispatch_ps) : 0;
    return launches + dispatch + (memory > matrix ? memory : matrix);
}
