/* The tree of a reference expression, and its table of functions. */
#ifndef TILESIM_HOST_REFERENCE_TREE_H
#define TILESIM_HOST_REFERENCE_TREE_H

#include "host/reference.h"

typedef struct node node;
typedef struct evaluator evaluator;
typedef struct stream stream; /* values of a part of the tree: reference_stream.h */

typedef enum { KEYWORD_AXIS, KEYWORD_KEEPDIMS, KEYWORD_EPS, KEYWORDS } keyword;

/* Values of a stream, without NaN: between low and high, and at least `share` of the magnitude of what is
 * expected. */
typedef struct {
    double low, high, share; /* share: 0 or more */
    bool itself;             /* they are what is expected */
    bool known;              /* false: the rest says nothing */
} range;

/* What a reduction knows of the elements so far. */
typedef struct {
    double value, extra;
    int64_t seen;
} tally;

/* A reduction to one value. One that needs a second pass has a second `add`, and `turn` between the two. */
typedef struct {
    double start; /* of tally.value */
    /* Elements that come next: all to one tally where `step` is 0, each to one of its own where it is 1. */
    void (*add[2])(tally *, size_t step, const double *values, size_t count);
    double (*turn)(const tally *, size_t count);   /* tally.extra in the second pass */
    double (*finish)(const tally *, size_t count); /* of `count` elements */
} reduction;

/* One row of the table. What it does is the one of the pointers that is set; max and min set two, and take
 * one array to reduce or two to compare. */
typedef struct {
    const char *name;
    const char *usage, *meaning, *error; /* NULL for operators */
    int least, most;                     /* arguments without a keyword */
    int arrays;                          /* so many of them are values; the others are dims, or a type */
    unsigned keywords;                   /* bits 1 << keyword */
    void (*unary)(double *out, const double *values,
                  size_t count); /* element by element; `out` may be values */
    /* Element by element; a side is one number for all where its step is 0, else that is 1. `out` may be a
     * side. */
    void (*binary)(double *out, const double *left, size_t left_step, const double *right, size_t right_step,
                   size_t count);
    /* A range of what an operator makes of all values of ranges; NULL: such are not known. */
    range (*bound)(const range *left, const range *right);
    bool rises; /* unary: never falls where its argument rises, but for some ulp */
    const reduction *reduce;
    /* Along an axis, in place: lines of `count`, one behind the other. */
    void (*scan)(double *lines, size_t count, size_t line_count, double eps);
    stream *(*whole)(evaluator *, const node *, stream **arguments);
} function;

typedef enum { NODE_NUMBER, NODE_NAME, NODE_CALL, NODE_INDEX, NODE_SLICE, NODE_TUPLE } node_kind;

struct node {
    node_kind kind;
    int depth;     /* of the recursion that walks it */
    int count;     /* of items */
    size_t offset; /* where an error points */
    double number;
    const char *name;
    const function *function;
    /* Arguments; INDEX: what is indexed, then one item a dim; SLICE: start, stop, step or NULL. */
    const node **items;
    const node *const *keywords; /* one of each, or NULL */
};

struct ts_reference {
    ts_source source; /* cut behind the expression */
    const node *root;
};

struct evaluator {
    ts_error *err;
    ts_arena *arena;
    const ts_source *source;
    const ts_reference_name *names;
    size_t name_count;
    bool has_expected;  /* the name `expected` is known */
    bool refuses;       /* some stream refuses some values: all that are named must be read */
    int64_t held_bytes; /* by streams, once all is computed */
    stream **arrays;    /* of names, where they were opened; NULL at first */
    stream *expected;   /* and what it stands for; NULL while names are only looked up */
    double *room;       /* for a block that is bounded */
    range looked_at;    /* of its elements from `looked_from` on, `looked_count` of them */
    int64_t looked_from;
    size_t looked_count;
};

const function *ts_reference_find(const char *name);
const char *ts_reference_nearest(const char *name);

/* What stands for a name; NULL: nothing does. */
const ts_reference_name *ts_reference_find_name(const evaluator *in, const char *name);
/* NULL on error. */
stream *ts_reference_open(evaluator *in, const node *tree);
bool ts_reference_integer(evaluator *in, const node *tree, const char *what, int64_t *out);
/* The integers of arguments `first` and up of a call, as many as TS_HOST_RANK; a tuple counts as its
 * members. */
bool ts_reference_integers(evaluator *in, const node *call, int first, int64_t *list, int *count);
bool ts_reference_refuse(evaluator *in, const node *location, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Over the chosen dims, which stay as dims of 1 when `keep`. */
stream *ts_reference_reduce(evaluator *in, const node *tree, stream *value, const bool *chosen, bool keep);
stream *ts_reference_scan(evaluator *in, const node *tree, stream *value, int axis, double eps);
stream *ts_reference_where(evaluator *, const node *, stream **);
stream *ts_reference_matmul(evaluator *, const node *, stream **);
stream *ts_reference_transpose(evaluator *, const node *, stream **);
stream *ts_reference_reshape(evaluator *, const node *, stream **);
stream *ts_reference_iota(evaluator *, const node *, stream **);
stream *ts_reference_take(evaluator *, const node *, stream **);
stream *ts_reference_bincount(evaluator *, const node *, stream **);
stream *ts_reference_conv(evaluator *, const node *, stream **);
stream *ts_reference_cast(evaluator *, const node *, stream **);

/* Of what a function makes of ranges; `right` is NULL where it has one argument. */
range ts_reference_bound(const function *does, const range *left, const range *right);
/* Of operators: a range of sums, of differences ... */
range ts_range_add(const range *left, const range *right);
range ts_range_subtract(const range *left, const range *right);
range ts_range_multiply(const range *left, const range *right);
range ts_range_divide(const range *left, const range *right);
range ts_range_larger(const range *left, const range *right);
range ts_range_smaller(const range *left, const range *right);
range ts_range_limit(const range *left, const range *right);
range ts_range_magnitude(const range *values, const range *none);

/* What a type can say. */
typedef struct {
    const ts_dtype_info *info;
    double smallest, largest;
    int mantissa_bits, least_exponent; /* of a float; the exponent of its smallest normal number */
    double overflow;                   /* what a value beyond the range of a float becomes */
    bool plain;                        /* a float of at most 32 bits with a sign and both zeros */
    bool single;                       /* f32 has all of its values */
    double least_power, units;         /* 2^least_exponent, 2^mantissa_bits */
} ts_reference_type;

ts_reference_type ts_reference_describe(ts_dtype dtype);
/* `value` rounded to the type, by its own arithmetic; integers saturate, NaN becomes 0. */
double ts_reference_round(const ts_reference_type *type, double value);
void ts_reference_round_all(const ts_reference_type *type, double *values, size_t count); /* in place */
/* The distance of two values in units of the last place of `type` at `expected` (1 for integers and pred;
 * the smallest denormal near 0). 0 when both are NaN or the same infinity, and when `expected` rounds to the
 * infinity that `actual` is. */
double ts_reference_distance(const ts_reference_type *type, double actual, double expected);

#endif
