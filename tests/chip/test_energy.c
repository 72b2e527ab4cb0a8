/* Energies by hand: of operations that a machine states, of the HBM in the time of a run. */
#include "chip/energy.h"

#include "tests/support/test.h"

static const ts_machine *machine_of(ts_arena *arena, const char *const *sets, int count) {
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load_with(&err, arena, "tpu-v5e", "test", sets, count);
    if (!machine) fail_msg("%s", err.message);
    return machine;
}

static void expect_picojoules(double joules, double expected) {
    double difference = joules * 1e12 - expected;
    if (difference < -1e-6 || difference > 1e-6) fail_msg("%.9f pJ, expected %.9f", joules * 1e12, expected);
}

/* Powers of ten tell the counts of one from those of another. */
static const ts_chip_counters counters = {
    .elapsed_cycles = 15,
    .core_count = 2,
    .cores = {{.bundles = 2,
               .instructions = {[TS_SLOT_VALU] = 9, [TS_SLOT_VLD] = 1, [TS_SLOT_VST] = 2},
               .flops = {[TS_MXU_F32] = 1,
                         [TS_MXU_BF16] = 10,
                         [TS_MXU_INT4] = 100,
                         [TS_FLOPS_VPU_F32] = 1000,
                         [TS_FLOPS_VPU_BF16] = 10000}},
              {.bundles = 3, .instructions = {[TS_SLOT_VST] = 1}, .flops = {[TS_MXU_BF16] = 20}}},
    .src_bytes = 70000,
    .dst_bytes = 50000,
    .hbm_read_bytes = 60000,
    .hbm_written_bytes = 20000,
};

TEST_WITH_ARENA(operations) {
    static const struct {
        const char *set;
        ts_energy_op op;
        double picojoules;
    } rows[] = {
        {"energy.mxu_f32.femtojoules=1000", TS_ENERGY_MXU_F32, 1},
        {"energy.mxu_bf16.femtojoules=1000", TS_ENERGY_MXU_BF16, 30},
        {"energy.mxu_int4.femtojoules=1000", TS_ENERGY_MXU_INT4, 100},
        {"energy.vpu_f32.femtojoules=1000", TS_ENERGY_VPU_F32, 1000},
        {"energy.vpu_bf16.femtojoules=1000", TS_ENERGY_VPU_BF16, 10000},
        {"energy.bundle.femtojoules=3000", TS_ENERGY_BUNDLE, 15},
        {"energy.dma.femtojoules=1000", TS_ENERGY_DMA, 120000},
        {"energy.vmem.femtojoules=1000", TS_ENERGY_VMEM, 40000 + 4 * 4096},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    ts_energy energy;
    const char *all[ROWS];
    double sum = 0;
    for (int i = 0; i < ROWS; i++) {
        all[i] = rows[i].set;
        sum += rows[i].picojoules;
        ts_energy_of_chip(machine_of(arena, &rows[i].set, 1), &counters, &energy);
        for (int k = 0; k < TS_ENERGY_OPS; k++) {
            assert_int_equal(energy.stated[k], k == (int)rows[i].op);
            expect_picojoules(energy.ops[k], k == (int)rows[i].op ? rows[i].picojoules : 0);
        }
        assert_true(energy.any_stated);
        expect_picojoules(energy.ops_total, rows[i].picojoules);
        assert_string_equal(ts_energy_op_name(rows[i].op),
                            machine_of(arena, &rows[i].set, 1)->energies[0].name);
    }
    ts_energy_of_chip(machine_of(arena, all, ROWS), &counters, &energy);
    expect_picojoules(energy.ops_total, sum);
    assert_false(energy.stated[TS_ENERGY_MXU_FP8]);
    static const char *const nothing[] = {"energy.dma.femtojoules=0"}; /* is stated */
    ts_energy_of_chip(machine_of(arena, nothing, 1), &counters, &energy);
    assert_true(energy.stated[TS_ENERGY_DMA] && energy.any_stated);
    ts_energy_of_chip(machine_of(arena, NULL, 0), &counters, &energy);
    assert_false(energy.any_stated);
    expect_picojoules(energy.ops_total, 0);
}

/* 15 cycles of 1.5 GHz are 10 ns: so long every pseudo channel stands by, with every row closed. */
TEST_WITH_ARENA(standby) {
    static const char *const sets[] = {"hbm.controller.refresh=none", "chip.clock.sustained=1.5 GHz"};
    const ts_machine *machine = machine_of(arena, sets, 2);
    const ts_hbm_config *hbm = &machine->hbm;
    ts_energy energy, of_hbm;
    ts_energy_of_chip(machine, &counters, &energy);
    double each = 10 * 1.2 * (double)hbm->energy.idd2n * hbm->stacks * hbm->channels * hbm->pseudo_channels;
    expect_picojoules(energy.hbm[TS_HBM_ENERGY_PRECHARGE_STANDBY], each);
    expect_picojoules(energy.hbm_total, each);
    const ts_hbm_stats one = {.activations = 1, .reads = 1};
    ts_energy_of_hbm(machine, &one, 15, &of_hbm);
    double sum = 0;
    for (int i = 0; i < TS_HBM_ENERGY_CAUSES; i++) sum += of_hbm.hbm[i];
    assert_true(of_hbm.hbm[TS_HBM_ENERGY_ACTIVATE] > 0 && of_hbm.hbm[TS_HBM_ENERGY_READ] > 0);
    expect_picojoules(of_hbm.hbm_total, sum * 1e12);
}
