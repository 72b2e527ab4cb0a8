/* The per bank scheduler of a channel. Private. */
#ifndef TILESIM_DRAM_HBM_BANKS_H
#define TILESIM_DRAM_HBM_BANKS_H

#include "hbm_channel.h"

enum { HBM_BANKS_MOST = TS_HBM_MAX_BANKS_PER_BANK };

void hbm_banks_init(ts_hbm *hbm, ts_arena *arena, hbm_channel *ch);
void hbm_banks_clear(ts_hbm *hbm, hbm_channel *ch);
void hbm_banks_rebase(ts_hbm *hbm, hbm_channel *ch, int32_t shift);
void hbm_banks_add_stream(ts_arena *arena, ts_hbm_stream *st);
/* Somebody waits for what is done. */
void hbm_banks_await(ts_hbm *hbm);
/* The channel holds nothing, or writes that stay until there are more. */
bool hbm_banks_rest(const ts_hbm *hbm, const hbm_channel *ch);

#endif
