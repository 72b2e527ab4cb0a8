/* .npz files from any bytes. What is accepted has as many bytes as its shape says. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/npz.h"
#include "tests/support/temporary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;
static char path[TEMPORARY_PATH];

static void remove_file(void) { remove(path); }

/* One file a process. */
static void begin(void) {
    char name[64];
    snprintf(name, sizeof name, "fuzz-%d.npz", (int)getpid());
    temporary_path(path, name);
    atexit(remove_file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!path[0]) begin();
    FILE *file = fopen(path, "wb");
    assert(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_host_array array;
    const ts_host_expect expect = {.limit_bytes = 1 << 20};
    bool ok = ts_npz_load(&err, arena, path, NULL, &expect, &array);
    assert(ok == (err.kind == TS_ERROR_NONE));
    size_t length;
    if (ok) {
        assert(ts_host_array_size(NULL, "", array.dtype, array.rank, array.dims, &length));
        assert(length == array.length && length <= expect.limit_bytes);
        for (size_t at = 0; at < length; at++) sink = array.bytes[at];
    }
    ts_arena_free(arena);
    return 0;
}
