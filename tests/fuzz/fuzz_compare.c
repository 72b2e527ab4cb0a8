/* Two reports of any text, the second behind the first NUL: what is compared with itself differs in nothing. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "study/compare.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0}, none = {0};
    const uint8_t *zero = size ? memchr(data, '\0', size) : NULL;
    size_t length = zero ? (size_t)(zero - data) : size;
    ts_source before = {"before", (const char *)data, length};
    ts_source after = {"after", zero ? (const char *)zero + 1 : "", zero ? size - length - 1 : 0};
    ts_comparison result;
    bool good = ts_compare(&err, arena, &before, &after, &result);
    assert(good == (err.kind == TS_ERROR_NONE));
    if (good) {
        good = ts_compare(&none, arena, &after, &after, &result);
        assert(good && result.setting_count + result.result_count == 0);
    }
    ts_arena_free(arena);
    return 0;
}
