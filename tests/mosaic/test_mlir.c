/* The reader of MLIR text: what it gives, and its errors. */
#include <stdio.h>
#include <string.h>

#include "mosaic/mlir.h"
#include "tests/support/cmocka.h"
#include "tests/support/group.h"

static ts_span span(const char *text) { return (ts_span){text, strlen(text)}; }

static const mlir_module *parse(ts_error *err, const char *text) {
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"k.mlir", text, strlen(text)};
    return mlir_parse(err, arena, source);
}

TEST(reads_an_operation_of_each_part) {
    ts_error err = {0};
    const mlir_module *m =
        parse(&err, "\"builtin.module\"() <{sym_name = \"k\"}> ({ // a comment\n"
                    "^bb0(%arg0: i32 loc(unknown), %arg1: memref<?x8xf32>):\n"
                    "  %0:2 = \"a.b\"(%arg1, %arg0) {n = 3 : i64, unit, s = \"x, }\"} : (memref<?x8xf32>, "
                    "i32) -> (f32, index) "
                    "loc(#loc1)\n"
                    "  \"c.d\"(%0#1) [^bb1] ({}, {\n  \"e\"() : () -> ()\n }) : (index) -> ()\n"
                    "^bb1:\n  %1 = \"f\"(%0#0) : (f32) -> vector<8x128xf32>\n"
                    "}) : () -> ()\n#loc1 = loc(\"k.py\":7:13)\n");
    assert_non_null(m);
    assert_int_equal(m->value_count, 5);
    assert_true(ts_span_is(m->top->name, "builtin.module"));
    assert_true(ts_span_is(mlir_find(m->top, "sym_name")->value, "\"k\""));
    assert_null(mlir_find(m->top, "sym"));
    const mlir_region *region = &m->top->regions[0];
    assert_int_equal(region->block_count, 2);
    const mlir_block *block = region->blocks[0];
    assert_int_equal(block->argument_count, 2);
    assert_int_equal(m->values[block->arguments[1]].type->dims[0], MLIR_DYNAMIC);
    assert_int_equal(block->op_count, 2);
    const mlir_op *op = block->ops[0];
    assert_int_equal(op->operand_count, 2);
    assert_int_equal(op->operands[0], block->arguments[1]);
    assert_int_equal(op->result_count, 2);
    assert_int_equal(m->values[op->first_result + 1].type->kind, MLIR_INDEX);
    assert_ptr_equal(m->values[op->first_result].op, op);
    assert_int_equal(op->attribute_count, 3);
    assert_int_equal(mlir_find(op, "unit")->value.length, 0);
    assert_true(ts_span_is(mlir_find(op, "s")->value, "\"x, }\""));
    op = block->ops[1];
    assert_int_equal(op->successor_count, 1);
    assert_int_equal(op->region_count, 2);
    assert_int_equal(op->regions[0].blocks[0]->op_count, 0);
    assert_int_equal(op->regions[1].blocks[0]->op_count, 1);
    assert_int_equal(op->operands[0], block->ops[0]->first_result + 1);
}

static const struct {
    const char *text, *message;
    int line, column;
} errors[] = {
    {"", "found the end of the text, expected an operation", 1, 1},
    {"x", "found 'x', expected '\"'", 1, 1},
    {"// k\n module {\n}\n",
     "MLIR's custom form: expected the generic one, \"builtin.module\"(..), of a kernel at vreg level, as "
     "python3 -m "
     "tilesim.pallas writes it (-o, --from-dump)",
     2, 2},
    {"\"a\"", "found the end of the text, expected '('", 1, 4},
    {"\"a\"() : () -> i33", "unknown type 'i33'", 1, 15},
    {"\"a\"(%0) : (i32) -> ()", "the value '%0' is not defined before this", 1, 5},
    {"%0 = \"a\"() : () -> i32\n\"b\"() : () -> ()", "found '\"', expected the end of the text", 2, 1},
    {"%0:2 = \"a\"() : () -> i32", "found the end of the text, expected as many types as results", 1, 25},
    {"\"a\"() : (i32) -> ()", "found '-', expected as many types as operands", 1, 15},
    {"\"a\"() ({\n%0 = \"b\"() : () -> i32\n%1 = \"c\"(%0#1) : (i32) -> i32}) : () -> ()",
     "the value '%0' is not defined before this", 3, 10},
    {"\"a\"() ({ \"b\"() ({ %0 = \"c\"() : () -> i32\n}) : () -> ()\n\"d\"(%0) : (i32) -> ()}) : () -> ()",
     "the value '%0' is not defined before this", 3, 5},
    {"\"a\"() {b = } : () -> ()", "found '}', expected a value", 1, 12},
    {"\"a\"() {= 1} : () -> ()", "found '=', expected the name of an attribute", 1, 8},
    {"\"a\"() {b = [1} : () -> ()", "found the end of the text, expected ','", 1, 26},
    {"\"a", "found the end of the text, expected '\"'", 1, 3},
};

TEST(errors_have_a_place) {
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        ts_error err = {0};
        assert_null(parse(&err, errors[i].text));
        assert_string_equal(err.message, errors[i].message);
        assert_int_equal(err.line, errors[i].line);
        assert_int_equal(err.column, errors[i].column);
    }
}

/* Tabs and line ends of any kind are spaces, behind types and in dictionaries too. */
TEST(reads_any_white_space) {
    ts_error err = {0};
    const mlir_module *m =
        parse(&err, "\"m\"()\t({\r\n^bb0(%0:\ti32\tloc(unknown)):\r\n"
                    "\t%1\t=\t\"a\"(%0)\t{\tn\t=\t3\t:\ti64\t,\tm\t=\t4\t}\t:\t(i32\t)\t->\tf32"
                    "\tloc(#l)\r\n}) : () -> ()\r\n#l\t=\tloc(\"k.py\":7:13)\r\n");
    assert_non_null(m);
    const mlir_op *op = m->top->regions[0].blocks[0]->ops[0];
    assert_true(ts_span_is(mlir_find(op, "n")->value, "3\t:\ti64"));
    assert_true(ts_span_is(mlir_find(op, "m")->value, "4"));
    assert_int_equal(m->values[op->first_result].type->kind, MLIR_FLOAT);
}

TEST(regions_have_a_bound) {
    for (int depth = MLIR_DEPTH_MAX; depth <= MLIR_DEPTH_MAX + 1; depth++) {
        char text[4096] = "";
        for (int i = 0; i < depth; i++) strcat(text, "\"a\"() ({");
        for (int i = 0; i < depth; i++) strcat(text, "}) : () -> ()");
        ts_error err = {0};
        assert_int_equal(parse(&err, text) != NULL, depth == MLIR_DEPTH_MAX);
        if (depth > MLIR_DEPTH_MAX)
            assert_string_equal(err.message, "found '}', expected at most 64 regions in each other");
    }
}

TEST(reads_types) {
    mlir_type t;
    assert_true(mlir_type_read(
        span("memref<1x512x128xbf16, #tpu.tiled<(8,128)(2,1),[64,1,1]>, #tpu.memory_space<vmem>>"), &t));
    assert_int_equal(t.kind, MLIR_MEMREF);
    assert_int_equal(t.element, MLIR_FLOAT);
    assert_int_equal(t.dtype, TS_DTYPE_BF16);
    assert_int_equal(t.bits, 16);
    assert_int_equal(t.rank, 3);
    assert_int_equal(t.dims[1], 512);
    assert_true(t.tiled);
    assert_int_equal(t.tile_count, 2);
    assert_int_equal(t.tiles[0].dims[0], 8);
    assert_int_equal(t.tiles[1].dims[1], 1);
    assert_int_equal(t.strides[0], 64);
    assert_int_equal(t.space, MLIR_VMEM);
    assert_true(mlir_type_read(
        span("memref<2x!tpu.dma_semaphore, #tpu.tiled<,[1]>, #tpu.memory_space<semaphore_mem>>"), &t));
    assert_int_equal(t.element, MLIR_DMA_SEMAPHORE);
    assert_int_equal(t.space, MLIR_SEMAPHORE_MEM);
    assert_int_equal(t.tile_count, 0);
    assert_true(mlir_type_read(span("memref<!tpu.semaphore, #tpu.memory_space<vmem>>"), &t));
    assert_int_equal(t.element, MLIR_SEMAPHORE);
    assert_true(mlir_type_read(span("vector<8x128x2xi1>"), &t));
    assert_int_equal(t.bits, 1);
    assert_true(mlir_type_read(span("!other.type<x>"), &t));
    assert_true(mlir_type_read(
        span("memref<65536x65536xf32, #tpu.tiled<(65535,32768),[2147483647,0]>, #tpu.memory_space<any>>"),
        &t));
    assert_true(mlir_type_read(span("memref<8xf32, #tpu.memory_space<>>"), &t));
    assert_int_equal(t.space, MLIR_OTHER_SPACE);
    assert_true(mlir_type_read(span("memref<8xf32, #tpu.tiled<(8)(4)(2),[1]>>"), &t));
    assert_int_equal(t.tile_count, MLIR_TILES_MAX);
    int64_t n;
    assert_true(mlir_integer(span("9223372036854775807"), &n));
    assert_false(mlir_integer(span("9223372036854775808 : i64"), &n));
    static const char *const bad[] = {"",
                                      "f33",
                                      "vector<8xf32",
                                      "vector<8x>",
                                      "memref<-1xf32>",
                                      "memref<8xf32, #tpu.tiled<(8,[1]>>",
                                      "memref<8xf32, #tpu.tiled<(8),[1,1]>>",
                                      "memref<8xf32, #tpu.tiled<(8)(4)(2)(1),[1]>>",
                                      "memref<8xf32, #tpu.tiled<(0),[1]>>",
                                      "tensor<1x1x1x1x1x1x1x1x1xf32>",
                                      "vector<99999999999xf32>",
                                      "tensor<2147483647x2147483647xf32>",
                                      "memref<8xf32, #tpu.tiled<(2147483648),[1]>>",
                                      "memref<8x1xf32, #tpu.tiled<(65536,65536),[1,1]>>",
                                      "memref<8xf32, #tpu.tiled<(8),[2147483648]>>",
                                      "memref<8xf32, #tpu.tiled<(8),[-1]>>",
                                      "memref<8xf32, #tpu.tiled<>>"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(mlir_type_read(span(bad[i]), &t));
}

/* As ml_dtypes rounds them; hexadecimal digits are the bits. */
TEST(reads_floats) {
    static const struct {
        const char *text;
        ts_dtype type;
        uint32_t bits;
    } rows[] = {{"1.000000e+00 : f32", TS_DTYPE_F32, 0x3f800000},
                {"0xFF800000 : f32", TS_DTYPE_F32, 0xff800000},
                {"0x7FC0 : f32", TS_DTYPE_F32, 0x7fc0},
                {"0xFF80 : bf16", TS_DTYPE_BF16, 0xff80},
                {"0xFF80", TS_DTYPE_BF16, 0xff80},
                {"1.0e-3", TS_DTYPE_BF16, 0x3a83},
                {"0x3C00 : f16", TS_DTYPE_F16, 0x3c00},
                {"0x7E00", TS_DTYPE_F16, 0x7e00},
                {"-6.550400e+04", TS_DTYPE_F16, 0xfbff},
                {"1.0e-7", TS_DTYPE_F16, 0x2},
                {"0x3C", TS_DTYPE_F8E4M3FN, 0x3c},
                {"0x7F : f8E4M3FN", TS_DTYPE_F8E4M3FN, 0x7f},
                {"1.5", TS_DTYPE_F8E4M3FN, 0x3c},
                {"0xFC", TS_DTYPE_F8E5M2, 0xfc},
                {"1.5", TS_DTYPE_F8E5M2, 0x3e},
                {"0x80", TS_DTYPE_F8E4M3B11FNUZ, 0x80},
                {"-1.5", TS_DTYPE_F8E4M3B11FNUZ, 0xdc}};
    static const struct {
        const char *text;
        ts_dtype type;
    } bad[] = {
        {"one", TS_DTYPE_F32}, {"", TS_DTYPE_F32}, {"0x100", TS_DTYPE_F8E5M2}, {"0x1FFFFFFFF", TS_DTYPE_F32}};
    uint32_t bits;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!mlir_float(span(rows[i].text), rows[i].type, &bits) || bits != rows[i].bits)
            fail_msg("%s: 0x%x", rows[i].text, bits);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(mlir_float(span(bad[i].text), bad[i].type, &bits));
}

TEST(reads_attributes) {
    int64_t n, list[4];
    ts_span number, items[3];
    assert_true(mlir_integer(span("-12 : i32"), &n) && n == -12);
    assert_true(mlir_integer(span("true"), &n) && n == 1);
    assert_true(mlir_integer(span("false"), &n) && n == 0);
    assert_true(mlir_integer(span("0x1F"), &n) && n == 31);
    assert_false(mlir_integer(span("1.5"), &n));
    assert_false(mlir_integer(span(""), &n));
    assert_int_equal(mlir_integers(span("array<i64: 4, -5>"), list, 4), 2);
    assert_int_equal(list[1], -5);
    assert_int_equal(mlir_integers(span("array<i1: true, false>"), list, 4), 2);
    assert_int_equal(list[0], 1);
    assert_int_equal(mlir_integers(span("array<i64>"), list, 4), 0);
    assert_int_equal(mlir_integers(span("[1, 2, 3, 4, 5]"), list, 4), -1);
    assert_int_equal(mlir_integers(span("[x]"), list, 4), -1);
    assert_true(mlir_splat(span("dense<2.0> : vector<8x128xf32>"), &number) && ts_span_is(number, "2.0"));
    assert_false(mlir_splat(span("dense<[1, 2]> : vector<2xi32>"), &number));
    assert_int_equal(mlir_items(span("[{a = [1, 2]}, @f, #x.y<(1, 2) -> 3>]"), items, 3), 3);
    assert_true(ts_span_is(items[2], "#x.y<(1, 2) -> 3>"));
    assert_true(ts_span_is(mlir_member(span("{a = 1 : i64, b = @f}"), "b"), "@f"));
    assert_int_equal(mlir_member(span("{ab = 1}"), "a").length, 0);
}

TEST(finds_the_innermost_place) {
    ts_error err = {0};
    const mlir_module *m =
        parse(&err, "\"m\"() : () -> ()\n#loc1 = loc(\"k.py\":4:21 to :27)\n#loc2 = loc(\"f\"(#loc1))\n"
                    "#loc3 = loc(callsite(#loc2 at #loc9))\n#loc4 = loc(fused[unknown, #loc3])\n"
                    "#loc5 = loc(#loc5)\n");
    ts_span file;
    int line = 0;
    assert_non_null(m);
    for (int i = 1; i <= 4; i++) {
        char alias[20];
        snprintf(alias, sizeof alias, "#loc%d", i);
        assert_true(mlir_locate(m, span(alias), &file, &line));
        assert_true(ts_span_is(file, "k.py"));
        assert_int_equal(line, 4);
    }
    static const char *const none[] = {"unknown", "#loc5", "#loc9", "\"k.py\":0:1", "\"k.py\"", "", "\"k.py"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(mlir_locate(m, span(none[i]), &file, &line));
}

int main(void) { return run_all_tests(begin_group, end_group); }
