/* The clock: every latency and occupancy to the cycle, the names of stalls, and a second scoreboard. */
#include <stdio.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/support/core_fixture.h"

static const ts_affine zero = {.constant = 0};
static const int64_t one = 1;
static const ts_transfer transfer = {.source = {.rank = 1, .begin = &zero, .size = &one},
                                     .destination = {.rank = 1, .begin = &zero, .size = &one},
                                     .semaphore = {.first = 0, .count = 1, .sreg = -1}};

static fixture *new_fixture(void) {
    fixture *f = fixture_new();
    f->code.transfers = &transfer;
    f->code.transfer_count = 1;
    return f;
}

/* ---- Gates: with the number of cycles set to 1, 2 or 9, bundle 1 issues then and not before ---- */

typedef struct {
    ts_latency key;
    const char *text, *stall;
} gate;

static const gate latency_gates[] = {
    {TS_LATENCY_SCALAR, "sadd s1 s2 1\nsadd s3 s1 1", "wait_scalar"},
    {TS_LATENCY_SCALAR, "sadd s1 s2 1\nvld v1 [0+s1*0]", "wait_scalar"},
    {TS_LATENCY_SCALAR, "sadd s1 s2 1\nbr.eq s3 s1 @0", "wait_scalar"},
    {TS_LATENCY_SCALAR, "sadd s1 s2 1\nvadd.f32 v1 v2 s1", "wait_scalar"},
    {TS_LATENCY_SCALAR, "sadd s1 s2 1\nwait e0+s1:2 0", "wait_scalar"},
    {TS_LATENCY_SCALAR_LOAD, "sld s1 [0]\nsadd s3 s1 1", "wait_scalar_load"},
    {TS_LATENCY_SCALAR_STORE, "sst [4] 7\nsld s1 [4]", "wait_scalar_store"},
    {TS_LATENCY_BRANCH, "jump @1\nnop", "wait_branch"},
    {TS_LATENCY_BRANCH, "brz s0 @1\nnop", "wait_branch"},
    {TS_LATENCY_VECTOR_ALU, "vadd.f32 v1 v2 1.0\nvneg.f32 v3 v1", "wait_vector_alu"},
    {TS_LATENCY_VECTOR_ALU, "vcmp.lt.i32 m1 v2 0\nmnot m2 m1", "wait_vector_alu"},
    {TS_LATENCY_VECTOR_ALU, "vadd.f32 v1 v2 1.0\nvst [0] v1", "wait_vector_alu"},
    {TS_LATENCY_VECTOR_ALU, "vadd.f32 v1 v2 1.0\nvmov v1 v2 ?m1", "wait_vector_alu"},
    {TS_LATENCY_VECTOR_MASK, "mall m1\nvmov v1 v2 ?m1", "wait_vector_mask"},
    {TS_LATENCY_VECTOR_LOAD, "vld v1 [0]\nvneg.f32 v3 v1", "wait_vector_load"},
    {TS_LATENCY_VECTOR_LOAD, "vld v1 [0]\nvld v1 [0] rows=1", "wait_vector_load"},
    {TS_LATENCY_VECTOR_STORE, "vst [1024] v1\nvld v1 [1920]", "wait_vector_store"},
    {TS_LATENCY_VECTOR_STORE, "vst [1024] v1\ndma t0", "wait_vector_store"},
    {TS_LATENCY_VECTOR_TO_SCALAR, "v2s s1 v1\nsadd s3 s1 1", "wait_vector_to_scalar"},
    {TS_LATENCY_EUP, "vexp.f32 v1 v2\nvneg.f32 v3 v1", "wait_eup"},
    {TS_LATENCY_SUBLANE_MOVE, "vrot.sublane v1 v2 1\nvneg.f32 v3 v1", "wait_sublane_move"},
    {TS_LATENCY_SUBLANE_REDUCE, "vsum.sublane.f32 v1 v2\nvneg.f32 v3 v1", "wait_sublane_reduce"},
    {TS_LATENCY_LANE_MOVE, "vrot.lane v1 v2 1\nvneg.f32 v3 v1", "wait_lane_move"},
    {TS_LATENCY_LANE_REDUCE, "vsum.lane.f32 v1 v2\nvneg.f32 v3 v1", "wait_lane_reduce"},
    {TS_LATENCY_RANDOM, "vrandom v1 v2 7\nvneg.f32 v3 v1", "wait_random"},
    {TS_LATENCY_SEMAPHORE, "wait e0 0\nnop", "wait_semaphore"},
    {TS_LATENCY_SEMAPHORE, "sem.read s1 e0\nsadd s2 s1 1", "wait_semaphore"},
};

static const gate occupancy_gates[] = {
    {TS_LATENCY_EUP, "vexp.f32 v1 v2\nvlog.f32 v3 v4", "busy_eup"},
    {TS_LATENCY_LANE_REDUCE, "vsum.lane.f32 v1 v2\nvrot.sublane v3 v4 1", "busy_lane_reduce"},
    {TS_LATENCY_DMA_ISSUE, "dma t0\ndma t0", "busy_dma_issue"},
    {TS_LATENCY_VECTOR_LOAD, "vld v1 [0]\nvld v2 [0]", "busy_vector_load"},
    {TS_LATENCY_VECTOR_STORE, "vst [0] v1\nvst [1024] v1", "busy_vector_store"},
    {TS_LATENCY_VECTOR_ALU, "vneg.f32 v1 v2\nvneg.f32 v3 v4", "busy_vector_alu"},
};

static void check_gate(const gate *g, bool latency) {
    static const int figures[] = {1, 2, 9};
    for (int k = 0; k < 3; k++) {
        int cycles = figures[k];
        fixture *f = new_fixture();
        for (int i = 0; i < TS_SLOT_COUNT && !latency; i++) f->config.limits.slots[i] = 1;
        (latency ? f->config.latency_cycles : f->config.occupancy_cycles)[g->key] = cycles;
        fixture_do(f, g->text);
        if (fixture_issued(f, 1) != cycles || fixture_stalled(f, g->stall) != cycles - 1) {
            fail_msg("%s: bundle 1 issues at %d, expected %d; %s %d", g->text, (int)fixture_issued(f, 1),
                     cycles, g->stall, (int)fixture_stalled(f, g->stall));
        }
        fixture_free(f);
    }
}

TEST(each_latency_holds_its_reader_to_the_cycle) {
    for (size_t i = 0; i < sizeof(latency_gates) / sizeof(latency_gates[0]); i++)
        check_gate(&latency_gates[i], true);
}

TEST(each_occupancy_holds_its_unit_to_the_cycle) {
    for (size_t i = 0; i < sizeof(occupancy_gates) / sizeof(occupancy_gates[0]); i++)
        check_gate(&occupancy_gates[i], false);
}

/* ---- Single rules ---- */

TEST(a_slot_has_as_many_units_as_slots) {
    fixture *f = new_fixture();
    f->config.limits.slots[TS_SLOT_XLU] = 2;
    f->config.occupancy_cycles[TS_LATENCY_LANE_REDUCE] = 10;
    f->config.occupancy_cycles[TS_LATENCY_LANE_MOVE] = 3;
    fixture_do(
        f,
        "vsum.lane.f32 v1 v9\nvrot.lane v2 v9 1\nvrot.lane v3 v9 1\nvsum.lane.f32 v4 v9 ; vrot.lane v5 v9 1");
    assert_int_equal(fixture_issued(f, 1), 1);  /* the second unit, until 4 */
    assert_int_equal(fixture_issued(f, 2), 4);  /* again, until 7 */
    assert_int_equal(fixture_issued(f, 3), 10); /* both */
    assert_int_equal(fixture_stalled(f, "busy_lane_move"), 2);
    assert_int_equal(fixture_stalled(f, "busy_lane_reduce"), 5);
    fixture_free(f);
}

TEST(a_later_write_lands_later) {
    fixture *f = new_fixture();
    f->config.latency_cycles[TS_LATENCY_EUP] = 10;
    f->config.latency_cycles[TS_LATENCY_VECTOR_ALU] = 2;
    fixture_do(f, "vexp.f32 v1 v2\nvneg.f32 v1 v2");
    assert_int_equal(fixture_issued(f, 1), 9); /* lands at 11, one after the other */
    assert_int_equal(fixture_stalled(f, "wait_eup"), 8);
    fixture_free(f);
}

TEST(a_load_waits_only_for_stores_to_its_bytes) {
    fixture *f = new_fixture();
    f->config.latency_cycles[TS_LATENCY_VECTOR_STORE] = 20;
    fixture_do(f, "vst [0] v1 rows=0x0f\nvld v2 [512]\nvld v2 [0] rows=0xf0\nvld v2 [384]");
    assert_int_equal(fixture_issued(f, 1), 1);
    assert_int_equal(fixture_issued(f, 2), 2);
    assert_int_equal(fixture_issued(f, 3), 20);
    fixture_free(f);
    f = new_fixture(); /* the rows before the address, to word 128 */
    f->config.latency_cycles[TS_LATENCY_VECTOR_STORE] = 20;
    fixture_do(f, "vst [1024] v1 stride=-1\nvld v2 [1152]\nvld v2 [0] rows=0x01\nvld v2 [0] rows=0x02");
    assert_int_equal(fixture_issued(f, 1), 1);
    assert_int_equal(fixture_issued(f, 2), 2);
    assert_int_equal(fixture_issued(f, 3), 20);
    fixture_free(f);
}

/* As many as can be on their way: four a bundle, in each cycle of the latency. */
TEST(no_store_on_its_way_is_forgotten) {
    enum { LATENCY = 3, SLOTS = 4 };
    for (int k = 0; k < LATENCY * SLOTS; k++) {
        fixture *f = new_fixture();
        char text[512] = "";
        f->config.latency_cycles[TS_LATENCY_VECTOR_STORE] = LATENCY;
        for (int i = 0; i < LATENCY * SLOTS; i++)
            sprintf(text + strlen(text), "vst [%d] v1%s", i * 1024, i % SLOTS == SLOTS - 1 ? "\n" : " ; ");
        sprintf(text + strlen(text), "vld v2 [%d]", k * 1024);
        fixture_do(f, text);
        assert_int_equal(fixture_issued(f, LATENCY), k / SLOTS + LATENCY);
        fixture_free(f);
    }
}

TEST(the_constraint_met_last_names_the_stall) {
    fixture *f = new_fixture();
    f->config.latency_cycles[TS_LATENCY_EUP] = 5;
    f->config.latency_cycles[TS_LATENCY_VECTOR_LOAD] = 8;
    fixture_do(f, "vexp.f32 v1 v2 ; vld v3 [0]\nvadd.f32 v4 v1 v3");
    assert_int_equal(fixture_stalled(f, "wait_eup"), 0);
    assert_int_equal(fixture_stalled(f, "wait_vector_load"), 7);
    fixture_free(f);
}

TEST(delay_and_branch_count_once) {
    fixture *f = new_fixture();
    f->config.latency_cycles[TS_LATENCY_BRANCH] = 4;
    fixture_do(f, "delay 6 ; jump @2\nhalt\ndelay 0\ndelay -5");
    assert_int_equal(fixture_issued(f, 2), 6);
    assert_int_equal(fixture_issued(f, 3), 7);
    assert_int_equal(fixture_stalled(f, "wait_control"), 5);
    assert_int_equal(fixture_stalled(f, "wait_branch"), 0);
    fixture_free(f);
}

TEST(an_untaken_branch_costs_one_cycle) {
    fixture *f = new_fixture();
    f->config.latency_cycles[TS_LATENCY_BRANCH] = 4;
    fixture_do(f, "brnz s0 @0\nnop");
    assert_int_equal(fixture_issued(f, 1), 1);
    fixture_free(f);
}

TEST(rows_in_one_bank_lengthen_a_strided_access) {
    static const struct {
        const char *text;
        int issue;
    } rows[] = {{"vld v1 [0] stride=4\nvneg.f32 v2 v1", 1 + 1},  /* banks 0 4 .. of 16: each twice */
                {"vld v1 [0] stride=16\nvneg.f32 v2 v1", 1 + 7}, /* one bank */
                {"vld v1 [0] stride=16 rows=0x11\nvneg.f32 v2 v1", 1 + 1},
                {"vld v1 [0] stride=4 rows=0x22\nvneg.f32 v2 v1", 1 + 1}, /* sublanes 1 and 5 */
                {"vld v1 [0] stride=3\nvneg.f32 v2 v1", 1},
                {"vld v1 [0] stride=0\nvneg.f32 v2 v1", 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fixture *f = new_fixture();
        f->config.vmem_banks = 16;
        fixture_do(f, rows[i].text);
        assert_int_equal(fixture_issued(f, 1), rows[i].issue);
        assert_int_equal(fixture_stalled(f, "vmem_bank"), rows[i].issue - 1);
        fixture_free(f);
    }
    fixture *f = new_fixture(); /* the port is busy too */
    f->config.vmem_banks = 16;
    f->config.limits.slots[TS_SLOT_VLD] = 1;
    fixture_do(f, "vld v1 [0] stride=16\nvld v2 [0]");
    assert_int_equal(fixture_issued(f, 1), 8);
    fixture_free(f);
}

static int64_t take_after_7(void *chip, int64_t cycle, int loads, int stores) {
    (void)chip;
    return cycle < 7 && loads + stores == 2 ? 7 : cycle;
}

TEST(a_port_that_serves_a_dma_is_waited_for) {
    fixture *f = new_fixture();
    f->ports.vmem_take = take_after_7;
    fixture_do(f, "vld v1 [0]\nvld v1 [0] ; vst [2048] v3");
    assert_int_equal(fixture_issued(f, 1), 7);
    assert_int_equal(fixture_stalled(f, "vmem_port"), 6);
    fixture_free(f);
}

TEST(a_wait_ends_at_the_cycle_of_the_notice) {
    fixture *f = new_fixture();
    int semaphore;
    int64_t needed;
    assert_true(fixture_load(f, "nop\nsmov s1 2\nwait e3 s1\nnop"));
    assert_null(ts_core_waiting(f->core, &semaphore, &needed));
    assert_true(ts_core_step(&f->err, f->core, 100, INT64_MAX));
    assert_int_equal(ts_core_next(f->core), INT64_MAX);
    assert_non_null(ts_core_waiting(f->core, &semaphore, &needed));
    assert_int_equal(semaphore, 3);
    assert_int_equal(needed, 2);
    f->semaphores[3] = 1;
    ts_core_notify(f->core, 40);
    assert_int_equal(ts_core_next(f->core), INT64_MAX);
    f->semaphores[3] = 3;
    ts_core_notify(f->core, 50);
    assert_int_equal(ts_core_next(f->core), 50);
    assert_true(fixture_run(f));
    assert_int_equal(f->semaphores[3], 1);
    assert_int_equal(fixture_issued(f, 2), 50);
    assert_int_equal(fixture_stalled(f, "semaphore_low"), 48);
    assert_true(ts_core_halted(f->core));
    fixture_free(f);
}

/* Of two cores, until all have come: no notice ends it. The next one is waited for again. */
TEST(a_barrier_is_passed_when_it_is_told) {
    fixture *f = new_fixture();
    int semaphore = -1;
    int64_t needed;
    f->cores = 2;
    assert_true(fixture_load(f, "nop\nbarrier\nnop\nbarrier\nnop"));
    assert_true(fixture_run(f));
    assert_int_equal(ts_core_at_barrier(f->core), 1);
    assert_int_equal(ts_core_waiting(f->core, &semaphore, &needed)->opcode, TS_OP_barrier);
    assert_int_equal(semaphore, -1);
    ts_core_notify(f->core, 20);
    assert_int_equal(ts_core_next(f->core), INT64_MAX);
    ts_core_pass_barrier(f->core, 31);
    assert_int_equal(ts_core_at_barrier(f->core), -1);
    assert_true(fixture_run(f));
    assert_int_equal(fixture_issued(f, 1), 31);
    assert_int_equal(fixture_issued(f, 2), 32);
    assert_int_equal(ts_core_at_barrier(f->core), 33);
    assert_int_equal(fixture_stalled(f, "barrier"), 30);
    fixture_free(f);
}

TEST(stepping_stops_before_the_cycle_and_after_a_start) {
    fixture *f = new_fixture();
    assert_true(fixture_load(f, "nop\nnop\ndma t0\nnop"));
    assert_true(ts_core_step(&f->err, f->core, 1, INT64_MAX));
    assert_int_equal(ts_core_next(f->core), 1);
    assert_true(ts_core_step(&f->err, f->core, 100, INT64_MAX));
    assert_int_equal(f->start_count, 1);
    assert_int_equal(f->starts[0].cycle, 2);
    assert_int_equal(ts_core_next(f->core), 3);
    fixture_free(f);
}

/* ---- Random programs: every cycle issues or has one reason, and a second scoreboard agrees ---- */

static int below(uint64_t *seed, int n) { return (int)(fixture_random(seed) % (uint32_t)n); }

/* Straight-line bundles of instructions whose destinations are all different (their number is the place). */
static void random_program(uint64_t *seed, char *text, size_t bytes, int bundles) {
    static const char *const forms[] = {
        "sadd s%d s%d s%d",         "vadd.f32 v%d v%d v%d", "vexp.f32 v%d v%d", "vsum.lane.f32 v%d v%d",
        "vrot.sublane v%d v%d %d",  "vld v%d [%d]",         "v2s s%d v%d",      "mlanes m%d s%d",
        "vadd.f32 v%d v%d s%d ?m1", "sld s%d [%d]"};
    enum { FORMS = sizeof(forms) / sizeof(forms[0]) };
    size_t at = 0;
    for (int b = 0; b < bundles; b++) {
        int count = 1 + below(seed, 3);
        for (int i = 0; i < count; i++) {
            int form = below(seed, FORMS), a = below(seed, 4) * 4 + i;
            int source = form == 5 ? below(seed, 4) * 128 : below(seed, 8);
            at += (size_t)snprintf(text + at, bytes - at, i ? " ; " : b ? "\n" : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
            at += (size_t)snprintf(text + at, bytes - at, forms[form], a, source, below(seed, 8));
#pragma GCC diagnostic pop
        }
    }
}

static void random_times(uint64_t *seed, ts_core_config *config) {
    for (int i = 0; i < TS_LATENCY_COUNT; i++) {
        config->latency_cycles[i] = 1 + below(seed, 12);
        config->occupancy_cycles[i] = 1 + (below(seed, 3) == 0 ? below(seed, 9) : 0);
    }
    for (int i = 0; i < TS_SLOT_COUNT; i++) config->limits.slots[i] = 3 + below(seed, 2);
}

static void every_cycle_is_accounted_for(const fixture *f, uint64_t seed) {
    ts_core_counters counters;
    int64_t clock = 0, sum = 0;
    for (int i = 0; i < f->event_count; i++) {
        assert_int_equal(f->events[i].cycle, clock);
        clock += f->events[i].cycles > 0 ? f->events[i].cycles : 1;
    }
    ts_core_count(f->core, &counters);
    for (int i = 0; i < TS_STALL_COUNT; i++) sum += counters.stalls[i];
    if (counters.cycles != clock || clock != counters.bundles + sum) fail_msg("seed %d: cycles", (int)seed);
    sum = 0;
    for (int b = 0; b < f->code.bundle_count; b++) {
        int64_t issues, stall_cycles;
        ts_core_profile(f->core, b, &issues, &stall_cycles);
        sum += issues + stall_cycles;
    }
    assert_int_equal(sum, clock);
}

/* What a naive scoreboard remembers of each instruction that issued. */
typedef struct {
    ts_register_use use;
    int64_t issued, latency_cycles, occupancy_cycles;
    ts_slot slot;
} past;
enum { PAST_MAX = 400 };

static bool same(ts_register a, ts_register b) { return a.kind == b.kind && a.reg == b.reg; }

/* Whether `next` may issue at `cycle` after all of `done`; `same_slot` of its bundle need a unit too. */
static bool may_issue(const past *done, int count, const past *next, int64_t cycle, int same_slot,
                      int units) {
    int busy = 0;
    for (int i = 0; i < count; i++) {
        int64_t lands = done[i].issued + done[i].latency_cycles;
        for (int r = 0; r < next->use.read_count && done[i].use.writes; r++)
            if (same(done[i].use.written, next->use.reads[r]) && cycle < lands) return false;
        bool both = done[i].use.writes && next->use.writes && same(done[i].use.written, next->use.written);
        if (both && cycle + next->latency_cycles <= lands) return false;
        busy += done[i].slot == next->slot && done[i].issued + done[i].occupancy_cycles > cycle;
    }
    return busy + same_slot <= units;
}

static void a_naive_scoreboard_agrees(const fixture *f, uint64_t seed) {
    static past done[PAST_MAX];
    int count = 0;
    int64_t cycle = 0;
    for (int b = 0; b < f->code.bundle_count; b++) {
        const ts_bundle *bundle = &f->code.bundles[b];
        int used[TS_SLOT_COUNT] = {0};
        for (int i = 0; i < bundle->count; i++) {
            const ts_opcode_info *info = ts_opcode_get(bundle->instructions[i].opcode);
            past *p = &done[count + i];
            ts_instruction_registers(&f->code, &bundle->instructions[i], &p->use);
            p->slot = info->slot;
            p->latency_cycles = f->config.latency_cycles[info->latency];
            p->occupancy_cycles = f->config.occupancy_cycles[info->latency];
            used[info->slot]++;
        }
        for (bool free = false; !free; cycle += !free) {
            free = true;
            for (int i = 0; i < bundle->count; i++) {
                const past *p = &done[count + i];
                free &= may_issue(done, count, p, cycle, used[p->slot], f->config.limits.slots[p->slot]);
            }
        }
        if (fixture_issued(f, b) != cycle)
            fail_msg("seed %d: bundle %d, not at %d", (int)seed, b, (int)cycle);
        for (int i = 0; i < bundle->count; i++) done[count + i].issued = cycle;
        count += bundle->count;
        cycle++;
    }
}

TEST(random_programs_keep_the_rules) {
    for (uint64_t round = 1; round <= 300; round++) {
        uint64_t seed = round;
        char text[8192];
        fixture *f = new_fixture();
        random_program(&seed, text, sizeof(text), 60);
        random_times(&seed, &f->config);
        if (!fixture_load(f, text) || !fixture_run(f)) fail_msg("seed %d: %s", (int)round, f->err.message);
        every_cycle_is_accounted_for(f, round);
        a_naive_scoreboard_agrees(f, round);
        fixture_free(f);
    }
}

TEST(small_steps_change_nothing) {
    uint64_t seed = 99;
    char text[8192];
    fixture *whole = new_fixture(), *parts = new_fixture();
    random_program(&seed, text, sizeof(text), 60);
    random_times(&seed, &whole->config);
    parts->config = whole->config;
    fixture_do(whole, text);
    assert_true(fixture_load(parts, text));
    for (int64_t until = 1; !ts_core_halted(parts->core); until += 1 + below(&seed, 3))
        assert_true(ts_core_step(&parts->err, parts->core, until, INT64_MAX));
    assert_int_equal(whole->event_count, parts->event_count);
    assert_memory_equal(whole->events, parts->events, sizeof(whole->events[0]) * (size_t)whole->event_count);
    fixture_free(whole);
    fixture_free(parts);
}

/* However many stores there were before: each load waits for the one in front of it, 4 cycles. */
TEST(loads_wait_however_many_stores_there_were) {
    enum { PAIRS = 40 };
    fixture *f = fixture_new();
    char text[PAIRS * 32] = "";
    f->config.latency_cycles[TS_LATENCY_VECTOR_STORE] = 5;
    for (int i = 0; i < PAIRS; i++) strcat(text, i ? "\nvst [0] v1\nvld v2 [0]" : "vst [0] v1\nvld v2 [0]");
    fixture_do(f, text);
    assert_int_equal(fixture_stalled(f, "wait_vector_store"), PAIRS * 4);
    fixture_free(f);
}

/* Stores that are visible sooner come and go meanwhile. */
TEST(a_slow_store_outlasts_quick_ones) {
    fixture *f = new_fixture();
    char text[512] = "vst [0] v1\n";
    f->config.limits.slots[TS_SLOT_VST] = 1;
    f->config.limits.slots[TS_SLOT_SCALAR] = 2;
    f->config.latency_cycles[TS_LATENCY_VECTOR_STORE] = 10;
    f->config.latency_cycles[TS_LATENCY_SCALAR_STORE] = 2;
    for (int i = 0; i < 8; i++) strcat(text, "sst [0] 7 ; sst [4] 7\n");
    fixture_do(f, strcat(text, "vld v2 [0]"));
    assert_int_equal(fixture_issued(f, 9), 10);
    fixture_free(f);
}
