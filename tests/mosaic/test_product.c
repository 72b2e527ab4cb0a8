/* The text of a product in blocks against that of jaxlib's passes: the same program, and the same time. */

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

TEST_WITH_ARENA(texts_are_mosaics) {
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
}

/* Steps of part of the grid cost what they do in all of it. */
TEST_WITH_ARENA(parts_of_a_grid) {
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
}

/* The program that is written by hand, and the kernel, in the same blocks. */
TEST_WITH_ARENA(kernels_are_as_fast_as_programs) {
    static const ts_define defines[] = {{"M", "1024"}, {"N", "1024"}, {"K", "1024"}, {"BM", "512"},
                                        {"BN", "512"}, {"BK", "512"}, {"OUT", "2"}};
    const ts_product_kernel k = {
        .m = 1024, .n = 1024, .k = 1024, .block_m = 512, .block_n = 512, .block_k = 512};
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
}

/* Where there are fewer tiles than units, their rows are dealt out; what is pushed once is popped once, and the first tile of
 * a sum is added to nothing. */
TEST(tiles_are_dealt_out_to_units) {
    static const struct {
        int64_t m, n, k;
        const char *machine;
        int pushes[4]; /* of each unit, 16 rows at a time; unit 1 is the first */
        int pops;      /* of 8 rows and 128 columns */
        int sums;      /* of vregs, one of each with the scratch */
    } rows[] = {
        {64, 128, 128, "tpu-v5e", {1, 1, 1, 1}, 8, 8},
        {80, 128, 128, "tpu-v5e", {2, 1, 1, 1}, 10, 10},
        {48, 128, 128, "tpu-v5e", {0, 1, 1, 1}, 6, 6},
        {64, 128, 256, "tpu-v5e", {2, 2, 2, 2}, 16, 16},
        {64, 256, 128, "tpu-v5e", {2, 2, 2, 2}, 16, 16},
        {64, 256, 256, "tpu-v5e", {4, 4, 4, 4}, 32, 32},
        {64, 256, 512, "tpu-v5e", {8, 8, 8, 8}, 64, 64},
        /* units of 256 x 256: 128 columns more are pushed, and popped for nothing */
        {64, 128, 256, "tpu-v6e", {8, 8}, 32, 16},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_target target;
        int pushes[4] = {0}, pops = 0, sums = 0;
        ts_run_target(ts_machine_load(&err, arena, rows[i].machine), &target);
        ts_text text = ts_text_begin(arena);
        const int64_t m = rows[i].m, n = rows[i].n, edge = rows[i].k;
        const ts_product_kernel k = {.m = m, .n = n, .k = edge, .block_m = m, .block_n = n, .block_k = edge};
        assert_true(ts_product_kernel_text(&err, &k, &text));
        const ts_source source = {"product.mlir", text.bytes, text.length};
        const ts_program *program = ts_mosaic_parse(&err, arena, &source, &target);
        if (!program) fail_msg("%s", err.message);
        for (int b = 0; b < program->code.bundle_count; b++) {
            for (int at = 0; at < program->code.bundles[b].count; at++) {
                const ts_instruction *in = &program->code.bundles[b].instructions[at];
                if (in->opcode == TS_OP_mxu_push_bf16) pushes[in->operands[0].as.integer]++;
                pops += in->opcode == TS_OP_mxu_pop;
                sums += in->opcode == TS_OP_vadd_f32;
            }
        }
        for (int u = 0; u < 4; u++) assert_int_equal(pushes[u], rows[i].pushes[u]);
        assert_int_equal(pops, rows[i].pops);
        assert_int_equal(sums, rows[i].sums);
        ts_arena_free(arena);
    }
}

TEST(blocks_are_whole) {
    static const ts_product_kernel bad[] = {
        {128, 128, 128, 8, 128, 128, .transposed = false},
        {128, 128, 128, 16, 64, 128, .transposed = false},
        {128, 128, 128, 16, 128, 64, .transposed = false},
        {100, 128, 128, 16, 128, 128, .transposed = false},
        {128, 192, 128, 16, 128, 128, .transposed = false},
        {128, 128, 192, 16, 128, 128, .transposed = false},
        {128, 384, 128, 16, 384, 128, .transposed = false},
        {128, 128, 384, 16, 128, 384, .transposed = false},
        {0, 128, 128, 16, 128, 128, .transposed = false},
        {8192, 128, 128, 8192, 128, 128, .transposed = false},
    };
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
