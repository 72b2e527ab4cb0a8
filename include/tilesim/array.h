/* Arrays of values: a program's own, or those of a file. */
#ifndef TILESIM_ARRAY_H
#define TILESIM_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "tilesim/arena.h"
#include "tilesim/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Row-major, little endian; a type as layouts have it: "f32", "bf16", "s8", "pred" ... */
typedef struct ts_array ts_array;

/* Zeroed; NULL on an error. */
TS_API ts_array *ts_array_new(ts_error *err, ts_arena *arena, const char *type, int rank,
                              const int64_t *dims);
/* Around the caller's bytes, which must outlive it. */
TS_API ts_array *ts_array_wrap(ts_error *err, ts_arena *arena, const char *type, int rank,
                               const int64_t *dims, void *bytes);
/* "data.npy", "data.npz:x", "model.safetensors:layer.0.weight"; NumPy NEP 1, and Hugging Face's safetensors
 * format. */
TS_API ts_array *ts_array_load(ts_error *err, ts_arena *arena, const char *path);
/* Nothing is left behind when it fails. Returns 0 then. */
TS_API int ts_array_save(ts_error *err, const ts_array *array, const char *path);

TS_API const char *ts_array_type(const ts_array *array);
TS_API int ts_array_rank(const ts_array *array);
TS_API const int64_t *ts_array_dims(const ts_array *array);
TS_API void *ts_array_data(const ts_array *array);
TS_API size_t ts_array_bytes(const ts_array *array);

#ifdef __cplusplus
}
#endif

#endif
