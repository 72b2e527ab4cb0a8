/* What the instructions of a bundle may be together, which words an access reaches, and which accesses may meet. */
#include <stdio.h>
#include <string.h>

#include "isa/isa.h"
#include "tests/support/core_fixture.h"
#include "tests/support/test.h"

/* ---- Bundles ---- */

static const ts_isa_limits limits = {
    .slots =
        {[TS_SLOT_SCALAR] = 3, [TS_SLOT_VALU] = 2, [TS_SLOT_VLD] = 1, [TS_SLOT_VST] = 1, [TS_SLOT_MISC] = 3},
    .sregs = 8,
    .vregs = 4,
    .vmasks = 2};

static const struct {
    const char *text, *error; /* NULL: it can issue */
    int at;                   /* the instruction that is one too many */
} bundles[] = {
    {"vmov v0 1 ; vmov v1 1", NULL, 0},
    {"vmov v0 1 ; vmov v1 1 ; vmov v2 1", "one valu instruction too many: a bundle has 2 of them", 2},
    {"vld v0 [0] ; vmov v1 1 ; vld v2 [0]", "one vld instruction too many: a bundle has 1 of them", 2},
    {"halt ; br.eq s0 s0 @0", "the bundle has more than one branch or halt", 1},
    {"br.eq s0 s0 @0 ; smov s1 1 ; halt", "the bundle has more than one branch or halt", 2},
    {"wait e0 1 ; delay 2 ; br.eq s0 s0 @0", NULL, 0},
    {"wait e0 1 ; wait e1 1", "the bundle has more than one wait", 1},
    {"delay 1 ; delay 1", "the bundle has more than one delay", 1},
    {"smov s1 1 ; vmov v1 1 ; mlanes m1 1", NULL, 0},
    {"smov s0 1 ; smov s0 2", "two instructions of the bundle write sreg 0", 1},
    {"smov s1 1 ; smov s2 1 ; smov s1 2", "two instructions of the bundle write sreg 1", 2},
    {"smov s2 1 ; smov s1 1 ; smov s1 2", "two instructions of the bundle write sreg 1", 2},
    {"smov s1 1 ; sadd s2 s1 1", NULL, 0}, /* reads what the other writes */
    {"vst [0] v0 ; vmov v0 1", NULL, 0},   /* writes no register */
    {"vmov v0 1 ; vst [0] v0", NULL, 0},
    {"smov s7 1 ; vmov v3 1 ; mlanes m1 1", NULL, 0},
    {"smov s8 1", "no sreg 8 here, the machine has 0 to 7", 0},
    {"vmov v4 1", "no vreg 4 here, the machine has 0 to 3", 0},
    {"mlanes m2 1", "no vmask 2 here, the machine has 0 to 1", 0},
    {"smov s1 1 ; sadd s1 s2 s8", "no sreg 8 here, the machine has 0 to 7", 1},
    {"vst [0] v0 ?m2", "no vmask 2 here, the machine has 0 to 1", 0},
    {"vst [0+s8*128] v0", "no sreg 8 here, the machine has 0 to 7", 0},
    {"wait e0+s8:2 1", "no sreg 8 here, the machine has 0 to 7", 0},
    {"vmov v0 1 ; vadd.bf16 v1 v0 v0",
     "this machine has no bf16 arithmetic, expected f32 between vunpack and vpack", 1},
};

/* Instruction n stands at column n + 1. */
TEST(bundles_can_issue) {
    static const ts_source source = {"a.tsim", "0123456789", 10};
    for (size_t i = 0; i < sizeof bundles / sizeof *bundles; i++) {
        ts_arena *arena = ts_arena_new();
        ts_code code = {0};
        ts_error err = {0};
        fixture_assemble(arena, &code, bundles[i].text);
        ts_bundle bundle = code.bundles[0];
        ts_instruction own[4];
        memcpy(own, bundle.instructions, (size_t)bundle.count * sizeof *own);
        for (int k = 0; k < bundle.count; k++)
            own[k].source = &source, own[k].line = 1, own[k].column = k + 1;
        bundle.instructions = own;
        bool good = ts_bundle_check(&err, &code, &bundle, &limits);
        if (good != !bundles[i].error) fail_msg("%s: %s", bundles[i].text, err.message);
        if (!good) assert_string_equal(err.message, bundles[i].error);
        if (!good) assert_int_equal(err.column, bundles[i].at + 1);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(some_machines_have_bf16) {
    ts_code code = {0};
    ts_isa_limits with = limits;
    with.bf16 = true;
    fixture_assemble(arena, &code, "vadd.bf16 v1 v0 v0");
    assert_true(ts_bundle_check(NULL, &code, &code.bundles[0], &with));
    assert_false(ts_bundle_check(NULL, &code, &code.bundles[0], &limits));
}

/* ---- Accesses ---- */

/* The rows of the sublanes that take part, one by one. */
static void words_of_rows(int64_t stride, int mask, int64_t *low, int64_t *high) {
    *low = INT64_MAX, *high = INT64_MIN;
    for (int sublane = 0; sublane < 8; sublane++) {
        if (!(mask >> sublane & 1)) continue;
        int64_t row = sublane * stride * 128;
        *low = row < *low ? row : *low;
        *high = row + 128 > *high ? row + 128 : *high;
    }
}

TEST(accesses_reach_their_rows) {
    int64_t low, high, want_low, want_high;
    for (int64_t stride = -3; stride <= 3; stride++) {
        for (int mask = 1; mask < 256; mask++) {
            const ts_address address = {.stride = stride, .sublane_mask = (uint8_t)mask};
            words_of_rows(stride, mask, &want_low, &want_high);
            ts_address_reach(&address, TS_SPACE_VMEM, &low, &high);
            assert_true(low == want_low && high == want_high);
            ts_address_reach(&address, TS_SPACE_SMEM, &low, &high);
            assert_true(low == 0 && high == 1);
        }
    }
}

static const struct {
    const char *a, *b;
    bool vmem, smem; /* whether they may meet there */
} pairs[] = {
    {"[0]", "[0]", true, true},
    {"[0]", "[1]", true, false},
    {"[0]", "[1023]", true, false},
    {"[0]", "[1024]", false, false},
    {"[1024]", "[128] rows=0x7f", false, false},
    {"[1024]", "[129] rows=0x7f", true, false},
    {"[1024]", "[1920] stride=-1", true, false},
    {"[1024]", "[2944] stride=-1", false, false}, /* 2048 .. 3071 */
    /* In two tensors they never do; in no tensor, or the same, it depends. */
    {"[0] tensor=0", "[0] tensor=1", false, false},
    {"[0] tensor=1", "[0] tensor=1", true, true},
    {"[0] tensor=0", "[0]", true, true},
    {"[4096] tensor=0", "[0] tensor=0", false, false},
    /* The same sum of sregs cancels out; another may be anything. */
    {"[0+s1/8*1024]", "[0+s1/8*1024]", true, true},
    {"[0+s1/8*1024]", "[1024+s1/8*1024]", false, false},
    {"[0+s1/8*1024]", "[4096]", true, true},
    {"[0+s1/8*1024]", "[4096+s2/8*1024]", true, true},
    {"[0+s1/8*1024]", "[4096+s1/4*1024]", true, true},
    {"[0+s1/8*1024]", "[4096+s1/8*512]", true, true},
    {"[0+s1/8*1024]", "[4096+s1^1/8*1024]", true, true},
    {"[0+s1/8*1024]", "[4096+s1/8*1024%4]", true, true},
    {"[0+s1*128+s2*128]", "[4096+s1*128+s2*128]", false, false},
    {"[0+s1*128+s2*128]", "[4096+s1*128+s2*256]", true, true},
};

static const ts_address *address_of(ts_arena *arena, const char *text) {
    char load[64];
    ts_code code = {0};
    snprintf(load, sizeof load, "vld v0 %s", text);
    fixture_assemble(arena, &code, load);
    return code.bundles[0].instructions[0].operands[1].as.address;
}

TEST_WITH_ARENA(accesses_may_meet) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const ts_address *a = address_of(arena, pairs[i].a), *b = address_of(arena, pairs[i].b);
        bool as_said = ts_address_may_meet(a, b, TS_SPACE_VMEM) == pairs[i].vmem &&
                       ts_address_may_meet(b, a, TS_SPACE_VMEM) == pairs[i].vmem &&
                       ts_address_may_meet(a, b, TS_SPACE_SMEM) == pairs[i].smem &&
                       ts_address_may_meet(b, a, TS_SPACE_SMEM) == pairs[i].smem;
        if (!as_said) fail_msg("%s and %s", pairs[i].a, pairs[i].b);
    }
}
