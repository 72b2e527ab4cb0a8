/* CuTe operations on any text: three lines, the name and the operands. Whatever is accepted must parse back.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "layout/notation/cute.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next line, ended by a NUL. */
static const char *take_line(ts_arena *arena, const char **text, const char *end) {
    const char *newline = memchr(*text, '\n', (size_t)(end - *text)), *stop = newline ? newline : end;
    const char *line = ts_arena_copy_text(arena, *text, (size_t)(stop - *text));
    *text = newline ? newline + 1 : end;
    return line;
}

/* A layout's text is the same after parsing and printing; only nesting may be too deep to read again. */
static void check_result(ts_arena *arena, const ts_text *result) {
    ts_error err = {0};
    ts_source source = {"result", result->bytes, result->length};
    ts_cute_map map;
    ts_text again;
    if (!strchr(result->bytes, ':') || strchr(result->bytes, '[')) return;
    if (!ts_cute_parse_map(&err, arena, &source, &map)) {
        assert(strstr(err.message, "nested"));
        return;
    }
    ts_text_init(&again, arena);
    ts_cute_print_map(&again, &map);
    assert(strcmp(again.bytes, result->bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_text out;
    const char *text = (const char *)data, *end = text + size;
    const char *op = take_line(arena, &text, end), *a = take_line(arena, &text, end);
    const char *b = take_line(arena, &text, end);
    ts_text_init(&out, arena);
    bool ok = ts_cute_evaluate(&err, arena, op, a, b, &out);
    assert(ok == (err.kind == TS_ERROR_NONE));
    if (ok) check_result(arena, &out);
    ts_arena_free(arena);
    return 0;
}
