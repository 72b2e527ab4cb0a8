/* XLA's tiled layouts by literally padding, reshaping and transposing arrays of indices (XLA
 * tiled_layout.md), for tests. It shares nothing with the simulator's layouts: no index is computed, every
 * element is moved and then found. */
#ifndef TILESIM_TESTS_XLA_ORACLE_H
#define TILESIM_TESTS_XLA_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { XLA_ORACLE_COMBINE = -1 }; /* a '*' in a tile */

/* Most major first, as written. */
typedef struct {
    int rank;
    const int64_t *dims;
} xla_oracle_tile;

typedef struct {
    int64_t element_count; /* product of the logical dims */
    int64_t slot_count;    /* elements of storage: product of the expanded dims (L() is not applied) */
    int64_t *offset;       /* where each element went, by its row-major logical index */
    int64_t *element;      /* which element is in each slot of storage; -1: padding */
} xla_oracle;

/* False if the storage would have more than `limit` elements, or if a tile ends in '*', which has no meaning.
 */
bool xla_oracle_make(ts_arena *arena, int rank, const int64_t *dims, const int *minor_to_major,
                     int tile_count, const xla_oracle_tile *tiles, int64_t limit, xla_oracle *out);

#endif
