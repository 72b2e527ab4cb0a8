/* An array of a user's file, whatever the format. */
#ifndef TILESIM_HOST_ARRAY_H
#define TILESIM_HOST_ARRAY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "layout/dtype.h"

enum { TS_HOST_RANK = 64 }; /* NumPy 2 allows as many */

typedef struct {
    ts_dtype dtype;
    int rank;
    int64_t dims[TS_HOST_RANK];
    uint8_t *bytes; /* row-major, little endian, ts_dtype_get(dtype)->stored_bits each */
    size_t length;  /* of `bytes` */
} ts_host_array;

/* Reads elements begin, begin + stride ... of `self` in their own type; false on an error. */
typedef bool ts_host_read(ts_error *err, void *self, int64_t begin, int64_t stride, size_t count,
                          void *elements);
/* Elements that are made, or fetched, when they are asked for. */
typedef struct {
    ts_host_read *read; /* NULL: none */
    void *self;
    bool in_order; /* any other order takes long */
} ts_host_reader;

/* What the user says that a file holds; NULL where it may hold anything. */
typedef struct {
    bool has_dtype, has_dims;
    ts_dtype dtype; /* decides only where the file does not say: raw files, NumPy's void, uint16 that holds
                     * bf16. A file that names another type keeps it; see ts_host_array_convert */
    int rank;
    const int64_t *dims; /* raw files need them; any other file must have exactly these */
    size_t limit_bytes;  /* of the file; 0 is TS_HOST_LIMIT_BYTES */
} ts_host_expect;

#define TS_HOST_LIMIT_BYTES                                                                                  \
    ((size_t)(SIZE_MAX / 2 < (UINT64_C(1) << 36) ? SIZE_MAX / 2 : (UINT64_C(1) << 36)))
/* Bytes of a file, at most. */
static inline size_t ts_host_limit(const ts_host_expect *expect) {
    return expect && expect->limit_bytes ? expect->limit_bytes : TS_HOST_LIMIT_BYTES;
}

/* Elements times stored bytes; an error where it overflows or a type has no data. `what` begins the
 * message. */
bool ts_host_array_size(ts_error *err, const char *what, ts_dtype dtype, int rank, const int64_t *dims,
                        size_t *bytes);
/* Sets all members but the bytes, which are NULL. */
bool ts_host_array_describe(ts_error *err, ts_dtype dtype, int rank, const int64_t *dims,
                            ts_host_array *array);
/* Zeroed. */
bool ts_host_array_init(ts_error *err, ts_arena *arena, ts_dtype dtype, int rank, const int64_t *dims,
                        ts_host_array *array);
size_t ts_host_array_elements(const ts_host_array *array);
/* The values in another type (layout/convert.h has the rules); the same bytes where it has that type. */
bool ts_host_array_convert(ts_error *err, ts_arena *arena, const ts_host_array *array, ts_dtype dtype,
                           ts_host_array *out);
/* Dims and type agree with what is expected of `name`, else an error that says both shapes. */
bool ts_host_array_check(ts_error *err, const char *name, const ts_host_array *array,
                         const ts_host_expect *expect);
/* The names of the arrays of one file, `step` bytes from one to the next. */
typedef struct {
    const char *noun; /* "tensor", for messages */
    const char *const *first;
    size_t count, step;
} ts_host_names;
/* Which of them is `name`; NULL: of the only one. SIZE_MAX: an error, of the file `path`. */
size_t ts_host_find(ts_error *err, const char *path, const char *name, const ts_host_names *names);
/* "f32[1000,784]". */
void ts_host_array_print(const ts_host_array *array, ts_text *out);

#endif
