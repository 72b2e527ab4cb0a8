/* CuTe layouts as the list of their leaves, read from the text, and enumerated, for tests. Nesting never
 * changes the function of an integer, so that brackets are skipped. Nothing is shared with the simulator. */
#ifndef TILESIM_TESTS_CUTE_ORACLE_H
#define TILESIM_TESTS_CUTE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { CUTE_LEAVES_MAX = 64 };
typedef struct {
    int count;
    int64_t extent[CUTE_LEAVES_MAX], stride[CUTE_LEAVES_MAX];
} cute_leaves;

cute_leaves cute_leaves_read(const char *text); /* shape:stride, well formed */
int64_t cute_leaves_size(const cute_leaves *l);
int64_t cute_leaves_cosize(const cute_leaves *l);
/* The value at an integer; the last leaf goes on beyond its extent. */
int64_t cute_leaves_value(const cute_leaves *l, int64_t index);
cute_leaves cute_leaves_concatenate(const cute_leaves *a, const cute_leaves *b);
/* The same values on 0 .. size-1, in any order? */
bool cute_leaves_have_same_values(ts_arena *arena, const cute_leaves *a, const cute_leaves *b);
bool cute_leaves_are_injective(ts_arena *arena, const cute_leaves *l);
/* The leaves that matter to a complement, by stride: not those of extent 1 or stride 0. */
cute_leaves cute_leaves_by_stride(const cute_leaves *l);
/* Does a leaf begin within what smaller strides cover, or is a stride negative? If not: do gaps divide
 * evenly? Where they do not, a complement leaves holes. */
bool cute_leaves_overlap(const cute_leaves *l, bool *even);

#endif
