/* Shapes in XLA's notation from any text. What is accepted prints to text that parses back; its elements are
 * inside its storage, and found there again. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "layout/notation/xla.h"
#include "report/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(ts_arena *arena, const ts_shape *shape) {
    ts_text first, again;
    first = ts_text_begin(arena);
    again = ts_text_begin(arena);
    ts_shape_print(shape, &first);
    ts_source source = {"printed", first.bytes, first.length};
    const ts_shape *copy = ts_shape_parse(NULL, arena, &source);
    assert(copy != NULL);
    ts_shape_print(copy, &again);
    assert(strcmp(first.bytes, again.bytes) == 0);
    assert(copy->bytes == shape->bytes && copy->padded_elements == shape->padded_elements);
}

/* The first, the last and a middle element. */
static void check_elements(ts_arena *arena, const ts_shape *shape) {
    const ts_layout *layout = shape->layout;
    int64_t held = ts_layout_padded_count(layout);
    if (ts_layout_element_count(layout) == 0) return;
    for (int which = 0; which < 3; which++) {
        int64_t index[TS_LAYOUT_MAX_DIMS], offset;
        ts_index_list found;
        for (int i = 0; i < layout->rank; i++)
            index[i] = which == 0 ? 0 : which == 1 ? layout->dims[i] - 1 : layout->dims[i] / 3 * 2;
        ts_layout_forward(layout, index, &offset);
        assert(offset >= 0 && offset < held);
        assert(ts_layout_backward(NULL, arena, layout, &offset, 2, &found) && found.count == 1);
        assert(memcmp(found.indices, index, (size_t)layout->rank * sizeof index[0]) == 0);
        ts_text out = ts_text_begin(arena);
        ts_report_offset(shape, index, &out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source source = {"fuzz", (const char *)data, size};
    const ts_shape *shape = ts_shape_parse(&err, arena, &source);
    assert((shape != NULL) == (err.kind == TS_ERROR_NONE));
    if (shape != NULL && shape->xla != NULL) { /* other notations: fuzz_shape.c */
        ts_text out = ts_text_begin(arena);
        check_text(arena, shape);
        if (shape->layout != NULL) check_elements(arena, shape);
        ts_report_shape(arena, shape, &out);
    }
    ts_arena_free(arena);
    return 0;
}
