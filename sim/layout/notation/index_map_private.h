/* What the files of index maps share. */
#ifndef TILESIM_LAYOUT_NOTATION_INDEX_MAP_PRIVATE_H
#define TILESIM_LAYOUT_NOTATION_INDEX_MAP_PRIVATE_H

#include "layout/notation/index_map.h"

typedef enum {
    TS_INDEX_CONSTANT,
    TS_INDEX_VARIABLE,
    TS_INDEX_NEGATE,
    TS_INDEX_OR,
    TS_INDEX_XOR,
    TS_INDEX_AND,
    TS_INDEX_SHIFT_LEFT,
    TS_INDEX_SHIFT_RIGHT,
    TS_INDEX_ADD,
    TS_INDEX_SUBTRACT,
    TS_INDEX_MULTIPLY,
    TS_INDEX_DIVIDE,
    TS_INDEX_MODULO,
    TS_INDEX_MIN,
    TS_INDEX_MAX,
    TS_INDEX_LESS, /* these three are only made, never read: predicates, 1 or 0 */
    TS_INDEX_AT_LEAST,
    TS_INDEX_EITHER,
} ts_index_kind;

/* An expression is its steps in postfix order, so that no chain is too long to walk: an operand is pushed, an
 * operator takes its operands from the top. The last step is the root. */
typedef struct {
    ts_index_kind kind;
    int first;     /* step of what this is the root of */
    int64_t value; /* of a constant; the number of a variable */
} ts_index_step;

struct ts_index_expr {
    int count;
    int depth; /* the most operands that wait at once; at most TS_INDEX_DEPTH in what was read */
    const ts_index_step *steps;
};

enum { TS_INDEX_DEPTH = 256 };

static inline const ts_index_step *ts_index_root(const ts_index_expr *expr) {
    return &expr->steps[expr->count - 1];
}
/* Is it `kind` of something, by a constant? Then that, and the constant. */
bool ts_index_by_constant(ts_arena *arena, const ts_index_expr *expr, ts_index_kind kind,
                          const ts_index_expr **something, int64_t *constant);

const ts_index_expr *ts_index_constant(ts_arena *arena, int64_t value);
const ts_index_expr *ts_index_variable(ts_arena *arena, int number);
const ts_index_expr *ts_index_node(ts_arena *arena, ts_index_kind kind, const ts_index_expr *a,
                                   const ts_index_expr *b);

/* Exact; false (no error) on overflow or division by 0. */
bool ts_index_value(const ts_index_expr *expr, const int64_t *index, int64_t *value);

/* The values at up to TS_MAP_BLOCK indices, an array for each variable; all must be exact (asserted). */
void ts_index_values(const ts_index_expr *expr, int64_t (*index)[TS_MAP_BLOCK], int count, int64_t *values);

/* What an expression can be at most, over indices 0 .. dims-1. False where that does not fit, or might divide
 * by 0 or shift by less than 0 or more than 62: then single values cannot be trusted to fit either. */
typedef struct {
    int64_t low, high;
} ts_index_range;
bool ts_index_range_of(const ts_index_expr *expr, const int64_t *dims, ts_index_range *range);

/* The layout of a map less where it begins, each transformed index on an axis of its own. */
const ts_layout *ts_index_map_from_zero(ts_error *err, ts_arena *arena, const ts_index_map *map,
                                        const int64_t *dims);

/* ---- Maps that are sums of digits ---- */

/* (row-major index of the variables + bias) / divisor % modulus; modulus 0: none. Its values are `low` to
 * extent - 1, those of padding with them: what is split is padded to whole parts, left and right. */
typedef struct {
    int source;
    int64_t scale, divisor, modulus, low, extent;
} ts_index_term;

/* Logical dims, merged in this order, then biased. */
typedef struct {
    int count;
    const int *variables;
    int64_t extent, bias; /* extent: the product of the dims */
    int64_t period;       /* a multiple of all that it was divided by */
} ts_index_source;

typedef struct {
    int64_t constant;
    int count;
    ts_index_term *terms;
} ts_index_sum;

typedef struct {
    int source_count;
    const ts_index_source *sources; /* every logical dim is in exactly one */
    const ts_index_sum *sums;       /* one for each transformed index */
} ts_index_digits;

/* NULL where the map is no such thing. */
const ts_index_digits *ts_index_digits_of(ts_arena *arena, const ts_index_map *map, const int64_t *dims);
/* Takes away each modulus that no value of its term reaches, and the scale of terms that are always 0. */
void ts_index_digits_trim(const ts_index_digits *digits, int count);
/* Do the terms follow each other without gaps: each scale the extent times the scale of the next smaller one?
 * Then the sum's extent. */
bool ts_index_sum_is_compact(const ts_index_sum *sum, int64_t *extent);

/* The points at which a source is cut, 1 first, each dividing the next; 0 where they do not divide one
 * another. */
int ts_index_cuts(const ts_index_digits *digits, int count, int source, int64_t *cuts);

#endif
