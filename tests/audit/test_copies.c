/* Which copies an audit of StableHLO foretells, against those that the TPU compiler made of the same programs
 * (tests/data/tpu_copies*.txt, by tests/oracle). With a FILE as argument: of its programs, those that differ
 * are printed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "base/file.h"
#include "layout/notation/xla.h"
#include "machine/machine.h"
#include "tests/support/audited.h"
#include "tests/support/cmocka.h"

#ifdef __SANITIZE_ADDRESS__
enum { EVERY = 6 }; /* programs of the table, of which one is taken: all take long */
#else
enum { EVERY = 1 };
#endif
enum { MOST_COPIES = 16, MOST_TEXT = 96, MOST_FILE_BYTES = 1 << 26 };

static const char table[] = "tests/data/tpu_copies.txt", picked[] = "tests/data/tpu_copies_picked.txt";

typedef struct {
    int count;
    char list[MOST_COPIES][MOST_TEXT];
} copy_list;

typedef struct {
    int programs, agree, with_copies, agree_with_copies, single, agree_single;
} score;

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* Minor to major, without the dims of 1 that no tile covers. */
static void add_order(ts_text *out, const ts_xla_layout *f) {
    bool first = true;
    for (int i = 0; i < f->rank; i++) {
        int dim = ts_xla_dim_at(f, i);
        if (i >= 2 && f->dims[dim] == 1) continue;
        ts_text_add(out, "%s%d", first ? " " : ",", dim);
        first = false;
    }
}

static void add_foretold(ts_arena *memory, const ts_audit_copy *copy, copy_list *out) {
    const char *texts[2] = {copy->from, copy->to};
    ts_text line = ts_text_begin(memory);
    for (int k = 0; k < 2; k++) {
        ts_source source = {"copy", texts[k], strlen(texts[k])};
        const ts_shape *shape = ts_shape_parse(NULL, memory, &source);
        assert_non_null(shape);
        if (k == 0) ts_text_add(&line, "%s ", ts_dtype_get(shape->dtype)->name);
        for (int i = 0; k == 0 && i < shape->xla->rank; i++)
            ts_text_add(&line, "%s%" PRId64, i > 0 ? "," : "", shape->xla->dims[i]);
        add_order(&line, shape->xla);
    }
    assert_true(out->count < MOST_COPIES && line.length < MOST_TEXT);
    strcpy(out->list[out->count++], line.bytes);
}

/* One for all: what is laid out anew for each program costs more than the audit. */
static ts_arena *arena;

static void foretell(const ts_machine *machine, const char *text, size_t length, copy_list *out) {
    const ts_audit_request request = {.machine = machine};
    ts_audit_result result;
    ts_audit *audit = audited(arena, &request, (audited_text){text, length, 0}, &result);
    assert_true(result.copies_predicted);
    out->count = 0;
    for (int i = 0; i < result.copy_count; i++) add_foretold(arena, &result.copies[i], out);
    qsort(out->list, (size_t)out->count, sizeof out->list[0], by_text);
    ts_audit_free(audit);
    ts_arena_reset(arena);
}

static void print_difference(const char *head, const copy_list *made, const copy_list *foretold) {
    printf("%s\n", head);
    for (int i = 0; i < made->count; i++) printf("    made      %s\n", made->list[i]);
    for (int i = 0; i < foretold->count; i++) printf("    foretold  %s\n", foretold->list[i]);
}

/* "= operations", then copies, then the program, up to the next '='. */
static const char *check_program(const ts_machine *machine, const char *at, bool prints, score *total) {
    copy_list made = {0}, foretold;
    char head[MOST_TEXT];
    size_t length = strcspn(at, "\n");
    snprintf(head, sizeof head, "%.*s", (int)length, at);
    for (at += length + 1; *at == '>'; at += strcspn(at, "\n") + 1)
        snprintf(made.list[made.count++], MOST_TEXT, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
    const char *end = strstr(at, "\n=");
    end = end ? end + 1 : at + strlen(at);
    foretell(machine, at, (size_t)(end - at), &foretold);
    qsort(made.list, (size_t)made.count, sizeof made.list[0], by_text);
    bool same = made.count == foretold.count;
    for (int i = 0; same && i < made.count; i++) same = strcmp(made.list[i], foretold.list[i]) == 0;
    bool single = strchr(head + 2, ' ') == NULL;
    total->programs++;
    total->agree += same;
    total->with_copies += made.count > 0;
    total->agree_with_copies += same && made.count > 0;
    total->single += single;
    total->agree_single += same && single;
    if (prints && !same) print_difference(head, &made, &foretold);
    return end;
}

/* Of so many programs one. */
static score check_file(const char *path, const char *machine_name, int every, bool prints) {
    ts_arena *memory = ts_arena_new();
    ts_error err = {0};
    score total = {0};
    char *text = NULL;
    size_t length;
    const ts_machine *machine = ts_machine_change(&err, memory, machine_name, NULL, 0);
    assert_non_null(machine);
    assert_true(ts_file_read(&err, memory, path, MOST_FILE_BYTES, &text, &length));
    const char *at = strstr(text, "\n="); /* behind the remark of the first line */
    assert_non_null(at);
    for (at++; *at == '=';) {
        for (int i = 1; i < every && at; i++) at = strstr(at, "\n=") ? strstr(at, "\n=") + 1 : NULL;
        if (!at) break;
        at = check_program(machine, at, prints, &total);
    }
    ts_arena_free(memory);
    return total;
}

TEST(foretells_what_the_compiler_made) {
    score found = check_file(table, "tpu-v6e", EVERY, false);
    if (EVERY > 1) {
        assert_int_equal(found.programs, 1845 / EVERY);
        assert_true(found.agree * 20 >= found.programs * 19);
        return;
    }
    assert_int_equal(found.programs, 1845);
    assert_int_equal(found.agree, 1809);
    assert_int_equal(found.with_copies, 456);
    assert_int_equal(found.agree_with_copies, 424);
    assert_int_equal(found.single, 1255);
    assert_int_equal(found.agree_single, 1237);
}

TEST(foretells_what_was_picked) {
    score found = check_file(picked, "tpu-v6e", 1, true);
    assert_int_equal(found.programs, 17);
    assert_int_equal(found.agree, 17);
}

/* What the tables have none of: operations that are not known, and what fits nothing. */
static const struct {
    const char *program;
    copy_list copies;
} rows[] = {
    {"func.func @main(%a: tensor<55x16xf32>) -> tensor<13x12xf32> {\n"
     "  %0 = stablehlo.slice %a [0:13, 0:12] : (tensor<55x16xf32>) -> tensor<13x12xf32>\n"
     "  return %0 : tensor<13x12xf32>\n}\n",
     {1, {"f32 13,12 0,1 1,0"}}},
    {"func.func @main(%a: tensor<55x16xf32>) -> tensor<13x12xf32> {\n"
     "  %0 = stablehlo.slice %a [0:13, 0:12] : (tensor<55x16xf32>) -> tensor<13x12xf32>\n"
     "  %1 = stablehlo.cholesky %0 : tensor<13x12xf32>\n  return %1 : tensor<13x12xf32>\n}\n",
     {0, {""}}},
    {"func.func @main(%a: tensor<8x8x4x2xf32>, %b: tensor<5xf32>) -> tensor<3x7xf32> {\n"
     "  %0 = stablehlo.transpose %a, dims = [0, 0, 0, 0] : (tensor<8x8x4x2xf32>) -> tensor<8x8x4x2xf32>\n"
     "  %1 = stablehlo.reshape %0 : (tensor<8x8x4x2xf32>) -> tensor<3x7xf32>\n"
     "  %2 = stablehlo.dot_general %a, %b, contracting_dims = [7] x [0] : (tensor<8x8x4x2xf32>, "
     "tensor<5xf32>) -> tensor<3x7xf32>\n"
     "  %3 = stablehlo.reduce(%2 init: %b) applies stablehlo.add across dimensions = [0] : "
     "(tensor<3x7xf32>, tensor<5xf32>) -> tensor<3x7xf32>\n  return %3, %1 : tensor<3x7xf32>\n}\n",
     {0, {""}}},
    /* Dims that a text names twice or that do not fit, and operations that pick otherwise. */
    {"func.func @main(%a: tensor<8x9x9x16xf32>, %b: tensor<3x3x16x32xf32>) -> tensor<8x9x9x32xf32> {\n"
     "  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, b, 0, 0]x[0, 0, 0, 0]->[f, f, f, f], window = "
     "{} : "
     "(tensor<8x9x9x16xf32>, tensor<3x3x16x32xf32>) -> tensor<8x9x9x32xf32>\n"
     "  %1 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} : "
     "(tensor<8x9x9x16xf32>, tensor<3x3x16x32xf32>) -> tensor<8x9x9x32xf32>\n"
     "  return %0, %1 : tensor<8x9x9x32xf32>, tensor<8x9x9x32xf32>\n}\n",
     {0, {""}}},
    {"func.func @main(%a: tensor<2x3x2x3x2x3x64xf32>) -> tensor<2x3x2x3x2x3x64xf32> {\n"
     "  %0 = stablehlo.convolution(%a, %a) dim_numbers = [0, 1, 2, 3, 4, 5, 6]x[0, 1, 2, 3, 4, 5, 6]->"
     "[6, 5, 4, 3, 2, 1, 0], window = {} : (tensor<2x3x2x3x2x3x64xf32>, tensor<2x3x2x3x2x3x64xf32>) -> "
     "tensor<2x3x2x3x2x3x64xf32>\n  return %0 : tensor<2x3x2x3x2x3x64xf32>\n}\n",
     {0, {""}}},
    {"func.func @main(%a: tensor<4x8xf32>, %b: tensor<4x8x2xf32>) -> tensor<64xf32> {\n"
     "  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 1] : (tensor<4x8xf32>) -> tensor<4x8x2xf32>\n"
     "  %1 = stablehlo.broadcast_in_dim %a, dims = [5, 7] : (tensor<4x8xf32>) -> tensor<4x8x2xf32>\n"
     "  %2 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<4x8xf32>) -> tensor<4x8x2xf32>\n"
     "  %3 = stablehlo.add %0, %1 : tensor<4x8x2xf32>\n  %4 = stablehlo.add %3, %2 : tensor<4x8x2xf32>\n"
     "  %5 = stablehlo.dot_general %4, %b, batching_dims = [0] x [], contracting_dims = [1] x [1] : "
     "(tensor<4x8x2xf32>, tensor<4x8x2xf32>) -> tensor<4x2x2xf32>\n"
     "  %6 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : "
     "(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x2xf32>\n"
     "  %7 = stablehlo.reshape %5 : (tensor<4x2x2xf32>) -> tensor<16xf32>\n"
     "  return %4, %6, %7 : tensor<4x8x2xf32>, tensor<4x2xf32>, tensor<16xf32>\n}\n",
     {1, {"f32 4,2,2 0,2,1 2,1,0"}}},
    {"func.func @main(%a: tensor<40x50x60xf32>, %i: tensor<3xi32>) -> tensor<3x50x7xf32> {\n"
     "  %0 = call @_take(%a, %i) : (tensor<40x50x60xf32>, tensor<3xi32>) -> tensor<3x50x7xf32>\n"
     "  return %0 : tensor<3x50x7xf32>\n}\n"
     "func.func private @_take(%a: tensor<40x50x60xf32>, %i: tensor<3xi32>) -> tensor<3x50x7xf32> {\n"
     "  %0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], "
     "collapsed_slice_dims = [0], start_index_map = [0]>}> : (tensor<40x50x60xf32>, tensor<3xi32>) -> "
     "tensor<3x50x7xf32>\n  return %0 : tensor<3x50x7xf32>\n}\n",
     {0, {""}}},
    {"func.func @main(%a: tensor<40x50x60xf32>, %i: tensor<3xi32>) -> tensor<40x50x60xf32> {\n"
     "  %0 = call @_take(%a, %i) : (tensor<40x50x60xf32>, tensor<3xi32>) -> tensor<40x50x60xf32>\n"
     "  return %0 : tensor<40x50x60xf32>\n}\n"
     "func.func private @_take(%a: tensor<40x50x60xf32>, %i: tensor<3xi32>) -> tensor<40x50x60xf32> {\n"
     "  %0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], "
     "collapsed_slice_dims = [6], start_index_map = [0]>}> : (tensor<40x50x60xf32>, tensor<3xi32>) -> "
     "tensor<40x50x60xf32>\n  return %0 : tensor<40x50x60xf32>\n}\n",
     {0, {""}}},
    /* Of functions those that gather are told by their names. */
    {"func.func @main(%a: tensor<73x2xf32>, %b: tensor<73x2xf32>, %i: tensor<100xi32>) -> tensor<73x100xf32> "
     "{\n"
     "  %0 = call @_put(%a, %i) : (tensor<73x2xf32>, tensor<100xi32>) -> tensor<73x100xf32>\n"
     "  %1 = call @_take(%b, %i) : (tensor<73x2xf32>, tensor<100xi32>) -> tensor<73x100xf32>\n"
     "  return %0, %1 : tensor<73x100xf32>, tensor<73x100xf32>\n}\n"
     "func.func private @_put(%a: tensor<73x2xf32>, %i: tensor<100xi32>) -> tensor<73x100xf32> {\n"
     "  return %a : tensor<73x100xf32>\n}\n"
     "func.func private @_take(%a: tensor<73x2xf32>, %i: tensor<100xi32>) -> tensor<73x100xf32> {\n"
     "  %0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], "
     "collapsed_slice_dims = [1], start_index_map = [1]>}> : (tensor<73x2xf32>, tensor<100xi32>) -> "
     "tensor<73x100xf32>\n  return %0 : tensor<73x100xf32>\n}\n",
     {1, {"f32 73,100 0,1 1,0"}}},
    /* A broadcast that only puts dims elsewhere is a transpose. */
    {"func.func @main(%a: tensor<256x512xf32>) -> tensor<512x256xf32> {\n"
     "  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>\n"
     "  return %0 : tensor<512x256xf32>\n}\n",
     {1, {"f32 256,512 1,0 0,1"}}},
    /* Constants lie as their reader wants. */
    {"func.func @main() -> tensor<512x256xf32> {\n"
     "  %a = stablehlo.constant dense<\"0x00\"> : tensor<256x512xf32>\n"
     "  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>\n"
     "  %b = stablehlo.iota dim = 0 : tensor<256x512xf32>\n"
     "  %1 = stablehlo.transpose %b, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>\n"
     "  return %0, %1 : tensor<512x256xf32>, tensor<512x256xf32>\n}\n",
     {0, {""}}},
    /* What is of nothing, where it should be of an array. */
    {"HloModule m\n\nENTRY %main () -> f32[32] {\n  %0 = f32[8,4] reshape()\n  %1 = f32[4,8] transpose(), "
     "dimensions={1,0}\n  %2 = f32[32] reshape(%0)\n  %3 = f32[8,4] transpose(%1), dimensions={1,0}\n"
     "  ROOT %4 = f32[32] reshape(%2)\n}\n",
     {1, {"f32 8,4 0,1 1,0"}}},
/* A product of what is not in the text, and of what is: as it lies. */
#define HALF_KNOWN(operands)                                                                                 \
    "HloModule m\n\nENTRY %main (a: f32[64,4,16]) -> f32[64,4,4] {\n  %a = f32[64,4,16]{2,1,0} "             \
    "parameter(0)\n"                                                                                         \
    "  ROOT %t = f32[64,4,4]{2,1,0} dot(" operands "), lhs_batch_dims={0}, rhs_batch_dims={0}, "             \
    "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n}\n"
    {HALF_KNOWN("%a, %a"), {2, {"f32 64,4,16 0,2,1 2,1,0", "f32 64,4,4 2,1,0 0,2,1"}}},
    {HALF_KNOWN("%nothing, %a"), {0, {""}}},
    {HALF_KNOWN("%a, %nothing"), {0, {""}}},
    /* HLO's text says the same as StableHLO's. */
    {"HloModule m\n\nENTRY %main (a: f32[8,28,56,8], b: f32[5,5,28,64]) -> f32[8,56,8,64] {\n"
     "  %a = f32[8,28,56,8]{3,2,1,0} parameter(0)\n  %b = f32[5,5,28,64]{3,2,1,0} parameter(1)\n"
     "  ROOT %c = f32[8,56,8,64]{3,2,1,0} convolution(%a, %b), window={size=5x5 pad=2_2x2_2}, "
     "dim_labels=bf01_01io->b01f\n}\n",
     {2, {"f32 8,28,56,8 2,3,1,0 1,0,3,2", "f32 8,56,8,64 3,0,2,1 3,2,1,0"}}},
/* What a loop begins with, in each of the three texts. */
#define LOOP_TEXT                                                                                            \
    "func.func @main(%a: tensor<256x512xf32>) -> tensor<512x256xf32> {\n"                                    \
    "  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>\n"
    {LOOP_TEXT "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
               "  %w:2 = stablehlo.while(%i = %z, %x = %t) : tensor<i32>, tensor<512x256xf32>\n  cond {\n"
               "    stablehlo.return %p : tensor<i1>\n  } do {\n"
               "    stablehlo.return %i, %x : tensor<i32>, tensor<512x256xf32>\n  }\n"
               "  return %w#1 : tensor<512x256xf32>\n}\n",
     {1, {"f32 256,512 1,0 0,1"}}},
    {LOOP_TEXT "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
               "  %w:2 = \"stablehlo.while\"(%z, %t) ({\n  ^bb0(%i: tensor<i32>, %x: tensor<512x256xf32>):\n"
               "    \"stablehlo.return\"(%p) : (tensor<i1>) -> ()\n  }, {\n"
               "  ^bb0(%i: tensor<i32>, %x: tensor<512x256xf32>):\n"
               "    %r = \"stablehlo.reduce\"(%x, %c) <{dimensions = array<i64: 0>}> ({\n"
               "    }) : (tensor<512x256xf32>, tensor<f32>) -> tensor<256xf32>\n"
               "    \"stablehlo.return\"(%i, %x) : (tensor<i32>, tensor<512x256xf32>) -> ()\n"
               "  }) : (tensor<i32>, tensor<512x256xf32>) -> (tensor<i32>, tensor<512x256xf32>)\n"
               "  \"func.return\"(%w#1) : (tensor<512x256xf32>) -> ()\n}\n",
     {1, {"f32 256,512 1,0 0,1"}}},
    {"HloModule m\n\nENTRY %main (a: f32[256,512]) -> f32[512,256] {\n"
     "  %a = f32[256,512]{1,0} parameter(0)\n"
     "  %t = f32[512,256]{1,0} transpose(%a), dimensions={1,0}\n  %z = s32[] constant(0)\n"
     "  %b = (s32[], f32[512,256]{1,0}) tuple(%z, %t)\n"
     "  %w = (s32[], f32[512,256]{1,0}) while(%b), condition=%c, body=%d\n"
     "  ROOT %r = f32[512,256]{1,0} get-tuple-element(%w), index=1\n}\n",
     {1, {"f32 256,512 1,0 0,1"}}},
/* A product whose operand is copied, and what reads it: as one of several results, in branches, as a loop. */
#define PRODUCT                                                                                              \
    "func.func @main(%p: tensor<i32>, %a: tensor<64x4x16xf32>) -> tensor<64x4x4xf32> {\n"                    \
    "  %t = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "        \
    "(tensor<64x4x16xf32>, tensor<64x4x16xf32>) -> tensor<64x4x4xf32>\n"
#define PRODUCT_HLO(result)                                                                                  \
    "HloModule m\n\n%f (a: f32[64,4,4]) -> f32[64,4,4] {\n  ROOT %a = f32[64,4,4]{2,1,0} "                   \
    "parameter(0)\n}\n\n"                                                                                    \
    "ENTRY %main (p: s32[], a: f32[64,4,16]) -> " result " {\n  %p = s32[] parameter(0)\n"                   \
    "  %a = f32[64,4,16]{2,1,0} parameter(1)\n  %t = f32[64,4,4]{2,1,0} dot(%a, %a), lhs_batch_dims={0}, "   \
    "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}\n"
#define OPERAND                                                                                              \
    {                                                                                                        \
        1, { "f32 64,4,16 0,2,1 2,1,0" }                                                                     \
    }
#define TOP "(f32[64,4,4]{2,1,0}, s32[64,4,4]{2,1,0})"
    {PRODUCT
     "  %r:2 = chlo.top_k(%t, k = 4) : tensor<64x4x4xf32> -> (tensor<64x4x4xf32>, tensor<64x4x4xi32>)\n"
     "  return %r#1 : tensor<64x4x4xi32>\n}\n",
     OPERAND},
    {PRODUCT
     "  %r:2 = chlo.top_k(%t, k = 4) : tensor<64x4x4xf32> -> (tensor<64x4x4xf32>, tensor<64x4x4xi32>)\n"
     "  return %r#0 : tensor<64x4x4xf32>\n}\n",
     OPERAND},
    {PRODUCT_HLO("s32[64,4,4]") "  %r = " TOP " topk(%t), k=4, largest=true\n"
                                "  ROOT %x = s32[64,4,4]{2,1,0} get-tuple-element(%r), index=1\n}\n",
     OPERAND},
    {PRODUCT_HLO("(f32[64,4,4], s32[64,4,4])") "  ROOT %r = " TOP " topk(%t), k=4, largest=true\n}\n",
     OPERAND},
    {PRODUCT "  %r = \"stablehlo.case\"(%p) ({\n    %v = stablehlo.negate %t : tensor<64x4x4xf32>\n"
             "    stablehlo.return %v : tensor<64x4x4xf32>\n  }, {\n"
             "    stablehlo.return %v : tensor<64x4x4xf32>\n  }) : (tensor<i32>) -> tensor<64x4x4xf32>\n"
             "  return %r : tensor<64x4x4xf32>\n}\n",
     OPERAND},
    {PRODUCT "  %r = \"stablehlo.case\"(%p) ({\n    stablehlo.return %t : tensor<64x4x4xf32>\n"
             "  }) : (tensor<i32>) -> tensor<64x4x4xf32>\n  return %r : tensor<64x4x4xf32>\n}\n",
     OPERAND},
    {PRODUCT_HLO(
         "f32[64,4,4]") "  ROOT %r = f32[64,4,4]{2,1,0} conditional(%p, %t), branch_computations={%f}\n}\n",
     OPERAND},
    {PRODUCT_HLO(
         "f32[64,4,4]") "  %q = " TOP " tuple(%t, %p)\n"
                        "  ROOT %r = f32[64,4,4]{2,1,0} conditional(%p, %q), branch_computations={%f}\n}\n",
     OPERAND},
    {PRODUCT_HLO(
         "f32[64,4,4]") "  %q = " TOP " tuple(%p, %t)\n"
                        "  ROOT %r = f32[64,4,4]{2,1,0} conditional(%p, %q), branch_computations={%f}\n}\n",
     OPERAND},
    /* Nobody reads it, and what is in a branch is not looked at: HLO has it elsewhere. */
    {PRODUCT "  %r = stablehlo.negate %a : tensor<64x4x16xf32>\n  return %r : tensor<64x4x16xf32>\n}\n",
     {0, {""}}},
    {"func.func @main(%p: tensor<i32>, %a: tensor<256x512xf32>) -> tensor<256x512xf32> {\n"
     "  %r = \"stablehlo.case\"(%p) ({\n"
     "    %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>\n"
     "    stablehlo.return %t : tensor<512x256xf32>\n  }) : (tensor<i32>) -> tensor<512x256xf32>\n"
     "  return %t : tensor<512x256xf32>\n}\n",
     {0, {""}}},
    /* A loop of one value is that value. */
    {LOOP_TEXT "  %w = stablehlo.while(%x = %t) : tensor<512x256xf32>\n  cond {\n"
               "    stablehlo.return %p : tensor<i1>\n  } do {\n"
               "    stablehlo.return %x : tensor<512x256xf32>\n  }\n  return %w : tensor<512x256xf32>\n}\n",
     {1, {"f32 256,512 1,0 0,1"}}},
    /* A member of a tuple is what was put there, the first value of all too. */
    {"HloModule m\n\nENTRY %main (a: f32[256,512]) -> f32[512,256] {\n"
     "  %a = f32[256,512]{1,0} parameter(0)\n  %b = (f32[256,512]{1,0}) tuple(%a)\n"
     "  %g = f32[256,512]{1,0} get-tuple-element(%b), index=0\n"
     "  ROOT %t = f32[512,256]{0,1} transpose(%g), dimensions={1,0}\n}\n",
     {1, {"f32 256,512 1,0 0,1"}}},
    /* What a function picks, in HLO: the last of many functions. */
    {"HloModule m\n\n%add (x: f32[], y: f32[]) -> f32[] {\n  %x = f32[] parameter(0)\n"
     "  %y = f32[] parameter(1)\n  ROOT %s = f32[] add(%x, %y)\n}\n\n"
     "_take.1 {\n  %p = f32[55,16]{1,0} parameter(0)\n  %q = s32[3,1]{1,0} parameter(1)\n"
     "  ROOT %g = f32[3,16]{1,0} gather(%p, %q), offset_dims={1}, collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}\n}\n\n"
     "ENTRY %main (a: f32[55,16], i: s32[3,1]) -> f32[3,16] {\n  %a = f32[55,16]{1,0} parameter(0)\n"
     "  %i = s32[3,1]{1,0} parameter(1)\n"
     "  ROOT %t = f32[3,16]{1,0} call(%a, %i), to_apply=%_take.1\n}\n",
     {1, {"f32 55,16 0,1 1,0"}}},
    /* What is done with what was picked, and functions that pick nothing. */
    {"HloModule m\n\n_take.1 {\n  %p = f32[55,16]{1,0} parameter(0)\n  %q = s32[3,1]{1,0} parameter(1)\n"
     "  %g = f32[3,16]{1,0} gather(%p, %q), offset_dims={1}, collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}\n  ROOT %n = f32[3,16]{1,0} "
     "negate(%g)\n}\n\n"
     "ENTRY %main (a: f32[55,16], i: s32[3,1]) -> f32[3,16] {\n  %a = f32[55,16]{1,0} parameter(0)\n"
     "  %i = s32[3,1]{1,0} parameter(1)\n"
     "  ROOT %t = f32[3,16]{1,0} call(%a, %i), to_apply=%_take.1\n}\n",
     {1, {"f32 55,16 0,1 1,0"}}},
    {"HloModule m\n\n_drop.1 {\n  %p = f32[55,16]{1,0} parameter(0)\n  %q = s32[3,1]{1,0} parameter(1)\n"
     "  ROOT %n = f32[3,16]{1,0} slice(%p), slice={[0:3],[0:16]}\n}\n\n"
     "ENTRY %main (a: f32[55,16], i: s32[3,1]) -> f32[3,16] {\n  %a = f32[55,16]{1,0} parameter(0)\n"
     "  %i = s32[3,1]{1,0} parameter(1)\n"
     "  ROOT %t = f32[3,16]{1,0} call(%a, %i), to_apply=%_drop.1\n}\n",
     {0, {""}}},
/* A result's layout by the header, if that is of such an array. */
#define RESULT(shape)                                                                                        \
    "HloModule m, entry_computation_layout={(f32[55,16]{1,0})->" shape "}\n\n"                               \
    "ENTRY %main (a: f32[55,16]) -> f32[55,16] {\n  %a = f32[55,16]{1,0} parameter(0)\n"                     \
    "  ROOT %n = f32[55,16]{1,0} negate(%a)\n}\n"
    {RESULT("f32[55,16]{0,1:T(8,128)}"), {0, {""}}},
    {RESULT("f32[55,16]{1,0:T(8,128)}"), {1, {"f32 55,16 0,1 1,0"}}},
    {RESULT("bf16[55,16]{1,0:T(8,128)(2,1)}"), {0, {""}}},
    {RESULT("f32[16,55]{1,0:T(8,128)}"), {0, {""}}},
    {RESULT("f32[55,16,1]{1,0,2:T(8,128)}"), {0, {""}}},
    /* A result of padding is copied before it is padded. */
    {"HloModule m, entry_computation_layout={(f32[55,16]{1,0})->(f32[70,20]{1,0:T(8,128)}, "
     "f32[70,20]{0,1:T(8,128)})}\n\nENTRY %main (a: f32[55,16]) -> (f32[70,20], f32[70,20]) {\n"
     "  %a = f32[55,16]{1,0} parameter(0)\n  %c = f32[] constant(0)\n"
     "  %m = f32[60,20]{1,0} pad(%a, %c), padding=0_5x0_4\n"
     "  %n = f32[70,20]{1,0} pad(%m, %c), padding=0_10x0_0\n"
     "  ROOT %t = (f32[70,20]{1,0}, f32[70,20]{1,0}) tuple(%n, %n)\n}\n",
     {2, {"f32 55,16 0,1 1,0", "f32 55,16 1,0 0,1"}}},
/* What a compiler can make as often as it likes is not copied. */
#define TWICE(made)                                                                                          \
    "HloModule m, entry_computation_layout={()->(f32[55,16]{1,0:T(8,128)}, f32[55,16]{0,1:T(8,128)})}\n\n"   \
    "ENTRY %main () -> (f32[55,16], f32[55,16]) {\n  %c = f32[] constant(0)\n  %n = f32[55,16]{1,0} " made   \
    "\n  ROOT %t = (f32[55,16]{1,0}, f32[55,16]{1,0}) tuple(%n, %n)\n}\n"
    {TWICE("iota(), iota_dimension=0"), {0, {""}}},
    {TWICE("constant({...})"), {0, {""}}},
    {TWICE("broadcast(%c), dimensions={}"), {1, {"f32 55,16 1,0 0,1"}}},
    {TWICE("pad(), padding=0_5x0_4"), {1, {"f32 55,16 1,0 0,1"}}}, /* of nothing: it is copied itself */
/* Arrays of up to eight dims. */
#define DIMS(ones, list)                                                                                     \
    "HloModule m, entry_computation_layout={(f32[" ones "2,55,16]{" list "})->f32[" ones "2,55,16]{" list    \
    ":T(8,128)}}\n\nENTRY %main (a: f32[" ones "2,55,16]) -> f32[" ones "2,55,16] {\n  %a = f32[" ones       \
    "2,55,16]{" list "} parameter(0)\n  ROOT %n = f32[" ones "2,55,16]{" list "} negate(%a)\n}\n"
    {DIMS("1,1,1,1,1,", "7,6,5,4,3,2,1,0"), {1, {"f32 1,1,1,1,1,2,55,16 6,7,5 7,6,5"}}},
    {DIMS("1,1,1,1,1,1,", "8,7,6,5,4,3,2,1,0"), {0, {""}}},
    /* What is no array, and what is nowhere. */
    {"func.func @main(%a: tensor<256x512xf32>) -> tensor<512x256xf32> {\n"
     "  %k = stablehlo.create_token : !stablehlo.token\n"
     "  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>\n"
     "  return %nothing, %k, %0 : tensor<512x256xf32>, !stablehlo.token, tensor<512x256xf32>\n}\n",
     {1, {"f32 256,512 1,0 0,1"}}},
    {"func.func @main(%a: tensor<64x4x16xf32>) -> tensor<64x4x16xf32> {\n"
     "  %0 = stablehlo.add %a, %nothing : tensor<64x4x16xf32>\n  return %0 : tensor<64x4x16xf32>\n}\n",
     {0, {""}}},
    {"func.func @main(%p: tensor<i32>, %a: tensor<64x4x16xf32>) -> tensor<64x4x16xf32> {\n"
     "  %0 = stablehlo.add %a, %nothing : tensor<64x4x16xf32>\n  %r = \"stablehlo.case\"(%p) ({\n"
     "    stablehlo.return %0 : tensor<64x4x16xf32>\n  }) : (tensor<i32>) -> tensor<64x4x16xf32>\n"
     "  return %r : tensor<64x4x16xf32>\n}\n",
     {0, {""}}},
    /* An argument that is the result. */
    {"HloModule m, entry_computation_layout={(f32[55,16]{1,0})->f32[55,16]{1,0:T(8,128)}}\n\n"
     "ENTRY %main (a: f32[55,16]) -> f32[55,16] {\n  ROOT %a = f32[55,16]{1,0} parameter(0)\n}\n",
     {1, {"f32 55,16 0,1 1,0"}}},
    /* What a product reads that is computed is rounded before. */
    {"HloModule m\n\nENTRY %main (a: f32[64,4,16]) -> f32[64,4,4] {\n"
     "  %a = f32[64,4,16]{2,1,0} parameter(0)\n"
     "  %r = (f32[64,4,16]{2,1,0}, s32[64,4,16]{2,1,0}) topk(%a), k=16, largest=true\n"
     "  %g = f32[64,4,16]{2,1,0} get-tuple-element(%r), index=0\n"
     "  ROOT %t = f32[64,4,4]{2,1,0} dot(%g, %g), lhs_batch_dims={0}, rhs_batch_dims={0}, "
     "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n}\n",
     {2, {"bf16 64,4,16 0,2,1 2,1,0", "f32 64,4,4 2,1,0 0,2,1"}}},
    /* Both operands are one value: it is copied once. */
    {"func.func @main(%a: tensor<64x4x16xf32>) -> tensor<64x4x4xf32> {\n"
     "  %0 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [2] x [2] : "
     "(tensor<64x4x16xf32>, tensor<64x4x16xf32>) -> tensor<64x4x4xf32>\n"
     "  return %0 : tensor<64x4x4xf32>\n}\n",
     {2, {"f32 64,4,16 0,2,1 2,1,0", "f32 64,4,4 2,1,0 0,2,1"}}},
};

TEST(by_hand) {
    ts_arena *memory = ts_arena_new();
    const ts_machine *machine = ts_machine_change(NULL, memory, "tpu-v6e", NULL, 0);
    assert_non_null(machine);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        copy_list found;
        foretell(machine, rows[i].program, strlen(rows[i].program), &found);
        if (found.count != rows[i].copies.count) print_difference("by hand", &rows[i].copies, &found);
        assert_int_equal(found.count, rows[i].copies.count);
        for (int k = 0; k < found.count; k++) assert_string_equal(found.list[k], rows[i].copies.list[k]);
    }
    ts_arena_free(memory);
}

/* Each copy has its line, who reads it, and its bytes: 4 x 16 x 128 words of {0,2,1}, 64 x 4 x 128 of {2,1,0}, 4 x 4 x 128. */
TEST(says_what_is_copied) {
    static const struct {
        const char *name, *shown;
    } names[] = {{"t", "t"},
                 {"a.name.of.55.characters................................", NULL},
                 {"a.name.of.56.characters.................................",
                  "a.name.of.56.characters................................"}};
    ts_arena *memory = ts_arena_new();
    const ts_audit_request request = {.machine = ts_machine_change(NULL, memory, "tpu-v6e", NULL, 0)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *shown = names[i].shown ? names[i].shown : names[i].name;
        ts_text text = ts_text_begin(memory);
        ts_text_add(&text, "HloModule m\n\nENTRY %%main (a: f32[64,4,16]) -> f32[64,4,4] {\n"
                           "  %%a = f32[64,4,16]{2,1,0} parameter(0)\n");
        ts_text_add(&text,
                    "  ROOT %%%s = f32[64,4,4]{2,1,0} dot(%%a, %%a), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                    "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n}\n",
                    names[i].name);
        ts_audit_result r;
        ts_audit *audit = audited(memory, &request, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.copy_count, 2);
        for (int k = 0; k < 2; k++) {
            const ts_audit_copy *c = &r.copies[k];
            assert_string_equal(c->name, k == 0 ? "a" : shown);
            assert_string_equal(c->reader, k == 0 ? shown : "");
            assert_int_equal(c->line, 5);
            assert_int_equal(c->bytes, 4 * 128 * (64 * 4 + (k == 0 ? 4 * 16 : 4 * 4)));
        }
        ts_audit_free(audit);
    }
    ts_arena_free(memory);
}

/* Nothing is foretold of what a compiler has laid out. */
TEST(of_what_is_not_laid_out) {
    static const struct {
        const char *schedule, *tiles;
        bool predicted;
    } modules[] = {{"", "", true},
                   {"", ":T(8,128)", false},
                   {", is_scheduled=true", "", false},
                   {", is_scheduled=true", ":T(8,128)", false}};
    ts_arena *memory = ts_arena_new();
    const ts_audit_request request = {.machine = ts_machine_change(NULL, memory, "tpu-v6e", NULL, 0)};
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++) {
        ts_text text = ts_text_begin(memory);
        ts_text_add(&text,
                    "HloModule m%s\n\nENTRY %%main (a: f32[55,16]) -> f32[55,16] {\n"
                    "  %%a = f32[55,16]{1,0} parameter(0)\n  ROOT %%n = f32[55,16]{1,0%s} negate(%%a)\n}\n",
                    modules[i].schedule, modules[i].tiles);
        ts_audit_result r;
        ts_audit *audit = audited(memory, &request, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.copies_predicted, modules[i].predicted);
        ts_audit_free(audit);
    }
    ts_arena_free(memory);
}

/* Of so many values, results and functions that gather, the last of which is called. */
static int64_t copies_of(const ts_machine *machine, int values, int results, int functions) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text,
                "func.func @main(%%a: tensor<55x16xf32>, %%i: tensor<3x1xi32>) -> tensor<3x16xf32> {\n");
    for (int i = 0; i < values - 3; i++)
        ts_text_add(&text, "  %%v%d = stablehlo.negate %%a : tensor<55x16xf32>\n", i);
    ts_text_add(&text,
                "  %%0 = call @_take%d(%%a, %%i) : (tensor<55x16xf32>, tensor<3x1xi32>) -> tensor<3x16xf32>\n"
                "  return %%0",
                functions);
    for (int i = 1; i < results; i++) ts_text_add(&text, ", %%i");
    ts_text_add(&text, " : tensor<3x16xf32>\n}\n");
    for (int i = 1; i <= functions; i++)
        ts_text_add(&text,
                    "func.func private @_take%d(%%a: tensor<55x16xf32>, %%i: tensor<3x1xi32>) -> "
                    "tensor<3x16xf32> {\n  %%0 = \"stablehlo.gather\"(%%a, %%i) <{dimension_numbers = "
                    "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
                    "index_vector_dim = 1>}> : (tensor<55x16xf32>, tensor<3x1xi32>) -> tensor<3x16xf32>\n"
                    "  return %%0 : tensor<3x16xf32>\n}\n",
                    i);
    const ts_audit_request request = {.machine = machine};
    ts_audit_result r;
    ts_audit *audit = audited(arena, &request, (audited_text){text.bytes, text.length, 0}, &r);
    int64_t count = r.copies_predicted ? r.copy_count : -1;
    ts_audit_free(audit);
    ts_arena_reset(arena);
    return count;
}

/* Of more values or results nothing is foretold, functions behind so many are not known. */
TEST(as_many_as_there_is_room_for) {
    static const struct {
        int values, results, functions, copies;
    } limits[] = {{3, 1, 1, 1},     {4096, 1, 1, 1}, {4097, 1, 1, -1}, {3, 1024, 1, 1},
                  {3, 1025, 1, -1}, {3, 1, 64, 1},   {3, 1, 65, 0}};
    ts_arena *memory = ts_arena_new();
    const ts_machine *machine = ts_machine_change(NULL, memory, "tpu-v6e", NULL, 0);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        assert_int_equal(copies_of(machine, limits[i].values, limits[i].results, limits[i].functions),
                         limits[i].copies);
    ts_arena_free(memory);
}

/* 8 names for each of 4096 values: one of each here, and 31 x 1024 of members of tuples. */
TEST(as_many_names_as_there_is_room_for) {
    ts_arena *memory = ts_arena_new();
    const ts_audit_request request = {.machine = ts_machine_change(NULL, memory, "tpu-v6e", NULL, 0)};
    for (int more = 0; more < 2; more++) {
        ts_text text = ts_text_begin(memory);
        ts_text_add(&text, "HloModule m\n\nENTRY %%main (a: f32[55,16]) -> f32[55,16] {\n"
                           "  %%a = f32[55,16]{1,0} parameter(0)\n");
        for (int i = 0; i < 1022 + more; i++)
            ts_text_add(&text, "  %%v%d = f32[55,16]{1,0} negate(%%a)\n", i);
        for (int i = 0; i < 31; i++) {
            ts_text_add(&text, "  %%t%d = (f32[55,16]{1,0}) tuple(%%v0", i);
            for (int k = 1; k < 1024; k++) ts_text_add(&text, ", %%v%d", k % 1000);
            ts_text_add(&text, ")\n");
        }
        ts_text_add(&text, "  ROOT %%r = f32[55,16]{1,0} negate(%%a)\n}\n");
        ts_audit_result r;
        ts_audit *audit = audited(arena, &request, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.copies_predicted, !more);
        ts_audit_free(audit);
        ts_arena_reset(arena);
    }
    ts_arena_free(memory);
}

int main(int argc, char **argv) {
    arena = ts_arena_new();
    if (argc < 2) {
        int failed = run_all_tests(NULL, NULL);
        ts_arena_free(arena);
        return failed;
    }
    score s = check_file(argv[1], argc > 2 ? argv[2] : "tpu-v6e", 1, true);
    printf("%d programs, %d agree; with copies %d, %d agree; of one operation %d, %d agree\n", s.programs,
           s.agree, s.with_copies, s.agree_with_copies, s.single, s.agree_single);
    ts_arena_free(arena);
    return 0;
}
