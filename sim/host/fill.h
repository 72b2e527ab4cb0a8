/* The values of inputs without a file: any of them, at any time. */
#ifndef TILESIM_HOST_FILL_H
#define TILESIM_HOST_FILL_H

#include "host/array.h"
#include "program/program.h"

/* Element i of the row-major order:
 *   zeros    0
 *   iota     i, converted to the type as an s64
 *   random   r = mix(mix(seed) + (i + 1) * 0x9e3779b97f4a7c15), which is output i of SplitMix64 (Steele, Lea,
 *            Flood 2014) that starts from mix(seed); of a float type, low + (high - low) * (r >> 40) * 2^-24
 *            in double arithmetic, rounded once; of an integer type,
 *            ceil(low) + r mod (floor(high) - ceil(low) + 1)
 * mix is the output function of SplitMix64. */
typedef struct {
    ts_fill_kind kind;
    ts_dtype dtype;
    double low, high;
    uint64_t stream;      /* where the random numbers of the seed begin */
    int64_t first, count; /* of an integer type */
    int32_t offset;       /* of ts_reference_draw */
    float unit;
} ts_fill;

/* Refused: a type without values, and a range without an integer of an integer type. */
bool ts_fill_make(ts_error *err, const ts_tensor_use *use, ts_dtype dtype, ts_fill *fill);
/* A ts_host_read, of a ts_fill. */
bool ts_fill_read(ts_error *err, void *fill, int64_t begin, int64_t stride, size_t count, void *elements);

#endif
