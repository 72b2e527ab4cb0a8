/* Shapes of texts. */
#include "tests/support/shapes.h"

#include <string.h>

#include "tests/support/test.h"

const ts_shape *parse_shape(ts_arena *arena, const char *text) {
    ts_error err = {0};
    ts_source source = {"shape", text, strlen(text)};
    const ts_shape *shape = ts_shape_parse(&err, arena, &source);
    if (!shape) fail_msg("%s: %s", text, err.message);
    return shape;
}
