/* Engines that simulate transfers (dma/dma.h), each once for all chips of a mesh that ask it the same.
 *
 * An engine answers by what it was asked before. What chips ask is kept as a tree, from a start at which
 * their memories rest on (ts_hbm_rest_cycle); a chip that asks what another one asked before is told what
 * that was answered. One that asks something else has an engine for itself from then on, which is asked again
 * all that led there. So nothing depends on who comes first. Starts are alike when the same plan, from
 * another address of the HBM on, makes the same requests (ts_hbm_trace).
 *
 * Once a chip's memory rests again it leaves that tree, for one that begins at its next start. Where too much
 * is asked before that, or memories never rest, it has its engine alone. */
#ifndef TILESIM_CHIP_ENGINE_POOL_H
#define TILESIM_CHIP_ENGINE_POOL_H

#include "dma/price.h"

typedef struct ts_engine_pool ts_engine_pool;

/* For chips on any threads. NULL: their memories are never alike. */
ts_engine_pool *ts_engine_pool_new(const ts_dma_machine *machine, bool exact);
void ts_engine_pool_free(ts_engine_pool *pool); /* behind its chips. NULL is fine */

#endif
