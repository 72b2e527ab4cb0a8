/* The cost of a large case from two smaller ones: what studies use where they do not run the whole. */
#ifndef TILESIM_STUDY_EXTEND_H
#define TILESIM_STUDY_EXTEND_H

#include <stdint.h>

/* `cost[i]` was measured for `size[i]`, size[0] < size[1]. */
typedef struct {
    int64_t size[2], cost[2];
} ts_extension;

/* The cost of `size` on the line through both. Where each further piece does the same as those before, as in
 * streams and in programs of many blocks, that is within TS_EXTEND_PERCENT of running the whole
 * (tests/cli/test_core_program.py, tests/cli/test_extended.py). */
enum { TS_EXTEND_PERCENT = 5 };
int64_t ts_extend(const ts_extension *known, int64_t size);

#endif
