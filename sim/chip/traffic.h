/* The transfers under way. The first of a run are walked, access by access, in one engine (dma/dma.h). A run
 * that has walked TRAFFIC_WALKED_BYTES recalls: what happens when a transfer starts depends on its shape, on
 * those of the transfers under way, overlapping with them or just completed, on how long ago each was issued,
 * and on the time since the last refresh. A situation that comes up for the first time is walked on an engine
 * and an HBM at rest; what came of it is kept, and is what happens whenever the situation comes up again.
 *
 * Left out: into which rows and banks the addresses fall (the first time stands for all), what was under way
 * before, and the time since the last refresh beyond a 16th of the interval. */
#ifndef SIM_CHIP_TRAFFIC_H
#define SIM_CHIP_TRAFFIC_H

#include "tilesim/dma/price.h"

enum { TRAFFIC_WALKED_BYTES = 32 << 20 };

typedef struct traffic traffic;

/* exact: walk everything. */
traffic *traffic_new(ts_error *err, ts_arena *arena, const ts_dma_machine *machine, bool exact);
void traffic_free(traffic *traffic);

bool traffic_can_start(const traffic *traffic);
/* As ts_dma_start. `layouts` tells pairs of layouts apart. Takes over `arena`, which holds the plan, also
 * when it fails. */
bool traffic_start(ts_error *err, traffic *traffic, const ts_dma_transfer *what, int layouts, ts_arena *arena,
                   int64_t cycle);
int64_t traffic_next(traffic *traffic, int64_t limit); /* as ts_dma_next */
int64_t traffic_quiet_until(const traffic *traffic, int64_t limit);
bool traffic_complete(ts_error *err, traffic *traffic, ts_dma_result *result);
int traffic_under_way(const traffic *traffic);
void traffic_count(const traffic *traffic, ts_hbm_stats *hbm, int64_t *recalled);

#endif
