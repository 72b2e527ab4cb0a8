/* Axe layouts by enumerating every point of every element (arXiv 2601.19092, section 3), for tests. It shares
 * nothing with the simulator's layouts: digits are counted up like an odometer, never divided out of an
 * index. */
#ifndef TILESIM_TESTS_AXE_ORACLE_H
#define TILESIM_TESTS_AXE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct {
    int64_t extent, stride;
    int axis; /* below axis_count */
} axe_oracle_iter;

/* L(x) = { D(x) + r + O }: the elements x in row-major order of any shape with as many, the last shard iter
 * fastest. The points of an element are in the order of the replicas, the last one fastest, and may coincide.
 */
typedef struct {
    int axis_count;
    int64_t element_count, replica_count;
    int64_t *points; /* axis_count coordinates each; replica_count points an element */
} axe_oracle;

/* False if there would be more than `limit` points. Extents are at least 1. */
bool axe_oracle_make(ts_arena *arena, int shard_count, const axe_oracle_iter *shards, int replica_count,
                     const axe_oracle_iter *replicas, int axis_count, const int64_t *offsets, int64_t limit,
                     axe_oracle *out);
const int64_t *axe_oracle_point(const axe_oracle *o, int64_t element, int64_t replica);
/* Is the point in the element's set? */
bool axe_oracle_has(const axe_oracle *o, int64_t element, const int64_t *point);
/* The first element from `from` on whose set has the point; -1 if there is none. */
int64_t axe_oracle_find(const axe_oracle *o, int64_t from, const int64_t *point);
/* The first element whose sets differ; -1 if none does. Both must have the same axes in the same order. */
int64_t axe_oracle_difference(const axe_oracle *a, const axe_oracle *b);

#endif
