/* The shadow of a space: which bits hold a value. A page is all poison, all valid, or a bitmap. */
#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "memory/space.h"

enum { PAGE_BITS = 1 << 19 /* the bits of 64 KiB */, LEAF_PAGES = 1 << 12 };

typedef enum { ALL_POISON, ALL_VALID, BITMAP } page_state;

typedef struct {
    uint8_t state;
    uint64_t *bitmap; /* a set bit is valid; NULL: there was none yet */
} page;

struct ts_shadow {
    ts_arena *arena;
    page **leaves; /* of LEAF_PAGES pages; NULL: all poison */
};

void ts_space_track(ts_space *space, ts_arena *arena) {
    int64_t pages = ts_ceil_div(space->capacity_bytes * 8, PAGE_BITS);
    space->shadow = TS_NEW(arena, struct ts_shadow);
    space->shadow->arena = arena;
    space->shadow->leaves = TS_NEW_ARRAY(arena, page *, ts_ceil_div(pages, LEAF_PAGES));
}

/* Of the page with that bit. */
static const page *look(const struct ts_shadow *shadow, int64_t bit) {
    static const page poison = {ALL_POISON, NULL};
    int64_t number = bit / PAGE_BITS;
    const page *leaf = shadow->leaves[number / LEAF_PAGES];
    return leaf ? &leaf[number % LEAF_PAGES] : &poison;
}

static page *open_page(struct ts_shadow *shadow, int64_t bit) {
    int64_t number = bit / PAGE_BITS;
    page **leaf = &shadow->leaves[number / LEAF_PAGES];
    if (!*leaf) *leaf = TS_NEW_ARRAY(shadow->arena, page, LEAF_PAGES);
    return &(*leaf)[number % LEAF_PAGES];
}

static uint64_t *open_bitmap(ts_arena *arena, page *p) {
    if (!p->bitmap) p->bitmap = TS_NEW_ARRAY(arena, uint64_t, PAGE_BITS / 64);
    if (p->state != BITMAP) memset(p->bitmap, p->state == ALL_VALID ? 0xff : 0, PAGE_BITS / 8);
    p->state = BITMAP;
    return p->bitmap;
}

/* The bits first .. first+count-1 that lie in the word of `first`. */
static uint64_t word_mask(int64_t first, int64_t count) {
    int64_t shift = first % 64, room = 64 - shift, n = count < room ? count : room;
    return (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << shift;
}

static void mark_in_page(struct ts_shadow *shadow, page *p, int64_t first, int64_t count, page_state all) {
    if (count == PAGE_BITS) p->state = (uint8_t)all;
    if (p->state == all) return;
    uint64_t *bitmap = open_bitmap(shadow->arena, p);
    for (int64_t done = 0; done < count; done += 64 - (first + done) % 64) {
        uint64_t mask = word_mask(first + done, count - done);
        if (all == ALL_VALID)
            bitmap[(first + done) / 64] |= mask;
        else
            bitmap[(first + done) / 64] &= ~mask;
    }
}

static void mark(ts_space *space, int64_t first_bit, int64_t count, page_state all) {
    if (!space->shadow) return;
    while (count > 0) {
        int64_t in_page = first_bit % PAGE_BITS, room = PAGE_BITS - in_page, n = count < room ? count : room;
        mark_in_page(space->shadow, open_page(space->shadow, first_bit), in_page, n, all);
        first_bit += n;
        count -= n;
    }
}

void ts_space_mark_valid(ts_space *space, int64_t first_bit, int64_t count) {
    mark(space, first_bit, count, ALL_VALID);
}

void ts_space_mark_poison(ts_space *space, int64_t first_bit, int64_t count) {
    mark(space, first_bit, count, ALL_POISON);
}

static int64_t find_in_page(const page *p, int64_t first, int64_t count) {
    if (p->state == ALL_VALID) return -1;
    if (p->state == ALL_POISON) return first;
    for (int64_t done = 0; done < count; done += 64 - (first + done) % 64) {
        int64_t word = (first + done) / 64;
        uint64_t poison = ~p->bitmap[word] & word_mask(first + done, count - done);
        if (poison) return word * 64 + __builtin_ctzll(poison);
    }
    return -1;
}

int64_t ts_space_find_poison(const ts_space *space, int64_t first_bit, int64_t count) {
    if (!space->shadow) return -1;
    while (count > 0) {
        int64_t in_page = first_bit % PAGE_BITS, room = PAGE_BITS - in_page, n = count < room ? count : room;
        int64_t found = find_in_page(look(space->shadow, first_bit), in_page, n);
        if (found >= 0) return first_bit - in_page + found;
        first_bit += n;
        count -= n;
    }
    return -1;
}

bool ts_space_get_poison(const ts_space *space, int64_t first_bit, int64_t words, uint32_t *poison) {
    const page *p = look(space->shadow, first_bit);
    int64_t bit = first_bit % PAGE_BITS;
    assert(first_bit % 64 == 0 && words % 2 == 0 && bit + words * 32 <= PAGE_BITS);
    if (p->state != BITMAP) {
        memset(poison, p->state == ALL_VALID ? 0 : 0xff, (size_t)words * 4);
        return p->state == ALL_POISON;
    }
    const uint64_t *valid = p->bitmap + bit / 64;
    uint64_t any = 0;
    for (int64_t i = 0; i < words / 2; i++) {
        any |= ~valid[i];
        poison[2 * i] = (uint32_t)~valid[i];
        poison[2 * i + 1] = (uint32_t)(~valid[i] >> 32);
    }
    return any != 0;
}

bool ts_space_set_poison(ts_space *space, int64_t first_bit, int64_t words, const uint32_t *poison) {
    struct ts_shadow *shadow = space->shadow;
    int64_t bit = first_bit % PAGE_BITS;
    assert(first_bit % 64 == 0 && words % 2 == 0 && bit + words * 32 <= PAGE_BITS);
    uint64_t *valid = open_bitmap(shadow->arena, open_page(shadow, first_bit)) + bit / 64, any = 0;
    for (int64_t i = 0; i < words / 2; i++) {
        uint64_t two = poison[2 * i] | (uint64_t)poison[2 * i + 1] << 32;
        any |= two;
        valid[i] = ~two;
    }
    return any != 0;
}
