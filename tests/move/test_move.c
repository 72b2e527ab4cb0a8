/* Moving bytes: there and back over random layouts, every bit of the destination against enumeration. */
#include <string.h>

#include "tests/support/rounds.h"
#include "tests/support/random_layout.h"
#include "tests/support/shapes.h"
#include "move/copy_context.h"
#include "move/move.h"
#include "layout/convert.h"
#include "tests/support/test.h"

enum { RANDOM_PAIRS = 3000 };

/* One bit at a time, so that nothing is shared with the code under test. */
static uint64_t bits_at(const uint8_t *bytes, int64_t bit, int width) {
    uint64_t value = 0;
    for (int i = 0; i < width; i++)
        if (bytes[(bit + i) / 8] & (1 << ((bit + i) % 8))) value |= UINT64_C(1) << i;
    return value;
}

static void set_bits(uint8_t *bytes, int64_t bit, int width, uint64_t value) {
    for (int i = 0; i < width; i++) {
        int mask = 1 << ((bit + i) % 8);
        bytes[(bit + i) / 8] = (uint8_t)((bytes[(bit + i) / 8] & ~mask) | (value >> i & 1 ? mask : 0));
    }
}

typedef struct {
    ts_dtype from, to;
    int from_bits, to_bits;
} type_pair;

static const type_pair pairs[] = {
    {TS_DTYPE_F32, TS_DTYPE_F32, 32, 32},     {TS_DTYPE_BF16, TS_DTYPE_BF16, 16, 16},
    {TS_DTYPE_S8, TS_DTYPE_S8, 8, 8},         {TS_DTYPE_S4, TS_DTYPE_S4, 4, 4},
    {TS_DTYPE_S4, TS_DTYPE_S4, 8, 4},         {TS_DTYPE_S4, TS_DTYPE_S4, 4, 8},
    {TS_DTYPE_PRED, TS_DTYPE_PRED, 8, 1},     {TS_DTYPE_PRED, TS_DTYPE_PRED, 1, 8},
    {TS_DTYPE_U2, TS_DTYPE_U2, 2, 2},         {TS_DTYPE_F32, TS_DTYPE_BF16, 32, 16},
    {TS_DTYPE_BF16, TS_DTYPE_F32, 16, 32},    {TS_DTYPE_S32, TS_DTYPE_S4, 32, 4},
    {TS_DTYPE_C128, TS_DTYPE_C128, 128, 128}, {TS_DTYPE_F64, TS_DTYPE_F64, 64, 64},
};

typedef struct {
    ts_shape shape;
    uint8_t *bytes;
    int64_t length;
    ts_space *space;
    ts_plan_side side;
} end;

static end make_end(uint64_t *seed, ts_arena *arena, ts_dtype dtype, int bits, int rank,
                    const int64_t *sizes) {
    int64_t dims[4], *begin = TS_NEW_ARRAY(arena, int64_t, 4);
    for (int i = 0; i < rank; i++) {
        begin[i] = random_below(seed, 3) ? 0 : random_below(seed, 3);
        dims[i] = sizes[i] + begin[i] + (random_below(seed, 3) ? 0 : random_below(seed, 3));
    }
    end e = {.shape = {.dtype = dtype, .element_bits = bits}};
    e.shape.layout = random_layout(seed, arena, rank, dims);
    e.length = (ts_layout_padded_count(e.shape.layout) * bits + 7) / 8 + 16;
    e.bytes = TS_NEW_ARRAY(arena, uint8_t, e.length);
    for (int64_t i = 0; i < e.length; i++) e.bytes[i] = (uint8_t)random_below(seed, 256);
    e.space = ts_space_wrap(arena, "test", e.bytes, e.length);
    e.side = (ts_plan_side){NULL, begin, NULL, 64};
    return e;
}

static int64_t bit_of(const end *e, int rank, const int64_t *index) {
    int64_t at[4] = {0}, offset;
    for (int i = 0; i < rank; i++) at[i] = index[i] + e->side.begin[i];
    ts_layout_forward(e->shape.layout, at, &offset);
    return 64 + offset * e->shape.element_bits;
}

static uint64_t expected_value(const end *src, const end *dst, uint64_t value) {
    if (src->shape.dtype == TS_DTYPE_PRED && src->shape.element_bits != dst->shape.element_bits)
        return value != 0;
    if (src->shape.dtype == dst->shape.dtype && src->shape.element_bits == dst->shape.element_bits)
        return value;
    return ts_element_convert(src->shape.dtype, value, dst->shape.dtype);
}

/* What the destination must be: its old bits, with each element put where it belongs. */
static uint8_t *enumerate(ts_arena *arena, const end *src, const end *dst, int rank, const int64_t *sizes) {
    uint8_t *out = ts_arena_grow(arena, dst->bytes, (size_t)dst->length, (size_t)dst->length, 1);
    int64_t index[4] = {0};
    do {
        int64_t from = bit_of(src, rank, index), to = bit_of(dst, rank, index);
        for (int done = 0; done < src->shape.element_bits; done += 64) {
            int width = src->shape.element_bits < 64 ? src->shape.element_bits : 64;
            int out_width = dst->shape.element_bits < 64 ? dst->shape.element_bits : 64;
            set_bits(out, to + done, out_width,
                     expected_value(src, dst, bits_at(src->bytes, from + done, width)));
        }
    } while (next_index(rank, sizes, index));
    return out;
}

static void move(ts_arena *arena, end *src, end *dst, int rank, const int64_t *sizes) {
    ts_error err = {0};
    src->side.shape = &src->shape;
    dst->side.shape = &dst->shape;
    const ts_plan *plan = ts_plan_new(&err, arena, &src->side, &dst->side, rank, sizes);
    assert_non_null(plan);
    uint8_t *expected = enumerate(arena, src, dst, rank, sizes);
    assert_true(ts_dma_move(&err, plan, src->space, dst->space));
    if (plan->moved_elements == plan->elements) {
        assert_memory_equal(dst->bytes, expected, (size_t)dst->length);
        return;
    }
    /* padding travels: what is an element must be right, and nothing outside the layout may change */
    assert_memory_equal(dst->bytes, expected, 8);
    assert_memory_equal(dst->bytes + dst->length - 8, expected + dst->length - 8, 8);
    int64_t index[4] = {0};
    do {
        int64_t bit = bit_of(dst, rank, index);
        int width = dst->shape.element_bits < 64 ? dst->shape.element_bits : 64;
        assert_true(bits_at(dst->bytes, bit, width) == bits_at(expected, bit, width));
    } while (next_index(rank, sizes, index));
}

TEST_WITH_ARENA(there_and_back) {
    uint64_t seed = 2024;
    for (int n = 0, most = rounds(RANDOM_PAIRS, RANDOM_PAIRS / 5); n < most; n++) {
        ts_arena_reset(arena);
        const type_pair *pair = &pairs[random_below(&seed, sizeof pairs / sizeof pairs[0])];
        int rank = (int)random_below(&seed, 5);
        int64_t sizes[4], index[4] = {0};
        for (int i = 0; i < rank; i++) sizes[i] = 1 + random_below(&seed, 8);
        end a = make_end(&seed, arena, pair->from, pair->from_bits, rank, sizes);
        end b = make_end(&seed, arena, pair->to, pair->to_bits, rank, sizes);
        end c = make_end(&seed, arena, pair->from, pair->from_bits, rank, sizes);
        move(arena, &a, &b, rank, sizes);
        move(arena, &b, &c, rank, sizes);
        if (pair->from != pair->to || pair->from_bits != pair->to_bits) continue;
        do {
            int width = pair->from_bits < 64 ? pair->from_bits : 64;
            assert_true(bits_at(a.bytes, bit_of(&a, rank, index), width) ==
                        bits_at(c.bytes, bit_of(&c, rank, index), width));
        } while (next_index(rank, sizes, index));
    }
}

TEST_WITH_ARENA(poison_goes_with_the_elements) {
    ts_error err = {0};
    int64_t dims[1] = {100};
    const ts_shape *shape = ts_shape_row_major(&err, arena, TS_DTYPE_F32, 1, dims);
    ts_space *a = ts_space_new(arena, "a", 1 << 20), *b = ts_space_new(arena, "b", 1 << 20);
    ts_space_track(a, arena);
    ts_space_track(b, arena);
    ts_space_mark_valid(a, 0, 100 * 32);
    ts_space_mark_poison(a, 40 * 32 + 5, 1);
    ts_plan_side src = {shape, NULL, NULL, 0}, dst = {shape, NULL, NULL, 64 * 8};
    const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 1, dims);
    assert_true(ts_dma_move(&err, plan, a, b));
    assert_int_equal(ts_space_find_poison(b, 64 * 8, 40 * 32), -1);
    assert_int_equal(ts_space_find_poison(b, 64 * 8, 100 * 32), 64 * 8 + 40 * 32);
    assert_int_equal(ts_space_find_poison(b, 64 * 8 + 41 * 32, 59 * 32), -1);
    assert_int_equal(ts_space_find_poison(b, 64 * 8 + 41 * 32, 60 * 32), 64 * 8 + 100 * 32);
    ts_space_free(a);
    ts_space_free(b);
}

TEST_WITH_ARENA(refusals) {
    ts_error err = {0};
    int64_t dims[1] = {64};
    const ts_shape *f32 = ts_shape_row_major(&err, arena, TS_DTYPE_F32, 1, dims);
    const ts_shape *c64 = ts_shape_row_major(&err, arena, TS_DTYPE_C64, 1, dims);
    ts_space *space = ts_space_new(arena, "VMEM", 1024);
    const struct {
        const ts_shape *src, *dst;
        int64_t src_bits, dst_bits;
        const char *message;
    } rows[] = {
        {f32, c64, 0, 2048, "there is no conversion from f32 to c64"},
        {f32, f32, 0, 255 * 8, "the source (bytes 0 to 255) and the destination (255 to 510) overlap"},
        {f32, f32, 0, 800 * 8, "the destination takes bytes 800 to 1055 of VMEM, which has 1024 bytes"},
        {f32, f32, 800 * 8, 0, "the source takes bytes 800 to 1055 of VMEM, which has 1024 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error_clear(&err);
        ts_plan_side src = {rows[i].src, NULL, NULL, rows[i].src_bits},
                     dst = {rows[i].dst, NULL, NULL, rows[i].dst_bits};
        const ts_plan *plan = ts_plan_new(&err, arena, &src, &dst, 1, dims);
        assert_non_null(plan);
        assert_false(ts_dma_move(&err, plan, space, space));
        assert_string_equal(err.message, rows[i].message);
    }
    ts_space_free(space);
}

/* ---- Runs of every length, whose destination has gaps ---- */

TEST(runs_of_every_length) {
    enum { MOST = 140, GAP = 3, TIMES = 3 * 5 };
    static uint8_t src[TIMES * MOST], made[TIMES * (MOST + GAP)], expected[sizeof made];
    for (size_t i = 0; i < sizeof src; i++) src[i] = (uint8_t)(i * 131 >> 3);
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        for (int64_t bytes = 0; kernels && bytes <= MOST; bytes++) {
            ts_kernel_loop loops[2] = {{3, bytes, 5 * (bytes + GAP)}, {5, 3 * bytes, bytes + GAP}};
            memset(made, 7, sizeof made);
            memset(expected, 7, sizeof expected);
            for (int64_t i = 0; i < TIMES; i++)
                memcpy(expected + i * (bytes + GAP), src + (i % 5 * 3 + i / 5) * bytes, (size_t)bytes);
            kernels->runs(made, src, bytes, loops);
            assert_memory_equal(made, expected, sizeof made);
        }
    }
}

/* ---- Moves that are prepared ---- */

enum { PREPARED_ROWS = 40, PREPARED_ROW = 9, PREPARED_BYTES = PREPARED_ROWS * PREPARED_ROW };

/* 40 rows of 9 bytes that become columns; their kernel may read behind the last, or not. */
static const ts_plan *plan_columns(ts_arena *arena) {
    static const int64_t sizes[] = {PREPARED_ROWS, PREPARED_ROW};
    ts_plan_side rows = {.shape = parse_shape(arena, "u8[40,9]{1,0}"), .base_bits = 8 * 8},
                 columns = {.shape = parse_shape(arena, "u8[40,9]{0,1}"), .base_bits = 24 * 8};
    return ts_plan_new(NULL, arena, &rows, &columns, 2, sizes);
}

/* From one place to another, of spaces in which `behind` bytes follow. */
static void check_prepared(ts_arena *arena, ts_prepared_move *move, int64_t shift, int64_t behind) {
    int64_t src_bytes = 8 + shift + PREPARED_BYTES + behind, dst_bytes = 24 - shift + PREPARED_BYTES;
    uint8_t *from = TS_NEW_ARRAY(arena, uint8_t, src_bytes), *to = TS_NEW_ARRAY(arena, uint8_t, dst_bytes);
    for (int64_t i = 0; i < src_bytes; i++) from[i] = (uint8_t)(i * 37 >> 2);
    ts_move_end src = {ts_space_wrap(arena, "from", from, src_bytes), shift},
                dst = {ts_space_wrap(arena, "to", to, dst_bytes), -shift};
    assert_true(ts_move_execute(NULL, move, src, dst));
    for (int row = 0; row < PREPARED_ROWS; row++)
        for (int i = 0; i < PREPARED_ROW; i++)
            assert_int_equal(to[24 - shift + i * PREPARED_ROWS + row],
                             from[8 + shift + row * PREPARED_ROW + i]);
}

TEST_WITH_ARENA(prepared_moves_are_done_anywhere) {
    const ts_plan *plan = plan_columns(arena);
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_move_options how = {.kernels = ts_kernels_get(version)};
        ts_prepared_move *move = ts_move_prepare(arena, plan, &how);
        if (!how.kernels) continue;
        for (int64_t shift = -8; shift <= 24; shift++)
            check_prepared(arena, move, shift, shift % 3 == 0 ? 0 : 64);
    }
}

/* Between memories of one size nothing is found, and put into the arena, twice. */
TEST_WITH_ARENA(prepared_moves_are_found_at_once) {
    ts_prepared_move *move =
        ts_move_prepare(arena, plan_columns(arena), &(ts_move_options){.kernels = ts_kernels_best()});
    uint8_t from[8 + PREPARED_BYTES], to[24 + PREPARED_BYTES], *before[2], *behind;
    for (size_t i = 0; i < sizeof from; i++) from[i] = (uint8_t)(i * 37 >> 2);
    ts_space src = ts_space_around("src", NULL, sizeof from), dst = ts_space_around("dst", NULL, sizeof to);
    ts_error err = {0};
    assert_false(ts_move_make_ready(&err, move, (ts_move_end){&src, 1}, (ts_move_end){&dst, 0}));
    assert_string_equal(err.message, "the source takes bytes 9 to 368 of src, which has 368 bytes");
    assert_true(ts_move_make_ready(NULL, move, (ts_move_end){&src, 0}, (ts_move_end){&dst, 0}));
    for (int i = 0; i < 2; i++) before[i] = TS_NEW_ARRAY(arena, uint8_t, 16);
    for (int n = 0; n < 2; n++) {
        memset(to, 0x55, sizeof to);
        src = ts_space_around("src", from, sizeof from);
        dst = ts_space_around("dst", to, sizeof to);
        assert_true(ts_move_execute(NULL, move, (ts_move_end){&src, 0}, (ts_move_end){&dst, 0}));
        assert_true(ts_move_make_ready(NULL, move, (ts_move_end){&src, 0}, (ts_move_end){&dst, 0}));
        for (int i = 0; i < PREPARED_BYTES; i++)
            assert_int_equal(to[24 + i], from[8 + i % PREPARED_ROWS * PREPARED_ROW + i / PREPARED_ROWS]);
    }
    behind = TS_NEW_ARRAY(arena, uint8_t, 16);
    if (before[1] - before[0] == 16) assert_ptr_equal(behind, before[1] + 16); /* no sanitizer */
}

TEST_WITH_ARENA(prepared_moves_are_checked_each_time) {
    ts_error err = {0};
    ts_space *space = ts_space_new(arena, "VMEM", 1024);
    ts_prepared_move *move =
        ts_move_prepare(arena, plan_columns(arena), &(ts_move_options){.kernels = ts_kernels_best()});
    const struct {
        int64_t src, dst;
        const char *message; /* NULL: it is done */
    } rows[] = {
        {0, 360, NULL},
        {0, 640, NULL},
        {0, 641, "the destination takes bytes 665 to 1024 of VMEM, which has 1024 bytes"},
        {-9, 640, "the source takes bytes -1 to 358 of VMEM, which has 1024 bytes"},
        {300, 0, "the source (bytes 308 to 667) and the destination (24 to 383) overlap"},
        {376, 0, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error_clear(&err);
        bool done =
            ts_move_execute(&err, move, (ts_move_end){space, rows[i].src}, (ts_move_end){space, rows[i].dst});
        assert_int_equal(done, !rows[i].message);
        if (rows[i].message) assert_string_equal(err.message, rows[i].message);
    }
    ts_space_free(space);
}

/* Where the layouts end behind a space, and the elements do not, these alone are asked for; and the poison is that of
 * the place. */
TEST_WITH_ARENA(prepared_moves_of_slices) {
    const int64_t sizes[] = {2, 40};
    ts_plan_side tiled = {.shape = parse_shape(arena, "u8[2,40]{1,0:T(8,128)}")},
                 rows = {.shape = parse_shape(arena, "u8[2,40]{1,0}")};
    ts_prepared_move *move = ts_move_prepare(arena, ts_plan_new(NULL, arena, &tiled, &rows, 2, sizes),
                                             &(ts_move_options){.kernels = ts_kernels_best()});
    for (int64_t shift = 0; shift <= 16; shift += 8) {
        int64_t room = shift == 8 ? 168 : 1024; /* of the tile's 1024 bytes the first 168 have elements */
        ts_space *src = ts_space_new(arena, "src", room + shift), *dst = ts_space_new(arena, "dst", 128);
        ts_space_track(src, arena);
        ts_space_track(dst, arena);
        ts_space_mark_valid(src, shift * 8, 39 * 8);
        ts_space_mark_valid(src, (shift + 128) * 8, 40 * 8);
        assert_true(ts_move_execute(NULL, move, (ts_move_end){src, shift}, (ts_move_end){dst, 2 * shift}));
        assert_int_equal(ts_space_find_poison(dst, 2 * shift * 8, 80 * 8), (2 * shift + 39) * 8);
        assert_int_equal(ts_space_find_poison(dst, (2 * shift + 40) * 8, 40 * 8), -1);
        ts_space_free(src);
        ts_space_free(dst);
    }
}

/* Outside of their space, and at one place. */
TEST_WITH_ARENA(no_elements_may_be_anywhere) {
    ts_space *space = ts_space_new(arena, "space", 64);
    const int64_t sizes[] = {0, 8};
    ts_plan_side side = {.shape = parse_shape(arena, "f32[0,8]{1,0}"), .base_bits = 1 << 20};
    const ts_plan *plan = ts_plan_new(NULL, arena, &side, &side, 2, sizes);
    assert_true(ts_dma_check(NULL, plan, space, space));
    assert_true(ts_dma_move(NULL, plan, space, space));
    ts_space_free(space);
}
