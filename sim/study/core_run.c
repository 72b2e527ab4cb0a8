/* Programs of the core that do a transfer, run for their time: whole, or in part and extended. */
#include "core_run.h"

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "isa/vreg.h"
#include "run/run.h"
#include "study/core_program.h"
#include "study/extend.h"

/* ---- Runs ---- */

/* With ts_hbm_stats_members of hbm: all of them. */
static const ts_member measures_members[] = {
    TS_MEMBER(core_measures, cycles),
    TS_MEMBER(core_measures, read_bytes),
    TS_MEMBER(core_measures, written_bytes),
    TS_MEMBER(core_measures, waste_bytes),
    TS_MEMBER(core_measures, padding_bytes),
    TS_MEMBER(core_measures, transfers),
    TS_MEMBER(core_measures, stalls),
    TS_MEMBER(core_measures, hbm.end_cycle),
    {0, 0},
};

/* How a program that transposes cuts its matrices: each into `strips` of `across` blocks. */
typedef struct {
    int64_t blocks, strips, across;
    int64_t high, last_high; /* rows of a strip; of the last one */
    int64_t cores;
} cut;

static void measure(const ts_timed_run *run, core_measures *m) {
    const ts_chip_counters *chip = &run->chip;
    *m = (core_measures){.cycles = chip->cycles,
                         .read_bytes = chip->hbm_read_bytes,
                         .written_bytes = chip->hbm_written_bytes,
                         .waste_bytes = chip->waste_bytes,
                         .padding_bytes =
                             chip->padding_bytes / 2, /* counted at both ends, of which HBM is one */
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

static bool read_cut(ts_error *err, const ts_timed_program *p, cut *c) {
    ts_target target;
    ts_run_target(p->machine, &target);
    const ts_program *program =
        ts_program_load_parameters(err, p->arena, p->program, &target, p->defines, p->count);
    if (!program) return false;
    *c = (cut){.blocks = parameter(program, "BLOCKS"),
               .strips = parameter(program, "RS"),
               .across = parameter(program, "CS"),
               .high = parameter(program, "BR"),
               .last_high = parameter(program, "RT"),
               .cores = parameter(program, "CORES")};
    return true;
}

/* Sizes that were run, in blocks or rows, the size wanted, and whether without what a run of nothing
 * takes. */
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
static void add_extended(const extension *e, const core_measures known[2], core_measures *sum) {
    extend_members(e, (const void *const[]){&known[0], &known[1]}, measures_members, sum);
    extend_members(e, (const void *const[]){&known[0].hbm, &known[1].hbm}, ts_hbm_stats_members, &sum->hbm);
    sum->hbm.read_latency_max = ts_max(known[0].hbm.read_latency_max, known[1].hbm.read_latency_max);
    sum->cores = known[1].cores;
}

/* Each count by more / of of itself, rounded down. */
static void grow_members(void *counts, const ts_member *members, int64_t more, int64_t of) {
    for (; members->count > 0; members++) {
        int64_t *x = ts_member_of(counts, members, 0);
        for (int i = 0; i < members->count; i++) x[i] += (int64_t)((__int128)x[i] * more / of);
    }
}

/* A run of the first of `all` blocks, extended: each of the others takes as long as one does by the pace of
 * transfers in the middle of the run (without any, as one does on the average), and does what one of the run
 * does. */
static void extend_run(const ts_timed_run *run, int64_t blocks, int64_t all, core_measures *out) {
    static const ts_member times[] = {TS_MEMBER(core_measures, cycles),
                                      TS_MEMBER(core_measures, stalls),
                                      TS_MEMBER(core_measures, hbm.end_cycle),
                                      {0, 0}};
    double took = run->pace > 0 ? run->pace * (double)run->chip.transfers : (double)run->chip.cycles;
    const ts_extension pace = {{blocks, 2 * blocks}, {run->chip.cycles, run->chip.cycles + (int64_t)took}};
    core_measures known[2] = {{0}};
    measure(run, &known[1]);
    add_extended(&(extension){{0, blocks}, all, false}, known, out);
    grow_members(out, times, ts_extend(&pace, all) - out->cycles, out->cycles);
}

/* Tiles of several short dims hold little and are moved whole: their padding takes as long as other bytes
 * do. */
void core_run_add_padding(const ts_plan *plan, const ts_matrices *m, core_measures *out) {
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

/* Blocks and their elements: RUN times as many are run. A whole of less than WHOLE_BLOCKS is not cut. */
enum {
    FEW_BLOCKS = 8,
    BLOCK_ELEMENTS = 1 << 18,
    WHOLE_BLOCKS = 3 * FEW_BLOCKS,
    RUN = 6,
    WHOLE = 9, /* times as many: all are run; of small ones */
    WHOLE_OF_SMALL = 18,
    MOST_STRIPS = 64
};

/* Runs the blocks [first, first + count) of the whole. */
static const ts_timed_run *run_blocks(ts_error *err, ts_timed_program *p, int64_t first, int64_t count) {
    ts_timed_define(p, "FIRST", first);
    ts_timed_define(p, "END", first + count);
    return ts_timed_run_get(err, p);
}

/* Full ones, which hold all elements. */
static int64_t blocks_of(const ts_matrices *m) {
    __int128 elements = (__int128)m->batch * ts_round_up(m->rows, TS_LANES) * ts_round_up(m->cols, TS_LANES);
    return (int64_t)((elements + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS);
}

/* How long a part of `size` may take, if all of it is to be within the limit: a little longer, for parts may
 * be slow. */
static int64_t limit_of(int64_t part, int64_t size, int64_t limit) {
    __int128 most = (__int128)limit * part * 100 / ((__int128)size * (100 - TS_LIMIT_PERCENT));
    return limit == 0 ? 0 : most < INT64_MAX ? (int64_t)most + 1 : INT64_MAX;
}

/* That would be over the limit. */
static bool is_over(const ts_timed_run *run, const ts_timed_program *p, int64_t limit, core_measures *out) {
    if (p->limit == 0 || (!run->is_over && run->chip.cycles <= p->limit)) return false;
    *out = (core_measures){.cycles = limit + 1, .is_over = true};
    return true;
}

/* How many blocks are run: whole matrices where these are small, or one has fewer in its full strips; whole
 * strips where these are. More of small blocks, until they hold what as many full ones do: a refresh more or
 * less would be much of their time. */
static int64_t run_of(const ts_matrices *m, const cut *c) {
    int64_t few = FEW_BLOCKS * c->cores, matrix = c->strips * c->across;
    few = ts_max(few, ts_ceil_div(few * c->blocks, blocks_of(m)));
    if (matrix <= 2 * few) return RUN * ts_round_up(few, matrix);
    if (c->across <= 2 * few) few = ts_round_up(few, c->across);
    bool too_few = matrix < c->blocks && matrix - c->across < RUN * few;
    return too_few ? ts_round_up(RUN * few, matrix) : RUN * few;
}

/* The last strips, of fewer rows, take a time of their own. */
static bool add_last_strips(ts_error *err, ts_timed_program *p, const cut *c, int64_t few,
                            core_measures *out) {
    int64_t most = ts_min(c->across, 2 * few), sizes[2] = {(most + 1) / 2, most},
            first = (c->strips - 1) * c->across;
    core_measures known[2];
    for (int i = 0; i < 2; i++) {
        const ts_timed_run *run = run_blocks(err, p, first, sizes[i]);
        if (!run) return false;
        measure(run, &known[i]);
    }
    add_extended(&(extension){{sizes[0], sizes[1]}, c->blocks / c->strips, true}, known, out);
    return true;
}

static bool run_whole(ts_error *err, ts_timed_program *p, int64_t limit, core_measures *out) {
    p->limit = limit;
    const ts_timed_run *run = ts_timed_run_get(err, p);
    if (run && !is_over(run, p, limit, out)) measure(run, out);
    return run != NULL;
}

/* So many blocks, for all but those of last strips that are less high than others; not where whole matrices
 * are. */
static bool run_part(ts_error *err, ts_timed_program *p, const cut *c, int64_t blocks, int64_t limit,
                     core_measures *out) {
    int64_t few = blocks / RUN, matrix = c->strips * c->across, high = matrix - c->across;
    bool has_last = c->last_high < c->high && c->strips > 1 && c->strips <= MOST_STRIPS && c->across > 1 &&
                    matrix > 2 * few && (matrix == c->blocks || high >= blocks);
    if (has_last) blocks = ts_min(blocks, high);
    p->limit = limit_of(blocks, c->blocks, limit);
    p->paced = true;
    const ts_timed_run *run = run_blocks(err, p, 0, blocks);
    p->paced = false;
    if (!run) return false;
    if (is_over(run, p, limit, out)) return true;
    p->limit = 0;
    extend_run(run, blocks, has_last ? c->blocks - c->blocks / c->strips : c->blocks, out);
    return !has_last || add_last_strips(err, p, c, few, out);
}

/* With a limit a few blocks are run first: they may be over it. On few channels, which take no longer than
 * more do; near the limit on more. */
static bool run_first_blocks(ts_error *err, const ts_timed_program *p, const ts_matrices *m, const cut *c,
                             int64_t limit, core_measures *out) {
    enum { NEAR_PERCENT = 90 };
    const ts_dma_machine dma = ts_dma_machine_of(p->machine, NULL);
    ts_timed_program first = *p;
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
static bool run_some_blocks(ts_error *err, ts_timed_program *p, const ts_matrices *m, int64_t limit,
                            core_measures *out) {
    cut c;
    if (!read_cut(err, p, &c) || !run_first_blocks(err, p, m, &c, limit, out)) return false;
    if (out->is_over) return true;
    int64_t blocks = run_of(m, &c);
    return RUN * c.blocks > (c.blocks >= 2 * blocks_of(m) ? WHOLE_OF_SMALL : WHOLE) * blocks
               ? run_part(err, p, &c, blocks, limit, out)
               : run_whole(err, p, limit, out);
}

/* Some of the rows, one behind the other. */
static bool run_some_rows(ts_error *err, ts_timed_program *p, const ts_matrices *m, int64_t limit,
                          core_measures *out) {
    core_measures known[2];
    int64_t few = ts_round_up((int64_t)FEW_BLOCKS * BLOCK_ELEMENTS / ts_round_up(m->cols, TS_LANES),
                              CORE_RUN_MOST_ROWS),
            sizes[2] = {few, 2 * few};
    bool is_whole = m->rows <= 3 * few;
    for (int i = 0; i < 2 && !is_whole; i++) {
        ts_timed_define(p, "ROWS", sizes[i]);
        p->limit = limit_of(sizes[i], m->rows, limit);
        const ts_timed_run *run = ts_timed_run_get(err, p);
        if (!run) return false;
        if (is_over(run, p, limit, out)) return true;
        measure(run, &known[i]);
    }
    if (is_whole) return run_whole(err, p, limit, out);
    add_extended(&(extension){{sizes[0], sizes[1]}, m->rows, false}, known, out);
    return true;
}

bool core_run(ts_error *err, ts_timed_program *p, const ts_matrices *m, int64_t limit, core_measures *out) {
    *out = (core_measures){0};
    if (p->exact || blocks_of(m) <= WHOLE_BLOCKS) return run_whole(err, p, limit, out);
    return (m->transposed ? run_some_blocks : run_some_rows)(err, p, m, limit, out);
}
