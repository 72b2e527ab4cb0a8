/* One stack of HBM2 at 2 Gb/s a pin, tCK 1 ns, 256 GB/s, and an engine whose costs are round numbers. */
#ifndef TESTS_SUPPORT_HBM2_H
#define TESTS_SUPPORT_HBM2_H

#include "dma/price.h"

enum { HBM2_KHZ = 1000000, HBM2_BYTES_PER_NS = 256 };

extern const ts_hbm_config hbm2;
extern const ts_dma_config
    plain_dma; /* issue 100 cycles, descriptor 10, completion 200, at 1 GHz; 1 KiB a cycle */

/* Whether a bus waits for data, requests or a refresh, or is done, and how much of its last burst is to come, is known
 * with what comes next. Counts that are put together from parts have but the sum right: in `stats` it becomes that of
 * requests. */
void put_waits_together(ts_hbm_stats *stats);

#endif
