/* Arrays of users' files, loaded and saved by the name's suffix. */
#ifndef TILESIM_HOST_FORMAT_H
#define TILESIM_HOST_FORMAT_H

#include "host/array.h"

/* "data.npy", "model.safetensors:layer.0.weight" (the name may be left out when there is one tensor),
 * "data.bin" or "data.raw" (needs a type and dims; a type without dims reads a vector). */
bool ts_host_load(ts_error *err, ts_arena *arena, const char *path, const ts_host_expect *expect,
                  ts_host_array *array);
/* The same names; nothing is left behind when it fails. A safetensors file holds the one tensor, called
 * "tensor" where no name is given. */
bool ts_host_save(ts_error *err, ts_arena *arena, const char *path, const ts_host_array *array);
/* Does the name say a format? To be known before there is an array. */
bool ts_host_can_save(ts_error *err, ts_arena *arena, const char *path);

#endif
