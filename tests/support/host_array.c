/* Arrays of files, for tests of each format. */
#include "tests/support/host_array.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "layout/convert.h"
#include "tests/support/cmocka.h"

const char *host_array_text(ts_arena *arena, const ts_host_array *array) {
    ts_text text = ts_text_begin(arena);
    ts_host_array_print(array, &text);
    size_t bytes = (size_t)ts_dtype_get(array->dtype)->stored_bits / 8;
    for (size_t at = 0; at < array->length; at += bytes) {
        uint64_t bits = 0;
        float real = 0;
        memcpy(&bits, array->bytes + at, bytes < 8 ? bytes : 8);
        if (ts_dtype_has_value(array->dtype)) {
            ts_text_add(&text, " %g", ts_element_to_double(array->dtype, bits));
        } else {
            memcpy(&real, array->bytes + at, 4);
            ts_text_add(&text, " %g", (double)real);
        }
    }
    return text.bytes;
}

static void check_type(ts_dtype dtype, int64_t extent, const char *path, const char *file) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_host_array array, back;
    const int64_t dims[] = {3, extent, 2};
    assert_true(ts_host_array_init(&err, arena, dtype, 3, dims, &array));
    for (size_t i = 0; i < array.length; i++) array.bytes[i] = (uint8_t)(i * 37);
    assert_true(ts_host_save(&err, arena, path, &array));
    ts_host_expect expect = {true, true, dtype, 3, dims, 0};
    if (!ts_host_load(&err, arena, path, &expect, &back)) fail_msg("%s", err.message);
    assert_int_equal(back.dtype, dtype);
    assert_memory_equal(back.bytes, array.bytes, array.length);
    assert_true(ts_host_load(&err, arena, file, &expect, &back));
    ts_arena_free(arena);
}

void check_every_type(const char *path, const char *file) {
    for (int dtype = 0; dtype < TS_DTYPE_COUNT; dtype++)
        for (int64_t extent = 0; extent < 3 && ts_dtype_get((ts_dtype)dtype)->stored_bits > 0; extent++) {
            check_type((ts_dtype)dtype, extent, path, file);
            assert_int_equal(remove(file), 0);
        }
}
