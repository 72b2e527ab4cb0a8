/* Random layouts for property tests: tiles, merges, permutations, several axes. Deterministic from the seed.
 */
#ifndef TESTS_SUPPORT_RANDOM_LAYOUT_H
#define TESTS_SUPPORT_RANDOM_LAYOUT_H

#include "layout/layout.h"

uint32_t random_below(uint64_t *seed, uint32_t n); /* 0 .. n-1 */
/* Row-major order of what up to three random tiles leave; injective; one axis. Fails the test on an error. */
const ts_layout *random_layout(uint64_t *seed, ts_arena *arena, int rank, const int64_t *dims);
/* Steps to the next index in row-major order; false at the end. */
bool next_index(int rank, const int64_t *sizes, int64_t *index);

#endif
