/* Pricing what the core does because the DMA engine cannot: a shipped program is chosen, run and billed. */
#include "study/core_program.h"

#include "base/number.h"
#include "core_run.h"
#include "isa/vreg.h"

/* ---- What is shipped ---- */

enum { LINEAR, TILES, ANY };

typedef struct {
    ts_dma_kind kind;
    int src_bits, dst_bits;
    ts_dtype from, to;          /* TS_DTYPE_COUNT: any, bits are what matters */
    const char *program, *type; /* type: its parameter TYPE; NULL: it has none */
    bool transposes; /* rows become columns, of a batch, also from or to VMEM; else there are only rows */
    int x_tiles, y_tiles; /* ANY: it has the parameters X_TILES and Y_TILES */
} shipped;

static const shipped programs[] = {
    {TS_DMA_TRANSPOSE, 32, 32, TS_DTYPE_COUNT, TS_DTYPE_COUNT, "transpose.tsim", "f32", true, ANY, ANY},
    {TS_DMA_TRANSPOSE, 16, 16, TS_DTYPE_COUNT, TS_DTYPE_COUNT, "transpose.tsim", "bf16", true, ANY, ANY},
    {TS_DMA_TRANSPOSE, 8, 8, TS_DTYPE_COUNT, TS_DTYPE_COUNT, "transpose.tsim", "u8", true, ANY, ANY},
    {TS_DMA_TRANSPOSE, 4, 4, TS_DTYPE_COUNT, TS_DTYPE_COUNT, "transpose.tsim", "u4", true, ANY, ANY},
    {TS_DMA_CONVERT, 32, 16, TS_DTYPE_F32, TS_DTYPE_BF16, "pack.tsim", NULL, false, ANY, TILES},
    {TS_DMA_CONVERT, 16, 32, TS_DTYPE_BF16, TS_DTYPE_F32, "unpack.tsim", NULL, false, TILES, ANY},
    {TS_DMA_RETILE, 32, 32, TS_DTYPE_COUNT, TS_DTYPE_COUNT, "tile.tsim", NULL, false, LINEAR, TILES},
    {TS_DMA_RETILE, 32, 32, TS_DTYPE_COUNT, TS_DTYPE_COUNT, "untile.tsim", NULL, false, TILES, LINEAR},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static bool takes(int tiles, bool is_tiled) { return tiles == ANY || (tiles == TILES) == is_tiled; }

static bool fits(const shipped *p, const ts_plan *plan, ts_dma_kind kind, const ts_matrices *m) {
    const ts_shape *src = plan->src.shape, *dst = plan->dst.shape;
    if (p->kind != kind || p->transposes != m->transposed) return false;
    if (!p->transposes && (!m->in_hbm[0] || !m->in_hbm[1])) return false;
    if (src->element_bits != p->src_bits || dst->element_bits != p->dst_bits) return false;
    if (p->from != TS_DTYPE_COUNT && (src->dtype != p->from || dst->dtype != p->to)) return false;
    return takes(p->x_tiles, m->is_tiled[0]) && takes(p->y_tiles, m->is_tiled[1]);
}

static const char *const rate_fields[TS_DMA_KIND_COUNT] = {
    [TS_DMA_COPY] = "dma.rate.copy",
    [TS_DMA_RETILE] = "dma.rate.retile",
    [TS_DMA_INTERLEAVE] = "dma.rate.interleave",
    [TS_DMA_TRANSPOSE] = "dma.rate.transpose",
    [TS_DMA_CONVERT] = "dma.rate.convert",
    [TS_DMA_GATHER] = "dma.rate.gather",
};
const char *ts_dma_rate_field(ts_dma_kind kind) { return rate_fields[kind]; }

static bool refuse(ts_error *err, const ts_machine *machine, ts_dma_kind kind) {
    return ts_error_set(
        err, TS_ERROR_UNMODELLED,
        "the DMA engine of %s cannot do a %s (%s is 0), and no shipped program does this one: "
        "transpose.tsim takes one axis and 4 to 32 bits; pack.tsim and unpack.tsim f32 and tiled bf16, "
        "tile.tsim and untile.tsim 32 bits, from HBM to HBM",
        machine->name, ts_dma_kind_text(kind), rate_fields[kind]);
}

/* ---- What it is told ---- */

enum { ROW_BLOCK_WORDS = 1 << 18, LEAST_ROWS = 16 };

static void set_defines(ts_timed_program *run, const shipped *p, const ts_matrices *m) {
    int64_t block = ROW_BLOCK_WORDS / ts_round_up(m->cols, TS_LANES) / LEAST_ROWS * LEAST_ROWS;
    if (p->type) run->defines[run->count++] = (ts_define){"TYPE", p->type};
    if (m->batch > 1) ts_timed_define(run, "BATCH", m->batch);
    ts_timed_define(run, "ROWS", m->rows);
    ts_timed_define(run, "COLS", m->cols);
    if (p->x_tiles == ANY && !m->is_tiled[0]) ts_timed_define(run, "X_TILES", 0);
    if (p->y_tiles == ANY && !m->is_tiled[1]) ts_timed_define(run, "Y_TILES", 0);
    if (!m->in_hbm[0]) ts_timed_define(run, "X_VMEM", 1);
    if (!m->in_hbm[1]) ts_timed_define(run, "Y_VMEM", 1);
    if (!p->transposes) ts_timed_define(run, "BLOCK", ts_max(ts_min(block, CORE_RUN_MOST_ROWS), LEAST_ROWS));
}

/* ---- The cost breakdown ---- */

/* What held the core up for longest. */
static const char *longest_stall(const int64_t *stalls) {
    int64_t most = 0;
    const char *text = "bundles";
    for (int i = 0; i < TS_STALL_SEMAPHORE; i++)
        if (stalls[i] > most) most = stalls[i], text = ts_stall_get(i)->meaning;
    return text;
}

static void break_down(const ts_dma_machine *dma, const ts_plan *plan, const core_measures *m,
                       ts_dma_cost *cost) {
    int64_t waited = m->stalls[TS_STALL_SEMAPHORE] + m->stalls[TS_STALL_DMA_QUEUE];
    *cost = (ts_dma_cost){.cycles = m->cycles, .hbm = m->hbm};
    cost->transfer = (ts_dma_result){.kind = TS_DMA_CORE_PROGRAM,
                                     .completed_cycle = m->cycles,
                                     .useful_bytes = ts_plan_wide_bytes(plan, plan->elements),
                                     .src_bytes = m->read_bytes,
                                     .dst_bytes = m->written_bytes,
                                     .padding_bytes = m->padding_bytes,
                                     .waste_bytes = m->waste_bytes,
                                     .descriptors = m->transfers};
    ts_dma_break_down_program(dma, m->cycles - waited / m->cores, longest_stall(m->stalls), cost);
}

static const char *status_of(const ts_machine *machine, ts_dma_kind kind) {
    return ts_field_status_text(ts_field_leaf_status(ts_machine_leaf(machine, rate_fields[kind])));
}

static ts_core_program describe(const ts_plan_price_request *r, const shipped *p,
                                const ts_timed_program *run) {
    ts_text parameters = ts_text_begin(run->arena);
    ts_timed_add_defines(run, &parameters);
    const char *program = ts_text_format(run->arena, "programs/%s", p->program);
    return (ts_core_program){.program = ts_timed_runs_text(run->runs, program),
                             .parameters = ts_timed_runs_text(run->runs, parameters.bytes),
                             .kind = p->kind,
                             .status = status_of(r->machine, p->kind)};
}

static void fill_cost(const ts_plan_price_request *r, const ts_matrices *m, core_measures *measured,
                      ts_dma_cost *cost) {
    ts_dma_machine dma = ts_dma_machine_of(r->machine, NULL);
    if (measured->is_over) {
        *cost = ts_dma_cost_over(measured->cycles, TS_DMA_CORE_PROGRAM);
        return;
    }
    core_run_add_padding(r->plan, m, measured);
    break_down(&dma, r->plan, measured, cost);
    cost->estimated = !r->exact;
}

/* The core lacks what the program needs, or a memory has no room for it beside the tensors. */
static bool refuse_program(ts_error *err, const ts_plan_price_request *r, const shipped *p,
                           const ts_error *found) {
    return ts_error_set(
        err, found->kind,
        "the DMA engine of %s cannot do a %s (%s is 0), and programs/%s, which does it, fails: %s",
        r->machine->name, ts_dma_kind_text(p->kind), rate_fields[p->kind], p->program, found->message);
}

static bool price_program(ts_error *err, const ts_plan_price_request *r, const shipped *p,
                          const ts_matrices *m, ts_dma_cost *cost, ts_core_program *by) {
    ts_arena *scratch = ts_arena_new();
    const char *path = ts_text_format(scratch, "tilesim:/%s", p->program);
    ts_timed_program run = {
        .arena = scratch, .runs = r->prices->runs, .machine = r->machine, .program = path, .exact = r->exact};
    core_measures measured;
    ts_error own = {0};
    set_defines(&run, p, m);
    *by = describe(r, p, &run);
    bool good = core_run(&own, &run, m, r->limit, &measured);
    if (good) fill_cost(r, m, &measured, cost);
    if (!good && !ts_error_keep_system(err, &own)) refuse_program(err, r, p, &own);
    ts_arena_free(scratch);
    return good;
}

/* Nothing reads and writes HBM faster than its peak. */
static bool is_over_at_peak(const ts_plan_price_request *r, ts_dma_cost *cost) {
    ts_dma_machine dma = ts_dma_machine_of(r->machine, NULL);
    ts_dma_price_request whole = {&dma, r->plan, r->src, r->dst, r->exact};
    int64_t least = ts_dma_peak_cycles(&dma, ts_dma_least_bytes(&whole));
    if (r->limit == 0 || least <= r->limit) return false;
    *cost = ts_dma_cost_over(least, TS_DMA_CORE_PROGRAM);
    return true;
}

static bool price_transfer(ts_error *err, ts_arena *scratch, const ts_plan_price_request *r,
                           ts_dma_cost *cost) {
    ts_dma_machine dma = ts_prices_machine(r->prices, r->machine);
    ts_dma_price_request whole = {&dma, r->plan, r->src, r->dst, r->exact};
    return ts_dma_price_within(err, scratch, &whole, r->limit, cost);
}

/* Where the engine is faster element by element, as for matrices of few elements, it takes the transfer. */
static bool price_gather(ts_error *err, ts_arena *scratch, const ts_plan_price_request *r, ts_dma_cost *cost,
                         ts_core_program *by) {
    int rate = r->machine->dma.bytes_per_cycle[TS_DMA_GATHER];
    ts_dma_cost gather;
    if (rate == 0 || ts_plan_wide_bytes(r->plan, r->plan->elements) / rate >= cost->cycles) return true;
    if (!price_transfer(err, scratch, r, &gather)) return false;
    if (gather.is_over || gather.cycles >= cost->cycles) return true;
    by->slower = by->program;
    by->slower_cycles = cost->cycles;
    by->program = by->parameters = NULL;
    *cost = gather;
    return true;
}

bool ts_plan_price(ts_error *err, ts_arena *scratch, const ts_plan_price_request *r, ts_dma_cost *cost,
                   ts_core_program *by) {
    const ts_dma_config *dma = &r->machine->dma;
    ts_dma_kind kind = ts_dma_classify(r->plan);
    ts_matrices m;
    *by = (ts_core_program){.kind = kind, .status = status_of(r->machine, kind)};
    bool wanted = dma->bytes_per_cycle[kind] == 0 && ts_matrices_find(r->plan, r->src, r->dst, &m);
    for (int i = 0; wanted && i < PROGRAMS; i++) {
        if (fits(&programs[i], r->plan, kind, &m))
            return is_over_at_peak(r, cost) || (price_program(err, r, &programs[i], &m, cost, by) &&
                                                price_gather(err, scratch, r, cost, by));
    }
    if (dma->bytes_per_cycle[ts_dma_kind_done(dma, r->plan)] == 0) return refuse(err, r->machine, kind);
    return price_transfer(err, scratch, r, cost);
}
