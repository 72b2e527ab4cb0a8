/* Channels that do the same. Private. */
#ifndef TILESIM_DRAM_HBM_LEADERS_H
#define TILESIM_DRAM_HBM_LEADERS_H

#include "hbm_channel.h"

/* At the beginning all channels do the same: channel 0 leads them, if they are to go together. */
void hbm_lead_all(ts_hbm *hbm, bool together);
/* Parts the channels for which the block has not the same as for their leaders. */
void hbm_regroup(ts_hbm *hbm);
/* The followers' pieces of the block were accepted when their leaders' were. */
void hbm_follow(ts_hbm *hbm);

#endif
