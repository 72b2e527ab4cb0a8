/* Shapes in every notation: what is read and how it is printed, the errors and their columns, and
 * translations. */
#include "tests/support/laws.h"
#include "tests/support/shapes.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "layout/notation/xla.h"

/* ---- Reading and printing ---- */

TEST(test_canonical) {
    static const struct {
        const char *text, *canonical;
    } rows[] = {
        {"f32[8,16] S[(8, 2,4,2):(4@lane,1@warp, lane, 'reg')]+R[2:4@warp] + 5 @ warp",
         "f32[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp"},
        {"f32[8,16] ( 8 2 4 2 / 4@lane 1@warp 1@lane 1@reg ) + [ 2 / 4@warp ] + 5@warp",
         "f32[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp"},
        {"f32[8] (8/1@a)+[2/8@a]+[3/16@a]", "f32[8] S[8:1@a] + R[(2,3):(8@a,16@a)]"},
        {"f32[8] 64 + S[8:4@laneid] + 1@laneid + O[2,3@z]", "f32[8] S[8:4@laneid] + 1@laneid + 66 + 3@z"},
        {"f32[24] S[2,3,4]", "f32[24] S[(2,3,4):(12,4,1)]"},
        {"f32[24] S[(24,):(1@m,)]", "f32[24] S[24:1]"},
        {"f32[] R[3:1] + 2", "f32[] R[3:1] + 2"},
        {"f32[] 3@m", "f32[] 3@m"},
        {"f32[]m+ 0", "f32[] 1@m"},
        {"f32[] -2@m", "f32[] -2@m"},
        {"f32[] 0@m", "f32[] 0@m"},
        {"f32[] 3@m + 2@p", "f32[] 3 + 2@p"},
        {"f32[] SW(1,1,1) o 3@m", "f32[] SW(1,1,1) o 3"},
        {"f32[8,64] SW ( 3,3,3, inner ) o S[512:1]", "f32[8,64] SW(3,3,3) o S[512:1]"},
        {"f32[64] SW(0,3,3,outer) o S[64:1] + 8", "f32[64] SW(0,3,3,outer) o S[64:1] + 8"},
        {"f32[14]lambda i:(i//4,te.AXIS_SEPARATOR,i%4,)S(1)", "f32[14] lambda i: [i // 4, SEP, i % 4] S(1)"},
        {"f32[4,4] lambda a,b: floordiv(a*4+(b),1)", "f32[4,4] lambda a, b: [(a * 4 + b) // 1]"},
        {"f32[8,8] ((_2,4),8) : ((1,16),2)", "f32[8,8] ((2,4),8):((1,16),2)"},
        {"f32[8,4] (8,4)", "f32[8,4] (8,4):(1,8)"},
        {"f32[8] 8:3 S(0)", "f32[8] 8:3"},
        {"f32[8] 8", "f32[8] 8:1"},
        {"f32[8] 8 @ x + S[8:1]", "f32[8] S[8:1] + 8@x"},
        {"f32[8,64] S<3,3,3> o (8,64):(64,1)", "f32[8,64] S<3,3,3> o 0 o (8,64):(64,1)"},
        {"s8[8,62,7,7] NCHW_VECT_C", "s8[8,62,7,7] NCHW4c"},
        {"f32[2,33,3,3] nChw16c S(1)", "f32[2,33,3,3] nChw16c S(1)"},
        {"f32[2,3,4] acb", "f32[2,3,4] acb"},
        {"s4[9] S[9:1]E(4)", "s4[9] S[9:1] E(4)"},
        {"pred[4,8] (4,8):(8,1) E ( 32 ) S ( 2 )", "pred[4,8] (4,8):(8,1) E(32) S(2)"},
        {"f32[14] lambda i: i E(32)", "f32[14] lambda i: [i]"},
        {"s4[8,62,7,7] NCHW4c E(4)", "s4[8,62,7,7] NCHW4c E(4)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_arena *arena = ts_arena_new();
        const ts_shape *shape = read_shape(&err, arena, rows[i].text);
        if (!shape) fail_msg("%s: %s", rows[i].text, err.message);
        assert_string_equal(ts_shape_text(arena, shape), rows[i].canonical);
        const ts_shape *again = read_shape(&err, arena, rows[i].canonical);
        assert_non_null(again);
        assert_string_equal(ts_shape_text(arena, again), rows[i].canonical);
        assert_int_equal(shape->padded_elements, again->padded_elements);
        assert_int_equal(shape->memory_space, again->memory_space);
        assert_int_equal(shape->element_bits, again->element_bits);
        ts_arena_free(arena);
    }
}

/* ---- What is printed is read as the same ---- */

/* Parts of layouts of scalars and of few elements: offsets and replicas, also without shards. '#' is a
 * number. */
static const char *const shapes[] = {"f32[]", "f32[1]", "s4[8]", "bf16[2,4]", "f32[1,1]", "pred[0]"};
static const char *const axe_parts[] = {
    "#",        "#@m",    "-#@m", "#@p",      "R[#:#]",    "R[(#,#):(#,#@q)]", "[# / #@w]",        "S[1:#]",
    "S[8:#@a]", "S[#,#]", "O[#]", "O[#,#@z]", "(8 / 1@r)", "(1 / #)",          "S[(2,4):(#,-#@b)]"};
static const char *const other_layouts[] = {"#:#",
                                            "(#,#):(#,#)",
                                            "#",
                                            "1:0",
                                            "(1,(1,1)):(#,(#,#))",
                                            "S<1,1,1> o # o #:#",
                                            "S<0,0,0> o 8:1",
                                            "lambda : [#]",
                                            "lambda i: [#]",
                                            "lambda i, j: [#, SEP, i]",
                                            "lambda i: [i + #]",
                                            "{}",
                                            "{0}",
                                            "{:T(#)}",
                                            "{:S(#)}",
                                            "{0:T(#)S(#)}",
                                            "{1,0:T(#,#)}",
                                            "",
                                            "a",
                                            "NCHW"};
static const char *const ends[] = {"", "", "", " S(1)", " E(32)", "E(8)", "S(0)"};

#define PICK(seed, list) (list)[random_below((seed), sizeof(list) / sizeof *(list))]

static void add_part(ts_text *out, uint64_t *seed, const char *part) {
    for (; *part; part++)
        if (*part == '#')
            ts_text_add(out, "%d", (int)random_below(seed, 10));
        else
            ts_text_add_char(out, *part);
}

enum { ROUNDS = 20000, SANITIZED_ROUNDS = 2000 };

static const char *random_text(uint64_t *seed, ts_arena *arena) {
    ts_text out = ts_text_begin(arena);
    ts_text_add(&out, "%s ", PICK(seed, shapes));
    if (random_below(seed, 3) == 0) {
        out.length -= random_below(seed, 2); /* without the space */
        add_part(&out, seed, PICK(seed, other_layouts));
    } else {
        if (random_below(seed, 8) == 0) ts_text_add(&out, "SW(1,1,1) o ");
        for (uint32_t i = 0, count = 1 + random_below(seed, 4); i < count; i++) {
            ts_text_add(&out, "%s", i > 0 ? " + " : "");
            add_part(&out, seed, PICK(seed, axe_parts));
        }
    }
    ts_text_add(&out, "%s", PICK(seed, ends));
    return out.bytes;
}

TEST(test_printed_is_read) {
    uint64_t seed = 1;
    int read = 0, most = rounds(ROUNDS, SANITIZED_ROUNDS);
    for (int i = 0; i < most; i++) {
        ts_error err = {0};
        ts_arena *arena = ts_arena_new();
        const char *text = random_text(&seed, arena);
        const ts_shape *shape = read_shape(NULL, arena, text);
        if (shape) {
            const char *printed = ts_shape_text(arena, shape);
            const ts_shape *again = read_shape(&err, arena, printed);
            if (!again) fail_msg("'%s' prints '%s': %s", text, printed, err.message);
            if (strcmp(ts_shape_text(arena, again), printed) != 0)
                fail_msg("'%s' prints '%s' and then '%s'", text, printed, ts_shape_text(arena, again));
            assert_int_equal(again->dtype, shape->dtype);
            assert_int_equal(again->padded_elements, shape->padded_elements);
            assert_int_equal(again->bytes, shape->bytes);
            assert_int_equal(again->storage_bytes, shape->storage_bytes);
            assert_int_equal(again->memory_space, shape->memory_space);
            assert_int_equal(again->element_bits, shape->element_bits);
            read++;
        }
        ts_arena_free(arena);
    }
    assert_true(read > most / 10);
}

TEST(test_sizes) {
    static const struct {
        const char *text;
        int64_t places, bytes, unpadded;
    } rows[] = {
        {"f32[8] S[8:2]", 15, 60, 32},
        {"f32[8] S[8:1] + 64", 72, 288, 32},
        {"f32[8] S[8:-1]", 8, 32, 32},
        {"f32[8] S[8:0]", 1, 4, 32},
        {"f32[4,4] S[(4,4):(1@P,2@F)]", 28, 112, 64},
        {"s4[3] S[3:1]", 3, 3, 3},
        {"f32[14] lambda i: [i//4, i%4]", 16, 64, 56},
        {"f32[7] lambda i: [2*i]", 14, 56, 28},
        {"f32[8] lambda i: [i^1]", 8, 32, 32},
        {"s8[1,5,2,2] NCHW4c", 32, 32, 20},
        {"f32[4,2] (4,2):(1,8)", 12, 48, 32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_shape *shape = read_shape(NULL, arena, rows[i].text);
        assert_non_null(shape);
        if (shape->padded_elements != rows[i].places || shape->bytes != rows[i].bytes ||
            shape->storage_bytes != rows[i].bytes || shape->unpadded_bytes != rows[i].unpadded)
            fail_msg("%s: %lld places, %lld bytes, %lld unpadded", rows[i].text,
                     (long long)shape->padded_elements, (long long)shape->bytes,
                     (long long)shape->unpadded_bytes);
        ts_arena_free(arena);
    }
}

TEST(test_errors) {
    static const struct {
        const char *text;
        int column;
        const char *message;
    } rows[] = {
        {"f32[8] S[8:1] + S[8:1]", 17, "a second S[] or ( / ): a layout has one list of shards"},
        {"f32[8] S[8:1] + R[2:1] + R[2:2]", 26, "a second R[]: write all replicas in one"},
        {"f32[8] ( 8 / 1 ) + S[8:1]", 20, "a second S[] or ( / ): a layout has one list of shards"},
        {"f32[8] S[-4:1]", 10, "found -4, expected an extent of at least 1"},
        {"f32[8] S[0:1]", 10, "found 0, expected an extent of at least 1"},
        {"f32[8] S[8:1] +", 16,
         "found the end, expected a term: S[..], R[..], ( .. / .. ), [ .. / .. ] or an offset"},
        {"f32[8] S[8:1] + %", 17,
         "found '%', expected a term: S[..], R[..], ( .. / .. ), [ .. / .. ] or an offset"},
        {"f32[8] S[8", 11, "found the end, expected ',', ':' or ']'"},
        {"f32[8] S[8:", 12, "found the end, expected a stride: a number, a number@axis or an axis"},
        {"f32[8] S[8:1", 13, "found the end, expected ']'"},
        {"f32[8] S[(8:1]", 12, "found ':', expected ',' or ')'"},
        {"f32[8] S[(8,2):1]", 17, "found ']', expected ',' and another stride: one for each extent"},
        {"f32[8] S[(8,2):(1)]", 18, "found ')', expected ',' and another stride: one for each extent"},
        {"f32[8] S[(4,2):(2,1,1)]", 21, "found another stride, expected one for each extent"},
        {"f32[8] S[8:1,2]", 14, "found another stride, expected one for each extent"},
        {"f32[8] S[8:1@]", 14, "found ']', expected the name of an axis"},
        {"f32[8] S[8:1@1]", 14, "found '1', expected the name of an axis"},
        {"f32[8] S[8:\"m]", 14, "found ']', expected '\"'"},
        {"f32[8] S[:1]", 10, "found ':', expected an extent of at least 1"},
        {"f32[8] S[8:+1]", 12, "found '+', expected a stride: a number, a number@axis or an axis"},
        {"f32[8] R[2]", 11, "found ']', expected ':' and the strides of the replicas"},
        {"f32[8] S[8:1] + R[2:1", 22, "found the end, expected ']'"},
        {"f32[8] S[8:1] + O[1", 20, "found the end, expected ',' or ']'"},
        {"f32[8] S[8:1] + O[1;2]", 20, "found ';', expected ',' or ']'"},
        {"f32[8] ( 8 2 / 1 )", 18, "found ')', expected a stride: a number, a number@axis or an axis"},
        {"f32[8] ( 8 / 1 2 )", 16, "found '2', expected ')': a stride for each extent"},
        {"f32[8] ( / 1 )", 10, "found '/', expected an extent of at least 1"},
        {"f32[8] [ 2 / 1", 15, "found the end, expected ']': a stride for each extent"},
        {"f32[8] SW(3,3) o S[8:1]", 14, "found ')', expected ','"},
        {"f32[8] SW(3,3,2) o S[8:1]", 15, "the shift is less than the bits that change"},
        {"f32[8] SW(-1,3,3) o S[8:1]", 11, "found -1, expected the low bits that stay from 0 to 62"},
        {"f32[8] SW(40,20,20) o S[8:1]", 17, "the swizzle needs more than 62 bits"},
        {"f32[8] SW(3,3,3,middle) o S[8:1]", 17, "found 'middle', expected 'inner' or 'outer'"},
        {"f32[8] SW(3,3,3) S[8:1]", 18, "found 'S', expected 'o' and the layout that is swizzled"},
        {"f32[8] SW(3,3,3) o S[8:1@F]", 8, "a swizzle changes the axis m, expected no other axis"},
        {"f32[8] SW(3,3,3", 16, "found the end, expected ',' or ')'"},
        {"f32[8] S[99999999999999999999:1]", 10, "99999999999999999999 does not fit in 64 bits"},
        {"f32[8] S[(4294967296,4294967296):(1,1)]", 8,
         "the layout's extents and strides do not fit in 64 bits"},
        {"f32[8] S[4294967296,4294967296]", 10, "the product of the extents does not fit in 64 bits"},
        {"f32[8] S[8:9223372036854775807]", 8, "the layout's extents and strides do not fit in 64 bits"},
        {"f32[8] S[8:1] + 9223372036854775807", 8, "the layout's extents and strides do not fit in 64 bits"},
        {"f32[8] S[8:1] + 9223372036854775807 + 1", 39, "the sum of the offsets does not fit in 64 bits"},
        {"f32[8] S[16:1]", 8, "the shape has 8 elements, S[16:1] has 16"},
        {"f32[8] S[8:1] S[8:1]", 15, "found 'S', expected the end of the shape"},
        {"f32[8] S[8:1] 5", 15, "found '5', expected the end of the shape"},
        {"f32[8] S[8:1] S(", 17, "found the end, expected a memory space"},
        {"f32[8] S[8:1] S(-1)", 17, "found -1, expected a memory space of 0 to 2147483647"},
        {"f32[8] S[8:1] S(1", 18, "found the end, expected ')'"},
        {"f32[]6", 6, "the layout has 1 modes, the array 0 dimensions"},
        {"f32[8,128]T(8,128)", 11,
         "found 'T', expected the end of the shape; a layout is '{' and a number or ':', as in "
         "{1,0:T(8,128)}"},
        {"float32[8]", 1, "unknown element type 'float32'; did you mean 'f32'?"},
        {"bfloat16[8]", 1, "unknown element type 'bfloat16'; did you mean 'bf16'?"},
        {"uint4[8]", 1, "unknown element type 'uint4'; did you mean 'u4'?"},
        {"i8[8]", 1, "unknown element type 'i8'; did you mean 's8'?"},
        {"bool[8]", 1, "unknown element type 'bool'; did you mean 'pred'?"},
        {"float8_e4m3fn[8]", 1, "unknown element type 'float8_e4m3fn'; did you mean 'f8e4m3fn'?"},
        {"f32[8] S[8:1] E(0)", 17, "found 0, expected a number of bits of 1 to 2147483647"},
        {"f32[8] S[8:1] S(1) E(8)", 20, "found 'E', expected the end of the shape"},
        {"f32[8] S[8:1] S(1) x", 20, "found 'x', expected the end of the shape"},
        {"f32[8] lambda", 14, "found the end, expected the name of an index"},
        {"f32[8] lambd a: [a]", 8, "found 'lambd', expected the end of the shape"},
        {"f32[8] S W(1,1,1) o 8:1", 8, "found 'S', expected the end of the shape"},
        {"f32[8] lambda i", 16, "found the end, expected ',' or ':'"},
        {"f32[8] lambda i: ", 18, "found the end, expected a number, an index, '-' or '('"},
        {"f32[8] lambda *i: [i]", 15, "found '*', expected the name of an index"},
        {"f32[8] lambda i, i: [i]", 18, "an index of this name is there already"},
        {"f32[8] lambda i j: [i]", 17, "found 'j', expected ',' or ':'"},
        {"f32[8] lambda i: [i", 20, "found the end, expected an operator, ',' or ']'"},
        {"f32[8] lambda i: [i,", 21, "found the end, expected a number, an index, '-' or '('"},
        {"f32[8] lambda i: [i)", 20, "found ')', expected an operator, ',' or ']'"},
        {"f32[8] lambda i: (i, 1", 23, "found the end, expected an operator, ',' or ')'"},
        {"f32[8] lambda i: [k]", 19,
         "unknown name 'k', expected an index of the map, floordiv, floormod, min or max"},
        {"f32[8] lambda idx: [idy]", 21,
         "unknown name 'idy', expected an index of the map, floordiv, floormod, min or max; did you mean "
         "'idx'?"},
        {"f32[8] lambda i: [abs(i)]", 19,
         "unknown name 'abs', expected an index of the map, floordiv, floormod, min or max"},
        {"f32[8] lambda i: [i/4]", 20, "found '/', expected '//': indices are divided with floor"},
        {"f32[8] lambda i: [i//0]", 22, "division by 0"},
        {"f32[8] lambda i: [i % 0]", 23, "division by 0"},
        {"f32[8] lambda i: [i +]", 22, "found ']', expected a number, an index, '-' or '('"},
        {"f32[8] lambda i: [(i]", 21, "found ']', expected an operator or ')'"},
        {"f32[8] lambda i: [i < 4]", 21, "found '<', expected an operator, ',' or ']'"},
        {"f32[8] lambda i: [min(i)]", 24, "found ')', expected ','"},
        {"f32[8] lambda i: [floordiv(i, 0)]", 32, "division by 0"},
        {"f32[8] lambda i: [SEP]", 22, "the map has no index, only separators"},
        {"f32[8] lambda i: []", 19, "found ']', expected a number, an index, '-' or '('"},
        {"f32[8] lambda i: [i ** 2]", 22, "found '*', expected a number, an index, '-' or '('"},
        {"f32[8] lambda i: [99999999999999999999]", 19, "99999999999999999999 does not fit in 64 bits"},
        {"f32[8] lambda i, j: [i, j]", 8, "the map has 2 logical indices, the array 1 dimensions"},
        {"f32[8] lambda i: [i+5]", 8, "transformed index 0 begins at 5, expected 0"},
        {"f32[8] lambda i: [7-i]", 8, "transformed index 0 runs backwards, expected it to begin at 0"},
        {"f32[8] lambda i: [i//2]", 8, "the map is not injective: it puts (0) and (1) in one place"},
        {"f32[9000] lambda i: [i ^ i // 8191]", 11,
         "the map is not injective: it puts (8190) and (8191) in one place"},
        {"f32[8,8] lambda i, j: [i+j]", 10, "the map is not injective: it puts (0,1) and (1,0) in one place"},
        {"f32[8] lambda i: [i*9223372036854775807]", 8,
         "transformed index 0 has no range that fits in 64 bits"},
        {"f32[8] lambda i: [8//i]", 8, "transformed index 0 has no range that fits in 64 bits"},
        {"f32[8] lambda i: [i << i*9]", 8, "transformed index 0 has no range that fits in 64 bits"},
        {"f32[8] lambda i: [i] x", 22, "found 'x', expected the end of the shape"},
        {"f32[8] NCHW", 8, "the layout name has 4 dimensions, the array 1"},
        {"f32[8] NCXW", 8,
         "unknown layout name: its letters are not all of N C D H W (data), G O I D H W or G K C T R S "
         "(filters), or the first of the alphabet"},
        {"f32[8] NCHW4x", 13, "a block of 'x', expected a capital X before it"},
        {"f32[8] NN", 9, "a second 'N'; a block of it has a size before it"},
        {"f32[8] N0n", 9, "a block of 0, expected at least 1"},
        {"f32[8] nCHW4n", 13, "a block of 'n', expected a capital N before it"},
        {"f32[8] NCHW_VECT_Q", 18, "the vector is of no dimension of the name"},
        {"f32[8] NCHW_VECT_C", 12, "a vector is 32 bits of several elements; these have 32 bits each"},
        {"f32[8] NCHW_", 12, "expected a letter, a block, _VECT_C or the end of the name"},
        {"f32[8] N4", 10, "expected the small letter of the dimension that is blocked"},
        {"f32[8] x", 8, "found 'x', expected the end of the shape"},
        {"f32[8] in", 8, "found 'in', expected the end of the shape"},
        {"f32[8] (8:1", 10, "found ':', expected ',' or ')'"},
        {"f32[8] (8,2):(1,1)", 8, "the layout has 2 modes, the array 1 dimensions"},
        {"f32[8] (4):(1)", 8, "mode 0 has size 4, dimension 0 of the array is 8"},
        {"f32[8] 8:", 10, "found the end, expected a stride for each extent of the shape"},
        {"f32[8] 8:x", 10, "found 'x', expected a stride for each extent of the shape"},
        {"f32[8] S<3,3> o 8:1", 13, "found '>', expected ','"},
        {"f32[8] S<3,3,2> o 8:1", 14, "a swizzle's |S| must be at least its B"},
        {"f32[8] _8:1 o", 13, "found 'o', expected the end of the shape"},
        {"f32[8,8] ((2,4),8):((1,16),2,3)", 29,
         "found ',', expected ')': a stride for each extent of the shape"},
        {"f32[<=8] S[8:1]", 10, "only XLA's layouts are of bounded dimensions ('<=')"},
        {"f32[0] S[1:1]", 8, "the shape has a dimension of 0, expected at least 1"},
        {"f32[0] lambda i: [i]", 8, "dimension 0 is 0, expected at least 1"},
        {"f32[8]{0} S[8:1]", 11, "found 'S', expected the end of the shape"},
        {"token[] S[1:1]", 9, "found 'S', expected the end of the shape"},
        {"f32[?] S[8:1]", 8, "found 'S', expected the end of the shape"},
        {"b(f32[8]) S[8:1]", 11, "found 'S', expected the end of the shape"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_arena *arena = ts_arena_new();
        const ts_shape *shape = read_shape(&err, arena, rows[i].text);
        if (shape || err.line != 1 || err.column != rows[i].column ||
            strcmp(err.message, rows[i].message) != 0)
            fail_msg("%s: %d: %s", rows[i].text, err.column, shape ? "accepted" : err.message);
        ts_arena_free(arena);
    }
}

/* ---- Translations ---- */

TEST(test_translations) {
    static const struct {
        const char *text, *notation, *expected; /* a shape, or the error */
    } rows[] = {
        {"f32[16,256]{1,0:T(8,128)}", "xla", "f32[16,256]{1,0:T(8,128)}"},
        {"f32[16,256]{1,0:T(8,128)}", "axe", "f32[16,256] S[(2,8,2,128):(2048,128,1024,1)]"},
        {"f32[16,256]{1,0:T(8,128)}", "tvm", "f32[16,256] lambda i, j: [i // 8, j // 128, i % 8, j % 128]"},
        {"f32[16,256]{1,0:T(8,128)}", "cute", "f32[16,256] ((8,2),(128,2)):((128,2048),(1,1024))"},
        {"bf16[16,256]{1,0:T(8,128)(2,1)}", "xla", "bf16[16,256]{1,0:T(8,128)(2,1)}"},
        {"bf16[16,256]{1,0:T(8,128)(2,1)}", "axe", "bf16[16,256] S[(2,4,2,2,128):(2048,256,1,1024,2)]"},
        {"bf16[16,256]{1,0:T(8,128)(2,1)}", "tvm",
         "bf16[16,256] lambda i, j: [i // 8, j // 128, i % 8 // 2, j % 128, i % 2]"},
        {"bf16[16,256]{1,0:T(8,128)(2,1)}", "cute", "bf16[16,256] ((2,4,2),(128,2)):((1,256,2048),(2,1024))"},
        {"f32[20,300]{1,0:T(8,128)}", "xla", "f32[20,300]{1,0:T(8,128)}"},
        {"f32[20,300]{1,0:T(8,128)}", "axe",
         "this layout cannot be written as Axe: dimension 0 is padded from 20 to 24; over the padded dims "
         "[24,384] it is S[(3,8,3,128):(3072,128,1024,1)]"},
        {"f32[20,300]{1,0:T(8,128)}", "tvm", "f32[20,300] lambda i, j: [i // 8, j // 128, i % 8, j % 128]"},
        {"f32[20,300]{1,0:T(8,128)}", "cute",
         "this layout cannot be written as CuTe: dimension 0 is padded from 20 to 24; over the padded dims "
         "[24,384] it is S[(3,8,3,128):(3072,128,1024,1)]"},
        {"f32[4,128]{1,0:T(8,128)}", "xla", "f32[4,128]{1,0:T(8,128)}"},
        {"f32[4,128]{1,0:T(8,128)}", "axe",
         "this layout cannot be written as Axe: dimension 0 is padded from 4 to 8; over the padded dims "
         "[8,128] it is S[1024:1]"},
        {"f32[4,128]{1,0:T(8,128)}", "tvm", "f32[4,128] lambda i, j: [i % 8, j % 128]"},
        {"f32[4,128]{1,0:T(8,128)}", "cute",
         "this layout cannot be written as CuTe: dimension 0 is padded from 4 to 8; over the padded dims "
         "[8,128] it is S[1024:1]"},
        {"f32[3,100] lambda i, j: [i//8*1024 + i%8*128 + j]", "axe", "f32[3,100] S[(3,100):(128,1)]"},
        {"f32[3,4] lambda i, j: [i//8*1024 + i%8*128, SEP, i//8 + j]", "axe",
         "f32[3,4] S[(3,4):(128@p0,1@p1)]"},
        {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "xla", "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}"},
        {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "axe",
         "this layout cannot be written as Axe: dimensions 3 to 4 are merged and padded from 110 to 111"},
        {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "tvm",
         "f32[2,7,8,11,10] lambda i0, i1, i2, i3, i4: [((i0 * 7 + i1) * 8 + i2) // 2, (i3 * 10 + i4) // 3, "
         "((i0 * 7 + i1) * 8 + i2) % 2, (i3 * 10 + i4) % 3]"},
        {"f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", "cute",
         "this layout cannot be written as CuTe: dimensions 3 to 4 are merged and padded from 110 to 111"},
        {"f32[8,8] S[(8,8):(16,1)]", "xla",
         "this layout cannot be written as XLA: XLA's arrays have no gaps: dimension 0 has a stride of 16, "
         "expected 8"},
        {"f32[8,8] S[(8,8):(16,1)]", "axe", "f32[8,8] S[(8,8):(16,1)]"},
        {"f32[8,8] S[(8,8):(16,1)]", "tvm", "f32[8,8] lambda i, j: [i * 16 + j]"},
        {"f32[8,8] S[(8,8):(16,1)]", "cute", "f32[8,8] (8,8):(16,1)"},
        {"f32[8,64] SW(3,3,3) o S[512:1]", "xla",
         "this layout cannot be written as XLA: XLA has no swizzles"},
        {"f32[8,64] SW(3,3,3) o S[512:1]", "axe", "f32[8,64] SW(3,3,3) o S[512:1]"},
        {"f32[8,64] SW(3,3,3) o S[512:1]", "tvm",
         "f32[8,64] lambda i, j: [i * 64 + j ^ (i * 64 + j & 448) >> 3]"},
        {"f32[8,64] SW(3,3,3) o S[512:1]", "cute", "f32[8,64] S<3,3,3> o 0 o (8,64):(64,1)"},
        {"f32[8,64] S<3,3,3> o 8 o (8,64):(64,1)", "xla",
         "this layout cannot be written as XLA: XLA has no swizzles"},
        {"f32[8,64] S<3,3,3> o 8 o (8,64):(64,1)", "axe", "f32[8,64] SW(3,3,3) o S[512:1] + 8"},
        {"f32[8,64] S<3,3,3> o 8 o (8,64):(64,1)", "tvm",
         "this layout cannot be written as an index map: an index map begins at 0, this layout at 8"},
        {"f32[8,64] S<3,3,3> o 8 o (8,64):(64,1)", "cute", "f32[8,64] S<3,3,3> o 8 o (8,64):(64,1)"},
        {"f32[16] S[16:1] + R[2:16]", "xla", "this layout cannot be written as XLA: XLA has no replicas"},
        {"f32[16] S[16:1] + R[2:16]", "axe", "f32[16] S[16:1] + R[2:16]"},
        {"f32[16] S[16:1] + R[2:16]", "tvm",
         "this layout cannot be written as an index map: an index map has no replicas"},
        {"f32[16] S[16:1] + R[2:16]", "cute", "this layout cannot be written as CuTe: CuTe has no replicas"},
        {"f32[14] lambda i: [(i+1)//4, (i+1)%4]", "xla",
         "this layout cannot be written as XLA: its cut points do not divide one another, or an index is "
         "shifted, or dimensions are merged out of order"},
        {"f32[14] lambda i: [(i+1)//4, (i+1)%4]", "axe",
         "this layout cannot be written as Axe: its cut points do not divide one another, or an index is "
         "shifted, or dimensions are merged out of order"},
        {"f32[14] lambda i: [(i+1)//4, (i+1)%4]", "tvm", "f32[14] lambda i: [(i + 1) // 4, (i + 1) % 4]"},
        {"f32[14] lambda i: [(i+1)//4, (i+1)%4]", "cute",
         "this layout cannot be written as CuTe: its cut points do not divide one another, or an index is "
         "shifted, or dimensions are merged out of order"},
        {"f32[8,8] S[(8,8):(8@P,1@F)]", "xla",
         "this layout cannot be written as XLA: XLA's arrays lie in memory, on the one axis m"},
        {"f32[8,8] S[(8,8):(8@P,1@F)]", "axe", "f32[8,8] S[(8,8):(8@P,1@F)]"},
        {"f32[8,8] S[(8,8):(8@P,1@F)]", "tvm",
         "this layout cannot be written as an index map: an index map's axes are m, or p0, p1 .. in order; "
         "this layout places on 'F'"},
        {"f32[8,8] S[(8,8):(8@P,1@F)]", "cute",
         "this layout cannot be written as CuTe: CuTe has one axis of integers, the layout places on 'P'"},
        {"f32[8,8] lambda i, j: [i, i ^ j]", "xla",
         "this layout cannot be written as XLA: the map is known only as a function"},
        {"f32[8,8] lambda i, j: [i, i ^ j]", "axe",
         "this layout cannot be written as Axe: the map is not a sum of digits of the index"},
        {"f32[8,8] lambda i, j: [i, i ^ j]", "tvm", "f32[8,8] lambda i, j: [i, i ^ j]"},
        {"f32[8,8] lambda i, j: [i, i ^ j]", "cute",
         "this layout cannot be written as CuTe: the map is not a sum of digits of the index"},
        {"s8[8,64,7,7] NCHW4c", "xla", "s8[8,64,7,7]{3,2,1,0:T(4,1,1)}"},
        {"s8[8,64,7,7] NCHW4c", "axe", "s8[8,64,7,7] S[(128,4,49):(196,1,4)]"},
        {"s8[8,64,7,7] NCHW4c", "tvm", "s8[8,64,7,7] lambda i, j, k, l: [i, j // 4, k, l, j % 4]"},
        {"s8[8,64,7,7] NCHW4c", "cute", "s8[8,64,7,7] (8,(4,16),7,7):(3136,(1,196),28,4)"},
        {"u8[64,512]{1,0:T(8,128)(4,1)S(1)}", "xla", "u8[64,512]{1,0:T(8,128)(4,1)S(1)}"},
        {"u8[64,512]{1,0:T(8,128)(4,1)S(1)}", "axe", "u8[64,512] S[(8,2,4,4,128):(4096,512,1,1024,4)] S(1)"},
        {"u8[64,512]{1,0:T(8,128)(4,1)S(1)}", "tvm",
         "u8[64,512] lambda i, j: [i // 8, j // 128, i % 8 // 4, j % 128, i % 4] S(1)"},
        {"u8[64,512]{1,0:T(8,128)(4,1)S(1)}", "cute",
         "u8[64,512] ((4,2,8),(128,4)):((1,512,4096),(4,1024)) S(1)"},
        {"f32[8,4] S[(2,2,8):(16,1,2)]", "xla", "f32[8,4]{0,1:T(2)(4,2,1)}"},
        {"f32[8,4] S[(2,2,8):(16,1,2)]", "axe", "f32[8,4] S[(2,2,8):(16,1,2)]"},
        {"f32[8,4] S[(2,2,8):(16,1,2)]", "tvm", "f32[8,4] lambda i, j: [i // 4, i % 2, j, i // 2 % 2]"},
        {"f32[8,4] S[(2,2,8):(16,1,2)]", "cute", "f32[8,4] ((2,2,2),4):((8,1,16),2)"},
        {"s4[4,8]{1,0:E(4)S(1)}", "axe", "s4[4,8] S[32:1] E(4) S(1)"},
        {"s4[4,8] (4,8):(8,1) E(4)", "xla", "s4[4,8]{1,0:E(4)}"},
        {"pred[4,8] (4,8):(8,1)", "xla", "pred[4,8]{1,0}"},
        {"pred[4,8]{1,0:E(1)}", "cute", "pred[4,8] (4,8):(8,1) E(1)"},
        {"s8[5,16]{0,1:T(3,2,4)}", "tvm",
         "s8[5,16] lambda i, j: [j // 2 * 48 + i // 4 * 24 + j % 2 * 4 + i % 4]"},
        {"f32[4,4] S[16:-1] + 15", "xla",
         "this layout cannot be written as XLA: XLA's arrays begin at 0, this layout at 15"},
        {"f32[4,4] S[16:-1] + 15", "axe", "f32[4,4] S[16:-1] + 15"},
        {"f32[4,4] S[16:-1] + 15", "tvm",
         "this layout cannot be written as an index map: an index map begins at 0, this layout at 15"},
        {"f32[4,4] S[16:-1] + 15", "cute",
         "this layout cannot be written as CuTe: a CuTe layout begins at 0, this one at 15"},
        {"f32[8]", "cuda", "unknown notation 'cuda', expected xla, axe, tvm or cute; did you mean 'cute'?"},
        {"f32[8]", "cuts", "unknown notation 'cuts', expected xla, axe, tvm or cute; did you mean 'cute'?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_arena *arena = ts_arena_new();
        const ts_shape *shape = read_shape(&err, arena, rows[i].text);
        assert_non_null(shape);
        const ts_shape *other = ts_shape_translate(&err, arena, shape, rows[i].notation);
        assert_string_equal(other ? ts_shape_text(arena, other) : err.message, rows[i].expected);
        ts_arena_free(arena);
    }
}

/* ---- Laws ---- */

static const uint64_t first_seed = 20260904;

static int below(trial *t, int n) { return (int)random_below(&t->seed, (uint32_t)n); }

static bool same_map(ts_arena *arena, const ts_shape *a, const ts_shape *b) {
    ts_layout_comparison found;
    return ts_layout_compare(NULL, arena, a->layout, b->layout, 1 << 20, &found) && found.equal;
}

static void random_xla(trial *t, char *text) {
    int rank = 1 + below(t, 3), order[3] = {0, 1, 2};
    int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 20};
    for (int i = rank - 1; i > 0; i--) {
        int j = below(t, i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    strcpy(text, "f32[");
    for (int i = 0; i < rank; i++)
        sprintf(text + strlen(text), "%s%d", i ? "," : "", (int)sizes[below(t, 9)]);
    strcat(text, "]{");
    for (int i = 0; i < rank; i++) sprintf(text + strlen(text), "%s%d", i ? "," : "", order[i]);
    for (int tiles = below(t, 3), i = 0; i < tiles; i++) {
        int dims = 1 + below(t, rank);
        strcat(text, i ? "(" : ":T(");
        for (int d = 0; d < dims; d++) sprintf(text + strlen(text), "%s%d", d ? "," : "", 1 << below(t, 4));
        strcat(text, ")");
    }
    strcat(text, "}");
}

/* A name of random blocks, which have the meaning that this formula gives them. */
typedef struct {
    int rank, count;
    int dim[8];
    int64_t block[8];
    char text[64];
} name;

static void random_name(trial *t, int rank, name *n) {
    static const char letters[] = "NCHW";
    int order[4] = {0, 1, 2, 3};
    *n = (name){.rank = rank};
    for (int i = rank - 1; i > 0; i--) {
        int j = below(t, i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (int i = 0; i < rank; i++) {
        n->dim[n->count++] = order[i];
        sprintf(n->text + strlen(n->text), "%c", letters[order[i]]);
    }
    for (int blocks = below(t, 4); blocks > 0; blocks--) {
        n->dim[n->count] = below(t, rank);
        n->block[n->count] = 2 + below(t, 3);
        sprintf(n->text + strlen(n->text), "%d%c", (int)n->block[n->count],
                letters[n->dim[n->count]] + 'a' - 'A');
        n->count++;
    }
}

/* The blocks of a dim from item `from` on. */
static int64_t blocks_of(const name *n, int dim, int from) {
    int64_t product = 1;
    for (int i = from; i < n->count; i++)
        if (n->dim[i] == dim && n->block[i]) product *= n->block[i];
    return product;
}

static int64_t offset_of(const name *n, const int64_t *dims, const int64_t *index) {
    int64_t offset = 0;
    for (int i = 0; i < n->count; i++) {
        int dim = n->dim[i];
        int64_t whole = blocks_of(n, dim, 0), rest = blocks_of(n, dim, i + 1);
        int64_t extent = n->block[i] ? n->block[i] : (dims[dim] + whole - 1) / whole;
        int64_t value = n->block[i] ? index[dim] / rest % n->block[i] : index[dim] / whole;
        offset = offset * extent + value;
    }
    return offset;
}

static void law_names(trial *t) {
    name n;
    char text[128];
    int64_t dims[4], index[4] = {0}, offset;
    int rank = 1 + below(t, 4);
    random_name(t, rank, &n);
    strcpy(text, "f32[");
    for (int i = 0; i < rank; i++)
        sprintf(text + strlen(text), "%s%d", i ? "," : "", (int)(dims[i] = 1 + below(t, 5)));
    sprintf(text + strlen(text), "] %s", n.text);
    const ts_shape *shape = read_shape(NULL, t->arena, text);
    if (!shape) fail_msg("seed %llu, round %d: %s", (unsigned long long)first_seed, t->round, text);
    do {
        ts_layout_forward(shape->layout, index, &offset);
        if (offset != offset_of(&n, dims, index))
            fail_msg("seed %llu, round %d: %s: %lld", (unsigned long long)first_seed, t->round, text,
                     (long long)offset);
    } while (next_index(rank, dims, index));
}

/* Whatever can be written in another notation is the same map there, and back. */
static void law_translated(trial *t) {
    static const char *const notations[] = {"xla", "axe", "tvm", "cute"};
    char text[256];
    name n;
    if (below(t, 4))
        random_xla(t, text);
    else {
        random_name(t, 4, &n);
        snprintf(text, sizeof text, "f32[%d,%d,%d,%d] %s", 1 + below(t, 3), 1 + below(t, 9), 1 + below(t, 4),
                 1 + below(t, 4), n.text);
    }
    const ts_shape *shape = read_shape(NULL, t->arena, text);
    assert_non_null(shape);
    for (int i = 0; i < 4; i++) {
        ts_error err = {0};
        const ts_shape *other = ts_shape_translate(&err, t->arena, shape, notations[i]);
        bool always = (i == 2 || (i == 0 && shape->xla)); /* every such layout is an index map */
        if (!other && always)
            fail_msg("seed %llu, round %d: %s as %s: %s", (unsigned long long)first_seed, t->round, text,
                     notations[i], err.message);
        if (!other) continue;
        t->found++;
        const ts_shape *back = i == 0 ? other : ts_shape_translate(NULL, t->arena, other, "xla");
        if (!same_map(t->arena, shape, other) || (back && !same_map(t->arena, shape, back)))
            fail_msg("seed %llu, round %d: %s is not %s", (unsigned long long)first_seed, t->round, text,
                     ts_shape_text(t->arena, other));
    }
}

LAW(names, 0)
LAW(translated, 0)
