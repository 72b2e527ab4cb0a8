/* Moves: a program's arrays into tiled layouts and back, by the plan that a DMA would use. */
#ifndef TILESIM_MOVE_H
#define TILESIM_MOVE_H

#include <stdint.h>

#include "tilesim/array.h"
#include "tilesim/layout.h"
#include "tilesim/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The array, whose dims are the shape's, as the bytes of the layout: a u8 vector, padding zero. `threads` at
 * most; 0: the caller alone. */
TS_API ts_array *ts_move_pack(ts_error *err, ts_arena *arena, const ts_array *array, const ts_shape *shape,
                              int threads);
/* The elements of such bytes, row-major, in the shape's type. */
TS_API ts_array *ts_move_unpack(ts_error *err, ts_arena *arena, const void *bytes, int64_t length,
                                const ts_shape *shape, int threads);

/* How many bytes those of the layout are; -1 on an error. */
TS_API int64_t ts_move_bytes(ts_error *err, const ts_shape *shape);
/* The same two into the caller's memory, none of which is read. Padding keeps what it holds; elements get the
 * array's type. Returns 0 on an error. */
TS_API int ts_move_pack_into(ts_error *err, const ts_array *array, const ts_shape *shape, int threads,
                             void *bytes, int64_t length);
TS_API int ts_move_unpack_into(ts_error *err, const void *bytes, int64_t length, const ts_shape *shape,
                               int threads, ts_array *array);

#ifdef __cplusplus
}
#endif

#endif
