/* Undefined values on their way: short programs, and what is undefined after them, bit by bit. */
#include <stdio.h>
#include <string.h>

#include "check/poison.h"
#include "tests/support/cmocka.h"
#include "tests/support/core_fixture.h"

enum { SREGS = 8, VREGS = 4, VMASKS = 2, VMEM_BYTES = 1 << 16, SMEM_BYTES = 64, OPS = 16, CYCLE = 50 };
static const ts_isa_limits limits = {.sregs = SREGS, .vregs = VREGS, .vmasks = VMASKS};
static const ts_source source = {"a.tsim", "", 0};

typedef struct {
    ts_arena *arena;
    ts_code code;
    uint32_t sregs[SREGS], vregs[VREGS * TS_VREG_WORDS], vmasks[VMASKS * TS_VREG_WORDS];
    uint32_t kept[2][TS_VREG_WORDS]; /* results that are kept aside */
    ts_findings *findings;
    ts_space *vmem, *smem;
    ts_poison *poison;
    ts_instruction *lines; /* as far as the program goes */
    int line_count;
} world;

static world *open_world(void) {
    ts_arena *arena = ts_arena_new();
    world *w = TS_NEW(arena, world);
    w->arena = arena;
    w->vmem = ts_space_new(arena, "vmem", VMEM_BYTES);
    w->smem = ts_space_new(arena, "smem", SMEM_BYTES);
    ts_space_track(w->vmem, arena);
    ts_space_track(w->smem, arena);
    ts_space_mark_valid(w->vmem, 0, VMEM_BYTES * 8);
    ts_space_mark_valid(w->smem, 0, SMEM_BYTES * 8);
    w->findings = TS_NEW(arena, ts_findings);
    w->lines = TS_NEW_ARRAY(arena, ts_instruction, 64);
    ts_poison_setup setup = {&w->code, &limits, w->sregs, w->vregs, w->vmasks, w->vmem, w->smem, w->findings};
    w->poison = ts_poison_new(arena, &setup);
    return w;
}

static void close_world(world *w) {
    ts_space_free(w->vmem);
    ts_space_free(w->smem);
    ts_arena_free(w->arena);
}

static uint32_t *vreg(world *w, int i) { return w->vregs + (ptrdiff_t)i * TS_VREG_WORDS; }

static uint32_t *words_of(world *w, const ts_operand *operand) {
    switch (operand->kind) {
    case TS_OPERAND_SREG:
        return w->sregs + operand->as.reg;
    case TS_OPERAND_VREG:
        return vreg(w, operand->as.reg);
    case TS_OPERAND_VMASK:
        return w->vmasks + (ptrdiff_t)operand->as.reg * TS_VREG_WORDS;
    default:
        return NULL;
    }
}

/* As the core does: numbers are constants, a scalar among vregs is spread over one. */
static void operands_of(world *w, const ts_instruction *instruction, ts_poison_operands *out) {
    const ts_opcode_info *info = ts_opcode_get(instruction->opcode);
    int sources = 0;
    *out = (ts_poison_operands){.instruction = instruction, .rule = info->shadow};
    if (instruction->mask >= 0) out->mask = w->vmasks + (ptrdiff_t)instruction->mask * TS_VREG_WORDS;
    for (int i = 0; i < instruction->operand_count; i++) {
        const ts_operand *operand = &instruction->operands[i];
        const ts_operand_class *class = ts_opcode_operand(info, i);
        uint32_t *words = words_of(w, operand);
        bool vector = class->accepts & (1u << TS_OPERAND_VREG);
        if (class->written) {
            out->result = words;
        } else if (operand->kind == TS_OPERAND_INTEGER) {
            uint32_t *number = TS_NEW_ARRAY(w->arena, uint32_t, TS_VREG_WORDS);
            for (int k = 0; k < TS_VREG_WORDS; k++) number[k] = (uint32_t)operand->as.integer;
            out->sources[sources++] = number;
        } else if (operand->kind == TS_OPERAND_SREG && vector) {
            out->fill = TS_NEW_ARRAY(w->arena, uint32_t, TS_VREG_WORDS);
            out->fill_from = words;
            out->sources[sources++] = out->fill;
        } else if (words) {
            out->sources[sources++] = words;
        }
    }
}

/* Does lines; their numbers go on from those before. */
static void run(world *w, const char *text) {
    fixture_assemble(w->arena, &w->code, text);
    for (int b = 0; b < w->code.bundle_count; b++) {
        ts_instruction *line = &w->lines[w->line_count++];
        ts_poison_operands operands;
        ts_poison_op *op;
        *line = w->code.bundles[b].instructions[0];
        line->source = &source;
        line->line = w->line_count;
        operands_of(w, line, &operands);
        ts_poison_bundle(w->poison, &operands, 1, &op);
        ts_poison_check(op, CYCLE);
        ts_poison_run(op, fixture_address(line));
    }
}

/* "3:ff 1023:1" of what is undefined; where it is more than four words, how many. */
static const char *list(const uint32_t *words, int64_t count, char *text, size_t bytes) {
    int at = 0, found = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < count; i++)
        if (words[i] && found++ < 4)
            at += snprintf(text + at, bytes - (size_t)at, "%s%lld:%x", at ? " " : "", (long long)i, words[i]);
    if (found > 4) snprintf(text, bytes, "%d", found);
    return text;
}

static const uint32_t *shadow_of(world *w, const uint32_t *words) {
    ts_poison_operands copy = {.rule = TS_SHADOW_COPY, .result = w->kept[1], .sources = {words}};
    ts_poison_op *op;
    ts_poison_bundle(w->poison, &copy, 1, &op);
    return ts_poison_source(op, 0);
}

static void expect_words(world *w, const uint32_t *words, const char *undefined) {
    char text[160];
    assert_string_equal(list(shadow_of(w, words), TS_VREG_WORDS, text, sizeof text), undefined);
}
#define EXPECT_V(w, reg, undefined) expect_words(w, vreg(w, reg), undefined)
#define EXPECT_M(w, reg, undefined) expect_words(w, (w)->vmasks + (reg)*TS_VREG_WORDS, undefined)

static void expect_vmem(world *w, const char *undefined) {
    static uint32_t words[VMEM_BYTES / 4];
    char text[160];
    for (int64_t row = 0; row < VMEM_BYTES / 512; row++)
        ts_space_get_poison(w->vmem, row * 4096, TS_LANES, words + row * TS_LANES);
    assert_string_equal(list(words, VMEM_BYTES / 4, text, sizeof text), undefined);
}

/* The line whose value s`reg` cannot be known by; 0: it is defined. */
static int origin_of_sreg(world *w, int reg) {
    char text[32];
    int before = w->findings->count;
    snprintf(text, sizeof text, "brnz s%d @0", reg);
    run(w, text);
    return w->findings->count > before ? w->findings->list[before].other.line : 0;
}

static void undefine(world *w, int word, uint32_t bits) {
    for (int i = 0; i < 32; i++)
        if (bits >> i & 1) ts_space_mark_poison(w->vmem, word * 32 + i, 1);
}

/* ---- VMEM ---- */

TEST(loads) {
    world *w = open_world();
    undefine(w, 5, 0x18);
    undefine(w, 1023, 0x80000000);
    undefine(w, 1024, 1);
    run(w, "vld v1 [0]");
    EXPECT_V(w, 1, "5:18 1023:80000000");
    EXPECT_V(w, 0, "");
    run(w, "vld v2 [128]"); /* a row on */
    EXPECT_V(w, 2, "895:80000000 896:1");
    run(w, "vld v3 [0] stride=8");
    EXPECT_V(w, 3, "5:18 128:1");
    run(w, "vld v1 [2048] rows=0xfe"); /* row 0 stays */
    EXPECT_V(w, 1, "5:18");
    run(w, "vld v1 [2048] rows=1");
    EXPECT_V(w, 1, "");
    run(w, "vld v0 [0] rows=0x81");
    EXPECT_V(w, 0, "5:18 1023:80000000");
    run(w, "vld v0 [2048]");
    EXPECT_V(w, 0, "");
    close_world(w);
}

TEST(loads_under_a_mask) {
    world *w = open_world();
    undefine(w, 5, 0x18);
    undefine(w, 6, 1);
    w->vmasks[5] = ~0u;
    run(w, "vld v1 [0] ?m0");
    EXPECT_V(w, 1, "5:18");
    w->vmasks[5] = 0x08;
    run(w, "vld v1 [1024] ?m0"); /* of word 5 one bit is written, the other stays */
    EXPECT_V(w, 1, "5:10");
    close_world(w);
}

TEST(stores) {
    world *w = open_world();
    undefine(w, 5, 0x18);
    undefine(w, 130, 1);
    run(w, "vld v1 [0]\nvst [2048] v1");
    expect_vmem(w, "5:18 130:1 2053:18 2178:1");
    assert_int_equal(ts_poison_row_of(w->poison, 2053 * 4).store->line, 2);
    assert_int_equal(ts_poison_row_of(w->poison, 2178 * 4).origin->line, 1);
    assert_null(ts_poison_row_of(w->poison, 2048 * 4 + 1024).store); /* row 2 of it is defined */
    assert_null(ts_poison_row_of(w->poison, 0).store);               /* not stored, only never written */
    run(w, "vst [2048] v2 rows=1");
    expect_vmem(w, "5:18 130:1 2178:1");
    run(w, "vst [2048] v2 rows=2\nvst [0] v2");
    expect_vmem(w, "");
    run(w, "vst [4096] v1 stride=2");
    expect_vmem(w, "4101:18 4354:1");
    close_world(w);
}

TEST(stores_under_a_mask) {
    world *w = open_world();
    undefine(w, 5, 0x18);
    undefine(w, 300, 3);
    w->vmasks[5] = 0x0f;
    w->vmasks[300] = 2;
    run(w, "vld v1 [0]\nvst [2048] v1 ?m0");
    expect_vmem(w, "5:18 300:3 2053:8 2348:2");
    undefine(w, 2054, 2);
    undefine(w, 2053, 0x80);
    run(w, "vst [2048] v2 ?m0"); /* defined bits where the mask is, the rest as it was */
    expect_vmem(w, "5:18 300:3 2053:80 2054:2");
    close_world(w);
}

/* v1 and m1 have an undefined word 5; v0 is defined. */
static world *with_undefined(void) {
    world *w = open_world();
    undefine(w, 5, 0x18);
    run(w, "vld v1 [0]\nvcmp.eq.i32 m1 v1 0");
    return w;
}

TEST(an_undefined_mask) {
    world *w = with_undefined();
    EXPECT_M(w, 1, "5:ffffffff");
    EXPECT_M(w, 0, "");
    run(w, "vmov v2 7 ?m1");
    EXPECT_V(w, 2, "5:ffffffff");
    run(w, "vld v3 [1024] ?m1");
    EXPECT_V(w, 3, "5:ffffffff");
    run(w, "vst [2048] v0 ?m1");
    expect_vmem(w, "5:18 2053:ffffffff");
    assert_int_equal(ts_poison_row_of(w->poison, 2053 * 4).origin->line, 1);
    close_world(w);
}

/* ---- Vregs ---- */

TEST(results) {
    world *w = with_undefined();
    run(w, "vadd.i32 v2 v0 v1");
    EXPECT_V(w, 2, "5:ffffffff");
    run(w, "vadd.i32 v2 v0 v0");
    EXPECT_V(w, 2, "");
    run(w, "vneg.f32 v2 v1\nviota.lane v2");
    EXPECT_V(w, 2, "");
    run(w, "vand.i32 v2 v1 8");
    EXPECT_V(w, 2, "5:8");
    w->sregs[2] = 16; /* a scalar is spread before its values are looked at */
    run(w, "vand.i32 v2 v1 s2");
    EXPECT_V(w, 2, "5:10");
    run(w, "vand.i32 v2 v1 0");
    EXPECT_V(w, 2, "");
    close_world(w);
}

TEST(results_under_a_mask) {
    world *w = with_undefined();
    w->vmasks[5] = 0x0f;
    run(w, "vneg.f32 v2 v1 ?m0");
    EXPECT_V(w, 2, "5:8");
    run(w, "vneg.f32 v3 v1\nvneg.f32 v3 v0 ?m0"); /* what was undefined stays so */
    EXPECT_V(w, 3, "5:10");
    run(w, "vst [2048] v3");
    assert_int_equal(ts_poison_row_of(w->poison, 2053 * 4).origin->line, 1); /* and its origin */
    w->vmasks[5] = ~0u;
    run(w, "vneg.f32 v3 v0 ?m0");
    EXPECT_V(w, 3, "");
    run(w, "vneg.f32 v3 v1 ?m0\nvst [2048] v3");
    assert_int_equal(ts_poison_row_of(w->poison, 2053 * 4).origin->line, 1);
    close_world(w);
}

TEST(the_first_undefined_source_is_the_cause) {
    world *w = open_world();
    undefine(w, 5, 1);
    undefine(w, 1030, 1);
    run(w, "vld v1 [0]\nvld v2 [1024]\nvadd.i32 v3 v2 v1\nvst [2048] v3\nvadd.i32 v3 v0 v1\nvst [3072] v3");
    assert_int_equal(ts_poison_row_of(w->poison, 2053 * 4).origin->line, 2);
    assert_int_equal(ts_poison_row_of(w->poison, 3077 * 4).origin->line, 1);
    assert_int_equal(ts_poison_row_of(w->poison, 3077 * 4).store->line, 6);
    close_world(w);
}

static void shift_left(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, int32_t n) {
    (void)b, (void)c;
    for (int i = 0; i < TS_VREG_WORDS; i++) d[i] = a[i] << n;
}

/* The function of the instruction is given its scalar, 0 where it has none. */
TEST(moves) {
    world *w = with_undefined();
    const uint32_t number = 4;
    ts_poison_operands operands = {.instruction = &w->lines[0],
                                   .rule = TS_SHADOW_MOVE,
                                   .function = shift_left,
                                   .result = vreg(w, 2),
                                   .sources = {vreg(w, 1)}};
    for (int i = 0; i < 2; i++) {
        ts_poison_op *op;
        operands.number = i ? &number : NULL;
        ts_poison_bundle(w->poison, &operands, 1, &op);
        ts_poison_run(op, 0);
        EXPECT_V(w, 2, i ? "5:180" : "5:18");
    }
    close_world(w);
}

/* ---- Scalars ---- */

TEST(scalars) {
    world *w = with_undefined();
    undefine(w, 1024, 2);
    run(w, "vld v2 [1024]\nv2s s1 v1\nv2s s2 v2");
    assert_int_equal(origin_of_sreg(w, 1), 0); /* word 0 of v1 is defined */
    assert_int_equal(origin_of_sreg(w, 2), 3);
    run(w, "sadd s3 s0 s2\nsadd s4 s0 s1\nsmov s5 s3");
    assert_int_equal(origin_of_sreg(w, 3), 3);
    assert_int_equal(origin_of_sreg(w, 4), 0);
    assert_int_equal(origin_of_sreg(w, 5), 3);
    run(w, "smov s5 1");
    assert_int_equal(origin_of_sreg(w, 5), 0);
    run(w, "vadd.i32 v3 v0 s3"); /* all that a scalar goes into */
    EXPECT_V(w, 3, "1024");
    run(w, "vadd.i32 v3 v0 s4");
    EXPECT_V(w, 3, "");
    w->vmasks[7] = 0xff;
    run(w, "vmov v3 s3 ?m0");
    EXPECT_V(w, 3, "7:ff");
    close_world(w);
}

TEST(words_of_smem) {
    world *w = open_world();
    ts_space_mark_poison(w->smem, 3 * 32 + 31, 1);
    run(w, "sld s1 [3]\nsld s2 [2]\nsld s3 [4]");
    assert_int_equal(origin_of_sreg(w, 1), 1);
    assert_int_equal(origin_of_sreg(w, 2), 0);
    assert_int_equal(origin_of_sreg(w, 3), 0);
    run(w, "sst [5] s1\nsst [3] s2\nsld s4 [5]\nsld s1 [3]");
    assert_int_equal(origin_of_sreg(w, 4), 9);
    assert_int_equal(origin_of_sreg(w, 1), 0);
    assert_int_equal(ts_space_find_poison(w->smem, 0, SMEM_BYTES * 8), 5 * 32);
    assert_int_equal(ts_space_find_poison(w->smem, 6 * 32, SMEM_BYTES * 8 - 6 * 32), -1);
    close_world(w);
}

TEST(what_steers_is_told) {
    world *w = open_world();
    undefine(w, 0, 1);
    run(w, "vld v1 [0]\nv2s s3 v1\nsadd s2 s3 1\nvld v2 [0+s3+s1]\nbr.eq s1 s2 @0\nsem.read s4 e0+s3:4");
    assert_int_equal(w->findings->count, 3);
    static const struct {
        const char *text;
        int where;
    } rows[] = {{"vld depends on s3, which is undefined", 4},
                {"br.eq depends on s2, which is undefined", 5},
                {"sem.read depends on s3, which is undefined", 6}};
    for (int i = 0; i < 3; i++) {
        const ts_finding *f = &w->findings->list[i];
        assert_int_equal(f->kind, TS_FINDING_CONTROL);
        assert_string_equal(f->text, rows[i].text);
        assert_string_equal(f->other_text, "this met the undefined value first");
        assert_int_equal(f->where.line, rows[i].where);
        assert_int_equal(f->other.line, 1);
        assert_int_equal(f->cycle, CYCLE);
    }
    assert_int_equal(origin_of_sreg(w, 4), 0); /* a semaphore is a number at any rate */
    close_world(w);
}

/* ---- Results aside, and units ---- */

/* v1 and v2 change places: the new v1 is kept aside, and copied when v2 has been written; s1 and s2 as well. */
TEST(results_that_are_kept_aside) {
    world *w = with_undefined();
    undefine(w, 1024, 4);
    run(w, "vld v2 [1024]\nv2s s2 v2");
    uint32_t *v1 = vreg(w, 1), *v2 = vreg(w, 2), *aside = w->kept[0], word;
    const ts_poison_operands operands[] = {
        {.instruction = &w->lines[0], .rule = TS_SHADOW_COPY, .result = aside, .sources = {v2}},
        {.instruction = &w->lines[0], .rule = TS_SHADOW_COPY, .result = v2, .sources = {v1}},
        {.instruction = &w->lines[0], .rule = TS_SHADOW_VALUE, .result = &word, .sources = {w->sregs + 2}},
        {.instruction = &w->lines[0],
         .rule = TS_SHADOW_VALUE,
         .result = w->sregs + 2,
         .sources = {w->sregs + 1}},
        {.rule = TS_SHADOW_COPY, .result = v1, .sources = {aside}},
        {.rule = TS_SHADOW_VALUE, .result = w->sregs + 1, .sources = {&word}},
    };
    enum { COUNT = sizeof operands / sizeof operands[0] };
    ts_poison_op *ops[COUNT];
    ts_poison_bundle(w->poison, operands, COUNT, ops);
    for (int i = 0; i < COUNT; i++) ts_poison_run(ops[i], 0);
    EXPECT_V(w, 1, "0:4");
    EXPECT_V(w, 2, "5:18");
    assert_int_equal(origin_of_sreg(w, 1), 3);
    assert_int_equal(origin_of_sreg(w, 2), 0);
    expect_words(w, aside, ""); /* of another bundle it is a constant */
    close_world(w);
}

TEST(units_keep_their_own) {
    world *w = with_undefined();
    uint32_t words[TS_VREG_WORDS] = {[9] = 6};
    char text[64];
    ts_poison_operands operands;
    ts_poison_op *op;
    operands = (ts_poison_operands){&w->lines[1], TS_SHADOW_UNIT, .result = vreg(w, 2),
                                    .sources = {NULL, vreg(w, 1)}};
    ts_poison_bundle(w->poison, &operands, 1, &op);
    ts_poison_run(op, 0);
    EXPECT_V(w, 2, ""); /* until it says so */
    assert_string_equal(list(ts_poison_source(op, 1), TS_VREG_WORDS, text, sizeof text), "5:18");
    assert_string_equal(list(ts_poison_source(op, 0), TS_VREG_WORDS, text, sizeof text), "");
    ts_poison_result(op, words);
    EXPECT_V(w, 2, "9:6");
    run(w, "vst [2048] v2");
    assert_int_equal(ts_poison_row_of(w->poison, 2057 * 4).origin->line, 2);
    memset(words, 0, sizeof words);
    ts_poison_result(op, words);
    EXPECT_V(w, 2, "");
    close_world(w);
}
