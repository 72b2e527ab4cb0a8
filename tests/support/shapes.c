/* Shapes of texts. */
#include "tests/support/shapes.h"

#include <string.h>

#include "tests/support/test.h"

const ts_shape *read_shape(ts_error *err, ts_arena *arena, const char *text) {
    ts_source source = {"shape", text, strlen(text)};
    return ts_shape_parse(err, arena, &source);
}

const ts_shape *parse_shape(ts_arena *arena, const char *text) {
    ts_error err = {0};
    const ts_shape *shape = read_shape(&err, arena, text);
    if (!shape) fail_msg("%s: %s", text, err.message);
    return shape;
}
