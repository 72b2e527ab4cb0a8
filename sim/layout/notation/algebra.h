/* The algebras of layouts: an expression of function calls over layouts in any notation, evaluated.
 *
 *   array    = TYPE "[" dims "]" [expr]         a shape as shape.h reads it, or the layout that expr gives
 *   expr     = call | layout | tuple | tiler | point {point} | word | array
 *   call     = NAME "(" [argument {"," argument}] ")"
 *   argument = [NAME "="] expr
 *   tuple    = "()" | CuTe's (cute.h)           also a layout, of compact strides, where one is expected
 *   layout   = Axe's (axe.h), TVM's (index_map.h) or CuTe's (cute.h), whichever its first words are of
 *   point    = "{" NAME "=" INT {"," NAME "=" INT} "}"
 *   word     = NAME [".." NAME]                 an axis, or what some functions answer ("yes", "none")
 *
 * composition((6,2):(8,2), (4,3):(3,1))
 * f32[8,16] tile(S[(4,8):(8,1)], outer=S[(2,2):(2,1)], outer_shape=(2,2), inner_shape=(4,8)) */
#ifndef TILESIM_LAYOUT_ALGEBRA_H
#define TILESIM_LAYOUT_ALGEBRA_H

#include "layout/notation/axe.h"
#include "layout/notation/cute.h"
#include "layout/notation/index_map.h"
#include "layout/shape.h"

typedef enum {
    TS_VALUE_WORD,
    TS_VALUE_TUPLE,
    TS_VALUE_EMPTY, /* the tuple of nothing */
    TS_VALUE_POINTS,
    TS_VALUE_TILER,
    TS_VALUE_CUTE,
    TS_VALUE_AXE,
    TS_VALUE_INDEX_MAP,
    TS_VALUE_ARRAY,
    TS_VALUE_TEXT, /* for people alone: loops, a predicate */
} ts_value_kind;

typedef struct {
    int count;
    const char *const *axes;
    const int64_t *coordinates;
} ts_value_point;

typedef struct ts_value ts_value;
struct ts_value {
    ts_value_kind kind;
    size_t at;     /* where it begins in the expression */
    ts_cute tuple; /* the extents are the values */
    ts_cute_tiler tiler;
    ts_cute_map cute;
    ts_axe axe;
    ts_index_map map;
    const ts_shape *array;
    const char *text; /* of a word, too */
    int point_count;
    const ts_value_point *points;
    const char *extra_name; /* what else the function found: "seps", "padding" ..; NULL: nothing */
    const ts_value *extra;
};

/* The whole source is one expression. */
bool ts_algebra_evaluate(ts_error *err, ts_arena *arena, const ts_source *source, ts_value *value);
/* The canonical text, without what is extra. It parses back, but for TS_VALUE_TEXT. */
void ts_value_print(ts_text *out, const ts_value *value);
/* "a CuTe layout", "a tuple" .. */
const char *ts_value_kind_name(ts_value_kind kind);
/* What was found, as errors say it: the kind, or the word itself. */
void ts_value_print_kind(ts_text *out, const ts_value *value);
/* A layout as an array of f32, unless it is an array: a dim for each mode of CuTe's, each shard of Axe's. */
const ts_shape *ts_value_array(ts_error *err, ts_arena *arena, const ts_value *value);

typedef struct {
    const char *system, *name, *meaning;
    const char *example, *result; /* the result's first line */
    const char *sources;          /* of the system's words */
} ts_algebra_row;

/* Row i of the table of functions, those of one system together; false behind the last one. */
bool ts_algebra_function(int i, ts_algebra_row *row);
/* "complement(A, [target])" */
void ts_algebra_print_usage(ts_text *out, int i);

#endif
