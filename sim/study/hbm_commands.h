/* The commands of a run of HBM, as a trace. */
#ifndef TILESIM_STUDY_HBM_COMMANDS_H
#define TILESIM_STUDY_HBM_COMMANDS_H

#include "base/text.h"
#include "dram/hbm.h"

typedef struct ts_hbm_commands ts_hbm_commands;

ts_hbm_commands *ts_hbm_commands_new(ts_arena *arena, const ts_hbm_config *config);
/* Keeps all commands that the HBM issues from now on: 32 bytes each. */
void ts_hbm_commands_observe(ts_hbm_commands *commands, ts_hbm *hbm);
/* Comma-separated, with a head, in the order of cycles, then of channels. What a command does not have is -1:
 * of PRE the row, of PREA and REFab the bank. Cycles are ticks. */
void ts_hbm_commands_write(ts_hbm_commands *commands, ts_text *out);

#endif
