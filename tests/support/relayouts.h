/* Layouts of Mosaic, and rows of the tables of relayouts in tests/mosaic: what Mosaic's own pass makes of them. */
#ifndef TESTS_SUPPORT_RELAYOUTS_H
#define TESTS_SUPPORT_RELAYOUTS_H

#include "layout/shape.h"
#include "mosaic/relayout.h"

/* Of "32,{0,0},(8,128)". Fails the test where the text is none. */
ts_vpad parse_vpad(ts_arena *arena, const char *text);

typedef struct {
    const char *shape_text, *from_text, *to_text;
    const char *said; /* "tpu.rotate=2", "free", "refused: ..", "stops" */
    const ts_shape *shape;
    ts_relayout_request request;
} relayout_row;

typedef bool relayout_row_use(void *self, ts_arena *arena, const relayout_row *row);

/* Of every row, each with an arena of its own; how many there are, and of how many `use` was true. */
typedef struct {
    int rows, used;
} relayout_rows;
relayout_rows relayout_table_read(const char *path, relayout_row_use *use, void *self);

#endif
