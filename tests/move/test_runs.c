/* Tiles whose lines continue runs: which boxes are moved so, and that all bytes are those of the definition, up to the last
 * that may be read and beside the first and the last that are stored. */
#include <string.h>

#include "layout/convert.h"
#include "move/copy_plan.h"
#include "tests/support/guarded.h"
#include "tests/support/cmocka.h"
#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"
#include "tests/support/sized_shape.h"

enum { GUARD_BYTES = 128 };

/* ---- Which boxes ---- */

/* Loops in bytes, the longest steps of the source first; `next`: from a run to the one behind it. */
typedef struct {
    const char *name;
    int bits, count;
    int64_t dst;
    ts_plan_loop loops[6];
    bool in_runs;
    int64_t bytes, next;
    int64_t most; /* steps of the kernel's first loop that stays between runs, in a call */
} box_row;

static const box_row boxes[] = {
    {"rows of tiles",
     32,
     4,
     4,
     {{9, 12288, 24064}, {3, 4096, 512}, {8, 512, 3008}, {128, 4, 4}},
     true,
     1536,
     24064,
     8},
    {"aligned", 32, 4, 0, {{9, 12288, 24576}, {3, 4096, 512}, {8, 512, 3072}, {128, 4, 4}}, false, 0, 0, 0},
    {"the rows alone are not aligned",
     16,
     4,
     0,
     {{9, 4096, 32}, {2, 2048, 256}, {4, 512, 1040}, {2, 2, 520}},
     false,
     0,
     0,
     0},
    {"pairs of rows",
     16,
     5,
     0,
     {{9, 6144, 12160}, {3, 2048, 256}, {4, 512, 3040}, {2, 2, 1520}, {128, 4, 2}},
     true,
     768,
     12160,
     4},
    {"runs of a line less than are worth it",
     16,
     4,
     2,
     {{9, 512, 800}, {4, 128, 200}, {96, 4, 2}, {2, 2, 100}},
     false,
     0,
     0,
     0},
    {"no step continues the last line",
     32,
     3,
     4,
     {{9, 8192, 2112}, {16, 512, 132}, {32, 4, 4}},
     false,
     0,
     0,
     0},
    {"a run's steps in another order",
     32,
     4,
     4,
     {{4, 4096, 64}, {9, 256, 2308}, {2, 128, 256}, {16, 4, 4}},
     false,
     0,
     0,
     0},
    {"more rows than are kept",
     32,
     3,
     4,
     {{5, 102400, 512}, {200, 512, 2564}, {128, 4, 4}},
     true,
     2560,
     0,
     128},
    {"far rows in short pieces",
     8,
     4,
     1,
     {{9, 4096, 128}, {4, 512, 4000000}, {4, 1, 1000001}, {128, 4, 1}},
     false,
     0,
     0,
     0},
    {"near rows in short pieces",
     8,
     4,
     1,
     {{9, 4096, 128}, {4, 512, 4804}, {4, 1, 1201}, {128, 4, 1}},
     true,
     1152,
     0,
     4},
    {"far rows in longer pieces",
     16,
     4,
     2,
     {{9, 4096, 256}, {2, 1024, 4000000}, {8, 2, 1000002}, {128, 16, 2}},
     true,
     2304,
     0,
     2},
    {"all loops of the kernel are within runs",
     16,
     6,
     2,
     {{2, 72000, 73000}, {9, 8000, 256}, {3, 2048, 9730}, {4, 512, 4866}, {2, 2, 2434}, {128, 4, 2}},
     true,
     2304,
     73000,
     4},
    {"rows that are just near enough",
     8,
     4,
     1,
     {{9, 4096, 128}, {4, 512, 21845}, {4, 1, 1201}, {128, 4, 1}},
     true,
     1152,
     0,
     4},
    {"rows that are just too far",
     8,
     4,
     1,
     {{9, 4096, 128}, {4, 512, 21846}, {4, 1, 1201}, {128, 4, 1}},
     false,
     0,
     0,
     0},
    {"more pairs of rows than are kept",
     16,
     4,
     2,
     {{3, 51200, 256}, {100, 512, 1540}, {2, 2, 770}, {128, 4, 2}},
     true,
     768,
     0,
     64},
    {"runs just long enough", 32, 2, 4, {{9, 512, 260}, {64, 4, 4}}, true, 256, 260, 9},
    {"rows just near enough",
     8,
     4,
     1,
     {{9, 4096, 128}, {3, 512, 32768}, {4, 1, 1001}, {128, 4, 1}},
     true,
     1152,
     0,
     3},
    {"a run of all loops",
     32,
     5,
     4,
     {{2, 8192, 512}, {2, 2048, 256}, {2, 512, 128}, {2, 128, 64}, {16, 4, 4}},
     true,
     1024,
     0,
     0},
    {"few far rows in short pieces",
     8,
     4,
     1,
     {{9, 1024, 128}, {2, 512, 4000000}, {4, 1, 1000001}, {128, 4, 1}},
     true,
     1152,
     0,
     2},
};

static ts_copy_context context_of(int bits) {
    ts_dtype type = bits == 32 ? TS_DTYPE_F32 : bits == 16 ? TS_DTYPE_BF16 : TS_DTYPE_U8;
    return (ts_copy_context){.src = {type, bits, NULL},
                             .dst = {type, bits, NULL},
                             .same = true,
                             .streams = true,
                             .behind_bytes = TS_LINE_BYTES,
                             .kernels = ts_kernels_best()};
}

static ts_plan_box box_of(const box_row *row) {
    ts_plan_box box = {.loop_count = row->count, .dst_bits = row->dst * 8};
    for (int i = 0; i < row->count; i++)
        box.loops[i] =
            (ts_plan_loop){row->loops[i].extent, row->loops[i].src_bits * 8, row->loops[i].dst_bits * 8};
    return box;
}

static bool has_runs(void) { return ts_kernels_best()->tiles[0]->runs != NULL; }

/* Steps of the innermost of a copy plan's loops that stay between runs. */
static int64_t most_of(const ts_copy_plan *copy) {
    for (int k = TS_TILE_LOOPS - 1; k >= 0; k--)
        if (!copy->tile.runs.along[k]) return copy->loops[copy->inner_loop[k]].most;
    return 0;
}

/* Has a call all steps of the loops that continue runs? */
static bool has_whole_runs(const ts_copy_plan *copy) {
    for (int k = 0; k < TS_TILE_LOOPS; k++) {
        const int loop = copy->inner_loop[k];
        if (copy->tile.runs.along[k] && (loop < 0 || copy->loops[loop].most != copy->loops[loop].count))
            return false;
    }
    return true;
}

TEST(boxes_in_runs) {
    for (size_t i = 0; has_runs() && i < sizeof boxes / sizeof boxes[0]; i++) {
        const box_row *row = &boxes[i];
        ts_copy_context m = context_of(row->bits);
        ts_plan_box box = box_of(row);
        int64_t times[TS_PLAN_MAX_LOOPS];
        ts_copy_plan copy;
        ts_copy_plan_begin(&copy, &m);
        print_message("%s\n", row->name);
        if (ts_copy_plan_match_runs(&copy, &box, times)) ts_copy_plan_order(&copy, &box);
        assert_int_equal(copy.runs_function && copy.in_runs, row->in_runs);
        if (!row->in_runs) continue;
        assert_int_equal(copy.tile.runs.bytes, row->bytes);
        assert_int_equal(copy.tile.runs.next, row->next);
        assert_int_equal(most_of(&copy), row->most);
        assert_true(has_whole_runs(&copy));
    }
}

/* ---- All bytes ---- */

typedef struct {
    const char *src, *dst; /* R, C become sizes */
    bool joins;            /* the last columns are moved with the others, where there are any */
} layout_pair;

static const layout_pair pairs[] = {
    {"f32[R,C]{1,0:T(8,128)}", "f32[R,C]{1,0}", true},
    {"bf16[R,C]{1,0:T(8,128)(2,1)}", "bf16[R,C]{1,0}", true},
    {"s8[R,C]{1,0:T(8,128)(4,1)}", "s8[R,C]{1,0}", true},
    {"u8[R,C]{1,0:T(32,128)(4,1)}", "u8[R,C]{1,0}", true},
    {"s16[R,C]{1,0:T(4,256)}", "s16[R,C]{1,0}", true},
    {"f32[R,C]{1,0:T(8,192)}", "f32[R,C]{1,0}", true}, /* not a power of 2 */
    {"bf16[R,C]{1,0:T(8,128)(2,1)}", "f32[R,C]{1,0}", true},
    {"f32[R,C]{1,0:T(8,128)}", "bf16[R,C]{1,0}", false}, /* a line is two of the source */
    {"f32[R,3,C]{2,1,0:T(2,128)}", "f32[R,3,C]{2,0,1}", true},
    {"u8[R,5,C]{2,1,0:T(8,128)(4,1)}", "u8[R,5,C]{2,0,1}", true},
    {"bf16[R,C]{1,0:T(8,128)(2,1)}", "bf16[R,C] S[(R,C):(1009,1)]", true},
    {"f32[R,C]{1,0:T(8,128)}", "f32[R,C] S[(R,C):(1009,1)]", true},
    {"s8[R,C]{1,0:T(8,128)(4,1)}", "s8[R,C]{0,1}", false},
    {"f32[8,R,C]{2,1,0:T(8,8,128)}", "f32[8,R,C]{2,0,1:T(8,128)}",
     false}, /* each row of the last tile lacks columns */
};

/* Bytes of the source up to the last that moves. */
static int64_t moved_bytes(const ts_plan *plan) {
    int64_t most = 0;
    for (int64_t i = 0; i < plan->box_count; i++) {
        ts_plan_box box;
        ts_plan_get_box(plan, i, &box);
        int64_t bits = box.src_bits + plan->src.shape->element_bits;
        for (int k = 0; k < box.loop_count; k++) bits += (box.loops[k].extent - 1) * box.loops[k].src_bits;
        if (bits > most) most = bits;
    }
    return most / 8;
}

/* Of how many boxes are two moved as one? */
static int count_joined(const ts_copy_context *m, const ts_plan *plan) {
    int joined = 0;
    for (int64_t i = 0; i < plan->box_count; i++)
        for (int64_t k = 0; k < plan->box_count; k++) {
            ts_plan_box a, b;
            ts_plan_get_box(plan, i, &a);
            ts_plan_get_box(plan, k, &b);
            joined += i != k && ts_copy_plan_move_runs(m, &a, &b);
        }
    return joined;
}

/* The destination lies `skew` bytes behind a line's begin, and behind the source are bytes that may be read. */
static void move_runs(const layout_pair *pair, int64_t rows, int64_t columns, int skew, int64_t behind,
                      uint64_t *seed) {
    ts_arena *arena = ts_arena_new();
    const ts_shape *from = sized_shape(arena, pair->src, rows, columns),
                   *to = sized_shape(arena, pair->dst, rows, columns);
    ts_plan_side a = {from, NULL, NULL, 0}, b = {to, NULL, NULL, (GUARD_BYTES + skew) * 8};
    const ts_plan *plan = ts_plan_of_elements(NULL, arena, &a, &b, from->layout->rank, from->layout->dims);
    const int64_t length = to->storage_bytes + 2 * GUARD_BYTES + skew;
    guarded src = guard(moved_bytes(plan) + behind);
    uint8_t *want = TS_NEW_ARRAY(arena, uint8_t, length), *raw = TS_NEW_ARRAY(arena, uint8_t, length + 64),
            *got = raw + (-(intptr_t)raw & 63);
    ts_move_options options = {.stores = TS_STORES_STREAMING, .threads = 1};
    ts_copy_context m;
    for (int64_t i = 0; i < moved_bytes(plan) + behind; i++) src.bytes[i] = (uint8_t)random_below(seed, 256);
    memset(want, 0x55, (size_t)length);
    ts_copy_set(&m, plan, &options, src.bytes, want);
    ts_move_plan(&m, plan, 1);
    options.kernels = ts_kernels_best();
    memset(got, 0x55, (size_t)length);
    ts_copy_set(&m, plan, &options, src.bytes, got);
    m.behind_bytes = behind;
    ts_move_plan(&m, plan, 1);
    if (memcmp(got, want, (size_t)length) != 0)
        fail_msg("%s to %s, %dx%d, skew %d, %d behind: moves otherwise", pair->src, pair->dst, (int)rows,
                 (int)columns, skew, (int)behind);
    bool joins = pair->joins && has_runs() && behind > 0 && rows >= 32 && columns > 256 && columns % 64 != 0;
    if (joins || !pair->joins || behind == 0) assert_int_equal(count_joined(&m, plan) > 0, joins);
    assert_memory_equal(got, want, (size_t)length);
    guarded_free(src);
    ts_arena_free(arena);
}

TEST(random_runs) {
    const int count = (int)(sizeof pairs / sizeof pairs[0]);
    uint64_t seed = 20261129;
    for (int n = 0, most = rounds(240, 60); n < most; n++) {
        int64_t rows = 1 + random_below(&seed, 70), columns = 100 + random_below(&seed, 900);
        int skew = 4 * (int)random_below(&seed, 16);
        move_runs(&pairs[n % count], rows, columns, skew, n / count % 2 * TS_LINE_BYTES, &seed);
    }
}

/* Of each byte of a line and each length of the last, a row; and of each type an element more than lines. */
TEST(ends_of_runs) {
    uint64_t seed = 1;
    for (int n = 0; n < 128; n += stride(1, 5))
        move_runs(&pairs[n % 4], 33, 257 + n, n % 64 / 4 * 4, TS_LINE_BYTES, &seed);
    for (int i = 0; i < 4; i++) move_runs(&pairs[i], 33, 321, 4 * i, TS_LINE_BYTES, &seed);
}
