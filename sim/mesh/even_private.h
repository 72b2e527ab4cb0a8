/* Direct collectives in which all parts are as large: what goes over the links, without looking at every
 * pair. */
#ifndef TILESIM_MESH_EVEN_PRIVATE_H
#define TILESIM_MESH_EVEN_PRIVATE_H

#include "mesh/collective.h"

typedef struct {
    int64_t *loads;                        /* of links, to be summed (ts_mesh_sum_loads) */
    int64_t *received;                     /* by each chip, from others */
    int64_t crossing[TS_MESH_MAX_DIMS][2]; /* on the wire over the middle of each dim, up and down */
    int64_t hops, transfers, sent_bytes;
} ts_even_totals;

/* Adds to zeroed totals what visiting every transfer would. False: the parts are not as large, or the digits
 * not those of the dims: then they must be visited. */
bool ts_even_count(const ts_collective *collective, ts_even_totals *totals);

#endif
