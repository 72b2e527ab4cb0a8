/* Channels that have come to the same state. Private. */
#ifndef TILESIM_DRAM_HBM_EQUIVALENT_H
#define TILESIM_DRAM_HBM_EQUIVALENT_H

#include "hbm_channel.h"

/* Will both do the same at the same times from now on, if they are offered the same? Not where pages are closed, nor of
 * the per bank scheduler. */
bool hbm_are_equivalent(const ts_hbm *hbm, const hbm_channel *a, const hbm_channel *b);

#endif
