/* Traversals: what the blocks of a box hold, counted ahead and by traversing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/random_layout.h"
#include "dma/traversal_private.h"
#include "tests/support/test.h"

static const char *const layouts[] = {"{2,1,0}", "{2,1,0:T(8,128)}", "{0,2,1:T(8,128)}", "{1,2,0}",
                                      "{2,0,1:T(4)}"};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0], SEED = 5 };

/* Between two shapes, of which the destination begins at a bit. */
static const ts_plan *plan_between(ts_arena *arena, const char *src, const char *dst, int64_t dst_bits) {
    const char *texts[] = {src, dst};
    const ts_shape *shapes[2];
    for (int i = 0; i < 2; i++) {
        ts_source source = {"shape", texts[i], strlen(texts[i])};
        shapes[i] = ts_shape_parse(NULL, arena, &source);
        assert_non_null(shapes[i]);
    }
    const ts_layout *layout = shapes[0]->layout;
    ts_plan_side a = {shapes[0], NULL, NULL, 0}, b = {shapes[1], NULL, NULL, dst_bits};
    const ts_plan *plan = ts_plan_new(NULL, arena, &a, &b, layout->rank, layout->dims);
    assert_non_null(plan);
    return plan;
}

static const ts_plan *some_plan_of(ts_arena *arena, uint64_t *seed, const char *type) {
    int dims[3];
    char texts[2][96];
    for (int i = 0; i < 3; i++) dims[i] = 1 + (int)random_below(seed, i < 2 ? 70 : 300);
    for (int i = 0; i < 2; i++)
        snprintf(texts[i], sizeof texts[i], "%s[%d,%d,%d]%s", type, dims[0], dims[1], dims[2],
                 layouts[random_below(seed, LAYOUTS)]);
    return plan_between(arena, texts[0], texts[1], INT64_C(1) << 33);
}

static const ts_plan *some_plan(ts_arena *arena, uint64_t *seed) { return some_plan_of(arena, seed, "f32"); }

/* Of any strides: iterations of an outer loop may begin within what the inner ones access, or shortly behind. */
static const ts_plan *some_strided_plan(ts_arena *arena, uint64_t *seed, const char *type) {
    int extents[3], strides[3];
    char texts[2][128];
    for (int i = 0; i < 3; i++) {
        extents[i] = 1 + (int)random_below(seed, 8);
        strides[i] = 1 + (int)random_below(seed, 60);
    }
    snprintf(texts[0], sizeof texts[0], "%s[%d,%d,%d] S[(%d,%d,%d):(%d,%d,%d)]", type, extents[0], extents[1],
             extents[2], extents[0], extents[1], extents[2], strides[0], strides[1], strides[2]);
    snprintf(texts[1], sizeof texts[1], "%s[%d,%d,%d]", type, extents[0], extents[1], extents[2]);
    return plan_between(arena, texts[0], texts[1], INT64_C(1) << 33);
}

/* Lines and runs are the same whether accesses are listed, or only counted. */
TEST(accesses_are_counted_as_they_are_listed) {
    static const char *const types[] = {"s4", "u8", "bf16", "f32"};
    uint64_t seed = SEED + 11;
    for (int i = 0; i < 600; i++) {
        ts_arena *arena = ts_arena_new();
        const char *type = types[i % 4];
        const ts_plan *plan =
            i < 120 ? some_plan_of(arena, &seed, type) : some_strided_plan(arena, &seed, type);
        assert_non_null(plan);
        int src_line = 16 << random_below(&seed, 6), dst_line = 16 << random_below(&seed, 6);
        ts_traversal *lists = ts_traversal_new(arena, plan, src_line, dst_line, 32),
                     *counts = ts_traversal_new(arena, plan, src_line, dst_line, 32),
                     *passes = ts_traversal_new(arena, plan, src_line, dst_line, 32);
        const ts_traversal_access *accesses;
        int64_t elements, listed = 0;
        int count;
        counts->only_counts = true;
        while (ts_traversal_next(lists, &accesses, &count, &elements)) {
            listed += count;
            assert_true(ts_traversal_next(counts, &accesses, &count, &elements));
            assert_int_equal(count, 0);
            assert_memory_equal(&counts->totals, &lists->totals, sizeof counts->totals);
            assert_memory_equal(counts->last_line, lists->last_line, sizeof counts->last_line);
            if (!passes->box_open) assert_true(traversal_open_box(passes));
            traversal_pass_block(passes);
            assert_memory_equal(passes->last_line, lists->last_line, sizeof passes->last_line);
        }
        const ts_traversal_totals *t = &lists->totals;
        assert_int_equal(t->src_lines + t->dst_lines + t->rmw_lines, listed);
        assert_false(ts_traversal_next(counts, &accesses, &count, &elements));
        ts_arena_free(arena);
    }
}

/* Backward, an element in each line of 16 bytes: row i has the lines 16 i to 16 i + 7. */
TEST_WITH_ARENA(rows_that_go_backward_have_their_lines) {
    const ts_plan *plan = plan_between(arena, "f32[4,8] S[(4,8):(64,-4)] + 28", "f32[4,8]", INT64_C(1) << 33);
    ts_traversal *traversal = ts_traversal_new(arena, plan, 16, 0, 32);
    const ts_traversal_access *accesses;
    int64_t elements;
    int count, seen[4 * 16] = {0};
    while (ts_traversal_next(traversal, &accesses, &count, &elements))
        for (int i = 0; i < count; i++) {
            assert_in_range(accesses[i].address, 0, sizeof seen / sizeof *seen * 16 - 1);
            seen[accesses[i].address / 16]++;
        }
    for (int line = 0; line < 4 * 16; line++) assert_int_equal(seen[line], line % 16 < 8);
}

/* As far apart as 64 bits hold: sums of their lines' numbers would not fit. */
TEST_WITH_ARENA(lines_far_apart_are_counted) {
    const ts_plan *plan = plan_between(arena, "u8[4096] S[4096:140737488355328]", "u8[4096]", 0);
    ts_traversal *counts = ts_traversal_new(arena, plan, 16, 16, 8);
    const ts_traversal_access *accesses;
    int64_t elements;
    int count;
    counts->only_counts = true;
    while (ts_traversal_next(counts, &accesses, &count, &elements)) assert_int_equal(count, 0);
    assert_int_equal(counts->totals.src_lines, 4096);
    assert_int_equal(counts->totals.dst_lines, 4096 / 16);
}

TEST(elements_before_a_block_are_those_traversed) {
    uint64_t seed = SEED;
    for (int i = 0; i < 40; i++) {
        ts_arena *arena = ts_arena_new();
        ts_traversal *traversal = ts_traversal_new(arena, some_plan(arena, &seed), 64, 64, 32);
        const ts_traversal_access *accesses;
        int64_t elements, next, count, box = -1, traversed = 0;
        int ignored;
        while (ts_traversal_next(traversal, &accesses, &ignored, &elements)) {
            int64_t here = ts_traversal_position(traversal, &next, &count);
            traversed += elements;
            if (here < 0) { /* the box has ended */
                traversed = 0;
                continue;
            }
            if (here != box) traversed = elements;
            box = here;
            assert_int_equal(ts_traversal_before(traversal, next).elements, traversed);
            assert_in_range(ts_traversal_before(traversal, count).elements, traversed + 1, INT64_MAX);
        }
        ts_arena_free(arena);
    }
}

/* Blocks in their order take every element of a box once: what they say of their positions is another count. */
TEST(places_of_blocks) {
    uint64_t seed = SEED + 1;
    for (int i = 0; i < 40; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = some_plan(arena, &seed);
        ts_traversal *traversal = ts_traversal_new(arena, plan, 64, 64, 32);
        const ts_traversal_access *accesses;
        int64_t elements, number, count, box = -1, expected = 0;
        int ignored;
        while (ts_traversal_next(traversal, &accesses, &ignored, &elements)) {
            ts_traversal_block block;
            ts_plan_box loops;
            ts_traversal_last_block(traversal, &block);
            ts_plan_get_box(plan, block.box, &loops);
            int64_t position = 0, size = 1;
            for (int k = 0; k < block.loop_count; k++) {
                assert_in_range(block.at[k] + block.extent[k], 1, loops.loops[k].extent);
                position = position * loops.loops[k].extent + block.at[k];
                size *= block.extent[k];
            }
            assert_int_equal(block.loop_count, loops.loop_count);
            assert_int_equal(size, elements);
            if (block.box != box) assert_int_equal(position, 0);
            if (block.box == box) assert_true(position > expected);
            box = block.box;
            expected = position;
            int64_t here = ts_traversal_position(traversal, &number, &count);
            assert_true(here < 0 || here == box);
        }
        assert_int_equal(box, plan->box_count - 1);
        ts_arena_free(arena);
    }
}

static int64_t lines_of(const ts_traversal *traversal) {
    const ts_traversal_totals *t = ts_traversal_get_totals(traversal);
    return t->src_lines + t->dst_lines + t->rmw_lines;
}

/* All boxes as one: what lies before a block is what was traversed until there; their work is the lines, about. */
TEST(boxes_are_taken_as_one) {
    uint64_t seed = SEED + 2;
    for (int i = 0; i < 40; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = some_plan(arena, &seed);
        ts_traversal *traversal = ts_traversal_new(arena, plan, 64, 64, 32);
        const ts_traversal_access *accesses;
        int64_t elements, next, count, traversed = 0, blocks = 0;
        int ignored;
        ts_traversal_join_boxes(traversal);
        assert_true(ts_traversal_boxes_are_joined(traversal));
        while (ts_traversal_next(traversal, &accesses, &ignored, &elements)) {
            int64_t here = ts_traversal_position(traversal, &next, &count);
            if (here >= 0) assert_int_equal(ts_traversal_before(traversal, blocks).elements, traversed);
            traversed += elements;
            blocks++;
            if (here < 0) break;
            assert_int_equal(here, plan->box_count);
            assert_int_equal(next, blocks);
            assert_int_equal(ts_traversal_before(traversal, count).elements, plan->moved_elements);
            int64_t work = ts_traversal_before(traversal, count).work;
            assert_in_range(work * 100, lines_of(traversal) * TS_TRAVERSAL_LINE_WORK * 98, INT64_MAX);
            assert_true(ts_traversal_before(traversal, next).work <= work);
        }
        assert_int_equal(traversed, plan->moved_elements);
        ts_arena_free(arena);
    }
}

enum { SOME_BLOCKS = 1 << 12 };

/* The first block of the last iteration of the outermost loop that has several, if that is smaller; else their number. */
static int64_t first_smaller(const ts_traversal_block *blocks, int64_t count) {
    const ts_traversal_block *last = &blocks[count - 1];
    int64_t first = 0;
    int outer = 0;
    while (outer < last->loop_count && last->at[outer] == 0) outer++;
    if (outer == last->loop_count || last->extent[outer] == blocks[0].extent[outer]) return count;
    while (blocks[first].at[outer] != last->at[outer]) first++;
    return first;
}

TEST(blocks_before_a_smaller_iteration_are_alike) {
    static ts_traversal_block blocks[SOME_BLOCKS];
    uint64_t seed = SEED + 12;
    int smaller = 0, others = 0;
    for (int i = 0; i < 60; i++) {
        ts_arena *arena = ts_arena_new();
        ts_traversal *traversal = ts_traversal_new(arena, some_plan(arena, &seed), 64, 64, 32);
        const ts_traversal_access *accesses;
        int64_t elements, next, all, alike = 0, count = 0;
        int ignored;
        while (ts_traversal_next(traversal, &accesses, &ignored, &elements)) {
            assert_in_range(count, 0, SOME_BLOCKS - 1);
            ts_traversal_last_block(traversal, &blocks[count++]);
            if (ts_traversal_position(traversal, &next, &all) >= 0) {
                alike = ts_traversal_alike(traversal);
                assert_in_range(alike, 1, all);
                continue;
            }
            if (count > 1) assert_int_equal(alike, first_smaller(blocks, count));
            smaller += count > 1 && alike < count;
            others += count > 1 && alike == count;
            count = 0;
        }
        ts_arena_free(arena);
    }
    assert_in_range(smaller, 20, INT32_MAX);
    assert_in_range(others, 20, INT32_MAX);
}

/* Blocks of one kind may have more lines, or fewer: so many are measured that their mean is known. */
TEST_WITH_ARENA(work_of_uneven_blocks_is_found) {
    const ts_plan *plan = plan_between(arena, "s4[3584,312,13]{2,1,0:T(2,128)E(4)}",
                                       "s4[3584,312,13]{2,0,1:T(4,128)(8,1)E(4)}", INT64_C(1) << 36);
    ts_traversal *traversal = ts_traversal_new(arena, plan, 512, 0, 32);
    const ts_traversal_access *accesses;
    int64_t elements, next, count, work = 0;
    int ignored;
    while (ts_traversal_next(traversal, &accesses, &ignored, &elements))
        if (work == 0 && ts_traversal_position(traversal, &next, &count) == 0)
            work = ts_traversal_before(traversal, count).work;
    assert_int_equal(plan->box_count, 1);
    int64_t lines = lines_of(traversal) * TS_TRAVERSAL_LINE_WORK, off = work - lines;
    assert_in_range(off < 0 ? -off : off, 0, lines / 400);
}

/* A traversal that goes on at a block gives what one gives that has come there; then its box is by itself. */
TEST(any_block_can_be_next) {
    uint64_t seed = SEED + 3;
    for (int i = 0; i < 40; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = some_plan(arena, &seed);
        ts_traversal *traversal = ts_traversal_new(arena, plan, 64, 64, 32),
                     *other = ts_traversal_new(arena, plan, 64, 64, 32);
        const ts_traversal_access *accesses;
        int64_t elements, next, count;
        int ignored, lines;
        ts_traversal_join_boxes(traversal);
        for (int64_t block = 0; ts_traversal_next(other, &accesses, &ignored, &elements); block++) {
            ts_traversal_block a, b;
            int64_t sought = elements;
            ts_traversal_last_block(other, &a);
            ts_traversal_seek(traversal, block);
            assert_int_equal(ts_traversal_position(traversal, &next, &count), plan->box_count);
            assert_int_equal(next, block);
            assert_true(ts_traversal_next(traversal, &accesses, &lines, &elements));
            assert_int_equal(elements, sought);
            ts_traversal_last_block(traversal, &b);
            assert_memory_equal(&a, &b, sizeof a);
            /* Behind the last, nothing can be sought. */
            if (ts_traversal_position(traversal, &next, &count) < 0) break;
            int first = lines; /* it shares none with what was traversed before */
            ts_traversal_seek(traversal, block);
            assert_true(ts_traversal_next(traversal, &accesses, &lines, &elements));
            assert_int_equal(lines, first);
        }
        ts_traversal_split_boxes(traversal);
        assert_false(ts_traversal_boxes_are_joined(traversal));
        assert_int_equal(ts_traversal_position(traversal, &next, &count), -1);
        ts_arena_free(arena);
    }
}

enum { SOME_BOXES = 4096 };

/* The first block of each box, and behind the last. */
static int64_t find_starts(ts_arena *arena, const ts_plan *plan, int64_t *starts) {
    ts_traversal *traversal = ts_traversal_new(arena, plan, 64, 64, 32);
    const ts_traversal_access *accesses;
    int64_t elements, blocks = 0, box = -1;
    int ignored;
    for (; ts_traversal_next(traversal, &accesses, &ignored, &elements); blocks++) {
        ts_traversal_block block;
        ts_traversal_last_block(traversal, &block);
        if (block.box != box) starts[box = block.box] = blocks;
    }
    starts[box + 1] = blocks;
    return box + 1;
}

/* A part of the work lies in the box before which that of boxes with less is, or as much and earlier ones. */
TEST(boxes_are_found_by_their_work) {
    uint64_t seed = SEED + 5;
    for (int i = 0; i < 40; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = some_plan(arena, &seed);
        ts_traversal *traversal = ts_traversal_new(arena, plan, 64, 64, 32);
        int64_t starts[SOME_BOXES + 1], work[SOME_BOXES + 1];
        assert_in_range(plan->box_count, 1, SOME_BOXES);
        int64_t boxes = find_starts(arena, plan, starts);
        ts_traversal_join_boxes(traversal);
        for (int64_t b = 0; b < boxes; b++)
            work[b] = ts_traversal_before(traversal, starts[b + 1]).work -
                      ts_traversal_before(traversal, starts[b]).work;
        for (int part = 0; part < 64; part++) {
            int64_t sought = ts_traversal_before(traversal, starts[boxes]).work * part / 64, box = 0,
                    before = 0;
            int64_t block = ts_traversal_find_sorted(traversal, part / 64.0);
            while (starts[box + 1] <= block) box++;
            for (int64_t b = 0; b < boxes; b++)
                if (work[b] < work[box] || (work[b] == work[box] && b < box)) before += work[b];
            assert_in_range(sought - before, 0, work[box] - 1);
            double inside = (double)(sought - before) / (double)work[box];
            assert_int_equal(block,
                             starts[box] + (int64_t)(inside * (double)(starts[box + 1] - starts[box])));
        }
        ts_arena_free(arena);
    }
}

/* Before a box lies what lies before its first block, which is found by that work; of two boxes that with more work is
 * behind the other when they are sorted, and their parts do not overlap. */
TEST(boxes_are_known_by_what_lies_before_them) {
    uint64_t seed = SEED + 6;
    for (int i = 0; i < 40; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = some_plan(arena, &seed);
        ts_traversal *traversal = ts_traversal_new(arena, plan, 64, 64, 32);
        int64_t starts[SOME_BOXES + 1], boxes = find_starts(arena, plan, starts);
        ts_traversal_join_boxes(traversal);
        double all = (double)ts_traversal_before(traversal, starts[boxes]).work, sum = 0;
        for (int64_t b = 0; b < boxes; b++) {
            ts_traversal_amount before = ts_traversal_before_box(traversal, b),
                                same = ts_traversal_before(traversal, starts[b]),
                                next = ts_traversal_before_box(traversal, b + 1);
            double own = (double)(next.work - before.work) / all,
                   part = ts_traversal_sorted_part(traversal, b);
            assert_true(before.work == same.work && before.elements == same.elements);
            assert_int_equal(ts_traversal_find_work(traversal, before.work), starts[b]);
            assert_true(part - own / 2 > -1e-9 && part + own / 2 < 1 + 1e-9);
            sum += own * part;
            for (int64_t other = 0; other < b; other++) {
                double less = (double)(ts_traversal_before_box(traversal, other + 1).work -
                                       ts_traversal_before_box(traversal, other).work) /
                              all,
                       at = ts_traversal_sorted_part(traversal, other);
                assert_true((less <= own) == (at < part));
            }
        }
        assert_true(fabs(sum - 0.5) < 1e-9);
        ts_arena_free(arena);
    }
}

/* The work of all boxes but the one that is traversed. */
TEST(work_elsewhere_is_that_of_the_others) {
    uint64_t seed = SEED + 9;
    for (int i = 0; i < 40; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = some_plan(arena, &seed);
        ts_traversal *all = ts_traversal_new(arena, plan, 64, 64, 32),
                     *traversal = ts_traversal_new(arena, plan, 64, 64, 32);
        const ts_traversal_access *accesses;
        int64_t starts[SOME_BOXES + 1], elements, next, ignored, last = -1;
        int64_t boxes = find_starts(arena, plan, starts);
        int count;
        ts_traversal_join_boxes(all);
        assert_int_equal(ts_traversal_work_elsewhere(all, boxes), 0);
        int64_t whole = ts_traversal_before(all, starts[boxes]).work;
        while (ts_traversal_next(traversal, &accesses, &count, &elements)) {
            int64_t box = ts_traversal_position(traversal, &next, &ignored);
            if (box < 0 || box == last) continue;
            last = box;
            int64_t own =
                ts_traversal_before(all, starts[box + 1]).work - ts_traversal_before(all, starts[box]).work;
            assert_int_equal(ts_traversal_work_elsewhere(traversal, boxes), whole - own);
            assert_int_equal(ts_traversal_work_elsewhere(traversal, boxes - 1), 0);
        }
        ts_arena_free(arena);
    }
}

/* The lines before a block, where all blocks of a kind have as many: those that are traversed. */
TEST(work_is_of_lines_traversed) {
    static const struct {
        const char *src, *dst;
        int src_line, dst_line;
    } cases[] = {
        {"f32[2000,384]{0,1}", "f32[2000,384]{1,0}", 512, 512}, /* the last rows and columns are edges */
        {"u8[51,4096,1024]{2,1,0}", "u8[51,4096,1024]{1,2,0}", 512, 512}, /* three loops, without any */
        {"f32[2000,384]{0,1}", "f32[2000,384]{1,0}", 512, 0},             /* into a memory without lines */
        {"f32[8192,128]{1,0}", "f32[8192,128]{1,0:T(8,128)}", 64, 64},
        {"u8[200,3000,40]{1,0,2}", "u8[200,3000,40]{2,1,0:T(8,128)(4,1)}", 512, 512},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = plan_between(arena, cases[i].src, cases[i].dst, INT64_C(1) << 36);
        ts_traversal *traversal = ts_traversal_new(arena, plan, cases[i].src_line, cases[i].dst_line, 256);
        const ts_traversal_access *accesses;
        int64_t elements, next, count, start = 0, box = -1, looks = 0;
        int ignored;
        for (int64_t before = 0; ts_traversal_next(traversal, &accesses, &ignored, &elements);
             before = lines_of(traversal)) {
            int64_t here = ts_traversal_position(traversal, &next, &count);
            if (here < 0) continue;
            if (here != box) start = before;
            box = here;
            if (looks++ % 97 != 0 && next + 1 < count) continue;
            double expected = (double)(lines_of(traversal) - start),
                   work = (double)ts_traversal_before(traversal, next).work / TS_TRAVERSAL_LINE_WORK;
            assert_in_range((int64_t)(fabs(work - expected) * 1000), 0, (int64_t)(expected * 5) + 4000);
        }
        ts_arena_free(arena);
    }
}

/* Up to 16 blocks of a kind are measured one by one, with the lines that they share with the block before. */
TEST(few_blocks_are_all_measured) {
    static const char *const cases[][2] = {{"f32[51,203]{1,0}", "f32[51,203]{0,1}"},
                                           {"u8[3,50,99]{2,1,0}", "u8[3,50,99]{0,2,1}"},
                                           {"f32[37,129]{1,0}", "f32[37,129]{0,1}"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = plan_between(arena, cases[i][0], cases[i][1], INT64_C(1) << 36);
        ts_traversal *traversal = ts_traversal_new(arena, plan, 64, 64, 32);
        const ts_traversal_access *accesses;
        int64_t elements, next, count, work = 0, blocks = 0;
        int ignored;
        while (ts_traversal_next(traversal, &accesses, &ignored, &elements)) {
            if (ts_traversal_position(traversal, &next, &count) == 0)
                work = ts_traversal_before(traversal, count).work;
            blocks++;
        }
        assert_int_equal(plan->box_count, 1);
        assert_in_range(blocks, 4, 16);
        assert_int_equal(work, lines_of(traversal) * TS_TRAVERSAL_LINE_WORK);
        ts_arena_free(arena);
    }
}

/* Of however many blocks only so many are measured: to measure one in 64 of these would not come to an end. */
TEST(work_of_very_many_blocks_is_found) {
    static const struct {
        const char *src, *dst;
        int64_t elements, lines;
    } cases[] = {
        {"u8[2,134217728,134217728]{2,1,0}", "u8[2,134217728,134217728]{2,0,1}", INT64_C(1) << 55,
         2 * (INT64_C(1) << 55) / 64},
        {"u8[4096,70368744177664]{1,0}", "u8[4096,70368744177664]{0,1}", INT64_C(1) << 58,
         (INT64_C(1) << 58) / 8 + (INT64_C(1) << 58) / 64}, /* 8 bytes of a row together */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_plan *plan = plan_between(arena, cases[i].src, cases[i].dst, INT64_C(1) << 58);
        ts_traversal *traversal = ts_traversal_new(arena, plan, 64, 64, 32);
        const ts_traversal_access *accesses;
        int64_t elements, next, count;
        int ignored;
        assert_true(ts_traversal_next(traversal, &accesses, &ignored, &elements));
        assert_int_equal(ts_traversal_position(traversal, &next, &count), 0);
        assert_true(count * elements == cases[i].elements);
        assert_true(ts_traversal_before(traversal, count).work == cases[i].lines * TS_TRAVERSAL_LINE_WORK);
        ts_arena_free(arena);
    }
}

/* Blocks of every kind are counted: those that are cut along some loops, and those that are not. */
TEST(work_without_lines_is_elements) {
    uint64_t seed = SEED + 4;
    for (int i = 0; i < 40; i++) {
        ts_arena *arena = ts_arena_new();
        ts_traversal *traversal = ts_traversal_new(arena, some_plan(arena, &seed), 0, 0, 32);
        const ts_traversal_access *accesses;
        int64_t elements, next, count;
        int ignored;
        while (ts_traversal_next(traversal, &accesses, &ignored, &elements)) {
            if (ts_traversal_position(traversal, &next, &count) < 0) continue;
            for (int k = 0; k < 2; k++) {
                ts_traversal_amount amount = ts_traversal_before(traversal, k ? count : next);
                assert_int_equal(amount.work, amount.elements * TS_TRAVERSAL_LINE_WORK);
            }
        }
        ts_arena_free(arena);
    }
}

static ts_traversal *traverse_transpose(ts_arena *arena) {
    const ts_plan *plan = plan_between(arena, "f32[20,300]{0,1}", "f32[20,300]", INT64_C(1) << 33);
    return ts_traversal_new(arena, plan, 64, 64, 32);
}

/* 512 bytes a row of the destination, then as many rows as make 4 KiB. */
TEST_WITH_ARENA(places_of_the_blocks_of_a_transpose) {
    ts_traversal *traversal = traverse_transpose(arena);
    const ts_traversal_access *accesses;
    int64_t elements;
    int ignored, printed = 0;
    char text[2000] = "";
    while (ts_traversal_next(traversal, &accesses, &ignored, &elements)) {
        ts_traversal_block block;
        ts_traversal_last_block(traversal, &block);
        for (int k = 0; k < block.loop_count; k++)
            printed += snprintf(text + printed, sizeof text - (size_t)printed, "%lld+%lld ",
                                (long long)block.at[k], (long long)block.extent[k]);
        printed += snprintf(text + printed, sizeof text - (size_t)printed, "/ ");
    }
    assert_string_equal(text, "0+8 0+128 / 0+8 128+128 / 0+8 256+44 / "
                              "8+8 0+128 / 8+8 128+128 / 8+8 256+44 / "
                              "16+4 0+128 / 16+4 128+128 / 16+4 256+44 / ");
}

/* 3 x 3 blocks; all boxes as one have no loops in common. */
TEST_WITH_ARENA(periods_are_iterations_of_inner_loops) {
    static const int64_t periods[] = {1, 2, 3, 6, 6, 6, 9, 9, 9, 9};
    ts_traversal *traversal = traverse_transpose(arena);
    const ts_traversal_access *accesses;
    int64_t elements;
    int lines;
    assert_true(ts_traversal_next(traversal, &accesses, &lines, &elements));
    for (int least = 1; least <= 10; least++)
        assert_int_equal(ts_traversal_period(traversal, least), periods[least - 1]);
    ts_traversal_join_boxes(traversal);
    for (int least = 1; least <= 10; least++) assert_int_equal(ts_traversal_period(traversal, least), least);
}
