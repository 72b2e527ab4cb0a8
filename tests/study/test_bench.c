/* A bench of moves on this host: what does not depend on time, what is refused, and that times are there. */
#include "study/bench.h"

#include <string.h>

#include "tests/support/group.h"
#include "tests/support/transfers.h"

static ts_bench bench_of(const char *src, const char *dst, int threads) {
    return (ts_bench){.src = parse_end(arena, "source", src),
                      .dst = parse_end(arena, "destination", dst),
                      .how = {.kernels = ts_kernels_best(), .threads = threads}};
}

/* Bytes of the elements that arrive, read and written; at least three rounds, of three ways. */
TEST(moves_are_described_and_timed) {
    static const struct {
        const char *src, *dst;
        int64_t elements, bytes;
        int64_t boxes; /* of a gather one an element */
        int threads;
        ts_move_stores stores;
    } rows[] = {
        {"f32[64,256]{1,0}", "f32[64,256]{1,0:T(8,128)}", 64 * 256, 64 * 256 * 8, 1, 1, TS_STORES_STREAMING},
        {"f32[65,256]{1,0}", "f32[65,256]{1,0:T(8,128)}", 65 * 256, 65 * 256 * 8, 2, 1, TS_STORES_BY_SIZE},
        {"f32[64,256]{1,0}", "bf16[64,256]{0,1}", 64 * 256, 64 * 256 * 6, 1, 1, TS_STORES_ORDINARY},
        {"f32[1024,1024]{1,0}[1016:1024]", "f32[8,1024]{1,0}", 8 * 1024, 8 * 1024 * 8, 1, 2,
         TS_STORES_BY_SIZE},
        {"f32[8,1024]{1,0}", "f32[1024,1024]{1,0}[1016:1024]", 8 * 1024, 8 * 1024 * 8, 1, 1,
         TS_STORES_BY_SIZE},
        {"s4[63,303]{1,0:E(4)}", "s4[63,303]{0,1:E(4)}", 63 * 303, 63 * 303, 1, 1, TS_STORES_BY_SIZE},
        {"f32[64] lambda i: [i ^ 5]", "f32[64]{0}", 64, 64 * 8, 64, 1, TS_STORES_BY_SIZE},
        {"f32[64,128] S[(64,128):(1@P,1@F)]", "f32[64,128]{1,0}", 64 * 128, 64 * 128 * 8, 1, 1,
         TS_STORES_BY_SIZE},
        {"f8e8m0fnu[8192]{0}", "f8e8m0fnu[8192]{0}", 8192, 2 * 8192, 1, 1, TS_STORES_BY_SIZE},
    };
    bool can_stream = ts_kernels_best() != ts_kernels_get(TS_KERNELS_PORTABLE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_bench bench = bench_of(rows[i].src, rows[i].dst, rows[i].threads);
        ts_bench_result result;
        ts_error err = {0};
        bool gathers = rows[i].boxes == rows[i].elements;
        bench.how.stores = rows[i].stores;
        if (!ts_bench_run(&err, arena, &bench, &result)) fail_msg("row %zu: %s", i, err.message);
        assert_int_equal(result.elements, rows[i].elements);
        assert_int_equal(result.bytes, rows[i].bytes);
        assert_int_equal(result.boxes, rows[i].boxes);
        assert_int_equal(result.gathers, gathers);
        assert_int_equal(result.why_gather != NULL, gathers);
        assert_int_equal(result.streams, rows[i].stores == TS_STORES_STREAMING && can_stream);
        assert_int_equal(result.rounds, 3);
        assert_true(result.move_seconds > 0 && result.move_seconds < 1);
        assert_true(result.memcpy_seconds > 0 && result.memcpy_seconds < 1);
        assert_int_equal(result.stream_seconds > 0, can_stream);
    }
}

TEST(what_is_refused) {
    static const struct {
        const char *src, *dst, *error;
    } rows[] = {
        {"f32[8] S[8:-1@m]", "f32[8]{0}",
         "source:1:1: error: the layout begins at -7 on axis 'm', expected 0 or more\nf32[8] S[8:-1@m]\n^\n"},
        {"f32[8]{0}", "f32[8] S[8:-1@m]",
         "destination:1:1: error: the layout begins at -7 on axis 'm', expected 0 or more\nf32[8] "
         "S[8:-1@m]\n^\n"},
        {"s8[1073741825]{0}", "s8[1073741825]{0}",
         "source:1:1: error: the tensor takes 1073741825 bytes, and a bench at most 1073741824\n"
         "s8[1073741825]{0}\n^\n"},
        {"s4[4294967296]{0:E(4)}", "s4[4294967296]{0:E(4)}",
         "source:1:1: error: the tensor takes 2147483648 bytes, and a bench at most 1073741824\n"
         "s4[4294967296]{0:E(4)}\n^\n"},
        {"s8[3,5] S[(3,5):(200000000@P,200000000@F)]", "f32[8]{0}", /* 8e8 + 1 on F times 4e8 + 1 on P */
         "source:1:1: error: the tensor takes 320000001200000001 bytes, and a bench at most 1073741824\n"
         "s8[3,5] S[(3,5):(200000000@P,200000000@F)]\n^\n"},
        {"c64[8]{0}", "f32[8]{0}", "error: there is no conversion from c64 to f32\n"},
        {"f32[8]{0}", "token[]",
         "destination:1:1: error: the tensor is token[], which holds no data, expected an "
         "array\ntoken[]\n^\n"},
        {"f32[8]{0}", "f32[9]{0}",
         "destination:1:4: error: the destination takes [9] and the source gives [8]\nf32[9]{0}\n   ^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ts_bench bench = bench_of(rows[i].src, rows[i].dst, 1);
        ts_bench_result result;
        ts_error err = {0};
        assert_false(ts_bench_run(&err, arena, &bench, &result));
        assert_error(&err, TS_ERROR_INPUT, rows[i].error);
    }
}

/* 4 x 8 words: 8 of F take 32 bits each, and each of P as much as all of them. */
TEST(axes_lie_one_behind_the_other) {
    static const struct {
        const char *text;
        int axes;
        int64_t bits[3], bytes; /* by the names of the axes */
    } rows[] = {
        {"f32[4,8] S[(4,8):(1@P,1@F)]", 2, {32, 256}, 128},
        {"f32[8,4] S[(8,4):(1@F,1@P)]", 2, {128, 32}, 128},
        {"f32[2,4,2] S[(2,4,2):(1@P,1@F,4@F)]", 2, {32, 256}, 64}, /* F: 0 to 3, and 4 more */
        {"f32[4,8] S[(4,8):(1@P,1@F)] + R[2:1@Q]", 3, {32, 256, 1024}, 256},
        {"u4[3,5]{1,0:E(4)}", 1, {4}, 8}, /* 7.5 */
        {"f32[5]{0:T(8)}", 1, {32}, 32},  /* its padding, too */
        {"s8[1073741824]{0}", 1, {8}, TS_BENCH_MOST_BYTES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_transfer_end end = parse_end(arena, "source", rows[i].text);
        int64_t bits[TS_LAYOUT_MAX_AXES], bytes;
        memset(bits, 0xff, sizeof bits); /* none of them matters */
        assert_true(ts_bench_place(NULL, &end, bits, &bytes));
        assert_int_equal(end.shape->layout->axis_count, rows[i].axes);
        for (int k = 0; k < rows[i].axes; k++) assert_int_equal(bits[k], rows[i].bits[k]);
        assert_int_equal(bytes, rows[i].bytes);
    }
}

/* Small moves take a microsecond, or with streaming stores ten, whatever they move. */
TEST(samples_are_short) {
    static const int64_t rows[][2] = {{0, 2048},    {15, 2048},          {8191, 2048},  {8200, 2046},
                                      {180000, 94}, {(16 << 20) - 1, 2}, {16 << 20, 1}, {1 << 30, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(ts_bench_times(rows[i][0]), rows[i][1]);
}

int main(void) { return run_all_tests(begin_group, end_group); }
