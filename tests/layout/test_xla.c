/* XLA's shapes: canonical text, exact errors, sizes where XLA contradicts itself, and laws over random
 * shapes. */
#include <string.h>

#include "tests/support/random_layout.h"
#include "tests/support/rounds.h"
#include "tests/support/shapes.h"
#include "tests/support/xla_oracle.h"
#include "base/number.h"
#include "layout/notation/xla.h"
#include "tests/support/test.h"

/* ---- Rows ---- */

TEST(prints_canonical_text) {
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        {"f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}"},
        {"f32[3,5]", "f32[3,5]{1,0}"},
        {"f32[]", "f32[]"},
        {"f32[]{:}", "f32[]"},
        {"f32[8]{0:}", "f32[8]{0}"},
        {"pred[]{:T(512)S(2)}", "pred[]{:T(512)S(2)}"},
        {" f32\t[ 3 , 5 ]\r\n{ 1 , 0 : T ( 2 , 2 ) ( 2 , 1 ) } ", "f32[3,5]{1,0:T(2,2)(2,1)}"},
        {"f32/**/[3,/* two\nlines */5] // the end", "f32[3,5]{1,0}"},
        {"f32[003,-0]{01,-00}", "f32[3,0]{1,0}"},
        {"f32[<=8,?,0]", "f32[<=8,?,0]{2,1,0}"},
        {"f32[8]{0:T(8)L(1)E(0)S(0)M(0)}", "f32[8]{0:T(8)}"},
        {"f32[8]{0:E(32)}", "f32[8]{0:E(32)}"},
        {"f32[8,4]{0,1:D(D+,C~)T(4,8)(2,1)L(64)E(16)S(1)SC(0:2)(1:1,7)M(1024)}",
         "f32[8,4]{0,1:T(4,8)(2,1)L(64)E(16)S(1)SC(0:2)(1:1,7)M(1024)}"},
        {"f32[8,4]{0,1:D()SC(0:)}", "f32[8,4]{0,1:SC(0:)}"},
        {"f32[8,4]{1,0:T(*,2)}", "f32[8,4]{1,0:T(*,2)}"},
        {"f32[8,4]{1,0:T(-9223372036854775808,2)}", "f32[8,4]{1,0:T(*,2)}"},
        {"b(f32[8])", "b(f32[8]{0})"},
        {"token[]", "token[]"},
        {"opaque[ ]", "opaque[]"},
        {"()", "()"},
        {"((f32[8]),())", "((f32[8]{0}), ())"},
        {"(u1[1],u2[1],u4[1],s1[1],s2[1],s4[1],u8[1],s8[1],u16[1],s16[1],u32[1])",
         "(u1[1]{0}, u2[1]{0}, u4[1]{0}, s1[1]{0}, s2[1]{0}, /*index=5*/s4[1]{0}, u8[1]{0}, s8[1]{0}, "
         "u16[1]{0}, "
         "s16[1]{0}, /*index=10*/u32[1]{0})"},
        {"(s32[],u64[],s64[],f4e2m1fn[],f6e2m3fn[],f6e3m2fn[],f8e5m2[],f8e4m3[])",
         "(s32[], u64[], s64[], f4e2m1fn[], f6e2m3fn[], /*index=5*/f6e3m2fn[], f8e5m2[], f8e4m3[])"},
        {"(f8e4m3fn[],f8e4m3b11fnuz[],f8e3m4[],f8e5m2fnuz[],f8e4m3fnuz[],f8e8m0fnu[],f16[],bf16[],f64[],c64[]"
         ",c128[])",
         "(f8e4m3fn[], f8e4m3b11fnuz[], f8e3m4[], f8e5m2fnuz[], f8e4m3fnuz[], /*index=5*/f8e8m0fnu[], f16[], "
         "bf16[], "
         "f64[], c64[], /*index=10*/c128[])"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        const ts_shape *shape = read_shape(&err, arena, rows[i].text);
        if (shape == NULL) fail_msg("%s: %s", rows[i].text, err.message);
        assert_string_equal(ts_shape_text(arena, shape), rows[i].canonical);
        assert_string_equal(ts_shape_text(arena, read_shape(&err, arena, rows[i].canonical)),
                            rows[i].canonical);
        ts_arena_free(arena);
    }
}

#define BARE "found a layout, expected TYPE[DIMS] before it, as in f32[4,8] (4,8):(8,1)"

TEST(refuses_exactly) {
    static const struct {
        const char *text;
        int column;
        const char *message;
    } rows[] = {
        {"", 1, "found the end, expected a shape, such as f32[8,128]{1,0:T(8,128)}"},
        {"8", 1, "found '8', expected a shape, such as f32[8,128]{1,0:T(8,128)}"},
        {"8x128xf32", 1, "found '8', expected a shape, such as f32[8,128]{1,0:T(8,128)}"},
        {"F32[8]", 1, "unknown element type 'F32'; did you mean 'f32'?"},
        {"(F32[8])", 2, "unknown element type 'F32'; did you mean 'f32'?"},
        {"BF16[8]", 1, "unknown element type 'BF16'; did you mean 'bf16'?"},
        {"F8E4M3FN[8]", 1, "unknown element type 'F8E4M3FN'; did you mean 'f8e4m3fn'?"},
        {"FLOAT32[8]", 1, "unknown element type 'FLOAT32'; did you mean 'f32'?"},
        {"PRD[8]", 1, "unknown element type 'PRD'; did you mean 'pred'?"},
        {"tuple[8]", 1, "unknown element type 'tuple', expected such as f32 or bf16"},
        {"(4,8):(8,1)", 1, BARE},
        {" ( (2,2), 8)", 2, BARE},
        {"8:1", 1, BARE},
        {"{1,0:T(8,128)}", 1, BARE},
        {"[(4,8):(8,1)]", 1, BARE},
        {"S[(4,8):(8,1)]", 1, BARE},
        {"lambda i: [i]", 1, BARE},
        {"NCHW4c", 1, BARE},
        {"vpad<\"32,{0,0},(8,128)\">", 1, BARE},
        {"f32", 4, "found the end, expected '['"},
        {"f32[8", 6, "found the end, expected ',' or ']'"},
        {"f32[8)", 6, "found ')', expected ',' or ']'"},
        {"f32[,8]", 5, "found ',', expected a dimension (a number, '<=' and a number, or '?')"},
        {"f32[8,]", 7, "found ']', expected a dimension (a number, '<=' and a number, or '?')"},
        {"f32[<=]", 7, "found ']', expected a bound"},
        {"f32[-1]", 5, "found -1, but a dimension cannot be negative"},
        {"f32[<=-1]", 7, "found -1, but a dimension cannot be negative"},
        {"f32[+1]", 5, "found '+', expected a dimension (a number, '<=' and a number, or '?')"},
        {"f32[1_000]", 5, "found '1_000', expected a dimension (a number, '<=' and a number, or '?')"},
        {"f32[8x128]", 5, "found '8x128', expected a dimension (a number, '<=' and a number, or '?')"},
        {"f32[1.5]", 5, "found '1.5', expected a dimension (a number, '<=' and a number, or '?')"},
        {"f32[1e3]", 5, "found '1e3', expected a dimension (a number, '<=' and a number, or '?')"},
        {"f32[8 8]", 7, "found '8', expected ',' or ']'"},
        {"f32[9223372036854775808]", 5, "9223372036854775808 does not fit in 64 bits"},
        {"f32[<=9223372036854775808]", 7, "9223372036854775808 does not fit in 64 bits"},
        {"f32[2305843009213693952]", 5, "the array up to here has more than 2^63 - 1 elements or bytes"},
        {"s8[3037000500,3037000500]", 15, "the array up to here has more than 2^63 - 1 elements or bytes"},
        {"f32[8]{}", 7,
         "found '{', expected the end of the shape; a layout is '{' and a number or ':', as in "
         "{1,0:T(8,128)}"},
        {"f32[8]{foo}", 7,
         "found '{', expected the end of the shape; a layout is '{' and a number or ':', as in "
         "{1,0:T(8,128)}"},
        {"f32[8]{1e0}", 7,
         "found '{', expected the end of the shape; a layout is '{' and a number or ':', as in "
         "{1,0:T(8,128)}"},
        {"f32[8] f32[8]", 8, "found 'f32', expected the end of the shape"},
        {"f32[8] P('x')", 8, "found 'P', expected the end of the shape; a sharding needs a mesh of devices"},
        {"f32[8]{0} P('x')", 11,
         "found 'P', expected the end of the shape; a sharding needs a mesh of devices"},
        {"f32[8] PartitionSpec('x')", 8,
         "found 'PartitionSpec', expected the end of the shape; a sharding needs a mesh of devices"},
        {"f32[8]{0}{devices=[8]<=[8]}", 10,
         "found '{', expected the end of the shape; a sharding needs a mesh of devices"},
        {"f32[8] #sdy.sharding<@mesh, [{}]>", 8,
         "found '#', expected the end of the shape; a sharding needs a mesh of devices"},
        {"f32[8]]", 7, "found ']', expected the end of the shape"},
        {"f32[8]{1}", 8, "found 1, but the array has 1 dimension, counted from 0"},
        {"f32[]{0}", 7, "found 0, but the array has 0 dimensions, counted from 0"},
        {"f32[8,4]{1,-1}", 12, "found -1, but the array has 2 dimensions, counted from 0"},
        {"f32[8,4]{0,0}", 12, "dimension 0 is listed twice"},
        {"f32[8,4]{0}", 11,
         "minor_to_major lists 1 of the 2 dimensions; it needs all of them, minor to major"},
        {"f32[8,4]{:T(2)}", 10,
         "minor_to_major lists 0 of the 2 dimensions; it needs all of them, minor to major"},
        {"f32[8,4]{1,0", 13, "found the end, expected ',', ':' or '}'"},
        {"f32[8,4]{1,0;}", 13, "found ';', expected ',', ':' or '}'"},
        {"f32[8,4]{1,0:T}", 15, "found '}', expected '(' and a tile"},
        {"f32[8,4]{1,0:(8,4)}", 14, "found '(', expected a layout field; tiles begin with T"},
        {"f32[8,4]{1,0:T()}", 16, "found ')', expected a tile size or '*': a tile cannot be empty"},
        {"f32[8,4]{1,0:T(8,4)()}", 21, "found ')', expected a tile size or '*': a tile cannot be empty"},
        {"f32[8,4]{1,0:T(8,)}", 18, "found ')', expected a tile size or '*'"},
        {"f32[8,4]{1,0:T(8}", 17, "found '}', expected ',' or ')'"},
        {"f32[8,4]{1,0:T(0)}", 16, "found 0, expected a tile size of at least 1, or '*'"},
        {"f32[8,4]{1,0:T(-1)}", 16, "found -1, expected a tile size of at least 1, or '*'"},
        {"f32[8,4]{1,0:T(8,*)}", 18, "the last entry of a tile cannot be '*': no dimension is more minor"},
        {"f32[8,4]{1,0:T(*)}", 16, "the last entry of a tile cannot be '*': no dimension is more minor"},
        {"f32[8,4]{1,0:T(8)T(4)}", 18, "T is repeated; further tiles just follow, as in T(8,128)(2,1)"},
        {"f32[8,4]{1,0:S(1)S(1)}", 18, "S is repeated"},
        {"f32[8,4]{1,0:S(1)T(4)}", 18, "T after S: the order of the fields is D T L # * E S SC P M"},
        {"f32[8,4]{1,0:SC(0:4)S(1)}", 21, "S after SC: the order of the fields is D T L # * E S SC P M"},
        {"f32[8,4]{1,0:M(8)S(1)}", 18, "S after M: the order of the fields is D T L # * E S SC P M"},
        {"f32[8,4]{1,0:X(3)}", 14, "unknown layout field 'X', expected one of T L E S SC M"},
        {"f32[8,4]{1,0:t(3)}", 14,
         "unknown layout field 't', expected one of T L E S SC M; did you mean 'T'?"},
        {"f32[8,4]{1,0:TT(3)}", 14, "unknown layout field 'TT', expected one of T L E S SC M"},
        {"f32[8,4]{1,0:L(0)}", 16, "found 0, expected an alignment in elements of at least 1"},
        {"f32[8,4]{1,0:L8}", 14, "unknown layout field 'L8', expected one of T L E S SC M"},
        {"f32[8,4]{1,0:E(-4)}", 16, "found -4, expected a number of bits of at least 0"},
        {"f32[8,4]{1,0:S(-1)}", 16, "found -1, expected a memory space of at least 0"},
        {"f32[8,4]{1,0:S}", 15, "found '}', expected '('"},
        {"f32[8,4]{1,0:M(-8)}", 16, "found -8, expected a number of bytes of at least 0"},
        {"f32[8,4]{1,0:E(4}", 17, "found '}', expected ')'"},
        {"f32[8,4]{1,0:D(D,X)}", 18, "found 'X', expected a dim level (D, C, S or H)"},
        {"f32[8,4]{1,0:D(D,)}", 18, "found ')', expected a dim level (D, C, S or H)"},
        {"f32[8,4]{1,0:#(u32)}", 14,
         "index types, pointer types and physical shapes are for sparse arrays; this array is dense"},
        {"f32[8,4]{1,0:*(u32)}", 14,
         "index types, pointer types and physical shapes are for sparse arrays; this array is dense"},
        {"f32[8,4]{1,0:P(f32[8])}", 14,
         "index types, pointer types and physical shapes are for sparse arrays; this array is dense"},
        {"f32[8,4]{1,0:SC}", 16, "found '}', expected '(' and a split"},
        {"f32[8,4]{1,0:SC(2:1)}", 17, "found 2, but the array has 2 dimensions, counted from 0"},
        {"f32[8,4]{1,0:SC(0:2)(0:4)}", 22, "dimension 0 is split twice"},
        {"f32[8,4]{1,0:SC(0:2)(1:2)(0:1)}", 27, "dimension 0 is split twice"},
        {"f32[8,4]{0,1:SC(0:4)}", 19, "split index 4 must be less than the dimension, 4"},
        {"f32[8,4]{1,0:SC(0:0)}", 19, "split index 0 must be more than 0"},
        {"f32[8,4]{1,0:SC(0:3,3)}", 21, "split index 3 must be more than 3"},
        {"token[3]", 7, "found '3', expected ']': token and opaque have no dimensions"},
        {"opaque[]{:S(1)}", 9, "found '{', expected the end of the shape: token and opaque have no layout"},
        {"b((f32[8]))", 3, "found '(', expected an array: a buffer holds no tuple"},
        {"b(b(f32[8]))", 3, "a buffer holds an array of numbers"},
        {"b(token[])", 3, "a buffer holds an array of numbers"},
        {"b(f32[8]", 9, "found the end, expected ')'"},
        {"b[8]", 1, "unknown element type 'b', expected such as f32 or bf16"},
        {"(f32[8],)", 9, "found ')', expected a shape, such as f32[8,128]{1,0:T(8,128)}"},
        {"(f32[8]", 8, "found the end, expected ',' or ')'"},
        {"(,)", 2, "found ',', expected a shape, such as f32[8,128]{1,0:T(8,128)}"},
        {"f32[8] /* open", 8, "this comment does not end"},
        {"f32[8] /*/", 8, "this comment does not end"},
        {"f32[8]\n  {0:T(3}", 9, "found '}', expected ',' or ')'"},
        {"s8[9223372036854775807]{0:T(8)}", 1, "the padded dimension does not fit in 64 bits"},
        {"s8[4611686018427387904,2]{1,0:T(1,3)}", 24,
         "the array up to here has more than 2^63 - 1 elements or bytes"},
        {"s8[4611686018427387904]{0:T(2,8)(3,1)}", 1,
         "the padded size of the layout does not fit in 64 bits"},
        {"s8[9223372036854775807]{0:L(8)}", 1, "the padded size of the layout does not fit in 64 bits"},
        {"s8[4611686018427387904]{0:E(16)}", 1,
         "the padded size of the layout in bytes does not fit in 64 bits"},
        {"s8[4611686018427387904]{0:E(3)}", 1,
         "the padded size of the layout in bytes does not fit in 64 bits"},
        {"f32[8]{0:E(2147483648)}", 1, "E() and S() go up to 2147483647"},
        {"(s8[9223372036854775807],s8[1])", 0, "the bytes of the tuple do not fit in 64 bits"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        assert_null(read_shape(&err, arena, rows[i].text));
        if (strcmp(err.message, rows[i].message) != 0 || err.column != rows[i].column)
            fail_msg("%s: column %d, %s", rows[i].text, err.column, err.message);
        assert_null(read_shape(NULL, arena, rows[i].text));
        ts_arena_free(arena);
    }
}

TEST(sizes_where_xla_contradicts_itself) {
    static const struct {
        const char *text;
        int64_t padded_elements, bytes, storage_bytes, unpadded_bytes;
    } rows[] = {
        {"f32[3,5]{1,0:T(2,2)}", 24, 96, 96, 60},
        {"f32[3,5]{1,0:T(3,5)(2,2)}", 24, 60, 96, 60}, /* the second tile pads */
        {"f32[24,256]{1,0:T(8,128)(2,2,8,128)}", 8192, 24576, 32768, 24576},
        {"f32[8,128]{1,0:L(2048)}", 2048, 4096, 8192, 4096}, /* L() without a tile */
        {"f32[8,128]{1,0:T(8,128)L(2048)}", 2048, 8192, 8192, 4096},
        {"f32[100,200]{1,0:T(8,128)SC(0:40)}", 16384, 65536, 106496, 80000}, /* bytes of one memory */
        {"f32[100,200]{0,1:T(8,128)SC(0:40)}", 20480, 81920, 102400, 80000},
        {"f32[100,200]{1,0:SC(0:40)}", 20000, 80000, 80000, 80000},
        {"f32[100,200]{1,0:T(8,128)SC(0:10,90)(1:199)}", 20480, 81920, 106496, 80000},
        {"pred[64,512,2048]{2,1,0:T(8,128)E(32)}", 67108864, 268435456, 268435456,
         67108864}, /* seen in a report */
        {"s4[3,3]{1,0:E(4)}", 9, 5, 5, 5},
        {"f32[]{:T(256)}", 256, 1024, 1024, 4},
        {"f32[0,5]{1,0:T(8,128)}", 0, 0, 0, 0},
        {"f32[0,5]{1,0:T(8,128)L(7)}", 0, 0, 0, 0},
        {"token[]", 0, 0, 0, 0},
        {"(s8[3], s4[5]{0:T(8)E(4)})", 11, 7, 7, 6},
        {"f32[<=3,?]", -1, -1, -1, -1},
        {"(s8[3], f32[?])", -1, -1, -1, -1},
        {"b(s8[3])", 3, 3, 3, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_shape *shape = read_shape(NULL, arena, rows[i].text);
        assert_non_null(shape);
        assert_int_equal(shape->padded_elements, rows[i].padded_elements);
        assert_int_equal(shape->bytes, rows[i].bytes);
        assert_int_equal(shape->storage_bytes, rows[i].storage_bytes);
        assert_int_equal(shape->unpadded_bytes, rows[i].unpadded_bytes);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(says_why_there_is_no_layout) {
    static const struct {
        const char *text;
        ts_error_kind kind;
        const char *message;
    } rows[] = {
        {"f32[?]", TS_ERROR_UNMODELLED, "the source has an unbounded dimension ('?'), which has no layout"},
        {"(f32[8])", TS_ERROR_INPUT, "the source is a tuple, expected an array"},
        {"token[]", TS_ERROR_INPUT, "the source is token[], which holds no data, expected an array"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        assert_null(ts_shape_layout(&err, read_shape(NULL, arena, rows[i].text), "the source"));
        assert_int_equal(err.kind, rows[i].kind);
        assert_string_equal(err.message, rows[i].message);
    }
    assert_non_null(ts_shape_layout(NULL, read_shape(NULL, arena, "f32[8]"), "the source"));
}

TEST_WITH_ARENA(makes_row_major_shapes) {
    ts_error err = {0};
    const ts_shape *shape = ts_shape_row_major(&err, arena, TS_DTYPE_BF16, 2, (const int64_t[]){3, 5});
    assert_string_equal(ts_shape_text(arena, shape), "bf16[3,5]{1,0}");
    assert_string_equal(ts_shape_text(arena, ts_shape_row_major(&err, arena, TS_DTYPE_PRED, 0, NULL)),
                        "pred[]");
    assert_null(ts_shape_row_major(&err, arena, TS_DTYPE_F32, 2, (const int64_t[]){INT64_MAX, 2}));
    assert_string_equal(err.message, "the array up to here has more than 2^63 - 1 elements or bytes");
}

TEST(leaves_the_cursor_behind_the_shape) {
    static const struct {
        const char *text;
        size_t at;
    } rows[] = {
        {"f32[8]{0} copy(x)", 10}, {"f32[8] {\n", 7},   {"f32[8]{0}/*c*/ copy", 15}, {"(f32[], s8[2]) t", 15},
        {"token[] t", 8},          {"b(f32[8]), x", 9}, {"f32[8]{1e0}", 6},          {"f32[8]{-x}", 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_source source = {"text", rows[i].text, strlen(rows[i].text)};
        ts_cursor cursor = {&source, 0, 0};
        assert_non_null(ts_xla_parse(NULL, arena, &cursor));
        assert_int_equal(cursor.at, rows[i].at);
        ts_arena_free(arena);
    }
}

/* The text needs no NUL behind it, and nothing behind its end is read. */
TEST_WITH_ARENA(respects_the_length) {
    const char *text = "f32[8]{0:T(128)}";
    for (size_t length = 0; length <= strlen(text); length++) {
        char *exact = ts_arena_alloc(arena, length, 1);
        memcpy(exact, text, length);
        ts_source source = {"text", exact, length};
        assert_int_equal(ts_shape_parse(NULL, arena, &source) != NULL, length == 6 || length == strlen(text));
    }
}

TEST(nests_tuples_as_deep_as_xla) {
    enum { DEPTH = 8192 };
    for (int extra = 0; extra < 2; extra++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        char *text = ts_arena_alloc(arena, 2 * (DEPTH + 1) + 1, 1);
        memset(text, '(', (size_t)(DEPTH + extra));
        memset(text + DEPTH + extra, ')', (size_t)(DEPTH + extra));
        const ts_shape *shape = read_shape(&err, arena, text);
        assert_int_equal(shape != NULL, extra == 0);
        if (shape != NULL)
            assert_string_equal(ts_shape_text(arena, shape), text);
        else
            assert_string_equal(err.message, "tuples are nested more than 8192 deep");
        ts_arena_free(arena);
    }
}

/* ---- Laws over random shapes ---- */

enum { MOST_RANK = 5, MOST_TILES = 3, MOST_TILE_RANK = 7, ORACLE_LIMIT = 20000, SHAPES = 20000 };
enum { SANITIZED_SHAPES = 3000 };

typedef struct {
    ts_xla_layout f;
    int64_t dims[MOST_RANK];
    bool dynamic[MOST_RANK];
    int minor_to_major[MOST_RANK];
    ts_xla_tile tiles[MOST_TILES];
    int64_t tile_dims[MOST_TILES][MOST_TILE_RANK];
    ts_xla_split splits[MOST_RANK];
    int64_t split_indices[MOST_RANK][2];
} random_fields;

static int64_t pick(uint64_t *seed, int64_t least, int64_t most) {
    return least + random_below(seed, (uint32_t)(most - least + 1));
}

static void pick_tile(uint64_t *seed, random_fields *r, int number, bool stars) {
    int rank = (int)pick(seed, 1, r->f.rank + 2 - number % 2);
    for (int i = 0; i < rank; i++) {
        bool star = stars && i + 1 < rank && pick(seed, 0, 3) == 0;
        r->tile_dims[number][i] = star ? TS_XLA_COMBINE : pick(seed, 1, 4);
    }
    r->tiles[number] = (ts_xla_tile){rank, r->tile_dims[number]};
}

static void pick_splits(uint64_t *seed, random_fields *r) {
    for (int dim = 0; dim < r->f.rank; dim++) {
        int64_t size = r->dims[r->minor_to_major[r->f.rank - 1 - dim]];
        if (size < 3 || pick(seed, 0, 3) > 0) continue;
        int64_t *indices = r->split_indices[dim];
        indices[0] = pick(seed, 1, size - 2);
        indices[1] = pick(seed, indices[0] + 1, size - 1);
        r->splits[r->f.split_count++] = (ts_xla_split){dim, (int)pick(seed, 0, 2), indices};
    }
}

static void pick_fields(uint64_t *seed, random_fields *r, bool stars) {
    *r = (random_fields){.f = {.layout_written = true,
                               .dims = r->dims,
                               .dynamic = r->dynamic,
                               .tiles = r->tiles,
                               .minor_to_major = r->minor_to_major,
                               .splits = r->splits}};
    r->f.rank = (int)pick(seed, 0, MOST_RANK);
    for (int i = 0; i < r->f.rank; i++) {
        r->dims[i] = pick(seed, 0, 40) == 0 ? 0 : pick(seed, 1, 6);
        r->dynamic[i] = pick(seed, 0, 4) == 0;
        int j = (int)pick(seed, 0, i);
        r->minor_to_major[i] = r->minor_to_major[j];
        r->minor_to_major[j] = i;
    }
    r->f.tile_count = (int)pick(seed, 0, MOST_TILES);
    for (int i = 0; i < r->f.tile_count; i++) pick_tile(seed, r, i, stars);
    r->f.tail_alignment = pick(seed, 0, 3) == 0 ? pick(seed, 0, 40) : 0;
    r->f.element_bits = pick(seed, 0, 3) == 0 ? pick(seed, 0, 40) : 0;
    r->f.memory_space = pick(seed, 0, 3) == 0 ? pick(seed, 0, 5) : 0;
    r->f.metadata_bytes = pick(seed, 0, 5) == 0 ? 1024 : 0;
    if (pick(seed, 0, 3) == 0) pick_splits(seed, r);
}

static const ts_shape *make(ts_arena *arena, ts_dtype dtype, const random_fields *r) {
    ts_error err = {0};
    const ts_shape *shape = ts_xla_shape(&err, arena, dtype, &r->f);
    if (shape == NULL) fail_msg("%s\n%s", err.message, err.excerpt);
    return shape;
}

/* White space or a comment before any of the single characters ()[]{}:,* and behind the end. */
static const char *loosen(uint64_t *seed, ts_arena *arena, const char *text) {
    static const char *const space[] = {" ", "\t", "\r\n", "/* [ */", "// {\n", "/***/"};
    ts_text out = ts_text_begin(arena);
    for (; *text != '\0'; text++) {
        bool single = strchr("()[]{}:,*", *text) != NULL && strncmp(text, "*/", 2) != 0 && text[-1] != '/';
        if (single && random_below(seed, 3) == 0) ts_text_add(&out, "%s", space[random_below(seed, 6)]);
        ts_text_add_char(&out, *text);
    }
    ts_text_add(&out, "%s", space[random_below(seed, 6)]);
    return out.bytes;
}

static bool same_fields(const ts_xla_layout *a, const ts_xla_layout *b) {
    bool same = a->rank == b->rank && a->tile_count == b->tile_count && a->split_count == b->split_count;
    same = same && a->element_bits == b->element_bits && a->memory_space == b->memory_space;
    same = same && a->metadata_bytes == b->metadata_bytes;
    same = same && (a->tail_alignment > 1 ? a->tail_alignment : 1) == b->tail_alignment;
    for (int i = 0; same && i < a->rank; i++)
        same = a->dims[i] == b->dims[i] && a->dynamic[i] == b->dynamic[i] &&
               a->minor_to_major[i] == b->minor_to_major[i];
    for (int i = 0; same && i < a->tile_count; i++)
        same = a->tiles[i].rank == b->tiles[i].rank &&
               memcmp(a->tiles[i].dims, b->tiles[i].dims, (size_t)a->tiles[i].rank * sizeof(int64_t)) == 0;
    for (int i = 0; same && i < a->split_count; i++) {
        const ts_xla_split *p = &a->splits[i], *q = &b->splits[i];
        same = p->dim == q->dim && p->count == q->count;
        for (int k = 0; same && k < p->count; k++) same = p->indices[k] == q->indices[k];
    }
    return same;
}

TEST(printing_and_parsing_is_the_identity) {
    uint64_t seed = 20;
    for (int i = 0, most = rounds(SHAPES, SANITIZED_SHAPES); i < most; i++) {
        ts_arena *arena = ts_arena_new();
        random_fields r;
        pick_fields(&seed, &r, true);
        if (r.f.rank > 0 && pick(&seed, 0, 9) == 0) {
            r.dims[0] = TS_XLA_UNBOUNDED;
            r.dynamic[0] = true;
        }
        ts_dtype dtype = (ts_dtype)random_below(&seed, TS_DTYPE_TOKEN);
        const ts_shape *shape = make(arena, dtype, &r);
        assert_true(same_fields(&r.f, shape->xla));
        assert_int_equal(shape->dtype, dtype);
        const char *text = ts_shape_text(arena, shape), *loose = loosen(&seed, arena, text);
        const ts_shape *again = read_shape(NULL, arena, loose);
        if (again == NULL) fail_msg("%s", loose);
        assert_string_equal(ts_shape_text(arena, again), text);
        ts_arena_free(arena);
    }
}

/* ShapeUtil::ArraySize in elements, without splits: its own arithmetic. */
static int64_t array_size(const random_fields *r, int64_t logical) {
    int64_t total = 1;
    if (r->f.tile_count == 0) return logical;
    const ts_xla_tile *tile = &r->tiles[0];
    for (int i = 0; i < tile->rank || i < r->f.rank; i++) {
        int64_t size = i < r->f.rank ? r->dims[r->minor_to_major[i]] : 1;
        total *= i < tile->rank ? ts_round_up(size, tile->dims[tile->rank - 1 - i]) : size;
    }
    return ts_round_up(total, r->f.tail_alignment > 1 ? r->f.tail_alignment : 1);
}

/* Every element and every slot of storage, against arrays that were padded, reshaped and transposed. */
TEST(agrees_with_the_oracle) {
    uint64_t seed = 3;
    int checked = 0, most = rounds(SHAPES, SANITIZED_SHAPES);
    for (int i = 0; i < most; i++) {
        ts_arena *arena = ts_arena_new();
        random_fields r;
        pick_fields(&seed, &r, i % 2 == 0);
        r.f.split_count = 0;
        xla_oracle_tile tiles[MOST_TILES];
        int64_t tile_dims[MOST_TILES][MOST_TILE_RANK];
        for (int t = 0; t < r.f.tile_count; t++) {
            tiles[t] = (xla_oracle_tile){r.tiles[t].rank, tile_dims[t]};
            for (int k = 0; k < r.tiles[t].rank; k++)
                tile_dims[t][k] =
                    r.tile_dims[t][k] == TS_XLA_COMBINE ? XLA_ORACLE_COMBINE : r.tile_dims[t][k];
        }
        xla_oracle oracle;
        if (xla_oracle_make(arena, r.f.rank, r.dims, r.minor_to_major, r.f.tile_count, tiles, ORACLE_LIMIT,
                            &oracle)) {
            const ts_shape *shape = make(arena, TS_DTYPE_U8, &r);
            int64_t index[MOST_RANK] = {0}, offset, align = r.f.tail_alignment > 1 ? r.f.tail_alignment : 1;
            assert_int_equal(ts_layout_padded_count(shape->layout), oracle.slot_count);
            assert_int_equal(shape->padded_elements, ts_round_up(oracle.slot_count, align));
            if (i % 2 == 1 && r.f.element_bits == 0)
                assert_int_equal(shape->bytes, array_size(&r, oracle.element_count));
            for (int64_t flat = 0; flat < oracle.element_count; flat++, next_index(r.f.rank, r.dims, index)) {
                ts_layout_forward(shape->layout, index, &offset);
                if (offset != oracle.offset[flat])
                    fail_msg("%s: element %d", ts_shape_text(arena, shape), (int)flat);
            }
            for (int64_t slot = 0; slot < oracle.slot_count && slot < 200; slot++) {
                ts_index_list found;
                assert_true(ts_layout_backward(NULL, arena, shape->layout, &slot, 2, &found));
                assert_int_equal(found.count, oracle.element[slot] >= 0);
                int64_t flat = 0;
                for (int k = 0; k < r.f.rank && found.count > 0; k++)
                    flat = flat * r.dims[k] + found.indices[k];
                if (found.count > 0) assert_int_equal(flat, oracle.element[slot]);
            }
            checked++;
        }
        ts_arena_free(arena);
    }
    assert_true(checked > most * 9 / 10);
}
