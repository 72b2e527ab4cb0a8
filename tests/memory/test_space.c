/* Memory spaces: what is touched exists, in one piece, and nothing else does. */
#include <string.h>

#include "tests/support/random_layout.h"
#include "memory/space.h"
#include "tests/support/test.h"
#include "tests/support/shapes.h"

enum { LINE = TS_SPACE_LINE_BYTES, CHUNK = TS_SPACE_CHUNK_BYTES, HUGE_PAGE = TS_SPACE_HUGE_BYTES };
static const int64_t vast = INT64_C(1) << 58; /* bytes that no host has */

/* ---- Ranges ---- */

TEST_WITH_ARENA(nothing_is_reserved) {
    ts_space *space = ts_space_new(arena, "hbm", vast);
    for (int64_t address = 0; address < vast; address += vast / 8) *ts_space_touch(space, address, 1) = 7;
    *ts_space_touch(space, vast - 1, 1) = 8;
    for (int64_t address = 0; address < vast; address += vast / 8) {
        assert_int_equal(*ts_space_touch(space, address, 1), 7);
        assert_int_equal(ts_space_touch(space, address, 2)[1], 0);
    }
    assert_int_equal(*ts_space_touch(space, vast - 1, 1), 8);
    assert_int_equal(space->range_count, 9);
    ts_space_free(space);
}

/* What a space holds is what an array of bytes would, whatever is touched in whatever order and announced or
 * not. */
TEST(a_space_is_an_array) {
    enum { BYTES = 5 * CHUNK + 3 * LINE + 5, ROUNDS = 60, TOUCHES = 40 };
    static uint8_t want[BYTES];
    uint64_t seed = 5;
    for (int round = 0; round < ROUNDS; round++) {
        ts_arena *arena = ts_arena_new();
        ts_space *space = ts_space_new(arena, "vmem", BYTES);
        memset(want, 0, sizeof want);
        for (int i = 0; i < TOUCHES; i++) {
            int64_t address = random_below(&seed, BYTES), room = BYTES - address;
            int64_t most = i % 8 ? 3 * LINE : 2 * CHUNK;
            int64_t length = 1 + random_below(&seed, (uint32_t)(room < most ? room : most));
            if (round % 3 && i % 3 == 0) {
                ts_space_hold(space, address, length);
                continue;
            }
            uint8_t *bytes = ts_space_touch(space, address, length);
            assert_int_equal(((uintptr_t)bytes - (uintptr_t)address) % LINE, 0);
            assert_memory_equal(bytes, want + address, (size_t)length);
            memset(bytes, i + 1, (size_t)length);
            memset(want + address, i + 1, (size_t)length);
        }
        assert_memory_equal(ts_space_touch(space, 0, BYTES), want, BYTES);
        assert_int_equal(space->range_count, 1);
        ts_space_free(space);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(a_hold_does_not_move) {
    ts_space *space = ts_space_new(arena, "hbm", INT64_C(1) << 40);
    const int64_t base = (INT64_C(1) << 39) + 5 * LINE + 1, length = 2 * HUGE_PAGE;
    ts_space_hold(space, base, length);
    ts_space_hold(space, base + length + LINE, length); /* a neighbour */
    assert_int_equal(space->range_count, 2);
    uint8_t *middle = ts_space_touch(space, base + length / 2, 4);
    assert_ptr_equal(ts_space_touch(space, base, length), middle - length / 2);
    assert_int_equal(space->last.behind, LINE);
    assert_int_equal(((uintptr_t)middle - (uintptr_t)(base + length / 2)) % HUGE_PAGE, 0);
    assert_null(space->ranges[1].bytes);
    uint8_t *beside = ts_space_touch(space, base + length + LINE, 1);
    ts_space_touch(space, 0, 1); /* a chunk elsewhere */
    assert_ptr_equal(ts_space_touch(space, base + length + LINE, length), beside);
    assert_ptr_equal(ts_space_touch(space, base, 1), middle - length / 2);
    ts_space_free(space);
}

TEST_WITH_ARENA(what_is_forgotten_is_zero) {
    ts_space *space = ts_space_new(arena, "vmem", 1 << 30);
    ts_space_hold(space, 0, 100 * LINE);
    for (int64_t at = 0; at < 2; at++) memset(ts_space_touch(space, at << 29, LINE), 7, LINE);
    ts_space_forget(space);
    assert_int_equal(space->range_count, 0);
    for (int64_t at = 0; at < 2; at++) assert_int_equal(*ts_space_touch(space, at << 29, LINE), 0);
    assert_int_equal(space->range_count, 2);
    ts_space_free(space);
}

/* Bounds of ranges, in lines: what is announced twice, overlaps or is real already. */
TEST_WITH_ARENA(holds_are_apart) {
    ts_space *space = ts_space_new(arena, "hbm", 1 << 30);
    ts_space_hold(space, 10 * LINE, 10 * LINE);
    ts_space_hold(space, 20 * LINE, 1); /* behind it */
    ts_space_hold(space, 10 * LINE - 1, 1);
    ts_space_hold(space, 50 * LINE, 0); /* nothing */
    assert_int_equal(space->range_count, 3);
    ts_space_hold(space, 12 * LINE, LINE);         /* inside */
    ts_space_hold(space, 20 * LINE + 1, 2 * LINE); /* beyond the second */
    assert_int_equal(space->range_count, 3);
    const int64_t want[][2] = {{9, 10}, {10, 20}, {20, 23}};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(space->ranges[i].begin, want[i][0] * LINE);
        assert_int_equal(space->ranges[i].end, want[i][1] * LINE);
    }
    ts_space_hold(space, 9 * LINE, 14 * LINE); /* all */
    assert_int_equal(space->range_count, 1);
    ts_space_touch(space, 9 * LINE, 1);
    ts_space_hold(space, 0, 100 * LINE); /* of what is real, too late */
    assert_int_equal(space->range_count, 1);
    assert_int_equal(space->ranges[0].end, 23 * LINE);
    ts_space_touch(space, 23 * LINE, 1); /* as far as there is nothing */
    assert_int_equal(space->ranges[1].begin, 23 * LINE);
    assert_int_equal(space->ranges[1].end, CHUNK);
    ts_space_free(space);
}

/* ---- No memory ---- */

static jmp_buf out;
static size_t wanted;

void ts_out_of_memory(size_t bytes) {
    wanted = bytes;
    longjmp(out, 1);
}

/* More than the host has: only what is touched counts, and when that is too much it is said. */
TEST_WITH_ARENA(out_of_memory) {
    ts_space *space = ts_space_new(arena, "hbm", vast);
    ts_space_hold(space, 0, vast);
    *ts_space_touch(space, vast / 2, 1) = 3;
    assert_int_equal(*ts_space_touch(space, vast / 2, CHUNK), 3);
    if (setjmp(out) == 0) {
        ts_space_touch(space, 0, vast);
        fail_msg("there is no such memory");
    }
    assert_true(wanted == (size_t)vast);
    assert_int_equal(*ts_space_touch(space, vast / 2, 1), 3);
    ts_space_free(space);
    space = ts_space_new(arena, "hbm", vast);
    ts_space_hold(space, 0, vast / 2);
    ts_space_hold(space, vast / 2, 2 * LINE);
    ts_space_hold(space, vast / 2 + 3 * LINE, LINE);
    ts_space_touch(space, 5, 1); /* the hold is given up, not the others */
    assert_int_equal(space->range_count, 3);
    assert_int_equal(space->ranges[0].end, CHUNK);
    assert_true(space->ranges[1].end == vast / 2 + 2 * LINE && space->ranges[2].end == vast / 2 + 4 * LINE);
    ts_space_free(space);
}

TEST_WITH_ARENA(wrapped_bytes_are_the_caller_s) {
    uint8_t bytes[100] = {0};
    ts_space *space = ts_space_wrap(arena, "the file", bytes, sizeof bytes);
    assert_ptr_equal(ts_space_touch(space, 0, 100), bytes);
    assert_ptr_equal(ts_space_touch(space, 99, 1), bytes + 99);
    assert_int_equal(space->last.behind, 0); /* nothing else may be read */
    ts_space_free(space);
    ts_space_free(NULL);
}

TEST_WITH_ARENA(contains) {
    ts_space *space = ts_space_new(arena, "smem", 1024);
    assert_true(ts_space_contains(space, 1020, 4));
    assert_true(ts_space_contains(space, 1024, 0));
    assert_false(ts_space_contains(space, 1021, 4));
    assert_false(ts_space_contains(space, 1025, 0));
    assert_false(ts_space_contains(space, -1, 4));
    assert_false(ts_space_contains(space, 4, -1));
    assert_false(ts_space_contains(space, 1, INT64_MAX));
    ts_space_free(space);
}

/* ---- Placing shapes ---- */

/* 16 partitions P of 64 bytes, in them elements E of any type; G, whose steps are words; H, which only the capacity
 * bounds, in steps of a byte. */
static const ts_machine_axis axes[] = {{"P", 16, 64}, {"E", 0, 0}, {"G", 8, 4}, {"H", 0, 1}};
static const ts_machine_memory partitioned = {
    .name = "pe", .capacity_bytes = 1024, .axis_count = 4, .axes = axes};

static const struct {
    const char *shape, *error;   /* NULL: it fits */
    int64_t base_bytes, bits[2]; /* a step of P's, and of another's */
} placed[] = {
    {"f32[256]", NULL, 0, {0, 32}}, /* across partitions */
    {"f32[255]", NULL, 4, {0, 32}},
    {"f32[256]", "the tensor takes 1024 bytes at byte 4 of pe, which has 1024 bytes", 4, {0}},
    {"f32[0]", NULL, 1024, {0, 32}},
    {"f32[1]", "byte -1 is outside pe, which has 1024 bytes", -1, {0}},
    {"f32[0]", "byte 1025 is outside pe, which has 1024 bytes", 1025, {0}},
    {"(f32[1], f32[1])", "this shape has no layout", 0, {0}},
    {"f32[16,16] S[(16,16):(1@P,1@E)]", NULL, 0, {512, 32}},
    {"f32[16,16] S[(16,16):(1@E,1@P)]", NULL, 0, {512, 32}},
    {"bf16[16,32] S[(16,32):(1@P,1@E)]", NULL, 0, {512, 16}},
    {"f32[16,16] S[(16,16):(1@P,1@E)]",
     "the tensor takes 1024 bytes at byte 1 of pe, which has 1024 bytes",
     1,
     {0}},
    {"s4[2,3] S[(2,3):(1@P,1@E)] E(4)", NULL, 958, {512, 4}}, /* 66 bytes, the last half full */
    {"s4[2,3] S[(2,3):(1@P,1@E)] E(4)",
     "the tensor takes 66 bytes at byte 959 of pe, which has 1024 bytes",
     959,
     {0}},
    {"f32[17] S[17:1@P]", "the layout reaches 0 to 16 on axis 'P' of pe, which has 0 to 15", 0, {0}},
    {"f32[17] S[17:1@E]", "the layout takes 68 bytes on axis 'E' of pe, whose partitions have 64", 0, {0}},
    {"f32[2,8] S[(2,8):(1@P,1@E)]", NULL, 32, {512, 32}}, /* the second halves */
    {"f32[2,9] S[(2,9):(1@P,1@E)]",
     "the layout takes 36 bytes on axis 'E' of pe, whose partitions have 64, from byte 32 of one",
     96,
     {0}},
    {"s4[129] S[129:1@E] E(4)",
     "the layout takes 65 bytes on axis 'E' of pe, whose partitions have 64",
     0,
     {0}},
    {"s8[8] S[8:1@G]", NULL, 0, {0, 32}},
    {"f32[2] S[2:-1@E]", "the layout reaches back to -1 on axis 'E' of pe, which begins at 0", 0, {0}},
    {"f32[2] S[2:1@Q]", "pe has no axis 'Q'", 0, {0}},
    {"s8[65] S[65:1@H]", NULL, 0, {0, 8}},
};

TEST_WITH_ARENA(shapes_are_placed) {
    ts_space *space = ts_space_of_machine(arena, &partitioned);
    assert_int_equal(space->axis_count, 5);
    assert_int_equal(ts_space_partition_bits(space), 512);
    assert_int_equal(ts_space_partition_bits(ts_space_new(arena, "hbm", 1024)), 0);
    for (size_t i = 0; i < sizeof placed / sizeof placed[0]; i++) {
        ts_error err = {0};
        const ts_shape *shape = parse_shape(arena, placed[i].shape);
        int64_t bits[TS_LAYOUT_MAX_AXES] = {0};
        bool good = ts_space_place(&err, space, shape, placed[i].base_bytes, bits);
        if (good != !placed[i].error) fail_msg("%s: %s", placed[i].shape, good ? "fits" : err.message);
        if (!good) assert_string_equal(err.message, placed[i].error);
        for (int k = 0; good && k < shape->layout->axis_count; k++) {
            bool is_p = strcmp(shape->layout->axes[k].name, "P") == 0;
            assert_int_equal(bits[k], placed[i].bits[is_p ? 0 : 1]);
        }
    }
    ts_space_free(space);
}

TEST_WITH_ARENA(addresses_fit_in_64_bits) {
    static const ts_machine_axis far = {"H", 0, INT64_C(1) << 57};
    const ts_machine_memory memory = {.name = "pe", .capacity_bytes = 1024, .axis_count = 1, .axes = &far};
    ts_error err = {0};
    int64_t bits[TS_LAYOUT_MAX_AXES];
    ts_space *space = ts_space_of_machine(arena, &memory);
    assert_false(ts_space_place(&err, space, parse_shape(arena, "f32[9] S[9:1@H]"), 0, bits));
    assert_string_equal(err.message, "the layout's addresses do not fit in 64 bits");
}

/* ---- The shadow ---- */

TEST_WITH_ARENA(shadows_take_what_is_marked) {
    ts_space *space = ts_space_new(arena, "hbm", INT64_C(1) << 44);
    const int64_t page = INT64_C(1) << 19, leaf = page << 12, far = (INT64_C(1) << 46) + 64;
    uint32_t poison[2];
    assert_int_equal(ts_space_find_poison(space, 0, 64), -1); /* not tracked */
    ts_space_track(space, arena);
    assert_true(ts_space_find_poison(space, far, 64) == far);
    assert_true(ts_space_get_poison(space, far, 2, poison));
    assert_int_equal(poison[0] & poison[1], 0xffffffff);
    ts_space_mark_valid(space, far, 2 * page);
    assert_int_equal(ts_space_find_poison(space, far, 2 * page), -1);
    assert_true(ts_space_find_poison(space, far, 2 * page + 1) == far + 2 * page);
    assert_false(ts_space_get_poison(space, far, 2, poison));
    assert_int_equal(poison[0] | poison[1], 0);
    ts_space_mark_valid(space, leaf - 3, 6); /* over the end of a leaf */
    assert_true(ts_space_find_poison(space, leaf - 3, 7) == leaf + 3);
    assert_true(ts_space_find_poison(space, leaf - 4, 7) == leaf - 4);
    ts_space_mark_poison(space, leaf - 1, 2);
    assert_true(ts_space_find_poison(space, leaf - 3, 6) == leaf - 1);
    assert_true(ts_space_find_poison(space, leaf, 6) == leaf);
    assert_true(ts_space_find_poison(space, leaf + 1, 2) == -1);
    assert_true(ts_space_set_poison(space, far + 64, 2, (uint32_t[]){0, 1 << 7}));
    assert_true(ts_space_find_poison(space, far, page) == far + 64 + 39);
    assert_true(ts_space_get_poison(space, far + 64, 2, poison));
    assert_true(poison[0] == 0 && poison[1] == 1 << 7);
    assert_true(ts_space_find_poison(space, far + 64 + 39, 1) == far + 64 + 39);
    assert_false(ts_space_set_poison(space, far + 64, 2, (uint32_t[]){0, 0}));
    assert_int_equal(ts_space_find_poison(space, far, page), -1);
    const int64_t last = (INT64_C(1) << 47) - 1;
    assert_true(ts_space_find_poison(space, last, 1) == last);
    ts_space_mark_valid(space, last, 1);
    assert_true(ts_space_find_poison(space, last - 1, 2) == last - 1);
    assert_int_equal(ts_space_find_poison(space, last, 1), -1);
    ts_space_free(space);
}

/* Words of the shadow are read, and others take their place. */
static void words_are_as_bits(ts_space *space, uint8_t *poison, int64_t first, const uint32_t want[4]) {
    uint32_t old[4];
    bool any = want[0] | want[1] | want[2] | want[3];
    assert_int_equal(ts_space_get_poison(space, first, 4, old), memchr(poison + first, 1, 128) != NULL);
    for (int bit = 0; bit < 128; bit++) assert_int_equal(old[bit / 32] >> bit % 32 & 1, poison[first + bit]);
    assert_int_equal(ts_space_set_poison(space, first, 4, want), any);
    for (int bit = 0; bit < 128; bit++) poison[first + bit] = want[bit / 32] >> bit % 32 & 1;
}

/* A shadow is an array of bits, whatever is marked in whatever order: words, bits at edges of pages, pages. */
TEST_WITH_ARENA(a_shadow_is_an_array) {
    enum { PAGE = 1 << 19, PAGES = 3, BITS = PAGES * PAGE, ROUNDS = 4000, LONGEST = 200 };
    static uint8_t poison[BITS];
    ts_space *space = ts_space_new(arena, "vmem", BITS / 8);
    uint64_t seed = 7;
    memset(poison, 1, BITS);
    ts_space_track(space, arena);
    for (int i = 0; i < ROUNDS; i++) {
        bool is_poison = random_below(&seed, 2);
        int64_t near =
            (int64_t)random_below(&seed, PAGES + 1) * PAGE - LONGEST + random_below(&seed, 2 * LONGEST);
        int64_t first = near < 0 ? 0 : near < BITS ? near : BITS - 1, room = BITS - first;
        int64_t count = random_below(&seed, i % 500 == 0 ? 2 * PAGE : LONGEST);
        if (count > room) count = room;
        const uint8_t *found = memchr(poison + first, 1, (size_t)count);
        assert_int_equal(ts_space_find_poison(space, first, count), found ? found - poison : -1);
        uint32_t words[4] = {0};
        if (is_poison) words[first % 128 / 32] = 1u << first % 32;
        if (i % 3 == 0) words_are_as_bits(space, poison, first / 128 * 128, words);
        (is_poison ? ts_space_mark_poison : ts_space_mark_valid)(space, first, count);
        memset(poison + first, is_poison, (size_t)count);
    }
}
