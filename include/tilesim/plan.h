/* Plans: two layouts of one logical shape composed into strided loops, which move the bytes and are
 * priced. */
#ifndef TILESIM_PLAN_H
#define TILESIM_PLAN_H

#include <stdint.h>

#include "tilesim/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_plan ts_plan;

/* From the bytes of one to those of the other, both from bit 0. Refused: other dims, a destination that maps
 * two elements to one address. */
TS_API const ts_plan *ts_plan_between(ts_error *err, ts_arena *arena, const ts_shape *source,
                                      const ts_shape *destination);
TS_API int64_t ts_plan_elements(const ts_plan *plan); /* that arrive */
TS_API int64_t ts_plan_box_count(const ts_plan *plan);
/* Why elements are looked up one by one; NULL: they are not, and the boxes say where each goes. */
TS_API const char *ts_plan_gathers(const ts_plan *plan);

typedef struct {
    int64_t extent, source_bits, destination_bits; /* how often, and how far each side goes */
} ts_box_loop;

/* A perfectly nested loop over elements, outermost first. */
typedef struct {
    size_t struct_bytes;                   /* given: sizeof(ts_box) */
    int64_t source_bits, destination_bits; /* of the first element */
    int loop_count;
    ts_box_loop loops[32];
} ts_box;

/* Box 0 .. count-1. Returns 0 where there is none. */
TS_API int ts_plan_read_box(const ts_plan *plan, int64_t number, ts_box *box);

#ifdef __cplusplus
}
#endif

#endif
