/* Inputs without a file against a naive definition, and tensors stored and fetched a part at a time. */
#include <string.h>

#include "tests/support/elements.h"
#include "tests/support/test.h"
#include "base/text.h"
#include "host/fill.h"
#include "host/pack.h"
#include "layout/convert.h"

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The bits of one element, as the header says. `first` and `count`: of an integer type. */
static uint64_t element(const ts_tensor_use *use, ts_dtype dtype, int64_t first, int64_t count, int64_t i) {
    uint64_t r = mix(mix((uint64_t)use->seed) + ((uint64_t)i + 1) * UINT64_C(0x9e3779b97f4a7c15));
    if (use->fill == TS_FILL_IOTA) return ts_element_convert(TS_DTYPE_S64, (uint64_t)i, dtype);
    if (use->fill == TS_FILL_ZEROS) return 0;
    if (ts_dtype_get(dtype)->class == TS_CLASS_FLOAT)
        return element_from_double(dtype, use->low + (use->high - use->low) * ((double)(r >> 40) * 0x1p-24));
    return ts_element_convert(TS_DTYPE_S64, (uint64_t)(first + (int64_t)(r % (uint64_t)count)), dtype);
}

static const struct {
    ts_dtype dtype;
    ts_fill_kind kind;
    int64_t seed;
    double low, high;
    int64_t first, count;
} fills[] = {
    {TS_DTYPE_F32, TS_FILL_RANDOM, 1, -8.1, 8.3, 0, 0},
    {TS_DTYPE_F32, TS_FILL_RANDOM, 7, 0, 1e-44, 0, 0},
    {TS_DTYPE_F32, TS_FILL_RANDOM, 7, -1e39, 1e39, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, -3, -4, 4, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 5, -1e-39, 1e-39, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 5, 3.38e38, 3.41e38, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 6, 0, 0x1p-100, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 6, -0x1p100, 0, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 6, -0x1p127, 0x1p126, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 6, 0, 0x1p-126, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 6, -1, -1, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 6, -3, 0, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_RANDOM, 6, 1, -1, 0, 0},
    {TS_DTYPE_F32, TS_FILL_RANDOM, 6, -0.75, 0.25, 0, 0},
    {TS_DTYPE_F32, TS_FILL_RANDOM, 6, 1, 2, 0, 0},
    {TS_DTYPE_F32, TS_FILL_RANDOM, 6, -3, -1, 0, 0},
    {TS_DTYPE_F32, TS_FILL_RANDOM, 6, -0x1p-25, 1 - 0x1p-25, 0, 0},
    {TS_DTYPE_F32, TS_FILL_RANDOM, 6, -4, 4, 0, 0},
    {TS_DTYPE_F64, TS_FILL_RANDOM, 5, 1, 2, 0, 0},
    {TS_DTYPE_F16, TS_FILL_RANDOM, 5, -1, 2, 0, 0},
    {TS_DTYPE_S32, TS_FILL_RANDOM, 2, -10.5, 20.5, -10, 31},
    {TS_DTYPE_U8, TS_FILL_RANDOM, 2, 0, 255, 0, 256},
    {TS_DTYPE_U8, TS_FILL_RANDOM, 2, -4.5, 300, 0, 256}, /* only what the type has */
    {TS_DTYPE_S8, TS_FILL_RANDOM, 3, -3, 1000, -3, 131},
    {TS_DTYPE_S4, TS_FILL_RANDOM, 3, -1000, 2, -8, 11},
    {TS_DTYPE_PRED, TS_FILL_RANDOM, 4, -1, 1, 0, 2},
    {TS_DTYPE_U64, TS_FILL_RANDOM, 4, -1, 9e15, 0, 9000000000000001},
    {TS_DTYPE_S64, TS_FILL_RANDOM, 9, -9e15, 9e15, -9000000000000000, 18000000000000001},
    {TS_DTYPE_S32, TS_FILL_IOTA, 0, 0, 0, 0, 0},
    {TS_DTYPE_BF16, TS_FILL_IOTA, 0, 0, 0, 0, 0},
    {TS_DTYPE_F32, TS_FILL_ZEROS, 0, 0, 0, 0, 0},
};
enum { FILLS = sizeof fills / sizeof *fills };

TEST(fills_are_as_defined) {
    static const int64_t ranges[][3] = {
        {0, 1, 1},    {0, 1, 2100}, {5, 3, 1024}, {1 << 30, 1 << 20, 1500}, {INT64_C(1) << 40, 1, 77},
        {9, 2, 1025}, {0, 1, 0}};
    static uint64_t found[2100];
    for (size_t k = 0; k < FILLS; k++) {
        ts_error err = {.kind = TS_ERROR_NONE};
        ts_tensor_use use = {
            .fill = fills[k].kind, .seed = fills[k].seed, .low = fills[k].low, .high = fills[k].high};
        ts_fill fill;
        size_t bytes = (size_t)ts_dtype_get(fills[k].dtype)->stored_bits / 8;
        assert_true(ts_fill_make(&err, &use, fills[k].dtype, &fill));
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
            const int64_t *range = ranges[r];
            memset(found, 0xa5, sizeof found);
            assert_true(ts_fill_read(&err, &fill, range[0], range[1], (size_t)range[2], found));
            for (int64_t i = 0; i < range[2]; i++) {
                uint64_t wanted =
                    element(&use, fills[k].dtype, fills[k].first, fills[k].count, range[0] + i * range[1]);
                if (memcmp((uint8_t *)found + (size_t)i * bytes, &wanted, bytes) != 0)
                    fail_msg("fill %zu, range %zu, element %d", k, r, (int)i);
            }
            if ((size_t)range[2] * bytes < sizeof found)
                assert_int_equal(((uint8_t *)found)[(size_t)range[2] * bytes], 0xa5);
        }
    }
}

TEST(ranges_without_integers_are_refused) {
    static const struct {
        double low, high;
        const char *message;
    } ranges[] = {{0.25, 0.75, "there is no s32 between 0.25 and 0.75"},
                  {2, 1, "there is no s32 between 2 and 1"},
                  {3e9, 4e9, "there is no s32 between 3e+09 and 4e+09"},
                  {-1e16, 0, "found -1e+16 to 0, expected integers of up to 2^53"},
                  {0, 1e16, "found 0 to 1e+16, expected integers of up to 2^53"}};
    ts_fill fill;
    for (int i = 0; i < 5; i++) {
        ts_error err = {.kind = TS_ERROR_NONE};
        ts_tensor_use use = {.fill = TS_FILL_RANDOM, .low = ranges[i].low, .high = ranges[i].high};
        assert_false(ts_fill_make(&err, &use, TS_DTYPE_S32, &fill));
        assert_string_equal(err.message, ranges[i].message);
        assert_true(ts_fill_make(&err, &use, TS_DTYPE_F32, &fill));
        assert_false(ts_fill_make(&err, &use, TS_DTYPE_C64, &fill));
    }
}

/* Each larger than a part, but for the last ones; rows that are not whole tiles, dims of any order. */
static const char *const shapes[] = {
    "f32[1500,200]{1,0:T(8,128)}",
    "bf16[1500,200]{0,1:T(8,128)(2,1)}",
    "f32[3,5,300,130]{3,2,1,0:T(8,128)}",
    "f32[40,8,1000]{0,2,1:T(8,128)}",
    "u8[300001]{0:T(1024)}",
    "f32[3,140000]{1,0:T(8,128)}",
    "f32[2,3,140000]{2,1,0}",
    "f32[37,5000]{1,0:T(8,128)}",
    "s32[33,7]{1,0:T(8,128)}",
    "f32[]",
    "f32[0,5]{1,0}",
    "f32[5,0]{1,0}",
};

static void check_reads(const ts_host_reader *reader, const ts_host_array *whole, int64_t count) {
    ts_error err = {.kind = TS_ERROR_NONE};
    static uint64_t found[5000];
    size_t bytes = (size_t)ts_dtype_get(whole->dtype)->stored_bits / 8;
    for (int64_t at = 0, k = 1; at < count; at += 40009, k = k * 5 % 17) {
        int64_t stride = k % 4 == 0 ? 61 : 1, most = (count - at + stride - 1) / stride;
        size_t some = most < 5000 ? (size_t)most : 5000;
        assert_true(reader->read(&err, reader->self, at, stride, some, found));
        for (size_t i = 0; i < some; i++)
            assert_memory_equal((uint8_t *)found + i * bytes,
                                whole->bytes + ((size_t)at + i * (size_t)stride) * bytes, bytes);
    }
}

TEST(parts_are_those_of_the_whole) {
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {.kind = TS_ERROR_NONE};
        ts_source source = {"shape", shapes[k], strlen(shapes[k])};
        const ts_shape *shape = ts_shape_parse(&err, arena, &source);
        assert_non_null(shape);
        ts_tensor_use use = {.fill = TS_FILL_RANDOM, .seed = 3, .low = 0, .high = 200};
        ts_fill fill;
        ts_host_array all;
        int64_t length = 0;
        assert_true(ts_fill_make(&err, &use, shape->dtype, &fill));
        assert_true(
            ts_host_array_init(&err, arena, shape->dtype, shape->layout->rank, shape->layout->dims, &all));
        int64_t count = (int64_t)ts_host_array_elements(&all);
        assert_true(ts_fill_read(&err, &fill, 0, 1, (size_t)count, all.bytes));
        assert_true(ts_host_buffer_bytes(&err, shape, &length));
        uint8_t *one = TS_NEW_ARRAY(arena, uint8_t, length + 64),
                *other = TS_NEW_ARRAY(arena, uint8_t, length + 64);
        ts_space *spaces[2] = {ts_space_wrap(arena, "one", one, length + 64),
                               ts_space_wrap(arena, "other", other, length + 64)};
        ts_host_reader reader = {ts_fill_read, &fill, false};
        assert_true(ts_host_pack_into(&err, &all, shape, 1, &(ts_host_buffer){"one", one + 64, length}));
        assert_true(ts_host_store_read(&err, &reader, shape, spaces[1], 64));
        if (memcmp(one, other, (size_t)length + 64) != 0) fail_msg("%s: stored otherwise", shapes[k]);
        reader = ts_host_fetch_reader(arena, shape, spaces[1], 64);
        assert_true(reader.in_order);
        check_reads(&reader, &all, count);
        ts_arena_free(arena);
    }
}
