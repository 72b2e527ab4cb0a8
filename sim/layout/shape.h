/* A shape: element type, logical dims and layout kept together, with the sizes that follow. */
#ifndef TILESIM_LAYOUT_SHAPE_H
#define TILESIM_LAYOUT_SHAPE_H

#include "tilesim/notation.h"

#include "layout/dtype.h"
#include "layout/layout.h"

struct ts_xla_layout;

#define TS_SIZE_UNKNOWN INT64_C(-1) /* of a shape with an unbounded dim ('?') */

struct ts_shape {
    ts_dtype dtype;          /* TS_DTYPE_OPAQUE for a tuple */
    int element_bits;        /* of storage: E() if given, else the type's stored bits */
    const ts_layout *layout; /* logical dims inside; strides in elements. NULL for token, opaque, tuples and
                              * shapes with an unbounded dim: ask ts_shape_layout where one is needed */
    int memory_space;        /* XLA S(n): 0 HBM, 1 VMEM ... */
    /* Sizes; of a tuple, the sums over its members (its own table of pointers is not counted).
     * padded_elements is what the expanded dims hold. `bytes` is what XLA's compilers report
     * (ShapeUtil::ArraySize: only the first tile pads; L() counts only with tiles; with SC(), of one memory);
     * `storage_bytes` holds every element at its offset, and L(). They differ only where XLA contradicts
     * itself, and under SC(). */
    int64_t padded_elements, bytes, storage_bytes;
    /* Logical elements at the type's own width, or that of E() where it is less, in whole bytes: compilers
     * report the rest of a wider E() as padding. */
    int64_t unpadded_bytes;
    const struct ts_xla_layout *xla; /* the fields as written, when the notation is XLA's; else NULL */
    const char *notation;            /* when it is not: "axe", "tvm", "cute", "name", "vpad", "tiled" */
    const char *layout_text;         /* and the layout's own text, canonical */
};

/* Bytes that the shape takes in a memory, padding included. */
static inline int64_t ts_shape_memory_bytes(const ts_shape *shape) {
    return shape->storage_bytes > shape->bytes ? shape->storage_bytes : shape->bytes;
}

/* A shape in any notation. The whole source must be one shape:
 *
 *   shape    = XLA's: TYPE "[" dims "]" ["{" .. "}"], or a tuple or buffer of such
 *            | TYPE "[" dims "]" layout ["E(" bits ")"] ["S(" n ")"]      elements of so many bits, in memory
 *              space n, as XLA numbers them
 *   layout   = Axe's (axe.h), TVM's "lambda ..: [..]" (index_map.h), CuTe's (cute.h), a name (named.c)
 *            | Mosaic's "vpad<..>" (vpad.h) or "tiled<..>"; a memref (tiled.h) has type and dims inside
 *
 * f32[3,5]{1,0:T(2,2)}
 * f32[8,16] S[(8,2,4,2):(4@lane,1@warp,1@lane,1@reg)] + R[2:4@warp] + 5@warp
 * f32[16,64,64,128] lambda n,h,w,c: [n, c//4, h, w, c%4]
 * s4[8,8] ((2,4),8):((1,16),2) E(4)
 * s8[8,64,7,7] NCHW4c S(1)
 * f32[256,512] vpad<"32,{0,0},(8,128)">
 * memref<16x256xbf16, #tpu.tiled<(8,128)(2,1),[2,1]>, #tpu.memory_space<vmem>> */
const ts_shape *ts_shape_parse(ts_error *err, ts_arena *arena, const ts_source *source);
/* Reads a shape at the cursor and moves the cursor past it. */
const ts_shape *ts_shape_read(ts_error *err, ts_arena *arena, ts_cursor *cursor);
/* The layout, or an error that says why there is none; `what` names the shape in it ("the source"). */
const ts_layout *ts_shape_layout(ts_error *err, const ts_shape *shape, const char *what);
/* "f32[8,128]": without a layout. */
void ts_shape_print_array(ts_dtype dtype, const int64_t *dims, int rank, ts_text *out);
/* The canonical text, which parses back to the same shape. */
void ts_shape_print(const ts_shape *shape, ts_text *out);
/* A row-major shape in memory space 0 without tiles. NULL on overflow. */
const ts_shape *ts_shape_row_major(ts_error *err, ts_arena *arena, ts_dtype dtype, int rank,
                                   const int64_t *dims);

#endif
