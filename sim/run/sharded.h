/* Arrays over the devices of a mesh: what a device holds of one, and one from what all devices hold. */
#ifndef TILESIM_RUN_SHARDED_H
#define TILESIM_RUN_SHARDED_H

#include "host/array.h"
#include "mesh/sharding.h"

/* What a device holds of an array, row-major; whole: reads all of it. Where dims do not divide evenly, parts
 * that are shorter end with padding, which is 0. */
ts_host_reader sharded_part(ts_arena *arena, const ts_sharding *sharding, int64_t device,
                            const ts_host_reader *whole);
/* The whole array, of copies the one on the first device; parts: of every device. */
ts_host_reader sharded_whole(ts_arena *arena, const ts_sharding *sharding, const ts_host_reader *parts);
/* Whether element `flat` of a device's part is padding; and elements of a dim, from the first on, that are
 * not. */
bool sharded_is_padding(const ts_sharding *sharding, int64_t device, int64_t flat);
int64_t sharded_held(const ts_sharding *sharding, int dim, int64_t device);
/* The lowest device that holds the same part as `device`. */
int64_t sharded_first_copy(const ts_sharding *sharding, int64_t device);
/* A reader of an array in memory. */
ts_host_reader sharded_of_array(ts_arena *arena, const ts_host_array *array);

#endif
