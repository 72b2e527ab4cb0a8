/* Private to the chip: writes that come over links and are not simulated. They meet no transfer, and links
 * bring little next to what the HBM takes: each is accepted at once, which need not be simulated again and
 * again. What they count for are the averages of those that were simulated when nothing else was under
 * way. */
#ifndef TILESIM_CHIP_PASSED_H
#define TILESIM_CHIP_PASSED_H

#include "dma/price.h"

typedef struct {
    int64_t bytes, cycles; /* that came; between what came */
} passed_amount;

typedef struct {
    int64_t since, bytes; /* what has come in a window of time */
    int64_t samples, cycle;
    bool is_alone; /* nothing but `last` bytes was simulated since `before`, from `cycle` on */
    int64_t last;
    ts_hbm_stats before, stats; /* stats: of what was simulated */
    passed_amount simulated, passed;
} passed;

/* So many bytes come: is that little, with those of the last cycles? */
bool passed_may(passed *p, const ts_dma_machine *machine, const ts_dma_chunk *chunk);
bool passed_samples(const passed *p); /* wants to know what is simulated */
/* It is simulated, alone or among transfers; now: what the memory has counted, which has not seen it yet. */
void passed_simulate(passed *p, const ts_hbm_stats *now, bool alone, const ts_dma_chunk *chunk);
void passed_over(passed *p, const ts_dma_chunk *chunk);
/* Adds what was passed over. */
void passed_count(const passed *p, const ts_dma_machine *machine, ts_hbm_stats *stats);

#endif
