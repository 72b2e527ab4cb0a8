/* The energy of a chip while it works: of its HBM by cause, and of operations whose energy the machine
 * states. What is counted is what time is counted of. */
#ifndef TILESIM_CHIP_ENERGY_H
#define TILESIM_CHIP_ENERGY_H

#include "chip/chip.h"
#include "dram/hbm_energy.h"

typedef struct {
    double hbm[TS_HBM_ENERGY_CAUSES], hbm_total; /* joules */
    double ops[TS_ENERGY_OPS];                   /* 0 where not stated */
    bool stated[TS_ENERGY_OPS];                  /* the machine says what one takes, and they were counted */
    double ops_total;                            /* of those stated */
    bool any_stated;
} ts_energy;

/* Of the HBM alone, in so many cycles of the core. */
void ts_energy_of_hbm(const ts_machine *machine, const ts_hbm_stats *stats, int64_t cycles,
                      ts_energy *energy);
/* Of a run of the chip. */
void ts_energy_of_chip(const ts_machine *machine, const ts_chip_counters *counters, ts_energy *energy);
/* Adds that of what transfers of the engine moved: at both ends, and of it at ends that are not in HBM. */
void ts_energy_add_transfers(const ts_machine *machine, int64_t moved_bytes, int64_t vmem_bytes,
                             ts_energy *energy);

#endif
