/* .npy files from any bytes. What is accepted has as many bytes as its shape says, all inside the file or a
 * copy. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "host/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ts_host_expect expects[] = {{.has_dtype = true, .dtype = TS_DTYPE_BF16},
                                             {.has_dtype = true, .dtype = TS_DTYPE_S4}};
    for (int i = -1; i < 2; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_source file = {"fuzz", (const char *)data, size};
        ts_host_array array;
        bool ok = ts_npy_parse(&err, arena, &file, i < 0 ? NULL : &expects[i], &array);
        assert(ok == (err.kind == TS_ERROR_NONE));
        size_t length;
        if (ok) {
            assert(ts_host_array_size(NULL, "", array.dtype, array.rank, array.dims, &length));
            assert(length == array.length && length <= size);
            for (size_t at = 0; at < length; at++) sink = array.bytes[at];
        }
        ts_arena_free(arena);
    }
    return 0;
}
