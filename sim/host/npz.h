/* NumPy's .npz files: a zip archive of .npy files (numpy.savez, numpy.savez_compressed). */
#ifndef TILESIM_HOST_NPZ_H
#define TILESIM_HOST_NPZ_H

#include "host/array.h"

/* Reads one array and no more of the file. `name` is as numpy.load has it, without ".npy", and may be NULL
 * where there is one array. */
bool ts_npz_load(ts_error *err, ts_arena *arena, const char *path, const char *name,
                 const ts_host_expect *expect, ts_host_array *array);
/* One array, stored. */
bool ts_npz_save(ts_error *err, ts_arena *arena, const char *path, const char *name,
                 const ts_host_array *array);

#endif
