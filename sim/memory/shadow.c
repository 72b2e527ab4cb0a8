/* The shadow of a space: which bits hold a value. A page is all poison, all valid, or a bitmap. */
#include <assert.h>
#include <string.h>

#include "tilesim/base/number.h"
#include "tilesim/memory/space.h"

enum { PAGE_BITS = 1 << 19 }; /* the bits of 64 KiB */

typedef enum { ALL_POISON, ALL_VALID, BITMAP } page_state;

struct ts_shadow {
    ts_arena *arena;
    uint8_t *states;
    uint64_t **bitmaps; /* a set bit is valid */
};

void ts_space_track(ts_space *space, ts_arena *arena) {
    int64_t pages = ts_ceil_div(space->capacity_bytes * 8, PAGE_BITS);
    space->shadow = TS_NEW(arena, struct ts_shadow);
    space->shadow->arena = arena;
    space->shadow->states = TS_NEW_ARRAY(arena, uint8_t, pages);
    space->shadow->bitmaps = TS_NEW_ARRAY(arena, uint64_t *, pages);
}

static uint64_t *open_bitmap(struct ts_shadow *shadow, int64_t page) {
    if (!shadow->bitmaps[page]) shadow->bitmaps[page] = TS_NEW_ARRAY(shadow->arena, uint64_t, PAGE_BITS / 64);
    if (shadow->states[page] != BITMAP) {
        memset(shadow->bitmaps[page], shadow->states[page] == ALL_VALID ? 0xff : 0, PAGE_BITS / 8);
    }
    shadow->states[page] = BITMAP;
    return shadow->bitmaps[page];
}

/* The bits first .. first+count-1 that lie in the word of `first`. */
static uint64_t word_mask(int64_t first, int64_t count) {
    int64_t shift = first % 64, room = 64 - shift, n = count < room ? count : room;
    return (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << shift;
}

static void mark_in_page(struct ts_shadow *shadow, int64_t page, int64_t first, int64_t count, bool valid) {
    if (count == PAGE_BITS) {
        shadow->states[page] = valid ? ALL_VALID : ALL_POISON;
        return;
    }
    if (shadow->states[page] == (valid ? ALL_VALID : ALL_POISON)) return;
    uint64_t *bitmap = open_bitmap(shadow, page);
    for (int64_t done = 0; done < count; done += 64 - (first + done) % 64) {
        uint64_t mask = word_mask(first + done, count - done);
        if (valid)
            bitmap[(first + done) / 64] |= mask;
        else
            bitmap[(first + done) / 64] &= ~mask;
    }
}

void ts_space_mark(ts_space *space, int64_t first_bit, int64_t count, bool valid) {
    if (!space->shadow) return;
    while (count > 0) {
        int64_t in_page = first_bit % PAGE_BITS, room = PAGE_BITS - in_page, n = count < room ? count : room;
        mark_in_page(space->shadow, first_bit / PAGE_BITS, in_page, n, valid);
        first_bit += n;
        count -= n;
    }
}

static int64_t find_in_page(const struct ts_shadow *shadow, int64_t page, int64_t first, int64_t count) {
    if (shadow->states[page] == ALL_VALID) return -1;
    if (shadow->states[page] == ALL_POISON) return first;
    for (int64_t done = 0; done < count; done += 64 - (first + done) % 64) {
        int64_t word = (first + done) / 64;
        uint64_t poison = ~shadow->bitmaps[page][word] & word_mask(first + done, count - done);
        if (poison) return word * 64 + __builtin_ctzll(poison);
    }
    return -1;
}

int64_t ts_space_find_poison(const ts_space *space, int64_t first_bit, int64_t count) {
    if (!space->shadow) return -1;
    while (count > 0) {
        int64_t page = first_bit / PAGE_BITS, in_page = first_bit % PAGE_BITS;
        int64_t room = PAGE_BITS - in_page, n = count < room ? count : room;
        int64_t found = find_in_page(space->shadow, page, in_page, n);
        if (found >= 0) return page * PAGE_BITS + found;
        first_bit += n;
        count -= n;
    }
    return -1;
}

bool ts_space_get_poison(const ts_space *space, int64_t first_bit, int64_t words, uint32_t *poison) {
    const struct ts_shadow *shadow = space->shadow;
    int64_t page = first_bit / PAGE_BITS, bit = first_bit % PAGE_BITS;
    assert(first_bit % 64 == 0 && words % 2 == 0 && bit + words * 32 <= PAGE_BITS);
    if (shadow->states[page] != BITMAP) {
        memset(poison, shadow->states[page] == ALL_VALID ? 0 : 0xff, (size_t)words * 4);
        return shadow->states[page] == ALL_POISON;
    }
    const uint64_t *valid = shadow->bitmaps[page] + bit / 64;
    uint64_t any = 0;
    for (int64_t i = 0; i < words / 2; i++) {
        any |= ~valid[i];
        poison[2 * i] = (uint32_t)~valid[i];
        poison[2 * i + 1] = (uint32_t)(~valid[i] >> 32);
    }
    return any != 0;
}

bool ts_space_set_poison(ts_space *space, int64_t first_bit, int64_t words, const uint32_t *poison) {
    int64_t page = first_bit / PAGE_BITS, bit = first_bit % PAGE_BITS;
    assert(first_bit % 64 == 0 && words % 2 == 0 && bit + words * 32 <= PAGE_BITS);
    uint64_t *valid = open_bitmap(space->shadow, page) + bit / 64, any = 0;
    for (int64_t i = 0; i < words / 2; i++) {
        uint64_t two = poison[2 * i] | (uint64_t)poison[2 * i + 1] << 32;
        any |= two;
        valid[i] = ~two;
    }
    return any != 0;
}
