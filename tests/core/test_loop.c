/* Loops that never end: those that are told at once, those that are given up, and those that do end. */
#include <stdio.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/support/core_fixture.h"

enum { LONG = 10000000 };

static bool run(fixture *f, const char *text) {
    if (!fixture_load(f, text)) fail_msg("%s: %s", text, f->err.message);
    while (ts_core_next(f->core) < LONG)
        if (!ts_core_step(&f->err, f->core, LONG, INT64_MAX)) return false;
    return true;
}

TEST(certain_ones_are_told_at_once) {
    static const char *const texts[] = {
        "jump @0",
        "nop\nbr.lt s1 10 @0",
        "v2s s1 v0\nbrz s1 @0",
        "sld s1 [0]\nsst [0] 0\nbrz s1 @0",
        "smov s1 0\nsadd s1 s1 1\nbr.lt s1 9 @1\njump @0",
        "sem.read s1 e0\nbrz s1 @0",
        "barrier\njump @0", /* of one core */
        "vadd.i32 v0 v0 1\nsadd s1 s2 1\njump @0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fixture *f = fixture_new();
        assert_false(run(f, texts[i]));
        assert_int_equal(f->err.kind, TS_ERROR_FAULT);
        assert_non_null(strstr(f->err.message, "endless loop: this branch back to "));
        assert_true(f->err.cycle < 1000000);
        fixture_free(f);
    }
}

/* Each turn of these has 9 branches back, whose state is kept at the 8192nd and found again 9 later: the 912th turn
 * has begun. */
TEST(the_outermost_is_named) {
    static const char *const texts[] = {
        "smov s1 0\nsadd s1 s1 1\nbr.lt s1 9 @1\njump @0",
        "sadd s1 s1 1\nbr.lt s1 9 @0\nsmov s1 0\njump @0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fixture *f = fixture_new();
        char text[200];
        assert_false(run(f, texts[i]));
        assert_string_equal(f->err.message,
                            "endless loop: this branch back to line 1 was taken 911 times, and nothing "
                            "that a branch depends on changes any more");
        const ts_instruction *branch = ts_core_loop(f->core, text, sizeof text);
        assert_int_equal(branch->opcode, TS_OP_jump);
        assert_string_equal(text, "this branch back to line 1 was taken 911 times");
        fixture_free(f);
    }
}

/* The one outside was gone round 8999 times and no more when the state was kept at the 16384th branch back. */
TEST(the_outermost_is_one_that_still_goes) {
    fixture *f = fixture_new();
    assert_false(run(f, "sadd s1 s1 1\nnop\nbr.eq s1 9000 @1\nbr.lt s1 10000 @0"));
    assert_string_equal(f->err.message,
                        "endless loop: this branch back to line 2 was taken 7,386 times, s1 = 9000, and "
                        "nothing that a branch depends on changes any more");
    fixture_free(f);
}

/* The branch is of one text, and goes back to another. */
TEST(texts_are_named_that_are_not_the_branchs) {
    static const ts_source own = {.name = "own.tsim"}, other = {.name = "other.tsim"};
    for (int i = 0; i < 2; i++) {
        fixture *f = fixture_new();
        char text[200];
        assert_true(fixture_load(f, "nop\njump @0"));
        ((ts_instruction *)f->code.bundles[0].instructions)->source = i ? &other : &own;
        ((ts_instruction *)f->code.bundles[1].instructions)->source = &own;
        for (int k = 0; k < 6; k++) assert_true(ts_core_step(&f->err, f->core, k, INT64_MAX));
        ts_core_loop(f->core, text, sizeof text);
        assert_string_equal(text, ts_text_format(f->arena, "this branch back to %sline 1 was taken 2 times",
                                                 i ? "other.tsim, " : ""));
        fixture_free(f);
    }
}

TEST(others_go_on) {
    static const char *const texts[] = {
        "sadd s1 s1 1\nbr.lt s1 100000 @0",
        "sld s1 [0]\nsadd s1 s1 1\nsst [0] s1\nbr.gt s1 50000 @6\nsmov s1 0\njump @0\nnop",
        "vadd.i32 v0 v0 1\nv2s s1 v0\nbr.gt s1 20000 @5\nsmov s1 0\njump @0\nnop",
        "sem.add e0 1\nsem.read s1 e0\nbr.gt s1 20000 @5\nsmov s1 0\njump @0\nnop",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fixture *f = fixture_new();
        assert_true(run(f, texts[i]));
        assert_true(ts_core_halted(f->core));
        fixture_free(f);
    }
}

/* Transfer 0 moves one slice, 1 the slices [s2, s3], 2 one of 5000 elements. */
static const ts_affine zero = {0}, by_s2 = {.term_count = 1, .terms = {{.sreg = 2, .factor = 1}}};
static const ts_affine by_s3 = {.term_count = 1, .terms = {{.sreg = 3, .factor = 1}}};
static const int64_t one = 1, many = 5000;
static const ts_transfer moves[] = {{.source = {.rank = 1, .begin = &zero, .size = &one},
                                     .destination = {.rank = 1, .begin = &zero, .size = &one},
                                     .semaphore = {.count = 1, .sreg = -1}},
                                    {.source = {.rank = 1, .begin = &by_s2, .size = &one},
                                     .destination = {.rank = 1, .begin = &by_s3, .size = &one},
                                     .semaphore = {.count = 1, .sreg = -1}},
                                    {.source = {.rank = 1, .begin = &zero, .size = &many},
                                     .destination = {.rank = 1, .begin = &zero, .size = &many},
                                     .semaphore = {.count = 1, .sreg = -1}}};

static bool start(ts_error *err, void *chip, const ts_core_start *told) {
    (void)err, (void)chip, (void)told;
    return true;
}

static bool start_and_end(ts_error *err, void *chip, const ts_core_start *told) {
    (void)err;
    ((fixture *)chip)->semaphores[told->semaphore]++;
    return true;
}

/* What is polled may come with a transfer that is under way, or was meanwhile; what is not, does not. A semaphore is
 * used up some time. */
TEST(others_may_end_them) {
    static const struct {
        const char *text;
        bool (*start)(ts_error *err, void *chip, const ts_core_start *told);
        bool ends;
    } rows[] = {{"dma t0\nsld s1 [0]\nbrz s1 @1", start, true},
                {"dma t0\nv2s s1 v0\nbrz s1 @1", start, true},
                {"dma t0\nsem.read s1 e0\nbrz s1 @1", start, true},
                {"dma t0\nnop\njump @1", start, false},
                {"dma t0\nwait e0\nsld s1 [0]\nbrz s1 @0", start_and_end, true},
                {"dma t0\nwait e0\nv2s s1 v0\nbrz s1 @0", start_and_end, true},
                {"dma t0\nwait e0\njump @0", start_and_end, false},
                {"sem.add e5 20000\nwait e5\njump @1", start, true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture *f = fixture_new();
        f->code.transfers = moves;
        f->code.transfer_count = 1;
        f->ports.dma_start = rows[i].start;
        assert_true(fixture_load(f, rows[i].text));
        bool good = true;
        while (good && ts_core_next(f->core) < 100000)
            good = ts_core_step(&f->err, f->core, 100000, INT64_MAX);
        if (good != rows[i].ends) fail_msg("%s: %s", rows[i].text, f->err.message);
        fixture_free(f);
    }
}

static const struct {
    const char *text;
    int64_t max_cycles;
    bool ends;
} loops[] = {
    /* The same slice each turn: without an end, with one that is too far, with one in sight, up and down. */
    {"dma t0\nsadd s1 s1 1\njump @0", LONG, false},
    {"dma t0\nsadd s1 s1 1\nbr.eq s3 0 @0", LONG, false},
    {"dma t0\nsadd s1 s1 1\nbrz s3 @0", LONG, false},
    {"dma t0\nsadd s1 s1 1\nbr.ne s1 -1 @0", LONG, false},
    {"dma t0\nsadd s1 s1 1\nbr.lt s1 40000 @0", LONG, true},
    {"dma t0\nsadd s1 s1 1\nbr.lt s1 40000 @0", 0, true},
    {"dma t0\nsadd s1 s1 1\nbr.lt s1 40000 @0", 100000, false},
    {"smov s1 40000\ndma t0\nsadd s1 s1 -1\nbrnz s1 @1", LONG, true},
    {"smov s1 10\ndma t0\nsadd s1 s1 1\nbr.gt s1 0 @1", LONG, false},
    /* Another slice each turn: upward, downward, and with either index as that of the inner loop. */
    {"dma t1\nsadd s2 s2 1\nbr.gt s2 40000 @4\njump @0\nhalt", LONG, true},
    {"dma t1\nsadd s2 s2 -1\nbr.lt s2 -40000 @4\njump @0\nhalt", LONG, true},
    {"dma t1\nsadd s3 s3 1\nbr.gt s3 5000 @4\njump @0\nsmov s3 0\nsadd s2 s2 1\nbr.gt s2 9 @8\njump @0\nhalt",
     LONG, true},
    {"dma t1\nsadd s2 s2 1\nbr.gt s2 5000 @4\njump @0\nsmov s2 0\nsadd s3 s3 1\nbr.gt s3 9 @8\njump @0\nhalt",
     LONG, true},
    {"dma t1\nsadd s3 s3 -1\nbr.lt s3 -5000 @4\njump @0\nsmov s3 0\nsadd s2 s2 -1\nbr.lt s2 -9 @8\njump "
     "@0\nhalt",
     LONG, true},
    {"dma t1\nsadd s2 s2 -1\nbr.lt s2 -5000 @4\njump @0\nsmov s2 0\nsadd s3 s3 -1\nbr.lt s3 -9 @8\njump "
     "@0\nhalt",
     LONG, true},
    /* In its last turn; and where what falls is not what the branch waits for. */
    {"sadd s1 s1 1\nsmov s4 0\ndma t0\nsadd s4 s4 1\nbr.lt s4 1500 @2\nbr.lt s1 2 @0", LONG, true},
    {"smov s5 1000000\nsadd s5 s5 -1\nsmov s3 s5\nsmov s4 0\ndma t0\nsadd s4 s4 1\nbr.lt s4 2 @4\nsmov s3 0\n"
     "brz s3 @1",
     0, false},
    {"smov s5 1000000\nsadd s5 s5 -1\nsmov s3 s5\nsmov s4 0\ndma t0\nsadd s4 s4 1\nbr.lt s4 2 @4\nsmov s3 0\n"
     "br.eq s3 0 @1",
     0, false},
};

TEST(those_that_move_the_same_slices_are_given_up) {
    for (size_t i = 0; i < sizeof loops / sizeof loops[0]; i++) {
        fixture *f = fixture_new();
        f->code.transfers = moves;
        f->code.transfer_count = 2;
        f->ports.dma_start = start;
        f->patience = 1000 * 300; /* a thousand transfers */
        f->max_cycles = loops[i].max_cycles;
        bool ends = run(f, loops[i].text);
        if (ends != loops[i].ends) fail_msg("%s: %s", loops[i].text, f->err.message);
        if (!ends && !strstr(f->err.message, "a loop without an end in sight: this branch back to line "))
            fail_msg("%s: %s", loops[i].text, f->err.message);
        if (!ends) assert_in_range(f->err.cycle, 1000, 100000);
        fixture_free(f);
    }
}

/* From the 8192nd branch back on for 1024 more every one is looked at: a turn of 22 units is over 2000 with the
 * 91st, of 8283. Transfers, of 300 units and one for 50 elements, are looked at by themselves: the first starts the
 * count, then so many until it is over, and as many again. */
#define LATCH   "mxu.latch.f32 0 v0\n"
#define LATCH_4 LATCH LATCH LATCH LATCH
static const struct {
    const char *turn;
    bool time_only, undefined;
    int times;
} works[] = {
    {"sadd s2 s2 1", false, false, 8192 + 2000 / 3 + 1},
    {"vadd.i32 v0 v0 1", false, false, 8192 + 2000 / 6 + 1},
    {"vadd.i32 v0 v0 1", true, false, 8192 + 2000 / 3 + 1},
    {"vadd.i32 v0 v0 1", false, true, 8192 + 2000 / 34 + 1},
    {"vexp.f32 v0 v0", false, false, 8192 + 2000 / 22 + 1},
    {"vsum.lane.f32 v1 v0", false, false, 8192 + 2000 / 22 + 1},
    {"vsum.lane.f32 v1 v0", false, true, 8192 + 2000 / 162 + 1},
    {LATCH_4 LATCH_4 LATCH_4 LATCH_4 "mxu.swap 0", false, false, 8192 + 2000 / 1702 + 1},
    {"dma t0", false, false, 8 + 7},
    {"dma t2", false, false, 6 + 5},
    {"dma t2", true, false, 8 + 7},
};

TEST(work_is_counted) {
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        fixture *f = fixture_new();
        char text[500], expected[100], times[32];
        f->config.mxu = (ts_machine_mxu){
            .units = 1, .edge = 128, .rate = {1, 1, 1, 1, 1}, .staging = 2, .result_vregs = 1};
        f->code.transfers = moves;
        f->code.transfer_count = 3;
        f->ports.dma_start = start;
        f->patience = 2000;
        f->time_only = works[i].time_only;
        if (works[i].undefined) {
            f->findings = TS_NEW(f->arena, ts_findings);
            ts_space_track(f->vmem, f->arena);
            ts_space_track(f->smem, f->arena);
        }
        snprintf(text, sizeof text, "%s\nsadd s1 s1 1\njump @0", works[i].turn);
        snprintf(expected, sizeof expected, "back to line 1 was taken %s times,",
                 ts_text_group_digits(times, works[i].times));
        assert_false(run(f, text));
        if (!strstr(f->err.message, expected)) fail_msg("%s: %s", works[i].turn, f->err.message);
        fixture_free(f);
    }
}
