/* Expressions over layouts: every example of the table, vectors of all systems, parsing back, errors. */
#include <stdio.h>
#include <string.h>

#include "layout/notation/algebra.h"
#include "tests/support/test.h"

typedef struct {
    const char *expression, *result; /* the result's text, then " ; name=" and what is extra; or an error */
} row;

static bool evaluate(ts_arena *arena, const char *text, ts_value *value, ts_text *out) {
    ts_error err = {0};
    char message[2048];
    ts_source source = {"expression", text, strlen(text)};
    *out = ts_text_begin(arena);
    if (ts_algebra_evaluate(&err, arena, &source, value)) {
        assert_int_equal(err.kind, TS_ERROR_NONE);
        ts_value_print(out, value);
        return true;
    }
    ts_error_format(&err, message, sizeof message);
    message[strcspn(message, "\n")] = '\0';
    ts_text_add(out, "%s", message);
    return false;
}

/* The canonical text gives the same text again, and an extra one too. */
static void check_parses_back(ts_arena *arena, const ts_value *value, const ts_text *text) {
    ts_value again;
    ts_text twice;
    if (value->kind == TS_VALUE_TEXT) return;
    if (!evaluate(arena, text->bytes, &again, &twice)) fail_msg("%s: %s", text->bytes, twice.bytes);
    assert_string_equal(twice.bytes, text->bytes);
    assert_int_equal(again.kind, value->kind);
}

static void check_rows(const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ts_arena *arena = ts_arena_new();
        ts_value value = {0};
        ts_text text, extra;
        bool ok = evaluate(arena, rows[i].expression, &value, &text);
        if (ok) check_parses_back(arena, &value, &text);
        if (ok && value.extra) {
            extra = ts_text_begin(arena);
            ts_value_print(&extra, value.extra);
            ts_text_add(&text, " ; %s=%s", value.extra_name, extra.bytes);
        }
        if (strcmp(text.bytes, rows[i].result) != 0) print_error("%s:\n", rows[i].expression);
        assert_string_equal(text.bytes, rows[i].result);
        ts_arena_free(arena);
    }
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

TEST(test_examples) {
    ts_algebra_row function;
    int count = 0;
    for (; ts_algebra_function(count, &function); count++) {
        ts_arena *arena = ts_arena_new();
        ts_value value;
        ts_text text, usage;
        bool ok = evaluate(arena, function.example, &value, &text);
        size_t line = strcspn(text.bytes, "\n");
        if (!ok || strlen(function.result) != line || memcmp(text.bytes, function.result, line) != 0)
            fail_msg("%s is %s, not %s", function.example, text.bytes, function.result);
        check_parses_back(arena, &value, &text);
        usage = ts_text_begin(arena);
        ts_algebra_print_usage(&usage, count);
        size_t name = strlen(function.name);
        assert_memory_equal(usage.bytes, function.name, name);
        assert_memory_equal(function.example, function.name, name);
        assert_true(usage.bytes[name] == '(' && strlen(function.meaning) > 0);
        ts_arena_free(arena);
    }
    assert_int_equal(count, 85);
}

TEST(test_values) {
    static const row rows[] = {
        {"8", "8"},
        {" ( 4 ,(-2, 3) ) ", "(4,(-2,3))"},
        {"()", "()"},
        {"(4,2):(1,8)", "(4,2):(1,8)"},
        {"S<3,0,3>", "S<3,0,3> o 0 o 1:0"},
        {"Sw<3,0,3> o 2 o 8", "S<3,0,3> o 2 o 8:1"},
        {"SW_3_4_3 o 0 o (8, 8):(8, 1)", "S<3,4,3> o 0 o (8,8):(8,1)"},
        {"SW_1_0_-1 o 5 o (6,):(2,)", "S<1,0,-1> o 5 o (6):(2)"},
        {"f32[8] T.TileLayout(T.S[8:2])", "f32[8] S[8:2]"},
        {"T.TileLayout(T.S[8:1] + (5 + 3@Axis.tx",
         "expression:1:39: error: found the end, expected '+' or ')'"},
        {"T.TileLayout(T.S[8:1@Axis.])", "expression:1:27: error: found ']', expected the name of an axis"},
        {"T.ComposeLayout(2, 3, 3, T.TileLayout(T.S[8:1]), swizzle_inner=0)",
         "expression:1:64: error: found '0', expected 'True' or 'False'"},
        {"to_psum(S[512:1@F] + 3)",
         "expression:1:1: error: replicas, offsets and swizzles do not fall into banks"},
        {"SW_3_4 o 0 o 8", "expression:1:8: error: found 'o', expected '_'"},
        {"_", "_"},
        {"<2:1,_,[4,8:2]>", "<2:1,_,<4:1,8:2>>"},
        {"[2,_]", "<2:1,_>"},
        {"8@lane", "8@lane"},
        {"[2 / 8@x]", "R[2:8@x]"},
        {"(8 4 / 4@lane 1)", "S[(8,4):(4@lane,1)]"},
        {"S[8:1] + warpid", "S[8:1] + 1@warpid"},
        {"SW(0,3,3) o S[64:1]", "SW(0,3,3) o S[64:1]"},
        {"lambda i, j: [j, i]", "lambda i, j: [j, i]"},
        {"none", "none"},
        {"thread .. warp", "thread .. warp"},
        {"{m=3} {m=-4}", "{m=3} {m=-4}"},
        {"{F=1,m=2}", "{F=1,m=2}"},
        {"f32[3,5]{1,0:T(2,2)}", "f32[3,5]{1,0:T(2,2)}"},
        {"f32[4,8] (4,8):(8,1) E(64) S(1)", "f32[4,8] (4,8):(8,1) E(64) S(1)"},
        {"f32[4,8] compact_right((4,8))", "f32[4,8] (4,8):(8,1)"},
        {"bf16[8,8] to_axe(compact_left((8,8)))", "bf16[8,8] S[(8,8):(1,8)]"},
        {"f32[8] f32[8]", "expression:1:8: error: found 'f32', expected the end"},
    };
    CHECK_ROWS(rows);
}

TEST(test_calls) {
    static const row rows[] = {
        {"composition( (6,2):(8,2) ,(4,3):(3,1) )", "((2,2),3):((24,2),8)"},
        {"coalesce(composition(complement(4:1, 24), 3:2))", "3:8"},
        {"complement(target=24, A=4:1)", "6:4"},
        {"complement(4:1, (4,6))", "6:4"},
        {"complement(4:2)", "2:1"},
        {"tile_to_shape((4,3), (8,9))", "((4,2),(3,3)):((1,12),(4,24))"},
        {"coalesce((2,(1,6)):(1,(6,2)), (1,1))", "(2,6):(1,2)"},
        {"size(S[(8,4):(1@lane,1)])", "32"},
        {"size((8,4):(1,8))", "32"},
        {"size(f32[8,4]{0,1})", "32"},
        {"cosize((4,3):(-1,8))", "20"},
        {"values(S<1,0,1> o 4:1)", "(0,1,3,2)"},
        {"values((2,2):(0,-3))", "(0,0,-3,-3)"},
        {"compact_right(8)", "8:1"},
        {"filter((2,3):(0,0))", "1:0"},
        {"apply((4,8):(8,1), 9)", "10"},
        {"apply(S[(8,4):(4,1)] + R[2:64], 9)", "{m=9}"},
        {"forward(S[8:1] + R[(2,2):(8,8)], 1)", "{m=1} {m=9} {m=17}"},
        {"backward(S[8:0], {m=0})", "((0),(1),(2),(3),(4),(5),(6),(7))"},
        {"backward(S[8:1], {m=9})", "none"},
        {"backward(S[8:1], {m=1,x=2})", "none"},
        {"backward(S[8:1], {m=1,x=0})", "((1))"},
        {"span(S[(8,4):(1@lane,2)], lane)", "8"},
        {"range(S[(8,4):(-1@lane,2)], lane)", "(-7,0)"},
        {"range(S[(8,4):(-1@lane,2)])", "(0,6)"},
        {"get_scope(S[8:1])", "none"},
        {"group(S[32:1], (4,1,8))", "S[(4,1,8):(8,8,1)] ; seps=(0,1,2,3)"},
        {"group_many(S[30:1], ((6,5),(2,15)))", "S[(2,3,5):(15,5,1)] ; seps=((0,2,3),(0,1,3))"},
        {"slice(S[(2,2,4):(100,10,1)], 16, ((6,10)))", "none"},
        {"slice(f32[16,256]{1,0:T(8,128)}, (16,256), ((0,8),(0,128)))", "S[1024:1]"},
        {"is_tile_inner(S[8:1], S[(2,8):(9,1)], 16, 8)", "none"},
        {"is_direct_sum(S[8:1], S[2:4], 2, S[4:2], 4)", "no"},
        {"is_direct_sum(tile(S[4:1], S[2:1], 2, 4), S[2:4], 2, S[4:1], 4)", "yes"},
        {"is_direct_sum_left(S[4:8], S[(2,2,4):(100,8,1)], (4,4), 4)", "none"},
        {"equal(SW(3,3,3) o S[64:1], SW(3,3,3) o S[(8,8):(8,1)])", "yes"},
        {"equal(SW(3,3,3) o S[64:1], SW(2,3,3) o S[64:1])", "no"},
        {"equal(SW(3,3,3) o S[64:1], SW(3,2,3) o S[64:1])", "no"},
        {"equal(SW(3,3,3) o S[64:1], SW(3,3,4) o S[64:1])", "no"},
        {"equal(SW(3,3,3) o S[64:1], S[64:1])", "no"},
        {"pack(SW(3,3,3) o S[64:1], 2)",
         "SW(2,3,3) o S[32:1]"}, /* bits of an address that is half as large */
        {"unpack(SW(3,3,3) o S[64:1], 4)", "SW(5,3,3) o S[256:1]"},
        {"unpack(SW(55,3,3) o S[64:1], 2)", "SW(56,3,3) o S[128:1]"},
        {"tile(SW(3,3,3) o S[64:1], S[2:1], 2, 128)", "SW(3,3,3) o S[256:1]"}, /* its period repeats */
        {"tile(SW(3,3,3) o S[64:2], S[2:1], 2, 128)",
         "expression:1:1: error: SW(3,3,3) o S[64:2] cannot be grouped by the shape (128)"},
        {"apply(S[(8,4):(4,1)], (0,3))", "{m=3}"},
        {"apply(S[(8,4):(4,1)], (9,5))", "{m=41}"},
        {"broadcast(S[4:1], 3)", "S[(4,3):(1,0)]"},
        {"broadcast(S[4:1], 3, axis=x)", "S[(4,3):(1,0@x)]"},
        {"to_cute(S[(4,8):(8,1)], (4,8))", "(4,8):(8,1)"},
        {"to_axe(f32[3,5]{1,0:T(2,2)})", "S[(2,2,3,2):(12,2,4,1)] ; shape=(4,6)"},
        {"to_axe(f32[4,6]{1,0:T(*,8)})", "S[24:1] ; shape=(4,6)"}, /* dims taken together */
        {"linear_index(f32[3,5] S[15:2], (1,1))", "12"},
    };
    CHECK_ROWS(rows);
}

/* By the table of TVM's axis_registry.cc: what a step of an axis is and what all of it is; and of how many threads each is. */
TEST(test_threads) {
    static const row rows[] = {
        {"get_scope(S[4:1@laneid])", "thread..warp"},
        {"get_scope(S[4:1@wid_in_wg])", "warp..warpgroup"},
        {"get_scope(S[4:1@bx])", "cta..thread"},
        {"get_scope(S[(4,32):(1@warpid,1@laneid)])", "thread..cta"},
        {"get_scope(S[(32,4):(1@laneid,1@wid_in_wg)])", "thread..warpgroup"},
        {"get_scope(S[(2,4):(1@cbx,1@tx)])", "thread..cluster"},
        {"get_scope(S[2:1@cbx] + R[4:1@tx])", "thread..cluster"},
        {"get_scope(S[2:1@cbx] + 1@tx)", "thread..cluster"},
        {"get_scope(S[2:1] + 1@tx)", "none"},
        {"get_scope(S[(2,4):(1@bx,1@cbx)])",
         "expression:1:1: error: the layout's axes count each cta within a thread and "
         "within a cluster"},
        {"get_scope(S[(2,4):(1@laneid,1@tx)])",
         "expression:1:1: error: the layout's axes count each thread within a warp and "
         "within a cta"},
        {"get_scope(S[(2,2):(1@laneid,1@wgid)])",
         "expression:1:1: error: the layout's thread axes do not make one chain of "
         "scopes from thread up"},
        {"canonicalize_cuda(S[(4,32):(1@warpid,1@laneid)])", "S[128:1@tx]"},
        {"canonicalize_cuda(S[(2,128):(1@wgid,1@tid_in_wg)])", "S[256:1@tx]"},
        {"canonicalize_cuda(S[(2,4,32):(1@wgid,1@wid_in_wg,1@laneid)])", "S[256:1@tx]"},
        {"canonicalize_cuda(S[(4,32):(1@wid_in_wg,1@laneid)])", "S[128:1@tid_in_wg]"},
        {"canonicalize_cuda(S[(2,4):(1@wgid,1@wid_in_wg)])", "S[8:1@warpid]"},
        {"canonicalize_cuda(S[(2,32):(1@wgid,1@laneid)] + R[4:1@wid_in_wg] + 1@wid_in_wg)",
         "S[(2,32):(128@tx,1@tx)] + R[4:32@tx] + 32@tx"},
    };
    CHECK_ROWS(rows);
}

TEST(test_index_maps) {
    static const row rows[] = {
        {"map_indices(f32[4,5]{0,1}, (1,2))", "(2,1)"},
        {"map_ranges(lambda i, j: [j - i, i + 5], (4,8))", "((-3,11),(5,4))"},
        {"map_ranges(lambda i: [i // 4 + 3, i % 4], 14)", "((3,4),(0,4))"},
        {"map_ranges(lambda i: [i // 4, i % 4], 3)", "((0,1),(0,4))"},
        {"map_shape(lambda i: [i + 5], 8)",
         "expression:1:1: error: transformed index 0 begins at 5, expected 0"},
        {"injective(lambda i: [i + 5], 8)", "yes"},
        {"injective(lambda i: [7 - i], 8)", "yes"},
        {"injective(lambda i: [-2 * i], 8)", "yes"},
        {"injective(lambda i: [i // 2 - 9], 8)", "no"},
        {"injective(lambda i: [(i ^ 5) - 100], 8)", "yes"},
        {"injective(lambda i: [i, SEP, i], 65536)", "yes"}, /* of more places than can be marked */
        {"bijective(lambda i: [i + 5], 8)", "no"},
        {"bijective(lambda i: [i % 4, i // 4], 8)", "yes"},
        {"inverse_at(lambda i: [i % 4, i // 4], 8, (3,1))", "(7)"},
        {"non_surjective_inverse_at(lambda i: [i + 5], 8, 12)", "(7)"},
        {"non_surjective_inverse_at(lambda i: [i + 5], 8, 13)",
         "expression:1:1: error: transformed index 0 is 13, expected 5 to 12"},
        {"non_surjective_inverse_at(lambda i: [i + 5], 8, 4)",
         "expression:1:1: error: transformed index 0 is 4, expected 5 to 12"},
        {"non_surjective_inverse_at(lambda i: [7 - i, i], 8, (2,5))", "(5)"},
        {"non_surjective_inverse_at(lambda i: [2 * i - 3], 4, -2)", "padding"},
        {"non_surjective_inverse_at(lambda i: [2 * i - 3], 4, -1)", "(1)"},
        {"inverse(lambda i: [i // 4, i % 4], 14)",
         "expression:1:1: error: the map is not one to one onto its shape"},
        {"inverse(lambda i, j: [j, i], (3,4))", "lambda x0, x1: [x1, x0]"},
        {"inverse(lambda i, j, k: [i, (j * 1 + k) // 2, (j * 1 + k) % 2], (3,4,1))",
         "lambda x0, x1, x2: [x0, x1 * 2 + x2, 0]"},
        {"inverse(lambda i, j: [(i + j * 9) // 2, (i + j * 9) % 2], (4,1))",
         "lambda x0, x1: [x0 * 2 + x1, 0]"},
        {"map_ranges(lambda i: [(i + 5) // 4, (i + 5) % 4], 14)", "((1,4),(0,4))"},
        {"non_surjective_inverse(lambda i: [(i + 5) // 4, (i + 5) % 4], 14)",
         "lambda x0, x1: [(x0 - 1) * 4 + x1 - 1] ; padding=(x0 - 1) * 4 + x1 < 1 or (x0 - 1) * 4 + x1 >= 15"},
        {"inverse(lambda i: [T.(i)], 4)", "expression:1:22: error: found '(', expected a function or a type"},
        {"non_surjective_inverse(lambda i: [i // 4 + 3, i % 4], 14)",
         "lambda x0, x1: [(x0 - 3) * 4 + x1] ; padding=(x0 - 3) * 4 + x1 >= 14"},
        {"non_surjective_inverse(lambda i: [i + 5], 8)", "lambda x0: [x0 - 5] ; padding=none"},
        {"non_surjective_inverse(lambda i, j: [i // 4, i % 4 * 9 + j], (3,6))",
         "expression:1:1: error: no closed form of the inverse was found, expected non_surjective_inverse_at "
         "with an index"},
        {"non_surjective_inverse(lambda i: [7 - i], 8)",
         "expression:1:1: error: no closed form of the inverse was found, expected non_surjective_inverse_at "
         "with "
         "an index"},
        {"inverse(lambda i: [i ^ 1], 8)",
         "expression:1:1: error: no closed form of the inverse was found, expected inverse_at with an index"},
        {"non_surjective_inverse(lambda i: [i % 4], 8)",
         "expression:1:1: error: the map is not injective: it puts (0) and (4) in one place"},
        {"padding_points(lambda i: [i // 4, i % 4], 16)", "none"},
        {"padding_points(lambda i: [i + 5], 8)", "none"},
        {"padding_points(lambda i: [2 * i - 3], 3)", "((-2),(0),(2)) ; count=3"},
        {"padding_points(lambda i: [i * 18], 2)",
         "((1),(2),(3),(4),(5),(6),(7),(8),(9),(10),(11),(12),(13),(14),(15),(16)) ; count=34"},
        {"padding_points(lambda i: [i // 2], 4)", "expression:1:1: error: the map is not injective"},
        {"padding_points(lambda i: [i * 100000000], 2)",
         "expression:1:1: error: the transformed shape has more than 67108864 places"},
        {"map_ranges(lambda i: [i * 4611686018427387904], 4)",
         "expression:1:1: error: transformed index 0 has no range that fits in 64 bits"},
        {"map_ranges(lambda i: [i + 9223372036854775807], 1)",
         "expression:1:1: error: transformed index 0 has no range that fits in 64 bits"},
        {"flatten_shape((4,8))", "(32)"},
        {"flatten_shape((), ())", "(1)"},
        {"flatten_shape((2,3,4), (2,2))", "(6,1,4)"},
        {"flatten_index((2,3,4), (1,2,3), (2,2))", "(5,0,3)"},
        {"flatten_index((2,3,4), (1,2,3), (0,3))", "(0,23,0)"},
        {"flatten_index((), ())", "(0)"},
        {"flatten_index((2,3), (1,3))", "expression:1:1: error: index 1 is 3, expected 0 to 2"},
        {"flatten_index((2,3), (-1,2))", "expression:1:1: error: index 0 is -1, expected 0 to 1"},
        {"flatten_index((2,3), 1)", "expression:1:1: error: index has 1 entries, expected 2"},
        {"loops(lambda i: [i + 5], 8)", "for x0 in range(5, 13):  # i + 5\n  i = x0 - 5"},
        {"forward(S[8:1] + R[(2,3):(-4,4)], 3)", "{m=3} {m=7} {m=11} {m=-1}"},
        {"is_equivalent_to(lambda i: [min(i, 1 << 50)], lambda i: [i])", "no"},
        {"is_equivalent_to(lambda i: [i * 1024 // 1024], lambda i: [i])", "yes"},
        {"separators(lambda i: [i])", "()"},
    };
    CHECK_ROWS(rows);
}

TEST(test_errors) {
    static const row rows[] = {
        {"",
         "expression:1:1: error: found the end, expected a function call, a layout, a tuple or an integer"},
        {"compositoin(4)", "expression:1:1: error: found 'compositoin', expected a function; did you mean "
                           "'composition'?"},
        {"siez", "expression:1:1: error: found 'siez', expected a function call, a layout, a tuple or an "
                 "integer; did you mean 'size'?"},
        {"xyzzyx",
         "expression:1:1: error: found 'xyzzyx', expected a function call, a layout, a tuple or an integer"},
        {"size", "expression:1:5: error: found the end, expected '('"},
        {"coalesce(xyzzyx)", "expression:1:10: error: found 'xyzzyx', expected a CuTe layout"},
        {"physical_index(lambda i, j: [i, j], (2,3), (9223372036854775807,0))",
         "expression:1:1: error: index 0 is 9223372036854775807, expected 0 to 1"},
        {"physical_index(lambda i, j: [i, j], (2,-9223372036854775808), (0,0))",
         "expression:1:1: error: dimension 1 is -9223372036854775808, expected at least 1"},
        {"physical_index(lambda i, j: [i, j], (2,3), (0,-1))",
         "expression:1:1: error: index 1 is -1, expected 0 to 2"},
        {" xyzzyx (4)", "expression:1:2: error: found 'xyzzyx', expected a function"},
        {"composition(4, lambda i: [i])", "expression:1:16: error: found an index map, expected a tiler"},
        {"composition(4)", "expression:1:1: error: composition(A, B) needs B, a tiler"},
        {"complement()", "expression:1:1: error: complement(A, [target]) needs A, a CuTe layout"},
        {"composition(4, 2, 3)", "expression:1:19: error: found argument 3, expected 2: composition(A, B)"},
        {"complement(A=4:1, taget=24)", "expression:1:19: error: complement(A, [target]) has no argument "
                                        "'taget'; did you mean 'target'?"},
        {"complement(4:1, A=24)", "expression:1:17: error: an argument that is already given"},
        {"complement(A=4:1, 24)",
         "expression:1:19: error: found an argument without a name behind one with a "
         "name"},
        {"size(1,2,3,4,5,6,7,8,9)", "expression:1:22: error: more arguments than any function has"},
        {"size(lambda i: [i])",
         "expression:1:6: error: found an index map, expected a CuTe layout or an Axe layout"},
        {"size(S[8:1], 3)", "expression:1:14: error: found a tuple, expected the name of an axis"},
        {"rank(size(4), size(5))", "expression:1:15: error: found argument 2, expected 1: rank(A)"},
        {"rank(complement((4,4):(1,2)))", "expression:1:6: error: complement: found stride 2, expected at "
                                          "least the 4 that smaller strides cover"},
        {"coalesce(S<1,0,1> o 8)",
         "expression:1:10: error: the layout is swizzled, expected one without a swizzle"},
        {"compact_left((4,0))", "expression:1:1: error: found 0, expected an extent of at least 1"},
        {"compact_right((4611686018427387904,2))", "expression:1:1: error: the size does not fit in 64 bits"},
        {"apply(8, (1,-1))", "expression:1:10: error: found -1, expected an integer of at least 0"},
        {"values(65537)", "expression:1:1: error: the layout has more than 65536 values"},
        {"pack(S[8:1], (2,2))", "expression:1:14: error: found a tuple, expected an integer"},
        {"pack(SW(1,3,3) o S[64:1], 4)",
         "expression:1:1: error: the swizzle's elements cannot be packed 4 at a time"},
        {"unpack(SW(3,3,3) o S[64:1], 3)",
         "expression:1:1: error: the swizzle's elements cannot be unpacked 3 at a time"},
        {"unpack(SW(56,3,3) o S[64:1], 2)",
         "expression:1:1: error: the swizzle's elements cannot be unpacked 2 at a time"},
        {"backward(S[65537:0], {m=0})",
         "expression:1:1: error: more than 65536 logical indices map to this point"},
        {"group(S[8:1], (2,(2,2)))", "expression:1:15: error: found a nested tuple, expected integers"},
        {"group_many(S[8:1], 8)", "expression:1:20: error: found an integer, expected a tuple of shapes"},
        {"slice(S[8:1], 8, ((1,2,3),4))",
         "expression:1:18: error: found another tuple, expected a (begin, end) for each dimension, as "
         "((2,4),(0,8))"},
        {"slice(S[8:1], 8, ((1,2),(3,4)))", "expression:1:1: error: the region has 2 dimensions, expected 1"},
        {"slice(S[8:1], 8, ((2,2)))",
         "expression:1:1: error: the region 2:2 of dimension 0 is empty or not within 0:8"},
        {"slice(S[32:1], (4,8), ((0,4),(3,9)))",
         "expression:1:1: error: the region 3:9 of dimension 1 is empty or not within 0:8"},
        {"slice(S[8:1], 8, ((6,5)))",
         "expression:1:1: error: the region 6:5 of dimension 0 is empty or not within 0:8"},
        {"backward(S[8:1], {m=1} {m=2})", "expression:1:18: error: found several points, expected one"},
        {"backward(S[8:1], {m})", "expression:1:20: error: found '}', expected '='"},
        {"{m=1", "expression:1:5: error: found the end, expected ',' or '}'"},
        {"{3=1}", "expression:1:2: error: found '3', expected the name of an axis"},
        {"forward(S[8:1], 8)", "expression:1:1: error: the coordinate 8 is outside dimension 0 of 8"},
        {"forward(S[8:1], (1,1))", "expression:1:1: error: the coordinate has 2 entries, expected 1"},
        {"apply(S[(2,4):(4,1)], (1,1,1))",
         "expression:1:1: error: the coordinate has 3 entries, expected 1 or 2"},
        {"apply(S[8:1], -1)", "expression:1:1: error: the coordinate -1 is out of range"},
        {"size(SW(0,3,3) o S[64:1], m)",
         "expression:1:1: error: a swizzled layout has no sizes and spans of single axes"},
        {"map_indices(lambda i: [i], (1,2))", "expression:1:1: error: index has 2 entries, expected 1"},
        {"to_axe(f32[5]{0:T(2,2)})", "expression:1:1: error: the tile has 2 dimensions, the array has 1"},
        {"linear_index(f32[4] S[4:1@x] + R[2:1@y], 1)",
         "expression:1:1: error: the layout has 2 axes, expected one"},
        {"linear_index(f32[4], (1,1))", "expression:1:1: error: the coordinate has 2 entries, expected 1"},
        {"linear_index(f32[4], 4)", "expression:1:1: error: the coordinate 4 is outside dimension 0 of 4"},
        {"to_cute(S[8:1], (2,2))", "expression:1:1: error: the shape has 4 elements, the layout 8"},
        {"canonicalize(f32[3,5]{1,0:T(2,2)})",
         "expression:1:14: error: this layout cannot be written as Axe: dimension 0 is padded from 3 to 4; "
         "over the padded dims [4,6] it is "
         "S[(2,2,3,2):(12,2,4,1)]"},
        {"f32[8] size(4)", "expression:1:8: error: mode 0 has size 4, dimension 0 of the array is 8"},
        {"size((4,8)", "expression:1:11: error: found the end, expected ',' or ')'"},
        {"size((4,8)))", "expression:1:12: error: found ')', expected the end"},
        {"(4,8", "expression:1:5: error: found the end, expected ',' or ')'"},
        {"foo<3>",
         "expression:1:1: error: found 'foo', expected a function call, a layout, a tuple or an integer"},
    };
    CHECK_ROWS(rows);
}

TEST_WITH_ARENA(test_nesting) {
    ts_value value;
    ts_text text, out;
    for (int depth = 64; depth <= 65; depth++) {
        text = ts_text_begin(arena);
        for (int i = 0; i < depth; i++) ts_text_add(&text, "size(");
        ts_text_add_char(&text, '4');
        for (int i = 0; i < depth; i++) ts_text_add_char(&text, ')');
        assert_int_equal(evaluate(arena, text.bytes, &value, &out), depth == 64);
        assert_string_equal(out.bytes,
                            depth == 64 ? "4" : "expression:1:321: error: calls nested more than 64 deep");
    }
}

/* What pictures and questions are of. */
TEST(test_arrays) {
    static const row rows[] = {
        {"(4,8)", "f32[4,8] (4,8):(1,4)"},
        {"((2,2),8):((1,16),2)", "f32[4,8] ((2,2),8):((1,16),2)"},
        {"8:1", "f32[8] 8:1"},
        {"S[(4,8):(8,1)] + R[2:32]", "f32[4,8] S[(4,8):(8,1)] + R[2:32]"},
        {"s8[4] 4:2", "s8[4] 4:2"},
        {"compatible(4, 4)", "the result is a word, expected a layout"},
        {"lambda i: [i]",
         "the result is an index map, expected a layout of known dims: write the array before it, as in "
         "f32[4,8] inverse(..)"},
        {"(4,0)", "found 0, expected an extent of at least 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_value value;
        ts_text text;
        assert_true(evaluate(arena, rows[i].expression, &value, &text));
        ts_text_clear(&text);
        const ts_shape *shape = ts_value_array(&err, arena, &value);
        if (shape != NULL) ts_shape_print(shape, &text);
        assert_string_equal(shape != NULL ? text.bytes : err.message, rows[i].result);
        ts_arena_free(arena);
    }
}
