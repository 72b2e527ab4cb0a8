/* Arrays over the devices of a mesh: what a device holds of one, and one from what all devices hold. */
#ifndef TILESIM_RUN_SHARDED_H
#define TILESIM_RUN_SHARDED_H

#include "host/array.h"
#include "mesh/sharding.h"

/* What a device holds of an array, row-major; whole: reads all of it. */
ts_host_reader sharded_part(ts_arena *arena, const ts_sharding *sharding, int64_t device,
                            const ts_host_reader *whole);
/* The whole array, of copies the one on the first device; parts: of every device. */
ts_host_reader sharded_whole(ts_arena *arena, const ts_sharding *sharding, const ts_host_reader *parts);
/* The device among those that hold the same of which it is the first. */
int64_t sharded_first_copy(const ts_sharding *sharding, int64_t device);
/* Of an array that is held as bytes. */
ts_host_reader sharded_of_array(ts_arena *arena, const ts_host_array *array);

#endif
