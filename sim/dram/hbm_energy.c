/* The energy of an HBM: counts times currents times times. */
#include "dram/hbm_energy.h"

/* mA times ticks, of one command; of standby, of one tick. */
static void charges(const ts_hbm_config *c, int64_t charge[TS_HBM_ENERGY_CAUSES]) {
    const ts_hbm_timing *t = &c->timing;
    const ts_hbm_energy *e = &c->energy;
    const int64_t tick = c->ticks_per_ck;
    bool per_bank = c->refresh == TS_HBM_REFRESH_PER_BANK;
    charge[TS_HBM_ENERGY_ACTIVATE] = tick * ((int64_t)e->idd0 * t->t_rc - (int64_t)e->idd3n * t->t_ras -
                                             (int64_t)e->idd2n * (t->t_rc - t->t_ras));
    charge[TS_HBM_ENERGY_READ] = tick * (e->idd4r - e->idd3n) * t->n_bl;
    charge[TS_HBM_ENERGY_WRITE] = tick * (e->idd4w - e->idd3n) * t->n_bl;
    charge[TS_HBM_ENERGY_REFRESH] = tick * (per_bank ? (int64_t)(e->idd5pb - e->idd3n) * t->t_rfc_pb
                                                     : (int64_t)(e->idd5ab - e->idd3n) * t->t_rfc);
    charge[TS_HBM_ENERGY_ACTIVE_STANDBY] = e->idd3n;
    charge[TS_HBM_ENERGY_PRECHARGE_STANDBY] = e->idd2n;
}

/* Refreshes of pseudo channels that are idle for so many ticks together. */
static double idle_refreshes(const ts_hbm_config *c, int64_t ticks) {
    if (c->refresh == TS_HBM_REFRESH_NONE) return 0;
    int32_t every = c->refresh == TS_HBM_REFRESH_PER_BANK ? c->timing.t_refi_pb : c->timing.t_refi;
    return (double)ticks / ((double)every * c->ticks_per_ck);
}

void ts_hbm_energy_joules(const ts_hbm_config *config, const ts_hbm_stats *stats, int64_t ticks,
                          double joules[TS_HBM_ENERGY_CAUSES]) {
    int64_t cycles = 0, all = ticks * ts_hbm_bus_count(config);
    for (int i = 0; i < TS_HBM_LIMITER_COUNT; i++) cycles += stats->limiter_cycles[i];
    int64_t idle = all > cycles ? all - cycles : 0;
    double part = all < cycles ? (double)all / (double)cycles : 1; /* of what is simulated */
    const double counts[TS_HBM_ENERGY_CAUSES] = {
        [TS_HBM_ENERGY_ACTIVATE] = (double)stats->activations,
        [TS_HBM_ENERGY_READ] = (double)(stats->reads - stats->forwarded),
        [TS_HBM_ENERGY_WRITE] = (double)(stats->writes - stats->coalesced),
        [TS_HBM_ENERGY_REFRESH] = part * (double)stats->refreshes + idle_refreshes(config, idle),
        [TS_HBM_ENERGY_ACTIVE_STANDBY] = part * (double)stats->open_cycles,
        [TS_HBM_ENERGY_PRECHARGE_STANDBY] = part * (double)(cycles - stats->open_cycles) + (double)idle,
    };
    int64_t charge[TS_HBM_ENERGY_CAUSES];
    charges(config, charge);
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++) { /* mA mV / kHz: nJ */
        double nanojoules =
            counts[i] * (double)charge[i] * config->energy.vdd / (double)ts_hbm_tick_khz(config);
        joules[i] = nanojoules / 1e9;
    }
}

static const struct {
    const char *name, *meaning;
} causes[TS_HBM_ENERGY_CAUSES] = {
#define CAUSE(id, name, meaning) {name, meaning},
#include "dram/hbm_energy_causes.def"
#undef CAUSE
};

const char *ts_hbm_energy_name(ts_hbm_energy_cause cause) { return causes[cause].name; }
const char *ts_hbm_energy_meaning(ts_hbm_energy_cause cause) { return causes[cause].meaning; }
