/* A shape: element type, logical dims and layout kept together, with the sizes that follow. */
#ifndef TILESIM_LAYOUT_SHAPE_H
#define TILESIM_LAYOUT_SHAPE_H

#include "tilesim/layout/dtype.h"
#include "tilesim/layout/layout.h"

struct ts_xla_layout;

typedef struct ts_shape {
    ts_dtype dtype;
    int element_bits;        /* of storage: E() if given, else the type's stored bits */
    const ts_layout *layout; /* logical dims inside; strides in elements. NULL only for token, opaque and tuples */
    int memory_space;        /* XLA S(n): 0 HBM, 1 VMEM ... */
    int64_t padded_elements; /* as the notation's compiler reports it */
    int64_t bytes;           /* the same: padded_elements * element_bits, in whole bytes */
    int64_t storage_bytes;   /* enough to hold every element at its offset; differs from `bytes` only where XLA
                              * contradicts itself (sub-tiles that pad, ShapeUtil::ArraySize) */
    int64_t unpadded_bytes;  /* logical elements * element_bits, in whole bytes */
    const struct ts_xla_layout *xla; /* the fields as written, when the notation is XLA's; else NULL */
} ts_shape;

/* A shape in any notation: "f32[3,5]{1,0:T(2,2)}". The whole source must be one shape. */
const ts_shape *ts_shape_parse(ts_error *err, ts_arena *arena, const ts_source *source);
/* The canonical text, which parses back to the same shape. */
void ts_shape_print(const ts_shape *shape, ts_text *out);
/* A row-major shape in memory space 0 without tiles. NULL on overflow. */
const ts_shape *ts_shape_row_major(ts_error *err, ts_arena *arena, ts_dtype dtype, int rank, const int64_t *dims);

#endif
