/* Engines that walk transfers (dma/dma.h), each once for all chips of a mesh that ask it the same.
 *
 * An engine answers by what it was asked before. What chips ask is kept as a tree, from a start at which their memories
 * rest on (ts_hbm_rest_cycle); a chip that asks what another one asked before is told what that was answered. One that
 * asks something else has an engine for itself from then on, which is asked again all that led there. So nothing
 * depends on who comes first. Starts are alike when the same plan, from another place of the HBM on, makes the same
 * requests (ts_hbm_trace).
 *
 * Once a chip's memory rests again it leaves that tree, for one that begins at its next start. Where too much is asked
 * before that, or memories never rest, it has its engine alone. */
#ifndef TILESIM_CHIP_WALKS_H
#define TILESIM_CHIP_WALKS_H

#include "dma/price.h"

typedef struct ts_walks ts_walks;
typedef struct walker walker; /* of a chip */

/* For chips on any threads. NULL: their memories are never alike. */
ts_walks *ts_walks_new(const ts_dma_machine *machine, bool exact);
void ts_walks_free(ts_walks *walks);             /* behind its walkers. NULL is fine */
int64_t ts_walks_engines(const ts_walks *walks); /* that were made */

typedef struct {
    const ts_dma_machine *machine;
    ts_walks *walks;           /* NULL: the engine is the chip's own */
    bool exact;                /* all channels are walked */
    ts_hbm_observer *observer; /* of bursts; NULL: none. Else not shared */
    void *observed;
} walker_setup;

walker *walker_new(ts_error *err, ts_arena *arena, const walker_setup *setup);
void walker_free(walker *w); /* NULL is fine */

/* The functions of dma/dma.h. */
bool walker_can_start(const walker *w);
int walker_under_way(const walker *w);
/* hash: equal of transfers that differ in nothing but where in the HBM they begin. *arena is that of the plan: it is
 * kept, and set to NULL, when others may need it. */
void walker_start(walker *w, const ts_dma_transfer *what, const uint64_t hash[2], ts_arena **arena,
                  int64_t cycle);
/* As ts_dma_expect and ts_dma_feed; it has a number. */
typedef struct {
    const ts_plan *plan;
    ts_arena **arena;
    void *owner;
} walker_arrival;
int64_t walker_expect(walker *w, const walker_arrival *what, const uint64_t hash[2]);
void walker_feed(walker *w, int64_t incoming, const ts_dma_chunk *chunk);
int64_t walker_next(walker *w, int64_t limit);
int64_t walker_quiet_until(walker *w, int64_t limit);
void walker_complete(walker *w, ts_dma_result *result);

void walker_read_stats(walker *w, ts_hbm_stats *stats);
bool walker_check(ts_error *err, const walker *w); /* ts_hbm_check */
bool walker_is_part(const walker *w);              /* of the channels */

#endif
