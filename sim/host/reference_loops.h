/* The loops that most of the time of a check goes to: the same text compiled for several instruction sets of
 * the host, without fused multiply-add, so that all give the same bits. */
#ifndef TILESIM_HOST_REFERENCE_LOOPS_H
#define TILESIM_HOST_REFERENCE_LOOPS_H

#include <stddef.h>

#include "reference_tree.h"

/* Each element depends on none but itself, also where it is written over one that is read. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that calls libm stays as it is */
#define REFERENCE_IN_PLACE _Pragma("clang loop vectorize(assume_safety)")
#else
#define REFERENCE_IN_PLACE _Pragma("GCC ivdep")
#endif

enum { REFERENCE_TILE_ROWS = 8, REFERENCE_TILE_LANES = 16, REFERENCE_LINES = 8 };

#define BELOW_1 (1 - 0x1p-50) /* more than a product and its bound are rounded by */

/* Operators on two numbers. NaN wins in max and min, as in NumPy and XLA. */
#define REFERENCE_PAIRS(PAIR)                                                                                \
    PAIR(add, a + b)                                                                                         \
    PAIR(subtract, a - b)                                                                                    \
    PAIR(multiply_each, a *b)                                                                                \
    PAIR(divide, a / b)                                                                                      \
    PAIR(is_less, a < b)                                                                                     \
    PAIR(is_at_most, a <= b)                                                                                 \
    PAIR(is_greater, a > b)                                                                                  \
    PAIR(is_at_least, a >= b)                                                                                \
    PAIR(is_equal, a == b)                                                                                   \
    PAIR(is_different, a != b)                                                                               \
    PAIR(limit, a < b ? a : (double)INFINITY)                                                                \
    PAIR(larger, ((a != a) | (a > b)) ? a : b)                                                               \
    PAIR(smaller, ((a != a) | (a < b)) ? a : b)

/* out[i] of left[i] and right[i]; a side is one number for all where its step is 0, else that is 1. `out` may
 * be one of them. */
typedef void ts_reference_pair(double *out, const double *left, size_t left_step, const double *right,
                               size_t right_step, size_t count);

/* out[i] of values[i]; `out` may be `values`. */
typedef void ts_reference_each(double *out, const double *values, size_t count);

/* Elements low + width u, u from the first 24 bits of numbers of SplitMix64: its output function of first,
 * first + step ... */
typedef struct {
    uint64_t first, step;
    double low, width;
    int32_t offset; /* where `unit` is not 0, elements are unit (24 bits + offset), and f32 has all of them */
    float unit;
} ts_reference_draw;

/* What a block of elements is compared by. */
typedef struct {
    const ts_reference_type *type; /* is `plain` */
    ts_tolerance bound;
    const double *got, *wanted, *err; /* err: negative where the bounds have none */
    bool *rounding;                   /* is tried first: what the last block passed by */
} ts_reference_block;

typedef void ts_reference_multiply(const double *const *a, const double *strip, int64_t depth, double *tile,
                                   int64_t stride);

typedef struct {
    /* e^x, within 0.7 ulp, log(x), within 1 ulp, and tanh(x), within 3 ulp. */
    ts_reference_each *exponential, *logarithm, *hyperbolic_tangent, *magnitude, *square, *cube;
#define PAIR(name, result) ts_reference_pair *name;
    REFERENCE_PAIRS(PAIR)
#undef PAIR
    /* out[i] = values[i] / divisor; `out` may be `values`. */
    void (*divide_all)(double *out, const double *values, double divisor, size_t count);
    /* values[i] where the condition is not 0, else otherwise[i]. */
    void (*choose)(const double *condition, const double *otherwise, double *values, size_t count);
    /* How many are not 0. */
    size_t (*count_set)(const double *values, size_t count);
    bool (*are_finite)(const double *values, size_t count);
    /* The least and the largest number; false where one is not finite. */
    bool (*extent)(const double *values, size_t count, double *low, double *high);
    /* The largest number; false where one is NaN or that is 0, whose sign a plain loop finds. */
    bool (*largest)(const double *values, size_t count, double *top);
    /* Neumaier's sums of the first elements of REFERENCE_LINES lines, which are `stride` apart. */
    void (*sum_lines)(const double *lines, size_t stride, size_t count, tally *sums);
    void (*from_f32)(const void *from, double *out, size_t count);
    void (*from_bf16)(const void *from, double *out, size_t count);
    /* The output function of SplitMix64, of first, first + step ...; its numbers, 24 bits of each, as low up
     * to low + width. */
    void (*mix)(uint64_t first, uint64_t step, uint64_t *out, size_t count);
    void (*uniform)(const uint64_t *bits, double low, double width, double *out, size_t count);
    /* The same as f32 or bf16; false where bf16 cannot hold one of them, or only as a denormal. */
    void (*draw_f32)(const ts_reference_draw *draw, void *out, size_t count);
    bool (*draw_bf16)(const ts_reference_draw *draw, void *out, size_t count);
    /* ts_reference_round of a type that is `plain`, in place. */
    void (*round)(const ts_reference_type *type, double *values, size_t count);
    /* The largest distances; false where an element may fail or is no finite number: look at each. */
    bool (*compare)(const ts_reference_block *block, size_t count, double *ulps, double *distance);
    /* tile[TILE_ROWS][LANES] += a[TILE_ROWS][depth] * strip[depth][LANES], in the order of depth; the rows of
     * the tile are `stride` apart. */
    ts_reference_multiply *multiply;
    /* The same where no product is rounded, as of numbers that f32 has: some hosts do so in one step. */
    ts_reference_multiply *multiply_exact;
} ts_reference_loops;

/* From the plainest to the one that is fastest here; NULL behind it. */
const ts_reference_loops *ts_reference_loops_get(int version);
const ts_reference_loops *ts_reference_loops_best(void);

#endif
