/* Machines: what ships is complete, sourced, agrees with the published rates, and prints back; rules and
 * overrides. */
#include <stdio.h>
#include <string.h>

#include "tests/support/hbm2.h"
#include "tests/support/rounds.h"
#include "tests/support/test.h"
#include "machine/embedded.h"
#include "machine/machine.h"

static const ts_machine *load(ts_arena *arena, const char *name) {
    ts_error err = {0};
    const ts_machine *machine = ts_machine_load(&err, arena, name);
    assert_string_equal(err.message, "");
    return machine;
}

/* Published: 10^12 operations a second (0: not native, -1: not published) and GB/s. The sources are those
 * that the files name: jax's tpu_info.py and Google Cloud's pages; v5p's bandwidth is that of the page, v3's
 * bf16 rate as well. */
static const struct {
    const char *name;
    double bf16, int8, fp8, int4, hbm;
} published[] = {
    {"tpu-v2", 46, 0, 0, 0, 716},
    {"tpu-v3", 123, 0, 0, 0, 825},
    {"tpu-v4", 275, 275, 0, 0, 1228},
    {"tpu-v4i", 137, 138, 0, 0, 614},
    {"tpu-v5e", 197, 394, -1, 788, 819},
    {"tpu-v5p", 459, 918, 459, 1840, 2765},
    {"tpu-v6e", 918, 1836, 918, 3680, 1638},
    {"tpu-v7x", 2307, 0, 4614, 0, 7380},
};

static void assert_near(double got, double expected) {
    if (expected >= 0) assert_true(got <= expected * 1.01 && got >= expected * 0.99);
}

TEST_WITH_ARENA(rates_are_the_published_ones) {
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        const ts_machine *m = load(arena, published[i].name);
        int64_t khz = m->chip.peak_khz;
        assert_near((double)ts_machine_peak_ops(m, TS_MXU_BF16, khz) / 1e12, published[i].bf16);
        assert_near((double)ts_machine_peak_ops(m, TS_MXU_INT8, khz) / 1e12, published[i].int8);
        assert_near((double)ts_machine_peak_ops(m, TS_MXU_FP8, khz) / 1e12, published[i].fp8);
        assert_near((double)ts_machine_peak_ops(m, TS_MXU_INT4, khz) / 1e12, published[i].int4);
        assert_near((double)ts_machine_hbm_rate(m) / 1e9, published[i].hbm);
    }
}

TEST_WITH_ARENA(rates_are_exact) {
    const ts_machine *m = load(arena, "tpu-v5e");
    assert_int_equal(ts_machine_peak_ops(m, TS_MXU_BF16, m->chip.peak_khz),
                     INT64_C(4) * 128 * 128 * 2 * 1500000000);
    assert_int_equal(ts_machine_peak_ops(m, TS_MXU_INT4, 1), INT64_C(4) * 4 * 128 * 128 * 2 * 1000);
    assert_int_equal(ts_machine_hbm_rate(m), INT64_C(819200000000));
    assert_int_equal(ts_machine_f32_ops(m, 1500000), INT64_C(4) * 1024 * 1500000000);
    assert_int_equal(ts_machine_bf16_ops(m, 1500000), 0);
    assert_int_equal(ts_machine_bf16_ops(load(arena, "tpu-v6e"), 1), INT64_C(4) * 2048 * 1000);
    assert_int_equal(ts_machine_vmem_rate(m, 1000), INT64_C(3) * 4096 * 1000000);
    m = load(arena, "tpu-v7x");
    assert_int_equal(ts_machine_peak_ops(m, TS_MXU_FP8, 2200000), INT64_C(4613734400000000));
    assert_int_equal(ts_machine_peak_ops(m, TS_MXU_INT8, 2200000), 0);
}

static void assert_sourced(const ts_machine *machine, const ts_field_leaf *leaf) {
    bool figure = leaf->field->kind != TS_FIELD_TEXT && leaf->field->kind != TS_FIELD_GROUP;
    if (!figure || ts_field_leaf_status(leaf) != TS_STATUS_UNSTATED) return;
    print_error("%s: %s has no source: '%s'\n", machine->name, leaf->path, leaf->node->comment);
    fail();
}

/* The engine asks for whole bursts, the memories fit, and the HBM model takes the machine with its address
 * map. */
static void assert_usable(ts_arena *arena, const ts_machine *machine) {
    ts_error err = {0};
    assert_non_null(ts_hbm_new(&err, arena, &machine->hbm));
    assert_string_equal(err.message, "");
    assert_int_equal(machine->dma.access_bytes % machine->hbm.burst_bytes, 0);
    assert_non_null(ts_machine_find_memory(&err, machine, "hbm"));
    if (strncmp(machine->name, "tpu-", 4) == 0)
        assert_non_null(ts_machine_find_memory(&err, machine, "vmem"));
    assert_non_null(ts_machine_find_memory(&err, machine, "smem"));
}

TEST(what_ships_is_complete) {
    assert_true(ts_embedded_machine_count >= 10);
    for (size_t i = 0; i < ts_embedded_machine_count; i++) {
        ts_arena *arena = ts_arena_new();
        const ts_machine *machine = load(arena, ts_embedded_machines[i].name);
        for (int j = 0; j < machine->leaf_count; j++) assert_sourced(machine, &machine->leaves[j]);
        assert_usable(arena, machine);
        char path[256];
        snprintf(path, sizeof path, "configs/%s.yaml", machine->name);
        assert_true(load(arena, path)->hash == machine->hash);
        ts_arena_free(arena);
    }
}

static const ts_machine *read_text(ts_error *err, ts_arena *arena, const ts_text *text) {
    ts_tree_builtin file = {"printed", text->bytes, text->length};
    const ts_tree *tree = ts_tree_load(err, arena, "printed", &file, 1);
    return tree ? ts_machine_read(err, arena, "printed", tree) : NULL;
}

TEST(prints_back) {
    for (size_t i = 0; i < ts_embedded_machine_count; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        ts_text text, again;
        text = ts_text_begin(arena);
        again = ts_text_begin(arena);
        const ts_machine *machine = load(arena, ts_embedded_machines[i].name);
        ts_machine_print(&text, machine);
        const ts_machine *read = read_text(&err, arena, &text);
        assert_string_equal(err.message, "");
        assert_true(read->hash == machine->hash);
        ts_machine_print(&again, read);
        assert_string_equal(again.bytes, text.bytes);
        ts_arena_free(arena);
    }
}

/* Values that a field may have, beside what it has: those of its kind, some of which its range refuses. */
enum { CANDIDATES = 8 };
static int candidates(const ts_field_leaf *leaf, char out[CANDIDATES][64]) {
    static const char *const by_kind[][CANDIDATES] = {
        [TS_FIELD_BOOL] = {"true", "false"},
        [TS_FIELD_TEXT] = {"A \"b\" \\ c", "x", "B", "mop4clxor"},
        [TS_FIELD_BYTES] = {"64B", "1 KiB", "32 KiB", "131072 B", "1 TiB"},
        [TS_FIELD_CLOCK] = {"1.234 GHz", "1499999 kHz", "1500.5MHz", "650 MHz", "3 GHz"},
        [TS_FIELD_TIME] = {"0.5 us", "1234567 ps", "33.3ns"},
        [TS_FIELD_CYCLES] = {"33.3ns", "41 ck", "7000 ns", "250000 ps"},
        [TS_FIELD_GROUP] = {NULL},
    };
    ts_field_kind kind = leaf->field->kind;
    int count = 0;
    if (kind == TS_FIELD_INTEGER) {
        int64_t value = ts_field_value(leaf->field, leaf->at),
                others[] = {value * 2, value / 2, value + 1, value};
        for (; count < 4; count++) snprintf(out[count], 64, "%lld", (long long)others[count]);
    } else if (kind == TS_FIELD_CHOICE) {
        for (; leaf->field->choices[count]; count++)
            snprintf(out[count], 64, "%s", leaf->field->choices[count]);
    } else {
        for (; by_kind[kind][count]; count++) snprintf(out[count], 64, "%s", by_kind[kind][count]);
    }
    return count;
}

static const ts_machine *change(ts_arena *arena, const ts_tree *tree, const char *path, const char *value) {
    char *text = ts_arena_alloc(arena, 256, 1);
    ts_error err = {0};
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"--set", text, (size_t)snprintf(text, 256, "%s=%s", path, value)};
    const ts_tree *above = ts_tree_parse_override(&err, arena, source);
    return above ? ts_machine_read(&err, arena, "changed", ts_tree_merge(arena, tree, above)) : NULL;
}

static void assert_prints_back(ts_arena *arena, const ts_machine *machine) {
    ts_error err = {0};
    ts_text text, again;
    text = ts_text_begin(arena);
    again = ts_text_begin(arena);
    ts_machine_print(&text, machine);
    const ts_machine *read = read_text(&err, arena, &text);
    assert_string_equal(err.message, "");
    ts_machine_print(&again, read);
    assert_string_equal(again.bytes, text.bytes);
    assert_true(read->hash == machine->hash);
}

/* Whether a figure is changed on the command line or in the printed file, the machine is the same, and prints
 * back: for every eighth figure of a machine, on the next machine for the next ones. */
TEST(printed_and_changed) {
    for (size_t i = 0; i < ts_embedded_machine_count; i++) {
        ts_arena *arena = ts_arena_new(), *scratch = ts_arena_new();
        ts_error err = {0};
        ts_text text = ts_text_begin(arena);
        const char *name = ts_embedded_machines[i].name;
        const ts_tree *tree =
            ts_tree_load(&err, arena, name, ts_embedded_machines, ts_embedded_machine_count);
        const ts_machine *machine = ts_machine_read(&err, arena, name, tree);
        ts_machine_print(&text, machine);
        ts_tree_builtin file = {"printed", text.bytes, text.length};
        const ts_tree *printed = ts_tree_load(&err, arena, "printed", &file, 1);
        int leaves = machine->leaf_count, step = stride(8, 40);
        for (int k = (int)i % step; k < leaves; k += step) {
            const ts_field_leaf *leaf = &machine->leaves[k];
            char values[CANDIDATES][64];
            int good = 0, count = candidates(leaf, values);
            for (int c = 0; c < count; c++) {
                const ts_machine *a = change(scratch, tree, leaf->path, values[c]),
                                 *b = change(scratch, printed, leaf->path, values[c]);
                assert_int_equal(a == NULL, b == NULL);
                if (a == NULL) continue;
                assert_true(a->hash == b->hash);
                assert_prints_back(scratch, a);
                good++;
            }
            if (good == 0 && count > 0) fail_msg("%s: no other %s", name, leaf->path);
            ts_arena_reset(scratch);
        }
        ts_arena_free(scratch);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(names_what_was_changed) {
    ts_error err = {0};
    static const char *const sets[] = {"hbm.timing.t_rp=14.5ns", "title=a b",
                                       "hbm.bandwidth_scale=2",  "vmem.size_mib=64",
                                       "hbm.timing.t_rp=20ck",   "core.bf16=true"};
    static const char *const expected[] = {"title=\"a b\"", "core.bf16=true", "hbm.clock=3.2 GHz",
                                           "hbm.timing.t_rp=20 ck", "memories.vmem.capacity=64 MiB"};
    const ts_machine *m = ts_machine_load_with(&err, arena, "tpu-v5e", "--set", sets, 6);
    assert_string_equal(err.message, "");
    assert_int_equal(m->override_count, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(m->overrides[i], expected[i]);
    assert_int_equal(load(arena, "tpu-v5e")->override_count, 0);
}

TEST_WITH_ARENA(time_is_that_of_the_sustained_clock) {
    ts_error err = {0};
    static const char *const sets[] = {"chip.clock.sustained=1.2GHz"};
    const ts_machine *m = ts_machine_load_with(&err, arena, "tpu-v5e", "--set", sets, 1);
    assert_string_equal(err.message, "");
    assert_true(ts_machine_microseconds(m, 2400) == 2);
}

/* The reference of HBM time is the one that its tests use. */
TEST_WITH_ARENA(hbm2_reference_is_the_preset) {
    ts_hbm_config got = load(arena, "hbm2-reference")->hbm, expected = hbm2;
    assert_string_equal(got.address_map, expected.address_map);
    got.timing.t_refi_pb = expected.timing.t_refi_pb;
    got.timing.t_rrefd = expected.timing.t_rrefd;
    assert_memory_equal(&got.timing, &expected.timing, sizeof got.timing);
    got.timing = expected.timing;
    got.energy = expected.energy; /* of which time does not depend */
    got.address_map = expected.address_map;
    assert_memory_equal(&got, &expected, sizeof got);
}

TEST_WITH_ARENA(hbm3_reference_counts_in_ck) {
    const ts_hbm_config *reference = &load(arena, "hbm3-reference")->hbm, *v6e = &load(arena, "tpu-v6e")->hbm;
    ts_hbm_timing expected = reference->timing;
    expected.t_refi_pb = v6e->timing.t_refi_pb; /* 16 banks, not 32 */
    assert_int_equal(v6e->timing.t_refi_pb, 390);
    assert_memory_equal(&v6e->timing, &expected, sizeof expected); /* written in ns there */
    assert_int_equal(reference->timing.t_rfc, 560);
    assert_int_equal(reference->ticks_per_ck, 2);
}

TEST_WITH_ARENA(overrides) {
    ts_error err = {0};
    static const char *const sets[] = {"hbm.stacks=4", "chip.launch=1.5us", "hbm.clock=1 GHz",
                                       "hbm.stacks=8"};
    const ts_machine *plain = load(arena, "tpu-v5e");
    const ts_machine *m = ts_machine_load_with(&err, arena, "tpu-v5e", "--set", sets, 4);
    assert_string_equal(err.message, "");
    assert_int_equal(m->hbm.stacks, 8);
    assert_int_equal(m->chip.launch_ps, 1500000);
    assert_int_equal(plain->hbm.timing.t_rp, 23);
    assert_int_equal(m->hbm.timing.t_rp, 14); /* 14 ns in cycles of the new clock */
    assert_true(m->hash != plain->hash);
    static const char *const same[] = {"chip.clock.peak=1500 MHz", "hbm.timing.t_rp=23 ck"};
    assert_true(ts_machine_load_with(&err, arena, "tpu-v5e", "--set", same, 2)->hash == plain->hash);
    static const char *const scales[] = {"hbm.bandwidth_scale=8", "hbm.bandwidth_scale=0.01"};
    for (int i = 0; i < 2; i++)
        assert_int_equal(ts_machine_load_with(&err, arena, "tpu-v5e", "--set", &scales[i], 1)->hbm.clock_khz,
                         i ? plain->hbm.clock_khz / 100 : 8 * plain->hbm.clock_khz);
}

TEST(refuses) {
    static const struct {
        const char *set, *expected;
    } rows[] = {
        {"hbm.chanels=8",
         "--set:1:5: error: unknown key 'hbm.chanels'; did you mean 'hbm.channels'?\nhbm.chanels=8\n    ^\n"},
        {"hbm.channels=12",
         "--set:1:14: error: hbm.channels: found '12', expected an integer from 1 to 64, a power of "
         "two\nhbm.channels=12\n             ^\n"},
        {"hbm.bandwidth_scale=2x",
         "--set:1:21: error: hbm.bandwidth_scale: found '2x', expected a number from 0.01 to "
         "100\nhbm.bandwidth_scale=2x\n                    ^\n"},
        {"hbm.bandwidth_scale=0.0099",
         "--set:1:21: error: hbm.bandwidth_scale: found '0.0099', expected a number from 0.01 to "
         "100\nhbm.bandwidth_scale=0.0099\n                    ^\n"},
        {"hbm.bandwidth_scale=100.1",
         "--set:1:21: error: hbm.bandwidth_scale: found '100.1', expected a number from 0.01 to "
         "100\nhbm.bandwidth_scale=100.1\n                    ^\n"},
        {"core.lanes=64", "--set:1:12: error: core.lanes: found '64', expected an integer from 128 to 128\n"
                          "core.lanes=64\n           ^\n"},
        {"chip.clock.sustained=1.6GHz",
         "--set:1:22: error: chip.clock.sustained: found '1.6GHz', expected at most "
         "chip.clock.peak\nchip.clock.sustained=1.6GHz\n                     ^\n"},
        {"hbm.burst=1KiB hm",
         "--set:1:11: error: hbm.burst: found '1KiB hm', expected a size such as 16 KiB from 8 B to "
         "1 KiB, a power of two\nhbm.burst=1KiB hm\n          ^\n"},
        {"hbm.timing.n_bl=0 ck", "--set:1:17: error: hbm.timing.n_bl: found '0 ck', expected at least 1 ck\n"
                                 "hbm.timing.n_bl=0 ck\n                ^\n"},
        {"hbm.controller.write_low=80",
         "--set:1:26: error: hbm.controller.write_low: found '80', expected less than "
         "hbm.controller.write_high\nhbm.controller.write_low=80\n"
         "                         ^\n"},
        {"hbm.timing.t_rcd_rd=10001 ck", "--set:1:21: error: hbm.timing.t_rcd_rd: found '10001 ck', expected "
                                         "a time such as 14 ns or 2 ck from 0 ck to 10000 ck\n"
                                         "hbm.timing.t_rcd_rd=10001 ck\n                    ^\n"},
        {"hbm.timing.t_refi=307 ns",
         "--set:1:19: error: hbm.timing.t_refi: found '307 ns', expected at least hbm.timing.t_rfc + "
         "hbm.timing.t_rc\nhbm.timing.t_refi=307 ns\n                  ^\n"},
        {"dma.access=16 B", "--set:1:12: error: dma.access: found '16 B', expected at least hbm.burst\n"
                            "dma.access=16 B\n           ^\n"},
        {"hbm.address_map=off co Z",
         "--set:1:24: error: hbm.address_map: unknown field 'Z', expected off, co, pc, ch, st, sid, bg, ba "
         "or ro\nhbm.address_map=off co Z\n                       ^\n"},
        {"hbm.address_map=Q", "--set:1:17: error: hbm.address_map: unknown field 'Q', expected off, co, pc, "
                              "ch, st, sid, bg, ba or "
                              "ro\nhbm.address_map=Q\n                ^\n"},
        {"hbm.bandwidth_scales=2",
         "--set:1:5: error: unknown key 'hbm.bandwidth_scales', expected one of stacks, channels, "
         "pseudo_channels, sids, bank_groups, banks, rows, row, burst, clock, ticks, bus, timing, energy, "
         "controller, address_map\nhbm.bandwidth_scales=2\n    ^\n"},
        {"vmem.size_mibs=64", "--set:1:6: error: unknown key 'vmem.size_mibs', expected one of banks, "
                              "winner\nvmem.size_mibs=64\n     ^\n"},
        {"memories.hbm.per_core=true",
         "--set:1:23: error: memories.hbm.per_core: found 'true', expected false: all cores share the HBM\n"
         "memories.hbm.per_core=true\n                      ^\n"},
        {"memories.vmem.axes.P={}",
         "--set:1:22: error: memories.vmem.axes.P: found '{}', expected a mapping\n"
         "memories.vmem.axes.P={}\n                     ^\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        assert_null(ts_machine_load_with(&err, arena, "tpu-v5e", "--set", &rows[i].set, 1));
        assert_error(&err, TS_ERROR_INPUT, rows[i].expected);
        ts_arena_free(arena);
    }
}

/* Where in a map an error is, unless it is written otherwise than it reads. */
TEST_WITH_ARENA(places_in_maps) {
    static const struct {
        const char *written;
        int at;
    } rows[] = {{"off co Z", 7}, {"\"off co Z\"", 8}, {"\"off co \\x5a\"", 0}};
    ts_text printed = ts_text_begin(arena);
    ts_machine_print(&printed, load(arena, "tpu-v5e"));
    const char *value = strstr(printed.bytes, "address_map: ") + strlen("address_map: "), *line = value;
    while (line[-1] != '\n') line--;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, "%.*s%s%s", (int)(value - printed.bytes), printed.bytes, rows[i].written,
                    strchr(value, '\n'));
        assert_null(read_text(&err, arena, &text));
        assert_string_equal(err.message, "hbm.address_map: unknown field 'Z', expected off, co, pc, ch, st, "
                                         "sid, bg, ba or ro");
        assert_int_equal(err.column, value - line + rows[i].at + 1);
    }
}

/* What all commands take at least is enough. */
TEST_WITH_ARENA(least_currents) {
    static const char *const sets[] = {
        "hbm.timing.t_ras=30 ck", "hbm.timing.t_rc=40 ck", "hbm.energy.idd3n=60",
        "hbm.energy.idd2n=20",    "hbm.energy.idd0=50",    "hbm.energy.idd4r=60",
        "hbm.energy.idd4w=60",    "hbm.energy.idd5ab=60",  "hbm.energy.idd5pb=60"};
    ts_error err = {0};
    assert_non_null(ts_machine_load_with(&err, arena, "tpu-v5e", "--set", sets, 9));
}

TEST_WITH_ARENA(energies_are_of_operations) {
    static const char *const sets[] = {"energy.vpu_f32.femtojoules=7", "energy.vmen.femtojoules=8",
                                       "energy.mxu_int4.femtojoules=9"};
    ts_error err = {0};
    const ts_machine *m = ts_machine_load_with(&err, arena, "tpu-v5e", "--set", sets, 1);
    assert_int_equal(ts_machine_op_energy(m, TS_ENERGY_VPU_F32), 7);
    assert_int_equal(ts_machine_op_energy(m, TS_ENERGY_VPU_F32 + 1), -1);
    m = ts_machine_load_with(&err, arena, "tpu-v5e", "--set", &sets[2], 1);
    assert_int_equal(ts_machine_op_energy(m, TS_ENERGY_MXU_INT4), 9); /* the first of all */
    assert_null(ts_machine_load_with(&err, arena, "tpu-v5e", "--set", &sets[1], 1));
    assert_error(&err, TS_ERROR_INPUT,
                 "--set:1:25: error: energy: there is no operation 'vmen'; did you mean 'vmem'?\n"
                 "energy.vmen.femtojoules=8\n                        ^\n");
}

/* A device has its part of what all share, and of the channels where that is no whole stack. */
TEST_WITH_ARENA(parts_share_the_memory) {
    static const struct {
        int parts, stacks, channels, cores; /* stacks 0: it cannot be */
    } rows[] = {{1, 8, 16, 2}, {2, 4, 16, 1}, {8, 1, 16, 1}, {16, 8, 1, 1},
                {3, 0, 0, 0},  {7, 0, 0, 0},  {32, 0, 0, 0}};
    const ts_machine *whole = load(arena, "tpu-v7x");
    const ts_machine_memory *hbm = whole->spaces[TS_SPACE_HBM], *vmem = whole->spaces[TS_SPACE_VMEM];
    assert_true(vmem->per_core && !hbm->per_core);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        const ts_machine *part = ts_machine_part(&err, arena, whole, rows[i].parts);
        assert_int_equal(part != NULL, rows[i].stacks > 0);
        if (!part) {
            ts_text text = ts_text_begin(arena);
            ts_text_add(&text, "tpu-v7x: %d parts do not share 8 stacks of HBM evenly", rows[i].parts);
            assert_string_equal(err.message, text.bytes);
            continue;
        }
        assert_int_equal(part->hbm.stacks, rows[i].stacks);
        assert_int_equal(part->hbm.channels, rows[i].channels);
        assert_int_equal(part->chip.tensor_cores, rows[i].cores);
        assert_int_equal(part->chip.devices, rows[i].parts > 1 ? 1 : 2);
        assert_int_equal(part->spaces[TS_SPACE_HBM]->capacity_bytes, hbm->capacity_bytes / rows[i].parts);
        assert_int_equal(part->spaces[TS_SPACE_VMEM]->capacity_bytes, vmem->capacity_bytes);
        assert_ptr_equal(part->spaces[TS_SPACE_VMEM], ts_machine_find_memory(&err, part, "vmem"));
    }
    assert_int_equal(ts_machine_device(NULL, arena, whole)->hbm.stacks, 4);
    const char *set = "chip.tensor_cores=4";
    const ts_machine *four = ts_machine_load_with(NULL, arena, "tpu-v7x", "--set", &set, 1);
    assert_int_equal(ts_machine_part(NULL, arena, four, 2)->chip.tensor_cores, 2);
}

/* As many banks as a channel and its scheduler can have, refreshes that fill the time between them, and indices of all
 * bytes of a memory. */
TEST(just_enough) {
    static const char *const sets[][8] = {
        {"hbm.bank_groups=16", "hbm.banks=8", "hbm.pseudo_channels=1"},
        {"hbm.controller.scheduler=per_bank", "hbm.sids=4", "hbm.pseudo_channels=1"},
        {"hbm.controller.refresh=per_bank", "hbm.timing.t_refi_pb=90 ck", "hbm.timing.t_rfc_pb=1363 ck"},
        {"hbm.timing.t_rfc=400 ck", "hbm.timing.t_rc=77 ck", "hbm.timing.t_refi=477 ck"},
        {"hbm.controller.scheduler=per_bank", "hbm.timing.t_rfc=400 ck", "hbm.timing.t_rc=77 ck",
         "hbm.timing.t_rcd_rd=20 ck", "hbm.timing.t_rcd_wr=23 ck", "hbm.timing.t_ppd=0 ck",
         "hbm.timing.t_refi=516 ck"},
        {"memories.smem.capacity=1 MiB", "memories.smem.axes.P.extent=1048576",
         "memories.smem.axes.P.step=0 B"},
    };
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        int count = 3;
        while (sets[i][count]) count++;
        if (!ts_machine_load_with(&err, arena, "tpu-v5e", "--set", sets[i], count))
            fail_msg("row %zu: %s", i, err.message);
        ts_arena_free(arena);
    }
}

/* Where one figure does not agree with another, and the place may be in the built-in file. */
TEST(refuses_pairs) {
    static const struct {
        const char *sets[6], *message; /* NULL behind the last */
    } rows[] = {
        {{"hbm.row=64 B", "hbm.burst=64 B"},
         "memories.hbm.capacity: found '16 GiB', expected at most what the stacks, "
         "banks and rows of hbm hold"},
        {{"dma.queues=5", "dma.descriptors=4"}, "dma.descriptors: found '4', expected at least dma.queues"},
        {{"hbm.row=64 B", "hbm.burst=128 B"}, "hbm.burst: found '128 B', expected at most hbm.row"},
        {{"hbm.bank_groups=16", "hbm.banks=8"},
         "hbm.banks: found '8', expected at most 128 a channel: pseudo_channels * sids * bank_groups * "
         "banks"},
        {{"hbm.controller.scheduler=per_bank", "hbm.banks=8", "hbm.bank_groups=16", "hbm.pseudo_channels=1"},
         "hbm.banks: found '8', expected at most 64 a pseudo channel, for the per_bank scheduler: sids * "
         "bank_groups * banks"},
        {{"hbm.controller.refresh=per_bank", "hbm.timing.t_rrefd=196ns"},
         "hbm.timing.t_refi_pb: found '243.75 ns', expected at least hbm.timing.t_rrefd + hbm.timing.t_rc"},
        {{"hbm.controller.refresh=per_bank", "hbm.timing.t_rfc_pb=853ns", "hbm.timing.t_refi_pb=56.25 ns"},
         "hbm.timing.t_refi_pb: found '56.25 ns', expected at least (hbm.timing.t_rfc_pb + hbm.timing.t_rc) "
         "/ "
         "banks of a pseudo channel"},
        {{"hbm.controller.scheduler=per_bank", "hbm.timing.t_rcd_rd=3592ns"},
         "hbm.timing.t_refi: found '3900 ns', expected time to open a row and use it, from a refresh of its "
         "bank "
         "to the next: refresh, tRC, tRCD and a PRE of each bank"},
        {{"hbm.controller.scheduler=per_bank", "hbm.controller.refresh=per_bank",
          "hbm.timing.t_rcd_wr=3700ns"},
         "hbm.timing.t_refi_pb: found '243.75 ns', expected time to open a row and use it, from a refresh of "
         "its "
         "bank to the next: refresh, tRC, tRCD and a PRE of each bank"},
        {{"memories.vmem.axes.P.extent=128", "memories.vmem.axes.P.step=1025 KiB"},
         "memories.vmem.axes.P.extent: found '128', expected at most capacity / step"},
        {{"memories.smem.xla_space=1", "chip.generation=5"},
         "memories.smem.xla_space: found '1', expected a number that no other memory has, or -1"},
        {{"memories.smem.xla_space=0", "chip.generation=5"},
         "memories.smem.xla_space: found '0', expected a number that no other memory has, or -1"},
        {{"memories.hbm.xla_space=1", "chip.generation=5"},
         "memories.vmem.xla_space: found '1', expected a number that no other memory has, or -1"},
        {{"hbm.energy.idd3n=100", "hbm.energy.idd4r=99"},
         "hbm.energy.idd4r: found '99', expected at least hbm.energy.idd3n"},
        {{"hbm.energy.idd3n=100", "hbm.energy.idd4w=99"},
         "hbm.energy.idd4w: found '99', expected at least hbm.energy.idd3n"},
        {{"hbm.energy.idd3n=60", "hbm.energy.idd5ab=59"},
         "hbm.energy.idd5ab: found '59', expected at least hbm.energy.idd3n"},
        {{"hbm.energy.idd3n=76", "hbm.energy.idd5ab=76"},
         "hbm.energy.idd5pb: found '75', expected at least hbm.energy.idd3n"},
        /* 60 of 30 ticks and 20 of 10, or 50 of 40 */
        {{"hbm.timing.t_ras=30 ck", "hbm.timing.t_rc=40 ck", "hbm.energy.idd3n=60", "hbm.energy.idd2n=20",
          "hbm.energy.idd0=49"},
         "hbm.energy.idd0: found '49', expected at least what standby takes in tRC: idd3n in tRAS, then "
         "idd2n"},
        {{"memories.vmem.axes.m.extent=4", "memories.vmem.axes.m.step=4 KiB"},
         "memories.vmem.axes.m.extent: found '4', expected another name: m are the bytes in order"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        int count = 2;
        while (rows[i].sets[count]) count++;
        assert_null(ts_machine_load_with(&err, arena, "tpu-v5e", "--set", rows[i].sets, count));
        assert_string_equal(err.message, rows[i].message);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(has_partitioned_memories) {
    ts_error err = {0};
    static const char *const sets[] = {
        "memories.sbuf.capacity=24 MiB",      "memories.sbuf.align=64 B",
        "memories.sbuf.xla_space=-1",         "memories.sbuf.per_core=true",
        "memories.sbuf.axes.P.extent=128",    "memories.sbuf.axes.P.step=192 KiB",
        "memories.sbuf.axes.F.extent=196608", "memories.sbuf.axes.F.step=1 B"};
    const ts_machine *m = ts_machine_load_with(&err, arena, "tpu-v5e", "--set", sets, 8);
    assert_string_equal(err.message, "");
    const ts_machine_memory *sbuf = ts_machine_find_memory(&err, m, "sbuf");
    assert_int_equal(sbuf->capacity_bytes, 24 << 20);
    assert_int_equal(sbuf->axis_count, 2);
    assert_string_equal(sbuf->axes[0].name, "P");
    assert_int_equal(sbuf->axes[0].step_bytes, 192 << 10);
    assert_int_equal(sbuf->axes[1].extent, 196608);
    assert_null(ts_machine_find_memory(&err, m, "cmem"));
    assert_string_equal(err.message,
                        "the machine 'tpu-v5e' has no memory 'cmem'; it has hbm, vmem, smem, sbuf");
}

/* Fields below one key stand together, so that they print as one mapping; no two share a member. */
TEST(table_is_sound) {
    const ts_field_table *t = &ts_machine_fields;
    for (int i = 0; i < t->count; i++) {
        const ts_field *a = &t->fields[i];
        assert_true(a->path && a->unit && a->meaning && a->meaning[0]);
        assert_true(a->min <= a->max && a->offset + a->bytes <= t->bytes);
        assert_true(a->bytes == 8 || (a->max <= INT32_MAX && a->min >= INT32_MIN));
        for (int j = i + 1; j < t->count; j++) {
            const ts_field *b = &t->fields[j];
            assert_string_not_equal(a->path, b->path);
            assert_true(a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset);
            size_t same = 0, key = 0;
            for (; a->path[same] && a->path[same] == b->path[same]; same++)
                if (a->path[same] == '.') key = same + 1;
            if (key > 0) assert_int_equal(strncmp(t->fields[j - 1].path, a->path, key), 0);
        }
    }
}
