/* The energy of an HBM, from what its commands were counted to be.
 *
 * As DRAMsim3 (umd-memsys/DRAMsim3, 2981759: configuration.cc, simple_stats.cc) has it, after Micron's
 * TN-46-03: a current over that of standby for as long as a command takes, and standby all the time:
 *
 *   activate            (IDD0 tRC - IDD3N tRAS - IDD2N (tRC - tRAS)) VDD for each ACT, with its PRE
 *   read, write         (IDD4R or IDD4W - IDD3N) nBL VDD for each burst
 *   refresh             (IDD5AB - IDD3N) tRFC VDD for each REF of all banks; IDD5PB, tRFCpb for one of a bank
 *   active standby      IDD3N VDD while a row of the pseudo channel is open
 *   precharge standby   IDD2N VDD while none is
 *
 * There, of ACT, tRP stands for tRC - tRAS: the same where tRC is tRAS + tRP. No power-down, no self-refresh,
 * no I/O.
 *
 * Standby and refreshes are those of the time of the run. Where the HBM was simulated for less, no row is
 * open in the rest, and refreshes go on; where for more (it still drains, or a time that was recalled counts
 * twice), theirs are in proportion. */
#ifndef TILESIM_DRAM_HBM_ENERGY_H
#define TILESIM_DRAM_HBM_ENERGY_H

#include "dram/hbm.h"

typedef enum {
#define CAUSE(id, name, meaning) TS_HBM_ENERGY_##id,
#include "dram/hbm_energy_causes.def"
#undef CAUSE
    TS_HBM_ENERGY_CAUSES,
} ts_hbm_energy_cause;

/* Of a run of so many ticks of the memory's clock. */
void ts_hbm_energy_joules(const ts_hbm_config *config, const ts_hbm_stats *stats, int64_t ticks,
                          double joules[TS_HBM_ENERGY_CAUSES]);
const char *ts_hbm_energy_name(ts_hbm_energy_cause cause);
const char *ts_hbm_energy_meaning(ts_hbm_energy_cause cause);

#endif
