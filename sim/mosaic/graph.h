/* The dependences of a block's instructions over virtual registers. */
#ifndef TILESIM_MOSAIC_GRAPH_H
#define TILESIM_MOSAIC_GRAPH_H

#include "core/core.h"

#include "code.h"

typedef struct {
    int to;
    int latency; /* cycles from the issue of one to that of the other; 0: they may issue together */
    int next;    /* edge of the same instruction, -1: the last */
} graph_edge;

typedef struct {
    int first_edge; /* -1: none */
    int waits_for;
    int64_t latency, height; /* cycles until its result; and to the end of the block, at least */
    ts_core_use unit;
    const ts_address *address; /* of a load or a store */
    ts_space_kind space;
    bool store;
    int slot;
    int read_count, *reads; /* virtual registers */
    int written;            /* -1: none */
    bool leaf;              /* makes a vreg of none */
} graph_node;

typedef struct {
    ts_arena *arena;
    const mosaic_code *code;
    const ts_core_config *core;
    ts_instruction *instructions;
    int count;
    graph_node *nodes;
    LIST_OF(graph_edge) edges;
    struct accesses *loads, *stores; /* but those of spilled values */
    bool waits;                      /* there are transfers, or waits */
} graph;

/* Of the instructions of a block; all lives in the arena. */
graph *graph_new(ts_arena *arena, mosaic_code *code, const ts_core_config *core, ts_instruction *instructions,
                 int count);
/* For each instruction its position in a depth-first order from the last ones, in their order, to what
 * they need: each stands behind all that it waits for, and values are made where they are needed. */
void graph_depth_first(const graph *g, int *order);
/* May a store, a transfer or a wait of the block change what the load reads? */
bool graph_is_changed(const graph *g, int load);

#endif
