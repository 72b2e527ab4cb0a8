/* What a side of a plan touches, beside an oracle that looks at each element of each box: its bits, a byte at a time. */
#include <string.h>

#include "tests/support/random_layout.h"
#include "tests/support/random_transfer.h"
#include "tests/support/rounds.h"
#include "tests/support/test.h"
#include "check/reach.h"

enum {
    LIMIT = 1 << 16,
    MOST_BYTES = 1 << 12
}; /* granules that the oracle has; bytes that a transfer moves */

typedef struct {
    bool granule[LIMIT];
    int64_t end; /* one behind the last */
} oracle;

static void touch(oracle *o, int64_t bits, int element_bits) {
    for (int64_t bit = bits; bit < bits + element_bits; bit++) {
        int64_t g = bit / 8 / TS_GRANULE_BYTES;
        assert_true(bit >= 0 && g < LIMIT);
        o->granule[g] = true;
        if (g >= o->end) o->end = g + 1;
    }
}

static void touch_box(oracle *o, const ts_plan_box *box, ts_side side, int element_bits) {
    for (int64_t n = 0; n < box->elements; n++) {
        int64_t at = ts_plan_start_bits(box, side), rest = n;
        for (int i = box->loop_count - 1; i >= 0; i--) {
            at += rest % box->loops[i].extent * ts_plan_step_bits(&box->loops[i], side);
            rest /= box->loops[i].extent;
        }
        touch(o, at, element_bits);
    }
}

static void look(oracle *o, const ts_plan *plan, ts_side side) {
    const ts_shape *shape = side == TS_SRC ? plan->src.shape : plan->dst.shape;
    memset(o, 0, sizeof *o);
    for (int64_t n = 0; n < plan->box_count; n++) {
        ts_plan_box box;
        ts_plan_get_box(plan, n, &box);
        touch_box(o, &box, side, shape->element_bits);
    }
}

static bool any(const oracle *o, int64_t first, int64_t end) {
    for (int64_t g = first < 0 ? 0 : first; g < end && g < LIMIT; g++)
        if (o->granule[g]) return true;
    return false;
}

static void compare(const ts_reach *r, const oracle *o, uint64_t *seed, const char *text) {
    for (int64_t g = 0; g < o->end + 200; g++)
        if (ts_reach_touches(r, g, g + 1) != o->granule[g])
            fail_msg("%s: granule %lld: %d, the oracle has %d", text, (long long)g, !o->granule[g],
                     o->granule[g]);
    assert_int_equal(r->first % TS_REACH_WORD, 0);
    assert_int_equal(r->end, o->end);
    for (int i = 0; i < 50; i++) {
        int64_t first = random_below(seed, (uint32_t)o->end + 100), end = first + random_below(seed, 200);
        if (ts_reach_touches(r, first, end) != any(o, first, end))
            fail_msg("%s: granules %lld to %lld", text, (long long)first, (long long)end);
    }
}

static bool meet(const oracle *a, const oracle *b) {
    for (int64_t g = 0; g < a->end && g < b->end; g++)
        if (a->granule[g] && b->granule[g]) return true;
    return false;
}

static oracle sides[2];

TEST(random_transfers) {
    uint64_t seed = 5;
    int met = 0, most = rounds(300, 40);
    for (int round = 0; round < most; round++) {
        ts_arena *arena = ts_arena_new();
        char text[512];
        random_transfer t = random_transfer_draw(&seed, arena, 1, MOST_BYTES);
        random_transfer_print(&t, text, sizeof text);
        ts_plan plan = *t.plan;
        /* the destination anywhere below the oracle's end, so that the two sides meet at times */
        ts_plan_shift(&plan, 8 * random_below(&seed, 4096),
                      8 * random_below(&seed, 4096) - plan.dst.base_bits);
        ts_reach found[2];
        for (int side = 0; side < 2; side++) {
            found[side] = ts_reach_find(arena, &plan, side ? TS_DST : TS_SRC, NULL);
            look(&sides[side], &plan, side ? TS_DST : TS_SRC);
            compare(&found[side], &sides[side], &seed, text);
        }
        assert_int_equal(ts_reach_overlap(&found[0], &found[1]), meet(&sides[0], &sides[1]));
        met += meet(&sides[0], &sides[1]);
        ts_arena_free(arena);
    }
    assert_true(met > most / 20 && met < most);
}

/* Rows that run backwards, near to each other and far, and steps that leave gaps of a granule or less. */
TEST(backwards_and_gaps) {
    static const char *const rows[][2] = {
        {"f32[8,64] lambda i, j: [i * 64 + 63 - j]", "f32[8,64]"},
        {"f32[8,64] lambda i, j: [i * 640 + 63 - j]", "f32[8,64]"},
        {"f32[8,64] lambda i, j: [(7 - i) * 640 + 63 - j]", "f32[8,64]"},
        {"f32[8,64] lambda i, j: [(7 - i) * 6400 + j * 20]", "f32[8,64]"},
        {"u8[3,128] lambda i, j: [i * 159 + j]", "u8[3,128]"}, /* a gap of 31 bytes */
        {"u8[3,128] lambda i, j: [i * 160 + j]", "u8[3,128]"}, /* of a granule */
        {"u8[3,128] lambda i, j: [i * 192 + j]", "u8[3,128]"},
        {"u1[4,512]{1,0:E(1)}", "u1[4,512]{1,0:E(1)}"}, /* a bit a step */
        {"u8[40,2,5] lambda i, j, k: [i * 1024 + j * 40 + k]", "u8[40,2,5]"},
    };
    uint64_t seed = 9;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        random_transfer t = random_transfer_of(arena, rows[i][0], rows[i][1]);
        assert_non_null(t.plan);
        for (int side = 0; side < 2; side++) {
            ts_reach found = ts_reach_find(arena, t.plan, side ? TS_DST : TS_SRC, NULL);
            look(&sides[0], t.plan, side ? TS_DST : TS_SRC);
            compare(&found, &sides[0], &seed, rows[i][0]);
        }
        ts_arena_free(arena);
    }
}

/* Another memory's bytes, and no bytes at all, meet nothing. */
TEST(of_other_memories) {
    uint64_t words[2] = {3, 1};
    const ts_space *const one = (const ts_space *)&words[0], *const two = (const ts_space *)&words[1];
    const ts_reach a = {one, 0, 65, words}, same = {one, 64, 66, (uint64_t[]){1}},
                   behind = {one, 64, 66, (uint64_t[]){2}}, other = {two, 64, 66, (uint64_t[]){1}},
                   nothing = {.space = one}, unknown = {one, 0, 65, NULL};
    assert_true(ts_reach_overlap(&a, &same) && ts_reach_overlap(&same, &a));
    assert_false(ts_reach_overlap(&a, &behind));
    assert_false(ts_reach_overlap(&a, &other));
    assert_false(ts_reach_overlap(&a, &nothing));
    assert_false(ts_reach_overlap(&a, &unknown) || ts_reach_overlap(&unknown, &a));
    assert_false(ts_reach_overlap(&nothing, &a));
    assert_true(ts_reach_touches(&a, 0, 1) && ts_reach_touches(&a, 1, 2) && !ts_reach_touches(&a, 2, 64));
    assert_true(ts_reach_touches(&a, 2, 65) && !ts_reach_touches(&a, 65, 1000));
    assert_false(ts_reach_touches(&nothing, 0, 1000));
}
