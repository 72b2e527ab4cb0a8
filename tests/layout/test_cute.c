/* CuTe layouts: published and reference vectors, exact results, exact error texts. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/algebra.h"
#include "tests/support/test.h"

/* The printed result, or the first line of the error as the user sees it. */
static void evaluate(ts_arena *arena, const char *op, const char *a, const char *b, char *result,
                     size_t bytes) {
    ts_error err = {0};
    ts_text text, out;
    text = ts_text_begin(arena);
    out = ts_text_begin(arena);
    algebra_cute_text(&text, op, a, b);
    if (algebra_run(&err, arena, &text, &out)) {
        assert_int_equal(err.kind, TS_ERROR_NONE);
        snprintf(result, bytes, "%s", out.bytes);
        return;
    }
    assert_int_equal(err.kind, TS_ERROR_INPUT);
    ts_error_format(&err, result, bytes);
    result[strcspn(result, "\n")] = '\0';
}

typedef struct {
    const char *op, *a, *b, *expect;
} row;

static void check_rows(const row *rows, size_t count) {
    ts_arena *arena = ts_arena_new();
    for (size_t i = 0; i < count; i++) {
        char result[1024];
        evaluate(arena, rows[i].op, rows[i].a, rows[i].b, result, sizeof result);
        if (strcmp(result, rows[i].expect) != 0)
            print_error("%s %s %s:\n", rows[i].op, rows[i].a, rows[i].b ? rows[i].b : "");
        assert_string_equal(result, rows[i].expect);
    }
    ts_arena_free(arena);
}

/* Columns: id, op, a, b, expect, source, note. */
static void check_vector(ts_arena *arena, char *line) {
    char *column[5], result[1024];
    for (int i = 0; i < 5; i++) {
        column[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line) *line++ = '\0';
    }
    assert_non_null(column[4]);
    evaluate(arena, column[1], column[2], column[3], result, sizeof result);
    bool refused = strstr(result, "error: ") != NULL;
    if (strcmp(refused ? "error" : result, column[4]) != 0)
        fail_msg("%s: %s %s %s gives %s, not %s", column[0], column[1], column[2], column[3], result,
                 column[4]);
}

TEST_WITH_ARENA(test_vectors) {
    ts_error err = {0};
    char *text;
    size_t length;
    int count = 0;
    assert_true(ts_file_read(&err, arena, "tests/data/vectors_cute.tsv", 1 << 20, &text, &length));
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        if (*line == '#') continue;
        check_vector(arena, line);
        count++;
    }
    assert_int_equal(count, 374);
}

TEST(test_results) {
    static const row rows[] = {
        {"size", "(_4,( 16 , 32 ))", "", "2048"},
        {"flatten", "((2,), 3 , ):((8,),1,)", "", "(2,3):(8,1)"},
        {"cosize", "(4,2):(-3,10)", NULL, "20"},
        {"rank", "4:1", "", "1"},
        {"rank", "((4,2),3)", "", "2"},
        {"depth", "4:1", "", "0"},
        {"depth", "((4,2),3)", "", "2"},
        {"compatible", "24", "24", "yes"},
        {"compatible", "24", "(4,5)", "no"},
        {"compatible", "((2,3),4)", "24", "no"},
        {"compatible", "((2,2),6)", "(4,(3,2))", "no"},
        {"crd2idx", "(1,(1,2))", "(3,(2,3)):(3,(12,1))", "17"},
        {"crd2idx", "100", "(4,8):(8,1)", "25"}, /* the last mode is not reduced */
        {"eval", "((2,2),3)", "((1,1),_2)", "11"},
        {"eval", "8:-3", "2", "-6"},
        {"idx2crd", "18", "(3,(2,3))", "(0,(0,0))"}, /* wraps at the size */
        {"idx2crd", "(1,5)", "(3,(2,3))", "(1,(1,2))"},
        {"idx2crd", "9", "4", "1"},
        {"flatten", "(4):(2)", "", "(4):(2)"},
        {"flatten", "4:2", "", "4:2"},
        {"coalesce", "(2,(1,6)):(1,(7,2))", "", "12:1"},
        {"coalesce", "(2,3):(0,0)", "", "6:0"},
        {"composition", "8:-1", "4:2", "4:-2"},
        {"composition", "(8,4):(1,16)", "(2,2):(4,8)", "(2,2):(4,16)"},
        {"composition", "(4,1):(1,0)", "8:1",
         "(4,2):(1,0)"}, /* beyond the size, A goes on with its last stride */
        {"composition", "(8,4):(0,1)", "6:3", "(3,2):(0,1)"}, /* 3 does not divide 8, but nothing is lost */
        {"composition", "((2,4),8):((1,16),2)", "<_,2:4>", "((2,4),2):((1,16),8)"},
        {"composition", "(4,8):(1,4)", "<2>", "(2):(1)"}, /* what the tiler does not reach is dropped */
        {"composition", "(8,8):(8,1)", "<[2:1],4>", "((2),4):((8),1)"},
        {"complement", "(2,2):(2,9)", "36", "(2,2,2):(1,4,18)"},
        {"right_inverse", "(4,2):(-1,4)", "", "1:0"},
        {"left_inverse", "(2,4):(1,8)", "", "(8,4):(1,2)"},
        {"left_inverse", "(4,4):(1,2)", "", "(2,4):(1,4)"}, /* not injective; L(R(x)) = x all the same */
        {"logical_divide", "(9,(4,8)):(59,(13,1))", "<3:3,<2:1,_>>",
         "((3,3),((2,2),8)):((177,59),((13,26),1))"},
        {"logical_product", "(4,8):(8,1)", "(2,2)", "((4,2),(8,2)):((8,1),(1,8))"},
        {"blocked_product", "8:1", "4:1", "((8,4)):((1,8))"},
        {"blocked_product", "8:1", "(4,2)", "((8,4),(1,2)):((1,8),(0,32))"},
        {"raked_product", "(3,4):(4,1)", "(2,5):(1,2)", "((2,3),(5,4)):((12,4),(24,1))"},
        {"tile_to_shape", "(4,3)", "(10,7)", "((4,3),(3,3)):((1,12),(4,36))"},
        {"tile_to_shape", "(4,3)", "(10,7)|(1,0)", "((4,3),(3,3)):((1,36),(4,12))"},
        {"ordered_layout", "(2,(3,4))", "(1,0)", "(2,(3,4)):(12,(1,3))"},
        {"ordered_layout", "(2,3)", "7", "(2,3):(1,2)"},
        {"to_axe", "((2,4),8):((1,16),2)", "", "S[(4,2,8):(16,1,2)]"},
        {"to_axe", "8:1", "", "S[8:1]"},
        {"swizzle", "S<2,0,-3>", "3", "27"},
        {"swizzle", "S<0,62,0>", "9223372036854775807", "9223372036854775807"},
        {"eval", "S<3,3,3> o (8,8):(8,1)", "(1,2)", "10"},
        {"eval", "S<1,0,1> o _1 o 8:2", "1", "2"},
        {"composition", "S<3,3,3>", "(8,8):(8,1)", "S<3,3,3> o 0 o (8,8):(8,1)"},
        {"composition", "S<3,3,3>o 4 o(8,8)", "<2,4>", "S<3,3,3> o 4 o (2,4):(1,8)"},
    };
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(test_text_errors) {
    static const row rows[] = {
        {"size", "", "", "expression:1:1: error: size(A) needs A, a CuTe layout"},
        {"size", "()", "",
         "expression:1:6: error: found an empty tuple, expected a CuTe layout or an Axe layout"},
        {"size", "(4,,)", "", "expression:1:9: error: found ',', expected an integer"},
        {"size", "(4 8)", "", "expression:1:9: error: found '8', expected ',' or ')'"},
        {"size", "(4,0)", "", "expression:1:6: error: found 0, expected an extent of at least 1"},
        {"size", "_x", "", "expression:1:6: error: found '_x', expected a CuTe layout or an Axe layout"},
        {"size", "(4,8) 2", "", "expression:1:12: error: found '2', expected ',' or ')'"},
        {"size", "4:1:2", "", "expression:1:9: error: found ':', expected ',' or ')'"},
        {"size", "(4,2):4", "",
         "expression:1:12: error: found '4', expected '(': strides are nested as the shape is"},
        {"size", "(4,2):(4)", "",
         "expression:1:14: error: found ')', expected ',': a stride for each extent of the shape"},
        {"size", "(4,2):(1,4,8)", "",
         "expression:1:16: error: found ',', expected ')': a stride for each extent of the shape"},
        {"size", "4:(1)", "",
         "expression:1:8: error: found '(', expected a stride for each extent of the shape"},
        {"size", "(4611686018427387904,2)", "", "expression:1:6: error: the size does not fit in 64 bits"},
        {"size", " (4,3):(1,4611686018427387904)", "",
         "expression:1:7: error: the layout's extents and strides do not fit in 64 bits"},
        {"size", "2:-9223372036854775808", "",
         "expression:1:6: error: the layout's extents and strides do not fit in 64 bits"},
        {"eval", "4", "-1", "expression:1:10: error: found -1, expected an integer of at least 0"},
        {"eval", "4", "(1", "expression:1:13: error: found the end, expected ',' or ')'"},
        {"coalesce", "4", "(1,x)", "expression:1:16: error: found 'x', expected an integer"},
        {"logical_divide", "8:1", "<4:1", "expression:1:25: error: found ')', expected ',' or '>'"},
        {"logical_divide", "8:1", "[4:1>", "expression:1:25: error: found '>', expected ',' or ']'"},
        {"logical_divide", "8:1", "(4,2:1)", "expression:1:25: error: found ':', expected ',' or ')'"},
        {"logical_divide", "8:1", "4:1 _", "expression:1:25: error: found '_', expected ',' or ')'"},
        {"swizzle", "S<2,0", "4", "expression:1:15: error: found ')', expected '>'"},
        {"swizzle", "S<-1,0,3>", "4", "expression:1:9: error: found -1, expected B, at least 0"},
        {"swizzle", "S<2,0,1>", "4", "expression:1:13: error: a swizzle's |S| must be at least its B"},
        {"swizzle", "S<2,0,-70>", "4", "expression:1:13: error: a swizzle's B + M + |S| must be at most 62"},
        {"swizzle", "S<2,0,3> x", "4", "expression:1:16: error: found 'x', expected ',' or ')'"},
        {"swizzle", "S<2,0,3> o (4,", "4",
         "expression:1:21: error: found ',', expected an extent of at least 1"},
        {"tile_to_shape", "(4,3)", "(8,6)|(0,x", "expression:1:31: error: found 'x', expected an integer"},
        {"siz", "4", "", "expression:1:1: error: found 'siz', expected a function; did you mean 'size'?"},
        {"xyzzy", "4", "", "expression:1:1: error: found 'xyzzy', expected a function"},
        {"size", "4", "4", "expression:1:9: error: found argument 2, expected 1: size(A)"},
        {"composition", "4", NULL, "expression:1:1: error: composition(A, B) needs B, a tiler"},
    };
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST(test_refusals) {
    static const row rows[] = {
        {"eval", "(4,2)", "(1,1,1)", "expression:1:1: error: a coordinate of 3 modes where the layout has 2"},
        {"eval", "4", "(1,1)",
         "expression:1:1: error: a coordinate of 2 modes where the layout has an integer"},
        {"eval", "2:4611686018427387904", "3",
         "expression:1:1: error: the index of the coordinate does not fit in 64 bits"},
        {"eval", "S<1,0,1> o 2:-1", "1",
         "expression:1:1: error: a swizzle needs an index from 0 to 9223372036854775807"},
        {"idx2crd", "(1,2,3)", "(4,8)", "expression:1:1: error: an index of 3 modes where the layout has 2"},
        {"coalesce", "(3,(4,5)):(8,(1,4))", "(1,1,1)",
         "expression:1:1: error: a profile of 3 modes for a layout of 2"},
        {"composition", "(4,8):(2,1)", "33:5",
         "expression:1:1: error: stride 5 of the right layout is neither below extent 4 of the left one nor "
         "a multiple of it"},
        {"composition", "(2,8):(8,1)", "3:1",
         "expression:1:1: error: extent 3 of the right layout is not a multiple of 2, what extent 2 of the "
         "left one has room for"},
        {"composition", "(4,3):(3,1)", "4:3",
         "expression:1:1: error: the right layout crosses extent 4 of the left one: no layout equals "
         "A(B(c))"},
        {"composition", "(4,3):(3,1)", "(3,2):(1,3)",
         "expression:1:1: error: the right layout crosses extent 4 of the left one: no layout equals "
         "A(B(c))"},
        {"composition", "(4,4):(1,8)", "4:-1",
         "expression:1:1: error: the right layout's negative stride -1 leaves the left one's domain"},
        {"composition", "2:4611686018427387904", "2:4",
         "expression:1:1: error: a stride of the result does not fit in 64 bits"},
        {"composition", "20:2", "(5,4)", "expression:1:1: error: a tiler of 2 modes for a layout of 1"},
        {"complement", "(4,4):(1,2)", "",
         "expression:1:1: error: complement: found stride 2, expected at least the 4 that smaller strides "
         "cover"},
        /* 0, 16, 24 and 40: injective, and has none. */
        {"complement", "(2,2):(24,16)", "48",
         "expression:1:1: error: complement: found stride 24, expected at least the 32 that smaller strides "
         "cover"},
        {"complement", "4:-1", "8", "expression:1:1: error: complement: the stride -1 is negative"},
        {"complement", "2:4611686018427387904", "5",
         "expression:1:1: error: a stride of the result does not fit in 64 bits"},
        {"left_inverse", "(8,4,2):(13,2,1)", "",
         "expression:1:1: error: left_inverse: stride 13 is not a multiple of the next smaller one, 2"},
        {"left_inverse", "(4,4):(1,-3)", "",
         "expression:1:1: error: left_inverse: the stride -3 is negative"},
        {"left_inverse", "(4,4):(3,1)", "",
         "expression:1:1: error: left_inverse: the layout is not injective"},
        {"zipped_divide", "(8,4)", "<_,2>",
         "expression:1:1: error: '_' in a tiler that is zipped needs a mode of rank 2"},
        {"logical_divide", "(8,4)", "<2,2,2>", "expression:1:1: error: a tiler of 3 modes for a layout of 2"},
        {"logical_product", "4611686018427387904:1", "4:1",
         "expression:1:1: error: size times cosize of the product does not fit in 64 bits"},
        {"tile_to_shape", "(4,3)", "12", "expression:1:1: error: a block of 2 modes for a shape of 1"},
        {"tile_to_shape", "(4,3)", "(8,6)|(0,1,2)",
         "expression:1:1: error: an order of 3 modes for a shape of 2"},
        {"ordered_layout", "4", "(0,1)", "expression:1:1: error: an order of 2 modes for a shape of 1"},
    };
    check_rows(rows, sizeof rows / sizeof rows[0]);
}

TEST_WITH_ARENA(test_nesting) {
    char deep[200], result[256];
    memset(deep, '(', 64);
    deep[64] = '2';
    memset(deep + 65, ')', 64);
    deep[129] = '\0';
    evaluate(arena, "depth", deep, "", result, sizeof result);
    assert_string_equal(result, "64");
    memset(deep, '<', 65);
    evaluate(arena, "composition", "2", deep, result, sizeof result);
    assert_string_equal(result, "expression:1:80: error: nested more than 64 deep");
    memset(deep, '(', 65);
    evaluate(arena, "depth", deep, "", result, sizeof result);
    assert_string_equal(result, "expression:1:71: error: nested more than 64 deep");
}
