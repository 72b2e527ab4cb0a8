/* Safetensors files: 8 bytes of length, a JSON header, the data (github.com/huggingface/safetensors,
 * README). */
#ifndef TILESIM_HOST_SAFETENSORS_H
#define TILESIM_HOST_SAFETENSORS_H

#include "host/array.h"

/* One tensor. In an index `array.bytes` is NULL and the data is at `offset` behind the header. */
typedef struct {
    const char *name;
    ts_host_array array;
    int packed_bits; /* 0, or those of an element in a type that is not read: array.length is the file's */
    uint64_t offset;
} ts_safetensor;

typedef struct {
    ts_safetensor *tensors; /* in the order of their data */
    size_t count;
    uint64_t data_at; /* byte of the file where the data begins */
} ts_safetensors_index;

/* The JSON header of a file with `data_bytes` of data: strict, every tensor inside the data, none overlapping
 * and no byte left over. As the format's own reader (safetensors 0.8) it takes "__metadata__" once, null or
 * an object of strings; other keys of a tensor, whatever they hold; and of tensors of one name the last.
 * Unlike it, it takes no NUL but in metadata, no tensor as a list, no dtype as an object, and no number of 64
 * characters. Elements of less than a byte (F4, F6) are refused when they are read, so that the others of
 * their file can be. */
bool ts_safetensors_parse(ts_error *err, ts_arena *arena, const ts_source *header, uint64_t data_bytes,
                          ts_safetensors_index *index);

/* Reads one tensor and no more of the file. `name` may be NULL where the file holds only one. */
bool ts_safetensors_load(ts_error *err, ts_arena *arena, const char *path, const char *name,
                         const ts_host_expect *expect, ts_host_array *array);

/* The data in the order given, the header padded with spaces to a multiple of 8 bytes. */
bool ts_safetensors_save(ts_error *err, ts_arena *arena, const char *path, const ts_safetensor *tensors,
                         size_t count);

#endif
