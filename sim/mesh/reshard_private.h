/* The search for a plan: where digits can be on the way, and what takes them from placement to placement. */
#ifndef TILESIM_MESH_RESHARD_PRIVATE_H
#define TILESIM_MESH_RESHARD_PRIVATE_H

#include "mesh/reshard.h"

enum { RESHARD_BUNDLES = 6, RESHARD_PLACEMENTS = 9, RESHARD_NODES = 512 };

/* Digits that come from one kind of placement and go to one: they move together. Copies that stay copies
 * are a bundle too: in between they can be split, for more links to share the work. */
typedef struct {
    int count, placement_count, digits[TS_SHARDING_MAX_DIGITS];
    int goal;                                            /* which of the placements it is */
    ts_mesh_digit (*placements)[TS_SHARDING_MAX_DIGITS]; /* the first is the start */
} reshard_bundle;

/* A node is a placement of each bundle, 0 the start. */
typedef struct {
    ts_sharding start, goal; /* with the same digits */
    int bundle_count;
    reshard_bundle bundles[RESHARD_BUNDLES];
    int64_t node_count, goal_node;
} reshard_ways;

void reshard_find_ways(ts_arena *arena, const ts_sharding *start, const ts_sharding *goal,
                       reshard_ways *ways);
/* The sharding of a node. False: digits would be in each other's way. */
bool reshard_node(const reshard_ways *ways, int64_t node, ts_sharding *out);
int reshard_detours(const reshard_ways *ways,
                    int64_t node); /* bundles that are neither at the start nor at the goal */
bool reshard_same_placement(const ts_mesh_digit *a, const ts_mesh_digit *b);

#endif
