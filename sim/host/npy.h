/* NumPy's .npy files, versions 1.0 to 3.0 (NumPy Enhancement Proposal 1, and numpy/lib/format.py). */
#ifndef TILESIM_HOST_NPY_H
#define TILESIM_HOST_NPY_H

#include "host/array.h"

/* `file` is the whole file and must live as long as the array: a C-order array points into it, one in Fortran
 * order or of big-endian numbers is copied to C order and little endian. bf16 is read from 2-byte void, and
 * from uint16 where bf16 is expected; types that NumPy cannot name (f8, s4) from void of their size where
 * they are expected. Objects and structures are refused, and so is a file whose data is shorter or longer
 * than its shape. */
bool ts_npy_parse(ts_error *err, ts_arena *arena, const ts_source *file, const ts_host_expect *expect,
                  ts_host_array *array);

/* Version 1.0, C order, data at a multiple of 64 bytes; types that NumPy cannot name as void of their
 * size. */
bool ts_npy_save(ts_error *err, ts_arena *arena, const char *path, const ts_host_array *array);

/* What such a file has before the data. */
void ts_npy_head(const ts_host_array *array, ts_text *out);

#endif
