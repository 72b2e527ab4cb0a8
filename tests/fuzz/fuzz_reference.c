/* Checks from any text, run over small arrays (without iota, which could ask for gigabytes). */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "host/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static float x_data[6] = {1, -2, 3, 0, 5, 1e30f};
    static uint8_t y_data[3] = {1, 0, 255};
    static const ts_host_array x = {TS_DTYPE_F32, 2, {2, 3}, (uint8_t *)x_data, sizeof x_data};
    static const ts_host_array y = {TS_DTYPE_S8, 1, {3}, y_data, sizeof y_data};
    static const ts_reference_name names[] = {
        {.name = "x", .array = &x}, {.name = "y", .array = &y}, {.name = "N", .number = 2}};
    static const ts_reference_names all = {names, 3};
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source source = {"fuzz", (const char *)data, size};
    ts_check check;
    ts_check_result result;
    bool ok = ts_check_parse(&err, arena, &source, 0, size, &check);
    assert(ok == (err.kind == TS_ERROR_NONE));
    if (ok && !ts_check_uses(&check, "iota") && !memmem(data, size, "iota", 4)) {
        ok = ts_check_run(&err, arena, &check, &all, &all, &result);
        assert(ok == (err.kind == TS_ERROR_NONE));
        assert(!ok || (result.failed <= result.count && (result.worst < result.count || result.count == 0)));
    }
    ts_arena_free(arena);
    return 0;
}
