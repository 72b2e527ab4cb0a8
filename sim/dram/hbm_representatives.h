/* Representative channels. Private. */
#ifndef TILESIM_DRAM_HBM_REPRESENTATIVES_H
#define TILESIM_DRAM_HBM_REPRESENTATIVES_H

#include "hbm_channel.h"

/* Not where every channel is to be simulated, nor where data in flight, or another scheduler, makes them differ. */
bool hbm_may_represent(const ts_hbm *hbm);
/* At the beginning all channels do the same: channel 0 represents them, where it may. */
void hbm_represent_all(ts_hbm *hbm);
/* Splits off the channels that the block offers something else than it offers to their representatives. */
void hbm_regroup(ts_hbm *hbm);
/* The block's segments of represented channels were accepted when those of their representatives were. */
void hbm_copy_acceptances(ts_hbm *hbm);
/* Of channels that have come to the same state one represents the others from now on. */
void hbm_rejoin(ts_hbm *hbm);
/* Counts of a channel that is simulated: those of its statistics that are kept elsewhere, too, but row_hits. */
ts_hbm_stats hbm_counts_of(const hbm_channel *ch);

#endif
