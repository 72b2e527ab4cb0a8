/* Headers of safetensors files from any text: the first two bytes are the bytes of data, the rest is the
 * header. What is accepted covers the data without overlap. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "host/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source header = {"fuzz", (const char *)data + 2, size - 2};
    ts_safetensors_index index;
    uint64_t data_bytes = (uint64_t)(data[0] - '0') * 10 + (uint64_t)(data[1] - '0'), at = 0;
    bool ok = ts_safetensors_parse(&err, arena, &header, data_bytes, &index);
    assert(ok == (err.kind == TS_ERROR_NONE));
    for (size_t i = 0; ok && i < index.count; i++) {
        assert(index.tensors[i].offset == at);
        at += index.tensors[i].array.length;
    }
    assert(!ok || at == data_bytes);
    ts_arena_free(arena);
    return 0;
}
