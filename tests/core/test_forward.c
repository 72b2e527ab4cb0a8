/* Going round a loop without time: how many iterations are alike, and what they leave behind. */
#include <string.h>

#include "core/forward.h"
#include "layout/shape.h"
#include "tests/support/core_fixture.h"
#include "tests/support/test.h"

enum { X, B, S, V, TENSORS };
static const char *const shapes[TENSORS] = {"f32[400,128]{1,0:T(8,128)}", "f32[64,128]{1,0:T(8,128)}",
                                            "s32[64]{0}", "f32[64]{0}"};
static const ts_space_kind spaces[TENSORS] = {TS_SPACE_HBM, TS_SPACE_VMEM, TS_SPACE_SMEM, TS_SPACE_VMEM};

#define TERMS(c, reg, by)                                                                                    \
    {                                                                                                        \
        .constant = c, .term_count = 1, .terms = { {reg, by} }                                               \
    }
static const ts_affine by_8[] = {TERMS(0, 1, 8), {0}}, by_4[] = {TERMS(0, 1, 4), {0}},
                       by_1[] = {TERMS(0, 1, 1), {0}}, from_below[] = {TERMS(-16, 1, 8), {0}},
                       column[] = {TERMS(0, 1, 0), TERMS(0, 1, 1)}, slot[] = {TERMS(0, 2, 8), {0}},
                       down[] = {TERMS(392, 1, -4), {0}}, none[] = {{0}, {0}};
static const int64_t eight[] = {8, 128}, four[] = {4, 128}, row[] = {1, 128}, word[] = {8, 1};

#define MOVE(from, to, size_of)                                                                              \
    {                                                                                                        \
        .source = {X, 2, from, size_of}, .destination = {B, 2, to, size_of}, .semaphore = {                  \
            .count = 1,                                                                                      \
            .sreg = -1                                                                                       \
        }                                                                                                    \
    }
static const ts_transfer transfers[] = {
    MOVE(by_8, none, eight),       /* t0: whole tiles */
    MOVE(by_4, none, four),        /* t1: halves of tiles */
    MOVE(by_1, none, row),         /* t2: rows */
    MOVE(from_below, none, eight), /* t3: begins two tiles before the tensor */
    MOVE(column, none, word),      /* t4: columns */
    MOVE(none, slot, eight),       /* t5: into the tile s2 */
    MOVE(none, by_4, four),        /* t6: into halves of tiles */
    MOVE(down, none, four),        /* t7: downward */
    {.source = {X, 2, none, row}, .destination = {S, 1, none, eight}, .semaphore = {.count = 1, .sreg = -1}},
    {.source = {X, 2, by_8, eight}, .destination = {B, 2, none, eight}, .semaphore = {.count = 4, .sreg = 2}},
    {.source = {X, 2, none, row}, .destination = {V, 1, by_1, eight}, .semaphore = {.count = 1, .sreg = -1}},
};

static struct { /* what is done at the first branch back, and `later` ones behind it */
    int64_t bundles;
    bool goes;
    int later, told, end;
    int64_t count, period, in_vain;
    int64_t from, more; /* the cycle of a mark; that others take more than this core */
} asked;

/* Done at once. */
static bool start(ts_error *err, void *chip, const ts_core_start *told) {
    fixture *f = chip;
    (void)err;
    f->start_count++;
    f->semaphores[told->semaphore]++;
    return true;
}

static void looped(void *chip, int end) {
    fixture *f = chip;
    if (end != asked.end) return;
    assert_int_equal(ts_core_forward_head(f->core, end), ts_core_bundle(f->core));
    if (asked.told++ == 0)
        asked.count = ts_core_forward_count(f->core, end, asked.bundles, &asked.period, &asked.in_vain);
    if (asked.goes && asked.told == 1 + asked.later && asked.count >= asked.later)
        ts_core_forward_go(f->core, end, asked.later, asked.count - asked.later);
}

static fixture *new_fixture(void) {
    fixture *f = fixture_new();
    ts_tensor *tensors = TS_NEW_ARRAY(f->arena, ts_tensor, TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        ts_source source = {"shape", shapes[i], strlen(shapes[i])};
        tensors[i] = (ts_tensor){.name = "tensor", .space = spaces[i]};
        tensors[i].shape = ts_shape_parse(NULL, f->arena, &source);
        assert_non_null(tensors[i].shape);
    }
    f->code.tensors = tensors;
    f->code.tensor_count = TENSORS;
    f->code.transfers = transfers;
    f->code.transfer_count = sizeof transfers / sizeof *transfers;
    f->time_only = true;
    f->ports = (ts_core_ports){.chip = f, .dma_start = start, .looped = looped};
    for (int i = 0; i < TS_LATENCY_COUNT; i++) f->config.latency_cycles[i] = 1 + i * 5 % 13;
    return f;
}

/* Asked after the first iteration: s1 is 1. */
static const struct {
    const char *text;
    int end; /* the bundle of its branch back */
    int64_t count, period;
    int64_t bundles; /* to look at; 0: any */
} loops[] = {
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0", 3, 38, 1, 0},
    {"smov s1 -3\nsmov s1 0\ndma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @2\nsmov s5 9", 5, 38, 1, 0},
    {"dma t0 ; sadd s1 s1 1 ; br.lt s1 40 @0", 0, 39, 1,
     0}, /* of one bundle, which reads s1 before it is more */
    /* A period is that of the point of a tile where transfers start, at either end. */
    {"dma t1\nwait e0\nsadd s1 s1 1\nbr.lt s1 41 @0", 3, 39, 2, 0},
    {"dma t2\nwait e0\nsadd s1 s1 1\nbr.lt s1 41 @0", 3, 39, 8, 0},
    {"dma t2\nwait e0\nsadd s1 s1 1\nbr.lt s1 17 @0", 3, 0, 0, 0}, /* less than twice */
    {"dma t2\nwait e0\nsadd s1 s1 1\nbr.lt s1 18 @0", 3, 16, 8, 0},
    {"dma t4\nwait e0\nsadd s1 s1 1\nbr.lt s1 100 @0", 3, 0, 0, 0}, /* of 128 */
    {"dma t6\nwait e0\nsadd s1 s1 1\nbr.lt s1 13 @0", 3, 11, 2, 0},
    {"dma t7\nwait e0\nsadd s1 s1 1\nbr.lt s1 41 @0", 3, 39, 2, 0},
    {"dma t5\nwait e0\nsadd s1 s1 1 ; sadd s2 s2 1\nsand s2 s2 3\nbr.lt s1 41 @0", 4, 39, 1, 0},
    {"dma t10\nwait e0\nsadd s1 s1 1\nbr.lt s1 41 @0", 3, 39, 1, 0}, /* there are no tiles */
    /* Of semaphores, of what is waited for, of the way, and of delays. */
    {"dma t9\nwait e0+s2:4\nsadd s1 s1 1\nsmod s2 s1 3\nbr.lt s1 41 @0", 4, 39, 3, 0},
    {"dma t0\nwait e0\nsand s2 s1 2\ndelay s2\nsadd s1 s1 1\nbr.lt s1 40 @0", 5, 38, 4, 0},
    {"dma t0\nwait e0\nssub s2 1 s1\ndelay s2\nsadd s1 s1 1\nbr.lt s1 40 @0", 5, 38, 1,
     0}, /* never more than 1 */
    {"dma t0\nwait e0\nsdiv s2 s1 10\ndelay s2\nsadd s1 s1 1\nbr.lt s1 40 @0", 5, 19, 1, 0},
    {"dma t0\nwait e0 s2\nsem.set e0 0\nsadd s1 s1 1\nbr.lt s1 40 @0", 4, 0, 0, 0},
    {"dma t0\nwait e0 s2\nsadd s1 s1 1 ; sxor s2 s2 1\nbr.lt s1 40 @0", 3, 38, 2, 0},
    {"dma t0\nsand s2 s1 1\nbrnz s2 @4\nnop\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0", 6, 38, 2, 0},
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 20 @5\ndma t0\nbr.lt s1 40 @0", 5, 18, 1, 0},
    {"smov s3 3\ndma t0\nwait e0\nssub s3 s3 1\nbrnz s3 @1\nsadd s1 s1 1\nbr.lt s1 40 @0", 6, 38, 1, 0},
    {"dma t0\nwait e0\nsadd s1 s1 1 ; sxor s2 s2 1\nbrnz s2 @0\nbr.lt s1 40 @0", 4, 18, 1,
     0}, /* to its head */
    {"dma t9\nwait e0+s2:4\nsadd s1 s1 1\nsmod s2 s1 3\nbr.lt s1 7 @6\nsmov s2 3\nbr.lt s1 40 @0", 6, 0, 0,
     0},
    /* With a loop inside that begins with the same scalars or with others, more of them than are kept; that counts on;
     * that ends early; that is gone round behind this one; and two of one head. */
    {"dma t0\nwait e0\nsmov s3 0\nsadd s3 s3 1\nbr.lt s3 5 @3\nsadd s1 s1 1\nbr.lt s1 40 @0", 6, 38, 1, 0},
    {"dma t0\nwait e0\nsmod s3 s1 3\nsadd s3 s3 1\nbr.lt s3 5 @3\nsadd s1 s1 1\nbr.lt s1 40 @0", 6, 38, 3, 0},
    {"dma t9\nwait e0+s2:4\nsmod s3 s1 7\nsmov s2 0\nsadd s3 s3 2 ; sadd s2 s2 1\nbr.lt s3 8 @4\n"
     "smod s2 s2 4\nsadd s1 s1 1\nbr.lt s1 40 @0",
     8, 38, 7, 0},
    {"dma t0\nwait e0\nsmov s3 0\nsadd s3 s3 1 ; sadd s4 s4 3\nbr.lt s3 5 @3\nsadd s1 s1 1\nbr.lt s1 40 @0",
     6, 38, 1, 0},
    {"dma t0\nwait e0\nsmod s3 s1 2\nsadd s3 s3 3\nbr.eq s3 4 @7\nbr.lt s3 9 @3\nsadd s5 s5 1\nsadd s1 s1 1\n"
     "br.lt s1 40 @0",
     8, 38, 2, 0},
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0\nsadd s2 s2 1\nbr.lt s2 3 @2", 3, 38, 1, 0},
    {"dma t0\nwait e0\nsmov s4 0\nsmod s3 s1 2\nsadd s3 s3 1\nbr.lt s3 3 @4\nsmov s3 1 ; sadd s4 s4 1\n"
     "br.lt s4 3 @4\nsadd s1 s1 1\nbr.lt s1 40 @0",
     9, 38, 2, 0},
    {"dma t9\nwait e0+s2:4\nsmov s0 0\nsmov s2 0\nsmov s2 1\nsadd s0 s0 1\nbr.lt s0 3 @4\nsadd s1 s1 "
     "1\nbr.lt s1 40 @0",
     8, 38, 1, 0},
    {"dma t0\nwait e0\nsmod s4 s1 3\nsmov s3 0\nsadd s3 s3 1\nbr.le s3 s4 @4\nsadd s1 s1 1\nbr.lt s1 40 @0",
     7, 38, 3, 0},
    {"dma t0\nwait e0\nsmov s3 0\nvld v1 [0+s1*1024]\nsadd s3 s3 1\nbr.lt s3 2 @3\nsadd s1 s1 1\njump @0", 7,
     15, 1, 0},
    {"dma t0\nwait e0\nsmov s3 0\nsadd s3 s3 1\nbr.lt s3 5 @3\nsadd s1 s1 1\nbr.lt s1 40 @0", 6, 10, 1, 150},
    {"dma t0\nwait e0\nsmov s3 0\nsadd s3 s3 1\nbr.lt s3 5 @3\nsadd s1 s1 1\nbr.lt s1 40 @0", 6, 9, 1, 149},
    {"dma t0\nwait e0\nsmov s3 0\nsadd s3 s3 1\nbr.lt s3 5 @3\nsadd s1 s1 1\nbr.lt s1 40 @0", 6, 9, 1, 140},
    /* As far as there is more to see: the end of the tensor, an address, a division by 0, the end. */
    {"dma t0\nwait e0\nsadd s1 s1 1\njump @0", 3, 49, 1, 0},
    {"dma t3\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0", 3, 0, 0, 0},
    {"dma t0\nwait e0\nvld v1 [0+s1*1024] ; sadd s1 s1 1\njump @0", 3, 15, 1, 0},
    {"dma t0\nwait e0\nssub s2 30 s1\nsdiv s3 9 s2 ; sadd s1 s1 1\njump @0", 4, 29, 1, 0},
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 30 @0\nhalt", 3, 28, 1, 0},
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 30 @5\nhalt\njump @0", 5, 28, 1, 0},
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 30 @5\njump @6\njump @0\nnop", 5, 28, 1, 0},
    {"dma t0\nwait e0 s2\nsadd s1 s1 1\nbr.lt s1 20 @0\nsmov s2 -1\njump @0", 5, 0, 0, 0},
    {"dma t9\nwait e0+s2:4\nsadd s1 s1 1\nsdiv s2 s1 10\nbr.lt s1 50 @0", 4, 9, 1, 0},
    /* As far as may be looked: four bundles an iteration. */
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0", 3, 10, 1, 40},
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0", 3, 9, 1, 39},
    {"dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0", 3, 0, 0, 7},
    /* Many, and beyond those that are kept. */
    {"smov s9 1\ndma t5\nwait e0\nsadd s1 s1 1\nbr.lt s1 1000 @1", 4, 998, 1, 0},
    {"smov s9 1\ndma t5\nwait e0\nsadd s1 s1 1\nbr.lt s1 4000 @1", 4, 3998, 1, 0},
    {"smov s9 1\ndma t9\nwait e0+s2:4\nsadd s4 s4 1\nsmod s2 s4 3\nbr.lt s4 4000 @1", 5, 3998, 3, 0},
    {"smov s9 1\ndma t9\nwait e0+s2:4\nsadd s4 s4 1\nsmod s2 s4 3\nbr.lt s4 3700 @7\nsmov s2 3\n"
     "br.lt s4 4000 @1",
     7, 3698, 3, 0},
    {"smov s9 1\ndma t9\nwait e0+s2:4\nsadd s4 s4 1 ; sadd s20 s20 2\nsmod s2 s4 3\nbr.lt s4 700 @7\nsmov s2 "
     "3\n"
     "br.lt s4 1000 @1",
     7, 698, 3, 0},
};

/* Some loops have no end of their own. */
static void run(fixture *f) {
    enum { LAST = 400000 };
    while (ts_core_next(f->core) < LAST)
        if (!ts_core_step(&f->err, f->core, LAST, INT64_MAX)) return;
}

static void ask(int end, int64_t bundles, bool goes) {
    memset(&asked, 0, sizeof asked);
    asked.end = end;
    asked.bundles = bundles > 0 ? bundles : INT64_MAX;
    asked.goes = goes;
}

TEST(iterations_are_alike_as_far_as_they_do_the_same) {
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        fixture *f = new_fixture();
        ask(loops[i].end, loops[i].bundles, false);
        assert_true(fixture_load(f, loops[i].text));
        run(f);
        if (asked.count != loops[i].count || asked.period != loops[i].period)
            fail_msg("%s: %d, a period of %d", loops[i].text, (int)asked.count, (int)asked.period);
        fixture_free(f);
    }
}

TEST(others_are_looked_at_in_vain) {
    fixture *f = new_fixture();
    ask(4, 0, false);
    assert_true(fixture_load(f, "dma t9\nwait e0+s2:4\nsadd s1 s1 1\nsdiv s2 s1 10\nbr.lt s1 50 @0"));
    run(f);
    assert_int_equal(asked.count, 9);
    assert_int_equal(asked.in_vain, 30);
    fixture_free(f);
}

/* Scalars are as if all had been simulated, and what is done once more is what was not gone round. */
static void check_what_follows(size_t i, int later) {
    fixture *every = new_fixture(), *some = new_fixture();
    assert_true(fixture_load(every, loops[i].text) && fixture_load(some, loops[i].text));
    ask(loops[i].end, loops[i].bundles, false);
    run(every);
    int told = asked.told;
    ask(loops[i].end, loops[i].bundles, true);
    asked.later = later;
    run(some);
    bool ends = ts_core_halted(every->core) || every->err.kind != TS_ERROR_NONE; /* before we stop */
    if (ends) assert_string_equal(every->err.message, some->err.message);
    if (ends && asked.count >= later) assert_int_equal(told, asked.told + asked.count - later);
    for (int reg = 0; reg < 32 && ends; reg++)
        assert_int_equal(fixture_sreg(every, reg), fixture_sreg(some, reg));
    fixture_free(every);
    fixture_free(some);
}

TEST(what_follows_finds_the_same_scalars) {
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        check_what_follows(i, 0);
        check_what_follows(i, 70);
    }
}

static void looped_at_each_entry(void *chip, int end) {
    fixture *f = chip;
    if (end != 9 || fixture_sreg(f, 1) != 1) return;
    asked.count = ts_core_forward_count(f->core, end, INT64_MAX, &asked.period, &asked.in_vain);
    ts_core_forward_go(f->core, end, 0, asked.count);
}

/* Not what it held when the loop inside was looked at before. */
TEST(a_loop_inside_reads_smem_as_it_is) {
    fixture *f = new_fixture();
    f->ports.looped = looped_at_each_entry;
    fixture_do(f, "sst [0] s6\nsmov s1 0\ndma t0\nwait e0\nsmov s3 0 ; smov s7 0\nsadd s3 s3 1 ; sld s7 "
                  "[0]\nbr.lt s3 5 @5\n"
                  "sadd s5 s5 s7\nsadd s1 s1 1\nbr.lt s1 40 @2\nsadd s6 s6 1\nbr.lt s6 3 @0");
    assert_int_equal(asked.count, 38);
    assert_int_equal(fixture_sreg(f, 5), 40 * (0 + 1 + 2));
    assert_int_equal(f->start_count, 3 * 2);
    fixture_free(f);
}

/* ---- Simulated iterations count for others ---- */

enum { FIRST = 9, LEAVE = 4, TIMES = 20 };

static void looped_and_repeated(void *chip, int end) {
    fixture *f = chip;
    asked.told++;
    if (asked.told == FIRST) {
        ts_core_forward_mark(f->core);
        asked.from = ts_core_next(f->core);
    }
    if (asked.told != FIRST + LEAVE) return;
    int64_t before = ts_core_next(f->core), by = TIMES * (before - asked.from) + asked.more;
    ts_core_forward_go(f->core, end, 0, LEAVE * TIMES); /* nobody looked */
    ts_core_forward_repeat(f->core, TIMES);
    assert_int_equal(ts_core_next(f->core), before);
    ts_core_forward_move(f->core, by);
    assert_int_equal(ts_core_next(f->core), before + by);
}

/* Where each iteration takes as long as the one before, nothing differs from having simulated them. */
TEST(repeated_iterations_count_like_simulated_ones) {
    static const char text[] = "dma t5\nwait e0\nvexp.f32 v1 v2\nvadd.f32 v3 v1 v1 ; sadd s1 s1 1\n"
                               "brnz s3 @5\nvst [0] v3\nbr.lt s1 150 @0\nvld v4 [0]\nsadd s4 s1 1";
    fixture *every = new_fixture(), *some = new_fixture();
    ts_core_counters counts[2];
    every->ports.looped = NULL;
    some->ports.looped = looped_and_repeated;
    ask(6, 0, false);
    fixture_do(every, text);
    fixture_do(some, text);
    assert_int_equal(asked.told, 149 - LEAVE * TIMES);
    assert_int_equal(some->start_count, 150 - LEAVE * TIMES);
    ts_core_count(every->core, &counts[0]);
    ts_core_count(some->core, &counts[1]);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    for (int i = 0; i < every->code.bundle_count; i++) {
        int64_t issues[2], stalls[2];
        ts_core_profile(every->core, i, &issues[0], &stalls[0]);
        ts_core_profile(some->core, i, &issues[1], &stalls[1]);
        assert_int_equal(issues[0], issues[1]);
        assert_int_equal(stalls[0], stalls[1]);
    }
    char told[2][200];
    ts_core_loop(every->core, told[0], sizeof told[0]);
    ts_core_loop(some->core, told[1], sizeof told[1]);
    assert_string_equal(told[0], told[1]);
    fixture_free(every);
    fixture_free(some);
}

static int64_t stalls_of(const fixture *f, int64_t *bundles) {
    int64_t of_causes = 0, of_bundles = 0;
    ts_core_counters counts;
    ts_core_count(f->core, &counts);
    for (int i = 0; i < TS_STALL_COUNT; i++) {
        assert_true(counts.stalls[i] >= 0);
        of_causes += counts.stalls[i];
    }
    for (int i = 0; i < f->code.bundle_count; i++) {
        int64_t issues, stalls;
        ts_core_profile(f->core, i, &issues, &stalls);
        assert_true(stalls >= 0);
        of_bundles += stalls;
    }
    assert_int_equal(of_causes, of_bundles);
    assert_int_equal(of_causes + counts.bundles, counts.cycles);
    *bundles = counts.bundles;
    return of_causes;
}

/* Time that is more or less than its own is one of stalls, however many kinds of them there are to take it of. */
TEST(time_of_others_is_stalled) {
    static const char text[] = "dma t5\nwait e0\nvexp.f32 v1 v2\nvadd.f32 v3 v1 v1 ; sadd s1 s1 1\n"
                               "brnz s3 @5\nvst [0] v3\nbr.lt s1 150 @0\n";
    static const int64_t more[] = {0, 1, 1000, -1, -1000, -1500};
    int64_t bundles, stalls = 0;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        fixture *f = new_fixture();
        f->ports.looped = looped_and_repeated;
        ask(6, 0, false);
        asked.more = more[i];
        fixture_do(f, text);
        int64_t now = stalls_of(f, &bundles);
        stalls = i == 0 ? now : stalls;
        assert_int_equal(now, stalls + more[i]);
        fixture_free(f);
    }
}

/* ---- Loops that nobody is told of ---- */

static const char *const others[] = {
    "sadd s1 s1 1\nbr.lt s1 40 @0",                                  /* nothing is moved */
    "dma t8\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0",                 /* into SMEM, which scalars come from */
    "dma t0\nwait e0\nsst [0] s1 ; sadd s1 s1 1\nbr.lt s1 40 @0",    /* SMEM changes */
    "dma t0\nwait e0\nsem.read s2 e0\nsadd s1 s1 1\nbr.lt s1 40 @0", /* depends on how long things take */
    "dma t0\nwait e0\nsem.set e1 1 ; sadd s1 s1 1\nbr.lt s1 40 @0",
    "dma t0\nwait e0\nv2s s2 v1 ; sadd s1 s1 1\nbr.lt s1 40 @0", /* from a vector */
    "dma t0\nwait e0\nbr.eq s1 s1 @3\nhalt",                     /* no way back */
};

TEST(others_are_never_told) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        fixture *f = new_fixture();
        f->ports.looped = looped_and_repeated;
        ask(0, 0, false);
        fixture_do(f, others[i]);
        if (asked.told > 0) fail_msg("%s: told", others[i]);
        fixture_free(f);
    }
}

TEST(an_unknown_scalar_makes_none_alike) {
    fixture *f = new_fixture();
    ask(4, 0, false);
    fixture_do(f, "v2s s5 v1\ndma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @1");
    assert_true(asked.told > 0);
    assert_int_equal(asked.count, 0);
    fixture_free(f);
}

/* Values, and stalls by instruction, are those of all iterations. */
TEST(who_wants_all_gets_all) {
    for (int who = 0; who < 2; who++) {
        fixture *f = new_fixture();
        f->time_only = who == 0;
        f->profile = who == 0;
        ask(3, 0, false);
        fixture_do(f, "dma t0\nwait e0\nsadd s1 s1 1\nbr.lt s1 40 @0");
        assert_int_equal(asked.told, 0);
        fixture_free(f);
    }
}
