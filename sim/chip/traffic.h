/* The transfers under way, in one engine (dma/dma.h), which is simulated access by access on a part of the
 * memory's channels (ts_hbm_new_subset); on all of them if exact, and from when on the part does not get its
 * share.
 *
 * A run that has simulated TRAFFIC_SIMULATED_BYTES recalls. A busy period lasts from a start with nothing
 * under way until nothing is under way again. What happens in it depends on the shapes of its transfers, on
 * when each starts, and on the time since the last refresh, which is compared to a 16th of the interval. It
 * is simulated, and its steps are kept; one that begins alike is recalled, step by step, for as long as the
 * core does the same. When it does not, the engine is given what has been started, and simulates the rest.
 * What comes over links meanwhile is simulated when the busy period is; periods in which other numbers of
 * messages come are not alike.
 *
 * Left out: into which rows and banks the addresses fall (the first time stands for all), what the memory was
 * left with by the busy period before, and the time since the last refresh beyond a 16th of the interval. */
#ifndef TILESIM_CHIP_TRAFFIC_H
#define TILESIM_CHIP_TRAFFIC_H

#include "chip_engine.h"

enum { TRAFFIC_SIMULATED_BYTES = 128 << 20 };

typedef struct traffic traffic;

/* exact: simulate everything. */
traffic *traffic_new(ts_arena *arena, const ts_dma_machine *machine, bool exact);
void traffic_set_channel_share(traffic *traffic, int share);           /* as that of a chip's configuration */
void traffic_set_interrupt(traffic *traffic, ts_interrupt *interrupt); /* of an engine of its own */
/* Of so many chips, which share the bytes that are simulated before they recall, and engines (pool NULL: not
 * these). */
void traffic_share(traffic *traffic, int64_t chips, ts_engine_pool *pool);
void traffic_free(traffic *traffic);
/* Tells of the bursts of what is simulated, each channel by itself; before the first start. */
void traffic_observe(traffic *traffic, ts_hbm_observer *observer, void *self);

bool traffic_can_start(const traffic *traffic);
/* For the plan of the next transfer that starts; it is gone when that is complete. */
ts_arena *traffic_arena(traffic *traffic);
/* As ts_dma_start; the plan is in traffic_arena. `layouts` tells pairs of layouts apart. */
bool traffic_start(ts_error *err, traffic *traffic, const ts_dma_transfer *what, int layouts, int64_t cycle);
/* As ts_dma_expect and ts_dma_feed; its end is one of traffic_next and traffic_complete as well. `layouts` as
 * those of a start; *arena is the plan's, and is NULL when the plan is kept. */
typedef struct {
    const ts_plan *plan;
    ts_arena **arena;
    void *owner;
    int layouts;
} traffic_arrival;
bool traffic_expect(ts_error *err, traffic *traffic, const traffic_arrival *what, int64_t *incoming);
void traffic_feed(traffic *traffic, int64_t incoming, ts_dma_chunk chunk);
int64_t traffic_next(traffic *traffic, int64_t limit); /* as ts_dma_next */
int64_t traffic_quiet_until(const traffic *traffic, int64_t limit);
bool traffic_complete(ts_error *err, traffic *traffic, ts_dma_result *result);
int traffic_under_way(const traffic *traffic); /* of what was started */
/* What is simulated from the mark on counts `times` times more, and all that is to come is so many cycles
 * later. */
void traffic_mark(traffic *traffic);
void traffic_repeat(traffic *traffic, int64_t times, int64_t cycles);
/* Was a transfer not simulated access by access, on all channels? */
bool traffic_is_estimated(const traffic *traffic);
void traffic_count(const traffic *traffic, ts_hbm_stats *hbm, int64_t *recalled);

#endif
