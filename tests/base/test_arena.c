/* Arenas: zeroed, aligned, kept over a reset, checked sizes, what is called when memory is out. */
#include "tests/support/test.h"

#include <string.h>

#include "base/arena.h"

static jmp_buf out_of_memory;
static size_t refused_bytes;

void ts_out_of_memory(size_t bytes) {
    refused_bytes = bytes;
    longjmp(out_of_memory, 1);
}

static bool all_zero(const unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i]) return false;
    return true;
}

/* Allocations of many sizes are zero, aligned and apart, in a new arena and after each reset. */
TEST(allocations) {
    static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 4096, 65536, 70000, 3 << 20, 5, 1 << 20, 33};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    ts_arena *arena = ts_arena_new();
    for (int round = 0; round < 4; round++) {
        unsigned char *made[COUNT];
        for (size_t i = 0; i < COUNT; i++) {
            size_t size = sizes[(i + (size_t)round * 5) % COUNT];
            made[i] = ts_arena_alloc(arena, size, 1);
            assert_non_null(made[i]);
            assert_int_equal((uintptr_t)made[i] % 16, 0);
            assert_true(all_zero(made[i], size));
            memset(made[i], (int)i + 1, size);
        }
        for (size_t i = 0; i < COUNT; i++)
            for (size_t j = 0; j < sizes[(i + (size_t)round * 5) % COUNT]; j++)
                if (made[i][j] != i + 1) fail_msg("allocation %zu was overwritten at %zu", i, j);
        ts_arena_reset(arena);
    }
    ts_arena_free(arena);
    ts_arena_free(NULL);
}

TEST_WITH_ARENA(grow_and_copy) {
    int *three = TS_NEW_ARRAY(arena, int, 3);
    three[2] = 7;
    int *five = ts_arena_grow(arena, three, 3, 5, sizeof *five);
    assert_int_equal(five[2], 7);
    assert_int_equal(five[3] | five[4], 0);
    assert_int_equal(three[2], 7);
    assert_non_null(ts_arena_grow(arena, NULL, 0, 2, 4));
    assert_string_equal(ts_arena_copy_text(arena, "tile rest", 4), "tile");
    assert_string_equal(ts_arena_copy_text(arena, NULL, 0), "");
}

TEST(refused) {
    static const struct {
        size_t count, size, refused;
    } rows[] = {
        {SIZE_MAX / 2, 3, SIZE_MAX}, /* the product does not fit */
        {1, SIZE_MAX, SIZE_MAX},     /* nor does rounding it up */
        {1, SIZE_MAX - 3, SIZE_MAX},
        {1, SIZE_MAX / 2 - 64, 0}, /* calloc refuses; the bytes asked for are reported */
        {SIZE_MAX / 4, 1, 0},
    };
    ts_arena *volatile arena = ts_arena_new();
    for (volatile size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refused_bytes = 0;
        if (setjmp(out_of_memory) == 0) {
            ts_arena_alloc(arena, rows[i].count, rows[i].size);
            fail_msg("row %zu was not refused", i);
        }
        if (rows[i].refused) assert_true(refused_bytes == rows[i].refused);
        if (!rows[i].refused) assert_true(refused_bytes >= rows[i].count * rows[i].size);
    }
    for (volatile int64_t count = -1; count >= -4; count -= 3) { /* a sum that is too large, or negative */
        if (setjmp(out_of_memory) == 0) {
            (void)TS_NEW_ARRAY(arena, char, count);
            fail_msg("%d was not refused", (int)count);
        }
        assert_true(refused_bytes == SIZE_MAX);
    }
    assert_true(ts_arena_count(7) == 7 && ts_arena_count(INT64_MIN) == SIZE_MAX);
    assert_non_null(ts_arena_alloc(arena, 1, 1)); /* the arena is still whole */
    ts_arena_free(arena);
}

typedef struct {
    int64_t value, rest;
} item;

/* Room is made at 0, 4, 8 .. items and nowhere else, and what comes next lies behind it. */
TEST(room_doubles) {
    ts_arena *arena = ts_arena_new();
    item *items = NULL;
    for (int64_t count = 0; count < 40; count++) {
        item *now = ts_arena_extend(arena, items, (size_t)count, sizeof *items);
        bool grows = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
        assert_true((now != items) == grows);
        int64_t room = count > 0 ? 2 * count : 4;
        if (grows) assert_true(all_zero((void *)(now + count), (size_t)(room - count) * sizeof *now));
#if !defined(__SANITIZE_ADDRESS__)
        if (grows) assert_ptr_equal(ts_arena_alloc(arena, 1, 1), now + room);
#endif
        items = now;
        items[count].value = count * 3;
        for (int64_t i = 0; i <= count; i++) assert_int_equal(items[i].value, i * 3);
    }
    ts_arena_free(arena);
}

#if !defined(__SANITIZE_ADDRESS__) /* there each allocation is its own */
/* Resetting and filling again takes no new memory: the addresses come back, those of a chunk's first allocation
 * where it fits exactly, too. */
TEST(memory_is_reused) {
    static const size_t sizes[] = {1000, 1 << 20, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ts_arena *arena = ts_arena_new();
        void *first = ts_arena_alloc(arena, sizes[i], 1);
        ts_arena_reset(arena);
        assert_ptr_equal(first, ts_arena_alloc(arena, sizes[i], 1));
        ts_arena_free(arena);
    }
}

/* A text takes no more than its bytes and the 0 behind them. */
TEST(texts_are_small) {
    ts_arena *arena = ts_arena_new();
    char *text = ts_arena_copy_text(arena, "0123456789abcde", 15);
    assert_ptr_equal(ts_arena_alloc(arena, 1, 1), text + 16);
    ts_arena_free(arena);
}

/* One large allocation does not end the chunk that small ones come from; one with more room does. */
TEST(the_roomier_chunk_is_filled) {
    ts_arena *arena = ts_arena_new();
    char *small = ts_arena_alloc(arena, 16, 1);
    (void)ts_arena_alloc(arena, 100000, 1);
    assert_ptr_equal(ts_arena_alloc(arena, 1000, 1), small + 16);
    assert_ptr_equal(ts_arena_alloc(arena, 32, 1), small + 1024);
    char *next = ts_arena_alloc(arena, 50000, 1); /* of 65536, which leaves a little more */
    assert_ptr_equal(ts_arena_alloc(arena, 32, 1), next + 50000);
    ts_arena_free(arena);
    arena = ts_arena_new();
    small = ts_arena_alloc(arena, 16, 1);
    assert_ptr_equal(ts_arena_alloc(arena, (16 << 10) - 16, 1), small + 16); /* fills it */
    ts_arena_free(arena);
}
#endif
