/* Private: from a layout to XLA's minor_to_major and tiles. */
#ifndef TILESIM_LAYOUT_NOTATION_TRANSLATE_XLA_H
#define TILESIM_LAYOUT_NOTATION_TRANSLATE_XLA_H

#include "layout/shape.h"

/* NULL, and an error that says what XLA lacks, where there is none of at most three tiles. */
const ts_shape *ts_translate_to_xla(ts_error *err, ts_arena *arena, const ts_shape *shape);

#endif
