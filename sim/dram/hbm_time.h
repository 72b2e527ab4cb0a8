/* Local cycles of an HBM. Private. */
#ifndef TILESIM_DRAM_HBM_TIME_H
#define TILESIM_DRAM_HBM_TIME_H

#include "hbm_channel.h"

/* The last thing of a stream that was done; -1. The same of all since reset, as far as it is known. */
int64_t hbm_stream_end(const ts_hbm_stream *st);
int64_t hbm_end_cycle(const ts_hbm *hbm);
/* A cycle from which something is offered, as a local one; 0 for those before the base. */
int32_t hbm_to_local(ts_hbm *hbm, int64_t cycle);
/* Ticks after which no rule asks for what was before. */
int64_t hbm_longest_rule(const ts_hbm *hbm);
/* Moves the base up; for when local cycles are from REBASE_AT on. */
void hbm_rebase(ts_hbm *hbm);

#endif
