/* Where a run stands under the roofline: counts made by hand, on machines of known peaks. */
#include "run/roofline.h"

#include <math.h>

#include "tests/support/test.h"

/* tpu-v5e: 196.608 TFLOP/s of bf16 and f32, 393.216 of int8, 6.144 of the vector unit, 819.2 GB/s, 1.5 GHz,
 * one core with 4 matrix units. */
static const ts_machine *machine_of(ts_arena *arena, const char *name) {
    ts_error err = {0};
    const ts_machine *m = ts_machine_load(&err, arena, name);
    assert_non_null(m);
    return m;
}

static ts_chip_counters counters(int cores, int64_t cycles) {
    ts_chip_counters c = {.cycles = cycles, .elapsed_cycles = cycles, .core_count = cores};
    for (int i = 0; i < cores; i++) c.cores[i].cycles = cycles;
    return c;
}

#define near(a, b) assert_true(fabs((a) / (b)-1) < 1e-12)

TEST_WITH_ARENA(rates_are_of_the_clock_and_the_bytes) {
    ts_roofline r;
    ts_chip_counters c = counters(1, 1500); /* a microsecond */
    c.cores[0].flops[TS_MXU_BF16] = 100000000;
    c.cores[0].flops[TS_FLOPS_VPU_F32] = 3000000;
    c.hbm_read_bytes = 300000;
    c.hbm_written_bytes = 109600;
    ts_roofline_find(machine_of(arena, "tpu-v5e"), &c, &r);
    assert_int_equal(r.unit, TS_FLOPS_MXU);
    assert_int_equal(r.kinds, 1 << TS_MXU_BF16);
    assert_int_equal(r.flops, 100000000);
    assert_int_equal(r.hbm_bytes, 409600);
    near(r.rate, 100e12);
    near(r.peak, 196.608e12);
    near(r.hbm_rate, 409.6e9);
    near(r.hbm_peak, 819.2e9);
    near(r.intensity, 100000000 / 409600.0);
    near(r.ridge, 240.0);
    near(r.roof, 196.608e12); /* 244 operations a byte: above the ridge */
    near(r.busy[TS_UNIT_HBM], 0.5);
    c.hbm_read_bytes = 709600;
    ts_roofline_find(machine_of(arena, "tpu-v5e"), &c, &r);
    near(r.intensity, 100000000 / 819200.0);
    near(r.roof, 100e12); /* 122 a byte at 819.2 GB/s */
    c.hbm.reads = 11088;
    c.hbm.writes = 1712;
    c.hbm.forwarded = 3000;
    c.hbm.coalesced = 200; /* a quarter is not on the pins */
    ts_roofline_find(machine_of(arena, "tpu-v5e"), &c, &r);
    assert_int_equal(r.hbm_bytes, 819200);
    assert_int_equal(r.pin_bytes, 614400);
    near(r.busy[TS_UNIT_HBM], 0.75);
}

TEST_WITH_ARENA(the_unit_is_that_which_takes_longest) {
    ts_roofline r;
    ts_chip_counters c = counters(1, 1000);
    c.cores[0].flops[TS_MXU_BF16] = 196608;
    c.cores[0].flops[TS_FLOPS_VPU_F32] = 6145;
    ts_roofline_find(machine_of(arena, "tpu-v5e"), &c, &r);
    assert_int_equal(r.unit, TS_FLOPS_VPU);
    assert_int_equal(r.kinds, 1 << TS_FLOPS_VPU_F32);
    assert_int_equal(r.flops, 6145);
    near(r.peak, 6.144e12);
    assert_true(isinf(r.intensity));
    near(r.roof, 6.144e12);
    c.cores[0].flops[TS_FLOPS_VPU_F32] = 6144;
    ts_roofline_find(machine_of(arena, "tpu-v5e"), &c, &r);
    assert_int_equal(r.unit, TS_FLOPS_MXU);
    /* A third of the operations at twice the rate: 3 / (2 + 1/2) times the peak. */
    c.cores[0].flops[TS_MXU_INT8] = 196608 / 2;
    ts_roofline_find(machine_of(arena, "tpu-v5e"), &c, &r);
    assert_int_equal(r.kinds, 1 << TS_MXU_BF16 | 1 << TS_MXU_INT8);
    assert_int_equal(r.flops, 196608 * 3 / 2);
    near(r.peak, 196.608e12 * 1.5 / 1.25);
    c = counters(1, 1000);
    c.cores[0].flops[TS_FLOPS_VPU_BF16] = 10;
    ts_roofline_find(machine_of(arena, "tpu-v6e"), &c, &r);
    assert_int_equal(r.unit, TS_FLOPS_VPU);
    near(r.peak, 2.0 * 1024 * machine_of(arena, "tpu-v6e")->core.limits.slots[TS_SLOT_VALU] * 1.75e9);
}

TEST_WITH_ARENA(nothing_is_divided_by_nothing) {
    ts_roofline r;
    ts_chip_counters c = counters(1, 0);
    ts_roofline_find(machine_of(arena, "trainium2"), &c, &r);
    assert_int_equal(r.unit, TS_FLOPS_NONE);
    assert_null(ts_flops_unit_text(r.unit));
    assert_true(r.rate == 0 && r.peak == 0 && r.intensity == 0 && r.ridge == 0 && r.roof == 0);
    assert_true(r.hbm_rate == 0 && r.least_cycles == 0);
    for (int i = 0; i < TS_UNIT_COUNT; i++) assert_true(r.busy[i] == 0);
    assert_int_equal(r.bound, TS_BOUND_LATENCY);
}

TEST_WITH_ARENA(what_bounds_a_run) {
    const struct {
        int64_t bundles, scalar, valu, eup, mxu, hbm_bytes;
        ts_bound bound;
        int unit;
        int64_t least;
    } rows[] = {
        /* of 15,000 cycles, 10 us: 8,192,000 bytes of HBM are all of them */
        {0, 0, 0, 0, 0, 8192000 * 6 / 10, TS_BOUND_MEMORY, TS_UNIT_HBM, 9000},
        {0, 0, 0, 0, 0, 8192000 * 59 / 100, TS_BOUND_LATENCY, TS_UNIT_HBM, 8850},
        {9000, 0, 0, 0, 0, 8192000 * 6 / 10, TS_BOUND_MEMORY, TS_UNIT_HBM, 9000},
        {9999, 0, 0, 0, 0, 8192000 * 6 / 10, TS_BOUND_MEMORY, TS_UNIT_HBM, 9000}, /* nearly as busy */
        {10001, 0, 0, 0, 0, 8192000 * 6 / 10, TS_BOUND_COMPUTE, TS_UNIT_ISSUE, 10001},
        {12000, 0, 4 * 11000, 0, 0, 0, TS_BOUND_COMPUTE, TS_SLOT_VALU, 11000},
        {12000, 0, 4 * 10000, 12000, 0, 0, TS_BOUND_COMPUTE, TS_SLOT_EUP, 12000},
        {5000, 0, 4 * 2000, 0, 4 * 14000, 0, TS_BOUND_COMPUTE, TS_SLOT_MXU, 14000},
        {12000, 2 * 12000, 0, 0, 0, 0, TS_BOUND_COMPUTE, TS_SLOT_SCALAR, 12000},
        {5000, 0, 0, 0, 4 * 3000, 1000, TS_BOUND_LATENCY, TS_UNIT_ISSUE, 5000},
    };
    const ts_machine *m = machine_of(arena, "tpu-v5e");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_chip_counters c = counters(1, 15000);
        ts_roofline r;
        c.cores[0].bundles = rows[i].bundles;
        c.cores[0].busy_cycles[TS_SLOT_SCALAR] = rows[i].scalar;
        c.cores[0].busy_cycles[TS_SLOT_VALU] = rows[i].valu;
        c.cores[0].busy_cycles[TS_SLOT_EUP] = rows[i].eup;
        c.cores[0].mxu_busy_cycles = rows[i].mxu;
        c.hbm_read_bytes = rows[i].hbm_bytes;
        ts_roofline_find(m, &c, &r);
        if (r.bound != rows[i].bound || r.busiest != rows[i].unit) print_error("row %zu\n", i);
        assert_string_equal(ts_bound_text(r.bound), ts_bound_text(rows[i].bound));
        assert_string_equal(ts_unit_text(r.busiest), ts_unit_text(rows[i].unit));
        assert_int_equal(r.least_cycles, rows[i].least);
    }
}

TEST_WITH_ARENA(cores_have_units_of_their_own) {
    ts_chip_counters c = counters(2, 1000);
    ts_roofline r;
    c.cores[0].mxu_busy_cycles = 4000;
    c.cores[1].bundles = 500;
    c.cores[0].flops[TS_MXU_BF16] = 3;
    c.cores[1].flops[TS_MXU_BF16] = 4;
    ts_roofline_find(machine_of(arena, "tpu-v4"), &c, &r);
    near(r.busy[TS_SLOT_MXU], 0.5);
    near(r.busy[TS_UNIT_ISSUE], 0.25);
    assert_int_equal(r.flops, 7);
    near(r.peak, 2.0 * 4 * 128 * 128 * 2 * 1.05e9);
}

/* One that is busier than every unit holds the run, if it is busy for most of it. */
TEST_WITH_ARENA(a_link_may_bound_a_run) {
    static const struct {
        double busy;
        bool is_it;
        ts_bound bound;
        int64_t least;
    } rows[] = {
        {0.4, false, TS_BOUND_LATENCY, 500}, {0.5, false, TS_BOUND_LATENCY, 500},
        {0.55, true, TS_BOUND_LATENCY, 550}, {0.6, true, TS_BOUND_LINK, 600},
        {1, true, TS_BOUND_LINK, 1000},
    };
    const ts_machine *m = machine_of(arena, "tpu-v5e");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_roofline r;
        ts_chip_counters c = counters(1, 1000);
        c.cores[0].bundles = 500;
        ts_roofline_find(m, &c, &r);
        ts_roofline_add_link(&r, 3, rows[i].busy, 1000);
        assert_int_equal(r.link, rows[i].is_it ? 3 : -1);
        assert_true(r.link_busy == (rows[i].is_it ? rows[i].busy : 0));
        assert_int_equal(r.bound, rows[i].bound);
        assert_int_equal(r.least_cycles, rows[i].least);
    }
    assert_string_equal(ts_bound_text(TS_BOUND_LINK), "ici");
}

/* Summed over all cores; of equal ones the first. */
TEST(the_longest_stall) {
    ts_chip_counters c = counters(2, 1000);
    int64_t cycles = -1;
    assert_int_equal(ts_longest_stall(&c, &cycles), 0);
    assert_int_equal(cycles, 0);
    c.cores[0].stalls[1] = 6;
    c.cores[0].stalls[2] = 3;
    c.cores[1].stalls[2] = 4;
    c.cores[1].stalls[3] = 7;
    c.cores[2].stalls[1] = 1000; /* of no core */
    assert_int_equal(ts_longest_stall(&c, &cycles), 2);
    assert_int_equal(cycles, 7);
}

TEST(names) {
    assert_string_equal(ts_bound_text(TS_BOUND_LATENCY), "latency");
    assert_string_equal(ts_bound_text(TS_BOUND_MEMORY), "memory");
    assert_string_equal(ts_bound_text(TS_BOUND_COMPUTE), "compute");
    assert_string_equal(ts_unit_text(TS_SLOT_EUP), "eup");
    assert_string_equal(ts_unit_text(TS_UNIT_ISSUE), "issue");
    assert_string_equal(ts_unit_text(TS_UNIT_HBM), "hbm");
    assert_string_equal(ts_flops_unit_text(TS_FLOPS_MXU), "mxu");
    assert_string_equal(ts_flops_unit_text(TS_FLOPS_VPU), "vpu");
    assert_string_equal(ts_flops_kind_text(TS_MXU_INT8), "int8");
    assert_string_equal(ts_flops_kind_text(TS_FLOPS_VPU_F32), "f32");
    assert_string_equal(ts_flops_kind_text(TS_FLOPS_VPU_BF16), "bf16");
}
