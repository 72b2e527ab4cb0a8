/* The questions of a study, each by the functions that its command calls. */
#include "sweep/case.h"

#include <string.h>

#include "audit/audit.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "choose/choose.h"
#include "layout/notation/tpu_rule.h"
#include "mesh/reshard.h"
#include "run/run.h"
#include "study/hbm_run.h"
#include "study/transfer.h"

enum { MOST_MACHINES = 32, MOST_FILE_BYTES = 1 << 30 };

typedef struct {
    const char *name; /* with what is changed */
    const ts_machine *machine;
} loaded;

struct ts_sweep_context {
    const ts_sweep_study *study;
    ts_arena *home; /* of this */
    ts_arena *kept; /* of what follows; new when there are too many machines */
    ts_prices *prices;
    loaded machines[MOST_MACHINES];
    int machine_count;
};

/* ---- What is kept ---- */

static void begin(ts_sweep_context *context) {
    ts_arena_free(context->kept);
    context->kept = ts_arena_new();
    context->prices = ts_prices_new(context->kept);
    context->machine_count = 0;
}

ts_sweep_context *ts_sweep_context_new(const ts_sweep_study *study) {
    ts_arena *home = ts_arena_new();
    ts_sweep_context *context = TS_NEW(home, ts_sweep_context);
    context->home = home;
    context->study = study;
    begin(context);
    return context;
}

void ts_sweep_context_free(ts_sweep_context *context) {
    if (!context) return;
    ts_arena_free(context->kept);
    ts_arena_free(context->home);
}

static const ts_machine *find_machine(ts_error *err, ts_arena *arena, ts_sweep_context *context,
                                      const ts_sweep_case *asked) {
    const char *name = ts_sweep_machine_text(arena, asked);
    for (int i = 0; i < context->machine_count; i++)
        if (strcmp(context->machines[i].name, name) == 0) return context->machines[i].machine;
    if (context->machine_count == MOST_MACHINES) begin(context);
    const ts_machine *machine =
        ts_machine_load_with(err, context->kept, asked->machine, "set", asked->sets, asked->set_count);
    if (machine)
        context->machines[context->machine_count++] =
            (loaded){ts_arena_copy_text(context->kept, name, strlen(name)), machine};
    return machine;
}

/* ---- The questions ---- */

typedef struct {
    ts_arena *arena;
    ts_sweep_context *context;
    const ts_sweep_case *asked;
    const ts_machine *machine;
    ts_sweep_row *row;
} question;

static void set_time(const question *q, int64_t cycles) {
    ts_sweep_set_integer(q->row, TS_COUNTER_CYCLES, cycles);
    ts_sweep_set_real(q->row, TS_SWEEP_MICROSECONDS_COLUMN, ts_machine_microseconds(q->machine, cycles));
}

static void set_energy(const question *q, const ts_energy *energy) {
    ts_sweep_set_real(q->row, TS_SWEEP_HBM_JOULES_COLUMN, energy->hbm_total);
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++)
        ts_sweep_set_real(q->row, TS_SWEEP_HBM_JOULES_COLUMN + 1 + i, energy->hbm[i]);
    if (energy->any_stated) ts_sweep_set_real(q->row, TS_SWEEP_OP_JOULES_COLUMN, energy->ops_total);
}

static void set_integers(ts_sweep_row *row, const int64_t (*pairs)[2], size_t count) {
    for (size_t i = 0; i < count; i++) ts_sweep_set_integer(row, (int)pairs[i][0], pairs[i][1]);
}
#define SET(row, ...)                                                                                        \
    set_integers((row), (const int64_t[][2]){__VA_ARGS__},                                                   \
                 sizeof((int64_t[][2]){__VA_ARGS__}) / sizeof(int64_t[2]))

static void set_hbm_counts(const question *q, const ts_hbm_stats *hbm) {
    int64_t burst = q->machine->hbm.burst_bytes;
    SET(q->row, {TS_COUNTER_HBM_READ_BYTES, hbm->reads * burst},
        {TS_COUNTER_HBM_WRITTEN_BYTES, hbm->writes * burst},
        {TS_SWEEP_HBM_BYTES_COLUMN, (hbm->reads + hbm->writes) * burst},
        {TS_COUNTER_HBM_ROW_HITS, hbm->row_hits}, {TS_COUNTER_HBM_ROW_MISSES, hbm->row_misses},
        {TS_COUNTER_HBM_ROW_CONFLICTS, hbm->row_conflicts}, {TS_COUNTER_HBM_ACTIVATIONS, hbm->activations},
        {TS_COUNTER_HBM_REFRESHES, hbm->refreshes});
}

static bool ask_dma(ts_error *err, const question *q) {
    ts_transfer_end ends[2];
    ts_transfer_study study;
    if (!ts_transfer_pair_parse(err, q->arena, "dma", q->asked->text, ends)) return false;
    const ts_transfer_request request = {q->machine, q->context->prices, ends[0],
                                         ends[1],    q->asked->exact,    0};
    if (!ts_transfer_price(err, q->arena, &request, &study)) return false;
    const ts_dma_cost *cost = &study.cost;
    const ts_dma_result *moved = &cost->transfer;
    set_time(q, cost->cycles);
    set_hbm_counts(q, &cost->hbm);
    SET(q->row, {TS_COUNTER_USEFUL_BYTES, moved->useful_bytes},
        {TS_COUNTER_MOVED_BYTES, moved->src_bytes + moved->dst_bytes},
        {TS_COUNTER_PADDING_BYTES, moved->padding_bytes}, {TS_COUNTER_WASTE_BYTES, moved->waste_bytes},
        {TS_COUNTER_RMW_ACCESSES, moved->rmw_lines}, {TS_SWEEP_FIXED_CYCLES_COLUMN, cost->fixed_cycles},
        {TS_SWEEP_ENGINE_CYCLES_COLUMN, cost->engine_cycles},
        {TS_SWEEP_MEMORY_CYCLES_COLUMN, cost->memory_cycles}, {TS_SWEEP_ESTIMATED_COLUMN, cost->estimated});
    ts_sweep_set_text(q->row, TS_SWEEP_LIMITER_COLUMN, cost->limiter);
    ts_energy energy;
    ts_transfer_energy(&study, &energy);
    set_energy(q, &energy);
    return true;
}

/* What most cycles went to. */
static void set_most(const question *q, const ts_chip_counters *chip) {
    int64_t all = 0, bundles = 0, stalled;
    int stall = ts_longest_stall(chip, &stalled);
    for (int i = 0; i < chip->core_count; i++) {
        all += chip->cores[i].cycles;
        bundles += chip->cores[i].bundles;
    }
    bool stalls = stalled > bundles;
    double most = (double)(stalls ? stalled : bundles);
    ts_sweep_set_text(q->row, TS_SWEEP_LIMITER_COLUMN,
                      stalls ? ts_stall_get(stall)->meaning : "a bundle issued");
    ts_sweep_set_real(q->row, TS_SWEEP_LIMITER_PERCENT_COLUMN, 100.0 * most / (double)all);
}

static bool run(ts_error *err, const question *q, const ts_run_request *request) {
    ts_run_result result;
    if (!ts_run(err, q->arena, request, &result)) return false;
    ts_sweep_set_real(q->row, TS_SWEEP_MICROSECONDS_COLUMN,
                      ts_machine_microseconds(q->machine, result.counters.values[TS_COUNTER_CYCLES]));
    for (int i = 0; i < TS_COUNTER_COUNT; i++) ts_sweep_set_integer(q->row, i, result.counters.values[i]);
    set_energy(q, &result.energy);
    set_most(q, &result.chip);
    ts_sweep_set_integer(q->row, TS_SWEEP_HBM_BYTES_COLUMN, result.roofline.hbm_bytes);
    ts_sweep_set_real(q->row, TS_SWEEP_HBM_PEAK_PERCENT_COLUMN, 100 * result.roofline.busy[TS_UNIT_HBM]);
    ts_sweep_set_integer(q->row, TS_SWEEP_ESTIMATED_COLUMN, result.chip.estimated);
    ts_sweep_set_integer(q->row, TS_SWEEP_UNFINISHED_COLUMN,
                         ts_findings_have(result.findings, TS_FINDING_TRANSFER));
    if (!result.passed) q->row->status = TS_SWEEP_FAILED;
    return true;
}

static bool ask_program(ts_error *err, const question *q) {
    const ts_sweep_case *asked = q->asked;
    ts_run_request request = {.program = asked->text,
                              .machine = q->machine,
                              .defines = asked->defines,
                              .define_count = asked->define_count,
                              .inputs = asked->inputs,
                              .input_count = asked->input_count,
                              .exact = asked->exact,
                              .time_only = asked->time_only,
                              .max_cycles = TS_RUN_MOST_CYCLES,
                              .patience = TS_RUN_PATIENCE,
                              .max_memory_bytes = ts_memory_host()};
    return run(err, q, &request);
}

/* Of a study that is runs of one program: its parameters are defines, or names in the program's path. */
static bool run_point(ts_error *err, const question *q, const ts_sweep_point *point) {
    const ts_sweep_study *study = point->study;
    ts_run_request request = *study->run;
    if (study->path) {
        request.program = ts_sweep_point_fill(err, q->arena, point, study->path);
        return request.program && run(err, q, &request);
    }
    ts_define *defines = TS_NEW_ARRAY(q->arena, ts_define, request.define_count + study->name_count);
    for (int i = 0; i < request.define_count; i++) defines[i] = request.defines[i];
    ts_grid_point(&study->grid, point->index, defines + request.define_count);
    request.defines = defines;
    request.define_count += study->name_count;
    return run(err, q, &request);
}

static const ts_shape *read_shape(ts_error *err, const question *q) {
    ts_source source = {ts_sweep_question_text(q->asked->question), q->asked->text, strlen(q->asked->text)};
    return ts_shape_parse(err, q->arena, &source);
}

static void set_sizes(const question *q, int64_t logical, int64_t padded) {
    ts_sweep_set_integer(q->row, TS_SWEEP_LOGICAL_BYTES_COLUMN, logical);
    ts_sweep_set_integer(q->row, TS_SWEEP_PADDED_BYTES_COLUMN, padded);
}

/* With the compiler's tiles for what is no argument of a program. */
static const ts_shape *by_rule(ts_error *err, const question *q, const ts_shape *shape) {
    if (shape->xla)
        return ts_tpu_tiled(err, q->arena, shape->dtype, shape->xla, q->machine->chip.generation, 0);
    ts_error_set(err, TS_ERROR_INPUT, "rule: the shape has a layout of another notation than XLA's");
    return NULL;
}

static bool ask_layout(ts_error *err, const question *q) {
    const ts_shape *shape = read_shape(err, q);
    if (shape && q->asked->rule) shape = by_rule(err, q, shape);
    if (!shape) return false;
    set_sizes(q, shape->unpadded_bytes, shape->bytes);
    ts_sweep_set_text(q->row, TS_SWEEP_LAYOUT_COLUMN, ts_shape_text(q->arena, shape));
    return true;
}

static bool ask_choose(ts_error *err, const question *q) {
    const char *uses = q->asked->uses ? q->asked->uses : "dma:hbm>vmem";
    ts_source text = {"uses", uses, strlen(uses)};
    ts_choose_request request = {.machine = q->machine,
                                 .machine_name = q->asked->machine,
                                 .sets = q->asked->sets,
                                 .set_count = q->asked->set_count,
                                 .shape = read_shape(err, q),
                                 .exact = q->asked->exact};
    ts_choose_result result;
    if (!request.shape || !ts_shape_layout(err, request.shape, "the tensor") ||
        !ts_choose_read_uses(err, q->arena, &text, &request) || !ts_choose(err, q->arena, &request, &result))
        return false;
    for (int i = 0; i < result.candidate_count; i++)
        if (result.candidates[i].is_rule && result.candidates[i].priced)
            ts_sweep_set_integer(q->row, TS_SWEEP_RULE_CYCLES_COLUMN, result.candidates[i].cycles);
    const ts_candidate *best = result.candidates;
    set_time(q, best->cycles);
    ts_sweep_set_real(q->row, TS_SWEEP_HBM_JOULES_COLUMN, best->hbm_joules);
    set_sizes(q, result.logical_bytes, best->bytes);
    ts_sweep_set_text(q->row, TS_SWEEP_LAYOUT_COLUMN, best->text);
    ts_sweep_set_text(q->row, TS_SWEEP_LIMITER_COLUMN, best->limiter);
    ts_sweep_set_integer(q->row, TS_SWEEP_ESTIMATED_COLUMN, result.estimated);
    return true;
}

static bool ask_audit(ts_error *err, const question *q) {
    const ts_audit_request request = {.machine = q->machine, .exact = q->asked->exact};
    ts_audit_result result;
    char *text;
    size_t length;
    if (!ts_file_read(err, q->arena, q->asked->text, MOST_FILE_BYTES, &text, &length)) return false;
    ts_audit *audit = ts_audit_new(q->arena, &request);
    ts_audit_feed(audit, text, length);
    bool good =
        ts_audit_finish(err, audit, NULL, NULL, &result) && ts_audit_check_any(err, &result, q->asked->text);
    if (good) {
        set_sizes(q, result.sum.logical_bytes, result.sum.padded_bytes);
        ts_sweep_set_real(q->row, TS_SWEEP_MICROSECONDS_COLUMN, result.microseconds);
        ts_sweep_set_integer(q->row, TS_SWEEP_FINDINGS_COLUMN, result.finding_count);
        ts_sweep_set_integer(q->row, TS_SWEEP_ESTIMATED_COLUMN, ts_audit_is_estimated(&result));
    }
    ts_audit_free(audit);
    return good;
}

/* "SRC -> DST": two shapes with their shardings. */
static bool read_shardings(ts_error *err, const question *q, ts_reshard_request *request, ts_sharding *ends) {
    ts_source texts[2];
    request->source = &ends[0];
    request->destination = &ends[1];
    return ts_transfer_pair_split(err, q->arena, "reshard", q->asked->text, texts) &&
           ts_sharding_parse(err, q->arena, request->mesh, &texts[0], &ends[0]) &&
           ts_sharding_parse(err, q->arena, request->mesh, &texts[1], &ends[1]);
}

static bool ask_reshard(ts_error *err, const question *q) {
    const ts_sweep_case *asked = q->asked;
    ts_mesh *mesh = TS_NEW(q->arena, ts_mesh);
    ts_sharding *ends = TS_NEW_ARRAY(q->arena, ts_sharding, 2);
    ts_reshard_plan *plan = TS_NEW(q->arena, ts_reshard_plan);
    ts_reshard_request request = {.mesh = mesh, .choice.forced = asked->algorithm != NULL};
    if (!asked->mesh) return ts_error_set(err, TS_ERROR_INPUT, "reshard: mesh is not given, such as 4x4");
    ts_mesh_request chips = {.machine = q->machine, .axes = {"mesh", asked->mesh, strlen(asked->mesh)}};
    if (asked->topology) chips.topology = (ts_source){"topology", asked->topology, strlen(asked->topology)};
    if (!ts_mesh_read(err, q->arena, &chips, mesh) || !read_shardings(err, q, &request, ends) ||
        (asked->algorithm &&
         !ts_algorithm_find(err, "algorithm", asked->algorithm, &request.choice.algorithm)) ||
        !ts_reshard(err, q->arena, &request, plan))
        return false;
    int64_t sent = 0;
    for (int i = 0; i < plan->count; i++) sent += plan->prices[i].sent_bytes;
    ts_sweep_set_real(q->row, TS_SWEEP_MICROSECONDS_COLUMN, plan->ps / 1e6);
    ts_sweep_set_real(q->row, TS_SWEEP_BOUND_MICROSECONDS_COLUMN, plan->bound_ps / 1e6);
    SET(q->row, {TS_SWEEP_COLLECTIVES_COLUMN, plan->count}, {TS_SWEEP_SENT_BYTES_COLUMN, sent});
    if (plan->count > 0)
        ts_sweep_set_text(q->row, TS_SWEEP_LIMITER_COLUMN, ts_collective_name(plan->collectives[0].kind));
    return true;
}

/* Its cycles count in the core's clock: the time of the memory is rounded up. */
static bool ask_hbm(ts_error *err, const question *q) {
    const ts_machine *machine = q->machine;
    ts_hbm_requests *requests = ts_hbm_requests_open(err, q->arena, q->asked->text, &machine->hbm);
    const ts_hbm_run_request request = {&machine->hbm, requests, machine->dma.lookahead_bytes,
                                        q->asked->exact, NULL};
    ts_hbm_run run;
    ts_energy energy;
    bool good = requests && ts_hbm_run_requests(err, q->arena, &request, &run);
    ts_hbm_requests_close(requests);
    if (!good) return false;
    int64_t cycles =
        ts_clock_convert(run.cycles, ts_hbm_tick_khz(&machine->hbm), machine->chip.sustained_khz);
    set_time(q, cycles);
    set_hbm_counts(q, &run.stats);
    ts_sweep_set_integer(q->row, TS_COUNTER_USEFUL_BYTES, run.bytes);
    ts_energy_of_hbm(machine, &run.stats, cycles, &energy);
    set_energy(q, &energy);
    return true;
}

static bool (*const questions[TS_SWEEP_QUESTIONS])(ts_error *err, const question *q) = {
    [TS_SWEEP_DMA] = ask_dma,       [TS_SWEEP_PROGRAM] = ask_program, [TS_SWEEP_LAYOUT] = ask_layout,
    [TS_SWEEP_CHOOSE] = ask_choose, [TS_SWEEP_AUDIT] = ask_audit,     [TS_SWEEP_RESHARD] = ask_reshard,
    [TS_SWEEP_HBM] = ask_hbm,
};

/* ---- A point ---- */

void ts_sweep_answer(ts_arena *arena, ts_sweep_context *context, int64_t index, ts_sweep_row *row) {
    ts_error err = {0};
    ts_sweep_point point;
    ts_sweep_case asked;
    question q = {arena, context, &asked, NULL, row};
    *row = (ts_sweep_row){0};
    ts_sweep_point_get(arena, context->study, index, &point);
    if (context->study->run) {
        q.machine = context->study->run->machine;
        if (run_point(&err, &q, &point)) return;
    } else {
        if (ts_sweep_case_of(&err, arena, &point, &asked))
            q.machine = find_machine(&err, arena, context, &asked);
        if (q.machine && questions[asked.question](&err, &q)) return;
        ts_error_where(&err); /* rows have no place of their own for it */
    }
    ts_sweep_row_error(arena, TS_SWEEP_ERROR, &err, row);
}
