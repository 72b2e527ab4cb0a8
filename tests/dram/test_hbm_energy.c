/* The energy of counts: that of DRAMsim3 for its own, and causes one by one. */

#include "dram/hbm_energy.h"
#include "tests/support/hbm2.h"
#include "tests/support/test.h"

static const ts_hbm_energy currents = {.vdd = 1200,
                                       .idd0 = 65,
                                       .idd2n = 40,
                                       .idd3n = 55,
                                       .idd4r = 390,
                                       .idd4w = 500,
                                       .idd5ab = 250,
                                       .idd5pb = 75};

static void expect(const ts_hbm_config *config, const ts_hbm_stats *stats, int64_t ticks,
                   const double picojoules[TS_HBM_ENERGY_CAUSES]) {
    double joules[TS_HBM_ENERGY_CAUSES];
    ts_hbm_energy_joules(config, stats, ticks, joules);
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++) {
        double difference = joules[i] * 1e12 - picojoules[i];
        if (difference < -1e-3 || difference > 1e-3)
            fail_msg("%s: %.6f pJ, expected %.6f", ts_hbm_energy_name((ts_hbm_energy_cause)i),
                     joules[i] * 1e12, picojoules[i]);
    }
}

/* DRAMsim3 (2981759) counts 16 x 5894 cycles of 1 ns, of them 83768 with a row open; and 24 more merged here. */
TEST(test_dramsim3) {
    ts_hbm_config config = hbm2;
    config.energy = currents;
    const ts_hbm_stats stats = {
        .activations = 12040,
        .reads = 300,
        .forwarded = 300,
        .writes = 23990 + 24,
        .coalesced = 24,
        .refreshes = 16,
        .open_cycles = 83768,
        .limiter_cycles = {[TS_HBM_LIMITER_DATA] = 4304, [TS_HBM_LIMITER_RP] = 15 * 6000}};
    expect(&config, &stats, 5894, (const double[]){9969120, 0, 25621320, 973440, 5528688, 505728});
}

/* By hand, in half CKs of 1.6 GHz: 0.3125 ns. */
TEST(test_half_cks) {
    ts_hbm_config config = hbm2;
    config.energy = currents;
    config.clock_khz = 1600000;
    config.ticks_per_ck = 2;
    config.stacks = 2;
    config.refresh = TS_HBM_REFRESH_PER_BANK;
    config.timing.t_rc = 50; /* more than tRAS + tRP */
    const ts_hbm_stats stats = {.activations = 1,
                                .reads = 1,
                                .refreshes = 1,
                                .open_cycles = 32,
                                .limiter_cycles = {[0] = 20, [TS_HBM_LIMITER_COUNT - 1] = 300}};
    /* (65 50 - 55 34 - 40 16) 1.2 0.625, 335 2 1.2 0.625, 20 160 1.2 0.625, 32 55 1.2 0.3125, (32 10 - 32) 40 .. */
    expect(&config, &stats, 10, (const double[]){555, 502.5, 0, 2400, 660, 4320});
}

/* By hand: of 16 pseudo channels of 40 ticks 320 ticks are known, the others are idle. */
TEST(test_idle) {
    ts_hbm_config config = hbm2;
    config.energy = currents;
    config.stacks = 1;
    config.channels = 8;
    config.pseudo_channels = 2;
    config.clock_khz = 1000000;
    config.ticks_per_ck = 1;
    config.timing.t_refi = 100;
    config.timing.t_refi_pb = 10;
    config.timing.t_rfc = 260;
    config.timing.t_rfc_pb = 160;
    const ts_hbm_stats stats = {.open_cycles = 20, .limiter_cycles = {[1] = 320}};
    const double idle = (640 - 20) * 40 * 1.2, open = 20 * 55 * 1.2;
    config.refresh = TS_HBM_REFRESH_NONE;
    expect(&config, &stats, 40, (const double[]){0, 0, 0, 0, open, idle});
    config.refresh = TS_HBM_REFRESH_ALL_BANK;
    expect(&config, &stats, 40, (const double[]){0, 0, 0, 3.2 * 195 * 260 * 1.2, open, idle});
    config.refresh = TS_HBM_REFRESH_PER_BANK;
    expect(&config, &stats, 40, (const double[]){0, 0, 0, 32 * 20 * 160 * 1.2, open, idle});
    const ts_hbm_stats longer = {.refreshes = 2, .open_cycles = 20, .limiter_cycles = {[1] = 320}};
    expect(&config, &longer, 20, (const double[]){0, 0, 0, 2 * 20 * 160 * 1.2, open, 300 * 40 * 1.2});
    expect(&config, &longer, 10, (const double[]){0, 0, 0, 20 * 160 * 1.2, open / 2, 150 * 40 * 1.2});
    config.ticks_per_ck = 2; /* ticks of half a CK */
    expect(&config, &stats, 40, (const double[]){0, 0, 0, 16 * 20 * 160 * 1.2, open / 2, idle / 2});
}

TEST(test_names) {
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(ts_hbm_energy_name((ts_hbm_energy_cause)i),
                                    ts_hbm_energy_name((ts_hbm_energy_cause)k));
    assert_string_equal(ts_hbm_energy_name(TS_HBM_ENERGY_ACTIVE_STANDBY), "active_standby");
    assert_string_equal(ts_hbm_energy_meaning(TS_HBM_ENERGY_READ), "bursts read");
}
