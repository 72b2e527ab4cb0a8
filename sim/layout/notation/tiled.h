/* Memrefs as Mosaic writes them: memref<16x256xbf16, #tpu.tiled<(8,128)(2,1),[2,1]>,
 * #tpu.memory_space<vmem>>, in a shape bf16[16,256] tiled<(8,128)(2,1),[2,1]> S(1).
 *
 *   tiled  = ["#tpu."] "tiled<" { "(" int { "," int } ")" } ",[" [ int { "," int } ] "]>"
 *   memref = "memref<" { int "x" } type [ "," tiled ] [ "," "#tpu.memory_space<" space ">" ] ">"
 *
 * Source: jax-ml/jax@cec06d116c jaxlib/mosaic/dialect/tpu/tpu_dialect.cc, TiledLayoutAttr (Apache-2.0). Tiles
 * are XLA's; those behind the first stay inside of it. The strides, one a dim, count first tiles (elements
 * where there is none); that of a tiled dim is from tile to tile. Without #tpu.tiled a memref is
 * row-major. */
#ifndef TILESIM_LAYOUT_NOTATION_TILED_H
#define TILESIM_LAYOUT_NOTATION_TILED_H

#include "layout/dtype.h"
#include "layout/notation/xla.h"

typedef struct {
    int tile_count, rank; /* rank: strides */
    const ts_xla_tile *tiles;
    const int64_t *strides;
} ts_tiled;

void ts_tiled_print(ts_text *out, const ts_tiled *tiled);

typedef struct {
    ts_dtype dtype;
    int rank, memory_space; /* as XLA's S() */
    const int64_t *dims;
    ts_tiled tiled;
} ts_memref;

bool ts_memref_read(ts_error *err, ts_arena *arena, ts_cursor *cursor, ts_memref *out);

#endif
