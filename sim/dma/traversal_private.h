/* The state of a traversal. Private. */
#ifndef TILESIM_DMA_TRAVERSAL_PRIVATE_H
#define TILESIM_DMA_TRAVERSAL_PRIVATE_H

#include "dma/traversal.h"

/* Blocks of a box are of a kind by the loops along which they are the last and smaller than the others: of so
 * many loops, the outermost. */
enum { TRAVERSAL_EDGES = 6, TRAVERSAL_KINDS = 1 << TRAVERSAL_EDGES };

/* What lies before a box, where all are taken as one. */
typedef struct {
    int64_t blocks, elements, work;
    double sorted_part; /* its place among boxes sorted by work: 0 to 1 */
} traversal_box_start;

/* A box in the order of their work, and what lies before it in that order. */
typedef struct {
    int64_t box, own, work;
} traversal_sorted_box;

typedef struct {
    int64_t extent, stride;
} traversal_loop;

/* The loops of a block on one side, widest stride first, without those whose iterations leave out no line. */
typedef struct {
    traversal_loop loops[TS_PLAN_MAX_LOOPS];
    int count;
    int64_t below_bits; /* from the lowest bit to the first element's, of negative strides */
    int64_t bits, runs; /* of an iteration: from its first bit to its last, and the runs in between */
} traversal_side;

struct ts_traversal {
    const ts_plan *plan;
    traversal_box_start *starts; /* by box, and behind the last; NULL: each box is by itself */
    traversal_sorted_box *sorted;
    ts_arena *arena;
    int line_bytes[2], granule_bits, element_bits[2]; /* source, destination */
    int64_t box_number;
    bool box_open, box_rmw;
    bool only_counts; /* lines are counted in the totals, and not listed */
    ts_plan_box box;
    int64_t block[TS_PLAN_MAX_LOOPS]; /* extent of a block along each loop */
    int64_t at[TS_PLAN_MAX_LOOPS];    /* first element of the current block along each loop */
    traversal_side whole[2]; /* of blocks that are not cut at the end of a loop; runs 0: not yet known */
    int64_t last_line[2];
    int64_t measured_box; /* whose blocks' work this is, and 1; 0: none's */
    double block_work[TRAVERSAL_KINDS];
    ts_traversal_totals totals;
    ts_traversal_access *accesses;
    int count, capacity;
};

/* Does the box write whole granules of its destination? Then no neighbour matters. */
bool traversal_covers_granules(const ts_plan_box *box, int element_bits, int granule);
/* Opens the next box of the plan; false when there is none. */
bool traversal_open_box(ts_traversal *traversal);
/* Goes behind the next block of the open box, without its accesses. */
void traversal_pass_block(ts_traversal *traversal);

#endif
