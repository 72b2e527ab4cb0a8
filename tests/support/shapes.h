/* Shapes of texts, for tests. */
#ifndef TESTS_SUPPORT_SHAPES_H
#define TESTS_SUPPORT_SHAPES_H

#include "layout/shape.h"

/* NULL where the text is none. */
const ts_shape *read_shape(ts_error *err, ts_arena *arena, const char *text);

/* Fails the test where the text is none. */
const ts_shape *parse_shape(ts_arena *arena, const char *text);

#endif
