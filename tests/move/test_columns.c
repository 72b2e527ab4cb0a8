/* Transposes whose columns are stored past the caches, and those of few rows that make streams: which boxes are moved so, and
 * in which blocks, and that all bytes are those of the definition, beside the first and the last, too. */
#include <string.h>

#include "move/copy_plan.h"
#include "tests/support/cmocka.h"
#include "tests/support/guarded.h"
#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"
#include "tests/support/sized_shape.h"

enum { GUARD_BYTES = 128, MOST_LOOPS = 5 };

static bool has_columns(void) { return ts_kernels_best()->tiles[0]->columns != NULL; }

/* ---- Which boxes ---- */

/* Loops in bytes, and the steps of each that a block takes. */
typedef struct {
    const char *name;
    int bits, count;
    ts_plan_loop loops[MOST_LOOPS];
    bool pays;
    int64_t cover[MOST_LOOPS];
} box_row;

static const box_row boxes[] = {
    {"a matrix", 32, 2, {{2000, 12000, 4}, {3000, 4, 8000}}, true, {128, 256}},
    {"even parts of whole lines", 32, 2, {{393, 8000, 4}, {2000, 4, 1572}}, true, {112, 256}},
    {"a row more than two parts", 32, 2, {{257, 8000, 4}, {2000, 4, 1028}}, true, {96, 256}},
    {"words of 8 bytes", 64, 2, {{2000, 24000, 8}, {3000, 8, 16000}}, true, {64, 128}},
    {"loops around it",
     32,
     3,
     {{7, 24000000, 24000000}, {2000, 12000, 4}, {3000, 4, 8000}},
     true,
     {1, 128, 256}},
    {"a loop of one step", 32, 3, {{1, 4, 4}, {2000, 12000, 4}, {3000, 4, 8000}}, true, {1, 128, 256}},
    {"even parts of the second loop",
     32,
     3,
     {{16, 8000, 4}, {25, 128000, 64}, {2000, 4, 1600}},
     true,
     {16, 7, 256}},
    {"halves", 16, 2, {{2000, 6000, 2}, {3000, 2, 4000}}, true, {128, 512}},
    {"bytes", 8, 2, {{2000, 3001, 1}, {3001, 1, 2000}}, true, {256, 512}},
    {"bytes in rows that collide", 8, 2, {{2000, 4096, 1}, {4096, 1, 2000}}, true, {256, 512}},
    {"bytes in short rows", 8, 2, {{2000, 300, 1}, {255, 1, 2000}}, false, {0}},
    {"bytes in rows just long enough", 8, 2, {{2000, 300, 1}, {256, 1, 2000}}, true, {256, 256}},
    {"a row of a line", 32, 2, {{2000, 68, 4}, {16, 4, 8000}}, true, {128, 16}},
    {"a row of less", 32, 2, {{2000, 64, 4}, {15, 4, 8000}}, false, {0}},
    {"a row of less that follows another", 32, 2, {{2000, 60, 4}, {15, 4, 8000}}, true, {512, 15}},
    {"short rows, and columns just long enough", 32, 2, {{256, 60, 4}, {15, 4, 4100}}, true, {256, 15}},
    {"short rows, and columns too short", 32, 2, {{255, 60, 4}, {15, 4, 4100}}, false, {0}},
    {"short rows of bytes, and columns just long enough",
     8,
     2,
     {{4096, 60, 1}, {60, 1, 4100}},
     true,
     {512, 60}},
    {"short rows of bytes, and columns too short", 8, 2, {{4095, 60, 1}, {60, 1, 4100}}, false, {0}},
    {"four words that follow others", 32, 2, {{2000, 16, 4}, {4, 4, 8000}}, true, {512, 4}},
    {"rows of two loops that follow others",
     32,
     3,
     {{20, 60, 4}, {100, 1200, 80}, {15, 4, 8000}},
     true,
     {20, 25, 15}},
    {"rows of two loops of which one does not",
     32,
     3,
     {{20, 60, 4}, {100, 1204, 80}, {15, 4, 8000}},
     false,
     {0}},
    {"three", 32, 2, {{2000, 12, 4}, {3, 4, 8000}}, false, {0}},
    {"bytes that follow others", 8, 2, {{2000, 255, 1}, {255, 1, 2000}}, true, {512, 255}},
    {"long rows that follow others", 8, 2, {{2000, 256, 1}, {256, 1, 2000}}, true, {256, 256}},
    {"aligned columns", 32, 3, {{64, 8000, 4}, {2000, 4, 4096}, {20, 16000000, 512}}, true, {64, 256, 1}},
    {"aligned columns too short", 32, 3, {{32, 8000, 4}, {2000, 4, 4096}, {20, 16000000, 512}}, false, {0}},
    {"columns that are not aligned",
     32,
     3,
     {{64, 8000, 4}, {2000, 4, 4100}, {20, 16000000, 512}},
     false,
     {0}},
    {"columns just long enough", 32, 2, {{192, 8000, 4}, {2000, 4, 768}}, true, {96, 256}},
    {"columns just too short", 32, 2, {{191, 8000, 4}, {2000, 4, 764}}, false, {0}},
    {"columns of two loops", 32, 3, {{100, 8000, 4}, {9, 800000, 400}, {2000, 4, 3600}}, true, {100, 1, 256}},
    {"rows of two loops", 16, 3, {{2000, 960, 2}, {20, 2, 4000}, {24, 40, 80000}}, true, {128, 20, 24}},
    {"parts of the second loop",
     32,
     3,
     {{16, 8000, 4}, {500, 128000, 64}, {2000, 4, 32000}},
     true,
     {16, 8, 256}},
    {"a loop that columns have begun", 32, 2, {{16, 4, 1024}, {256, 64, 4}}, true, {16, 256}},
    {"runs", 84 * 8, 2, {{2000, 2520, 84}, {30, 84, 168000}}, true, {48, 30}},
    {"long runs", 250 * 8, 2, {{2000, 25000, 250}, {100, 250, 500000}}, true, {16, 10}},
    {"two rows of two", 32, 3, {{2, 8000, 4}, {2000, 16000, 8}, {2000, 4, 16000}}, true, {2, 63, 256}},
    {"room for two more", 64 * 8, 3, {{32, 640, 64}, {9, 20480, 2048}, {10, 64, 18432}}, true, {32, 2, 10}},
    {"a run of rows too short", 33 * 8, 1, {{2000, 2520, 33}}, false, {0}},
    {"blocks of short columns", 32, 3, {{24, 8000, 4}, {2000, 4, 96}, {20, 16000000, 192000}}, false, {0}},
    {"what follows is of the rows", 32, 2, {{24, 8000, 4}, {2000, 4, 96}}, false, {0}},
};

static ts_copy_context context_of(int bits, uint8_t *src, uint8_t *dst) {
    return (ts_copy_context){.src = {TS_DTYPE_U8, bits, src},
                             .dst = {TS_DTYPE_U8, bits, dst},
                             .same = true,
                             .streams = true,
                             .kernels = ts_kernels_best()};
}

static ts_plan_box box_of(int count, const ts_plan_loop *loops) {
    ts_plan_box box = {.loop_count = count};
    for (int i = 0; i < count; i++)
        box.loops[i] = (ts_plan_loop){loops[i].extent, loops[i].src_bits * 8, loops[i].dst_bits * 8};
    return box;
}

/* Of so many bytes, made by two loops. */
static const struct {
    int64_t bytes;
    bool pays;
} wide[] = {{16, true},   {24, false}, {32, false},  {33, true},  {64, true},   {66, true},
            {128, false}, {129, true}, {192, false}, {255, true}, {256, false}, {258, false}};

TEST(runs_in_columns) {
    for (size_t i = 0; has_columns() && i < sizeof wide / sizeof wide[0]; i++) {
        const int64_t n = wide[i].bytes, inner = n % 2 == 0 ? 2 : 3;
        ts_copy_context m = context_of(8, NULL, NULL);
        const ts_plan_loop loops[] = {{20, 5000, n}, {n / inner, inner, inner}, {inner, 1, 1}};
        ts_plan_box box = box_of(3, loops);
        print_message("%d\n", (int)n);
        assert_int_equal(ts_columns_widen(&m, &box), wide[i].pays);
        if (!wide[i].pays) continue;
        assert_int_equal(m.src.element_bits, n * 8);
        assert_int_equal(m.dst.element_bits, n * 8);
        assert_int_equal(box.loop_count, 1);
        assert_int_equal(box.loops[0].extent, 20);
    }
}

TEST(boxes_in_columns) {
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        const box_row *row = &boxes[i];
        const ts_copy_context m = context_of(row->bits, NULL, NULL);
        const ts_plan_box box = box_of(row->count, row->loops);
        int64_t cover[TS_PLAN_MAX_LOOPS];
        bool of_columns[TS_PLAN_MAX_LOOPS];
        print_message("%s\n", row->name);
        assert_int_equal(ts_columns_choose(&m, &box, cover, of_columns), row->pays);
        for (int k = 0; row->pays && k < row->count; k++) assert_int_equal(cover[k], row->cover[k]);
    }
}

/* What changes, what is narrower than a byte or lies within one, and where there are no kernels. */
TEST(others_are_not) {
    const ts_plan_loop loops[] = {{2000, 12000, 4}, {3000, 4, 8000}};
    ts_plan_box box = box_of(2, loops);
    ts_copy_context m = context_of(32, NULL, NULL), narrow = context_of(4, NULL, NULL), base = m;
    assert_int_equal(ts_columns_widen(&m, &box), has_columns());
    m.same = false;
    assert_false(ts_columns_widen(&m, &box));
    assert_false(ts_columns_widen(&narrow, &box));
    base.kernels = ts_kernels_get(0);
    assert_false(ts_columns_widen(&base, &box));
    box.loops[0].src_bits += 4;
    m.same = true;
    assert_false(ts_columns_widen(&m, &box));
}

/* ---- Which boxes make streams ---- */

typedef struct {
    const char *name;
    int bits, count;
    ts_plan_loop loops[MOST_LOOPS];
    bool taken;
} stream_row;

static const stream_row streams[] = {
    {"columns of some rows", 32, 2, {{10, 4000, 4}, {1000, 4, 40}}, true},
    {"just long enough columns", 32, 2, {{5, 4000, 4}, {1000, 4, 20}}, true},
    {"columns too short", 32, 2, {{4, 4000, 4}, {1000, 4, 16}}, false},
    {"columns of two lines", 16, 2, {{64, 2000, 2}, {1000, 2, 128}}, true},
    {"columns of more", 16, 2, {{65, 2000, 2}, {1000, 2, 130}}, false},
    {"just long enough columns of bytes", 8, 2, {{33, 1000, 1}, {1000, 1, 33}}, true},
    {"columns of bytes too short", 8, 2, {{32, 1000, 1}, {1000, 1, 32}}, false},
    {"bytes in two lines", 8, 2, {{128, 1000, 1}, {1000, 1, 128}}, true},
    {"bytes in rows that collide", 8, 2, {{40, 4096, 1}, {1000, 1, 40}}, false},
    {"halves in rows that collide", 16, 2, {{40, 4096, 2}, {1000, 2, 80}}, true},
    {"rows just long enough", 32, 2, {{10, 256, 4}, {64, 4, 40}}, true},
    {"rows too short", 32, 2, {{10, 252, 4}, {63, 4, 40}}, false},
    {"a stream just long enough", 64, 2, {{4, 256, 8}, {32, 8, 32}}, true},
    {"a stream too short", 64, 2, {{3, 400, 8}, {42, 8, 24}}, false},
    {"rows of two loops", 32, 3, {{3, 90000, 20}, {5, 4000, 4}, {1000, 4, 60}}, true},
    {"a gap between columns", 32, 2, {{10, 4000, 4}, {1000, 4, 44}}, false},
    {"columns apart in the source", 32, 2, {{10, 8000, 4}, {1000, 8, 40}}, false},
    {"no rows", 32, 1, {{1000, 4, 4}}, false},
    {"a loop around", 32, 3, {{3, 50000, 50000}, {10, 4000, 4}, {1000, 4, 40}}, true},
    {"runs", 55 * 8, 2, {{3, 55000, 55}, {1000, 55, 165}}, true},
    {"columns of runs just short enough", 48 * 8, 2, {{16, 4800, 48}, {100, 48, 768}}, true},
    {"runs of which nothing follows", 84 * 8, 2, {{8, 84000, 84}, {1000, 84, 700}}, false},
    {"columns of runs that are no few", 48 * 8, 2, {{17, 4800, 48}, {100, 48, 816}}, false},
};

TEST(boxes_in_streams) {
    static uint8_t src[200000], dst[200000];
    for (size_t i = 0; has_columns() && i < sizeof streams / sizeof streams[0]; i++) {
        const stream_row *row = &streams[i];
        const ts_copy_context m = context_of(row->bits, src, dst);
        const ts_plan_box box = box_of(row->count, row->loops);
        print_message("%s\n", row->name);
        assert_int_equal(ts_adjoin_move(&m, &box), row->taken);
    }
}

/* ---- Among others ---- */

/* Kernels that move nothing, and say which they are. */
typedef enum { BLOCKS, COLUMNS, STREAMS } kernel_kind;
static kernel_kind called;
static void call_columns(const ts_tile *tile, uint8_t *dst, const uint8_t *src, const ts_column_runs *runs) {
    called = COLUMNS;
}
static void call_stream(const ts_tile *tile, const uint8_t *src, int64_t count, ts_stream *stream) {
    called = STREAMS;
}
static void end_stream(const ts_stream *stream) { assert_int_equal(called, STREAMS); }

typedef struct {
    const char *name;
    int bits, count;
    ts_plan_loop loops[MOST_LOOPS];
    kernel_kind kind;
} group_row;

static const group_row groups[] = {
    {"matrices of long columns", 16, 3, {{9, 14146, 14146}, {643, 22, 2}, {11, 2, 1286}}, COLUMNS},
    {"matrices of short ones", 16, 3, {{9, 35672, 35672}, {52, 686, 2}, {343, 2, 104}}, STREAMS},
    {"matrices of bytes", 8, 3, {{9, 10290, 10290}, {30, 343, 1}, {343, 1, 30}}, BLOCKS},
};

/* The kernels that the host has. */
static void call_for_kernels(ts_tile_kernels *tiles, ts_columns_function **columns,
                             ts_adjoin_kernels *adjoins) {
    for (int width = 0; width < 2 * TS_TRANSPOSES; width++) {
        int line = width / TS_TRANSPOSES, log2 = width % TS_TRANSPOSES;
        columns[width] = call_columns;
        adjoins->by_vectors[line][log2] = tiles->adjoins->by_vectors[line][log2] ? call_stream : NULL;
    }
    adjoins->end = end_stream;
    tiles->columns = (ts_columns_function *const(*)[TS_TRANSPOSES])columns;
    tiles->adjoins = adjoins;
}

/* A plan's boxes are gone through together: they are moved as they would be alone. */
TEST(boxes_of_groups) {
    static uint8_t src[400000], dst[400000];
    ts_kernels kernels = *ts_kernels_best();
    ts_tile_kernels tiles = *kernels.tiles[0];
    ts_columns_function *columns[2 * TS_TRANSPOSES];
    ts_adjoin_kernels adjoins;
    if (!has_columns()) return;
    call_for_kernels(&tiles, columns, &adjoins);
    kernels.tiles[0] = &tiles;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        ts_copy_context m = context_of(groups[i].bits, src, dst);
        ts_plan_box box = box_of(groups[i].count, groups[i].loops);
        m.kernels = &kernels;
        print_message("%s\n", groups[i].name);
        called = BLOCKS;
        ts_move_concurrent_boxes(&m, &box, 1);
        assert_int_equal(called, groups[i].kind);
    }
}

/* ---- All bytes ---- */

/* Which sizes are moved by columns. */
typedef enum { NONE, SOME, LARGE } taken_sizes;

typedef struct {
    const char *src, *dst; /* R, C become sizes */
    taken_sizes taken;
} layout_pair;

static const layout_pair pairs[] = {
    {"f32[R,C]{1,0}", "f32[R,C]{0,1}", LARGE},
    {"bf16[R,C]{1,0}", "bf16[R,C]{0,1}", LARGE},
    {"s8[R,C]{1,0}", "s8[R,C]{0,1}", LARGE},
    {"f64[R,C]{1,0}", "f64[R,C]{0,1}", LARGE},
    {"c128[R,C]{1,0}", "c128[R,C]{0,1}", LARGE},
    {"f32[R,C,2]{2,1,0}", "f32[R,C,2]{2,0,1}", LARGE}, /* two are one */
    {"s16[R,C]{1,0}", "s16[R,C] S[(R,C):(1,901)]", LARGE},
    {"f32[R,7,C]{2,1,0}", "f32[R,7,C]{1,0,2}", LARGE},
    {"bf16[7,R,C]{2,1,0}", "bf16[7,R,C]{0,1,2}", LARGE},
    {"f32[R,5,C]{2,1,0}", "f32[R,5,C]{0,1,2}", LARGE},
    {"f32[R,C,3]{2,1,0}", "f32[R,C,3]{0,2,1}", LARGE},
    {"bf16[R,C]{1,0:T(8,128)(2,1)}", "bf16[R,C]{0,1}", SOME},
    {"f32[R,C]{0,1}", "f32[R,C]{1,0:T(8,128)}", SOME},
    {"bf16[R,C]{0,1}", "bf16[R,C]{1,0:T(8,128)(2,1)}", SOME},
    {"f32[R,C]{0,1:T(8,128)}", "f32[R,C]{1,0:T(8,128)}", SOME},
    {"u8[R,7,45]{2,1,0}", "u8[R,7,45]{2,0,1}", SOME}, /* runs */
    {"bf16[R,3,100]{2,1,0}", "bf16[R,3,100]{2,0,1}", SOME},
    {"s8[3,R,2,64]{3,2,1,0}", "s8[3,R,2,64]{3,1,2,0}", SOME},
    {"s4[R,C]{1,0:E(4)}", "s4[R,C]{0,1:E(4)}", NONE},
    {"f32[R,C]{1,0}", "bf16[R,C]{0,1}", NONE},
};

/* Is one of the plan's boxes moved by columns? */
static bool is_taken(const ts_copy_context *m, const ts_plan *plan) {
    bool taken = false;
    for (int64_t i = 0; i < plan->box_count; i++) {
        ts_plan_box box;
        ts_plan_get_box(plan, i, &box);
        taken = ts_columns_move(m, &box) || taken;
    }
    return taken;
}

/* The destination lies `skew` elements behind a line's begin. */
static void move_columns(const layout_pair *pair, int64_t rows, int64_t columns, int skew, uint64_t *seed) {
    ts_arena *arena = ts_arena_new();
    const ts_shape *from = sized_shape(arena, pair->src, rows, columns),
                   *to = sized_shape(arena, pair->dst, rows, columns);
    const int64_t offset = GUARD_BYTES + skew * (to->element_bits / 8),
                  length = to->storage_bytes + GUARD_BYTES + offset;
    ts_plan_side a = {from, NULL, NULL, 0}, b = {to, NULL, NULL, offset * 8};
    const ts_plan *plan = ts_plan_of_elements(NULL, arena, &a, &b, from->layout->rank, from->layout->dims);
    guarded src = guard(from->storage_bytes);
    uint8_t *want = TS_NEW_ARRAY(arena, uint8_t, length), *raw = TS_NEW_ARRAY(arena, uint8_t, length + 64),
            *got = raw + (-(intptr_t)raw & 63);
    ts_move_options options = {.stores = TS_STORES_STREAMING, .threads = 1};
    ts_copy_context m;
    for (int64_t i = 0; i < from->storage_bytes; i++) src.bytes[i] = (uint8_t)random_below(seed, 256);
    memset(want, 0x55, (size_t)length);
    ts_copy_set(&m, plan, &options, src.bytes, want);
    ts_move_plan(&m, plan, 1);
    options.kernels = ts_kernels_best();
    for (int threads = 1; threads <= 3; threads += 2) {
        memset(got, 0x55, (size_t)length);
        ts_copy_set(&m, plan, &options, src.bytes, got);
        ts_move_plan(&m, plan, threads);
        if (memcmp(got, want, (size_t)length) != 0)
            fail_msg("%s to %s, %dx%d, skew %d, %d threads: moves otherwise", pair->src, pair->dst, (int)rows,
                     (int)columns, skew, threads);
    }
    bool large = rows * to->element_bits / 8 >= 768 && columns >= 260;
    if (pair->taken == NONE || (large && pair->taken == LARGE))
        assert_int_equal(is_taken(&m, plan), pair->taken == LARGE && has_columns());
    assert_memory_equal(got, want, (size_t)length);
    guarded_free(src);
    ts_arena_free(arena);
}

/* Few rows. */
static const layout_pair adjoining[] = {
    {"f32[R,C]{1,0}", "f32[R,C]{0,1}", SOME},
    {"bf16[R,C]{1,0}", "bf16[R,C]{0,1}", SOME},
    {"f64[R,C]{1,0}", "f64[R,C]{0,1}", SOME},
    {"c128[R,C]{1,0}", "c128[R,C]{0,1}", SOME},
    {"u8[R,C]{1,0}", "u8[R,C]{0,1}", SOME},
    {"f32[3,R,C]{2,1,0}", "f32[3,R,C]{1,2,0}", SOME},
    {"s16[R,3,C]{2,1,0}", "s16[R,3,C]{0,2,1}", SOME},
    {"f32[3,R,C]{2,1,0}", "f32[3,R,C]{1,0,2}", SOME},
    {"bf16[5,C,R]{1,0,2:T(8,128)}", "bf16[5,C,R]{2,1,0}", SOME},
    {"f32[3,R,C]{2,1,0}", "f32[3,R,C] S[(3,R,C):(120011,1,R)]", SOME}, /* streams that leave gaps */
    {"f32[R,C,2]{2,1,0}", "f32[R,C,2]{2,0,1}", SOME},
    {"u8[3,C,45]{2,1,0}", "u8[3,C,45]{2,0,1}", SOME}, /* runs */
    {"f32[R,C,13]{2,1,0}", "f32[R,C,13]{2,0,1}", SOME},
};

/* Columns of a line of bytes, and of one more. */
TEST(whole_lines) {
    uint64_t seed = 5;
    for (int rows = 63; rows <= 66; rows++)
        move_columns(&(layout_pair){"u8[R,C]{1,0}", "u8[R,C]{0,1}", SOME}, rows, 431, rows, &seed);
}

TEST(random_streams) {
    const int count = (int)(sizeof adjoining / sizeof adjoining[0]);
    uint64_t seed = 20261130;
    for (int n = 0, most = rounds(400, 78); n < most; n++)
        move_columns(&adjoining[n % count], 2 + random_below(&seed, n % 3 ? 30 : 130),
                     1 + random_below(&seed, 900), (int)random_below(&seed, 64), &seed);
}

TEST(random_columns) {
    const int count = (int)(sizeof pairs / sizeof pairs[0]);
    uint64_t seed = 20261130;
    for (int n = 0, most = rounds(280, 54); n < most; n++)
        move_columns(&pairs[n % count], 1 + random_below(&seed, 900), 1 + 2 * random_below(&seed, 300),
                     (int)random_below(&seed, 64), &seed);
}

/* Of each byte of a line and each length of the last, a column; of few rows more than blocks have, some. */
TEST(ends_of_columns) {
    uint64_t seed = 1;
    for (int n = 0; n < 128; n += stride(1, 5))
        move_columns(&pairs[n % 5], 768 + n, 260 + n % 70, n % 64, &seed);
}

/* Columns that end where lines do, and others that follow them. */
TEST(columns_in_tiles) {
    static const layout_pair tiles[] = {{"f32[R,C]{0,1}", "f32[R,C]{1,0:T(8,128)}", LARGE},
                                        {"bf16[R,C]{0,1}", "bf16[R,C]{1,0:T(8,128)(2,1)}", LARGE},
                                        {"f32[R,C]{0,1:T(8,128)}", "f32[R,C]{1,0:T(8,128)}", LARGE}};
    uint64_t seed = 3;
    for (int i = 0; i < 3; i++) {
        move_columns(&tiles[i], 768, 1024, 0, &seed);
        move_columns(&tiles[i], 787, 1001, 0, &seed);
    }
}

/* More columns than lines are kept for, in blocks that do not divide them, and leave one that no kernel for columns takes. */
TEST(many_columns) {
    uint64_t seed = 2;
    move_columns(&pairs[0], 400, 2700, 1, &seed);
    move_columns(&pairs[0], 400, 4097, 1, &seed);
    move_columns(&pairs[1], 520, 4611, 3, &seed);
    move_columns(&pairs[2], 1030, 3077, 5, &seed);
    move_columns(&pairs[3], 400, 2111, 7, &seed);
}
