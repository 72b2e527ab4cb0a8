/* Shapes in all notations but XLA's from any text. What is accepted prints to text that parses back, is
 * inside its storage, and in every other notation that can say it is the same map. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/fuzz/large.h"
#include "layout/notation/xla.h"
#include "report/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SMALL = 4096 }; /* elements of an array that is looked at closely */

static const ts_shape *parse(ts_arena *arena, const char *text, size_t length) {
    ts_source source = {"fuzz", text, length};
    return ts_shape_parse(NULL, arena, &source);
}

static void check_text(ts_arena *arena, const ts_shape *shape) {
    ts_text first, again;
    first = ts_text_begin(arena);
    again = ts_text_begin(arena);
    ts_shape_print(shape, &first);
    const ts_shape *copy = parse(arena, first.bytes, first.length);
    assert(copy != NULL);
    ts_shape_print(copy, &again);
    assert(strcmp(first.bytes, again.bytes) == 0);
    assert(copy->bytes == shape->bytes && copy->padded_elements == shape->padded_elements);
}

static void check_middle(ts_arena *arena, const ts_shape *shape) {
    const ts_layout *layout = shape->layout;
    int64_t index[TS_LAYOUT_MAX_DIMS], point[TS_LAYOUT_MAX_AXES], low, high;
    for (int i = 0; i < layout->rank; i++) index[i] = layout->dims[i] / 3 * 2;
    ts_layout_forward(layout, index, point);
    for (int i = 0; i < layout->axis_count; i++) {
        ts_layout_axis_range(layout, i, &low, &high);
        assert(point[i] >= low && point[i] <= high);
    }
    ts_index_list found;
    if (ts_layout_element_count(layout) > SMALL ||
        !ts_layout_backward(NULL, arena, layout, point, SMALL, &found))
        return;
    int64_t at = 0;
    while (at < found.count &&
           memcmp(found.indices + at * layout->rank, index, (size_t)layout->rank * sizeof index[0]))
        at++;
    assert(at < found.count);
}

static void check_translations(ts_arena *arena, const ts_shape *shape) {
    static const char *const notations[] = {"xla", "axe", "tvm", "cute"};
    for (int i = 0; i < 4; i++) {
        const ts_shape *other = ts_shape_translate(NULL, arena, shape, notations[i]);
        ts_layout_comparison found;
        if (other && ts_layout_compare(NULL, arena, shape->layout, other->layout, SMALL, &found))
            assert(found.equal);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    const char *text = ts_arena_copy_text(arena, (const char *)data, size);
    static const char *const enumerate[] = {"lambda", NULL};
    const ts_shape *shape = fuzz_too_large(text, enumerate) ? NULL : parse(arena, (const char *)data, size);
    if (shape && !shape->xla) {
        ts_text out = ts_text_begin(arena);
        check_text(arena, shape);
        bool small = ts_layout_element_count(shape->layout) <= SMALL;
        if (ts_layout_element_count(shape->layout) > 0) check_middle(arena, shape);
        if (small) check_translations(arena, shape);
        if (small) ts_report_shape(arena, shape, &out);
    }
    ts_arena_free(arena);
    return 0;
}
