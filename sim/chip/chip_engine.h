/* The engine of a chip (dma/dma.h): its own, or one of a pool's. */
#ifndef TILESIM_CHIP_CHIP_ENGINE_H
#define TILESIM_CHIP_CHIP_ENGINE_H

#include "engine_pool.h"

typedef struct chip_engine chip_engine;

typedef struct {
    const ts_dma_machine *machine;
    ts_engine_pool *pool;      /* NULL: the engine is the chip's own */
    bool exact;                /* all channels are simulated */
    int share;                 /* else one in so many; 0: as many as get the same of each access */
    ts_hbm_observer *observer; /* of bursts; NULL: none. Else not shared */
    void *observed;
    ts_interrupt *interrupt; /* of the chip's own engine */
} chip_engine_setup;

chip_engine *chip_engine_new(ts_error *err, ts_arena *arena, const chip_engine_setup *setup);
void chip_engine_free(chip_engine *e); /* NULL is fine */

/* The functions of dma/dma.h. */
bool chip_engine_can_start(const chip_engine *e);
int chip_engine_under_way(const chip_engine *e);
/* hash: equal of transfers that differ in nothing but where in the HBM they begin. *arena is that of the
 * plan: it is kept, and set to NULL, when others may need it. */
void chip_engine_start(chip_engine *e, const ts_dma_transfer *what, const uint64_t hash[2], ts_arena **arena,
                       int64_t cycle);
/* As ts_dma_expect and ts_dma_feed; it has a number. */
typedef struct {
    const ts_plan *plan;
    ts_arena **arena;
    void *owner;
} chip_engine_arrival;
int64_t chip_engine_expect(chip_engine *e, const chip_engine_arrival *what, const uint64_t hash[2]);
void chip_engine_feed(chip_engine *e, int64_t incoming, const ts_dma_chunk *chunk);
int64_t chip_engine_next(chip_engine *e, int64_t limit);
int64_t chip_engine_quiet_until(chip_engine *e, int64_t limit);
void chip_engine_complete(chip_engine *e, ts_dma_result *result);

void chip_engine_read_stats(chip_engine *e, ts_hbm_stats *stats);
bool chip_engine_check(ts_error *err, const chip_engine *e); /* ts_hbm_check */
bool chip_engine_is_part(const chip_engine *e);              /* of the channels */

#endif
