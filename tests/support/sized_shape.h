/* Shapes from patterns in which the letters R and C become sizes. */
#ifndef TESTS_SUPPORT_SIZED_SHAPE_H
#define TESTS_SUPPORT_SIZED_SHAPE_H

#include <stdio.h>

#include "layout/shape.h"
#include "tests/support/cmocka.h"

static inline const ts_shape *sized_shape(ts_arena *arena, const char *pattern, int64_t rows,
                                          int64_t columns) {
    char text[160];
    size_t used = 0;
    for (const char *p = pattern; *p; p++)
        if (*p == 'R' || *p == 'C')
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%d", (int)(*p == 'R' ? rows : columns));
        else
            text[used++] = *p;
    ts_source source = {"shape", text, used};
    const ts_shape *shape = ts_shape_parse(NULL, arena, &source);
    assert_non_null(shape);
    return shape;
}

#endif
