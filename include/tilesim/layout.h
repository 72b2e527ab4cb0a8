/* Layouts: sizes, and which element lies where. */
#ifndef TILESIM_LAYOUT_H
#define TILESIM_LAYOUT_H

#include <stdint.h>

#include "tilesim/notation.h"

#ifdef __cplusplus
extern "C" {
#endif

TS_API const char *ts_shape_type(const ts_shape *shape); /* "f32" */
TS_API int ts_shape_rank(const ts_shape *shape);
TS_API const int64_t *ts_shape_dims(const ts_shape *shape); /* logical; valid as long as the shape */
/* Elements alone; with padding, as XLA's compilers report it; and what holds every element at its offset. */
TS_API int64_t ts_shape_logical_bytes(const ts_shape *shape);
TS_API int64_t ts_shape_padded_bytes(const ts_shape *shape);
TS_API int64_t ts_shape_storage_bytes(const ts_shape *shape);
/* The axes that elements lie on: "m" is memory, others are lanes, devices ... NULL behind the last. */
TS_API const char *ts_shape_axis(const ts_shape *shape, int axis);
/* Where an element lies: a coordinate for each axis, in the axis's unit (elements on m); of replicas, the
 * first. Returns 0 on an error. */
TS_API int ts_shape_locate(ts_error *err, const ts_shape *shape, const int64_t *index, int64_t *coordinates);
/* The element that lies there: returns 1, 0 where there is none (padding), -1 on an error. */
TS_API int ts_shape_find(ts_error *err, const ts_shape *shape, const int64_t *coordinates, int64_t *index);
/* Do both have every element at the same address? -1 on an error. */
TS_API int ts_shape_equal(ts_error *err, const ts_shape *a, const ts_shape *b);

#ifdef __cplusplus
}
#endif

#endif
