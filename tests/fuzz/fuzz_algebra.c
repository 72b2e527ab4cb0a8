/* Any text as an expression over layouts. What it gives must print and read back as the same text, and what
 * an Axe layout is in the common form has its size. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "layout/notation/algebra.h"
#include "tests/fuzz/large.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool evaluate(ts_error *err, ts_arena *arena, const char *text, ts_value *value) {
    ts_source source = {"expression", text, strlen(text)};
    bool ok = ts_algebra_evaluate(err, arena, &source, value);
    assert(ok == (err->kind == TS_ERROR_NONE));
    return ok;
}

/* Only nesting may be too deep to read again. */
static void check_text(ts_arena *arena, const ts_value *value) {
    ts_error err = {0};
    ts_value again;
    ts_text once, twice;
    once = ts_text_begin(arena);
    twice = ts_text_begin(arena);
    ts_value_print(&once, value);
    if (value->kind == TS_VALUE_TEXT) return;
    if (!evaluate(&err, arena, once.bytes, &again)) {
        assert(strstr(err.message, "nested"));
        return;
    }
    ts_value_print(&twice, &again);
    assert(strcmp(once.bytes, twice.bytes) == 0);
}

static void check_axe(ts_arena *arena, const ts_axe *axe) {
    int64_t dims = ts_axe_size(axe, NULL), padded;
    ts_axe again;
    ts_text text = ts_text_begin(arena);
    ts_axe_print_matrix(&text, axe);
    ts_source source = {"matrix", text.bytes, text.length};
    bool parsed = ts_axe_parse(NULL, arena, &source, &again);
    assert(parsed && again.shard_count >= axe->shard_count);
    const ts_layout *layout = ts_axe_layout(NULL, arena, axe, 1, &dims);
    if (layout && ts_axe_from_layout(NULL, arena, layout, &padded, &again)) assert(padded == dims);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const enumerate[] = {"same_map", "jective", "backward", "inverse", "padding_points",
                                            "loops",    "values",  "lambda",   NULL};
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_value value;
    const char *text = ts_arena_copy_text(arena, size ? (const char *)data : "", size);
    if (!fuzz_too_large(text, enumerate) && evaluate(&err, arena, text, &value)) {
        check_text(arena, &value);
        (void)ts_value_array(NULL, arena, &value);
        if (value.kind == TS_VALUE_AXE) check_axe(arena, &value.axe);
    }
    ts_arena_free(arena);
    return 0;
}
