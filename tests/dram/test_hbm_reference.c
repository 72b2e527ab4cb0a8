/* HBM time beside Ramulator 2.1: cycles exactly, row hits and latencies to the digits it printed; and, as
 * other figures of the machine are, with its other policies and with DRAMsim3's controller. */
#include <math.h>
#include <string.h>

#include "tests/support/rounds.h"
#include "tests/support/test.h"
#include "validate/hbm_reference.h"

/* Of many rows, only some: all are in `tilesim validate hbm`, whose tables a release test compares. */
static int one_in(void) { return stride(7, 23); }

static bool is_near(double a, double b, double most) { return fabs(a - b) <= most + 1e-9; }

static double row_hit_rate(const ts_hbm_stats *s) {
    return (double)s->row_hits / (double)(s->row_hits + s->row_misses + s->row_conflicts);
}

static double read_latency(const ts_hbm_stats *s) {
    return s->reads > 0 ? (double)s->read_latency_sum / (double)s->reads : 0;
}

TEST(short_sequences) {
    assert_int_equal(ts_hbm_sequence_reference_count, 16);
    for (int i = 0; i < ts_hbm_sequence_reference_count; i++) {
        const ts_hbm_sequence_reference *r = &ts_hbm_sequence_references[i];
        ts_error err = {0};
        ts_hbm_run run, other;
        assert_true(ts_hbm_sequence_run(&err, r, TS_HBM_RAMULATOR, &run) &&
                    ts_hbm_sequence_run(&err, r, TS_HBM_DRAMSIM3, &other));
        if (run.cycles != r->ramulator_cycles || run.requests != r->requests ||
            !is_near(read_latency(&run.stats), r->ramulator_latency, 0.0005))
            fail_msg("%s: %lld cycles, expected %lld; read latency %.4f, expected %.4f", r->name,
                     (long long)run.cycles, (long long)r->ramulator_cycles, read_latency(&run.stats),
                     r->ramulator_latency);
        if (r->dramsim3_cycles >= 0 &&
            other.cycles != r->dramsim3_cycles - 1) /* as ts_hbm_reference_cycles */
            fail_msg("%s: %lld cycles, expected %lld as DRAMsim3", r->name, (long long)other.cycles,
                     (long long)r->dramsim3_cycles - 1);
    }
}

/* To the digits that were printed. */
static bool agrees(const ts_hbm_reference *r, const ts_hbm_run *run) {
    int64_t cycles = ts_hbm_reference_cycles(r);
    bool ok = run->requests == r->requests && run->cycles == cycles &&
              is_near(row_hit_rate(&run->stats), r->row_hit_rate, 0.00005) &&
              is_near(read_latency(&run->stats), r->read_latency, 0.05);
    if (!ok)
        print_error(
            "%s map %s %s %s: %lld cycles, expected %lld; row hits %.4f, expected %.4f; read latency %.1f, "
            "expected %.1f\n",
            r->config, r->map, r->frontend, r->pattern, (long long)run->cycles, (long long)cycles,
            row_hit_rate(&run->stats), r->row_hit_rate, read_latency(&run->stats), r->read_latency);
    return ok;
}

/* Runs the rows whose configuration begins so, or each `step`th of them. */
static void compare(const char *config, int step, int expected_rows) {
    int rows = 0, failed = 0;
    for (int i = 0; i < ts_hbm_reference_count; i++) {
        const ts_hbm_reference *r = &ts_hbm_references[i];
        if (strncmp(r->config, config, strlen(config)) != 0 || rows++ % step) continue;
        ts_error err = {0};
        ts_hbm_run run;
        if (!ts_hbm_reference_run(&err, r, &run)) fail_msg("%s", err.message);
        failed += !agrees(r, &run);
    }
    assert_int_equal(rows, expected_rows);
    assert_int_equal(failed, 0);
}

TEST(hbm2_stack) {
    compare("hbm2_8ch", one_in(),
            6 * 11 + 11 + 7 + 7); /* maps and front ends; queues of 256; frfcfs; no refresh */
}

TEST(hbm2_private_row_buses) { compare("hbm2_16x1pc", one_in(), 2 * 11); /* queues of 32 and 128 */ }

TEST(hbm2_one_channel) { compare("hbm2_1ch", one_in(), 7); }

TEST(hbm2_one_pseudo_channel) { compare("hbm2_1pc", one_in(), 2 * 11); /* with and without refresh */ }

TEST(hbm3_stack) {
    compare("hbm3", one_in(), 2 * 11 + 7 + 7); /* maps; unlimited look-ahead; refresh bank by bank */
}

/* Channels of one pseudo channel, one of them, two; queues a quarter as deep; no refresh. */
TEST(dramsim3) { compare("hbm2m_", 3 * one_in(), 6 * 11 + 2 * 11 + 7 + 11 + 7); }
