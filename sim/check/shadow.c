/* The shadow rules of vector instructions: bit by bit where an instruction moves or combines bits, word by
 * word where it computes. */
#include "check/shadow.h"

#include <assert.h>
#include <string.h>

static uint32_t whole(uint32_t word) { return word ? ~0u : 0; }
static uint32_t halves(uint32_t word) { return whole(word & 0xffff) >> 16 | whole(word >> 16) << 16; }

/* Fields of 2 * bits, each squeezed into bits, in the low half of the result. */
static uint32_t squeezed(uint32_t word, int bits) {
    uint32_t out = 0;
    for (int i = 0; i < 16 / bits; i++) {
        uint32_t field = word >> (2 * i * bits) & ((1u << 2 * bits) - 1);
        out |= field ? ((1u << bits) - 1) << (i * bits) : 0;
    }
    return out;
}

static void reduce(const ts_shadow_sources *s, uint32_t *d) {
    const uint32_t *a = s->shadows[0];
    uint32_t rows[TS_SUBLANES] = {0}, columns[TS_LANES] = {0};
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        rows[i / TS_LANES] |= a[i];
        columns[i % TS_LANES] |= a[i];
    }
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        uint32_t word = s->rule == TS_SHADOW_LANES ? rows[i / TS_LANES] : columns[i % TS_LANES];
        d[i] = s->rule == TS_SHADOW_CARRY ? ~(word & (0u - word)) + 1u : whole(word);
    }
}

#define EACH_WORD for (int i = 0; i < TS_VREG_WORDS; i++)

/* Bits of the sources stay where they are; whether one is undefined can depend on the other's value. */
static void combine(const ts_shadow_sources *s, uint32_t *d) {
    const uint32_t *a = s->shadows[0], *b = s->shadows[1], *c = s->shadows[2];
    const uint32_t *va = s->values[0], *vb = s->values[1], *vc = s->values[2];
    switch (s->rule) {
    case TS_SHADOW_AND:
        EACH_WORD d[i] = (a[i] & b[i]) | (a[i] & vb[i]) | (b[i] & va[i]);
        return;
    case TS_SHADOW_OR:
        EACH_WORD d[i] = (a[i] & b[i]) | (a[i] & ~vb[i]) | (b[i] & ~va[i]);
        return;
    case TS_SHADOW_XOR:
        EACH_WORD d[i] = a[i] | b[i];
        return;
    default: /* SELECT */
        EACH_WORD d[i] = (a[i] & (b[i] | c[i] | (vb[i] ^ vc[i]))) | (va[i] & b[i]) | (~va[i] & c[i]);
        return;
    }
}

/* Words, halves or bytes of two sources become fields of half their size. */
static void pack(const ts_shadow_sources *s, uint32_t *d) {
    const uint32_t *a = s->shadows[0], *b = s->shadows[1];
    uint32_t low[TS_VREG_WORDS], high[TS_VREG_WORDS];
    switch (s->rule) {
    case TS_SHADOW_PACK_WORDS:
        EACH_WORD d[i] = whole(a[i]) >> 16 | whole(b[i]) << 16;
        return;
    case TS_SHADOW_PACK_HALVES:
        EACH_WORD d[i] = squeezed(a[i], 8) | squeezed(b[i], 8) << 16;
        return;
    case TS_SHADOW_PACK_BYTES:
        EACH_WORD d[i] = squeezed(a[i], 4) | squeezed(b[i], 4) << 16;
        return;
    default: /* PACK_ROWS: a half is made of a word of ~0, which is NaN, or of 0 */
        EACH_WORD low[i] = whole(a[i]), high[i] = whole(b[i]);
        s->function(d, low, high, NULL, s->number);
        EACH_WORD d[i] = halves(d[i]);
        return;
    }
}

static void move(const ts_shadow_sources *s, uint32_t *d) {
    const uint32_t *b = s->shadows[1];
    bool by_value = s->rule == TS_SHADOW_SHIFT || s->rule == TS_SHADOW_GATHER;
    s->function(d, s->shadows[0], by_value ? s->values[1] : b, s->shadows[2], s->number);
    if (by_value) EACH_WORD d[i] |= whole(b[i]);
    if (s->rule == TS_SHADOW_FIELD) EACH_WORD d[i] = whole(d[i]);
}

static void define(const ts_shadow_sources *s, uint32_t *d) {
    (void)s;
    memset(d, 0, TS_VREG_BYTES);
}

static void copy(const ts_shadow_sources *s, uint32_t *d) { memcpy(d, s->shadows[0], TS_VREG_BYTES); }

static void widen_halves(const ts_shadow_sources *s, uint32_t *d) {
    EACH_WORD d[i] = halves(s->shadows[0][i] | s->shadows[1][i] | s->shadows[2][i]);
}

static void widen_words(const ts_shadow_sources *s, uint32_t *d) {
    EACH_WORD d[i] = whole(s->shadows[0][i] | s->shadows[1][i] | s->shadows[2][i]);
}

/* NULL: the result is no vreg. */
static void (*const functions[])(const ts_shadow_sources *s, uint32_t *d) = {
    [TS_SHADOW_DEFINED] = define,    [TS_SHADOW_COPY] = copy,       [TS_SHADOW_MOVE] = move,
    [TS_SHADOW_FIELD] = move,        [TS_SHADOW_SHIFT] = move,      [TS_SHADOW_GATHER] = move,
    [TS_SHADOW_AND] = combine,       [TS_SHADOW_OR] = combine,      [TS_SHADOW_XOR] = combine,
    [TS_SHADOW_SELECT] = combine,    [TS_SHADOW_PACK_WORDS] = pack, [TS_SHADOW_PACK_ROWS] = pack,
    [TS_SHADOW_PACK_HALVES] = pack,  [TS_SHADOW_PACK_BYTES] = pack, [TS_SHADOW_LANES] = reduce,
    [TS_SHADOW_SUBLANES] = reduce,   [TS_SHADOW_CARRY] = reduce,    [TS_SHADOW_HALVES] = widen_halves,
    [TS_SHADOW_WORDS] = widen_words,
};

void ts_shadow_apply(const ts_shadow_sources *s, uint32_t *d) {
    assert((size_t)s->rule < sizeof functions / sizeof functions[0] && functions[s->rule]);
    functions[s->rule](s, d);
}
