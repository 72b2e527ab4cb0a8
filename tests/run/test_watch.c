/* Bytes that are watched, and the runs of bytes that a plan moves. */
#include "run/session_private.h"

#include <stdlib.h>

#include "layout/shape.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

enum { MOST_RUNS = 8 };

typedef struct {
    int count, most; /* it says no when it has so many; 0: never */
    int64_t list[MOST_RUNS][2];
} runs;

static bool keep(void *self, int64_t first, int64_t end) {
    runs *r = self;
    assert_true(r->count < MOST_RUNS);
    r->list[r->count][0] = first;
    r->list[r->count++][1] = end;
    return r->count != r->most;
}

/* A box of a shape is moved to a row-major array of its own. */
static const struct {
    const char *shape, *array;
    int64_t begin[2], sizes[2];
    runs src, dst; /* bytes first .. end - 1 */
} boxes[] = {
    {"s32[16,128]{1,0:T(8,128)}", "s32[1,4]", {8, 0}, {1, 4}, {1, 0, {{4096, 4112}}}, {1, 0, {{0, 16}}}},
    {"f32[16,256]{1,0:T(8,128)}", /* over four tiles */
     "bf16[2,4]",
     {7, 126},
     {2, 4},
     {4, 0, {{4088, 4096}, {7680, 7688}, {8696, 8704}, {12288, 12296}}},
     {4, 0, {{0, 4}, {4, 8}, {8, 12}, {12, 16}}}},
    {"s32[8,4]{1,0}", /* a column */
     "s32[3,1]",
     {0, 1},
     {3, 1},
     {3, 0, {{4, 8}, {20, 24}, {36, 40}}},
     {1, 0, {{0, 12}}}},
    {"s4[2,8]{1,0:E(4)}", "s4[1,2]{1,0:E(4)}", {0, 3}, {1, 2}, {1, 0, {{1, 3}}}, {1, 0, {{0, 1}}}},
    {"s32[4,4]{1,0}", "s32[0,4]", {0, 0}, {0, 4}, {0, 0, {{0}}}, {0, 0, {{0}}}},
};

static int by_first(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static void assert_runs(const ts_plan *plan, ts_side side, const runs *want, size_t row) {
    runs got = {0};
    assert_true(watch_visit_runs(plan, side, keep, &got));
    qsort(got.list, (size_t)got.count, sizeof got.list[0], by_first);
    if (got.count != want->count) fail_msg("row %zu has %d runs", row, got.count);
    for (int i = 0; i < got.count; i++)
        for (int k = 0; k < 2; k++) assert_int_equal(got.list[i][k], want->list[i][k]);
    for (int most = 1; most <= want->count; most++) { /* not asked again once it said no */
        runs few = {.most = most};
        assert_false(watch_visit_runs(plan, side, keep, &few));
        assert_int_equal(few.count, most);
    }
}

TEST(plans_have_runs) {
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_plan_side src = {parse_shape(arena, boxes[i].shape), boxes[i].begin, NULL, 0},
                     dst = {parse_shape(arena, boxes[i].array), NULL, NULL, 0};
        const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 2, boxes[i].sizes);
        if (!plan) fail_msg("row %zu: %s", i, err.message);
        assert_runs(plan, TS_SRC, &boxes[i].src, i);
        assert_runs(plan, TS_DST, &boxes[i].dst, i);
        ts_arena_free(arena);
    }
}

/* Bytes of 100 .. 299, of which 100, 163 .. 170 and 299 are watched: any range meets them or does not. */
TEST_WITH_ARENA(a_range_meets_what_is_watched) {
    ts_space *space = ts_space_new(arena, "vmem", 400), *other = ts_space_new(arena, "smem", 400);
    bool watched[400] = {[100] = true, [299] = true};
    for (int i = 163; i < 171; i++) watched[i] = true;
    watch w = {0};
    ts_error err = {0};
    assert_false(watch_meets(&w, space, 0, 400));
    assert_true(watch_new(&err, &w, space, 100, 300));
    assert_false(watch_meets(&w, space, 0, 400));
    watch_add(&w, 100, 101);
    watch_add(&w, 163, 171);
    watch_add(&w, 299, 300);
    assert_false(watch_meets(&w, other, 0, 400));
    for (int64_t first = 90; first < 310; first++) {
        bool any = false;
        for (int64_t end = first; end < 310; any |= watched[end++])
            if (watch_meets(&w, space, first, end) != any) fail_msg("%d to %d", (int)first, (int)end);
    }
    watch_free(&w);
    assert_false(watch_meets(&w, space, 0, 400));
    watch_free(&w);
}
