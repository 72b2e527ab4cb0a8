/* Commands by the names that JEDEC has for them, in tables of rules. */
#ifndef TILESIM_DRAM_COMMAND_NAMES_H
#define TILESIM_DRAM_COMMAND_NAMES_H

#include "dram/dram.h"

enum {
    RD = TS_DRAM_RD,
    WR = TS_DRAM_WR,
    ACT = TS_DRAM_ACT,
    PRE = TS_DRAM_PRE,
    RDA = TS_DRAM_RDA,
    WRA = TS_DRAM_WRA,
    PREA = TS_DRAM_PREA,
    REFA = TS_DRAM_REFA,
    REFB = TS_DRAM_REFB,
};

#endif
