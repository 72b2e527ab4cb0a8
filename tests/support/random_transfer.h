/* Random transfers as users ask for them: any element type, 1 to 4 dims, tiles of TPUs and odd ones, copies
 * of a layout to itself, slices, conversions, either end in VMEM. Deterministic from the seed. */
#ifndef TESTS_SUPPORT_RANDOM_TRANSFER_H
#define TESTS_SUPPORT_RANDOM_TRANSFER_H

#include "layout/plan.h"

enum { RANDOM_TRANSFER_DIMS = 4, RANDOM_TRANSFER_TEXT = 128 };

typedef struct {
    char src[RANDOM_TRANSFER_TEXT], dst[RANDOM_TRANSFER_TEXT]; /* shapes */
    int rank;
    int64_t src_begin[RANDOM_TRANSFER_DIMS], sizes[RANDOM_TRANSFER_DIMS]; /* the source may be a slice */
    bool is_slice;
    const ts_plan *plan;
    bool src_in_hbm, dst_in_hbm;
} random_transfer;

/* What moves has from `least` to `most` bytes, evenly in their logarithms; no end takes more than 4 * most.
 */
random_transfer random_transfer_draw(uint64_t *seed, ts_arena *arena, int64_t least, int64_t most);
/* Of these two shapes in HBM, the destination behind the source; plan NULL where there is none. */
random_transfer random_transfer_of(ts_arena *arena, const char *src, const char *dst);
/* "f32[8,16]{1,0}[0:+4, 2:+5] f32[4,5]{1,0}", as `tilesim dma` takes it. */
void random_transfer_print(const random_transfer *t, char *text, int size);

#endif
