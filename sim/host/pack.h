/* A user's array into a layout and back: the plan that a DMA would use, between the file's bytes and a
 * space. */
#ifndef TILESIM_HOST_PACK_H
#define TILESIM_HOST_PACK_H

#include "host/array.h"
#include "layout/shape.h"
#include "memory/space.h"

/* What is read, row-major and in the shape's type, becomes the tensor at `base_bytes`, a part at a time. Padding
 * keeps what it holds. */
bool ts_host_store_read(ts_error *err, const ts_host_reader *reader, const ts_shape *shape, ts_space *space,
                        int64_t base_bytes);
/* Reads a tensor's elements, which must stay, a part of it at a time: memory for no more. */
ts_host_reader ts_host_fetch_reader(ts_arena *arena, const ts_shape *shape, ts_space *space,
                                    int64_t base_bytes);

/* The buffer of a layout on one memory axis: offset 0 first, padding zero; large enough for what its compiler
 * reports and for every element. */
bool ts_host_buffer_bytes(ts_error *err, const ts_shape *shape, int64_t *bytes);
/* Is it as long? */
typedef struct {
    const char *name; /* what errors call it */
    uint8_t *bytes;   /* only read where they are unpacked */
    int64_t length;
} ts_host_buffer;
bool ts_host_buffer_check(ts_error *err, const ts_host_buffer *buffer, int64_t bytes);
/* As u8[its length]. By so many threads; 0 and 1: the caller alone. */
bool ts_host_pack(ts_error *err, ts_arena *arena, const ts_host_array *array, const ts_shape *shape,
                  int threads, ts_host_array *buffer);
bool ts_host_unpack(ts_error *err, ts_arena *arena, const ts_host_buffer *buffer, const ts_shape *shape,
                    int threads, ts_host_array *array);
/* Into memory that is there: bytes, whose padding keeps what it holds, and an array with its type and
 * dims. */
bool ts_host_pack_into(ts_error *err, const ts_host_array *array, const ts_shape *shape, int threads,
                       const ts_host_buffer *buffer);
bool ts_host_unpack_into(ts_error *err, const ts_host_buffer *buffer, const ts_shape *shape, int threads,
                         const ts_host_array *array);

#endif
