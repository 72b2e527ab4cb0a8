/* Arrays of users' files, loaded and saved by the name's suffix. */
#ifndef TILESIM_HOST_FORMAT_H
#define TILESIM_HOST_FORMAT_H

#include "host/array.h"

typedef enum {
    TS_FORMAT_UNKNOWN,
    TS_FORMAT_RAW,
    TS_FORMAT_NPY,
    TS_FORMAT_NPZ,
    TS_FORMAT_SAFETENSORS
} ts_host_format;

/* "FILE.npz:NAME" or "FILE.safetensors:NAME" cut in two; any other path is that of a file. */
typedef struct {
    ts_host_format format;
    size_t file_length;
    const char *name; /* NULL: none */
} ts_host_path;
ts_host_path ts_host_path_split(const char *path);
/* The file of a path: without the name of an array in it. */
const char *ts_host_file(ts_arena *arena, const char *path);
/* Can its file hold several arrays, of which one is read? Then its size says little. */
bool ts_host_is_archive(const char *path);

/* "data.npy", "data.npz:x", "model.safetensors:layer.0.weight" (the name may be left out when there is one
 * array), "data.bin" or "data.raw" (needs a type and dims; a type without dims reads a vector). */
bool ts_host_load(ts_error *err, ts_arena *arena, const char *path, const ts_host_expect *expect,
                  ts_host_array *array);
/* The same names; nothing is left behind when it fails. An .npz and a safetensors file hold the one array,
 * which is called "arr_0", as numpy.savez has it, or "tensor" where no name is given. */
bool ts_host_save(ts_error *err, ts_arena *arena, const char *path, const ts_host_array *array);
/* Does the name say a format? To be known before there is an array. */
bool ts_host_can_save(ts_error *err, const char *path);

#endif
