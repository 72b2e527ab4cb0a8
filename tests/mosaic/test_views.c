/* Views of memrefs: which tensors of the same bytes DMAs through them read, and which views are refused. */
#include <string.h>

#include "layout/shape.h"
#include "mosaic/mosaic.h"
#include "run/run.h"
#include "tests/support/group.h"

#define DONE "memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>"
#define IN(space, of, tiles, strides)                                                                        \
    "memref<" of ", #tpu.tiled<" tiles ",[" strides "]>, #tpu.memory_space<" space ">>"
#define ANY(of, tiles, strides)  IN("any", of, tiles, strides)
#define VMEM(of, tiles, strides) IN("vmem", of, tiles, strides)
#define SLICE(name, of, from, to, at, types)                                                                 \
    name " = \"tpu.memref_slice\"(" of ", " at ") : (" from ", " types ") -> " to "\n"
#define VIEW(name, op, of, from, to) name " = \"tpu." op "\"(" of ") : (" from ") -> " to "\n"

/* A kernel that copies %p, of the type `of`, which `body` makes of the operand %x, to the buffer %o, or to %q of the
 * type `to`; %g is 0 and 1. */
typedef struct {
    const char *tensor, *x, *body, *of, *buffer, *to;
} sketch;

static const ts_program *lower(ts_error *err, sketch s) {
    ts_text t = ts_text_begin(arena);
    ts_text_add(
        &t,
        "\"builtin.module\"() ({\n\"func.func\"() <{sym_name = \"main\"}> ({\n^bb0(%%x: %s, %%y: %s):\n"
        "%%s = \"tpu.sem_alloc\"() : () -> " DONE "\n%%o = \"memref.alloca\"() <{operandSegmentSizes = "
        "array<i32: 0, 0>}> : () -> %s\n",
        s.x, s.x, s.buffer);
    static const int numbers[] = {0, 1, 2, 8, 16, 128};
    for (int i = 0; i < 6; i++)
        ts_text_add(&t, "%%n%d = \"arith.constant\"() <{value = %d : i32}> : () -> i32\n", numbers[i],
                    numbers[i]);
    ts_text_add(&t,
                "\"scf.for\"(%%n0, %%n2, %%n1) ({\n^bb0(%%g: i32):\n%s\"tpu.enqueue_dma\"(%%p, %s, %%s) "
                "<{operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0>}> : (%s, %s, " DONE
                ") -> ()\n\"scf.yield\"() : () -> ()\n}) : (i32, i32, i32) -> ()\n\"func.return\"() : () -> "
                "()\n}) {scalar_prefetch = 0 : i64, scratch_operands = 0 : i64} : () -> ()\n"
                "}) {tilesim.operands = [%s, %s], tilesim.results = 1 : i64} : () -> ()\n",
                s.body, s.to ? "%q" : "%o", s.of, s.to ? s.to : s.buffer, s.tensor, s.tensor);
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"k.mlir", t.bytes, t.length};
    ts_target target;
    ts_run_target(ts_machine_load(err, arena, "tpu-v5e"), &target);
    return ts_mosaic_parse(err, arena, source, &target);
}

#define X           ANY("32x128xf32", "(8,128)", "1,1")
#define BLOCKS      ANY("2x16x128xf32", "(8,128)", "2,1,1")
#define CUBE        ANY("4x16x128xf32", "(8,128)", "2,1,1")
#define BLOCK       ANY("1x16x128xf32", "(8,128)", "2,1,1")
#define BLOCKS_OF_8 ANY("2x8x128xf32", "(8,128)", "1,1,1")
#define PARTED      ANY("1x2x8x128xf32", "(8,128)", "2,1,1,1")
#define ROW         ANY("8x128xf32", "(8,128)", "1,1")
#define WIDE        ANY("32x256xf32", "(8,128)", "2,1")
#define STRIP       ANY("8x256xf32", "(8,128)", "2,1")
#define BAND        ANY("16x256xf32", "(8,128)", "2,1")
#define BAND16      ANY("16x256xf32", "(16,128)", "2,1")
#define DEEP        ANY("2x2x2x2x8x128xf32", "(8,128)", "8,4,2,1,1,1")
#define ONE         ANY("1x1x1x1x8x128xf32", "(8,128)", "8,4,2,1,1,1")
#define DEEPER      ANY("1x1x1x8x128xf32", "(8,128)", "1,1,1,1,1")
#define BYTES       ANY("32x256xi8", "(8,128)(4,1)", "2,1")
#define OTHERS      ANY("32x256xi8", "(32,128)(4,1)", "2,1")
#define PADDED      ANY("16x256xf32", "(8,128)", "2,1")
#define CORNER      ANY("8x128xf32", "(8,128)", "2,1")
#define PLATES      ANY("3x16x256xf32", "(8,128)", "4,2,1")
#define LINE        ANY("256xf32", "(256)", "1")
#define ROWS        ANY("?x128xf32", "(8,128)", "2,1")
#define BUFFER      VMEM("8x128xf32", "(8,128)", "1,1")
#define HALVES      VMEM("2x16x128xf32", "(8,128)", "2,1,1")
#define WHOLE       VMEM("32x128xf32", "(8,128)", "1,1")

#define AS(name, of, from, to)   VIEW(name, "memref_reshape", of, from, to)
#define CUT1(from, to, at)       SLICE("%p", "%x", from, to, at, "i32")
#define CUT2(name, from, to, at) SLICE(name, "%x", from, to, at, "i32, i32")
#define CUT3(name, from, to, at) SLICE(name, "%x", from, to, at, "i32, i32, i32")
#define CORNER_AT(at)            CUT2("%p", PADDED, CORNER, at), CORNER, BUFFER
#define STRIP_AS(op, to)         CUT2("%b", WIDE, STRIP, "%n8, %n0") VIEW("%p", op, "%b", STRIP, to), to
/* Up to %g rows of both. */
#define SOME(from, name, of)                                                                                 \
    name " = \"tpu.memref_slice\"(" of ", %n0, %n0, %g) : (" from ", i32, i32, i32) -> "
#define SIZED                                                                                                \
    SOME(PADDED, "%p", "%x") ROWS "\n" SOME(BUFFER, "%q", "%o") VMEM("?x128xf32", "(8,128)", "1,1") "\n"

#define GIVES(found, ...)                                                                                    \
    { {__VA_ARGS__, NULL}, found }
#define GIVES_TO(found, ...)                                                                                 \
    { {__VA_ARGS__}, found }
#define NO_OTHER "'tpu.enqueue_dma' is not modelled: through a view with another layout"

static const struct {
    sketch s;
    const char *found; /* the transfer's source and its tensor, or an error */
} rows[] = {
    GIVES("view0[0:+2, 0:+16, 0:+128] of f32[2,16,128]{2,1,0:T(8,128)}", "tensor<32x128xf32>", X,
          AS("%p", "%x", X, BLOCKS), BLOCKS, HALVES),
    /* Of dims in front of what changes a part is read. */
    GIVES("view0[2, 0:+2, 0:+8, 0:+128] of f32[4,2,8,128]{3,2,1,0:T(8,128)}", "tensor<4x16x128xf32>", CUBE,
          CUT3("%b", CUBE, BLOCK, "%n2, %n0, %n0") AS("%p", "%b", BLOCK, PARTED), PARTED,
          VMEM("1x2x8x128xf32", "(8,128)", "2,1,1,1")),
    GIVES("view0[s0, 0:+2, 0:+8, 0:+128] of f32[4,2,8,128]{3,2,1,0:T(8,128)}", "tensor<4x16x128xf32>", CUBE,
          CUT3("%b", CUBE, BLOCK, "%g, %n0, %n0") AS("%p", "%b", BLOCK, PARTED), PARTED,
          VMEM("1x2x8x128xf32", "(8,128)", "2,1,1,1")),
    GIVES(NO_OTHER, "tensor<32x128xf32>", X, CUT2("%b", X, ROW, "%n8, %n0") AS("%p", "%b", ROW, DEEPER),
          DEEPER, VMEM("1x1x1x8x128xf32", "(8,128)", "1,1,1,1,1")),
    GIVES("view0[2, 0:+2, 0:+8, 0:+128] of f32[4,2,8,128]{3,2,1,0:T(8,128)}", "tensor<4x16x128xf32>", CUBE,
          CUT3("%b", CUBE, BLOCK, "%n2, %n0, %n0")
              VIEW("%c", "memref_squeeze", "%b", BLOCK, ANY("16x128xf32", "(8,128)", "1,1"))
                  AS("%p", "%c", ANY("16x128xf32", "(8,128)", "1,1"), BLOCKS_OF_8),
          BLOCKS_OF_8, VMEM("2x8x128xf32", "(8,128)", "1,1,1")),
    GIVES("view0[0:+2, 2, 0:+2, 0:+8, 0:+128] of f32[2,4,2,8,128]{4,3,2,1,0:T(8,128)}",
          "tensor<2x4x16x128xf32>", ANY("2x4x16x128xf32", "(8,128)", "8,2,1,1"),
          SLICE("%b", "%x", ANY("2x4x16x128xf32", "(8,128)", "8,2,1,1"),
                ANY("2x1x16x128xf32", "(8,128)", "8,2,1,1"), "%n0, %n2, %n0, %n0", "i32, i32, i32, i32")
              AS("%p", "%b", ANY("2x1x16x128xf32", "(8,128)", "8,2,1,1"),
                 ANY("2x1x2x8x128xf32", "(8,128)", "8,2,1,1,1")),
          ANY("2x1x2x8x128xf32", "(8,128)", "8,2,1,1,1"), VMEM("2x1x2x8x128xf32", "(8,128)", "2,2,1,1,1")),
    /* With what is in front there are eight dims at most. */
    GIVES("view0[0, 0, 0, 0, 0, 0:+4, 0:+16, 0:+128] of f32[1,1,1,1,1,4,16,128]{7,6,5,4,3,2,1,0:T(8,128)}",
          "tensor<4x16x128xf32>", CUBE,
          AS("%p", "%x", CUBE, ANY("1x1x1x1x1x4x16x128xf32", "(8,128)", "2,2,2,2,2,2,1,1")),
          ANY("1x1x1x1x1x4x16x128xf32", "(8,128)", "2,2,2,2,2,2,1,1"),
          VMEM("1x1x1x1x1x4x16x128xf32", "(8,128)", "2,2,2,2,2,2,1,1")),
    GIVES(NO_OTHER, "tensor<2x2x2x2x8x128xf32>", DEEP,
          SLICE("%b", "%x", DEEP, ONE, "%n1, %n1, %n1, %n1, %n0, %n0", "i32, i32, i32, i32, i32, i32")
              VIEW("%c", "memref_squeeze", "%b", ONE, ROW) AS("%p", "%c", ROW, DEEPER),
          DEEPER, VMEM("1x1x1x8x128xf32", "(8,128)", "1,1,1,1,1")),
    /* Other tiles are another order of the elements where several are side by side. */
    GIVES("arg0[8:+8, 0:+128] of f32[32,128]{1,0:T(8,128)}", "tensor<32x128xf32>", X,
          CUT2("%b", X, ROW, "%n8, %n0")
              VIEW("%p", "reinterpret_cast", "%b", ROW, ANY("8x128xf32", "(16,128)", "1,1")),
          ANY("8x128xf32", "(16,128)", "1,1"), BUFFER),
    GIVES("arg0[8:+8, 0:+256] of f32[32,256]{1,0:T(8,128)}", "tensor<32x256xf32>", WIDE,
          STRIP_AS("reinterpret_cast", STRIP), VMEM("8x256xf32", "(8,128)", "2,1")),
    GIVES("view0[8:+8, 0:+256] of f32[32,256]{1,0:T(4,128)}", "tensor<32x256xf32>", WIDE,
          STRIP_AS("reinterpret_cast", ANY("8x256xf32", "(4,128)", "2,1")),
          VMEM("8x256xf32", "(8,128)", "2,1")),
    GIVES("view0[0:+32, 0:+256] of f32[32,256]{1,0:T(4,128)}", "tensor<32x256xf32>", WIDE,
          VIEW("%p", "reinterpret_cast", "%x", WIDE, ANY("32x256xf32", "(4,128)", "2,1")),
          ANY("32x256xf32", "(4,128)", "2,1"), VMEM("32x256xf32", "(8,128)", "2,1")),
    GIVES(NO_OTHER, "tensor<32x256xf32>", WIDE,
          CUT2("%b", WIDE, BAND, "%n8, %n0") VIEW("%p", "reinterpret_cast", "%b", BAND, BAND16), BAND16,
          VMEM("16x256xf32", "(8,128)", "2,1")),
    GIVES("view0[16:+16, 0:+256] of f32[32,256]{1,0:T(16,128)}", "tensor<32x256xf32>", WIDE,
          CUT2("%b", WIDE, BAND, "%n16, %n0") VIEW("%p", "reinterpret_cast", "%b", BAND, BAND16), BAND16,
          VMEM("16x256xf32", "(8,128)", "2,1")),
    GIVES(NO_OTHER, "tensor<32x256xf32>", WIDE,
          CUT2("%b", WIDE, BAND, "%g, %n0") VIEW("%p", "reinterpret_cast", "%b", BAND, BAND16), BAND16,
          VMEM("16x256xf32", "(8,128)", "2,1")),
    GIVES(NO_OTHER, "tensor<32x512xf32>", ANY("32x512xf32", "(8,128)", "4,1"),
          CUT2("%b", ANY("32x512xf32", "(8,128)", "4,1"), ANY("32x256xf32", "(8,128)", "4,1"), "%n0, %n128")
              VIEW("%p", "reinterpret_cast", "%b", ANY("32x256xf32", "(8,128)", "4,1"),
                   ANY("32x256xf32", "(4,128)", "4,1")),
          ANY("32x256xf32", "(4,128)", "4,1"), VMEM("32x256xf32", "(8,128)", "2,1")),
    /* A bitcast has the same lanes. */
    GIVES("view0[16:+16, 0:+256] of bf16[64,256]{1,0:T(16,128)(2,1)}", "tensor<32x256xf32>", WIDE,
          STRIP_AS("memref_bitcast", ANY("16x256xbf16", "(16,128)(2,1)", "2,1")),
          VMEM("16x256xbf16", "(16,128)(2,1)", "2,1")),
    GIVES(NO_OTHER, "tensor<32x256xf32>", WIDE,
          STRIP_AS("memref_bitcast", ANY("8x512xbf16", "(16,128)(2,1)", "4,1")),
          VMEM("8x512xbf16", "(16,128)(2,1)", "4,1")),
    GIVES(NO_OTHER, "tensor<32x256xf32>", WIDE,
          STRIP_AS("memref_bitcast", ANY("16x128xbf16", "(16,128)(2,1)", "1,1")),
          VMEM("16x128xbf16", "(16,128)(2,1)", "1,1")),
    GIVES(NO_OTHER, "tensor<4x16x128xf32>", CUBE,
          CUT3("%b", CUBE, ANY("2x16x128xf32", "(8,128)", "2,1,1"), "%n2, %n0, %n0")
              VIEW("%p", "memref_bitcast", "%b", BLOCKS, ANY("1x32x128xbf16", "(16,128)(2,1)", "2,1,1")),
          ANY("1x32x128xbf16", "(16,128)(2,1)", "2,1,1"), VMEM("1x32x128xbf16", "(16,128)(2,1)", "2,1,1")),
    /* Four rows are half a tile of eight. */
    GIVES(NO_OTHER, "tensor<4x128xf32>", ANY("4x128xf32", "(4,128)", "1,1"),
          VIEW("%p", "memref_bitcast", "%x", ANY("4x128xf32", "(4,128)", "1,1"),
               ANY("8x128xbf16", "(16,128)(2,1)", "1,1")),
          ANY("8x128xbf16", "(16,128)(2,1)", "1,1"), VMEM("8x128xbf16", "(16,128)(2,1)", "1,1")),
    /* Arrays in HBM lie in tiles of eight rows, whatever the text has. */
    GIVES("view0[0:+2, 0:+16, 0:+256] of s8[2,16,256]{2,1,0:T(8,128)(4,1)}", "tensor<32x256xi8>", BYTES,
          AS("%p", "%x", BYTES, ANY("2x16x256xi8", "(8,128)(4,1)", "4,2,1")),
          ANY("2x16x256xi8", "(8,128)(4,1)", "4,2,1"), VMEM("2x16x256xi8", "(8,128)(4,1)", "4,2,1")),
    GIVES(NO_OTHER, "tensor<32x256xi8>", OTHERS,
          AS("%p", "%x", OTHERS, ANY("2x16x256xi8", "(8,128)(4,1)", "4,2,1")),
          ANY("2x16x256xi8", "(8,128)(4,1)", "4,2,1"), VMEM("2x16x256xi8", "(8,128)(4,1)", "4,2,1")),
    /* Views that are alike are one tensor; others are of other shapes, arrays and memories. */
    GIVES("view0[0:+2, 0:+16, 0:+128] of f32[2,16,128]{2,1,0:T(8,128)}", "tensor<32x128xf32>", X,
          AS("%b", "%x", X, BLOCKS) AS("%p", "%x", X, BLOCKS), BLOCKS, HALVES),
    GIVES("view1[0:+2, 0:+16, 0:+128] of f32[2,16,128]{2,1,0:T(8,128)}", "tensor<32x128xf32>", X,
          AS("%b", "%x", X, ANY("4x8x128xf32", "(8,128)", "1,1,1")) AS("%p", "%x", X, BLOCKS), BLOCKS,
          HALVES),
    GIVES("view1[0:+2, 0:+16, 0:+128] of f32[2,16,128]{2,1,0:T(8,128)}", "tensor<32x128xf32>", X,
          AS("%b", "%y", X, BLOCKS) AS("%p", "%x", X, BLOCKS), BLOCKS, HALVES),
    GIVES_TO("view1[0:+2, 0:+16, 0:+128] of f32[2,16,128]{2,1,0:T(8,128)}", "tensor<32x128xf32>", X,
             AS("%q", "%o", WHOLE, HALVES) AS("%p", "%x", X, BLOCKS), BLOCKS, WHOLE, HALVES),
    /* Of what is no memref, has no layout or no known size there are none. */
    GIVES("'tpu.memref_reshape': expected a memref", "tensor<32x128xf32>", X,
          "%p = \"tpu.memref_reshape\"(%n1) : (i32) -> " BLOCKS "\n", BLOCKS, HALVES),
    GIVES("'tpu.reinterpret_cast' is not modelled: with an offset, expected the memref alone",
          "tensor<32x128xf32>", X, "%p = \"tpu.reinterpret_cast\"(%x, %n8) : (" X ", i32) -> " X "\n", X,
          BUFFER),
    GIVES("'tpu.reinterpret_cast' is not modelled: with an offset, expected the memref alone",
          "tensor<32x128xf32>", X,
          "%p = \"tpu.reinterpret_cast\"(%x) <{offset = 8 : i64}> : (" X ") -> " X "\n", X, BUFFER),
    GIVES("arg0[0:+32, 0:+128] of f32[32,128]{1,0:T(8,128)}", "tensor<32x128xf32>", X,
          "%p = \"tpu.reinterpret_cast\"(%x) <{offset = 0 : i64}> : (" X ") -> " X "\n", X, WHOLE),
    GIVES("'tpu.memref_reshape' is not modelled: of such a memref", "tensor<32x128xf32>", X,
          AS("%p", "%x", X, "memref<2x16x128xf32, #tpu.memory_space<any>>"),
          "memref<2x16x128xf32, #tpu.memory_space<any>>", HALVES),
    GIVES("'tpu.memref_reshape' is not modelled: of such a memref", "tensor<16x256xf32>", PADDED,
          SOME(PADDED, "%b", "%x") ROWS "\n" AS("%p", "%b", ROWS, CORNER), CORNER, BUFFER),
    /* What may end in the padding of the last tiles is read from a view that has it as elements. */
    GIVES("arg0[0:+8, 0:+128] of f32[12,200]{1,0:T(8,128)}", "tensor<12x200xf32>", PADDED,
          CORNER_AT("%n0, %n0")),
    GIVES("view0[8:+8, 0:+128] of f32[16,256]{1,0:T(8,128)}", "tensor<12x200xf32>", PADDED,
          CORNER_AT("%n8, %n0")),
    GIVES("view0[0:+8, 128:+128] of f32[16,256]{1,0:T(8,128)}", "tensor<12x200xf32>", PADDED,
          CORNER_AT("%n0, %n128")),
    GIVES("view0[s0:+8, 0:+128] of f32[16,256]{1,0:T(8,128)}", "tensor<12x200xf32>", PADDED,
          CORNER_AT("%g, %n0")),
    GIVES("arg0[2:+8, 0:+128] of f32[10,200]{1,0:T(8,128)}", "tensor<10x200xf32>", PADDED,
          CORNER_AT("%n2, %n0")),
    GIVES("arg0[s0:+8, 128:+128] of f32[16,256]{1,0:T(8,128)}", "tensor<16x256xf32>", PADDED,
          CORNER_AT("%g, %n128")),
    GIVES("view0[2, 8:+8, 128:+128] of f32[3,16,256]{2,1,0:T(8,128)}", "tensor<3x12x200xf32>", PLATES,
          CUT3("%p", PLATES, ANY("1x8x128xf32", "(8,128)", "4,2,1"), "%n2, %n8, %n128"),
          ANY("1x8x128xf32", "(8,128)", "4,2,1"), VMEM("1x8x128xf32", "(8,128)", "1,1,1")),
    GIVES("view0[128:+128] of f32[256]{0:T(256)}", "tensor<200xf32>", LINE,
          CUT1(LINE, ANY("128xf32", "(256)", "1"), "%n128"), ANY("128xf32", "(256)", "1"),
          VMEM("128xf32", "(128)", "1")),
    /* Of sizes that are not known, too. */
    GIVES_TO("arg0[s1:+8, 0:+128] of f32[16,200]{1,0:T(8,128)}", "tensor<16x200xf32>", PADDED, SIZED, ROWS,
             BUFFER, VMEM("?x128xf32", "(8,128)", "1,1")),
    GIVES_TO("view0[s1:+8, 0:+128] of f32[16,256]{1,0:T(8,128)}", "tensor<12x256xf32>", PADDED, SIZED, ROWS,
             BUFFER, VMEM("?x128xf32", "(8,128)", "1,1")),
};

/* "view0[0:+2, 0:+16, 0:+128] of f32[2,16,128]{2,1,0:T(8,128)}", or the error. */
static const char *found_by(sketch s) {
    ts_error err = {0};
    ts_text dma = ts_text_begin(arena), found = ts_text_begin(arena);
    const ts_program *program = lower(&err, s);
    if (!program) return ts_text_format(arena, "%s", err.message);
    ts_program_print_transfer(program, 0, &dma);
    const char *source = strstr(dma.bytes, "<- ") + 3, *end = strstr(source, ", sem0");
    ts_text_add(&found, "%.*s of ", (int)(end - source), source);
    ts_shape_print(program->code.tensors[program->code.transfers[0].source.tensor].shape, &found);
    return found.bytes;
}

TEST(dmas_read_through_views) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *found = found_by(rows[i].s);
        if (strcmp(found, rows[i].found) != 0) fail_msg("row %zu: %s, expected %s", i, found, rows[i].found);
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
