/* Each question of a study gives what the functions below it give, in the columns that have their names. */
#include "sweep/case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/clock.h"
#include "base/file.h"
#include "choose/choose.h"
#include "mesh/reshard.h"
#include "study/hbm_run.h"
#include "study/transfer.h"
#include "tests/support/temporary.h"
#include "tests/support/test.h"

typedef struct {
    ts_arena *arena;
    ts_sweep_context *context;
    ts_error err;
    const ts_machine *machine;
    ts_sweep_row row;
    bool seen[TS_SWEEP_COLUMNS];
} fixture;

/* The row of a study's first point, and the machine that it is to be of. */
static void begin(fixture *f, const char *text, const char *machine) {
    *f = (fixture){.arena = ts_arena_new()};
    ts_source *source = TS_NEW(f->arena, ts_source);
    *source = (ts_source){"study", text, strlen(text)};
    const ts_sweep_study *study = ts_sweep_study_parse(&f->err, f->arena, source, "");
    f->machine = ts_machine_load(&f->err, f->arena, machine);
    if (!study || !f->machine) fail_msg("%s", f->err.message);
    f->context = ts_sweep_context_new(study);
    ts_sweep_answer(f->arena, f->context, 0, &f->row);
}

static const ts_sweep_value *value(fixture *f, const char *name) {
    int column = ts_sweep_column_find(name, strlen(name));
    if (column < 0) fail_msg("no column %s", name);
    f->seen[column] = true;
    return &f->row.values[column];
}

static void integer(fixture *f, const char *name, int64_t expected) {
    const ts_sweep_value *v = value(f, name);
    if (v->kind != TS_SWEEP_INTEGER || v->integer != expected)
        fail_msg("%s: %lld, expected %lld", name, (long long)v->integer, (long long)expected);
}

static void real(fixture *f, const char *name, double expected) {
    const ts_sweep_value *v = value(f, name);
    if (v->kind != TS_SWEEP_REAL || v->real != expected)
        fail_msg("%s: %g, expected %g", name, v->real, expected);
}

static void text(fixture *f, const char *name, const char *expected) {
    const ts_sweep_value *v = value(f, name);
    assert_int_equal(v->kind, TS_SWEEP_TEXT);
    assert_string_equal(v->text, expected);
}

static void joules(fixture *f, const ts_energy *e) {
    static const char *const causes[TS_HBM_ENERGY_CAUSES] = {
#define CAUSE(id, name, meaning) "hbm_" name "_joules",
#include "dram/hbm_energy_causes.def"
#undef CAUSE
    };
    real(f, "hbm_joules", e->hbm_total);
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++) real(f, causes[i], e->hbm[i]);
    if (e->any_stated) real(f, "op_joules", e->ops_total);
}

/* Nothing else has a value. */
static void end(fixture *f) {
    assert_int_equal(f->row.status, TS_SWEEP_OK);
    for (int i = 0; i < TS_SWEEP_COLUMNS; i++)
        if (!f->seen[i] && f->row.values[i].kind != TS_SWEEP_NONE)
            fail_msg("%s", ts_sweep_column_get(i)->name);
    ts_sweep_context_free(f->context);
    ts_arena_free(f->arena);
}

static void counts(fixture *f, const ts_hbm_stats *hbm) {
    int64_t burst = f->machine->hbm.burst_bytes;
    integer(f, "hbm_read_bytes", hbm->reads * burst);
    integer(f, "hbm_written_bytes", hbm->writes * burst);
    integer(f, "hbm_bytes", (hbm->reads + hbm->writes) * burst);
    integer(f, "row_hits", hbm->row_hits);
    integer(f, "row_misses", hbm->row_misses);
    integer(f, "row_conflicts", hbm->row_conflicts);
    integer(f, "activations", hbm->activations);
    integer(f, "refreshes", hbm->refreshes);
}

static void cycles(fixture *f, int64_t expected) {
    integer(f, "cycles", expected);
    real(f, "microseconds", ts_machine_microseconds(f->machine, expected));
}

/* ---- Questions ---- */

TEST(dma) {
    static const struct {
        const char *study, *pair, *machine;
        bool exact;
    } rows[] = {
        {"machine: tpu-v4\nask: {dma: 'bf16[100,200]{1,0:T(8,128)(2,1)} -> bf16[100,200]{1,0:S(1)}', exact: "
         "true}",
         "bf16[100,200]{1,0:T(8,128)(2,1)} -> bf16[100,200]{1,0:S(1)}", "tpu-v4", true},
        {"ask: {dma: 'f32[4000,512]{1,0} -> f32[4000,512]{1,0:T(8,128)}'}",
         "f32[4000,512]{1,0} -> f32[4000,512]{1,0:T(8,128)}", "tpu-v5e", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, rows[i].study, rows[i].machine);
        ts_transfer_end ends[2];
        ts_transfer_study study;
        ts_energy energy;
        assert_true(ts_transfer_pair_parse(&f.err, f.arena, "dma", rows[i].pair, ends));
        const ts_transfer_request request = {f.machine, ts_prices_new(f.arena), ends[0],
                                             ends[1],   rows[i].exact,          0};
        assert_true(ts_transfer_price(&f.err, f.arena, &request, &study));
        ts_transfer_energy(&study, &energy);
        const ts_dma_result *moved = &study.cost.transfer;
        cycles(&f, study.cost.cycles);
        counts(&f, &study.cost.hbm);
        joules(&f, &energy);
        integer(&f, "useful_bytes", moved->useful_bytes);
        integer(&f, "moved_bytes", moved->src_bytes + moved->dst_bytes);
        integer(&f, "padding_bytes", moved->padding_bytes);
        integer(&f, "waste_bytes", moved->waste_bytes);
        integer(&f, "rmw_accesses", moved->rmw_lines);
        integer(&f, "fixed_cycles", study.cost.fixed_cycles);
        integer(&f, "engine_cycles", study.cost.engine_cycles);
        integer(&f, "memory_cycles", study.cost.memory_cycles);
        integer(&f, "estimated", study.cost.estimated);
        text(&f, "limiter", study.cost.limiter);
        assert_int_equal(energy.any_stated, i == 0); /* of v4 it is known what operations take */
        end(&f);
    }
}

TEST(programs) {
    static const struct {
        const char *study, *program, *machine;
        ts_define defines[2];
        int define_count;
        bool time_only;
        bool issues; /* what most cycles went to */
    } rows[] = {
        {"machine: tpu-v4\nask: {program: programs/cores.tsim, define: {ROWS: 64}}",
         "programs/cores.tsim",
         "tpu-v4",
         {{"ROWS", "64"}},
         1,
         false,
         false},
        {"ask: {program: programs/add.tsim, define: {ROWS: 512, BLOCK: 16}, time_only: true}",
         "programs/add.tsim",
         "tpu-v5e",
         {{"ROWS", "512"}, {"BLOCK", "16"}},
         2,
         true,
         false},
        {.study = "ask: {program: programs/histogram.tsim, time_only: true}",
         .program = "programs/histogram.tsim",
         .machine = "tpu-v5e",
         .time_only = true,
         .issues = true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, rows[i].study, rows[i].machine);
        const ts_run_request request = {.program = rows[i].program,
                                        .machine = f.machine,
                                        .defines = rows[i].defines,
                                        .define_count = rows[i].define_count,
                                        .time_only = rows[i].time_only,
                                        .max_cycles = 10000000};
        ts_run_result result;
        if (!ts_run(&f.err, f.arena, &request, &result)) fail_msg("%s", f.err.message);
        for (int c = 0; c < TS_COUNTER_COUNT; c++)
            integer(&f, ts_sweep_column_get(c)->name, result.counters.values[c]);
        cycles(&f, result.counters.values[TS_COUNTER_CYCLES]);
        joules(&f, &result.energy);
        integer(&f, "hbm_bytes", result.roofline.hbm_bytes);
        integer(&f, "estimated", result.chip.estimated);
        integer(&f, "unfinished", 0);
        real(&f, "hbm_peak_percent", 100 * result.roofline.busy[TS_UNIT_HBM]);
        bool issues = strcmp(value(&f, "limiter")->text, "a bundle issued") == 0;
        double issued = 100.0 * (double)result.counters.values[TS_COUNTER_BUNDLES] /
                        (double)result.counters.values[TS_COUNTER_CYCLES],
               most = value(&f, "limiter_percent")->real;
        assert_int_equal(issues, rows[i].issues);
        assert_true(issues ? fabs(most - issued) < 1e-9 : most > issued / 2 && most < 100);
        end(&f);
    }
}

TEST(layouts) {
    static const struct {
        const char *study, *layout;
        int64_t logical, padded;
    } rows[] = {{"ask: {layout: 'bf16[100,200]{1,0:T(8,128)(2,1)}'}", "bf16[100,200]{1,0:T(8,128)(2,1)}",
                 100 * 200 * 2, 104 * 256 * 2},
                {"ask: {layout: 'f32[100,200]', rule: true}", "f32[100,200]{1,0:T(8,128)}", 100 * 200 * 4,
                 104 * 256 * 4},
                {"ask: {layout: 'f32[100,200]'}", "f32[100,200]{1,0}", 100 * 200 * 4, 100 * 200 * 4},
                {"machine: tpu-v6e\nask: {layout: 's4[64,128]', rule: true}",
                 "s4[64,128]{1,0:T(8,128)(8,1)E(4)}", 64 * 64, 64 * 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, rows[i].study, "tpu-v5e");
        text(&f, "layout", rows[i].layout);
        integer(&f, "logical_bytes", rows[i].logical);
        integer(&f, "padded_bytes", rows[i].padded);
        end(&f);
    }
}

/* The compiler's layout is one of the others, or the best. */
static void choice(const char *tensor, const char *use, bool rule_is_best) {
    fixture f;
    ts_choose_result result;
    char study[128];
    snprintf(study, sizeof study, "ask: {choose: '%s', uses: '%s'}", tensor, use);
    begin(&f, study, "tpu-v5e");
    const ts_source shape = {"shape", tensor, strlen(tensor)}, uses = {"uses", use, strlen(use)};
    ts_choose_request request = {
        .machine = f.machine, .machine_name = "tpu-v5e", .shape = ts_shape_parse(&f.err, f.arena, &shape)};
    assert_true(ts_choose_read_uses(&f.err, f.arena, &uses, &request));
    assert_true(ts_choose(&f.err, f.arena, &request, &result) && result.candidate_count > 1);
    const ts_candidate *best = result.candidates;
    assert_int_equal(best->is_rule, rule_is_best);
    cycles(&f, best->cycles);
    real(&f, "hbm_joules", best->hbm_joules);
    integer(&f, "logical_bytes", result.logical_bytes);
    integer(&f, "padded_bytes", best->bytes);
    text(&f, "layout", best->text);
    text(&f, "limiter", best->limiter);
    integer(&f, "estimated", result.estimated);
    for (int i = 0; i < result.candidate_count; i++)
        if (result.candidates[i].is_rule) integer(&f, "rule_cycles", result.candidates[i].cycles);
    end(&f);
}

TEST(choices) {
    choice("f32[30,200]", "dma,reduce:1", false);
    choice("f32[8,128]", "dma:hbm>vmem", true);
}

TEST(audits) {
    fixture f;
    ts_audit_result result;
    char *module;
    size_t length;
    begin(&f, "ask: {audit: tests/data/hlo/attention.mlir}", "tpu-v5e");
    const ts_audit_request request = {.machine = f.machine};
    assert_true(ts_file_read(&f.err, f.arena, "tests/data/hlo/attention.mlir", 1 << 24, &module, &length));
    ts_audit *audit = ts_audit_new(f.arena, &request);
    ts_audit_feed(audit, module, length);
    assert_true(ts_audit_finish(&f.err, audit, NULL, NULL, &result) && result.finding_count > 0);
    integer(&f, "logical_bytes", result.sum.logical_bytes);
    integer(&f, "padded_bytes", result.sum.padded_bytes);
    integer(&f, "findings", result.finding_count);
    real(&f, "microseconds", result.microseconds);
    integer(&f, "estimated", 1);
    ts_audit_free(audit);
    end(&f);
}

/* No time is no estimate. */
TEST(audits_without_moves) {
    static const char module[] = "ENTRY %e {\n ROOT %p = f32[8,128]{1,0:T(8,128)} parameter(0)\n}\n";
    char path[TEMPORARY_PATH], study[TEMPORARY_PATH + 32];
    fixture f;
    snprintf(study, sizeof study, "ask: {audit: %s}", temporary_path(path, "still.hlo"));
    ts_arena *arena = ts_arena_new();
    assert_true(ts_file_save(NULL, arena, path, module, sizeof module - 1));
    begin(&f, study, "tpu-v5e");
    integer(&f, "estimated", 0);
    memset(f.seen, true, sizeof f.seen);
    end(&f);
    ts_arena_free(arena);
    assert_int_equal(remove(path), 0);
}

/* What `exact` turns off is not in the answer. */
TEST(exact_answers) {
    static const char *const asked[] = {
        "dma: 'f32[4096,4096]{1,0} -> f32[4096,4096]{1,0:T(8,128)}'",
        "choose: 'f32[4096,4096]'",
        "program: tilesim:/copy.tsim, time_only: true, define: {ROWS: 65536}",
        "audit: tests/data/hlo/attention.mlir",
    };
    for (int i = 0; i < 8; i++) {
        fixture f;
        char study[128];
        snprintf(study, sizeof study, "ask: {%s, exact: %s}", asked[i / 2], i % 2 ? "true" : "false");
        begin(&f, study, "tpu-v5e");
        integer(&f, "estimated", i % 2 == 0);
        memset(f.seen, true, sizeof f.seen);
        end(&f);
    }
}

/* Plans of no collective, of one and of two; the limiter is the first. */
TEST(reshards) {
    static const struct {
        const char *study;
        int collectives;
        int64_t sent;
        const char *limiter;
    } rows[] = {
        {"ask: {reshard: \"f32[64,8] P('x') -> f32[64,8] P('x')\", mesh: 4}", 0, 0, NULL},
        {"ask: {reshard: \"f32[64,8] P('x') -> f32[64,8]\", mesh: 4, algorithm: direct}", 1, 6 << 10,
         "all-gather"},
        {"ask: {reshard: \"f32[64,8] P('x', 'y') -> f32[64,8]\", mesh: '2x2', topology: '2x2'}", 1, 6 << 10,
         "all-gather"},
        {"ask: {reshard: \"f32[2048,2048] P('x', 'y') -> f32[2048,2048] P(None, 'x')\", mesh: 4x4, "
         "algorithm: ring}",
         2, 96 << 20, "all-gather"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, rows[i].study, "tpu-v5e");
        if (f.row.err) fail_msg("%s", f.row.err->message);
        integer(&f, "collectives", rows[i].collectives);
        integer(&f, "sent_bytes", rows[i].sent);
        double us = value(&f, "microseconds")->real, bound = value(&f, "bound_microseconds")->real;
        assert_true(us >= bound && (bound > 0) == (rows[i].collectives > 0));
        if (us > 0) assert_true(us > 4.8 && us < 200); /* 3.8 to launch, 1 a hop, and what the links take */
        if (rows[i].limiter) text(&f, "limiter", rows[i].limiter);
        end(&f);
    }
}

TEST(requests) {
    fixture f;
    ts_hbm_run run;
    ts_energy energy;
    begin(&f, "ask: {hbm: d_s4k_512}", "tpu-v5e");
    ts_hbm_requests *list = ts_hbm_requests_open(&f.err, f.arena, "d_s4k_512", &f.machine->hbm);
    const ts_hbm_run_request request = {&f.machine->hbm, list, f.machine->dma.lookahead_bytes, false, NULL};
    assert_true(list && ts_hbm_run_requests(&f.err, f.arena, &request, &run));
    int64_t took =
        ts_clock_convert(run.cycles, ts_hbm_tick_khz(&f.machine->hbm), f.machine->chip.sustained_khz);
    ts_energy_of_hbm(f.machine, &run.stats, took, &energy);
    ts_hbm_requests_close(list);
    cycles(&f, took);
    counts(&f, &run.stats);
    joules(&f, &energy);
    integer(&f, "useful_bytes", run.bytes);
    end(&f);
}

/* ---- What cannot be, and what is kept ---- */

TEST(errors) {
    static const struct {
        const char *study, *message;
    } rows[] = {
        {"ask: {dma: 'f32[8]'}", "dma is 'f32[8]', expected 'SRC -> DST'"},
        {"ask: {dma: 'f32[8] -> f32[9]'}", NULL},
        {"ask: {layout: 'f32['}", NULL},
        {"ask: {layout: 'f32[8,4] (8,4):(4,1)', rule: true}",
         "rule: the shape has a layout of another notation than XLA's"},
        {"ask: {choose: 'f32[8,128]', uses: nothing}", NULL},
        {"ask: {choose: 'token[]'}", NULL},
        {"ask: {audit: no/such.txt}", NULL},
        {"ask: {audit: LICENSE}",
         "LICENSE holds no instruction or shape in 202 lines, expected HLO text, such as "
         "'%a = f32[8,128]{1,0:T(8,128)} parameter(0)'"},
        {"ask: {reshard: f32, mesh: 4}", "reshard is 'f32', expected 'SRC -> DST'"},
        {"ask: {reshard: 'f32[8] -> f32[8]'}", "reshard: mesh is not given, such as 4x4"},
        {"ask: {reshard: 'f32[8] -> f32[8]', mesh: 4, algorithm: rings}", NULL},
        {"ask: {reshard: \"f32[8] P('z') -> f32[8]\", mesh: 4}", NULL},
        {"ask: {reshard: \"f32[8] -> f32[8] P('z')\", mesh: 4}", NULL},
        {"ask: {hbm: no_such_pattern}", NULL},
        {"ask: {program: no/such.tsim}", NULL},
        {"set: {hbm.stacks: -1}\nask: {layout: 'f32[8]'}", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture f;
        begin(&f, rows[i].study, "tpu-v5e");
        assert_int_equal(f.row.status, TS_SWEEP_ERROR);
        assert_non_null(f.row.err);
        if (rows[i].message) assert_string_equal(f.row.err->message, rows[i].message);
        f.row.status = TS_SWEEP_OK;
        end(&f);
    }
}

/* More machines than are kept, each twice, also in another order. */
TEST(many_machines) {
    enum { COUNT = 35 };
    fixture f;
    begin(&f,
          "vary: {B: {from: 1, to: 35, step: 1}}\nset: {hbm.clock: $(B * 0.5) GHz}\nask: {dma: 'u8[64] -> "
          "u8[64]{0:S(1)}'}",
          "tpu-v5e");
    int64_t first[COUNT];
    for (int i = 0; i < 2 * COUNT; i++) {
        int at = i < COUNT ? i : 2 * COUNT - 1 - i;
        ts_sweep_answer(f.arena, f.context, at, &f.row);
        if (f.row.err) fail_msg("%s", f.row.err->message);
        int64_t found =
            f.row.values[TS_SWEEP_ENGINE_CYCLES_COLUMN].integer + f.row.values[TS_COUNTER_CYCLES].integer;
        if (i < COUNT) first[at] = found;
        assert_int_equal(found, first[at]);
        if (i > 0 && i < COUNT) assert_true(found <= first[at - 1]); /* a faster memory */
    }
    assert_true(first[COUNT - 1] < first[0]);
    ts_sweep_context_free(f.context);
    ts_sweep_context_free(NULL);
    ts_arena_free(f.arena);
}

/* Two machines, one of a file that is gone before it is asked again. */
TEST(machines_are_read_once) {
    for (int first = 0; first < 2; first++) {
        fixture f;
        char path[48], study[256];
        snprintf(path, sizeof path, "build/test_evaluate.%d.yaml", (int)getpid());
        snprintf(study, sizeof study, "vary: {machine: ['%s', '%s']}\nask: {layout: 'f32[8]'}",
                 first ? "tpu-v4" : path, first ? path : "tpu-v4");
        FILE *file = fopen(path, "w");
        assert_true(file && fputs("base: tpu-v5e\n", file) > 0 && fclose(file) == 0);
        begin(&f, study, "tpu-v5e");
        ts_sweep_answer(f.arena, f.context, 1, &f.row);
        if (f.row.err) fail_msg("%s", f.row.err->message);
        remove(path);
        ts_sweep_answer(f.arena, f.context, first, &f.row);
        if (f.row.err) fail_msg("%s", f.row.err->message);
        ts_sweep_context_free(f.context);
        ts_arena_free(f.arena);
    }
}
