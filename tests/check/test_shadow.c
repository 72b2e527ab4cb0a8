/* The shadow rules: which bits of a result are undefined, in exact words. */
#include <string.h>

#include "check/shadow.h"
#include "tests/support/cmocka.h"

#define RULE(name) TS_SHADOW_##name

typedef struct {
    uint32_t a[TS_VREG_WORDS], b[TS_VREG_WORDS], c[TS_VREG_WORDS];
} vregs;

/* ---- Stand-ins for instructions ---- */

static void pick_field(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, int32_t n) {
    (void)b, (void)c;
    for (int i = 0; i < TS_VREG_WORDS; i++) d[i] = a[i] >> n & 0xff;
}

/* d = a shifted by b, and the bits of c. */
static void shift(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, int32_t n) {
    (void)n;
    for (int i = 0; i < TS_VREG_WORDS; i++) d[i] = a[i] << (b[i] & 31) | c[i];
}

/* Halves: a's top half below b's. */
static void top_halves(uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c, int32_t n) {
    (void)c, (void)n;
    for (int i = 0; i < TS_VREG_WORDS; i++) d[i] = (a[i] >> 16 & 0xff01) | (b[i] & 0x80ff0000);
}

/* ---- One word ---- */

static const struct {
    ts_shadow_rule rule;
    ts_vector_function *function;
    uint32_t shadows[3], values[3];
    int32_t number;
    uint32_t result;
} rows[] = {
    {RULE(DEFINED), NULL, {~0u, ~0u, ~0u}, {0}, 0, 0},
    {RULE(WORDS), NULL, {0, 0, 0}, {0}, 0, 0},
    {RULE(WORDS), NULL, {1, 0, 0}, {0}, 0, ~0u},
    {RULE(WORDS), NULL, {0, 0x80000000, 0}, {0}, 0, ~0u},
    {RULE(WORDS), NULL, {0, 0, 0x100}, {0}, 0, ~0u},
    {RULE(HALVES), NULL, {0x8000, 0, 0}, {0}, 0, 0xffff},
    {RULE(HALVES), NULL, {0, 0x10000, 0}, {0}, 0, 0xffff0000},
    {RULE(HALVES), NULL, {0, 1, 0x80000000}, {0}, 0, ~0u},
    {RULE(HALVES), NULL, {0, 0, 0}, {0}, 0, 0},
    {RULE(COPY), NULL, {0x12345678, ~0u, ~0u}, {0}, 0, 0x12345678},
    {RULE(MOVE), pick_field, {0x12345678, 0, 0}, {0}, 8, 0x56},
    {RULE(MOVE), shift, {1, 4, 0x100}, {0, 9, 0}, 0, 0x110}, /* by shadows alone */
    {RULE(FIELD), pick_field, {0x12345678, 0, 0}, {0}, 24, ~0u},
    {RULE(FIELD), pick_field, {0x00345678, 0, 0}, {0}, 24, 0},
    {RULE(SHIFT), shift, {1, 0, 0}, {0, 9, 0}, 0, 0x200},
    {RULE(SHIFT), shift, {0, 4, 0}, {0, 9, 0}, 0, ~0u},
    {RULE(SHIFT), shift, {1, 0, 2}, {0, 9, 0}, 0, 0x202},
    {RULE(GATHER), shift, {3, 0, 0}, {0, 4, 0}, 0, 0x30},
    {RULE(GATHER), shift, {3, 1, 0}, {0, 4, 0}, 0, ~0u},
    /* both undefined; a's beside a 1 of b; a's beside a 0 of b; and the other way round */
    {RULE(AND), NULL, {0x0f, 0x01, 0}, {0xf0, 0x06, 0}, 0, 0x07},
    {RULE(AND), NULL, {0x00, 0x0f, 0}, {0x05, 0x00, 0}, 0, 0x05},
    {RULE(OR), NULL, {0x0f, 0x01, 0}, {0xf0, 0x06, 0}, 0, 0x09},
    {RULE(OR), NULL, {0x00, 0x0f, 0}, {0x05, 0x00, 0}, 0, 0x0a},
    {RULE(XOR), NULL, {0x0a, 0x81, 0}, {~0u, ~0u, 0}, 0, 0x8b},
    /* the mask's bits take b's or c's shadow */
    {RULE(SELECT), NULL, {0, 0x0f, 0xf0}, {0x33, 0, 0}, 0, 0xc3},
    /* an undefined bit of the mask: only where the sources differ, or are undefined themselves */
    {RULE(SELECT), NULL, {0xff, 0, 0}, {0, 0x0c, 0x0a}, 0, 0x06},
    {RULE(SELECT), NULL, {0xff, 0x10, 0x20}, {0, 0, 0}, 0, 0x30},
    {RULE(PACK_WORDS), NULL, {1, 0, 0}, {0}, 0, 0xffff},
    {RULE(PACK_WORDS), NULL, {0, 0x80000000, 0}, {0}, 0, 0xffff0000},
    {RULE(PACK_HALVES), NULL, {0x00000001, 0, 0}, {0}, 0, 0x000000ff},
    {RULE(PACK_HALVES), NULL, {0x80000000, 0x00008000, 0}, {0}, 0, 0x00ffff00},
    {RULE(PACK_HALVES), NULL, {0, 0x00010000, 0}, {0}, 0, 0xff000000},
    {RULE(PACK_BYTES), NULL, {0x80000001, 0x00018000, 0}, {0}, 0, 0x0ff0f00f},
    {RULE(PACK_BYTES), NULL, {0x00800100, 0, 0}, {0}, 0, 0x00000ff0},
    /* the function is given whole words, and a half of which a bit came through is undefined */
    {RULE(PACK_ROWS), top_halves, {0x10000, 0, 0}, {0}, 0, 0xffff},
    {RULE(PACK_ROWS), top_halves, {0, 2, 0}, {0}, 0, 0xffff0000},
    {RULE(PACK_ROWS), top_halves, {0, 0, ~0u}, {0}, 0, 0},
};

static void set(vregs *v, int word, const uint32_t *from) {
    v->a[word] = from[0];
    v->b[word] = from[1];
    v->c[word] = from[2];
}

TEST(each_rule_by_words) {
    static const int places[] = {0, 129, TS_VREG_WORDS - 1};
    static vregs shadows, values;
    static uint32_t result[TS_VREG_WORDS];
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            memset(&shadows, 0, sizeof shadows);
            memset(&values, 0, sizeof values);
            memset(result, 0x5a, sizeof result);
            set(&shadows, places[p], rows[r].shadows);
            set(&values, places[p], rows[r].values);
            ts_shadow_sources sources = {.rule = rows[r].rule,
                                         .function = rows[r].function,
                                         .values = {values.a, values.b, values.c},
                                         .shadows = {shadows.a, shadows.b, shadows.c},
                                         .number = rows[r].number};
            ts_shadow_apply(&sources, result);
            for (int i = 0; i < TS_VREG_WORDS; i++)
                if (result[i] != (i == places[p] ? rows[r].result : 0))
                    fail_msg("row %zu, word %d: 0x%x", r, i, result[i]);
        }
    }
}

/* ---- Reductions ---- */

/* With word (3, 7) undefined by `shadow`. */
static void reduced(ts_shadow_rule rule, uint32_t shadow, uint32_t *result) {
    static uint32_t words[TS_VREG_WORDS], zeros[TS_VREG_WORDS];
    memset(words, 0, sizeof words);
    words[3 * TS_LANES + 7] = shadow;
    ts_shadow_sources sources = {
        .rule = rule, .values = {zeros, zeros, zeros}, .shadows = {words, zeros, zeros}};
    ts_shadow_apply(&sources, result);
}

TEST(a_reduction_spreads_over_its_row_or_column) {
    uint32_t lanes[TS_VREG_WORDS], sublanes[TS_VREG_WORDS], carry[TS_VREG_WORDS];
    reduced(RULE(LANES), 0x100, lanes);
    reduced(RULE(SUBLANES), 0x100, sublanes);
    reduced(RULE(CARRY), 0x500, carry);
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        assert_int_equal(lanes[i], i / TS_LANES == 3 ? ~0u : 0);
        assert_int_equal(sublanes[i], i % TS_LANES == 7 ? ~0u : 0);
        assert_int_equal(carry[i],
                         i % TS_LANES == 7 ? 0xffffff00 : 0); /* below the lowest bit all is known */
    }
}

/* ---- The column of opcodes.def ---- */

/* What a rule needs of the operands: the kind of the destination, and how many vregs and vmasks it reads. */
static const struct {
    ts_operand_kind written; /* VREG: or a vmask */
    int least;
} needs[TS_SHADOW_COUNT] = {
    [RULE(DEFINED)] = {TS_OPERAND_VREG, 0},     [RULE(WORDS)] = {TS_OPERAND_VREG, 0},
    [RULE(HALVES)] = {TS_OPERAND_VREG, 1},      [RULE(COPY)] = {TS_OPERAND_VREG, 1},
    [RULE(MOVE)] = {TS_OPERAND_VREG, 1},        [RULE(FIELD)] = {TS_OPERAND_VREG, 1},
    [RULE(SHIFT)] = {TS_OPERAND_VREG, 2},       [RULE(AND)] = {TS_OPERAND_VREG, 2},
    [RULE(OR)] = {TS_OPERAND_VREG, 2},          [RULE(XOR)] = {TS_OPERAND_VREG, 2},
    [RULE(SELECT)] = {TS_OPERAND_VREG, 3},      [RULE(PACK_WORDS)] = {TS_OPERAND_VREG, 2},
    [RULE(PACK_ROWS)] = {TS_OPERAND_VREG, 2},   [RULE(PACK_HALVES)] = {TS_OPERAND_VREG, 2},
    [RULE(PACK_BYTES)] = {TS_OPERAND_VREG, 2},  [RULE(GATHER)] = {TS_OPERAND_VREG, 2},
    [RULE(LANES)] = {TS_OPERAND_VREG, 1},       [RULE(SUBLANES)] = {TS_OPERAND_VREG, 1},
    [RULE(CARRY)] = {TS_OPERAND_VREG, 1},       [RULE(LOAD)] = {TS_OPERAND_VREG, 0},
    [RULE(VALUE)] = {TS_OPERAND_SREG, 0},       [RULE(VALUE_LOAD)] = {TS_OPERAND_SREG, 0},
    [RULE(FIRST_WORD)] = {TS_OPERAND_SREG, 1},  [RULE(STORE)] = {TS_OPERAND_NONE, 1},
    [RULE(VALUE_STORE)] = {TS_OPERAND_NONE, 0}, [RULE(CONTROL)] = {TS_OPERAND_NONE, 0},
};

TEST(each_row_has_the_operands_of_its_rule) {
    const unsigned vectors = 1u << TS_OPERAND_VREG | 1u << TS_OPERAND_VMASK;
    for (int op = 0; op < TS_OP_COUNT; op++) {
        const ts_opcode_info *info = ts_opcode_get((ts_opcode)op);
        const ts_operand_class *class;
        unsigned written = 1u << TS_OPERAND_NONE;
        int read = 0;
        for (int i = 0; (class = ts_opcode_operand(info, i)) != NULL; i++) {
            if (class->written) written = class->accepts;
            read += !class->written && (class->accepts & vectors);
        }
        if (info->shadow == RULE(UNIT)) continue; /* takes and gives as it likes */
        bool vector = needs[info->shadow].written == TS_OPERAND_VREG;
        unsigned wanted = vector ? vectors : 1u << needs[info->shadow].written;
        if (!(written & wanted) || read < needs[info->shadow].least) fail_msg("%s: its rule", info->mnemonic);
        if (vector && info->shadow != RULE(LOAD)) assert_true(read <= TS_SHADOW_SOURCES);
    }
}
