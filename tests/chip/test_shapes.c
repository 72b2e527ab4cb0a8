/* Which transfers take the same time, and what those must have in common that several chips start. */
#include "chip/shapes.h"

#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"

enum { ACCESS = 64, GRANULE_BITS = 32, READS = 1, WRITES = 2 };

typedef struct {
    const char *src, *dst;
    int64_t rows, columns, src_bytes, dst_bytes;
    int ends, priority, layouts;
} transfer;

static ts_dma_transfer transfer_of(ts_arena *arena, const transfer *t) {
    static const int64_t begin[2] = {0, 0};
    ts_source sources[] = {{"src", t->src, strlen(t->src)}, {"dst", t->dst, strlen(t->dst)}};
    int64_t sizes[2] = {t->rows, t->columns};
    ts_plan_side src = {ts_shape_parse(NULL, arena, &sources[0]), begin, NULL, t->src_bytes * 8},
                 dst = {ts_shape_parse(NULL, arena, &sources[1]), begin, NULL, t->dst_bytes * 8};
    ts_dma_transfer what = {.plan = ts_plan_new(NULL, arena, &src, &dst, 2, sizes), .priority = t->priority};
    assert_non_null(what.plan);
    what.src.in_hbm = t->ends & READS;
    what.dst.in_hbm = t->ends & WRITES;
    return what;
}

/* Boxes of 8 and 4 rows, at a distance that is the source's; and both ways. */
#define WIDE   "f32[16,384]{1,0:T(8,128)}"
#define NARROW "f32[16,256]{1,0:T(8,128)}"
#define ROWS   "f32[12,100]{1,0}"
#define LONG   "f32[12,128]{1,0}"
static const transfer usual = {NARROW, ROWS, 12, 100, 4096, 8192, READS, 0, 1},
                      into = {ROWS, NARROW, 12, 100, 4096, 8192, WRITES, 0, 1},
                      both = {LONG, LONG, 12, 128, 4096, 8192, READS | WRITES, 0, 1};

static const struct {
    const transfer *a, b;
    bool alike, starts_alike;
} pairs[] = {
    {&usual, {NARROW, ROWS, 12, 100, 4096, 8192, READS, 0, 1}, true, true},
    {&usual, {NARROW, ROWS, 12, 100, 4096, 8192, READS, 1, 1}, false, false},
    {&usual, {NARROW, ROWS, 12, 100, 4096, 8192, READS, 0, 2}, false, false},
    {&usual, {NARROW, ROWS, 12, 99, 4096, 8192, READS, 0, 1}, false, false},
    {&usual, {NARROW, ROWS, 11, 100, 4096, 8192, READS, 0, 1}, false, false},
    {&usual, {NARROW, ROWS, 8, 100, 4096, 8192, READS, 0, 1}, false, false},
    {&usual, {WIDE, ROWS, 12, 100, 4096, 8192, READS, 0, 1}, false, false},
    {&usual, {NARROW, LONG, 12, 100, 4096, 8192, READS, 0, 1}, false, false},
    {&usual, {NARROW, ROWS, 12, 100, 4096, 8192, WRITES, 0, 1}, false, false},
    {&usual, {NARROW, ROWS, 12, 100, 4096, 8192, READS | WRITES, 0, 1}, false, false},
    {&usual, {NARROW, ROWS, 12, 100, 4096, 8192, 0, 0, 1}, false, false},
    {&into, {ROWS, WIDE, 12, 100, 4096, 8192, WRITES, 0, 1}, false, false},
    {&into, {ROWS, NARROW, 12, 100, 4096, 8192, READS, 0, 1}, false, false},
    /* Elsewhere in HBM: in whole accesses; in what is not in HBM, anywhere. */
    {&usual, {NARROW, ROWS, 12, 100, 4096 + ACCESS, 8192, READS, 0, 1}, true, false},
    {&usual, {NARROW, ROWS, 12, 100, 4096 + ACCESS / 2, 8192, READS, 0, 1}, false, false},
    {&usual, {NARROW, ROWS, 12, 100, 4096 + GRANULE_BITS *ACCESS, 8192, READS, 0, 1}, true, true},
    {&usual, {NARROW, ROWS, 12, 100, 4096 + GRANULE_BITS *ACCESS / 2, 8192, READS, 0, 1}, true, false},
    {&usual, {NARROW, ROWS, 12, 100, 4096, 8192 + 4, READS, 0, 1}, true, false},
    {&into, {ROWS, NARROW, 12, 100, 4096, 8192 + ACCESS, WRITES, 0, 1}, true, false},
    {&into, {ROWS, NARROW, 12, 100, 4096, 8192 + ACCESS / 2, WRITES, 0, 1}, false, false},
    {&into, {ROWS, NARROW, 12, 100, 4096, 8192 + GRANULE_BITS *ACCESS, WRITES, 0, 1}, true, true},
    {&into, {ROWS, NARROW, 12, 100, 4096 + 4, 8192, WRITES, 0, 1}, true, false},
    {&both, {LONG, LONG, 12, 128, 4096 + ACCESS, 8192 + ACCESS, READS | WRITES, 0, 1}, true, false},
    {&both, {LONG, LONG, 12, 128, 4096, 8192 + 2 * ACCESS, READS | WRITES, 0, 1}, true, false},
};

TEST(they_make_the_same_accesses_up_to_a_shift) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ts_arena *arena = ts_arena_new();
        shapes *all = TS_NEW(arena, shapes);
        *all = (shapes){.arena = arena, .dma = &plain_dma};
        ts_dma_transfer a = transfer_of(arena, pairs[i].a), b = transfer_of(arena, &pairs[i].b);
        int layouts[] = {pairs[i].a->layouts, pairs[i].b.layouts};
        const shape *first = shapes_find(all, &a, layouts[0]);
        assert_ptr_equal(shapes_find(all, &a, layouts[0]), first);
        bool alike = shapes_find(all, &b, layouts[1]) == first;
        uint64_t hashes[2][2];
        shapes_hash_start(all, &a, layouts[0], hashes[0]);
        shapes_hash_start(all, &b, layouts[1], hashes[1]);
        bool starts_alike = memcmp(hashes[0], hashes[1], sizeof hashes[0]) == 0;
        if (alike != pairs[i].alike || starts_alike != pairs[i].starts_alike)
            fail_msg("pair %zu: alike %d, start %d", i, alike, starts_alike);
        ts_arena_free(arena);
    }
}

/* Also a hash of both halves: two numbers, of which each tells them apart. */
TEST(both_numbers_tell_them_apart) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ts_arena *arena = ts_arena_new();
        shapes *all = TS_NEW(arena, shapes);
        *all = (shapes){.arena = arena, .dma = &plain_dma};
        ts_dma_transfer a = transfer_of(arena, pairs[i].a), b = transfer_of(arena, &pairs[i].b);
        const shape *first = shapes_find(all, &a, pairs[i].a->layouts),
                    *second = shapes_find(all, &b, pairs[i].b.layouts);
        for (int k = 0; k < 2; k++) assert_int_equal(first->hash[k] == second->hash[k], pairs[i].alike);
        ts_arena_free(arena);
    }
}

/* One of so many boxes that they are not looked at is like no other, itself included. */
TEST(many_boxes_are_like_no_other) {
    static const transfer many = {
        "f32[56,5760]{1,0:T(8,128)}", "f32[56,5760]{1,0:T(7,90)}", 56, 5760, 0, 0, READS, 0, 1};
    ts_arena *arena = ts_arena_new();
    shapes *all = TS_NEW(arena, shapes), *others = TS_NEW(arena, shapes);
    *all = *others = (shapes){.arena = arena, .dma = &plain_dma};
    ts_dma_transfer what = transfer_of(arena, &many);
    assert_true(what.plan->box_count > 1024);
    assert_ptr_not_equal(shapes_find(all, &what, 1), shapes_find(all, &what, 1));
    uint64_t hashes[3][2];
    *all = *others = (shapes){.arena = arena, .dma = &plain_dma};
    for (int k = 0; k < 2; k++) shapes_hash_start(all, &what, 1, hashes[k]);
    shapes_hash_start(others, &what, 1, hashes[2]);
    assert_memory_not_equal(hashes[0], hashes[1], sizeof hashes[0]);
    assert_memory_not_equal(hashes[0], hashes[2], sizeof hashes[0]); /* of another chip */
    ts_arena_free(arena);
}
