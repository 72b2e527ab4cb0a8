/* Every version of the kernels against the definition, element by element: random boxes of loops, layouts
 * with ragged edges, every bf16 and the f32 around them, shares of threads. The whole destination is
 * compared, guards included. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/copy_plan.h"
#include "tests/support/guarded.h"
#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"
#include "move/move.h"
#include "layout/convert.h"
#include "tests/support/test.h"

enum {
    MAX_ELEMENTS = 40000,
    GUARD_BYTES = 128,
    MAX_DIMS = 5,
    MOST_LAST = TS_COPY_TINY + 70,
    WIDEST_LAST = 16
};

static uint64_t first_seed(void) {
    const char *text = getenv("TS_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 7;
    print_message("seed %llu (TS_SEED)\n", (unsigned long long)seed);
    return seed;
}

typedef struct {
    ts_dtype from, to;
    int from_bits, to_bits;
} type_pair;

static const type_pair pairs[] = {
    {TS_DTYPE_F32, TS_DTYPE_F32, 32, 32},     {TS_DTYPE_BF16, TS_DTYPE_BF16, 16, 16},
    {TS_DTYPE_S8, TS_DTYPE_S8, 8, 8},         {TS_DTYPE_F64, TS_DTYPE_F64, 64, 64},
    {TS_DTYPE_C128, TS_DTYPE_C128, 128, 128}, {TS_DTYPE_S4, TS_DTYPE_S4, 4, 4},
    {TS_DTYPE_S4, TS_DTYPE_S4, 8, 4},         {TS_DTYPE_S4, TS_DTYPE_S4, 4, 8},
    {TS_DTYPE_U2, TS_DTYPE_U2, 2, 2},         {TS_DTYPE_U2, TS_DTYPE_U2, 8, 2},
    {TS_DTYPE_U2, TS_DTYPE_U2, 2, 8},         {TS_DTYPE_PRED, TS_DTYPE_PRED, 8, 1},
    {TS_DTYPE_PRED, TS_DTYPE_PRED, 1, 8},     {TS_DTYPE_PRED, TS_DTYPE_PRED, 1, 1},
    {TS_DTYPE_F32, TS_DTYPE_BF16, 32, 16},    {TS_DTYPE_BF16, TS_DTYPE_F32, 16, 32},
    {TS_DTYPE_F32, TS_DTYPE_S8, 32, 8},       {TS_DTYPE_S8, TS_DTYPE_BF16, 8, 16},
    {TS_DTYPE_S4, TS_DTYPE_BF16, 4, 16},      {TS_DTYPE_BF16, TS_DTYPE_S4, 16, 4},
    {TS_DTYPE_F32, TS_DTYPE_PRED, 32, 1},     {TS_DTYPE_F16, TS_DTYPE_F8E4M3FN, 16, 8},
    {TS_DTYPE_F8E5M2, TS_DTYPE_F16, 8, 16},   {TS_DTYPE_S32, TS_DTYPE_F32, 32, 32},
    {TS_DTYPE_S4, TS_DTYPE_S8, 8, 8},         {TS_DTYPE_U16, TS_DTYPE_F8E4M3FN, 16, 8},
    {TS_DTYPE_F32, TS_DTYPE_F32, 64, 64},     {TS_DTYPE_S8, TS_DTYPE_S64, 8, 64},
};

/* ---- One box ---- */

typedef struct {
    uint8_t *bytes;
    int64_t length, base_bits;
} memory;

/* A random order of the dims, with gaps between them, from some bit on; now and then backwards. */
static memory place(uint64_t *seed, ts_arena *arena, int count, ts_plan_loop *loops, int width, bool dst) {
    int order[MAX_DIMS];
    int64_t stride = width, low = 0, high = 0;
    for (int i = 0; i < count; i++) order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)random_below(seed, (uint32_t)i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (int i = 0; i < count; i++) {
        ts_plan_loop *loop = &loops[order[i]];
        bool repeats = !dst && random_below(seed, 20) == 0, backwards = random_below(seed, 20) == 0;
        int64_t step = repeats ? 0 : backwards ? -stride : stride, reach = step * (loop->extent - 1);
        *(dst ? &loop->dst_bits : &loop->src_bits) = step;
        *(reach < 0 ? &low : &high) += reach;
        stride *= loop->extent;
        uint32_t gap = random_below(seed, 8);
        if (gap == 0)
            stride += (int64_t)width * (1 + random_below(seed, 9));
        else if (gap == 1)
            stride = (stride + 511) / 512 * 512;
    }
    memory m = {.base_bits = GUARD_BYTES * 8 - low};
    uint32_t offset = random_below(seed, 4);
    m.base_bits += offset == 0 ? (int64_t)width * random_below(seed, 64)
                               : 64 * 8 * offset; /* any element, or an aligned line */
    if (offset > 0) m.base_bits = (m.base_bits + 511) / 512 * 512;
    m.length = (m.base_bits + high + width + 7) / 8 + GUARD_BYTES;
    uint8_t *raw = TS_NEW_ARRAY(arena, uint8_t, m.length + 64);
    m.bytes = raw + (-(intptr_t)raw & 63);
    for (int64_t i = 0; i < m.length; i++) m.bytes[i] = (uint8_t)random_below(seed, 256);
    return m;
}

static int random_loops(uint64_t *seed, ts_plan_loop *loops) {
    static const int regular[] = {2, 2, 4, 4, 8, 8, 16, 32, 64, 128};
    int count = 1 + (int)random_below(seed, MAX_DIMS);
    int64_t elements = 1;
    for (int i = 0; i < count; i++) {
        int extent =
            random_below(seed, 3) ? regular[random_below(seed, 10)] : 1 + (int)random_below(seed, 70);
        while (elements * extent > MAX_ELEMENTS && extent > 1) extent = (extent + 1) / 2;
        if (extent < 2) extent = 2;
        if (elements * extent > 2 * MAX_ELEMENTS) return i;
        loops[i] = (ts_plan_loop){.extent = extent};
        elements *= extent;
    }
    return count;
}

TEST_WITH_ARENA(random_boxes) {
    uint64_t seed = first_seed();
    for (int n = 0, most = rounds(400, 80); n < most; n++) {
        ts_arena_reset(arena);
        uint64_t box_seed = seed;
        const type_pair *pair = &pairs[random_below(&seed, sizeof pairs / sizeof pairs[0])];
        ts_plan_box box = {0};
        box.loop_count = random_loops(&seed, box.loops);
        memory src = place(&seed, arena, box.loop_count, box.loops, pair->from_bits, false);
        memory dst = place(&seed, arena, box.loop_count, box.loops, pair->to_bits, true);
        box.src_bits = src.base_bits;
        box.dst_bits = dst.base_bits;
        ts_plan_box part = box; /* may be moved by the same tiles as the whole */
        for (int i = 0; i < part.loop_count; i++)
            part.loops[i].extent -= random_below(&seed, (uint32_t)(part.loops[i].extent + 3) / 4);
        uint8_t *want = TS_NEW_ARRAY(arena, uint8_t, dst.length);
        memcpy(want, dst.bytes, (size_t)dst.length);
        ts_copy_context m = {.src = {pair->from, pair->from_bits, src.bytes},
                             .dst = {pair->to, pair->to_bits, want},
                             .same = pair->from == pair->to && pair->from_bits == pair->to_bits,
                             .behind_bytes = random_below(&seed, 3) ? GUARD_BYTES : 0};
        ts_move_elements(&m, &box);
        for (int version = 0; version < 2 * TS_KERNELS_COUNT; version++) {
            m.kernels = ts_kernels_get(version / 2);
            m.streams = version % 2;
            if (!m.kernels || (m.streams && !m.kernels->stream_runs)) continue;
            m.convert = NULL;
            if (!m.same) ts_copy_set_conversion(&m);
            uint8_t *raw = TS_NEW_ARRAY(arena, uint8_t, dst.length + 64);
            m.dst.bytes = raw + (-(intptr_t)raw & 63);
            memcpy(m.dst.bytes, dst.bytes, (size_t)dst.length);
            ts_copy_plan copy;
            ts_copy_plan_begin(&copy, &m);
            ts_copy_plan_move(&copy, &part);
            ts_copy_plan_move(&copy, &box);
            if (memcmp(m.dst.bytes, want, (size_t)dst.length) == 0) continue;
            fail_msg("TS_SEED=%llu: %s%s moves box %d (types %d) otherwise", (unsigned long long)box_seed,
                     ts_kernels_name(version / 2), m.streams ? ", streaming," : "", n, (int)(pair - pairs));
        }
    }
}

/* ---- Layouts ---- */

/* %R and %C become sizes. */
static const char *const layouts[][2] = {
    {"f32[R,C]{1,0}", "f32[R,C]{1,0:T(8,128)}"},
    {"f32[R,C]{1,0:T(8,128)}", "f32[R,C]{1,0}"},
    {"bf16[R,C]{1,0}", "bf16[R,C]{1,0:T(8,128)(2,1)}"},
    {"bf16[R,C]{1,0:T(8,128)(2,1)}", "bf16[R,C]{1,0}"},
    {"bf16[R,C]{1,0:T(8,128)}", "bf16[R,C]{1,0:T(8,128)(2,1)}"},
    {"bf16[R,C]{1,0:T(8,128)(2,1)}", "bf16[R,C]{0,1:T(8,128)(2,1)}"},
    {"s8[R,C]{1,0}", "s8[R,C]{1,0:T(8,128)(4,1)}"},
    {"s8[R,C]{1,0:T(8,128)(4,1)}", "s8[R,C]{1,0}"},
    {"s8[R,C]{1,0:T(8,128)(4,1)}", "bf16[R,C]{1,0:T(8,128)(2,1)}"},
    {"f32[R,C]{1,0}", "f32[R,C]{0,1}"},
    {"bf16[R,C]{1,0}", "bf16[R,C]{0,1}"},
    {"u8[R,C]{1,0}", "u8[R,C]{0,1}"},
    {"f32[R,C]{1,0}", "bf16[R,C]{1,0:T(8,128)(2,1)}"},
    {"bf16[R,C]{1,0:T(8,128)(2,1)}", "f32[R,C]{1,0}"},
    {"f32[R,C]{1,0}", "s4[R,C]{0,1:T(8,128)(8,1)E(4)}"},
    {"s4[R,C]{1,0:E(4)}", "s4[R,C]{1,0:T(8,128)(8,1)E(4)}"},
    {"s4[R,C]{1,0:T(8,128)(8,1)E(4)}", "s4[R,C]{1,0:E(4)}"},
    {"s4[R,C]{1,0:T(8,128)(8,1)E(4)}", "bf16[R,C]{1,0:T(8,128)(2,1)}"},
    {"pred[R,C]{1,0}", "pred[R,C]{1,0:T(32,128)(32,1)E(1)}"},
    {"pred[R,C]{1,0:T(32,128)(32,1)E(1)}", "pred[R,C]{1,0}"},
    {"pred[R,C]{1,0:T(32,128)(32,1)E(1)}", "pred[R,C]{1,0:E(1)}"},
    {"s2[R,C]{1,0:E(4)}", "s2[R,C]{1,0:E(2)}"}, /* bits above the value's are dropped */
    {"u1[R,C]{1,0:E(4)}", "u1[R,C]{1,0:T(8,128)E(1)}"},
    {"f16[R,C]{1,0:E(4)}", "f16[R,C]{1,0}"}, /* less than the value's */
    {"s16[R,C]{1,0}", "s16[R,C]{1,0:T(8,128)E(4)}"},
    {"f32[3,R,5,C]{1,3,2,0}", "f32[3,R,5,C]{3,2,1,0}"},
    {"u8[3,R,5,C]{3,2,1,0}", "u8[3,R,5,C]{0,1,2,3}"}, /* rows and columns of several loops */
    {"bf16[R,C,2]{2,1,0}", "bf16[R,C,2]{2,0,1}"},     /* larger elements */
    {"s8[R,C,16]{2,1,0}", "s8[R,C,16]{2,0,1}"},
    {"f16[R,7,C]{2,0,1}", "f16[R,7,C]{1,0,2}"}, /* a loop that could be of both */
    {"f32[R,C]{1,0}", "f8e4m3fn[R,C]{1,0:T(32,128)(4,1)}"},
    {"f8e5m2[R,C]{1,0:T(8,128)(4,1)}", "f16[R,C]{0,1:T(8,128)(2,1)}"},
    {"s32[R,C]{1,0:T(8,128)}", "f32[R,C]{0,1}"},
    {"s4[R,C]{1,0:E(4)}", "f32[R,C]{1,0:T(8,128)}"},
    {"f32[R,C]{1,0}", "f32[R,C]{1,0:T(8,128)(*,3)}"}, /* these gather */
    {"s4[R,C]{1,0:T(8,128)(*,3)E(4)}", "bf16[R,C]{1,0}"},
    {"f16[R,C]{1,0:T(8,128)}", "s4[R,C]{1,0:T(8,128)(*,5)E(4)}"},
    {"s4[R,C]{1,0:E(4)}", "s4[R,C]{1,0:T(8,128)(*,5)E(4)}"},
    {"f32[R,C]{0,1}", "f32[R,C] lambda i, j: [i, j^(i&31)]"},
    {"s32[R,C]{1,0}", "f8e5m2[R,C] lambda i, j: [i, (j*3+i)%1024]"},
    {"f32[R,C]{1,0:T(*,8,128)}", "f32[R,C]{0,1:T(15,13)(2,2)}"},
};

static void with_sizes(const char *pattern, int64_t rows, int64_t columns, char *out, size_t size) {
    size_t used = 0;
    for (const char *p = pattern; *p && used + 24 < size; p++)
        if (*p == 'R' || *p == 'C')
            used += (size_t)snprintf(out + used, 24, "%d", (int)(*p == 'R' ? rows : columns));
        else
            out[used++] = *p;
    out[used] = '\0';
}

static const ts_shape *parse(ts_arena *arena, const char *pattern, int64_t rows, int64_t columns) {
    char text[128];
    with_sizes(pattern, rows, columns, text, sizeof text);
    ts_source source = {"shape", text, strlen(text)};
    return ts_shape_parse(NULL, arena, &source);
}

static ts_space *wrap(ts_arena *arena, const ts_shape *shape, uint64_t *seed) {
    int64_t length = shape->storage_bytes + 2 * GUARD_BYTES;
    uint8_t *raw = TS_NEW_ARRAY(arena, uint8_t, length + 64), *bytes = raw + (-(intptr_t)raw & 63);
    if (!seed) memset(bytes, 0x55, (size_t)length);
    for (int64_t i = 0; seed && i < length; i += 2) {
        uint16_t both = (uint16_t)random_below(seed, 1 << 16);
        memcpy(bytes + i, &both, length - i < 2 ? 1 : 2);
    }
    return ts_space_wrap(arena, "test", bytes, length);
}

static uint8_t *bytes_in(ts_space *space) { return ts_space_touch(space, 0, space->capacity_bytes); }

/* Two moves that were prepared together, the second to an address that lies otherwise; what it takes is found before, or
 * by the first. */
static void move_again(ts_arena *arena, const ts_plan *plan, ts_space *src, ts_space *want,
                       const ts_move_options *options) {
    int64_t length = want->capacity_bytes, shift = 0;
    ts_prepared_move *prepared = ts_move_prepare(arena, plan, options);
    ts_space from = ts_space_around("as large", NULL, src->capacity_bytes),
             to = ts_space_around("as large", NULL, length);
    if (plan->sizes[0] % 2 == 0)
        assert_true(ts_move_make_ready(NULL, prepared, (ts_move_end){&from, 0}, (ts_move_end){&to, 0}));
    for (int n = 0; n < 2; n++, shift += 13) {
        uint8_t *made = TS_NEW_ARRAY(arena, uint8_t, length + shift);
        memset(made, 0x55, (size_t)(length + shift));
        ts_space *dst = ts_space_wrap(arena, "again", made, length + shift);
        assert_true(ts_move_execute(NULL, prepared, (ts_move_end){src, 0}, (ts_move_end){dst, shift}));
        assert_memory_equal(made + shift, bytes_in(want), (size_t)length);
    }
}

/* Under ASan a third of the ways, other ones each time: of all kernels, stores and threads some. */
static void move_every_way(const char *const *pair, int64_t rows, int64_t columns, uint64_t *seed) {
    ts_arena *arena = ts_arena_new();
    const ts_shape *from = parse(arena, pair[0], rows, columns), *to = parse(arena, pair[1], rows, columns);
    assert_true(from && to);
    int64_t skew = random_below(seed, 2) ? 0 : 1 + random_below(seed, 60);
    ts_plan_side a = {from, NULL, NULL, GUARD_BYTES * 8 + skew * 8}, b = {to, NULL, NULL, GUARD_BYTES * 8};
    const ts_plan *plan = ts_plan_new(NULL, arena, &a, &b, from->layout->rank, from->layout->dims);
    assert_non_null(plan);
    ts_space *src = wrap(arena, from, seed), *want = wrap(arena, to, NULL);
    assert_true(ts_dma_move_with(NULL, plan, src, want, &(ts_move_options){.threads = 1}));
    int step = stride(1, 3), first = (int)random_below(seed, (uint32_t)step);
    for (int version = first; version < 4 * TS_KERNELS_COUNT; version += step) {
        ts_move_options options = {.kernels = ts_kernels_get(version / 4),
                                   .stores = version & 1 ? TS_STORES_STREAMING : TS_STORES_ORDINARY,
                                   .threads = version & 2 ? 3 : 1};
        ts_space *dst = wrap(arena, to, NULL);
        ts_copy_context m;
        if (!options.kernels) continue;
        ts_copy_set(&m, plan, &options, bytes_in(src), bytes_in(dst));
        m.behind_bytes = random_below(seed, 2) ? GUARD_BYTES - skew : 0;
        ts_move_plan(&m, plan, options.threads);
        if (options.threads == 1) move_again(arena, plan, src, want, &options);
        if (memcmp(bytes_in(dst), bytes_in(want), (size_t)dst->capacity_bytes) == 0) continue;
        fail_msg("%s to %s, %dx%d, skew %d: %s, %s, %d threads, moves otherwise", pair[0], pair[1], (int)rows,
                 (int)columns, (int)skew, ts_kernels_name(version / 4),
                 version & 1 ? "streaming" : "in the cache", options.threads);
    }
    ts_arena_free(arena);
}

/* Rows become columns; behind the last there is as much as may be read, and before the first what stays. */
static void check_to_the_end(int64_t rows, int64_t columns, int unit, int64_t behind,
                             const ts_kernels *kernels) {
    int64_t bytes = rows * columns * unit;
    guarded from = guard(bytes + behind), to = guard(bytes + GUARD_BYTES);
    uint8_t *src = from.bytes, *dst = to.bytes + GUARD_BYTES;
    ts_copy_context m = {.src = {TS_DTYPE_U8, unit * 8, src},
                         .dst = {TS_DTYPE_U8, unit * 8, dst},
                         .same = true,
                         .kernels = kernels,
                         .behind_bytes = behind};
    ts_plan_box box = {.loop_count = 2,
                       .loops = {{rows, columns * unit * 8, unit * 8}, {columns, unit * 8, rows * unit * 8}}};
    for (int64_t i = 0; i < bytes; i++) src[i] = (uint8_t)(i * 7 + i / 251);
    ts_move_box(&m, &box);
    for (int64_t i = 0; i < rows * columns; i++)
        assert_memory_equal(dst + (i % columns * rows + i / columns) * unit, src + i * unit, (size_t)unit);
    for (int i = 0; i < GUARD_BYTES; i++) assert_int_equal(to.bytes[i], 0);
    guarded_free(from);
    guarded_free(to);
}

TEST(rows_up_to_the_end) {
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        for (int n = 0; ts_kernels_get(version) && n < 33 * 4; n++)
            check_to_the_end(64 + n % 5 * 7, 8 + n % 33, 1 + n / 33 % 2, n / 66 * TS_LINE_BYTES,
                             ts_kernels_get(version));
    }
}

/* Columns of 9 to 48 bytes, one behind the other. */
TEST(short_columns_up_to_the_end) {
    for (int unit = 1; unit <= 16; unit *= 2)
        for (int rows = 8 / unit + 1; rows * unit <= 48; rows++)
            for (int bytes = 17 + rows % 7; bytes < 150; bytes += stride(5, 31))
                for (int version = 0; version < TS_KERNELS_COUNT; version++)
                    if (ts_kernels_get(version))
                        check_to_the_end(rows, ts_ceil_div(bytes, unit), unit, bytes % 2 * TS_LINE_BYTES,
                                         ts_kernels_get(version));
}

TEST(random_shapes) {
    uint64_t seed = first_seed();
    for (int n = 0, most = rounds(82, 41); n < most; n++) {
        int64_t rows = 1 + random_below(&seed, 150), columns = 1 + random_below(&seed, 300);
        move_every_way(layouts[(size_t)n % (sizeof layouts / sizeof layouts[0])], rows, columns, &seed);
    }
}

/* Of more runs than are carried at once, runs that many blocks continue, and boxes in bands. */
TEST(wide_shapes) {
    static const char *const wide[][2] = {
        {"u8[R,C]{1,0}", "u8[R,C]{0,1}"},
        {"bf16[C,R]{1,0}", "bf16[C,R]{0,1}"},
        {"u8[R,4096]{1,0}", "u8[R,4096]{0,1}"}, /* rows that collide in caches */
        {"bf16[R,4096]{1,0}", "bf16[R,4096]{0,1}"},
        {"u8[26,157,32]{0,1,2}", "u8[26,157,32]{1,2,0:T(8,128)(4,1)}"}, /* columns that do */
        {"bf16[4096,13]{1,0}", "bf16[4096,13]{0,1}"},
        {"bf16[21,2051]{0,1}", "bf16[21,2051]{1,0}"}, /* and whose lines are not whole */
        {"f32[R,2050]{0,1}", "f32[R,2050]{1,0}"},
        {"f32[2048,9]{1,0}", "f32[2048,9]{0,1}"},
        {"bf16[5,3,138,R]{2,0,3,1:T(8,128)(2,1)}", "bf16[5,3,138,R]{0,1,3,2}"}, /* lines that boxes share */
        {"s32[R,2048]{1,0}", "s32[R,2048]{0,1}"},
        {"u8[64,4,1024]{2,1,0}", "u8[64,4,1024]{0,1,2}"},
        {"f32[R,C]{1,0:T(8,128)}", "f32[R,C]{0,1}"},
        {"u8[5,R,C]{2,1,0}", "u8[5,R,C]{0,1,2}"},
        {"s8[R,33,C]{2,0,1}", "s8[R,33,C]{1,0,2}"},
        {"f32[R,C]{1,0}", "bf16[R,C]{0,1}"},
        {"bf16[R,C]{1,0:T(8,128)(2,1)}", "bf16[R,C]{1,0}"},
        {"bf16[R,C]{1,0:T(8,128)(2,1)}", "f32[R,C]{1,0}"},
        {"f16[R,C]{0,1}", "f16[R,C]{0,1:T(16,128)(2,1)}"},
        {"f32[C,R]{0,1:T(8,128)}", "f32[C,R]{0,1:T(2,128)}"},
        {"u8[19,C]{1,0}", "u8[19,C]{0,1}"}, /* fewer rows than lanes hold */
        {"u8[13,C,20]{1,0,2}", "u8[13,C,20]{0,2,1}"},
        {"bf16[11,C]{1,0}", "bf16[11,C]{0,1}"},
        {"f32[3,20,R]{2,1,0:T(8,128)}", "f32[3,20,R]{1,2,0}"},
        {"u8[42,C]{1,0}", "u8[42,C]{0,1}"},
        {"u8[C,46]{1,0}", "u8[C,46]{0,1}"},
        {"u8[31,4096]{1,0}", "u8[31,4096]{0,1}"},
        {"u8[R,3,7,10]{1,3,0,2}", "u8[R,3,7,10]{3,1,2,0}"}, /* blocks within half a line, within one */
        {"s8[R,5,7,9]{1,3,0,2}", "s8[R,5,7,9]{3,1,2,0}"},
        {"bf16[R,9,7,3]{1,3,0,2}", "bf16[R,9,7,3]{3,1,2,0}"},
        {"f32[9,C,12]{2,1,0}", "f32[9,C,12]{1,2,0:T(8,128)}"},
        {"s32[9,R,30,3]{2,1,3,0}", "s32[9,R,30,3]{3,1,2,0}"},
        {"s8[72,R,40]{0,2,1:T(32,128)(4,1)}", "s8[72,R,40]{1,0,2}"}, /* short rows */
        {"f16[C,3,77]{2,1,0:T(2,128)(2,1)}", "f16[C,3,77]{0,1,2}"},
        {"u8[81,60,16,58]{0,1,2,3:T(32,128)(4,1)}", "u8[81,60,16,58]{3,2,1,0}"},
        {"s8[R,2,30,75]{1,3,2,0}", "s8[R,2,30,75]{0,3,1,2:T(4,128)(4,1)}"}, /* bands of short steps */
        {"s8[4,3,R,6]{2,3,1,0:T(8,128)(4,1)}", "s8[4,3,R,6]{1,3,2,0}"},     /* permutes of lines apart */
        {"s8[12,5,R,5]{1,0,3,2}", "s8[12,5,R,5]{3,0,2,1}"},
        {"u8[11,C]{0,1}", "u8[11,C]{1,0:T(32,128)(4,1)}"},
        {"u8[10,R,28]{2,0,1}", "u8[10,R,28]{0,2,1}"},
        {"u8[C,3]{1,0}", "u8[C,3]{0,1}"},
        {"u8[7,C]{1,0}", "u8[7,C]{0,1}"},
        {"u8[9,C]{1,0}", "u8[9,C]{0,1}"}, /* sixteen lines of bytes, and fewer */
        {"s8[C,13]{1,0}", "s8[C,13]{0,1}"},
        {"u8[16,4096]{1,0}", "u8[16,4096]{0,1}"},
        {"s8[R,28,33]{1,2,0}", "s8[R,28,33]{2,1,0}"}, /* small squares, and larger */
        {"u8[R,27,25]{1,2,0}", "u8[R,27,25]{2,1,0}"},
        {"u8[31,C,15]{1,0,2:T(8,128)}", "u8[31,C,15]{0,1,2}"}, /* short columns, apart */
        {"bf16[19,C,5]{1,0,2:T(8,128)}", "bf16[19,C,5]{0,1,2}"},
        {"f32[10,C,5]{1,0,2:T(8,128)}", "f32[10,C,5]{0,1,2}"},
        {"u8[R,12,64]{2,1,0}", "u8[R,12,64]{1,2,0}"},
        {"bf16[C,5]{1,0}", "bf16[C,5]{0,1}"}, /* and of wider elements, of words too */
        {"bf16[7,C,2]{1,0,2}", "bf16[7,C,2]{0,1,2}"},
        {"f32[5,C]{1,0}", "f32[5,C]{0,1}"},
        {"f32[C,7]{1,0}", "f32[C,7]{0,1}"},
        {"s32[R,3,C]{2,1,0}", "s32[R,3,C]{1,2,0}"},
        {"s64[C,6]{1,0}", "s64[C,6]{0,1}"},
        {"c128[3,C]{1,0}", "c128[3,C]{0,1}"},
        {"s8[7,C]{1,0}", "s8[7,C]{0,1}"},
        {"s32[19,C]{1,0:T(2,128)}", "s32[19,C]{0,1}"}, /* boxes that continue rows, columns, both */
        {"u8[46,3,R]{2,0,1:T(8,128)(4,1)}", "u8[46,3,R]{0,1,2}"},
        {"s8[478,R]{0,1:T(4,128)(4,1)}", "s8[478,R]{1,0}"},
        {"s32[C,34]{1,0}", "s32[C,34]{0,1:T(8,128)}"},
        {"f32[91,R]{0,1:T(4,128)}", "f32[91,R]{1,0:T(2,128)}"},
        {"u8[26,R,19]{1,0,2:T(8,128)}", "u8[26,R,19]{2,0,1}"},
        {"u8[26,265,19]{1,0,2:T(8,128)}", "u8[26,265,19]{2,0,1}"}, /* rows shorter than a lane */
        {"u8[31,141,15]{1,0,2:T(8,128)}", "u8[31,141,15]{0,1,2}"},
        {"s8[C,8]{1,0:T(8,128)}", "s8[C,8]{0,1}"},
        {"u8[C,15]{1,0:T(8,128)}", "u8[C,15]{0,1}"},
        {"u8[9,4096,60,2]{1,0,3,2}", "u8[9,4096,60,2]{0,2,1,3}"}, /* blocks in parts of two loops */
        {"f16[7,R,90]{2,1,0}", "f32[7,R,90]{2,0,1}"}, /* runs that change, more than a scratch holds */
    };
    uint64_t seed = first_seed();
    for (size_t n = 0; n < sizeof wide / sizeof wide[0]; n++)
        move_every_way(wide[n], 270 + random_below(&seed, 40), 2100 + random_below(&seed, 300), &seed);
}

static int threads_of(const char *from, const char *to, int64_t rows, int64_t columns) {
    ts_arena *arena = ts_arena_new();
    const ts_shape *a = parse(arena, from, rows, columns), *b = parse(arena, to, rows, columns);
    ts_plan_side src = {a, NULL, NULL, 0}, dst = {b, NULL, NULL, 0};
    int threads = ts_move_threads(ts_plan_new(NULL, arena, &src, &dst, 2, a->layout->dims), 8);
    ts_arena_free(arena);
    return threads;
}

/* Past the caches go moves of more than half of the last one, alone or with those that are alike. */
TEST(stores_that_pass_the_caches) {
    static const struct {
        int64_t rows, alike; /* a row is 4 KiB, read and written */
        bool streams;
    } rows[] = {{1024, 0, false},   {1024, 1, false},    {1 << 16, 0, true}, {1 << 16, 1, true},
                {256, 64, true},    {256, 4, false},     {8, 4096, true},    {1, 64, false},
                {1, 1 << 20, true}, {8, INT64_MAX, true}};
    const ts_kernels *best = ts_kernels_best();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_shape *shape = parse(arena, "f32[R,C]{1,0}", (int)rows[i].rows, 512);
        ts_plan_side side = {shape, NULL, NULL, 0};
        const ts_plan *plan = ts_plan_new(NULL, arena, &side, &side, 2, shape->layout->dims);
        ts_move_options how = {.kernels = best, .alike = rows[i].alike};
        assert_int_equal(ts_dma_move_streams(plan, &how), best->stream_runs != NULL && rows[i].streams);
        how.stores = TS_STORES_ORDINARY;
        assert_false(ts_dma_move_streams(plan, &how));
        ts_arena_free(arena);
    }
}

/* Up to three pairs of rows of f32, and the bf16 of them in turns: rows of so many lines, with gaps between
 * them, and between lines of bf16, whose step is so many bytes. */
static void check_in_turns(int64_t lines, int64_t step, bool to_half, const ts_kernels *kernels,
                           uint64_t *seed) {
    ts_arena *arena = ts_arena_new();
    int64_t row = lines * 64 + 12, bytes = 6 * row * step / 64 + GUARD_BYTES;
    ts_plan_box box = {.loop_count = 4,
                       .loops = {{1 + (lines + 1) % 3, 2 * row * 8, lines * step * 8},
                                 {lines, 64 * 8, step * 8},
                                 {16, 32, 32},
                                 {2, row * 8, 16}}};
    ts_copy_side wide = {TS_DTYPE_F32, 32, NULL}, half = {TS_DTYPE_BF16, 16, NULL};
    ts_copy_context m = {.src = to_half ? wide : half, .dst = to_half ? half : wide};
    for (int i = 0; i < box.loop_count && !to_half; i++) {
        ts_plan_loop *loop = &box.loops[i], turned = {loop->extent, loop->dst_bits, loop->src_bits};
        *loop = turned;
    }
    m.src.bytes = TS_NEW_ARRAY(arena, uint8_t, bytes);
    uint8_t *want = TS_NEW_ARRAY(arena, uint8_t, bytes), *made = TS_NEW_ARRAY(arena, uint8_t, bytes);
    for (int64_t i = 0; i < bytes; i++) m.src.bytes[i] = (uint8_t)random_below(seed, 256);
    for (int64_t i = 2; i < bytes; i += 20) memset(m.src.bytes + i, 0xff, 2); /* some are no numbers */
    m.dst.bytes = want;
    ts_move_elements(&m, &box);
    m.dst.bytes = made;
    m.kernels = kernels;
    ts_copy_set_conversion(&m);
    ts_move_box(&m, &box);
    assert_memory_equal(made, want, (size_t)bytes);
    ts_arena_free(arena);
}

TEST(rows_in_turns) {
    uint64_t seed = first_seed();
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        for (int n = 0; kernels && n < 4 * 20; n++)
            check_in_turns(1 + n / 4, n & 2 ? 128 : 64, n & 1, kernels, &seed);
    }
}

/* ---- Pages ---- */

/* Elements that are as far apart as so many become a run. Fewer are moved one by one. */
static void check_last_page(const type_pair *pair, int64_t count, int64_t apart, const ts_kernels *kernels,
                            uint64_t *seed) {
    int64_t from = pair->from_bits / 8, to = pair->to_bits / 8, src_bytes = ((count - 1) * apart + 1) * from;
    uint8_t want[MOST_LAST * WIDEST_LAST];
    guarded src = guard(src_bytes), dst = guard(count * to);
    ts_plan_box box = {.loop_count = 1, .loops = {{count, apart * pair->from_bits, pair->to_bits}}};
    ts_copy_context m = {.src = {pair->from, pair->from_bits, src.bytes},
                         .dst = {pair->to, pair->to_bits, want},
                         .same = pair->from == pair->to};
    for (int64_t i = 0; i < src_bytes; i++) src.bytes[i] = (uint8_t)random_below(seed, 256);
    ts_move_elements(&m, &box);
    m.dst.bytes = dst.bytes;
    m.kernels = kernels;
    if (!m.same) ts_copy_set_conversion(&m);
    ts_move_box(&m, &box);
    assert_memory_equal(dst.bytes, want, (size_t)(count * to));
    guarded_free(src);
    guarded_free(dst);
}

TEST(ends_of_pages) {
    uint64_t seed = first_seed();
    for (size_t n = 0; n < sizeof pairs / sizeof pairs[0]; n++) {
        bool whole = pairs[n].from_bits % 8 == 0 && pairs[n].to_bits % 8 == 0;
        for (int version = 0; whole && version < TS_KERNELS_COUNT; version++)
            for (int64_t count = TS_COPY_TINY + 1; ts_kernels_get(version) && count <= MOST_LAST; count += 3)
                check_last_page(&pairs[n], count, 1 + count % 2, ts_kernels_get(version), &seed);
    }
}

/* A thread for each 2 MiB that are read and written, or for 16 Ki elements that are gathered. */
TEST(threads_that_pay) {
    static const char row[] = "f32[R,C]{1,0}", column[] = "f32[R,C]{0,1}",
                      odd[] = "f32[R,C]{1,0:T(8,128)(*,3)}";
    assert_int_equal(threads_of(row, column, 1, 1), 1);
    assert_int_equal(threads_of(row, column, 128, 128), 1);
    assert_int_equal(threads_of(row, column, 512, 1023), 1);
    assert_int_equal(threads_of(row, column, 512, 1024), 2);
    assert_int_equal(threads_of(row, column, 1024, 1024), 4);
    assert_int_equal(threads_of(row, column, 2048, 2048), 8);
    assert_int_equal(threads_of(row, odd, 128, 255), 1);
    assert_int_equal(threads_of(row, odd, 128, 256), 2);
}

/* ---- Values ---- */

static const ts_dtype types[] = {
    TS_DTYPE_F32,           TS_DTYPE_BF16,     TS_DTYPE_F16,    TS_DTYPE_F8E4M3FN,   TS_DTYPE_F8E5M2,
    TS_DTYPE_F8E4M3B11FNUZ, TS_DTYPE_F8E4M3,   TS_DTYPE_F8E3M4, TS_DTYPE_F8E5M2FNUZ, TS_DTYPE_F8E4M3FNUZ,
    TS_DTYPE_F8E8M0FNU,     TS_DTYPE_F4E2M1FN, TS_DTYPE_S8,     TS_DTYPE_U8,         TS_DTYPE_F6E2M3FN,
    TS_DTYPE_F6E3M2FN,      TS_DTYPE_S4,       TS_DTYPE_U4,     TS_DTYPE_S1,         TS_DTYPE_U2,
    TS_DTYPE_S16,           TS_DTYPE_U16,      TS_DTYPE_S32,    TS_DTYPE_U32,        TS_DTYPE_PRED,
};
enum { TYPES = sizeof types / sizeof types[0] };

static int bytes_of(ts_dtype type) { return ts_dtype_get(type)->stored_bits / 8; }

/* Moves an array of one dim by every version. */
static void convert_all(ts_arena *arena, ts_dtype from, ts_dtype to, uint8_t *values, int64_t count) {
    const ts_shape *a = ts_shape_row_major(NULL, arena, from, 1, &count),
                   *b = ts_shape_row_major(NULL, arena, to, 1, &count);
    ts_plan_side src = {a, NULL, NULL, 0}, dst = {b, NULL, NULL, 0};
    const ts_plan *plan = ts_plan_new(NULL, arena, &src, &dst, 1, &count);
    int64_t length = count * bytes_of(to);
    uint8_t *want = TS_NEW_ARRAY(arena, uint8_t, length);
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, values + i * bytes_of(from), (size_t)bytes_of(from));
        bits = ts_element_convert(from, bits, to);
        memcpy(want + i * bytes_of(to), &bits, (size_t)bytes_of(to));
    }
    ts_space *in = ts_space_wrap(arena, "in", values, count * bytes_of(from));
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        ts_move_options options = {.kernels = ts_kernels_get(version)};
        ts_space *out = ts_space_wrap(arena, "out", TS_NEW_ARRAY(arena, uint8_t, length), length);
        if (!options.kernels) continue;
        assert_true(ts_dma_move_with(NULL, plan, in, out, &options));
        if (memcmp(bytes_in(out), want, (size_t)length) == 0) continue;
        for (int64_t i = 0; i < length; i++) {
            if (bytes_in(out)[i] == want[i]) continue;
            uint64_t bits = 0, got = 0, right = 0;
            i = i / bytes_of(to);
            memcpy(&bits, values + i * bytes_of(from), (size_t)bytes_of(from));
            memcpy(&got, bytes_in(out) + i * bytes_of(to), (size_t)bytes_of(to));
            memcpy(&right, want + i * bytes_of(to), (size_t)bytes_of(to));
            fail_msg("%s: %s %llx becomes %s %llx, expected %llx", ts_kernels_name(version),
                     ts_dtype_get(from)->name, (unsigned long long)bits, ts_dtype_get(to)->name,
                     (unsigned long long)got, (unsigned long long)right);
        }
    }
}

/* All values of up to 16 bits, and the words that begin with each 16 bits and end at, before and behind the
 * ties: with all of these ends in `ninja test-long`, else with some, in turn. */
static uint8_t *every_value(ts_arena *arena, int bytes, int64_t *count) {
    static const uint16_t tails[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x0fff, 0x1000, 0x1001, 0x3000};
    enum { TAILS = sizeof tails / sizeof tails[0] };
    int step = bytes == 4 ? stride(3, TAILS) : TAILS, per_half = (TAILS + step - 1) / step;
    *count = bytes == 1 ? 256 : (int64_t)per_half << 16;
    uint8_t *values = TS_NEW_ARRAY(arena, uint8_t, *count * bytes);
    for (int64_t i = 0; i < *count; i++) {
        int64_t half = i / per_half;
        uint32_t tail = tails[(half + i % per_half * step) % TAILS];
        uint32_t word = bytes == 4 ? (uint32_t)half << 16 | tail : (uint32_t)i;
        memcpy(values + i * bytes, &word, (size_t)bytes);
    }
    return values;
}

TEST_WITH_ARENA(every_conversion) {
    for (int from = 0; from < TYPES; from++) {
        for (int to = 0; to < TYPES; to++) {
            int64_t count;
            if (from == to) continue;
            ts_arena_reset(arena);
            uint8_t *values = every_value(arena, bytes_of(types[from]), &count);
            convert_all(arena, types[from], types[to], values, count);
        }
    }
}

/* Words that become halves and take turns by rows. */
TEST_WITH_ARENA(every_pair) {
    int64_t count;
    uint8_t *values = every_value(arena, 4, &count);
    const ts_shape *from = parse(arena, "f32[R,C]{1,0}", count / 1024, 1024),
                   *to = parse(arena, "bf16[R,C]{1,0:T(8,128)(2,1)}", count / 1024, 1024);
    ts_plan_side a = {from, NULL, NULL, 0}, b = {to, NULL, NULL, GUARD_BYTES * 8};
    const ts_plan *plan = ts_plan_new(NULL, arena, &a, &b, 2, from->layout->dims);
    ts_space *in = ts_space_wrap(arena, "in", values, count * 4), *want = wrap(arena, to, NULL);
    assert_true(ts_dma_move_with(NULL, plan, in, want, &(ts_move_options){.threads = 1}));
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        ts_move_options options = {.kernels = ts_kernels_get(version)};
        ts_space *out = wrap(arena, to, NULL);
        if (!options.kernels) continue;
        assert_true(ts_dma_move_with(NULL, plan, in, out, &options));
        assert_memory_equal(bytes_in(out), bytes_in(want), (size_t)want->capacity_bytes);
    }
}

/* By kernels that have stores past the caches; the portable ones have none. The best are the last this host runs. */
TEST(copies_that_pass_the_caches) {
    enum { BYTES = 1000 };
    uint8_t from[BYTES], to[BYTES + 2 * GUARD_BYTES], want[sizeof to];
    const ts_kernels *last = NULL;
    assert_non_null(ts_kernels_get(TS_KERNELS_PORTABLE));
    for (int i = 0; i < BYTES; i++) from[i] = (uint8_t)(i * 7);
    for (int version = 0; version < TS_KERNELS_COUNT; version++) {
        const ts_kernels *kernels = ts_kernels_get(version);
        if (!kernels) continue;
        last = kernels;
        memset(to, 0x55, sizeof to);
        memset(want, 0x55, sizeof want);
        if (version != TS_KERNELS_PORTABLE) memcpy(want + GUARD_BYTES + 1, from, BYTES);
        assert_int_equal(ts_kernels_stream_copy(kernels, to + GUARD_BYTES + 1, from, BYTES),
                         version != TS_KERNELS_PORTABLE);
        assert_memory_equal(to, want, sizeof to);
    }
    assert_ptr_equal(ts_kernels_best(), last);
}
