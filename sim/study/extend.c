/* The one extrapolation. */
#include "study/extend.h"

#include <assert.h>

int64_t ts_extend(const ts_extension *known, int64_t size) {
    int64_t step = known->size[1] - known->size[0];
    assert(step > 0);
    __int128 rise = (__int128)(known->cost[1] - known->cost[0]) * (size - known->size[0]);
    return known->cost[0] + (int64_t)(rise / step);
}
