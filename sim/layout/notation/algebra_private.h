/* What the files of the algebras share. */
#ifndef TILESIM_SIM_LAYOUT_ALGEBRA_PRIVATE_H
#define TILESIM_SIM_LAYOUT_ALGEBRA_PRIVATE_H

#include "layout/notation/algebra.h"

/* What a parameter takes. */
typedef enum {
    TS_TAKES_NOTHING,
    TS_TAKES_CUTE,     /* CuTe's, without a swizzle */
    TS_TAKES_CUTE_MAP, /* with or without */
    TS_TAKES_TILER,
    TS_TAKES_TUPLE,
    TS_TAKES_COORDINATE, /* a tuple of integers of at least 0 */
    TS_TAKES_AXE,
    TS_TAKES_INDEX_MAP,
    TS_TAKES_ARRAY,
    TS_TAKES_INTEGER,
    TS_TAKES_INTEGERS, /* a flat tuple */
    TS_TAKES_PAIRS,    /* ((begin,end),..) */
    TS_TAKES_SHAPES,   /* flat tuples */
    TS_TAKES_AXIS,
    TS_TAKES_POINT,
} ts_takes;

/* An argument as its parameter takes it. */
typedef struct {
    bool given;
    ts_cute cute, tuple;
    ts_cute_map map;
    ts_cute_tiler tiler;
    ts_axe axe;
    ts_index_map index_map;
    const ts_shape *array;
    int64_t integer;
    int count;
    const int64_t *integers, *ends; /* pairs: begins and ends */
    const ts_axe_shape *shapes;
    const char *axis; /* NULL when not given */
    const ts_value_point *point;
} ts_argument;

typedef struct {
    const char *name;
    ts_takes takes;
    bool optional;
} ts_parameter;

enum { TS_PARAMETERS_MAX = 5 };

typedef struct {
    ts_error *err;
    ts_arena *arena;
    int variant; /* which of the functions that share their code */
    ts_argument arguments[TS_PARAMETERS_MAX];
} ts_call;

typedef struct {
    const char *name;
    ts_parameter parameters[TS_PARAMETERS_MAX];
    bool (*run)(ts_call *call, ts_value *out);
    int variant;
    const char *meaning, *example, *result;
} ts_algebra_entry;

/* A row; `parameters` have a comma behind each. */
#define TS_FUNCTION(name, parameters, run, variant, meaning, example, result)                                \
    { name, {parameters}, run, variant, meaning, example, result }

typedef struct {
    const char *system, *sources;
    ts_value_kind gives; /* what its functions give, unless they say otherwise */
    const ts_algebra_entry *entries;
    int count;
} ts_algebra_table;

extern const ts_algebra_table ts_algebra_arrays, ts_algebra_cute, ts_algebra_axe, ts_algebra_index_maps;

/* "a CuTe layout", as errors say what is expected */
const char *ts_takes_name(ts_takes takes);
bool ts_takes_kind(ts_takes takes, ts_value_kind kind);
/* Errors that have no location of their own have none yet. */
bool ts_argument_from(ts_error *err, ts_arena *arena, ts_takes takes, const ts_value *value,
                      ts_argument *out);
/* Is it the coordinate of an element of an array? */
bool ts_argument_inside(ts_error *err, const ts_argument *coordinate, int rank, const int64_t *dims);

/* ---- Results ---- */
bool ts_value_word(ts_value *out, const char *word);
bool ts_value_yes(ts_value *out, bool yes);
bool ts_value_integer(ts_value *out, int64_t value);
/* A tuple of integers, and one of `count` such tuples of `rank` each. */
bool ts_value_integers(ts_arena *arena, ts_value *out, int count, const int64_t *values);
bool ts_value_lists(ts_arena *arena, ts_value *out, int count, int rank, const int64_t *values);
bool ts_value_text(ts_value *out, const ts_text *text);
/* An extra value, to be filled. */
ts_value *ts_value_add_extra(ts_arena *arena, ts_value *out, const char *name);

#endif
