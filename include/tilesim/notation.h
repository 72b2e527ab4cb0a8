/* Layouts as text: XLA's tiles, Axe, CuTe, TVM's index maps and names, parsed and printed. */
#ifndef TILESIM_NOTATION_H
#define TILESIM_NOTATION_H

#include "tilesim/arena.h"
#include "tilesim/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An element type, logical dims and a layout. */
typedef struct ts_shape ts_shape;

/* In any notation, as docs/layouts.md has them: f32[8,16]{1,0:T(8,128)}, s8[8,64,7,7] NCHW4c,
 * f32[16,64] lambda i,j: [j, i]. NULL on an error. */
TS_API const ts_shape *ts_shape_from_text(ts_error *err, ts_arena *arena, const char *text);
/* The canonical text, which reads back as the same shape. */
TS_API const char *ts_shape_text(ts_arena *arena, const ts_shape *shape);
/* The same map in another notation, "xla", "axe", "tvm" or "cute"; an error says what that notation lacks. */
TS_API const ts_shape *ts_shape_translate(ts_error *err, ts_arena *arena, const ts_shape *shape,
                                          const char *notation);
/* What `tilesim layout` prints of it, and what it prints with --json. */
TS_API const char *ts_shape_report(ts_arena *arena, const ts_shape *shape);
TS_API const char *ts_shape_json(ts_arena *arena, const ts_shape *shape);
/* A picture of where the elements lie, as SVG; NULL for a shape without a layout. */
TS_API const char *ts_shape_svg(ts_arena *arena, const ts_shape *shape);

#ifdef __cplusplus
}
#endif

#endif
