/* The text of a product in blocks against that of jaxlib's passes: the same program, and the same time. */
#include <string.h>

#include "tests/support/test.h"
#include "mosaic/mosaic.h"
#include "mosaic/product.h"
#include "run/run.h"

static int64_t cycles_of(ts_arena *arena, const ts_machine *machine, const ts_program *program) {
    ts_error err = {0};
    ts_run_request request = {.program = "product.mlir",
                              .built = program,
                              .machine = machine,
                              .time_only = true,
                              .exact = true,
                              .max_cycles = 1 << 24};
    ts_run_result result;
    assert_true(ts_run(&err, arena, &request, &result));
    return result.counters.values[TS_COUNTER_CYCLES];
}

static void texts_are_mosaics(void **state) {
    static const struct {
        const char *committed;
        ts_product_kernel kernel;
    } cases[] = {
        {"tests/mosaic/kernels/matmul_bf16_blocks.mlir",
         {.m = 96, .n = 256, .k = 512, .block_m = 32, .block_n = 256, .block_k = 256}},
        {"tests/mosaic/kernels/relu_transposed.mlir",
         {.m = 64,
          .n = 128,
          .k = 256,
          .block_m = 64,
          .block_n = 128,
          .block_k = 128,
          .transposed = true,
          .finish = TS_PRODUCT_RELU}},
    };
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    ts_target target;
    ts_run_target(machine, &target);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ts_text text = ts_text_begin(arena);
        assert_true(ts_product_kernel_text(&err, &cases[i].kernel, &text));
        const ts_source source = {"product.mlir", text.bytes, text.length};
        const ts_program *ours = ts_mosaic_parse(&err, arena, &source, &target),
                         *theirs = ts_mosaic_load(&err, arena, cases[i].committed, &target, NULL, 0);
        assert_non_null(ours);
        assert_non_null(theirs);
        assert_int_equal(ours->code.bundle_count, theirs->code.bundle_count);
        for (int b = 0; b < ours->code.bundle_count; b++) {
            ts_text one, other;
            one = ts_text_begin(arena);
            other = ts_text_begin(arena);
            ts_program_print_bundle(ours, b, &one);
            ts_program_print_bundle(theirs, b, &other);
            assert_string_equal(one.bytes, other.bytes);
        }
        assert_int_equal(cycles_of(arena, machine, ours), cycles_of(arena, machine, theirs));
    }
    ts_arena_free(arena);
}

/* Steps of part of the grid cost what they do in all of it. */
static void parts_of_a_grid(void **state) {
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    ts_target target;
    ts_run_target(machine, &target);
    int64_t cycles[4];
    static const int64_t blocks[4][2] = {{0, 0}, {4, 4}, {1, 4}, {2, 2}};
    for (int i = 0; i < 4; i++) {
        ts_text text = ts_text_begin(arena);
        const ts_product_kernel k = {.m = 512,
                                     .n = 512,
                                     .k = 512,
                                     .block_m = 128,
                                     .block_n = 128,
                                     .block_k = 128,
                                     .blocks_m = blocks[i][0],
                                     .blocks_n = blocks[i][1]};
        assert_true(ts_product_kernel_text(&err, &k, &text));
        const ts_source source = {"product.mlir", text.bytes, text.length};
        cycles[i] = cycles_of(arena, machine, ts_mosaic_parse(&err, arena, &source, &target));
    }
    assert_int_equal(cycles[0], cycles[1]);
    assert_in_range(cycles[2] * 100 / cycles[0], 22, 32);
    assert_in_range(cycles[3] * 100 / cycles[0], 22, 32);
    ts_arena_free(arena);
}

/* The program that is written by hand, and the kernel, in the same blocks. */
static void kernels_are_as_fast_as_programs(void **state) {
    static const ts_define defines[] = {{"M", "1024"}, {"N", "1024"}, {"K", "1024"}, {"BM", "512"},
                                        {"BN", "512"}, {"BK", "512"}, {"OUT", "2"}};
    const ts_product_kernel k = {
        .m = 1024, .n = 1024, .k = 1024, .block_m = 512, .block_n = 512, .block_k = 512};
    (void)state;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    ts_target target;
    ts_text text;
    ts_run_target(machine, &target);
    text = ts_text_begin(arena);
    assert_true(ts_product_kernel_text(&err, &k, &text));
    const ts_source source = {"product.mlir", text.bytes, text.length};
    int64_t kernel = cycles_of(arena, machine, ts_mosaic_parse(&err, arena, &source, &target));
    int64_t program = cycles_of(arena, machine,
                                ts_program_load(&err, arena, "tilesim:/matmul.tsim", &target, defines,
                                                (int)(sizeof defines / sizeof defines[0])));
    print_message("%.2f times programs/matmul.tsim\n", (double)kernel / (double)program);
    assert_true(kernel * 10 <= program * 13);
    ts_arena_free(arena);
}

static void blocks_are_whole(void **state) {
    static const ts_product_kernel bad[] = {
        {128, 128, 128, 8, 128, 128, .transposed = false},
        {128, 128, 128, 16, 64, 128, .transposed = false},
        {128, 128, 128, 16, 128, 64, .transposed = false},
        {100, 128, 128, 16, 128, 128, .transposed = false},
        {128, 192, 128, 16, 128, 128, .transposed = false},
        {128, 128, 192, 16, 128, 128, .transposed = false},
        {0, 128, 128, 16, 128, 128, .transposed = false},
        {8192, 128, 128, 8192, 128, 128, .transposed = false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_text text = ts_text_begin(arena);
        assert_false(ts_product_kernel_text(&err, &bad[i], &text));
        assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
        assert_string_equal(err.message, "blocks of other than whole tiles, or not whole blocks");
        ts_arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_mosaics),
        cmocka_unit_test(parts_of_a_grid),
        cmocka_unit_test(kernels_are_as_fast_as_programs),
        cmocka_unit_test(blocks_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
