/* The tiles that the TPU compiler picks: every consequence of the rule that is published or seen in dumps. */
#include <string.h>

#include "layout/notation/tpu_rule.h"
#include "tests/support/test.h"

enum { L4 = TS_TPU_LARGE_X4, L8 = TS_TPU_LARGE_X8, L16 = TS_TPU_LARGE_X16, ARG = TS_TPU_ARGUMENT };

typedef struct {
    const char *untiled; /* its dims, minor_to_major and S() are asked about */
    int generation;
    unsigned flags;
    const char *expected;
} row;

static const row rows[] = {
    /* 32 bits: the second minor decides (tiled_layout.md, "compact 2nd minor"). */
    {"f32[1,1000]", 5, 0, "f32[1,1000]{1,0:T(1,128)}"},
    {"f32[2,1000]", 5, 0, "f32[2,1000]{1,0:T(2,128)}"},
    {"f32[3,1000]", 5, 0, "f32[3,1000]{1,0:T(4,128)}"},
    {"f32[4,1000]", 5, 0, "f32[4,1000]{1,0:T(4,128)}"},
    {"f32[5,1000]", 5, 0, "f32[5,1000]{1,0:T(8,128)}"},
    {"f32[1000,1000]", 4, 0, "f32[1000,1000]{1,0:T(8,128)}"},
    {"f32[1,1000]", 3, 0, "f32[1,1000]{1,0:T(2,128)}"},
    {"f32[2,1000]", 2, 0, "f32[2,1000]{1,0:T(2,128)}"},
    {"f32[3,1000]", 3, 0, "f32[3,1000]{1,0:T(4,128)}"},
    {"f32[9,1000]", 3, 0, "f32[9,1000]{1,0:T(8,128)}"},
    {"f32[16,2,4096]", 4, 0, "f32[16,2,4096]{2,1,0:T(2,128)}"},
    {"f32[16,2,4096]{2,0,1:S(1)}", 4, 0, "f32[16,2,4096]{2,0,1:T(8,128)S(1)}"},
    {"s64[20,130]", 5, 0, "s64[20,130]{1,0:T(8,128)}"},
    /* 16 bits. */
    {"bf16[1,300]", 5, 0, "bf16[1,300]{1,0:T(2,128)(2,1)}"},
    {"bf16[4,8192]{1,0:S(1)}", 5, 0, "bf16[4,8192]{1,0:T(4,128)(2,1)S(1)}"},
    {"bf16[40,300]", 5, 0, "bf16[40,300]{1,0:T(8,128)(2,1)}"},
    {"bf16[48,300]", 5, L16, "bf16[48,300]{1,0:T(16,128)(2,1)}"},
    {"bf16[40,300]", 5, L16, "bf16[40,300]{1,0:T(8,128)(2,1)}"},
    {"bf16[48,300]", 6, 0, "bf16[48,300]{1,0:T(16,128)(2,1)}"},
    {"bf16[48,300]", 6, ARG, "bf16[48,300]{1,0:T(8,128)(2,1)}"},
    {"bf16[2,300]", 3, 0, "bf16[2,300]{1,0:T(4,128)(2,1)}"},
    {"bf16[32,32,8192]", 5, 0, "bf16[32,32,8192]{2,1,0:T(8,128)(2,1)}"},
    /* 8 bits. */
    {"s8[3,300]", 5, 0, "s8[3,300]{1,0:T(4,128)(4,1)}"},
    {"f8e4m3fn[5,300]", 5, 0, "f8e4m3fn[5,300]{1,0:T(8,128)(4,1)}"},
    {"pred[64,300]", 5, 0, "pred[64,300]{1,0:T(8,128)(4,1)}"},
    {"s8[64,300]", 5, L8, "s8[64,300]{1,0:T(32,128)(4,1)}"},
    {"s8[63,300]", 5, L8, "s8[63,300]{1,0:T(8,128)(4,1)}"},
    {"f6e2m3fn[64,300]", 5, 0, "f6e2m3fn[64,300]{1,0:T(8,128)(4,1)}"},
    /* Below a byte: packed. */
    {"s4[20,130]", 5, 0, "s4[20,130]{1,0:T(8,128)(8,1)E(4)}"},
    {"s4[9216,6144]", 5, L4, "s4[9216,6144]{1,0:T(64,128)(8,1)E(4)}"},
    {"f4e2m1fn[20,130]", 7, 0, "f4e2m1fn[20,130]{1,0:T(8,128)(8,1)E(4)}"},
    {"s2[33,130]", 5, 0, "s2[33,130]{1,0:T(16,128)(16,1)E(2)}"},
    {"s2[256,130]", 5, 0, "s2[256,130]{1,0:T(128,128)(16,1)E(2)}"},
    /* One dim: as many rows of 128 as there are, up to 1024 elements. */
    {"f32[128]", 5, 0, "f32[128]{0:T(128)}"},
    {"f32[129]", 5, 0, "f32[129]{0:T(256)}"},
    {"f32[257]", 5, 0, "f32[257]{0:T(512)}"},
    {"f32[513]", 5, 0, "f32[513]{0:T(1024)}"},
    {"f32[128]", 3, 0, "f32[128]{0:T(256)}"},
    {"bf16[4]", 5, 0, "bf16[4]{0:T(256)(128)(2,1)}"},
    {"bf16[4096]", 5, 0, "bf16[4096]{0:T(1024)(128)(2,1)}"},
    {"bf16[4096]", 6, L16, "bf16[4096]{0:T(1024)(128)(2,1)}"},
    {"s8[4]", 5, 0, "s8[4]{0:T(512)(128)(4,1)}"},
    {"pred[4]", 5, 0, "pred[4]{0:T(512)(128)(4,1)}"},
    {"s8[4096]", 5, 0, "s8[4096]{0:T(1024)(128)(4,1)}"},
    {"s4[4]", 5, 0, "s4[4]{0:T(1024)(128)(8,1)E(4)}"},
    {"s2[4]", 5, 0, "s2[4]{0:T(2048)(128)(16,1)E(2)}"},
    /* Scalars. */
    {"s32[]", 4, 0, "s32[]{:T(128)}"},
    {"bf16[]", 4, 0, "bf16[]{:T(256)}"},
    {"pred[]", 4, 0, "pred[]{:T(512)}"},
    {"s32[]", 2, 0, "s32[]{:T(256)}"},
    {"bf16[]", 3, 0, "bf16[]{:T(512)}"},
    {"pred[]", 3, 0, "pred[]{:T(1024)}"},
    /* No elements, no data. */
    {"f32[0,130]", 5, 0, "f32[0,130]{1,0:T(1,128)}"},
    {"token[]", 5, 0, "token[]"},
};

TEST_WITH_ARENA(follows_the_rule) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_source source = {"row", rows[i].untiled, strlen(rows[i].untiled)};
        ts_error err = {0};
        const ts_shape *untiled = ts_shape_parse(&err, arena, &source), *tiled = NULL;
        if (untiled != NULL)
            tiled =
                ts_tpu_tiled(&err, arena, untiled->dtype, untiled->xla, rows[i].generation, rows[i].flags);
        if (tiled == NULL) fail_msg("%s: %s", rows[i].untiled, err.message);
        ts_text text = ts_text_begin(arena);
        ts_shape_print(tiled, &text);
        assert_string_equal(text.bytes, rows[i].expected);
    }
}

/* Answers of the compiler (tests/data/tpu_layouts.tsv has more), where orders tie, or nearly do; generation 3 is
 * the rule alone. */
static const row defaults[] = {
    {"f32[1536,1]", 6, 0, "f32[1536,1]{0,1:T(1,128)}"},
    {"f32[16,64]", 6, 0, "f32[16,64]{1,0:T(8,128)}"},
    {"f32[1000,784]", 6, 0, "f32[1000,784]{0,1:T(8,128)}"},
    {"f32[128,3,1536]", 6, 0, "f32[128,3,1536]{2,0,1:T(8,128)}"},
    {"f32[128,3,576]", 6, 0, "f32[128,3,576]{0,2,1:T(8,128)}"},
    {"f32[1024,4,14336]{0,1,2}", 6, 0, "f32[1024,4,14336]{2,1,0:T(4,128)}"},
    {"u32[3,2]{1,0:S(1)}", 6, 0, "u32[3,2]{0,1:T(2,128)S(1)}"},
    {"f32[300,2,7,3]", 6, 0, "f32[300,2,7,3]{0,1,3,2:T(2,128)}"},
    {"s8[300,2,7,3]", 6, 0, "s8[300,2,7,3]{0,2,3,1:T(8,128)(4,1)}"},
    {"c64[8,1,32]", 6, 0, "c64[8,1,32]{2,1,0:T(1,128)}"},
    {"bf16[64,200]", 6, 0, "bf16[64,200]{1,0:T(8,128)(2,1)}"},
    {"pred[64,200]", 4, 0, "pred[64,200]{1,0:T(32,128)(4,1)}"},
    {"u4[64,200]", 7, 0, "u4[64,200]{1,0:T(64,128)(8,1)E(4)}"},
    {"s4[7,3]", 5, 0, "s4[7,3]{1,0:T(8,128)(8,1)E(4)}"},
    {"u2[11,4]", 5, 0, "u2[11,4]{0,1:T(16,128)(16,1)E(2)}"}, /* 8 rows are counted, not 16 */
    {"s2[2048,160,8,6]", 5, 0, "s2[2048,160,8,6]{0,1,3,2:T(16,128)(16,1)E(2)}"}, /* it pads nothing */
    {"s2[32,173,168]", 5, 0, "s2[32,173,168]{1,2,0:T(16,128)(16,1)E(2)}"},
    {"u64[1,16,3,8,2,2]", 5, 0, "u64[1,16,3,8,2,2]{1,5,4,3,2,0:T(2,128)}"},
    {"f32[29184,1,2560]", 3, 0, "f32[29184,1,2560]{2,0,1:T(8,128)}"},
    {"bf16[3000]", 6, 0, "bf16[3000]{0:T(1024)(128)(2,1)}"},
    {"s4[]", 6, 0, "s4[]{:T(1024)E(4)}"},
    {"u16[2,0,5]", 6, 0, "u16[2,0,5]{2,1,0}"},
    {"u4[3,0]", 6, 0, "u4[3,0]{1,0:E(4)}"},
    {"f32[<=8,4]", 6, 0, "f32[<=8,4]{0,1:T(4,128)}"},
    {"s8[72057594037927936,3]", 6, 0,
     "s8[72057594037927936,3]{0,1:T(4,128)(4,1)}"}, /* row-major: beyond 2^63 */
};

TEST_WITH_ARENA(answers_of_the_compiler) {
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        ts_source source = {"row", defaults[i].untiled, strlen(defaults[i].untiled)};
        ts_error err = {0};
        const ts_shape *plain = ts_shape_parse(&err, arena, &source), *given = NULL;
        if (plain) given = ts_tpu_default(&err, arena, plain->dtype, plain->xla, defaults[i].generation);
        if (given == NULL) fail_msg("%s: %s", defaults[i].untiled, err.message);
        ts_text text = ts_text_begin(arena);
        ts_shape_print(given, &text);
        assert_string_equal(text.bytes, defaults[i].expected);
    }
    const ts_xla_layout negative = {.rank = 1, .dims = (const int64_t[]){-1}};
    ts_error err = {0};
    assert_null(ts_tpu_default(&err, arena, TS_DTYPE_F32, &negative, 5));
    assert_string_equal(err.message, "found -1, but a dimension cannot be negative");
}

TEST_WITH_ARENA(default_is_row_major) {
    ts_error err = {0};
    ts_text text = ts_text_begin(arena);
    const ts_xla_layout fields = {.rank = 3, .dims = (const int64_t[]){2, 20, 300}},
                        negative = {.rank = 1, .dims = (const int64_t[]){-1}};
    const ts_shape *shape = ts_tpu_tiled(&err, arena, TS_DTYPE_BF16, &fields, 5, 0);
    assert_non_null(shape);
    ts_shape_print(shape, &text);
    assert_string_equal(text.bytes, "bf16[2,20,300]{2,1,0:T(8,128)(2,1)}");
    assert_null(ts_tpu_tiled(&err, arena, TS_DTYPE_F32, &negative, 5, 0));
    assert_string_equal(err.message, "found -1, but a dimension cannot be negative");
}
