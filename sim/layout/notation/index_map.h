/* TVM index maps: a function from a logical index to a transformed one, "lambda n, h, w, c: [n, c//4, h, SEP,
 * w, c%4]".
 *
 * Sources: tvm-rfcs 0039-buffer-physical-layout, TVM src/tirx/ir/index_map.cc and
 * include/tvm/tirx/index_map.h, and for separators the last version that had them (buffer.cc before
 * apache/tvm PR 20019). Differences, all on purpose:
 *   - an inverse of a map that is not injective, or that leaves its shape, is refused (TVM checks neither);
 *   - |, ^, &, <<, >>, min and max are understood; such maps are exact, but plans on them gather;
 *   - separators may repeat: an empty group is a physical dim of 1. */
#ifndef TILESIM_LAYOUT_NOTATION_INDEX_MAP_H
#define TILESIM_LAYOUT_NOTATION_INDEX_MAP_H

#include "layout/layout.h"

typedef struct ts_index_expr ts_index_expr; /* immutable */

typedef struct {
    int rank, count; /* of the logical index; of the transformed one, at least 1 */
    const char *const *names;
    const ts_index_expr *const *exprs;
    int separator_count;
    const int *separators; /* each: how many transformed indices are before it; ascending, may repeat */
} ts_index_map;

/* ---- Text.
 *
 *   map    = lambda | "T.index_map(" lambda ")"     as TVM prints it
 *   lambda = "lambda" NAME {"," NAME} ":" ( "[" item {"," item} [","] "]" | "(" .. ")" | expr )
 *   item   = expr | "SEP" | [NAME "."] "AXIS_SEPARATOR"
 *   expr   = as in Python, of |  ^  &  << >>  + -  * // %  unary -  ( )  INT  NAME  and the functions
 *            floordiv, floormod, min, max of two. // and % round towards minus infinity. "T." may be before a
 *            function; "T.int64(x)" and "T.int32(x)" are x. ---- */

bool ts_index_map_read(ts_error *err, ts_arena *arena, ts_cursor *cursor,
                       ts_index_map *out); /* left behind it */
bool ts_index_map_parse(ts_error *err, ts_arena *arena, const ts_source *source, ts_index_map *out);
void ts_index_map_print(ts_text *out, const ts_index_map *map);
/* One expression, over the names of a map's logical index. */
void ts_index_expr_print(ts_text *out, const ts_index_expr *expr, const char *const *names);

/* ---- Evaluating. Dims are the logical shape: `rank` values of at least 1. ---- */

/* Any index, negative ones too; an error on overflow and on division by 0. */
bool ts_index_map_apply(ts_error *err, const ts_index_map *map, const int64_t *index, int64_t *transformed);
/* The transformed shape (`count` values). Sums of digits: each dim that is split is padded to a multiple, at
 * its beginning too where a constant is added first. Others: the largest value + 1. An error where a
 * transformed index does not begin at 0. */
bool ts_index_map_shape(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                        int64_t *shape);
/* What the transformed indices range over: the lowest of each and how many there are from it on, and the map
 * less the lowest ones, which begins at 0. Extents are as ts_index_map_shape has them. */
typedef struct {
    int64_t low[TS_LAYOUT_MAX_AXES], extent[TS_LAYOUT_MAX_AXES];
    ts_index_map from_zero;
} ts_index_ranges;
bool ts_index_map_ranges(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                         ts_index_ranges *ranges);
/* A transformed shape, its groups between separators flattened row-major: separator_count + 1 values. */
bool ts_index_flatten_shape(ts_error *err, int count, const int64_t *shape, int separator_count,
                            const int64_t *separators, int64_t *physical);
bool ts_index_map_physical_shape(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                                 int64_t *physical);
/* Of an index within the dims. */
bool ts_index_map_physical_index(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                                 const int64_t *index, int64_t *physical);
/* Equal for every index, whatever the shape? Judged by trying many. */
bool ts_index_map_equivalent(const ts_index_map *a, const ts_index_map *b);

/* ---- The common form ---- */

/* Axes: flat, "m" where there are no separators, else p0, p1 ..; apart, x0, x1 .. for the transformed
 * indices. */
typedef enum { TS_INDEX_MAP_APART, TS_INDEX_MAP_FLAT } ts_index_map_form;
/* Sums of digits become stages; other maps stay functions. The map need not be injective. */
const ts_layout *ts_index_map_layout(ts_error *err, ts_arena *arena, const ts_index_map *map,
                                     const int64_t *dims, ts_index_map_form form);
/* Do two logical indices share an address? Then two that do. */
bool ts_index_map_injective(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                            ts_layout_injectivity *out);
bool ts_index_map_bijective(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                            bool *bijective); /* onto its shape */

/* ---- Inverse. The map must be injective; it need not begin at 0. ---- */

/* The logical index at a transformed one within the ranges; NULL on padding. */
bool ts_index_map_inverse_at(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                             const int64_t *transformed, const int64_t **index);
/* In closed form, for sums of digits that do not run backwards: the inverse map over x0, x1 .. and the
 * predicate that is true on padding (NULL: there is none). */
typedef struct {
    bool found; /* else there is no closed form */
    ts_index_map map;
    const ts_index_expr *padding;
} ts_index_inverse;
bool ts_index_map_inverse(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                          ts_index_inverse *out);
/* The loops over the transformed tensor, outermost first, and the logical index in the innermost (seed: RFC
 * 0039, transform_layout). */
bool ts_index_map_print_loops(ts_error *err, ts_arena *arena, const ts_index_map *map, const int64_t *dims,
                              ts_text *out);

#endif
