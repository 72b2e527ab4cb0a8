/* Kernels of single operations: values bit by bit, or within a bound, those that JAX's interpret mode computed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tilesim.h"

#include "base/number.h"
#include "tests/support/cmocka.h"
#include "tests/support/temporary.h"

/* Of each value: absolute, and as a share of it. */
typedef struct {
    const char *text, *machine, *result, *expected;
    double near, share;
} kernel_case;

static const kernel_case cases[] = {
    {"functions", "tpu-v5e", "1", "functions.out0", 1e-5, 1e-5},
    {"functions_bf16", "tpu-v5e", "1", "functions_bf16.out0", 1e-2, 0x1p-7},
    {"functions_bf16.v7", "tpu-v7x", "1", "functions_bf16.out0", 1e-2, 0x1p-7},
    {"integers", "tpu-v5e", "2", "integers.out0", 0, 0},
    {"integers_limits", "tpu-v5e", "2", "integers_limits.out0", 0, 0},
    {"integers_narrow", "tpu-v5e", "2", "integers_narrow.out0", 0, 0},
    {"divisions", "tpu-v5e", "3", "divisions.out0", 0, 0},
    {"divisions", "tpu-v5e", "4", "divisions.out1", 0, 0},
    {"remainders", "tpu-v5e", "2", "remainders.out0", 0, 0},
    {"remainders_bf16.v7", "tpu-v7x", "2", "remainders_bf16.out0", 0, 0},
    {"narrow_constants", "tpu-v5e", "1", "narrow_constants.out0", 0, 0},
    {"narrow_constants", "tpu-v5e", "2", "narrow_constants.out1", 0, 0},
    {"scalars_bf16", "tpu-v5e", "1", "scalars_bf16.out0", 1e-2, 0x1p-7},
    {"conversions", "tpu-v5e", "4", "conversions.out0", 0, 0},
    {"two_bits", "tpu-v5e", "1", "two_bits.out0", 0, 0},
    {"two_bits", "tpu-v5e", "2", "two_bits.out1", 0, 0},
    {"to_narrow", "tpu-v5e", "1", "to_narrow.out0", 0, 0},
    {"to_narrow.v7", "tpu-v7x", "1", "to_narrow.out0", 0, 0},
    {"to_fp8.v7", "tpu-v7x", "1", "to_fp8.out0", 0, 0},
    {"mixed_products", "tpu-v5e", "5", "mixed_products.out0", 5e-1, 1e-2},
    {"product_fp8", "tpu-v5e", "2", "product_fp8.out0", 1e-5, 1e-5},
    {"product_fp8.v7", "tpu-v7x", "2", "product_fp8.out0", 1e-5, 1e-5},
    {"places", "tpu-v5e", "1", "places.out0", 0, 0},
    {"swap_rows", "tpu-v5e", "1", "swap_rows.out0", 0, 0},
    {"reshape", "tpu-v5e", "1", "reshape.out0", 0, 0},
    {"along_rows", "tpu-v5e", "3", "along_rows.out0", 0, 0},
    {"odd_rows", "tpu-v5e", "1", "odd_rows.out0", 0, 0},
    {"transpose_narrow", "tpu-v5e", "2", "transpose_narrow.out0", 0, 0},
    {"transpose_narrow", "tpu-v5e", "3", "transpose_narrow.out1", 0, 0},
    {"transpose_narrow.v7", "tpu-v7x", "3", "transpose_narrow.out1", 0, 0},
    {"scalars", "tpu-v5e", "3", "scalars.out0", 1e-5, 1e-5},
    {"scalars", "tpu-v5e", "4", "scalars.out1", 1e-5, 1e-5},
    {"table_of_bytes", "tpu-v5e", "2", "table_of_bytes.out0", 0, 0},
    {"ragged_copies", "tpu-v5e", "3", "ragged_copies.out0", 0, 0},
    {"ragged_copies", "tpu-v5e", "4", "ragged_copies.out1", 0, 0},
    {"views", "tpu-v5e", "3", "views.out0", 0, 0},
    {"views", "tpu-v5e", "4", "views.out1", 0, 0},
    {"transpose", "tpu-v5e", "1", "transpose.out0", 0, 0},
    {"rotate_halves", "tpu-v5e", "3", "rotate_halves.out0", 1e-5, 1e-5},
    {"unpack_halves", "tpu-v5e", "1", "unpack_halves.out0", 0, 0},
    {"add_line", "tpu-v5e", "2", "add_line.out0", 0, 0},
    {"add_ragged", "tpu-v5e", "2", "add_ragged.out0", 0, 0},
    {"column_sums", "tpu-v5e", "1", "column_sums.out0", 1e-5, 1e-5},
    {"gather_rows", "tpu-v5e", "2", "gather_rows.out0", 0, 0},
    {"matmul_bf16_ragged", "tpu-v5e", "2", "matmul_bf16_ragged.out0", 1e-2, 0x1p-7},
    {"grouped_f32", "tpu-v5e", "5", "grouped_f32.out0", 5e-2, 1e-2},
    {"pipeline_scale", "tpu-v5e", "1", "pipeline_scale.out0", 0, 0},
    {"add.v4", "tpu-v4", "2", "add.out0", 0, 0},
    {"add", "tpu-v5e", "2", "add.out0", 0, 0},
    {"add.v6", "tpu-v6e", "2", "add.out0", 0, 0},
    {"add.v7", "tpu-v7x", "2", "add.out0", 0, 0},
    {"add_bf16", "tpu-v5e", "2", "add_bf16.out0", 1e-2, 0x1p-7},
    {"add_bf16.v6", "tpu-v6e", "2", "add_bf16.out0", 1e-2, 0x1p-7},
    {"gelu", "tpu-v5e", "1", "gelu.out0", 1e-2, 0x1p-7},
    {"clamp_select", "tpu-v5e", "2", "clamp_select.out0", 0, 0},
    {"update", "tpu-v5e", "2", "update.out0", 0, 0},
    {"matmul_bf16.v4", "tpu-v4", "2", "matmul_bf16.out0", 1e-5, 1e-5},
    {"matmul_bf16", "tpu-v5e", "2", "matmul_bf16.out0", 1e-5, 1e-5},
    {"matmul_bf16.v6", "tpu-v6e", "2", "matmul_bf16.out0", 1e-5, 1e-5},
    {"matmul_bf16.v7", "tpu-v7x", "2", "matmul_bf16.out0", 1e-5, 1e-5},
    {"matmul_bf16_blocks", "tpu-v5e", "2", "matmul_bf16_blocks.out0", 1e-2, 0x1p-7},
    {"matmul_bf16_blocks.v6", "tpu-v6e", "2", "matmul_bf16_blocks.out0", 1e-2, 0x1p-7},
    {"matmul_f32", "tpu-v5e", "2", "matmul_f32.out0", 5e-2, 1e-2},
    {"matmul_f32_highest", "tpu-v5e", "2", "matmul_f32_highest.out0", 1e-5, 1e-5},
    {"matmul_int8", "tpu-v5e", "2", "matmul_int8.out0", 0, 0},
    {"matmul_int8.v6", "tpu-v6e", "2", "matmul_int8.out0", 0, 0},
    {"matmul_int8_wide", "tpu-v5e", "2", "matmul_int8_wide.out0", 0, 0},
    {"batched", "tpu-v5e", "2", "batched.out0", 1e-5, 1e-5},
    {"softmax", "tpu-v5e", "1", "softmax.out0", 1e-5, 1e-5},
    {"softmax.v6", "tpu-v6e", "1", "softmax.out0", 1e-5, 1e-5},
    {"softmax_ragged", "tpu-v5e", "1", "softmax_ragged.out0", 1e-5, 1e-5},
    {"layernorm", "tpu-v5e", "3", "layernorm.out0", 1e-5, 1e-5},
    {"layernorm_ragged", "tpu-v5e", "3", "layernorm_ragged.out0", 1e-2, 0x1p-7},
    {"rmsnorm", "tpu-v5e", "2", "rmsnorm.out0", 1e-2, 0x1p-7},
    {"bias_gelu", "tpu-v5e", "3", "bias_gelu.out0", 1e-2, 0x1p-7},
    {"relu_transposed", "tpu-v5e", "2", "relu_transposed.out0", 1e-2, 0x1p-7},
    {"relu_transposed.v6", "tpu-v6e", "2", "relu_transposed.out0", 1e-2, 0x1p-7},
    {"relu_transposed_f32", "tpu-v5e", "2", "relu_transposed_f32.out0", 5e-2, 1e-2},
    {"flash", "tpu-v5e", "3", "flash.out0", 1e-2, 0x1p-7},
    {"flash.v6", "tpu-v6e", "3", "flash.out0", 1e-2, 0x1p-7},
    {"flash_full", "tpu-v5e", "3", "flash_full.out0", 1e-2, 0x1p-7},
    {"flash_narrow", "tpu-v5e", "3", "flash_narrow.out0", 5e-2, 1e-2},
    {"flash_ragged", "tpu-v5e", "4", "flash_ragged.out0", 1e-2, 0x1p-7},
    {"splash", "tpu-v5e", "5", "splash.out0", 1e-2, 0x1p-7},
    {"paged", "tpu-v5e", "5", "paged.out0", 1e-2, 0x1p-7},
    {"paged_dma", "tpu-v5e", "5", "paged_dma.out0", 1e-2, 0x1p-7},
    {"grouped", "tpu-v5e", "5", "grouped.out0", 1e-2, 0x1p-7},
    {"quantised", "tpu-v5e", "3", "quantised.out0", 1e-5, 1e-5},
    {"weights_int8", "tpu-v5e", "3", "weights_int8.out0", 1e-2, 0x1p-7},
    {"pipeline_scale.v6", "tpu-v6e", "1", "pipeline_scale.out0", 0, 0},
    {"pipeline_matmul", "tpu-v5e", "2", "pipeline_matmul.out0", 1e-5, 1e-5},
    {"copy_hbm", "tpu-v5e", "1", "copy_hbm.out0", 0, 0},
    {"update_refs", "tpu-v5e", "2", "update_refs.out0", 0, 0},
    {"handshake", "tpu-v5e", "1", "handshake.out0", 0, 0},
    {"saturated", "tpu-v5e", "1", "saturated.out0", 0, 0},
    {"saturated.v7", "tpu-v7x", "1", "saturated.out0", 0, 0},
};

/* NumPy has no bf16: a file of it holds two bytes without a type. */
static double value_at(const char *type, const void *data, int64_t i) {
    if (strcmp(type, "f32") == 0) return (double)((const float *)data)[i];
    if (strcmp(type, "s32") == 0) return ((const int32_t *)data)[i];
    if (strcmp(type, "s16") == 0) return ((const int16_t *)data)[i];
    if (strcmp(type, "s8") == 0) return ((const int8_t *)data)[i];
    assert_string_equal(type, "bf16");
    return (double)ts_f32_from_bits((uint32_t)((const uint16_t *)data)[i] << 16);
}

static void compare(const kernel_case *c, const ts_array *found, const ts_array *expected) {
    const char *type = ts_array_type(found);
    int64_t count = 1, wrong = 0;
    assert_int_equal(ts_array_bytes(found), ts_array_bytes(expected));
    for (int i = 0; i < ts_array_rank(found); i++) count *= ts_array_dims(found)[i];
    for (int64_t i = 0; i < count; i++) {
        double a = value_at(type, ts_array_data(found), i), b = value_at(type, ts_array_data(expected), i);
        wrong += isnan(b) ? !isnan(a) : !(fabs(a - b) <= c->near + c->share * fabs(b)) && a != b;
    }
    if (wrong > 0) fail_msg("%s on %s: %lld values are wrong", c->text, c->machine, (long long)wrong);
}

static void run_case(const kernel_case *c) {
    ts_error *err = ts_error_new();
    ts_arena *arena = ts_arena_new();
    char path[128];
    ts_run_options options = {.struct_bytes = sizeof options};
    options.machine = ts_machine_load(err, arena, c->machine);
    snprintf(path, sizeof path, "tests/mosaic/kernels/%s.mlir", c->text);
    options.program = ts_program_read(err, arena,
                                      &(ts_program_request){.struct_bytes = sizeof(ts_program_request),
                                                            .machine = options.machine,
                                                            .source = path});
    if (!options.program) fail_msg("%s", ts_error_message(err));
    const ts_simulation *run = ts_simulate(err, arena, &options);
    snprintf(path, sizeof path, "tests/mosaic/kernels/%s.npy", c->expected);
    const ts_array *expected = ts_array_load(err, arena, path);
    if (!run || !expected) fail_msg("%s", ts_error_message(err));
    compare(c, ts_simulation_output(run, c->result), expected);
    ts_arena_free(arena);
    ts_error_free(err);
}

TEST(values_are_those_of_interpret_mode) {
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) run_case(&cases[i]);
}

enum { PAIRS = 256 };

static uint32_t next_bits(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 32);
}

/* Finite, of all exponents; every other quotient is from 1 to 2^43. */
static void make_pairs(uint64_t *seed, float *x, float *y) {
    const uint32_t finite = 0xff7fffff;
    for (int i = 0; i < PAIRS; i++) {
        y[i] = ts_f32_from_bits(next_bits(seed) & finite);
        double quotient = ldexp(1 + next_bits(seed) / 0x1p32, (int)(next_bits(seed) % 43));
        double near = (double)y[i] * quotient;
        bool is_near = i % 2 == 0 && fabs(near) < 0x1p127;
        x[i] = is_near ? (float)near : ts_f32_from_bits(next_bits(seed) & finite);
    }
}

static const float *run_remainders(ts_error *err, ts_arena *arena, float *x, float *y) {
    const int64_t dims[] = {8, PAIRS / 8};
    const ts_input inputs[] = {{"0", ts_array_wrap(err, arena, "f32", 2, dims, x)},
                               {"1", ts_array_wrap(err, arena, "f32", 2, dims, y)}};
    ts_run_options options = {.struct_bytes = sizeof options, .inputs = inputs, .input_count = 2};
    ts_program_request request = {.struct_bytes = sizeof request,
                                  .machine = ts_machine_load(err, arena, "tpu-v5e"),
                                  .source = "tests/mosaic/kernels/remainders.mlir"};
    options.machine = request.machine;
    options.program = ts_program_read(err, arena, &request);
    const ts_simulation *run = options.program ? ts_simulate(err, arena, &options) : NULL;
    if (!run) fail_msg("%s", ts_error_message(err));
    return ts_array_data(ts_simulation_output(run, "2"));
}

/* C's fmodf, or NaN where the quotient is beyond 2^35. */
TEST(remainders_of_any_size) {
    uint64_t seed = 1;
    for (int round = 0; round < 40; round++) {
        ts_error *err = ts_error_new();
        ts_arena *arena = ts_arena_new();
        float x[PAIRS], y[PAIRS];
        make_pairs(&seed, x, y);
        const float *found = run_remainders(err, arena, x, y);
        for (int i = 0; i < PAIRS; i++) {
            float expected = fmodf(x[i], y[i]);
            bool far = fabs((double)x[i] / (double)y[i]) > 0x1p35;
            if (memcmp(&found[i], &expected, sizeof expected) == 0) continue;
            if (!isnan(found[i]) || !(far || isnan(expected)))
                fail_msg("%a rem %a is %a, expected %a", (double)x[i], (double)y[i], (double)found[i],
                         (double)expected);
        }
        ts_arena_free(arena);
        ts_error_free(err);
    }
}

/* Floats of 16 bits that are not bf16 have no instructions, on no machine. */
TEST(f16_is_not_computed_as_bf16) {
    static char bytes[1 << 16];
    FILE *file = fopen("tests/mosaic/kernels/add_bf16.v6.mlir", "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes - 1, file);
    assert_true(length > 0 && feof(file));
    fclose(file);
    for (char *at = bytes; (at = strstr(at, "bf16"));) memmove(at, at + 1, strlen(at));
    char path[TEMPORARY_PATH];
    int made = mkstemps(temporary_path(path, "f16XXXXXX.mlir"), (int)strlen(".mlir"));
    assert_true(made >= 0 && write(made, bytes, strlen(bytes)) == (ssize_t)strlen(bytes) && close(made) == 0);
    ts_error *err = ts_error_new();
    ts_arena *arena = ts_arena_new();
    ts_program_request request = {
        .struct_bytes = sizeof request, .machine = ts_machine_load(err, arena, "tpu-v6e"), .source = path};
    assert_null(ts_program_read(err, arena, &request));
    remove(path);
    assert_int_equal(ts_error_get_kind(err), TS_ERROR_UNMODELLED);
    assert_non_null(strstr(ts_error_message(err), "'arith.addf' is not modelled: of such types"));
    ts_arena_free(arena);
    ts_error_free(err);
}
