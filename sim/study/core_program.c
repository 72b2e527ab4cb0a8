/* Pricing what the core does because the DMA engine cannot: a shipped program is chosen, run and billed. */
#include "study/core_program.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "run/run.h"
#include "study/extend.h"
#include "study/matrices.h"
#include "study/timed.h"

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

/* ---- Runs ---- */

/* What a run says, and what grows with its size. */
typedef struct {
    int64_t cycles, read_bytes, written_bytes, waste_bytes, padding_bytes, transfers;
    int64_t stalls[TS_STALL_COUNT]; /* of all cores */
    ts_hbm_stats hbm;
    int cores;    /* does not grow */
    bool is_over; /* `cycles` is over the limit, and nothing else is known */
} measures;

/* With ts_hbm_stats_members of hbm: all of them. */
static const ts_member measures_members[] = {
    TS_MEMBER(measures, cycles),      TS_MEMBER(measures, read_bytes),    TS_MEMBER(measures, written_bytes),
    TS_MEMBER(measures, waste_bytes), TS_MEMBER(measures, padding_bytes), TS_MEMBER(measures, transfers),
    TS_MEMBER(measures, stalls),      TS_MEMBER(measures, hbm.end_cycle), {0, 0},
};

/* How a program that turns rows into columns cuts its matrices: into `strips` of `across` blocks each. */
typedef struct {
    int64_t blocks, strips, across, high, last_high; /* rows of a strip; of the last one */
    int64_t cores;
} cut;

struct ts_prices {
    ts_arena *arena;
    ts_dma_prices *transfers;
    ts_timed_runs *runs;
};

ts_prices *ts_prices_new(ts_arena *arena) {
    ts_prices *known = TS_NEW(arena, ts_prices);
    known->arena = arena;
    known->transfers = ts_dma_prices_new(arena);
    known->runs = ts_timed_runs_new(arena);
    return known;
}

ts_dma_prices *ts_prices_of_transfers(ts_prices *prices) { return prices->transfers; }

static void measure(const ts_timed_run *run, measures *m) {
    const ts_chip_counters *chip = &run->chip;
    *m = (measures){.cycles = chip->cycles,
                    .read_bytes = chip->hbm_read_bytes,
                    .written_bytes = chip->hbm_written_bytes,
                    .waste_bytes = chip->waste_bytes,
                    .padding_bytes = chip->padding_bytes / 2, /* counted at both ends, of which HBM is one */
                    .transfers = chip->transfers,
                    .hbm = chip->hbm,
                    .cores = chip->core_count};
    for (int core = 0; core < chip->core_count; core++)
        for (int i = 0; i < TS_STALL_COUNT; i++) m->stalls[i] += chip->cores[core].stalls[i];
}

static int64_t parameter(const ts_program *program, const char *name) {
    int i = 0;
    while (i < program->param_count && strcmp(program->params[i].name, name) != 0) i++;
    assert(i < program->param_count);
    return program->params[i].integer;
}

static bool read_cut(ts_error *err, const ts_timed_program *j, cut *c) {
    ts_target target;
    ts_run_target(j->machine, &target);
    const ts_program *p =
        ts_program_load_parameters(err, j->arena, j->program, &target, j->defines, j->count);
    if (!p) return false;
    *c = (cut){.blocks = parameter(p, "BLOCKS"),
               .strips = parameter(p, "RS"),
               .across = parameter(p, "CS"),
               .high = parameter(p, "BR"),
               .last_high = parameter(p, "RT"),
               .cores = parameter(p, "CORES")};
    return true;
}

/* Sizes that were run, in blocks or rows, the size wanted, and whether without what a run of nothing takes. */
typedef struct {
    int64_t known[2], size;
    bool only_more;
} extension;

static void extend_members(const extension *e, const void *const runs[2], const ts_member *members,
                           void *sum) {
    for (; members->count > 0; members++) {
        const int64_t *a = (const int64_t *)(const void *)((const char *)runs[0] + members->offset),
                      *b = (const int64_t *)(const void *)((const char *)runs[1] + members->offset);
        for (int i = 0; i < members->count; i++) {
            ts_extension known = {{e->known[0], e->known[1]}, {a[i], b[i]}};
            int64_t value = ts_extend(&known, e->size) - (e->only_more ? ts_extend(&known, 0) : 0);
            *ts_member_of(sum, members, i) += value > 0 ? value : 0;
        }
    }
}

/* Adds what was measured of two sizes, extended. */
static void add_extended(const extension *e, const measures known[2], measures *sum) {
    extend_members(e, (const void *const[]){&known[0], &known[1]}, measures_members, sum);
    extend_members(e, (const void *const[]){&known[0].hbm, &known[1].hbm}, ts_hbm_stats_members, &sum->hbm);
    sum->hbm.read_latency_max = ts_max(known[0].hbm.read_latency_max, known[1].hbm.read_latency_max);
    sum->cores = known[1].cores;
}

/* By more / of, rounded down. */
static void grow_members(void *counts, const ts_member *members, int64_t more, int64_t of) {
    for (; members->count > 0; members++) {
        int64_t *x = ts_member_of(counts, members, 0);
        for (int i = 0; i < members->count; i++) x[i] += (int64_t)((__int128)x[i] * more / of);
    }
}

/* A run of the first of `all` blocks, extended: each of the rest takes as long as its transfers do in the middle of
 * the run (without any, as all of the run do), and does what one of the run does. */
static void extend_run(const ts_timed_run *run, int64_t blocks, int64_t all, measures *out) {
    static const ts_member times[] = {
        TS_MEMBER(measures, cycles), TS_MEMBER(measures, stalls), TS_MEMBER(measures, hbm.end_cycle), {0, 0}};
    double took = run->pace > 0 ? run->pace * (double)run->chip.transfers : (double)run->chip.cycles;
    const ts_extension pace = {{blocks, 2 * blocks}, {run->chip.cycles, run->chip.cycles + (int64_t)took}};
    measures known[2] = {{0}};
    measure(run, &known[1]);
    add_extended(&(extension){{0, blocks}, all, false}, known, out);
    grow_members(out, times, ts_extend(&pace, all) - out->cycles, out->cycles);
}

/* Tiles that hold little, as those of several short dims, come and go whole: they take as long as the rest.
 */
static void charge_padding(const ts_plan *plan, const ts_matrices *m, measures *out) {
    int64_t more = ts_matrices_left_out_bytes(plan, m), moved = out->read_bytes + out->written_bytes;
    int64_t waste = out->waste_bytes, padding = out->padding_bytes + more;
    if (more == 0 || moved == 0) return;
    grow_members(out, measures_members, more, moved);
    grow_members(&out->hbm, ts_hbm_stats_members, more, moved);
    out->written_bytes = moved + more - out->read_bytes;
    out->waste_bytes = waste;
    out->padding_bytes = padding;
}

/* ---- Sizes ---- */

enum { ROW_BLOCK_WORDS = 1 << 18, MOST_BLOCK = 512, LEAST_BLOCK = 16 };

/* Blocks and their elements: RUN times as many are run. A whole of less than WHOLE_BLOCKS is not cut. */
enum {
    FEW_BLOCKS = 8,
    BLOCK_ELEMENTS = 1 << 18,
    WHOLE_BLOCKS = 3 * FEW_BLOCKS,
    RUN = 6,
    WHOLE = 9, /* times as many: all are run; of small ones */
    WHOLE_OF_SMALL = 18,
    MOST_STRIPS = 64,
    EDGE = 128
};

/* Runs the blocks [first, first + count) of the whole. */
static const ts_timed_run *run_blocks(ts_error *err, ts_timed_program *j, int64_t first, int64_t count) {
    ts_timed_define(j, "FIRST", first);
    ts_timed_define(j, "END", first + count);
    return ts_timed_run_get(err, j);
}

/* Full ones, which hold all elements. */
static int64_t blocks_of(const ts_matrices *m) {
    __int128 elements = (__int128)m->batch * ts_round_up(m->rows, EDGE) * ts_round_up(m->cols, EDGE);
    return (int64_t)((elements + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS);
}

/* How long a part of `size` may take, if all is to be within the limit. */
static int64_t limit_of(int64_t part, int64_t size, int64_t limit) {
    __int128 most = (__int128)limit * part * 100 / ((__int128)size * (100 - TS_LIMIT_PERCENT));
    return limit == 0 ? 0 : most < INT64_MAX ? (int64_t)most + 1 : INT64_MAX;
}

/* That would be over the limit. */
static bool is_over(const ts_timed_run *run, const ts_timed_program *j, int64_t limit, measures *out) {
    if (j->limit == 0 || (!run->is_over && run->chip.cycles <= j->limit)) return false;
    *out = (measures){.cycles = limit + 1, .is_over = true};
    return true;
}

/* How many blocks are run: whole matrices where these are small, or one has fewer in its full strips; whole strips
 * where these are. More of small blocks, until they hold what as many full ones do: a refresh more or less would be
 * much of their time. */
static int64_t run_of(const ts_matrices *m, const cut *c) {
    int64_t few = FEW_BLOCKS * c->cores, matrix = c->strips * c->across;
    few = ts_max(few, ts_ceil_div(few * c->blocks, blocks_of(m)));
    if (matrix <= 2 * few) return RUN * ts_round_up(few, matrix);
    if (c->across <= 2 * few) few = ts_round_up(few, c->across);
    bool too_few = matrix < c->blocks && matrix - c->across < RUN * few;
    return too_few ? ts_round_up(RUN * few, matrix) : RUN * few;
}

/* The last strips, of fewer rows, take a time of their own. */
static bool add_last_strips(ts_error *err, ts_timed_program *j, const cut *c, int64_t few, measures *out) {
    int64_t most = c->across < 2 * few ? c->across : 2 * few, sizes[2] = {(most + 1) / 2, most},
            first = (c->strips - 1) * c->across;
    measures known[2];
    for (int i = 0; i < 2; i++) {
        const ts_timed_run *run = run_blocks(err, j, first, sizes[i]);
        if (!run) return false;
        measure(run, &known[i]);
    }
    add_extended(&(extension){{sizes[0], sizes[1]}, c->blocks / c->strips, true}, known, out);
    return true;
}

static bool run_whole(ts_error *err, ts_timed_program *j, int64_t limit, measures *out) {
    j->limit = limit;
    const ts_timed_run *run = ts_timed_run_get(err, j);
    if (run && !is_over(run, j, limit, out)) measure(run, out);
    return run != NULL;
}

/* So many blocks, for all but those of last strips that are less high than others; not where whole matrices are. */
static bool run_part(ts_error *err, ts_timed_program *j, const cut *c, int64_t blocks, int64_t limit,
                     measures *out) {
    int64_t few = blocks / RUN, matrix = c->strips * c->across, high = matrix - c->across;
    bool has_last = c->last_high < c->high && c->strips > 1 && c->strips <= MOST_STRIPS && c->across > 1 &&
                    matrix > 2 * few && (matrix == c->blocks || high >= blocks);
    if (has_last) blocks = ts_min(blocks, high);
    j->limit = limit_of(blocks, c->blocks, limit);
    j->paced = true;
    const ts_timed_run *run = run_blocks(err, j, 0, blocks);
    j->paced = false;
    if (!run) return false;
    if (is_over(run, j, limit, out)) return true;
    j->limit = 0;
    extend_run(run, blocks, has_last ? c->blocks - c->blocks / c->strips : c->blocks, out);
    return !has_last || add_last_strips(err, j, c, few, out);
}

/* With a limit a few blocks are run first: they may be over it. On few channels, which take no longer than more do;
 * near the limit on more. */
static bool run_first_blocks(ts_error *err, const ts_timed_program *j, const ts_matrices *m, const cut *c,
                             int64_t limit, measures *out) {
    enum { NEAR_PERCENT = 90 };
    const ts_dma_machine dma = ts_dma_machine_of(j->machine, NULL);
    ts_timed_program first = *j;
    int64_t least = ts_max(m->batch, blocks_of(m)), some = FEW_BLOCKS * c->cores;
    if (limit == 0 || some >= least) return true;
    first.limit = limit_of(some, least, limit);
    first.channel_share = ts_dma_first_sampling_factor(&dma);
    for (bool more = true; more; first.channel_share = 0) {
        const ts_timed_run *run = run_blocks(err, &first, 0, some);
        if (!run) return false;
        if (is_over(run, &first, limit, out)) return true;
        more = first.channel_share > 0 && run->chip.cycles * 100 > first.limit * NEAR_PERCENT;
    }
    return true;
}

/* Blocks of the whole matrices, which lie where they do in the whole. */
static bool run_some_blocks(ts_error *err, ts_timed_program *j, const ts_matrices *m, int64_t limit,
                            measures *out) {
    cut c;
    if (!read_cut(err, j, &c) || !run_first_blocks(err, j, m, &c, limit, out)) return false;
    if (out->is_over) return true;
    int64_t blocks = run_of(m, &c);
    return RUN * c.blocks > (c.blocks >= 2 * blocks_of(m) ? WHOLE_OF_SMALL : WHOLE) * blocks
               ? run_part(err, j, &c, blocks, limit, out)
               : run_whole(err, j, limit, out);
}

/* Some of the rows, one behind the other. */
static bool run_some_rows(ts_error *err, ts_timed_program *j, const ts_matrices *m, int64_t limit,
                          measures *out) {
    measures known[2];
    int64_t few = ts_round_up((int64_t)FEW_BLOCKS * BLOCK_ELEMENTS / ts_round_up(m->cols, EDGE), MOST_BLOCK),
            sizes[2] = {few, 2 * few};
    bool is_whole = m->rows <= 3 * few;
    for (int i = 0; i < 2 && !is_whole; i++) {
        ts_timed_define(j, "ROWS", sizes[i]);
        j->limit = limit_of(sizes[i], m->rows, limit);
        const ts_timed_run *run = ts_timed_run_get(err, j);
        if (!run) return false;
        if (is_over(run, j, limit, out)) return true;
        measure(run, &known[i]);
    }
    if (is_whole) return run_whole(err, j, limit, out);
    add_extended(&(extension){{sizes[0], sizes[1]}, m->rows, false}, known, out);
    return true;
}

static bool run_all(ts_error *err, ts_timed_program *j, const ts_matrices *m, int64_t limit, measures *out) {
    *out = (measures){0};
    if (j->exact || blocks_of(m) <= WHOLE_BLOCKS) return run_whole(err, j, limit, out);
    return (m->transposed ? run_some_blocks : run_some_rows)(err, j, m, limit, out);
}

static void set_defines(ts_timed_program *j, const shipped *p, const ts_matrices *m) {
    int64_t block = ROW_BLOCK_WORDS / ts_round_up(m->cols, EDGE) / LEAST_BLOCK * LEAST_BLOCK;
    if (p->type) j->defines[j->count++] = (ts_define){"TYPE", p->type};
    if (m->batch > 1) ts_timed_define(j, "BATCH", m->batch);
    ts_timed_define(j, "ROWS", m->rows);
    ts_timed_define(j, "COLS", m->cols);
    if (p->x_tiles == ANY && !m->is_tiled[0]) ts_timed_define(j, "X_TILES", 0);
    if (p->y_tiles == ANY && !m->is_tiled[1]) ts_timed_define(j, "Y_TILES", 0);
    if (!m->in_hbm[0]) ts_timed_define(j, "X_VMEM", 1);
    if (!m->in_hbm[1]) ts_timed_define(j, "Y_VMEM", 1);
    if (!p->transposes)
        ts_timed_define(j, "BLOCK",
                        block < LEAST_BLOCK  ? LEAST_BLOCK
                        : block > MOST_BLOCK ? MOST_BLOCK
                                             : block);
}

/* ---- The cost breakdown ---- */

static void break_down(const ts_dma_machine *dma, const ts_plan *plan, const measures *m, ts_dma_cost *cost) {
    static const int waits[] = {TS_STALL_SEMAPHORE, TS_STALL_DMA_QUEUE, TS_STALL_BARRIER};
    int64_t waited = 0;
    int most = -1;
    *cost = (ts_dma_cost){.cycles = m->cycles, .hbm = m->hbm};
    cost->transfer = (ts_dma_result){.kind = TS_DMA_CORE_PROGRAM,
                                     .completed_cycle = m->cycles,
                                     .useful_bytes = ts_plan_wide_bytes(plan, plan->elements),
                                     .src_bytes = m->read_bytes,
                                     .dst_bytes = m->written_bytes,
                                     .padding_bytes = m->padding_bytes,
                                     .waste_bytes = m->waste_bytes,
                                     .descriptors = m->transfers};
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) waited += m->stalls[waits[i]];
    for (int i = 0; i < TS_STALL_SEMAPHORE; i++)
        if (m->stalls[i] > 0 && (most < 0 || m->stalls[i] > m->stalls[most])) most = i;
    ts_dma_break_down_program(dma, m->cycles - waited / m->cores,
                              most < 0 ? "bundles" : ts_stall_get(most)->meaning, cost);
}

static const char *status_of(const ts_machine *machine, ts_dma_kind kind) {
    for (int i = 0; i < machine->leaf_count; i++)
        if (strcmp(machine->leaves[i].path, rate_fields[kind]) == 0)
            return ts_field_status_text(ts_field_leaf_status(&machine->leaves[i]));
    return ts_field_status_text(TS_STATUS_UNSTATED);
}

static ts_core_program describe(const ts_plan_price_request *r, const shipped *p, const ts_timed_program *j) {
    ts_text name, parameters;
    name = ts_text_begin(r->prices->arena);
    parameters = ts_text_begin(r->prices->arena);
    ts_text_add(&name, "programs/%s", p->program);
    ts_timed_add_defines(j, &parameters);
    return (ts_core_program){.program = name.bytes,
                             .parameters = parameters.bytes,
                             .kind = p->kind,
                             .status = status_of(r->machine, p->kind)};
}

static void fill_cost(const ts_plan_price_request *r, const ts_matrices *m, measures *measured,
                      ts_dma_cost *cost) {
    ts_dma_machine dma = ts_dma_machine_of(r->machine, NULL);
    if (measured->is_over) {
        *cost = ts_dma_cost_over(measured->cycles, TS_DMA_CORE_PROGRAM);
        return;
    }
    charge_padding(r->plan, m, measured);
    break_down(&dma, r->plan, measured, cost);
    cost->estimated = !r->exact;
}

static bool price_program(ts_error *err, const ts_plan_price_request *r, const shipped *p,
                          const ts_matrices *m, ts_dma_cost *cost, ts_core_program *by) {
    ts_arena *scratch = ts_arena_new();
    const char *path = ts_text_format(scratch, "tilesim:/%s", p->program);
    ts_timed_program j = {
        .arena = scratch, .runs = r->prices->runs, .machine = r->machine, .program = path, .exact = r->exact};
    measures measured;
    set_defines(&j, p, m);
    *by = describe(r, p, &j);
    bool good = run_all(err, &j, m, r->limit, &measured);
    if (good) fill_cost(r, m, &measured, cost);
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
    ts_dma_machine dma = ts_dma_machine_of(r->machine, r->prices->transfers);
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
