/* Warnings: registers that nothing has written, and numbers over 32 bits in addresses. */
#include <stdio.h>
#include <string.h>

#include "check/lint.h"
#include "check/unknown.h"
#include "tests/support/cmocka.h"
#include "tests/support/core_fixture.h"

enum { SREGS = 8, VREGS = 4, VMASKS = 3, CYCLE = 50 };
static const ts_isa_limits limits = {.sregs = SREGS, .vregs = VREGS, .vmasks = VMASKS};
static const ts_source source = {"a.tsim", "", 0};

static const ts_affine begin[] = {{.term_count = 2, .terms = {{2, 1}, {1, 4}}}}, zero[] = {{.constant = 0}},
                       alone[] = {{.term_count = 1, .terms = {{1, 1}}}};
static const int64_t sizes[] = {1};
static const ts_transfer transfers[] = {
    {.source = {0, 1, begin, sizes},
     .destination = {0, 1, zero, sizes},
     .semaphore = {.count = 1, .sreg = -1}},
    {.source = {0, 1, zero, sizes},
     .destination = {0, 1, alone, sizes},
     .semaphore = {.count = 1, .sreg = -1}},
    {.source = {0, 1, zero, sizes}, .destination = {0, 1, zero, sizes}, .semaphore = {.count = 4, .sreg = 1}},
    /* to another device, which s1 says; to a semaphore there, which s1 says */
    {.source = {0, 1, zero, sizes},
     .destination = {0, 1, zero, sizes},
     .semaphore = {.count = 1, .sreg = -1},
     .remote = true,
     .device = {.term_count = 2, .terms = {{2, 1}, {1, 4}}},
     .receive = {.count = 1, .sreg = -1}},
    {.source = {0, 1, zero, sizes},
     .destination = {0, 1, zero, sizes},
     .semaphore = {.count = 1, .sreg = -1},
     .remote = true,
     .receive = {.count = 4, .sreg = 1}},
};

typedef struct {
    ts_arena *arena;
    ts_code code;
    uint32_t sregs[SREGS];
    ts_findings *findings;
    ts_lint *lint;
    ts_unknown *unknown;
} world;

/* Lines of the program get places: line n is the nth. */
static void open_world(world *w, const char *text, ts_unknown *unknown) {
    *w = (world){.arena = ts_arena_new(), .unknown = unknown};
    w->code = (ts_code){.name = "test", .transfers = transfers, .transfer_count = 5};
    fixture_assemble(w->arena, &w->code, text);
    ts_bundle *bundles = TS_NEW_ARRAY(w->arena, ts_bundle, w->code.bundle_count);
    for (int b = 0; b < w->code.bundle_count; b++) {
        const ts_bundle *from = &w->code.bundles[b];
        ts_instruction *own = TS_NEW_ARRAY(w->arena, ts_instruction, from->count);
        memcpy(own, from->instructions, (size_t)from->count * sizeof *own);
        for (int i = 0; i < from->count; i++) own[i].source = &source;
        bundles[b] = (ts_bundle){own, from->count, b + 1};
    }
    w->code.bundles = bundles;
    w->findings = TS_NEW(w->arena, ts_findings);
    ts_lint_setup setup = {&w->code, &limits, w->sregs, unknown, w->findings};
    w->lint = ts_lint_new(w->arena, &setup);
}

/* ---- Registers ---- */

static const struct {
    const char *text, *first; /* what is told first; NULL: nothing */
    int count, times;
} fresh[] = {
    {"smov s1 0\nsadd s2 s1 s1", NULL, 0, 1},
    {"vmov v1 0\nvadd.i32 v2 v1 v1", NULL, 0, 1},
    {"vadd.i32 v2 v1 0", "vadd.i32 reads v1, which nothing has written: it is 0", 1, 1},
    {"vadd.i32 v2 v1 v1\nvadd.i32 v2 v1 v1", "vadd.i32 reads v1, which nothing has written: it is 0", 1, 3},
    {"vadd.i32 v2 v0 v1", "vadd.i32 reads v0, which nothing has written: it is 0", 2, 1},
    {"mnot m1 m2", "mnot reads m2, which nothing has written: it is 0", 1, 1},
    {"vadd.i32 v2 v1 0 ; vmov v1 0", "vadd.i32 reads v1, which nothing has written: it is 0", 1, 1},
    {"sadd s2 s1 s1", "sadd reads s1, which nothing has written: it is 0", 1, 1},
    {"sadd s2 s1 s1\nsmov s1 0", NULL, 0, 1}, /* a counter that begins at 0 */
    {"smov s5 0\nmnot m0 m1", "mnot reads m1, which nothing has written: it is 0", 1, 1}, /* another m1 */
    {"smov s7 0\nvadd.i32 v2 v1 0", "vadd.i32 reads v1, which nothing has written: it is 0", 1, 1},
    {"smov s1 0\nvadd.i32 v2 v1 0", "vadd.i32 reads v1, which nothing has written: it is 0", 1, 1},
    {"vmov v3 0\nmnot m0 m1", "mnot reads m1, which nothing has written: it is 0", 1, 1},
    {"mall m1\nvmov v1 0 ?m1", NULL, 0, 1},
    {"vmov v1 0 ?m1", "vmov reads m1, which nothing has written: it is 0", 1, 1},
    {"mall m1\nvadd.i32 v1 v1 0 ?m1", "vadd.i32 reads v1, which nothing has written: it is 0", 1, 1},
    {"vld v1 [0] rows=1\nvst [0] v1", NULL, 0, 1},
    {"vmov v3 0\nmall m2\nvst [0] v3 ?m2", NULL, 0, 1},
};

TEST(registers_that_nothing_has_written) {
    for (size_t i = 0; i < sizeof fresh / sizeof fresh[0]; i++) {
        world w;
        open_world(&w, fresh[i].text, NULL);
        for (int n = 0; n < fresh[i].times; n++)
            for (int b = 0; b < w.code.bundle_count; b++) ts_lint_bundle(w.lint, b, CYCLE);
        if (w.findings->count != fresh[i].count) fail_msg("%s: %d", fresh[i].text, w.findings->count);
        if (fresh[i].first) {
            assert_string_equal(w.findings->list[0].text, fresh[i].first);
            assert_int_equal(w.findings->list[0].kind, TS_FINDING_FRESH);
            assert_int_equal(w.findings->list[0].cycle, CYCLE);
            assert_int_equal(w.findings->list[0].times, 1);
        }
        ts_arena_free(w.arena);
    }
}

/* ---- Numbers ---- */

/* Programs whose first line computes s1 (or s3) of s4 and s5, which are set; then something is steered by s1. */
static const struct {
    const char *text;
    int32_t s4, s5;
    int line; /* the one that needs more than 32 bits; 0: nothing is told */
    const char *who;
} wraps[] = {
    {"sadd s1 s4 s5\nvld v1 [0+s1]", INT32_MAX, 0, 0, NULL},
    {"sadd s1 s4 s5\nvld v1 [0+s1]", INT32_MAX, 1, 1, "vld"},
    {"sadd s1 s4 s5\nvld v1 [0+s1]", INT32_MIN, 0, 0, NULL},
    {"sadd s1 s4 s5\nvld v1 [0+s1]", INT32_MIN, -1, 1, "vld"},
    {"ssub s1 s4 s5\nvld v1 [0+s1]", INT32_MIN, 1, 1, "vld"},
    {"ssub s1 s4 s5\nvld v1 [0+s1]", INT32_MIN, -1, 0, NULL},
    {"smul s1 s4 s5\nvld v1 [0+s1]", 65536, 32767, 0, NULL},
    {"smul s1 s4 s5\nvld v1 [0+s1]", 65536, 32768, 1, "vld"},
    {"sshl s1 s4 s5\nvld v1 [0+s1]", 1, 30, 0, NULL},
    {"sshl s1 s4 s5\nvld v1 [0+s1]", 1, 31, 1, "vld"},
    {"sshl s1 s4 s5\nvld v1 [0+s1]", 65536, 14, 0, NULL},
    {"sshl s1 s4 s5\nvld v1 [0+s1]", 65536, 15, 1, "vld"},
    {"sshl s1 s4 s5\nvld v1 [0+s1]", 1, 32, 0, NULL}, /* 0, as it says */
    {"sshl s1 s4 s5\nvld v1 [0+s1]", 2, -1, 0, NULL},
    {"sshl s1 s4 s5\nvld v1 [0+s1]", 3, 0, 0, NULL},
    {"sadd s1 s4 2\nvld v1 [0+s1]", INT32_MAX, 0, 1, "vld"},
    {"smov s1 s4\nvld v1 [0+s1]", INT32_MAX, 1, 0, NULL},
    {"sxor s1 s4 s5\nvld v1 [0+s1]", INT32_MAX, 1, 0, NULL},
    /* handed on, or cut to a range on purpose */
    {"sadd s3 s4 s5\nsmov s1 s3\nvld v1 [0+s1]", INT32_MAX, 1, 1, "vld"},
    {"sadd s3 s4 s5\nsdiv s1 s3 4\nvld v1 [0+s1]", INT32_MAX, 1, 1, "vld"},
    {"sadd s3 s4 s5\nsand s1 s3 7\nvld v1 [0+s1]", INT32_MAX, 1, 0, NULL},
    {"sadd s3 s4 s5\nsadd s1 s6 s3\nvld v1 [0+s1]", INT32_MAX, 1, 1, "vld"},
    {"sadd s1 s4 s5\nsmov s1 0\nvld v1 [0+s1]", INT32_MAX, 1, 0, NULL},
    {"sadd s1 s4 s5\ncore.id s1\nvld v1 [0+s1]", INT32_MAX, 1, 0, NULL},
    /* in a bundle the old number is read, and the new one handed on after it */
    {"sadd s1 s4 s5 ; vld v1 [0+s1]", INT32_MAX, 1, 0, NULL},
    {"sadd s3 s4 s5\nsmov s1 s3 ; smov s3 0\nvld v1 [0+s1]", INT32_MAX, 1, 1, "vld"},
    /* who is steered */
    {"sadd s1 s4 s5\nvld v1 [0+s6+s1]", INT32_MAX, 1, 1, "vld"},
    {"sadd s1 s4 s5\nsem.read s2 e0+s1:4", INT32_MAX, 1, 1, "sem.read"},
    {"sadd s1 s4 s5\nsem.read s2 e0", INT32_MAX, 1, 0, NULL},
    {"sadd s1 s4 s5\ndma t0", INT32_MAX, 1, 1, "dma"},
    {"sadd s1 s4 s5\ndma t1", INT32_MAX, 1, 1, "dma"},
    {"sadd s1 s4 s5\ndma t2", INT32_MAX, 1, 1, "dma"},
    {"sadd s1 s4 s5\ndma t3", INT32_MAX, 1, 1, "dma"},
    {"sadd s1 s4 s5\ndma t4", INT32_MAX, 1, 1, "dma"},
    {"sadd s3 s4 s5\ndma t2", INT32_MAX, 1, 0, NULL},
    {"sadd s3 s4 s5\ndma t3", INT32_MAX, 1, 0, NULL},
    {"sadd s3 s4 s5\ndma t4", INT32_MAX, 1, 0, NULL},
    {"sadd s1 s4 s5\nbrnz s1 @0", INT32_MAX, 1, 0, NULL},
    {"nop\nsadd s1 s4 s5\nvld v1 [0+s1]", INT32_MAX, 1, 2, "vld"},
};

TEST(numbers_over_32_bits) {
    for (size_t i = 0; i < sizeof wraps / sizeof wraps[0]; i++) {
        world w;
        open_world(&w, wraps[i].text, NULL);
        w.sregs[4] = (uint32_t)wraps[i].s4;
        w.sregs[5] = (uint32_t)wraps[i].s5;
        w.sregs[1] = 123;
        const ts_finding *f = NULL;
        for (int b = 0; b < w.code.bundle_count; b++) ts_lint_bundle(w.lint, b, CYCLE);
        for (int k = 0; k < w.findings->count; k++)
            if (w.findings->list[k].kind == TS_FINDING_WRAPPED) f = &w.findings->list[k];
        if ((f != NULL) != (wraps[i].line > 0)) fail_msg("row %zu: %s", i, wraps[i].text);
        if (f) {
            char text[128];
            snprintf(text, sizeof text, "%s depends on s1, a number that did not fit in 32 bits: it is 123",
                     wraps[i].who);
            assert_string_equal(f->text, text);
            assert_string_equal(f->other_text, "the result of this needs more than 32 bits");
            assert_int_equal(f->other.line, wraps[i].line);
            assert_int_equal(f->where.line, w.code.bundle_count);
            assert_int_equal(f->cycle, CYCLE);
        }
        ts_arena_free(w.arena);
    }
}

TEST(the_first_register_too) {
    world w;
    open_world(&w, "sadd s0 s4 s5\nvst [0+s0] v1", NULL);
    w.sregs[4] = INT32_MAX;
    w.sregs[5] = 1;
    for (int b = 0; b < 2; b++) ts_lint_bundle(w.lint, b, CYCLE);
    const ts_finding *f = &w.findings->list[w.findings->count - 1];
    assert_int_equal(f->kind, TS_FINDING_WRAPPED);
    assert_string_equal(f->text, "vst depends on s0, a number that did not fit in 32 bits: it is 0");
    ts_arena_free(w.arena);
}

/* Of what is unknown nobody says that it did not fit; of what it is added to, all the same. */
TEST(unknown_numbers_are_not_judged) {
    world w, first;
    open_world(&first, "v2s s4 v1", NULL);
    ts_unknown *unknown = ts_unknown_new(first.arena, &first.code, SREGS, 64);
    ts_unknown_op *op = ts_unknown_op_new(first.arena, unknown, &first.code.bundles[0].instructions[0]);
    ts_unknown_begin(unknown, op, 0);
    ts_unknown_settle(unknown, op);
    open_world(&w, "sadd s1 s4 s5\nsadd s2 s6 s5\nvst [0+s1] v1\nvst [0+s2] v1", unknown);
    w.sregs[4] = w.sregs[6] = INT32_MAX;
    w.sregs[5] = 1;
    for (int b = 0; b < 4; b++) ts_lint_bundle(w.lint, b, CYCLE);
    int wrapped = 0;
    for (int k = 0; k < w.findings->count; k++) {
        if (w.findings->list[k].kind != TS_FINDING_WRAPPED) continue;
        wrapped++;
        assert_int_equal(w.findings->list[k].where.line, 4);
    }
    assert_int_equal(wrapped, 1);
    ts_arena_free(w.arena);
    ts_arena_free(first.arena);
}
