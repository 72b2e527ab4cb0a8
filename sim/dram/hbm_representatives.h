/* Representative channels. Private. */
#ifndef TILESIM_DRAM_HBM_REPRESENTATIVES_H
#define TILESIM_DRAM_HBM_REPRESENTATIVES_H

#include "hbm_channel.h"

/* At the beginning all channels do the same: channel 0 represents them, if they are to go together. */
void hbm_represent_all(ts_hbm *hbm, bool together);
/* Splits off the channels that the block offers something else than it offers to their representatives. */
void hbm_regroup(ts_hbm *hbm);
/* The block's segments of represented channels were accepted when those of their representatives were. */
void hbm_copy_acceptances(ts_hbm *hbm);

#endif
