/* Which layout the TPU compiler gives an array: tiles by the rule by which Mosaic mirrors it (jax-ml/jax,
 * jaxlib/mosaic/dialect/tpu/transforms/infer_memref_layout.cc, revision 43d14afad3^, 2025-11-18), and the
 * order of dims as learned from what it answers (docs/layouts.md). */
#ifndef TILESIM_LAYOUT_NOTATION_TPU_RULE_H
#define TILESIM_LAYOUT_NOTATION_TPU_RULE_H

#include "layout/notation/xla.h"

enum {
    TS_TPU_LARGE_X4 =
        1, /* xla_tpu_enable_large_2nd_minor_layout_for_x4, _x8, _x16: taller tiles where they fit */
    TS_TPU_LARGE_X8 = 2,
    TS_TPU_LARGE_X16 = 4,
    TS_TPU_ARGUMENT =
        8, /* a program's argument; from generation 6 on others have tall 16-bit tiles without the flag */
    TS_TPU_ENTRY =
        TS_TPU_LARGE_X4 | TS_TPU_LARGE_X8 | TS_TPU_ARGUMENT, /* as arguments and results of entry are */
};

/* The fields' dims, minor_to_major (none: row-major) and memory space, with the rule's tiles; 4-, 2- and
 * 1-bit types are packed, E(). generation: 2 .. 7 (v2 .. TPU7x). */
const ts_shape *ts_tpu_tiled(ts_error *err, ts_arena *arena, ts_dtype dtype, const ts_xla_layout *fields,
                             int generation, unsigned flags);
/* The layout of an argument or result of entry that nothing says otherwise of: of the fields' dims and memory
 * space, the order with the fewest padded bytes, of equal ones that with the greatest minor_to_major. */
const ts_shape *ts_tpu_default(ts_error *err, ts_arena *arena, ts_dtype dtype, const ts_xla_layout *fields,
                               int generation);

#endif
