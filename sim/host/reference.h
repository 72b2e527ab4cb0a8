/* Reference operations on the host: what `.check` compares a program's results with. Everything is computed
 * in double precision with libm, and none of it is shared with the simulated core or its DMA.
 *
 *   check      := expression ('~=' expression {('ulp' | 'abs' | 'rel') '=' number | 'err' '=' expression}
 *                             | '==' expression)
 *   expression := numbers, names, + - * / % **, comparisons (1 or 0), parentheses, x[1:3, :, -1, ::2],
 *                 and functions: softmax(x, axis=1), sum(x, axis=(0, 1), keepdims=1), cast(x, bf16) ...
 *
 * Shapes, broadcasting, slices and axes are NumPy's. ts_reference_function lists the functions. */
#ifndef TILESIM_HOST_REFERENCE_H
#define TILESIM_HOST_REFERENCE_H

#include "host/array.h"

typedef struct ts_reference ts_reference; /* an expression, parsed */

/* Doubles in row-major order. */
typedef struct {
    int rank;
    int64_t dims[TS_HOST_RANK];
    size_t count;
    double *values;
} ts_reference_value;

/* What a name in an expression stands for: an array, or a number where `array` is NULL. */
typedef struct {
    const char *name;
    const ts_host_array *array;
    double number;
    ts_host_reader reader; /* of the elements of an array that has no bytes */
} ts_reference_name;

typedef struct {
    const ts_reference_name *list;
    size_t count;
} ts_reference_names;

/* Bytes [begin, end) of the source, up to a ';' comment; they must be one whole expression. Errors point into
 * `source`, which must live as long as the result. NULL on error. */
const ts_reference *ts_reference_parse(ts_error *err, ts_arena *arena, const ts_source *source, size_t begin,
                                       size_t end);
bool ts_reference_uses(const ts_reference *expression, const char *name);
bool ts_reference_evaluate(ts_error *err, ts_arena *arena, const ts_reference *expression,
                           const ts_reference_name *names, size_t count, ts_reference_value *value);

/* An element passes when it is within any of the bounds that are stated (not negative). NaN equals NaN only,
 * and an infinity only itself. */
typedef struct {
    double ulp; /* of the checked type, at the expected value */
    double abs; /* |actual - expected| */
    double rel; /* |actual - expected| / |expected| */
} ts_tolerance;

enum { TS_MISMATCHES = 5 }; /* that a result keeps */

typedef struct {
    size_t at; /* row-major */
    double actual, expected, abs, ulp;
} ts_mismatch;

typedef struct {
    size_t count, failed;
    double max_ulp, max_abs; /* over all elements; an infinity where NaN or infinities disagree */
    size_t worst;            /* the row-major index of the element with max_ulp, the first one */
    int rank;                /* of what is checked */
    int64_t dims[TS_HOST_RANK];
    double actual, expected; /* of the worst element */
    int mismatch_count;      /* the first elements that failed */
    ts_mismatch mismatches[TS_MISMATCHES];
} ts_check_result;

/* One `.check`: the part behind the word. The left side is a name, or a slice of one; its type gives the ulp.
 * '==' and '~=' without a bound ask for the expected value rounded to the type: 0.5 ulp. */
typedef struct {
    const ts_reference *actual, *expected;
    /* err=: what the result may be off before its last rounding, an element each; it is broadcast, and
     * `expected` in it is the value of the right side. The element passes between expected - err and
     * expected + err, both rounded to the type (no rounding where the type is not a float). Infinity lets
     * everything pass, NaN nothing. NULL: not stated. */
    const ts_reference *err;
    ts_tolerance tolerance;
    const char *name; /* of the left side */
} ts_check;

bool ts_check_parse(ts_error *err, ts_arena *arena, const ts_source *source, size_t begin, size_t end,
                    ts_check *check);
bool ts_check_uses(const ts_check *check, const char *name);
/* Every value that the check names is among the names (whose arrays may still be empty). */
bool ts_check_resolve(ts_error *err, const ts_check *check, const ts_reference_name *names, size_t count);
/* The left side is computed from the names in `after`; the right side and err=, which are broadcast to its
 * shape, from those in `before`. False on an error (an unknown name, shapes that do not fit); whether the
 * check passed is in result->failed. */
bool ts_check_run(ts_error *err, ts_arena *scratch, const ts_check *check, const ts_reference_names *after,
                  const ts_reference_names *before, ts_check_result *result);

/* Bytes that ts_check_run will hold at most, from the dims of the arrays alone; 0 where it will fail. */
int64_t ts_check_bytes(const ts_check *check, const ts_reference_names *after,
                       const ts_reference_names *before);

/* A row of the table of functions: "softmax(x, axis=-1)", what it means, and how far its result may be from
 * the exact one, in roundings and ulp of double precision. */
typedef struct {
    const char *usage, *meaning, *error;
} ts_reference_usage;

/* False behind the last one. */
bool ts_reference_function(size_t index, ts_reference_usage *usage);

#endif
