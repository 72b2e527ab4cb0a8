/* XLA's notation: TYPE[dims]{minor_to_major:T(..)(..)L()E()S()SC()M()}.
 * Sources: XLA tiled_layout.md, shapes.md, hlo_parser.cc (grammar), layout.cc (printing), layout_util.cc and
 * shape_util.cc (semantics and validation). */
#ifndef TILESIM_LAYOUT_NOTATION_XLA_H
#define TILESIM_LAYOUT_NOTATION_XLA_H

#include "layout/shape.h"

#define TS_XLA_COMBINE   INT64_MIN /* a '*' in a tile: the dim is combined with the next more minor one */
#define TS_XLA_UNBOUNDED INT64_MIN /* a '?' dim: it has no size, so no layout can be made of it */

typedef struct {
    int rank;
    const int64_t *dims; /* majormost first; TS_XLA_COMBINE for '*' */
} ts_xla_tile;

typedef struct {
    int dim, count;
    const int64_t *indices;
} ts_xla_split;

/* Zero is "not given" in every field, so fields made by a program need only what they use. */
typedef struct ts_xla_layout {
    int rank;
    const int64_t *dims;       /* bounds; TS_XLA_UNBOUNDED for '?' */
    const bool *dynamic;       /* written '<=N' or '?'; NULL: none is */
    const int *minor_to_major; /* NULL: row-major */
    bool layout_written;       /* false: the text had no braces */
    int tile_count, split_count;
    const ts_xla_tile *tiles;
    const ts_xla_split *splits;
    int64_t tail_alignment;   /* L(), in elements; 1 = none */
    int64_t element_bits;     /* E() as written; 0 = none */
    int64_t memory_space;     /* S() */
    int64_t metadata_bytes;   /* M() */
    bool is_tuple, is_buffer; /* ( ... ): members instead of an array; b( ... ) around an array */
    int tuple_count;
    const struct ts_shape *const *members;
} ts_xla_layout;

/* One shape at the cursor, which is left behind it and the comments that follow it. */
const ts_shape *ts_xla_parse(ts_error *err, ts_arena *arena, ts_cursor *cursor);
void ts_xla_print(const ts_shape *shape, ts_text *out);
/* The shape that these fields (of an array) describe, validated as parsing does. */
const ts_shape *ts_xla_shape(ts_error *err, ts_arena *arena, ts_dtype dtype, const ts_xla_layout *fields);

/* The logical dim that is `position`-th from the minor end; 0 <= position < rank. */
static inline int ts_xla_dim_at(const ts_xla_layout *fields, int position) {
    return fields->minor_to_major ? fields->minor_to_major[position] : fields->rank - 1 - position;
}

#endif
