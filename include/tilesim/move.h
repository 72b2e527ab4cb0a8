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

/* ---- Many moves alike ---- */

/* From the bytes of one layout to those of another, values rounded to its type: what the functions above do,
 * and what they find out each time, found once. It does not change: threads may run it at once, of which one
 * at a time uses all that was found; the others take about as long as the functions above. */
typedef struct ts_converter ts_converter;

/* The shapes, whose dims are the same, and the arena must outlive it. `threads` as above. NULL on an
 * error. */
TS_API const ts_converter *ts_converter_new(ts_error *err, ts_arena *arena, const ts_shape *source,
                                            const ts_shape *destination, int threads);
/* How many bytes each side has: those of ts_move_bytes. */
TS_API int64_t ts_converter_source_bytes(const ts_converter *converter);
TS_API int64_t ts_converter_destination_bytes(const ts_converter *converter);
/* Of the destination, which must be apart from the source, padding keeps what it holds. Returns 0 on an
 * error, with nothing written. */
TS_API int ts_converter_run(ts_error *err, const ts_converter *converter, const void *source,
                            int64_t source_length, void *destination, int64_t destination_length);

#ifdef __cplusplus
}
#endif

#endif
