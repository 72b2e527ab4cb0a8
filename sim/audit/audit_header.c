/* What a module's header says of its arguments and results: their layouts, which a compiler is told before it
 * has laid out anything else. */
#include <string.h>

#include "audit_state.h"

enum { ENTRY_SHAPES = 1 << 16 };

/* "{(f32[8]{0}, s32[])": is none of them a tuple? */
static bool are_arrays(ts_span list) {
    ts_span item;
    const char *open = memchr(list.text, '(', list.length);
    if (!open) return false;
    list = ts_hlo_from(list, open + 1);
    while (ts_hlo_next(&list, &item))
        if (ts_hlo_begins(item, "(")) return false;
    return true;
}

/* How many are behind the `kept` ones now. */
static int64_t read_shapes(ts_audit *a, int64_t line, ts_span list, int64_t kept) {
    ts_span shape;
    int64_t count = 0;
    while (count < ENTRY_SHAPES && ts_hlo_find_shape(&list, &shape)) {
        int32_t number = audit_intern(a, line, shape);
        if (number != AUDIT_NONE) a->entry_shapes[kept + count++] = number;
    }
    return count;
}

/* "{(arguments)->results}" */
static void read_layout(ts_audit *a, int64_t line, ts_span layout) {
    const char *arrow = memmem(layout.text, layout.length, "->", 2);
    ts_span results = {"", 0};
    a->entry_shapes = TS_NEW_ARRAY(a->arena, int32_t, 1 + layout.length / 4);
    if (arrow) {
        results = ts_hlo_trim(ts_hlo_from(layout, arrow + 2));
        layout.length = (size_t)(arrow - layout.text);
    }
    a->entry_is_flat = are_arrays(layout);
    a->entry_count = read_shapes(a, line, layout, 0);
    if (a->unscheduled && (!ts_hlo_begins(results, "(") || are_arrays(results)))
        a->result_count = read_shapes(a, line, results, a->entry_count);
}

void audit_read_header(ts_audit *a, int64_t line, ts_span name, ts_span attributes) {
    ts_span layout;
    a->unscheduled = !memmem(attributes.text, attributes.length, "is_scheduled=true", 17);
    a->entry_is_flat = false;
    a->result_count = 0;
    if (a->module) return; /* of several, the first gives its name */
    a->module = ts_arena_copy_text(a->arena, name.text, name.length);
    if (!ts_hlo_attribute(attributes, "entry_computation_layout", &layout)) return;
    bool tiles = a->any_tiles; /* those of arguments and results alone say nothing of the rest */
    read_layout(a, line, layout);
    if (a->unscheduled) a->any_tiles = tiles;
}

static bool same_array(const char *x, const char *y) {
    size_t length = strcspn(x, "{");
    return strcspn(y, "{") == length && memcmp(x, y, length) == 0;
}

int32_t audit_argument(const ts_audit *a, const ts_hlo_instruction *i, int32_t shape) {
    bool entry = a->current >= 0 && a->computations[a->current].level == TS_AUDIT_LEVEL_ENTRY;
    if (!a->unscheduled || !a->entry_is_flat || !entry || shape == AUDIT_NONE) return shape;
    if (a->shapes[shape].is_tuple || a->shapes[shape].linear.tiled) return shape;
    int64_t number = ts_hlo_number(ts_hlo_trim(i->operands)); /* of parameter(3) */
    if (number < 0 || number >= a->entry_count) return shape;
    int32_t given = a->entry_shapes[number];
    bool fits = !a->shapes[given].is_tuple && same_array(a->shapes[given].text, a->shapes[shape].text);
    return fits ? given : shape;
}

int32_t audit_result(const ts_audit *a, int64_t number) {
    return number < a->result_count ? a->entry_shapes[a->entry_count + number] : AUDIT_NONE;
}
