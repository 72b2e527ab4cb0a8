/* Iterations that are left out: nothing that is counted differs, and in time only as many are as can be. */

#include "core/state.h"
#include "tests/support/cmocka.h"
#include "tests/support/core_fixture.h"

#define PUSHES                                                                                               \
    "vtr.push.b32 v1\nvtr.push.b32 v1\nvtr.push.b32 v1\nvtr.push.b32 v1\n"                                   \
    "vtr.push.b32 v1\nvtr.push.b32 v1\nvtr.push.b32 v1\nvtr.push.b32 v1\n"

#define LATCH(unit)                                                                                          \
    "mxu.latch.i8 " unit " v1\nmxu.latch.i8 " unit " v1\nmxu.latch.i8 " unit " v1\nmxu.latch.i8 " unit " v1" \
    "\n"
#define LATCHED(unit) LATCH(unit) "mxu.swap " unit "\n"

/* Two iterations show that the state repeats, and the last is not left out: 3 of 1000. */
static const struct {
    const char *text;
    int64_t done; /* instructions at most that are executed for that; 0: any number */
} loops[] = {
    /* Up to the iteration in which the branch falls through, whatever it compares. */
    {"smov s1 1000\nvadd.i32 v1 v1 v2\nssub s1 s1 1\nbrnz s1 @1", 1 + 9},
    {"smov s1 -1000\nsadd s1 s1 1\nbrnz s1 @1", 1 + 6},
    {"sadd s1 s1 1\nbr.ne s1 1000 @0", 6},
    {"sadd s1 s1 1 ; br.lt s1 1000 @0", 6},
    {"vld v1 [0+s0*128] ; sadd s0 s0 1\nbr.lt s0 100 @0", 9},
    {"smov s1 1000\nssub s1 s1 3\nbr.gt s1 -7 @1", 1 + 6},
    {"sadd s29 s29 1\nbr.lt s29 1000 @0", 6},
    {"vld v1 [0+s29*128] ; sadd s29 s29 1\nbr.lt s29 100 @0", 9},
    {"sadd s1 s1 3\nbr.lt s1 1000 @0", 6},
    {"sadd s1 s1 3\nbr.le s1 999 @0", 6},
    {"sadd s1 s1 3\nbr.le s1 1000 @0", 6},
    {"smov s1 1000\nsadd s1 s1 -4\nbr.ge s1 0 @1", 1 + 6},
    {"smov s1 1000\nsadd s1 s1 -4\nbr.ge s1 1 @1", 1 + 6},
    {"smov s2 3000\nsadd s1 s1 1 ; ssub s2 s2 2\nbr.lt s1 s2 @1", 1 + 9},
    {"smov s2 3000\nsadd s1 s1 1 ; ssub s2 s2 2\nbr.gt s2 s1 @1", 1 + 9},
    {"sadd s1 s1 1\nbr.lt s1 100 @0\nsadd s2 s2 1\nbr.lt s2 100 @2", 6 + 6}, /* one behind the other */
    {"smov s2 100\nsmov s1 50\nvadd.i32 v1 v1 v1\nssub s1 s1 1\nbrnz s1 @2\nssub s2 s2 1\nbrnz s2 @1", 9583},
    /* Scalars that are linear, and some that are not. */
    {"smov s2 40 ; smov s3 500\nsmul s4 s1 7 ; sadd s1 s1 1\nsmul s5 s2 s1 ; ssub s6 s5 s4\n"
     "smov s7 s6\nbr.lt s1 s3 @1",
     2 + 18},
    {"sadd s1 s1 1\nsmul s2 s1 s1\nbr.lt s1 1000 @0", 0},
    {"sadd s1 s1 1\nsand s2 s1 3\nbr.lt s1 1000 @0", 0},
    {"sadd s1 s1 1\nsmax s2 s1 500\nbr.lt s1 1000 @0", 0},
    {"sadd s1 s1 1\nsmax s2 s3 500\nsmin s3 s1 800\nbr.lt s1 1000 @0", 0},
    {"sadd s1 s1 1\nsand s2 s3 3 ; smax s4 s3 9\nbr.lt s1 1000 @0", 12},
    /* Beyond 32 bits all goes on, from the other end. */
    {"sadd s1 s1 1 ; sadd s2 s2 1000000000\nbr.lt s1 1000 @0", 0},
    {"sadd s1 s1 1 ; sadd s2 s2 10000000\nbr.lt s1 1000 @0", 27},
    {"sadd s1 s1 1 ; ssub s2 s2 10000000\nbr.lt s1 1000 @0", 27},
    {"sadd s1 s1 1\nsmul s2 s1 10000000\nbr.lt s1 1000 @0", 0},
    /* Up to an address that is beyond VMEM, either way: a fault. */
    {"vld v1 [0+s1*128] ; sadd s1 s1 1\nvst [1024+s1*128] v1\nbr.lt s1 100 @0", 12},
    {"vld v1 [0+s1*128] ; sadd s1 s1 1\njump @0", 9},
    {"vst [0+s1*128] v1 ; sadd s1 s1 1\njump @0", 0},
    {"smov s1 120\nvld v1 [0+s1*128] ; ssub s1 s1 1\njump @1", 10},
    {"smov s1 120\nvld v1 [0+s1*128] rows=0xf0 ; ssub s1 s1 1\njump @1", 10},
    /* Addresses that are linear, those that are not, and those that no load may have. */
    {"vld v1 [0+s1/8*1024!] ; sadd s1 s1 8\nbr.lt s1 100 @0", 9},
    {"vld v1 [0+s1/8*1024] ; sadd s1 s1 8\nbr.lt s1 100 @0", 9},
    {"vld v1 [0+s1/8*1024] ; sadd s1 s1 1\nbr.lt s1 100 @0", 0},
    {"vld v1 [0+s1/8*1024] ; vst [0+s1/8*1024] v2 ; sadd s1 s1 1\nnop\nnop\nbr.lt s1 100 @0", 0},
    {"vst [0+s1%4*1024] v2 ; vld v1 [1024] ; sadd s1 s1 1\nnop\nnop\nbr.lt s1 100 @0", 0},
    {"vld v1 [0+s2%4*1024] ; sadd s1 s1 1\nbr.lt s1 100 @0", 9},
    {"vld v1 [0+s1/8*2048] ; sadd s1 s1 1\nbr.lt s1 100 @0", 0}, /* a fault, when s1 is 64 */
    {"vld v1 [0+s1%100*256] ; sadd s1 s1 1\nbr.lt s1 100 @0", 0},
    {"vld v1 [0+s1*64] ; sadd s1 s1 1\nbr.lt s1 100 @0", 0},
    {"vld v1 [0+s1*64] ; sadd s1 s1 2\nbr.lt s1 100 @0", 9},
    /* Loads behind stores: that never meet, that meet now and then, that move alike. */
    {"vst [0+s1*128] v1\nvld v2 [12416]\nsadd s1 s1 1\nbr.lt s1 90 @0", 12},
    {"vst [0+s1*128] v1\nvld v2 [12288]\nsadd s1 s1 1\nbr.lt s1 90 @0", 0},
    {"smov s1 90\nvst [1152+s1*128] v1\nvld v2 [256]\nssub s1 s1 1\nbrnz s1 @1", 1 + 12},
    {"smov s1 90\nvst [1152+s1*128] v1\nvld v2 [384]\nssub s1 s1 1\nbrnz s1 @1", 0},
    {"vst [0+s1*128] v1 ; vst [12544+s2*128] v2\nnop\nnop\nnop\nsadd s1 s1 1 ; ssub s2 s2 1\n"
     "br.lt s1 90 @0\nvld v1 [11520]\nvld v1 [1280]",
     3 * 8 + 2},
    {"vst [0+s1*128] v1\nvld v2 [6400]\nsadd s1 s1 1\nbr.lt s1 100 @0", 264},
    {"vst [0+s1*128] v1 rows=0x80\nvld v2 [0] rows=1\nsadd s1 s1 1\nbr.lt s1 90 @0", 12},
    {"vst [6400] v1\nvld v2 [0+s1*128]\nsadd s1 s1 1\nbr.lt s1 100 @0", 264},
    {"smov s1 100\nvst [0+s1*128] v1\nvld v2 [6400]\nssub s1 s1 1\nbrnz s1 @1", 0},
    {"vst [0+s1*128] v1\nvld v2 [1024+s1*128]\nsadd s1 s1 1\nbr.lt s1 100 @0", 12},
    {"vst [0+s1*128] v1\nvld v2 [896+s1*128]\nsadd s1 s1 1\nbr.lt s1 100 @0", 12},
    {"vst [0+s1*128] v1\nvld v2 [0+s1*128]\nsadd s1 s1 1\nbr.lt s1 100 @0", 12},
    {"vst [0+s1*128] v1 ; vst [128+s1*128] v1 rows=1\nvst [256+s1*128] v2 rows=1\nsadd s1 s1 1\n"
     "br.lt s1 100 @0\nvld v1 [12544]",
     16},
    {"vst [0+s1*128] v1\nnop\nnop\nsadd s1 s1 1\nbr.lt s1 100 @0\nvld v1 [12544]\nvadd.i32 v2 v1 v1", 16 + 1},
    /* What of a unit is busy, or on its way, from one iteration to the next. */
    {"vexp.f32 v2 v1\nvexp.f32 v3 v1\nvexp.f32 v4 v1\nvsum.lane.f32 v3 v2\nsadd s1 s1 1\nbr.lt s1 100 @0\n"
     "vadd.f32 v5 v4 v3",
     19},
    {"mxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\nmxu.swap 0\n"
     "mxu.push.i8 0 v2\nmxu.pop v3 0\nsadd s1 s1 1\nbr.lt s1 100 @5\nmxu.push.i8 0 v3\nmxu.pop v4 0",
     5 + 12 + 2},
    {LATCHED(
         "1") "mxu.push.i8 1 v2\nmxu.pop v3 1\nsadd s1 s1 1\nbr.lt s1 100 @5\nmxu.push.i8 1 v3\nmxu.pop v4 1",
     5 + 12 + 2},
    {LATCHED("1") "mxu.acc.i8 1 v2 0\nsadd s1 s1 1\nbr.lt s1 100 @5\nmxu.take v4 1 3", 5 + 9 + 1},
    {LATCHED("0") LATCHED("1") "mxu.acc.i8 0 v2 4 ; mxu.acc.i8 1 v2 4\nmxu.take v3 0 4\nsadd s1 s1 1\n"
                               "br.lt s1 100 @10\nmxu.take v4 1 7 ; mxu.take v5 0 7",
     0},
    {LATCHED("1") "mxu.acc.i8 1 v2 0\nmxu.take v3 1 0\nmxu.acc.i8 1 v2 0\nsadd s1 s1 1\nbr.lt s1 100 @6",
     6 + 12},
    {LATCHED(
         "1") "mxu.push.i8 1 v2\nmxu.pop v3 1\nmxu.pop v4 1\nmxu.pop v5 1\nmxu.pop v6 1\nmxu.push.i8 1 v2\n"
              "sadd s1 s1 1\nbr.lt s1 100 @6",
     6 + 21},
    /* What comes from before the loop comes when it would have. */
    {"vexp.f32 v9 v1\nsadd s1 s1 1\nbr.lt s1 100 @1\nvadd.f32 v2 v9 v9", 0},
    {"mall m9\nsadd s1 s1 1\nbr.lt s1 100 @1\nvmov v2 v1 ?m9", 0},
    {"vst [0] v1\nsadd s1 s1 1\nbr.lt s1 100 @1\nvld v2 [0]", 0},
    {"vst [0] v1\nsadd s1 s1 1\nbr.lt s1 2 @1\nvld v2 [0]", 0},
    {"vst [0] v1\nsadd s1 s1 1\nbr.lt s1 3 @1\ndma t0", 0},
    {"vexp.f32 v9 v1 ; vexp.f32 v8 v1 ; vexp.f32 v7 v1 ; vexp.f32 v6 v1\nsadd s1 s1 1\nbr.lt s1 2 @1\n"
     "vexp.f32 v9 v1",
     0},
    {PUSHES PUSHES "sadd s1 s1 1\nbr.lt s1 100 @16\nvtr.pop v1\nvtr.pop v2", 16 + 60},
    {"mxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\nmxu.latch.i8 0 v1\nmxu.swap 0\n"
     "mxu.push.i8 0 v2\nsadd s1 s1 1\nbr.lt s1 100 @6\nmxu.pop v4 0",
     0},
    {LATCHED("1") "mxu.push.i8 1 v2\nsadd s1 s1 1\nbr.lt s1 100 @6\nmxu.pop v4 1", 0},
    {LATCHED("1") "mxu.acc.i8 1 v2 4\nsadd s1 s1 1\nbr.lt s1 100 @6\nmxu.take v4 1 7", 0},
    {LATCH("1") "sadd s1 s1 1\nbr.lt s1 100 @4\nmxu.swap 1\nmxu.push.i8 1 v2", 0},
    /* What others can notice, and what is not certain, is not left out. */
    {"v2s s2 v1\nsadd s1 s1 1\nbr.lt s1 100 @1", 0},
    {"v2s s2 v1\nsadd s1 s1 1\nbr.lt s1 100 @0", 0},
    {"sst [4] s1\nsadd s1 s1 1\nbr.lt s1 100 @0\nsld s2 [4]", 0},
    {"sst [4] s2\nsld s2 [4]\nsadd s1 s1 1 ; sadd s2 s2 5\nbr.lt s1 100 @0", 0},
    {"delay s1\nsadd s1 s1 1\nbr.lt s1 100 @0", 0},
    {"sem.add e0 1\nsadd s1 s1 1\nbr.lt s1 100 @0\nsem.read s2 e0", 0},
    {"sadd s1 s1 1\nbr.gt s1 50 @4\nnop\nnop\nbr.lt s1 100 @0", 0},
    {"sadd s1 s1 1\nbr.lt s1 60 @3\nbr.lt s1 0 @0\nbr.lt s1 100 @0", 0},
    {"vtr.push.b32 v1\nsadd s1 s1 1\nbr.lt s1 100 @0", 0},
    {"ssub s1 s1 1\nbr.lt s1 100 @4\nnop\nnop\nbr.gt s1 -100 @0", 0},
    {"nop\njump @0", 0}, /* which is told to have no end */
};

static const int64_t one = 1;
static const ts_affine zero = {0};
static const ts_transfer transfer = {.source = {.rank = 1, .begin = &zero, .size = &one},
                                     .destination = {.rank = 1, .begin = &zero, .size = &one},
                                     .semaphore = {.count = 1, .sreg = -1}};

static fixture *new_fixture(void) {
    fixture *f = fixture_new();
    f->code.transfers = &transfer;
    f->code.transfer_count = 1;
    f->time_only = f->profile = true;
    f->config.mxu = (ts_machine_mxu){
        .units = 2, .edge = 128, .rate = {1, 1, 1, 2, 4}, .staging = 2, .accumulators = 8, .result_vregs = 8};
    for (int i = 0; i < TS_LATENCY_COUNT; i++) {
        f->config.latency_cycles[i] = 1 + i * 5 % 13;
        f->config.occupancy_cycles[i] = 1 + i * 3 % 4;
    }
    f->config.latency_cycles[TS_LATENCY_SCALAR] = 2;
    return f;
}

/* Told of nothing, the core may leave iterations out. */
static fixture *new_skipping(void) {
    fixture *f = new_fixture();
    f->ports.issued = NULL;
    f->ports.stalled = NULL;
    return f;
}

static void same_profile(fixture *a, fixture *b) {
    for (int i = 0; i < a->code.bundle_count; i++) {
        int64_t issues[2], stalls[2];
        ts_core_profile(a->core, i, &issues[0], &stalls[0]);
        ts_core_profile(b->core, i, &issues[1], &stalls[1]);
        assert_int_equal(issues[0], issues[1]);
        assert_int_equal(stalls[0], stalls[1]);
        assert_int_equal(a->core->branches_taken[i], b->core->branches_taken[i]);
        for (int k = 0; k < a->code.bundles[i].count; k++) {
            const int64_t *of_a = ts_core_stalls(a->core, &a->code.bundles[i].instructions[k]),
                          *of_b = ts_core_stalls(b->core, &b->code.bundles[i].instructions[k]);
            assert_int_equal(of_a != NULL, of_b != NULL);
            if (of_a) assert_memory_equal(of_a, of_b, TS_STALL_COUNT * sizeof *of_a);
        }
    }
}

static void same(fixture *a, fixture *b) {
    ts_core_counters counts[2];
    assert_string_equal(a->err.message, b->err.message);
    assert_int_equal(a->err.cycle, b->err.cycle);
    assert_int_equal(ts_core_next(a->core), ts_core_next(b->core));
    ts_core_count(a->core, &counts[0]);
    ts_core_count(b->core, &counts[1]);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    for (int i = 0; i < 32; i++) assert_int_equal(fixture_sreg(a, i), fixture_sreg(b, i));
    same_profile(a, b);
}

/* What is done with all iterations and with some; the work of the latter. */
static int64_t do_alike(const char *text, bool time_only) {
    fixture *every = new_fixture(), *some = new_skipping();
    every->time_only = some->time_only = time_only;
    assert_true(fixture_load(every, text) && fixture_load(some, text));
    assert_int_equal(fixture_run(every), fixture_run(some));
    same(every, some);
    int64_t work = some->core->work;
    fixture_free(every);
    fixture_free(some);
    return work;
}

TEST(nothing_else_changes) {
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        int64_t work = do_alike(loops[i].text, true);
        if (loops[i].done > 0 && work > loops[i].done)
            fail_msg("%s: %d instructions", loops[i].text, (int)work);
        do_alike(loops[i].text, false);
    }
}

/* These do not end, but what they do differs: brnz is passed by, and comes round. */
static const char *const endless[] = {
    "smov s1 1001\nssub s1 s1 2\nbrnz s1 @1",
    "sadd s1 s1 1\njump @0",
    "sadd s1 s1 1\nbr.eq s2 0 @0",
    "sadd s1 s1 1\nbr.ge s1 0 @0",
    "sadd s1 s1 1\nbrz s2 @0",
};

static void step_to(fixture *f, int64_t until) {
    while (ts_core_next(f->core) < until)
        if (!ts_core_step(&f->err, f->core, until, INT64_MAX)) return;
}

/* As far as the core may go alone, and no further. */
TEST(the_cycle_to_stop_at_is_kept) {
    static const int64_t untils[] = {20, 21, 22, 23, 24, 100, 147, 801, 3000};
    for (size_t i = 0; i < sizeof loops / sizeof loops[0] + sizeof endless / sizeof endless[0]; i++) {
        const char *text =
            i < sizeof loops / sizeof loops[0] ? loops[i].text : endless[i - sizeof loops / sizeof loops[0]];
        fixture *every = new_fixture(), *some = new_skipping();
        assert_true(fixture_load(every, text) && fixture_load(some, text));
        for (size_t k = 0; k < sizeof untils / sizeof untils[0] && every->err.kind == TS_ERROR_NONE; k++) {
            step_to(every, untils[k]);
            step_to(some, untils[k]);
            same(every, some);
        }
        fixture_free(every);
        fixture_free(some);
    }
}

static void on_access(void *chip, const ts_access *access) { (void)chip, (void)access; }
static int64_t always_free(void *chip, int64_t cycle, int loads, int stores) {
    (void)chip, (void)loads, (void)stores;
    return cycle;
}

/* Whoever is told of what happens is told of all of it; and values are those of all iterations: of two loops of
 * 1000, one with a load, the second is left out where only accesses are seen. A load is 4 with values. */
TEST(none_is_left_out_that_someone_sees) {
    static const int work[] = {9 + 6, 5000, 5000, 3000 + 6, 3000 + 6, 6000 + 6};
    for (int who = 0; who < 6; who++) {
        fixture *f = new_fixture(), *skipping = new_skipping();
        ts_core_ports told = f->ports;
        f->ports = skipping->ports;
        if (who == 1) f->ports.issued = told.issued;
        if (who == 2) f->ports.stalled = told.stalled;
        if (who == 3) f->ports.accessed = on_access;
        if (who == 4) f->ports.vmem_take = always_free;
        f->time_only = who != 5;
        fixture_do(f, "vld v1 [0] ; sadd s1 s1 1\nbr.lt s1 1000 @0\nsadd s2 s2 1\nbr.lt s2 1000 @2");
        assert_int_equal(f->core->work, work[who]);
        assert_int_equal(fixture_sreg(f, 1), 1000);
        assert_int_equal(fixture_sreg(f, 2), 1000);
        fixture_free(f);
        fixture_free(skipping);
    }
}
