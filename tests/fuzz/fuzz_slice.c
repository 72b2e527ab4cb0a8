/* Slices of shapes from any text, alone and behind a shape. What is accepted lies inside the shape, and
 * prints to text that parses back. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "study/transfer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool parse(ts_arena *arena, const char *text, ts_transfer_end *end) {
    ts_source source = {"fuzz", text, strlen(text)};
    ts_error err = {0};
    bool parsed = ts_transfer_end_parse(&err, arena, &source, end);
    assert(parsed == (err.kind == TS_ERROR_NONE));
    return parsed;
}

static void check(ts_arena *arena, const char *text) {
    ts_transfer_end end, copy;
    if (!parse(arena, text, &end)) return;
    for (int i = 0; end.sizes && i < end.shape->layout->rank; i++) {
        int64_t extent = end.shape->layout->dims[i];
        assert(end.begin[i] >= 0 && end.sizes[i] >= 0 && end.begin[i] <= extent - end.sizes[i]);
        assert(end.sizes[i] > 0 || extent == 0);
    }
    const char *first = ts_transfer_end_text(arena, &end);
    bool parsed = parse(arena, first, &copy);
    assert(parsed);
    assert(strcmp(first, ts_transfer_end_text(arena, &copy)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    const char *text = ts_arena_copy_text(arena, (const char *)data, size);
    ts_text behind = ts_text_begin(arena);
    ts_text_add(&behind, "f32[8,16]{1,0:T(8,128)}%s", text);
    if (!strstr(text, "lambda")) check(arena, text); /* maps that enumerate take their time: fuzz_shape */
    if (!strstr(text, "lambda")) check(arena, behind.bytes);
    ts_arena_free(arena);
    return 0;
}
