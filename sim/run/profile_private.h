/* Private to the run: parts of a profile. */
#ifndef TILESIM_RUN_PROFILE_PRIVATE_H
#define TILESIM_RUN_PROFILE_PRIVATE_H

#include "run/profile.h"

/* Of all cores; times: how often the instruction issued. */
void profile_instruction(const ts_chip *chip, const ts_program *program, int bundle, int index,
                         ts_line_counts *counts);
/* Fills in the loops. */
void profile_loops(ts_arena *arena, const ts_program *program, const ts_chip *chip, ts_profile *profile);

#endif
