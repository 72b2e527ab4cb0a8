/* Plans that bring an array from one sharding to another, found from what the digits of both select. */
#ifndef TILESIM_MESH_RESHARD_H
#define TILESIM_MESH_RESHARD_H

#include "mesh/collective.h"

enum { TS_RESHARD_MAX_COLLECTIVES = 6 };

typedef struct {
    const ts_mesh *mesh;
    const ts_sharding *source, *destination; /* of one array: equal types and dims */
    ts_algorithm_choice choice;              /* of every collective that has rings; direct: all at once */
} ts_reshard_request;

typedef struct {
    const ts_mesh *mesh;
    ts_sharding source, destination; /* with the same digits, where they have common parts */
    int count;                       /* 0: every device has what it needs */
    ts_collective collectives[TS_RESHARD_MAX_COLLECTIVES + 1]; /* and one that makes sums */
    ts_collective_price prices[TS_RESHARD_MAX_COLLECTIVES + 1];
    double ps, bound_ps;
    int64_t visits; /* direct transfers that were looked at one by one to find it */
} ts_reshard_plan;

/* The fastest of the plans that there are: sums are made first, copies dropped; then elements go to where
 * they belong before copies are gathered, after that, or all at once. Partial sums that the source does not
 * have are made last, where elements are: one device keeps each, and for the others it is 0. Where the two
 * have no common parts, every device gets all first. Refused: such ones that both have partial sums. */
bool ts_reshard(ts_error *err, ts_arena *arena, const ts_reshard_request *request, ts_reshard_plan *plan);

/* Makes the plan with bytes: every device begins with its elements of the source, sums of integers; in the
 * end each must have those of the destination. The array is first made smaller, with the same digits, where
 * it has more than `most` elements over all devices. An error says which device has what wrong. */
typedef struct {
    int64_t elements, moved_bytes; /* of the array that was moved; between devices */
    ts_text shape;                 /* "f32[64,64]" */
    bool shrunk;
} ts_reshard_proof;
bool ts_reshard_prove(ts_error *err, ts_arena *arena, const ts_reshard_plan *plan, int64_t most,
                      ts_reshard_proof *proof);

#endif
