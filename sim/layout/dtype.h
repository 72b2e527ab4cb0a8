/* Element types: one table (dtypes.def), named as XLA names them. */
#ifndef TILESIM_LAYOUT_DTYPE_H
#define TILESIM_LAYOUT_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/number.h"

typedef enum {
#define TS_DTYPE(id, name, value_bits, stored_bits, class, format) TS_DTYPE_##id,
#include "layout/dtypes.def"
#undef TS_DTYPE
    TS_DTYPE_COUNT
} ts_dtype;

typedef enum {
    TS_CLASS_BOOL,
    TS_CLASS_SIGNED,
    TS_CLASS_UNSIGNED,
    TS_CLASS_FLOAT,
    TS_CLASS_COMPLEX,
    TS_CLASS_NO_DATA, /* token, opaque */
} ts_dtype_class;

typedef struct {
    const char *name;
    int value_bits;  /* that carry the value */
    int stored_bits; /* an element takes where the layout does not say E() */
    ts_dtype_class class;
    const ts_float_format *format; /* of floats of at most 16 bits; NULL for all others */
} ts_dtype_info;

const ts_dtype_info *ts_dtype_get(ts_dtype dtype);
/* Exact, case-sensitive name; false when there is no such type. */
bool ts_dtype_find(const char *name, size_t length, ts_dtype *dtype);
/* The nearest name, for "did you mean", or NULL. */
const char *ts_dtype_nearest(const char *name, size_t length);

#endif
